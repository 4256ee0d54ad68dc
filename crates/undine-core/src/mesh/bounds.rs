//! An axis-aligned box around points.

use glam::DVec3;

/// The smallest axis-aligned box around some points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// The lowest corner [m].
    pub min: DVec3,
    /// The highest corner [m].
    pub max: DVec3,
}

impl Bounds {
    /// The box around `points`; without points there is none. Coordinates that are NaN do not count.
    pub fn around(points: impl IntoIterator<Item = DVec3>) -> Option<Self> {
        points.into_iter().map(|point| Self { min: point, max: point }).reduce(Self::union)
    }

    /// The box around both.
    pub fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// The lengths of its sides [m].
    pub fn size(&self) -> DVec3 {
        self.max - self.min
    }

    /// Its middle [m].
    pub fn centre(&self) -> DVec3 {
        // Halves first: the sum of two large coordinates may not be finite.
        self.min * 0.5 + self.max * 0.5
    }

    /// Its eight corners [m].
    pub fn corners(&self) -> [DVec3; 8] {
        std::array::from_fn(|n| {
            let side = |bit: usize, low: f64, high: f64| if n >> bit & 1 == 1 { high } else { low };
            let Self { min, max } = *self;
            DVec3::new(side(0, min.x, max.x), side(1, min.y, max.y), side(2, min.z, max.z))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_points_have_no_bounds() {
        assert_eq!(Bounds::around([]), None);
    }

    #[test]
    fn bounds_hold_every_point_and_no_more() {
        let bounds = Bounds::around([DVec3::X, DVec3::NEG_Y, DVec3::Z * 3.0]).unwrap();
        assert_eq!(bounds, Bounds { min: DVec3::NEG_Y, max: DVec3::new(1.0, 0.0, 3.0) });
        assert_eq!(bounds.size(), DVec3::new(1.0, 1.0, 3.0));
        assert_eq!(bounds.centre(), DVec3::new(0.5, -0.5, 1.5));
        assert_eq!(Bounds::around(bounds.corners()), Some(bounds));
    }
}
