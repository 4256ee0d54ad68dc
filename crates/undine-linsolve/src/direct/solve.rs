//! The fail-safe: a system is solved directly, whatever it is, with what had to be tried in the report.

use super::{Direct, Kind, Ordering};
use crate::error::{Result, SolveError};
use crate::krylov::cg;
use crate::matrix::{Csr, Matrix};
use crate::operator::Operator;
use crate::report::{Report, Stop};

/// A pivot of less than this share of its diagonal entry means a singular matrix.
const SINGULAR: f64 = 1e-13;

/// The share of the diagonal that is added to a semi-definite matrix.
const SHIFT: f64 = 1e-8;

/// Solves A·x = b by factoring A: Cholesky if it is symmetric with a positive diagonal; if that meets a bad pivot, LDLᵀ; and LU
/// at last. A semi-definite matrix is shifted and corrected by a few steps of CG.
///
/// The report's notes say what was tried. A system over several processes is not solved by this.
pub fn solve_direct(matrix: &Matrix, b: &[f64], x: &mut [f64]) -> Result<Report> {
    matrix.rows().check("the right-hand side", b)?;
    if !matrix.rows().is_single() {
        return Err(SolveError::BadValue {
            what: "the number of processes of a direct solve".into(),
            found: matrix.rows().processes().count().to_string(),
            wanted: "1",
        });
    }
    let csr = matrix.csr();
    let mut notes = Vec::new();
    let symmetric = csr.check_symmetric(super::SYMMETRY);
    match &symmetric {
        Err(error) => notes.push(error.to_string()),
        Ok(()) => {
            for kind in [Kind::Cholesky, Kind::Ldlt] {
                match attempt(csr, kind, b, x, &mut notes)? {
                    Attempt::Solved(report) => return Ok(report),
                    Attempt::SemiDefinite(row) => return shifted(matrix, row, b, x, notes),
                    Attempt::Failed => {}
                }
            }
        }
    }
    let mut direct = Direct::factor(csr, Kind::Lu, &Ordering::Automatic)?;
    let mut report = direct.solve(b, x)?;
    report.notes.splice(0..0, notes);
    Ok(report)
}

enum Attempt {
    Solved(Report),
    /// The row where a pivot vanished.
    SemiDefinite(usize),
    Failed,
}

/// Tries one kind of factor; what went wrong goes into the notes.
fn attempt(
    csr: &Csr<f64>,
    kind: Kind,
    b: &[f64],
    x: &mut [f64],
    notes: &mut Vec<String>,
) -> Result<Attempt> {
    let mut direct = match Direct::factor(csr, kind, &Ordering::Automatic) {
        Ok(direct) => direct,
        Err(SolveError::BadPivot { what, row, pivot, wanted }) => {
            let semi_definite =
                kind == Kind::Cholesky && pivot.abs() <= SINGULAR * csr.get(row, row);
            let error = SolveError::BadPivot { what, row, pivot, wanted };
            notes.push(format!("{}: {error}", kind.name()));
            return Ok(match semi_definite {
                true => Attempt::SemiDefinite(row),
                false => Attempt::Failed,
            });
        }
        Err(error) => return Err(error),
    };
    if let Some((row, share)) = direct.weakest_pivot()
        && share < SINGULAR
    {
        notes
            .push(format!("Cholesky: the pivot of row {row} is {share:.1e} of its diagonal entry"));
        return Ok(Attempt::SemiDefinite(row));
    }
    let mut report = direct.solve(b, x)?;
    if !report.converged() {
        notes.push(format!(
            "{}: {}, residual {:.2e}",
            kind.name(),
            report.outcome,
            report.residual
        ));
        return Ok(Attempt::Failed);
    }
    report.notes.append(notes);
    Ok(Attempt::Solved(report))
}

/// Solves a semi-definite system: the matrix plus a little of its diagonal is factored, and CG takes the little away again.
fn shifted(
    matrix: &Matrix,
    row: usize,
    b: &[f64],
    x: &mut [f64],
    mut notes: Vec<String>,
) -> Result<Report> {
    let mut csr = matrix.csr().clone();
    for row in 0..csr.rows() {
        let range = csr.range(row);
        let diagonal = csr.indices()[range.clone()].binary_search(&(row as u32));
        if let Ok(at) = diagonal {
            csr.values_mut()[range.start + at] *= 1.0 + SHIFT;
        }
    }
    let mut direct = Direct::factor(&csr, Kind::Cholesky, &Ordering::Automatic)?;
    notes.push(format!(
        "the matrix is semi-definite at row {row}: factored with its diagonal raised by {SHIFT:.0e}, corrected by CG"
    ));
    x.fill(0.0);
    let mut report =
        cg(matrix, &mut direct, b, x, &Stop { iterations: 50, ..Stop::relative(super::SOLVED) })?;
    report.solver = "direct, Cholesky with a shift".into();
    report.setup_seconds = direct.setup_seconds;
    report.notes.splice(0..0, notes);
    Ok(report)
}
