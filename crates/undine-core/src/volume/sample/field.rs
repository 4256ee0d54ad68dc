//! The nodes of one channel: fetching the block of them that a kernel covers, within a Bucket, across
//! the Buckets of a level, and across levels.
//!
//! A node whose Bucket is missing on its own level is found on another one: where a coarser Bucket
//! covers it, by trilinear interpolation of the coarser level at the node's place; where finer Buckets
//! do, as the mean of the finer values that make it up (8 cells; 4 faces on the coarse face; the one
//! coincident corner). Both are exact for linear fields: a coarse node that the interpolation needs
//! below the finer Buckets is such a mean, and the mean of a linear field is its value in the middle.
//! What no Bucket covers is background.

use super::blend::{Blend, Real};
use crate::domain::{Bucket, NONE, Slot, Topology, direction};
use crate::volume::column::VoxelColumn;
use crate::volume::shape::Centring;
use glam::IVec3;

/// The nodes of one channel on the Buckets of a Topology.
pub(crate) struct Field<'a, T> {
    pub column: &'a VoxelColumn<T>,
    pub topology: &'a Topology,
    /// Whether missing nodes are looked for on other levels.
    pub across: bool,
    bits: u32,
}

/// A block of W³ nodes.
pub(crate) type Block<T, const W: usize> = [[[T; W]; W]; W];

impl<'a, T: Blend> Field<'a, T> {
    pub fn new(column: &'a VoxelColumn<T>, topology: &'a Topology) -> Self {
        let bits = column.shape().resolution.bits();
        let across = topology.all().levels().nth(1).is_some();
        Self { column, topology, across, bits }
    }

    /// Whether all W³ nodes from `first` on are in the Bucket itself.
    #[inline]
    pub fn inside<const W: usize>(&self, first: [i32; 3]) -> bool {
        let last = (1 << self.bits) - W as i32;
        first.iter().all(|&first| 0 <= first && first <= last)
    }

    /// W nodes along z of a chunk, with the first at a place that [`Self::inside`] allows.
    #[inline]
    pub fn row<const W: usize>(&self, chunk: &[T], first: [i32; 3], x: usize, y: usize) -> [T; W] {
        let [i, j, k] = first.map(|first| first as usize);
        let start = ((((i + x) << self.bits) + j + y) << self.bits) + k;
        let row = &chunk[start..start + W];
        std::array::from_fn(|z| row[z])
    }

    /// The nodes from `first` on, counted from the corner of the Bucket in a slot.
    #[inline]
    pub fn block<const W: usize>(&self, slot: Slot, first: [i32; 3]) -> Block<T, W> {
        if self.inside::<W>(first) {
            let chunk = self.column.chunk(slot);
            return std::array::from_fn(|x| std::array::from_fn(|y| self.row(chunk, first, x, y)));
        }
        self.block_of_neighbours(slot, first)
            .unwrap_or_else(|| self.block_from_anywhere(slot, first))
    }

    /// A block that lies in two Buckets along an axis at most, all of them stored and in the table of neighbours.
    fn block_of_neighbours<const W: usize>(
        &self,
        slot: Slot,
        first: [i32; 3],
    ) -> Option<Block<T, W>> {
        let edge = 1 << self.bits;
        let steps = first.map(|first| first >> self.bits);
        // How many nodes lie in the lower Bucket along each axis; all, if there is only one.
        let below: [usize; 3] =
            std::array::from_fn(|axis| (((steps[axis] + 1) << self.bits) - first[axis]) as usize);
        let reachable = |axis: usize| {
            let upper = steps[axis] + i32::from(below[axis] < W);
            -1 <= steps[axis] && upper <= 1 && below[axis] + edge >= W
        };
        if slot as usize >= self.topology.local() || !(0..3).all(reachable) {
            return None;
        }
        let neighbours = self.topology.neighbours(slot);
        let empty: &[T] = &[];
        let mut chunks = [empty; 8];
        for (n, chunk) in chunks.iter_mut().enumerate() {
            let upper = [n >> 2, n >> 1 & 1, n & 1];
            if (0..3).all(|axis| upper[axis] == 0 || below[axis] < W) {
                let [x, y, z] = std::array::from_fn(|axis| steps[axis] + upper[axis] as i32);
                let found = neighbours[direction(x, y, z)];
                if found == NONE {
                    return None;
                }
                *chunk = self.column.chunk(found);
            }
        }
        let mask = edge - 1;
        let places = first.map(|first| first as usize & mask);
        let mut block = [[[self.column.background(); W]; W]; W];
        for (x, plane) in block.iter_mut().enumerate() {
            for (y, line) in plane.iter_mut().enumerate() {
                let upper = usize::from(x >= below[0]) << 2 | usize::from(y >= below[1]) << 1;
                let start = ((((places[0] + x) & mask) << self.bits) + ((places[1] + y) & mask))
                    << self.bits;
                let row = |chunk: usize| &chunks[upper | chunk][start..start + edge];
                let lower = row(0);
                if below[2] >= W {
                    line.copy_from_slice(&lower[places[2]..places[2] + W]);
                } else {
                    let higher = row(1);
                    for (z, node) in line.iter_mut().enumerate() {
                        let from = if z < below[2] { lower } else { higher };
                        *node = from[(places[2] + z) & mask];
                    }
                }
            }
        }
        Some(block)
    }

    /// A block whose nodes may lie farther away, on other levels, or nowhere.
    #[cold]
    fn block_from_anywhere<const W: usize>(&self, slot: Slot, first: [i32; 3]) -> Block<T, W> {
        let bucket = self.topology.bucket(slot);
        let mask = (1 << self.bits) - 1;
        let mut block = [[[self.column.background(); W]; W]; W];
        for (x, plane) in block.iter_mut().enumerate() {
            let i = first[0] + x as i32;
            for (y, line) in plane.iter_mut().enumerate() {
                let j = first[1] + y as i32;
                let start = ((((i & mask) << self.bits) + (j & mask)) << self.bits) as usize;
                let mut chunk = None;
                for (z, node) in line.iter_mut().enumerate() {
                    let k = first[2] + z as i32;
                    // A row crosses from one Bucket into the next where its place wraps around.
                    if z == 0 || k & mask == 0 {
                        let step = IVec3::new(i, j, k) >> self.bits as i32;
                        chunk = self.neighbour(slot, bucket, step);
                    }
                    match chunk {
                        Some(chunk) => *node = chunk[start + (k & mask) as usize],
                        None if self.across => {
                            let place = (bucket.coord << self.bits as i32) + IVec3::new(i, j, k);
                            *node = self.fetch(bucket.level, place);
                        }
                        None => {}
                    }
                }
            }
        }
        block
    }

    /// The voxels of the Bucket some steps away on the same level.
    fn neighbour(&self, slot: Slot, bucket: Bucket, step: IVec3) -> Option<&[T]> {
        let near = step.abs().max_element() <= 1 && (slot as usize) < self.topology.local();
        let found = if near {
            self.topology.neighbours(slot)[direction(step.x, step.y, step.z)]
        } else {
            self.topology.slot(bucket.offset(step)).unwrap_or(NONE)
        };
        (found != NONE).then(|| self.column.chunk(found))
    }

    /// The node at a place counted from the Domain's origin on its level, from whichever level has it.
    fn fetch(&self, level: u8, place: IVec3) -> T {
        if let Some(value) = self.stored(level, place) {
            return value;
        }
        let bucket = Bucket::at(level, place >> self.bits as i32);
        if has_ancestor(bucket, self.topology, |bucket| self.topology.slot(bucket).is_some()) {
            return self.coarser_value(level, place);
        }
        self.finer_value(level, place).unwrap_or(self.column.background())
    }

    fn stored(&self, level: u8, place: IVec3) -> Option<T> {
        let bucket = Bucket::at(level, place >> self.bits as i32);
        let slot = self.topology.slot(bucket)?;
        Some(self.column.chunk(slot)[chunk_index(place, self.bits)])
    }

    /// Trilinear interpolation of the next coarser level.
    fn coarser_value(&self, level: u8, place: IVec3) -> T {
        let mut sum = T::zeroed();
        for (node, weight) in coarser_nodes(self.column.shape().centring, place) {
            sum = sum.plus(self.fetch(level + 1, node).scaled(T::Real::of(weight)));
        }
        sum
    }

    /// The mean of the values of the next finer level that make up the node.
    fn finer_value(&self, level: u8, place: IVec3) -> Option<T> {
        let finer = level.checked_sub(1)?;
        let mut sum = T::zeroed();
        for (node, weight) in finer_nodes(self.column.shape().centring, place) {
            sum = sum.plus(self.stored(finer, node)?.scaled(T::Real::of(weight)));
        }
        Some(sum)
    }
}

/// Whether a coarser Bucket that contains this one `exists`.
pub(crate) fn has_ancestor(
    bucket: Bucket,
    topology: &Topology,
    exists: impl Fn(Bucket) -> bool,
) -> bool {
    let coarser = topology.all().levels().filter(|&level| level > bucket.level);
    bucket.is_in_range() && coarser.into_iter().any(|level| exists(bucket.ancestor(level)))
}

/// The place of a node in its chunk.
pub(crate) fn chunk_index(place: IVec3, bits: u32) -> usize {
    let [i, j, k] = (place & ((1 << bits) - 1)).to_array().map(|place| place as usize);
    (((i << bits) + j) << bits) + k
}

/// Twice the offset of a value in its voxel, per axis: 1 in the middle, 0 at the lower end.
fn twice_offset(centring: Centring) -> IVec3 {
    (centring.offset() * 2.0).as_ivec3()
}

/// The nodes of the next coarser level between which a node lies, with trilinear weights; z fastest.
///
/// A node at i + c (c the centring) lies at (i + c)/2 − c coarse nodes: a whole number of quarters, so
/// that the weights are exact. Nodes of no weight are left out.
pub(crate) fn coarser_nodes(
    centring: Centring,
    place: IVec3,
) -> impl Iterator<Item = (IVec3, f64)> {
    let quarters = 2 * place - twice_offset(centring);
    let (base, beyond) = (quarters >> 2, (quarters & 3).as_dvec3() / 4.0);
    corners().filter_map(move |corner| {
        let weights = (1 - corner).as_dvec3() * (1.0 - beyond) + corner.as_dvec3() * beyond;
        let weight = weights.element_product();
        (weight != 0.0).then_some((base + corner, weight))
    })
}

/// The nodes of the next finer level that make up a node, with equal weights; z fastest.
pub(crate) fn finer_nodes(centring: Centring, place: IVec3) -> impl Iterator<Item = (IVec3, f64)> {
    let both = twice_offset(centring);
    let weight = 1.0 / f64::from(1 << both.element_sum());
    corners()
        .filter(move |corner| corner.cmple(both).all())
        .map(move |corner| (2 * place + corner, weight))
}

/// The corners of a unit cube, z fastest.
fn corners() -> impl Iterator<Item = IVec3> {
    (0..8).map(|n| IVec3::new(n >> 2, n >> 1 & 1, n & 1))
}
