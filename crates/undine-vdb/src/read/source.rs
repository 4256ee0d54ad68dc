//! The bytes of a file, read where and when they are needed.

use std::io::{Read, Seek, SeekFrom};

use crate::error::{Result, VdbError};
use crate::read::cursor::{Cursor, malformed};

/// The bytes of a file.
#[derive(Debug)]
pub(crate) struct Source<R> {
    reader: R,
    /// How long the file is [bytes].
    pub(crate) length: u64,
    /// What was read last for parsing, and where it begins: heads of small grids lie close together.
    window: Vec<u8>,
    begin: u64,
}

impl<R: Read + Seek> Source<R> {
    /// Of all that can be read.
    pub(crate) fn new(mut reader: R) -> Result<Self> {
        let length = reader.seek(SeekFrom::End(0))?;
        Ok(Self { reader, length, window: vec![], begin: 0 })
    }

    /// The bytes of a range that is in the file.
    pub(crate) fn read(&mut self, begin: u64, end: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.append(begin, end, &mut bytes)?;
        Ok(bytes)
    }

    /// Appends the bytes of a range that is in the file.
    pub(crate) fn append(&mut self, begin: u64, end: u64, bytes: &mut Vec<u8>) -> Result<()> {
        let wanted = end.min(self.length).saturating_sub(begin);
        self.reader.seek(SeekFrom::Start(begin))?;
        bytes.reserve_exact(usize::try_from(wanted).unwrap_or(0));
        let there = self.reader.by_ref().take(wanted).read_to_end(bytes)?;
        match there as u64 == wanted {
            true => Ok(()),
            false => Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into()),
        }
    }

    /// Parses what begins at an offset and ends before `limit`, but whose length is not known: takes more and more of the
    /// file until it suffices.
    pub(crate) fn parse<T>(
        &mut self,
        begin: u64,
        limit: u64,
        parse: impl Fn(&mut Cursor<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut length = 1 << 14;
        loop {
            let window_end = self.begin + self.window.len() as u64;
            let end = window_end.min(limit);
            if (self.begin..end).contains(&begin) {
                let bytes =
                    &self.window[(begin - self.begin) as usize..(end - self.begin) as usize];
                match parse(&mut Cursor::new(bytes, begin)) {
                    Err(VdbError::Truncated { .. }) if end < limit => {}
                    other => return other.map_err(|error| self.in_file(limit, error)),
                }
            } else if begin >= limit {
                let nothing = parse(&mut Cursor::new(&[], begin));
                return nothing.map_err(|error| self.in_file(limit, error));
            }
            self.window = self.read(begin, begin.saturating_add(length))?;
            self.begin = begin;
            length *= 8;
        }
    }

    /// What to say of bytes that end at `end`: if that is not where the file ends, then it has not been cut short.
    pub(crate) fn in_file(&self, end: u64, error: VdbError) -> VdbError {
        match error {
            VdbError::Truncated { offset, what, wanted } if end < self.length => {
                let found = format!("{what} of {wanted} bytes begins here");
                malformed(offset, found, format!("the file gives it the bytes before {end}"))
            }
            other => other,
        }
    }
}
