//! Which particle a neighbour is, and access to its channels.

use crate::access::{Access, ParticlesAround, Refresh, Viewed};
use crate::channel::{ChannelRef, Handle};
use crate::domain::{Bucket, NONE, Slot, Topology, direction};
use crate::element::Element;
use crate::error::{CoreError, Result};
use crate::particles::{ParticleSystem, Particles};
use crate::process::Processes;
use glam::IVec3;
use rayon::prelude::*;

/// A particle in the Bucket being visited or in one around it: the direction of its Bucket, and its
/// place there, in four bytes.
#[repr(transparent)]
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, bytemuck::Pod, bytemuck::Zeroable,
)]
pub struct Neighbour(u32);

impl Neighbour {
    const PLACE_BITS: u32 = 27;

    /// How many particles a Bucket may have, to be told apart.
    pub const MAX_PLACES: usize = 1 << Self::PLACE_BITS;

    pub(super) fn new(direction: usize, place: u32) -> Self {
        Self((direction as u32) << Self::PLACE_BITS | place)
    }

    /// Where its Bucket lies, as in a table of 27 neighbours (see [`direction`]); 13 is the Bucket being
    /// visited.
    #[inline]
    pub fn direction(self) -> usize {
        (self.0 >> Self::PLACE_BITS) as usize
    }

    /// Its place in its Bucket.
    #[inline]
    pub fn place(self) -> usize {
        (self.0 & (Self::MAX_PLACES as u32 - 1)) as usize
    }
}

/// Reads a channel of the particles in the Bucket being visited and in those around it, by
/// [`Neighbour`]; as [`ParticlesAround`] also where their own system has no Bucket.
pub struct ParticlesNear<'a, T> {
    around: ParticlesAround<'a, T>,
    particles: &'a ParticleSystem,
    handle: Handle<T>,
}

impl ParticleSystem {
    /// Declares that a kernel reads this channel of neighbours.
    pub fn near<T: Element>(&self, handle: Handle<T>) -> ParticlesNear<'_, T> {
        ParticlesNear { around: self.around(handle), particles: self, handle }
    }
}

/// A channel claimed for reading, and where the Buckets around those visited are in it.
pub struct NearClaim<'c, T> {
    column: ChannelRef<'c, Particles, T>,
    slots: NearSlots<'c>,
}

/// For each slot visited, the slots of a store around it.
enum NearSlots<'c> {
    /// The store's own Topology is visited.
    Same(&'c Topology),
    /// By slot visited.
    Table(Vec<[Slot; 27]>),
}

impl<T: Element> Viewed for ParticlesNear<'_, T> {
    type View<'v> = NearChannel<'v, T>;
}

// SAFETY: views are read-only.
unsafe impl<T: Element> Access for ParticlesNear<'_, T> {
    type Claim<'c>
        = NearClaim<'c, T>
    where
        Self: 'c;

    fn refresh<'r>(
        &'r self,
        processes: &dyn Processes,
        under_way: &mut Vec<Refresh<'r>>,
    ) -> Result<()> {
        self.around.refresh(processes, under_way)
    }

    fn claim<'c>(&'c self, task: &'static str, over: &Topology) -> Result<NearClaim<'c, T>> {
        let store = self.particles.topology();
        let slots = if over.id() == store.id() {
            NearSlots::Same(store)
        } else {
            check_reach(task, over, self.particles)?;
            let around = |&bucket: &Bucket| {
                each_direction(|step| store.slot(bucket.offset(step)).unwrap_or(NONE))
            };
            NearSlots::Table(over.buckets()[..over.local()].par_iter().map(around).collect())
        };
        Ok(NearClaim { column: self.particles.channels().read(self.handle, task)?, slots })
    }

    unsafe fn view<'v, 'c: 'v>(claim: &'v NearClaim<'c, T>, slot: Slot) -> NearChannel<'v, T>
    where
        Self: 'c,
    {
        let slots = match &claim.slots {
            NearSlots::Same(topology) => topology.neighbours(slot),
            NearSlots::Table(table) => &table[slot as usize],
        };
        NearChannel { chunks: slots.map(|slot| claim.column.chunk(slot)), slots }
    }
}

/// A channel of the particles in a Bucket and in those around it.
#[derive(Clone, Copy)]
pub struct NearChannel<'v, T> {
    chunks: [&'v [T]; 27],
    slots: &'v [Slot; 27],
}

impl<'v, T: Element> NearChannel<'v, T> {
    /// The value of a neighbour.
    #[inline]
    pub fn of(&self, neighbour: Neighbour) -> T {
        self.chunks[neighbour.direction()][neighbour.place()]
    }

    /// The values of the particles in the Bucket itself.
    #[inline]
    pub fn own(&self) -> &'v [T] {
        self.chunks[direction(0, 0, 0)]
    }

    /// The values of the particles in a Bucket, by direction.
    pub(super) fn chunk(&self, direction: usize) -> &'v [T] {
        self.chunks[direction]
    }

    /// The slot of a Bucket in the store, by direction.
    pub(super) fn slot(&self, direction: usize) -> Slot {
        self.slots[direction]
    }
}

/// Refuses to visit Buckets around which this process does not keep all that exists.
///
/// Copies of foreign Buckets are kept around a store's own Buckets only. So a store that is
/// visited from the Buckets of another one must have Buckets there, if others own what lies beside.
pub(super) fn check_reach(
    task: &'static str,
    over: &Topology,
    particles: &ParticleSystem,
) -> Result<()> {
    let store = particles.topology();
    let label = particles.label();
    if over.frame() != store.frame() {
        let why = format!("{label} lies on another Grid Domain, and has no neighbours there");
        return Err(CoreError::BadAccess { task, why });
    }
    let everything_is_here = store.all().len() == store.stored();
    if over.id() == store.id() || everything_is_here {
        return Ok(());
    }
    let missing = over.buckets()[..over.local()].iter().find_map(|&bucket| {
        each_direction(|step| Some(bucket.offset(step)))
            .into_iter()
            .flatten()
            .find(|&near| {
                near.is_in_range() && store.all().contains(near) && store.slot(near).is_none()
            })
            .map(|near| (bucket, near))
    });
    match missing {
        None => Ok(()),
        Some((bucket, near)) => Err(CoreError::BadAccess {
            task,
            why: format!(
                "it needs {near:?} of {label}, of which this process keeps no copy, because {label} has nothing in {bucket:?}; \
                 cut the Domain elsewhere, or hold both kinds of particles in one system"
            ),
        }),
    }
}

/// The 27 steps to a Bucket and those around it, by [`direction`].
fn each_direction<R>(mut f: impl FnMut(IVec3) -> R) -> [R; 27] {
    std::array::from_fn(|n| f(step(n)))
}

/// The step to the Bucket in a direction: the inverse of [`direction`].
pub(super) fn step(direction: usize) -> IVec3 {
    let n = direction as i32;
    IVec3::new(n / 9, n / 3 % 3, n % 3) - 1
}
