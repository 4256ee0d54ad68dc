//! Meshes, points and volumes to and from files.
//!
//! Each format is a module of its own that turns bytes into plain tables ([`Points`], [`Faces`]) and back; [`read`] picks
//! the format by the file's name. Files are not trusted: whatever they say, a reader allocates no more than the file's own
//! length can back, and an error names the file, the line or byte, and what would be right.

mod chains;
mod comments;
pub mod convert;
pub mod error;
pub mod format;
pub mod gather;
pub mod glb;
pub mod info;
pub mod metadata;
pub mod names;
pub mod obj;
pub mod particles;
pub mod pattern;
pub mod ply;
mod reading;
pub mod stl;
pub mod table;
mod triangles;
pub mod usd;
pub mod vdb;
pub mod whole;
pub mod write;

pub use error::{IoError, Place, Result};
pub use format::Format;
pub use metadata::FileMetadata;
pub use names::{Names, UpAxis};
pub use pattern::Pattern;
pub use reading::{Reading, read_file};
pub use table::{Channels, Curves, Faces, Points, Precision, Values};
pub use write::{WriteOptions, write};

use std::path::Path;

/// What a file of points or of a mesh holds.
#[derive(Debug, Clone, Default)]
pub struct Geometry {
    /// The points, or the vertices of the mesh.
    pub points: Points,
    /// The polygons between them; `None` if the file has no place for such.
    pub faces: Option<Faces>,
    /// The curves through them; `None` if the file has no place for such.
    pub curves: Option<Curves>,
}

/// Reads a file of points or of a mesh, of the format that its name ends with.
pub fn read(path: &Path) -> Result<Geometry> {
    Ok(read_with_metadata(path)?.0)
}

/// As [`read`], and what the file says of itself. Lengths are in metres, and so is what is said of them; the axis that points up
/// is that of the file. Of a USD scene, its earliest time with Y up.
pub fn read_with_metadata(path: &Path) -> Result<(Geometry, FileMetadata)> {
    let Reading { geometry, metadata, .. } = read_file(path, None)?.in_metres();
    Ok((geometry, metadata))
}
