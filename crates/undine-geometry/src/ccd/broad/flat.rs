//! Boxes that are compared with many others: four numbers at once, which are measured from a place near all of them and rounded outwards.

use undine_core::glam::{DVec3, Vec4};
use undine_core::mesh::Bounds;

/// A box in single precision around one in double precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flat {
    low: Vec4,
    high: Vec4,
}

impl Flat {
    /// Around a box [m], measured from a place [m] that is the same for all that are compared.
    #[inline]
    pub fn of(bounds: &Bounds, from: DVec3) -> Self {
        let down = |x: f64| (x as f32).next_down();
        let up = |x: f64| (x as f32).next_up();
        let (low, high) = (bounds.min - from, bounds.max - from);
        Self {
            low: Vec4::new(down(low.x), down(low.y), down(low.z), 0.0),
            high: Vec4::new(up(high.x), up(high.y), up(high.z), 0.0),
        }
    }

    /// Around both.
    pub fn union(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Whether it lies within another.
    #[inline]
    pub fn lies_in(&self, other: &Self) -> bool {
        (other.low.cmple(self.low) & self.high.cmple(other.high)).all()
    }

    /// Whether the two overlap or touch, or may as far as rounding can tell.
    #[inline]
    pub fn meets(&self, other: &Self) -> bool {
        (self.low.cmple(other.high) & other.low.cmple(self.high)).all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube(at: DVec3, size: f64) -> Bounds {
        Bounds { min: at, max: at + size }
    }

    /// However rounding falls, what overlaps or touches is told to, and what is well apart is not.
    #[test]
    fn boxes_meet_wherever_exact_ones_do() {
        let from = DVec3::new(1e3, -2e3, 0.3);
        for n in 0..200 {
            let at = from + DVec3::new(0.1, 0.37, -0.21) * f64::from(n);
            let (one, size) = (Flat::of(&cube(at, 0.01), from), 1.0 / f64::from(n + 3));
            for axis in DVec3::AXES {
                let beside = |gap: f64| Flat::of(&cube(at + axis * (0.01 + gap), size), from);
                assert!(one.meets(&beside(0.0)) && one.meets(&beside(-1e-9)), "{n}");
                assert!(!one.meets(&beside(1e-4)), "{n}");
            }
            let around = Flat::of(&Bounds { min: at - 1e-4, max: at + 0.0101 }, from);
            assert!(one.lies_in(&around) && !around.lies_in(&one), "{n}");
            let far = Flat::of(&cube(from, 0.1), from);
            assert!(one.lies_in(&one.union(far)) && far.lies_in(&one.union(far)), "{n}");
        }
    }
}
