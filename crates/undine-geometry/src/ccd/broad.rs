//! The broad phase: which pairs of swept boxes overlap, found on the lattice of Buckets.
//!
//! A box belongs to one Bucket, that of its lowest corner, on the finest level whose Buckets are wider than the box (of
//! the Domain's levels, or of up to ten finer ones, so that the primitives of a mesh need not share one Bucket). It
//! overlaps boxes of its own level in the 27 Buckets around it only, and those of a coarser level in the 27 Buckets
//! around the one that holds it there. The finer of two boxes looks for the coarser, so that each pair is found once.

mod flat;
mod layer;
mod search;
mod swept;

pub use flat::{Flat, Four};
pub use search::{overlapping, overlapping_self, overlapping_self_part};
pub use swept::{
    edge_edge_between, edge_edge_candidates, point_triangle_candidates, swept_boxes,
    swept_sphere_boxes,
};
