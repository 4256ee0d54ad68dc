//! The buffers of leaves, many at once.

use crate::mask::LeafMask;
use crate::tree::{FileOrder, LeafSet, VOXELS};
use crate::value::{Kind, Value};
use crate::write::block::Blocks;
use crate::write::bytes::{put_coordinate, put_mask};
use crate::write::encoded::{Buffers, Head, Place};
use rayon::prelude::*;

/// How many leaves one buffer holds: the same for any number of threads, as then the bytes are.
const AT_ONCE: usize = 128;

/// Where leaves are, which voxels of them are active, and their bytes, in the order of a file.
pub(super) struct EncodedLeaves {
    pub(super) origins: Vec<[i32; 3]>,
    pub(super) masks: Vec<LeafMask>,
    pub(super) buffers: Buffers,
}

/// Encodes leaves, which may come in any order.
pub(super) fn encode_leaves<T: Value>(
    leaves: &dyn LeafSet<T>,
    background: T,
    head: &Head,
) -> EncodedLeaves {
    let mut order: Vec<(FileOrder, u32)> = (0..leaves.len() as u32)
        .map(|leaf| (FileOrder::of(leaves.origin(leaf as usize)), leaf))
        .collect();
    if !order.is_sorted() {
        order.par_sort_unstable();
    }
    let blocks = || Blocks::new(background, head.compression, head.saved_as_half);
    let encoded: Vec<(Vec<u8>, Vec<u32>)> = order
        .par_chunks(AT_ONCE)
        .map_init(
            || (blocks(), Box::new([T::default(); VOXELS]), Vec::new()),
            |(blocks, scratch, bytes), chunk| {
                bytes.clear();
                let ends = chunk.iter().map(|&(_, leaf)| {
                    put_leaf(leaves, leaf as usize, blocks, scratch, bytes);
                    bytes.len() as u32
                });
                let ends = ends.collect();
                // A copy of just the right length is cheaper than to grow anew for every chunk.
                (bytes.clone(), ends)
            },
        )
        .collect();

    let mut places = Vec::with_capacity(order.len());
    for ((_, ends), buffer) in encoded.iter().zip(0..) {
        let starts = std::iter::once(0).chain(ends.iter().copied());
        places.extend(starts.zip(ends).map(|(start, &end)| Place { buffer, start, end }));
    }
    EncodedLeaves {
        origins: order.iter().map(|&(_, leaf)| leaves.origin(leaf as usize)).collect(),
        masks: order.iter().map(|&(_, leaf)| leaves.mask(leaf as usize)).collect(),
        buffers: Buffers::Leaves {
            bytes: encoded.into_iter().map(|(bytes, _)| bytes).collect(),
            places,
        },
    }
}

/// Appends the buffer of one leaf: its mask once more and its block of values; those of `bool` are a mask too, and of a mask
/// grid there are none.
fn put_leaf<T: Value>(
    leaves: &dyn LeafSet<T>,
    leaf: usize,
    blocks: &mut Blocks<T>,
    scratch: &mut [T; VOXELS],
    bytes: &mut Vec<u8>,
) {
    let mask = leaves.mask(leaf);
    put_mask(&mask.0, bytes);
    match T::KIND {
        Kind::Mask => put_coordinate(leaves.origin(leaf), bytes),
        Kind::Bool => {
            put_coordinate(leaves.origin(leaf), bytes);
            let values = leaves.values(leaf, scratch);
            put_mask(&LeafMask::of(|voxel| values[voxel] != T::default()).0, bytes);
        }
        _ => blocks.put(leaves.values(leaf, scratch), &mask.0, None, bytes),
    }
}
