//! The interpolation kernels along one axis, and their products over three.
//!
//! Positions are in nodes: the value with index i lies at i. Kernels in one dimension:
//!
//! - linear: 1 − |x|;
//! - quadratic B-spline: ¾ − x² for |x| ≤ ½, ½(3/2 − |x|)² for |x| ≤ 3/2;
//! - cubic B-spline: (4 − 6x² + 3|x|³)/6 for |x| ≤ 1, (2 − |x|)³/6 for |x| ≤ 2.
//!
//! B-splines smooth: of point values f they give f + O(h²), not f itself at the nodes.

use super::blend::{Blend, Real};
use bytemuck::Zeroable;

/// How the values between the nodes are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// Trilinear, 8 nodes: continuous, exact at the nodes and for trilinear fields.
    Linear,
    /// Quadratic B-spline, 27 nodes: once continuously differentiable, smoothing.
    Quadratic,
    /// Cubic B-spline, 64 nodes: twice continuously differentiable, smoothing.
    Cubic,
    /// Limited cubic Hermite, 64 nodes: exact at the nodes, and never beyond the eight values around the point.
    ///
    /// Along each axis, z then y then x, with differences Δₖ = fₖ₊₁ − fₖ and the slope at node k
    /// dₖ = 0 if Δₖ₋₁Δₖ ≤ 0, else sign(Δₖ)·min(½|Δₖ₋₁ + Δₖ|, 3|Δₖ₋₁|, 3|Δₖ|). Central slopes as in Fedkiw, Stam & Jensen
    /// (2001), kept within the bound 3|Δ| of Fritsch & Carlson (1980) on both sides, because setting slopes of the wrong
    /// sign to zero does not suffice. Third order away from extrema.
    MonotoneCubic,
}

/// How a value is spread over nodes: those interpolations whose weights do not depend on the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// Trilinear, 8 nodes.
    Linear,
    /// Quadratic B-spline, 27 nodes.
    Quadratic,
    /// Cubic B-spline, 64 nodes.
    Cubic,
}

/// The nodes under a kernel along one axis, with weights and their derivatives by the position.
#[derive(Clone, Copy)]
pub(crate) struct Taps<R, const W: usize> {
    /// The index of the lowest node.
    pub first: i32,
    pub weight: [R; W],
    /// Per node spacing.
    pub slope: [R; W],
}

#[inline]
pub(crate) fn linear<R: Real>(position: R) -> Taps<R, 2> {
    let (first, floor) = position.floor_index();
    let t = position - floor;
    let one = R::of(1.0);
    Taps { first, weight: [one - t, t], slope: [-one, one] }
}

#[inline]
pub(crate) fn quadratic<R: Real>(position: R) -> Taps<R, 3> {
    let half = R::of(0.5);
    let (nearest, at) = (position + half).floor_index();
    let d = position - at;
    let (low, high) = (half - d, half + d);
    Taps {
        first: nearest.saturating_sub(1),
        weight: [half * low * low, R::of(0.75) - d * d, half * high * high],
        slope: [-low, R::of(-2.0) * d, high],
    }
}

#[inline]
pub(crate) fn cubic<R: Real>(position: R) -> Taps<R, 4> {
    let (floor, at) = position.floor_index();
    let t = position - at;
    let [half, one, sixth] = [0.5, 1.0, 1.0 / 6.0].map(R::of);
    let s = one - t;
    let inner = |t: R| R::of(4.0) * sixth - t * t * (one - half * t);
    let inner_slope = |t: R| t * (R::of(1.5) * t - R::of(2.0));
    Taps {
        first: floor.saturating_sub(1),
        weight: [sixth * s * s * s, inner(t), inner(s), sixth * t * t * t],
        slope: [-half * s * s, inner_slope(t), -inner_slope(s), half * t * t],
    }
}

/// The lowest of the four nodes around a position, and how far it is beyond the second.
#[inline]
pub(crate) fn between<R: Real>(position: R) -> (i32, R) {
    let (floor, at) = position.floor_index();
    (floor.saturating_sub(1), position - at)
}

/// The weighted sum of W³ nodes, given as rows along z, and (if `GRADIENT`) its derivatives per node spacing.
///
/// Rows are added up first, W values side by side, and summed along z at the end. The order is the same whichever way
/// the rows were found, and so are the bits.
#[inline(always)]
pub(crate) fn contract<T: Blend, const W: usize, const GRADIENT: bool>(
    taps: &[Taps<T::Real, W>; 3],
    row: impl Fn(usize, usize) -> [T; W],
) -> (T, [T; 3]) {
    let [along_x, along_y, along_z] = taps;
    let mut rows = [T::zeroed(); W];
    let (mut rows_x, mut rows_y) = (rows, rows);
    for x in 0..W {
        for y in 0..W {
            let row = row(x, y);
            add_scaled(&mut rows, &row, along_x.weight[x] * along_y.weight[y]);
            if GRADIENT {
                add_scaled(&mut rows_x, &row, along_x.slope[x] * along_y.weight[y]);
                add_scaled(&mut rows_y, &row, along_x.weight[x] * along_y.slope[y]);
            }
        }
    }
    let value = weighted(&rows, &along_z.weight);
    if !GRADIENT {
        return (value, [T::zeroed(); 3]);
    }
    let by_x = weighted(&rows_x, &along_z.weight);
    let by_y = weighted(&rows_y, &along_z.weight);
    (value, [by_x, by_y, weighted(&rows, &along_z.slope)])
}

#[inline(always)]
fn add_scaled<T: Blend, const W: usize>(sum: &mut [T; W], row: &[T; W], weight: T::Real) {
    for (sum, value) in sum.iter_mut().zip(row) {
        *sum = sum.plus(value.scaled(weight));
    }
}

/// The sum of values times weights, in order.
#[inline(always)]
fn weighted<T: Blend, const W: usize>(values: &[T; W], weights: &[T::Real; W]) -> T {
    let mut sum = values[0].scaled(weights[0]);
    for (value, &weight) in values[1..].iter().zip(&weights[1..]) {
        sum = sum.plus(value.scaled(weight));
    }
    sum
}

/// [`Interpolation::MonotoneCubic`] of 4³ nodes at `t` beyond the second node of each axis, and (if `GRADIENT`) its
/// derivatives per node spacing: those of the piece that holds there, where the limiter switches between two.
pub(crate) fn monotone<T: Blend, const GRADIENT: bool>(
    nodes: &[[[T; 4]; 4]; 4],
    t: [T::Real; 3],
) -> (T, [T; 3]) {
    let mut gradient = [T::zeroed(); 3];
    let mut by_axis = [[T::Real::zeroed(); 3]; MOST_LANES];
    let value = T::from_lanes(|lane| {
        let (value, slopes) =
            monotone_scalar::<T::Real, GRADIENT>(|x, y, z| nodes[x][y][z].lane(lane), t);
        by_axis[lane] = slopes;
        value
    });
    if GRADIENT {
        for (axis, gradient) in gradient.iter_mut().enumerate() {
            *gradient = T::from_lanes(|lane| by_axis[lane][axis]);
        }
    }
    (value, gradient)
}

/// Components of the largest element, a 4×4 matrix.
const MOST_LANES: usize = 16;

fn monotone_scalar<R: Real, const GRADIENT: bool>(
    node: impl Fn(usize, usize, usize) -> R,
    t: [R; 3],
) -> (R, [R; 3]) {
    let zero = R::zeroed();
    // Values on the line or in the plane through the point, with derivatives along the axes already done.
    let (mut planes, mut planes_y, mut planes_z) = ([zero; 4], [zero; 4], [zero; 4]);
    for x in 0..4 {
        let (mut lines, mut lines_z) = ([zero; 4], [zero; 4]);
        for y in 0..4 {
            let hermite = Hermite::new::<GRADIENT>(std::array::from_fn(|z| node(x, y, z)), t[2]);
            (lines[y], lines_z[y]) = (hermite.value, hermite.slope);
        }
        let hermite = Hermite::new::<GRADIENT>(lines, t[1]);
        (planes[x], planes_y[x]) = (hermite.value, hermite.slope);
        planes_z[x] = hermite.carry(lines_z);
    }
    let hermite = Hermite::new::<GRADIENT>(planes, t[0]);
    (hermite.value, [hermite.slope, hermite.carry(planes_y), hermite.carry(planes_z)])
}

/// The limited Hermite cubic through four values, at `t` between the second and the third.
struct Hermite<R> {
    value: R,
    /// The derivative by `t`.
    slope: R,
    /// The derivatives by the four values.
    by_value: [R; 4],
}

impl<R: Real> Hermite<R> {
    #[inline]
    fn new<const GRADIENT: bool>(f: [R; 4], t: R) -> Self {
        let [one, two, three, six] = [1.0, 2.0, 3.0, 6.0].map(R::of);
        let delta = [f[1] - f[0], f[2] - f[1], f[3] - f[2]];
        let (d1, d1_by) = limited_slope(delta[0], delta[1]);
        let (d2, d2_by) = limited_slope(delta[1], delta[2]);
        // The Hermite basis: the value at the far end, and the slopes at both.
        let s = one - t;
        let far = t * t * (three - two * t);
        let (near_slope, far_slope) = (t * s * s, -t * t * s);
        let mut value = f[1] + far * delta[1] + near_slope * d1 + far_slope * d2;
        // Rounding alone could pass the ends by a last bit.
        let (low, high) = if f[1] < f[2] { (f[1], f[2]) } else { (f[2], f[1]) };
        value = if value < low { low } else { value };
        value = if value > high { high } else { value };
        let zero = R::zeroed();
        if !GRADIENT {
            return Self { value, slope: zero, by_value: [zero; 4] };
        }
        let slope =
            six * t * s * delta[1] + s * (one - three * t) * d1 + t * (three * t - two) * d2;
        // By the three differences first, then by the values that they are made of.
        let by_delta = [
            near_slope * d1_by[0],
            far + near_slope * d1_by[1] + far_slope * d2_by[0],
            far_slope * d2_by[1],
        ];
        let by_value =
            [-by_delta[0], one + by_delta[0] - by_delta[1], by_delta[1] - by_delta[2], by_delta[2]];
        Self { value, slope, by_value }
    }

    /// The derivative of the value along another axis, given those of the four values.
    #[inline]
    fn carry(&self, derivatives: [R; 4]) -> R {
        let [a, b, c, d] = self.by_value;
        a * derivatives[0] + b * derivatives[1] + c * derivatives[2] + d * derivatives[3]
    }
}

/// The slope at a node between two differences, and its derivatives by them.
#[inline]
fn limited_slope<R: Real>(before: R, after: R) -> (R, [R; 2]) {
    let [zero, half, three] = [0.0, 0.5, 3.0].map(R::of);
    // Signs are compared one by one: the product of two small differences may vanish.
    if !((before > zero && after > zero) || (before < zero && after < zero)) {
        return (zero, [zero; 2]);
    }
    let central = half * (before + after);
    if central.magnitude() > three * before.magnitude() {
        (three * before, [three, zero])
    } else if central.magnitude() > three * after.magnitude() {
        (three * after, [zero, three])
    } else {
        (central, [half; 2])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sums<const W: usize>(taps: Taps<f64, W>, position: f64) {
        let node = |n: usize| f64::from(taps.first) + n as f64;
        let sum = |f: &dyn Fn(usize) -> f64| (0..W).map(f).sum::<f64>();
        assert!((sum(&|n| taps.weight[n]) - 1.0).abs() < 1e-14);
        assert!((sum(&|n| taps.weight[n] * node(n)) - position).abs() < 1e-13);
        assert!(sum(&|n| taps.slope[n]).abs() < 1e-14);
        assert!((sum(&|n| taps.slope[n] * node(n)) - 1.0).abs() < 1e-13);
        assert!(taps.weight.iter().all(|&weight| weight >= 0.0));
    }

    proptest! {
        #[test]
        fn weights_sum_to_one_and_reproduce_the_position(position in -20.0..20.0_f64) {
            sums(linear(position), position);
            sums(quadratic(position), position);
            sums(cubic(position), position);
        }

        #[test]
        fn a_limited_cubic_is_monotone_between_its_nodes(f in prop::array::uniform4(-1.0..1.0_f64)) {
            let values: Vec<_> = (0..=64).map(|n| Hermite::new::<true>(f, f64::from(n) / 64.0)).collect();
            let rising = f[2] - f[1];
            for pair in values.windows(2) {
                prop_assert!((pair[1].value - pair[0].value) * rising >= -1e-15);
            }
            prop_assert_eq!(values[0].value, f[1]);
            prop_assert!((values[64].value - f[2]).abs() < 1e-15);
        }
    }
}
