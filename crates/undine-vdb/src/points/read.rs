//! Reads points: what follows a tree's topology, in the passes that `write` describes.
//!
//! Every array of a leaf says how long it is before any of them comes, so that the whole layout is known and checked before a
//! column is allocated. Leaves may differ in their attributes; a column then has zeros for the leaves that lack it.

use super::PointTree;
use super::array::{ArrayHead, Heads, Pieces};
use super::columns::Columns;
use super::descriptor::Descriptor;
use super::write::{RAW, SHARED};
use crate::codec::Decoder;
use crate::error::{Result, VdbError};
use crate::mask::LeafMask;
use crate::read::cursor::{Cursor, malformed};
use crate::read::values::leaf_mask;
use crate::tree::{Tree, VOXELS};
use crate::value::Value;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// What follows the descriptor of a leaf is to be skipped.
const SKIPPED: u8 = 2;

/// Reads points into the leaves of a tree whose values are not read yet; attributes that cannot be read come to `unread`.
pub(crate) fn read_points(
    cursor: &mut Cursor<'_>,
    voxels: Tree<u32>,
    unread: &mut Vec<(String, VdbError)>,
) -> Result<PointTree> {
    let mut points = PointTree { voxels, ..PointTree::default() };
    let mut budget = Budget::of(cursor.left());
    if let Some(layout) = Layout::read(cursor, &points.voxels.leaves.masks)? {
        points.voxels.leaves.values = layout.ends()?;
        let Layout { sets, starts, pieces, .. } = &layout;
        Columns { sets, starts, pieces }.fill(&mut points, &mut budget, unread)?;
    }
    Ok(points)
}

/// Goes behind points.
pub(crate) fn skip_points(cursor: &mut Cursor<'_>, masks: &[LeafMask]) -> Result<()> {
    Layout::read(cursor, masks).map(drop)
}

/// Where everything is.
struct Layout<'a> {
    sets: Sets,
    /// The first point of each leaf, and at last how many there are.
    starts: Vec<usize>,
    /// By position among the attributes of a leaf.
    pieces: Vec<Pieces<'a>>,
    buffers: Vec<VoxelBuffer<'a>>,
}

impl<'a> Layout<'a> {
    /// Goes through all passes; there are none without leaves.
    fn read(cursor: &mut Cursor<'a>, masks: &[LeafMask]) -> Result<Option<Self>> {
        let passes = cursor.u16("the number of passes")?;
        if masks.is_empty() {
            return Ok(None);
        }
        if passes < 4 || !passes.is_multiple_of(2) {
            let found = format!("the number of passes is {passes}");
            return Err(cursor.malformed_before(2, found, "it is 4 and 2 for each attribute"));
        }
        let positions = usize::from(passes - 4) / 2;
        let sizes = cursor.take(2 * masks.len(), "the lengths of voxel buffers")?;
        let sets = Sets::read(cursor, masks.len(), positions)?;
        let starts = sets.starts();
        let mut pieces = Vec::with_capacity(positions);
        for heads in &sets.heads {
            pieces.push(Pieces::read(cursor, heads)?);
        }
        let buffers = VoxelBuffer::read_all(cursor, sizes, masks)?;
        for (pieces, heads) in pieces.iter_mut().zip(&sets.heads) {
            pieces.take(cursor, heads)?;
        }
        Ok(Some(Self { sets, starts, pieces, buffers }))
    }

    /// Where the points of each voxel end.
    fn ends(&self) -> Result<Vec<u32>> {
        let mut ends = vec![0; self.buffers.len() * VOXELS];
        let leaves = ends.par_chunks_exact_mut(VOXELS).zip(&self.buffers).enumerate();
        leaves
            .map_init(Decoder::default, |decoder, (leaf, (ends, buffer))| {
                buffer.expand(decoder, ends, self.sets.count(leaf))
            })
            .reduce(|| Ok(()), Result::and)?;
        Ok(ends)
    }
}

/// What the leaves of a file may take in memory, by how long it is: LZ4 expands up to 255-fold, and one value may stand for all
/// of a leaf; but a small file must not ask for gigabytes.
pub(super) struct Budget(u64);

impl Budget {
    fn of(length: usize) -> Self {
        Self((length as u64).saturating_mul(1024).saturating_add(1 << 24))
    }

    pub fn spend(&mut self, count: usize, size: usize, offset: u64) -> Result<()> {
        let bytes = (count as u64).saturating_mul(size as u64);
        self.0 = self.0.checked_sub(bytes).ok_or_else(|| VdbError::Unsupported {
            offset,
            what: format!("a column of {count} values that needs {bytes} bytes"),
            wanted: "points may take about a thousand times the length of their grid".into(),
        })?;
        Ok(())
    }
}

/// What the leaves have: descriptors and the heads of arrays.
pub(super) struct Sets {
    /// The descriptors that differ.
    pub descriptors: Vec<Descriptor>,
    /// Which of them each leaf has.
    pub of_leaf: Vec<u32>,
    /// By position among the attributes of a leaf.
    pub heads: Vec<Heads>,
    /// Where the first descriptor is.
    pub offset: u64,
}

impl Sets {
    fn read(cursor: &mut Cursor<'_>, leaves: usize, positions: usize) -> Result<Self> {
        let offset = cursor.offset();
        let mut sets = Self { descriptors: vec![], of_leaf: vec![], heads: vec![], offset };
        sets.heads.resize_with(positions, Heads::default);
        let mut known: BTreeMap<&[u8], u32> = BTreeMap::new();
        let mut shared = None;
        for leaf in 0..leaves {
            let which = match shared {
                Some(which) => which,
                None => {
                    let (which, is_shared) = sets.read_descriptor(cursor, positions, &mut known)?;
                    shared = is_shared.then_some(which);
                    which
                }
            };
            sets.of_leaf.push(which);
            let count = sets.descriptors[which as usize].arrays.len();
            let mut points = None;
            for heads in &mut sets.heads[..count] {
                let head = ArrayHead::read(cursor)?;
                let wanted = *points.get_or_insert(head.count);
                if head.count != wanted {
                    let found = format!("an array of {} points", head.count);
                    let wanted = format!("the leaf's first has {wanted}");
                    return Err(malformed(head.offset, found, wanted));
                }
                heads.push(leaf, head);
            }
        }
        Ok(sets)
    }

    /// Reads a descriptor, and says which it is and whether all leaves from here on have it.
    fn read_descriptor<'a>(
        &mut self,
        cursor: &mut Cursor<'a>,
        positions: usize,
        known: &mut BTreeMap<&'a [u8], u32>,
    ) -> Result<(u32, bool)> {
        let offset = cursor.offset();
        let header = cursor.u8("what a descriptor is for")?;
        if header > SHARED | SKIPPED {
            let found = format!("a descriptor is for {header:#x}");
            return Err(malformed(
                offset,
                found,
                "it is a sum of 1 (all leaves) and 2 (an extension)",
            ));
        }
        let bytes = cursor.rest();
        let from = cursor.position();
        let descriptor = Descriptor::read(cursor)?;
        let bytes = &bytes[..cursor.position() - from];
        if header & SKIPPED != 0 {
            let length = cursor.u64("the length of an extension")?;
            cursor.take_long(length, "an extension")?;
        }
        if descriptor.arrays.len() > positions {
            let found = format!("a leaf has {} attributes", descriptor.arrays.len());
            let wanted = format!("by the number of passes there are at most {positions}");
            return Err(malformed(offset, found, wanted));
        }
        let next = self.descriptors.len() as u32;
        let which = *known.entry(bytes).or_insert(next);
        if which == next {
            self.descriptors.push(descriptor);
        }
        Ok((which, header & SHARED != 0))
    }

    /// How many points a leaf has, as its arrays say; none if it has no arrays.
    fn count(&self, leaf: usize) -> Option<u32> {
        self.heads.first()?.get(leaf).map(|head| head.count)
    }

    /// The first point of each leaf, and at last how many there are.
    fn starts(&self) -> Vec<usize> {
        let mut starts = vec![0];
        let mut next = 0;
        for leaf in 0..self.of_leaf.len() {
            next += self.count(leaf).unwrap_or(0) as usize;
            starts.push(next);
        }
        starts
    }
}

/// The voxel buffer of a leaf, as the file has it.
struct VoxelBuffer<'a> {
    is_raw: bool,
    bytes: &'a [u8],
    offset: u64,
}

impl<'a> VoxelBuffer<'a> {
    fn read_all(cursor: &mut Cursor<'a>, sizes: &[u8], masks: &[LeafMask]) -> Result<Vec<Self>> {
        let read = |(size, mask): (&[u8; 2], &LeafMask)| {
            let again = leaf_mask(cursor.take(VOXELS / 8, "the mask of a leaf")?);
            if again != *mask {
                let found = "the mask of a leaf is not that of the topology";
                return Err(cursor.malformed_before(VOXELS / 8, found, "the two are the same"));
            }
            let size = u16::from_le_bytes(*size);
            let again = cursor.u16("the length of a voxel buffer")?;
            if size != again {
                let found = format!("the length of a voxel buffer is {again}");
                return Err(cursor.malformed_before(2, found, format!("it was {size} before")));
            }
            let is_raw = size == RAW;
            let offset = cursor.offset();
            let length = if is_raw { VOXELS * <u32 as Value>::SIZE } else { usize::from(size) };
            Ok(Self { is_raw, bytes: cursor.take(length, "a voxel buffer")?, offset })
        };
        sizes.as_chunks().0.iter().zip(masks).map(read).collect()
    }

    fn expand(&self, decoder: &mut Decoder, ends: &mut [u32], count: Option<u32>) -> Result<()> {
        let mut plain = [0; VOXELS * 4];
        if self.is_raw {
            plain.copy_from_slice(self.bytes);
        } else {
            decoder.blosc_frame(self.bytes, &mut plain, self.offset)?;
        }
        <u32 as Value>::get(&plain, ends);
        let last = ends[VOXELS - 1];
        if ends.windows(2).any(|two| two[0] > two[1]) || last != count.unwrap_or(0) {
            let found = format!("the voxels of a leaf do not ascend to {last} points");
            let wanted = format!("its arrays have {}", count.unwrap_or(0));
            return Err(malformed(self.offset, found, wanted));
        }
        Ok(())
    }
}
