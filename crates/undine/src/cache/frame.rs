//! Writing one frame: whole, or not at all.

use std::io::Write;

use super::Cache;
use super::error::CacheError;
use super::folder::temporary;
use super::manifest::{FileEntry, FrameEntry};
use super::names::FrameId;

/// A frame under way. Until [`FrameWriter::finish`] nothing of it is in the cache; dropped before, it leaves nothing.
#[derive(Debug)]
pub struct FrameWriter<'a> {
    cache: &'a mut Cache,
    frame: FrameId,
    files: Vec<FileEntry>,
    /// How many of the files bear their own names already.
    published: usize,
}

impl<'a> FrameWriter<'a> {
    pub(super) fn new(cache: &'a mut Cache, frame: FrameId) -> FrameWriter<'a> {
        FrameWriter { cache, frame, files: Vec::new(), published: 0 }
    }

    /// The moment that is written.
    pub fn frame(&self) -> FrameId {
        self.frame
    }

    /// Writes this frame's file of an output: `liquid.ply` becomes `liquid.1001.ply`.
    ///
    /// `content` streams it, gathered into large pieces, from front to back. If the disk fails, that is the error,
    /// whatever `content` makes of it.
    pub fn file<E: From<CacheError>>(
        &mut self,
        output: &str,
        content: impl FnOnce(&mut dyn Write) -> Result<(), E>,
    ) -> Result<(), E> {
        let name = self.frame.file_name(output)?;
        if self.files.iter().any(|file| file.name == name) {
            return Err(CacheError::Twice { output: output.to_owned(), frame: self.frame }.into());
        }
        self.files.push(self.cache.folder.write_temporary(&name, content)?);
        Ok(())
    }

    /// Gives all files their names and lists them in the manifest; when this returns, the frame outlives a power cut.
    pub fn finish(mut self) -> Result<(), CacheError> {
        for index in 0..self.files.len() {
            self.cache.folder.publish(&self.files[index].name)?;
            self.published += 1;
        }
        self.cache.folder.sync()?;
        let mut manifest = self.cache.manifest.clone();
        manifest.frames.push(FrameEntry { frame: self.frame, files: self.files.clone() });
        self.cache.commit(manifest)
    }
}

impl Drop for FrameWriter<'_> {
    /// Takes back what is not listed.
    fn drop(&mut self) {
        // A commit may fail after the manifest has its name; then the frame is in the cache, and its files stay.
        if self.cache.manifest.last() == Some(self.frame) {
            return;
        }
        let (published, rest) = self.files.split_at(self.published);
        published.iter().for_each(|file| self.cache.folder.discard(&file.name));
        rest.iter().for_each(|file| self.cache.folder.discard(&temporary(&file.name)));
    }
}
