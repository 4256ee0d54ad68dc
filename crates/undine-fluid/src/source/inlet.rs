//! Where a stream comes out of a solid: the places at which lines along it first enter the solid.
//!
//! The outline of the solid, as seen along the stream, is cut into small squares, each with the place where its line enters. They are
//! ordered along Hilbert's curve, and the n-th particle comes from the square at n golden ratios of the way: any few
//! that come one after the other are spread evenly over all of it, whenever one begins to count.

use rayon::prelude::*;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;
use undine_geometry::{Solid, random};

/// The side of a solid that a stream comes from.
#[derive(Debug, Clone)]
pub struct Inlet {
    /// Where the line through the middle of each square enters [m].
    entries: Vec<DVec3>,
    /// Across the stream: the sides of a square [m].
    sides: [DVec3; 2],
    /// The area of the outline [m²].
    pub area: f64,
}

/// Squares along the outline, at least and at most.
const SQUARES: [f64; 2] = [24.0, 64.0];
/// The curve has this many squares along its side.
const CURVE: u32 = 64;
/// How often a line is followed to the surface; by then it has come as near as matters.
const MOST_STEPS: u32 = 256;

impl Inlet {
    /// The outline of a solid within these bounds, along a direction of length 1, in squares of about this size [m].
    pub fn new(solid: &dyn Solid, bounds: &Bounds, along: DVec3, size: f64) -> Self {
        let (across, up) = along.any_orthonormal_pair();
        let middle = bounds.centre();
        // Half of the box, as seen along each of the three.
        let half = |axis: DVec3| 0.5 * bounds.size().dot(axis.abs());
        let extent = 2.0 * half(across).max(half(up));
        let size = size.clamp(extent / SQUARES[1], extent / SQUARES[0]);
        // Rounding does not decide whether there is one more.
        let squares = (extent / size - 1e-6).ceil().clamp(1.0, SQUARES[1]);
        let size = extent / squares;
        let depth = half(along) * (1.0 + 1e-6);
        let squares = squares as u32;
        let find = |n: u32| {
            let (x, y) = (n / squares, n % squares);
            let place = |n: u32| (f64::from(n) + 0.5) * size - 0.5 * extent;
            let start = middle + place(x) * across + place(y) * up - depth * along;
            let entry = enter(solid, start, along, 2.0 * depth);
            entry.map(|entry| (along_curve(x, y), entry))
        };
        let mut found: Vec<(u32, DVec3)> =
            (0..squares * squares).into_par_iter().filter_map(find).collect();
        found.sort_by_key(|(place, _)| *place);
        let entries: Vec<DVec3> = found.into_iter().map(|(_, entry)| entry).collect();
        let area = entries.len() as f64 * size * size;
        Self { entries, sides: [size * across, size * up], area }
    }

    /// Where the n-th particle of a seed comes from [m]; `None` if nothing can come.
    pub fn place(&self, seed: u64, number: u64) -> Option<DVec3> {
        /// 2⁶⁴ over the golden ratio.
        const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
        let way = number.wrapping_add(seed).wrapping_mul(GOLDEN);
        let square = (u128::from(way) * self.entries.len() as u128) >> 64;
        let within = |which: u64| random::unit(random::bits(seed, number), which) - 0.5;
        let entry = self.entries.get(square as usize)?;
        Some(*entry + within(0) * self.sides[0] + within(1) * self.sides[1])
    }
}

/// Where a line enters a solid, on so much of its way [m] (sphere tracing, Hart 1996).
fn enter(solid: &dyn Solid, start: DVec3, along: DVec3, length: f64) -> Option<DVec3> {
    let mut gone = 0.0;
    for _ in 0..MOST_STEPS {
        let at = start + gone * along;
        let free = solid.distance(at);
        if free < 1e-4 * length {
            // Written so that a distance that is no number is no entry.
            let inside = solid.distance(at + 2e-3 * length * along) < 0.0 || free < 0.0;
            return inside.then_some(at);
        }
        gone += free;
        if gone.is_nan() || gone > length {
            return None;
        }
    }
    None
}

/// How far along Hilbert's curve a square is (Warren, *Hacker's Delight*, 16-2).
fn along_curve(mut x: u32, mut y: u32) -> u32 {
    let (mut place, mut half) = (0, CURVE / 2);
    while half > 0 {
        let (right, upper) = (u32::from(x & half > 0), u32::from(y & half > 0));
        place += half * half * ((3 * right) ^ upper);
        if upper == 0 {
            if right == 1 {
                (x, y) = (CURVE - 1 - x, CURVE - 1 - y);
            }
            (x, y) = (y, x);
        }
        half /= 2;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;
    use undine_geometry::Shape;

    #[test]
    fn the_outline_of_a_ball_is_a_disk_from_every_side() {
        let ball = Shape::sphere(0.3).unwrap();
        let bounds = ball.bounds().unwrap();
        for along in [DVec3::X, DVec3::NEG_Z, DVec3::new(1.0, 2.0, -3.0).normalize()] {
            let inlet = Inlet::new(&ball, &bounds, along, 0.01);
            assert!((inlet.area / (PI * 0.09) - 1.0).abs() < 0.01, "{}", inlet.area);
            for n in 0..1000 {
                let place = inlet.place(5, n).unwrap();
                assert!((place.length() - 0.3).abs() < 0.03 && place.dot(along) < 0.05);
            }
        }
    }

    #[test]
    fn what_comes_one_after_the_other_is_spread_evenly() {
        let pipe = Shape::cylinder(0.5, 1.0).unwrap();
        let inlet = Inlet::new(&pipe, &pipe.bounds().unwrap(), DVec3::Z, 0.01);
        for first in [0, 12_345, 1 << 40] {
            let mut quarters = [0; 4];
            for n in 0..400 {
                let place = inlet.place(9, first + n).unwrap();
                quarters[usize::from(place.x > 0.0) + 2 * usize::from(place.y > 0.0)] += 1;
            }
            assert!(quarters.iter().all(|&count| (97..=103).contains(&count)), "{quarters:?}");
        }
    }

    #[test]
    fn the_curve_goes_from_square_to_square() {
        let mut places = vec![(0, 0); (CURVE * CURVE) as usize];
        for x in 0..CURVE {
            for y in 0..CURVE {
                places[along_curve(x, y) as usize] = (x, y);
            }
        }
        assert!(places.windows(2).all(|p| p[0].0.abs_diff(p[1].0) + p[0].1.abs_diff(p[1].1) == 1));
    }
}
