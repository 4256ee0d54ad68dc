//! What the tests need beyond Rust and a C linker: found, and where it is missing, installed or asked for.

use crate::process::{self, Ending, output_of};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Longest time that one installation may take.
const INSTALL_LIMIT: Duration = Duration::from_secs(15 * 60);

/// Who installs a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Installer {
    /// Debian's package tool, as root.
    Apt,
    /// The Rust toolchain's, as anyone.
    Rustup,
}

/// One thing that the tests need. To add one, add a line to [`NEEDS`].
struct Need {
    package: &'static str,
    installer: Installer,
    /// What it is for, and so what is left out without it.
    why: &'static str,
    /// True when MPI cannot be built or run without it.
    for_mpi: bool,
    found: fn() -> bool,
}

/// Everything that the tests need.
const NEEDS: &[Need] = &[
    Need {
        package: "rustfmt",
        installer: Installer::Rustup,
        why: "the check of the format",
        for_mpi: false,
        found: || output_of("cargo", &["fmt", "--version"]).is_some(),
    },
    Need {
        package: "clippy",
        installer: Installer::Rustup,
        why: "the lints",
        for_mpi: false,
        found: || output_of("cargo", &["clippy", "--version"]).is_some(),
    },
    Need {
        package: "libopenmpi-dev",
        installer: Installer::Apt,
        why: "MPI: its headers and mpicc, to build undine-core's feature `mpi`",
        for_mpi: true,
        found: || on_path("mpicc"),
    },
    Need {
        package: "openmpi-bin",
        installer: Installer::Apt,
        why: "MPI: mpirun, to run several processes",
        for_mpi: true,
        found: || on_path("mpirun"),
    },
    Need {
        package: "libclang-dev",
        installer: Installer::Apt,
        why: "MPI: libclang, with which the `mpi` crate reads MPI's headers",
        for_mpi: true,
        found: has_libclang,
    },
];

/// What the set-up came to.
pub struct Setup {
    missing: Vec<&'static Need>,
    could_install: bool,
}

impl Setup {
    /// True when nothing is missing.
    pub fn complete(&self) -> bool {
        self.missing.is_empty()
    }

    /// True when something is missing although we were able to install it: a fault, not a choice of the user's.
    pub fn failed(&self) -> bool {
        self.could_install && !self.complete()
    }

    /// True when MPI can be built and run.
    pub fn has_mpi(&self) -> bool {
        !self.missing.iter().any(|need| need.for_mpi)
    }

    /// What is missing, for reading.
    pub fn missing(&self) -> String {
        self.missing.iter().map(|need| need.package).collect::<Vec<_>>().join(", ")
    }
}

/// Looks for everything, installs what is missing where it may, and says what is left.
pub fn run() -> Setup {
    let rustup = missing(Some(Installer::Rustup));
    if !rustup.is_empty() && on_path("rustup") {
        install(Command::new("rustup").args(["component", "add"]).args(packages(&rustup)));
    }

    let apt = missing(Some(Installer::Apt));
    let may_apt = is_root() && on_path("apt-get");
    if !apt.is_empty() && may_apt {
        println!("  installing {} (some 100 MB, a minute or two)", packages(&apt).join(", "));
        // One unreachable source fails the update, and the packages may well come from another.
        install(&mut apt_get(&["update"]));
        install(apt_get(&["install", "-y", "--no-install-recommends"]).args(packages(&apt)));
    }

    let setup = Setup { missing: missing(None), could_install: may_apt };
    for need in &setup.missing {
        println!("  missing: {:<16} for {}", need.package, need.why);
    }
    if !setup.complete() && !may_apt {
        println!(
            "  to install them:  {}",
            commands(&setup.missing, on_path("apt-get")).join(" && ")
        );
    }
    match (setup.complete(), setup.has_mpi()) {
        (true, _) => println!("  everything is here"),
        (false, true) => {}
        (false, false) => println!("  MPI and its tests are left out"),
    }
    setup
}

fn missing(installer: Option<Installer>) -> Vec<&'static Need> {
    NEEDS
        .iter()
        .filter(|need| installer.is_none_or(|one| one == need.installer) && !(need.found)())
        .collect()
}

fn packages(needs: &[&Need]) -> Vec<&'static str> {
    needs.iter().map(|need| need.package).collect()
}

/// The exact commands with which a person installs `needs`.
fn commands(needs: &[&'static Need], has_apt: bool) -> Vec<String> {
    let of = |installer| {
        packages(
            &needs.iter().copied().filter(|need| need.installer == installer).collect::<Vec<_>>(),
        )
    };
    let (apt, rustup) = (of(Installer::Apt).join(" "), of(Installer::Rustup).join(" "));
    let mut commands = Vec::new();
    if !apt.is_empty() && has_apt {
        commands.push(format!("sudo apt-get update && sudo apt-get install -y {apt}"));
    } else if !apt.is_empty() {
        commands.push(format!("(your system's packages of what Debian calls {apt})"));
    }
    if !rustup.is_empty() {
        commands.push(format!("rustup component add {rustup}"));
    }
    commands
}

fn apt_get(arguments: &[&str]) -> Command {
    let mut command = Command::new("apt-get");
    // A fresh machine is often still updating itself: wait for its lock.
    command
        .env("DEBIAN_FRONTEND", "noninteractive")
        .args(["-q", "-o", "DPkg::Lock::Timeout=300"])
        .args(arguments);
    command
}

/// Runs an installer. Whether it worked shows when we look again for what was missing.
fn install(command: &mut Command) {
    println!("  {command:?}");
    match process::run_shown(command, INSTALL_LIMIT) {
        Ok(Ending::Exited(status)) if status.success() => {}
        Ok(ending) => println!("  failed: {ending:?}"),
        Err(why) => println!("  failed: {why}"),
    }
}

fn is_root() -> bool {
    output_of("id", &["-u"]).as_deref() == Some("0")
}

fn on_path(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    })
}

/// Looks where the `clang-sys` crate looks: the variable `LIBCLANG_PATH`, LLVM's own folders, the system's.
fn has_libclang() -> bool {
    let named = std::env::var_os("LIBCLANG_PATH").map(PathBuf::from);
    if named.as_deref().is_some_and(Path::is_file) {
        return true;
    }
    let fixed = [
        "/usr/lib",
        "/usr/lib64",
        "/usr/local/lib",
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
    ];
    let llvm = files_in(Path::new("/usr/lib")).filter(|path| name_starts_with(path, "llvm-"));
    let folders =
        named.into_iter().chain(fixed.map(PathBuf::from)).chain(llvm.map(|path| path.join("lib")));
    // `libclang.so` and `libclang-14.so.1`, but not `libclang-cpp.so`.
    folders.flat_map(|folder| files_in(&folder).collect::<Vec<_>>()).any(|path| {
        (name_starts_with(&path, "libclang.so") || name_starts_with(&path, "libclang-"))
            && !name_starts_with(&path, "libclang-cpp")
            && path.to_string_lossy().contains(".so")
    })
}

fn files_in(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn name_starts_with(path: &Path, start: &str) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_for_a_person_is_exact() {
        let all: Vec<&Need> = NEEDS.iter().collect();
        assert_eq!(
            commands(&all, true),
            [
                "sudo apt-get update && sudo apt-get install -y libopenmpi-dev openmpi-bin libclang-dev",
                "rustup component add rustfmt clippy"
            ]
        );
        assert!(commands(&all, false)[0].contains("libopenmpi-dev"));
    }

    #[test]
    fn mpi_needs_every_one_of_its_packages() {
        for need in NEEDS.iter().filter(|need| need.for_mpi) {
            assert!(!Setup { missing: vec![need], could_install: false }.has_mpi());
        }
        assert!(Setup { missing: Vec::new(), could_install: true }.has_mpi());
    }

    #[test]
    fn programs_are_found_on_the_path() {
        assert!(on_path("sh"));
        assert!(!on_path("no-such-program"));
    }
}
