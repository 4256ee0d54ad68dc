//! Which blocks of a sparse volume there are: a tree whose nodes have 4³ children, found by counting bits.
//!
//! Each node has a mask of the children that exist, and these stand one after another (as in Laine & Karras, *Efficient sparse voxel
//! octrees*, 2010, with a wider fan). What is empty is skipped in cubes as large as the tree knows; 32 bytes or less are spent for each
//! block, however far apart they are.

use undine_core::glam::I64Vec3;

/// A node: its children, and where the first of them stands.
#[derive(Debug, Clone, Copy)]
struct Node {
    mask: u64,
    first: u32,
}

/// What is at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// The block of this number.
    Block(usize),
    /// Nothing in the cube of so many blocks along its side that the place is in.
    Empty(i64),
}

/// The places of blocks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tree {
    /// The least corner of the root [blocks].
    base: I64Vec3,
    /// How many levels of nodes there are; the root has 4 to the power of it blocks along its side.
    levels: u32,
    /// Nodes, level after level from the lowest.
    nodes: Vec<Node>,
}

/// The place of a block in the order of the tree.
fn key(place: I64Vec3) -> u128 {
    let mut key = 0;
    for level in (0..17).rev() {
        let digit = |c: i64| (c >> (2 * level) & 3) as u128;
        key = key << 6 | digit(place.x) << 4 | digit(place.y) << 2 | digit(place.z);
    }
    key
}

/// Which child of a node at a level (from 0) a place is in.
#[inline(always)]
fn child(place: I64Vec3, level: u32) -> u32 {
    let digit = |c: i64| (c >> (2 * level) & 3) as u32;
    digit(place.x) << 4 | digit(place.y) << 2 | digit(place.z)
}

impl Tree {
    /// Of some places, and these in the order of their numbers, each once.
    pub fn new(mut places: Vec<I64Vec3>) -> (Self, Vec<I64Vec3>) {
        use rayon::prelude::*;
        let Some(base) = places.iter().copied().reduce(I64Vec3::min) else {
            return (Self::default(), places);
        };
        let most = places.iter().copied().reduce(I64Vec3::max).unwrap_or(base);
        let extent = (most - base).max_element();
        let mut levels = 1;
        while extent >> (2 * levels) > 0 {
            levels += 1;
        }
        places.par_sort_unstable_by_key(|&place| key(place - base));
        places.dedup();

        // Each level from the keys of the one below: those with the same upper digits are one node's.
        let mut nodes: Vec<Node> = Vec::new();
        let mut keys: Vec<u128> = places.iter().map(|&place| key(place - base)).collect();
        let mut below = 0;
        for level in 0..levels {
            let begin = nodes.len();
            let mut above: Vec<u128> = Vec::new();
            for (n, &key) in keys.iter().enumerate() {
                if above.last() != Some(&(key >> 6)) {
                    above.push(key >> 6);
                    let first = if level == 0 { n } else { below + n };
                    nodes.push(Node { mask: 0, first: first as u32 });
                }
                let last = nodes.len() - 1;
                nodes[last].mask |= 1 << (key & 63);
            }
            below = begin;
            keys = above;
        }
        (Self { base, levels, nodes }, places)
    }

    /// What is at a place.
    #[inline]
    pub fn find(&self, place: I64Vec3) -> Found {
        let at = place - self.base;
        let side = 1_i64 << (2 * self.levels);
        if self.nodes.is_empty() || at.min_element() < 0 || at.max_element() >= side {
            return Found::Empty(0);
        }
        let mut node = self.nodes[self.nodes.len() - 1];
        for level in (0..self.levels).rev() {
            let bit = 1_u64 << child(at, level);
            if node.mask & bit == 0 {
                return Found::Empty(1 << (2 * level));
            }
            let next = node.first as usize + (node.mask & (bit - 1)).count_ones() as usize;
            if level == 0 {
                return Found::Block(next);
            }
            node = self.nodes[next];
        }
        Found::Empty(1)
    }

    /// The least corner of the root, and its side [blocks]; a side of 0 if there are no blocks.
    pub fn root(&self) -> (I64Vec3, i64) {
        (self.base, if self.nodes.is_empty() { 0 } else { 1 << (2 * self.levels) })
    }

    /// The least corner of the cube of a side that a place is in.
    #[inline(always)]
    pub fn cube(&self, place: I64Vec3, side: i64) -> I64Vec3 {
        let at = place - self.base;
        self.base + I64Vec3::new(at.x & -side, at.y & -side, at.z & -side)
    }

    /// How much memory it takes [bytes].
    pub fn memory(&self) -> usize {
        size_of_val(self.nodes.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_is_found_and_nothing_else() {
        let places: Vec<_> = (0..300_i64)
            .map(|n| I64Vec3::new(n * 37 % 23 - 9, n * 101 % 17, n * n % 41 - 100))
            .collect();
        let (tree, ordered) = Tree::new(places.clone());
        for x in -12..18 {
            for y in -3..20 {
                for z in -103..-50 {
                    let place = I64Vec3::new(x, y, z);
                    match tree.find(place) {
                        Found::Block(n) => assert_eq!(ordered[n], place),
                        Found::Empty(_) => assert!(!places.contains(&place)),
                    }
                }
            }
        }
    }

    #[test]
    fn blocks_at_the_ends_of_the_world_take_a_few_nodes() {
        let far = i64::from(i32::MAX);
        let (tree, _) = Tree::new(vec![I64Vec3::splat(-far), I64Vec3::splat(far)]);
        assert!(tree.memory() < 1000);
        assert!(matches!(tree.find(I64Vec3::splat(far)), Found::Block(1)));
        assert!(matches!(tree.find(I64Vec3::ZERO), Found::Empty(side) if side > 1_000_000_000));
    }

    #[test]
    fn a_tree_of_nothing_is_empty() {
        assert_eq!(Tree::new(Vec::new()).0.find(I64Vec3::ZERO), Found::Empty(0));
    }
}
