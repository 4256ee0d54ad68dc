//! What can be wrong with a picture that is asked for, with what would be right.

use std::path::PathBuf;

/// What kept a picture from being made.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// A picture of a size that there is no room for.
    #[error("a picture of {width} × {height} pixels cannot be made: {why}")]
    Size {
        /// Pixels across.
        width: usize,
        /// Pixels down.
        height: usize,
        /// What is wrong with it, and what would be right.
        why: String,
    },
    /// Something that was asked for makes no sense.
    #[error("{what} is {found}, but {wanted}")]
    Asked {
        /// What it is about, such as `the camera's field of view`.
        what: String,
        /// What was asked for.
        found: String,
        /// What would be right.
        wanted: String,
    },
    /// There is more to draw than can be counted.
    #[error(
        "there are {count} things to draw, but at most {most} can be told apart in one picture"
    )]
    TooMany {
        /// How many there are.
        count: u64,
        /// How many there may be.
        most: u64,
    },
    /// A picture could not be put into its file format, or taken out of it.
    #[error("{file}: {why}", file = file.display())]
    Picture {
        /// The file, or what it would be called.
        file: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The disk said no.
    #[error("{file} could not be {doing}", file = file.display())]
    Disk {
        /// The file.
        file: PathBuf,
        /// `read` or `written`.
        doing: &'static str,
        /// What the system says.
        source: std::io::Error,
    },
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, RenderError>;
