//! Peers: other programs that do comparable work, run by the same command on the same machine.
//!
//! A peer is a script in `bench/peers/` and a file of pinned Python packages beside it. It installs itself on first use into
//! `bench/.peers/`, which git ignores. A peer that cannot be had costs its key, never the run.

use crate::Result;
use crate::harness::Context;
use crate::report::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Another program to compare with.
pub struct Peer {
    /// Short name; the key in the last line is `vs_NAME`.
    pub name: &'static str,
    /// Known to be ten times slower than we are: runs only with `--peers=all`.
    pub ten_times_slower: bool,
    /// Its rate in the unit of the benchmark [1/s].
    pub rate: fn(&Context) -> Result<f64>,
}

/// Which peers run along.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum PeerChoice {
    /// None of them.
    None,
    /// Those that are not known to be ten times slower.
    Fast,
    /// All of them.
    All,
}

/// Why a peer gave no rate.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum PeerError {
    /// A command could not be started.
    #[error("cannot start `{command}`: {cause}")]
    NotStarted {
        /// The command line.
        command: String,
        /// What the system said.
        cause: String,
    },
    /// A command ended with an error.
    #[error("`{command}` failed: {said}")]
    Failed {
        /// The command line.
        command: String,
        /// The last lines of its standard error.
        said: String,
    },
    /// The peer ran, but its last line has no positive `rate=`.
    #[error(
        "`{command}` should end with a line that holds `rate=NUMBER`, but ended with `{found}`"
    )]
    NoRate {
        /// The command line.
        command: String,
        /// The last line found.
        found: String,
    },
}

/// Taichi's MLS-MPM step: particle-to-grid and grid-to-particle with quadratic kernels; `size` is the number of particles.
pub const TAICHI_MPM: Peer = Peer {
    name: "taichi",
    ten_times_slower: false,
    rate: |context| taichi_mpm(context.threads, context.size),
};

/// Particles per second of Taichi's MLS-MPM step on `threads` threads, particles sorted by cell, eight in each.
pub fn taichi_mpm(threads: usize, particles: usize) -> Result<f64> {
    let python = python_with("taichi")?;
    let script = folder("peers").join("taichi_mpm.py");
    let mut command = Command::new(python);
    command.arg(script).arg("--sorted").args([
        "--threads",
        &threads.to_string(),
        "--size",
        &particles.to_string(),
    ]);
    rate_in_last_line(&mut command)
}

impl Peer {
    /// The peer's rate if it is chosen and can be had; says on standard output what came of it.
    pub fn rate_if_chosen(&self, choice: PeerChoice, context: &Context) -> Option<f64> {
        let wanted = if self.ten_times_slower { PeerChoice::All } else { PeerChoice::Fast };
        if choice < wanted {
            if choice != PeerChoice::None {
                println!(
                    "  {}: skipped, known to be ten times slower; --peers=all runs it",
                    self.name
                );
            }
            return None;
        }
        match (self.rate)(context) {
            Ok(rate) => {
                println!("  {}: {} per second", self.name, Value::Rate(rate));
                Some(rate)
            }
            Err(error) => {
                println!("  {}: left out, {error}", self.name);
                None
            }
        }
    }
}

/// The Python of an environment that has exactly the packages of `peers/NAME.txt`; made on first use, or when they change.
fn python_with(name: &str) -> Result<PathBuf> {
    let packages = folder("peers").join(name).with_extension("txt");
    let wanted = fs::read_to_string(&packages)?;
    let environment = folder(".peers").join(name);
    let python = environment.join("bin").join("python");

    // Written last, so that an interrupted installation begins anew.
    let installed = environment.join("installed.txt");
    if fs::read_to_string(&installed).is_ok_and(|found| found == wanted) {
        return Ok(python);
    }

    println!("  {name}: installing {} into {}", packages.display(), environment.display());
    output(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment))?;
    let install = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--retries",
        "2",
        "--requirement",
    ];
    output(Command::new(&python).args(install).arg(&packages))?;
    fs::write(installed, wanted)?;
    Ok(python)
}

/// A folder of this crate.
fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Runs a peer and reads its rate.
fn rate_in_last_line(command: &mut Command) -> Result<f64> {
    let said = String::from_utf8_lossy(&output(command)?.stdout).into_owned();
    let last = said.trim_end().lines().last().unwrap_or_default();
    let found = rate_of(last);
    Ok(found
        .ok_or_else(|| PeerError::NoRate { command: words(command), found: last.to_owned() })?)
}

/// The value of `rate=` in a line of `key=value`s, if it is a positive number.
fn rate_of(line: &str) -> Option<f64> {
    let rate = line.split_whitespace().find_map(|word| word.strip_prefix("rate="))?;
    rate.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0)
}

/// What a command says, or an error with the end of what it complained about.
fn output(command: &mut Command) -> Result<Output, PeerError> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| PeerError::NotStarted {
        command: words(command),
        cause: error.to_string(),
    })?;
    if output.status.success() {
        return Ok(output);
    }
    // `python3 -m venv` complains on standard output.
    let said = [&output.stdout[..], &output.stderr]
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        .concat();
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let end = lines[lines.len().saturating_sub(4)..].join("; ");
    let said = if end.is_empty() { output.status.to_string() } else { end };
    Err(PeerError::Failed { command: words(command), said })
}

/// A command as a person would type it.
fn words(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Benchmark, Outcome, Settings, run};

    #[test]
    fn a_rate_is_read_from_the_last_line_only() {
        assert_eq!(rate_of("taichi-mpm: size=10 rate=5.9e6 finite=yes"), Some(5.9e6));
        for bad in [
            "",
            "rate",
            "rate=",
            "rate=fast",
            "rate=0",
            "rate=-1",
            "rate=inf",
            "rate=nan",
            "the_rate=3",
        ] {
            assert_eq!(rate_of(bad), None, "{bad}");
        }
        let mut shell = Command::new("sh");
        shell.args(["-c", "echo rate=1; echo peer: rate=2"]);
        assert_eq!(rate_in_last_line(&mut shell).expect("a rate"), 2.0);
    }

    #[test]
    fn a_failing_peer_is_quoted() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "echo no such package >&2; exit 3"]);
        let message = rate_in_last_line(&mut shell).expect_err("it failed").to_string();
        assert!(message.ends_with("failed: no such package"), "{message}");

        let mut shell = Command::new("sh");
        shell.args(["-c", "exit 3"]);
        let message = rate_in_last_line(&mut shell).expect_err("it failed").to_string();
        assert!(message.ends_with("exit status: 3"), "{message}");

        let message = rate_in_last_line(&mut Command::new("/no/such/peer"))
            .expect_err("not there")
            .to_string();
        assert!(message.starts_with("cannot start `/no/such/peer`"), "{message}");
    }

    const QUICK: Peer = Peer { name: "quick", ten_times_slower: false, rate: |_| Ok(2.0) };
    const SLOW: Peer = Peer { name: "slow", ten_times_slower: true, rate: |_| Ok(1.0) };
    const ABSENT: Peer = Peer {
        name: "absent",
        ten_times_slower: false,
        rate: |_| Err("not for this system".into()),
    };
    const WITH_PEERS: Benchmark = Benchmark {
        name: "with-peers",
        doc: "does nothing",
        default_size: 1,
        peers: &[QUICK, SLOW, ABSENT],
        run: |context| {
            Ok(Outcome::new(context.work("calls", 1).measure(&mut (), |_| Ok(()), |_, _| ())?))
        },
    };

    fn peer_keys(peers: PeerChoice) -> Vec<String> {
        let settings = Settings { size: None, threads: 1, peers, triad_array_bytes: 1 << 16 };
        let report = run(&WITH_PEERS, &settings).expect("peers cannot fail a run");
        report.fields.into_iter().map(|(key, _)| key).filter(|key| key.starts_with("vs_")).collect()
    }

    #[test]
    fn slow_peers_run_only_when_all_are_wanted_and_absent_ones_lose_their_key() {
        assert_eq!(peer_keys(PeerChoice::None), Vec::<String>::new());
        assert_eq!(peer_keys(PeerChoice::Fast), ["vs_quick"]);
        assert_eq!(peer_keys(PeerChoice::All), ["vs_quick", "vs_slow"]);
    }
}
