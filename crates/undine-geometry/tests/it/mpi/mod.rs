//! Geometry on real MPI: this test program starts itself again under `mpirun`.
//!
//! A *scenario* is a function that every process runs. To add one: write it in a file of its topic beside this one, add a
//! line to [`SCENARIOS`], and beside it write a `#[test]` that calls [`passes`] with its name.

mod collider;
mod levelset;
mod levelset_tools;
mod surfacing;
mod voxelize;

use std::{error::Error, process::ExitCode, sync::Arc};
use undine_core::process::{Processes, launch};

/// What every process of a run does.
type Scenario = fn(&Arc<dyn Processes>) -> Result<(), Box<dyn Error>>;

/// All scenarios, by name.
const SCENARIOS: &[(&str, Scenario)] = &[
    ("level set redistance", levelset::redistance),
    ("level set advect", levelset::advect),
    ("level set extrapolate", levelset::extrapolate),
    ("level-set tools", levelset_tools::tools),
    ("surfacing", surfacing::surfacing),
    ("voxelize", voxelize::voxelize),
    ("collider", collider::collider),
];

/// The way into a scenario under `mpirun`; without it, a test that does nothing.
#[test]
fn scenario_entry() {
    let Some(scenario) = mpirun::scenario(SCENARIOS) else { return };
    assert_eq!(launch(|processes| scenario(&processes)), ExitCode::SUCCESS);
}

/// Runs a scenario on 2 and 3 processes, and fails with their output if any does.
pub fn passes(scenario: &str) {
    mpirun::passes(scenario, 2..=3, &[]);
}
