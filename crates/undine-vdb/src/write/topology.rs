//! Which nodes a tree has, as a file holds it: background, root, and below it the inner nodes with their tiles, depth first,
//! down to the masks of the leaves.
//!
//! Leaves and tiles are flat in memory. In the order of a file those of one inner node are neighbours, so that the nodes are
//! found by going through them once.

use crate::mask::LeafMask;
use crate::tree::{FileOrder, Level};
use crate::value::Value;
use crate::write::block::Blocks;
use crate::write::bytes::{put_coordinate, put_mask, put_u32};
use crate::write::encoded::{EncodedTile, Head};

/// A leaf or tile and where it stands.
#[derive(Debug, Clone, Copy)]
struct Item {
    order: FileOrder,
    what: What,
}

/// The greater comes first, so that it stands before what lies in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Upper(u32),
    Lower(u32),
    Small(u32),
    Leaf(u32),
}

impl What {
    fn of_tile(level: Level, index: u32) -> Self {
        match level {
            Level::Upper => Self::Upper(index),
            Level::Lower => Self::Lower(index),
            Level::Leaf => Self::Small(index),
        }
    }
}

/// The leaves and tiles of a grid in the order of a file, of which none covers another.
#[derive(Debug)]
pub(super) struct Topology<'a> {
    items: Vec<Item>,
    masks: &'a [LeafMask],
    tiles: &'a [EncodedTile],
}

impl<'a> Topology<'a> {
    /// Of leaves and tiles that are aligned; says which origin is covered twice, if one is.
    pub(super) fn of(
        origins: &[[i32; 3]],
        masks: &'a [LeafMask],
        tiles: &'a [EncodedTile],
    ) -> Result<Self, [i32; 3]> {
        let leaves = origins.iter().zip(0..).map(|(&origin, n)| (origin, What::Leaf(n)));
        let each = tiles.iter().zip(0..).map(|(t, n)| (t.origin, What::of_tile(t.level, n)));
        let items = leaves.chain(each);
        let mut items: Vec<Item> =
            items.map(|(origin, what)| Item { order: FileOrder::of(origin), what }).collect();
        if !items.is_sorted_by_key(|item| (item.order, item.what)) {
            items.sort_unstable_by_key(|item| (item.order, item.what));
        }
        let clash = items.windows(2).find(|two| {
            let [above, below] = [two[0].order, two[1].order];
            let is_same_root = above.root == below.root;
            match two[0].what {
                What::Upper(_) => is_same_root,
                What::Lower(_) => is_same_root && above.upper == below.upper,
                _ => above == below,
            }
        });
        match clash.map(|two| two[1].what) {
            None => Ok(Self { items, masks, tiles }),
            Some(What::Leaf(index)) => Err(origins[index as usize]),
            Some(What::Upper(index) | What::Lower(index) | What::Small(index)) => {
                Err(tiles[index as usize].origin)
            }
        }
    }

    /// How many upper and lower inner nodes there are.
    pub(super) fn inner_nodes(&self) -> [usize; 2] {
        let roots = self.items.chunk_by(|a, b| a.order.root == b.order.root);
        roots.filter(|root| !matches!(root[0].what, What::Upper(_))).fold(
            [0, 0],
            |[up, low], root| {
                let slots = root.chunk_by(|a, b| a.order.upper == b.order.upper);
                [up + 1, low + slots.filter(|slot| !matches!(slot[0].what, What::Lower(_))).count()]
            },
        )
    }

    /// Appends the topology of a grid whose values are of type `T`.
    pub(super) fn put<T: Value>(&self, head: &Head, bytes: &mut Vec<u8>) {
        let background: T = value(&head.background);
        let mut blocks = Blocks::new(background, head.compression, head.saved_as_half);
        put_u32(1, bytes); // One buffer of values for each leaf.
        T::put(
            &[if head.saved_as_half { background.rounded_to_half() } else { background }],
            bytes,
        );

        let roots = || self.items.chunk_by(|a, b| a.order.root == b.order.root);
        let is_tile = |root: &&[Item]| matches!(root[0].what, What::Upper(_));
        put_u32(roots().filter(is_tile).count() as u32, bytes);
        put_u32(roots().filter(|root| !is_tile(root)).count() as u32, bytes);
        for root in roots() {
            if let What::Upper(index) = root[0].what {
                let tile = &self.tiles[index as usize];
                put_coordinate(tile.origin, bytes);
                bytes.extend_from_slice(tile.value.bytes());
                bytes.push(u8::from(tile.is_active));
            }
        }
        for root in roots().filter(|root| !is_tile(root)) {
            put_coordinate(root[0].order.root, bytes);
            self.put_upper(root, &mut blocks, background, bytes);
        }
    }

    /// Appends the upper inner node of all that is below one entry of the root.
    fn put_upper<T: Value>(
        &self,
        items: &[Item],
        blocks: &mut Blocks<T>,
        background: T,
        bytes: &mut Vec<u8>,
    ) {
        let slots = || items.chunk_by(|a, b| a.order.upper == b.order.upper);
        let mut node = Node::new(32_768, background);
        for slot in slots() {
            let at = usize::from(slot[0].order.upper);
            match slot[0].what {
                What::Lower(tile) => node.set_tile(at, &self.tiles[tile as usize]),
                _ => node.set_child(at),
            }
        }
        node.put(blocks, bytes);
        for slot in slots().filter(|slot| !matches!(slot[0].what, What::Lower(_))) {
            self.put_lower(slot, blocks, background, bytes);
        }
    }

    /// Appends the lower inner node of all that is below one slot of an upper one, and the masks of its leaves.
    fn put_lower<T: Value>(
        &self,
        items: &[Item],
        blocks: &mut Blocks<T>,
        background: T,
        bytes: &mut Vec<u8>,
    ) {
        let mut node = Node::new(4096, background);
        for item in items {
            let at = usize::from(item.order.lower);
            match item.what {
                What::Small(tile) => node.set_tile(at, &self.tiles[tile as usize]),
                _ => node.set_child(at),
            }
        }
        node.put(blocks, bytes);
        for item in items {
            if let What::Leaf(index) = item.what {
                put_mask(&self.masks[index as usize].0, bytes);
            }
        }
    }
}

/// The value of these bytes.
fn value<T: Value>(bytes: &[u8]) -> T {
    let mut value = [T::default()];
    T::get(bytes, &mut value);
    value[0]
}

/// An inner node.
struct Node<T> {
    children: Vec<u64>,
    active: Vec<u64>,
    values: Vec<T>,
}

impl<T: Value> Node<T> {
    /// Nothing but background in these many slots.
    fn new(slots: usize, background: T) -> Self {
        let mask = vec![0; slots / 64];
        Self { children: mask.clone(), active: mask, values: vec![background; slots] }
    }

    fn set_child(&mut self, slot: usize) {
        self.children[slot / 64] |= 1 << (slot % 64);
        self.values[slot] = T::default();
    }

    fn set_tile(&mut self, slot: usize, tile: &EncodedTile) {
        self.active[slot / 64] |= u64::from(tile.is_active) << (slot % 64);
        self.values[slot] = value(tile.value.bytes());
    }

    fn put(&self, blocks: &mut Blocks<T>, bytes: &mut Vec<u8>) {
        put_mask(&self.children, bytes);
        put_mask(&self.active, bytes);
        blocks.put(&self.values, &self.active, Some(&self.children), bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::encoded::TileValue;

    fn tile(origin: [i32; 3], level: Level) -> EncodedTile {
        let value = TileValue::new(&[0; 4]).unwrap();
        EncodedTile { origin, level, value, is_active: true }
    }

    fn clash(origins: &[[i32; 3]], tiles: &[EncodedTile]) -> Option<[i32; 3]> {
        Topology::of(origins, &vec![LeafMask::NONE; origins.len()], tiles).err()
    }

    #[test]
    fn nothing_may_cover_another() {
        let leaves = [[0, 0, 0], [0, 0, 8], [0, 0, 4096]];
        assert_eq!(clash(&leaves, &[tile([0, 0, 16], Level::Leaf)]), None);
        assert_eq!(clash(&[[0; 3], [8, 0, 0], [0; 3]], &[]), Some([0; 3]));
        assert_eq!(clash(&leaves, &[tile([0, 0, 8], Level::Leaf)]), Some([0, 0, 8]));
        assert_eq!(clash(&leaves, &[tile([0; 3], Level::Lower)]), Some([0; 3]));
        assert_eq!(clash(&leaves, &[tile([0, 0, 4096], Level::Upper)]), Some([0, 0, 4096]));
        let tiles = [tile([128, 128, 0], Level::Lower), tile([248, 128, 8], Level::Leaf)];
        assert_eq!(clash(&[], &tiles), Some([248, 128, 8]));
        let tiles = [tile([-4096, 0, 0], Level::Upper), tile([-128, 128, 0], Level::Lower)];
        assert_eq!(clash(&[], &tiles), Some([-128, 128, 0]));
        assert_eq!(
            clash(&[], &[tile([0; 3], Level::Upper), tile([0; 3], Level::Upper)]),
            Some([0; 3])
        );
    }

    #[test]
    fn inner_nodes_are_counted() {
        let leaves = [[0, 0, 0], [0, 0, 8], [0, 0, 128], [-8, 0, 0]];
        let masks = [LeafMask::NONE; 4];
        let tiles = [tile([0, 4096, 0], Level::Upper), tile([0, -128, 0], Level::Lower)];
        let topology = Topology::of(&leaves, &masks, &tiles).unwrap();
        assert_eq!(topology.inner_nodes(), [3, 3]);
    }
}
