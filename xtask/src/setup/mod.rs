//! What the tests need beyond Rust and a C linker: found, and where it is missing, installed or asked for.

mod needs;
mod python;

use crate::process::{self, Ending, output_of};
use needs::{Installer, NEEDS, Need, Part, on_path};
use std::process::Command;
use std::time::Duration;

/// An installation that takes longer hangs.
const INSTALL_LIMIT: Duration = Duration::from_secs(2 * 60 * 60);

/// What the set-up came to.
pub struct Setup {
    missing: Vec<&'static Need>,
    could_install: fn(&Need) -> bool,
}

impl Setup {
    /// True when nothing is missing.
    pub fn complete(&self) -> bool {
        self.missing.is_empty()
    }

    /// True when something is missing although we were able to install it: a fault, not a choice of the user's.
    pub fn failed(&self) -> bool {
        self.missing.iter().any(|need| (self.could_install)(need))
    }

    /// The features that turn on the tests for which everything is here.
    pub fn features(&self) -> Vec<&'static str> {
        let parts = Part::WITH_FEATURE.into_iter().filter(|&part| self.has(part));
        parts.filter_map(Part::feature).collect()
    }

    /// What is missing, for reading.
    pub fn missing(&self) -> String {
        packages(&self.missing).join(", ")
    }

    fn has(&self, part: Part) -> bool {
        !self.missing.iter().any(|need| need.part == part)
    }
}

/// Looks for everything, installs what is missing where it may, and says what is left.
pub fn run() -> Setup {
    let rustup = missing(Installer::Rustup);
    if !rustup.is_empty() && on_path("rustup") {
        install(Command::new("rustup").args(["component", "add"]).args(packages(&rustup)));
    }

    let apt = missing(Installer::Apt);
    if !apt.is_empty() && may_apt() {
        println!("  installing {} (some 100 to 300 MB, a few minutes)", packages(&apt).join(", "));
        // One unreachable source fails the update, and the packages may well come from another.
        install(&mut apt_get(&["update"]));
        install(apt_get(&["install", "-y", "--no-install-recommends"]).args(packages(&apt)));
    }

    // Without the libraries of the system it would be fetched for nothing.
    let lacks_ground = missing(Installer::Apt).iter().any(|need| need.part == Part::Python);
    if !missing(Installer::Pip).is_empty() && !lacks_ground && python::has_packages() {
        python::install(install);
    }

    let missing = NEEDS.iter().filter(|need| !(need.found)()).collect();
    let setup = Setup { missing, could_install };
    report(&setup);
    setup
}

fn report(setup: &Setup) {
    for need in &setup.missing {
        println!("  missing: {:<16} for {}", need.packages.join(" "), need.why);
    }
    if setup.complete() {
        println!("  everything is here");
        return;
    }
    if !setup.failed() {
        let commands = commands(&setup.missing, on_path("apt-get"));
        println!("  to install them:  {}", commands.join(" && "));
    }
    for part in Part::WITH_FEATURE.into_iter().filter(|&part| !setup.has(part)) {
        println!("  left out: {}", part.left_out());
    }
}

fn missing(installer: Installer) -> Vec<&'static Need> {
    NEEDS.iter().filter(|need| need.installer == installer && !(need.found)()).collect()
}

/// Whether what is missing could be installed here, by us.
fn could_install(need: &Need) -> bool {
    match need.installer {
        Installer::Rustup => on_path("rustup"),
        // Another system's Python is not of Blender's version, however it is installed.
        Installer::Apt if need.packages.contains(&"python3-venv") => false,
        Installer::Apt => may_apt(),
        Installer::Pip => python::has_packages(),
    }
}

fn may_apt() -> bool {
    on_path("apt-get") && output_of("id", &["-u"]).as_deref() == Some("0")
}

fn packages(needs: &[&Need]) -> Vec<&'static str> {
    needs.iter().flat_map(|need| need.packages.iter().copied()).collect()
}

/// The exact commands with which a person installs `needs`.
fn commands(needs: &[&'static Need], has_apt: bool) -> Vec<String> {
    let of = |installer| {
        let needs: Vec<&Need> =
            needs.iter().copied().filter(|need| need.installer == installer).collect();
        packages(&needs).join(" ")
    };
    let [apt, rustup, pip] = [Installer::Apt, Installer::Rustup, Installer::Pip].map(of);
    let mut commands = Vec::new();
    if !apt.is_empty() && has_apt {
        commands.push(format!("sudo apt-get update && sudo apt-get install -y {apt}"));
    } else if !apt.is_empty() {
        commands.push(format!("(your system's packages of what Debian 12 calls {apt})"));
    }
    if !rustup.is_empty() {
        commands.push(format!("rustup component add {rustup}"));
    }
    if !pip.is_empty() {
        // It needs no rights, only what the others bring.
        commands.push("cargo xtask setup".to_string());
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

/// Runs an installer, and tells whether it ended well. Whether it worked shows when we look again for what was missing.
fn install(command: &mut Command) -> bool {
    println!("  {command:?}");
    match process::run_shown(command, INSTALL_LIMIT) {
        Ok(Ending::Exited(status)) if status.success() => return true,
        Ok(ending) => println!("  failed: {ending:?}"),
        Err(why) => println!("  failed: {why}"),
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(need: &'static Need) -> Setup {
        Setup { missing: vec![need], could_install: |_| false }
    }

    #[test]
    fn the_command_for_a_person_is_exact() {
        let all: Vec<&Need> = NEEDS.iter().filter(|need| need.part != Part::Python).collect();
        assert_eq!(
            commands(&all, true),
            [
                "sudo apt-get update && sudo apt-get install -y libopenmpi-dev openmpi-bin libclang-dev \
                 libopenvdb-tools python3-openvdb python3-numpy chromium fonts-dejavu-core",
                "rustup component add rustfmt clippy"
            ]
        );
        assert!(commands(&all, false)[0].contains("libopenmpi-dev"));
        let blender: Vec<&Need> = NEEDS.iter().filter(|need| need.part == Part::Python).collect();
        assert_eq!(commands(&blender, true).last().expect("two commands"), "cargo xtask setup");
    }

    #[test]
    fn a_part_needs_every_one_of_its_packages() {
        for need in NEEDS {
            let setup = without(need);
            assert!(!setup.has(need.part));
            let features = setup.features();
            let left_out = need.part.feature();
            assert_eq!(features.len(), 4 - usize::from(left_out.is_some()), "{features:?}");
            assert!(left_out.is_none_or(|feature| !features.contains(&feature)));
        }
        let all = Setup { missing: Vec::new(), could_install };
        assert_eq!(all.features(), ["mpi", "peer-openvdb", "peer-python", "peer-chromium"]);
    }

    #[test]
    fn what_cannot_be_installed_here_is_no_fault() {
        let need = &NEEDS[0];
        assert!(!without(need).failed());
        assert!(Setup { missing: vec![need], could_install: |_| true }.failed());
        assert!(!Setup { missing: Vec::new(), could_install: |_| true }.failed());
    }
}
