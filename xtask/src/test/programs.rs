//! Unit and integration tests: built once by cargo, then each program run by us, to time every single test.

use super::budget::Budget;
use crate::cargo::{CARGO_LIMIT, cargo, with_mpi_settings};
use crate::libtest::{Record, Test};
use crate::process::{self, Ending, Stream};
use crate::report::Outcome;
use serde_json::Value;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// A test program that prints nothing for so long hangs: a hundred times what a test should take, for busy machines.
const SILENCE: Duration = Duration::from_secs(40 * 60);
/// How many of the slowest tests are listed.
const SLOWEST: usize = 20;

/// What a build of programs came to.
pub struct Built {
    /// The programs, in the order of their names.
    pub programs: Vec<Program>,
    /// True when third-party packages had to be compiled, so that the time says little.
    pub cold: bool,
}

/// One executable that cargo made.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Program {
    /// Package and target, for reading: `undine-core it`.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// The folder of its package, in which tests run, as under `cargo test`.
    pub folder: PathBuf,
}

/// Builds all test programs of the workspace.
pub fn build(arguments: &[String]) -> Result<Built, String> {
    build_with(cargo(&["test", "--no-run"]).args(arguments), "test")
}

/// Builds the workspace's program of this name.
pub fn build_binary(arguments: &[String], name: &str) -> Result<Program, String> {
    let built = build_with(cargo(&["build", "--bin", name]).args(arguments), "bin")?;
    built.programs.into_iter().next().ok_or_else(|| format!("cargo made no program `{name}`"))
}

/// Runs a cargo command that builds, and collects the programs it made: test programs, or the binaries themselves.
fn build_with(command: &mut Command, kind: &str) -> Result<Built, String> {
    let mut built = Built { programs: Vec::new(), cold: false };
    command.arg("--message-format=json-render-diagnostics");
    let ending = process::run_lines(command, CARGO_LIMIT, |stream, line| match stream {
        Stream::Err => eprintln!("{line}"),
        Stream::Out => {
            if let Ok(message) = serde_json::from_str::<Value>(line) {
                built.cold |= is_new_dependency(&message);
                built.programs.extend(program(&message, kind == "test"));
            }
        }
    });
    match ending {
        Ok(Ending::Exited(status)) if status.success() => {
            built.programs.sort();
            Ok(built)
        }
        Ok(Ending::Exited(_)) => Err("the build failed, see above".to_string()),
        Ok(ending) => Err(format!("the build hung: {ending:?}")),
        Err(why) => Err(why.to_string()),
    }
}

/// True for a message that a package of a third party was compiled just now.
fn is_new_dependency(message: &Value) -> bool {
    let from_registry =
        message["package_id"].as_str().is_some_and(|id| id.starts_with("registry+"));
    message["reason"] == "compiler-artifact" && message["fresh"] == false && from_registry
}

/// The program that a message of cargo tells of.
fn program(message: &Value, is_test: bool) -> Option<Program> {
    let is_wanted =
        message["reason"] == "compiler-artifact" && message["profile"]["test"] == is_test;
    let path = message["executable"].as_str().filter(|_| is_wanted)?;
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
    let package = folder.file_name()?.to_string_lossy();
    let target = message["target"]["name"].as_str()?;
    let name = if target.replace('_', "-") == package {
        package.into_owned()
    } else {
        format!("{package} {target}")
    };
    Some(Program { name, path: path.into(), folder: folder.into() })
}

/// Runs all test programs one after another; each uses all cores by itself. Tests that took long are added to `slow`.
pub fn run(
    programs: &[Program],
    budget: &Budget,
    slow: &mut Vec<String>,
) -> Result<Outcome, String> {
    let (mut passed, mut failed) = (0, 0);
    let mut timed: Vec<(f64, String)> = Vec::new();
    for program in programs {
        let (record, complaints) = run_program(program, budget)?;
        for complaint in &complaints {
            println!("  {}: {complaint}", program.name);
        }
        failed += complaints.len();
        for test in &record.tests {
            let path = format!("{}: {}", program.name, test.name);
            let is_good = judge(test, &path);
            slow.extend(budget.slow_test(&path, test.seconds));
            passed += usize::from(is_good);
            failed += usize::from(!is_good);
            timed.push((test.seconds, path));
        }
    }
    print_slowest(timed);
    if passed + failed == 0 {
        return Err("no tests were found".to_string());
    }
    Ok(Outcome::Counted { passed, failed })
}

/// Runs one program. Also returns what is wrong with it as a whole, rather than with one of its tests.
fn run_program(program: &Program, budget: &Budget) -> Result<(Record, Vec<String>), String> {
    let mut command = Command::new(&program.path);
    command
        .current_dir(&program.folder)
        .env("CARGO_MANIFEST_DIR", &program.folder)
        // The harness of the stable toolchain then takes options that are unstable, at run time only.
        .env("RUSTC_BOOTSTRAP", "1")
        .args(["-Zunstable-options", "--report-time", "--format", "json"]);
    if budget.is_full {
        command.env("UNDINE_FULL", "1");
    }

    let start = Instant::now();
    let mut record = Record::default();
    let ending = process::run_lines(with_mpi_settings(&mut command), SILENCE, |_, line| {
        record.read(line);
        show_progress(program, &record);
    })
    .map_err(|why| why.to_string())?;
    clear_progress();
    // Every binary and library is a test program to cargo, also without tests.
    if record.count > 0 {
        println!(
            "  {:<28} {:>5} tests {:>8.1} s",
            program.name,
            record.tests.len(),
            start.elapsed().as_secs_f64()
        );
    }

    let complaints = complaints(&record, &ending);
    if !complaints.is_empty() {
        print_text(&record.noise.join("\n"));
    }
    Ok((record, complaints))
}

/// What is wrong with a program as a whole.
fn complaints(record: &Record, ending: &Ending) -> Vec<String> {
    let running = record.running.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let during = if running.is_empty() { String::new() } else { format!(" during {running}") };
    match ending {
        Ending::Killed => {
            vec![format!("killed after {} minutes without a word{during}", SILENCE.as_secs() / 60)]
        }
        Ending::LeftProcesses => vec!["left processes running when it ended".to_string()],
        Ending::Exited(status) if !record.finished => {
            vec![format!("ended early with {status}{during}")]
        }
        Ending::Exited(status) => {
            let has_failure = record.tests.iter().any(|test| test.failure.is_some());
            let is_whole =
                record.tests.len() as u64 == record.count && (status.success() || has_failure);
            if is_whole {
                Vec::new()
            } else {
                vec![format!("ran {} of {} tests, {status}", record.tests.len(), record.count)]
            }
        }
    }
}

/// True when a test passed; otherwise prints what happened.
fn judge(test: &Test, path: &str) -> bool {
    if let Some(output) = &test.failure {
        println!("\n  FAILED {path}");
        print_text(output);
    }
    test.failure.is_none()
}

fn print_text(text: &str) {
    for line in text.lines() {
        println!("    {line}");
    }
}

fn print_slowest(mut timed: Vec<(f64, String)>) {
    timed.sort_by(|a, b| b.0.total_cmp(&a.0));
    println!("  the slowest tests:");
    for (seconds, path) in timed.iter().take(SLOWEST) {
        println!("  {seconds:>8.2} s  {path}");
    }
}

/// On a terminal, one line that says which test is on; in a log, nothing.
fn show_progress(program: &Program, record: &Record) {
    let mut terminal = std::io::stdout();
    if terminal.is_terminal() {
        let current = record.running.first().map_or("", String::as_str);
        let (done, count) = (record.tests.len(), record.count);
        // A progress line that cannot be written is no reason to stop.
        let _ = write!(terminal, "\r\x1b[K  {} {done}/{count} {current:.60}", program.name);
        let _ = terminal.flush();
    }
}

fn clear_progress() {
    if std::io::stdout().is_terminal() {
        print!("\r\x1b[K");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    fn artifact(target: &str, test: bool) -> Value {
        json!({
            "reason": "compiler-artifact",
            "package_id": "path+file:///undine/crates/undine-core#0.1.0",
            "manifest_path": "/undine/crates/undine-core/Cargo.toml",
            "target": {"name": target},
            "profile": {"test": test},
            "executable": "/target/it",
            "fresh": false,
        })
    }

    #[test]
    fn programs_are_found_in_the_messages_of_cargo() {
        let found = program(&artifact("it", true), true).expect("a test program");
        assert_eq!(found.name, "undine-core it");
        assert_eq!(found.folder, Path::new("/undine/crates/undine-core"));
        assert_eq!(
            program(&artifact("undine_core", true), true).expect("a test program").name,
            "undine-core"
        );
        assert_eq!(program(&artifact("vortex", false), true), None);
        assert_eq!(program(&json!({"reason": "build-finished"}), true), None);
    }

    #[test]
    fn only_a_third_partys_package_makes_a_build_cold() {
        let mut message = artifact("rayon", false);
        assert!(!is_new_dependency(&message));
        message["package_id"] =
            json!("registry+https://github.com/rust-lang/crates.io-index#rayon@1.12.0");
        assert!(is_new_dependency(&message));
        message["fresh"] = json!(true);
        assert!(!is_new_dependency(&message));
    }

    #[test]
    fn a_program_that_does_not_end_well_is_complained_about() {
        let exited = |code: i32| Ending::Exited(ExitStatus::from_raw(code << 8));
        let mut record = Record { count: 1, ..Record::default() };
        record.running.insert("deadlocks".to_string());
        assert!(complaints(&record, &Ending::Killed)[0].contains("during deadlocks"));
        assert!(complaints(&record, &exited(134))[0].contains("ended early"));

        record.running.clear();
        record.finished = true;
        assert!(complaints(&record, &exited(0))[0].contains("ran 0 of 1 tests"));
        record.tests.push(Test { name: "deadlocks".to_string(), seconds: 0.0, failure: None });
        assert!(complaints(&record, &exited(0)).is_empty());
        assert_eq!(complaints(&record, &exited(101)).len(), 1);
        assert_eq!(complaints(&record, &Ending::LeftProcesses).len(), 1);
    }

    #[test]
    fn a_test_fails_by_what_it_found_and_never_by_its_time() {
        let test = |seconds, failure: Option<&str>| Test {
            name: "t".to_string(),
            seconds,
            failure: failure.map(str::to_string),
        };
        assert!(judge(&test(1e4, None), "a: t"));
        assert!(!judge(&test(0.0, Some("why")), "a: t"));
    }
}
