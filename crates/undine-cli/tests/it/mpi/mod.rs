//! `mpirun undine run`: several processes make one run together.

#[cfg(feature = "mpi")]
mod air;
#[cfg(feature = "mpi")]
mod failure;
#[cfg(feature = "mpi")]
mod hair;
#[cfg(feature = "mpi")]
mod liquid;
#[cfg(feature = "mpi")]
mod resume;
#[cfg(feature = "mpi")]
mod same;

#[cfg(feature = "mpi")]
mod together {
    use crate::program::Stage;
    use mpirun::Run;
    use std::collections::BTreeMap;

    /// The program.
    pub const UNDINE: &str = env!("CARGO_BIN_EXE_undine");

    /// Runs a scene on so many processes, with these words; it has to end well.
    pub fn runs(processes: usize, stage: &Stage, words: &[&str]) -> Run {
        let scene = stage.scene();
        let words: Vec<&str> = ["run", &scene].iter().chain(words).copied().collect();
        let run = mpirun::program(UNDINE, &[(processes, &words)]);
        assert!(run.success, "{words:?} on {processes} processes:\n{}", run.output);
        run
    }

    /// A scene of the examples, cut short.
    pub fn example(name: &str) -> Stage {
        let file = format!("{}/../../examples/{name}/scene.kdl", env!("CARGO_MANIFEST_DIR"));
        Stage::new(&std::fs::read_to_string(file).expect("an example"))
    }

    /// Runs a test in the full tier alone: what more processes would show is seldom worth the wait.
    pub fn in_the_full_tier(test: impl FnOnce()) {
        if std::env::var_os("UNDINE_FULL").is_some() {
            test();
        }
    }

    /// What does not depend on how many processes there are: all but checkpoints, which say how many wrote them, and pictures, of
    /// which only the names are compared.
    pub fn frames(stage: &Stage) -> BTreeMap<String, Vec<u8>> {
        let all = crate::program::files(&stage.cache());
        let depends = |name: &str| name.starts_with("checkpoint") || name.starts_with("manifest");
        let kept = all.into_iter().filter(|(name, _)| !depends(name));
        let bytes =
            |name: &str, bytes| if name.starts_with("pictures/") { Vec::new() } else { bytes };
        kept.map(|(name, content)| (name.clone(), bytes(&name, content))).collect()
    }
}

/// A program that knows nothing of MPI would do the whole run several times, over each other.
#[cfg(not(feature = "mpi"))]
#[test]
fn a_build_without_mpi_refuses_to_be_one_of_several_processes() {
    use crate::program::{SCENE, Stage, of, undine};
    let stage = Stage::new(SCENE);
    for (rank, size) in [("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE")]
    {
        let refused = |number: &str| {
            let mut command = undine(&["run", &stage.scene()]);
            of(command.env(rank, number).env(size, "2").output().expect("the program starts"))
        };
        let first = refused("0");
        assert_eq!(first.code, 1, "{}", first.error);
        assert!(first.error.contains("built without MPI"), "{}", first.error);
        // Said once, not by each of them.
        assert_eq!((refused("1").code, refused("1").error), (1, String::new()));
    }
    assert!(!stage.cache().exists());
}
