//! A whole tree: its topology, and then the values of its leaves, which are decoded in parallel.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::error::Result;
use crate::mask::LeafMask;
use crate::read::cursor::{Cursor, malformed};
use crate::read::head::Layout;
use crate::read::topology::{Topology, read_topology};
use crate::read::values::{Block, Scratch, leaf_mask};
use crate::tree::{Bounds, Leaves, Tree, VOXELS};
use crate::value::{Kind, Value};

/// Reads a tree from its topology on, whose leaves' blocks begin after `blocks` of the cursor's bytes: only what meets the
/// box, if there is one.
pub(crate) fn read_tree<T: Value>(
    cursor: &mut Cursor<'_>,
    blocks: usize,
    layout: &Layout,
    within: Option<Bounds>,
) -> Result<Tree<T>> {
    let topology = read_topology::<T>(cursor, layout)?;
    go_to_blocks(cursor, blocks)?;
    let mut starts = scan_leaves(cursor, &topology, layout)?;
    let Topology { background, mut tiles, mut origins, mut masks } = topology;

    if let Some(within) = within {
        let meets = |origin: [i32; 3], side: i32| {
            (0..3).all(|a| within.min[a] <= origin[a] + (side - 1) && origin[a] <= within.max[a])
        };
        tiles.retain(|tile| meets(tile.origin, tile.level.side()));
        let kept: Vec<bool> = origins.iter().map(|&origin| meets(origin, 8)).collect();
        keep(&mut starts, &kept);
        keep(&mut origins, &kept);
        keep(&mut masks, &kept);
    }

    // Memory of zeros costs nothing until it is touched, which the threads below do.
    let mut values = vec![T::default(); origins.len() * VOXELS];
    let first_failed = AtomicUsize::new(usize::MAX);
    values
        .as_chunks_mut::<VOXELS>()
        .0
        .par_iter_mut()
        .zip(masks.par_iter_mut())
        .enumerate()
        .with_min_len(8)
        .for_each_init(Scratch::default, |scratch, (leaf, (values, mask))| {
            let mut cursor = cursor.at(starts[leaf]);
            match read_leaf(&mut cursor, background, layout, scratch, values) {
                Ok(()) => {
                    if let Some(within) = within {
                        clip(within, origins[leaf], background, mask, values);
                    }
                }
                Err(_) => {
                    first_failed.fetch_min(leaf, Ordering::Relaxed);
                }
            }
        });
    // Which thread fails first is chance; the error is that of the first leaf.
    if let Some(&start) = starts.get(first_failed.into_inner()) {
        let values = &mut [T::default(); VOXELS];
        read_leaf(&mut cursor.at(start), background, layout, &mut Scratch::default(), values)?;
    }
    Ok(Tree { background, tiles, leaves: Leaves { origins, masks, values } })
}

/// Goes from the end of a topology to the leaves' blocks, which begin after so many of the cursor's bytes.
pub(crate) fn go_to_blocks(cursor: &mut Cursor<'_>, blocks: usize) -> Result<()> {
    if cursor.position() > blocks {
        let found =
            format!("a tree's blocks begin here, but its topology ends at {}", cursor.offset());
        return Err(malformed(cursor.at(blocks).offset(), found, "they come after it"));
    }
    *cursor = cursor.at(blocks);
    Ok(())
}

/// Goes over the leaves' blocks, and says after how many of the cursor's bytes each begins.
pub(crate) fn scan_leaves<T: Value>(
    cursor: &mut Cursor<'_>,
    topology: &Topology<T>,
    layout: &Layout,
) -> Result<Vec<usize>> {
    let mut starts = Vec::with_capacity(topology.origins.len());
    for (origin, mask) in topology.origins.iter().zip(&topology.masks) {
        starts.push(cursor.position());
        let again = leaf_mask(cursor.take(64, "the mask of a leaf")?);
        if again != *mask {
            let found = format!("the mask of the leaf at {origin:?} is not that of the topology");
            return Err(cursor.malformed_before(64, found, "the two are the same"));
        }
        match T::KIND {
            Kind::Bool | Kind::Mask => {
                let there = cursor.coordinate("the place of a leaf")?;
                if there != *origin {
                    let found = format!("the place of a leaf is {there:?}");
                    return Err(cursor.malformed_before(12, found, format!("it is {origin:?}")));
                }
                if T::KIND == Kind::Bool {
                    cursor.take(64, "the values of a leaf")?;
                }
            }
            _ => {
                let active = mask.count() as usize;
                Block::read(cursor, VOXELS, active, topology.background, layout)?;
            }
        }
    }
    Ok(starts)
}

/// Fills the values of the leaf whose block begins here.
fn read_leaf<T: Value>(
    cursor: &mut Cursor<'_>,
    background: T,
    layout: &Layout,
    scratch: &mut Scratch<T>,
    values: &mut [T; VOXELS],
) -> Result<()> {
    let mask = leaf_mask(cursor.take(64, "the mask of a leaf")?);
    match T::KIND {
        Kind::Bool => {
            cursor.coordinate("the place of a leaf")?;
            fill_bits(&leaf_mask(cursor.take(64, "the values of a leaf")?), values);
        }
        Kind::Mask => fill_bits(&mask, values),
        _ => {
            let active = mask.count() as usize;
            let block = Block::read(cursor, VOXELS, active, background, layout)?;
            scratch.leaf(&block, &mask, layout, values)?;
        }
    }
    Ok(())
}

/// Fills values that a file keeps as bits.
fn fill_bits<T: Value>(mask: &LeafMask, values: &mut [T; VOXELS]) {
    let bytes: [u8; VOXELS] = std::array::from_fn(|voxel| u8::from(mask.is_on(voxel)));
    T::get(&bytes, values);
}

/// Makes inactive background of a leaf's voxels outside a box.
fn clip<T: Value>(
    within: Bounds,
    origin: [i32; 3],
    background: T,
    mask: &mut LeafMask,
    values: &mut [T; VOXELS],
) {
    if (0..3).all(|a| within.min[a] <= origin[a] && origin[a] + 7 <= within.max[a]) {
        return;
    }
    for (voxel, value) in values.iter_mut().enumerate() {
        let at = [voxel >> 6, voxel >> 3 & 7, voxel & 7];
        let is_inside = (0..3).all(|axis| {
            let c = origin[axis] + at[axis] as i32;
            within.min[axis] <= c && c <= within.max[axis]
        });
        if !is_inside {
            *value = background;
            mask.set(voxel, false);
        }
    }
}

fn keep<E>(elements: &mut Vec<E>, kept: &[bool]) {
    let mut kept = kept.iter();
    elements.retain(|_| kept.next().is_some_and(|kept| *kept));
}
