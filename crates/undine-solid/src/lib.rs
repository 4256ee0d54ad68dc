//! Rigid bodies and deformable solids.

pub mod error;
pub mod rigid;

pub use error::{Result, SolidError};

use undine_sim::BehaviorKind;

/// Every Behavior of this crate.
pub const BEHAVIORS: &[BehaviorKind] =
    &[BehaviorKind::object::<rigid::RigidBody>(&rigid::body::DECLARATION)];
