//! Matrices: compressed sparse rows of numbers and of blocks, over the processes of a run; how they are assembled, read
//! and written.

mod assembly;
mod block;
mod csr;
mod elements;
pub mod market;
mod nodes;

pub use assembly::{Assembly, Pattern};
pub use block::{BlockCsr, BlockMatrix};
pub use csr::Csr;
pub use elements::{Element, Elements};
pub use nodes::{NodeRows, Nodes};

use crate::error::{Result, SolveError};
use crate::operator::Operator;
use crate::rows::Rows;
use std::sync::Arc;

/// A square sparse matrix in `f64` over the rows of one or several processes.
#[derive(Debug, Clone)]
pub struct Matrix {
    rows: Arc<Rows>,
    csr: Csr<f64>,
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
        Ok(Self { rows, csr })
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

    fn bytes(&self) -> u64 {
        self.csr.bytes() + self.rows.bytes()
    }
}
