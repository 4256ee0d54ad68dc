//! The arrays of leaves in a file: what their heads say, and the pages or single buffers that their bytes come in.

use super::write::{ARRAY_HEAD, CONSTANT_STRIDE, HIDDEN, PAGED, STRIDED, UNIFORM};
use crate::codec::{Decoder, blosc};
use crate::error::{Result, VdbError};
use crate::read::cursor::{Cursor, malformed};
use std::ops::Range;

/// What a file says of an array before its bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct ArrayHead {
    /// Where it says so.
    pub offset: u64,
    /// How long the array is [bytes], as one that is not compressed unless it is so by itself.
    pub length: u64,
    /// How many points it is for.
    pub count: u32,
    /// How many values each has.
    pub stride: u32,
    /// Whether each has as many as the others.
    pub constant_stride: bool,
    pub hidden: bool,
    /// Whether one value stands for all.
    pub uniform: bool,
    /// Whether it is in a page with others.
    pub paged: bool,
}

impl ArrayHead {
    pub fn read(cursor: &mut Cursor<'_>) -> Result<Self> {
        let offset = cursor.offset();
        let length = cursor.u64("the length of an array")?;
        let length = length.checked_sub(ARRAY_HEAD).ok_or_else(|| {
            let found = format!("the length of an array is {length}");
            malformed(offset, found, format!("it is at least {ARRAY_HEAD}"))
        })?;
        let [flags, layout] = cursor.array("the flags of an array")?;
        if layout >= 2 * PAGED {
            let found = format!("the layout of an array is {layout:#x}");
            return Err(cursor.malformed_before(1, found, "it is at most 0xf"));
        }
        let count = cursor.u32("the count of an array")?;
        let strided = layout & STRIDED != 0;
        let stride = if strided { cursor.u32("the stride of an array")? } else { 1 };
        if stride == 0 {
            return Err(cursor.malformed_before(
                4,
                "the stride of an array is 0",
                "it is 1 or more",
            ));
        }
        Ok(Self {
            offset,
            length,
            count,
            stride,
            constant_stride: !strided || flags & CONSTANT_STRIDE != 0,
            hidden: flags & HIDDEN != 0,
            uniform: layout & UNIFORM != 0,
            paged: layout & PAGED != 0,
        })
    }

    /// The error of an array that has not this many bytes.
    pub fn wrong_length(&self, length: usize) -> VdbError {
        let Self { count, stride, .. } = self;
        let found = format!("an array of {} bytes", self.length);
        let wanted = format!("{count} points of {stride} values each have {length} bytes");
        malformed(self.offset, found, wanted)
    }
}

/// What a file says of the arrays at one position among the attributes, by leaf. Leaves without are left out: those that some
/// files have may be few, and positions and leaves many.
#[derive(Debug, Default)]
pub(super) struct Heads(Vec<(usize, ArrayHead)>);

impl Heads {
    /// Adds that of a leaf after those of all before it.
    pub fn push(&mut self, leaf: usize, head: ArrayHead) {
        self.0.push((leaf, head));
    }

    /// That of a leaf.
    pub fn get(&self, leaf: usize) -> Option<&ArrayHead> {
        // Mostly all leaves before it are there.
        let at = match self.0.get(leaf) {
            Some((there, _)) if *there == leaf => leaf,
            _ => self.0.binary_search_by_key(&leaf, |(there, _)| *there).ok()?,
        };
        Some(&self.0[at].1)
    }

    /// All, with their leaves.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &ArrayHead)> {
        self.0.iter().map(|(leaf, head)| (*leaf, head))
    }
}

/// The bytes of the arrays of consecutive leaves.
#[derive(Debug)]
pub(super) struct Piece<'a> {
    /// The leaves; those of them that have no bytes here are left out.
    pub leaves: Range<usize>,
    pub is_compressed: bool,
    /// How long it is when it is not compressed [bytes].
    pub expanded: usize,
    /// How long it is in the file.
    length: usize,
    bytes: &'a [u8],
    offset: u64,
}

impl<'a> Piece<'a> {
    /// Its bytes, not compressed: as they are, or put into `scratch`.
    pub fn expand<'s>(
        &'s self,
        decoder: &mut Decoder,
        scratch: &'s mut Vec<u8>,
    ) -> Result<&'s [u8]> {
        if !self.is_compressed {
            return Ok(self.bytes);
        }
        // OpenVDB fills up what is shorter than 128 bytes to as many before it compresses it.
        let whole = match blosc::expanded_length(self.bytes) {
            Some(PADDED) if self.expanded < PADDED => PADDED,
            _ => self.expanded,
        };
        scratch.resize(whole, 0);
        decoder.blosc_frame(self.bytes, scratch, self.offset)?;
        Ok(&scratch[..self.expanded])
    }

    fn take(&mut self, cursor: &mut Cursor<'a>) -> Result<()> {
        self.offset = cursor.offset();
        self.bytes = cursor.take(self.length, "the arrays of leaves")?;
        if self.expanded > most_expanded(self.length) {
            let found = format!("{} bytes that expand to {}", self.length, self.expanded);
            return Err(malformed(self.offset, found, "LZ4 expands at most 255-fold"));
        }
        Ok(())
    }
}

/// What shorter payloads are filled up to [bytes].
const PADDED: usize = 128;

/// How long this many compressed bytes can be at most when they are expanded; zlib, which other programs may have put in, can
/// do more than LZ4.
fn most_expanded(length: usize) -> usize {
    length.saturating_mul(1100).saturating_add(PADDED)
}

/// The pieces that hold one attribute of all leaves.
#[derive(Debug)]
pub(super) struct Pieces<'a> {
    pub pieces: Vec<Piece<'a>>,
    /// Whether they are pages.
    pub paged: bool,
}

impl<'a> Pieces<'a> {
    /// Reads the lengths of pages.
    pub fn read(cursor: &mut Cursor<'_>, heads: &Heads) -> Result<Self> {
        let paged = heads.iter().next().is_some_and(|(_, head)| head.paged);
        let mut pieces = Self { pieces: Vec::new(), paged };
        let mut left = 0;
        for (leaf, head) in heads.iter() {
            if head.paged != pieces.paged {
                return Err(VdbError::Unsupported {
                    offset: head.offset,
                    what: "an attribute that is in pages for some leaves only".into(),
                    wanted: "OpenVDB writes all leaves in one way".into(),
                });
            }
            if !head.paged || head.length == 0 {
                continue;
            }
            if left == 0 {
                let piece = read_page(cursor, leaf)?;
                left = piece.expanded as u64;
                pieces.pieces.push(piece);
            }
            left = left.checked_sub(head.length).ok_or_else(|| {
                let found = format!("an array of {} bytes", head.length);
                malformed(head.offset, found, format!("its page has {left} more"))
            })?;
            if let Some(last) = pieces.pieces.last_mut() {
                last.leaves.end = leaf + 1;
            }
        }
        Ok(pieces)
    }

    /// Takes the bytes.
    pub fn take(&mut self, cursor: &mut Cursor<'a>, heads: &Heads) -> Result<()> {
        if self.paged {
            return self.pieces.iter_mut().try_for_each(|piece| piece.take(cursor));
        }
        for (leaf, head) in heads.iter() {
            let is_compressed = !head.uniform && cursor.u8("whether an array is compressed")? != 0;
            let length = usize::try_from(head.length).unwrap_or(usize::MAX);
            let mut piece = Piece {
                leaves: leaf..leaf + 1,
                is_compressed,
                expanded: length,
                length,
                bytes: &[],
                offset: 0,
            };
            if is_compressed {
                // The head has the length of the frame, and the frame that of what it expands to.
                piece.expanded = blosc::expanded_length(cursor.rest()).unwrap_or(0);
            }
            piece.take(cursor)?;
            self.pieces.push(piece);
        }
        Ok(())
    }
}

/// Reads the lengths of a page that begins with the array of a leaf.
fn read_page<'a>(cursor: &mut Cursor<'_>, leaf: usize) -> Result<Piece<'a>> {
    let offset = cursor.offset();
    let size = cursor.i32("the length of a page")?;
    let is_compressed = size > 0;
    let length = size.unsigned_abs() as usize;
    let expanded = if is_compressed {
        let expanded = cursor.i32("the length of an expanded page")?;
        usize::try_from(expanded).unwrap_or(0)
    } else {
        length
    };
    if expanded == 0 {
        let found = format!("a page of {size} bytes that expand to nothing");
        return Err(malformed(offset, found, "a page holds at least one array"));
    }
    Ok(Piece { leaves: leaf..leaf + 1, is_compressed, expanded, length, bytes: &[], offset })
}
