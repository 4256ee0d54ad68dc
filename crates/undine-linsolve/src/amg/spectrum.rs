//! The largest eigenvalue of D⁻¹·A, which damping and Chebyshev smoothing are measured by.

use super::sparse::Sparse;
use super::vector32;
use crate::error::Result;
use crate::rows::Rows;
use rayon::prelude::*;

/// A bound up to here is taken as it is: that of a Laplacian is 2, and sharp.
const SHARP: f64 = 2.05;

/// Steps of the power method, and how much its estimate may be too low after them.
const STEPS: usize = 10;
const SAFETY: f64 = 1.1;

/// An upper estimate of ρ(D⁻¹·A): Gershgorin's bound, or less where the power method says so. Collective.
pub(super) fn radius(rows: &Rows, matrix: &Sparse, inverse: &[f32]) -> Result<f64> {
    let bound = (0..matrix.rows())
        .into_par_iter()
        .with_min_len(1024)
        .map(|row| {
            let (_, values) = matrix.row(row);
            f64::from(inverse[row]) * values.iter().map(|value| f64::from(value.abs())).sum::<f64>()
        })
        .reduce(|| 0.0, f64::max);
    let bound = rows.max(bound)?;
    if bound <= SHARP {
        return Ok(bound.max(1.0));
    }

    // A start that has something of every eigenvector, the same everywhere and always.
    let mut x = vec![0.0_f32; rows.stored()];
    for (n, x) in (rows.first()..).zip(&mut x[..rows.local()]) {
        *x = (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f32 / (1 << 23) as f32 - 1.0;
    }
    let mut y = vec![0.0_f32; rows.local()];
    let mut radius = 0.0;
    let mut length = rows.sum(vector32::dot(&x[..y.len()], &x[..y.len()]))?.sqrt();
    for _ in 0..STEPS {
        rows.refresh(&mut x)?;
        matrix.multiply(&x, &mut y);
        for ((x, y), inverse) in x.iter_mut().zip(&y).zip(inverse) {
            *x = y * inverse / length as f32;
        }
        length = rows.sum(vector32::dot(&x[..y.len()], &x[..y.len()]))?.sqrt();
        radius = length;
        if length == 0.0 {
            break;
        }
    }
    Ok((SAFETY * radius).min(bound).max(1.0))
}
