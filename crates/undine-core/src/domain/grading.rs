//! Graded covers: Buckets of different levels that do not overlap, and whose neighbours, corners
//! included, are at most one level apart (Loki §5.3, *Discrete Volume*).

use super::bucket::{Bucket, MAX_LEVEL};
use super::set::BucketSet;
use glam::IVec3;
use std::collections::BTreeSet;

impl BucketSet {
    /// The coarsest graded cover of the same space that keeps every finest Bucket of this set.
    ///
    /// A coarse Bucket that overlaps finer ones, or touches one more than a level finer, is split
    /// into its eight children until neither is so.
    pub fn graded(&self) -> Self {
        let mut levels: Vec<BTreeSet<_>> =
            (0..=MAX_LEVEL).map(|level| self.level(level).iter().copied().collect()).collect();

        // Split, coarsest first, what has a finer Bucket of the set inside it.
        let mut above = BTreeSet::new();
        for bucket in self.buckets() {
            for level in bucket.level + 1..=MAX_LEVEL {
                if !above.insert(bucket.ancestor(level).key()) {
                    break;
                }
            }
        }
        for level in (1..=MAX_LEVEL as usize).rev() {
            let split: Vec<_> = levels[level].intersection(&above).copied().collect();
            for key in split {
                levels[level].remove(&key);
                levels[level - 1].extend(key.bucket().children().map(Bucket::key));
            }
        }

        // Finest first: whatever the neighbours of a Bucket's parent lie in may be as coarse as
        // they are, and no coarser. Splitting changes only levels that are still to come.
        for level in 0..MAX_LEVEL - 1 {
            let fine: Vec<_> = levels[level as usize].iter().copied().collect();
            for key in fine {
                for neighbour in around(key.bucket().parent()) {
                    split_down_to(&mut levels, neighbour);
                }
            }
        }
        Self::from_keys(levels.into_iter().flatten().collect())
    }

    /// Whether no two Buckets overlap, and neighbours are at most one level apart.
    pub fn is_graded(&self) -> bool {
        self.buckets().all(|bucket| {
            let covered =
                (bucket.level + 1..=MAX_LEVEL).any(|level| self.contains(bucket.ancestor(level)));
            let too_coarse = bucket.level + 1 < MAX_LEVEL
                && around(bucket.parent()).any(|neighbour| {
                    (neighbour.level + 1..=MAX_LEVEL)
                        .any(|level| self.contains(neighbour.ancestor(level)))
                });
            !covered && !too_coarse
        })
    }
}

/// The 26 neighbours of a Bucket that are within the index range.
fn around(bucket: Bucket) -> impl Iterator<Item = Bucket> {
    (0..27)
        .filter(|&n| n != 13)
        .map(move |n| bucket.offset(IVec3::new(n / 9, n / 3 % 3, n % 3) - 1))
        .filter(|bucket| bucket.is_in_range())
}

/// Splits the Bucket that contains `target` until it is no coarser than `target`.
fn split_down_to(levels: &mut [BTreeSet<super::bucket::BucketKey>], target: Bucket) {
    let Some(found) = (target.level + 1..=MAX_LEVEL)
        .find(|&level| levels[level as usize].contains(&target.ancestor(level).key()))
    else {
        return;
    };
    for level in (target.level + 1..=found).rev() {
        let ancestor = target.ancestor(level);
        levels[level as usize].remove(&ancestor.key());
        levels[level as usize - 1].extend(ancestor.children().map(Bucket::key));
    }
}
