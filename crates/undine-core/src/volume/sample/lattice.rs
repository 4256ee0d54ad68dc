//! Where the nodes of a channel lie in a Bucket.

use super::blend::Real;
use crate::domain::{MAX_LEVEL, Topology};
use crate::volume::shape::VoxelShape;
use glam::Vec3;

/// From offsets in a Bucket to nodes, on every level.
pub(crate) struct Lattice<R> {
    /// Nodes per metre, by level.
    per_metre: [R; MAX_LEVEL as usize + 1],
    /// The offset of a value in its voxel, in voxels.
    centre: [R; 3],
}

impl<R: Real> Lattice<R> {
    pub fn new(topology: &Topology, shape: VoxelShape) -> Self {
        let edge = shape.resolution.edge() as f64;
        Self {
            per_metre: std::array::from_fn(|level| {
                R::of(edge / topology.frame().bucket_size(level as u8))
            }),
            centre: shape.centring.offset().to_array().map(|c| R::of(f64::from(c))),
        }
    }

    /// An offset [m] in nodes of a level, and the nodes per metre.
    #[inline]
    pub fn nodes(&self, level: u8, offset: Vec3) -> ([R; 3], R) {
        let per_metre = self.per_metre[usize::from(level)];
        let offset = offset.to_array().map(|offset| R::of(f64::from(offset)));
        (std::array::from_fn(|axis| offset[axis] * per_metre - self.centre[axis]), per_metre)
    }
}
