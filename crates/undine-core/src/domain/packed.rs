//! Buckets as hash keys: coordinates side by side in one number, cheaper to make than a curve key.
//!
//! Tables over these answer questions of membership only; nothing ever depends on their order.

use super::bucket::Bucket;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A map from packed cells.
pub(super) type PackedMap<V> = HashMap<u64, V, BuildHasherDefault<PackedHasher>>;

/// A set of packed cells.
pub(super) type PackedSet = HashSet<u64, BuildHasherDefault<PackedHasher>>;

/// A Bucket as one number. Distinct for all Buckets within the index range.
pub(super) fn pack(bucket: Bucket) -> u64 {
    let [x, y, z] = bucket.coord.to_array().map(|c| u64::from(c as u32 & 0xF_FFFF));
    u64::from(bucket.level) << 60 | x << 40 | y << 20 | z
}

/// Spreads packed cells by one multiplication: they are distinct and not chosen by an enemy.
#[derive(Debug, Default)]
pub(super) struct PackedHasher(u64);

impl Hasher for PackedHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }
    fn write_u64(&mut self, value: u64) {
        let mixed = (self.0 ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ mixed >> 29;
    }
}
