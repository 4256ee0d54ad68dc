//! Whether a solve is good enough to go on with, and what is said if it is not.

use undine_linsolve::Report;
use undine_sim::report::SolveRecord;
use undine_sim::{Result, SimError};

/// A solve that ends within so many times its tolerance is still better than none.
const NEAR_ENOUGH: f64 = 100.0;

/// What was solved.
pub(crate) struct Solve<'a> {
    /// Its short name in reports.
    pub name: &'static str,
    /// What it is of, for whoever reads why it failed.
    pub of: &'a str,
    /// How many unknowns it has.
    pub unknowns: usize,
    /// What they are: cells, or faces.
    pub unit: &'static str,
    /// The residual that was wanted.
    pub tolerance: f64,
    /// What to look for should it fail.
    pub look_for: &'static str,
}

impl Solve<'_> {
    /// How the solve went; an error with cause and cure if it went wrong.
    pub fn solved(&self, report: &Report) -> Result<SolveRecord> {
        let &Self { name, of, unknowns, unit, tolerance, look_for } = self;
        let near_enough = (NEAR_ENOUGH * tolerance).min(NEAR_ENOUGH.recip());
        if !(report.converged() || report.residual <= near_enough) {
            return Err(SimError::NotConverged {
                system: format!("the {name} of {of} ({unknowns} {unit})"),
                report: format!(
                    "{report}; the residual wanted is {tolerance:.1e}: look for {look_for}, or raise `tolerance`"
                ),
            });
        }
        Ok(SolveRecord {
            system: name,
            unknowns,
            iterations: report.iterations,
            residual: report.residual,
            tolerance,
            converged: report.converged(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undine_linsolve::Outcome;

    #[test]
    fn what_is_nearly_solved_goes_on_and_what_is_not_says_what_to_change() {
        let solve = Solve {
            name: "pressure",
            of: "pool/water",
            unknowns: 512,
            unit: "cells",
            tolerance: 1e-4,
            look_for: "colliders that move many voxels in a substep",
        };
        let report = |outcome, residual| Report {
            solver: "CG".into(),
            preconditioner: "multigrid".into(),
            outcome,
            iterations: 300,
            residual,
            largest_residual: residual,
            history: Vec::new(),
            setup_seconds: 0.0,
            solve_seconds: 0.0,
            bytes: 0,
            notes: Vec::new(),
        };
        for (outcome, residual, goes_on) in [
            (Outcome::Converged, 9e-5, true),
            (Outcome::IterationLimit, 9e-3, true),
            (Outcome::IterationLimit, 0.02, false),
            (Outcome::NotFinite("x"), f64::NAN, false),
        ] {
            let converged = outcome == Outcome::Converged;
            match solve.solved(&report(outcome, residual)) {
                Ok(record) => assert!(goes_on && record.converged == converged, "{residual}"),
                Err(why) => {
                    assert!(!goes_on, "{residual}");
                    let said = why.to_string();
                    for words in [
                        "the pressure of pool/water (512 cells) did not converge",
                        "after 300 iterations",
                        "the residual wanted is 1.0e-4",
                        "look for colliders that move many voxels",
                        "raise `tolerance`",
                    ] {
                        assert!(said.contains(words), "no {words} in {said}");
                    }
                }
            }
        }
    }
}
