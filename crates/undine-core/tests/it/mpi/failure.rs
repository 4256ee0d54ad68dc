//! Failure: a panic, an error or the death of one process ends all of them, with a message, within seconds.

use super::mpirun;
use super::runs::Diffusion;
use super::scene::{distributed, sparse};
use std::{
    error::Error,
    io::Write,
    process::Command,
    sync::Arc,
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use undine_core::{
    domain::Slot,
    process::{Parcel, Processes},
};

/// Others that live on for longer are not ended at all: on an idle machine they take less than a second.
const LIMIT: Duration = Duration::from_secs(120);

/// Runs a scenario in which the last process fails, and the others wait for a parcel that never comes.
///
/// `tells` says whether a line tells what happened, given the name of the process that failed.
fn ends_all(scenario: &str, tells: impl Fn(&str, &str) -> bool) {
    for processes in 1..=4 {
        let run = mpirun(processes, scenario, &[]);
        assert!(!run.success, "{scenario} on {processes} processes ended well:\n{}", run.output);
        let name = format!("process {} of {processes}: ", processes - 1);
        let told = run.output.lines().any(|line| tells(line, &name));
        assert!(told, "{scenario} does not tell why it ended:\n{}", run.output);
        let failed = failure_time(&run.output);
        let after = run.end.duration_since(failed).unwrap_or_default();
        assert!(after < LIMIT, "{scenario} lived on for {after:?}:\n{}", run.output);
        // The processes may outlive mpirun, which does not wait for those it has ended, but only by a moment.
        for pid in living(&run.output) {
            while is_alive(pid) {
                let over = failed.elapsed().is_ok_and(|after| after > LIMIT);
                assert!(!over, "{scenario} left process {pid} behind:\n{}", run.output);
                thread::sleep(Duration::from_millis(10));
            }
        }
    }
}

/// The process ids in the output.
fn living(output: &str) -> impl Iterator<Item = &str> {
    output.split("living as ").skip(1).filter_map(|rest| rest.split_whitespace().next())
}

/// Whether a process still runs; one that only waits to be reaped does not.
fn is_alive(pid: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The state stands behind the name of the program, in parentheses.
    status
        .rsplit(") ")
        .next()
        .is_some_and(|state| !state.is_empty() && !state.starts_with(['Z', 'X']))
}

/// When the failing process said that it fails.
fn failure_time(output: &str) -> SystemTime {
    let said = output.split("failing at ").nth(1).expect("a process that says it fails");
    let millis = said.split_whitespace().next().and_then(|text| text.parse().ok()).expect("a time");
    UNIX_EPOCH + Duration::from_millis(millis)
}

/// Writes a line at once: `eprintln` writes it in pieces, between which other processes have their say.
fn say(line: &str) -> std::io::Result<()> {
    std::io::stderr().write_all(format!("{line}\n").as_bytes())
}

/// On the last process says so and returns; on the others waits for a parcel that it never sends.
fn wait_unless_last(processes: &dyn Processes) -> Result<(), Box<dyn Error>> {
    say(&format!("living as {} .", std::process::id()))?;
    processes.barrier()?;
    let last = processes.count() - 1;
    if processes.rank() == last {
        say(&format!(
            "failing at {} .",
            SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis()
        ))?;
        return Ok(());
    }
    processes.start(Vec::new(), &[(last, 1_000_000)])?.finish()?;
    unreachable!("nobody sends this");
}

#[test]
fn a_panic_on_one_process_ends_all() {
    ends_all("panic", |line, name| line.starts_with(name) && line.ends_with(": the dam broke"));
}

pub fn panic(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    wait_unless_last(&**processes)?;
    panic!("the dam broke")
}

#[test]
fn a_panic_in_a_worker_thread_ends_all() {
    ends_all("panic_in_worker", |line, name| {
        line.starts_with(name) && line.ends_with(": Bucket 77 is dry")
    });
}

pub fn panic_in_worker(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    use rayon::prelude::*;
    wait_unless_last(&**processes)?;
    (0..1000).into_par_iter().for_each(|bucket| assert!(bucket != 77, "Bucket {bucket} is dry"));
    Ok(())
}

#[test]
fn an_error_on_one_process_ends_all() {
    ends_all("error", |line, name| line == format!("{name}no water left"));
}

pub fn error(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    wait_unless_last(&**processes)?;
    Err("no water left".into())
}

#[test]
fn the_death_of_one_process_ends_all() {
    ends_all("killed", |line, _| line.contains("signal 9 (Killed)"));
}

pub fn killed(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    wait_unless_last(&**processes)?;
    Command::new("kill").args(["-KILL", &std::process::id().to_string()]).status()?;
    unreachable!("a process survived SIGKILL");
}

#[test]
fn a_panic_in_a_kernel_ends_all() {
    ends_all("panic_in_kernel", |line, name| {
        line.starts_with(name) && line.ends_with(": the heat is lost")
    });
}

pub fn panic_in_kernel(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    fail_in_run(processes, |slot| assert!(slot != 3, "the heat is lost"))
}

#[test]
fn the_death_of_one_process_in_the_middle_of_a_run_ends_all() {
    ends_all("killed_in_run", |line, _| line.contains("signal 9 (Killed)"));
}

pub fn killed_in_run(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    fail_in_run(processes, |_| {
        let id = std::process::id().to_string();
        Command::new("kill").args(["-KILL", &id]).status().expect("a kill");
    })
}

/// Runs a diffusion; at its 20th step, the kernel of the last process does what ends it.
fn fail_in_run(
    processes: &Arc<dyn Processes>,
    fail: impl Fn(Slot) + Sync,
) -> Result<(), Box<dyn Error>> {
    say(&format!("living as {} .", std::process::id()))?;
    let mut run = Diffusion::new(distributed(processes), &sparse(6, 60, 3, 1))?;
    let last = processes.rank() + 1 == processes.count();
    for step in 0..100_000 {
        if last && step == 20 {
            say(&format!(
                "failing at {} .",
                SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis()
            ))?;
            run.step(&fail)?;
        }
        run.step(|_| {})?;
    }
    unreachable!("a run without its last process went on");
}

#[test]
fn a_transfer_that_outlives_the_run_ends_all() {
    for processes in 2..=4 {
        let run = mpirun(processes, "unfinished", &[]);
        assert!(!run.success, "ended well:\n{}", run.output);
        assert!(
            run.output.contains("a transfer was started but neither finished nor dropped"),
            "{}",
            run.output
        );
    }
}

pub fn unfinished(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let (count, rank) = (processes.count(), processes.rank());
    let (next, previous) = ((rank + 1) % count, (rank + count - 1) % count);
    let parcel = Parcel { process: next, bytes: vec![1; 100] };
    std::mem::forget(processes.start(vec![parcel], &[(previous, 100)])?);
    Ok(())
}
