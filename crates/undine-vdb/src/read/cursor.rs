//! A place in bytes of a file: reads little-endian fields one after another, and never past the end.

use crate::error::{Result, VdbError};

/// Bytes of a file from one of its offsets on, and how far they have been read.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    base: u64,
}

impl<'a> Cursor<'a> {
    /// At the first of these bytes, which stands at `base` in the file.
    pub(crate) fn new(bytes: &'a [u8], base: u64) -> Self {
        Self { bytes, at: 0, base }
    }

    /// Where in the file it is [bytes].
    pub(crate) fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// How many of its bytes have been read.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// A cursor over the same bytes, after the first `position` of them.
    pub(crate) fn at(&self, position: usize) -> Self {
        Self { at: position.min(self.bytes.len()), ..self.clone() }
    }

    /// How many bytes are left.
    pub(crate) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The bytes that are left.
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// The next `length` bytes.
    pub(crate) fn take(&mut self, length: usize, what: &str) -> Result<&'a [u8]> {
        let from = self.at;
        match from.checked_add(length).and_then(|to| self.bytes.get(from..to)) {
            Some(bytes) => {
                self.at = from + length;
                Ok(bytes)
            }
            None => Err(self.truncated(length as u64, what)),
        }
    }

    /// As [`Cursor::take`], with a length that a file gives.
    pub(crate) fn take_long(&mut self, length: u64, what: &str) -> Result<&'a [u8]> {
        match usize::try_from(length) {
            Ok(length) => self.take(length, what),
            Err(_) => Err(self.truncated(length, what)),
        }
    }

    /// The next `N` bytes.
    pub(crate) fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        match self.bytes[self.at..].first_chunk() {
            Some(bytes) => {
                self.at += N;
                Ok(*bytes)
            }
            None => Err(self.truncated(N as u64, what)),
        }
    }

    /// A `u8`.
    pub(crate) fn u8(&mut self, what: &str) -> Result<u8> {
        self.array(what).map(u8::from_le_bytes)
    }

    /// A `u16`.
    pub(crate) fn u16(&mut self, what: &str) -> Result<u16> {
        self.array(what).map(u16::from_le_bytes)
    }

    /// A `u32`.
    pub(crate) fn u32(&mut self, what: &str) -> Result<u32> {
        self.array(what).map(u32::from_le_bytes)
    }

    /// A `u64`.
    pub(crate) fn u64(&mut self, what: &str) -> Result<u64> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// An `i32`.
    pub(crate) fn i32(&mut self, what: &str) -> Result<i32> {
        self.array(what).map(i32::from_le_bytes)
    }

    /// An `i64`.
    pub(crate) fn i64(&mut self, what: &str) -> Result<i64> {
        self.array(what).map(i64::from_le_bytes)
    }

    /// An `f64`.
    pub(crate) fn f64(&mut self, what: &str) -> Result<f64> {
        self.array(what).map(f64::from_le_bytes)
    }

    /// Three `i32`.
    pub(crate) fn coordinate(&mut self, what: &str) -> Result<[i32; 3]> {
        Ok([self.i32(what)?, self.i32(what)?, self.i32(what)?])
    }

    /// A string after its length. Bytes that are not UTF-8 become replacement characters.
    pub(crate) fn string(&mut self, what: &str) -> Result<String> {
        let length = self.u32(what)?;
        let bytes = self.take_long(u64::from(length), what)?;
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }

    /// The error of a field that ended just here.
    pub(crate) fn malformed_before(
        &self,
        length: usize,
        found: impl Into<String>,
        wanted: impl Into<String>,
    ) -> VdbError {
        malformed(self.offset().saturating_sub(length as u64), found, wanted)
    }

    fn truncated(&self, wanted: u64, what: &str) -> VdbError {
        VdbError::Truncated { offset: self.offset(), what: what.to_owned(), wanted }
    }
}

/// The error of a field at this offset.
pub(crate) fn malformed(
    offset: u64,
    found: impl Into<String>,
    wanted: impl Into<String>,
) -> VdbError {
    VdbError::Malformed { offset, found: found.into(), wanted: wanted.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_one_after_another() {
        let mut bytes = vec![7];
        bytes.extend(0x0102_0304u32.to_le_bytes());
        bytes.extend(3u32.to_le_bytes());
        bytes.extend(b"abc");
        let mut cursor = Cursor::new(&bytes, 100);
        assert_eq!(cursor.u8("a").unwrap(), 7);
        assert_eq!(cursor.u32("b").unwrap(), 0x0102_0304);
        assert_eq!(cursor.string("c").unwrap(), "abc");
        assert_eq!((cursor.offset(), cursor.left()), (112, 0));
    }

    #[test]
    fn a_field_past_the_end_says_where_and_how_long_it_would_be() {
        let mut bytes = u32::MAX.to_le_bytes().to_vec();
        bytes.extend(b"abc");
        let mut cursor = Cursor::new(&bytes, 100);
        let error = cursor.string("a name").unwrap_err();
        assert!(
            matches!(&error, VdbError::Truncated { offset: 104, wanted: 0xFFFF_FFFF, what } if what == "a name"),
            "{error}"
        );
        assert!(Cursor::new(&bytes, 0).take(usize::MAX, "x").is_err());
        assert!(Cursor::new(&[], 0).u8("x").is_err());
    }
}
