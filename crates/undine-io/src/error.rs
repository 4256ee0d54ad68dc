//! What can be wrong with a file: which file, where in it, what was found and what would be right.

use crate::format::Format;
use std::fmt::{self, Display};
use std::path::{Path, PathBuf};

/// The result of reading or writing.
pub type Result<T, E = IoError> = std::result::Result<T, E>;

/// Where in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A line of a text, from 1 on.
    Line(u64),
    /// A byte, from 0 on.
    Byte(u64),
}

impl Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Byte(byte) => write!(f, "byte {byte}"),
        }
    }
}

impl IoError {
    /// An error in a `.vdb` file, with its name.
    pub fn in_vdb(file: &Path, source: undine_vdb::VdbError) -> Self {
        match source {
            undine_vdb::VdbError::Open { file, source } => Self::Read { file, source },
            source => Self::VdbFile { file: file.into(), source },
        }
    }

    /// Whether a file is not what its format allows, or contradicts itself: it was damaged, or cut short.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Malformed { .. } | Self::Scene { .. } => true,
            Self::Vdb(why) | Self::VdbFile { source: why, .. } => why.is_damage(),
            _ => false,
        }
    }
}

/// Every error of reading and writing files.
#[derive(Debug, thiserror::Error)]
pub enum IoError {
    /// The file could not be read.
    #[error("cannot read {}: {source}", .file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Writing failed.
    #[error("cannot write: {0}")]
    Write(#[from] std::io::Error),
    /// The file could not be written; what was there before still is.
    #[error("cannot write {}: {source}", .file.display())]
    WriteFile {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The name of a file does not end with a format that is known.
    #[error(
        "{} is of an unknown format; its name should end with .ply, .obj, .stl, .glb, .vdb, .usda, .usdc or .usd",
        .file.display()
    )]
    UnknownFormat {
        /// The file.
        file: PathBuf,
    },
    /// A file of a format that is not read as points or a mesh.
    #[error("{} is {format} and not read as points or a mesh: {help}", .file.display())]
    NotReadable {
        /// The file.
        file: PathBuf,
        /// Its format.
        format: Format,
        /// What to do.
        help: &'static str,
    },
    /// What is in the file is not what its format allows.
    #[error("{}, {place}: {found}; {wanted}", .file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// Where in it.
        place: Place,
        /// What is there.
        found: String,
        /// What would be right.
        wanted: String,
    },
    /// What a scene says of a prim cannot be so.
    #[error("{}, prim {prim}: {found}; {wanted}", .file.display())]
    Scene {
        /// The file.
        file: PathBuf,
        /// The path of the prim.
        prim: String,
        /// What is wrong with it.
        found: String,
        /// What would be right.
        wanted: String,
    },
    /// Something that the format cannot hold.
    #[error("{what} cannot be written: {found}; {wanted}")]
    Unwritable {
        /// What was to be written.
        what: String,
        /// What is wrong with it.
        found: String,
        /// What would be right.
        wanted: String,
    },
    /// Something in a file that cannot become what was asked for.
    #[error("{what} cannot be read: {found}; {wanted}")]
    Unreadable {
        /// What was to be read.
        what: String,
        /// What is wrong with it.
        found: String,
        /// What would do.
        wanted: String,
    },
    /// In a store.
    #[error(transparent)]
    Core(#[from] undine_core::CoreError),
    /// In a `.vdb` file.
    #[error(transparent)]
    Vdb(#[from] undine_vdb::VdbError),
    /// In a `.vdb` file of this name.
    #[error("{}, {source}", .file.display())]
    VdbFile {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        source: undine_vdb::VdbError,
    },
    /// A conversion that has no meaning.
    #[error("{from} cannot become {to}: {why}")]
    NoConversion {
        /// From what.
        from: String,
        /// To what.
        to: String,
        /// Why not, and what would do.
        why: String,
    },
    /// A pattern of files that is none.
    #[error(
        "`{pattern}` is no pattern of files: {fault}; write for example splash.####.ply or splash.$F4.ply"
    )]
    BadPattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        fault: &'static str,
    },
    /// A frame for which there is no file.
    #[error("{} is not there: {nearest}", .file.display())]
    MissingFrame {
        /// The file looked for.
        file: PathBuf,
        /// The frame looked for.
        frame: i64,
        /// Which frames there are, in words.
        nearest: String,
    },
}
