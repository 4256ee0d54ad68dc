//! Where each Bucket of a sorted list of keys stands, found in constant time.
//!
//! The 4×4×4 Buckets of an aligned block follow each other along the curve, so that a block needs
//! only where it begins, which of its 64 Buckets exist, and how the curve runs through it. A table of
//! blocks takes a few bytes per Bucket, and one look serves all Buckets of the block.

use super::bucket::{Bucket, BucketKey};
use super::curve;
use super::packed::{PackedMap, pack};
use super::topology::NONE;
use glam::IVec3;

/// Bits per axis inside a block.
const BITS: u32 = curve::BLOCK_BITS;

/// One block of the list.
#[derive(Debug, Clone, Copy)]
struct Block {
    /// Which Buckets exist, by their order along the curve.
    exists: u64,
    /// Where the first of them stands.
    first: u32,
    /// The orientation of the curve in this block.
    state: u8,
}

impl Block {
    /// Where the Bucket at `cell` of the block stands.
    fn find(&self, cell: usize) -> u32 {
        let bit = 1_u64 << curve::place_in_block(self.state, cell);
        if self.exists & bit == 0 {
            return NONE;
        }
        self.first + (self.exists & (bit - 1)).count_ones()
    }
}

/// Finds Buckets in a sorted list of keys.
#[derive(Debug, Default)]
pub(super) struct KeyIndex {
    /// By block: as if it were a Bucket with 4 times the width.
    blocks: PackedMap<Block>,
}

impl KeyIndex {
    /// The index of `keys`, which are sorted and distinct, and the Buckets that they stand for.
    pub(super) fn new(keys: &[BucketKey]) -> (Self, Vec<Bucket>) {
        let mut buckets = Vec::with_capacity(keys.len());
        let runs = || keys.chunk_by(|a, b| a.block() == b.block());
        let mut blocks = PackedMap::with_capacity_and_hasher(runs().count(), Default::default());
        for run in runs() {
            let first = buckets.len() as u32;
            let level = run[0].level();
            let (corner, state) = run[0].block_corner();
            let mut exists = 0;
            for key in run {
                exists |= 1 << key.place_in_block();
                let cell = curve::cell_in_block(state, key.place_in_block());
                buckets.push(Bucket::at(level, corner + IVec3::from_array(cell)));
            }
            blocks.insert(pack(Bucket::at(level, corner >> BITS)), Block { exists, first, state });
        }
        (Self { blocks }, buckets)
    }

    /// Where one Bucket stands, [`NONE`] if it is not in the list.
    pub(super) fn find(&self, bucket: Bucket) -> u32 {
        // Beyond the index range, packed coordinates would wrap around.
        if !bucket.is_in_range() {
            return NONE;
        }
        let block = pack(Bucket::at(bucket.level, bucket.coord >> BITS));
        let cell = bucket.coord & ((1 << BITS) - 1);
        self.blocks
            .get(&block)
            .map_or(NONE, |block| block.find(curve::cell_number(cell.to_array())))
    }

    /// Where the Buckets of a cube stand: `SIDE` (at most 4) along each axis from `low` on, z fastest.
    ///
    /// `COUNT` is the cube of `SIDE`. The cube may reach a few Buckets beyond the index range.
    pub(super) fn find_cube<const SIDE: usize, const COUNT: usize>(
        &self,
        low: Bucket,
    ) -> [u32; COUNT] {
        const { assert!(SIDE <= 1 << BITS && SIDE * SIDE * SIDE == COUNT) };
        // Along each axis the cube lies in one block or in two: fetch these, at most eight.
        let corner = low.coord >> BITS;
        let last = (low.coord + (SIDE as i32 - 1)) >> BITS;
        let mut blocks = [None; 8];
        for (n, block) in blocks.iter_mut().enumerate() {
            let step = IVec3::new(n as i32 >> 2, n as i32 >> 1 & 1, n as i32 & 1);
            if (corner + step).cmple(last).all() {
                *block = self.blocks.get(&pack(Bucket::at(low.level, corner + step))).copied();
            }
        }
        let inside = low.coord & ((1 << BITS) - 1);
        let mut found = [NONE; COUNT];
        let mut at = 0;
        for x in 0..SIDE as i32 {
            for y in 0..SIDE as i32 {
                for z in 0..SIDE as i32 {
                    let cell = inside + IVec3::new(x, y, z);
                    let block = cell >> BITS;
                    if let Some(block) = &blocks[(block.x << 2 | block.y << 1 | block.z) as usize] {
                        let cell = cell & ((1 << BITS) - 1);
                        found[at] = block.find(curve::cell_number(cell.to_array()));
                    }
                    at += 1;
                }
            }
        }
        found
    }

    /// Bytes that the table takes.
    pub(super) fn bytes(&self) -> usize {
        // The table keeps an eighth of its places free, and a byte for each place.
        self.blocks.capacity() * 8 / 7 * (size_of::<(u64, Block)>() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::BucketSet;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn an_index_finds_what_the_list_has_and_nothing_else(
            cells in prop::collection::vec((0..4_u8, prop::array::uniform3(-9..9_i32)), 0..300),
        ) {
            let set = BucketSet::from_buckets(
                cells.iter().map(|&(level, cell)| Bucket::at(level, IVec3::from_array(cell))),
            ).unwrap();
            let (index, buckets) = KeyIndex::new(set.keys());
            prop_assert!(buckets.iter().copied().eq(set.buckets()));
            let place = |bucket: Bucket| {
                set.keys().binary_search(&bucket.key()).map_or(NONE, |at| at as u32)
            };
            for level in 0..4 {
                for n in 0..20 * 20 * 20 {
                    let bucket = Bucket::at(level, IVec3::new(n / 400, n / 20 % 20, n % 20) - 10);
                    prop_assert_eq!(index.find(bucket), place(bucket));
                    let cube = index.find_cube::<3, 27>(bucket);
                    for (m, &found) in cube.iter().enumerate().step_by(5) {
                        let m = m as i32;
                        let by = IVec3::new(m / 9, m / 3 % 3, m % 3);
                        prop_assert_eq!(found, place(bucket.offset(by)));
                    }
                }
            }
        }
    }

    #[test]
    fn nothing_is_found_beyond_the_index_range() {
        let limit = Bucket::limit(15);
        let ends = [-limit, limit - 1].map(|c| Bucket::at(15, IVec3::splat(c)));
        let (index, _) = KeyIndex::new(BucketSet::from_buckets(ends).unwrap().keys());
        let below = index.find_cube::<4, 64>(ends[0].offset(IVec3::splat(-3)));
        assert_eq!((below[63], below.iter().filter(|&&found| found != NONE).count()), (0, 1));
        let above = index.find_cube::<4, 64>(ends[1]);
        assert_eq!((above[0], above.iter().filter(|&&found| found != NONE).count()), (1, 1));
        assert_eq!(index.find(Bucket::at(16, IVec3::ZERO)), NONE);
        assert_eq!(index.find(Bucket::at(15, IVec3::new(i32::MAX, 0, i32::MIN))), NONE);
    }
}
