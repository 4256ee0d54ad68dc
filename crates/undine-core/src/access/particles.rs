//! Access to the channels of a Particle System in spatial order.

use super::claims::{Access, Viewed, slots_of};
use super::halo::Refresh;
use super::surroundings::Surroundings;
use crate::channel::{ChannelMut, ChannelRef, Handle};
use crate::domain::{NONE, Slot, SlotMap, Topology, direction};
use crate::element::Element;
use crate::error::Result;
use crate::particles::{ChunkBase, ErasedParticles, ParticleSystem, Particles};
use crate::process::{Parcel, Processes};

/// Reads the particles of the Bucket being visited.
pub struct ParticlesOwn<'a, T> {
    particles: &'a ParticleSystem,
    handle: Handle<T>,
}

/// Reads the particles of the Bucket being visited and of those around it.
pub struct ParticlesAround<'a, T> {
    particles: &'a ParticleSystem,
    handle: Handle<T>,
}

/// Writes the particles of the Bucket being visited.
pub struct ParticlesWrite<'a, T> {
    particles: &'a ParticleSystem,
    handle: Handle<T>,
}

impl ParticleSystem {
    /// Declares that a kernel reads this channel in the Bucket being visited.
    pub fn own<T: Element>(&self, handle: Handle<T>) -> ParticlesOwn<'_, T> {
        ParticlesOwn { particles: self, handle }
    }

    /// Declares that a kernel reads this channel in the Bucket being visited and in those around it.
    pub fn around<T: Element>(&self, handle: Handle<T>) -> ParticlesAround<'_, T> {
        ParticlesAround { particles: self, handle }
    }

    /// Declares that a kernel writes this channel in the Bucket being visited, and may read it there.
    pub fn write<T: Element>(&self, handle: Handle<T>) -> ParticlesWrite<'_, T> {
        ParticlesWrite { particles: self, handle }
    }
}

/// A channel claimed for reading, and where the slots visited are in it.
pub struct OwnClaim<'c, T> {
    column: ChannelRef<'c, Particles, T>,
    slots: SlotMap,
}

/// A channel claimed for reading, and which of its Buckets lie around the slots visited.
pub struct AroundClaim<'c, T> {
    column: ChannelRef<'c, Particles, T>,
    surroundings: Surroundings<'c>,
}

impl<T: Element> Viewed for ParticlesOwn<'_, T> {
    type View<'v> = &'v [T];
}

// SAFETY: views are read-only.
unsafe impl<T: Element> Access for ParticlesOwn<'_, T> {
    type Claim<'c>
        = OwnClaim<'c, T>
    where
        Self: 'c;

    fn refresh<'r>(&'r self, _: &dyn Processes, _: &mut Vec<Refresh<'r>>) -> Result<()> {
        Ok(())
    }

    fn claim<'c>(&'c self, task: &'static str, over: &Topology) -> Result<OwnClaim<'c, T>> {
        let particles = self.particles;
        let slots = slots_of(task, over, particles.topology(), particles.label(), false)?;
        Ok(OwnClaim { column: particles.channels().read(self.handle, task)?, slots })
    }

    unsafe fn view<'v, 'c: 'v>(claim: &'v OwnClaim<'c, T>, slot: Slot) -> &'v [T]
    where
        Self: 'c,
    {
        claim.column.chunk(claim.slots.get(slot))
    }
}

impl<T: Element> Viewed for ParticlesAround<'_, T> {
    type View<'v> = ParticleNeighbourhood<'v, T>;
}

// SAFETY: views are read-only.
unsafe impl<T: Element> Access for ParticlesAround<'_, T> {
    type Claim<'c>
        = AroundClaim<'c, T>
    where
        Self: 'c;

    fn refresh<'r>(
        &'r self,
        processes: &dyn Processes,
        under_way: &mut Vec<Refresh<'r>>,
    ) -> Result<()> {
        under_way.extend(refresh_particles(self.particles, self.handle, processes)?);
        Ok(())
    }

    fn claim<'c>(&'c self, task: &'static str, over: &Topology) -> Result<AroundClaim<'c, T>> {
        let particles = self.particles;
        let column = particles.channels().read(self.handle, task)?;
        let surroundings = Surroundings::new(task, over, particles.topology(), particles.label())?;
        Ok(AroundClaim { column, surroundings })
    }

    unsafe fn view<'v, 'c: 'v>(
        claim: &'v AroundClaim<'c, T>,
        slot: Slot,
    ) -> ParticleNeighbourhood<'v, T>
    where
        Self: 'c,
    {
        let slots = claim.surroundings.of(slot);
        ParticleNeighbourhood { chunks: slots.map(|slot| claim.column.chunk(slot)), slots }
    }
}

/// The particles of a Bucket and of those around it, to read.
#[derive(Clone, Copy)]
pub struct ParticleNeighbourhood<'v, T> {
    /// By direction, looked up once: a kernel may ask for many single particles.
    chunks: [&'v [T]; 27],
    slots: &'v [Slot; 27],
}

impl<'v, T: Element> ParticleNeighbourhood<'v, T> {
    /// The particles of the Bucket itself.
    #[inline]
    pub fn chunk(&self) -> &'v [T] {
        self.chunks[direction(0, 0, 0)]
    }

    /// The particles of the Bucket at an offset of −1, 0 or 1 per axis; none where it does not exist.
    #[inline]
    pub fn neighbour(&self, x: i32, y: i32, z: i32) -> &'v [T] {
        self.chunks[direction(x, y, z)]
    }

    /// The particles of the Bucket in a [`direction`]; none where it does not exist.
    #[inline]
    pub(crate) fn towards(&self, direction: usize) -> &'v [T] {
        self.chunks[direction]
    }

    /// The slot in the Particle System of the Bucket in a [`direction`], or [`NONE`].
    pub(crate) fn slot_towards(&self, direction: usize) -> Slot {
        self.slots[direction]
    }
}

/// A channel claimed for writing, and where the slots visited are in it.
pub struct WriteClaim<'c, T> {
    base: ChunkBase<T>,
    slots: SlotMap,
    /// Held, not used: whoever holds it alone may write through `base`.
    _column: ChannelMut<'c, Particles, T>,
}

impl<T: Element> Viewed for ParticlesWrite<'_, T> {
    type View<'v> = &'v mut [T];
}

// SAFETY: a view is the chunk of its own slot; chunks are distinct, the slot map is one to one, and
// the claim holds the channel's write lock.
unsafe impl<T: Element> Access for ParticlesWrite<'_, T> {
    type Claim<'c>
        = WriteClaim<'c, T>
    where
        Self: 'c;

    fn refresh<'r>(&'r self, _: &dyn Processes, _: &mut Vec<Refresh<'r>>) -> Result<()> {
        Ok(())
    }

    fn claim<'c>(&'c self, task: &'static str, over: &Topology) -> Result<WriteClaim<'c, T>> {
        // A Bucket without particles need not exist: there is nothing to write.
        let slots = slots_of(task, over, self.particles.topology(), self.particles.label(), false)?;
        let mut column = self.particles.channels().write(self.handle, task)?;
        Ok(WriteClaim { base: column.base(), slots, _column: column })
    }

    unsafe fn view<'v, 'c: 'v>(claim: &'v WriteClaim<'c, T>, slot: Slot) -> &'v mut [T]
    where
        Self: 'c,
    {
        let slot = claim.slots.get(slot);
        if slot == NONE {
            return &mut [];
        }
        let (first, count) = claim.base.chunk(slot);
        // SAFETY: the chunk lives as long as the claim, and by the caller's promise nobody else has
        // a view of this slot.
        unsafe { std::slice::from_raw_parts_mut(first, count) }
    }
}

/// Starts to refresh the copies in a channel of a Particle System, if they are stale.
fn refresh_particles<'r, T: Element>(
    particles: &'r ParticleSystem,
    handle: Handle<T>,
    processes: &dyn Processes,
) -> Result<Option<Refresh<'r>>> {
    let counts_known = particles.halo_counts.get().is_some();
    if processes.count() == 1 || (counts_known && particles.channels().halo_is_fresh(handle)?) {
        return Ok(None);
    }
    let topology = particles.topology();
    let counts = match particles.halo_counts.get() {
        Some(counts) => counts,
        None => {
            let counts = exchange_counts(particles, processes)?;
            particles.halo_counts.get_or_init(|| counts)
        }
    };
    let outgoing: Vec<Parcel> = {
        let column = particles.channels().read(handle, "refresh of copies")?;
        let pack = |slots: &Vec<Slot>| {
            let count = slots.iter().map(|&slot| column.chunk(slot).len()).sum::<usize>();
            let mut bytes = Vec::with_capacity(count * size_of::<T>());
            slots.iter().for_each(|&slot| bytes.extend_from_slice(column.read_chunk(slot)));
            bytes
        };
        topology
            .sends()
            .iter()
            .map(|(process, slots)| Parcel { process: *process, bytes: pack(slots) })
            .collect()
    };
    let count_of = |slot: Slot| counts[slot as usize - topology.local()];
    let incoming: Vec<(usize, usize)> = topology
        .receives()
        .iter()
        .map(|(process, slots)| {
            (*process, slots.clone().map(count_of).sum::<usize>() * size_of::<T>())
        })
        .collect();
    let pending = processes.start(outgoing, &incoming)?;
    Ok(Some(Refresh::new(pending, topology, move |parcels| {
        let mut column = particles.channels().write(handle, "refresh of copies")?;
        for (parcel, (_, slots)) in parcels.iter().zip(topology.receives()) {
            let mut rest = &parcel.bytes[..];
            for slot in slots.clone() {
                let (bytes, after) =
                    rest.split_at(counts[slot as usize - topology.local()] * size_of::<T>());
                column.replace_chunk(slot, bytes);
                rest = after;
            }
        }
        particles.channels().set_halo_fresh(handle)
    })))
}

/// How many particles each of our copies will have.
fn exchange_counts(particles: &ParticleSystem, processes: &dyn Processes) -> Result<Vec<usize>> {
    let topology = particles.topology();
    let ids = particles.channels().read(particles.id(), "refresh of copies")?;
    let count = |&slot: &Slot| (ids.chunk(slot).len() as u64).to_le_bytes();
    let outgoing = topology
        .sends()
        .iter()
        .map(|(process, slots)| Parcel {
            process: *process,
            bytes: slots.iter().flat_map(count).collect(),
        })
        .collect();
    let incoming: Vec<_> =
        topology.receives().iter().map(|(process, slots)| (*process, slots.len() * 8)).collect();
    let parcels = processes.start(outgoing, &incoming)?.finish()?;
    let counts =
        parcels.iter().flat_map(|parcel| bytemuck::pod_collect_to_vec::<u8, u64>(&parcel.bytes));
    Ok(counts.map(|count| count as usize).collect())
}
