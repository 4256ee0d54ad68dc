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

/// As [`read`], and what the file says of itself. Of a USD scene, its earliest time.
pub fn read_with_metadata(path: &Path) -> Result<(Geometry, FileMetadata)> {
    let format = Format::of(path)?;
    let parse = match format {
        Format::Ply => ply::parse,
        Format::Obj => obj::parse,
        Format::Stl => stl::parse,
        // A scene is more than the bytes of one file.
        Format::Usda | Format::Usdc | Format::Usd => return read_scene(path, None),
        Format::Glb | Format::Vdb => {
            return Err(IoError::NotReadable {
                file: path.into(),
                format,
                help: match format {
                    Format::Glb => "glTF is written only: convert to it last",
                    _ => "it holds grids",
                },
            });
        }
    };
    let bytes =
        std::fs::read(path).map_err(|source| IoError::Read { file: path.into(), source })?;
    Ok((parse(&bytes, path)?, comments::metadata(&bytes, format)))
}

/// The geometry of a USD scene at a time [time codes], in metres and Y up, whatever the file has.
pub(crate) fn read_scene(path: &Path, time: Option<f64>) -> Result<(Geometry, FileMetadata)> {
    let scene = usd::Scene::open(path)?;
    let (geometry, _) = scene.read(time, None)?;
    let metadata =
        FileMetadata { fps: Some(scene.time_codes_per_second()), ..FileMetadata::unknown() };
    Ok((geometry, metadata))
}
