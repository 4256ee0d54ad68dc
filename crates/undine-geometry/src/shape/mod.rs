//! Shapes: solids known by formulas, which answer how far, which side and which way at any place.
//!
//! A [`Shape`] is a tree: primitives at the leaves; offsets, booleans and transforms above them. Primitives are centred at the
//! origin, and those with an axis have it along z. Nothing is allocated to answer a query.
//!
//! **What the distance means.** For primitives and convex solids made from them it is the true Euclidean distance, inside
//! too. Booleans keep that on one side only: a union outside, an intersection and a difference inside. Elsewhere, and
//! where a boolean is blended, the size of the answer is a *lower bound*: no surface is nearer than it says, since the answer
//! changes by no more than one moves. [`Shape::exactness`] tells which. Everywhere, `at = point + distance · normal`; where the
//! distance is a lower bound, `point` is a step towards the surface that does not pass it, and
//! [`Shape::onto_surface`] takes as many as are needed.
//!
//! A place that is not finite has no meaningful answer, but asking is no error.
//!
//! There is no non-uniform scale: it would keep neither distances nor spheres. Give the primitives other lengths instead.

mod boolean;
mod bounds;
mod build;
mod features;
mod forms;
mod frustum;
mod hull;
mod inset;
mod masses;
mod primitives;
mod profile;
mod quickhull;
mod tree;

pub use build::hull_triangles;
pub use features::{Core, Feature, Features, Probe, Rim};

use crate::blend::{smooth_max, smooth_min};
use crate::pose::Pose;
use crate::solid::{Nearest, Solid};
use frustum::Frustum;
use hull::Hull;
use profile::Profile;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;

/// The longest length [m] of a shape: its inertia, of the fifth power, is still finite.
const LONGEST: f64 = 1e30;
/// The shortest length [m] of a shape.
const SHORTEST: f64 = 1e-30;

/// A solid made of primitives, offsets, booleans and transforms.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    kind: Kind,
    bounds: Option<Bounds>,
    exact: Exactness,
    convex: bool,
    depth: usize,
}

/// On which side of the surface a distance is the true one, and not only a lower bound of its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Exactness {
    /// Outside of the surface.
    pub outside: bool,
    /// Inside of it.
    pub inside: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Cuboid { half: DVec3 },
    Sphere { radius: f64 },
    Frustum(Frustum),
    Capsule { radius: f64, half: f64 },
    Torus { major: f64, minor: f64 },
    HalfSpace { normal: DVec3, offset: f64 },
    Hull(Hull),
    Revolved(Profile),
    Offset { of: Box<Shape>, by: f64 },
    Union { parts: Vec<Shape>, width: f64 },
    Intersection { parts: Vec<Shape>, width: f64 },
    Inverted(Box<Shape>),
    Moved { of: Box<Shape>, pose: Pose },
    Scaled { of: Box<Shape>, factor: f64 },
}

impl Solid for Shape {
    fn distance(&self, at: DVec3) -> f64 {
        match &self.kind {
            Kind::Cuboid { half } => primitives::cuboid_distance(*half, at),
            Kind::Sphere { radius } => at.length() - radius,
            Kind::Capsule { radius, half } => primitives::capsule_distance(*radius, *half, at),
            Kind::Torus { major, minor } => primitives::torus_distance(*major, *minor, at),
            Kind::HalfSpace { normal, offset } => normal.dot(at) - offset,
            Kind::Frustum(frustum) => frustum.nearest(at).distance,
            Kind::Hull(hull) => hull.nearest(at).distance,
            Kind::Revolved(profile) => profile.nearest(at).distance,
            Kind::Offset { of, by } => of.distance(at) - by,
            Kind::Union { parts, width } => {
                let join = |so_far, part: &Self| smooth_min(so_far, part.distance(at), *width);
                parts[1..].iter().fold(parts[0].distance(at), join)
            }
            Kind::Intersection { parts, width } => {
                let join = |so_far, part: &Self| smooth_max(so_far, part.distance(at), *width);
                parts[1..].iter().fold(parts[0].distance(at), join)
            }
            Kind::Inverted(of) => -of.distance(at),
            Kind::Moved { of, pose } => of.distance(pose.to_local(at)),
            Kind::Scaled { of, factor } => of.distance(at / *factor) * factor,
        }
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        match &self.kind {
            Kind::Cuboid { half } => primitives::cuboid_nearest(*half, at),
            Kind::Sphere { radius } => primitives::sphere_nearest(*radius, at),
            Kind::Capsule { radius, half } => primitives::capsule_nearest(*radius, *half, at),
            Kind::Torus { major, minor } => primitives::torus_nearest(*major, *minor, at),
            Kind::HalfSpace { normal, offset } => {
                primitives::half_space_nearest(*normal, *offset, at)
            }
            Kind::Frustum(frustum) => frustum.nearest(at),
            Kind::Hull(hull) => hull.nearest(at),
            Kind::Revolved(profile) => profile.nearest(at),
            Kind::Offset { of, by } => {
                let Nearest { point, normal, distance } = of.nearest(at);
                Nearest { point: point + normal * *by, normal, distance: distance - by }
            }
            Kind::Union { parts, width } => {
                let join =
                    |so_far, part: &Self| boolean::union(so_far, part.nearest(at), *width, at);
                parts[1..].iter().fold(parts[0].nearest(at), join)
            }
            Kind::Intersection { parts, width } => {
                let outside_in = |part: &Self| boolean::inverted(part.nearest(at));
                let join =
                    |so_far, part: &Self| boolean::union(so_far, outside_in(part), *width, at);
                boolean::inverted(parts[1..].iter().fold(outside_in(&parts[0]), join))
            }
            Kind::Inverted(of) => boolean::inverted(of.nearest(at)),
            Kind::Moved { of, pose } => {
                let Nearest { point, normal, distance } = of.nearest(pose.to_local(at));
                Nearest { point: pose.to_world(point), normal: pose.rotation * normal, distance }
            }
            Kind::Scaled { of, factor } => {
                let Nearest { point, normal, distance } = of.nearest(at / *factor);
                Nearest { point: point * *factor, normal, distance: distance * factor }
            }
        }
    }

    fn bounds(&self) -> Option<Bounds> {
        self.bounds
    }

    fn is_convex(&self) -> bool {
        self.convex
    }
}

impl Shape {
    /// On which sides the distance is the true one.
    pub fn exactness(&self) -> Exactness {
        self.exact
    }

    /// Whether the distance is the true one on both sides; otherwise its size is a lower bound.
    pub fn is_exact(&self) -> bool {
        self.exact.outside && self.exact.inside
    }

    /// Whether the solid is known to be convex.
    pub fn is_convex(&self) -> bool {
        self.convex
    }

    /// A point within `tolerance` [m] of the surface, found from `at` by steps of the distance, with its distance from `at`. It is the
    /// nearest where the distance is exact, and near otherwise: at sharp edges of a boolean, steps alternate between
    /// its parts. `None` if 1024 steps do not lead there; there may be no surface, as of the intersection of two solids
    /// that are apart.
    pub fn onto_surface(&self, at: DVec3, tolerance: f64) -> Option<Nearest> {
        const STEPS: usize = 1024;
        let first = self.nearest(at);
        let mut found = first;
        for _ in 0..STEPS {
            let Nearest { point, normal, .. } = found;
            found = self.nearest(point);
            if found.distance.abs() <= tolerance {
                let distance = point.distance(at).copysign(first.distance);
                return Some(Nearest { point, normal, distance });
            }
        }
        None
    }
}
