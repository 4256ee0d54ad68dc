//! The predictor-corrector solver (Algorithm 2 of *Loki*, Lesser et al. 2022, carried on until the bounds hold exactly).
//!
//! A Krylov solver predicts without bounds; projected Gauss-Seidel corrects. The paper then lets Gauss-Seidel finish. Here it
//! only finds out which bounds hold rows back; the Krylov solver solves for the other rows, the free ones, and so on until
//! nothing changes.
//!
//! It cannot go in circles: sweeps and steps never make q(x) = ½·x·A·x − b·x larger, and a sweep makes it smaller unless `x`
//! is the solution, so that no iterate comes twice; and sweeps alone converge, whatever else happens between them that does
//! not raise q (the spacer step theorem of Luenberger, *Linear and Nonlinear Programming*; the step within the face follows
//! Moré & Toraldo 1991). Once the bounds that hold are found, one Krylov solve ends it.

use super::LcpReport;
use super::bounds::Bounds;
use super::gauss_seidel::GaussSeidel;
use super::progress::Progress;
use super::restricted::{Masked, Restricted, mask};
use crate::error::Result;
use crate::krylov::cg;
use crate::operator::Preconditioner;
use crate::report::{Outcome, Report, Stop};
use crate::vector;
use rayon::prelude::*;

/// The relative residual of the prediction: enough to see which bounds will matter. A first guess that is as good already
/// needs none, and would only be led astray.
const PREDICTED: f64 = 0.1;

/// Sweeps of a correction.
const SWEEPS: usize = 2;

/// How far a round brings the residual of the free rows down while bounds still change, as a share of the complementarity
/// residual.
const FORCING: f64 = 0.3;

/// The share of the final tolerance that the last solve aims at.
const FINAL: f64 = 0.5;

/// How often a step that raises q is halved before it is left out.
const HALVINGS: usize = 12;

/// Rounds without a smaller residual after which there is no hope.
const PATIENCE: usize = 40;

/// Solves A·x = b within bounds, A symmetric and positive definite; `x` goes in as the first guess. Collective.
///
/// `preconditioner` is one for all of A. It is told which rows are free ([`Preconditioner::restrict`]) and otherwise used
/// as it is, what it says about held rows being left out, so that no hierarchy or factorisation need be built again.
/// [`Stop::iterations`] limits the Krylov iterations of all rounds together.
pub fn predictor_corrector(
    system: &dyn GaussSeidel,
    preconditioner: &mut dyn Preconditioner,
    b: &[f64],
    bounds: &Bounds<'_>,
    x: &mut [f64],
    stop: &Stop,
) -> Result<LcpReport> {
    let mut progress = Progress::new(system, b, bounds, x, stop)?;
    let mut r = vec![0.0; b.len()];
    progress.residual(x, &mut r)?;
    let mut ended = progress.watch(x, &r)?;
    if ended.is_none() && progress.norm > PREDICTED * progress.scale {
        ended = predict(&mut progress, preconditioner, x)?;
        bounds.project(x);
    }

    let (mut smallest, mut since_smallest) = (f64::INFINITY, 0);
    let mut face = Face::new(b.len());
    let outcome = loop {
        if let Some(outcome) = ended {
            break outcome;
        }

        // Correct: sweeps find out which bounds hold.
        system.sweep(b, bounds, x, SWEEPS)?;
        progress.sweeps += SWEEPS;
        progress.residual(x, &mut r)?;
        let known = face.find(&progress, x, &r)?;

        // Solve the free rows again, no further than the bounds are known to hold.
        preconditioner.restrict(Some(&face.free))?;
        let report = face.solve(&mut progress, preconditioner, &r, known)?;
        face.step(&mut progress, x, &mut r)?;
        progress.iterations += 1;
        ended = progress.watch(x, &r)?;

        if progress.norm < smallest {
            (smallest, since_smallest) = (progress.norm, 0);
        } else {
            since_smallest += 1;
        }
        if ended.is_none() {
            ended = match report.outcome {
                Outcome::NotFinite(_) => Some(report.outcome),
                Outcome::Breakdown(_) if since_smallest >= 2 => Some(report.outcome),
                _ if since_smallest >= PATIENCE => Some(Outcome::Stagnated),
                _ if progress.krylov_iterations >= stop.iterations => Some(Outcome::IterationLimit),
                _ => None,
            };
        }
    };
    preconditioner.restrict(None)?;
    let helper = (preconditioner.name(), preconditioner.bytes());
    progress.close("predictor-corrector", helper, outcome, x, &mut r)
}

/// Solves without bounds. Collective.
fn predict(
    progress: &mut Progress<'_>,
    preconditioner: &mut dyn Preconditioner,
    x: &mut [f64],
) -> Result<Option<Outcome>> {
    let stop = Stop { relative: PREDICTED.max(progress.stop.relative), ..progress.stop };
    let operator: &dyn GaussSeidel = progress.system;
    let report = cg(operator, preconditioner, progress.b, x, &stop)?;
    progress.krylov_iterations += report.iterations;
    if let Outcome::NotFinite(_) = report.outcome {
        return Ok(Some(report.outcome));
    }
    if !report.converged() {
        progress.note(format!("prediction: {}", report.outcome));
    }
    Ok(None)
}

/// The free rows, and a step that changes only them.
struct Face {
    free: Vec<bool>,
    all_free: bool,
    step: Vec<f64>,
    b: Vec<f64>,
    x: Vec<f64>,
    r: Vec<f64>,
}

impl Face {
    fn new(rows: usize) -> Self {
        let zeros = || vec![0.0; rows];
        let free = vec![false; rows];
        Self { free, all_free: false, step: zeros(), b: zeros(), x: zeros(), r: zeros() }
    }

    /// Finds the free rows; says whether they are the same as before. Collective.
    fn find(&mut self, progress: &Progress<'_>, x: &[f64], r: &[f64]) -> Result<bool> {
        let bounds = progress.bounds;
        let (changed, held) = self
            .free
            .par_iter_mut()
            .enumerate()
            .with_min_len(vector::CHUNK)
            .map(|(row, free)| {
                let before = *free;
                *free = !bounds.holds(row, x[row], r[row]);
                (u64::from(*free != before), u64::from(!*free))
            })
            .reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        let [changed, held] = progress.system.rows().sums([changed as f64, held as f64])?;
        self.all_free = held == 0.0;
        Ok(changed == 0.0)
    }

    /// Solves P·A·P·step = P·r: to the end if the free rows are `known`, otherwise as far as is worth it. Collective.
    fn solve(
        &mut self,
        progress: &mut Progress<'_>,
        preconditioner: &mut dyn Preconditioner,
        r: &[f64],
        known: bool,
    ) -> Result<Report> {
        vector::copy(r, &mut self.b);
        mask(&self.free, &mut self.b);
        self.step.fill(0.0);
        let rows = progress.system.rows();
        let norm = rows.sum(vector::square(&self.b))?.sqrt();
        let last = FINAL * progress.stop.relative * progress.scale;
        let target = if known { last } else { last.max(FORCING * progress.norm.min(norm)) };
        let stop = Stop {
            relative: if norm > 0.0 { (target / norm).min(1.0) } else { 1.0 },
            absolute: FINAL * progress.stop.absolute,
            iterations: progress.stop.iterations.saturating_sub(progress.krylov_iterations).max(1),
            ..progress.stop
        };
        let operator =
            Restricted { operator: progress.system, free: &self.free, all_free: self.all_free };
        let mut masked = Masked { preconditioner, free: &self.free };
        let report = cg(&operator, &mut masked, &self.b, &mut self.step, &stop)?;
        progress.krylov_iterations += report.iterations;
        Ok(report)
    }

    /// x ← clamp(x + t·step) with t = 1, or half of it and so on until q does not rise. `r` goes along. Collective.
    fn step(&mut self, progress: &mut Progress<'_>, x: &mut [f64], r: &mut [f64]) -> Result<()> {
        let mut length = 1.0;
        for _ in 0..=HALVINGS {
            let (bounds, step) = (progress.bounds, &self.step);
            let before = &*x;
            vector::for_chunks(&mut self.x, |start, next| {
                for (next, row) in next.iter_mut().zip(start..) {
                    *next = bounds.clamp(row, before[row] + length * step[row]);
                }
            });
            progress.residual(&self.x, &mut self.r)?;
            // q(x + s) − q(x) = −½·s·(r(x) + r(x + s)), without the cancellation of computing both.
            let (x_next, r_next, r_before) = (&self.x, &self.r, &*r);
            let rise = vector::sum_chunks(x.len(), |n| {
                let rows = n * vector::CHUNK..((n + 1) * vector::CHUNK).min(x.len());
                rows.map(|n| -0.5 * (x_next[n] - x[n]) * (r_before[n] + r_next[n])).sum()
            });
            if progress.system.rows().sum(rise)? <= 0.0 {
                vector::copy(&self.x, x);
                vector::copy(&self.r, r);
                return Ok(());
            }
            length *= 0.5;
        }
        progress.note("a step was left out");
        Ok(())
    }
}
