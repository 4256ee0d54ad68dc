//! Jacobi: division by the diagonal.

use crate::error::{Result, SolveError};
use crate::matrix::Matrix;
use crate::operator::{Operator, Preconditioner};
use crate::vector;

/// z = r / diag(A).
#[derive(Debug, Clone)]
pub struct Jacobi {
    inverse: Vec<f64>,
}

impl Jacobi {
    /// Refuses a diagonal that is zero or negative anywhere. Collective.
    pub fn new(matrix: &Matrix) -> Result<Self> {
        let diagonal = matrix.csr().diagonal();
        let wrong = diagonal.iter().position(|&value| value.is_nan() || value <= 0.0);
        let checked = match wrong {
            None => Ok(()),
            Some(row) => Err(SolveError::BadDiagonal {
                row,
                value: diagonal[row],
                method: "Jacobi",
                wanted: "positive",
            }),
        };
        matrix.rows().all_agree(checked)?;
        Ok(Self { inverse: diagonal.into_iter().map(|value| 1.0 / value).collect() })
    }
}

impl Preconditioner for Jacobi {
    fn name(&self) -> String {
        "Jacobi".into()
    }

    fn apply(&mut self, r: &[f64], z: &mut [f64]) -> Result<()> {
        let inverse = &self.inverse;
        vector::for_chunks(z, |start, z| {
            for ((z, &r), &inverse) in z.iter_mut().zip(&r[start..]).zip(&inverse[start..]) {
                *z = r * inverse;
            }
        });
        Ok(())
    }

    fn bytes(&self) -> u64 {
        size_of_val(&self.inverse[..]) as u64
    }
}
