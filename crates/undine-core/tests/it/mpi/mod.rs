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

use std::{
    error::Error,
    fs::{self, File},
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Child, Command, ExitCode},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant, SystemTime},
};
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

/// The variable that names the scenario to a process under `mpirun`.
const SCENARIO: &str = "UNDINE_MPI_SCENARIO";

/// No scenario takes nearly as long, even where many processes share a core.
const WATCHDOG: Duration = Duration::from_secs(60);

/// The way into a scenario under `mpirun`; without it, a test that does nothing.
#[test]
fn scenario_entry() {
    let Ok(name) = std::env::var(SCENARIO) else { return };
    let (_, scenario) =
        SCENARIOS.iter().find(|(known, _)| *known == name).expect("a scenario of that name");
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

/// Runs a scenario on 1, 2, 3 and 4 processes, and fails with their output if any does.
pub fn passes(scenario: &str) {
    passes_with(scenario, &[]);
}

/// The same, with variables in the environment.
pub fn passes_with(scenario: &str, variables: &[(&str, &str)]) {
    for processes in 1..=4 {
        let run = mpirun(processes, scenario, variables);
        assert!(run.success, "{scenario} failed on {processes} processes:\n{}", run.output);
    }
}

/// How a run under `mpirun` went.
pub struct Run {
    /// Whether every process ended well.
    pub success: bool,
    /// What the processes and `mpirun` printed.
    pub output: String,
    /// When it was over.
    pub end: SystemTime,
}

/// Runs a scenario under `mpirun`, oversubscribed. A run that hangs is killed, and fails with its output.
pub fn mpirun(processes: usize, scenario: &str, variables: &[(&str, &str)]) -> Run {
    // One at a time: several would only slow each other down.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);

    // Into a file, not a pipe: an orphan that holds a pipe open would hang the test that watches for it.
    let path = scratch_file();
    let output = File::create(&path).expect("a file for the output");
    let mut command = Command::new("mpirun");
    command
        .args([
            "--allow-run-as-root",
            "--oversubscribe",
            "--bind-to",
            "none",
            "-n",
            &processes.to_string(),
        ])
        .arg(std::env::current_exe().expect("the path of this program"))
        .args(["--exact", "mpi::scenario_entry", "--nocapture"])
        .env(SCENARIO, scenario)
        .env("RAYON_NUM_THREADS", "2")
        .env("OMPI_MCA_mpi_yield_when_idle", "1")
        .envs(variables.iter().copied())
        .stdout(output.try_clone().expect("a second handle of the file"))
        .stderr(output)
        .process_group(0);
    let mut child = command.spawn().expect("mpirun, of the Debian package openmpi-bin");
    let success = watch(&mut child);
    let end = SystemTime::now();
    let output = String::from_utf8_lossy(&fs::read(&path).expect("the output")).into_owned();
    // A leftover file does no harm.
    let _ = fs::remove_file(&path);
    let success = success.unwrap_or_else(|| {
        panic!("{scenario} on {processes} processes did not end within {WATCHDOG:?}:\n{output}")
    });
    // A wrong name of a test runs no test, with success.
    assert!(!success || output.contains("1 passed"), "{scenario} did not run:\n{output}");
    Run { success, output, end }
}

/// A new file name in the scratch folder of this crate's tests.
fn scratch_file() -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("mpirun-{}-{count}.txt", std::process::id()))
}

/// Waits for the end of `mpirun`: whether with success, or `None` if it had to be killed.
fn watch(child: &mut Child) -> Option<bool> {
    let start = Instant::now();
    while start.elapsed() < WATCHDOG {
        if let Some(status) = child.try_wait().expect("the state of mpirun") {
            return Some(status.success());
        }
        thread::sleep(Duration::from_millis(5));
    }
    // Asked kindly, mpirun ends its processes, which are in groups of their own; then its own group goes by force.
    let group = format!("-{}", child.id());
    for (signal, patience) in [("-TERM", Duration::from_secs(3)), ("-KILL", Duration::ZERO)] {
        let _ = Command::new("kill").args([signal, "--", &group]).status();
        thread::sleep(patience);
    }
    let _ = child.wait();
    None
}
