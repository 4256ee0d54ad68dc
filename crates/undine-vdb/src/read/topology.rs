//! The topology of a tree: its inner nodes, streamed into tiles and into origins and masks of leaves.
//!
//! A root entry is a tile or an upper inner node of 32³ slots; each slot of that is a tile or a lower inner node of 16³, and
//! each of its slots a tile or a leaf. No inner node outlives its reading, and of a node's values only those are unpacked
//! that the file stores: a node of one value takes a few bytes in a file, and must not take 32768 values here.

use crate::error::Result;
use crate::mask::LeafMask;
use crate::read::cursor::{Cursor, malformed};
use crate::read::head::Layout;
use crate::read::values::{Block, Scratch, leaf_mask, read_value};
use crate::tree::{Bounds, FileOrder, Level, Tile};
use crate::value::Value;

/// A tree without the values of its leaves.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Topology<T> {
    pub(crate) background: T,
    /// As [`crate::Tree::tiles`].
    pub(crate) tiles: Vec<Tile<T>>,
    /// The least corner of each leaf, in the order of the file.
    pub(crate) origins: Vec<[i32; 3]>,
    /// The active voxels of each leaf.
    pub(crate) masks: Vec<LeafMask>,
}

/// Reads a topology, and goes behind it.
pub(crate) fn read_topology<T: Value>(
    cursor: &mut Cursor<'_>,
    layout: &Layout,
) -> Result<Topology<T>> {
    let buffers = cursor.i32("a tree's count of buffers")?;
    if buffers != 1 {
        let found = format!("a tree's count of buffers is {buffers}");
        return Err(cursor.malformed_before(4, found, "it is 1"));
    }
    let background = read_value(cursor, "a background")?;
    let mut topology = Topology { background, tiles: vec![], origins: vec![], masks: vec![] };
    let tiles = cursor.u32("a root's count of tiles")?;
    let children = cursor.u32("a root's count of children")?;

    let mut last = None;
    for _ in 0..tiles {
        let origin = root_origin(cursor, &mut last)?;
        let value = read_value(cursor, "the value of a root tile")?;
        let active = cursor.u8("whether a root tile is active")? != 0;
        if active || !is_same(value, background) {
            topology.tiles.push(Tile { origin, level: Level::Upper, value, active });
        }
    }
    let root_tiles = topology.tiles.len();
    let mut last = None;
    let mut scratch = Scratch::default();
    for _ in 0..children {
        let begin = cursor.offset();
        let origin = root_origin(cursor, &mut last)?;
        if topology.tiles[..root_tiles].binary_search_by_key(&origin, |tile| tile.origin).is_ok() {
            let found = format!("the root has both a tile and a child at {origin:?}");
            return Err(malformed(begin, found, "it has one of them"));
        }
        topology.read_upper(cursor, origin, layout, &mut scratch)?;
    }
    // The file has each node's tiles before what is below the node.
    topology.tiles.sort_unstable_by_key(|tile| FileOrder::of(tile.origin));
    topology.tiles.shrink_to_fit();
    Ok(topology)
}

/// Reads where a root entry is, which must come after the last one: OpenVDB keeps them in this order, and would take the
/// leaves' values in it.
fn root_origin(cursor: &mut Cursor<'_>, last: &mut Option<[i32; 3]>) -> Result<[i32; 3]> {
    let origin = cursor.coordinate("the place of a root entry")?;
    if origin.iter().any(|c| c & 4095 != 0) {
        let found = format!("a root entry is at {origin:?}");
        return Err(cursor.malformed_before(12, found, "it is at multiples of 4096"));
    }
    if last.is_some_and(|last| last >= origin) {
        let found =
            format!("a root entry at {origin:?} comes after one at {:?}", last.unwrap_or_default());
        return Err(cursor.malformed_before(12, found, "they ascend by x, y and z"));
    }
    *last = Some(origin);
    Ok(origin)
}

impl<T: Value> Topology<T> {
    fn read_upper(
        &mut self,
        cursor: &mut Cursor<'_>,
        origin: [i32; 3],
        layout: &Layout,
        scratch: &mut Scratch<T>,
    ) -> Result<()> {
        let upper = Node::<5>::read(cursor, origin, Level::Lower, self, layout, scratch)?;
        for slot in upper.children() {
            let lower = upper.corner(slot);
            let lower = Node::<4>::read(cursor, lower, Level::Leaf, self, layout, scratch)?;
            let count: u32 = lower.children.iter().map(|byte| byte.count_ones()).sum();
            let masks = cursor.take(64 * count as usize, "the masks of leaves")?;
            self.origins.extend(lower.children().map(|slot| lower.corner(slot)));
            self.masks.extend(masks.as_chunks::<64>().0.iter().map(|mask| leaf_mask(mask)));
        }
        Ok(())
    }

    /// The box of the active voxels; none if there are none.
    pub(crate) fn bounds(&self) -> Option<Bounds> {
        let tiles = self.tiles.iter().filter(|tile| tile.active).map(|tile| {
            let last = tile.level.side() - 1;
            Bounds { min: tile.origin, max: tile.origin.map(|c| c + last) }
        });
        let leaves = self.origins.iter().zip(&self.masks).filter_map(|(&origin, mask)| {
            let Bounds { min, max } = mask.bounds()?;
            Some(Bounds {
                min: [0, 1, 2].map(|axis| origin[axis] + min[axis]),
                max: [0, 1, 2].map(|axis| origin[axis] + max[axis]),
            })
        });
        tiles.chain(leaves).reduce(|a, b| Bounds {
            min: [0, 1, 2].map(|axis| a.min[axis].min(b.min[axis])),
            max: [0, 1, 2].map(|axis| a.max[axis].max(b.max[axis])),
        })
    }
}

/// Whether two values are the same, as NaN and NaN are.
fn is_same<T: Value>(a: T, b: T) -> bool {
    a == b || (is_nan(a) && is_nan(b))
}

/// Whether a value is not even the same as itself.
#[allow(clippy::eq_op)]
fn is_nan<T: Value>(value: T) -> bool {
    value != value
}

/// The slots of an inner node of (2^L)³.
struct Node<'a, const L: u32> {
    origin: [i32; 3],
    /// How large a slot is.
    level: Level,
    /// One bit for each slot: whether it has a child.
    children: &'a [u8],
}

impl<'a, const L: u32> Node<'a, L> {
    /// Reads a node, and adds its tiles to those of the tree.
    fn read<T: Value>(
        cursor: &mut Cursor<'a>,
        origin: [i32; 3],
        level: Level,
        topology: &mut Topology<T>,
        layout: &Layout,
        scratch: &mut Scratch<T>,
    ) -> Result<Self> {
        let slots = 1 << (3 * L);
        let children = cursor.take(slots / 8, "the child mask of a node")?;
        let active = cursor.take(slots / 8, "the value mask of a node")?;
        let count: u32 = words(active).map(u64::count_ones).sum();
        let background = topology.background;
        let block = Block::read(cursor, slots, count as usize, background, layout)?;
        let stored = scratch.stored(&block, layout)?;
        let node = Self { origin, level, children };
        let mut add = |slot, value, active| {
            topology.tiles.push(Tile { origin: node.corner(slot), level, value, active });
        };

        let is_background = block.inactive.map(|value| is_same(value, background));
        let mut next = 0;
        for (index, (children, active)) in words(children).zip(words(active)).enumerate() {
            let selection = block.selection.map_or(0, |bytes| word(bytes, index));
            // Where all values are stored, any of them may be a tile; else only slots are looked at that have one.
            let shown = match is_background {
                _ if block.has_all => u64::MAX,
                [true, true] => active,
                [true, false] => active | selection,
                [false, true] => active | !selection,
                [false, false] => u64::MAX,
            };
            for bit in bits(shown) {
                let is_on = |mask: u64| mask >> bit & 1 == 1;
                let slot = index * 64 + bit;
                let value = match () {
                    _ if block.has_all => stored[slot],
                    _ if is_on(active) => {
                        next += 1;
                        stored[next - 1]
                    }
                    _ => block.inactive[usize::from(is_on(selection))],
                };
                let is_tile = is_on(active) || !is_same(value, background);
                if is_tile && !is_on(children) {
                    add(slot, value, is_on(active));
                }
            }
        }
        Ok(node)
    }

    /// The slots that have a child.
    fn children(&self) -> impl Iterator<Item = usize> + use<'a, L> {
        words(self.children).enumerate().flat_map(|(n, word)| bits(word).map(move |b| n * 64 + b))
    }

    /// The least corner of a slot [voxels].
    fn corner(&self, slot: usize) -> [i32; 3] {
        let last = (1 << L) - 1;
        let at = [slot >> (2 * L), slot >> L & last, slot & last];
        [0, 1, 2].map(|axis| self.origin[axis] + at[axis] as i32 * self.level.side())
    }
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes))
}

fn word(bytes: &[u8], index: usize) -> u64 {
    bytes.as_chunks().0.get(index).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// The bits of a word that are on, in order.
fn bits(word: u64) -> impl Iterator<Item = usize> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let bit = rest.trailing_zeros() as usize;
        (rest != 0).then(|| rest &= rest - 1).map(|()| bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Codec;
    use crate::compression::Compression;
    use crate::error::VdbError;

    fn layout() -> Layout {
        let compression = Compression { codec: Codec::None, active_mask: true };
        Layout { compression, half: false, native_half: false }
    }

    /// A root with these tiles and these children, whose bytes are given after their origins.
    fn root(tiles: &[([i32; 3], i32, bool)], children: &[([i32; 3], Vec<u8>)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        i32::put(&[1, 7, tiles.len() as i32, children.len() as i32], &mut bytes);
        for &(origin, value, active) in tiles {
            i32::put(&origin, &mut bytes);
            i32::put(&[value], &mut bytes);
            bytes.push(u8::from(active));
        }
        for (origin, node) in children {
            i32::put(origin, &mut bytes);
            bytes.extend(node);
        }
        bytes
    }

    fn mask(slots: usize, on: &[usize]) -> Vec<u8> {
        let mut bytes = vec![0; slots / 8];
        on.iter().for_each(|slot| bytes[slot / 8] |= 1 << (slot % 8));
        bytes
    }

    fn read(bytes: &[u8]) -> Result<Topology<i32>> {
        let mut cursor = Cursor::new(bytes, 0);
        let topology = read_topology(&mut cursor, &layout())?;
        assert_eq!(cursor.left(), 0);
        Ok(topology)
    }

    #[test]
    fn inner_nodes_become_tiles_and_leaves() {
        // Slot 33 = (0, 1, 1) of the upper node is a child, slot 2 an active tile, and slot 5 an inactive one.
        let mut node = mask(32768, &[33]);
        node.extend(mask(32768, &[2]));
        node.push(4);
        i32::put(&[-9], &mut node);
        // All that is not slot 5 is the background.
        let others: Vec<usize> = (0..32768).filter(|&slot| slot != 5).collect();
        node.extend(mask(32768, &others));
        i32::put(&[11], &mut node);
        // Slot 273 = (1, 1, 1) of the lower node is a leaf.
        node.extend(mask(4096, &[273]));
        node.extend(mask(4096, &[4095]));
        node.push(0);
        i32::put(&[12], &mut node);
        let leaf = LeafMask::of(|voxel| voxel == 0o123 || voxel == 0o456);
        node.extend(leaf.0.iter().flat_map(|word| word.to_le_bytes()));

        let bytes = root(&[([4096, 0, 0], 13, true)], &[([-4096, 0, 0], node)]);
        let topology = read(&bytes).unwrap();
        assert_eq!(topology.background, 7);
        let tile = |origin, level, value, active| Tile { origin, level, value, active };
        let tiles = [
            tile([-4096, 0, 256], Level::Lower, 11, true),
            tile([-4096, 0, 640], Level::Lower, -9, false),
            tile([-3976, 248, 248], Level::Leaf, 12, true),
            tile([4096, 0, 0], Level::Upper, 13, true),
        ];
        assert_eq!(topology.tiles, tiles);
        assert_eq!(topology.origins, [[-4088, 136, 136]]);
        assert_eq!(topology.masks, [leaf]);
        let all = Bounds { min: [-4096, 0, 0], max: [8191, 4095, 4095] };
        assert_eq!(topology.bounds(), Some(all));
        let alone = Topology { tiles: vec![], ..topology };
        let voxels = Bounds { min: [-4087, 138, 139], max: [-4084, 141, 142] };
        assert_eq!(alone.bounds(), Some(voxels));
        for length in 0..bytes.len() {
            let error = read(&bytes[..length]).unwrap_err();
            assert!(matches!(error, VdbError::Truncated { .. }), "{length}: {error}");
        }
    }

    #[test]
    fn an_empty_tree_has_only_its_background() {
        let topology = read(&root(&[], &[])).unwrap();
        assert!(topology.tiles.is_empty() && topology.origins.is_empty());
        assert_eq!(topology.bounds(), None);
    }

    #[test]
    fn root_entries_are_aligned_ascending_and_apart() {
        let is_malformed = |bytes: Vec<u8>, word: &str| {
            let error = read(&bytes).unwrap_err();
            assert!(matches!(error, VdbError::Malformed { .. }), "{error}");
            assert!(error.to_string().contains(word), "{error}");
        };
        let two = |a, b| root(&[(a, 1, true), (b, 2, true)], &[]);
        is_malformed(two([0, 4096, 0], [0, 0, 4096]), "ascend");
        is_malformed(two([0; 3], [0; 3]), "ascend");
        is_malformed(two([0; 3], [0, 0, 4097]), "multiples");
        is_malformed(root(&[([0; 3], 1, true)], &[([0; 3], vec![])]), "both");
        let mut buffers = root(&[], &[]);
        buffers[0] = 2;
        is_malformed(buffers, "buffers");
    }
}
