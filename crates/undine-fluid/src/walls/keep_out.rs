//! Keeping particles out of walls: each goes its way as a small ball, slides along what it meets, and never gets through.
//!
//! Most particles are far from every wall. Whether one is, the distances at the centres of cells tell: from place to place
//! a particle may go on as far as nothing can be (sphere tracing; Hart 1996), as distances change no faster than places.
//! What may meet a wall at rest that is thick and smooth is put outside of it where it ends ([`plain`](super::plain)); all
//! else is swept against the colliders.

use super::near::meet;
use super::plain::Kinks;
use super::swallowed::PUSHED;
use undine_core::access::VoxelNeighbourhood;
use undine_core::glam::{DVec3, Vec3};
use undine_core::mesh::Bounds;
use undine_core::{
    Accessor, Bucket, CoreError, DiscreteVolume, Frame, GridDomain, Handle, ParticleSystem,
};
use undine_geometry::GeometryError;
use undine_geometry::collider::{ColliderStep, Impact, sweep_with};
use undine_geometry::solid::Solid;
use undine_sim::Result;
use undine_sim::offers::FluidParticles;

/// The radius of a particle that is kept out of walls, in voxels: what stays between it and a wall.
const RADIUS: f64 = 0.08;
/// What has met a wall is lifted from it by this part of its radius more, so that the next step finds it outside, and a sweep
/// along the wall gets on.
const LIFT: f64 = 0.5;
/// How far from a wall what was inside of it is put, in voxels.
pub const APART: f64 = (1.0 + LIFT) * RADIUS;
/// How often what is pushed out of one collider, into another, is pushed again.
const MOST_PUSHES: usize = 4;

/// Keeps particles, on their way from the start of the step to where they are, out of colliders during that step.
pub fn keep_out(
    domain: &GridDomain,
    (volume, distance): (&DiscreteVolume, Handle<f32>),
    (particles, on): (&ParticleSystem, &FluidParticles),
    colliders: &[ColliderStep<'_>],
    friction: f64,
) -> Result<()> {
    let frame = *domain.frame();
    let kernel = (
        particles.own(on.position_before),
        particles.write(particles.position()),
        particles.write(on.velocity),
        volume.around(distance, 8),
    );
    let walls = Swept { colliders, radius: RADIUS * frame.voxel_size(0), friction };
    let outcomes = Accessor::new("keep particles out of walls", domain)
        .over(particles.topology())
        .map(kernel, |here, (start, position, velocity, distance)| {
            let clearance = Clearance::new(&frame, here.bucket, distance, colliders);
            let corner = frame.corner(here.bucket);
            let kinks = (clearance.is_near() && clearance.moved == 0.0 && friction == 0.0)
                .then(|| Kinks::new(&clearance.distance, clearance.per_voxel));
            for n in 0..position.len() {
                if clearance.is_far(start[n], position[n]) {
                    continue;
                }
                let plain = kinks.as_ref().filter(|kinks| kinks.are_off(start[n], position[n]));
                let is_free = match plain {
                    Some(kinks) => kinks.least_distance(position[n]) > clearance.room,
                    None => clearance.is_free(start[n], position[n]),
                };
                if is_free {
                    continue;
                }
                let (from, to) = (corner + start[n].as_dvec3(), corner + position[n].as_dvec3());
                let speed = velocity[n].as_dvec3();
                let moved = match plain {
                    Some(_) => walls.put_outside(to, speed),
                    None => walls.moved(from, to, speed)?,
                };
                if let Some((place, speed)) = moved {
                    position[n] = (place - corner).as_vec3();
                    velocity[n] = speed.as_vec3();
                }
            }
            Ok::<(), GeometryError>(())
        })?;
    let outcome = outcomes.into_iter().collect::<Result<(), _>>();
    // What fails on one process is an error on all of them.
    let task = "keep particles out of walls";
    let told = |why: &GeometryError| CoreError::BadAccess { task, why: why.to_string() };
    let agreed = domain.processes().all_agree(outcome.as_ref().copied().map_err(told));
    outcome?;
    Ok(agreed?)
}

/// What distances at the centres of cells tell about ways through a Bucket.
struct Clearance<'v> {
    distance: VoxelNeighbourhood<'v, f32>,
    per_voxel: f32,
    /// How far colliders go in the step near here [m].
    moved: f64,
    /// What has to be free around a particle, beside the way from the centre of its cell [voxels].
    room: f32,
    /// A particle in a cell may be nearer to a wall than its centre by this, beside what has to be free around it [voxels].
    nearest: f32,
    /// A way of this length that begins in the Bucket is free [voxels].
    free: f32,
    /// Whether distances are known in the Bucket.
    is_known: bool,
}

/// Shorter steps than this [voxels] on a way are left to the sweep.
const SHORTEST: f32 = 0.05;
/// More steps than this are left to the sweep.
const MOST_STEPS: usize = 12;

impl<'v> Clearance<'v> {
    fn new(
        frame: &Frame,
        bucket: Bucket,
        distance: VoxelNeighbourhood<'v, f32>,
        colliders: &[ColliderStep<'_>],
    ) -> Self {
        let voxel = frame.voxel_size(0);
        let per_voxel = 1.0 / voxel as f32;
        // Distances are those at one end of the step: at the other one, what moves was elsewhere. Ways that are looked at
        // lead no farther than a Bucket.
        let corner = frame.corner(bucket);
        let around = Bounds { min: corner, max: corner + frame.bucket_size(0) };
        let size = frame.bucket_size(0);
        let near = |step: &&ColliderStep<'_>| {
            step.moves() && step.reach().is_none_or(|reach| meet(&reach, &around, size + voxel))
        };
        let radius = 1.5 * 3.0_f64.sqrt() * size;
        let moved = colliders
            .iter()
            .filter(near)
            .map(|step| step.way_near(frame.centre(bucket), radius))
            .fold(0.0, f64::max);
        let room = (RADIUS * 1.1 + moved / voxel) as f32;
        let least = distance.chunk().iter().fold(f32::INFINITY, |least, d| least.min(*d));
        let nearest = 0.5 * 3.0_f32.sqrt() + room;
        let is_known = distance.exists(0, 0, 0);
        let free = if is_known { least * per_voxel - nearest } else { f32::NEG_INFINITY };
        Self { distance, per_voxel, moved, room, nearest, free, is_known }
    }

    /// Whether a way of a voxel or two may meet a wall.
    fn is_near(&self) -> bool {
        self.free < 2.0
    }

    /// Whether a particle that goes from one place to another, by their offsets from the Bucket's corner [m], is so far from
    /// walls that it meets nothing. It begins in the Bucket.
    #[inline]
    fn is_far(&self, from: Vec3, to: Vec3) -> bool {
        let way = ((to - from) * self.per_voxel).length_squared();
        if way < self.free * self.free.abs() {
            return true;
        }
        // Nor if the cell that it begins in is far enough.
        let [x, y, z] = (from * self.per_voxel).to_array().map(|c| (c as usize).min(7));
        let free = self.distance.chunk()[x << 6 | y << 3 | z] * self.per_voxel - self.nearest;
        self.is_known && way < free * free.abs()
    }

    /// Whether it certainly meets nothing on its way.
    fn is_free(&self, from: Vec3, to: Vec3) -> bool {
        let (from, way) = (from * self.per_voxel, (to - from) * self.per_voxel);
        let length = way.length();
        let mut gone = 0.0;
        for _ in 0..MOST_STEPS {
            let at = if gone > 0.0 { from + way * (gone / length) } else { from };
            let Some(distance) = self.at(at) else { return false };
            let free = distance - self.room;
            if free.is_nan() || free <= SHORTEST {
                return false;
            }
            gone += free;
            if gone >= length {
                return true;
            }
        }
        false
    }

    /// A lower bound of the distance [voxels] at a place, in voxels from the Bucket's corner; `None` where nothing is known.
    #[inline]
    fn at(&self, at: Vec3) -> Option<f32> {
        // What is not below zero is cut off to its floor, which takes a call where a processor may be an old one.
        let from_below = at + 8.0;
        if !(from_below.cmpge(Vec3::ZERO) & from_below.cmplt(Vec3::splat(24.0))).all() {
            return None;
        }
        let [x, y, z] = from_below.to_array().map(|c| c as i32 - 8);
        if !self.distance.exists(x >> 3, y >> 3, z >> 3) {
            return None;
        }
        let distance = self.distance.at(x, y, z);
        let centre = Vec3::new(x as f32, y as f32, z as f32) + 0.5;
        Some(distance * self.per_voxel - (at - centre).length())
    }
}

/// Colliders that particles are swept against.
struct Swept<'a> {
    colliders: &'a [ColliderStep<'a>],
    /// [m]
    radius: f64,
    friction: f64,
}

impl Swept<'_> {
    /// Where a particle ends that would go from a place to another one [m], and with which velocity [m/s]; `None` if nothing
    /// is in its way.
    fn moved(
        &self,
        from: DVec3,
        to: DVec3,
        velocity: DVec3,
    ) -> Result<Option<(DVec3, DVec3)>, GeometryError> {
        let mut velocity = velocity;
        let swept = sweep_with(self.colliders, from, to, self.radius, |_, impact, left| {
            velocity = self.stopped(velocity, impact.normal, impact.velocity);
            self.slide(impact, left)
        })?;
        let mut at = swept.position;
        let mut pushed = false;
        // What began inside of something is still there.
        for _ in 0..MOST_PUSHES {
            let Some((place, normal, wall)) = self.pushed(at, 0.0) else { break };
            velocity = self.stopped(velocity, normal, wall);
            (at, pushed) = (place, true);
        }
        Ok((swept.impacts > 0 || pushed).then_some((at, velocity)))
    }

    /// Where a particle is put that ends too near to walls at rest [m], and its velocity then [m/s]; `None` if it is not.
    fn put_outside(&self, to: DVec3, velocity: DVec3) -> Option<(DVec3, DVec3)> {
        let (mut at, mut velocity, mut is_put) = (to, velocity, false);
        for _ in 0..MOST_PUSHES {
            let Some((place, normal, wall)) = self.pushed(at, self.radius) else { break };
            velocity = self.stopped(velocity, normal, wall);
            (at, is_put) = (place, true);
        }
        is_put.then_some((at, velocity))
    }

    /// A velocity [m/s] without what leads into a wall that has a velocity of its own; friction takes of the rest.
    fn stopped(&self, velocity: DVec3, normal: DVec3, wall: DVec3) -> DVec3 {
        let relative = velocity - wall;
        let inwards = (-relative.dot(normal)).max(0.0);
        let along = relative + inwards * normal;
        wall + slowed(along, self.friction * inwards)
    }

    /// What is left of a way [m] relative to the wall that it met: along it as far as friction lets it, and a little away.
    fn slide(&self, impact: &Impact, left: DVec3) -> DVec3 {
        let inwards = (-left.dot(impact.normal)).max(0.0);
        let way = slowed(left + inwards * impact.normal, self.friction * inwards);
        let clear = LIFT * impact.radius - (impact.distance - impact.radius).max(0.0);
        way + (clear - way.dot(impact.normal)).max(0.0) * impact.normal
    }

    /// Where to something is pushed that ends nearer to a collider than `nearest` [m], or just inside of it, with the normal and
    /// the velocity of its surface there [m/s].
    fn pushed(&self, at: DVec3, nearest: f64) -> Option<(DVec3, DVec3, DVec3)> {
        let too_near = |step: &&ColliderStep<'_>| {
            step.may_meet(at, at, nearest) && step.distance(at) < nearest
        };
        let step = self.colliders.iter().find(too_near)?;
        let near = step.nearest(at);
        let deepest = PUSHED / RADIUS * self.radius;
        if !(near.distance < nearest && near.distance >= -deepest) {
            return None;
        }
        let out = at + ((1.0 + LIFT) * self.radius - near.distance) * near.normal;
        let wall = if step.moves() { step.velocity(at) } else { DVec3::ZERO };
        Some((out, near.normal, wall))
    }
}

/// A vector without so much of its length, or none.
fn slowed(vector: DVec3, by: f64) -> DVec3 {
    if by == 0.0 {
        return vector;
    }
    let length = vector.length();
    if length > by { vector * (1.0 - by / length) } else { DVec3::ZERO }
}
