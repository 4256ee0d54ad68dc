//! BiCGStab for systems that are not symmetric (van der Vorst 1992), preconditioned from the right, so that the residual
//! it sees is the true one.

use super::progress::Progress;
use crate::error::Result;
use crate::operator::{Operator, Preconditioner};
use crate::report::{Outcome, Report, Stop};
use crate::vector;

/// An inner product below this share of the two norms is zero but for rounding.
const ORTHOGONAL: f64 = 1e-14;

/// How often the method may begin anew when the residual turned orthogonal to the shadow residual.
const SHADOWS: usize = 20;

/// Solves A·x = b for any regular A. `x` goes in as the first guess. Collective.
///
/// One iteration multiplies twice. When the residual turns orthogonal to the shadow residual (ρ = 0), the method begins
/// anew with the residual as its own shadow; the other two divisors that can vanish, r̂·v and ω, end it.
pub fn bicgstab(
    operator: &dyn Operator,
    preconditioner: &mut dyn Preconditioner,
    b: &[f64],
    x: &mut [f64],
    stop: &Stop,
) -> Result<Report> {
    let rows = operator.rows();
    let local = rows.local();
    let mut progress = Progress::new(operator, b, x, stop)?;
    let zeros = || vec![0.0; local];
    let (mut r, mut shadow, mut p, mut v, mut t) = (zeros(), zeros(), zeros(), zeros(), zeros());
    let (mut p_hat, mut s_hat) = (vec![0.0; rows.stored()], vec![0.0; rows.stored()]);
    let work = 8 * (6 * local + 2 * rows.stored()) as u64;

    let mut ended = progress.begin(x, &mut r)?;
    let (mut anew, mut shadows) = (true, 0);
    let (mut rho, mut shadow_norm) = (0.0, 0.0);
    let outcome = loop {
        if ended == Some(Outcome::Converged) {
            ended = progress.confirm(x, &mut r)?;
            anew = true;
        }
        if let Some(outcome) = ended {
            break outcome;
        }
        if anew {
            anew = false;
            vector::copy(&r, &mut shadow);
            vector::copy(&r, &mut p);
            rho = rows.sum(vector::square(&r))?;
            shadow_norm = rho.sqrt();
        }

        // Half a step along p.
        precondition(operator, preconditioner, &p, &mut p_hat)?;
        operator.apply(&mut p_hat, &mut v)?;
        let [shadow_v, vv] = rows.sums([vector::dot(&shadow, &v), vector::square(&v)])?;
        if !(shadow_v.is_finite() && vv.is_finite()) {
            break Outcome::NotFinite("the product with the search direction");
        }
        if shadow_v.abs() <= ORTHOGONAL * shadow_norm * vv.sqrt() {
            break Outcome::Breakdown(
                "the direction's image is orthogonal to the shadow residual (r̂·v = 0)",
            );
        }
        let alpha = rho / shadow_v;
        let [ss] = vector::fused([&mut r, x], |n, [r, x]| {
            *x += alpha * p_hat[n];
            *r -= alpha * v[n];
            [*r * *r]
        });
        let ss = rows.sum(ss)?;
        if progress.meets(ss.sqrt(), &r)? {
            ended = progress.watch(ss.sqrt(), &r, x)?;
            continue;
        }

        // The other half along the residual, as long as makes it smallest.
        precondition(operator, preconditioner, &r, &mut s_hat)?;
        operator.apply(&mut s_hat, &mut t)?;
        let [ts, tt] = rows.sums([vector::dot(&t, &r), vector::square(&t)])?;
        if !(ts.is_finite() && tt.is_finite()) {
            break Outcome::NotFinite("the product with the residual");
        }
        if ts.abs() <= ORTHOGONAL * (tt * ss).sqrt() {
            break Outcome::Breakdown("the residual's image is orthogonal to the residual (ω = 0)");
        }
        let omega = ts / tt;
        let sums = vector::fused([&mut r, x], |n, [r, x]| {
            *x += omega * s_hat[n];
            *r -= omega * t[n];
            [*r * *r, shadow[n] * *r]
        });
        let [rr, rho_next] = rows.sums(sums)?;
        ended = progress.watch(rr.sqrt(), &r, x)?;

        if rho_next.abs() <= ORTHOGONAL * shadow_norm * rr.sqrt() {
            if shadows == SHADOWS {
                ended.get_or_insert(Outcome::Breakdown(
                    "the residual is orthogonal to the shadow residual again and again (ρ = 0)",
                ));
            }
            shadows += 1;
            anew = true;
            continue;
        }
        let beta = rho_next / rho * (alpha / omega);
        rho = rho_next;
        let [] = vector::fused([&mut p], |n, [p]| {
            *p = r[n] + beta * (*p - omega * v[n]);
            []
        });
    };
    if shadows > 0 {
        progress.note(format!("took a new shadow residual {shadows} times"));
    }
    progress.close("BiCGStab", preconditioner, outcome, x, &mut r, work)
}

/// z = M⁻¹·r, without what lies in the null space. Collective.
fn precondition(
    operator: &dyn Operator,
    preconditioner: &mut dyn Preconditioner,
    r: &[f64],
    z: &mut [f64],
) -> Result<()> {
    preconditioner.apply(r, &mut z[..r.len()])?;
    if operator.is_singular() {
        operator.project(&mut z[..r.len()])?;
    }
    Ok(())
}
