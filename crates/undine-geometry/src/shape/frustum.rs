//! Cylinder, cone and truncated cone in one: a solid of revolution about z whose half section has three edges.
//!
//! In the half plane (r, z) through the place asked about, the nearest point is the best of those on the bottom, the
//! side and the top.

use super::primitives::radial;
use crate::solid::Nearest;
use undine_core::glam::{DVec2, DVec3};

/// A cone cut off at both ends, about the z axis, from z = −half to half.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Frustum {
    /// The radius at the bottom [m].
    pub(super) bottom: f64,
    /// The radius at the top [m]. At most one of the two is 0.
    pub(super) top: f64,
    /// Half its height [m].
    pub(super) half: f64,
    /// The outward normal (r, z) of the side.
    side: DVec2,
}

/// A point of a section, seen from a place in its plane.
#[derive(Debug, Clone, Copy)]
pub(super) struct OnSection {
    /// The point (r, z) [m].
    pub(super) point: DVec2,
    /// The outward normal of what the point lies on.
    pub(super) normal: DVec2,
    /// Whether the place lies straight above or below that, so that the normal is exact.
    pub(super) straight: bool,
}

impl Frustum {
    /// Of a positive height, with at most one radius 0.
    pub(super) fn new(bottom: f64, top: f64, half: f64) -> Self {
        let side = DVec2::new(2.0 * half, bottom - top).normalize();
        Self { bottom, top, half, side }
    }

    /// The outward normal (r, z) of the side.
    pub(super) fn side(&self) -> DVec2 {
        self.side
    }

    /// All that is deeper than `depth` [m], and the height of its middle [m]. `None` if nothing is.
    ///
    /// Each tangent plane moves inwards: the side keeps its slope, and an apex moves down the axis.
    pub(super) fn inset(&self, depth: f64) -> Option<(Self, f64)> {
        let growth = (self.top - self.bottom) / (2.0 * self.half);
        let radius = |z: f64| self.bottom + growth * (z + self.half) - depth / self.side.x;
        let (mut low, mut high) = (depth - self.half, self.half - depth);
        // Where the moved side meets the axis, what is left ends.
        if radius(low) <= 0.0 && growth > 0.0 {
            low -= radius(low) / growth;
        }
        if radius(high) <= 0.0 && growth < 0.0 {
            high -= radius(high) / growth;
        }
        let (bottom, top) = (radius(low).max(0.0), radius(high).max(0.0));
        let left = low < high && bottom.max(top) > 0.0;
        left.then(|| (Self::new(bottom, top, 0.5 * (high - low)), 0.5 * (low + high)))
    }

    pub(super) fn nearest(&self, at: DVec3) -> Nearest {
        let (outwards, r) = radial(at);
        let place = DVec2::new(r, at.z);
        let (low, high) = (DVec2::new(self.bottom, -self.half), DVec2::new(self.top, self.half));
        let inside = at.z.abs() < self.half && self.side.dot(place - low) < 0.0;
        let flat = |radius: f64, z: f64| OnSection {
            point: DVec2::new(r.min(radius), z),
            normal: DVec2::new(0.0, z.signum()),
            straight: r <= radius,
        };
        let (point, straight) = on_segment(low, high, place);
        let mut best = OnSection { point, normal: self.side, straight };
        for cap in [flat(self.bottom, -self.half), flat(self.top, self.half)] {
            if cap.point.distance_squared(place) < best.point.distance_squared(place) {
                best = cap;
            }
        }
        best.lift(place, outwards, inside, self.bottom.max(self.top).max(self.half))
    }
}

impl OnSection {
    /// In space: the half plane stands on the axis, turned `outwards`. `size` [m] is that of the section, for rounding.
    pub(super) fn lift(&self, place: DVec2, outwards: DVec3, inside: bool, size: f64) -> Nearest {
        let turn = |v: DVec2| outwards * v.x + DVec3::Z * v.y;
        let out = if inside { self.point - place } else { place - self.point };
        let length = out.length();
        // Seen from a corner, the normal is the direction to the place, unless rounding is all that it consists of.
        let normal =
            if self.straight || length <= 1e-13 * size { self.normal } else { out / length };
        let distance = if inside { -length } else { length };
        Nearest { point: turn(self.point), normal: turn(normal), distance }
    }
}

/// The point of a segment nearest to a place, and whether it lies between the ends.
#[inline]
pub(super) fn on_segment(a: DVec2, b: DVec2, place: DVec2) -> (DVec2, bool) {
    let along = b - a;
    let t = (place - a).dot(along) / along.length_squared();
    if t > 0.0 && t < 1.0 {
        (a + along * t, true)
    } else if t >= 1.0 {
        (b, false)
    } else {
        (a, false)
    }
}
