//! Matrices: compressed sparse rows of numbers and of blocks, over the processes of a run; how they are assembled, read
//! and written.

mod assembly;
mod block;
mod csr;
mod elements;
pub mod market;
mod nodes;
mod null_space;

pub use assembly::{Assembly, Pattern};
pub use block::{BlockCsr, BlockMatrix};
pub use csr::Csr;
pub use elements::{Element, Elements};
pub use nodes::{NodeRows, Nodes};
pub use null_space::NullSpace;

use crate::error::{Result, SolveError};
use crate::operator::Operator;
use crate::rows::Rows;
use rayon::prelude::*;
use std::sync::Arc;

/// A row's sum below this share of its magnitudes is zero.
const ROUNDING: f64 = 1e-13;

/// A square sparse matrix in `f64` over the rows of one or several processes.
#[derive(Debug, Clone)]
pub struct Matrix {
    rows: Arc<Rows>,
    csr: Csr<f64>,
    null_space: Option<NullSpace>,
}

impl Matrix {
    /// A matrix that is all on this process.
    pub fn single(csr: Csr<f64>) -> Result<Self> {
        let rows = Rows::single(csr.rows());
        Self::new(rows, csr)
    }

    /// The local rows of a matrix; columns are the stored entries of `rows`.
    pub fn new(rows: Arc<Rows>, csr: Csr<f64>) -> Result<Self> {
        if csr.rows() != rows.local() || csr.columns() != rows.stored() {
            let (found, columns) = (csr.rows(), csr.columns());
            return Err(match rows.is_single() && found == rows.local() {
                true => SolveError::NotSquare { rows: found, columns },
                false => SolveError::WrongLength {
                    what: "the matrix of distributed rows",
                    found: columns,
                    wanted: rows.stored(),
                },
            });
        }
        Ok(Self { rows, csr, null_space: None })
    }

    /// The same matrix, known to be singular: solvers then look for the solution without any part along the null space.
    pub fn with_null_space(self, null_space: NullSpace) -> Self {
        Self { null_space: Some(null_space), ..self }
    }

    /// The same matrix, with constants as its null space if every row sums to nothing but rounding. Collective.
    ///
    /// That is a system between closed walls in one piece; several pieces are several vectors, which the caller knows.
    pub fn recognise_constants(self) -> Result<Self> {
        let nothing = |row: usize| {
            let (_, values) = self.csr.row(row);
            let magnitudes: f64 = values.iter().map(|value| value.abs()).sum();
            values.iter().sum::<f64>().abs() <= ROUNDING * magnitudes
        };
        let here = (0..self.csr.rows()).into_par_iter().with_min_len(1024).all(nothing);
        let others = self.rows.max(f64::from(u8::from(!here)))?;
        let singular = others == 0.0 && self.rows.total() > 0;
        Ok(if singular { self.with_null_space(NullSpace::constant()) } else { self })
    }

    /// The local rows; columns beyond them are copies of foreign rows.
    pub fn csr(&self) -> &Csr<f64> {
        &self.csr
    }

    /// The rows as something to share.
    pub fn shared_rows(&self) -> &Arc<Rows> {
        &self.rows
    }
}

impl Operator for Matrix {
    fn rows(&self) -> &Rows {
        &self.rows
    }

    fn apply(&self, x: &mut [f64], y: &mut [f64]) -> Result<()> {
        self.rows.refresh(x)?;
        self.csr.multiply(x, y);
        Ok(())
    }

    fn is_singular(&self) -> bool {
        self.null_space.is_some()
    }

    fn project(&self, x: &mut [f64]) -> Result<()> {
        match &self.null_space {
            Some(null_space) => null_space.project(&self.rows, x),
            None => Ok(()),
        }
    }

    fn bytes(&self) -> u64 {
        let null_space = self.null_space.as_ref().map_or(0, NullSpace::bytes);
        self.csr.bytes() + self.rows.bytes() + null_space
    }
}
