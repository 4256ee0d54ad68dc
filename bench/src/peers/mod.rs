//! Peers: other programs that do comparable work, run by the same command on the same machine.
//!
//! A peer is a script in `bench/peers/` and a file of pinned Python packages beside it. It installs itself on first use into
//! `bench/.peers/`, which git ignores. A peer that cannot be had costs its keys, never the run.
//!
//! There are five kinds: a [`Peer`] makes its own data and is compared by its rate; a [`SolverPeer`] solves the linear
//! system that the benchmark has built, and is compared by time and memory; [`openvdb_file`] reads and writes its files;
//! [`mantaflow`] simulates what the benchmark simulates; [`splashsurf()`] surfaces its particles.

mod command;
mod install;
mod mantaflow;
mod openvdb_file;
mod solve;
mod splashsurf;
mod system;

pub use mantaflow::{Bake, PeerBake, mantaflow};
pub use openvdb_file::{PeerFile, openvdb_file};
pub use solve::{
    AMGCL, GAMG, HYPRE, PARDISO, PYAMG, PeerSolve, PeerSolves, SCIPY_CG, SolverPeer, SolverTask,
    solve_with,
};
pub use splashsurf::{PeerSurface, splashsurf};
pub use system::{Definiteness, System, SystemError, SystemFolder};

use crate::Result;
use crate::harness::Context;
use crate::report::Value;
use command::{last_line, number, words};
use install::{NUMPY, OPENVDB, debian, folder, python_with};
use std::process::Command;

/// Another program to compare with, which makes its own data.
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

/// Why a peer gave no figures.
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
    /// The peer ran, but its last line does not say what it took for a file.
    #[error(
        "`{command}` should end with a line that holds read_seconds=, write_seconds= and bytes=, but ended with `{found}`"
    )]
    NoFile {
        /// The command line.
        command: String,
        /// The last line found.
        found: String,
    },
    /// The peer ran, but does not say what it took for a simulation.
    #[error(
        "`{command}` should say a line that holds seconds_per_frame= and extra_bytes=, but said `{found}`"
    )]
    NoBake {
        /// The command line.
        command: String,
        /// The line found.
        found: String,
    },
    /// The peer ran, but its last line does not say what it took for a surface.
    #[error(
        "`{command}` should end with a line that holds plain_seconds=, smoothed_seconds= and peak_bytes=, but ended with `{found}`"
    )]
    NoSurface {
        /// The command line.
        command: String,
        /// The last line found.
        found: String,
    },
    /// The peer ran, but its last line does not say how it solved the system.
    #[error(
        "`{command}` should end with a line that holds setup_seconds=, solve_seconds=, iterations=, residual= and \
         extra_bytes=, but ended with `{found}`"
    )]
    NoSolve {
        /// The command line.
        command: String,
        /// The last line found.
        found: String,
    },
    /// The peer ended with a larger residual than wanted.
    #[error("it stopped at residual {found:.1e}, wanted is {wanted:.1e}")]
    NotSolved {
        /// Its residual, relative to the right-hand side.
        found: f64,
        /// The wanted one.
        wanted: f64,
    },
    /// Debian packages are not installed, and we may not, or could not, install them.
    #[error("it needs Debian packages: sudo apt-get update && sudo apt-get install -y {packages}")]
    Missing {
        /// Their names.
        packages: String,
    },
}

impl PeerChoice {
    /// Whether this peer is chosen; says so on standard output if it is left out for being slow.
    fn runs(self, name: &str, ten_times_slower: bool) -> bool {
        let wanted = if ten_times_slower { PeerChoice::All } else { PeerChoice::Fast };
        if self == PeerChoice::Fast && wanted == PeerChoice::All {
            println!("  {name}: skipped, known to be ten times slower; --peers=all runs it");
        }
        self >= wanted
    }
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

/// OpenVDB's level set of a mesh; `size` is the number of voxels across it.
pub const OPENVDB_MESH: Peer = Peer {
    name: "openvdb",
    ten_times_slower: false,
    rate: |context| {
        debian(&[OPENVDB, NUMPY])?;
        // The system's own Python is the one that Debian's packages are for.
        let mut command = Command::new("/usr/bin/python3");
        command.arg(folder("peers").join("openvdb_mesh.py")).args([
            "--threads",
            &context.threads.to_string(),
            "--size",
            &context.size.to_string(),
        ]);
        rate_in_last_line(&mut command)
    },
};

impl Peer {
    /// The peer's rate if it is chosen and can be had; says on standard output what came of it.
    pub fn rate_if_chosen(&self, choice: PeerChoice, context: &Context) -> Option<f64> {
        if !choice.runs(self.name, self.ten_times_slower) {
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

/// Runs a peer and reads its rate.
fn rate_in_last_line(command: &mut Command) -> Result<f64> {
    let last = last_line(command)?;
    let rate = number(&last, "rate").filter(|&rate| rate > 0.0);
    Ok(rate.ok_or_else(|| PeerError::NoRate { command: words(command), found: last })?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Benchmark, Outcome, Settings, run};

    #[test]
    fn a_rate_is_a_positive_number() {
        let rate = |line: &str| {
            let mut echo = Command::new("echo");
            rate_in_last_line(echo.arg(line))
        };
        assert_eq!(rate("peer: rate=2").expect("a rate"), 2.0);
        for bad in ["rate=0", "rate=-1", "peer: fast"] {
            let message = rate(bad).expect_err("no rate").to_string();
            assert!(message.ends_with(&format!("ended with `{bad}`")), "{message}");
        }
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
