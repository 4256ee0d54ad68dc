//! What both methods share: the complementarity residual, the best iterate, and the report.

use super::LcpReport;
use super::bounds::Bounds;
use super::gauss_seidel::GaussSeidel;
use crate::error::{Result, SolveError};
use crate::report::{Outcome, Report, Stop};
use crate::vector;
use std::time::Instant;

/// What is known of the solution of a bounded system under way.
pub(super) struct Progress<'a> {
    pub system: &'a dyn GaussSeidel,
    pub b: &'a [f64],
    pub bounds: &'a Bounds<'a>,
    pub stop: Stop,
    /// ‖b − A·x₀‖ at the admissible point nearest to zero.
    pub scale: f64,
    /// Why norms say nothing of this system, if so.
    beyond_measure: Option<&'static str>,
    pub sweeps: usize,
    pub krylov_iterations: usize,
    pub iterations: usize,
    /// ‖c‖ when it was last looked at.
    pub norm: f64,
    /// With copies of foreign entries.
    work: Vec<f64>,
    history: Vec<f64>,
    best: (f64, Vec<f64>),
    started: Instant,
    notes: Vec<String>,
}

impl<'a> Progress<'a> {
    /// Checks what is given, makes `x` admissible and looks at it. Collective.
    pub fn new(
        system: &'a dyn GaussSeidel,
        b: &'a [f64],
        bounds: &'a Bounds<'a>,
        x: &mut [f64],
        stop: &Stop,
    ) -> Result<Self> {
        let rows = system.rows();
        let finite = |what: &'static str, values: &[f64]| match values
            .iter()
            .position(|value| !value.is_finite())
        {
            Some(row) => Err(SolveError::VectorNotFinite { what, row, value: values[row] }),
            None => Ok(()),
        };
        let checked = rows
            .check("the right-hand side", b)
            .and_then(|()| rows.check("the first guess", x))
            .and_then(|()| rows.check("the list of lower bounds", bounds.lower()))
            .and_then(|()| stop.check())
            .and_then(|()| finite("the right-hand side", b))
            .and_then(|()| finite("the first guess", x));
        rows.all_agree(checked)?;
        let mut this = Self {
            system,
            b,
            bounds,
            stop: *stop,
            scale: 0.0,
            beyond_measure: None,
            sweeps: 0,
            krylov_iterations: 0,
            iterations: 0,
            norm: f64::INFINITY,
            work: vec![0.0; rows.stored()],
            history: Vec::new(),
            best: (f64::INFINITY, Vec::new()),
            started: Instant::now(),
            notes: Vec::new(),
        };
        let mut nearest = vec![0.0; b.len()];
        bounds.project(&mut nearest);
        let mut r = vec![0.0; b.len()];
        this.residual(&nearest, &mut r)?;
        this.scale = rows.sum(vector::square(&r))?.sqrt();
        this.beyond_measure = match rows.max(vector::largest(&r))? == 0.0 {
            true => None,
            false => vector::beyond_measure(this.scale),
        };
        bounds.project(x);
        if this.scale == 0.0 && this.beyond_measure.is_none() {
            x.copy_from_slice(&nearest);
        }
        Ok(this)
    }

    /// r = b − A·x. Collective.
    pub fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<()> {
        vector::copy(x, &mut self.work[..x.len()]);
        self.system.apply(&mut self.work, r)?;
        vector::update(r, self.b, |ax, b| b - ax);
        Ok(())
    }

    /// Looks at an iterate with its residual; says whether it is good enough, or hopeless. Collective.
    pub fn watch(&mut self, x: &[f64], r: &[f64]) -> Result<Option<Outcome>> {
        let (square, largest) = self.bounds.complementarity(self.system.diagonal(), x, r);
        let rows = self.system.rows();
        self.norm = rows.sum(square)?.sqrt();
        self.history.push(if self.scale > 0.0 { self.norm / self.scale } else { self.norm });
        if !self.norm.is_finite() {
            return Ok(Some(Outcome::NotFinite("the complementarity residual")));
        }
        if let Some(why) = self.beyond_measure {
            return Ok(Some(Outcome::Breakdown(why)));
        }
        if self.norm < self.best.0 {
            self.best.0 = self.norm;
            self.best.1.clear();
            self.best.1.extend_from_slice(x);
        }
        let met = self.norm <= self.stop.relative * self.scale
            || (self.stop.absolute > 0.0 && rows.max(largest)? <= self.stop.absolute);
        Ok(met.then_some(Outcome::Converged))
    }

    /// Adds a remark to the report.
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Ends with the best iterate in `x` and its residual in `r`. `helper` is the preconditioner's name and bytes.
    /// Collective.
    pub fn close(
        mut self,
        solver: &str,
        helper: (String, u64),
        outcome: Outcome,
        x: &mut [f64],
        r: &mut [f64],
    ) -> Result<LcpReport> {
        if outcome != Outcome::Converged && !self.best.1.is_empty() {
            x.copy_from_slice(&self.best.1);
        }
        self.residual(x, r)?;
        let (square, largest) = self.bounds.complementarity(self.system.diagonal(), x, r);
        let rows = self.system.rows();
        let norm = rows.sum(square)?.sqrt();
        let (lower, upper) = self.bounds.count(x);
        let [at_lower, at_upper] = rows.sums([lower as f64, upper as f64])?;
        let work = 8 * (self.work.len() + 5 * x.len()) as u64;
        Ok(LcpReport {
            sweeps: self.sweeps,
            krylov_iterations: self.krylov_iterations,
            at_lower: at_lower as u64,
            at_upper: at_upper as u64,
            report: Report {
                solver: solver.into(),
                preconditioner: helper.0,
                outcome,
                iterations: self.iterations,
                residual: if self.scale > 0.0 { norm / self.scale } else { norm },
                largest_residual: rows.max(largest)?,
                history: self.history,
                setup_seconds: 0.0,
                solve_seconds: self.started.elapsed().as_secs_f64(),
                bytes: self.system.bytes() + helper.1 + work,
                notes: self.notes,
            },
        })
    }
}
