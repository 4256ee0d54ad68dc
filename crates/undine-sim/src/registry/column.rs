//! One column of any store as a sequence of contiguous pieces, in the order in which its elements are stored.
//!
//! Particles and voxels have a piece for each local Bucket, arrays one for every few thousand elements. Pieces are what
//! threads share out, and they depend on the content alone, so that nothing made from them depends on threads.

use rayon::prelude::*;
use undine_core::Topology;
use undine_core::channel::{ChannelInfo, ErasedFlat};
use undine_core::domain::Slot;
use undine_core::mesh::ElementClass;
use undine_core::particles::ErasedParticles;
use undine_core::volume::{ErasedVoxels, VoxelShape};

/// Elements in a piece of an array.
pub(super) const FLAT_PIECE: usize = 1 << 13;

/// Bytes that are worth a thread's while.
const SHARE: usize = 1 << 16;

/// A column that is claimed for reading.
pub struct Column<'a> {
    /// The class of elements that it is on, for a mesh.
    pub class: Option<ElementClass>,
    /// What the channel is.
    pub info: &'a ChannelInfo,
    pub(super) values: Values<'a>,
}

/// Where the elements are.
pub(super) enum Values<'a> {
    Particles(&'a dyn ErasedParticles, &'a Topology),
    Voxels(&'a dyn ErasedVoxels, &'a Topology),
    /// Only so many of them belong to the store: ghosts stand behind.
    Flat(&'a dyn ErasedFlat, usize),
}

impl Column<'_> {
    /// How many pieces there are.
    pub fn pieces(&self) -> usize {
        match self.values {
            Values::Particles(_, topology) | Values::Voxels(_, topology) => topology.local(),
            Values::Flat(_, len) => len.div_ceil(FLAT_PIECE),
        }
    }

    /// The elements of a piece, as they lie in memory.
    pub fn piece(&self, piece: usize) -> &[u8] {
        match self.values {
            Values::Particles(column, _) => column.read_chunk(piece as Slot),
            Values::Voxels(column, _) => column.read_chunk(piece as Slot),
            Values::Flat(column, len) => {
                let size = self.info.element.bytes();
                let end = len.min((piece + 1) * FLAT_PIECE);
                &column.bytes()[piece * FLAT_PIECE * size..end * size]
            }
        }
    }

    /// Bytes of all its elements.
    pub fn bytes(&self) -> u64 {
        match self.values {
            Values::Particles(..) => (0..self.pieces()).map(|n| self.piece(n).len() as u64).sum(),
            Values::Voxels(column, topology) => {
                topology.local() as u64 * column.chunk_bytes() as u64
            }
            Values::Flat(_, len) => len as u64 * self.info.element.bytes() as u64,
        }
    }

    /// Bytes that are allocated for it: slack, copies of other processes' elements and tables are among them.
    pub fn allocated_bytes(&self) -> u64 {
        (match self.values {
            Values::Particles(column, _) => column.allocated_bytes(),
            Values::Voxels(column, _) => column.allocated_bytes(),
            Values::Flat(column, _) => column.allocated_bytes(),
        }) as u64
    }

    /// How many elements it has.
    pub fn elements(&self) -> u64 {
        self.bytes() / self.info.element.bytes() as u64
    }

    /// What new elements hold, as bytes.
    pub fn default_bytes(&self) -> &[u8] {
        match self.values {
            Values::Particles(column, _) => column.default_bytes(),
            Values::Voxels(column, _) => column.default_bytes(),
            Values::Flat(column, _) => column.default_bytes(),
        }
    }

    /// For voxels: how the channel divides a Bucket, and the bytes of one.
    pub fn voxels(&self) -> Option<(VoxelShape, usize)> {
        match self.values {
            Values::Voxels(column, _) => Some((column.voxel_shape(), column.chunk_bytes())),
            _ => None,
        }
    }

    /// The numbers of all pieces, shared out among threads in portions that are worth it.
    pub(super) fn par_pieces(&self) -> impl IndexedParallelIterator<Item = usize> {
        let pieces = self.pieces();
        let each = self.bytes() as usize / pieces.max(1);
        (0..pieces).into_par_iter().with_min_len((SHARE / each.max(1)).clamp(1, 1 << 14))
    }
}
