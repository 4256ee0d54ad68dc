//! A whole tree: its topology, and then the values of its leaves, which are decoded in parallel.

use std::io::{Read, Seek};
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::error::{Result, VdbError};
use crate::mask::LeafMask;
use crate::read::cursor::Cursor;
use crate::read::head::{Layout, Place};
use crate::read::source::Source;
use crate::read::topology::{Topology, read_topology};
use crate::read::values::{Block, Scratch, leaf_mask};
use crate::tree::{Bounds, Leaves, Tree, VOXELS};
use crate::value::{Kind, Value};

/// As much of the leaves' blocks is read at a time [bytes]. The same memory serves again and again: new memory for the
/// whole of a large grid would cost more than the reading.
const SEGMENT: u64 = 4 << 20;

/// Reads a tree, or what of it meets a box.
pub(crate) fn read_tree<T: Value, R: Read + Seek + Send>(
    source: &mut Source<R>,
    layout: &Layout,
    place: &Place,
    within: Option<Bounds>,
) -> Result<Tree<T>> {
    let mut topology = topology_of::<T, R>(source, layout, place)?;
    let background = topology.background;
    let is_wanted = |origin: [i32; 3], side: i32| {
        within.is_none_or(|within| {
            let (min, max) = (within.min, within.max);
            (0..3).all(|axis| min[axis] <= origin[axis] + (side - 1) && origin[axis] <= max[axis])
        })
    };
    let count = topology.origins.iter().filter(|&&origin| is_wanted(origin, 8)).count();
    has_room_for_leaves(&topology, place).map_err(|error| source.in_file(place.end, error))?;

    // Memory of zeros costs nothing until it is touched, which the threads do.
    let mut values = vec![T::default(); count * VOXELS];
    let mut rest = values.as_chunks_mut::<VOXELS>().0;
    let (mut begin, mut length) = (place.blocks, SEGMENT);
    let mut end = begin.saturating_add(length).min(place.end);
    let mut bytes = source.read(begin, end)?;
    let mut next_bytes = Vec::new();
    let mut starts = Vec::new();
    let mut next = 0;
    while next < topology.origins.len() {
        // Find where the leaves begin that are whole in this segment of the blocks.
        let mut cursor = Cursor::new(&bytes, begin);
        starts.clear();
        while let Some(&origin) = topology.origins.get(next) {
            let start = cursor.clone();
            match skip_leaf(&mut cursor, origin, &topology.masks[next], background, layout) {
                Ok(()) => {}
                Err(VdbError::Truncated { .. }) if end < place.end => {
                    cursor = start;
                    break;
                }
                Err(error) => return Err(source.in_file(place.end, error)),
            }
            if is_wanted(origin, 8) {
                starts.push(start.position());
            }
            next += 1;
        }

        // Decode those that are wanted, and meanwhile read the next segment after what is left of this one.
        length = if cursor.position() == 0 { 2 * length } else { SEGMENT };
        let is_last = next == topology.origins.len();
        begin = cursor.offset();
        end = begin.saturating_add(if is_last { 0 } else { length }).min(place.end);
        next_bytes.clear();
        next_bytes.extend_from_slice(cursor.rest());
        let (out, after) = rest.split_at_mut(starts.len());
        rest = after;
        let (decoded, read) = rayon::join(
            || read_leaves(&cursor, &starts, background, layout, out),
            || source.append(begin + next_bytes.len() as u64, end, &mut next_bytes),
        );
        decoded?;
        read?;
        std::mem::swap(&mut bytes, &mut next_bytes);
    }

    if let Some(within) = within {
        topology.tiles.retain(|tile| is_wanted(tile.origin, tile.level.side()));
        let kept: Vec<bool> = topology.origins.iter().map(|&at| is_wanted(at, 8)).collect();
        keep(&mut topology.origins, &kept);
        keep(&mut topology.masks, &kept);
        let leaves = values.as_chunks_mut::<VOXELS>().0.iter_mut();
        for (leaf, values) in leaves.enumerate() {
            let mask = &mut topology.masks[leaf];
            clip(within, topology.origins[leaf], background, mask, values);
        }
    }
    let Topology { tiles, origins, masks, .. } = topology;
    Ok(Tree { background, tiles, leaves: Leaves { origins, masks, values } })
}

/// Reads the topology of a tree.
pub(crate) fn topology_of<T: Value, R: Read + Seek + Send>(
    source: &mut Source<R>,
    layout: &Layout,
    place: &Place,
) -> Result<Topology<T>> {
    let bytes = source.read(place.tree, place.blocks)?;
    let topology = read_topology(&mut Cursor::new(&bytes, place.tree), layout);
    topology.map_err(|error| source.in_file(place.blocks, error))
}

/// Checks that the leaves' blocks can be in the file at all, before memory is taken for their values.
fn has_room_for_leaves<T: Value>(topology: &Topology<T>, place: &Place) -> Result<()> {
    let least = match T::KIND {
        Kind::Bool => 64 + 12 + 64,
        Kind::Mask => 64 + 12,
        _ => 64 + 1,
    };
    let wanted = least * topology.origins.len() as u64;
    match wanted <= place.end - place.blocks {
        true => Ok(()),
        false => {
            let what = format!("the blocks of {} leaves", topology.origins.len());
            Err(VdbError::Truncated { offset: place.blocks, what, wanted })
        }
    }
}

/// Goes behind the block of a leaf.
pub(crate) fn skip_leaf<T: Value>(
    cursor: &mut Cursor<'_>,
    origin: [i32; 3],
    mask: &LeafMask,
    background: T,
    layout: &Layout,
) -> Result<()> {
    let again = leaf_mask(cursor.take(64, "the mask of a leaf")?);
    if again != *mask {
        let found = format!("the mask of the leaf at {origin:?} is not that of the topology");
        return Err(cursor.malformed_before(64, found, "the two are the same"));
    }
    match T::KIND {
        Kind::Bool | Kind::Mask => {
            let there = cursor.coordinate("the place of a leaf")?;
            if there != origin {
                let found = format!("the place of a leaf is {there:?}");
                return Err(cursor.malformed_before(12, found, format!("it is {origin:?}")));
            }
            if T::KIND == Kind::Bool {
                cursor.take(64, "the values of a leaf")?;
            }
        }
        _ => {
            Block::read(cursor, VOXELS, mask.count() as usize, background, layout)?;
        }
    }
    Ok(())
}

/// Fills the values of leaves whose blocks begin after so many of the cursor's bytes.
fn read_leaves<T: Value>(
    cursor: &Cursor<'_>,
    starts: &[usize],
    background: T,
    layout: &Layout,
    out: &mut [[T; VOXELS]],
) -> Result<()> {
    let first_failed = AtomicUsize::new(usize::MAX);
    out.par_iter_mut().zip(starts).enumerate().with_min_len(8).for_each_init(
        Scratch::default,
        |scratch, (leaf, (values, &start))| {
            if read_leaf(&mut cursor.at(start), background, layout, scratch, values).is_err() {
                first_failed.fetch_min(leaf, Ordering::Relaxed);
            }
        },
    );
    // Which thread fails first is chance; the error is that of the first leaf.
    let leaf = first_failed.into_inner();
    match starts.get(leaf) {
        Some(&start) => {
            let scratch = &mut Scratch::default();
            read_leaf(&mut cursor.at(start), background, layout, scratch, &mut out[leaf])
        }
        None => Ok(()),
    }
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
