//! Which boundary particles touch what, at the iterate of a step.
//!
//! A particle is a ball that has gone from where the step began to where it is now. It is swept along that way, so that nothing is passed
//! however thin it is and however fast; where it has met nothing, what is nearest at the end of the step counts: `against` looks at
//! colliders and rigid bodies, `pairs` at edges against each other. Contacts come in the order of colliders and particles, whatever threads did.

use super::{Bodies, Manner, Side};
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;
use undine_core::process::Processes;
use undine_geometry::Pose;
use undine_sim::ObjectId;
use undine_sim::newton::Contact;

/// Contacts are looked for as far ahead as something goes that falls for a step with this acceleration [m/s²], and as far as it went.
pub(super) const ACCELERATION: f64 = 20.0;
/// An impact slower than this acceleration [m/s²] makes in a step does not bounce: it is what rests.
const RESTING: f64 = 20.0;
/// A law is broken by more than this part of the radius, and more than this [m].
const BROKEN: (f64, f64) = (0.5, 1e-10);
/// What is as deep as that may go deeper by this part of it in a step.
const CREEPS: f64 = 0.02;
/// A contact of what moves along a surface by less than this speed [m/s] is off if it is by more than the other one, where the step ends: surfaces
/// are curved, and edges turn, so that what holds it is not where the step has looked for it. What rests would tremble: an edge may turn by
/// √(2 d/R) on a surface of radius R before it is off by d.
const OFF: (f64, f64) = (0.05, 1e-5);
/// Contacts of thin things are as exact as this part of how far they go, and as this part of the distance that they keep; on the mean. What
/// rests is as exact as can be.
const ACCURATE: (f64, f64) = (1e-3, 0.05);
/// Where things move apart from what all of them do, this part of their speed is not seen to tremble.
const UNSEEN: f64 = 0.02;

/// From when on contacts are off.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// What goes farther along a surface in the step is not looked at [m].
    slow: f64,
    /// What is off by less is not [m].
    off: f64,
}

impl Limits {
    /// For things that go so far in a step [s], apart from what all of them do, in the root of the mean square [m].
    pub fn of(ways: f64, step: f64) -> Self {
        let (slow, off) = OFF;
        Self { slow: slow * step, off: (off * step).max(UNSEEN * ways) }
    }
}
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
    /// Whether a solve of this step had led to where its law was broken: what it knew then did not hold it.
    pub was_broken: bool,
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
        // Springs may be pressed, but not gone through.
        if self.passes || self.contact.compliance > 0.0 {
            return self.passes;
        }
        let deeper = self.contact.gap < -limit && goes < -CREEPS * limit;
        deeper || self.contact.displacement(&self.contact.frame()).x < -limit
    }
}

impl Found {
    /// Whether it is off where the step ends, as one that had this force [N]: not held though it is deeper than it may be, or held though it
    /// is open.
    pub fn is_off(&self, force: DVec3, limits: &Limits) -> bool {
        let Contact { normal, gap, slip, compliance, .. } = self.contact;
        let Limits { slow, off } = *limits;
        if slip.reject_from_normalized(normal).length() > slow {
            return false;
        }
        // A spring is as deep as its force says.
        let pressed = compliance * force.dot(normal);
        let deeper = if compliance > 0.0 { gap + pressed } else { self.contact.opening() };
        deeper < -off || (force != DVec3::ZERO && gap + pressed > off)
    }

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
    /// How far thin things go in the step, apart from what all of them do, in the root of the mean square [m].
    pub ways: f64,
    /// How far apart two bodies may have been that have bounced off each other in this step [m]: nothing, if nothing bounces.
    pub rebound: f64,
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
    /// How far ahead of something that has gone a way [m] contacts are looked for.
    pub(super) fn margin(&self, way: f64) -> f64 {
        way + self.rebound + 0.5 * ACCELERATION * self.step * self.step
    }

    /// By how much the laws of thin things that are to keep a distance [m] may be off on the mean [m].
    pub(super) fn accuracy(&self, apart: f64) -> f64 {
        let (of_ways, of_thickness) = ACCURATE;
        (of_ways * self.ways).min(of_thickness * apart)
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
            compliance: self.manner.stiffness.map_or(0.0, f64::recip),
            accuracy: 0.0,
            force: DVec3::ZERO,
        }
    }
}

/// Where the force of a touch acts [m] on what is at a place in the end [m]: below that, on the plane of the touch. What the scene moves may have been met on
/// the way, which went on along it: from where they met, the lever would be as long as the rest of the way, and what only slides would be spun.
pub(super) fn below(place: DVec3, near: &Near, second: &Part) -> DVec3 {
    match second {
        Part::Still => place - near.normal * (place - near.point).dot(near.normal),
        _ => near.point,
    }
}

impl Side {
    pub(super) fn radius(&self, n: usize) -> f64 {
        self.radius[n]
    }
}

pub(super) fn overlap(one: &Bounds, other: &Bounds) -> bool {
    one.min.cmple(other.max).all() && other.min.cmple(one.max).all()
}
