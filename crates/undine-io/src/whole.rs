//! Files that are there whole or not at all: written beside their place under another name, and moved there when done.

use crate::error::{IoError, Result};
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// How much is gathered before it goes to the disk [bytes].
const GATHERED: usize = 256 << 10;

/// Writes a file as `content` streams it. Whatever fails, the file of this name stays as it was, and nothing else is left.
pub fn write_whole<T>(path: &Path, content: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
    let failed = |source| IoError::WriteFile { file: path.into(), source };
    let partial = partial_name(path);
    let file = File::create(&partial).map_err(failed)?;
    let mut writer = BufWriter::with_capacity(GATHERED, file);
    let written = content(&mut writer).map_err(|why| match why {
        IoError::Write(source) => failed(source),
        other => other,
    });
    let written = written.and_then(|told| {
        let file = writer.into_inner().map_err(|why| failed(why.into_error()))?;
        // Without this, a machine that fails soon after may keep the name but not the content.
        file.sync_all().map_err(failed)?;
        std::fs::rename(&partial, path).map_err(failed)?;
        Ok(told)
    });
    if written.is_err() {
        // That it cannot be removed either would hide the cause.
        let _ = std::fs::remove_file(&partial);
    }
    written
}

/// A name beside a file's own that no pattern and no format takes for a file, of this process alone.
fn partial_name(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.partial", std::process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_fails_leaves_what_was_there_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.ply");
        write_whole(&path, |out| Ok(out.write_all(b"first")?)).unwrap();
        let failed = write_whole(&path, |out| {
            out.write_all(&[0; 2 * GATHERED])?;
            Err::<(), _>(IoError::Write(std::io::ErrorKind::StorageFull.into()))
        });
        assert!(failed.unwrap_err().to_string().contains("a.ply"));
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let nowhere = folder.path().join("no folder/a.ply");
        assert!(write_whole(&nowhere, |_| Ok(())).is_err());
    }
}
