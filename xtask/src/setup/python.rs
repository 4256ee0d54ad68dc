//! The Python environment in which Blender and Pixar's USD are installed for the tests: `python` in cargo's target folder.

use crate::cargo::root;
use crate::metadata;
use crate::process::output_of;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The exact packages, one per line.
const PINS: &str = "tests/peers/python.txt";

/// Prints its version if it is a Python that can make an environment.
const IS_ABLE: &str = "import sys, venv, ensurepip; print(*sys.version_info[:2])";

/// Prints nothing, unless something does not load.
const LOADS: &str = "import numpy, bpy; from pxr import Usd, UsdUtils, UsdVol";

/// The environment that the tests look for.
pub fn folder() -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    // Cargo knows best where it builds; but what cannot be asked is where it usually is.
    let target = || metadata::target_folder().unwrap_or_else(|_| root().join("target"));
    FOLDER.get_or_init(|| target().join("python")).clone()
}

/// Whether the environment has exactly the packages that it should have.
pub fn is_whole() -> bool {
    is_whole_in(&folder(), &pins())
}

/// A Python 3.11 that can make environments: Blender 4.2 is for no other version.
pub fn base() -> Option<PathBuf> {
    static BASE: OnceLock<PathBuf> = OnceLock::new();
    if BASE.get().is_none()
        && let Some(found) = candidates().into_iter().find(|python| is_able(python))
    {
        return Some(BASE.get_or_init(|| found).clone());
    }
    BASE.get().cloned()
}

/// Whether there are packages of Blender for this machine.
pub fn has_packages() -> bool {
    cfg!(all(target_os = "linux", target_arch = "x86_64")) && base().is_some()
}

/// Makes the environment with `run`, which runs a command and tells whether it went well.
///
/// The stamp is written last: an environment that is only half made, or of other versions, is made anew.
pub fn install(mut run: impl FnMut(&mut Command) -> bool) {
    let (Some(base), folder, pins) = (base(), folder(), pins()) else { return };
    println!(
        "  making {}: Blender and USD (some 600 MB to fetch, 2 GB on disk, a few minutes)",
        folder.display()
    );
    let python = folder.join("bin/python");
    let made = run(Command::new(base).args(["-m", "venv", "--clear"]).arg(&folder))
        && run(Command::new(&python)
            .args(["-m", "pip", "install", "--disable-pip-version-check", "--no-input"])
            .args(["--progress-bar", "off", "--retries", "5", "--timeout", "60", "--requirement"])
            .arg(root().join(PINS)))
        && run(Command::new(&python).args(["-c", LOADS]));
    if made && let Err(why) = fs::write(folder.join("installed.txt"), pins) {
        println!("  failed: {why}");
    }
}

fn is_whole_in(folder: &Path, pins: &str) -> bool {
    // The Python is a link, whose end may be gone.
    folder.join("bin/python").is_file()
        && fs::read_to_string(folder.join("installed.txt")).is_ok_and(|found| found == pins)
}

fn pins() -> String {
    fs::read_to_string(root().join(PINS)).unwrap_or_default()
}

fn is_able(python: &Path) -> bool {
    output_of(&python.to_string_lossy(), &["-c", IS_ABLE]).as_deref() == Some("3 11")
}

/// Where a Python 3.11 may be: on the path, Debian 12's own, those of pyenv.
fn candidates() -> Vec<PathBuf> {
    let mut candidates: Vec<PathBuf> =
        ["python3.11", "/usr/bin/python3.11", "/usr/bin/python3", "python3"]
            .map(PathBuf::from)
            .into();
    let pyenv = std::env::var_os("PYENV_ROOT")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".pyenv")));
    let versions = pyenv.and_then(|pyenv| fs::read_dir(pyenv.join("versions")).ok());
    let mut of_pyenv: Vec<PathBuf> = versions
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("3.11."))
        .map(|entry| entry.path().join("bin/python3"))
        .collect();
    of_pyenv.sort();
    candidates.extend(of_pyenv);
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_is_whole_when_its_stamp_names_the_same_packages() {
        let folder = std::env::temp_dir().join(format!("undine-python-{}", std::process::id()));
        fs::create_dir_all(folder.join("bin")).expect("a folder");
        let stamp = |text: &str| fs::write(folder.join("installed.txt"), text).expect("a file");
        stamp("bpy==4.2.0\n");
        assert!(!is_whole_in(&folder, "bpy==4.2.0\n"), "there is no Python");
        fs::write(folder.join("bin/python"), "").expect("a file");
        assert!(is_whole_in(&folder, "bpy==4.2.0\n"));
        assert!(!is_whole_in(&folder, "bpy==4.2.1\n"));
        fs::remove_file(folder.join("installed.txt")).expect("it was there");
        assert!(!is_whole_in(&folder, "bpy==4.2.0\n"), "it is half made");
        fs::remove_dir_all(&folder).expect("it was there");
    }

    #[test]
    fn a_program_that_is_no_python_is_not_able() {
        assert!(!is_able(Path::new("/bin/true")));
        assert!(!is_able(Path::new("/no/such/python")));
    }

    #[test]
    fn the_pinned_packages_are_found() {
        assert!(pins().contains("bpy==") && pins().contains("usd-core=="));
        assert!(folder().ends_with("python"));
    }
}
