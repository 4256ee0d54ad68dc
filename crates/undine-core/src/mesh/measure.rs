//! Lengths, areas and volumes of single elements, and sums in an order that no thread can change.

use glam::DVec3;
use rayon::prelude::*;

/// The fewest elements worth handing to another thread.
pub(super) const GRAIN: usize = 1024;

/// `f` of `0..count`, in order, on all threads.
pub(super) fn map<T: Send>(count: usize, f: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    (0..count).into_par_iter().with_min_len(GRAIN).map(f).collect()
}

/// The sum of `f` over `0..count`: blocks of a fixed size, then their sums pairwise, so that the bits
/// do not depend on the number of threads and the rounding grows slowly with the count.
pub(super) fn sum(count: usize, f: impl Fn(usize) -> f64 + Sync + Send) -> f64 {
    let blocks: Vec<f64> = (0..count.div_ceil(GRAIN))
        .into_par_iter()
        .map(|block| (block * GRAIN..count.min((block + 1) * GRAIN)).map(&f).sum())
        .collect();
    pairwise(&blocks)
}

fn pairwise(values: &[f64]) -> f64 {
    match values {
        // Not the `-0.0` that an empty `Iterator::sum` gives.
        [] => 0.0,
        [one] => *one,
        _ => {
            let (left, right) = values.split_at(values.len() / 2);
            pairwise(left) + pairwise(right)
        }
    }
}

/// Half the cross product of two sides [m²]: the normal, as long as the area.
#[inline]
pub(super) fn triangle_vector_area(a: DVec3, b: DVec3, c: DVec3) -> DVec3 {
    0.5 * (b - a).cross(c - a)
}

/// The vector area of a polygon [m²], the sum over a fan. For a planar polygon, convex or not, its
/// length is the area; in general it is the same for every triangulation.
#[inline]
pub(super) fn polygon_vector_area(corners: &[u32], positions: &[DVec3]) -> DVec3 {
    let at = |corner: u32| positions[corner as usize];
    let mut area = DVec3::ZERO;
    for pair in corners[1..].windows(2) {
        area += triangle_vector_area(at(corners[0]), at(pair[0]), at(pair[1]));
    }
    area
}

/// The signed volume of a tetrahedron [m³], (b−a)·((c−a)×(d−a))/6: positive if b, c, d, seen
/// from a, turn clockwise.
#[inline]
pub(super) fn tetrahedron_volume([a, b, c, d]: [DVec3; 4]) -> f64 {
    (b - a).dot((c - a).cross(d - a)) / 6.0
}

/// The largest distance along an axis from the first point to another [m], if all are finite.
pub(super) fn extent(points: &[DVec3]) -> Option<f64> {
    let first = *points.first()?;
    let mut size = 0.0_f64;
    for &point in points {
        let reach = (point - first).abs();
        if !reach.is_finite() {
            return None;
        }
        size = size.max(reach.max_element());
    }
    Some(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_has_the_same_bits_for_any_number_of_threads() {
        let value = |index: usize| ((index * 7919) % 10_007) as f64 / 3.0;
        let sum_on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| sum(100_000, value)).to_bits()
        };
        assert!([2, 3, 7].into_iter().all(|threads| sum_on(threads) == sum_on(1)));
    }

    #[test]
    fn the_sum_of_nothing_is_zero() {
        assert_eq!(sum(0, |_| 1.0).to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn the_vector_area_of_a_concave_polygon_is_its_area() {
        // An L of three unit squares.
        let points = [(0., 0.), (2., 0.), (2., 1.), (1., 1.), (1., 2.), (0., 2.)]
            .map(|(x, y)| DVec3::new(x, y, 5.0));
        assert_eq!(polygon_vector_area(&[0, 1, 2, 3, 4, 5], &points), DVec3::Z * 3.0);
    }
}
