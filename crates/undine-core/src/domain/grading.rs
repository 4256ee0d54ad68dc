//! Graded covers: Buckets of different levels that do not overlap, and whose neighbours, corners
//! included, are at most one level apart (Loki §5.3, *Discrete Volume*).

use super::bucket::Bucket;
use super::index::KeyIndex;
use super::packed::{PackedSet, pack};
use super::set::BucketSet;
use super::topology::{NONE, lowest_coarser};
use glam::IVec3;
use rayon::prelude::*;

impl BucketSet {
    /// The coarsest graded cover of the same space that keeps every finest Bucket of this set.
    ///
    /// A coarse Bucket that overlaps finer ones, or touches one more than a level finer, is split
    /// into its eight children until neither is so.
    pub fn graded(&self) -> Self {
        let Some(coarsest) = self.levels().last() else { return Self::new() };
        let mut cover = Cover::new(self, coarsest);

        // Split, coarsest first, what has a finer Bucket of the set inside it.
        let mut above = PackedSet::default();
        for bucket in self.buckets() {
            for level in bucket.level + 1..=coarsest {
                if !above.insert(pack(bucket.ancestor(level))) {
                    break;
                }
            }
        }
        for level in (1..=coarsest).rev() {
            // Splitting appends to finer levels only.
            for n in 0..cover.levels[usize::from(level)].len() {
                let bucket = cover.levels[usize::from(level)][n];
                if above.contains(&pack(bucket)) {
                    cover.split(bucket);
                }
            }
        }

        // Finest first: the space around a Bucket may be one level coarser than it, and no coarser.
        // Splitting changes only levels that are still to come.
        for level in 0..coarsest.saturating_sub(1) {
            for n in 0..cover.levels[usize::from(level)].len() {
                let bucket = cover.levels[usize::from(level)][n];
                if cover.has(bucket) {
                    for target in coarser_around(bucket) {
                        cover.split_down_to(target);
                    }
                }
            }
        }
        cover.into_set()
    }

    /// Whether no two Buckets overlap, and neighbours are at most one level apart.
    pub fn is_graded(&self) -> bool {
        let Some(coarsest) = self.levels().last() else { return true };
        let (index, buckets) = KeyIndex::new(self.keys());
        let lies_in_one = |bucket: Bucket| {
            (bucket.level + 1..=coarsest).any(|level| index.find(bucket.ancestor(level)) != NONE)
        };
        // A Bucket of a coarser level beside this one contains a Bucket of the next level beside it.
        buckets.par_iter().all(|&bucket| {
            !lies_in_one(bucket)
                && (bucket.level + 1 >= coarsest || !coarser_around(bucket).any(lies_in_one))
        })
    }
}

/// The eight Buckets of the next coarser level that contain a Bucket or touch it.
///
/// Only these: what touches the parent on its far side does not touch the Bucket.
fn coarser_around(bucket: Bucket) -> impl Iterator<Item = Bucket> {
    let low = lowest_coarser(bucket).into_iter();
    low.flat_map(|low| (0..8).map(move |n| low.offset(IVec3::new(n >> 2, n >> 1 & 1, n & 1))))
        .filter(|bucket| bucket.is_in_range())
}

/// A set that is being split.
struct Cover {
    /// What there is now.
    present: PackedSet,
    /// By level, what there is or was.
    levels: Vec<Vec<Bucket>>,
}

impl Cover {
    fn new(set: &BucketSet, coarsest: u8) -> Self {
        let mut levels = vec![Vec::new(); usize::from(coarsest) + 1];
        for bucket in set.buckets() {
            levels[usize::from(bucket.level)].push(bucket);
        }
        Self { present: set.buckets().map(pack).collect(), levels }
    }

    fn has(&self, bucket: Bucket) -> bool {
        self.present.contains(&pack(bucket))
    }

    /// Puts the children of a Bucket in its place.
    fn split(&mut self, bucket: Bucket) {
        self.present.remove(&pack(bucket));
        for child in bucket.children() {
            if self.present.insert(pack(child)) {
                self.levels[usize::from(child.level)].push(child);
            }
        }
    }

    /// Splits the Bucket that contains `target` until it is no coarser than `target`.
    fn split_down_to(&mut self, target: Bucket) {
        let coarsest = self.levels.len() as u8 - 1;
        let above = |level| target.ancestor(level);
        let found = (target.level + 1..=coarsest).find(|&level| self.has(above(level)));
        for level in (target.level + 1..=found.unwrap_or(0)).rev() {
            self.split(above(level));
        }
    }

    fn into_set(self) -> BucketSet {
        let Self { present, levels } = self;
        let kept = levels.into_iter().flatten().filter(|&bucket| present.contains(&pack(bucket)));
        BucketSet::from_keys(kept.map(Bucket::key).collect())
    }
}
