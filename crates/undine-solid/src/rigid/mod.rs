//! Rigid bodies: what they weigh, how they spin, and where their surface is.

pub mod boundary;
pub mod inertia;
pub mod spin;

pub use boundary::{boundary_of_mesh, boundary_of_solid, boundary_of_vertices};
pub use inertia::Inertia;
pub use spin::spin;
