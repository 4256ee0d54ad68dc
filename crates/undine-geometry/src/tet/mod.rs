//! Tetrahedra: a solid filled with them by isosurface stuffing (Labelle and Shewchuk 2007), a lattice of them around
//! a solid, and surfaces and points that ride on them.

mod covering;
mod cuts;
pub mod embed;
mod lattice;
mod locate;
mod pinches;
pub mod quality;
mod stencils;
pub mod stuffing;

pub use embed::{Embedding, Outside};
pub use quality::Quality;
pub use stuffing::{Stuffed, Stuffing};
