//! Booleans of answers at one place, sharp or blended.
//!
//! With h = max(w − |a − b|, 0) / w, the gradient of the blend of a and b weighs theirs by 1 − h/2 and h/2. So it is never
//! longer than 1, and the result never claims more than the true distance to the blended surface.

use super::primitives::direction;
use crate::blend::smooth_min;
use crate::solid::Nearest;
use undine_core::glam::DVec3;

/// The union of two answers, blended over a width [m].
#[inline]
pub(super) fn union(a: Nearest, b: Nearest, width: f64, at: DVec3) -> Nearest {
    let (near, far) = if b.distance < a.distance { (b, a) } else { (a, b) };
    let apart = far.distance - near.distance;
    // Also without a width, and where a distance is not a number.
    let blended = apart < width;
    if !blended {
        return near;
    }
    let weight = 0.5 * (1.0 - apart / width);
    let normal = direction(near.normal * (1.0 - weight) + far.normal * weight, near.normal);
    let distance = smooth_min(near.distance, far.distance, width);
    Nearest { point: at - normal * distance, normal, distance }
}

/// The same answer seen from inside.
#[inline]
pub(super) fn inverted(nearest: Nearest) -> Nearest {
    Nearest { normal: -nearest.normal, distance: -nearest.distance, ..nearest }
}
