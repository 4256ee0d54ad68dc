//! What every phenomenon asks of space: how far, which side, how fast does it move, do these two meet.
//!
//! Whatever has an inside is a [`Solid`]: it knows its signed distance [m], negative inside, and its nearest point. A
//! [`Shape`] is one by formulas, a [`MeshSolid`] by triangles, a [`LevelSet`] by voxels on sparse Buckets (through its
//! sampler), and a [`ColliderStep`] is any of these in motion. Tools that take a `&dyn Solid` work on all of them.
//!
//! Where to begin:
//!
//! - solids from formulas: [`shape`]; from triangles: [`bvh`], [`mesh_solid`], and [`meshing`] to mend them first;
//! - distances on voxels, and what can be done with them: [`levelset`]; from a mesh: [`voxelize`];
//! - points to start from: [`sampling`]; tetrahedra: [`tet`]; the surface of a liquid's particles: [`surfacing`];
//! - what solids look like: [`form`];
//! - what things bump into: [`collider`]; what moves into what: [`ccd`]; what a wall leaves of a cell: [`fractions`].

pub mod blend;
pub mod bvh;
pub mod ccd;
pub mod collider;
pub mod deformation;
pub mod error;
pub mod form;
pub mod fractions;
pub mod gallery;
pub mod levelset;
pub mod mass;
pub mod mesh_solid;
pub mod meshing;
pub mod motion;
mod point_cells;
pub mod pose;
pub mod pseudonormals;
pub mod random;
pub mod sampling;
pub mod shape;
mod simplex;
pub mod solid;
pub mod surfacing;
pub mod tet;
pub mod triangle;
pub mod triangles;
pub mod voxelize;
pub mod winding;

pub use bvh::{Bvh, Closest, Ray, RayHit};
pub use collider::{Collider, ColliderStep, Impact};
pub use deformation::Deformation;
pub use error::{GeometryError, Result};
pub use form::{Detail, Form};
pub use levelset::LevelSet;
pub use mass::{MassProperties, Principal};
pub use mesh_solid::{Inside, MeshSolid};
pub use motion::{Course, Motion};
pub use pose::{Pose, Twist};
pub use pseudonormals::Pseudonormals;
pub use shape::Shape;
pub use solid::{Nearest, Several, Solid};
pub use triangles::Triangles;
pub use winding::Winding;
