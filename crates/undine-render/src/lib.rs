//! Pictures of points, meshes, volumes and curves, made on the CPU with nothing else installed; and plots.

pub mod error;
pub mod image;

pub use error::{RenderError, Result};
pub use image::{Display, Image, Size};
