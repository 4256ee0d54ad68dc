//! A linear system as peers read it: a folder with the bare arrays of compressed sparse rows, little-endian.
//!
//! `shape.txt` holds rows and nonzeros; `indptr.i32`, `indices.i32`, `data.f64` and `rhs.f64` hold nothing but their
//! numbers, so that any language reads them with one call each. `peers/linear_system.py` is the other end.

use crate::Result;
use crate::peers::install::folder;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A system A·x = b with a symmetric matrix A, and how exactly it is to be solved.
#[derive(Debug, Clone, Copy)]
pub struct System<'a> {
    /// One more than there are rows; row `i` is at `indptr[i]..indptr[i + 1]` of `indices` and `data`.
    pub indptr: &'a [u32],
    /// The column of each entry, ascending within a row. Both triangles are there.
    pub indices: &'a [u32],
    /// The value of each entry.
    pub data: &'a [f64],
    /// The right-hand side b.
    pub rhs: &'a [f64],
    /// What is promised of A.
    pub definiteness: Definiteness,
    /// Wanted is |b − A·x| ≤ `tolerance`·|b|.
    pub tolerance: f64,
}

/// What is promised of a symmetric matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Definiteness {
    /// Its eigenvalues are positive.
    Positive,
    /// It has eigenvalues of both signs, and none is zero.
    Indefinite,
}

/// Why a system cannot be handed to peers.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum SystemError {
    /// The arrays do not belong together.
    #[error(
        "{rhs} numbers on the right-hand side want as many rows, but there are {offsets} row offsets (one more is right), \
         the last of them {last}, for {indices} columns and {data} values"
    )]
    Lengths {
        /// Numbers on the right-hand side.
        rhs: usize,
        /// Row offsets.
        offsets: usize,
        /// The last row offset.
        last: usize,
        /// Column indices.
        indices: usize,
        /// Values.
        data: usize,
    },
    /// Peers count in 32 bits with sign.
    #[error("{nonzeros} nonzeros are too many: peers count to 2147483647")]
    TooLarge {
        /// Nonzeros of the matrix.
        nonzeros: usize,
    },
}

/// A system on disk; dropped, it is gone from there.
#[derive(Debug)]
pub struct SystemFolder {
    path: PathBuf,
}

/// Folders of this process so far, so that each has a name of its own.
static WRITTEN: AtomicU32 = AtomicU32::new(0);

impl System<'_> {
    /// Rows of the matrix.
    pub fn rows(&self) -> usize {
        self.rhs.len()
    }

    /// Writes the system below `bench/.peers/systems/`.
    pub fn write(&self) -> Result<SystemFolder> {
        self.check()?;
        let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{number}", std::process::id());
        // Removes what was written even if writing fails half-way.
        let part = SystemFolder { path: folder(".peers/systems").join(format!("{name}.part")) };
        fs::create_dir_all(&part.path)?;

        let file = |name| part.path.join(name);
        write_all(&file("indptr.i32"), self.indptr.iter().map(|at| at.to_le_bytes()))?;
        write_all(&file("indices.i32"), self.indices.iter().map(|at| at.to_le_bytes()))?;
        write_all(&file("data.f64"), self.data.iter().map(|value| value.to_le_bytes()))?;
        write_all(&file("rhs.f64"), self.rhs.iter().map(|value| value.to_le_bytes()))?;
        fs::write(file("shape.txt"), format!("{} {}\n", self.rows(), self.data.len()))?;

        // A folder without `.part` is whole.
        let whole = SystemFolder { path: part.path.with_extension("") };
        fs::rename(&part.path, &whole.path)?;
        Ok(whole)
    }

    fn check(&self) -> Result<(), SystemError> {
        let Self { indptr, indices, data, rhs, .. } = self;
        let last = indptr.last().map_or(0, |&last| last as usize);
        if indptr.len() != rhs.len() + 1 || last != data.len() || indices.len() != data.len() {
            return Err(SystemError::Lengths {
                rhs: rhs.len(),
                offsets: indptr.len(),
                last,
                indices: indices.len(),
                data: data.len(),
            });
        }
        // Rows and columns are no more than nonzeros in any matrix that can be solved.
        if i32::try_from(data.len().max(rhs.len())).is_err() {
            return Err(SystemError::TooLarge { nonzeros: data.len() });
        }
        Ok(())
    }
}

impl SystemFolder {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SystemFolder {
    fn drop(&mut self) {
        // It may have been renamed, or never made; what is left lies where git ignores it.
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn write_all<const N: usize>(
    path: &Path,
    values: impl Iterator<Item = [u8; N]>,
) -> std::io::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    for bytes in values {
        file.write_all(&bytes)?;
    }
    file.flush()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The path of three nodes, both ends held: [2 −1 0; −1 2 −1; 0 −1 2]·x = [1 0 1], so x = [1 1 1].
    pub const PATH_OF_THREE: System = System {
        indptr: &[0, 2, 5, 7],
        indices: &[0, 1, 0, 1, 2, 1, 2],
        data: &[2.0, -1.0, -1.0, 2.0, -1.0, -1.0, 2.0],
        rhs: &[1.0, 0.0, 1.0],
        definiteness: Definiteness::Positive,
        tolerance: 1e-6,
    };

    #[test]
    fn a_written_system_is_bare_little_endian_arrays_and_is_gone_when_dropped() {
        let folder = PATH_OF_THREE.write().expect("there is room");
        let read = |name: &str| fs::read(folder.path().join(name)).expect("it was written");
        assert_eq!(read("shape.txt"), b"3 7\n");
        assert_eq!(read("indptr.i32"), [0, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0, 7, 0, 0, 0]);
        assert_eq!(read("indices.i32").len(), 4 * 7);
        assert_eq!(
            read("data.f64")[..16],
            [2.0f64.to_le_bytes(), (-1.0f64).to_le_bytes()].concat()
        );
        assert_eq!(read("rhs.f64").len(), 8 * 3);

        let path = folder.path().to_owned();
        drop(folder);
        assert!(!path.exists() && !path.with_extension("part").exists());
    }

    #[test]
    fn two_systems_have_two_folders() {
        let folders = [PATH_OF_THREE, PATH_OF_THREE].map(|system| system.write().expect("room"));
        assert_ne!(folders[0].path(), folders[1].path());
    }

    #[test]
    fn arrays_that_do_not_belong_together_are_refused() {
        let cases = [
            System { indptr: &[0, 2, 5], ..PATH_OF_THREE },
            System { indptr: &[0, 2, 5, 6], ..PATH_OF_THREE },
            System { indptr: &[], ..PATH_OF_THREE },
            System { indices: &[0], ..PATH_OF_THREE },
            System { rhs: &[1.0], ..PATH_OF_THREE },
        ];
        for system in cases {
            let error = system.write().expect_err("it does not fit");
            assert!(error.to_string().contains("row offsets"), "{error}");
        }
    }
}
