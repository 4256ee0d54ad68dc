//! What can be wrong with a file: where in it, what was found, and what would be right.

use std::path::PathBuf;

/// The result of reading or writing.
pub type Result<T, E = VdbError> = std::result::Result<T, E>;

/// Every error of reading and writing `.vdb` files.
#[derive(Debug, thiserror::Error)]
pub enum VdbError {
    /// The file could not be opened or read.
    #[error("cannot read {}: {source}", .file.display())]
    Open {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file could not be written.
    #[error("cannot write {}: {source}", .file.display())]
    Save {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Reading or writing failed.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The file is not what the format allows.
    #[error("byte {offset}: {found}; {wanted}")]
    Malformed {
        /// Where in the file [bytes].
        offset: u64,
        /// What is there.
        found: String,
        /// What would be right.
        wanted: String,
    },
    /// The file ends too early.
    #[error(
        "byte {offset}: the file ends, but {what} of {wanted} bytes begins here; it has been cut short"
    )]
    Truncated {
        /// Where in the file [bytes].
        offset: u64,
        /// What should be there.
        what: String,
        /// How long that is [bytes].
        wanted: u64,
    },
    /// Something that the format has, but this crate does not read.
    #[error("byte {offset}: {what} is not supported; {wanted}")]
    Unsupported {
        /// Where in the file [bytes].
        offset: u64,
        /// What it is.
        what: String,
        /// What would do.
        wanted: String,
    },
    /// Grids that share trees would take more memory than a file of this length is trusted with.
    #[error(
        "byte {offset}: with the grid `{grid}`, those that share a tree with another take {wanted} bytes of memory; {most} are allowed, and a program that trusts the file can allow more"
    )]
    TooManyInstances {
        /// Where in the file the grid is [bytes].
        offset: u64,
        /// Its name.
        grid: String,
        /// What they take with it [bytes].
        wanted: u64,
        /// What they may take [bytes].
        most: u64,
    },
    /// There is no such grid.
    #[error("there is no grid `{name}`; there are: {there}")]
    NoSuchGrid {
        /// The name.
        name: String,
        /// The names that there are.
        there: String,
    },
    /// A grid that the format cannot hold.
    #[error("the grid `{grid}` cannot be written: {found}; {wanted}")]
    Unwritable {
        /// Its name.
        grid: String,
        /// What is wrong with it.
        found: String,
        /// What would be right.
        wanted: String,
    },
    /// Points that a grid cannot hold.
    #[error("points cannot be put into a grid: {found}; {wanted}")]
    Points {
        /// What is wrong with them.
        found: String,
        /// What would be right.
        wanted: String,
    },
}

impl VdbError {
    /// Whether the file is not what the format allows: it was damaged, or cut short.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Malformed { .. } | Self::Truncated { .. })
    }
}
