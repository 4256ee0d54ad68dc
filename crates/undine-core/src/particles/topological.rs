//! The Particle System in topological order: the order of a mesh, strand after strand, for solids.
//!
//! Positions are `f64` world positions, because a stiff solid feels the rounding of `f32`. A table from
//! Buckets to indices, rebuilt when positions have changed, answers spatial questions. Whoever owns a
//! body owns all its particles, wherever they are; of other processes' particles nearby, copies called
//! ghosts stand behind the own ones, so that contacts across processes are seen from both sides.

use super::shared::{self, check_removable, new_ids};
use crate::channel::{ChannelInfo, ChannelMut, ChannelRef, ChannelSet, ChannelSpec};
use crate::channel::{ErasedFlat, Flat, FlatColumn, Handle};
use crate::domain::{
    Bucket, BucketKey, BucketSet, Frame, GridDomain, NONE, Partition, Slot, Topology,
};
use crate::element::Element;
use crate::error::{CoreError, Result};
use crate::memory::{MemoryReport, Reservation};
use crate::process::{Parcel, Processes};
use glam::DVec3;
use rayon::prelude::*;
use std::ops::Range;

/// Particles in channels, in the order of a mesh.
///
/// Two channels are always there: `position`, in the world [m], and `id`, unique and stable, also
/// across processes.
#[derive(Debug)]
pub struct TopologicalParticles {
    channels: ChannelSet<Flat>,
    position: Handle<DVec3>,
    id: Handle<u64>,
    /// Own particles; ghosts stand behind them.
    len: usize,
    /// The same on every process.
    next_id: u64,
    frame: Frame,
    table: BucketTable,
    ghosts: Ghosts,
    reservation: Reservation,
}

/// Which particles, ghosts included, lie in which Bucket.
#[derive(Debug)]
pub struct BucketTable {
    /// The occupied Buckets; all of them are local, whoever owns them in the Domain.
    topology: Topology,
    /// Where each slot's particles begin in `indices`, and one end more.
    starts: Vec<u32>,
    indices: Vec<u32>,
}

/// Who sends which particles to whom.
#[derive(Debug, Default)]
struct Ghosts {
    sends: Vec<(usize, Vec<u32>)>,
    receives: Vec<(usize, usize)>,
    count: usize,
}

impl BucketTable {
    /// The table for particles in these Buckets, by index.
    fn new(frame: Frame, buckets: &[Bucket]) -> Self {
        // Neighbours along a mesh mostly share a Bucket, which is looked up once for all of a run.
        let mut first = 0;
        let runs: Vec<(Bucket, Range<u32>)> = buckets
            .chunk_by(|one, other| one == other)
            .map(|run| {
                let begin = first;
                first += run.len() as u32;
                (run[0], begin..first)
            })
            .collect();
        let keys: Vec<BucketKey> = runs.par_iter().map(|(bucket, _)| bucket.key()).collect();
        let topology =
            Topology::new(frame, BucketSet::from_keys(keys), &Partition::whole(frame), 0);
        let slots: Vec<Slot> =
            runs.par_iter().map(|(bucket, _)| topology.slot(*bucket).unwrap_or(NONE)).collect();
        let mut starts = vec![0_u32; topology.local() + 1];
        for (&slot, (_, run)) in slots.iter().zip(&runs) {
            starts[slot as usize + 1] += run.len() as u32;
        }
        for slot in 0..topology.local() {
            starts[slot + 1] += starts[slot];
        }
        let mut next = starts.clone();
        let mut indices = vec![0; buckets.len()];
        for (&slot, (_, run)) in slots.iter().zip(&runs) {
            let at = &mut next[slot as usize];
            let here = &mut indices[*at as usize..][..run.len()];
            here.iter_mut().zip(run.clone()).for_each(|(place, index)| *place = index);
            *at += run.len() as u32;
        }
        Self { topology, starts, indices }
    }

    /// The occupied Buckets.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The particles in a slot of [`Self::topology`], ascending; none for [`NONE`].
    pub fn indices(&self, slot: Slot) -> &[u32] {
        if slot == NONE {
            return &[];
        }
        &self.indices[self.starts[slot as usize] as usize..self.starts[slot as usize + 1] as usize]
    }

    /// The particles in a Bucket, ascending.
    pub fn in_bucket(&self, bucket: Bucket) -> &[u32] {
        self.indices(self.topology.slot(bucket).unwrap_or(NONE))
    }

    /// The particles in the 27 Buckets around a slot, Bucket after Bucket.
    pub fn around(&self, slot: Slot) -> impl Iterator<Item = u32> + '_ {
        self.topology.neighbours(slot).iter().flat_map(|&near| self.indices(near)).copied()
    }
}

impl TopologicalParticles {
    /// The name of the channel with world positions.
    pub const POSITION: &'static str = shared::POSITION;
    /// The name of the channel with ids.
    pub const ID: &'static str = shared::ID;

    /// A system without particles.
    pub fn new(label: impl Into<String>, domain: &GridDomain) -> Result<Self> {
        let mut channels = ChannelSet::new(label);
        let position = ChannelSpec::new(Self::POSITION, DVec3::ZERO).unit("m");
        let position = channels.add(&position, FlatColumn::new(&position, 0))?;
        let id = ChannelSpec::new(Self::ID, 0_u64);
        let id = channels.add(&id, FlatColumn::new(&id, 0))?;
        Ok(Self {
            channels,
            position,
            id,
            len: 0,
            next_id: 0,
            frame: *domain.frame(),
            table: BucketTable::new(*domain.frame(), &[]),
            ghosts: Ghosts::default(),
            reservation: domain.budget().reserve_nothing(),
        })
    }

    /// How messages call the system.
    pub fn label(&self) -> &str {
        self.channels.label()
    }

    /// The system's channels; behind the own particles they hold the ghosts.
    pub fn channels(&self) -> &ChannelSet<Flat> {
        &self.channels
    }

    /// World positions [m].
    pub fn position(&self) -> Handle<DVec3> {
        self.position
    }

    /// Ids.
    pub fn id(&self) -> Handle<u64> {
        self.id
    }

    /// How many particles this process owns; ghosts have the indices behind.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether this process owns no particle.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The indices of the ghosts.
    pub fn ghosts(&self) -> Range<usize> {
        self.len..self.len + self.ghosts.count
    }

    /// The id that the next new particle gets, the same on every process.
    pub fn next_id(&self) -> u64 {
        self.next_id
    }

    /// Starts anew with this many particles, all channels at their defaults: what a checkpoint is then read into. Channels
    /// and handles stay; ghosts and the table are gone until the next [`Self::locate`]. If the particles do not fit into the
    /// memory budget, nothing changes. Call it on all processes alike.
    pub fn reset(&mut self, len: usize, next_id: u64) -> Result<()> {
        if u32::try_from(len).is_err() {
            return Err(CoreError::BadIndex {
                what: format!("the number of particles of {}", self.label()),
                index: len as u64,
                count: u64::from(u32::MAX),
            });
        }
        let per_particle: usize = self.channels.infos().map(|info| info.element.bytes()).sum();
        let more = ((len * per_particle) as u64).saturating_sub(self.reservation.bytes());
        self.reservation.check(&format!("{len} particles of {}", self.label()), more)?;
        self.len = 0;
        self.forget_places();
        self.resize(len);
        self.len = len;
        self.next_id = next_id;
        self.account();
        Ok(())
    }

    /// Every column with its description, for work that does not care for types: own particles, then ghosts. Columns must
    /// keep their lengths: channels belong together, particle by particle.
    pub fn columns_mut(
        &mut self,
    ) -> impl Iterator<Item = (&ChannelInfo, &mut (dyn ErasedFlat + 'static))> {
        self.channels.columns_mut()
    }

    /// Adds a channel, at its default for the particles that are there.
    pub fn add_channel<T: Element>(&mut self, spec: &ChannelSpec<T>) -> Result<Handle<T>> {
        self.channels.check_new(spec)?;
        let what = format!("channel `{}` of {}", spec.info.name, self.label());
        let column = FlatColumn::new(spec, 0);
        let bytes = (self.len + self.ghosts.count) * size_of::<T>();
        self.reservation.resize(&what, self.reservation.bytes() + bytes as u64)?;
        let handle = self.channels.add(spec, column)?;
        let count = self.len + self.ghosts.count;
        self.channels.get_mut(handle)?.resize(count);
        Ok(handle)
    }

    /// Removes a channel; its handles are stale from now on. `position` and `id` stay.
    pub fn remove_channel(&mut self, name: &str) -> Result<()> {
        check_removable(self.label(), name)?;
        self.channels.remove(name)?;
        self.account();
        Ok(())
    }

    /// The handle of a channel by name.
    pub fn handle<T: Element>(&self, name: &str) -> Result<Handle<T>> {
        self.channels.handle(name)
    }

    /// A channel, claimed for reading: own particles, then ghosts.
    pub fn column<T: Element>(&self, handle: Handle<T>) -> Result<ChannelRef<'_, Flat, T>> {
        self.channels.read(handle, "a reader outside of kernels")
    }

    /// A channel, claimed for writing. What is written to ghosts is lost when they are refreshed.
    pub fn column_mut<T: Element>(&self, handle: Handle<T>) -> Result<ChannelMut<'_, Flat, T>> {
        self.channels.write(handle, "a writer outside of kernels")
    }

    /// Adds particles behind those that are there, other channels at their defaults. They get the next
    /// free ids, in order of rank and then of `positions`. Collective. Returns their ids.
    pub fn append(&mut self, domain: &GridDomain, positions: &[DVec3]) -> Result<Range<u64>> {
        let per_particle: usize = self.channels.infos().map(|info| info.element.bytes()).sum();
        let what = format!("{} new particles of {}", positions.len(), self.label());
        let checked = self
            .buckets_of("new particle", positions)
            .and_then(|_| self.reservation.check(&what, (positions.len() * per_particle) as u64));
        domain.processes().all_agree(checked)?;
        let (ids, next_id) = new_ids(&**domain.processes(), self.next_id, positions.len())?;
        self.next_id = next_id;

        self.forget_places();
        let old = self.len;
        self.resize(old + positions.len());
        self.len += positions.len();
        self.channels.get_mut(self.position)?[old..].copy_from_slice(positions);
        let column = self.channels.get_mut(self.id)?;
        column[old..].iter_mut().zip(ids.clone()).for_each(|(id, next)| *id = next);
        self.account();
        Ok(ids)
    }

    /// Keeps the own particles at these indices, in this order, and drops the others. Ghosts and the table
    /// are gone until the next [`Self::locate`]. Call it on all processes alike.
    pub fn keep(&mut self, indices: &[u32]) -> Result<()> {
        if let Some(&index) = indices.iter().find(|&&index| index as usize >= self.len) {
            return Err(CoreError::BadIndex {
                what: format!("the index of a particle to keep of {}", self.label()),
                index: u64::from(index),
                count: self.len as u64,
            });
        }
        self.forget_places();
        for (_, column) in self.channels.columns_mut() {
            column.gather(indices);
        }
        self.len = indices.len();
        self.account();
        Ok(())
    }

    /// Finds out which particles lie in which Bucket; in a distributed run, ghosts of the particles
    /// that lie in Buckets next to ours come along, with all channels. Collective.
    ///
    /// A position that is NaN, infinite or out of range is an error that names the particle; then
    /// nothing changes.
    pub fn locate(&mut self, domain: &GridDomain) -> Result<()> {
        let positions = self.channels.read(self.position, "locate")?;
        let buckets = self.buckets_of("particle", &positions[..self.len]);
        drop(positions);
        let mut buckets = domain.processes().all_agree(buckets)?;
        self.forget_places();
        if domain.processes().count() > 1 {
            self.ghosts = Ghosts::plan(&**domain.processes(), &buckets)?;
            self.resize(self.len + self.ghosts.count);
            self.refresh_all(domain)?;
            let positions = self.channels.read(self.position, "locate")?;
            let ghosts = self.buckets_of("ghost", &positions[self.len..])?;
            drop(positions);
            buckets.extend(ghosts);
        }
        self.table = BucketTable::new(self.frame, &buckets);
        self.account();
        Ok(())
    }

    /// Which particles, ghosts included, lay in which Bucket at the last [`Self::locate`].
    pub fn table(&self) -> &BucketTable {
        &self.table
    }

    /// Fetches the ghosts' values of a channel again, after their owners changed them. Collective.
    pub fn refresh<T: Element>(&mut self, domain: &GridDomain, handle: Handle<T>) -> Result<()> {
        let len = self.len;
        let ghosts = &self.ghosts;
        let column = self.channels.get_mut(handle)?;
        ghosts.refresh(&**domain.processes(), len, column)
    }

    /// Gives particles to other processes: for each own particle the process that owns it from now on.
    /// Bodies go whole if all their particles name the same process. Everyone then has its particles
    /// in order of id, which is the order in which they were appended. Collective.
    pub fn hand_over(&mut self, domain: &GridDomain, owners: &[usize]) -> Result<()> {
        let processes = &**domain.processes();
        let checked = check_owners(self.label(), owners, self.len, processes.count());
        processes.all_agree(checked)?;
        self.forget_places();

        // Channel by channel, what goes to each process.
        let mut leaving: Vec<Vec<u32>> = vec![Vec::new(); processes.count()];
        let mut staying = Vec::new();
        for (index, &owner) in owners.iter().enumerate() {
            let list = if owner == processes.rank() { &mut staying } else { &mut leaving[owner] };
            list.push(index as u32);
        }
        let mut parcels: Vec<Parcel> = leaving
            .iter()
            .enumerate()
            .filter(|(_, list)| !list.is_empty())
            .map(|(process, list)| Parcel {
                process,
                bytes: (list.len() as u64).to_le_bytes().to_vec(),
            })
            .collect();
        for (_, column) in self.channels.columns_mut() {
            for parcel in &mut parcels {
                append_elements(&mut parcel.bytes, column, &leaving[parcel.process]);
            }
            column.gather(&staying);
        }
        self.len = staying.len();

        for parcel in processes.exchange(parcels)? {
            let broken = || CoreError::Communication {
                what: "particles that change their owner",
                why: "a parcel is shorter than it says".into(),
            };
            let (count, mut rest) = parcel.bytes.split_first_chunk::<8>().ok_or_else(broken)?;
            let count = u64::from_le_bytes(*count) as usize;
            let first = self.len;
            for (_, column) in self.channels.columns_mut() {
                let bytes = count.checked_mul(column.element_type().bytes()).ok_or_else(broken)?;
                let values = rest.split_off(..bytes).ok_or_else(broken)?;
                column.resize(first + count);
                column.write_bytes(first, values)?;
            }
            self.len += count;
        }
        let ids = self.channels.get_mut(self.id)?;
        let mut order: Vec<u32> = (0..ids.len() as u32).collect();
        order.sort_by_key(|&index| ids[index as usize]);
        self.keep(&order)
    }

    /// Bytes of the particles, and what is spent beyond them: ghosts, the table of Buckets.
    pub fn memory(&self) -> Result<MemoryReport> {
        let mut report = self.table.topology.memory();
        report.overhead +=
            ((self.table.starts.capacity() + self.table.indices.capacity()) * 4) as u64;
        self.channels.each_column("memory report", |info, column| {
            let own = (self.len * info.element.bytes()) as u64;
            report += MemoryReport { raw: own, overhead: column.allocated_bytes() as u64 - own };
        })?;
        Ok(report)
    }

    /// The Buckets in which positions lie.
    fn buckets_of(&self, what: &str, positions: &[DVec3]) -> Result<Vec<Bucket>> {
        let what = |n: usize| format!("{what} {n} of {}", self.label());
        self.frame.locate_all(positions, 0, what, |bucket, _| bucket)
    }

    /// Drops ghosts and table: they belong to positions or indices that are about to change.
    fn forget_places(&mut self) {
        self.ghosts = Ghosts::default();
        self.resize(self.len);
        self.table = BucketTable::new(self.frame, &[]);
    }

    fn resize(&mut self, len: usize) {
        for (_, column) in self.channels.columns_mut() {
            column.resize(len);
        }
    }

    fn refresh_all(&mut self, domain: &GridDomain) -> Result<()> {
        let (len, ghosts) = (self.len, &self.ghosts);
        for (_, column) in self.channels.columns_mut() {
            ghosts.refresh(&**domain.processes(), len, column)?;
        }
        Ok(())
    }

    /// Notes what is allocated; whether it fits was asked before anything changed.
    fn account(&mut self) {
        let bytes: usize =
            self.channels.columns_mut().map(|(_, column)| column.allocated_bytes()).sum();
        self.reservation.settle(bytes as u64);
    }
}

impl Ghosts {
    /// Each process tells in which Buckets its particles are, and one more around; whoever has
    /// particles there sends them. Collective.
    fn plan(processes: &dyn Processes, buckets: &[Bucket]) -> Result<Self> {
        let mine = BucketSet::from_buckets(buckets.iter().copied())?.dilate(1);
        let mine = processes.all_agree(mine)?;
        let mut sends = Vec::new();
        for (process, keys) in processes.all_gather_values(mine.keys())?.into_iter().enumerate() {
            if process == processes.rank() {
                continue;
            }
            let theirs = BucketSet::from_keys(keys);
            let seen = |(_, bucket): &(usize, &Bucket)| theirs.contains(**bucket);
            let list: Vec<u32> =
                buckets.iter().enumerate().filter(seen).map(|(index, _)| index as u32).collect();
            sends.push((process, list));
        }
        let mut counts = vec![0; processes.count()];
        for (process, list) in &sends {
            counts[*process] = list.len() as u64;
        }
        let counts = processes.all_to_all(&counts)?;
        let receives: Vec<(usize, usize)> = counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .map(|(process, &count)| (process, count as usize))
            .collect();
        sends.retain(|(_, list)| !list.is_empty());
        let count = receives.iter().map(|(_, count)| count).sum();
        Ok(Self { sends, receives, count })
    }

    /// Fetches the values behind the first `len` of a column. Collective.
    fn refresh(
        &self,
        processes: &dyn Processes,
        len: usize,
        column: &mut dyn ErasedFlat,
    ) -> Result<()> {
        if processes.count() == 1 {
            return Ok(());
        }
        let size = column.element_type().bytes();
        let outgoing = self.sends.iter().map(|(process, list)| {
            let mut bytes = Vec::with_capacity(list.len() * size);
            append_elements(&mut bytes, column, list);
            Parcel { process: *process, bytes }
        });
        let outgoing: Vec<Parcel> = outgoing.collect();
        let incoming: Vec<_> =
            self.receives.iter().map(|&(process, count)| (process, count * size)).collect();
        let mut first = len;
        for parcel in processes.start(outgoing, &incoming)?.finish()? {
            column.write_bytes(first, &parcel.bytes)?;
            first += parcel.bytes.len() / size;
        }
        Ok(())
    }
}

/// Adds the bytes of single elements of a column.
fn append_elements(bytes: &mut Vec<u8>, column: &dyn ErasedFlat, indices: &[u32]) {
    let size = column.element_type().bytes();
    for &index in indices {
        bytes
            .extend_from_slice(&column.bytes()[index as usize * size..(index as usize + 1) * size]);
    }
}

/// Refuses a list of owners that is too short or names a process that does not exist.
fn check_owners(label: &str, owners: &[usize], len: usize, processes: usize) -> Result<()> {
    if owners.len() != len {
        return Err(CoreError::WrongLength {
            what: format!("the owners of the particles of {label}"),
            found: owners.len(),
            wanted: len,
        });
    }
    match owners.iter().find(|&&owner| owner >= processes) {
        None => Ok(()),
        Some(&owner) => Err(CoreError::BadIndex {
            what: format!("the owner of a particle of {label}"),
            index: owner as u64,
            count: processes as u64,
        }),
    }
}
