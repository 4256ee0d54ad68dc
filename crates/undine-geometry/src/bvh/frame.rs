//! The coordinates in which a tree keeps its boxes: the mesh's middle at the origin, and its half size about 1.
//!
//! A mesh far from the world's origin loses nothing of `f32`'s digits this way, and squares neither overflow nor
//! vanish. The scale is a power of two, so that it never rounds.

use crate::triangles::Triangles;
use undine_core::glam::DVec3;

/// From the world to a tree's own coordinates.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    /// The middle of the mesh [m].
    pub(super) centre: DVec3,
    /// A power of two [1/m].
    pub(super) scale: f64,
    /// How much further than they must boxes reach, in the tree's coordinates: what `f64` rounds off the mesh's
    /// coordinates, with room to spare.
    pub(super) margin: f64,
}

impl Frame {
    pub(super) fn of(triangles: &Triangles) -> Self {
        let Some(bounds) = triangles.bounds() else {
            return Self { centre: DVec3::ZERO, scale: 1.0, margin: 0.0 };
        };
        let half = 0.5 * bounds.size().max_element();
        // A mesh of a single point has no size; any scale will do.
        let scale = if half > 1e-60 { (-half.log2().ceil()).exp2() } else { 1.0 };
        let largest = bounds.min.abs().max(bounds.max.abs()).max_element();
        Self { centre: bounds.centre(), scale, margin: 2.0_f64.powi(-46) * (largest * scale + 1.0) }
    }

    /// The tree's coordinates of a place; they grow whenever the place's coordinates do.
    #[inline(always)]
    pub(super) fn local(&self, at: DVec3) -> DVec3 {
        (at - self.centre) * self.scale
    }
}

/// The largest `f32` that is not above `x`.
#[inline(always)]
pub(super) fn round_down(x: f64) -> f32 {
    let near = x as f32;
    if f64::from(near) > x { near.next_down() } else { near }
}

/// The least `f32` that is not below `x`.
#[inline(always)]
pub(super) fn round_up(x: f64) -> f32 {
    let near = x as f32;
    if f64::from(near) < x { near.next_up() } else { near }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_goes_the_way_that_it_says() {
        for n in 0..10_000 {
            let x = (crate::random::unit(1, n) - 0.5) * (60.0 * crate::random::unit(2, n)).exp2();
            let (down, up) = (round_down(x), round_up(x));
            assert!(f64::from(down) <= x && x <= f64::from(up) && down.next_up() >= up);
        }
        assert_eq!((round_down(0.5), round_up(0.5)), (0.5, 0.5));
        assert_eq!((round_down(1e300), round_up(1e300)), (f32::MAX, f32::INFINITY));
    }
}
