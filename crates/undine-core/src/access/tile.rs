//! A private padded copy of a Bucket's voxels, for gathering a neighbourhood and for scattering.

use crate::domain::offset_towards;
use crate::element::Element;
use crate::volume::Resolution;

/// How many voxels a tile has beyond its Bucket: below and above, along each axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pad {
    /// Towards smaller coordinates.
    pub low: u8,
    /// Towards larger coordinates.
    pub high: u8,
}

impl Pad {
    /// The same on both sides.
    pub const fn both(n: u8) -> Self {
        Self { low: n, high: n }
    }

    /// The larger of the two sides.
    pub fn reach(self) -> usize {
        usize::from(self.low.max(self.high))
    }
}

/// The voxels of a Bucket with a padding, x slowest, z fastest, rows rounded up to four.
#[derive(Debug, Clone)]
pub struct Tile<T> {
    values: Vec<T>,
    edge: usize,
    pad: Pad,
    /// Voxels along an axis, with padding.
    width: usize,
    /// Elements from one row to the next.
    row: usize,
}

impl<T: Element> Tile<T> {
    /// A tile filled with `value`.
    pub fn new(resolution: Resolution, pad: Pad, value: T) -> Self {
        let edge = resolution.edge();
        let width = edge + usize::from(pad.low) + usize::from(pad.high);
        // Rows end on a multiple of four with at least one to spare, so that a kernel three wide may
        // be handled four wide without leaving its row.
        let row = (width + 1).next_multiple_of(4);
        Self { values: vec![value; width * width * row], edge, pad, width, row }
    }

    /// All elements: rows of [`Self::row`] along z.
    #[inline]
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// All elements: rows of [`Self::row`] along z.
    #[inline]
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// Elements from one row (x, y) to the next.
    #[inline]
    pub fn row(&self) -> usize {
        self.row
    }

    /// Elements from one x to the next.
    #[inline]
    pub fn slab(&self) -> usize {
        self.row * self.width
    }

    /// Voxels along an axis, with padding.
    #[inline]
    pub fn width(&self) -> usize {
        self.width
    }

    /// The padding.
    pub fn pad(&self) -> Pad {
        self.pad
    }

    /// The place of a voxel, by its coordinates relative to the Bucket's first voxel.
    #[inline]
    pub fn index(&self, x: i32, y: i32, z: i32) -> usize {
        let low = i32::from(self.pad.low);
        ((x + low) as usize * self.width + (y + low) as usize) * self.row + (z + low) as usize
    }

    /// Whether the tile is one for this resolution with this padding.
    pub(super) fn fits(&self, resolution: Resolution, pad: Pad) -> bool {
        self.edge == resolution.edge() && self.pad == pad
    }

    /// Fills the tile from the chunks of a Bucket and its neighbours, given by offset.
    pub(super) fn load<'c>(
        &mut self,
        resolution: Resolution,
        chunk: impl Fn(i32, i32, i32) -> &'c [T],
    ) where
        T: 'c,
    {
        debug_assert_eq!(resolution.edge(), self.edge, "the tile fits another resolution");
        for ((x, y, z), part) in self.parts() {
            let source = chunk(x, y, z);
            // Rows whose length the compiler knows are copied in a few moves, and most are.
            match part.len[2] {
                8 => self.copy::<8>(&part, source, resolution),
                4 => self.copy::<4>(&part, source, resolution),
                1 => self.copy::<1>(&part, source, resolution),
                len => {
                    for (to, from) in self.rows(&part, resolution) {
                        self.values[to..to + len].copy_from_slice(&source[from..from + len]);
                    }
                }
            }
        }
    }

    /// Copies a part whose rows have `LEN` elements.
    fn copy<const LEN: usize>(&mut self, part: &Part, source: &[T], resolution: Resolution) {
        for (to, from) in self.rows(part, resolution) {
            let (to, from) = (&mut self.values[to..to + LEN], &source[from..from + LEN]);
            if let (Some(to), Some(from)) = (to.first_chunk_mut::<LEN>(), from.first_chunk()) {
                *to = *from;
            }
        }
    }

    /// Asks the CPU to fetch what [`Self::add_to`] will touch. Rows lie in many chunks, a few voxels in
    /// each: too scattered for the CPU to see them coming.
    pub(super) fn expect(
        &self,
        resolution: Resolution,
        chunk: impl Fn(i32, i32, i32) -> Option<*mut T>,
    ) {
        for ((x, y, z), part) in self.parts() {
            if let Some(chunk) = chunk(x, y, z) {
                self.rows(&part, resolution).for_each(|(_, at)| prefetch(chunk.wrapping_add(at)));
            }
        }
    }

    /// Adds the tile to the chunks of a Bucket and its neighbours, given by offset as the address of
    /// their first voxel, and sets it to zero. What lies in a chunk that does not exist is lost.
    ///
    /// # Safety
    /// The addresses must be those of whole chunks of this resolution, and nobody else may touch the
    /// voxels that the tile covers.
    pub(super) unsafe fn add_to(
        &mut self,
        resolution: Resolution,
        chunk: impl Fn(i32, i32, i32) -> Option<*mut T>,
    ) {
        debug_assert_eq!(resolution.edge(), self.edge, "the tile fits another resolution");
        for ((x, y, z), part) in self.parts() {
            let Some(chunk) = chunk(x, y, z) else { continue };
            for (from, to) in self.rows(&part, resolution) {
                // SAFETY: the row lies in the chunk, and by the caller's promise it is ours alone.
                let to = unsafe { std::slice::from_raw_parts_mut(chunk.add(to), part.len[2]) };
                let from = &self.values[from..from + part.len[2]];
                each_pair(to, from, |to, from| *to = to.sum(*from));
            }
        }
        self.values.fill(T::zeroed());
    }

    /// The parts of the tile that lie in each of the up to 27 Buckets, by the Bucket's offset.
    fn parts(&self) -> impl Iterator<Item = ((i32, i32, i32), Part)> + use<T> {
        let axis = self.axis_parts();
        (0..27)
            .map(move |n: usize| {
                let parts = [axis[n / 9], axis[n / 3 % 3], axis[n % 3]];
                let part = Part {
                    tile: parts.map(|part| part.0),
                    chunk: parts.map(|part| part.1),
                    len: parts.map(|part| part.2),
                };
                (offset_towards(n).into(), part)
            })
            .filter(|(_, part)| !part.len.contains(&0))
    }

    /// Where each row of a part begins, in the tile and in the chunk.
    fn rows(
        &self,
        part: &Part,
        resolution: Resolution,
    ) -> impl Iterator<Item = (usize, usize)> + use<T> {
        let (row, slab) = (self.row(), self.slab());
        let in_tile = part.tile[0] * slab + part.tile[1] * row + part.tile[2];
        let in_chunk = resolution.index(part.chunk[0], part.chunk[1], part.chunk[2]);
        let [x, y, _] = part.len;
        (0..x).flat_map(move |x| {
            (0..y)
                .map(move |y| (in_tile + x * slab + y * row, in_chunk + resolution.index(x, y, 0)))
        })
    }

    /// Along one axis: where the parts below, in and above the Bucket begin in the tile and in their
    /// chunk, and how long they are.
    fn axis_parts(&self) -> [(usize, usize, usize); 3] {
        let (low, high) = (usize::from(self.pad.low), usize::from(self.pad.high));
        [(0, self.edge - low, low), (low, 0, self.edge), (low + self.edge, 0, high)]
    }
}

/// A box of voxels, in the tile and in a chunk.
struct Part {
    tile: [usize; 3],
    chunk: [usize; 3],
    len: [usize; 3],
}

/// Calls `act` with the elements of two rows. Four at a time: rows are too short for anything longer.
#[inline(always)]
fn each_pair<T>(to: &mut [T], from: &[T], mut act: impl FnMut(&mut T, &T)) {
    let ((to, to_rest), (from, from_rest)) = (to.as_chunks_mut::<4>(), from.as_chunks::<4>());
    for (to, from) in to.iter_mut().zip(from) {
        to.iter_mut().zip(from).for_each(|(to, from)| act(to, from));
    }
    to_rest.iter_mut().zip(from_rest).for_each(|(to, from)| act(to, from));
}

/// Asks the CPU to fetch the line of an address, wherever it points.
#[inline(always)]
fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, without effect but on speed; every x86-64 CPU knows it.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T1>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::direction;

    /// The chunks of 27 Buckets, and the voxel at a place relative to the middle one's first.
    struct Around {
        chunks: Vec<Vec<f32>>,
        resolution: Resolution,
    }

    impl Around {
        fn new(resolution: Resolution) -> Self {
            Self { chunks: vec![vec![0.0; resolution.voxels()]; 27], resolution }
        }

        fn at(&mut self, place: [i32; 3]) -> &mut f32 {
            let (edge, bits) = (self.resolution.edge() as i32, self.resolution.bits());
            let [x, y, z] = place.map(|c| (c & (edge - 1)) as usize);
            let bucket = place.map(|c| c >> bits);
            &mut self.chunks[direction(bucket[0], bucket[1], bucket[2])]
                [self.resolution.index(x, y, z)]
        }
    }

    fn places(resolution: Resolution, pad: Pad) -> impl Iterator<Item = [i32; 3]> {
        let along = -i32::from(pad.low)..resolution.edge() as i32 + i32::from(pad.high);
        let (x, y, z) = (along.clone(), along.clone(), along);
        x.flat_map(move |x| {
            let z = z.clone();
            y.clone().flat_map(move |y| z.clone().map(move |z| [x, y, z]))
        })
    }

    #[test]
    fn a_tile_is_added_to_the_voxels_that_it_covers_and_loaded_from_them() {
        let pads = [Pad { low: 1, high: 2 }, Pad { low: 0, high: 1 }, Pad::both(0), Pad::both(2)];
        for resolution in [Resolution::R4, Resolution::R8, Resolution::R16] {
            for pad in pads {
                let mut around = Around::new(resolution);
                let mut expected = Around::new(resolution);
                let mut tile = Tile::new(resolution, pad, 0.0);
                for (n, place) in places(resolution, pad).enumerate() {
                    let [x, y, z] = place;
                    let index = tile.index(x, y, z);
                    tile.values_mut()[index] = n as f32;
                    *around.at(place) = 0.5;
                    *expected.at(place) = n as f32 + 0.5;
                }
                let missing = direction(1, 0, 0);
                expected.chunks[missing] = around.chunks[missing].clone();
                let addresses: Vec<*mut f32> =
                    around.chunks.iter_mut().map(|chunk| chunk.as_mut_ptr()).collect();
                let chunk = |x, y, z| {
                    let at = direction(x, y, z);
                    (at != missing).then_some(addresses[at])
                };
                tile.expect(resolution, chunk);
                // SAFETY: the addresses are of whole chunks, which nobody else touches.
                unsafe { tile.add_to(resolution, chunk) };
                assert_eq!(around.chunks, expected.chunks, "{resolution:?}, {pad:?}");
                assert!(tile.values().iter().all(|value| *value == 0.0));

                tile.load(resolution, |x, y, z| &around.chunks[direction(x, y, z)][..]);
                for place in places(resolution, pad) {
                    let [x, y, z] = place;
                    assert_eq!(
                        tile.values()[tile.index(x, y, z)],
                        *expected.at(place),
                        "{place:?}"
                    );
                }
            }
        }
    }
}
