//! Particles that are inside of walls and bodies: pushed out where that is next to nothing, ended where it is not.
//!
//! Liquid may begin inside of a solid, as where a body is put into a full tank. What the solid takes the place of is not there: pushed
//! out, it would lie around the solid twice as dense, weigh what it weighs, and carry a momentum that the solid never gave. In
//! later steps what is deeper than a voxel has no way out that would be its own. How much ends is told.

use super::near::{Near, Union};
use undine_core::glam::{DVec3, IVec3};
use undine_core::{Accessor, DiscreteVolume, GridDomain, Handle, ParticleSystem};
use undine_geometry::solid::Solid;
use undine_sim::Result;
use undine_sim::offers::FluidParticles;

/// What was done about particles inside of walls, on all processes together.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Swallowed {
    /// How many were just inside, and were pushed out.
    pub pushed: f64,
    /// How many were deeper, and have ended.
    pub ended: f64,
    /// What those had of mass [kg].
    pub mass: f64,
}

/// During a run, what is inside by no more than so many voxels is pushed out.
pub const PUSHED: f64 = 1.0;
/// What begins inside by no more than so many voxels is pushed out: as far as the surfaces of a wall and of what fills it to the rim may
/// be apart by how they are measured.
const ROUNDING: f64 = 0.1;
/// How often what is pushed out of one collider, into another, is pushed again.
const MOST_PUSHES: usize = 4;

/// A particle's place among walls.
enum Inside {
    /// It is outside.
    Not,
    /// Near the surface: where it is outside, just so [m].
    Just(DVec3),
    /// Deeper.
    Deep,
}

/// Takes all particles out of walls that are in one, before anything is made of them: pushes them out, to stay `apart` [m] from
/// the surface, or ends them. They are sorted into Buckets afterwards.
pub fn take_out(
    domain: &GridDomain,
    particles: &mut ParticleSystem,
    on: &FluidParticles,
    colliders: &[Near<'_>],
    apart: f64,
) -> Result<Swallowed> {
    let frame = *domain.frame();
    let (voxel, half) = (frame.voxel_size(0), 0.5 * 3.0_f64.sqrt() * frame.bucket_size(0));
    let kernel = (particles.write(particles.position()), particles.own(on.mass));
    let found = Accessor::new("take out of walls", domain).over(particles.topology()).map(
        kernel,
        |here, (position, mass)| {
            let mut found = Found::default();
            let centre = frame.centre(here.bucket);
            let near = colliders.iter().filter(|near| near.at_least(centre) <= half);
            let near = Union(near.collect());
            if near.0.is_empty() {
                return found;
            }
            let corner = frame.corner(here.bucket);
            for (n, (offset, mass)) in position.iter_mut().zip(mass).enumerate() {
                match inside(&near, corner + offset.as_dvec3(), ROUNDING * voxel, apart) {
                    Inside::Not => {}
                    Inside::Just(out) => {
                        *offset = (out - corner).as_vec3();
                        found.sum.pushed += 1.0;
                    }
                    Inside::Deep => found.end(n, *mass),
                }
            }
            found
        },
    )?;
    let sum = Found::end_all(found, domain, particles)?;
    if sum.pushed > 0.0 {
        particles.rebucketize(domain)?;
    }
    Ok(sum)
}

/// Ends the particles that are deeper in walls than what is pushed out. Where that may be, distances at cells tell.
pub fn end_deep(
    domain: &GridDomain,
    (volume, distance): (&DiscreteVolume, Handle<f32>),
    particles: &mut ParticleSystem,
    on: &FluidParticles,
    colliders: &[Near<'_>],
) -> Result<Swallowed> {
    let frame = *domain.frame();
    let voxel = frame.voxel_size(0);
    // Of a particle in a cell, the distance is that of the centre up to half of the cell's diagonal.
    let (deep, slack) = (PUSHED * voxel, 0.5 * 3.0_f64.sqrt() * voxel);
    let suspect = (slack - deep) as f32;
    let kernel =
        (particles.own(particles.position()), particles.own(on.mass), volume.own(distance));
    let found = Accessor::new("end what walls have swallowed", domain)
        .over(particles.topology())
        .map(kernel, |here, (position, mass, distance)| {
        let mut found = Found::default();
        if !distance.iter().any(|distance| *distance < suspect) {
            return found;
        }
        let all = Union(colliders.iter().collect());
        let corner = frame.corner(here.bucket);
        for (n, (offset, mass)) in position.iter().zip(mass).enumerate() {
            let cell = (*offset / voxel as f32).as_ivec3().clamp(IVec3::ZERO, IVec3::splat(7));
            let near = distance[(cell.x << 6 | cell.y << 3 | cell.z) as usize] < suspect;
            if near && all.distance(corner + offset.as_dvec3()) < -deep {
                found.end(n, *mass);
            }
        }
        found
    })?;
    Found::end_all(found, domain, particles)
}

/// Where a particle is among walls.
fn inside(walls: &Union<'_>, at: DVec3, deepest: f64, apart: f64) -> Inside {
    let mut place = at;
    for pushes in 0..=MOST_PUSHES {
        let distance = walls.distance(place);
        match distance {
            _ if distance >= 0.0 && pushes == 0 => return Inside::Not,
            _ if distance >= 0.0 => return Inside::Just(place),
            _ if distance < -deepest || distance.is_nan() => return Inside::Deep,
            _ => {}
        }
        let near = walls.nearest(place);
        place += (apart - near.distance) * near.normal;
    }
    // Between walls there is no place for it.
    Inside::Deep
}

/// What was found in a Bucket.
#[derive(Default)]
struct Found {
    /// Places of those that end, ascending.
    ending: Vec<u32>,
    sum: Swallowed,
}

impl Found {
    fn end(&mut self, place: usize, mass: f32) {
        self.ending.push(place as u32);
        self.sum.ended += 1.0;
        self.sum.mass += f64::from(mass);
    }

    /// Ends all that are to end, and adds up what was done, on all processes.
    fn end_all(
        found: Vec<Self>,
        domain: &GridDomain,
        particles: &mut ParticleSystem,
    ) -> Result<Swallowed> {
        let mut sums = found.iter().fold([0.0; 3], |[pushed, ended, mass], found| {
            [pushed + found.sum.pushed, ended + found.sum.ended, mass + found.sum.mass]
        });
        domain.processes().all_sum_f64s(&mut sums)?;
        let [pushed, ended, mass] = sums;
        if ended > 0.0 {
            particles.delete(&found.into_iter().map(|found| found.ending).collect::<Vec<_>>())?;
        }
        Ok(Swallowed { pushed, ended, mass })
    }
}

impl Swallowed {
    /// Says what was done to the particles of an Object, if anything was; `when` they were found.
    pub fn tell(&self, object: &str, when: &str) {
        if self.ended > 0.0 {
            tracing::warn!(
                "{object}: {} particles ({:.4} kg) {when} inside of colliders or bodies, and are removed. Move the liquid or those apart \
                 if that is not meant",
                self.ended,
                self.mass
            );
        }
    }
}
