//! Linear complementarity: systems A·x = b whose unknowns have bounds l ≤ x ≤ u, each of them perhaps infinite.
//!
//! With w = A·x − b, a row is solved when w = 0, or x = l and w ≥ 0, or x = u and w ≤ 0. For a symmetric positive definite A
//! this is the minimum of q(x) = ½·x·A·x − b·x inside of the bounds. Such systems come from walls that a liquid may leave but
//! not enter: the pressure there may push, but not pull.
//!
//! [`pgs`] is projected Gauss-Seidel alone. [`predictor_corrector`] lets a Krylov solver do the bulk of the work and is the
//! one to use.
//!
//! **The complementarity residual.** A row's residual is cᵢ = |clamp(rᵢ, dᵢ·(lᵢ − xᵢ), dᵢ·(uᵢ − xᵢ))| with r = b − A·x and d the
//! diagonal of A. This is dᵢ·|xᵢ − clamp(xᵢ − wᵢ/dᵢ, lᵢ, uᵢ)|, the natural residual in the unit of the right-hand side: zero
//! where the row is solved, |rᵢ| where no bound is near. [`Stop::relative`](crate::Stop) limits ‖c‖ / ‖b − A·x₀‖, where x₀ is the
//! admissible point nearest to zero, so that without bounds it is the relative residual of a linear solve;
//! [`Stop::absolute`](crate::Stop) limits the largest cᵢ.

mod bounds;
mod gauss_seidel;
mod pgs;
mod predictor_corrector;
mod progress;
mod restricted;

pub use bounds::Bounds;
pub use gauss_seidel::{Coloured, GaussSeidel};
pub use pgs::pgs;
pub use predictor_corrector::predictor_corrector;

use crate::report::Report;
use std::fmt;

/// How the solution of a bounded system went. The unknowns hold the best admissible iterate in any case.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "a solve that did not converge says so only here"]
pub struct LcpReport {
    /// How it ended. Residuals are complementarity residuals, iterations are rounds (of [`predictor_corrector`]) or sweeps (of
    /// [`pgs`], whose history has an entry for every look at the residual).
    pub report: Report,
    /// Sweeps of projected Gauss-Seidel.
    pub sweeps: usize,
    /// Iterations of the Krylov solver, of the prediction and all rounds together.
    pub krylov_iterations: usize,
    /// How many rows of all processes sit at their lower bound.
    pub at_lower: u64,
    /// How many rows of all processes sit at their upper bound, and not at the lower one too.
    pub at_upper: u64,
}

impl LcpReport {
    /// Whether the complementarity residual was met.
    pub fn converged(&self) -> bool {
        self.report.converged()
    }
}

impl fmt::Display for LcpReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}; {} Krylov iterations, {} sweeps, {} rows at the lower and {} at the upper bound",
            self.report, self.krylov_iterations, self.sweeps, self.at_lower, self.at_upper
        )
    }
}
