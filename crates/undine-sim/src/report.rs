//! What is told of a run while it goes: how solves went, how long Tasks took, what a substep and a frame were like.

use crate::error::Place;
use crate::timeline::Timeline;
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

/// Contacts that a step ended with although their laws do not hold as exactly as they should.
#[derive(Debug, Clone, PartialEq)]
pub struct Unsettled {
    /// The Object of the worst of them.
    pub object: String,
    /// By how much that is off, as a speed [m/s].
    pub speed: f64,
    /// The same as a way in the step [m].
    pub way: f64,
    /// The speed that would be little enough [m/s].
    pub enough: f64,
}

/// The same of the steps of a frame.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct UnsettledFrame {
    /// Steps that ended so, and all steps.
    steps: [u32; 2],
    worst: Option<Unsettled>,
}

/// Contacts that are off by more than this times what is enough are told of.
const MUCH: f64 = 1.05;

impl UnsettledFrame {
    /// Takes in a step.
    pub fn step(&mut self, unsettled: Option<Unsettled>) {
        self.steps[1] += 1;
        // What is off by hardly more than enough is no news.
        let is_much = |found: &Unsettled| found.speed.is_nan() || found.speed > MUCH * found.enough;
        let Some(found) = unsettled.filter(is_much) else { return };
        self.steps[0] += 1;
        if self.worst.as_ref().is_none_or(|worst| found.speed > worst.speed) {
            self.worst = Some(found);
        }
    }

    /// Says what was left, once for all of the frame.
    pub fn tell(&self, frame: i64) {
        let Some(Unsettled { object, speed, way, enough }) = &self.worst else { return };
        let [some, all] = self.steps;
        tracing::warn!(
            "`{object}`: contacts have not converged in {some} of {all} substeps of frame {frame}; the worst of them is off by {speed:.2e} m/s, \
             {way:.2e} m in its substep, where {enough:.2e} m/s is enough. More `substeps` make it easier, and so does \
             `response=\"penalty\"`"
        );
    }
}

/// Steps of a frame that are longer than an Object asks for, since it may have no more of them.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Lengthened {
    /// How many times as long as it asks for the longest of them was, how long it should have been [s], and who asked.
    worst: Option<(f64, f64, String)>,
}

/// A step that is longer by no more than this is what was asked for, but for rounding and the division of frames.
const LONGER: f64 = 1.05;

impl Lengthened {
    /// Takes in a step [s], and the longest that an Object asks for.
    pub fn step(&mut self, step: f64, longest: f64, asks: &str) {
        let times = step / longest;
        if times > self.worst.as_ref().map_or(LONGER, |(worst, ..)| *worst) {
            self.worst = Some((times, longest, asks.to_owned()));
        }
    }

    /// Says so, once for all of the frame.
    pub fn tell(&self, frame: i64, timeline: &Timeline) {
        let Some((times, longest, asks)) = &self.worst else { return };
        let most = timeline.most_substeps();
        let wanted = (timeline.frame_time() / longest).ceil();
        tracing::warn!(
            "`{asks}`: steps of frame {frame} are up to {times:.1} times as long as it asks for, because a frame has no more than {most} \
             substeps (`max-substeps`): things go through each other, and liquids lose volume. It would take some {wanted:.0} of them: give it \
             more `max-substeps`, or more frames by `fps`, or larger voxels, or look for something small or fast in it"
        );
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_contacts_that_are_off_by_more_than_enough_are_told_of() {
        let off = |speed: f64| Unsettled {
            object: "crates".into(),
            speed,
            way: 0.01 * speed,
            enough: 1e-5,
        };
        let mut frame = UnsettledFrame::default();
        for step in [None, Some(off(1.04e-5)), Some(off(3e-5)), Some(off(2e-5))] {
            frame.step(step);
        }
        assert_eq!(frame, UnsettledFrame { steps: [2, 4], worst: Some(off(3e-5)) });
    }

    #[test]
    fn the_longest_of_lengthened_steps_is_told_with_who_asked() {
        let mut frame = Lengthened::default();
        frame.step(0.01, 0.0099, "water");
        frame.step(0.01, f64::INFINITY, "");
        assert_eq!(frame, Lengthened::default());
        for (longest, asks) in [(0.005, "water"), (0.001, "smoke"), (0.002, "water")] {
            frame.step(0.01, longest, asks);
        }
        assert_eq!(frame.worst, Some((10.0, 0.001, "smoke".into())));
    }
}
