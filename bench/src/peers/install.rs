//! How peers come onto the machine: Python packages into environments of their own below `bench/.peers/`, and what only Debian
//! has through `apt-get`, where we may.

use super::PeerError;
use super::command::output;
use crate::Result;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A Debian package that a peer cannot do without.
pub struct Package {
    /// What Debian calls it.
    pub name: &'static str,
    /// Whether it is here, however it came.
    pub found: fn() -> bool,
}

/// Headers that AMGCL is compiled with.
pub const BOOST: Package =
    Package { name: "libboost-dev", found: || Path::new("/usr/include/boost").is_dir() };

/// PETSc for Python, and hypre in it.
pub const PETSC: Package = Package { name: "python3-petsc4py", found: has_petsc4py };

/// `mpirun`.
pub const MPI: Package = Package { name: "openmpi-bin", found: || on_path("mpirun") };

/// OpenVDB for the system's Python.
pub const OPENVDB: Package =
    Package { name: "python3-openvdb", found: || has_python_module("pyopenvdb") };

/// NumPy for the system's Python.
pub const NUMPY: Package = Package { name: "python3-numpy", found: || has_python_module("numpy") };

/// Blender, with Mantaflow in it.
pub const BLENDER: Package = Package { name: "blender", found: || on_path("blender") };

/// A folder of this crate.
pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The Python of an environment that has exactly the packages of `peers/NAME.txt`; made on first use, or when they change.
///
/// Where there is a `peers/NAME.build.txt`, its packages come first, and the others are built with them: some packages
/// use at build time what they do not say that they need.
pub fn python_with(name: &str) -> Result<PathBuf> {
    let packages = folder("peers").join(name).with_extension("txt");
    let build = packages.with_extension("build.txt");
    let wanted = fs::read_to_string(&packages)? + &fs::read_to_string(&build).unwrap_or_default();
    let environment = folder(".peers").join(name);
    let python = environment.join("bin").join("python");

    // Written last, so that an interrupted installation begins anew.
    let installed = environment.join("installed.txt");
    if fs::read_to_string(&installed).is_ok_and(|found| found == wanted) {
        return Ok(python);
    }

    println!("  {name}: installing {} into {}", packages.display(), environment.display());
    output(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment))?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "2"];
    let install = || {
        let mut command = Command::new(&python);
        command.args(pip);
        command
    };
    if build.is_file() {
        output(install().arg("--requirement").arg(&build))?;
        // Some Pythons ask for less optimisation than a peer deserves.
        output(
            install()
                .envs([("CFLAGS", "-O3"), ("CXXFLAGS", "-O3")])
                .args(["--no-build-isolation", "--requirement"])
                .arg(&packages),
        )?;
    } else {
        output(install().arg("--requirement").arg(&packages))?;
    }
    fs::write(installed, wanted)?;
    Ok(python)
}

/// Installs those of `packages` that are missing if we are root on a Debian; otherwise the error says how to.
pub fn debian(packages: &[Package]) -> Result<(), PeerError> {
    let missing = || -> Vec<&str> {
        packages.iter().filter(|package| !(package.found)()).map(|package| package.name).collect()
    };
    let names = missing();
    if names.is_empty() {
        return Ok(());
    }
    if is_root() && on_path("apt-get") {
        println!("  installing {} with apt-get", names.join(", "));
        // One unreachable source fails the update, and the packages may well come from another.
        let _ = output(&mut apt_get(&["update"]));
        output(apt_get(&["install", "-y", "--no-install-recommends"]).args(&names))?;
    }
    match missing() {
        names if names.is_empty() => Ok(()),
        names => Err(PeerError::Missing { packages: names.join(" ") }),
    }
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

fn is_root() -> bool {
    output(Command::new("id").arg("-u")).is_ok_and(|id| id.stdout.trim_ascii() == b"0")
}

/// Looks where `peers/petsc_solve.py` looks: Debian keeps a petsc4py beside each PETSc, by version and kind of numbers.
fn has_petsc4py() -> bool {
    let folders_in = |folder: &Path| -> Vec<PathBuf> {
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    };
    let of_versions = folders_in(Path::new("/usr/lib/petscdir"));
    of_versions.iter().flat_map(|version| folders_in(version)).any(|kind| {
        kind.to_string_lossy().ends_with("-real")
            && kind.join("lib/python3/dist-packages/petsc4py").is_dir()
    })
}

/// Whether the system's own Python has a module.
fn has_python_module(name: &str) -> bool {
    output(Command::new("/usr/bin/python3").args(["-c", &format!("import {name}")])).is_ok()
}

fn on_path(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_here_is_not_installed() {
        let here = Package { name: "no-such-package", found: || true };
        assert_eq!(debian(&[here]), Ok(()));
    }

    #[test]
    fn programs_are_found_on_the_path() {
        assert!(on_path("sh"));
        assert!(!on_path("no-such-program"));
    }

    #[test]
    fn every_environment_pins_all_of_its_packages() {
        for entry in fs::read_dir(folder("peers")).expect("peers/ is there").flatten() {
            if entry.path().extension().is_some_and(|extension| extension == "txt") {
                let packages = fs::read_to_string(entry.path()).expect("a text");
                for line in packages.lines() {
                    assert!(line.contains("=="), "{}: {line}", entry.path().display());
                }
            }
        }
    }
}
