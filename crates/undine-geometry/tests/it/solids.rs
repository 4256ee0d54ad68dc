//! Solids whose distance everyone can write down.

use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;
use undine_core::{Frame, GridDomain};
use undine_geometry::{Nearest, Solid};

/// A Domain with voxels of this size [m].
pub fn domain(voxel: f64) -> GridDomain {
    GridDomain::new("space", Frame::new(DVec3::ZERO, voxel).unwrap())
}

/// A ball.
#[derive(Debug, Clone, Copy)]
pub struct Ball {
    pub centre: DVec3,
    pub radius: f64,
}

impl Solid for Ball {
    fn distance(&self, at: DVec3) -> f64 {
        at.distance(self.centre) - self.radius
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        let normal = (at - self.centre).try_normalize().unwrap_or(DVec3::X);
        Nearest { point: self.centre + self.radius * normal, normal, distance: self.distance(at) }
    }

    fn bounds(&self) -> Option<Bounds> {
        Some(Bounds { min: self.centre - self.radius, max: self.centre + self.radius })
    }
}

/// What lies between two parallel planes.
#[derive(Debug, Clone, Copy)]
pub struct Slab {
    pub centre: DVec3,
    /// Of length 1.
    pub normal: DVec3,
    /// Half of the thickness.
    pub half: f64,
}

impl Solid for Slab {
    fn distance(&self, at: DVec3) -> f64 {
        (at - self.centre).dot(self.normal).abs() - self.half
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        let height = (at - self.centre).dot(self.normal);
        let normal = if height < 0.0 { -self.normal } else { self.normal };
        let distance = self.distance(at);
        Nearest { point: at - distance * normal, normal, distance }
    }

    fn bounds(&self) -> Option<Bounds> {
        None
    }
}
