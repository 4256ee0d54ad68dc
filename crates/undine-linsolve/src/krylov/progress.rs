//! What all Krylov solvers share: watching the residual, keeping the best iterate, and closing with a true residual.

use crate::error::{Result, SolveError};
use crate::operator::{Operator, Preconditioner};
use crate::report::{Outcome, Report, Stop};
use crate::vector;
use std::time::Instant;

/// A copy of the iterate is kept whenever the residual has fallen by this much since the last.
const KEEP_EVERY: f64 = 0.1;

/// What is known of a solve under way.
pub(super) struct Progress<'a> {
    operator: &'a dyn Operator,
    stop: Stop,
    b: &'a [f64],
    b_norm: f64,
    /// The share of the right-hand side's norm that lies along the null space.
    unreachable: f64,
    history: Vec<f64>,
    smallest: f64,
    since_smallest: usize,
    kept: Option<(f64, Vec<f64>)>,
    started: Instant,
    notes: Vec<String>,
}

impl<'a> Progress<'a> {
    /// Checks what is given, and begins. Collective.
    pub fn new(operator: &'a dyn Operator, b: &'a [f64], x: &[f64], stop: &Stop) -> Result<Self> {
        let rows = operator.rows();
        let checked = rows
            .check("the right-hand side", b)
            .and_then(|()| rows.check("the first guess", x))
            .and_then(|()| stop.check())
            .and_then(|()| check_finite("the right-hand side", b))
            .and_then(|()| check_finite("the first guess", x));
        rows.all_agree(checked)?;
        let b_norm = rows.sum(vector::square(b))?.sqrt();
        let mut unreachable = 0.0;
        if operator.is_singular() && b_norm > 0.0 {
            let mut rest = b.to_vec();
            operator.project(&mut rest)?;
            vector::update(&mut rest, b, |reachable, b| b - reachable);
            unreachable = rows.sum(vector::square(&rest))?.sqrt() / b_norm;
        }
        Ok(Self {
            unreachable,
            operator,
            stop: *stop,
            b,
            b_norm,
            history: Vec::new(),
            smallest: f64::INFINITY,
            since_smallest: 0,
            kept: None,
            started: Instant::now(),
            notes: Vec::new(),
        })
    }

    /// r = b − A·x, and its norm. Collective.
    pub fn residual(&self, x: &mut [f64], r: &mut [f64]) -> Result<f64> {
        let rows = self.operator.rows();
        if rows.stored() == rows.local() {
            self.operator.apply(x, r)?;
        } else {
            let mut with_copies = vec![0.0; rows.stored()];
            vector::copy(x, &mut with_copies[..rows.local()]);
            self.operator.apply(&mut with_copies, r)?;
        }
        vector::update(r, self.b, |ax, b| b - ax);
        if self.operator.is_singular() {
            self.operator.project(r)?;
        }
        Ok(rows.sum(vector::square(r))?.sqrt())
    }

    /// Takes note of a residual norm after one more iteration; says whether and why to stop.
    ///
    /// `r` is the residual vector if the method has it, for the absolute limit. Collective.
    pub fn watch(&mut self, norm: f64, r: &[f64], x: &[f64]) -> Result<Option<Outcome>> {
        let relative = if self.b_norm > 0.0 { norm / self.b_norm } else { norm };
        self.history.push(relative);
        if !relative.is_finite() {
            return Ok(Some(Outcome::NotFinite("the residual")));
        }
        if self.meets(norm, r)? {
            return Ok(Some(Outcome::Converged));
        }
        if norm < self.smallest {
            self.smallest = norm;
            self.since_smallest = 0;
            if self.kept.as_ref().is_none_or(|(kept, _)| norm < KEEP_EVERY * kept) {
                self.keep(norm, x);
            }
        } else {
            self.since_smallest += 1;
        }
        Ok(if self.since_smallest >= self.stop.patience {
            Some(Outcome::Stagnated)
        } else if self.iterations() >= self.stop.iterations {
            Some(Outcome::IterationLimit)
        } else {
            None
        })
    }

    /// Whether a residual meets either limit. Collective.
    pub fn meets(&self, norm: f64, r: &[f64]) -> Result<bool> {
        if norm <= self.stop.relative * self.b_norm {
            return Ok(true);
        }
        Ok(self.stop.absolute > 0.0
            && self.operator.rows().max(vector::largest(r))? <= self.stop.absolute)
    }

    /// Iterations made so far.
    pub fn iterations(&self) -> usize {
        self.history.len().saturating_sub(1)
    }

    /// Adds a remark to the report.
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Ends the solve: the better of the last iterate and the best one kept goes into `x`, its residual into `r`. `work`
    /// are the bytes of the method's vectors. Collective.
    pub fn close(
        mut self,
        solver: &str,
        preconditioner: &dyn Preconditioner,
        mut outcome: Outcome,
        x: &mut [f64],
        r: &mut [f64],
        work: u64,
    ) -> Result<Report> {
        let mut norm = self.residual(x, r)?;
        if outcome != Outcome::Converged
            && let Some((_, mut kept)) = self.kept.take()
        {
            let mut kept_r = vec![0.0; r.len()];
            let kept_norm = self.residual(&mut kept, &mut kept_r)?;
            if norm.is_nan() || norm > kept_norm {
                x.copy_from_slice(&kept);
                r.copy_from_slice(&kept_r);
                norm = kept_norm;
            }
        }
        if outcome == Outcome::Converged && self.unreachable > self.stop.relative {
            outcome = Outcome::Inconsistent(self.unreachable);
        }
        Ok(Report {
            solver: solver.into(),
            preconditioner: preconditioner.name(),
            outcome,
            iterations: self.iterations(),
            residual: if self.b_norm > 0.0 { norm / self.b_norm } else { norm },
            largest_residual: self.operator.rows().max(vector::largest(r))?,
            history: self.history,
            setup_seconds: 0.0,
            solve_seconds: self.started.elapsed().as_secs_f64(),
            bytes: self.operator.bytes() + preconditioner.bytes() + work,
            notes: self.notes,
        })
    }

    fn keep(&mut self, norm: f64, x: &[f64]) {
        match &mut self.kept {
            Some((kept, copy)) => {
                *kept = norm;
                vector::copy(x, copy);
            }
            None => self.kept = Some((norm, x.to_vec())),
        }
    }
}

fn check_finite(what: &'static str, values: &[f64]) -> Result<()> {
    if vector::largest(values).is_finite() {
        return Ok(());
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(row) => Err(SolveError::VectorNotFinite { what, row, value: values[row] }),
        None => Ok(()),
    }
}
