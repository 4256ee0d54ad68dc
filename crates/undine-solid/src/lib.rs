//! Rigid bodies and deformable solids.

pub mod error;
pub mod rigid;

pub use error::{Result, SolidError};
