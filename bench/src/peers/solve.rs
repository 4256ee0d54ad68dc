//! Peers that solve linear systems: they are given the very system that the benchmark has built.

use super::command::{last_line, number, words};
use super::install::{BOOST, MPI, PETSC, debian, folder, python_with};
use super::system::{Definiteness, System};
use super::{PeerChoice, PeerError};
use crate::Result;
use crate::report::Value;
use std::path::Path;
use std::process::Command;

/// A program that solves linear systems.
#[derive(Debug, Clone, Copy)]
pub struct SolverPeer {
    /// Short name; keys of the last line are `vs_NAME`, `mem_vs_NAME`, `NAME_seconds` and so on.
    pub name: &'static str,
    /// Known to be ten times slower than we are on such systems: runs only with `--peers=all`.
    pub ten_times_slower: bool,
    /// Whether it also solves systems that are not positive definite.
    pub indefinite: bool,
    /// The command that solves what a task describes; installs the peer if need be.
    pub command: fn(&SolverTask) -> Result<Command>,
}

/// What a peer is to solve, and with what.
#[derive(Debug, Clone, Copy)]
pub struct SolverTask<'a> {
    /// The folder of the system.
    pub system: &'a Path,
    /// What is promised of the matrix.
    pub definiteness: Definiteness,
    /// Wanted residual, relative to the right-hand side.
    pub tolerance: f64,
    /// Threads, or processes of one thread each.
    pub threads: usize,
}

/// How a peer solved a system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PeerSolve {
    /// Time to prepare: hierarchy or factors [s].
    pub setup_seconds: f64,
    /// Time to solve for one right-hand side [s].
    pub solve_seconds: f64,
    /// Iterations of its Krylov method; 1 for a direct solver.
    pub iterations: u64,
    /// |b − A·x| ÷ |b|, computed from its solution.
    pub residual: f64,
    /// Most memory it had at any time, beyond matrix and right-hand side [B].
    pub extra_bytes: u64,
}

/// How those peers that ran solved a system, by name.
pub type PeerSolves = Vec<(&'static str, PeerSolve)>;

/// AMGCL's smoothed aggregation with SPAI-0, in CG.
pub const AMGCL: SolverPeer = SolverPeer {
    name: "amgcl",
    ten_times_slower: false,
    indefinite: false,
    command: |task| {
        debian(&[BOOST])?;
        python_solver("amgcl", "amgcl", task)
    },
};

/// hypre's BoomerAMG, tuned for Poisson matrices, in PETSc's CG.
pub const HYPRE: SolverPeer = SolverPeer {
    name: "hypre",
    ten_times_slower: false,
    indefinite: false,
    command: |task| petsc_solver("hypre", task),
};

/// PETSc's own algebraic multigrid, in its CG.
pub const GAMG: SolverPeer = SolverPeer {
    name: "gamg",
    ten_times_slower: false,
    indefinite: false,
    command: |task| petsc_solver("gamg", task),
};

/// PyAMG's smoothed aggregation, in CG.
pub const PYAMG: SolverPeer = SolverPeer {
    name: "pyamg",
    ten_times_slower: false,
    indefinite: false,
    command: |task| python_solver("scipy", "pyamg", task),
};

/// SciPy's CG without a preconditioner.
pub const SCIPY_CG: SolverPeer = SolverPeer {
    name: "scipy",
    ten_times_slower: false,
    indefinite: false,
    command: |task| python_solver("scipy", "scipy", task),
};

/// MKL PARDISO: a direct solver, by Cholesky or LDLᵀ.
pub const PARDISO: SolverPeer = SolverPeer {
    name: "pardiso",
    ten_times_slower: false,
    indefinite: true,
    command: |task| python_solver("pardiso", "pardiso", task),
};

/// How much larger than wanted a residual may be: peers stop on one that they update from step to step, and rounding
/// moves it away from the true one.
const RESIDUAL_SLACK: f64 = 1.1;

impl SolverPeer {
    /// The same peer on systems for which it is known to be ten times slower than we are.
    pub const fn only_if_all_are_wanted(self) -> Self {
        SolverPeer { ten_times_slower: true, ..self }
    }

    fn solve(&self, task: &SolverTask) -> Result<PeerSolve> {
        if task.definiteness == Definiteness::Indefinite && !self.indefinite {
            return Err("it solves positive definite systems only".into());
        }
        let mut command = (self.command)(task)?;
        let line = last_line(&mut command)?;
        let solve = PeerSolve::parse(&line)
            .ok_or_else(|| PeerError::NoSolve { command: words(&command), found: line })?;
        if solve.residual > RESIDUAL_SLACK * task.tolerance {
            let (found, wanted) = (solve.residual, task.tolerance);
            return Err(PeerError::NotSolved { found, wanted }.into());
        }
        Ok(solve)
    }
}

impl PeerSolve {
    /// Time to prepare and to solve [s].
    pub fn seconds(&self) -> f64 {
        self.setup_seconds + self.solve_seconds
    }

    /// Reads the last line of a peer's script.
    fn parse(line: &str) -> Option<Self> {
        let number = |key| number(line, key).filter(|&number| number >= 0.0);
        let solve = PeerSolve {
            setup_seconds: number("setup_seconds")?,
            solve_seconds: number("solve_seconds")?,
            iterations: number("iterations")? as u64,
            residual: number("residual")?,
            extra_bytes: number("extra_bytes")? as u64,
        };
        (solve.seconds() > 0.0).then_some(solve)
    }
}

/// Has each of `peers` that is chosen and can be had solve `system`; says on standard output what came of it.
pub fn solve_with(
    peers: &[SolverPeer],
    choice: PeerChoice,
    system: &System,
    threads: usize,
) -> PeerSolves {
    let chosen: Vec<&SolverPeer> =
        peers.iter().filter(|peer| choice.runs(peer.name, peer.ten_times_slower)).collect();
    if chosen.is_empty() {
        return PeerSolves::new();
    }
    let folder = match system.write() {
        Ok(folder) => folder,
        Err(error) => {
            println!("  peers: left out, the system cannot be handed to them: {error}");
            return PeerSolves::new();
        }
    };
    let System { definiteness, tolerance, .. } = *system;
    let task = SolverTask { system: folder.path(), definiteness, tolerance, threads };
    let solve = |peer: &SolverPeer| match peer.solve(&task) {
        Ok(solve) => {
            let [setup, seconds] = [solve.setup_seconds, solve.solve_seconds].map(Value::Number);
            println!(
                "  {}: set-up {setup} s, solve {seconds} s, {} iterations to residual {:.1e}, {} MB",
                peer.name,
                solve.iterations,
                solve.residual,
                solve.extra_bytes / 1_000_000
            );
            Some((peer.name, solve))
        }
        Err(error) => {
            println!("  {}: left out, {error}", peer.name);
            None
        }
    };
    chosen.into_iter().filter_map(solve).collect()
}

/// A solver of `peers/solvers.py`, with the packages of `environment`.
fn python_solver(environment: &str, solver: &str, task: &SolverTask) -> Result<Command> {
    let mut command = Command::new(python_with(environment)?);
    command
        .arg(folder("peers").join("solvers.py"))
        .args(["--solver", solver, "--threads", &task.threads.to_string()])
        .args(common_arguments(task));
    if task.definiteness == Definiteness::Indefinite {
        command.arg("--indefinite");
    }
    Ok(command)
}

/// A preconditioner of `peers/petsc_solve.py`, with one process for each thread.
fn petsc_solver(preconditioner: &str, task: &SolverTask) -> Result<Command> {
    debian(&[PETSC, MPI])?;
    let mut command = Command::new("mpirun");
    command
        // Open MPI counts the cores in its own way and binds to them; the system places processes better.
        .args(["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"])
        .args(["-n", &task.threads.to_string()])
        // Debian's packages are for Debian's own Python.
        .arg("/usr/bin/python3")
        .arg(folder("peers").join("petsc_solve.py"))
        .args(["--pc", preconditioner])
        .args(common_arguments(task));
    Ok(command)
}

fn common_arguments(task: &SolverTask) -> [std::ffi::OsString; 4] {
    ["--system".into(), task.system.into(), "--tolerance".into(), task.tolerance.to_string().into()]
}

#[cfg(test)]
mod tests {
    use super::super::system::tests::PATH_OF_THREE;
    use super::*;

    /// A stand-in that reads the system and answers at once; its residual is the wanted one.
    const STAND_IN: SolverPeer = SolverPeer {
        name: "stand-in",
        ten_times_slower: false,
        indefinite: false,
        command: |task| {
            let script = r#"read rows nonzeros < "$0"/shape.txt; echo working
                echo stand-in: setup_seconds=0.5 solve_seconds=0.25 iterations=$rows residual=$1 extra_bytes=$nonzeros"#;
            let mut shell = Command::new("sh");
            shell.args(["-c", script]).arg(task.system).arg(task.tolerance.to_string());
            Ok(shell)
        },
    };
    const SOLVED: PeerSolve = PeerSolve {
        setup_seconds: 0.5,
        solve_seconds: 0.25,
        iterations: 3,
        residual: 1e-6,
        extra_bytes: 7,
    };

    fn says(name: &'static str, command: fn(&SolverTask) -> Result<Command>) -> SolverPeer {
        SolverPeer { name, command, ..STAND_IN }
    }

    fn echo(line: &str) -> Result<Command> {
        let mut echo = Command::new("echo");
        echo.arg(line);
        Ok(echo)
    }

    #[test]
    fn a_peer_is_given_the_system_and_its_last_line_is_read() {
        let found = solve_with(&[STAND_IN], PeerChoice::Fast, &PATH_OF_THREE, 1);
        assert_eq!(found, [("stand-in", SOLVED)]);
        assert_eq!(SOLVED.seconds(), 0.75);
    }

    #[test]
    fn slow_peers_solve_only_when_all_are_wanted() {
        let peers = [SolverPeer { name: "slow", ..STAND_IN.only_if_all_are_wanted() }, STAND_IN];
        let names = |choice| -> Vec<_> {
            let found = solve_with(&peers, choice, &PATH_OF_THREE, 1);
            found.into_iter().map(|(name, _)| name).collect()
        };
        assert_eq!(names(PeerChoice::None), Vec::<&str>::new());
        assert_eq!(names(PeerChoice::Fast), ["stand-in"]);
        assert_eq!(names(PeerChoice::All), ["slow", "stand-in"]);
    }

    #[test]
    fn peers_that_cannot_be_had_or_do_not_solve_are_left_out() {
        let peers = [
            says("absent", |_| Err("not for this system".into())),
            says("not-started", |_| Ok(Command::new("/no/such/peer"))),
            says("silent", |_| echo("")),
            says("instant", |_| {
                echo("setup_seconds=0 solve_seconds=0 iterations=1 residual=0 extra_bytes=0")
            }),
            says("diverged", |_| {
                echo("setup_seconds=1 solve_seconds=1 iterations=9 residual=nan extra_bytes=0")
            }),
            says("inexact", |_| {
                echo("setup_seconds=1 solve_seconds=1 iterations=9 residual=1e-5 extra_bytes=0")
            }),
            STAND_IN,
        ];
        let found = solve_with(&peers, PeerChoice::All, &PATH_OF_THREE, 1);
        assert_eq!(found, [("stand-in", SOLVED)]);
    }

    #[test]
    fn only_those_that_can_are_given_indefinite_systems() {
        let system = System { definiteness: Definiteness::Indefinite, ..PATH_OF_THREE };
        let able = SolverPeer { name: "able", indefinite: true, ..STAND_IN };
        let found = solve_with(&[STAND_IN, able], PeerChoice::All, &system, 1);
        assert_eq!(found, [("able", SOLVED)]);
    }

    #[test]
    fn a_system_that_does_not_fit_together_costs_its_peers_only() {
        let system = System { rhs: &[], ..PATH_OF_THREE };
        assert_eq!(solve_with(&[STAND_IN], PeerChoice::All, &system, 1), []);
    }

    #[test]
    fn a_residual_that_is_too_large_is_named() {
        let task = SolverTask {
            system: Path::new("unread"),
            definiteness: Definiteness::Positive,
            tolerance: 1e-6,
            threads: 1,
        };
        let peer = says("inexact", |_| {
            echo("setup_seconds=1 solve_seconds=1 iterations=9 residual=1e-5 extra_bytes=0")
        });
        let message = peer.solve(&task).expect_err("it stopped too early").to_string();
        assert_eq!(message, "it stopped at residual 1.0e-5, wanted is 1.0e-6");
    }
}
