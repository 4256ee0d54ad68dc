//! Reading a crate: the header, the sections, and then the specs with their values, as prims.
//!
//! No number of the file is believed: an offset must lie in the file, a count must be backed by bytes, an index must be in
//! its table. As a few bytes can stand for many (a value can be pointed to often, and LZ4 repeats a byte 255 times), all
//! that is made is counted, and a file that makes too much of itself is refused.

mod arrays;
mod cursor;
mod layer;
mod paths;
mod sections;
mod values;

use self::cursor::Cursor;
use self::paths::Paths;
use super::kind::Rep;
use crate::error::{IoError, Place, Result};
use crate::usd::layer::Layer;
use std::path::Path;

/// Reads the bytes of a `.usdc` file. `file` is named in errors.
///
/// What a layer has no place for, such as variants and splines, is left out and named in its `passed_over`.
pub fn parse(bytes: &[u8], file: &Path) -> Result<Layer> {
    Crate::open(bytes, file)?.layer()
}

/// The newest version that is read.
const NEWEST: [u8; 2] = [0, 16];

/// How many bytes a file of this length may make. A short one makes little, and yet may say much in a few bytes: the same
/// array at every time is in a file once.
fn allowance(length: usize) -> u64 {
    let length = length as u64;
    let short = (16_u64 << 20).saturating_add(length.saturating_mul(1024));
    short.min(256 << 20).saturating_add(length.saturating_mul(64))
}

/// What the sections of a file say.
struct Crate<'a> {
    bytes: &'a [u8],
    file: &'a Path,
    version: [u8; 3],
    tokens: Vec<String>,
    /// Indices of tokens.
    strings: Vec<u32>,
    /// Tokens and values.
    fields: Vec<(u32, Rep)>,
    /// Indices of fields, with a marker at the end of each set.
    field_sets: Vec<u32>,
    paths: Paths,
    /// Path, set of fields, kind of spec.
    specs: Vec<[u32; 3]>,
    /// How many bytes may still be made.
    allowance: u64,
    /// What was left out.
    passed_over: Vec<String>,
}

impl<'a> Crate<'a> {
    fn cursor(&self, at: u64) -> Result<Cursor<'a>> {
        Cursor::new(self.bytes, self.file, at)
    }

    fn error(&self, at: u64, found: impl Into<String>, wanted: &str) -> IoError {
        malformed(self.file, at, found, wanted)
    }

    /// Counts bytes that are about to be made for what stands at a place of the file.
    fn make(&mut self, at: u64, bytes: usize) -> Result<()> {
        match self.allowance.checked_sub(bytes as u64) {
            Some(left) => {
                self.allowance = left;
                Ok(())
            }
            None => Err(self.error(
                at,
                format!("with this, {} bytes make far more", self.bytes.len()),
                &format!("a file of this length makes {} at most", allowance(self.bytes.len())),
            )),
        }
    }

    /// Notes what is left out.
    fn pass_over(&mut self, note: String) -> Result<()> {
        const MOST: usize = 1000;
        if self.passed_over.len() < MOST {
            self.make(0, note.len() + 64)?;
            self.passed_over.push(note);
        }
        Ok(())
    }

    /// A word, by its index.
    fn token(&self, at: u64, index: u32) -> Result<&str> {
        self.tokens.get(index as usize).map(String::as_str).ok_or_else(|| {
            let wanted = format!("there are {} tokens", self.tokens.len());
            self.error(at, format!("token {index}"), &wanted)
        })
    }

    /// A string, by its index.
    fn string(&self, at: u64, index: u32) -> Result<&str> {
        let token = self.strings.get(index as usize).ok_or_else(|| {
            let wanted = format!("there are {} strings", self.strings.len());
            self.error(at, format!("string {index}"), &wanted)
        })?;
        self.token(at, *token)
    }

    /// Copies of these, counted.
    fn owned_token(&mut self, at: u64, index: u32) -> Result<String> {
        let text = self.token(at, index)?.to_owned();
        self.make(at, text.len() + 32)?;
        Ok(text)
    }

    fn owned_string(&mut self, at: u64, index: u32) -> Result<String> {
        let text = self.string(at, index)?.to_owned();
        self.make(at, text.len() + 32)?;
        Ok(text)
    }
}

fn malformed(file: &Path, at: u64, found: impl Into<String>, wanted: &str) -> IoError {
    IoError::Malformed {
        file: file.into(),
        place: Place::Byte(at),
        found: found.into(),
        wanted: wanted.into(),
    }
}
