//! What every phenomenon asks of space: how far, which side, how fast does it move, do these two meet.

pub mod blend;
pub mod bvh;
pub mod ccd;
pub mod collider;
pub mod error;
pub mod fractions;
pub mod gallery;
pub mod levelset;
pub mod mass;
pub mod mesh_solid;
pub mod meshing;
pub mod motion;
pub mod nearest;
mod point_cells;
pub mod pose;
pub mod pseudonormals;
pub mod random;
pub mod sampling;
pub mod shape;
pub mod tet;
pub mod triangle;
pub mod triangles;
pub mod winding;

pub use bvh::{Bvh, Closest, Hit, Ray};
pub use collider::{Collider, ColliderStep, Impact};
pub use error::{GeometryError, Result};
pub use levelset::LevelSet;
pub use mass::{MassProperties, Principal};
pub use mesh_solid::{MeshSolid, Side};
pub use motion::{Interpolation, Key, Motion};
pub use nearest::{Nearest, Solid};
pub use pose::{Pose, Twist};
pub use pseudonormals::Pseudonormals;
pub use shape::{MovingShape, PlacedShape, Shape};
pub use triangles::Triangles;
pub use winding::Winding;
