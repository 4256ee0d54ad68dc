//! Running a kernel over Buckets, on all threads, overlapping with what travels between processes.

use super::claims::Access;
use super::halo::Refresh;
use crate::domain::{Bucket, GridDomain, Slot, SlotMap, Topology};
use crate::error::Result;
use crate::process::Processes;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Runs kernels over the local Buckets of a Topology, in parallel and in no promised order.
///
/// Every run is collective: all processes run the same kernels in the same order, also those that have no
/// Bucket to visit.
#[derive(Debug, Clone)]
pub struct Accessor {
    pub(super) task: &'static str,
    pub(super) processes: Arc<dyn Processes>,
    pub(super) topology: Arc<Topology>,
    slots: Option<Range<Slot>>,
}

/// Where a kernel is.
#[derive(Debug, Clone, Copy)]
pub struct Here<'v> {
    /// The Bucket being visited.
    pub bucket: Bucket,
    /// Its slot in the Topology that is run over.
    pub slot: Slot,
    /// The Topology that is run over.
    pub topology: &'v Topology,
}

impl Accessor {
    /// An Accessor over all local Buckets of the Domain, for the kernel that messages call `task`.
    pub fn new(task: &'static str, domain: &GridDomain) -> Self {
        Self {
            task,
            processes: domain.processes().clone(),
            topology: domain.topology().clone(),
            slots: None,
        }
    }

    /// The same over the Buckets of another Topology, usually those of the store that is written: a Particle
    /// System has its own, and a volume that of the Domain only if it followed it.
    pub fn over(mut self, topology: &Arc<Topology>) -> Self {
        self.topology = topology.clone();
        self.slots = None;
        self
    }

    /// The same over the Buckets of one level only.
    pub fn level(mut self, level: u8) -> Self {
        self.slots = Some(self.topology.level(level));
        self
    }

    /// Runs a kernel once for each Bucket.
    pub fn run<A: Access>(
        &self,
        access: A,
        kernel: impl for<'v> Fn(Here<'v>, A::View<'v>) + Sync,
    ) -> Result<()> {
        self.in_phases(&access, |claim, slots| {
            in_parallel(slots).for_each(|slot| {
                // SAFETY: each slot is visited once, and its view ends with the kernel.
                kernel(self.here(slot), unsafe { A::view(claim, slot) });
            });
        })
    }

    /// Runs a kernel once for each Bucket, with scratch memory that `scratch` makes for each thread.
    pub fn run_with<A: Access, S>(
        &self,
        access: A,
        scratch: impl Fn() -> S + Sync + Send,
        kernel: impl for<'v> Fn(&mut S, Here<'v>, A::View<'v>) + Sync,
    ) -> Result<()> {
        self.in_phases(&access, |claim, slots| {
            in_parallel(slots).for_each_init(&scratch, |scratch, slot| {
                // SAFETY: each slot is visited once, and its view ends with the kernel.
                kernel(scratch, self.here(slot), unsafe { A::view(claim, slot) });
            });
        })
    }

    /// Runs a kernel once for each Bucket, and returns what it returns, by local slot visited.
    pub fn map<A: Access, R: Send>(
        &self,
        access: A,
        kernel: impl for<'v> Fn(Here<'v>, A::View<'v>) -> R + Sync,
    ) -> Result<Vec<R>> {
        let visited = self.visited();
        let mut results: Vec<Option<R>> = visited.clone().map(|_| None).collect();
        self.in_phases(&access, |claim, slots| {
            let part: Vec<(Slot, R)> = in_parallel(slots)
                // SAFETY: each slot is visited once, and its view ends with the kernel.
                .map(|slot| (slot, kernel(self.here(slot), unsafe { A::view(claim, slot) })))
                .collect();
            for (slot, result) in part {
                results[(slot - visited.start) as usize] = Some(result);
            }
        })?;
        Ok(results.into_iter().flatten().collect())
    }

    /// Runs a kernel once for each Bucket, and combines what it returns: first pairwise along the
    /// curve, then by order of rank. The result is the same on every process, and for any number of
    /// threads; for another number of processes a sum may round differently. `None` if there is no Bucket at
    /// all.
    pub fn reduce<A: Access, R: bytemuck::Pod + Send + Sync>(
        &self,
        access: A,
        kernel: impl for<'v> Fn(Here<'v>, A::View<'v>) -> R + Sync,
        combine: impl Fn(R, R) -> R + Sync,
    ) -> Result<Option<R>> {
        let mine = pairwise(&self.map(access, kernel)?, &combine);
        let bytes = mine.as_ref().map_or(&[][..], |result| bytemuck::bytes_of(result));
        let mut total = None;
        for bytes in self.processes.all_gather(bytes)? {
            let part = bytemuck::pod_collect_to_vec::<u8, R>(&bytes).first().copied();
            total = match (total, part) {
                (Some(a), Some(b)) => Some(combine(a, b)),
                (a, b) => a.or(b),
            };
        }
        Ok(total)
    }

    /// Claims the channels and visits all slots; if copies of other processes' Buckets must be
    /// refreshed, first those inside, and the rest when the copies have come.
    pub(super) fn in_phases<'a, A: Access>(
        &self,
        access: &'a A,
        mut visit: impl FnMut(&A::Claim<'a>, &[Slot]),
    ) -> Result<()> {
        let mut under_way: Vec<Refresh> = Vec::new();
        access.refresh(&*self.processes, &mut under_way)?;
        if under_way.is_empty() {
            visit(&access.claim(self.task, &self.topology)?, self.visits());
            return Ok(());
        }
        let (inside, waiting) = self.divide(&under_way);
        visit(&access.claim(self.task, &self.topology)?, &inside);
        for refresh in under_way {
            refresh.finish()?;
        }
        visit(&access.claim(self.task, &self.topology)?, &waiting);
        Ok(())
    }

    /// The slots visited: those that need nothing that is under way, and those that must wait for it.
    ///
    /// Each store tells by its own Topology, which may have Buckets that the visited one lacks.
    fn divide(&self, under_way: &[Refresh]) -> (Vec<Slot>, Vec<Slot>) {
        let visited = self.visited();
        let mut waits = vec![false; visited.len()];
        for store in under_way.iter().map(Refresh::topology) {
            let mut near_copies = vec![false; store.local()];
            store.boundary().iter().for_each(|&slot| near_copies[slot as usize] = true);
            let to_store = SlotMap::between(&self.topology, store);
            for (slot, waits) in visited.clone().zip(&mut waits) {
                // A Bucket that the store lacks may have copies around it all the same.
                *waits |= near_copies.get(to_store.get(slot) as usize).copied().unwrap_or(true);
            }
        }
        self.visits().iter().partition(|&&slot| !waits[(slot - visited.start) as usize])
    }

    /// The local slots that are visited, in the order of visits.
    fn visits(&self) -> &[Slot] {
        // A level has the same range in both orders.
        let Range { start, end } = self.visited();
        &self.topology.visits()[start as usize..end as usize]
    }

    /// The local slots that are visited.
    pub(super) fn visited(&self) -> Range<Slot> {
        self.slots.clone().unwrap_or(0..self.topology.local() as Slot)
    }

    pub(super) fn here(&self, slot: Slot) -> Here<'_> {
        Here { bucket: self.topology.bucket(slot), slot, topology: &self.topology }
    }
}

/// Visits slots in parallel, a few Buckets at a time.
fn in_parallel(slots: &[Slot]) -> impl IndexedParallelIterator<Item = Slot> {
    // One by one where there are few: a Bucket full of particles is a lot of work.
    let at_once = if slots.len() < 256 { 1 } else { 4 };
    slots.par_iter().with_min_len(at_once).copied()
}

/// Combines pairs of neighbours, then pairs of pairs: a fixed order with little rounding.
fn pairwise<R: Copy>(results: &[R], combine: &impl Fn(R, R) -> R) -> Option<R> {
    match results {
        [] => None,
        [one] => Some(*one),
        many => {
            let (a, b) = many.split_at(many.len().next_power_of_two() / 2);
            match (pairwise(a, combine), pairwise(b, combine)) {
                (Some(a), Some(b)) => Some(combine(a, b)),
                (a, b) => a.or(b),
            }
        }
    }
}
