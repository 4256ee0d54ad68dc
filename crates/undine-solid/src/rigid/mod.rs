//! Rigid bodies: what they weigh, how they spin, where their surface is, and how they take part in a simulation.

pub mod body;
pub mod boundary;
pub mod inertia;
pub mod pieces;
pub mod spin;

pub use body::RigidBody;
pub use boundary::{boundary_of_mesh, boundary_of_solid, boundary_of_vertices, sharp_points};
pub use inertia::Inertia;
pub use spin::spin;
