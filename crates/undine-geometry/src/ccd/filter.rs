//! The filter in front of the queries: is there one plane that keeps two primitives apart during the whole motion?
//!
//! Differences move in straight lines, so that all of them at all times lie in the hull of those at the start and those at
//! the end. A few steps of Gilbert's algorithm (1966) look for the point of this hull nearest to the origin; each step
//! has a plane to offer, which needs to be checked at six (or eight) points only. There is no branch: pairs go through
//! it four at once. What it lets through goes to `advance`.

use super::Gap;
use super::lanes::{LANES, Lanes, Vectors};
use multiversion::multiversion;
use undine_core::glam::DVec3;

/// The vertices of some pairs, coordinate by coordinate: `[vertex][axis][pair]`, at the start and at the end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gathered {
    pub start: [[[f64; LANES]; 3]; 4],
    pub end: [[[f64; LANES]; 3]; 4],
}

impl Gathered {
    pub const EMPTY: Self = Self { start: [[[0.0; LANES]; 3]; 4], end: [[[0.0; LANES]; 3]; 4] };

    /// Puts a pair into a lane.
    #[inline(always)]
    pub fn set(&mut self, lane: usize, pair: &[u32; 4], start: &[DVec3], end: &[DVec3]) {
        for (k, &vertex) in pair.iter().enumerate() {
            let (s, e) = (start[vertex as usize], end[vertex as usize]);
            self.start[k][0][lane] = s.x;
            self.start[k][1][lane] = s.y;
            self.start[k][2][lane] = s.z;
            self.end[k][0][lane] = e.x;
            self.end[k][1][lane] = e.y;
            self.end[k][2][lane] = e.z;
        }
    }
}

/// Which points and triangles (vertex 0 against 1, 2, 3) are known to stay apart.
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn apart_point_triangle(pairs: &Gathered, gap: Gap) -> [bool; LANES] {
    let differences = |x: &[[[f64; LANES]; 3]; 4]| {
        [difference(&x[0], &x[1]), difference(&x[0], &x[2]), difference(&x[0], &x[3])]
    };
    let ([a, b, c], [d, e, f]) = (differences(&pairs.start), differences(&pairs.end));
    apart(&[a, b, c, d, e, f], gap)
}

/// Which edges (vertices 0, 1 against 2, 3) are known to stay apart.
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn apart_edge_edge(pairs: &Gathered, gap: Gap) -> [bool; LANES] {
    let differences = |x: &[[[f64; LANES]; 3]; 4]| {
        [
            difference(&x[0], &x[2]),
            difference(&x[0], &x[3]),
            difference(&x[1], &x[2]),
            difference(&x[1], &x[3]),
        ]
    };
    let ([a, b, c, d], [e, f, g, h]) = (differences(&pairs.start), differences(&pairs.end));
    apart(&[a, b, c, d, e, f, g, h], gap)
}

#[inline(always)]
fn difference(a: &[[f64; LANES]; 3], b: &[[f64; LANES]; 3]) -> Vectors {
    let along = |axis: usize| Lanes(a[axis]) - Lanes(b[axis]);
    Vectors { x: along(0), y: along(1), z: along(2) }
}

/// More steps find planes for more pairs, but cost all pairs; the few others are settled one by one.
const STEPS: usize = 5;

/// Which hulls of `K` points are known to lie farther from the origin than the gap reaches.
#[inline(always)]
fn apart<const K: usize>(points: &[Vectors; K], gap: Gap) -> [bool; LANES] {
    // Beyond the reach by more than rounding: what is dropped here, `advance` would not report either.
    let (mut extent, mut v) = (points[0].extent(), points[0]);
    for point in &points[1..] {
        extent = extent.max(point.extent());
        v = v + *point;
    }
    let rounding = extent * Lanes::splat(64.0 * f64::EPSILON);
    let tolerance = Lanes::splat(gap.tolerance).max(rounding * Lanes::splat(4.0));
    let height = Lanes::splat(gap.separation) + tolerance + rounding * Lanes::splat(2.0);
    let square = height * height;

    let mut best = Lanes::splat(-1.0);
    v = v.times(Lanes::splat(1.0 / K as f64));
    for _ in 0..STEPS {
        // The lowest point in the direction of v, and whether the plane under it is high enough: h / |v| > height.
        let (mut lowest, mut h) = (points[0], v.dot(points[0]));
        for point in &points[1..] {
            let other = v.dot(*point);
            lowest = Vectors::select_less(other, h, *point, lowest);
            h = h.min(other);
        }
        let margin = h * h.max(Lanes::splat(0.0)) - square * v.dot(v);
        best = best.max(margin);
        // The point nearest to the origin between v and that point is the next v.
        let towards = lowest - v;
        let length = towards.dot(towards).max(Lanes::splat(f64::MIN_POSITIVE));
        let part = (Lanes::splat(0.0) - v.dot(towards)).over(length);
        v = v + towards.times(part.max(Lanes::splat(0.0)).min(Lanes::splat(1.0)));
    }
    std::array::from_fn(|lane| best.0[lane] > 0.0)
}
