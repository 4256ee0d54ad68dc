//! The Discrete Volume itself: channels that follow the Buckets of a Topology.

use super::column::{Chunks, ErasedVoxels, Relayout, VoxelColumn, Voxels, bytes_of_pages};
use super::shape::VoxelShape;
use crate::channel::{ChannelInfo, ChannelMut, ChannelRef, ChannelSet, ChannelSpec, Handle};
use crate::domain::{GridDomain, NONE, Slot, SlotMap, Topology};
use crate::element::Element;
use crate::error::{CoreError, Result};
use crate::memory::{MemoryReport, Reservation};
use crate::migrate;
use std::sync::Arc;

/// At most one in so many chunks lies idle.
const IDLE: usize = 128;

/// Voxels in channels, on some of the Buckets of a Grid Domain.
#[derive(Debug)]
pub struct DiscreteVolume {
    topology: Arc<Topology>,
    chunks: Arc<Chunks>,
    channels: ChannelSet<Voxels>,
    reservation: Reservation,
}

impl DiscreteVolume {
    /// A volume without channels on the Buckets that the Domain has now. It keeps to them until it is told to
    /// [`follow`](Self::follow) others.
    pub fn new(label: impl Into<String>, domain: &GridDomain) -> Self {
        Self::on(label, domain, domain.topology().clone())
    }

    /// A volume without channels on some Buckets of the Domain: see [`GridDomain::subset`].
    pub fn on(label: impl Into<String>, domain: &GridDomain, topology: Arc<Topology>) -> Self {
        let chunks = Arc::new(Chunks::in_order_of_visits(&topology));
        Self {
            topology,
            chunks,
            channels: ChannelSet::new(label),
            reservation: domain.budget().reserve_nothing(),
        }
    }

    /// How messages call the volume.
    pub fn label(&self) -> &str {
        self.channels.label()
    }

    /// The Buckets that the volume covers.
    pub fn topology(&self) -> &Arc<Topology> {
        &self.topology
    }

    /// The volume's channels.
    pub fn channels(&self) -> &ChannelSet<Voxels> {
        &self.channels
    }

    /// Adds a channel; the spec's default is its background, and the value of all its voxels. On several
    /// processes, all add the same channels in the same order.
    pub fn add_channel<T: Element>(
        &mut self,
        spec: &ChannelSpec<T>,
        shape: VoxelShape,
    ) -> Result<Handle<T>> {
        self.add_chunked(spec, shape, shape.resolution.voxels())
    }

    /// Adds a channel with any number of elements in a chunk.
    pub(super) fn add_chunked<T: Element>(
        &mut self,
        spec: &ChannelSpec<T>,
        shape: VoxelShape,
        chunk_len: usize,
    ) -> Result<Handle<T>> {
        self.channels.check_new(spec)?;
        let bytes = bytes_of_pages(self.chunks.count as usize, chunk_len * size_of::<T>());
        let what = format!("channel `{}` of {}", spec.info.name, self.label());
        self.reservation.resize(&what, self.reservation.bytes() + bytes)?;
        let column = VoxelColumn::new(shape, chunk_len, spec.default, self.chunks.clone());
        self.channels.add(spec, column)
    }

    /// Removes a channel, on all processes alike; its handles are stale from now on.
    pub fn remove_channel(&mut self, name: &str) -> Result<()> {
        self.channels.remove(name)?;
        self.account()
    }

    /// The handle of a channel by name.
    pub fn handle<T: Element>(&self, name: &str) -> Result<Handle<T>> {
        self.channels.handle(name)
    }

    /// A channel's column, claimed for reading outside of a kernel.
    pub fn column<T: Element>(&self, handle: Handle<T>) -> Result<ChannelRef<'_, Voxels, T>> {
        self.channels.read(handle, "a reader outside of kernels")
    }

    /// A channel's column, claimed for writing outside of a kernel. Copies on other processes become stale.
    ///
    /// Call it on all processes alike, though only some may have something to write: each keeps for itself
    /// whether its copies are fresh, and one that alone thinks otherwise would wait for a refresh for ever.
    pub fn column_mut<T: Element>(&self, handle: Handle<T>) -> Result<ChannelMut<'_, Voxels, T>> {
        self.channels.write(handle, "a writer outside of kernels")
    }

    /// Exchanges what two channels hold, at no cost: the end of a pass that reads one and writes the other. They
    /// must agree in shape and background. Call it on all processes alike.
    pub fn swap<T: Element>(&mut self, one: Handle<T>, other: Handle<T>) -> Result<()> {
        let [a, b] = [one, other].map(|handle| {
            let column = self.channels.read(handle, "a swap of channels")?;
            Ok((column.shape(), bytemuck::bytes_of(&column.background()).to_vec()))
        });
        if a? != b? {
            return Err(CoreError::BadValue {
                what: format!("two channels of {} that are to be swapped", self.label()),
                found: "of another shape or background".into(),
                wanted: "alike in both",
            });
        }
        self.channels.swap(one, other)
    }

    /// Every column with its description, for work that does not care for types. Makes all copies
    /// stale, and so is called on all processes alike, as [`Self::column_mut`] is.
    pub fn columns_mut(
        &mut self,
    ) -> impl Iterator<Item = (&ChannelInfo, &mut (dyn ErasedVoxels + 'static))> {
        self.channels.columns_mut()
    }

    /// Covers the Buckets of another Topology on the same lattice: voxels of Buckets that stay keep
    /// their values, new ones hold the background. Copies of other processes' Buckets become stale: call it
    /// on all processes alike.
    ///
    /// Refuses a Topology in which Buckets of the volume have changed their owner: see [`Self::migrate`].
    pub fn follow(&mut self, topology: &Arc<Topology>) -> Result<()> {
        // A Bucket on this process before or after, and elsewhere at the other time.
        let moved = |one: &Topology, other: &Topology| {
            let here = |bucket| other.slot(bucket).is_some_and(|slot| slot < other.local() as Slot);
            let mut own = one.buckets()[..one.local()].iter().copied();
            own.find(|&bucket| !here(bucket) && other.all().contains(bucket))
        };
        let (old, new) = (&*self.topology, &**topology);
        let distributed = old.local() < old.all().len() || new.local() < new.all().len();
        if distributed && let Some(bucket) = moved(old, new).or_else(|| moved(new, old)) {
            return Err(CoreError::BadValue {
                what: format!("the owner of {bucket:?} of {}", self.label()),
                found: "another process in the Topology that it is to follow".into(),
                wanted: "the same; let the store migrate first",
            });
        }
        self.cover(topology)
    }

    /// The same, whoever owned the Buckets before.
    fn cover(&mut self, topology: &Arc<Topology>) -> Result<()> {
        if topology.id() == self.topology.id() {
            return Ok(());
        }
        self.check_lattice(topology)?;
        let change = self.plan(topology);
        self.take_on(topology, change)
    }

    /// Starts anew on the Buckets of a Topology on the same lattice, every voxel at its background: what a checkpoint is then
    /// read into. Channels and handles stay. If the voxels do not fit into the memory budget, nothing changes. Call it on all
    /// processes alike.
    pub fn reset(&mut self, topology: &Arc<Topology>) -> Result<()> {
        self.check_lattice(topology)?;
        let chunks = Arc::new(Chunks::in_order_of_visits(topology));
        let fresh = (0..chunks.count).collect();
        self.take_on(topology, Relayout { chunks, fresh, moves: Vec::new() })
    }

    fn check_lattice(&self, topology: &Topology) -> Result<()> {
        if topology.frame() == self.topology.frame() {
            return Ok(());
        }
        Err(CoreError::BadValue {
            what: format!("the Topology that {} is to follow", self.label()),
            found: "on another lattice".into(),
            wanted: "one of its own Grid Domain",
        })
    }

    /// Lays all channels out for another Topology, if memory allows.
    fn take_on(&mut self, topology: &Arc<Topology>, change: Relayout) -> Result<()> {
        let mut bytes = 0;
        for (_, column) in self.channels.columns_mut() {
            bytes += bytes_of_pages(change.chunks.count as usize, column.chunk_bytes());
        }
        self.reservation.resize(self.channels.label(), bytes)?;
        for (_, column) in self.channels.columns_mut() {
            column.relayout(&change);
        }
        self.topology = topology.clone();
        self.chunks = change.chunks;
        Ok(())
    }

    /// Follows the owners of a Domain that was repartitioned: Buckets move with all their voxels.
    /// Collective.
    pub fn migrate(&mut self, domain: &GridDomain) -> Result<()> {
        let old = self.topology.clone();
        let new = domain.subset(old.all())?;
        let columns: Vec<_> = self.channels.columns_mut().map(|(_, column)| column).collect();
        let count = columns.len();
        let outgoing =
            migrate::pack(domain, &old, count, |column, slot| columns[column].read_chunk(slot));
        let arrived = domain.processes().exchange(outgoing)?;
        self.cover(&new)?;
        let mut columns: Vec<_> = self.channels.columns_mut().map(|(_, column)| column).collect();
        migrate::unpack(&arrived, &new, count, |column, slot, bytes| {
            columns[column].chunk_bytes_mut(slot).copy_from_slice(bytes);
        })
    }

    /// Which chunk each slot of `topology` gets.
    fn plan(&self, topology: &Topology) -> Relayout {
        let from_old = SlotMap::between(topology, &self.topology);
        let stored = topology.stored();
        let mut of = vec![NONE; stored];
        let mut kept = vec![false; self.chunks.count as usize];
        for (slot, chunk) in of.iter_mut().enumerate() {
            let old = from_old.get(slot as u32);
            if old != NONE {
                *chunk = self.chunks.of[old as usize];
                kept[*chunk as usize] = true;
            }
        }

        // New Buckets, in the order in which they are visited, take the lowest free chunks, then new ones
        // at the end.
        let mut free: Vec<u32> =
            (0..self.chunks.count).filter(|&chunk| !kept[chunk as usize]).rev().collect();
        let mut count = self.chunks.count;
        let mut fresh = Vec::new();
        let copies = topology.local() as Slot..stored as Slot;
        for slot in topology.visits().iter().copied().chain(copies) {
            let chunk = &mut of[slot as usize];
            if *chunk == NONE {
                *chunk = free.pop().unwrap_or_else(|| {
                    count += 1;
                    count - 1
                });
                fresh.push(*chunk);
            }
        }

        // When too many would lie idle, chunks at the end move into the gaps. Fresh ones are never
        // among them: they took the lowest free chunks, so that every gap lies behind them.
        let mut moves = Vec::new();
        if free.len() * IDLE > count as usize {
            let used = stored as u32;
            let mut gaps = free.into_iter().rev().filter(|&chunk| chunk < used);
            for chunk in of.iter_mut().filter(|chunk| **chunk >= used) {
                if let Some(gap) = gaps.next() {
                    moves.push((*chunk, gap));
                    *chunk = gap;
                }
            }
            count = used;
        }
        Relayout { chunks: Arc::new(Chunks { of, count }), fresh, moves }
    }

    /// Bytes of voxels, and what is spent beyond them; the Topology's tables are the Domain's.
    pub fn memory(&self) -> Result<MemoryReport> {
        let mut report = MemoryReport::default();
        self.channels.each_column("memory report", |_, column| {
            let used = column.used_bytes() as u64;
            report += MemoryReport { raw: used, overhead: column.allocated_bytes() as u64 - used };
        })?;
        report.overhead += (self.chunks.of.capacity() * size_of::<u32>()) as u64;
        Ok(report)
    }

    /// Sets the reservation to what is allocated.
    fn account(&mut self) -> Result<()> {
        let chunks = self.chunks.count as usize;
        let bytes: u64 = self
            .channels
            .columns_mut()
            .map(|(_, column)| bytes_of_pages(chunks, column.chunk_bytes()))
            .sum();
        self.reservation.resize(self.channels.label(), bytes)
    }
}
