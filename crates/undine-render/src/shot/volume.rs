//! A sparse volume of smoke and fire: cubes of voxels, in the order of an OpenVDB leaf.

use super::bounds_of;
use undine_core::glam::{DVec3, IVec3, Vec3};
use undine_core::mesh::Bounds;

/// A cube of voxels.
#[derive(Debug, Clone, Copy)]
pub struct Chunk<'a> {
    /// Where it is, counted in cubes.
    pub place: IVec3,
    /// How dense each voxel is; x slowest, z fastest.
    pub density: &'a [f32],
    /// How hot each is [K].
    pub temperature: Option<&'a [f32]>,
}

/// A sparse volume of smoke and fire. What is not in a chunk is empty.
#[derive(Debug, Clone)]
pub struct Volume<'a> {
    /// The corner of the cube at (0, 0, 0), in the world [m].
    pub corner: DVec3,
    /// The side of a voxel [m].
    pub voxel: f64,
    /// How many voxels a cube has along its side.
    pub side: usize,
    /// The cubes, each place at most once.
    pub chunks: Vec<Chunk<'a>>,
    /// How much light a metre of density 1 takes away [1/m].
    pub extinction: f32,
    /// How much of that is scattered, and not swallowed, by colour.
    pub albedo: Vec3,
    /// How brightly what is hot glows; 0 for not at all.
    pub glow: f32,
}

impl Volume<'_> {
    /// The box around all cubes.
    pub fn bounds(&self) -> Option<Bounds> {
        let side = self.voxel * self.side as f64;
        let corners = self.chunks.iter().flat_map(|chunk| {
            [IVec3::ZERO, IVec3::ONE].map(|far| self.corner + side * (chunk.place + far).as_dvec3())
        });
        bounds_of(corners)
    }
}
