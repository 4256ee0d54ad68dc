//! Smoothers: what takes away errors that vary from row to row, symmetric as a pair of before and after.

use super::gauss_seidel::{backward, colours, forward};
use super::settings::Smoother;
use super::sparse::{Sparse, multiply_rows};
use super::spectrum;
use super::vector32::update;
use crate::colours::Colours;
use crate::error::Result;
use crate::rows::Rows;
use crate::vector::for_chunks;
use rayon::prelude::*;

/// Chebyshev smoothing covers the eigenvalues of D⁻¹·A above this share of the largest.
const CHEBYSHEV_LOW: f64 = 0.25;

/// The largest ρ(M·A) of SPAI-0.
const SPAI0_RADIUS: f64 = 1.8;

/// A smoother made for one matrix.
#[derive(Debug, Clone)]
pub(super) enum Smoothing {
    GaussSeidel { colours: Colours, inverse: Vec<f32> },
    Chebyshev { degree: usize, radius: f64, inverse: Vec<f32>, direction: Vec<f32> },
    Diagonal { inverse: Vec<f32> },
}

impl Smoothing {
    /// Collective. `inverse` is the inverse of the diagonal.
    pub fn new(kind: Smoother, rows: &Rows, matrix: &Sparse, inverse: &[f32]) -> Result<Self> {
        Ok(match kind {
            Smoother::GaussSeidel => Self::GaussSeidel {
                colours: colours(matrix),
                inverse: held_by_others(matrix, inverse),
            },
            Smoother::Chebyshev(degree) => Self::Chebyshev {
                degree,
                radius: spectrum::radius(rows, matrix, inverse)?,
                inverse: inverse.to_vec(),
                direction: vec![0.0; rows.local()],
            },
            Smoother::Spai0 => Self::Diagonal { inverse: spai0(rows, matrix)? },
        })
    }

    /// x = smoothed from zero towards A⁻¹·b. Collective.
    pub fn before(&mut self, sweeps: usize, on: On, x: &mut [f32], work: &mut [f32]) -> Result<()> {
        match self {
            Self::GaussSeidel { colours, inverse } => {
                for_chunks(x, |_, x| x.fill(0.0));
                forward(colours, on.matrix, inverse, on.b, x);
            }
            Self::Chebyshev { .. } => self.chebyshev(on, x, work, true)?,
            Self::Diagonal { inverse } => {
                for_chunks(&mut x[..on.b.len()], |start, x| {
                    let terms = on.b[start..].iter().zip(&inverse[start..]);
                    x.iter_mut().zip(terms).for_each(|(x, (b, inverse))| *x = b * inverse);
                });
            }
        }
        for _ in 1..sweeps {
            if let Self::GaussSeidel { colours, inverse } = self {
                on.rows.refresh(x)?;
                forward(colours, on.matrix, inverse, on.b, x);
            } else {
                self.step(on, x, work)?;
            }
        }
        Ok(())
    }

    /// Smooths x once more, mirrored to [`Self::before`]. Collective.
    pub fn after(&mut self, sweeps: usize, on: On, x: &mut [f32], work: &mut [f32]) -> Result<()> {
        for _ in 0..sweeps {
            if let Self::GaussSeidel { colours, inverse } = self {
                on.rows.refresh(x)?;
                backward(colours, on.matrix, inverse, on.b, x);
            } else {
                self.step(on, x, work)?;
            }
        }
        Ok(())
    }

    /// One sweep of a smoother that is its own mirror image.
    fn step(&mut self, on: On, x: &mut [f32], work: &mut [f32]) -> Result<()> {
        match self {
            Self::GaussSeidel { .. } => Ok(()),
            Self::Chebyshev { .. } => self.chebyshev(on, x, work, false),
            Self::Diagonal { inverse } => {
                on.rows.refresh(x)?;
                multiply_rows(on.matrix, x, work, |row, _, ax| (on.b[row] - ax) * inverse[row]);
                update(&mut x[..on.b.len()], work, |x, change| x + change);
                Ok(())
            }
        }
    }

    /// Steps of a Chebyshev polynomial (Saad, *Iterative Methods for Sparse Linear Systems*, Algorithm 12.1).
    fn chebyshev(
        &mut self,
        on: On,
        x: &mut [f32],
        work: &mut [f32],
        from_zero: bool,
    ) -> Result<()> {
        let Self::Chebyshev { degree, radius, inverse, direction } = self else { return Ok(()) };
        let (low, high) = (CHEBYSHEV_LOW * *radius, *radius);
        let (theta, delta) = (0.5 * (high + low), 0.5 * (high - low));
        let sigma = theta / delta;
        let mut rho = 1.0 / sigma;
        let local = on.b.len();
        for n in 0..*degree {
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
                residual(on, x, work)?;
            }
            let r: &[f32] = if zero { on.b } else { work };
            for_chunks(direction, |start, direction| {
                let terms = r[start..].iter().zip(&inverse[start..]);
                for (d, (r, inverse)) in direction.iter_mut().zip(terms) {
                    *d = keep * *d + add * inverse * r;
                }
            });
            update(&mut x[..local], direction, |x, d| if zero { d } else { x + d });
        }
        Ok(())
    }

    pub fn bytes(&self) -> u64 {
        match self {
            Self::GaussSeidel { colours, inverse } => colours.bytes() + 4 * inverse.len() as u64,
            Self::Chebyshev { inverse, direction, .. } => {
                4 * (inverse.len() + direction.len()) as u64
            }
            Self::Diagonal { inverse } => 4 * inverse.len() as u64,
        }
    }
}

/// The system that is smoothed.
#[derive(Clone, Copy)]
pub(super) struct On<'a> {
    pub rows: &'a Rows,
    pub matrix: &'a Sparse,
    pub b: &'a [f32],
}

/// r = b − A·x. Collective.
pub(super) fn residual(on: On, x: &mut [f32], r: &mut [f32]) -> Result<()> {
    on.rows.refresh(x)?;
    multiply_rows(on.matrix, x, r, |row, _, ax| on.b[row] - ax);
    Ok(())
}

/// aᵢᵢ / Σⱼ aᵢⱼ², and less where that would let an error grow: ρ(M·A) must stay below 2. Collective.
fn spai0(rows: &Rows, matrix: &Sparse) -> Result<Vec<f32>> {
    let mut inverse: Vec<f32> = (0..matrix.rows())
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
            if squares > 0.0 { diagonal / squares } else { 1.0 }
        })
        .collect();
    let radius = spectrum::radius(rows, matrix, &inverse)?;
    if radius > SPAI0_RADIUS {
        inverse.iter_mut().for_each(|inverse| *inverse *= (SPAI0_RADIUS / radius) as f32);
    }
    Ok(inverse)
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
