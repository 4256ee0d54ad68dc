//! Tests on real MPI: this test program starts itself again under `mpirun`.
//!
//! A *scenario* is a function that every process runs. To add one: write it in a file of its topic beside this one
//! (`mpi/halo.rs`), add a line to [`SCENARIOS`], and beside it write a `#[test]` that calls [`passes`] with its name. A
//! scenario fails by returning an error or by a panic on any process, so plain `assert_eq!` and `?` do.

mod budget;
mod crowd;
mod failure;
mod halo;
mod migration;
mod neighbours;
mod queries;
mod rebalance;
mod reduce;
mod runs;
mod scatter;
mod scene;
mod topological;
mod transport;

pub use mpirun::run as mpirun;
use std::{error::Error, process::ExitCode, sync::Arc};
use undine_core::process::{Processes, launch};

/// What every process of a run does.
type Scenario = fn(&Arc<dyn Processes>) -> Result<(), Box<dyn Error>>;

/// All scenarios, by name.
const SCENARIOS: &[(&str, Scenario)] = &[
    ("exchange", transport::exchange),
    ("exchange_refused", transport::exchange_refused),
    ("overlap", transport::overlap),
    ("several_to_one", transport::several_to_one),
    ("drop_pending", transport::drop_pending),
    ("wrong_length", transport::wrong_length),
    ("many_starts", transport::many_starts),
    ("other_threads", transport::other_threads),
    ("progress", transport::progress),
    ("gather", transport::gather),
    ("sums", reduce::sums),
    ("extremes", reduce::extremes),
    ("agree", reduce::agree),
    ("budget", budget::budget),
    ("neighbours", neighbours::neighbours),
    ("halo", halo::halo),
    ("particle_halo", migration::particle_halo),
    ("migration", migration::migration),
    ("new_ids", migration::new_ids),
    ("scatter", scatter::scatter),
    ("rebalance", rebalance::rebalance),
    ("queries", queries::queries),
    ("topological", topological::topological),
    ("diffusion", runs::diffusion),
    ("advection", runs::advection),
    ("panic", failure::panic),
    ("panic_in_worker", failure::panic_in_worker),
    ("error", failure::error),
    ("killed", failure::killed),
    ("panic_in_kernel", failure::panic_in_kernel),
    ("killed_in_run", failure::killed_in_run),
    ("unfinished", failure::unfinished),
];

/// The way into a scenario under `mpirun`; without it, a test that does nothing.
#[test]
fn scenario_entry() {
    let Some(scenario) = mpirun::scenario(SCENARIOS) else { return };
    let mut kept = None;
    let ended = launch(|processes| {
        kept = Some(Arc::clone(&processes));
        scenario(&processes)
    });
    assert_eq!(ended, ExitCode::SUCCESS);
    // Whoever keeps the processes beyond the end of the run gets errors, and no crash.
    let error = kept.expect("launch calls its function").barrier().unwrap_err();
    assert!(error.to_string().contains("the run is over"), "{error}");
}

/// Runs a scenario on 1, 2 and 3 processes, in the full tier on 4 too, and fails with their output if any does.
pub fn passes(scenario: &str) {
    passes_with(scenario, &[]);
}

/// The same, with variables in the environment.
pub fn passes_with(scenario: &str, variables: &[(&str, &str)]) {
    mpirun::passes(scenario, 1..=mpirun::most(), variables);
}
