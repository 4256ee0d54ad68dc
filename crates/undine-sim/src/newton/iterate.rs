//! The Newton loop of a step: linearise, solve, search along the line, until what is left to move is slow.
//!
//! The search backtracks until the merit has fallen by a share of what the slope promises (Armijo; Nocedal & Wright, *Numerical
//! Optimization*, §3.1 and, for hard rows, the ℓ₁ penalty of §18.3). A full step is tried first and on a quadratic energy it
//! passes, so that the step is then that of the linear solve to the bit.

use super::error::NewtonError;
use super::touch::TouchReport;
use undine_linsolve::Report;

/// The share of the promised descent that is enough.
const ENOUGH: f64 = 1e-4;

/// How often a step is shortened at most.
const SHORTENINGS: usize = 40;

/// A difference of merits below this share of their magnitudes is rounding.
const ROUNDING: f64 = 1e-13;

/// The penalty on hard rows, in largest multipliers: anything above 1 makes the penalty exact.
const PENALTY: f64 = 2.0;

/// What a step's state is worth: less is better.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Merit {
    /// Φ [J].
    pub energy: f64,
    /// What the rounding of `energy` is measured by [J]: the magnitudes of its terms, and what rounded positions do to them.
    pub magnitude: f64,
    /// How far hard rows are off: Σ |C|.
    pub violation: f64,
    /// What the rounding of `violation` is measured by.
    pub violation_magnitude: f64,
}

impl Merit {
    /// Adds a term of the energy [J].
    #[inline]
    pub fn add(&mut self, energy: f64) {
        self.energy += energy;
        self.magnitude += energy.abs();
    }

    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            energy: self.energy + other.energy,
            magnitude: self.magnitude + other.magnitude,
            violation: self.violation + other.violation,
            violation_magnitude: self.violation_magnitude + other.violation_magnitude,
        }
    }

    fn is_finite(&self) -> bool {
        self.energy.is_finite() && self.violation.is_finite()
    }

    /// As it travels between processes.
    pub(super) fn to_array(self) -> [f64; 4] {
        [self.energy, self.magnitude, self.violation, self.violation_magnitude]
    }

    pub(super) fn from_array(
        [energy, magnitude, violation, violation_magnitude]: [f64; 4],
    ) -> Self {
        Self { energy, magnitude, violation, violation_magnitude }
    }
}

/// A Newton step before it is taken.
#[derive(Debug, Clone, Default)]
pub struct Linearised {
    /// The derivative of Φ along the step [J]: negative, if the step leads down.
    pub slope: f64,
    /// How far the step moves the material at most [m].
    pub moved: f64,
    /// The largest force or torque that is out of balance [N or N·m], before the step.
    pub residual: f64,
    /// Σ |C| of hard rows before the step.
    pub violation: f64,
    /// The largest magnitude of a hard row's multiplier.
    pub multiplier: f64,
    /// The work of contacts along the step [J]. Their forces are held while its length is searched, and the slope has them.
    pub work: f64,
    /// How the linear solve went; none if nothing was coupled.
    pub report: Option<Report>,
    /// How the solve of contacts went; none if nothing touched.
    pub touch: Option<TouchReport>,
}

/// A step's state as the loop sees it.
pub trait Problem {
    /// What can go wrong, errors of the loop among it.
    type Error: From<NewtonError>;

    /// Linearises at the current state and solves for the step, into `du`.
    fn linearise(&mut self, du: &mut Vec<f64>) -> Result<Linearised, Self::Error>;

    /// The merit of the current state; none if some Force has no potential, and then nothing is searched.
    fn merit(&mut self) -> Result<Option<Merit>, Self::Error>;

    /// Remembers the current state.
    fn save(&mut self);

    /// Goes to `alpha` times the step from the remembered state; with 0, back to it.
    fn step(&mut self, du: &[f64], alpha: f64) -> Result<(), Self::Error>;
}

/// How the loop runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewtonSettings {
    /// Most iterations. One is a step of linearly implicit Euler.
    pub iterations: usize,
    /// Enough when no material would move by more than this over the step [m/s].
    pub tolerance: f64,
    /// Whether to search along the line, if there is more than one iteration.
    pub line_search: bool,
}

impl Default for NewtonSettings {
    fn default() -> Self {
        Self { iterations: 1, tolerance: 1e-4, line_search: true }
    }
}

/// How the loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewtonOutcome {
    /// What was left to move was slow enough.
    Converged,
    /// All iterations were made.
    IterationLimit,
    /// No step, however short, improved the state: that is as good as rounding, or a merit that does not fit the step, allows.
    Stalled,
}

/// One iteration.
#[derive(Debug, Clone)]
pub struct NewtonIteration {
    /// Speed [m/s] of the fastest material by the full step: what the tolerance is for.
    pub speed: f64,
    /// The largest force or torque out of balance [N or N·m], before the step.
    pub residual: f64,
    /// Σ |C| of hard rows before the step.
    pub violation: f64,
    /// Φ [J] before the step, if there was a search.
    pub energy: Option<f64>,
    /// The share of the step that was taken.
    pub alpha: f64,
    /// How the linear solve went.
    pub report: Option<Report>,
    /// How the solve of contacts went.
    pub touch: Option<TouchReport>,
}

/// How a Newton loop went.
#[derive(Debug, Clone)]
pub struct NewtonReport {
    /// How it ended.
    pub outcome: NewtonOutcome,
    /// Its iterations.
    pub iterations: Vec<NewtonIteration>,
}

/// Runs the Newton loop for a step of `dt` [s].
///
/// A linear solve that does not converge is an error, and so is a state without a finite merit.
pub fn iterate<P: Problem>(
    problem: &mut P,
    settings: &NewtonSettings,
    dt: f64,
) -> Result<NewtonReport, P::Error> {
    let mut report =
        NewtonReport { outcome: NewtonOutcome::IterationLimit, iterations: Vec::new() };
    let mut penalty = 0.0_f64;
    for number in 0..settings.iterations {
        let iteration = advance(problem, settings, number, &mut penalty, dt)?;
        let (alpha, is_last) = (iteration.alpha, iteration.speed < settings.tolerance);
        report.iterations.push(iteration);
        if alpha == 0.0 {
            report.outcome = NewtonOutcome::Stalled;
            break;
        }
        if is_last {
            report.outcome = NewtonOutcome::Converged;
            break;
        }
    }
    Ok(report)
}

/// One iteration: linearises, solves, and takes as much of the step as improves the state; a share of 0 is none of it.
/// `penalty` is that on hard rows, carried from iteration to iteration of a step, at first 0.
pub fn advance<P: Problem>(
    problem: &mut P,
    settings: &NewtonSettings,
    iteration: usize,
    penalty: &mut f64,
    dt: f64,
) -> Result<NewtonIteration, P::Error> {
    let mut du = Vec::new();
    let step = problem.linearise(&mut du)?;
    if let Some(linear) = step.report.as_ref().filter(|report| !report.converged()) {
        let report = linear.to_string();
        return Err(NewtonError::NotConverged { iteration, report }.into());
    }
    problem.save();
    // A step within the tolerance is the last, and too short for its merit to tell much.
    let speed = step.moved / dt;
    let searches = settings.line_search && settings.iterations > 1;
    let before = if searches && speed >= settings.tolerance { problem.merit()? } else { None };
    let alpha = match before {
        None => {
            problem.step(&du, 1.0)?;
            Some(1.0)
        }
        Some(before) => {
            *penalty = penalty.max(PENALTY * step.multiplier);
            search(problem, &du, iteration, before, &step, *penalty)?
        }
    };
    Ok(NewtonIteration {
        speed,
        residual: step.residual,
        violation: step.violation,
        energy: before.map(|merit| merit.energy),
        alpha: alpha.unwrap_or(0.0),
        report: step.report,
        touch: step.touch,
    })
}

/// Takes as much of the step as improves the merit enough; none if no share of it does.
fn search<P: Problem>(
    problem: &mut P,
    du: &[f64],
    iteration: usize,
    before: Merit,
    step: &Linearised,
    penalty: f64,
) -> Result<Option<f64>, P::Error> {
    if !before.is_finite() {
        let found = before.energy + before.violation;
        return Err(NewtonError::EnergyNotFinite { iteration, found }.into());
    }
    let value = |merit: &Merit| merit.energy + penalty * merit.violation;
    let slope = step.slope - penalty * before.violation;
    let mut alpha = 1.0;
    let mut last = before;
    for _ in 0..SHORTENINGS {
        problem.step(du, alpha)?;
        // A merit that was there before is there now, or the state is not one to stay in.
        last = problem.merit()?.unwrap_or(Merit { energy: f64::NAN, ..Merit::default() });
        let rows = before.violation_magnitude + last.violation_magnitude;
        let magnitude = before.magnitude + last.magnitude + penalty * rows;
        let limit = value(&before) + ENOUGH * alpha * slope + ROUNDING * magnitude;
        if last.is_finite() && value(&last) - alpha * step.work <= limit {
            return Ok(Some(alpha));
        }
        alpha *= 0.5;
    }
    problem.step(du, 0.0)?;
    if last.is_finite() {
        return Ok(None);
    }
    Err(NewtonError::EnergyNotFinite { iteration, found: last.energy + last.violation }.into())
}
