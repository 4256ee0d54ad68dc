//! Access to the channels of a Discrete Volume.

use super::claims::{Access, Viewed, slots_of};
use super::halo::{Refresh, refresh_voxels};
use super::surroundings::Surroundings;
use super::tile::{Pad, Tile};
use crate::channel::{ChannelMut, ChannelRef, Handle};
use crate::domain::{NONE, Slot, SlotMap, Topology, direction};
use crate::element::Element;
use crate::error::{CoreError, Result};
use crate::process::Processes;
use crate::volume::{ColumnBase, DiscreteVolume, VoxelColumn, Voxels};

/// Reads the voxels of the Bucket being visited.
pub struct VoxelsOwn<'a, T> {
    volume: &'a DiscreteVolume,
    handle: Handle<T>,
}

/// Reads the voxels of the Bucket being visited and of those around it.
pub struct VoxelsAround<'a, T> {
    volume: &'a DiscreteVolume,
    handle: Handle<T>,
    radius: u8,
}

/// Writes the voxels of the Bucket being visited.
pub struct VoxelsWrite<'a, T> {
    volume: &'a DiscreteVolume,
    handle: Handle<T>,
}

impl DiscreteVolume {
    /// Declares that a kernel reads this channel in the Bucket being visited.
    pub fn own<T: Element>(&self, handle: Handle<T>) -> VoxelsOwn<'_, T> {
        VoxelsOwn { volume: self, handle }
    }

    /// Declares that a kernel reads this channel up to `radius` voxels beyond the Bucket being visited; at
    /// most as many as a Bucket has along its edge.
    pub fn around<T: Element>(&self, handle: Handle<T>, radius: u8) -> VoxelsAround<'_, T> {
        VoxelsAround { volume: self, handle, radius }
    }

    /// Declares that a kernel writes this channel in the Bucket being visited, and may read it there.
    pub fn write<T: Element>(&self, handle: Handle<T>) -> VoxelsWrite<'_, T> {
        VoxelsWrite { volume: self, handle }
    }
}

/// A channel claimed for reading, and where the slots visited are in it.
pub struct OwnClaim<'c, T> {
    column: ChannelRef<'c, Voxels, T>,
    slots: SlotMap,
}

/// A channel claimed for reading, and which of its Buckets lie around the slots visited.
pub struct AroundClaim<'c, T> {
    column: ChannelRef<'c, Voxels, T>,
    surroundings: Surroundings<'c>,
    radius: u8,
}

impl<T: Element> VoxelsAround<'_, T> {
    fn check_radius(&self, task: &'static str, edge: usize) -> Result<()> {
        if usize::from(self.radius) > edge {
            return Err(CoreError::BadAccess {
                task,
                why: format!(
                    "it declares a stencil of {} voxels, but may reach no further than one Bucket ({edge})",
                    self.radius
                ),
            });
        }
        Ok(())
    }
}

impl<T: Element> Viewed for VoxelsOwn<'_, T> {
    type View<'v> = &'v [T];
}

// SAFETY: views are read-only.
unsafe impl<T: Element> Access for VoxelsOwn<'_, T> {
    type Claim<'c>
        = OwnClaim<'c, T>
    where
        Self: 'c;

    fn refresh<'r>(&'r self, _: &dyn Processes, _: &mut Vec<Refresh<'r>>) -> Result<()> {
        Ok(())
    }

    fn claim<'c>(&'c self, task: &'static str, over: &Topology) -> Result<OwnClaim<'c, T>> {
        let slots = slots_of(task, over, self.volume.topology(), self.volume.label(), false)?;
        Ok(OwnClaim { column: self.volume.channels().read(self.handle, task)?, slots })
    }

    unsafe fn view<'v, 'c: 'v>(claim: &'v OwnClaim<'c, T>, slot: Slot) -> &'v [T]
    where
        Self: 'c,
    {
        claim.column.chunk(claim.slots.get(slot))
    }
}

impl<T: Element> Viewed for VoxelsAround<'_, T> {
    type View<'v> = VoxelNeighbourhood<'v, T>;
}

// SAFETY: views are read-only.
unsafe impl<T: Element> Access for VoxelsAround<'_, T> {
    type Claim<'c>
        = AroundClaim<'c, T>
    where
        Self: 'c;

    fn refresh<'r>(
        &'r self,
        processes: &dyn Processes,
        under_way: &mut Vec<Refresh<'r>>,
    ) -> Result<()> {
        if self.radius > 0 {
            under_way.extend(refresh_voxels(self.volume, self.handle, processes)?);
        }
        Ok(())
    }

    fn claim<'c>(&'c self, task: &'static str, over: &Topology) -> Result<AroundClaim<'c, T>> {
        let volume = self.volume;
        let column = volume.channels().read(self.handle, task)?;
        self.check_radius(task, column.shape().resolution.edge())?;
        let surroundings = Surroundings::new(task, over, volume.topology(), volume.label())?;
        Ok(AroundClaim { column, surroundings, radius: self.radius })
    }

    unsafe fn view<'v, 'c: 'v>(
        claim: &'v AroundClaim<'c, T>,
        slot: Slot,
    ) -> VoxelNeighbourhood<'v, T>
    where
        Self: 'c,
    {
        VoxelNeighbourhood {
            column: &claim.column,
            neighbours: claim.surroundings.of(slot),
            radius: i32::from(claim.radius),
        }
    }
}

/// The voxels of a Bucket and of those around it, to read. Where there is no Bucket, the background.
#[derive(Clone, Copy)]
pub struct VoxelNeighbourhood<'v, T> {
    column: &'v VoxelColumn<T>,
    neighbours: &'v [Slot; 27],
    radius: i32,
}

impl<'v, T: Element> VoxelNeighbourhood<'v, T> {
    /// The voxels of the Bucket itself.
    #[inline]
    pub fn chunk(&self) -> &'v [T] {
        self.column.chunk(self.neighbours[13])
    }

    /// The voxels of the Bucket at an offset of −1, 0 or 1 per axis.
    #[inline]
    pub fn neighbour(&self, x: i32, y: i32, z: i32) -> &'v [T] {
        debug_assert!(self.radius > 0 || (x, y, z) == (0, 0, 0), "the kernel declared no stencil");
        self.column.chunk(self.neighbours[direction(x, y, z)])
    }

    /// Whether the Bucket at an offset of −1, 0 or 1 per axis exists.
    #[inline]
    pub fn exists(&self, x: i32, y: i32, z: i32) -> bool {
        self.neighbours[direction(x, y, z)] != NONE
    }

    /// One voxel, by its place relative to the Bucket's first voxel, within the declared stencil.
    #[inline]
    pub fn at(&self, x: i32, y: i32, z: i32) -> T {
        let bits = self.column.shape().resolution.bits();
        let (edge, r) = (1 << bits, self.radius);
        debug_assert!(
            [x, y, z].iter().all(|c| (-r..edge + r).contains(c)),
            "voxel ({x}, {y}, {z}) is outside of the declared stencil of {r}"
        );
        let chunk = self.column.chunk(self.neighbours[direction(x >> bits, y >> bits, z >> bits)]);
        let within = |c: i32| (c & (edge - 1)) as usize;
        chunk[self.column.shape().resolution.index(within(x), within(y), within(z))]
    }

    /// Copies the Bucket's voxels, padded from its neighbours, into a tile.
    pub fn load(&self, tile: &mut Tile<T>) {
        debug_assert!(
            tile.pad().reach() <= self.radius as usize,
            "the tile's padding is outside of the declared stencil of {}",
            self.radius
        );
        tile.load(self.column.shape().resolution, |x, y, z| {
            self.column.chunk(self.neighbours[direction(x, y, z)])
        });
    }

    /// A tile that fits [`Self::load`] with this padding.
    pub fn tile(&self, pad: Pad) -> Tile<T> {
        Tile::new(self.column.shape().resolution, pad, self.column.background())
    }
}

/// A channel claimed for writing, and where the slots visited are in it.
pub struct WriteClaim<'c, T> {
    base: ColumnBase<T>,
    slots: SlotMap,
    /// Held, not used: whoever holds it alone may write through `base`.
    _column: ChannelMut<'c, Voxels, T>,
}

impl<T: Element> Viewed for VoxelsWrite<'_, T> {
    type View<'v> = &'v mut [T];
}

// SAFETY: a view is the chunk of its own slot; slots have distinct chunks, the slot map is one to
// one, and the claim holds the channel's write lock.
unsafe impl<T: Element> Access for VoxelsWrite<'_, T> {
    type Claim<'c>
        = WriteClaim<'c, T>
    where
        Self: 'c;

    fn refresh<'r>(&'r self, _: &dyn Processes, _: &mut Vec<Refresh<'r>>) -> Result<()> {
        Ok(())
    }

    fn claim<'c>(&'c self, task: &'static str, over: &Topology) -> Result<WriteClaim<'c, T>> {
        let slots = slots_of(task, over, self.volume.topology(), self.volume.label(), true)?;
        let mut column = self.volume.channels().write(self.handle, task)?;
        Ok(WriteClaim { base: column.base(), slots, _column: column })
    }

    unsafe fn view<'v, 'c: 'v>(claim: &'v WriteClaim<'c, T>, slot: Slot) -> &'v mut [T]
    where
        Self: 'c,
    {
        let chunk = claim.base.chunk(claim.slots.get(slot));
        // SAFETY: the chunk lives as long as the claim, and by the caller's promise nobody else has
        // a view of this slot.
        unsafe { std::slice::from_raw_parts_mut(chunk, claim.base.chunk_len()) }
    }
}
