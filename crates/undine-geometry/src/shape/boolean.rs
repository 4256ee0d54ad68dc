//! Booleans of distances, sharp or blended.
//!
//! The blend is the quadratic polynomial smooth minimum (Quilez): with h = max(w − |a − b|, 0) / w it is
//! min(a, b) − w h² / 4. Its gradient weighs those of a and b by 1 − h/2 and h/2, so it is never longer than 1,
//! and the result never claims more than the true distance to the blended surface.

use crate::nearest::Nearest;
use undine_core::glam::DVec3;

/// The union of two distances [m], blended over a width [m].
#[inline]
pub(super) fn union_distance(a: f64, b: f64, width: f64) -> f64 {
    let h = overlap(a, b, width);
    a.min(b) - width * h * h / 4.0
}

/// The union of two answers at one place, blended over a width [m].
#[inline]
pub(super) fn union_nearest(a: Nearest, b: Nearest, width: f64, at: DVec3) -> Nearest {
    let (near, far) = if b.distance < a.distance { (b, a) } else { (a, b) };
    let h = overlap(a.distance, b.distance, width);
    if h == 0.0 {
        return near;
    }
    let normal = super::primitives::direction(
        near.normal * (1.0 - h / 2.0) + far.normal * (h / 2.0),
        near.normal,
    );
    let distance = near.distance - width * h * h / 4.0;
    Nearest { point: at - normal * distance, normal, distance }
}

/// The same seen from inside.
#[inline]
pub(super) fn inverted(nearest: Nearest) -> Nearest {
    Nearest { normal: -nearest.normal, distance: -nearest.distance, ..nearest }
}

/// How far two distances are within the width of a blend: 0 without a blend, 1 where they are equal.
#[inline]
fn overlap(a: f64, b: f64, width: f64) -> f64 {
    if width > 0.0 { (width - (a - b).abs()).max(0.0) / width } else { 0.0 }
}
