//! The statistics that a file keeps of a grid, so that a program can tell what is in it without reading it.

use crate::format::names;
use crate::metadata::Entry;
use crate::tree::{Bounds, VOXELS};
use crate::value::Kind;
use crate::write::encoded::{EncodedGrid, value_size};
use crate::write::metadata::{RawEntry, RawMetadata};
use crate::write::topology::Topology;

/// Adds the statistics of a grid to its metadata.
pub(super) fn add_statistics(grid: &EncodedGrid, topology: &Topology, metadata: &mut RawMetadata) {
    // An empty box is, as with OpenVDB, one whose greatest voxel lies before its least.
    let empty = Bounds { min: [i32::MAX; 3], max: [i32::MIN; 3] };
    let bounds = bounds(grid).unwrap_or(empty);
    let entries = [
        (names::LEAST, Entry::Vec3i(bounds.min)),
        (names::GREATEST, Entry::Vec3i(bounds.max)),
        (names::VOXELS, Entry::Int64(active_voxels(grid))),
        (names::MEMORY, Entry::Int64(memory(grid, topology))),
        (names::COMPRESSION, Entry::String(grid.head.compression.word())),
    ];
    metadata.extend(entries.map(|(name, entry)| (name.to_owned(), RawEntry::of(&entry))));
}

fn active_voxels(grid: &EncodedGrid) -> i64 {
    let leaves = grid.masks.iter().map(|mask| i64::from(mask.count()));
    let tiles = grid.tiles.iter().filter(|tile| tile.is_active);
    let tiles = tiles.map(|tile| i64::from(tile.level.side()).pow(3));
    leaves.chain(tiles).fold(0, i64::saturating_add)
}

/// The least box that holds all active voxels.
fn bounds(grid: &EncodedGrid) -> Option<Bounds> {
    let leaves = grid.origins.iter().zip(&grid.masks).filter_map(|(origin, mask)| {
        let within = mask.bounds()?;
        let place = |corner: [i32; 3]| [0, 1, 2].map(|axis| origin[axis] + corner[axis]);
        Some(Bounds { min: place(within.min), max: place(within.max) })
    });
    let tiles = grid.tiles.iter().filter(|tile| tile.is_active).map(|tile| Bounds {
        min: tile.origin,
        max: tile.origin.map(|c| c + (tile.level.side() - 1)),
    });
    leaves.chain(tiles).reduce(|a, b| Bounds {
        min: [0, 1, 2].map(|axis| a.min[axis].min(b.min[axis])),
        max: [0, 1, 2].map(|axis| a.max[axis].max(b.max[axis])),
    })
}

/// How much memory OpenVDB's tree would take [bytes]: about what it counts itself.
fn memory(grid: &EncodedGrid, topology: &Topology) -> i64 {
    let values = match grid.head.kind {
        Kind::Bool => 64,
        Kind::Mask => 0,
        kind => VOXELS * value_size(kind),
    };
    // A mask, the origin and the place of the buffer; and for each slot of an inner node eight bytes and two bits.
    let leaf = values + 64 + 24;
    let inner = |slots: usize| slots * 8 + slots / 4 + 16;
    let [upper, lower] = topology.inner_nodes();
    (grid.origins.len() * leaf + upper * inner(32_768) + lower * inner(4096)) as i64
}
