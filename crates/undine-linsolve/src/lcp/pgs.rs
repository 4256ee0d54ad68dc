//! Projected Gauss-Seidel alone: simple, always converges on positive definite systems, and slow on large ones.

use super::LcpReport;
use super::bounds::Bounds;
use super::gauss_seidel::GaussSeidel;
use super::progress::Progress;
use crate::error::Result;
use crate::report::{Outcome, Stop};

/// Sweeps between two looks at the residual, which cost as much as a sweep each.
const BETWEEN_LOOKS: usize = 10;

/// Solves A·x = b within bounds by sweeps alone; `x` goes in as the first guess. Collective.
///
/// [`Stop::iterations`] and [`Stop::patience`] count sweeps.
pub fn pgs(
    system: &dyn GaussSeidel,
    b: &[f64],
    bounds: &Bounds<'_>,
    x: &mut [f64],
    stop: &Stop,
) -> Result<LcpReport> {
    let mut progress = Progress::new(system, b, bounds, x, stop)?;
    let mut r = vec![0.0; b.len()];
    progress.residual(x, &mut r)?;
    let mut ended = progress.watch(x, &r)?;
    let (mut smallest, mut since_smallest) = (progress.norm, 0);
    let outcome = loop {
        if let Some(outcome) = ended {
            break outcome;
        }
        if progress.sweeps >= stop.iterations {
            break Outcome::IterationLimit;
        }
        if since_smallest >= stop.patience {
            break Outcome::Stagnated;
        }
        let count = BETWEEN_LOOKS.min(stop.iterations - progress.sweeps);
        system.sweep(b, bounds, x, count)?;
        progress.sweeps += count;
        progress.iterations += count;
        progress.residual(x, &mut r)?;
        ended = progress.watch(x, &r)?;
        if progress.norm < smallest {
            (smallest, since_smallest) = (progress.norm, 0);
        } else {
            since_smallest += count;
        }
    };
    progress.close("projected Gauss-Seidel", ("none".into(), 0), outcome, x, &mut r)
}
