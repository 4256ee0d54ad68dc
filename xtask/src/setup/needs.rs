//! The list of what the tests need beyond Rust and a C linker, and how each thing is found.

use super::python;
use crate::process::output_of;
use std::path::{Path, PathBuf};

/// Who installs a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Installer {
    /// Debian's package tool, as root.
    Apt,
    /// The Rust toolchain's, as anyone.
    Rustup,
    /// Python's, as anyone, into an environment of our own.
    Pip,
}

/// A part of the tests that is left out where one of its needs is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The checks of the source.
    Checks,
    /// Everything on several processes.
    Mpi,
    /// What goes through the real OpenVDB.
    OpenVdb,
    /// What goes through the real Blender and Pixar's USD.
    Python,
    /// What goes through a real browser.
    Chromium,
}

impl Part {
    /// Every part of the tests that has a feature of its own.
    pub const WITH_FEATURE: [Self; 4] = [Self::Mpi, Self::OpenVdb, Self::Python, Self::Chromium];

    /// The feature by which crates have it built.
    pub fn feature(self) -> Option<&'static str> {
        match self {
            Self::Checks => None,
            Self::Mpi => Some("mpi"),
            Self::OpenVdb => Some("peer-openvdb"),
            Self::Python => Some("peer-python"),
            Self::Chromium => Some("peer-chromium"),
        }
    }

    /// What is left out without it, for reading.
    pub fn left_out(self) -> &'static str {
        match self {
            Self::Checks => "checks of the source",
            Self::Mpi => "MPI and its tests",
            Self::OpenVdb => "the tests that go through the real OpenVDB",
            Self::Python => "the tests that go through the real Blender and USD",
            Self::Chromium => "the tests that go through a real browser",
        }
    }
}

/// One thing that the tests need. To add one, add a line to [`NEEDS`].
pub struct Need {
    /// The packages that bring it.
    pub packages: &'static [&'static str],
    /// Who installs it.
    pub installer: Installer,
    /// What it is for.
    pub why: &'static str,
    /// What is left out without it.
    pub part: Part,
    /// Whether it is here, however it came.
    pub found: fn() -> bool,
}

/// Everything that the tests need.
pub const NEEDS: &[Need] = &[
    Need {
        packages: &["rustfmt"],
        installer: Installer::Rustup,
        why: "the check of the format",
        part: Part::Checks,
        found: || output_of("cargo", &["fmt", "--version"]).is_some(),
    },
    Need {
        packages: &["clippy"],
        installer: Installer::Rustup,
        why: "the lints",
        part: Part::Checks,
        found: || output_of("cargo", &["clippy", "--version"]).is_some(),
    },
    Need {
        packages: &["libopenmpi-dev"],
        installer: Installer::Apt,
        why: "MPI: its headers and mpicc, to build undine-core's feature `mpi`",
        part: Part::Mpi,
        found: || on_path("mpicc"),
    },
    Need {
        packages: &["openmpi-bin"],
        installer: Installer::Apt,
        why: "MPI: mpirun, to run several processes",
        part: Part::Mpi,
        found: || on_path("mpirun"),
    },
    Need {
        packages: &["libclang-dev"],
        installer: Installer::Apt,
        why: "MPI: libclang, with which the `mpi` crate reads MPI's headers",
        part: Part::Mpi,
        found: has_libclang,
    },
    Need {
        packages: &["libopenvdb-tools"],
        installer: Installer::Apt,
        why: "OpenVDB: vdb_print, which must accept what we write",
        part: Part::OpenVdb,
        found: || on_path("vdb_print"),
    },
    Need {
        packages: &["python3-openvdb", "python3-numpy"],
        installer: Installer::Apt,
        why: "OpenVDB: its Python module, which reads our files and writes others for us to read",
        part: Part::OpenVdb,
        // The system's own Python is the one that its packages are for.
        found: || output_of("/usr/bin/python3", &["-c", "import pyopenvdb, numpy"]).is_some(),
    },
    Need {
        packages: &["python3-venv"],
        installer: Installer::Apt,
        why: "Blender and USD: Python 3.11 with `venv`, the only one that Blender's module is for",
        part: Part::Python,
        found: || python::base().is_some(),
    },
    Need {
        packages: &[
            "libgl1",
            "libgomp1",
            "libsm6",
            "libxfixes3",
            "libxi6",
            "libxkbcommon0",
            "libxrender1",
            "libxxf86vm1",
        ],
        installer: Installer::Apt,
        why: "Blender: the libraries that it is linked with, though it opens no window",
        part: Part::Python,
        found: has_libraries_of_blender,
    },
    Need {
        packages: &["bpy", "usd-core", "numpy"],
        installer: Installer::Pip,
        why: "Blender and USD, as Python modules, at the versions of tests/peers/python.txt",
        part: Part::Python,
        found: python::is_whole,
    },
    Need {
        packages: &["chromium", "fonts-dejavu-core"],
        installer: Installer::Apt,
        why: "Chromium: a browser without a window, which must show our pages",
        part: Part::Chromium,
        found: || on_path("chromium"),
    },
];

/// Whether a program is found by its name.
pub fn on_path(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    })
}

/// Where libraries of the system are.
const LIBRARIES: [&str; 5] = [
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
];

fn has_libraries_of_blender() -> bool {
    [
        "libGL.so.1",
        "libgomp.so.1",
        "libSM.so.6",
        "libXfixes.so.3",
        "libXi.so.6",
        "libxkbcommon.so.0",
        "libXrender.so.1",
        "libXxf86vm.so.1",
    ]
    .iter()
    .all(|library| LIBRARIES.iter().any(|folder| Path::new(folder).join(library).exists()))
}

/// Looks where the `clang-sys` crate looks: the variable `LIBCLANG_PATH`, LLVM's own folders, the system's.
fn has_libclang() -> bool {
    let named = std::env::var_os("LIBCLANG_PATH").map(PathBuf::from);
    if named.as_deref().is_some_and(Path::is_file) {
        return true;
    }
    let llvm = files_in(Path::new("/usr/lib")).filter(|path| name_starts_with(path, "llvm-"));
    let folders = named
        .into_iter()
        .chain(LIBRARIES.map(PathBuf::from))
        .chain(llvm.map(|path| path.join("lib")));
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
    fn programs_are_found_on_the_path() {
        assert!(on_path("sh"));
        assert!(!on_path("no-such-program"));
    }

    #[test]
    fn each_part_with_a_feature_has_needs() {
        for part in Part::WITH_FEATURE {
            assert!(part.feature().is_some());
            assert!(NEEDS.iter().any(|need| need.part == part), "{part:?}");
        }
    }
}
