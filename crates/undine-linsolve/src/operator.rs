//! What a solver needs to know of a system, and of the help that it gets.

use crate::error::Result;
use crate::rows::Rows;
use crate::vector;

/// A square linear map, matrix or not: what a Krylov solver solves with.
pub trait Operator: Sync {
    /// The rows, which are also the columns.
    fn rows(&self) -> &Rows;

    /// y = A·x. Collective.
    ///
    /// `x` has [`Rows::stored`] entries; the call refreshes those behind the local ones. `y` has [`Rows::local`].
    fn apply(&self, x: &mut [f64], y: &mut [f64]) -> Result<()>;

    /// y = A·x, and x·y on the way. Collective.
    fn apply_dot(&self, x: &mut [f64], y: &mut [f64]) -> Result<f64> {
        self.apply(x, y)?;
        self.rows().sum(vector::dot(&x[..y.len()], y))
    }

    /// Whether the operator has a null space that [`Self::project`] knows.
    fn is_singular(&self) -> bool {
        false
    }

    /// Takes what lies in the operator's null space out of a vector over the local rows. Collective.
    ///
    /// Solvers call it on residuals and preconditioned residuals of a singular system.
    fn project(&self, _x: &mut [f64]) -> Result<()> {
        Ok(())
    }

    /// Bytes that the operator holds.
    fn bytes(&self) -> u64;
}

/// An approximate inverse: z ≈ A⁻¹·r, cheap to apply. For CG it must be symmetric and positive definite.
pub trait Preconditioner: Send {
    /// What reports call it.
    fn name(&self) -> String;

    /// z = M⁻¹·r over the local rows. Collective. Takes `&mut self` for its work space only: the same `r` gives the same `z`.
    fn apply(&mut self, r: &[f64], z: &mut [f64]) -> Result<()>;

    /// Says that until further notice only the rows marked as free are of interest, the others being held where they are;
    /// `None` frees all. Collective.
    ///
    /// What comes out for held rows is ignored in any case, so that most preconditioners need not listen. One that spreads
    /// values far, such as multigrid, does better if it takes held rows for known ones.
    fn restrict(&mut self, _free: Option<&[bool]>) -> Result<()> {
        Ok(())
    }

    /// Bytes that it holds.
    fn bytes(&self) -> u64;
}

/// No preconditioner at all: z = r.
#[derive(Debug, Clone, Copy, Default)]
pub struct Identity;

impl Preconditioner for Identity {
    fn name(&self) -> String {
        "none".into()
    }

    fn apply(&mut self, r: &[f64], z: &mut [f64]) -> Result<()> {
        vector::copy(r, z);
        Ok(())
    }

    fn bytes(&self) -> u64 {
        0
    }
}
