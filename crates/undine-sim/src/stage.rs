//! Every Stage of the timeline, in order, on one page.
//!
//! A Stage is a named moment; Tasks are mapped to Stages by the Objects and Actions that have them, once and for all. At
//! user-facing Stages kernels of the user's own run, and at BeginSubstep Behaviors hand on animated values. The others are for
//! developers, who may add, rename and reorder them as long as the user-facing ones keep their meaning
//! (Loki: A Unified Multiphysics Simulation Framework, §5.1, Algorithm 1 and Figure 8).

use std::fmt::{self, Display};

/// A moment of the timeline, in the order in which they come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// Once: Behaviors create their Objects and Actions.
    Ingest,
    /// A frame begins.
    BeginFrame,
    /// A substep begins: animated values are handed on.
    BeginSubstep,
    /// What overlaps is parted, before anything looks where it is.
    Part,
    /// Particles come: from sources, and from other Groups.
    GroupEnter,
    /// Buckets follow what is simulated.
    UpdateTopology,
    /// What solids leave open of the cells of fluids is measured.
    CutCells,
    /// Particles of fluids give their mass and momentum to the faces around them.
    ToGrid,
    /// Where a fluid is: which cells it fills, and how far its surface is.
    FindSurface,
    /// What is packed too densely is told where to go.
    KeepVolume,
    /// Constraints choose the points they act on.
    ChoosePoints,
    /// Objects go where they would without forces: the start of the Newton loop.
    Predict,
    /// An iteration of Newton's method begins.
    BeginIteration,
    /// Boundary and material particles are put where the degrees of freedom say.
    Embed,
    /// What will be summed up is set to zero.
    ClearForces,
    /// Forces are summed up, with their derivatives.
    AddForces,
    /// What resists motion is summed up, knowing what drives it.
    AddDrag,
    /// Constraints fill their rows, and all that is strongly coupled is assembled and solved as one system.
    SolveSolids,
    /// Objects that nothing couples take their forces, each element by itself.
    SolveAlone,
    /// Fluids take up what solids in them gave.
    CoupleFluids,
    /// Fluids are kept as they are before they are solved.
    KeepFluids,
    /// Viscosity evens out the velocities of fluids.
    SolveViscosity,
    /// Pressure makes the velocities of fluids free of divergence, with all bodies that swim in them.
    SolvePressure,
    /// What their solves did to fluids is measured.
    MeasureFluids,
    /// Constraints keep what they will need in the next step: friction, multipliers.
    Remember,
    /// Velocities of fluids go on beyond their surfaces.
    Extend,
    /// Particles of fluids take on the velocity of the faces around them.
    FromGrid,
    /// The step is taken: positions follow from velocities.
    Advance,
    /// Nothing ends inside of a collider.
    Collide,
    /// Particles are sorted into the Buckets where they are now.
    Rebucket,
    /// Particles go: to sinks, and to other Groups.
    GroupExit,
    /// A substep ends.
    EndSubstep,
    /// A frame ends: everything that is not a channel is dropped.
    EndFrame,
}

/// How often a Stage comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pace {
    /// Once in a run.
    Run,
    /// In every frame.
    Frame,
    /// In every substep of a frame.
    Substep,
    /// In every Newton iteration of a substep.
    Newton,
}

impl Stage {
    /// All of them, in order: how often, whether user-facing, and in words.
    pub const TABLE: &[(Self, Pace, bool, &str)] = &[
        (Self::Ingest, Pace::Run, true, "Behaviors create their Objects and Actions"),
        (Self::BeginFrame, Pace::Frame, true, "a frame begins"),
        (Self::BeginSubstep, Pace::Substep, true, "animated values are handed on"),
        (Self::Part, Pace::Substep, false, "what overlaps is parted"),
        (Self::GroupEnter, Pace::Substep, false, "particles come from sources and other Groups"),
        (Self::UpdateTopology, Pace::Substep, false, "Buckets follow what is simulated"),
        (Self::CutCells, Pace::Substep, false, "solids are cut out of the cells of fluids"),
        (Self::ToGrid, Pace::Substep, false, "particles give mass and momentum to faces"),
        (Self::FindSurface, Pace::Substep, false, "cells of fluids and their surfaces are found"),
        (Self::KeepVolume, Pace::Substep, false, "what is too dense is told where to go"),
        (Self::ChoosePoints, Pace::Substep, false, "Constraints choose their points"),
        (Self::Predict, Pace::Substep, false, "Objects go where they would without forces"),
        (Self::BeginIteration, Pace::Newton, true, "an iteration of Newton's method begins"),
        (Self::Embed, Pace::Newton, false, "embedded particles follow the degrees of freedom"),
        (Self::ClearForces, Pace::Newton, false, "sums are set to zero"),
        (Self::AddForces, Pace::Newton, false, "forces and their derivatives are summed up"),
        (Self::AddDrag, Pace::Newton, false, "what resists is summed up, knowing what drives"),
        (Self::SolveSolids, Pace::Newton, false, "the coupled system is assembled and solved"),
        (Self::SolveAlone, Pace::Newton, false, "uncoupled elements take their forces"),
        (Self::CoupleFluids, Pace::Newton, false, "fluids take up what solids in them gave"),
        (Self::KeepFluids, Pace::Newton, false, "fluids are kept as they are before their solves"),
        (Self::SolveViscosity, Pace::Newton, false, "viscosity evens out velocities"),
        (Self::SolvePressure, Pace::Newton, false, "pressure takes divergence out of velocities"),
        (Self::MeasureFluids, Pace::Newton, false, "what solves did to fluids is measured"),
        (Self::Remember, Pace::Substep, false, "Constraints keep friction and multipliers"),
        (Self::Extend, Pace::Substep, false, "velocities go on beyond surfaces"),
        (Self::FromGrid, Pace::Substep, false, "particles take velocity from faces"),
        (Self::Advance, Pace::Substep, false, "positions follow from velocities"),
        (Self::Collide, Pace::Substep, false, "nothing ends inside of a collider"),
        (Self::Rebucket, Pace::Substep, false, "particles are sorted into Buckets"),
        (Self::GroupExit, Pace::Substep, false, "particles go to sinks and other Groups"),
        (Self::EndSubstep, Pace::Substep, true, "a substep ends"),
        (Self::EndFrame, Pace::Frame, true, "a frame ends: what is no channel is dropped"),
    ];

    fn row(self) -> &'static (Self, Pace, bool, &'static str) {
        &Self::TABLE[self as usize]
    }

    /// How often it comes.
    pub fn pace(self) -> Pace {
        self.row().1
    }

    /// Whether Behaviors run here, and kernels of the user's own may.
    pub fn is_user_facing(self) -> bool {
        self.row().2
    }

    /// What happens, in words.
    pub fn words(self) -> &'static str {
        self.row().3
    }

    /// The Stages of this pace that come before (`true`) or after the Newton loop.
    pub fn of(pace: Pace, before_newton: bool) -> impl Iterator<Item = Self> {
        Self::TABLE.iter().map(|row| row.0).filter(move |stage| {
            stage.pace() == pace && (*stage < Self::BeginIteration) == before_newton
        })
    }
}

impl Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_every_stage_in_its_order() {
        for (n, row) in Stage::TABLE.iter().enumerate() {
            assert_eq!(row.0 as usize, n, "{}", row.0);
        }
        assert_eq!(Stage::EndFrame as usize + 1, Stage::TABLE.len());
    }

    #[test]
    fn newton_stages_stand_together() {
        let paces: Vec<Pace> = Stage::TABLE.iter().map(|row| row.1).collect();
        let newton = |pace: &&Pace| **pace == Pace::Newton;
        let first = paces.iter().position(|pace| newton(&pace)).unwrap();
        let count = paces.iter().filter(newton).count();
        assert!(paces[first..first + count].iter().all(|pace| newton(&pace)));
    }
}
