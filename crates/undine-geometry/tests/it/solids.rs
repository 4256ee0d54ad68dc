//! Solids whose distance everyone can write down.

use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;
use undine_core::volume::{Resolution, VoxelShape};
use undine_core::{ChannelSpec, DiscreteVolume, Frame, GridDomain};
use undine_geometry::fractions::{Fractions, cut};
use undine_geometry::{Nearest, Solid};

/// A Domain with voxels of this size [m].
pub fn domain(voxel: f64) -> GridDomain {
    GridDomain::new("space", Frame::new(DVec3::ZERO, voxel).unwrap())
}

/// What a solid leaves open of the cells of a Domain.
pub fn cells(
    domain: &GridDomain,
    solid: &dyn Solid,
) -> undine_geometry::Result<(DiscreteVolume, Fractions)> {
    let mut volume = DiscreteVolume::new("cells", domain);
    let fractions = Fractions {
        area: volume.add_mac("open", "", Resolution::R8)?,
        volume: volume.add_channel(&ChannelSpec::new("space", 0.5_f32), VoxelShape::CELLS)?,
    };
    cut(domain, &volume, solid, fractions)?;
    Ok((volume, fractions))
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

/// A box with faces along the axes.
#[derive(Debug, Clone, Copy)]
pub struct Brick {
    pub min: DVec3,
    pub max: DVec3,
}

impl Solid for Brick {
    fn distance(&self, at: DVec3) -> f64 {
        let beyond = (self.min - at).max(at - self.max);
        beyond.max(DVec3::ZERO).length() + beyond.max_element().min(0.0)
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        downhill(self, at)
    }

    fn bounds(&self) -> Option<Bounds> {
        Some(Bounds { min: self.min, max: self.max })
    }
}

/// A torus around the z axis.
#[derive(Debug, Clone, Copy)]
pub struct Ring {
    pub centre: DVec3,
    pub major: f64,
    pub minor: f64,
}

impl Ring {
    pub fn volume(&self) -> f64 {
        2.0 * std::f64::consts::PI.powi(2) * self.major * self.minor.powi(2)
    }
}

impl Solid for Ring {
    fn distance(&self, at: DVec3) -> f64 {
        let at = at - self.centre;
        let from_circle = at.truncate().length() - self.major;
        from_circle.hypot(at.z) - self.minor
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        downhill(self, at)
    }

    fn bounds(&self) -> Option<Bounds> {
        let outer = self.major + self.minor;
        let half = DVec3::new(outer, outer, self.minor);
        Some(Bounds { min: self.centre - half, max: self.centre + half })
    }
}

/// The nearest point along the slope of the distance.
fn downhill(solid: &dyn Solid, at: DVec3) -> Nearest {
    let step = 1e-6;
    let slope = |axis: DVec3| solid.distance(at + step * axis) - solid.distance(at - step * axis);
    let slopes = DVec3::new(slope(DVec3::X), slope(DVec3::Y), slope(DVec3::Z));
    let normal = slopes.try_normalize().unwrap_or(DVec3::X);
    let distance = solid.distance(at);
    Nearest { point: at - distance * normal, normal, distance }
}
