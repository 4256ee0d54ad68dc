//! The Grid Domain itself: a lattice, the Buckets that exist on it, and who owns them.

use super::bucket::{Bucket, BucketKey};
use super::frame::Frame;
use super::partition::Partition;
use super::set::BucketSet;
use super::topology::Topology;
use crate::error::{CoreError, Result};
use crate::memory::MemoryBudget;
use crate::process::{Processes, Single};
use glam::{DVec3, IVec3};
use rayon::prelude::*;
use std::sync::Arc;

/// Sparse Buckets over space, shared by the Particle Systems and Discrete Volumes that live on them.
///
/// Every method that changes Buckets is collective: all processes call it, each with the Buckets that
/// it wants, and the Domain then has those that any of them wanted.
#[derive(Debug, Clone)]
pub struct GridDomain {
    label: String,
    frame: Frame,
    processes: Arc<dyn Processes>,
    partition: Arc<Partition>,
    topology: Arc<Topology>,
    budget: MemoryBudget,
}

impl GridDomain {
    /// A Domain without Buckets, for one process, without a limit on memory.
    pub fn new(label: impl Into<String>, frame: Frame) -> Self {
        Self::distributed(label, frame, Arc::new(Single), Arc::new(Partition::whole(frame)))
    }

    /// A Domain without Buckets, shared by `processes` as `partition` says.
    ///
    /// The Domains of a run share one Partition, so that they are cut at the same places.
    pub fn distributed(
        label: impl Into<String>,
        frame: Frame,
        processes: Arc<dyn Processes>,
        partition: Arc<Partition>,
    ) -> Self {
        let topology =
            Arc::new(Topology::new(frame, BucketSet::new(), &partition, processes.rank()));
        Self {
            label: label.into(),
            frame,
            processes,
            partition,
            topology,
            budget: MemoryBudget::unlimited(),
        }
    }

    /// The same Domain with a budget for everything that lives on it.
    pub fn with_budget(mut self, budget: MemoryBudget) -> Self {
        self.budget = budget;
        self
    }

    /// The same lattice without Buckets, for this process alone: what every process keeps a whole copy of lives on it, such as
    /// solids that all of them compute alike.
    pub fn alone(&self) -> Self {
        Self::new(self.label.clone(), self.frame).with_budget(self.budget.clone())
    }

    /// How messages call the Domain.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Where the Buckets lie in the world.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// The processes that share the Domain.
    pub fn processes(&self) -> &Arc<dyn Processes> {
        &self.processes
    }

    /// Which process owns which part of space.
    pub fn partition(&self) -> &Arc<Partition> {
        &self.partition
    }

    /// The memory budget of everything that lives on the Domain.
    pub fn budget(&self) -> &MemoryBudget {
        &self.budget
    }

    /// The Buckets that exist now. Volumes keep to the Topology they have until they are told to follow
    /// this one; Particle Systems have Buckets of their own, where their particles are.
    pub fn topology(&self) -> &Arc<Topology> {
        &self.topology
    }

    /// The process that owns a Bucket, whether it exists or not.
    pub fn owner(&self, bucket: Bucket) -> usize {
        self.partition.owner(&self.frame, bucket)
    }

    /// Makes exactly the Buckets that any process wants. Collective.
    pub fn set_buckets(&mut self, wanted: &BucketSet) -> Result<()> {
        self.topology = self.subset(wanted)?;
        Ok(())
    }

    /// Adds the Buckets that any process wants. Collective.
    pub fn add(&mut self, more: &BucketSet) -> Result<()> {
        let more = self.gather(more)?;
        self.topology = self.build(self.topology.all().union(&more))?;
        Ok(())
    }

    /// Removes the Buckets that any process names. Collective.
    pub fn remove(&mut self, fewer: &BucketSet) -> Result<()> {
        let fewer = self.gather(fewer)?;
        self.topology = self.build(self.topology.all().difference(&fewer))?;
        Ok(())
    }

    /// Pads the Buckets of each level by `n` in every direction. Collective.
    pub fn dilate(&mut self, n: u32) -> Result<()> {
        let check = |buckets: usize| self.check_tables(&self.label, buckets as u128);
        let padded = self.processes.all_agree(self.topology.all().dilate_within(n, check))?;
        self.topology = self.build(padded)?;
        Ok(())
    }

    /// The Topology of other Buckets on the same lattice, for a store that covers only a part of the
    /// Domain, or levels of its own. Collective.
    pub fn subset(&self, wanted: &BucketSet) -> Result<Arc<Topology>> {
        self.build(self.gather(wanted)?)
    }

    /// The Topology of the Buckets of `base` and of those that any process wants in addition; `base`
    /// itself if it has them all. Collective.
    pub(crate) fn extended(&self, base: &Arc<Topology>, more: &BucketSet) -> Result<Arc<Topology>> {
        let more = self.gather(more)?.difference(base.all());
        if more.is_empty() {
            return Ok(base.clone());
        }
        self.build(base.all().union(&more))
    }

    /// Refuses a store whose Buckets are cut otherwise than the Domain is now.
    pub(crate) fn check_owners(&self, store: &str, topology: &Topology) -> Result<()> {
        let rank = self.processes.rank();
        let foreign = |&&bucket: &&Bucket| self.processes.count() > 1 && self.owner(bucket) != rank;
        match topology.buckets()[..topology.local()].iter().find(foreign) {
            None => Ok(()),
            Some(bucket) => Err(CoreError::BadValue {
                what: format!("the owner of {bucket:?} of {store}"),
                found: "another process since the Domain was repartitioned".into(),
                wanted: "this process; let the store migrate first",
            }),
        }
    }

    /// The Buckets of a level that a box [m] touches.
    ///
    /// Refuses a box whose Buckets' tables alone would pass the memory budget.
    pub fn buckets_in_box(&self, min: DVec3, max: DVec3, level: u8) -> Result<BucketSet> {
        let what = format!("a box in {}", self.label);
        let (low, _) = self.frame.locate(min, level, &what)?;
        let high = self.frame.locate_end(max, level, &what)?.coord.max(low.coord);
        if min.cmpgt(max).any() {
            return Err(CoreError::BadValue {
                what: format!("the box from {min} to {max}"),
                found: "inside out".into(),
                wanted: "one whose lower corner is below its upper corner",
            });
        }
        let count = high - low.coord + 1;
        let buckets = count.x as u128 * count.y as u128 * count.z as u128;
        self.check_tables(&what, buckets)?;
        let keys = (0..buckets as u64)
            .into_par_iter()
            .map(|n| {
                let (ny, nz) = (count.y as u64, count.z as u64);
                let cell =
                    IVec3::new((n / (ny * nz)) as i32, (n / nz % ny) as i32, (n % nz) as i32);
                Bucket::at(level, low.coord + cell).key()
            })
            .collect();
        Ok(BucketSet::from_keys(keys))
    }

    /// The Buckets of a level in which at least one of `points` [m] lies.
    pub fn buckets_at_points(&self, points: &[DVec3], level: u8) -> Result<BucketSet> {
        let what = |n: usize| format!("point {n} in {}", self.label);
        let keys = self.frame.locate_all(points, level, what, |bucket, _| bucket.key())?;
        Ok(BucketSet::from_keys(keys))
    }

    /// The Partition that gives every process the same weight. Collective.
    ///
    /// `weight` says how much work a local Bucket is, for example its particles and voxels. Nothing
    /// moves yet: hand the result to [`Self::repartition`] of every Domain, and then let every store of
    /// theirs migrate.
    pub fn balance(&self, weight: impl Fn(Bucket) -> f64) -> Result<Partition> {
        let mine: Vec<[u64; 2]> = self.topology.buckets()[..self.topology.local()]
            .iter()
            .map(|&bucket| [bytemuck::cast(bucket.key()), weight(bucket).to_bits()])
            .collect();
        let weights: Vec<(BucketKey, f64)> = self
            .processes
            .all_gather_values(&mine)?
            .into_iter()
            .flatten()
            .map(|[key, weight]| (bytemuck::cast(key), f64::from_bits(weight)))
            .collect();
        Ok(Partition::balanced(self.frame, self.processes.count(), &weights))
    }

    /// Puts another Partition in force: the same Buckets, other owners. Collective. Stores keep to the old
    /// owners until they migrate, which should be next:
    /// [`DiscreteVolume::migrate`](crate::DiscreteVolume::migrate),
    /// [`ParticleSystem::migrate`](crate::ParticleSystem::migrate).
    pub fn repartition(&mut self, partition: Arc<Partition>) -> Result<()> {
        if partition.processes() != self.processes.count() {
            return Err(CoreError::WrongLength {
                what: "a Partition".into(),
                found: partition.processes(),
                wanted: self.processes.count(),
            });
        }
        let all = self.topology.all().clone();
        let rank = self.processes.rank();
        self.topology = Arc::new(Topology::new(self.frame, all, &partition, rank));
        self.partition = partition;
        Ok(())
    }

    /// The union of what every process wants.
    fn gather(&self, wanted: &BucketSet) -> Result<BucketSet> {
        if self.processes.count() == 1 {
            return Ok(wanted.clone());
        }
        let keys = self.processes.all_gather_values(wanted.keys())?;
        Ok(BucketSet::from_keys(keys.concat()))
    }

    /// The Topology of these Buckets, the same on all processes: the one in force, if it has just these.
    /// Collective.
    fn build(&self, all: BucketSet) -> Result<Arc<Topology>> {
        if all == *self.topology.all() {
            return Ok(self.topology.clone());
        }
        // Memory may be short on one process alone.
        let checked = self.check_tables(&self.label, all.len() as u128);
        self.processes.all_agree(checked)?;
        Ok(Arc::new(Topology::new(self.frame, all, &self.partition, self.processes.rank())))
    }

    /// Refuses Buckets whose tables would pass the memory budget, or that slots cannot number.
    fn check_tables(&self, what: &str, buckets: u128) -> Result<()> {
        let bytes = u64::try_from(buckets * 160).unwrap_or(u64::MAX);
        self.budget.check(&format!("{buckets} Buckets of {what}"), bytes)?;
        if buckets >= u128::from(u32::MAX) {
            return Err(CoreError::BadIndex {
                what: format!("the number of Buckets of {what}"),
                index: u64::try_from(buckets).unwrap_or(u64::MAX),
                count: u64::from(u32::MAX),
            });
        }
        Ok(())
    }
}
