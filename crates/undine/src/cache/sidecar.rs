//! Files beside the frames: statistics and logs that grow line by line, and reports that are written whole.
//!
//! They are not listed in the manifest and not compared. A kill may tear the last line; when the run goes on, that is cut,
//! and lines about frames that are made again are dropped.

use std::io::{self, BufRead, BufReader, Write};

use serde::Deserialize;

use super::Cache;
use super::error::{CacheError, Doing};
use super::files::DiskFile;
use super::folder::{Folder, temporary};
use super::names::{self, MANIFEST, MANIFEST_COPY};

/// Longer lines are none of ours, and are dropped [bytes].
const LONGEST: usize = 16 << 20;

/// A file that grows by lines.
pub struct Lines {
    folder: Folder,
    name: String,
    file: Box<dyn DiskFile>,
    /// Whether the last line could not be written to its end.
    torn: bool,
}

impl Cache {
    /// Opens a file of JSON lines with a `frame` each, `stats.jsonl`, and drops those of frames that are made again.
    pub fn frame_lines(&self, name: &str) -> Result<Lines, CacheError> {
        let after = self.after;
        self.lines(name, move |line| {
            after.zip(frame_of(line)).is_some_and(|(after, frame)| frame <= after)
        })
    }

    /// Opens a file of lines, `log.txt`, and drops those that are torn or that `stays` does not want.
    pub fn lines(&self, name: &str, stays: impl Fn(&[u8]) -> bool) -> Result<Lines, CacheError> {
        sidecar(name)?;
        Lines::open(self.folder.clone(), name, stays)
    }

    /// Writes a file beside the frames whole, in place of the one that was there.
    pub fn write_sidecar(&self, name: &str, bytes: &[u8]) -> Result<(), CacheError> {
        sidecar(name)?;
        self.folder.write_whole(name, bytes)
    }
}

impl Lines {
    fn open(
        folder: Folder,
        name: &str,
        stays: impl Fn(&[u8]) -> bool,
    ) -> Result<Lines, CacheError> {
        let path = folder.path.join(name);
        // Most often every line stays; then the file is only read.
        let mut all_stay = true;
        each_line(&folder, name, &mut |line| {
            all_stay &= line.is_some_and(&stays);
            Ok(())
        })?;
        if !all_stay {
            folder.write_temporary(name, |file| {
                each_line(&folder, name, &mut |line| match line.filter(|line| stays(line)) {
                    Some(line) => file.write_all(line).and_then(|()| file.write_all(b"\n")),
                    None => Ok(()),
                })
            })?;
            folder.publish(name).inspect_err(|_| folder.discard(&temporary(name)))?;
            folder.sync()?;
        }
        let file = folder
            .disk
            .append(&path)
            .map_err(|error| folder.failure(Doing::Create, name, error))?;
        Ok(Lines { folder, name: name.to_owned(), file, torn: false })
    }

    /// Adds a line, which must not contain a line's end itself.
    pub fn push(&mut self, line: &str) -> Result<(), CacheError> {
        // After a full disk the rest of the torn line becomes a line of its own, so that this one can be read.
        let mut bytes = if self.torn { b"\n".to_vec() } else { Vec::new() };
        bytes.extend(line.bytes().filter(|&byte| byte != b'\n'));
        bytes.push(b'\n');
        let written = self.file.write_all(&bytes);
        self.torn = written.is_err();
        written.map_err(|error| self.folder.failure(Doing::Write, &self.name, error))
    }

    /// Waits until all lines are on the disk; without it they outlive a kill, but not a power cut.
    pub fn sync(&mut self) -> Result<(), CacheError> {
        self.file.sync().map_err(|error| self.folder.failure(Doing::Sync, &self.name, error))
    }
}

impl std::fmt::Debug for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lines").field("path", &self.folder.path.join(&self.name)).finish()
    }
}

/// The number under `frame` in a line of JSON.
fn frame_of(line: &[u8]) -> Option<i64> {
    #[derive(Deserialize)]
    struct OfFrame {
        frame: i64,
    }
    serde_json::from_slice(line).ok().map(|of: OfFrame| of.frame)
}

/// Calls with each line of a file, without its end, and with nothing for lines that are torn or too long.
fn each_line(
    folder: &Folder,
    name: &str,
    visit: &mut dyn FnMut(Option<&[u8]>) -> io::Result<()>,
) -> Result<(), CacheError> {
    let fail = |error| folder.failure(Doing::Read, name, error);
    let mut reader = match folder.disk.read(&folder.path.join(name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        file => BufReader::new(file.map_err(fail)?),
    };
    let (mut line, mut too_long) = (Vec::new(), false);
    loop {
        let piece = match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            piece => piece.map_err(fail)?,
        };
        if piece.is_empty() {
            break;
        }
        let end = piece.iter().position(|&byte| byte == b'\n');
        let part = &piece[..end.unwrap_or(piece.len())];
        too_long |= line.len() + part.len() > LONGEST;
        if !too_long {
            line.extend_from_slice(part);
        }
        let taken = part.len() + usize::from(end.is_some());
        if end.is_some() {
            visit((!too_long).then_some(&line))
                .map_err(|error| folder.failure(Doing::Write, name, error))?;
            line.clear();
            too_long = false;
        }
        reader.consume(taken);
    }
    if !line.is_empty() || too_long {
        visit(None).map_err(|error| folder.failure(Doing::Write, name, error))?;
    }
    Ok(())
}

/// Refuses names that belong to the cache itself.
fn sidecar(name: &str) -> Result<(), CacheError> {
    names::plain(name)?;
    let taken = [MANIFEST, MANIFEST_COPY].contains(&name)
        || names::is_checkpoint(name)
        || names::parse(name).is_some();
    if taken {
        return Err(CacheError::Name {
            name: name.to_owned(),
            why: "is the name of a frame, checkpoint or manifest",
        });
    }
    Ok(())
}
