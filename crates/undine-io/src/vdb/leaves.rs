//! Leaves over the chunks of a channel, without a copy: which voxels are active, and what the others hold.

use super::inside::{Ends, Inside};
use super::source::{Leaf, Place, Source};
use super::value::GridValue;
use crate::error::Result;
use crate::names::UpAxis;
use rayon::prelude::*;
use std::collections::BTreeMap;
use undine_core::process::Processes;
use undine_vdb::{FileOrder, LeafMask, LeafSet, Level, Tile, VOXELS};

/// Which voxels of a grid are active.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Active<'a> {
    /// All voxels of all Buckets.
    All,
    /// Those whose value is not the background.
    NotBackground,
    /// Those whose value, or the length of it, is more than this.
    Above(f64),
    /// Those nearer to the surface than the background says.
    Band,
    /// Those that are active in another grid on the same Buckets.
    Like(&'a Masks),
}

/// The active voxels of a channel, level by level.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Masks {
    /// By level: leaves in the order of a file.
    levels: BTreeMap<u8, Vec<([i32; 3], LeafMask)>>,
}

impl Masks {
    /// Those of a leaf of a level.
    pub fn of(&self, level: u8, origin: [i32; 3]) -> LeafMask {
        let Some(leaves) = self.levels.get(&level) else { return LeafMask::NONE };
        let order = FileOrder::of(origin);
        let found = leaves.binary_search_by_key(&order, |(origin, _)| FileOrder::of(*origin));
        found.map_or(LeafMask::NONE, |leaf| leaves[leaf].1)
    }

    /// Adds those of a level.
    pub(super) fn insert<V: GridValue>(&mut self, level: u8, leaves: &VoxelLeaves<'_, V>) {
        let masks = leaves.leaves.iter().map(|leaf| (leaf.origin, leaf.mask)).collect();
        self.levels.insert(level, masks);
    }
}

/// The rule by which voxels are active, and what inactive ones hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule<'a, V> {
    pub background: V,
    pub active: Active<'a>,
    pub level: u8,
}

impl<V: GridValue> Rule<'_, V> {
    /// The active voxels of a leaf. Of a NaN it can never be said that it is too far, or too little: it is active, and seen.
    fn mask(&self, origin: [i32; 3], values: &[V; VOXELS]) -> LeafMask {
        match self.active {
            Active::All => LeafMask::ALL,
            Active::NotBackground => mask_of(values, |value| value != self.background),
            Active::Above(threshold) => mask_of(values, |value| {
                let size = value.size();
                size > threshold || size.is_nan()
            }),
            Active::Band => {
                let width = self.background.size();
                mask_of(values, |value| {
                    let size = value.size();
                    size.abs() < width || size.is_nan()
                })
            }
            Active::Like(masks) => masks.of(self.level, origin),
        }
    }

    /// What an inactive voxel of this value holds in a file.
    fn inactive(&self, value: V) -> V {
        match self.active {
            Active::Band if value.size() < 0.0 => self.background.negative(),
            _ => self.background,
        }
    }

    /// Whether all inactive voxels hold what such hold in a file.
    fn is_clean(&self, mask: &LeafMask, values: &[V; VOXELS]) -> bool {
        (*mask == LeafMask::ALL)
            || (0..VOXELS)
                .all(|voxel| mask.is_on(voxel) || values[voxel] == self.inactive(values[voxel]))
    }
}

/// The voxels for whose value `is_on` holds.
fn mask_of<V: GridValue>(values: &[V; VOXELS], is_on: impl Fn(V) -> bool) -> LeafMask {
    let mut mask = LeafMask::NONE;
    for (word, values) in mask.0.iter_mut().zip(values.as_chunks::<64>().0) {
        let bits = values.iter().enumerate();
        *word = bits.fold(0, |word, (bit, &value)| word | u64::from(is_on(value)) << bit);
    }
    mask
}

/// The leaves of one level of a channel: their values are the channel's own chunks wherever they can be.
pub struct VoxelLeaves<'a, V: GridValue> {
    source: Box<dyn Source<V> + 'a>,
    leaves: Vec<Leaf>,
    rule: Rule<'a, V>,
    inside: Inside,
    up: UpAxis,
}

/// What it takes to make leaves.
pub(super) struct Making<'a, V: GridValue> {
    pub grid: &'a str,
    pub source: Box<dyn Source<V> + 'a>,
    pub leaves: Vec<Leaf>,
    /// Cells along a leaf.
    pub per_leaf: i32,
    pub rule: Rule<'a, V>,
    pub up: UpAxis,
}

impl<'a, V: GridValue> VoxelLeaves<'a, V> {
    /// Finds the active voxels, leaves out leaves that say nothing, and returns tiles for what is inside of a level set without
    /// voxels: every process the tiles of its own leaves, and the first those of all gaps between them. Collective.
    pub(super) fn new(
        processes: &dyn Processes,
        making: Making<'a, V>,
    ) -> Result<(Self, Vec<Tile<V>>)> {
        let Making { grid, source, mut leaves, per_leaf, rule, up } = making;
        leaves.par_sort_by_key(|leaf| FileOrder::of(leaf.origin));

        // What faces gaps is known before the gaps are: of cells that are missing nothing is asked yet.
        let outside = |_| rule.background;
        let ends: Vec<Vec<Ends>> = leaves
            .par_iter_mut()
            .map(|leaf| {
                let mut scratch = [V::default(); VOXELS];
                let values = raw(&*source, leaf, &outside, &mut scratch);
                leaf.mask = rule.mask(leaf.origin, values);
                let band = rule.active == Active::Band;
                if band { ends_of(&*source, leaf, values, per_leaf) } else { Vec::new() }
            })
            .collect();
        if rule.active != Active::Band {
            leaves.retain(|leaf| leaf.mask != LeafMask::NONE);
            let made = Self { source, leaves, rule, inside: Inside::default(), up };
            return Ok((made, Vec::new()));
        }

        let inside = Inside::find(processes, ends.concat(), per_leaf)?;
        let mut tiles = Vec::new();
        if processes.rank() == 0 {
            tiles = inside.tiles(grid, rule.background.negative())?;
        }
        let mut made = Self { source, leaves, rule, inside, up };
        let sides: Vec<Side> =
            (0..made.leaves.len()).into_par_iter().map(|leaf| made.side(leaf)).collect();
        let mut sides = sides.into_iter();
        made.leaves.retain(|leaf| {
            let side = sides.next().unwrap_or(Side::Both);
            if side == Side::Inside {
                let value = rule.background.negative();
                tiles.push(Tile { origin: leaf.origin, level: Level::Leaf, value, active: false });
            }
            side == Side::Both
        });
        tiles.sort_by_key(|tile| FileOrder::of(tile.origin));
        Ok((made, tiles))
    }

    /// Where a leaf without active voxels lies.
    fn side(&self, leaf: usize) -> Side {
        let leaf = &self.leaves[leaf];
        if leaf.mask != LeafMask::NONE {
            return Side::Both;
        }
        let mut scratch = [V::default(); VOXELS];
        let values = raw(&*self.source, leaf, &|cell| self.missing(cell), &mut scratch);
        match values.iter().filter(|value| value.size() < 0.0).count() {
            0 => Side::Outside,
            VOXELS => Side::Inside,
            _ => Side::Both,
        }
    }

    /// What a cell without voxels holds.
    fn missing(&self, cell: [i32; 3]) -> V {
        let background = self.rule.background;
        if self.inside.contains(cell) { background.negative() } else { background }
    }
}

/// On which side of a surface a leaf lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Inside,
    Outside,
    Both,
}

/// The values of a leaf as the channel has them.
fn raw<'s, V: GridValue>(
    source: &'s dyn Source<V>,
    leaf: &Leaf,
    missing: &dyn Fn([i32; 3]) -> V,
    scratch: &'s mut [V; VOXELS],
) -> &'s [V; VOXELS] {
    match source.whole(leaf) {
        Some(values) => values,
        None => {
            source.fill(leaf, missing, scratch);
            scratch
        }
    }
}

/// The ends of the cells of a leaf that have voxels.
fn ends_of<V: GridValue>(
    source: &dyn Source<V>,
    leaf: &Leaf,
    values: &[V; VOXELS],
    per_leaf: i32,
) -> Vec<Ends> {
    let edge = 8 / per_leaf;
    let first = leaf.origin.map(|c| c / edge);
    let cells = (0..per_leaf.pow(3))
        .map(|n| [n / (per_leaf * per_leaf), n / per_leaf % per_leaf, n % per_leaf]);
    cells
        .map(|at| (at, [0, 1, 2].map(|axis| first[axis] + at[axis])))
        .filter(|(_, cell)| leaf.place != Place::Several || source.has(*cell))
        .map(|(at, cell)| {
            let corner = at.map(|c| (c * edge) as usize);
            Ends::of(cell, corner, edge as usize, |voxel| values[voxel].size())
        })
        .collect()
}

impl<V: GridValue> LeafSet<V> for VoxelLeaves<'_, V> {
    fn len(&self) -> usize {
        self.leaves.len()
    }

    fn origin(&self, leaf: usize) -> [i32; 3] {
        self.leaves[leaf].origin
    }

    fn mask(&self, leaf: usize) -> LeafMask {
        self.leaves[leaf].mask
    }

    fn values<'a>(&'a self, leaf: usize, scratch: &'a mut [V; VOXELS]) -> &'a [V; VOXELS] {
        let leaf = &self.leaves[leaf];
        let turns = V::IS_VECTOR && self.up != UpAxis::Y;
        match self.source.whole(leaf) {
            Some(values) if !turns && self.rule.is_clean(&leaf.mask, values) => return values,
            Some(values) => *scratch = *values,
            None => self.source.fill(leaf, &|cell| self.missing(cell), scratch),
        }
        for (voxel, value) in scratch.iter_mut().enumerate() {
            if !leaf.mask.is_on(voxel) {
                *value = self.rule.inactive(*value);
            }
            *value = value.to_file(self.up);
        }
        scratch
    }
}
