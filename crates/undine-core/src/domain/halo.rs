//! Copies of foreign Buckets: who owns what, which copies a process needs, and what must travel.

use super::bucket::{Bucket, BucketKey};
use super::frame::Frame;
use super::partition::Partition;
use super::topology::{NONE, Slot};
use rayon::prelude::*;
use std::ops::Range;

/// The owner of each Bucket of a set, by place in the set; empty if one process owns everything.
pub(super) struct Owners {
    owners: Vec<u32>,
    rank: u32,
}

impl Owners {
    pub(super) fn new(frame: &Frame, keys: &[BucketKey], cut: &Partition, rank: usize) -> Self {
        let distributed = cut.processes() > 1;
        let keys = if distributed { keys } else { &[] };
        let owners = keys.par_iter().map(|&key| cut.owner_of_key(frame, key) as u32).collect();
        Self { owners, rank: rank as u32 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.owners.is_empty()
    }

    fn of(&self, place: u32) -> u32 {
        self.owners[place as usize]
    }

    /// The local ones of all Buckets.
    pub(super) fn local(&self, every: &[Bucket]) -> Vec<Bucket> {
        if self.is_empty() {
            return every.to_vec();
        }
        let owned = every.iter().zip(&self.owners).filter(|&(_, &owner)| owner == self.rank);
        owned.map(|(&bucket, _)| bucket).collect()
    }

    /// From places to slots: the local Buckets first, then the copies.
    pub(super) fn slots(&self, copies: &[u32]) -> Vec<Slot> {
        let mut next = 0;
        let mut number = || {
            next += 1;
            next - 1
        };
        let mut slots: Vec<_> = self
            .owners
            .iter()
            .map(|&owner| if owner == self.rank { number() } else { NONE })
            .collect();
        for &place in copies {
            slots[place as usize] = number();
        }
        slots
    }
}

/// What must travel to keep copies fresh.
#[derive(Default)]
pub(super) struct Halo {
    /// Places of the foreign Buckets of which copies are kept, by owner, then along the curve.
    pub(super) copies: Vec<u32>,
    pub(super) sends: Vec<(usize, Vec<Slot>)>,
    pub(super) receives: Vec<(usize, Range<Slot>)>,
    pub(super) interior: Vec<Slot>,
    pub(super) boundary: Vec<Slot>,
}

impl Halo {
    /// The halo of `local` Buckets, each of which may read the places that `around` lists.
    ///
    /// Who reads whom is mutual, so that a process sends a Bucket to exactly those whose Buckets are
    /// around it.
    pub(super) fn new<Around: Iterator<Item = u32>>(
        local: usize,
        rank: usize,
        processes: usize,
        owners: &Owners,
        around: impl Fn(usize) -> Around + Sync,
    ) -> Self {
        let foreign = |slot: usize| {
            around(slot).filter(|&place| place != NONE && owners.of(place) != rank as u32)
        };
        let (boundary, interior): (Vec<Slot>, Vec<Slot>) = (0..local as Slot)
            .into_par_iter()
            .partition(|&slot| foreign(slot as usize).next().is_some());

        let mut sends: Vec<Vec<Slot>> = vec![Vec::new(); processes];
        let mut copies: Vec<u32> = Vec::new();
        for &slot in &boundary {
            for place in foreign(slot as usize) {
                copies.push(place);
                let list = &mut sends[owners.of(place) as usize];
                if list.last() != Some(&slot) {
                    list.push(slot);
                }
            }
        }
        copies.par_sort_unstable_by_key(|&place| (owners.of(place), place));
        copies.dedup();

        let mut receives = Vec::new();
        let mut start = local as Slot;
        for run in copies.chunk_by(|&a, &b| owners.of(a) == owners.of(b)) {
            let end = start + run.len() as Slot;
            receives.push((owners.of(run[0]) as usize, start..end));
            start = end;
        }
        let interior = if receives.is_empty() { Vec::new() } else { interior };
        let sends = sends.into_iter().enumerate().filter(|(_, slots)| !slots.is_empty()).collect();
        Self { copies, sends, receives, interior, boundary }
    }
}
