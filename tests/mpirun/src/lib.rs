//! For tests on real MPI: a test program that starts itself again under `mpirun`.
//!
//! The program has a test `mpi::scenario_entry`, which runs the *scenario* that [`scenario`] finds, on every process. All
//! other tests call [`run`] with the name of one.

use std::{
    fs::{self, File},
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Child, Command, ExitStatus},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant, SystemTime},
};

/// The variable that names the scenario to a process under `mpirun`.
const SCENARIO: &str = "UNDINE_MPI_SCENARIO";

/// A run that takes longer hangs: many times what the longest scenario takes where its processes share a core.
const WATCHDOG: Duration = Duration::from_secs(20 * 60);

/// The one of `scenarios` that this process was started for, if it was started for any. An unknown one is a mistake in the tests.
pub fn scenario<S: Copy>(scenarios: &[(&str, S)]) -> Option<S> {
    let name = std::env::var(SCENARIO).ok()?;
    let found = scenarios.iter().find(|(known, _)| *known == name);
    Some(found.unwrap_or_else(|| panic!("no scenario is called `{name}`")).1)
}

/// Most processes that a scenario of this tier runs on: a fourth makes three on two cores half as long again.
pub fn most() -> usize {
    if std::env::var_os("UNDINE_FULL").is_some() { 4 } else { 3 }
}

/// Runs a scenario on each of `processes`, and fails with its output if any run does.
pub fn passes(
    scenario: &str,
    processes: impl IntoIterator<Item = usize>,
    variables: &[(&str, &str)],
) {
    for processes in processes {
        let run = run(processes, scenario, variables);
        assert!(run.success, "{scenario} failed on {processes} processes:\n{}", run.output);
    }
}

/// How a run under `mpirun` went.
pub struct Run {
    /// Whether every process ended well.
    pub success: bool,
    /// The code that `mpirun` ended with; that of the process that ended the others.
    pub code: i32,
    /// What the processes and `mpirun` printed.
    pub output: String,
    /// When it was over.
    pub end: SystemTime,
}

/// Runs a scenario under `mpirun`, oversubscribed. A run that hangs is killed, and fails with its output.
pub fn run(processes: usize, scenario: &str, variables: &[(&str, &str)]) -> Run {
    let program = std::env::current_exe().expect("the path of this program");
    let mut command = mpirun();
    command
        .args(["-n", &processes.to_string()])
        .arg(program)
        .args(["--exact", "mpi::scenario_entry", "--nocapture"])
        .env(SCENARIO, scenario)
        .envs(variables.iter().copied());
    let run = watched(&mut command, &format!("{scenario} on {processes} processes"));
    // A wrong name of a test runs no test, with success.
    assert!(
        !run.success || run.output.contains("1 passed"),
        "{scenario} did not run:\n{}",
        run.output
    );
    run
}

/// Runs another program under `mpirun`, oversubscribed: each of `parts` is a number of processes and their words. A run that hangs
/// is killed, and fails with its output.
pub fn program(program: &str, parts: &[(usize, &[&str])]) -> Run {
    watched(&mut command(program, parts), &format!("{program} {parts:?}"))
}

/// The command that [`program`] runs, for whoever wants to end it early.
pub fn command(program: &str, parts: &[(usize, &[&str])]) -> Command {
    let mut command = mpirun();
    for (n, (processes, words)) in parts.iter().enumerate() {
        if n > 0 {
            command.arg(":");
        }
        command.args(["-n", &processes.to_string(), program]).args(*words);
    }
    command
}

/// `mpirun`, run by root or not, on however few cores.
fn mpirun() -> Command {
    let mut command = Command::new("mpirun");
    command
        .args(["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"])
        .env("RAYON_NUM_THREADS", "2")
        .env("OMPI_MCA_mpi_yield_when_idle", "1")
        .process_group(0);
    command
}

/// Runs a command to its end, or kills it when it hangs, and fails with its output.
fn watched(command: &mut Command, what: &str) -> Run {
    // One at a time: several would only slow each other down.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);

    // Into a file, not a pipe: an orphan that holds a pipe open would hang the test that watches for it.
    let path = scratch_file();
    let output = File::create(&path).expect("a file for the output");
    command.stdout(output.try_clone().expect("a second handle of the file")).stderr(output);
    let mut child = command.spawn().expect("mpirun, of the Debian package openmpi-bin");
    let status = watch(&mut child);
    let end = SystemTime::now();
    let output = String::from_utf8_lossy(&fs::read(&path).expect("the output")).into_owned();
    // A leftover file does no harm.
    let _ = fs::remove_file(&path);
    let status =
        status.unwrap_or_else(|| panic!("{what} did not end within {WATCHDOG:?}:\n{output}"));
    Run { success: status.success(), code: status.code().unwrap_or(-1), output, end }
}

/// A new file name for the output of a run.
fn scratch_file() -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("undine-mpirun-{}-{count}.txt", std::process::id()))
}

/// Waits for the end of `mpirun`: how it ended, or `None` if it had to be killed.
fn watch(child: &mut Child) -> Option<ExitStatus> {
    let start = Instant::now();
    while start.elapsed() < WATCHDOG {
        if let Some(status) = child.try_wait().expect("the state of mpirun") {
            return Some(status);
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
