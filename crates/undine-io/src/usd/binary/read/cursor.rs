//! A place in the file, from which numbers are read one after another.

use super::malformed;
use crate::error::Result;
use std::path::Path;

/// A place in the file.
#[derive(Clone)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    file: &'a Path,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// A place so many bytes from the beginning.
    pub fn new(bytes: &'a [u8], file: &'a Path, at: u64) -> Result<Self> {
        let mut cursor = Self { bytes, file, at: 0 };
        cursor.seek(at)?;
        Ok(cursor)
    }

    /// How many bytes it is from the beginning.
    pub fn at(&self) -> u64 {
        self.at as u64
    }

    /// How many bytes there are from here on.
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Goes to another place.
    pub fn seek(&mut self, at: u64) -> Result<()> {
        match usize::try_from(at) {
            Ok(at) if at <= self.bytes.len() => {
                self.at = at;
                Ok(())
            }
            _ => Err(malformed(
                self.file,
                self.at as u64,
                format!("something is said to be at byte {at}"),
                &format!("the file has {} bytes", self.bytes.len()),
            )),
        }
    }

    /// Follows an offset from here, as stands before a value that can be anywhere.
    pub fn follow(&mut self) -> Result<()> {
        let start = self.at as i64;
        let offset = self.u64()? as i64;
        let target = start.checked_add(offset).filter(|&target| target >= 0);
        self.seek(target.map_or(u64::MAX, |target| target as u64))
    }

    /// The next bytes.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        match self.bytes[self.at..].get(..count) {
            Some(taken) => {
                self.at += count;
                Ok(taken)
            }
            None => Err(malformed(
                self.file,
                self.at as u64,
                format!("the file ends after {} more bytes", self.left()),
                &format!("{count} are needed here"),
            )),
        }
    }

    fn number<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut number = [0; N];
        number.copy_from_slice(self.take(N)?);
        Ok(number)
    }

    pub fn u8(&mut self) -> Result<u8> {
        self.number().map(u8::from_le_bytes)
    }

    pub fn u32(&mut self) -> Result<u32> {
        self.number().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Result<u64> {
        self.number().map(u64::from_le_bytes)
    }

    pub fn f64(&mut self) -> Result<f64> {
        self.number().map(f64::from_le_bytes)
    }

    /// A number of things of which each takes so many bytes from here on.
    pub fn count(&mut self, each: usize) -> Result<usize> {
        let at = self.at as u64;
        let count = self.u64()?;
        self.check(at, count, each)
    }

    /// Refuses a number of things that the rest of the file can not hold.
    pub fn check(&self, at: u64, count: u64, each: usize) -> Result<usize> {
        match usize::try_from(count) {
            Ok(count) if count.checked_mul(each).is_some_and(|bytes| bytes <= self.left()) => {
                Ok(count)
            }
            _ => Err(malformed(
                self.file,
                at,
                format!("{count} things of {each} bytes"),
                &format!("the file has {} more bytes", self.left()),
            )),
        }
    }

    /// Bytes with their number before them.
    pub fn block(&mut self) -> Result<&'a [u8]> {
        let length = self.count(1)?;
        self.take(length)
    }
}
