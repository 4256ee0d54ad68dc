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
/// The report's notes say what was tried. Over several processes each gathers the whole system and solves it: this is the way
/// out, and small enough systems are all that it is for. Collective.
pub fn solve_direct(matrix: &Matrix, b: &[f64], x: &mut [f64]) -> Result<Report> {
    let rows = matrix.rows();
    let checked = rows.check("the right-hand side", b).and_then(|()| rows.check("the unknowns", x));
    rows.all_agree(checked)?;
    if !rows.is_single() {
        let whole = Matrix::single(gather(matrix)?)?;
        let whole_b = rows.processes().all_gather_values(b)?.concat();
        let mut whole_x = vec![0.0; whole_b.len()];
        let mut report = solve_direct(&whole, &whole_b, &mut whole_x)?;
        let first = rows.first() as usize;
        x.copy_from_slice(&whole_x[first..first + rows.local()]);
        report.notes.push("gathered and solved by every process".into());
        return Ok(report);
    }
    let csr = matrix.csr();
    let mut notes = Vec::new();
    // The best so far, where the matrix is so nearly singular that no factor is exact.
    let mut best: Option<(Report, Vec<f64>)> = None;
    match csr.check_symmetric(super::SYMMETRY) {
        Err(error) => notes.push(error.to_string()),
        Ok(()) => {
            for kind in [Kind::Cholesky, Kind::Ldlt] {
                match attempt(csr, kind, b, x, &mut notes)? {
                    Attempt::Solved(report) => return Ok(report),
                    Attempt::SemiDefinite(row) => {
                        let report = shifted(matrix, row, b, x, notes.clone())?;
                        if report.converged() {
                            return Ok(report);
                        }
                        notes.push(format!(
                            "Cholesky with a shift: residual {:.2e}",
                            report.residual
                        ));
                        best = Some((report, x.to_vec()));
                    }
                    Attempt::Failed => {}
                }
            }
        }
    }
    let lu = Direct::factor(csr, Kind::Lu, &Ordering::Automatic);
    let solved = match (lu, best) {
        (Ok(mut direct), best) => (direct.solve(b, x)?, best),
        (Err(_), Some((report, best))) => {
            x.copy_from_slice(&best);
            return Ok(report);
        }
        (Err(error), None) => return Err(error),
    };
    match solved {
        (report, Some((best, kept))) if !report.converged() && best.residual <= report.residual => {
            x.copy_from_slice(&kept);
            Ok(best)
        }
        (mut report, _) => {
            report.notes.splice(0..0, notes);
            Ok(report)
        }
    }
}

/// The entries that a Cholesky factor of a system of all processes would have, or none if the matrix alone has more than `most`.
/// Collective.
pub(crate) fn fill_of_all(matrix: &Matrix, most: u64) -> Result<Option<u64>> {
    let rows = matrix.rows();
    if rows.sum(matrix.csr().entries() as f64)? > most as f64 {
        return Ok(None);
    }
    let entries = match rows.is_single() {
        true => super::fill(matrix.csr(), &Ordering::Automatic)?,
        false => super::fill(&gather(matrix)?, &Ordering::Automatic)?,
    };
    Ok(Some(entries.0))
}

/// The rows of all processes. Collective.
fn gather(matrix: &Matrix) -> Result<Csr<f64>> {
    let (rows, csr) = (matrix.rows(), matrix.csr());
    let numbers = rows.numbers()?;
    let lengths: Vec<u32> = (0..csr.rows()).map(|row| csr.range(row).len() as u32).collect();
    let columns: Vec<u64> = csr.indices().iter().map(|&column| numbers[column as usize]).collect();
    let processes = rows.processes();
    let lengths = processes.all_gather_values(&lengths)?.concat();
    let columns = processes.all_gather_values(&columns)?.concat();
    let values = processes.all_gather_values(csr.values())?.concat();
    let row_of = lengths.iter().enumerate().flat_map(|(row, &n)| (0..n).map(move |_| row));
    let triplets = row_of.zip(columns).zip(values);
    let total = rows.total() as usize;
    Csr::from_triplets(total, total, triplets.map(|((row, column), v)| (row, column as usize, v)))
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
