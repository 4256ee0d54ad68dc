//! Cholesky factors of narrow bands, eight matrices at a time: entry by entry side by side, so that every operation works on
//! eight numbers in a row. A rod's matrix is such a band, and there are many rods.

use crate::real::Real;
use multiversion::multiversion;

/// Matrices that are worked on side by side.
pub(super) const LANES: usize = 8;

/// A pivot below this share of its diagonal entry counts as zero.
const ROUNDING: f64 = 1e-14;

/// The same entry of each matrix.
pub(super) type Lane<T> = [T; LANES];

/// The shape of the matrices of a batch: all have this many rows and this half-width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    /// Rows of the longest; shorter ones are filled up with rows of the identity.
    pub rows: usize,
    /// Entries left of the diagonal in a row.
    pub width: usize,
}

impl Shape {
    /// Lanes of a batch's values: `width` entries left of the diagonal and the diagonal, row after row.
    pub fn len(self) -> usize {
        self.rows * (self.width + 1)
    }

    /// Lanes of a vector to solve with: `width` rows of zeros in front spare a branch.
    pub fn vector_len(self) -> usize {
        self.rows + self.width
    }
}

/// A pivot that is not positive, but for rounding: lane, row, value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pivot {
    pub lane: usize,
    pub row: usize,
    pub value: f64,
}

/// Factors a batch in place: entries of A in, entries of L out, with reciprocals on the diagonal. Stops at the first row
/// with a pivot that is not positive.
pub(super) fn factor(shape: Shape, values: &mut [Lane<f64>]) -> Result<(), Pivot> {
    match factor_rows(shape, values) {
        None => Ok(()),
        Some((lane, row, value)) => Err(Pivot { lane, row, value }),
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn factor_rows(shape: Shape, values: &mut [Lane<f64>]) -> Option<(usize, usize, f64)> {
    let Shape { rows, width } = shape;
    let stride = width + 1;
    for row in 0..rows {
        let (before, own) = values.split_at_mut(row * stride);
        let own = &mut own[..stride];
        // Entry k is in column row − width + k; the first ones lie left of the matrix.
        let first = width.saturating_sub(row);
        for k in first..width {
            let column = row + k - width;
            let other = &before[column * stride..][..stride];
            // Both rows' entries left of this column: own from `first`, the other's `width − k` further right.
            let mut sum = own[k];
            let shift = width - k;
            for m in first..k {
                let (a, b) = (own[m], other[m + shift]);
                for lane in 0..LANES {
                    sum[lane] -= a[lane] * b[lane];
                }
            }
            for lane in 0..LANES {
                sum[lane] *= other[width][lane];
            }
            own[k] = sum;
        }
        let diagonal = own[width];
        let mut pivot = diagonal;
        for entry in &own[first..width] {
            for lane in 0..LANES {
                pivot[lane] -= entry[lane] * entry[lane];
            }
        }
        // What rounding alone leaves of a diagonal entry is no pivot.
        let bad = pivot.iter().zip(&diagonal).position(|(&pivot, &diagonal)| {
            !(pivot > ROUNDING * diagonal.abs() && pivot.is_finite())
        });
        if let Some(lane) = bad {
            return Some((lane, row, pivot[lane]));
        }
        own[width] = pivot.map(|pivot| 1.0 / pivot.sqrt());
    }
    None
}

/// x ← (L·Lᵀ)⁻¹·x for a batch of vectors with `width` rows of zeros in front, in double precision.
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn solve_double(shape: Shape, values: &[Lane<f64>], x: &mut [Lane<f64>]) {
    solve(shape, values, x);
}

/// The same in single precision.
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn solve_single(shape: Shape, values: &[Lane<f32>], x: &mut [Lane<f32>]) {
    solve(shape, values, x);
}

#[inline(always)]
fn solve<T: Real>(shape: Shape, values: &[Lane<T>], x: &mut [Lane<T>]) {
    let Shape { rows, width } = shape;
    let stride = width + 1;
    for row in 0..rows {
        let l = &values[row * stride..][..stride];
        let x = &mut x[row..][..stride];
        let mut sum = x[width];
        for (l, x) in l[..width].iter().zip(&x[..width]) {
            for lane in 0..LANES {
                sum[lane] -= l[lane] * x[lane];
            }
        }
        for lane in 0..LANES {
            sum[lane] *= l[width][lane];
        }
        x[width] = sum;
    }
    for row in (0..rows).rev() {
        let l = &values[row * stride..][..stride];
        let x = &mut x[row..][..stride];
        let mut value = x[width];
        for lane in 0..LANES {
            value[lane] *= l[width][lane];
        }
        x[width] = value;
        for (x, l) in x[..width].iter_mut().zip(&l[..width]) {
            for lane in 0..LANES {
                x[lane] -= l[lane] * value[lane];
            }
        }
    }
}
