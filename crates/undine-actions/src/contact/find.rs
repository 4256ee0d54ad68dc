//! Which boundary particles touch what, at the iterate of a step.
//!
//! A particle is a ball that has gone from where the step began to where it is now. It is swept along that way, so that nothing is passed
//! however thin it is and however fast; where it has met nothing, what is nearest at the end of the step counts. Against a rigid body it is
//! looked at from the body, in whose coordinates it moves relative to both motions. Contacts come in the order of colliders and
//! particles, whatever threads did.

use super::{BODY_FRICTION, Bodies, Manner, Side};
use rayon::prelude::*;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;
use undine_core::process::Processes;
use undine_geometry::collider::{ColliderStep, Impact};
use undine_geometry::{Pose, Solid};
use undine_sim::newton::Contact;
use undine_sim::{ObjectId, Result};

/// Particles that one task looks at.
const PARTICLES_PER_TASK: usize = 64;
/// Contacts are looked for as far ahead as something goes that falls for a step with this acceleration [m/s²], and as far as it went.
pub(super) const ACCELERATION: f64 = 20.0;
/// An impact slower than this acceleration [m/s²] makes in a step does not bounce: it is what rests.
const RESTING: f64 = 20.0;
/// A law is broken by more than this part of the radius, and more than this [m].
const BROKEN: (f64, f64) = (0.5, 1e-10);
/// What is as deep as that may go deeper by this part of it in a step.
const CREEPS: f64 = 0.02;
/// The part of their overlap by which thin things part in a step.
const PARTS: f64 = 0.2;

/// Between whom a contact is: Objects, then ids of up to two particles of each side, or the number of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub objects: [u32; 2],
    pub points: [u64; 4],
}

/// One side of a contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Part {
    /// Moves as the scene says.
    Still,
    /// Hangs on particles, with weights.
    Particles { object: ObjectId, on: [(u32, f64); 2] },
    /// A rigid body.
    Body { object: ObjectId, body: u32 },
}

/// A contact that was found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub key: Key,
    pub first: Part,
    pub second: Part,
    /// Where its force acts [m].
    pub at: DVec3,
    pub contact: Contact,
    /// Where each side is, as the weights of its particles say [m].
    pub places: [DVec3; 2],
    /// How near the two may come [m].
    pub reach: f64,
    /// Whether they have nearly gone through each other on their way, wherever they touched at first.
    pub passes: bool,
    /// Whether it was found in a round before, and is at work where it was found then.
    pub is_kept: bool,
}

/// Two contacts of a pair are the same if neither weights nor normals differ by more than this.
const SAME: f64 = 0.02;

impl Found {
    /// Whether the iterate breaks its law. What is deep already must not go deeper, step by step, until it is through.
    pub fn is_broken(&self) -> bool {
        if self.is_kept {
            return false;
        }
        let (part, least) = BROKEN;
        let limit = (part * self.reach).max(least);
        let goes = self.contact.slip.dot(self.contact.normal);
        if self.passes {
            return true;
        }
        let deeper = self.contact.gap < -limit && goes < -CREEPS * limit;
        deeper || self.contact.displacement(&self.contact.frame()).x < -limit
    }
}

impl Found {
    /// Whether it is the same contact as another one of the same pair.
    pub fn is_same(&self, other: &Self) -> bool {
        let near = |one: &Part, other: &Part| match (one, other) {
            (Part::Particles { on: one, .. }, Part::Particles { on: other, .. }) => {
                one.iter().zip(other).all(|(one, other)| (one.1 - other.1).abs() <= SAME)
            }
            (one, other) => one == other,
        };
        near(&self.first, &other.first)
            && near(&self.second, &other.second)
            && self.contact.normal.dot(other.contact.normal) >= 1.0 - SAME
    }
}

/// Where everything is, at the iterate of a step.
pub(super) struct Surroundings<'a> {
    pub sides: &'a [Side],
    pub places: &'a [Vec<DVec3>],
    pub bodies: &'a [Bodies],
    pub poses: &'a [Vec<Pose>],
    pub manner: Manner,
    /// [s]
    pub step: f64,
    /// Who looks.
    pub processes: &'a dyn Processes,
}

/// A touch of a ball, in whatever coordinates it was looked for.
pub(super) struct Near {
    pub normal: DVec3,
    /// From its surface [m].
    pub gap: f64,
    /// The place of the other surface [m].
    pub point: DVec3,
}

impl Surroundings<'_> {
    pub(super) fn margin(&self, way: f64) -> f64 {
        way + 0.5 * ACCELERATION * self.step * self.step
    }

    /// Every particle against a collider.
    pub fn against_collider(
        &self,
        object: ObjectId,
        collider: &ColliderStep<'_>,
        out: &mut Vec<Found>,
    ) -> Result<()> {
        for (side, places) in self.sides.iter().zip(self.places) {
            let look = |n: usize| -> Result<Option<Found>> {
                let (from, to) = (side.start[n], places[n]);
                let radius = side.radius(n);
                let margin = self.margin(from.distance(to));
                if !collider.may_meet(from, to, radius + margin) {
                    return Ok(None);
                }
                let Some(near) = touch(collider, from, to, radius, margin)? else {
                    return Ok(None);
                };
                let moved = collider.moved(near.point);
                let slip = to - from - moved;
                let friction = self.manner.friction.unwrap_or(collider.friction());
                let flown = side.flight[n] - from - moved;
                Ok(Some(Found {
                    key: Key {
                        objects: [side.object.0 as u32, object.0 as u32],
                        points: [side.ids[n], u64::MAX, u64::MAX, u64::MAX],
                    },
                    first: Part::Particles {
                        object: side.object,
                        on: [(n as u32, 1.0), (n as u32, 0.0)],
                    },
                    second: Part::Still,
                    at: near.point,
                    contact: self.contact(&near, slip, flown, friction),
                    places: [to, near.point],
                    reach: radius,
                    passes: false,
                    is_kept: false,
                }))
            };
            let found = self
                .part(places.len())
                .into_par_iter()
                .with_min_len(PARTICLES_PER_TASK)
                .filter_map(|n| look(n).transpose())
                .collect();
            out.extend(self.of_all(found)?);
        }
        Ok(())
    }

    /// The insides of edges against a collider, where they are nearer to it than their ends.
    pub fn edges_against_collider(
        &self,
        object: ObjectId,
        collider: &ColliderStep<'_>,
        out: &mut Vec<Found>,
    ) -> Result<()> {
        for (side, places) in self.sides.iter().zip(self.places) {
            let look = |&[a, b]: &[u32; 2]| -> Result<Option<Found>> {
                let (i, j) = (a as usize, b as usize);
                if i == j || i >= places.len() {
                    return Ok(None);
                }
                let length = places[i].distance(places[j]);
                let radius = side.radius(i).max(side.radius(j));
                let way = side.start[i].distance(places[i]).max(side.start[j].distance(places[j]));
                let margin = self.margin(way);
                if !collider.may_meet(places[i], places[j], radius + margin + way) {
                    return Ok(None);
                }
                let part = deepest(collider, places[i], places[j]);
                if !(END..=1.0 - END).contains(&part) {
                    return Ok(None);
                }
                let from = side.start[i].lerp(side.start[j], part);
                let to = places[i].lerp(places[j], part);
                let Some(near) = touch(collider, from, to, radius, margin)? else {
                    return Ok(None);
                };
                let ends = collider.distance(places[i]).min(collider.distance(places[j])) - radius;
                if near.gap > ends - 1e-3 * length {
                    return Ok(None);
                }
                let moved = collider.moved(near.point);
                let flight = side.flight[i].lerp(side.flight[j], part);
                let friction = self.manner.friction.unwrap_or(collider.friction());
                Ok(Some(Found {
                    key: Key {
                        objects: [side.object.0 as u32, object.0 as u32],
                        points: [side.ids[i], side.ids[j], u64::MAX, u64::MAX],
                    },
                    first: Part::Particles {
                        object: side.object,
                        on: [(a, 1.0 - part), (b, part)],
                    },
                    second: Part::Still,
                    at: near.point,
                    contact: self.thin_contact(
                        &near,
                        to - from - moved,
                        flight - from - moved,
                        friction,
                    ),
                    places: [to, near.point],
                    reach: radius,
                    passes: false,
                    is_kept: false,
                }))
            };
            let found = side.edges[self.part(side.edges.len())]
                .par_iter()
                .with_min_len(PARTICLES_PER_TASK)
                .filter_map(|edge| look(edge).transpose())
                .collect();
            out.extend(self.of_all(found)?);
        }
        Ok(())
    }

    /// Every particle against every rigid body but its own.
    pub fn against_bodies(&self, out: &mut Vec<Found>) -> Result<()> {
        if self.bodies.is_empty() {
            return Ok(());
        }
        let boxes: Vec<Vec<Swept>> = self
            .sides
            .iter()
            .zip(self.places)
            .map(|(side, places)| self.swept(side, places))
            .collect();
        for (bodies, poses) in self.bodies.iter().zip(self.poses) {
            let forms = &bodies.solids.forms;
            let steps: Vec<ColliderStep<'_>> =
                forms.iter().map(|form| form.during(0.0, 0.0)).collect::<Result<_, _>>()?;
            let look = |body: usize| -> Result<Vec<Found>> {
                let form = &steps[body % steps.len()];
                let (start, now) = (&bodies.start[body], &poses[body]);
                let mut found = Vec::new();
                let Some(local) = form.bounds() else { return Ok(found) };
                let reach = moved_bounds(&local, start).union(moved_bounds(&local, now));
                for (number, side) in self.sides.iter().enumerate() {
                    for swept in &boxes[number] {
                        let own = side.object == bodies.object && swept.body == Some(body as u32);
                        if own || !overlap(&reach, &swept.bounds) {
                            continue;
                        }
                        for n in swept.particles.clone() {
                            found.extend(self.on_body(number, n, bodies, body, form, now)?);
                        }
                    }
                }
                Ok(found)
            };
            let tasks: Result<Vec<Vec<Found>>> =
                self.part(poses.len()).into_par_iter().map(look).collect();
            out.extend(self.of_all(tasks.map(|tasks| tasks.concat()))?);
        }
        Ok(())
    }

    /// A particle against a body.
    fn on_body(
        &self,
        number: usize,
        n: usize,
        bodies: &Bodies,
        body: usize,
        form: &ColliderStep<'_>,
        now: &Pose,
    ) -> Result<Option<Found>> {
        let side = &self.sides[number];
        let (start, flight) = (&bodies.start[body], &bodies.flight[body]);
        let (from, to) = (start.to_local(side.start[n]), now.to_local(self.places[number][n]));
        let radius = side.radius(n);
        let margin = self.margin(from.distance(to));
        if !form.may_meet(from, to, radius + margin) {
            return Ok(None);
        }
        let Some(near) = touch(form, from, to, radius, margin)? else { return Ok(None) };
        let carried = |pose: &Pose| pose.to_world(near.point) - start.to_world(near.point);
        let slip = self.places[number][n] - side.start[n] - carried(now);
        let flown = side.flight[n] - side.start[n] - carried(flight);
        let near = Near {
            normal: now.rotation * near.normal,
            gap: near.gap,
            point: now.to_world(near.point),
        };
        let friction = self.manner.friction.unwrap_or(BODY_FRICTION);
        let second = match bodies.solids.kinematic {
            true => Part::Still,
            false => Part::Body { object: bodies.object, body: body as u32 },
        };
        Ok(Some(Found {
            key: Key {
                objects: [side.object.0 as u32, bodies.object.0 as u32],
                points: [side.ids[n], u64::MAX, body as u64, u64::MAX],
            },
            first: Part::Particles { object: side.object, on: [(n as u32, 1.0), (n as u32, 0.0)] },
            second,
            at: near.point,
            contact: self.contact(&near, slip, flown, friction),
            places: [self.places[number][n], near.point],
            reach: radius,
            passes: false,
            is_kept: false,
        }))
    }

    /// The same of thin things: where they overlap when a step begins, they part slowly. A fifth of half a hair's thickness in a step is no speed.
    pub(super) fn thin_contact(
        &self,
        near: &Near,
        slip: DVec3,
        flown: DVec3,
        friction: f64,
    ) -> Contact {
        let mut contact = self.contact(near, slip, flown, friction);
        let overlap = slip.dot(near.normal) - near.gap;
        if overlap > 0.0 && contact.apart == 0.0 {
            contact.apart = PARTS * overlap;
        }
        contact
    }

    /// A contact of two surfaces that have gone `slip` relative to each other, and would have gone `flown` without forces [m].
    pub(super) fn contact(&self, near: &Near, slip: DVec3, flown: DVec3, friction: f64) -> Contact {
        let towards = -flown.dot(near.normal);
        let began = near.gap - slip.dot(near.normal);
        let bounces = self.manner.restitution > 0.0
            && towards > began.max(0.0)
            && towards > RESTING * self.step * self.step;
        Contact {
            normal: near.normal,
            gap: near.gap,
            slip,
            apart: if bounces { self.manner.restitution * towards } else { 0.0 },
            friction,
            force: DVec3::ZERO,
        }
    }

    /// Boxes around what the particles of a side pass during the step, body by body, or of all of them.
    fn swept(&self, side: &Side, places: &[DVec3]) -> Vec<Swept> {
        let mut all: Vec<Swept> = Vec::new();
        for (n, &to) in places.iter().enumerate() {
            let body = side.body.get(n).copied();
            let (from, radius) = (side.start[n], side.radius(n));
            let margin = radius + self.margin(from.distance(to));
            let here = Bounds { min: from.min(to) - margin, max: from.max(to) + margin };
            match all.last_mut() {
                // Strands and the like go by runs of neighbours.
                Some(last)
                    if last.body == body && (body.is_some() || last.particles.len() < RUN) =>
                {
                    last.particles.end = n + 1;
                    last.bounds = last.bounds.union(here);
                }
                _ => all.push(Swept { body, particles: n..n + 1, bounds: here }),
            }
        }
        all
    }
}

/// Particles that move by themselves are boxed in runs of so many.
const RUN: usize = 16;

/// A run of particles and what it passes.
struct Swept {
    body: Option<u32>,
    particles: std::ops::Range<usize>,
    bounds: Bounds,
}

impl Side {
    pub(super) fn radius(&self, n: usize) -> f64 {
        self.radius[n]
    }
}

/// Where a ball that goes from `from` to `to` [m] touches a surface, or comes within a margin [m] of it at the end.
fn touch(
    solid: &ColliderStep<'_>,
    from: DVec3,
    to: DVec3,
    radius: f64,
    margin: f64,
) -> Result<Option<Near>> {
    let near = solid.nearest(to);
    let gap = near.distance - radius;
    if !near.normal.is_finite() || near.normal == DVec3::ZERO {
        return Ok(None);
    }
    // So far outside that nothing can have been between.
    if near.distance > from.distance(to) + radius && gap > margin && !solid.moves() {
        return Ok(None);
    }
    let ended = Near { normal: near.normal, gap, point: near.point };
    let impact = match from == to && !solid.moves() {
        true => None,
        false => solid.first_impact(0.0, from, to, radius)?,
    };
    Ok(match impact {
        Some(impact) if !agrees(&impact, &ended, to) => Some(Near {
            normal: impact.carried_normal,
            gap: (to - impact.carried).dot(impact.carried_normal) + impact.distance - radius,
            point: impact.carried - impact.distance * impact.carried_normal,
        }),
        _ => (gap < margin).then_some(ended),
    })
}

/// Whether what is nearest at the end is the surface that was met on the way, and not one behind it.
fn agrees(impact: &Impact, ended: &Near, to: DVec3) -> bool {
    let deep = (to - impact.carried).length() + impact.distance.abs();
    impact.carried_normal.dot(ended.normal) > 0.8 && ended.gap >= -2.0 * deep - impact.radius
}

/// Nearer than this to an end of an edge, as a part of it, is the end's.
const END: f64 = 0.05;

/// Which part of a straight way [m] is deepest in a solid: by golden section, which finds it where distances have one valley.
fn deepest(solid: &dyn Solid, from: DVec3, to: DVec3) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    const CUTS: usize = 16;
    let at = |part: f64| solid.distance(from.lerp(to, part));
    let (mut low, mut high) = (0.0, 1.0);
    let (mut one, mut other) = (1.0 - GOLDEN, GOLDEN);
    let (mut first, mut second) = (at(one), at(other));
    for _ in 0..CUTS {
        if first <= second {
            (high, other, second) = (other, one, first);
            one = high - GOLDEN * (high - low);
            first = at(one);
        } else {
            (low, one, first) = (one, other, second);
            other = low + GOLDEN * (high - low);
            second = at(other);
        }
    }
    0.5 * (low + high)
}

fn overlap(one: &Bounds, other: &Bounds) -> bool {
    one.min.cmple(other.max).all() && other.min.cmple(one.max).all()
}

/// A box around a box in a pose.
fn moved_bounds(local: &Bounds, pose: &Pose) -> Bounds {
    let (middle, half) = (0.5 * (local.min + local.max), 0.5 * (local.max - local.min));
    let turn = pose.matrix();
    let wide = turn.x_axis.abs() * half.x + turn.y_axis.abs() * half.y + turn.z_axis.abs() * half.z;
    let middle = pose.to_world(middle);
    Bounds { min: middle - wide, max: middle + wide }
}
