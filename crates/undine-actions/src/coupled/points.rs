//! Points of any Object that carry mass, as plain arrays: what coupling looks at, whichever order they are stored in.

use crate::drag::Body;
use crate::drag::rod::Piece;
use rayon::prelude::*;
use undine_core::glam::{DMat3, DVec3};
use undine_core::{Handle, ParticleSystem};
use undine_sim::offers::{Material, ObjectId, Spatial, Topological};
use undine_sim::{Result, World};

/// The points of an Object that are this process's own, in the order in which they are stored.
#[derive(Debug, Default)]
pub struct Points {
    /// How fast, as far as is known [m/s].
    pub velocities: Vec<DVec3>,
    /// Mass [kg].
    pub masses: Vec<f64>,
    /// Radius of a ball of the same volume [m].
    pub radii: Vec<f64>,
    /// What pushes them so far [N], and the sum of −∂f/∂x so far, with −∂f/∂v / Δt [N/m]; where that is asked for.
    pub pushes: Option<(Vec<DVec3>, Vec<DMat3>)>,
    /// The pieces of rods that they stand for [m]; none for balls.
    pub along: Option<Vec<DVec3>>,
}

impl Points {
    /// The piece of a rod that point n stands for, if it does.
    pub fn piece(&self, n: usize) -> Option<Piece> {
        Piece::of_volume(self.along.as_ref()?[n], self.radii[n])
    }

    /// Point n as a ball.
    pub fn ball(&self, n: usize) -> Body {
        Body { radius: self.radii[n], mass: self.masses[n] }
    }
}

/// Whose points.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    pub object: ObjectId,
    pub material: Material,
    pub along: Option<Handle<DVec3>>,
}

impl Source {
    /// What of an Object has mass: its material particles, or else what its boundary particles hang on; nothing of what the scene moves. Never
    /// both, which would count it twice.
    pub fn of(world: &World, object: ObjectId) -> Option<Self> {
        let offers = &world.object(object).offers;
        let material = offers.material.or_else(|| offers.boundary?.material())?;
        Some(Self { object, material, along: offers.rods })
    }

    /// Where the points are [m].
    pub fn positions(&self, world: &World) -> Result<Vec<DVec3>> {
        match &self.material {
            Material::Spatial(on) => {
                let (particles, domain) = (&world.particles[on.particles], self.frame(world));
                let position = particles.column(particles.position())?;
                let mut all = Vec::with_capacity(particles.len());
                let topology = particles.topology();
                for slot in 0..topology.local() as u32 {
                    let corner = domain.corner(topology.bucket(slot));
                    all.extend(position.chunk(slot).iter().map(|at| corner + at.as_dvec3()));
                }
                Ok(all)
            }
            Material::Topological(on) => {
                let points = &world.points[on.points];
                Ok(points.column(points.position())?.to_vec())
            }
        }
    }

    /// How fast the points are, as far as is known [m/s].
    pub fn velocities(&self, world: &World) -> Result<Vec<DVec3>> {
        match &self.material {
            Material::Spatial(on) => {
                let particles = &world.particles[on.particles];
                let velocity = particles.column(on.velocity)?;
                let slots = 0..particles.topology().local() as u32;
                Ok(slots.flat_map(|slot| velocity.chunk(slot)).map(|v| v.as_dvec3()).collect())
            }
            Material::Topological(on) => Ok(world.points[on.points].column(on.velocity)?.to_vec()),
        }
    }

    /// Radii of balls of the points' volumes [m].
    pub fn radii(&self, world: &World) -> Result<Vec<f64>> {
        match &self.material {
            Material::Spatial(on) => numbers(&world.particles[on.particles], on.radius),
            Material::Topological(on) => Ok(world.points[on.points].column(on.radius)?.to_vec()),
        }
    }

    /// Masses of the points [kg].
    pub fn masses(&self, world: &World) -> Result<Vec<f64>> {
        match &self.material {
            Material::Spatial(on) => numbers(&world.particles[on.particles], on.mass),
            Material::Topological(on) => Ok(world.points[on.points].column(on.mass)?.to_vec()),
        }
    }

    /// Whether a fluid flows around it and carries it by its walls, so that its points are in no fluid.
    pub fn swims(&self, world: &World) -> bool {
        world.object(self.object).swims
    }

    /// What is known of the points; what pushes them only if that is asked for.
    pub fn points(&self, world: &World, with_pushes: bool) -> Result<Points> {
        let along = match (&self.material, self.along) {
            (Material::Topological(on), Some(along)) => {
                Some(world.points[on.points].column(along)?.to_vec())
            }
            _ => None,
        };
        Ok(Points {
            velocities: self.velocities(world)?,
            masses: self.masses(world)?,
            radii: self.radii(world)?,
            pushes: if with_pushes { Some(self.pushes(world)?) } else { None },
            along,
        })
    }

    /// What pushes the points so far: forces [N] and stiffnesses [N/m].
    fn pushes(&self, world: &World) -> Result<(Vec<DVec3>, Vec<DMat3>)> {
        match &self.material {
            Material::Spatial(on) => {
                let particles = &world.particles[on.particles];
                let (force, slope) = (particles.column(on.force)?, particles.column(on.stiffness)?);
                let slots = || 0..particles.topology().local() as u32;
                let forces = slots().flat_map(|s| force.chunk(s)).map(|f| f.as_dvec3());
                let slopes = slots().flat_map(|s| slope.chunk(s)).map(|slope| slope.as_dmat3());
                Ok((forces.collect(), slopes.collect()))
            }
            Material::Topological(on) => {
                let points = &world.points[on.points];
                Ok((points.column(on.force)?.to_vec(), points.column(on.stiffness)?.to_vec()))
            }
        }
    }

    /// Adds forces [N] and stiffnesses [N/m] to the sums of the points, in their order.
    pub fn push(&self, world: &World, more: &[(DVec3, DMat3)]) -> Result<()> {
        match &self.material {
            Material::Spatial(Spatial { particles, force, stiffness, .. }) => {
                let particles = &world.particles[*particles];
                let (mut force, mut stiffness) =
                    (particles.column_mut(*force)?, particles.column_mut(*stiffness)?);
                let mut more = more.iter();
                for slot in 0..particles.topology().local() as u32 {
                    let sums = force.chunk_mut(slot).iter_mut().zip(stiffness.chunk_mut(slot));
                    for ((force, stiffness), (push, stiffer)) in sums.zip(&mut more) {
                        *force += push.as_vec3();
                        *stiffness += stiffer.as_mat3();
                    }
                }
            }
            Material::Topological(Topological { points, force, stiffness, .. }) => {
                let points = &world.points[*points];
                let (mut force, mut stiffness) =
                    (points.column_mut(*force)?, points.column_mut(*stiffness)?);
                let sums = force.par_iter_mut().zip(stiffness.par_iter_mut());
                sums.zip(more).for_each(|((force, stiffness), (push, stiffer))| {
                    *force += *push;
                    *stiffness += *stiffer;
                });
            }
        }
        Ok(())
    }

    /// Whether they are particles in spatial order, which nothing but their velocity moves.
    pub fn is_spatial(&self) -> bool {
        matches!(self.material, Material::Spatial(_))
    }

    /// Adds to the velocities of particles in spatial order, in their order [m/s].
    pub fn kick(&self, world: &World, kicks: &[DVec3]) -> Result<()> {
        let Material::Spatial(on) = &self.material else { return Ok(()) };
        let particles = &world.particles[on.particles];
        let mut velocity = particles.column_mut(on.velocity)?;
        let mut kicks = kicks.iter();
        for slot in 0..particles.topology().local() as u32 {
            for (velocity, kick) in velocity.chunk_mut(slot).iter_mut().zip(&mut kicks) {
                *velocity += kick.as_vec3();
            }
        }
        Ok(())
    }

    /// Whether this process answers for point n: those in the order of a mesh are whole on every process, and are shared out.
    pub fn is_own(&self, world: &World, n: usize) -> bool {
        let processes = world.processes();
        match self.material {
            Material::Spatial(_) => true,
            Material::Topological(_) => n % processes.count() == processes.rank(),
        }
    }

    fn frame<'w>(&self, world: &'w World) -> &'w undine_core::Frame {
        world.domains[world.object(self.object).domain].frame()
    }
}

/// A channel of particles, in the order in which they are stored.
fn numbers(particles: &ParticleSystem, handle: Handle<f32>) -> Result<Vec<f64>> {
    let column = particles.column(handle)?;
    let slots = 0..particles.topology().local() as u32;
    Ok(slots.flat_map(|slot| column.chunk(slot)).map(|&number| number.into()).collect())
}
