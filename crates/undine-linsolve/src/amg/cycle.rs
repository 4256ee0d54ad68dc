//! The cycle: smooth, leave what is left to the coarser level, come back, smooth again.

use super::level::{Level, Transfer, Work};
use super::settings::Cycle;
use super::smoother::{On, residual};
use super::sparse::multiply_rows;
use super::vector32::{dot, update};
use crate::error::Result;

/// The K-cycle is content with one inner iteration if that leaves less than this share of the residual.
const ENOUGH: f64 = 0.25;

/// x ≈ A⁻¹·b on the first of some levels. Collective.
pub(super) fn visit(levels: &mut [Level], sweeps: usize, cycle: Cycle) -> Result<()> {
    let Some((level, rest)) = levels.split_first_mut() else { return Ok(()) };
    let Level { rows, matrix, work, b, x, r } = level;
    match work {
        Work::Solve(dense) => {
            if rows.local() > 0 {
                dense.solve(b, &mut x[..b.len()]);
            }
            Ok(())
        }
        Work::SmoothOnly(smoothing) => {
            let on = On { rows, matrix, b };
            smoothing.before(sweeps, on, x, r)?;
            smoothing.after(sweeps, on, x, r)
        }
        Work::Smooth { smoothing, transfer: Transfer { prolong, restrict, .. } } => {
            let on = On { rows, matrix, b };
            smoothing.before(sweeps, on, x, r)?;
            residual(on, x, r)?;
            let Some(next) = rest.first_mut() else { return Ok(()) };
            if next.rows.is_single() {
                restrict.multiply(r, &mut next.b);
            } else {
                restrict.multiply(r, &mut next.x);
                next.rows.give_back(&mut next.x)?;
                let local = next.b.len();
                next.b.copy_from_slice(&next.x[..local]);
            }
            match cycle {
                Cycle::K if rest.len() > 1 => twice(rest, sweeps)?,
                _ => visit(rest, sweeps, cycle)?,
            }
            let next = &mut rest[0];
            next.rows.refresh(&mut next.x)?;
            multiply_rows(prolong, &next.x, &mut x[..b.len()], |_, x, correction| x + correction);
            smoothing.after(sweeps, on, x, r)
        }
    }
}

/// Two iterations of flexible CG, each preconditioned by a visit (Notay and Vassilevski 2008, Algorithm 2.1). Collective.
fn twice(levels: &mut [Level], sweeps: usize) -> Result<()> {
    visit(levels, sweeps, Cycle::K)?;
    let Level { rows, matrix, b, x, .. } = &mut levels[0];
    let local = b.len();
    let mut v = vec![0.0; local];
    rows.refresh(x)?;
    matrix.multiply(x, &mut v);
    let c = x[..local].to_vec();
    let [cv, cb, bb] = rows.sums([dot(&c, &v), dot(&c, b), dot(b, b)])?;
    if cv <= 0.0 {
        return Ok(());
    }
    let first = (cb / cv) as f32;
    update(b, &v, |b, v| b - first * v);
    if rows.sum(dot(b, b))? <= ENOUGH * ENOUGH * bb {
        update(&mut x[..local], &c, |_, c| first * c);
        return Ok(());
    }

    visit(levels, sweeps, Cycle::K)?;
    let Level { rows, matrix, b, x, r, .. } = &mut levels[0];
    rows.refresh(x)?;
    matrix.multiply(x, r);
    let d = &x[..local];
    let [dv, dw, db] = rows.sums([dot(d, &v), dot(d, r), dot(d, b)])?;
    let rest = dw - dv * dv / cv;
    if rest <= 0.0 {
        update(&mut x[..local], &c, |_, c| first * c);
        return Ok(());
    }
    let (along_c, along_d) = ((cb / cv - dv * db / (cv * rest)) as f32, (db / rest) as f32);
    update(&mut x[..local], &c, |d, c| along_c * c + along_d * d);
    Ok(())
}
