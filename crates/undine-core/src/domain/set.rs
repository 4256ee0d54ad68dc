//! A set of Buckets, sorted by level and along the curve, with set algebra.

use super::bucket::{Bucket, BucketKey, MAX_LEVEL};
use super::linear;
use crate::error::{CoreError, Result};
use rayon::prelude::*;
use std::ops::Range;

/// A set of Buckets of any levels. Pure value: no data hangs on it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BucketSet {
    /// Sorted, without duplicates.
    keys: Vec<BucketKey>,
}

impl BucketSet {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// The set of these Buckets, in any order, with repetitions. Refuses one beyond the index range.
    pub fn from_buckets(buckets: impl IntoIterator<Item = Bucket>) -> Result<Self> {
        let keys: Result<Vec<_>> = buckets
            .into_iter()
            .map(|bucket| bucket.check("a set of Buckets").map(Bucket::key))
            .collect();
        Ok(Self::from_keys(keys?))
    }

    /// The set of Buckets with these keys, in any order, with repetitions.
    pub fn from_keys(mut keys: Vec<BucketKey>) -> Self {
        keys.par_sort_unstable();
        keys.dedup();
        Self { keys }
    }

    /// The keys, sorted.
    pub fn keys(&self) -> &[BucketKey] {
        &self.keys
    }

    /// The Buckets, by level, then along the curve.
    pub fn buckets(&self) -> impl ExactSizeIterator<Item = Bucket> + '_ {
        self.keys.iter().map(|key| key.bucket())
    }

    /// How many Buckets there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Whether the set has this Bucket.
    pub fn contains(&self, bucket: Bucket) -> bool {
        bucket.is_in_range() && self.keys.binary_search(&bucket.key()).is_ok()
    }

    /// Adds a Bucket; `false` if it was there.
    pub fn insert(&mut self, bucket: Bucket) -> Result<bool> {
        let key = bucket.check("a set of Buckets")?.key();
        match self.keys.binary_search(&key) {
            Ok(_) => Ok(false),
            Err(at) => {
                self.keys.insert(at, key);
                Ok(true)
            }
        }
    }

    /// Takes a Bucket out; `false` if it was not there.
    pub fn remove(&mut self, bucket: Bucket) -> bool {
        if !bucket.is_in_range() {
            return false;
        }
        match self.keys.binary_search(&bucket.key()) {
            Ok(at) => {
                self.keys.remove(at);
                true
            }
            Err(_) => false,
        }
    }

    /// The Buckets of either set.
    pub fn union(&self, other: &Self) -> Self {
        let mut keys = Vec::with_capacity(self.len() + other.len());
        merge(&self.keys, &other.keys, |key, _, _| keys.push(key));
        Self { keys }
    }

    /// The Buckets of both sets.
    pub fn intersection(&self, other: &Self) -> Self {
        let mut keys = Vec::new();
        merge(&self.keys, &other.keys, |key, a, b| {
            if a.is_some() && b.is_some() {
                keys.push(key);
            }
        });
        Self { keys }
    }

    /// The Buckets of this set that `other` does not have.
    pub fn difference(&self, other: &Self) -> Self {
        let mut keys = Vec::new();
        merge(&self.keys, &other.keys, |key, _, b| {
            if b.is_none() {
                keys.push(key);
            }
        });
        Self { keys }
    }

    /// The set padded by `n` Buckets in every direction, corners included, each level on its own.
    ///
    /// At most 256, because a single Bucket would then become 135 million.
    pub fn dilate(&self, n: u32) -> Result<Self> {
        self.dilate_within(n, |_| Ok(()))
    }

    /// [`Self::dilate`], with a `check` of the number of Buckets as it grows, before all are made.
    pub(super) fn dilate_within(
        &self,
        n: u32,
        check: impl Fn(usize) -> Result<()>,
    ) -> Result<Self> {
        if n > 256 {
            return Err(CoreError::BadValue {
                what: "the padding of a set of Buckets".into(),
                found: n.to_string(),
                wanted: "at most 256",
            });
        }
        let n = n as i32;
        let mut keys = Vec::new();
        for level in self.levels() {
            let check = |more: usize| check(keys.len() + more);
            let more = linear::dilate(self.level(level), n, "padding a set of Buckets", &check)?;
            keys.extend(more);
        }
        Ok(Self { keys })
    }

    /// The keys on one level.
    pub fn level(&self, level: u8) -> &[BucketKey] {
        &self.keys[self.level_range(level)]
    }

    /// The levels that have Buckets, finest first.
    pub fn levels(&self) -> impl Iterator<Item = u8> + '_ {
        (0..=MAX_LEVEL).filter(|&level| !self.level_range(level).is_empty())
    }

    /// The Buckets of the next coarser level that contain those of `level`: one more level of an
    /// overlapping (multigrid) hierarchy.
    pub fn coarsen(&self, level: u8) -> Result<Self> {
        if level >= MAX_LEVEL {
            return Err(CoreError::NoSuchLevel { found: level.saturating_add(1), max: MAX_LEVEL });
        }
        Ok(Self::from_keys(
            self.level(level).par_iter().map(|key| key.bucket().parent().key()).collect(),
        ))
    }

    /// Where a level stands in [`Self::keys`].
    pub(super) fn level_range(&self, level: u8) -> Range<usize> {
        let start = self.keys.partition_point(|key| key.level() < level);
        start..start + self.keys[start..].partition_point(|key| key.level() == level)
    }
}

/// Walks two sorted lists at once: each key with its index in the first and the second list.
pub(super) fn merge(
    a: &[BucketKey],
    b: &[BucketKey],
    mut visit: impl FnMut(BucketKey, Option<usize>, Option<usize>),
) {
    let (mut i, mut j) = (0, 0);
    loop {
        let (x, y) = (a.get(i), b.get(j));
        let Some(&key) = [x, y].into_iter().flatten().min() else { break };
        let (in_a, in_b) = (x == Some(&key), y == Some(&key));
        visit(key, in_a.then_some(i), in_b.then_some(j));
        i += usize::from(in_a);
        j += usize::from(in_b);
    }
}
