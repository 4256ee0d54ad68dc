//! Conservative advancement along separating planes: the first time at which a moving hull comes near the origin.
//!
//! Take a unit direction n, and the hull's moving corners r_k. While all n · r_k(τ) exceed s, the hull lies beyond a plane
//! at the distance s from the origin, and no point of it is nearer. Each n · r_k is linear in τ, so that the first τ at
//! which one of them falls to s is a quotient, and all times up to it are free of contact: a *resting plane*. It solves
//! translations at once, but where the hull turns, some corner always falls faster than the nearest point does.
//!
//! A *turning plane* follows: its direction goes from n₀ at t₀ to n₁ at t₁ in a straight line, and is never longer than 1.
//! The heights n(τ) · r_k(τ) are quadratic, and above s between t₀ and t₁ if their three Bernstein coefficients are:
//! n₀ · r_k(t₀), ½ (n₀ · r_k(t₁) + n₁ · r_k(t₀)) and n₁ · r_k(t₁). With the directions of the nearest points this loses only
//! O((t₁ - t₀)²), so that Newton's steps on the distance, taken where such a plane allows them, converge quadratically, and
//! a motion that slides past at a small distance ε takes O(1) steps of a length √ε instead of 1/√ε ones of a length ε.
//!
//! (Conservative advancement is Mirtich's, 1996, with bounds on speeds instead of planes; the additive method of Li et al.
//! 2021, *Codimensional incremental potential contact*, has one such bound for all directions, and creeps where things
//! slide past each other.)

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

/// A motion that would take more steps is stopped before them, which is safe.
const STEPS: usize = 256;

/// How often a step with a turning plane is shortened before a resting plane has to do.
const TRIALS: usize = 6;

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
        let height = gap.separation + rounding;
        let reach = reach(gap, rounding);
        // What does not move is near from the start, or never.
        if self.start == self.end {
            let nearest = closest(&self.start);
            let distance = nearest.point.length();
            let contact = || self.contact(0.0, &nearest, distance, None, rounding);
            return (distance <= reach).then(contact);
        }
        let look = |t: f64| View::new(self.at(t), &closest);

        let mut t = 0.0;
        let mut view = look(t);
        let mut last = None;
        let mut step = 0;
        loop {
            // Near enough is a contact, and so is what no plane can tell from one.
            if view.distance <= reach || step == STEPS {
                return Some(self.contact(t, &view.nearest, view.distance, last, rounding));
            }
            let resting = self.above(view.direction, height, t);
            if resting > 1.0 {
                return None;
            }
            last = Some(view.direction);
            // The first steps rest, because mostly they suffice.
            let aim = 0.5 * (height + reach);
            let turning =
                if step < 2 { None } else { self.turn(t, &view, [height, aim, resting], look) };
            let (to, there) = turning.unwrap_or_else(|| (resting, look(resting)));
            if to <= t {
                return Some(self.contact(t, &view.nearest, view.distance, last, rounding));
            }
            if to >= 1.0 && there.distance > reach {
                return None;
            }
            (t, view) = (to, there);
            step += 1;
        }
    }

    /// A step of Newton's method to the distance `aim`, shortened until a plane that turns keeps the hull above `height`;
    /// none if it is not longer than that to `resting`.
    fn turn(
        &self,
        t: f64,
        view: &View<K>,
        [height, aim, resting]: [f64; 3],
        look: impl Fn(f64) -> View<K>,
    ) -> Option<(f64, View<K>)> {
        let mut length = self.newton(view, aim).min(1.0 - t);
        for _ in 0..TRIALS {
            let to = t + length;
            if to <= resting {
                return None;
            }
            let there = look(to);
            if view.above_turning(&there, height) {
                return Some((to, there));
            }
            // Too near: to where a straight line would be at the aim. Too far for one plane: half.
            let fallen = view.distance - there.distance;
            let part = if there.distance < aim { (view.distance - aim) / fallen } else { 0.5 };
            length *= part.clamp(0.1, 0.7);
        }
        None
    }

    /// How long the nearest point takes to come to the distance `aim`, at its speed now.
    fn newton(&self, view: &View<K>, aim: f64) -> f64 {
        let speed = -view.direction.dot(self.velocity(&view.nearest));
        if speed > 0.0 { (view.distance - aim) / speed } else { f64::INFINITY }
    }

    /// The velocity of the nearest point, as one that moves with the hull.
    fn velocity(&self, nearest: &Closest<K>) -> DVec3 {
        let motion = |k: usize| (self.end[k] - self.start[k]) * nearest.weights[k];
        (0..K).map(motion).sum()
    }

    fn contact(
        &self,
        time: f64,
        nearest: &Closest<K>,
        distance: f64,
        last: Option<DVec3>,
        rounding: f64,
    ) -> First<K> {
        let normal = self.normal(nearest, distance, last, rounding);
        First { time, weights: nearest.weights, normal, distance }
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
        let side = last.unwrap_or_else(|| -self.velocity(nearest));
        let face = unit(nearest.across).filter(|_| nearest.along == DVec3::ZERO);
        match (face, last.or_else(|| unit(side))) {
            (Some(across), _) => across * if across.dot(side) < 0.0 { -1.0 } else { 1.0 },
            (None, Some(known)) => known,
            (None, None) => unit(nearest.point).unwrap_or(DVec3::Z),
        }
    }
}

/// The hull at one time.
#[derive(Debug, Clone, Copy)]
struct View<const K: usize> {
    corners: [DVec3; K],
    nearest: Closest<K>,
    distance: f64,
    /// The direction in which the hull lies highest, of those that its nearest point suggests.
    direction: DVec3,
}

impl<const K: usize> View<K> {
    fn new(corners: [DVec3; K], closest: impl Fn(&[DVec3; K]) -> Closest<K>) -> Self {
        let nearest = closest(&corners);
        let mut best = (f64::NEG_INFINITY, DVec3::Z);
        for n in directions(&nearest) {
            let lowest = corners.iter().fold(f64::INFINITY, |least, r| least.min(n.dot(*r)));
            if lowest > best.0 {
                best = (lowest, n);
            }
        }
        Self { corners, nearest, distance: nearest.point.length(), direction: best.1 }
    }

    /// Whether the hull is known to lie higher than `height`, from here to a later view, over a plane that turns from
    /// this direction to that.
    fn above_turning(&self, later: &Self, height: f64) -> bool {
        let (n, m) = (self.direction, later.direction);
        self.corners.iter().zip(&later.corners).all(|(start, end)| {
            let middle = 0.5 * (n.dot(*end) + m.dot(*start));
            middle > height && n.dot(*start) > height && m.dot(*end) > height
        })
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
