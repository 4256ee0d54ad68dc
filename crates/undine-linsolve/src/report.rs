//! When an iterative solve stops, and what it says afterwards.

use crate::error::{Result, SolveError};
use std::fmt;

/// When to stop: on whichever of the two residuals is met first, or when there is no hope.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stop {
    /// Enough when ‖b − A·x‖ ≤ `relative` · ‖b‖, in the Euclidean norm.
    pub relative: f64,
    /// Enough when no row's |b − A·x| passes this, in the unit of the right-hand side. 0 leaves it out.
    pub absolute: f64,
    /// Most iterations that are made.
    pub iterations: usize,
    /// Iterations without a smaller residual after which there is no hope.
    pub patience: usize,
}

impl Default for Stop {
    fn default() -> Self {
        Self { relative: 1e-6, absolute: 0.0, iterations: 5000, patience: 200 }
    }
}

impl Stop {
    /// Stops at a relative residual.
    pub fn relative(relative: f64) -> Self {
        Self { relative, ..Self::default() }
    }

    /// Refuses limits that can never be met.
    pub fn check(&self) -> Result<()> {
        let fine = |limit: f64| limit.is_finite() && limit >= 0.0;
        if fine(self.relative) && fine(self.absolute) && self.relative + self.absolute > 0.0 {
            return Ok(());
        }
        Err(SolveError::BadValue {
            what: "the residual to stop at".into(),
            found: format!("{} relative, {} absolute", self.relative, self.absolute),
            wanted: "finite and not negative, one of them positive",
        })
    }
}

/// How an iterative solve ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    /// The residual was met.
    Converged,
    /// The iterations ran out.
    IterationLimit,
    /// The residual did not get smaller for as long as patience lasted.
    Stagnated,
    /// The method divided by something that is zero, or has the wrong sign; says what.
    Breakdown(&'static str),
    /// NaN or infinity came up; says where.
    NotFinite(&'static str),
    /// The system is singular, and this much of the right-hand side's norm cannot be reached.
    Inconsistent(f64),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Converged => f.write_str("converged"),
            Self::IterationLimit => f.write_str("the iterations ran out"),
            Self::Stagnated => f.write_str("the residual stopped getting smaller"),
            Self::Breakdown(what) => write!(f, "broke down: {what}"),
            Self::NotFinite(what) => write!(f, "NaN or infinity in {what}"),
            Self::Inconsistent(amount) => write!(
                f,
                "singular, and {amount:.3e} of the right-hand side lies along the null space"
            ),
        }
    }
}

/// How a solve went. The unknowns hold the best iterate in any case.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "a solve that did not converge says so only here"]
pub struct Report {
    /// The method, for example `CG`.
    pub solver: String,
    /// What helped it, for example `SA-AMG, 4 levels`.
    pub preconditioner: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Iterations made.
    pub iterations: usize,
    /// ‖b − A·x‖ / ‖b‖ of the result, computed anew from `x`.
    pub residual: f64,
    /// The largest |b − A·x| of any row, in the unit of the right-hand side.
    pub largest_residual: f64,
    /// The relative residual as the method saw it, before the first iteration and after each.
    pub history: Vec<f64>,
    /// Time to set up the preconditioner [s].
    pub setup_seconds: f64,
    /// Time to solve [s].
    pub solve_seconds: f64,
    /// Bytes of operator, preconditioner and work vectors.
    pub bytes: u64,
    /// What a person should know: why this method was chosen, what was tried before, what was removed.
    pub notes: Vec<String>,
}

impl Report {
    /// Whether the residual was met.
    pub fn converged(&self) -> bool {
        self.outcome == Outcome::Converged
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} with {}: {} after {} iterations, residual {:.2e}, {:.3} s to set up and {:.3} s to solve",
            self.solver,
            self.preconditioner,
            self.outcome,
            self.iterations,
            self.residual,
            self.setup_seconds,
            self.solve_seconds
        )?;
        self.notes.iter().try_for_each(|note| write!(f, "; {note}"))
    }
}
