//! The Particle System in spatial order.

use super::batch::Batch;
use super::column::{ErasedParticles, ParticleColumn, Particles};
use super::shared::{self, check_removable};
use crate::channel::{
    ChannelInfo, ChannelMut, ChannelRef, ChannelSet, ChannelSpec, Combine, ErasedFlat, Handle,
};
use crate::domain::{Bucket, BucketSet, GridDomain, NONE, SlotMap, Topology};
use crate::element::Element;
use crate::error::{CoreError, Result};
use crate::memory::{MemoryReport, Reservation};
use glam::{DVec3, Vec3};
use std::sync::{Arc, OnceLock};

/// Particles in channels, stored by Bucket of the finest level.
///
/// Two channels are always there: `position`, the offset [m] from the Bucket's corner, and `id`, unique
/// and stable, also across processes.
#[derive(Debug)]
pub struct ParticleSystem {
    pub(super) topology: Arc<Topology>,
    pub(super) channels: ChannelSet<Particles>,
    pub(super) position: Handle<Vec3>,
    pub(super) id: Handle<u64>,
    /// How many particles this process owns.
    len: usize,
    /// The same on every process.
    pub(super) next_id: u64,
    /// How many particles our copies of foreign Buckets have; forgotten when particles move.
    pub(crate) halo_counts: OnceLock<Vec<usize>>,
    pub(super) reservation: Reservation,
}

impl ParticleSystem {
    /// The name of the channel with offsets from the Bucket's corner.
    pub const POSITION: &'static str = shared::POSITION;
    /// The name of the channel with ids.
    pub const ID: &'static str = shared::ID;

    /// A system without particles. Collective.
    pub fn new(label: impl Into<String>, domain: &GridDomain) -> Result<Self> {
        let topology = domain.subset(&BucketSet::new())?;
        let mut channels = ChannelSet::new(label);
        let position =
            ChannelSpec::new(Self::POSITION, Vec3::ZERO).unit("m").combine(Combine::Mean);
        let position =
            channels.add(&position, ParticleColumn::new(Vec3::ZERO, std::iter::empty()))?;
        let id = channels
            .add(&ChannelSpec::new(Self::ID, 0_u64), ParticleColumn::new(0, std::iter::empty()))?;
        let reservation = domain.budget().reserve_nothing();
        Ok(Self {
            topology,
            channels,
            position,
            id,
            len: 0,
            next_id: 0,
            halo_counts: OnceLock::new(),
            reservation,
        })
    }

    /// How messages call the system.
    pub fn label(&self) -> &str {
        self.channels.label()
    }

    /// The Buckets that may hold particles: every particle's is among them.
    pub fn topology(&self) -> &Arc<Topology> {
        &self.topology
    }

    /// The system's channels.
    pub fn channels(&self) -> &ChannelSet<Particles> {
        &self.channels
    }

    /// Offsets [m] from the Bucket's corner.
    pub fn position(&self) -> Handle<Vec3> {
        self.position
    }

    /// Ids.
    pub fn id(&self) -> Handle<u64> {
        self.id
    }

    /// How many particles this process owns.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether this process owns no particle.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The id that the next new particle gets, the same on every process.
    pub fn next_id(&self) -> u64 {
        self.next_id
    }

    /// Starts anew on these Buckets of the finest level, with this many particles in each local one, by slot, and all
    /// channels at their defaults: what a checkpoint is then read into. Channels and handles stay. If the particles do not fit
    /// into the memory budget, nothing changes. Call it on all processes alike.
    pub fn reset(&mut self, topology: &Arc<Topology>, counts: &[u32], next_id: u64) -> Result<()> {
        let refuse = |what: String, found: &str, wanted: &'static str| {
            Err(CoreError::BadValue { what, found: found.to_owned(), wanted })
        };
        if topology.frame() != self.topology.frame() {
            let what = format!("the Topology that {} is to start anew on", self.label());
            return refuse(what, "on another lattice", "one of its own Grid Domain");
        }
        if topology.level(0).len() != topology.local() {
            let what = format!("the Topology that {} is to start anew on", self.label());
            return refuse(what, "of several levels", "of the finest level alone");
        }
        if counts.len() != topology.local() {
            return Err(CoreError::WrongLength {
                what: format!("the numbers of particles of {}, by local slot,", self.label()),
                found: counts.len(),
                wanted: topology.local(),
            });
        }
        let particles: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        let channels = self.channels.infos().count();
        let tables = (topology.stored() * channels * size_of::<Vec<u64>>()) as u64;
        let wanted = particles.saturating_mul(self.particle_bytes() as u64).saturating_add(tables);
        let more = wanted.saturating_sub(self.reservation.bytes());
        self.reservation.check(&format!("{particles} particles of {}", self.label()), more)?;

        let mut by_slot = counts.to_vec();
        by_slot.resize(topology.stored(), 0);
        for (_, column) in self.channels.columns_mut() {
            column.reset(&by_slot);
        }
        self.topology = topology.clone();
        self.next_id = next_id;
        self.halo_counts = OnceLock::new();
        self.account()
    }

    /// Adds a channel, at its default for the particles that are there. On several processes, all add
    /// the same channels in the same order.
    pub fn add_channel<T: Element>(&mut self, spec: &ChannelSpec<T>) -> Result<Handle<T>> {
        self.channels.check_new(spec)?;
        let column = {
            let ids = self.channels.read(self.id, "adding a channel")?;
            let elements = ids.chunks.iter().map(Vec::len).sum::<usize>() * size_of::<T>();
            let chunks = ids.chunks.len() * size_of::<Vec<T>>();
            let what = format!("channel `{}` of {}", spec.info.name, self.label());
            self.reservation.check(&what, (elements + chunks) as u64)?;
            ParticleColumn::new(spec.default, ids.chunks.iter().map(Vec::len))
        };
        let handle = self.channels.add(spec, column)?;
        self.account()?;
        Ok(handle)
    }

    /// Removes a channel, on all processes alike; its handles are stale from now on. `position` and `id`
    /// stay.
    pub fn remove_channel(&mut self, name: &str) -> Result<()> {
        check_removable(self.label(), name)?;
        self.channels.remove(name)?;
        self.account()
    }

    /// The handle of a channel by name.
    pub fn handle<T: Element>(&self, name: &str) -> Result<Handle<T>> {
        self.channels.handle(name)
    }

    /// A channel's column, claimed for reading outside of a kernel.
    pub fn column<T: Element>(&self, handle: Handle<T>) -> Result<ChannelRef<'_, Particles, T>> {
        self.channels.read(handle, "a reader outside of kernels")
    }

    /// A channel's column, claimed for writing outside of a kernel. Copies on other processes become stale.
    ///
    /// Call it on all processes alike, though only some may have something to write: each keeps for itself
    /// whether its copies are fresh, and one that alone thinks otherwise would wait for a refresh for ever.
    pub fn column_mut<T: Element>(
        &self,
        handle: Handle<T>,
    ) -> Result<ChannelMut<'_, Particles, T>> {
        self.channels.write(handle, "a writer outside of kernels")
    }

    /// Every column with its description, for work that does not care for types. Makes all copies
    /// stale, and so is called on all processes alike, as [`Self::column_mut`] is. Chunks must keep their
    /// lengths: channels belong together, particle by particle.
    pub fn columns_mut(
        &mut self,
    ) -> impl Iterator<Item = (&ChannelInfo, &mut (dyn ErasedParticles + 'static))> {
        self.channels.columns_mut()
    }

    /// The world positions [m] of this process's particles, Bucket after Bucket in the order of slots.
    pub fn world_positions(&self) -> Result<Vec<DVec3>> {
        let positions = self.channels.read(self.position, "world positions")?;
        let frame = self.topology.frame();
        let local = self.topology.buckets()[..self.topology.local()].iter().zip(&positions.chunks);
        Ok(local
            .flat_map(|(&bucket, chunk)| {
                chunk.iter().map(move |&offset| frame.world(bucket, offset))
            })
            .collect())
    }

    /// New particles at world positions [m], all channels at their defaults, to be appended.
    ///
    /// Refuses a position that is not finite or outside of the Domain's range.
    pub fn batch(&self, positions: &[DVec3]) -> Result<Batch> {
        let frame = self.topology.frame();
        let what = |n: usize| format!("new particle {n} of {}", self.label());
        let places = frame.locate_all(positions, 0, what, |bucket, offset| (bucket, offset))?;
        let mut batch = self.empty_batch(places.len())?;
        batch.buckets = places.iter().map(|place| place.0).collect();
        for (offset, place) in batch.offsets_mut().iter_mut().zip(&places) {
            *offset = place.1;
        }
        Ok(batch)
    }

    /// New particles by their Buckets of the finest level and offsets [m] from their corners, to the last bit; all channels at
    /// their defaults. An offset may leave its Bucket: the particle then finds its way when it is appended.
    pub fn batch_in(&self, buckets: Vec<Bucket>, offsets: &[Vec3]) -> Result<Batch> {
        let what = || format!("new particles of {}", self.label());
        if buckets.len() != offsets.len() {
            let (found, wanted) = (offsets.len(), buckets.len());
            return Err(CoreError::WrongLength {
                what: format!("the offsets of {}", what()),
                found,
                wanted,
            });
        }
        for bucket in &buckets {
            if bucket.level != 0 {
                return Err(CoreError::NoSuchLevel { found: bucket.level, max: 0 });
            }
            if !bucket.is_in_range() {
                bucket.check(&what())?;
            }
        }
        let mut batch = self.empty_batch(buckets.len())?;
        batch.offsets_mut().copy_from_slice(offsets);
        batch.buckets = buckets;
        Ok(batch)
    }

    /// A batch of `len` particles in no Bucket yet.
    pub(super) fn empty_batch(&self, len: usize) -> Result<Batch> {
        let mut columns: Vec<Box<dyn ErasedFlat>> = Vec::new();
        self.channels.each_column("batch", |_, column| columns.push(column.flat(len)))?;
        Ok(Batch {
            store: self.channels.id(),
            label: self.label().to_owned(),
            buckets: vec![Bucket::new(0, 0, 0); len],
            parents: Vec::new(),
            columns,
            names: self.channels.infos().map(|info| info.name.clone()).collect(),
            position: self.channels.ordinal(self.position)?,
        })
    }

    /// Lays the chunks out for another Topology. Every particle's Bucket must be in it.
    pub(super) fn relayout(&mut self, topology: &Arc<Topology>) {
        if topology.id() == self.topology.id() {
            return;
        }
        let from = SlotMap::between(topology, &self.topology);
        let from = without_copies(from, topology, &self.topology);
        for (_, column) in self.channels.columns_mut() {
            column.relayout(&from, topology.stored());
        }
        self.topology = topology.clone();
        self.halo_counts = OnceLock::new();
    }

    /// Bytes of the particles, and what is spent beyond them, tables of the Topology included.
    pub fn memory(&self) -> Result<MemoryReport> {
        let mut report = self.topology.memory();
        self.channels.each_column("memory report", |_, column| {
            let used = column.used_bytes() as u64;
            report += MemoryReport { raw: used, overhead: column.allocated_bytes() as u64 - used };
        })?;
        Ok(report)
    }

    /// Counts the particles, and sets the reservation to what is allocated.
    pub(super) fn account(&mut self) -> Result<()> {
        let local = self.topology.local();
        let ids = self.channels.get_mut(self.id)?;
        self.len = ids.chunks[..local].iter().map(Vec::len).sum();
        let bytes: usize =
            self.channels.columns_mut().map(|(_, column)| column.allocated_bytes()).sum();
        self.reservation.settle(bytes as u64);
        Ok(())
    }
}

/// The same map without chunks that are only copies on either side.
fn without_copies(map: SlotMap, new: &Topology, old: &Topology) -> SlotMap {
    let owned = |slot: u32| match map.get(slot) {
        at if (slot as usize) < new.local() && at != NONE && (at as usize) < old.local() => at,
        _ => NONE,
    };
    SlotMap::Table((0..new.stored() as u32).map(owned).collect())
}
