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

/// Four boxes side by side, with which another is compared at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Four {
    low: [Vec4; 3],
    high: [Vec4; 3],
}

impl Four {
    /// Of the first four of a list; where there are fewer, nothing meets what is missing.
    pub fn of(boxes: &[Flat]) -> Self {
        let (mut low, mut high) = ([Vec4::INFINITY; 3], [Vec4::NEG_INFINITY; 3]);
        for (n, one) in boxes.iter().take(4).enumerate() {
            for axis in 0..3 {
                (low[axis][n], high[axis][n]) = (one.low[axis], one.high[axis]);
            }
        }
        Self { low, high }
    }

    /// Which of them a box meets, as [`Flat::meets`] tells, in their order.
    #[inline]
    pub fn met_by(&self, one: &Flat) -> impl Iterator<Item = usize> + use<> {
        let along = |axis: usize| {
            let (low, high) = (Vec4::splat(one.low[axis]), Vec4::splat(one.high[axis]));
            self.low[axis].cmple(high) & low.cmple(self.high[axis])
        };
        let mut met = (along(0) & along(1) & along(2)).bitmask();
        std::iter::from_fn(move || {
            let next = met.trailing_zeros();
            met &= met.wrapping_sub(1);
            (next < 4).then_some(next as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four at once are told as one by one, however many there are.
    #[test]
    fn four_boxes_meet_as_each_of_them_does() {
        let around = |n: u32, size: f64| {
            let at = DVec3::new(0.37, 0.61, 0.83) * f64::from(n);
            Flat::of(&cube(at - at.floor(), size), DVec3::ZERO)
        };
        let others: Vec<Flat> = (0..4).map(|n| around(n, 0.3)).collect();
        let mut counts = [0; 5];
        for n in 0..500 {
            let one = around(n + 4, 0.1 + 0.003 * f64::from(n));
            for count in 0..=4 {
                let found: Vec<usize> = Four::of(&others[..count]).met_by(&one).collect();
                let wanted: Vec<usize> = (0..count).filter(|&k| one.meets(&others[k])).collect();
                assert_eq!(found, wanted, "{n} {count}");
                counts[found.len()] += 1;
            }
        }
        assert!(counts.iter().all(|&count| count > 0), "{counts:?}");
    }

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
        }
    }
}
