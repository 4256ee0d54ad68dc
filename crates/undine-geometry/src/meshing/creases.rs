//! The mesh of a level set with its edges and corners, as solids leave them that are taken out of each other.
//!
//! Interpolation rounds an edge off over a voxel, and the gradient there belongs to neither side. But a voxel or two away there is only
//! one side near. Gradients of distances have length 1, and are shorter only where two sides are mixed: so a triangle whose own is
//! short asks all around it, and takes the plane that comes nearest to it, of those that are steep.

use super::sharpen;
use crate::error::Result;
use crate::levelset::{DistanceSampler, LevelSet};
use crate::solid::{Nearest, Solid};
use crate::triangles::Triangles;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;

/// How far away it asks [voxels]: all eight corners of a cube of voxels there lie on one side of a crease through the triangle.
const AWAY: f64 = 1.5;
/// A gradient that is shorter than the longest by more than this is one of several sides.
const MIXED: f32 = 0.01;

impl LevelSet {
    /// [`Self::mesh`] with edges and corners where two smooth sides meet. Distances have to be right for three voxels on either side.
    ///
    /// Collective. Of several processes, the first has all of it, and the others none.
    pub fn sharp_mesh(&self) -> Result<Triangles> {
        if self.domain().processes().count() > 1 {
            return match self.gathered()? {
                Some(whole) => whole.sharp_mesh(),
                None => Triangles::new(Vec::new(), Vec::new()),
            };
        }
        let column = self.column()?;
        let sides = OneSided { distances: self.sampler(&column), away: AWAY * self.voxel_size() };
        sharpen(&self.mesh()?, &sides, self.voxel_size())
    }
}

/// Distances whose normals are those of one side of an edge, also beside it.
#[derive(Debug)]
struct OneSided<'a> {
    distances: DistanceSampler<'a>,
    /// [m]
    away: f64,
}

impl Solid for OneSided<'_> {
    fn distance(&self, at: DVec3) -> f64 {
        self.distances.distance(at)
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        let plane = |from: DVec3| {
            let (distance, gradient) = self.distances.value_and_gradient(from);
            let (normal, steep) = (gradient.as_dvec3().normalize_or_zero(), gradient.length());
            (f64::from(distance) + normal.dot(at - from), normal, steep)
        };
        let own = plane(at);
        let around = DVec3::AXES.into_iter().flat_map(|axis| [axis, -axis]);
        let around: Vec<_> = around.map(|way| plane(at + self.away * way)).collect();
        let steepest = around.iter().fold(0.0, |most: f32, plane| most.max(plane.2));
        let is_mixed = |plane: &(f64, DVec3, f32)| plane.2 < steepest - MIXED;
        let best = match is_mixed(&own) {
            false => None,
            true => around
                .into_iter()
                .filter(|plane| !is_mixed(plane))
                .min_by(|a, b| a.0.abs().total_cmp(&b.0.abs())),
        };
        match best {
            Some((distance, normal, _)) => {
                Nearest { point: at - distance * normal, normal, distance }
            }
            None => self.distances.nearest(at),
        }
    }

    fn bounds(&self) -> Option<Bounds> {
        self.distances.bounds()
    }
}
