//! Projected Gauss-Seidel sweeps, on all threads and over all processes.

use super::bounds::Bounds;
use crate::colours::{Colours, SharedVector};
use crate::error::{Result, SolveError};
use crate::matrix::Matrix;
use crate::operator::Operator;
use crate::rows::Rows;

/// An operator whose rows can be solved one by one.
pub trait GaussSeidel: Operator {
    /// The diagonal of the local rows, positive everywhere.
    fn diagonal(&self) -> &[f64];

    /// Solves every row for its own unknown, `count` times over, and keeps it within its bounds:
    /// xᵢ ← clamp(xᵢ + (bᵢ − Aᵢ·x)/aᵢᵢ, lᵢ, uᵢ). `x` has the local entries. Collective.
    ///
    /// Rows take turns in an order of the implementation's choice that depends on nothing but the system. Each uses the
    /// values that its neighbours have by then, so that no sweep makes q(x) larger.
    fn sweep(&self, b: &[f64], bounds: &Bounds<'_>, x: &mut [f64], count: usize) -> Result<()>;
}

/// A matrix with coloured rows, ready for sweeps. Colours hold across processes: they refresh each other's copies after
/// every colour.
#[derive(Debug)]
pub struct Coloured<'a> {
    matrix: &'a Matrix,
    colours: Colours,
    diagonal: Vec<f64>,
}

impl<'a> Coloured<'a> {
    /// Refuses a diagonal that is zero or negative anywhere. Collective.
    pub fn new(matrix: &'a Matrix) -> Result<Self> {
        let diagonal = matrix.csr().diagonal();
        let checked = match diagonal.iter().position(|&value| value.is_nan() || value <= 0.0) {
            None => Ok(()),
            Some(row) => Err(SolveError::BadDiagonal {
                row,
                value: diagonal[row],
                method: "Gauss-Seidel",
                wanted: "positive",
            }),
        };
        matrix.rows().all_agree(checked)?;
        let colours = Colours::across(matrix.rows(), matrix.csr())?;
        Ok(Self { matrix, colours, diagonal })
    }
}

impl GaussSeidel for Coloured<'_> {
    fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    fn sweep(&self, b: &[f64], bounds: &Bounds<'_>, x: &mut [f64], count: usize) -> Result<()> {
        let rows = self.matrix.rows();
        let csr = self.matrix.csr();
        let mut shared = SharedVector::zeros(rows.stored());
        shared.load(x);
        let mut copies = if rows.is_single() { Vec::new() } else { vec![0.0; rows.stored()] };
        let refresh = |shared: &mut SharedVector, copies: &mut [f64]| -> Result<()> {
            if !rows.is_single() {
                shared.store(copies);
                rows.refresh(copies)?;
                shared.load(copies);
            }
            Ok(())
        };
        refresh(&mut shared, &mut copies)?;
        for _ in 0..count {
            for colour in 0..self.colours.count() {
                self.colours.each(colour, |range| {
                    for row in range {
                        let (columns, values) = csr.row(row);
                        let terms = columns.iter().zip(values);
                        let ax = terms.fold(0.0, |sum, (&c, &a)| sum + a * shared.get(c as usize));
                        let solved = shared.get(row) + (b[row] - ax) / self.diagonal[row];
                        shared.set(row, bounds.clamp(row, solved));
                    }
                });
                refresh(&mut shared, &mut copies)?;
            }
        }
        shared.store(x);
        Ok(())
    }
}

impl Operator for Coloured<'_> {
    fn rows(&self) -> &Rows {
        self.matrix.rows()
    }

    fn apply(&self, x: &mut [f64], y: &mut [f64]) -> Result<()> {
        self.matrix.apply(x, y)
    }

    fn apply_dot(&self, x: &mut [f64], y: &mut [f64]) -> Result<f64> {
        self.matrix.apply_dot(x, y)
    }

    fn is_singular(&self) -> bool {
        self.matrix.is_singular()
    }

    fn project(&self, x: &mut [f64]) -> Result<()> {
        self.matrix.project(x)
    }

    fn bytes(&self) -> u64 {
        self.matrix.bytes() + self.colours.bytes() + 8 * self.diagonal.len() as u64
    }
}
