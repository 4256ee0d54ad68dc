//! What is in a file: counts, types, ranges, boxes, memory and metadata, of any format in the same words.
//!
//! A file has parts: the one mesh or cloud of points of a PLY file, the grids of a VDB file, the prims of a USD layer. What is known
//! of them is printed [for people](FileInfo::text) and [for programs](FileInfo::json).

mod geometry;
mod json;
mod layer;
mod part;
mod sequence;
mod text;
mod volume;

pub use part::{ChannelInfo, Part, Range};
pub use sequence::{SequenceInfo, SequencePart, inspect_sequence};

use crate::error::{IoError, Result};
use crate::format::Format;
use crate::metadata::{Datum, FileMetadata};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How far a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Depth {
    /// Of volumes, only what stands before their values: no ranges, and counts where the file says them. Of scenes, only the one file.
    Heads,
    /// Everything.
    #[default]
    Values,
}

/// What is in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct FileInfo {
    /// The file.
    pub file: PathBuf,
    /// Its format.
    pub format: Format,
    /// How long it is [bytes].
    pub bytes: u64,
    /// What it says of itself.
    pub metadata: BTreeMap<String, String>,
    /// What it holds.
    pub parts: Vec<Part>,
    /// What of it cannot be read, or is strange.
    pub warnings: Vec<String>,
    /// Whether one of these is that the file, or one that it refers to, is damaged.
    pub damaged: bool,
}

/// Looks into a file.
pub fn inspect(path: &Path, depth: Depth) -> Result<FileInfo> {
    let format = Format::of(path)?;
    let failed = |source| IoError::Read { file: path.into(), source };
    let bytes = std::fs::metadata(path).map_err(failed)?.len();
    let mut info = FileInfo {
        file: path.into(),
        format,
        bytes,
        metadata: BTreeMap::new(),
        parts: Vec::new(),
        warnings: Vec::new(),
        damaged: false,
    };
    match format {
        Format::Ply | Format::Obj | Format::Stl | Format::Glb => {
            let found = crate::read_file(path, None)?;
            // A file that does not say so is in metres and Y up only by custom.
            if found.metadata != FileMetadata::unknown() {
                info.metadata = entries(&found.metadata);
            }
            info.warnings.extend(found.notes.iter().map(|note| format!("not read: {note}")));
            info.parts.push(geometry::part(&found.in_metres().geometry));
        }
        Format::Vdb => volume::inspect(path, depth, &mut info)?,
        Format::Usda | Format::Usdc | Format::Usd => layer::inspect(path, depth, &mut info)?,
    }
    Ok(info)
}

fn entries(metadata: &FileMetadata) -> BTreeMap<String, String> {
    let word = |datum| match datum {
        Datum::Text(text) => text,
        Datum::Number(number) => number.to_string(),
        Datum::Whole(whole) => whole.to_string(),
    };
    metadata.entries().into_iter().map(|(name, datum)| (name.to_owned(), word(datum))).collect()
}
