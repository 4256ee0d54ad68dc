//! Pictures as files: PNG to look at, EXR with all that was computed, animated WebP and MP4 for whole runs.
//!
//! Every format makes bytes that depend on the picture alone, and [`write()`] puts them on the disk whole or not at all.

pub mod exr;
pub mod mp4;
pub mod png;
pub mod webp;

use crate::error::{RenderError, Result};
use std::path::Path;
use undine_io::IoError;
use undine_io::whole::write_whole;

/// What every picture says it was made by.
pub const SOFTWARE: &str = concat!("Undine ", env!("CARGO_PKG_VERSION"));

/// Deflate makes at most this many bytes of one: a file that promises more is broken.
const DEFLATE_AT_MOST: usize = 1032;

/// Writes a file. Whatever fails, the file of this name stays as it was.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let written = write_whole(path, |out| Ok(out.write_all(bytes)?));
    written.map_err(|why| match why {
        IoError::WriteFile { file, source } => RenderError::Disk { file, doing: "written", source },
        other => wrong(path, other),
    })
}

/// Reads a file.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|source| RenderError::Disk {
        file: path.into(),
        doing: "read",
        source,
    })
}

fn wrong(file: impl AsRef<Path>, why: impl ToString) -> RenderError {
    RenderError::Picture { file: file.as_ref().into(), why: why.to_string() }
}

/// Refuses a file that promises more bytes of pixels than its length can back.
fn backed(file: &Path, promised: Option<usize>, length: usize) -> Result<()> {
    let most = length.saturating_mul(DEFLATE_AT_MOST);
    match promised {
        Some(promised) if promised <= most => Ok(()),
        _ => Err(wrong(file, format!("it promises more pixels than its {length} bytes can hold"))),
    }
}
