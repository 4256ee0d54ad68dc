//! What is told of a run while it goes: how solves went, how long Tasks took, what a substep and a frame were like.

use crate::error::Place;
use std::time::Duration;

/// How a solve went.
#[derive(Debug, Clone, PartialEq)]
pub struct SolveRecord {
    /// Which system.
    pub system: &'static str,
    /// How many unknowns it had.
    pub unknowns: usize,
    /// How many iterations it took.
    pub iterations: usize,
    /// The residual it ended with, relative to the one it began with.
    pub residual: f64,
    /// The residual that was asked for.
    pub tolerance: f64,
    /// Whether it got there.
    pub converged: bool,
}

/// Who listens to a run. Nothing that a listener does may change the result.
pub trait Observer {
    /// A Task ran.
    fn task(&mut self, _place: &Place, _took: Duration) {}

    /// A substep ended.
    fn substep(&mut self, _substep: &SubstepReport) {}

    /// Whether the run should end after this substep.
    fn should_stop(&self) -> bool {
        false
    }
}

/// Listens to nothing.
impl Observer for () {}

/// What a substep was like.
#[derive(Debug, Clone, PartialEq)]
pub struct SubstepReport {
    /// The frame it belongs to.
    pub frame: i64,
    /// Its number within the frame, from 0.
    pub substep: u32,
    /// How long it was, in simulated time [s].
    pub step: f64,
    /// The Courant number: how many voxels the fastest thing crosses at the speed with which the substep begins.
    pub cfl: f64,
    /// The Object that asked for so short a step; nothing where the frame was divided so anyway.
    pub asked_by: Option<String>,
    /// How many Newton iterations it took.
    pub iterations: u32,
    /// How its solves went.
    pub solves: Vec<SolveRecord>,
}
