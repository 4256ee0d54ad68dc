//! Which process owns which part of space: the Hilbert curve of a lattice, cut into one piece per
//! process. Every Grid Domain of a run is cut by the same Partition, whatever its own voxel size.

use super::bucket::{Bucket, BucketKey};
use super::frame::Frame;

/// A cut of space into one part per process.
#[derive(Debug, Clone, PartialEq)]
pub struct Partition {
    /// The lattice whose curve is cut.
    frame: Frame,
    /// Where the parts of processes 1, 2, … begin along the curve of the finest level.
    cuts: Vec<u64>,
}

impl Partition {
    /// One process owns everything.
    pub fn whole(frame: Frame) -> Self {
        Self { frame, cuts: Vec::new() }
    }

    /// The curve, through all of the index range, cut into equal lengths: a beginning, until there are Buckets
    /// to balance. A small scene may lie in one piece.
    pub fn even(frame: Frame, processes: usize) -> Self {
        let part = BucketKey::END / processes.max(1) as u64;
        Self { frame, cuts: (1..processes as u64).map(|process| process * part).collect() }
    }

    /// The curve cut so that each process gets, as nearly as whole Buckets allow, the same weight.
    ///
    /// `weights` are all Buckets of all processes, in any order; the result depends on nothing else.
    /// Weights that are negative or not finite count as nothing.
    pub fn balanced(frame: Frame, processes: usize, weights: &[(BucketKey, f64)]) -> Self {
        let usable = |weight: f64| if weight > 0.0 && weight.is_finite() { weight } else { 0.0 };
        // Relative to the heaviest, so that no sum overflows.
        let heaviest = weights.iter().map(|&(_, weight)| usable(weight)).fold(0.0, f64::max);
        if processes < 2 || heaviest == 0.0 {
            return Self::even(frame, processes);
        }
        let mut along: Vec<_> = weights
            .iter()
            .map(|&(key, weight)| (key.position(), usable(weight) / heaviest))
            .collect();
        along.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let total: f64 = along.iter().map(|&(_, weight)| weight).sum();
        let mut cuts = Vec::with_capacity(processes - 1);
        let mut before = 0.0;
        // A Bucket and those of other levels that begin where it begins have one owner.
        for together in along.chunk_by(|a, b| a.0 == b.0) {
            let (position, _) = together[0];
            let weight: f64 = together.iter().map(|&(_, weight)| weight).sum();
            // They go to the process in whose share their middle lies.
            let middle = (before + 0.5 * weight) / total * processes as f64;
            while cuts.len() + 1 < processes && middle >= (cuts.len() + 1) as f64 {
                cuts.push(position);
            }
            before += weight;
        }
        cuts.resize(processes - 1, BucketKey::END);
        Self { frame, cuts }
    }

    /// How many processes share the space.
    pub fn processes(&self) -> usize {
        self.cuts.len() + 1
    }

    /// The lattice whose curve is cut: only of its own Buckets each process has one piece.
    pub fn lattice(&self) -> &Frame {
        &self.frame
    }

    /// The process that owns a Bucket of a Domain with the lattice `frame`.
    pub fn owner(&self, frame: &Frame, bucket: Bucket) -> usize {
        if self.cuts.is_empty() {
            return 0;
        }
        self.owner_at(Self::place(&self.frame, frame, bucket).position())
    }

    /// Where a Bucket of a Domain with the lattice `frame` stands along the curve of another lattice, `cut`, whose Partition
    /// shares it out: by its centre, clamped to where that lattice reaches. So all Domains of a run can be weighed on the one curve
    /// that cuts them.
    pub fn place(cut: &Frame, frame: &Frame, bucket: Bucket) -> BucketKey {
        if frame == cut {
            return bucket.key();
        }
        let cell = (frame.centre(bucket) - cut.origin()) / cut.bucket_size(0);
        let limit = f64::from(Bucket::limit(0));
        let cell = cell.floor().clamp(glam::DVec3::splat(-limit), glam::DVec3::splat(limit - 1.0));
        Bucket::at(0, cell.as_ivec3()).key()
    }

    /// The process that owns the Bucket with a key: [`Self::owner`], without a walk along the curve
    /// where the lattice is the same.
    pub(super) fn owner_of_key(&self, frame: &Frame, key: BucketKey) -> usize {
        if *frame == self.frame {
            self.owner_at(key.position())
        } else {
            self.owner(frame, key.bucket())
        }
    }

    /// The process that owns a position along the curve.
    fn owner_at(&self, position: u64) -> usize {
        self.cuts.partition_point(|&cut| cut <= position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DVec3, IVec3};
    use proptest::prelude::*;

    fn frame(voxel: f64) -> Frame {
        Frame::new(DVec3::ZERO, voxel).unwrap()
    }

    proptest! {
        #[test]
        fn a_balanced_cut_is_off_by_less_than_the_two_buckets_at_its_ends(
            cells in prop::collection::btree_map(prop::array::uniform3(-8..8_i32), 0.1..10.0_f64, 20..200),
            processes in 1..6_usize,
        ) {
            let weights: Vec<_> = cells.iter()
                .map(|(cell, weight)| (Bucket::at(0, IVec3::from_array(*cell)).key(), *weight)).collect();
            let partition = Partition::balanced(frame(0.1), processes, &weights);
            let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
            for process in 0..processes {
                let mine: f64 = weights.iter()
                    .filter(|(key, _)| partition.owner(&frame(0.1), key.bucket()) == process)
                    .map(|(_, weight)| weight).sum();
                prop_assert!((mine - total / processes as f64).abs() <= 10.0 + 1e-9);
            }
        }
    }

    #[test]
    fn two_lattices_are_cut_along_the_same_places() {
        let coarse = frame(0.8);
        let partition = Partition::even(coarse, 4);
        let fine = frame(0.1);
        for cell in [[0, 0, 0], [17, -30, 5], [-80, -9, 63]] {
            let bucket = Bucket::at(0, IVec3::from_array(cell));
            assert_eq!(
                partition.owner(&fine, bucket),
                partition.owner(&coarse, Bucket::at(0, bucket.coord >> 3))
            );
        }
    }
}
