//! Shapes whose distance is one formula: cuboid, sphere, capsule, torus, half space.
//!
//! Each gives the nearest point p, the outward normal n and the distance d with `at = p + d n`. At centres and on
//! axes, where every direction is as good, one is chosen once and for all.

use crate::solid::Nearest;
use undine_core::glam::DVec3;

/// `v` made of length 1; `otherwise` if it is too short to have a direction, or not finite.
#[inline]
pub(super) fn direction(v: DVec3, otherwise: DVec3) -> DVec3 {
    // Below this, the squares of the components lose their digits.
    const SHORTEST: f64 = 1e-140;
    let length = v.length();
    if length > SHORTEST && length < f64::INFINITY { v / length } else { otherwise }
}

/// The unit vector in the plane z = 0 towards a place, which is X on the axis itself, and the distance from the axis.
#[inline]
pub(super) fn radial(at: DVec3) -> (DVec3, f64) {
    let flat = DVec3::new(at.x, at.y, 0.0);
    (direction(flat, DVec3::X), flat.length())
}

#[inline]
pub(super) fn cuboid_distance(half: DVec3, at: DVec3) -> f64 {
    let q = at.abs() - half;
    q.max(DVec3::ZERO).length() + q.max_element().min(0.0)
}

#[inline]
pub(super) fn cuboid_nearest(half: DVec3, at: DVec3) -> Nearest {
    let q = at.abs() - half;
    // The face that is least deep: the nearest from inside, and a valid normal for all points on edges and corners.
    let axis = q.max_position();
    let mut face = DVec3::ZERO;
    face[axis] = 1.0_f64.copysign(at[axis]);
    if q[axis] > 0.0 {
        let point = at.clamp(-half, half);
        let out = at - point;
        return Nearest { point, normal: direction(out, face), distance: out.length() };
    }
    let mut point = at;
    point[axis] = half[axis].copysign(at[axis]);
    Nearest { point, normal: face, distance: q[axis] }
}

/// All that lies within `radius` of `core`, seen from `at`.
#[inline]
fn around(core: DVec3, radius: f64, at: DVec3, otherwise: DVec3) -> Nearest {
    let arm = at - core;
    let normal = direction(arm, otherwise);
    Nearest { point: core + normal * radius, normal, distance: arm.length() - radius }
}

#[inline]
pub(super) fn sphere_nearest(radius: f64, at: DVec3) -> Nearest {
    around(DVec3::ZERO, radius, at, DVec3::Z)
}

#[inline]
fn capsule_core(half: f64, at: DVec3) -> DVec3 {
    DVec3::new(0.0, 0.0, at.z.clamp(-half, half))
}

#[inline]
pub(super) fn capsule_distance(radius: f64, half: f64, at: DVec3) -> f64 {
    at.distance(capsule_core(half, at)) - radius
}

#[inline]
pub(super) fn capsule_nearest(radius: f64, half: f64, at: DVec3) -> Nearest {
    around(capsule_core(half, at), radius, at, DVec3::X)
}

#[inline]
pub(super) fn torus_distance(major: f64, minor: f64, at: DVec3) -> f64 {
    let (_, from_axis) = radial(at);
    (from_axis - major).hypot(at.z) - minor
}

#[inline]
pub(super) fn torus_nearest(major: f64, minor: f64, at: DVec3) -> Nearest {
    let (outwards, _) = radial(at);
    around(outwards * major, minor, at, outwards)
}

#[inline]
pub(super) fn half_space_nearest(normal: DVec3, offset: f64, at: DVec3) -> Nearest {
    let distance = normal.dot(at) - offset;
    Nearest { point: at - normal * distance, normal, distance }
}
