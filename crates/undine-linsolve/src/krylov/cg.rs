//! Preconditioned conjugate gradients (Hestenes & Stiefel 1952), plain and flexible (Notay 2000).

use super::progress::Progress;
use crate::error::Result;
use crate::operator::{Operator, Preconditioner};
use crate::report::{Outcome, Report, Stop};
use crate::vector;
use undine_core::memory::zeros;

/// Solves A·x = b, A symmetric and positive (semi-)definite. `x` goes in as the first guess. Collective.
pub fn cg(
    operator: &dyn Operator,
    preconditioner: &mut dyn Preconditioner,
    b: &[f64],
    x: &mut [f64],
    stop: &Stop,
) -> Result<Report> {
    iterate(false, operator, preconditioner, b, x, stop)
}

/// The same for a preconditioner that is not quite linear or not quite symmetric, such as one that iterates inside. It
/// costs one more vector.
pub fn flexible_cg(
    operator: &dyn Operator,
    preconditioner: &mut dyn Preconditioner,
    b: &[f64],
    x: &mut [f64],
    stop: &Stop,
) -> Result<Report> {
    iterate(true, operator, preconditioner, b, x, stop)
}

fn iterate(
    flexible: bool,
    operator: &dyn Operator,
    preconditioner: &mut dyn Preconditioner,
    b: &[f64],
    x: &mut [f64],
    stop: &Stop,
) -> Result<Report> {
    let rows = operator.rows();
    let local = rows.local();
    let mut progress = Progress::new(operator, b, x, stop)?;
    let (mut r, mut z, mut q) = (zeros(local), zeros(local), zeros(local));
    let mut p = zeros(rows.stored());
    // The residual of the iteration before, which only the flexible variant looks back at.
    let mut before = if flexible { zeros(local) } else { Vec::new() };
    let work = 8 * (3 * local + p.len() + before.len() + local) as u64;

    let mut ended = progress.begin(x, &mut r)?;
    let mut rz_before = 0.0;
    let outcome = loop {
        if ended == Some(Outcome::Converged) {
            ended = progress.confirm(x, &mut r)?;
            rz_before = 0.0;
        }
        if let Some(outcome) = ended {
            break outcome;
        }

        preconditioner.apply(&r, &mut z)?;
        if operator.is_singular() {
            operator.project(&mut z)?;
        }
        let looked_back = if flexible { vector::dot(&before, &z) } else { 0.0 };
        let [rz, looked_back] = rows.sums([vector::dot(&r, &z), looked_back])?;
        if !rz.is_finite() {
            break Outcome::NotFinite("the preconditioned residual");
        }
        if rz <= 0.0 {
            break Outcome::Breakdown("the preconditioner is not positive definite (r·z ≤ 0)");
        }

        // The next direction, conjugate to the last.
        let beta = if rz_before == 0.0 { 0.0 } else { (rz - looked_back) / rz_before };
        vector::xpby(&z, beta, &mut p[..local]);

        let pq = operator.apply_dot(&mut p, &mut q)?;
        if !pq.is_finite() {
            break Outcome::NotFinite("the product with the search direction");
        }
        if pq <= 0.0 {
            break Outcome::Breakdown("the matrix is not positive definite (p·Ap ≤ 0)");
        }
        if flexible {
            vector::copy(&r, &mut before);
        }
        let rr = rows.sum(vector::step(rz / pq, &p[..local], &q, x, &mut r))?;
        rz_before = rz;
        ended = progress.watch(rr.sqrt(), &r, x)?;
    };
    let solver = if flexible { "flexible CG" } else { "CG" };
    progress.close(solver, preconditioner, outcome, x, &mut r, work)
}
