//! Meshes that change their shape from one frame to the next, with the same triangles.
//!
//! Vertices move along straight lines. At any time between the frames the mesh has a level set of its own; and its
//! velocity at the first frame, continued off the surface on a coarse lattice, is what carries level sets from
//! frame to frame where remaking them is too slow ([`LevelSet::between`]).

use crate::deformation::Deformation;
use crate::error::{GeometryError, Result, positive};
use crate::levelset::{Extent, LevelSet};
use crate::mesh_solid::Inside;
use crate::triangles::Triangles;
use undine_core::glam::{DVec3, Vec3};
use undine_core::volume::{Interpolation, Sampler};
use undine_core::{ChannelSpec, Frame, GridDomain, Handle};

/// A mesh at two frames.
#[derive(Debug, Clone)]
pub struct Deforming {
    ends: [Triangles; 2],
    duration: f64,
}

/// The velocity of a shape, continued off its surface from the nearest point.
#[derive(Debug)]
pub struct ShapeVelocity {
    set: LevelSet,
    velocity: Handle<Vec3>,
}

/// The channel of velocities.
const VELOCITY: &str = "velocity";

/// How many voxels along one of the coarse lattice on which velocities are continued.
const COARSER: f64 = 4.0;

impl Deforming {
    /// A mesh whose vertices are at positions `next` [m] a `duration` [s] later.
    pub fn new(mesh: Triangles, next: Vec<DVec3>, duration: f64) -> Result<Self> {
        let duration = positive("the time between two frames of a mesh", duration)?;
        let mut end = mesh.clone();
        end.set_positions(next)?;
        Ok(Self { ends: [mesh, end], duration })
    }

    /// The mesh at the two frames of a sequence around a time [s], and how long after the first of them that is [s].
    pub fn around(mesh: &Triangles, sequence: &Deformation, time: f64) -> Result<(Self, f64)> {
        let Some([(start, from), (end, to)]) = sequence.around(time) else {
            return Err(GeometryError::BadParameter {
                what: "a time between two frames of a mesh",
                found: time,
                wanted: "from its first frame to its last",
            });
        };
        let mut first = mesh.clone();
        first.set_positions(from.to_vec())?;
        Ok((Self::new(first, to.to_vec(), end - start)?, time - start))
    }

    /// The time between the frames [s].
    pub fn duration(&self) -> f64 {
        self.duration
    }

    /// The mesh at a time [s] from the first frame on, up to the second.
    pub fn at(&self, time: f64) -> Result<Triangles> {
        let part = within(time, self.duration)? / self.duration;
        let [from, to] = self.ends.each_ref().map(Triangles::positions);
        let mix = |(a, b): (&DVec3, &DVec3)| *a * (1.0 - part) + *b * part;
        let positions = from.iter().zip(to).map(mix).collect();
        Triangles::new(positions, self.ends[0].indices().to_vec())
    }

    /// The velocities of the vertices [m/s].
    pub fn velocities(&self) -> Vec<Vec3> {
        let [from, to] = self.ends.each_ref().map(Triangles::positions);
        from.iter().zip(to).map(|(a, b)| ((*b - *a) / self.duration).as_vec3()).collect()
    }

    /// The level set of the mesh at a time [s] between the frames, with a channel of velocities [m/s]. Collective.
    pub fn level_set(
        &self,
        label: &str,
        domain: &GridDomain,
        time: f64,
        extent: Extent,
        inside: Inside,
    ) -> Result<(LevelSet, Handle<Vec3>)> {
        let mesh = self.at(time)?;
        let (mut set, closest) =
            LevelSet::of_mesh_with_closest(label, domain, &mesh, extent, inside)?;
        let spec = ChannelSpec::new(VELOCITY, Vec3::ZERO).unit("m/s");
        let velocity = closest.carry(&mut set, &mesh, &spec, &self.velocities())?;
        Ok((set, velocity))
    }

    /// The velocity at the first frame, as far off the surface as the mesh moves until the second, on a lattice four
    /// times coarser than that of `domain`. Each process has all of it.
    pub fn shape_velocity(&self, domain: &GridDomain) -> Result<ShapeVelocity> {
        let voxel = domain.frame().voxel_size(0) * COARSER;
        let frame = Frame::new(domain.frame().origin(), voxel)?;
        let coarse =
            GridDomain::new("the velocity of a shape", frame).with_budget(domain.budget().clone());
        let [from, to] = self.ends.each_ref().map(Triangles::positions);
        let farthest = from.iter().zip(to).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        let extent = Extent::Band(farthest / voxel + 3.0);
        // Only how near a place is matters here, so no side is asked for.
        let inside = Inside::Thickness(f64::from(f32::EPSILON) * voxel);
        let (set, velocity) =
            self.level_set("the velocity of a shape", &coarse, 0.0, extent, inside)?;
        Ok(ShapeVelocity { set, velocity })
    }
}

impl ShapeVelocity {
    /// Hands `ask` a function that tells the velocity [m/s] at any place [m]; far off the surface it is zero.
    pub fn read<R>(&self, ask: impl FnOnce(&(dyn Fn(DVec3) -> DVec3 + Sync)) -> R) -> Result<R> {
        let column = self.set.volume().column(self.velocity)?;
        let sampler = Sampler::new(&column, self.set.topology(), Interpolation::Linear);
        Ok(ask(&|at| sampler.at_world(at).as_dvec3()))
    }
}

/// Refuses a time that is not between 0 and the duration [s].
pub(super) fn within(time: f64, duration: f64) -> Result<f64> {
    if (0.0..=duration).contains(&time) {
        return Ok(time);
    }
    Err(GeometryError::BadParameter {
        what: "the time between two frames",
        found: time,
        wanted: "from 0 to the time of the second frame",
    })
}
