//! What all Krylov solvers share: watching the residual, keeping the best iterate, and closing with a true residual.

use crate::error::{Result, SolveError};
use crate::operator::{Operator, Preconditioner};
use crate::report::{Outcome, Report, Stop};
use crate::vector;
use std::time::Instant;
use undine_core::memory::zeros;

/// A copy of the iterate is kept whenever the residual has fallen by this much since the last: what comes out after a
/// failure is within this factor of the best, and the copies cost next to nothing.
const KEEP_EVERY: f64 = 0.1;

/// Iterations before the first copy but the guess. A solve that is over by then should not pay for any.
const KEEP_FROM: usize = 10;

/// A residual counts as smaller only if it is so by this much. Without it, rounding that creeps downwards would pass for
/// progress.
const SMALLER: f64 = 0.999;

/// How often a residual may turn out to be larger than the recursion said, before that counts as stagnation.
const RESTARTS: usize = 8;

/// An iterate that may turn out to be the best, and the norm of its residual.
struct Kept {
    norm: f64,
    /// None for zero everywhere.
    x: Option<Vec<f64>>,
}

/// What is known of a solve under way.
pub(super) struct Progress<'a> {
    operator: &'a dyn Operator,
    stop: Stop,
    b: &'a [f64],
    b_norm: f64,
    /// Whether the right-hand side is zero everywhere.
    b_is_zero: bool,
    /// Whether the first guess is.
    guess_is_zero: bool,
    /// What of the right-hand side lies along the null space: its share of the norm, and its largest entry.
    unreachable: (f64, f64),
    /// The norm of what was taken out of the true residual along the null space when that was last computed.
    along: f64,
    history: Vec<f64>,
    smallest: f64,
    since_smallest: usize,
    restarts: usize,
    /// The norm of the true residual when it was last computed.
    true_norm: f64,
    kept: Option<Kept>,
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
            .and_then(|()| largest_if_finite("the right-hand side", b))
            .and_then(|b| Ok((b, largest_if_finite("the first guess", x)?)));
        let (largest_b, largest_x) = rows.all_agree(checked)?;
        let b_norm = rows.sum(vector::square(b))?.sqrt();
        let b_is_zero = rows.max(largest_b)? == 0.0;
        let guess_is_zero = rows.max(largest_x)? == 0.0;
        let mut unreachable = (0.0, 0.0);
        if operator.is_singular() && b_norm > 0.0 {
            let mut rest = b.to_vec();
            operator.project(&mut rest)?;
            vector::update(&mut rest, b, |reachable, b| b - reachable);
            let norm = rows.sum(vector::square(&rest))?.sqrt();
            unreachable = (norm / b_norm, rows.max(vector::largest(&rest))?);
        }
        Ok(Self {
            unreachable,
            along: 0.0,
            operator,
            stop: *stop,
            b,
            b_norm,
            b_is_zero,
            guess_is_zero,
            history: Vec::new(),
            smallest: f64::INFINITY,
            since_smallest: 0,
            restarts: 0,
            true_norm: 0.0,
            kept: None,
            started: Instant::now(),
            notes: Vec::new(),
        })
    }

    /// Begins: r = b − A·x of the first guess, and whether there is anything to do. Collective.
    ///
    /// A right-hand side of zero has the solution zero, whatever the guess was.
    pub fn begin(&mut self, x: &mut [f64], r: &mut [f64]) -> Result<Option<Outcome>> {
        if self.b_is_zero {
            x.fill(0.0);
            r.fill(0.0);
            self.history.push(0.0);
            return Ok(Some(Outcome::Converged));
        }
        if let Some(why) = vector::beyond_measure(self.b_norm) {
            self.history.push(1.0);
            return Ok(Some(Outcome::Breakdown(why)));
        }
        self.true_norm = if self.guess_is_zero && !self.operator.is_singular() {
            vector::copy(self.b, r);
            self.b_norm
        } else {
            self.residual(x, r)?
        };
        self.watch(self.true_norm, r, x)
    }

    /// r = b − A·x, and its norm. Collective.
    pub fn residual(&mut self, x: &mut [f64], r: &mut [f64]) -> Result<f64> {
        let rows = self.operator.rows();
        if rows.stored() == rows.local() {
            self.operator.apply(x, r)?;
        } else {
            let mut with_copies = vec![0.0; rows.stored()];
            vector::copy(x, &mut with_copies[..rows.local()]);
            self.operator.apply(&mut with_copies, r)?;
        }
        vector::update(r, self.b, |ax, b| b - ax);
        if !self.operator.is_singular() {
            return Ok(rows.sum(vector::square(r))?.sqrt());
        }
        let whole = rows.sum(vector::square(r))?;
        self.operator.project(r)?;
        let reachable = rows.sum(vector::square(r))?;
        self.along = (whole - reachable).max(0.0).sqrt();
        Ok(reachable.sqrt())
    }

    /// Takes note of a residual norm after one more iteration; says whether and why to stop.
    ///
    /// `r` is the residual vector, for the absolute limit. Collective.
    pub fn watch(&mut self, norm: f64, r: &[f64], x: &[f64]) -> Result<Option<Outcome>> {
        let relative = self.relative(norm);
        self.history.push(relative);
        if !relative.is_finite() {
            return Ok(Some(Outcome::NotFinite("the residual")));
        }
        if self.meets(norm, r)? {
            return Ok(Some(Outcome::Converged));
        }
        if norm < SMALLER * self.smallest {
            self.smallest = norm;
            self.since_smallest = 0;
            match &mut self.kept {
                None => {
                    let x = (!self.guess_is_zero).then(|| x.to_vec());
                    self.kept = Some(Kept { norm, x });
                }
                Some(kept) if self.history.len() > KEEP_FROM && norm < KEEP_EVERY * kept.norm => {
                    kept.norm = norm;
                    vector::copy(x, kept.x.get_or_insert_with(|| zeros(x.len())));
                }
                Some(_) => {}
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

    /// Looks whether the residual that a recursion claims is the true one: recursions drift, and only the truth counts.
    ///
    /// Leaves the true residual in `r`. `None` says that it does not suffice yet and that the method may begin anew from
    /// it. Collective.
    pub fn confirm(&mut self, x: &mut [f64], r: &mut [f64]) -> Result<Option<Outcome>> {
        if self.iterations() == 0 {
            return Ok(Some(Outcome::Converged)); // the first residual is no recursion's
        }
        let norm = self.residual(x, r)?;
        self.true_norm = norm;
        if self.meets(norm, r)? {
            return Ok(Some(Outcome::Converged));
        }
        // What the recursion said was never reached: neither history nor patience may build on it.
        if let Some(last) = self.history.last_mut() {
            *last = norm / self.b_norm;
        }
        self.smallest = norm;
        self.since_smallest = 0;
        self.restarts += 1;
        Ok(if !norm.is_finite() {
            Some(Outcome::NotFinite("the residual"))
        } else if self.restarts > RESTARTS {
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

    /// How much of a residual may lie along the null space, given the share of the right-hand side that does: A·x must add
    /// nothing to it but what the limits let pass.
    fn may_lie_along(&self, unreachable: f64) -> f64 {
        let total = self.operator.rows().total() as f64;
        let allowed = (self.stop.relative * self.b_norm).max(self.stop.absolute * total.sqrt());
        (1.0 + 1e-6) * unreachable * self.b_norm + allowed
    }

    /// The relative residual that was watched last.
    pub fn last(&self) -> f64 {
        self.history.last().copied().unwrap_or_default()
    }

    /// A norm as a share of the right-hand side's.
    fn relative(&self, norm: f64) -> f64 {
        if self.b_norm > 0.0 { norm / self.b_norm } else { norm }
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
        // A method ends as converged only once the true residual said so, and that is still in `r`.
        let mut norm = match outcome {
            Outcome::Converged => self.true_norm,
            _ => self.residual(x, r)?,
        };
        if outcome != Outcome::Converged
            && let Some(kept) = self.kept.take()
        {
            let mut kept = kept.x.unwrap_or_else(|| zeros(x.len()));
            let mut kept_r = vec![0.0; r.len()];
            let kept_norm = self.residual(&mut kept, &mut kept_r)?;
            if norm.is_nan() || norm > kept_norm {
                x.copy_from_slice(&kept);
                r.copy_from_slice(&kept_r);
                norm = kept_norm;
            }
        }
        let (unreachable, largest) = self.unreachable;
        if outcome == Outcome::Converged
            && unreachable > self.stop.relative
            && largest > self.stop.absolute
        {
            outcome = Outcome::Inconsistent(unreachable);
        }
        if outcome == Outcome::Converged && self.along > self.may_lie_along(unreachable) {
            outcome = Outcome::Breakdown("what is said to be the null space is none (v·Ax ≠ 0)");
        }
        if self.restarts > 0 {
            let times = self.restarts;
            self.note(format!("began anew {times} times from the true residual"));
        }
        Ok(Report {
            solver: solver.into(),
            preconditioner: preconditioner.name(),
            outcome,
            iterations: self.iterations(),
            residual: self.relative(norm),
            largest_residual: self.operator.rows().max(vector::largest(r))?,
            history: self.history,
            setup_seconds: 0.0,
            solve_seconds: self.started.elapsed().as_secs_f64(),
            bytes: self.operator.bytes() + preconditioner.bytes() + work,
            notes: self.notes,
        })
    }
}

/// The largest magnitude of a vector's entries here; an error that names the first that is not finite.
fn largest_if_finite(what: &'static str, values: &[f64]) -> Result<f64> {
    let largest = vector::largest(values);
    if largest.is_finite() {
        return Ok(largest);
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(row) => Err(SolveError::VectorNotFinite { what, row, value: values[row] }),
        None => Ok(largest),
    }
}
