//! Calls of cargo: at the root of the repository, with one profile, and with the features of what is installed.

use crate::metadata::Package;
use crate::process::{self, Ending};
use crate::report::Outcome;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// A cargo command that takes longer hangs: many times what a build takes on an idle machine of two cores.
pub const CARGO_LIMIT: Duration = Duration::from_secs(4 * 60 * 60);

/// The root of the repository.
pub fn root() -> PathBuf {
    let xtask = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().map(PathBuf::from).unwrap_or(xtask)
}

/// `cargo` with these arguments, at the root: the very cargo that called us.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).args(arguments);
    command
}

/// The arguments that make all cargo commands share one build: the same profile, packages and features.
///
/// `features` are turned on in each package that has them.
pub fn one_build(members: &[Package], features: &[&str]) -> Vec<String> {
    let mut arguments = ["--workspace", "--profile", "tested"].map(str::to_string).to_vec();
    let has = |package: &Package, feature: &str| package.features.iter().any(|one| one == feature);
    let features: Vec<String> = members
        .iter()
        .flat_map(|package| features.iter().map(move |feature| (package, feature)))
        .filter(|(package, feature)| has(package, feature))
        .map(|(package, feature)| format!("{}/{feature}", package.name))
        .collect();
    if !features.is_empty() {
        arguments.extend(["--features".to_string(), features.join(",")]);
    }
    arguments
}

/// Lets processes of MPI share few cores, run by root or not, and give the core away while they wait.
pub fn with_mpi_settings(command: &mut Command) -> &mut Command {
    command
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .env("OMPI_MCA_mpi_yield_when_idle", "1")
        .env("OMPI_MCA_hwloc_base_binding_policy", "none")
}

/// Runs a command whose exit status is the verdict; its output goes to the terminal.
pub fn passes(command: &mut Command, limit: Duration) -> Result<Outcome, String> {
    match process::run_shown(command, limit) {
        Ok(Ending::Exited(status)) => Ok(Outcome::of(status.success())),
        Ok(_) => Err(format!("killed after {} minutes", limit.as_secs() / 60)),
        Err(why) => Err(why.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_turned_on_in_each_package_that_has_them() {
        let package = |name: &str, features: &[&str]| Package {
            name: name.to_string(),
            features: features.iter().map(|feature| feature.to_string()).collect(),
            ..Package::default()
        };
        let members =
            [package("a", &["mpi", "peer"]), package("b", &["other"]), package("c", &["mpi"])];
        let last = |features| one_build(&members, features).pop().unwrap_or_default();
        assert_eq!(last(&["mpi"]), "a/mpi,c/mpi");
        assert_eq!(last(&["mpi", "peer"]), "a/mpi,a/peer,c/mpi");
        assert_eq!(one_build(&members, &[]), ["--workspace", "--profile", "tested"]);
        assert_eq!(one_build(&members[1..2], &["mpi"]).len(), 3);
    }
}
