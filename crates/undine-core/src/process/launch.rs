//! How a program becomes one of the processes of a run, and how it ends all of them.

#[cfg(feature = "mpi")]
use super::mpi::Mpi;
use super::{Processes, Single, name_of};
use std::{fmt::Display, process::ExitCode, sync::Arc};

/// Runs `main` with the processes of this run: MPI when `mpirun` (or `mpiexec`, `srun`) started the program, otherwise
/// the embedded [`Single`]. Called once, around everything else that a program does.
///
/// An error of `main` is printed, as `process 2 of 4: message` in a distributed run, and ends every process; so does a
/// panic, on whatever thread. The death of a process ends the others through `mpirun`.
///
/// Without the cargo feature `mpi`, a program that was started as one of several processes refuses to run, rather than
/// do the whole work several times.
///
/// In the environment, `UNDINE_MPI_CHUNK` sets the largest single MPI message in bytes (default 1 GiB): a longer parcel
/// travels in pieces.
pub fn launch<E: Display>(main: impl FnOnce(Arc<dyn Processes>) -> Result<(), E>) -> ExitCode {
    let outcome = match Place::here() {
        Some(place) => distributed(&place, |processes| main(processes).map_err(Failure::told)),
        None => embedded(|processes| main(processes).map_err(Failure::told)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if let Some(message) = failure.message {
                eprintln!("error: {message}");
            }
            ExitCode::FAILURE
        }
    }
}

/// As [`launch`], for a program that tells of its own failures: `main` returns the code that its process is to end with, and so
/// does this. Another code than 0 on any process ends every one of them, with that code and without a word.
pub fn launch_with_code(main: impl FnOnce(Arc<dyn Processes>) -> u8) -> u8 {
    let main = |processes| match main(processes) {
        0 => Ok(()),
        code => Err(Failure { code, message: None }),
    };
    let place = Place::here();
    let outcome = match &place {
        Some(place) => distributed(place, main),
        None => embedded(main),
    };
    match outcome {
        Ok(()) => 0,
        Err(Failure { code, message }) => {
            // What all processes find out by themselves is said once.
            if let Some(message) = message
                && place.is_none_or(|place| place.rank == 0)
            {
                eprintln!("error: {message}");
            }
            code
        }
    }
}

/// Why a process fails, and the code that it ends with.
#[derive(Debug, PartialEq, Eq)]
struct Failure {
    code: u8,
    /// What is still to be said.
    message: Option<String>,
}

impl Failure {
    fn told(why: impl Display) -> Self {
        Self { code: 1, message: Some(why.to_string()) }
    }
}

fn embedded(main: impl FnOnce(Arc<dyn Processes>) -> Result<(), Failure>) -> Result<(), Failure> {
    main(Arc::new(Single))
}

#[cfg(feature = "mpi")]
fn distributed(
    place: &Place,
    main: impl FnOnce(Arc<dyn Processes>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mpi = Mpi::initialise().map_err(Failure::told)?;
    if mpi.count() != place.count {
        // A foreign mpirun starts each process as a world of its own; N whole runs would overwrite each other's files.
        mpi.abort(&format!(
            "started as {}, but MPI sees {}: use the mpirun of the MPI that this program was built with",
            name_of(place.rank, place.count),
            mpi.count()
        ));
    }
    match main(Arc::new(mpi.clone())) {
        Ok(()) => mpi.end(),
        Err(Failure { message: Some(message), .. }) => mpi.abort(&message),
        Err(Failure { code, message: None }) => mpi.abort_with_code(code),
    }
    Ok(())
}

#[cfg(not(feature = "mpi"))]
fn distributed(
    place: &Place,
    main: impl FnOnce(Arc<dyn Processes>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if place.count > 1 {
        return Err(Failure::told(format!(
            "started as {}, but built without MPI: build with `--features mpi`, or start it without mpirun",
            name_of(place.rank, place.count)
        )));
    }
    embedded(main)
}

/// What the launcher tells a process in its environment.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    rank: usize,
    count: usize,
}

impl Place {
    /// Where rank and count stand: Open MPI, then MPICH and its relatives, then Slurm with PMIx.
    const VARIABLES: [(&str, &str); 3] = [
        ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
        ("PMI_RANK", "PMI_SIZE"),
        ("PMIX_RANK", "SLURM_STEP_NUM_TASKS"),
    ];

    /// As the environment of this process says.
    fn here() -> Option<Place> {
        Self::find(|name| std::env::var(name).ok())
    }

    fn find(variable: impl Fn(&str) -> Option<String>) -> Option<Place> {
        Self::VARIABLES.iter().find_map(|(rank, count)| {
            let number = |name| variable(name)?.trim().parse().ok();
            Some(Place { rank: number(rank)?, count: number(count)? })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(variables: &[(&str, &str)]) -> Option<Place> {
        Place::find(|name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_string())
        })
    }

    #[test]
    fn the_launcher_is_recognised_by_its_environment() {
        let place = Some(Place { rank: 2, count: 4 });
        assert_eq!(find(&[("OMPI_COMM_WORLD_SIZE", "4"), ("OMPI_COMM_WORLD_RANK", "2")]), place);
        assert_eq!(find(&[("PMI_RANK", "2"), ("PMI_SIZE", "4")]), place);
        assert_eq!(find(&[("PMIX_RANK", "2"), ("SLURM_STEP_NUM_TASKS", "4")]), place);
    }

    #[test]
    fn a_batch_job_that_no_launcher_started_is_a_single_process() {
        assert_eq!(find(&[]), None);
        assert_eq!(find(&[("SLURM_STEP_NUM_TASKS", "4"), ("SLURM_PROCID", "0")]), None);
        assert_eq!(find(&[("OMPI_COMM_WORLD_SIZE", "many"), ("OMPI_COMM_WORLD_RANK", "0")]), None);
    }

    #[test]
    fn an_error_of_a_single_process_is_returned_whole() {
        assert_eq!(embedded(|_| Err(Failure::told("no water"))), Err(Failure::told("no water")));
        assert_eq!(
            embedded(|processes| match processes.count() {
                1 => Ok(()),
                _ => Err(Failure::told("several")),
            }),
            Ok(())
        );
    }

    #[cfg(not(feature = "mpi"))]
    #[test]
    fn several_processes_without_mpi_are_refused() {
        let run = |count| distributed(&Place { rank: 0, count }, |_| Ok(()));
        assert_eq!(run(1), Ok(()));
        let said = run(4).unwrap_err().message.unwrap();
        assert!(said.contains("started as process 0 of 4, but built without MPI"), "{said}");
    }
}
