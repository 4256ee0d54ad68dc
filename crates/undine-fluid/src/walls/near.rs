//! Which colliders are near a place, what they are together, and which of them are still where they were.

use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;
use undine_geometry::collider::{Collider, ColliderStep};
use undine_geometry::pose::Pose;
use undine_geometry::solid::{Nearest, Solid};

/// A collider as it is at the end of a step, with a box around it.
#[derive(Debug)]
pub struct Near<'a> {
    pub step: &'a ColliderStep<'a>,
    /// Around its surface; beyond it, it is farther away than the box.
    bounds: Option<Bounds>,
    pub moves: bool,
}

impl<'a> Near<'a> {
    pub fn new(step: &'a ColliderStep<'a>) -> Self {
        Self { step, bounds: step.bounds(), moves: step.moves() }
    }

    /// A lower bound of the distance from a place [m], good enough to tell that it is far. What has no distance is near.
    pub fn at_least(&self, at: DVec3) -> f64 {
        let distance = self.step.distance(at);
        if distance.is_nan() {
            return 0.0;
        }
        // A level set knows no more than the width of its band, but its box is far from what is far.
        let beyond = self.bounds.map_or(0.0, |bounds| outside(&bounds, at));
        if beyond > 0.0 { distance.max(beyond) } else { distance }
    }
}

/// How far a place is outside of a box [m]; 0 inside.
fn outside(bounds: &Bounds, at: DVec3) -> f64 {
    (bounds.min - at).max(at - bounds.max).max(DVec3::ZERO).length()
}

/// Several colliders as one solid: all that is inside of any of them.
#[derive(Debug)]
pub struct Union<'a>(pub Vec<&'a Near<'a>>);

impl Union<'_> {
    /// The nearest of them, and how far it is [m].
    pub fn nearest_one(&self, at: DVec3) -> Option<(&Near<'_>, f64)> {
        let distances = self.0.iter().map(|near| (*near, near.step.distance(at)));
        distances.reduce(|one, other| if other.1 < one.1 { other } else { one })
    }
}

impl Solid for Union<'_> {
    fn distance(&self, at: DVec3) -> f64 {
        self.0.iter().map(|near| near.step.distance(at)).fold(f64::INFINITY, f64::min)
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        match self.nearest_one(at) {
            Some((near, _)) => near.step.nearest(at),
            None => Nearest { point: at, normal: DVec3::Z, distance: f64::INFINITY },
        }
    }

    fn bounds(&self) -> Option<Bounds> {
        let all: Option<Vec<Bounds>> = self.0.iter().map(|near| near.bounds).collect();
        all?.into_iter().reduce(Bounds::union)
    }

    fn is_wall_between(&self, from: DVec3, to: DVec3) -> bool {
        self.0.iter().any(|near| near.step.is_wall_between(from, to))
    }
}

/// A collider as it was in a step.
#[derive(Debug)]
pub struct Seen {
    collider: Collider,
    pose: Pose,
    moved: bool,
    reach: Option<Bounds>,
}

/// Where what was cut before is no longer right.
#[derive(Debug, PartialEq)]
pub enum Stale {
    /// Wherever it is.
    Everywhere,
    /// As far as distances are told around these boxes [m].
    Around(Vec<Bounds>),
}

impl Seen {
    /// Colliders, as they are in a step.
    pub fn all(
        colliders: &[Option<Collider>],
        steps: &[Option<ColliderStep<'_>>],
    ) -> Vec<Option<Self>> {
        let seen = |(collider, step): (&Option<Collider>, &Option<ColliderStep<'_>>)| {
            let (collider, step) = collider.as_ref().zip(step.as_ref())?;
            Some(Self {
                collider: collider.clone(),
                pose: step.pose(),
                moved: step.moves(),
                reach: step.reach(),
            })
        };
        colliders.iter().zip(steps).map(seen).collect()
    }

    /// Whether nothing has changed since: also not its velocity, which is zero at rest.
    fn rests_since(&self, before: &Self) -> bool {
        !self.moved
            && !before.moved
            && self.pose == before.pose
            && self.collider.has_form_of(&before.collider)
    }
}

/// Where cells are to be cut anew that were cut around colliders as they were before.
pub fn stale(before: Option<&[Option<Seen>]>, now: &[Option<Seen>]) -> Stale {
    let Some(before) = before else { return Stale::Everywhere };
    let mut boxes = Vec::new();
    for (before, now) in before.iter().zip(now) {
        if let (Some(before), Some(now)) = (before, now)
            && now.rests_since(before)
        {
            continue;
        }
        for seen in [before, now].into_iter().flatten() {
            match seen.reach {
                Some(reach) => boxes.push(reach),
                None => return Stale::Everywhere,
            }
        }
    }
    Stale::Around(boxes)
}

impl Stale {
    /// Whether a box [m] is within `far` [m] of what is stale.
    pub fn reaches(&self, around: &Bounds, far: f64) -> bool {
        match self {
            Self::Everywhere => true,
            Self::Around(boxes) => boxes.iter().any(|stale| meet(stale, around, far)),
        }
    }
}

/// Whether two boxes are within `far` of each other along every axis [m].
pub fn meet(one: &Bounds, other: &Bounds, far: f64) -> bool {
    (one.min - far).cmple(other.max).all() && (one.max + far).cmpge(other.min).all()
}
