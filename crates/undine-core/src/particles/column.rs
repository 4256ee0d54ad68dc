//! The memory of one channel of a Particle System in spatial order: a chunk per Bucket.

use crate::channel::{Combine, ErasedColumn, ErasedFlat, FlatColumn, Layout};
use crate::domain::{NONE, Slot, SlotMap};
use crate::element::Element;
use rayon::prelude::*;
use std::any::Any;

/// The layout of particle channels in spatial order: a [`ParticleColumn`] each.
#[derive(Debug)]
pub struct Particles;

impl Layout for Particles {
    type Column<T: Element> = ParticleColumn<T>;
    type Erased = dyn ErasedParticles;

    fn erase<T: Element>(column: ParticleColumn<T>) -> Box<dyn ErasedParticles> {
        Box::new(column)
    }
}

/// One channel of a Particle System: a chunk per Bucket.
#[derive(Debug)]
pub struct ParticleColumn<T> {
    /// By slot.
    pub(super) chunks: Vec<Vec<T>>,
    default: T,
}

/// Who leaves a Bucket.
#[derive(Debug, Clone, Default)]
pub struct Departures {
    /// Their places in the chunk, ascending.
    pub leaving: Vec<u32>,
}

/// Who comes to a Bucket, in order: where each is in what left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// The slot that it left; one past the last slot for those that come from outside.
    pub source: Slot,
    /// Its place among those that left there.
    pub place: u32,
}

/// Arrivals by slot: those of slot `s` are `arrivals[starts[s]..starts[s + 1]]`.
#[derive(Debug, Default)]
pub struct Arrivals {
    /// Where each slot's arrivals begin, and one end more.
    pub starts: Vec<u32>,
    /// All arrivals.
    pub arrivals: Vec<Arrival>,
}

impl<T: Element> ParticleColumn<T> {
    pub(super) fn new(default: T, counts: impl Iterator<Item = usize>) -> Self {
        Self { chunks: counts.map(|count| vec![default; count]).collect(), default }
    }

    /// The particles of the Bucket in a slot; none for [`NONE`].
    #[inline]
    pub fn chunk(&self, slot: Slot) -> &[T] {
        if slot == NONE { &[] } else { &self.chunks[slot as usize] }
    }

    /// The particles of the Bucket in a slot.
    #[inline]
    pub fn chunk_mut(&mut self, slot: Slot) -> &mut [T] {
        &mut self.chunks[slot as usize]
    }

    /// Where the chunks lie, for writers that divide them among threads.
    pub(crate) fn base(&mut self) -> ChunkBase<T> {
        ChunkBase(self.chunks.iter_mut().map(|chunk| (chunk.as_mut_ptr(), chunk.len())).collect())
    }
}

/// The chunks of a column as addresses and lengths, so that different threads may write different
/// chunks.
pub(crate) struct ChunkBase<T>(Vec<(*mut T, usize)>);

// SAFETY: the addresses are only followed by callers who promise that no two threads touch the same
// chunk; elements are plain data.
unsafe impl<T: Element> Send for ChunkBase<T> {}
// SAFETY: as above.
unsafe impl<T: Element> Sync for ChunkBase<T> {}

impl<T: Element> ChunkBase<T> {
    /// The first particle of the Bucket in a slot, and how many there are.
    #[inline]
    pub fn chunk(&self, slot: Slot) -> (*mut T, usize) {
        self.0[slot as usize]
    }
}

/// What a Particle System does to any of its channels.
pub trait ErasedParticles: ErasedColumn {
    /// Rearranges the chunks for another Topology: `from` gives the old slot of each new one.
    fn relayout(&mut self, from: &SlotMap, stored: usize);
    /// Takes those who leave out of their chunks (gaps are filled from the end), and returns them.
    fn depart(&mut self, departures: &[Departures]) -> Box<dyn ErasedParticles>;
    /// Adds those who come at the ends of their chunks. `left` is what [`Self::depart`] returned, and
    /// `outside` holds those who come from elsewhere.
    fn arrive(&mut self, left: &dyn ErasedParticles, outside: &dyn ErasedFlat, arrivals: &Arrivals);
    /// Copies of single particles, in the order given, by slot and place.
    fn extract(&self, particles: &[(Slot, u32)]) -> Box<dyn ErasedFlat>;
    /// A flat column of the same type, at the default.
    fn flat(&self, len: usize) -> Box<dyn ErasedFlat>;
    /// The particles of a slot as bytes.
    fn read_chunk(&self, slot: Slot) -> &[u8];
    /// The particles of a slot as bytes, to be overwritten.
    fn chunk_bytes_mut(&mut self, slot: Slot) -> &mut [u8];
    /// Starts anew with this many particles by slot, all at the default.
    fn reset(&mut self, counts: &[u32]);
    /// Replaces the particles of a slot.
    fn replace_chunk(&mut self, slot: Slot, bytes: &[u8]);
    /// Replaces the value at the first place of each group by what the group's values combine to.
    fn combine(&mut self, combine: Combine, groups: &[Vec<Vec<u32>>], masses: Option<&[Vec<f64>]>);
    /// Divides the values at these places, by slot: what stays is the first share of `n`.
    fn divide(&mut self, parts: &[Vec<(u32, u32)>]);
    /// Gives back the memory of chunks that have far too much.
    fn trim(&mut self);
    /// The first particle of a slot whose value is NaN or infinite.
    fn first_not_finite(&self, slot: Slot) -> Option<usize>;
    /// Bytes of one element.
    fn element_bytes(&self) -> usize;
}

impl<T: Element> ErasedParticles for ParticleColumn<T> {
    fn relayout(&mut self, from: &SlotMap, stored: usize) {
        let mut old = std::mem::take(&mut self.chunks);
        let take = |slot: usize| match from.get(slot as Slot) {
            NONE => Vec::new(),
            at => std::mem::take(&mut old[at as usize]),
        };
        self.chunks = (0..stored).map(take).collect();
    }

    fn depart(&mut self, departures: &[Departures]) -> Box<dyn ErasedParticles> {
        let depart = |(chunk, departures): (&mut Vec<T>, &Departures)| {
            let left = departures.leaving.iter().map(|&place| chunk[place as usize]).collect();
            close_gaps(chunk, &departures.leaving);
            left
        };
        let chunks = self.chunks.par_iter_mut().zip(departures).map(depart).collect();
        Box::new(Self { chunks, default: self.default })
    }

    fn arrive(
        &mut self,
        left: &dyn ErasedParticles,
        outside: &dyn ErasedFlat,
        arrivals: &Arrivals,
    ) {
        let left = typed::<Self>(left.as_any());
        let outside = typed::<FlatColumn<T>>(outside.as_any());
        self.chunks.par_iter_mut().enumerate().for_each(|(slot, chunk)| {
            let range = arrivals.starts[slot] as usize..arrivals.starts[slot + 1] as usize;
            let coming = &arrivals.arrivals[range];
            make_room(chunk, coming.len());
            chunk.extend(coming.iter().map(
                |arrival| match left.chunks.get(arrival.source as usize) {
                    Some(left) => left[arrival.place as usize],
                    None => outside[arrival.place as usize],
                },
            ));
        });
    }

    fn extract(&self, particles: &[(Slot, u32)]) -> Box<dyn ErasedFlat> {
        let values = particles
            .iter()
            .map(|&(slot, place)| self.chunks[slot as usize][place as usize])
            .collect();
        Box::new(FlatColumn::from_parts(values, self.default))
    }

    fn flat(&self, len: usize) -> Box<dyn ErasedFlat> {
        Box::new(FlatColumn::from_parts(vec![self.default; len], self.default))
    }

    fn read_chunk(&self, slot: Slot) -> &[u8] {
        bytemuck::cast_slice(&self.chunks[slot as usize])
    }

    fn chunk_bytes_mut(&mut self, slot: Slot) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.chunks[slot as usize])
    }

    fn reset(&mut self, counts: &[u32]) {
        // The old ones go first, so that there are never two of them.
        self.chunks = Vec::new();
        self.chunks = counts.iter().map(|&count| vec![self.default; count as usize]).collect();
    }

    fn replace_chunk(&mut self, slot: Slot, bytes: &[u8]) {
        let chunk = &mut self.chunks[slot as usize];
        chunk.clear();
        chunk.reserve_exact(bytes.len() / size_of::<T>());
        chunk.resize(bytes.len() / size_of::<T>(), self.default);
        bytemuck::cast_slice_mut(chunk).copy_from_slice(bytes);
    }

    fn combine(&mut self, combine: Combine, groups: &[Vec<Vec<u32>>], masses: Option<&[Vec<f64>]>) {
        self.chunks.par_iter_mut().zip(groups).enumerate().for_each(|(slot, (chunk, groups))| {
            for group in groups {
                let value = |&place: &u32| chunk[place as usize];
                let mass = |&place: &u32| masses.map_or(1.0, |masses| masses[slot][place as usize]);
                let values = group.iter().map(value);
                let combined = match combine {
                    Combine::Keep => None,
                    Combine::Sum => values.reduce(T::sum),
                    Combine::Min => values.reduce(T::min),
                    Combine::Max => values.reduce(T::max),
                    Combine::Mean => {
                        let weighted: Vec<_> =
                            group.iter().map(|place| (mass(place), value(place))).collect();
                        Some(T::weighted_mean(&weighted))
                    }
                };
                if let (Some(combined), Some(&first)) = (combined, group.first()) {
                    chunk[first as usize] = combined;
                }
            }
        });
    }

    fn divide(&mut self, parts: &[Vec<(u32, u32)>]) {
        self.chunks.par_iter_mut().zip(parts).for_each(|(chunk, parts)| {
            for &(place, n) in parts {
                chunk[place as usize] = chunk[place as usize].share(n, 0);
            }
        });
    }

    fn trim(&mut self) {
        self.chunks.par_iter_mut().for_each(|chunk| make_room(chunk, 0));
    }

    fn first_not_finite(&self, slot: Slot) -> Option<usize> {
        self.chunk(slot).iter().position(|value| !value.is_finite())
    }

    fn element_bytes(&self) -> usize {
        size_of::<T>()
    }
}

impl<T: Element> ErasedColumn for ParticleColumn<T> {
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
    fn used_bytes(&self) -> usize {
        self.chunks.iter().map(|chunk| size_of_val(&chunk[..])).sum()
    }
    fn allocated_bytes(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.capacity() * size_of::<T>()).sum::<usize>()
            + self.chunks.capacity() * size_of::<Vec<T>>()
    }
    fn default_bytes(&self) -> &[u8] {
        bytemuck::bytes_of(&self.default)
    }
}

/// All columns of a store that belong together have the same element type.
fn typed<C: 'static>(column: &dyn Any) -> &C {
    column.downcast_ref().expect("what left a column has the column's own type")
}

/// Removes the elements at `places` (ascending) by moving the last ones into the gaps.
pub(super) fn close_gaps<T: Copy>(chunk: &mut Vec<T>, places: &[u32]) {
    // From the last gap to the first, so that whoever moves is not about to leave.
    for &place in places.iter().rev() {
        chunk.swap_remove(place as usize);
    }
}

/// Makes room for `more` elements with a little slack, so that a Bucket in balance does not grow its
/// memory at every step, and gives back what is far too much.
fn make_room<T>(chunk: &mut Vec<T>, more: usize) {
    let wanted = chunk.len() + more;
    if wanted > chunk.capacity() {
        chunk.reserve_exact(more + slack(wanted));
    } else if chunk.capacity() > wanted + wanted / 8 + 16 {
        chunk.shrink_to(wanted + slack(wanted));
    }
}

/// How many elements a chunk of `len` has room for beyond them after it grew.
pub(super) fn slack(len: usize) -> usize {
    len / 32
}
