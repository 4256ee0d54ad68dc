//! Meshes, points and volumes to and from files.
//!
//! Each format is a module of its own that turns bytes into plain tables ([`Points`], [`Faces`]) and back; [`read`] picks
//! the format by the file's name. Files are not trusted: whatever they say, a reader allocates no more than the file's own
//! length can back, and an error names the file, the line or byte, and what would be right.

pub mod error;
pub mod obj;
pub mod pattern;
pub mod ply;
pub mod table;
pub mod usd;

pub use error::{IoError, Place, Result};
pub use pattern::Pattern;
pub use table::{Channels, Curves, Faces, Points, Values};

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
    let parse = match extension(path).as_str() {
        "ply" => ply::parse,
        "obj" => obj::parse,
        _ => return Err(IoError::UnknownFormat { file: path.into() }),
    };
    let bytes =
        std::fs::read(path).map_err(|source| IoError::Read { file: path.into(), source })?;
    parse(&bytes, path)
}

fn extension(path: &Path) -> String {
    path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}
