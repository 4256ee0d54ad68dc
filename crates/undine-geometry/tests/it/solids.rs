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
/// A box around the origin.
#[derive(Debug, Clone, Copy)]
pub struct Cuboid {
    pub half: DVec3,
}

impl Solid for Cuboid {
    fn distance(&self, at: DVec3) -> f64 {
        let beyond = at.abs() - self.half;
        beyond.max(DVec3::ZERO).length() + beyond.max_element().min(0.0)
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        let distance = self.distance(at);
        let beyond = at.abs() - self.half;
        let outside = beyond.max(DVec3::ZERO);
        let normal =
            if distance > 0.0 { outside / distance } else { DVec3::AXES[beyond.max_position()] };
        let normal = normal * at.signum();
        Nearest { point: at - distance * normal, normal, distance }
    }

    fn bounds(&self) -> Option<Bounds> {
        Some(Bounds { min: -self.half, max: self.half })
    }
}

/// A torus around the z axis.
#[derive(Debug, Clone, Copy)]
pub struct Ring {
    pub ring: f64,
    pub tube: f64,
}

impl Solid for Ring {
    fn distance(&self, at: DVec3) -> f64 {
        self.nearest(at).distance
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        let around = DVec3::new(at.x, at.y, 0.0).try_normalize().unwrap_or(DVec3::X);
        Ball { centre: self.ring * around, radius: self.tube }.nearest(at)
    }

    fn bounds(&self) -> Option<Bounds> {
        let half = DVec3::new(self.ring + self.tube, self.ring + self.tube, self.tube);
        Some(Bounds { min: -half, max: half })
    }
}

/// All of them together; inside, the distance is no more than a bound.
#[derive(Debug)]
pub struct Union(pub Vec<Box<dyn Solid>>);

impl Solid for Union {
    fn distance(&self, at: DVec3) -> f64 {
        self.0.iter().map(|part| part.distance(at)).fold(f64::INFINITY, f64::min)
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        let all = self.0.iter().map(|part| part.nearest(at));
        all.min_by(|a, b| a.distance.total_cmp(&b.distance)).expect("a union has parts")
    }

    fn bounds(&self) -> Option<Bounds> {
        self.0.iter().filter_map(|part| part.bounds()).reduce(Bounds::union)
    }
}
