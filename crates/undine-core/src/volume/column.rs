//! The memory of one channel of a Discrete Volume.
//!
//! Chunks of one Bucket each lie in large pages, aligned to cache lines. Which chunk a slot has is the
//! same for all channels of a volume, so that Buckets come and go without moving voxels.

use super::page::Page;
use super::shape::VoxelShape;
use crate::channel::{ErasedColumn, Layout};
use crate::domain::{NONE, Slot, Topology};
use crate::element::Element;
use rayon::prelude::*;
use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

/// Chunks in a page but the last one: at 8³ voxels of `f32`, a huge page of the system.
const PAGE: usize = 1024;

/// The layout of volume channels: a [`VoxelColumn`] each.
#[derive(Debug)]
pub struct Voxels;

impl Layout for Voxels {
    type Column<T: Element> = VoxelColumn<T>;
    type Erased = dyn ErasedVoxels;

    fn erase<T: Element>(column: VoxelColumn<T>) -> Box<dyn ErasedVoxels> {
        Box::new(column)
    }
}

/// One channel of a Discrete Volume.
pub struct VoxelColumn<T> {
    shape: VoxelShape,
    /// What a voxel holds where there is no Bucket, and where one is new.
    background: T,
    /// Elements in a chunk.
    chunk_len: usize,
    pages: Vec<Page>,
    /// A chunk of background, for neighbours that do not exist.
    empty: Vec<T>,
    chunks: Arc<Chunks>,
    element: PhantomData<T>,
}

/// Which chunk each slot has; shared by all channels of a volume.
#[derive(Debug, Default)]
pub struct Chunks {
    /// By slot.
    pub of: Vec<u32>,
    /// How many chunks there are, used or not.
    pub count: u32,
}

impl Chunks {
    /// A chunk for each stored Bucket: own ones as kernels visit them, copies behind.
    pub(super) fn in_order_of_visits(topology: &Topology) -> Self {
        let count = topology.stored() as u32;
        let mut of: Vec<u32> = (0..count).collect();
        for (chunk, &slot) in topology.visits().iter().enumerate() {
            of[slot as usize] = chunk as u32;
        }
        Self { of, count }
    }
}

/// How chunks change when a volume follows another Topology.
pub struct Relayout {
    /// The new state.
    pub chunks: Arc<Chunks>,
    /// Chunks whose voxels start as background, in rising order.
    pub fresh: Vec<u32>,
    /// Chunks that move to a lower number, so that pages at the end can go.
    pub moves: Vec<(u32, u32)>,
}

impl<T: Element> VoxelColumn<T> {
    pub(super) fn new(
        shape: VoxelShape,
        chunk_len: usize,
        background: T,
        chunks: Arc<Chunks>,
    ) -> Self {
        let mut column = Self {
            shape,
            background,
            chunk_len,
            pages: Vec::new(),
            empty: vec![background; chunk_len],
            chunks: Arc::default(),
            element: PhantomData,
        };
        let fresh = (0..chunks.count).collect();
        column.relayout(&Relayout { chunks, fresh, moves: Vec::new() });
        column
    }

    /// How the channel divides a Bucket.
    pub fn shape(&self) -> VoxelShape {
        self.shape
    }

    /// The value where there is no Bucket.
    pub fn background(&self) -> T {
        self.background
    }

    /// Elements in a chunk: the voxels of a Bucket.
    pub fn chunk_len(&self) -> usize {
        self.chunk_len
    }

    /// The voxels of the Bucket in a slot, or background for [`NONE`].
    #[inline]
    pub fn chunk(&self, slot: Slot) -> &[T] {
        if slot == NONE {
            return &self.empty;
        }
        let chunk = self.chunks.of[slot as usize] as usize;
        let start = (chunk % PAGE) * self.chunk_len;
        &self.pages[chunk / PAGE].values()[start..start + self.chunk_len]
    }

    /// The voxels of the Bucket in a slot.
    #[inline]
    pub fn chunk_mut(&mut self, slot: Slot) -> &mut [T] {
        let chunk = self.chunks.of[slot as usize] as usize;
        let start = (chunk % PAGE) * self.chunk_len;
        &mut self.pages[chunk / PAGE].values_mut()[start..start + self.chunk_len]
    }

    /// Sets every voxel of every stored Bucket.
    pub fn fill(&mut self, value: T) {
        self.pages.par_iter_mut().for_each(|page| page.values_mut::<T>().fill(value));
    }

    /// Where the chunks lie, for writers that divide them among threads.
    pub(crate) fn base(&mut self) -> ColumnBase<T> {
        ColumnBase {
            pages: self.pages.iter_mut().map(Page::as_mut_ptr).collect(),
            chunks: self.chunks.clone(),
            chunk_len: self.chunk_len,
        }
    }
}

/// The chunks of a column as addresses, so that different threads may write different voxels.
pub(crate) struct ColumnBase<T> {
    pages: Vec<*mut T>,
    chunks: Arc<Chunks>,
    chunk_len: usize,
}

// SAFETY: the addresses are only followed through `ColumnBase::chunk`, whose caller promises that no
// two threads touch the same voxel; elements are plain data.
unsafe impl<T: Element> Send for ColumnBase<T> {}
// SAFETY: as above.
unsafe impl<T: Element> Sync for ColumnBase<T> {}

impl<T: Element> ColumnBase<T> {
    /// The first voxel of the Bucket in a slot; `chunk_len` of them follow each other.
    #[inline]
    pub fn chunk(&self, slot: Slot) -> *mut T {
        let chunk = self.chunks.of[slot as usize] as usize;
        // SAFETY: every chunk number is below the count, and pages hold `PAGE` chunks each.
        unsafe { self.pages[chunk / PAGE].add((chunk % PAGE) * self.chunk_len) }
    }

    /// Elements in a chunk.
    pub fn chunk_len(&self) -> usize {
        self.chunk_len
    }
}

/// What a Discrete Volume does to any of its channels.
pub trait ErasedVoxels: ErasedColumn {
    /// Takes on another assignment of chunks to slots.
    fn relayout(&mut self, change: &Relayout);
    /// Bytes of one Bucket's voxels.
    fn chunk_bytes(&self) -> usize;
    /// How the channel divides a Bucket.
    fn voxel_shape(&self) -> VoxelShape;
    /// The voxels of a slot as bytes.
    fn read_chunk(&self, slot: Slot) -> &[u8];
    /// The voxels of a slot as bytes.
    fn chunk_bytes_mut(&mut self, slot: Slot) -> &mut [u8];
    /// The first voxel of a slot that is NaN or infinite.
    fn first_not_finite(&self, slot: Slot) -> Option<usize>;
}

impl<T: Element> ErasedVoxels for VoxelColumn<T> {
    fn relayout(&mut self, change: &Relayout) {
        for &(from, to) in &change.moves {
            let len = self.chunk_len;
            let place = |chunk: u32| (chunk as usize / PAGE, (chunk as usize % PAGE) * len);
            let ((from_page, from), (to_page, to)) = (place(from), place(to));
            if from_page == to_page {
                self.pages[to_page].values_mut::<T>().copy_within(from..from + len, to);
            } else {
                let (low, high) = self.pages.split_at_mut(from_page);
                low[to_page].values_mut::<T>()[to..to + len]
                    .copy_from_slice(&high[0].values()[from..from + len]);
            }
        }
        let room = room_for(change.chunks.count as usize);
        self.pages.resize_with(room.div_ceil(PAGE), || Page::zeroed(0));
        self.chunks = change.chunks.clone();
        // Page by page, so that what was just allocated is still in the cache when it is filled.
        let (len, background) = (self.chunk_len, self.background);
        let fresh_before = |chunk: usize| change.fresh.partition_point(|&n| (n as usize) < chunk);
        self.pages.par_iter_mut().enumerate().for_each(|(n, page)| {
            page.resize((room - n * PAGE).min(PAGE) * len * size_of::<T>());
            for &chunk in &change.fresh[fresh_before(n * PAGE)..fresh_before((n + 1) * PAGE)] {
                let start = (chunk as usize % PAGE) * len;
                page.values_mut()[start..start + len].fill(background);
            }
        });
    }
    fn chunk_bytes(&self) -> usize {
        self.chunk_len * size_of::<T>()
    }
    fn voxel_shape(&self) -> VoxelShape {
        self.shape
    }
    fn read_chunk(&self, slot: Slot) -> &[u8] {
        bytemuck::cast_slice(self.chunk(slot))
    }
    fn chunk_bytes_mut(&mut self, slot: Slot) -> &mut [u8] {
        bytemuck::cast_slice_mut(self.chunk_mut(slot))
    }
    fn first_not_finite(&self, slot: Slot) -> Option<usize> {
        self.chunk(slot).iter().position(|value| !value.is_finite())
    }
}

impl<T: Element> ErasedColumn for VoxelColumn<T> {
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
    fn used_bytes(&self) -> usize {
        self.chunks.of.len() * self.chunk_len * size_of::<T>()
    }
    fn allocated_bytes(&self) -> usize {
        self.pages.iter().map(Page::bytes).sum::<usize>()
            + self.empty.capacity() * size_of::<T>()
            + self.pages.capacity() * size_of::<Page>()
    }
    fn default_bytes(&self) -> &[u8] {
        bytemuck::bytes_of(&self.background)
    }
}

/// For how many chunks there is room if this many are needed: a little more, so that a volume that
/// grows by a few Buckets at each step does not copy its last page every time; and a multiple of
/// eight, which is a whole number of cache lines whatever the channel.
fn room_for(chunks: usize) -> usize {
    chunks.next_multiple_of((chunks / 64).next_multiple_of(8).max(8))
}

/// Bytes of pages for this many chunks of this many bytes.
pub(super) fn bytes_of_pages(chunks: usize, chunk_bytes: usize) -> u64 {
    (room_for(chunks) * chunk_bytes) as u64
}
