//! Conservative advancement along separating planes: the first time at which a moving hull comes near the origin.
//!
//! At a time t, take a unit direction n, and the hull's moving corners r_k. While all n · r_k(τ) exceed s, the hull
//! lies beyond a plane at the distance s from the origin, and no point of it is nearer. Each n · r_k is linear in τ, so
//! that the first τ at which one of them falls to s is a quotient, and all times up to it are free of contact. With the
//! direction of the nearest point for n this is Newton's method on the distance, from below: a translation is solved in
//! a step or a few, and anything else converges quadratically, because turning changes a distance in second order only.
//! (Mirtich 1996 and Zhang et al. 2006 advance so with bounds on speeds; Li et al. 2021, *Codimensional incremental
//! potential contact*, §5.4, with one bound for all directions, which creeps along motions that slide past.)

use super::closest::Closest;
use super::{Contact, Gap};
use undine_core::glam::DVec3;

/// A hull of differences, that moves in straight lines from time 0 to 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moving<const K: usize> {
    /// The differences at the start [m].
    pub start: [DVec3; K],
    /// The differences at the end [m].
    pub end: [DVec3; K],
}

/// A first contact, by the weights of differences.
#[derive(Debug, Clone, Copy)]
pub(super) struct First<const K: usize> {
    pub time: f64,
    pub weights: [f64; K],
    pub normal: DVec3,
    pub distance: f64,
}

/// No motion was seen to take more than a few dozen steps; one that would is stopped early, which is safe.
const STEPS: usize = 256;

/// What rounding does to a height above a plane, as a fraction of the extent of the hull: a difference, a product with
/// a unit direction, and a quotient round by less than 16 units together.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

impl<const K: usize> Moving<K> {
    /// The allowance for rounding [m].
    pub fn rounding(&self) -> f64 {
        let widest =
            |all: &[DVec3; K]| all.iter().fold(0.0_f64, |most, r| most.max(r.abs().element_sum()));
        ROUNDING * widest(&self.start).max(widest(&self.end))
    }

    /// The hull's corners at a time.
    fn at(&self, t: f64) -> [DVec3; K] {
        std::array::from_fn(|k| self.start[k] * (1.0 - t) + self.end[k] * t)
    }

    /// Until when, from `t` on, the hull is known to lie higher than `height` along the unit direction `n`; infinite if
    /// to the end.
    fn above(&self, n: DVec3, height: f64, t: f64) -> f64 {
        let mut until = f64::INFINITY;
        for (start, end) in self.start.iter().zip(&self.end) {
            let (a, b) = (n.dot(*start), n.dot(*end));
            // One that rises, or stays, is above at all later times if it is now.
            if a * (1.0 - t) + b * t <= height {
                return t;
            }
            if b <= height {
                until = until.min((a - height) / (a - b) * (1.0 - 4.0 * f64::EPSILON));
            }
        }
        until.max(t)
    }

    /// The first time at which the hull comes within the gap's separation of the origin, or a time before it when it
    /// is already within reach.
    pub fn first_contact(
        &self,
        gap: Gap,
        closest: impl Fn(&[DVec3; K]) -> Closest<K>,
    ) -> Option<First<K>> {
        let rounding = self.rounding();
        let reach = reach(gap, rounding);
        let height = gap.separation + rounding;
        let mut t = 0.0;
        let mut last = None;
        let mut steps = 0;
        loop {
            // Near enough is a contact, and so is what no plane can tell from one.
            let nearest = closest(&self.at(t));
            let distance = nearest.point.length();
            let mut safe = (t, None);
            if distance > reach && steps < STEPS {
                for n in directions(&nearest) {
                    let until = self.above(n, height, t);
                    if until > safe.0 {
                        safe = (until, Some(n));
                    }
                }
            }
            if safe.0 <= t {
                let normal = self.normal(&nearest, distance, last, rounding);
                return Some(First { time: t, weights: nearest.weights, normal, distance });
            }
            // Contact is impossible before the end.
            if safe.0 > 1.0 {
                return None;
            }
            (t, last) = safe;
            steps += 1;
        }
    }

    /// The normal of a contact: from point to point while their distance has a direction, otherwise across the face,
    /// otherwise that of the last plane that held them apart, and against the motion if there was none.
    fn normal(
        &self,
        nearest: &Closest<K>,
        distance: f64,
        last: Option<DVec3>,
        rounding: f64,
    ) -> DVec3 {
        if distance > 1e7 * rounding {
            return nearest.point / distance;
        }
        let mut motion = DVec3::ZERO;
        for k in 0..K {
            motion += (self.end[k] - self.start[k]) * nearest.weights[k];
        }
        let side = last.unwrap_or(-motion);
        let face = unit(nearest.across).filter(|_| nearest.along == DVec3::ZERO);
        match (face, last.or_else(|| unit(side))) {
            (Some(across), _) => across * if across.dot(side) < 0.0 { -1.0 } else { 1.0 },
            (None, Some(known)) => known,
            (None, None) => unit(nearest.point).unwrap_or(DVec3::Z),
        }
    }
}

/// The distance from which on a contact is reported [m].
#[inline]
pub(super) fn reach(gap: Gap, rounding: f64) -> f64 {
    gap.separation + gap.tolerance.max(4.0 * rounding)
}

/// Directions in which a hull may be separated: towards its nearest point; the same, made exactly square to the edge or
/// face that the point lies on. The first is good for any feature, but where the distance is small its angle is mostly
/// rounding, and the others are still good.
fn directions<const K: usize>(nearest: &Closest<K>) -> impl Iterator<Item = DVec3> {
    let q = nearest.point;
    let along = nearest.along;
    let edge = (along != DVec3::ZERO).then(|| q - along * (q.dot(along) / along.length_squared()));
    let across = nearest.across * if nearest.across.dot(q) < 0.0 { -1.0 } else { 1.0 };
    [Some(q), edge, Some(across)].into_iter().flatten().filter_map(unit)
}

/// A vector made of length 1, if it has a direction.
fn unit(v: DVec3) -> Option<DVec3> {
    let scaled = v / v.abs().max_element();
    scaled.is_finite().then(|| scaled / scaled.length())
}

impl<const K: usize> First<K> {
    /// The same as a contact of vertices, whose weights follow from those of the differences.
    pub fn contact<const N: usize>(&self, weights: [f64; N]) -> Contact<N> {
        let Self { time, normal, distance, .. } = *self;
        Contact { time, weights, normal, distance }
    }
}
