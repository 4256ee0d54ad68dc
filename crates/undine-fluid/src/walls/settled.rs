//! A solid whose surface passes through what is a hair from it: a wall that misses a lattice plane by rounding closes its faces, and leaves
//! no cell behind it of which next to nothing is open.

use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;
use undine_geometry::solid::{Nearest, Solid};

/// What is no farther from a surface than this lies on it [voxels].
const HAIR: f64 = 1e-3;

/// A solid, with distances of less than a hair taken for none.
#[derive(Debug)]
pub struct Settled<'a> {
    solid: &'a dyn Solid,
    hair: f64,
}

impl<'a> Settled<'a> {
    /// A solid, for cells of a size [m].
    pub fn new(solid: &'a dyn Solid, voxel: f64) -> Self {
        Self { solid, hair: HAIR * voxel }
    }
}

impl Solid for Settled<'_> {
    fn distance(&self, at: DVec3) -> f64 {
        let found = self.solid.distance(at);
        if found.abs() <= self.hair { 0.0 } else { found }
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        self.solid.nearest(at)
    }

    fn bounds(&self) -> Option<Bounds> {
        self.solid.bounds()
    }

    fn is_wall_between(&self, from: DVec3, to: DVec3) -> bool {
        self.solid.is_wall_between(from, to)
    }
}
