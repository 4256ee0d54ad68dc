//! The Grid Domain: space divided into sparse Buckets, on several levels a factor 2 apart.
//!
//! - [`Bucket`] and [`BucketKey`]: one cube of space, and its place along a Hilbert curve;
//! - [`BucketSet`]: set algebra on Buckets, and grading for adaptive covers;
//! - [`Frame`]: where the Buckets lie in the world;
//! - [`Topology`]: the Buckets of a set as one process sees them, with neighbour tables;
//! - [`Partition`]: which process owns which part of space;
//! - [`GridDomain`]: all of it together (Loki §5.3).

mod bucket;
mod curve;
mod frame;
mod grading;
mod grid;
mod halo;
mod index;
mod linear;
mod packed;
mod partition;
mod set;
mod topology;

pub use bucket::{Bucket, BucketKey, MAX_LEVEL};
pub use frame::{Frame, VOXELS_PER_BUCKET};
pub use grid::GridDomain;
pub use partition::Partition;
pub use set::BucketSet;
pub use topology::{NONE, Slot, SlotMap, Topology, direction, offset_towards};
