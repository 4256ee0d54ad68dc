//! A tree of values, flat: its leaves, its tiles, and the background that is everywhere else.

use crate::mask::LeafMask;
use crate::value::Value;

/// The voxels of a leaf.
pub const VOXELS: usize = 512;

/// The level of a tile, by the node that holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// In a lower inner node: as large as a leaf.
    Leaf,
    /// In an upper inner node: as large as a lower inner node.
    Lower,
    /// In the root: as large as an upper inner node.
    Upper,
}

impl Level {
    /// The side of a tile [voxels].
    pub fn side(self) -> i32 {
        match self {
            Self::Leaf => 8,
            Self::Lower => 128,
            Self::Upper => 4096,
        }
    }
}

/// One value for a whole cube.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tile<T> {
    /// Its least corner: multiples of its side [voxels].
    pub origin: [i32; 3],
    /// How large it is.
    pub level: Level,
    /// Its value.
    pub value: T,
    /// Whether its voxels are active.
    pub active: bool,
}

/// Leaves one after another, whatever holds them.
pub trait LeafSet<T>: Sync {
    /// How many leaves there are.
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The least corner of a leaf: multiples of 8 [voxels].
    fn origin(&self, leaf: usize) -> [i32; 3];

    /// Its active voxels.
    fn mask(&self, leaf: usize) -> LeafMask;

    /// Its values, x slowest and z fastest: those that it holds, or such as it puts together in `scratch`.
    fn values<'a>(&'a self, leaf: usize, scratch: &'a mut [T; VOXELS]) -> &'a [T; VOXELS];
}

/// Leaves in columns, in the order of a file: the roots by x, y, z, and within each the slots of its nodes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Leaves<T> {
    /// The least corner of each [voxels].
    pub origins: Vec<[i32; 3]>,
    /// The active voxels of each.
    pub masks: Vec<LeafMask>,
    /// 512 values for each.
    pub values: Vec<T>,
}

impl<T: Value> Leaves<T> {
    /// Adds a leaf after the last.
    pub fn push(&mut self, origin: [i32; 3], mask: LeafMask, values: &[T; VOXELS]) {
        self.origins.push(origin);
        self.masks.push(mask);
        self.values.extend_from_slice(values);
    }
}

impl<T: Value> LeafSet<T> for Leaves<T> {
    fn len(&self) -> usize {
        self.origins.len()
    }

    fn origin(&self, leaf: usize) -> [i32; 3] {
        self.origins[leaf]
    }

    fn mask(&self, leaf: usize) -> LeafMask {
        self.masks[leaf]
    }

    fn values<'a>(&'a self, leaf: usize, scratch: &'a mut [T; VOXELS]) -> &'a [T; VOXELS] {
        self.values[leaf * VOXELS..].first_chunk().unwrap_or(scratch)
    }
}

/// A tree of values.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tree<T> {
    /// The value where there is neither leaf nor tile.
    pub background: T,
    /// The tiles, without those that say no more than the background, in the order of a file.
    pub tiles: Vec<Tile<T>>,
    /// The leaves.
    pub leaves: Leaves<T>,
}

/// A box of voxels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Its least voxel.
    pub min: [i32; 3],
    /// Its greatest voxel, which belongs to it.
    pub max: [i32; 3],
}

impl<T: Value> Tree<T> {
    /// Nothing but background.
    pub fn new(background: T) -> Self {
        Self { background, ..Self::default() }
    }

    /// How many voxels are active, those of tiles included.
    pub fn active_voxels(&self) -> u64 {
        let tiles = self.tiles.iter().filter(|tile| tile.active);
        tiles.map(|tile| (tile.level.side() as u64).pow(3)).sum::<u64>()
            + self.leaves.masks.iter().map(|mask| u64::from(mask.count())).sum::<u64>()
    }
}

impl<T> Tree<T> {
    /// How much memory its tiles and leaves take [bytes].
    pub fn memory(&self) -> u64 {
        let Leaves { origins, masks, values } = &self.leaves;
        let tiles = size_of_val(self.tiles.as_slice());
        let leaves = size_of_val(origins.as_slice()) + size_of_val(masks.as_slice());
        (tiles + leaves + size_of_val(values.as_slice())) as u64
    }
}

/// Where a leaf or tile stands in a file: root entries by x, y, z, then slots of the upper and of the lower inner node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileOrder {
    /// The least corner of the root's entry [voxels].
    pub root: [i32; 3],
    /// The slot in the upper inner node, of 32³.
    pub upper: u16,
    /// The slot in the lower inner node, of 16³.
    pub lower: u16,
}

impl FileOrder {
    /// Of a leaf or tile with this least corner.
    pub fn of(origin: [i32; 3]) -> Self {
        let slot = |shift: u32, log2: u32| {
            let [x, y, z] = origin.map(|c| (c >> shift) as u16 & ((1 << log2) - 1));
            x << (2 * log2) | y << log2 | z
        };
        Self { root: origin.map(|c| c & !4095), upper: slot(7, 5), lower: slot(3, 4) }
    }
}

/// The voxel of a leaf that a coordinate falls in.
pub fn voxel(coordinate: [i32; 3]) -> usize {
    let [x, y, z] = coordinate.map(|c| (c & 7) as usize);
    x << 6 | y << 3 | z
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_a_file_is_by_root_and_then_by_slots() {
        let at = FileOrder::of([-8, 128 + 16, 4096]);
        assert_eq!(at.root, [-4096, 0, 4096]);
        assert_eq!(at.upper, 31 << 10 | 1 << 5);
        assert_eq!(at.lower, 15 << 8 | 2 << 4);
        let ascending =
            [[-4096, 0, 0], [-8, 0, 0], [0, -8, 0], [0, 0, 0], [0, 0, 8], [0, 8, 0], [8, 0, 0]];
        assert!(ascending.windows(2).all(|two| FileOrder::of(two[0]) < FileOrder::of(two[1])));
    }

    #[test]
    fn a_voxel_counts_z_fastest() {
        assert_eq!(voxel([0, 0, 1]), 1);
        assert_eq!(voxel([8, 1, 0]), 8);
        assert_eq!(voxel([-1, 0, 0]), 7 << 6);
    }
}
