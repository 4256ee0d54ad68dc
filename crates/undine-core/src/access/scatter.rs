//! Scatter: each Bucket accumulates into private padded tiles, and the tiles are added in a fixed
//! order: eight groups of Buckets that are not neighbours, one group after the other. Within a group
//! tiles do not overlap, so that threads need no locks, and the order of every sum is fixed.

use super::accessor::{Accessor, Here};
use super::claims::{Access, slots_of};
use super::halo::add_up_copies;
use super::tile::{Pad, Tile};
use crate::channel::{ChannelMut, Handle};
use crate::domain::{NONE, Slot, SlotMap, Topology, direction};
use crate::element::Element;
use crate::error::{CoreError, Result};
use crate::process::Processes;
use crate::volume::{ColumnBase, DiscreteVolume, Resolution, Voxels};
use rayon::prelude::*;

/// Accumulates into a channel around the Bucket being visited.
pub struct Accumulate<'a, T> {
    volume: &'a DiscreteVolume,
    handle: Handle<T>,
    pad: Pad,
}

impl DiscreteVolume {
    /// Declares that a kernel adds to this channel in the Bucket being visited and up to `pad` voxels
    /// beyond. What lands where the volume has no Bucket is lost: pad its Buckets first.
    pub fn accumulate<T: Element>(&self, handle: Handle<T>, pad: Pad) -> Accumulate<'_, T> {
        Accumulate { volume: self, handle, pad }
    }
}

/// One declared accumulation, or a tuple or array of such.
///
/// # Safety
/// [`Scatter::add`] writes through a shared claim: an implementation may only write voxels within the
/// declared padding of the slot, so that slots that are not neighbours never meet.
pub unsafe trait Scatter: Sync {
    /// The channels, claimed for as long as the kernel runs.
    type Claim<'c>: Sync
    where
        Self: 'c;
    /// What the kernel accumulates into; zero at every visit.
    type Tiles: Send;

    /// Claims the channels in the name of `task`, which visits the Buckets of `over`.
    fn claim<'c>(&'c self, task: &'static str, over: &Topology) -> Result<Self::Claim<'c>>;
    /// Tiles of zeros.
    fn tiles(claim: &Self::Claim<'_>) -> Self::Tiles;
    /// Tells the CPU that the voxels around a slot will be added to soon.
    fn expect(claim: &Self::Claim<'_>, slot: Slot, tiles: &Self::Tiles);
    /// Adds the tiles around a slot, and sets them to zero.
    ///
    /// # Safety
    /// At the same time, only slots that are not neighbours may be added.
    unsafe fn add(claim: &Self::Claim<'_>, slot: Slot, tiles: &mut Self::Tiles);
    /// Sends what was added to copies of other processes' Buckets to their owners. Collective.
    fn finish(claim: Self::Claim<'_>, processes: &dyn Processes) -> Result<()>;
}

/// A channel claimed for accumulation.
pub struct ScatterClaim<'c, T> {
    base: ColumnBase<T>,
    slots: SlotMap,
    topology: &'c Topology,
    resolution: Resolution,
    pad: Pad,
    column: ChannelMut<'c, Voxels, T>,
}

impl<T: Element> ScatterClaim<'_, T> {
    /// The first voxel of the Bucket at each offset from a slot's, where it exists.
    fn chunks_around(&self, slot: Slot) -> impl Fn(i32, i32, i32) -> Option<*mut T> {
        let neighbours = self.topology.neighbours(self.slots.get(slot));
        move |x, y, z| match neighbours[direction(x, y, z)] {
            NONE => None,
            to => Some(self.base.chunk(to)),
        }
    }
}

// SAFETY: rows of a tile lie within the padding. Its two sides together are at most a Bucket, so that
// the tiles of two Buckets with one between them do not meet in that one.
unsafe impl<T: Element> Scatter for Accumulate<'_, T> {
    type Claim<'c>
        = ScatterClaim<'c, T>
    where
        Self: 'c;
    type Tiles = Tile<T>;

    fn claim<'c>(&'c self, task: &'static str, over: &Topology) -> Result<ScatterClaim<'c, T>> {
        let topology = self.volume.topology();
        let slots = slots_of(task, over, topology, self.volume.label(), true)?;
        let mut column = self.volume.channels().write(self.handle, task)?;
        let resolution = column.shape().resolution;
        if usize::from(self.pad.low) + usize::from(self.pad.high) > resolution.edge() {
            return Err(CoreError::BadAccess {
                task,
                why: format!(
                    "it pads its tiles by {} and {} voxels, together more than a Bucket has ({})",
                    self.pad.low,
                    self.pad.high,
                    resolution.edge()
                ),
            });
        }
        // A mask has fewer words than voxels.
        if column.chunk_len() != resolution.voxels() {
            return Err(CoreError::BadAccess {
                task,
                why: format!(
                    "it accumulates into a channel of {} with {} elements in a Bucket, but tiles need one for each of {} voxels",
                    self.volume.label(),
                    column.chunk_len(),
                    resolution.voxels()
                ),
            });
        }
        // Copies collect only what this process adds; the owner adds it to what is there.
        for slot in topology.local()..topology.stored() {
            column.chunk_mut(slot as Slot).fill(T::zeroed());
        }
        let base = column.base();
        Ok(ScatterClaim { base, slots, topology, resolution, pad: self.pad, column })
    }

    fn tiles(claim: &ScatterClaim<'_, T>) -> Tile<T> {
        Tile::new(claim.resolution, claim.pad, T::zeroed())
    }

    fn expect(claim: &ScatterClaim<'_, T>, slot: Slot, tile: &Tile<T>) {
        tile.expect(claim.resolution, claim.chunks_around(slot));
    }

    unsafe fn add(claim: &ScatterClaim<'_, T>, slot: Slot, tile: &mut Tile<T>) {
        // A kernel has its tile in full and could put another one in its place.
        assert!(
            tile.fits(claim.resolution, claim.pad),
            "a kernel exchanged its tile for one of another shape"
        );
        // SAFETY: the tile has the resolution of the channel, and the addresses are of whole chunks
        // with all its voxels; by the caller's promise and the bound on the padding nobody else
        // touches the voxels around this slot now.
        unsafe { tile.add_to(claim.resolution, claim.chunks_around(slot)) };
    }

    fn finish(mut claim: ScatterClaim<'_, T>, processes: &dyn Processes) -> Result<()> {
        add_up_copies(claim.topology, &mut claim.column, processes)
    }
}

macro_rules! tuple_scatter {
    ($($name:ident $index:tt)*) => {
        // SAFETY: each member keeps its own promise, and members claim their channels separately.
        unsafe impl<$($name: Scatter),*> Scatter for ($($name,)*) {
            type Claim<'c> = ($($name::Claim<'c>,)*) where Self: 'c;
            type Tiles = ($($name::Tiles,)*);

            fn claim<'c>(&'c self, task: &'static str, over: &Topology) -> Result<Self::Claim<'c>> {
                Ok(($(self.$index.claim(task, over)?,)*))
            }
            fn tiles(claim: &Self::Claim<'_>) -> Self::Tiles {
                ($($name::tiles(&claim.$index),)*)
            }
            fn expect(claim: &Self::Claim<'_>, slot: Slot, tiles: &Self::Tiles) {
                $($name::expect(&claim.$index, slot, &tiles.$index);)*
            }
            unsafe fn add(claim: &Self::Claim<'_>, slot: Slot, tiles: &mut Self::Tiles) {
                // SAFETY: the caller's promise holds for every member.
                unsafe { $($name::add(&claim.$index, slot, &mut tiles.$index);)* }
            }
            fn finish(claim: Self::Claim<'_>, processes: &dyn Processes) -> Result<()> {
                $($name::finish(claim.$index, processes)?;)*
                Ok(())
            }
        }
    };
}

tuple_scatter!(A 0);
tuple_scatter!(A 0 B 1);
tuple_scatter!(A 0 B 1 C 2);
tuple_scatter!(A 0 B 1 C 2 D 3);

// SAFETY: each member keeps its own promise, and members claim their channels separately.
unsafe impl<S: Scatter, const N: usize> Scatter for [S; N] {
    type Claim<'c>
        = [S::Claim<'c>; N]
    where
        Self: 'c;
    type Tiles = [S::Tiles; N];

    fn claim<'c>(&'c self, task: &'static str, over: &Topology) -> Result<Self::Claim<'c>> {
        let claims: Result<Vec<_>> = self.iter().map(|target| target.claim(task, over)).collect();
        let mut claims = claims?.into_iter();
        Ok(std::array::from_fn(|_| claims.next().expect("one claim for each member")))
    }
    fn tiles(claim: &Self::Claim<'_>) -> Self::Tiles {
        std::array::from_fn(|n| S::tiles(&claim[n]))
    }
    fn expect(claim: &Self::Claim<'_>, slot: Slot, tiles: &Self::Tiles) {
        claim.iter().zip(tiles).for_each(|(claim, tiles)| S::expect(claim, slot, tiles));
    }
    unsafe fn add(claim: &Self::Claim<'_>, slot: Slot, tiles: &mut Self::Tiles) {
        for (claim, tiles) in claim.iter().zip(tiles) {
            // SAFETY: the caller's promise holds for every member.
            unsafe { S::add(claim, slot, tiles) };
        }
    }
    fn finish(claim: Self::Claim<'_>, processes: &dyn Processes) -> Result<()> {
        claim.into_iter().try_for_each(|claim| S::finish(claim, processes))
    }
}

impl Accessor {
    /// Runs a kernel once for each Bucket that accumulates into tiles, and adds the tiles up.
    ///
    /// Sums are the same for any number of threads; over processes they differ by rounding.
    pub fn scatter<A: Access, S: Scatter>(
        &self,
        access: A,
        targets: S,
        kernel: impl for<'v> Fn(Here<'v>, A::View<'v>, &mut S::Tiles) + Sync,
    ) -> Result<()> {
        self.scatter_with(access, targets, || (), |(), here, view, tiles| kernel(here, view, tiles))
    }

    /// The same with scratch memory that `scratch` makes for each thread.
    pub fn scatter_with<A: Access, S: Scatter, M>(
        &self,
        access: A,
        targets: S,
        scratch: impl Fn() -> M + Sync + Send,
        kernel: impl for<'v> Fn(&mut M, Here<'v>, A::View<'v>, &mut S::Tiles) + Sync,
    ) -> Result<()> {
        let mut under_way = Vec::new();
        access.refresh(&*self.processes, &mut under_way)?;
        under_way.into_iter().try_for_each(|refresh| refresh.finish())?;
        let claim = access.claim(self.task, &self.topology)?;
        let target = targets.claim(self.task, &self.topology)?;
        let visited = self.visited();
        for colour in self.topology.colours() {
            colour.par_iter().filter(|slot| visited.contains(slot)).for_each_init(
                || (scratch(), S::tiles(&target)),
                |(scratch, tiles), &slot| {
                    S::expect(&target, slot, tiles);
                    // SAFETY: each slot is visited once; slots of one colour are not neighbours.
                    unsafe {
                        kernel(scratch, self.here(slot), A::view(&claim, slot), tiles);
                        S::add(&target, slot, tiles);
                    }
                },
            );
        }
        drop(claim);
        S::finish(target, &*self.processes)
    }
}
