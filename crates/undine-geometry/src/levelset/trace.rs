//! Where things come from: tracing back through a velocity, and reading distances there.

use super::LevelSet;
use crate::error::Result;
use undine_core::access::Tile;
use undine_core::channel::ChannelRef;
use undine_core::glam::{DVec3, Vec3};
use undine_core::volume::{Interpolation, MacHandle, MacSampler, Sampler, VoxelColumn, Voxels};
use undine_core::{Bucket, DiscreteVolume, Frame, GridDomain, Handle, Topology};

/// What carries a surface.
#[derive(Clone, Copy)]
pub enum Carrier<'a> {
    /// A velocity [m/s] at any place [m] and time [s].
    Field(&'a (dyn Fn(DVec3, f64) -> DVec3 + Sync)),
    /// A velocity [m/s] on the faces of a volume, of the same processes and cut alike, the same at all times. It should
    /// be known wherever the surface goes, and a voxel further: extrapolate it.
    Faces(&'a DiscreteVolume, MacHandle),
    /// A velocity [m/s] in the cells of the level set itself, the same at all times.
    Cells(Handle<Vec3>),
}

impl std::fmt::Debug for Carrier<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Field(_) => write!(f, "a velocity as a function"),
            Self::Faces(volume, _) => write!(f, "the velocity on the faces of {}", volume.label()),
            Self::Cells(_) => write!(f, "a velocity in cells"),
        }
    }
}

/// The columns of a carrier, claimed, with fresh copies of what other processes own.
pub(super) enum Claimed<'a> {
    Field(&'a (dyn Fn(DVec3, f64) -> DVec3 + Sync)),
    Faces([ChannelRef<'a, Voxels, f32>; 3], &'a Topology),
    Cells(ChannelRef<'a, Voxels, Vec3>, &'a Topology),
}

impl<'a> Carrier<'a> {
    /// Claims the columns. Collective.
    pub(super) fn claim<'s: 'a>(
        self,
        domain: &GridDomain,
        volume: &'s DiscreteVolume,
    ) -> Result<Claimed<'a>> {
        Ok(match self {
            Self::Field(field) => Claimed::Field(field),
            Self::Faces(volume, velocity) => {
                for face in velocity.faces {
                    volume.refresh(domain, face)?;
                }
                let [x, y, z] = velocity.faces.map(|face| volume.column(face));
                Claimed::Faces([x?, y?, z?], volume.topology())
            }
            Self::Cells(velocity) => {
                volume.refresh(domain, velocity)?;
                Claimed::Cells(volume.column(velocity)?, volume.topology())
            }
        })
    }
}

/// Reads a carrier.
pub(super) enum Reader<'a> {
    Field(&'a (dyn Fn(DVec3, f64) -> DVec3 + Sync)),
    Faces(MacSampler<'a>, &'a Topology),
    Cells(Sampler<'a, Vec3>, &'a Topology),
}

impl Claimed<'_> {
    pub(super) fn reader(&self) -> Result<Reader<'_>> {
        Ok(match self {
            Self::Field(field) => Reader::Field(*field),
            Self::Faces(columns, topology) => {
                let [x, y, z] = columns;
                let columns: [&VoxelColumn<f32>; 3] = [x, y, z];
                let sampler = MacSampler::new(columns, topology, Interpolation::Linear)?;
                Reader::Faces(sampler, topology)
            }
            Self::Cells(column, topology) => {
                Reader::Cells(Sampler::new(column, topology, Interpolation::Linear), topology)
            }
        })
    }
}

impl Reader<'_> {
    /// The velocity [m/s] around a Bucket, as a function of the offset [m] from its corner and of time [s].
    #[inline]
    pub(super) fn around(
        &self,
        frame: &Frame,
        bucket: Bucket,
    ) -> impl Fn(DVec3, f64) -> DVec3 + Sync {
        let corner = frame.corner(bucket);
        let slot = match self {
            Self::Faces(_, topology) | Self::Cells(_, topology) => {
                // Slots of another lattice are other places.
                topology.slot(bucket).filter(|_| topology.frame() == frame)
            }
            Self::Field(_) => None,
        };
        move |offset, time| match (self, slot) {
            (Self::Field(field), _) => field(corner + offset, time),
            (Self::Faces(faces, _), Some(slot)) => faces.at(slot, offset.as_vec3()).as_dvec3(),
            (Self::Faces(faces, _), None) => faces.at_world(corner + offset).as_dvec3(),
            (Self::Cells(cells, _), Some(slot)) => cells.at(slot, offset.as_vec3()).as_dvec3(),
            (Self::Cells(cells, _), None) => cells.at_world(corner + offset).as_dvec3(),
        }
    }
}

/// A step back in time: from `end` [s], over `span` [s], in so many equal parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Back {
    pub end: f64,
    pub span: f64,
    pub parts: u32,
}

impl Back {
    /// Where what is at a place at the end was at the start: the classical method of Runge and Kutta, of fourth order.
    #[inline]
    pub(super) fn trace(&self, velocity: &impl Fn(DVec3, f64) -> DVec3, place: DVec3) -> DVec3 {
        let dt = self.span / f64::from(self.parts);
        let mut x = place;
        for part in 0..self.parts {
            let t = self.end - f64::from(part) * dt;
            let a = velocity(x, t);
            let b = velocity(x - 0.5 * dt * a, t - 0.5 * dt);
            let c = velocity(x - 0.5 * dt * b, t - 0.5 * dt);
            let d = velocity(x - dt * c, t - dt);
            x -= dt / 6.0 * ((a + d) + 2.0 * (b + c));
        }
        x
    }

    /// The same with one step of the midpoint rule: to within a voxel, which is enough to see what is far away.
    #[inline]
    pub(super) fn glance(&self, velocity: &impl Fn(DVec3, f64) -> DVec3, place: DVec3) -> DVec3 {
        let half = 0.5 * self.span;
        let middle = place - half * velocity(place, self.end);
        place - self.span * velocity(middle, self.end - half)
    }
}

/// Nodes of an interpolation along an axis.
pub(super) const NODES: usize = 6;

/// Reads a tile between voxels by the polynomial through [`NODES`]³ of them (Lagrange). The place is in voxels from the
/// centre of the Bucket's first one, at least [`NODES`] / 2 within the tile's padding.
#[inline]
pub(super) fn interpolate(tile: &Tile<f32>, place: DVec3) -> f32 {
    let low = place.floor();
    let first = low.as_ivec3() - (NODES as i32 / 2 - 1);
    let [x, y, z] = (place - low).to_array().map(weights);
    let start = tile.index(first.x, first.y, first.z);
    let mut sum = 0.0_f32;
    for (i, wx) in x.iter().enumerate() {
        for (j, wy) in y.iter().enumerate() {
            let row = &tile.values()[start + i * tile.slab() + j * tile.row()..][..NODES];
            let along_z: f32 = row.iter().zip(&z).map(|(value, wz)| value * wz).sum();
            sum += wx * wy * along_z;
        }
    }
    sum
}

/// The weights of nodes at −2 … 3 (for six of them) for a place t between 0 and 1.
#[inline]
fn weights(t: f64) -> [f32; NODES] {
    let node = |n: usize| n as f64 - (NODES as f64 / 2.0 - 1.0);
    std::array::from_fn(|n| {
        let others = (0..NODES).filter(|&m| m != n);
        others.fold(1.0, |weight, m| weight * (t - node(m)) / (node(n) - node(m))) as f32
    })
}

impl LevelSet {
    /// Claims the columns of a carrier.
    pub(super) fn claim<'a>(&'a self, carrier: Carrier<'a>) -> Result<Claimed<'a>> {
        carrier.claim(&self.domain, &self.volume)
    }
}
