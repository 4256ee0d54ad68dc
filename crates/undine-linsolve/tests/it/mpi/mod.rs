//! Solves on real MPI: this test program starts itself again under `mpirun`.
//!
//! A *scenario* is a function that every process runs. To add one: write it in a file of its topic beside this one, add a
//! line to [`SCENARIOS`], and beside it write a `#[test]` that calls [`passes`] with its name.

mod amg;
mod pressure;
mod rows;
mod solvers;

use std::{error::Error, process::ExitCode, sync::Arc};
use undine_core::process::{Processes, launch};

/// What every process of a run does.
type Scenario = fn(&Arc<dyn Processes>) -> Result<(), Box<dyn Error>>;

/// All scenarios, by name.
const SCENARIOS: &[(&str, Scenario)] = &[
    ("amg", amg::amg),
    ("amg elasticity", amg::elastic),
    ("pressure", pressure::pressure),
    ("rows", rows::rows),
    ("solvers", solvers::solvers),
];

/// The way into a scenario under `mpirun`; without it, a test that does nothing.
#[test]
fn scenario_entry() {
    let Some(scenario) = mpirun::scenario(SCENARIOS) else { return };
    assert_eq!(launch(|processes| scenario(&processes)), ExitCode::SUCCESS);
}

/// Runs a scenario on 2 and 3 processes, in the full tier on 4 too, and fails with their output if any does.
pub fn passes(scenario: &str) {
    mpirun::passes(scenario, 2..=mpirun::most(), &[]);
}
