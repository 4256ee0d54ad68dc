//! Smoothers: what takes away errors that vary from row to row, symmetric as a pair of before and after.

use super::colours::Colours;
use super::settings::Smoother;
use super::sparse::{Sparse, multiply_rows};
use super::spectrum;
use super::vector32::update;
use crate::error::Result;
use crate::rows::Rows;
use crate::vector::for_chunks;
use rayon::prelude::*;

/// Chebyshev smoothing covers the eigenvalues of D⁻¹·A above this share of the largest.
const CHEBYSHEV_LOW: f64 = 0.25;

/// A smoother made for one matrix.
#[derive(Debug, Clone)]
pub(super) enum Smoothing {
    GaussSeidel { colours: Colours, inverse: Vec<f32> },
    Chebyshev { degree: usize, inverse: Vec<f32>, radius: f64 },
    Diagonal { inverse: Vec<f32> },
}

impl Smoothing {
    /// Collective. `inverse` is the inverse of the diagonal.
    pub fn new(kind: Smoother, rows: &Rows, matrix: &Sparse, inverse: &[f32]) -> Result<Self> {
        Ok(match kind {
            Smoother::GaussSeidel => Self::GaussSeidel {
                colours: Colours::new(matrix),
                inverse: held_by_others(matrix, inverse),
            },
            Smoother::Chebyshev(degree) => Self::Chebyshev {
                degree,
                radius: spectrum::radius(rows, matrix, inverse)?,
                inverse: inverse.to_vec(),
            },
            Smoother::Spai0 => Self::Diagonal { inverse: spai0(matrix) },
        })
    }

    /// x = smoothed from zero towards A⁻¹·b. Collective.
    pub fn before(
        &self,
        sweeps: usize,
        rows: &Rows,
        matrix: &Sparse,
        b: &[f32],
        x: &mut [f32],
        work: &mut [f32],
    ) -> Result<()> {
        match self {
            Self::GaussSeidel { colours, inverse } => {
                for_chunks(x, |_, x| x.fill(0.0));
                colours.forward(matrix, inverse, b, x);
            }
            Self::Chebyshev { degree, inverse, radius } => {
                chebyshev((*degree, *radius), rows, matrix, inverse, b, x, work, true)?;
            }
            Self::Diagonal { inverse } => {
                for_chunks(&mut x[..b.len()], |start, x| {
                    for ((x, &b), &inverse) in x.iter_mut().zip(&b[start..]).zip(&inverse[start..])
                    {
                        *x = b * inverse;
                    }
                });
            }
        }
        for _ in 1..sweeps {
            match self {
                Self::GaussSeidel { colours, inverse } => {
                    rows.refresh(x)?;
                    colours.forward(matrix, inverse, b, x);
                }
                _ => self.step(rows, matrix, b, x, work)?,
            }
        }
        Ok(())
    }

    /// Smooths x once more, mirrored to [`Self::before`]. Collective.
    pub fn after(
        &self,
        sweeps: usize,
        rows: &Rows,
        matrix: &Sparse,
        b: &[f32],
        x: &mut [f32],
        work: &mut [f32],
    ) -> Result<()> {
        for _ in 0..sweeps {
            match self {
                Self::GaussSeidel { colours, inverse } => {
                    rows.refresh(x)?;
                    colours.backward(matrix, inverse, b, x);
                }
                _ => self.step(rows, matrix, b, x, work)?,
            }
        }
        Ok(())
    }

    /// One sweep of a smoother that is its own mirror image.
    fn step(
        &self,
        rows: &Rows,
        matrix: &Sparse,
        b: &[f32],
        x: &mut [f32],
        work: &mut [f32],
    ) -> Result<()> {
        match self {
            Self::GaussSeidel { .. } => Ok(()),
            Self::Chebyshev { degree, inverse, radius } => {
                chebyshev((*degree, *radius), rows, matrix, inverse, b, x, work, false)
            }
            Self::Diagonal { inverse } => {
                residual(rows, matrix, b, x, work)?;
                for_chunks(&mut x[..b.len()], |start, x| {
                    for ((x, &r), &inverse) in
                        x.iter_mut().zip(&work[start..]).zip(&inverse[start..])
                    {
                        *x += r * inverse;
                    }
                });
                Ok(())
            }
        }
    }

    pub fn bytes(&self) -> u64 {
        match self {
            Self::GaussSeidel { colours, inverse } => colours.bytes() + 4 * inverse.len() as u64,
            Self::Chebyshev { inverse, .. } | Self::Diagonal { inverse } => {
                4 * inverse.len() as u64
            }
        }
    }
}

/// r = b − A·x. Collective.
pub(super) fn residual(
    rows: &Rows,
    matrix: &Sparse,
    b: &[f32],
    x: &mut [f32],
    r: &mut [f32],
) -> Result<()> {
    rows.refresh(x)?;
    multiply_rows(matrix, x, r, |row, _, ax| b[row] - ax);
    Ok(())
}

/// Steps of a Chebyshev polynomial (Saad, *Iterative Methods for Sparse Linear Systems*, Algorithm 12.1).
#[allow(clippy::too_many_arguments, reason = "a kernel: vectors and coefficients")]
fn chebyshev(
    (degree, radius): (usize, f64),
    rows: &Rows,
    matrix: &Sparse,
    inverse: &[f32],
    b: &[f32],
    x: &mut [f32],
    work: &mut [f32],
    from_zero: bool,
) -> Result<()> {
    let (low, high) = (CHEBYSHEV_LOW * radius, radius);
    let (theta, delta) = (0.5 * (high + low), 0.5 * (high - low));
    let sigma = theta / delta;
    let mut rho = 1.0 / sigma;
    let local = b.len();
    let mut direction = vec![0.0_f32; local];
    for n in 0..degree {
        let (keep, add) = if n == 0 {
            (0.0, 1.0 / theta)
        } else {
            let next = 1.0 / (2.0 * sigma - rho);
            let pair = (rho * next, 2.0 * next / delta);
            rho = next;
            pair
        };
        let (keep, add) = (keep as f32, add as f32);
        let zero = from_zero && n == 0;
        if !zero {
            residual(rows, matrix, b, x, work)?;
        }
        let r: &[f32] = if zero { b } else { work };
        for_chunks(&mut direction, |start, direction| {
            for ((d, &r), &inverse) in direction.iter_mut().zip(&r[start..]).zip(&inverse[start..])
            {
                *d = keep * *d + add * inverse * r;
            }
        });
        update(&mut x[..local], &direction, |x, d| if zero { d } else { x + d });
    }
    Ok(())
}

/// aᵢᵢ / Σⱼ aᵢⱼ².
fn spai0(matrix: &Sparse) -> Vec<f32> {
    (0..matrix.rows())
        .into_par_iter()
        .with_min_len(1024)
        .map(|row| {
            let (columns, values) = matrix.row(row);
            let mut diagonal = 0.0;
            let mut squares = 0.0;
            for (&column, &value) in columns.iter().zip(values) {
                squares += value * value;
                if column as usize == row {
                    diagonal = value;
                }
            }
            diagonal / squares
        })
        .collect()
}

/// The inverse diagonal for Gauss-Seidel that takes copies of foreign rows as they were before the sweep. Half of the couplings to
/// them are added to the diagonal: just enough for the sweep to converge (after Baker, Falgout, Kolev, Yang 2011, §5).
fn held_by_others(matrix: &Sparse, inverse: &[f32]) -> Vec<f32> {
    if matrix.columns() == matrix.rows() {
        return inverse.to_vec();
    }
    let row = |row: usize| {
        let (columns, values) = matrix.row(row);
        let foreign =
            columns.iter().zip(values).filter(|(column, _)| **column as usize >= matrix.rows());
        let coupling: f32 = foreign.map(|(_, value)| value.abs()).sum();
        1.0 / (1.0 / inverse[row] + 0.5 * coupling)
    };
    (0..matrix.rows()).into_par_iter().with_min_len(1024).map(row).collect()
}
