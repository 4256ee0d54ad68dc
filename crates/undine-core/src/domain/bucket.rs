//! One Bucket: a cube of space on a level, and its sortable key along the Hilbert curve.

use super::curve;
use crate::error::{CoreError, Result};
use glam::IVec3;

/// The coarsest level. Level 0 is the finest; each level's Buckets are twice as wide.
pub const MAX_LEVEL: u8 = 15;

/// Bits per axis of a coordinate on level 0.
const BITS: u32 = 20;

/// A cube of space: a cell of the uniform lattice of its level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bucket {
    /// 0 is the finest.
    pub level: u8,
    /// The cell of the level's lattice; cell 0 has its lower corner at the Domain's origin.
    pub coord: IVec3,
}

impl Bucket {
    /// A Bucket of the finest level.
    pub const fn new(x: i32, y: i32, z: i32) -> Self {
        Self { level: 0, coord: IVec3::new(x, y, z) }
    }

    /// A Bucket on a given level.
    pub const fn at(level: u8, coord: IVec3) -> Self {
        Self { level, coord }
    }

    /// Coordinates on this level lie in `-limit .. limit`.
    ///
    /// Nothing lies there on a level that does not exist.
    pub const fn limit(level: u8) -> i32 {
        if level > MAX_LEVEL {
            return 0;
        }
        1 << (BITS - 1 - level as u32)
    }

    /// Whether level and coordinates are within the index range.
    pub fn is_in_range(self) -> bool {
        let limit = Self::limit(self.level);
        self.coord.cmpge(IVec3::splat(-limit)).all() && self.coord.cmplt(IVec3::splat(limit)).all()
    }

    /// Refuses a Bucket beyond the index range, in the name of `what`.
    pub fn check(self, what: &str) -> Result<Self> {
        if self.level > MAX_LEVEL {
            return Err(CoreError::NoSuchLevel { found: self.level, max: MAX_LEVEL });
        }
        if !self.is_in_range() {
            return Err(CoreError::OutOfRange {
                what: what.to_owned(),
                coord: self.coord.to_array().map(i64::from),
                level: self.level,
                limit: i64::from(Self::limit(self.level)),
            });
        }
        Ok(self)
    }

    /// The Bucket at an offset on the same level.
    pub fn offset(self, by: IVec3) -> Self {
        Self { level: self.level, coord: self.coord + by }
    }

    /// The Bucket of the next coarser level that contains this one.
    pub fn parent(self) -> Self {
        Self { level: self.level + 1, coord: self.coord >> 1 }
    }

    /// The Bucket on `level` (coarser or equal) that contains this one.
    pub fn ancestor(self, level: u8) -> Self {
        Self { level, coord: self.coord >> i32::from(level - self.level) }
    }

    /// The eight Buckets of the next finer level inside this one, z fastest. Level 0 has none.
    pub fn children(self) -> impl Iterator<Item = Self> {
        let count = if self.level == 0 { 0 } else { 8 };
        (0..count).map(move |child| Self {
            level: self.level - 1,
            coord: (self.coord << 1) + IVec3::new(child >> 2, child >> 1 & 1, child & 1),
        })
    }

    /// Which of its parent's children this is, per axis: 0 lower, 1 upper.
    pub fn parity(self) -> IVec3 {
        self.coord & 1
    }

    /// The key of this Bucket, which must be in range.
    pub fn key(self) -> BucketKey {
        debug_assert!(self.is_in_range(), "{self:?} is beyond the index range");
        let bits = BITS - u32::from(self.level);
        let limit = Self::limit(self.level);
        let cell = self.coord.to_array().map(|c| (c + limit) as u32);
        BucketKey(u64::from(self.level) << (3 * BITS) | curve::encode(cell, bits))
    }
}

/// A Bucket as one number that sorts by level, then along the Hilbert curve of the level.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, bytemuck::Pod, bytemuck::Zeroable,
)]
#[repr(transparent)]
pub struct BucketKey(u64);

impl BucketKey {
    /// The Bucket's level.
    pub fn level(self) -> u8 {
        (self.0 >> (3 * BITS)) as u8
    }

    /// The Bucket with this key.
    pub fn bucket(self) -> Bucket {
        let level = self.level();
        let cell = curve::decode(self.0, BITS - u32::from(level));
        let limit = Bucket::limit(level);
        Bucket { level, coord: IVec3::from_array(cell.map(|c| c as i32 - limit)) }
    }

    /// The block of 4×4×4 Buckets that the Bucket lies in: a number that sorts as keys do.
    pub(super) fn block(self) -> u64 {
        self.0 >> (3 * curve::BLOCK_BITS)
    }

    /// The Bucket's place along the curve within its block.
    pub(super) fn place_in_block(self) -> u32 {
        self.0 as u32 & ((1 << (3 * curve::BLOCK_BITS)) - 1)
    }

    /// The lowest Bucket coordinate of the block, and the orientation of the curve inside it.
    pub(super) fn block_corner(self) -> (IVec3, u8) {
        let level = self.level();
        let bits = BITS - u32::from(level) - curve::BLOCK_BITS;
        let (cell, state) = curve::decode_with_state(self.block(), bits);
        let limit = Bucket::limit(level);
        (IVec3::from_array(cell.map(|c| ((c << curve::BLOCK_BITS) as i32) - limit)), state)
    }

    /// The position along the curve of the finest level at which this Bucket's space begins.
    pub fn position(self) -> u64 {
        (self.0 & ((1 << (3 * BITS)) - 1)) << (3 * u32::from(self.level()))
    }

    /// One past the largest [`Self::position`] there is.
    pub const END: u64 = 1 << (3 * BITS);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_bucket() -> impl Strategy<Value = Bucket> {
        (0..=MAX_LEVEL).prop_flat_map(|level| {
            let limit = Bucket::limit(level);
            prop::array::uniform3(-limit..limit)
                .prop_map(move |coord| Bucket::at(level, IVec3::from_array(coord)))
        })
    }

    proptest! {
        #[test]
        fn a_key_gives_its_bucket_back(bucket in any_bucket()) {
            prop_assert_eq!(bucket.key().bucket(), bucket);
        }

        #[test]
        fn a_parent_begins_where_its_first_child_begins(bucket in any_bucket()) {
            prop_assume!(bucket.level > 0);
            let first = bucket.children().map(|child| child.key().position()).min();
            prop_assert_eq!(first, Some(bucket.key().position()));
            prop_assert!(bucket.children().all(|child| child.parent() == bucket));
        }
    }

    #[test]
    fn beyond_the_range_is_an_error_that_names_the_bucket() {
        let far = Bucket::new(1 << 19, 0, 0);
        let message = far.check("a test").unwrap_err().to_string();
        assert!(message.contains("524288") && message.contains("a test"), "{message}");
        assert!(Bucket::new(-(1 << 19), 0, 0).check("a test").is_ok());
        assert!(Bucket::at(16, IVec3::ZERO).check("a test").is_err());
    }
}
