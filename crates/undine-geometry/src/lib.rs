//! What every phenomenon asks of space: how far, which side, how fast does it move, do these two meet.

pub mod blend;
pub mod bvh;
pub mod ccd;
pub mod error;
pub mod fractions;
pub mod gallery;
pub mod levelset;
pub mod mass;
pub mod meshing;
pub mod motion;
pub mod nearest;
mod point_cells;
pub mod pose;
pub mod random;
pub mod sampling;
pub mod shape;
pub mod triangle;
pub mod triangles;

pub use bvh::{Bvh, Closest};
pub use error::{GeometryError, Result};
pub use levelset::LevelSet;
pub use mass::{MassProperties, Principal};
pub use motion::{Interpolation, Key, Motion};
pub use nearest::{Nearest, Solid};
pub use pose::{Pose, Twist};
pub use shape::{MovingShape, PlacedShape, Shape};
pub use triangles::Triangles;
