//! All that may be near to the particles of a cell.

use super::neighbour::Neighbour;
use super::patch::Patch;
use glam::Vec3;

/// Candidates are tested so many at a time.
pub(super) const LANES: usize = 8;

/// What may be near to the particles of a cell, in a list padded to a multiple of [`LANES`].
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// Offsets from the corners of the particles' own Buckets [m], by axis.
    offsets: [Vec<f32>; 3],
    /// From the corner of the Bucket being visited to those corners [m], by axis.
    shifts: [Vec<f32>; 3],
    who: Vec<Neighbour>,
    /// How many blocks of [`LANES`] are filled; the vectors only ever grow.
    blocks: usize,
    /// Whether any shift is not zero.
    shifted: bool,
}

/// Candidates in blocks, ready to be tested; infinitely far ones fill the last block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Blocks<'c> {
    /// Offsets from the corners of the particles' own Buckets [m], by axis.
    pub offsets: [&'c [[f32; LANES]]; 3],
    /// From the corner of the Bucket being visited to those corners [m], by axis; void unless `shifted`.
    pub shifts: [&'c [[f32; LANES]]; 3],
    /// Which particles they are.
    pub who: &'c [Neighbour],
    /// Whether any shift is not zero.
    pub shifted: bool,
}

impl Candidates {
    /// Collects the particles in and around a cell of a patch, in a Bucket `bucket` wide [m]. Returns
    /// where the cell's own particles begin.
    pub fn collect(&mut self, patch: &Patch, [x, y, z]: [usize; 3], bucket: f32) -> usize {
        let near = |n: usize| (x - 1 + n / 3, y - 1 + n % 3);
        let rows: [_; 9] = std::array::from_fn(|n| {
            let (x, y) = near(n);
            patch.row(x, y, z - 1..z + 2)
        });
        let len: usize = rows.iter().map(ExactSizeIterator::len).sum();
        self.make_room(len);

        // Copy whole blocks: what is too much is written over by the next row, or made void in the end.
        let mut at = 0;
        for row in &rows {
            for (to, from) in self.offsets.iter_mut().zip(&patch.offsets) {
                copy_blocks(&mut to[at..], &from[row.start..], row.len());
            }
            copy_blocks(&mut self.who[at..], &patch.who[row.start..], row.len());
            at += row.len();
        }
        // Nothing is near to infinity.
        self.blocks = len.div_ceil(LANES);
        self.offsets.iter_mut().for_each(|axis| axis[len..self.blocks * LANES].fill(f32::INFINITY));

        // Shifts matter only next to the Bucket's faces.
        let beyond = patch.edge() - 1;
        self.shifted = [x, y, z].iter().any(|&cell| cell == 1 || cell == beyond - 1);
        if self.shifted {
            let shift = |cell: usize| match cell {
                0 => -bucket,
                cell if cell == beyond => bucket,
                _ => 0.0,
            };
            let mut at = 0;
            for (n, row) in rows.iter().enumerate() {
                let (near_x, near_y) = near(n);
                fill_blocks(&mut self.shifts[0][at..], shift(near_x), row.len());
                fill_blocks(&mut self.shifts[1][at..], shift(near_y), row.len());
                for near_z in z - 1..=z + 1 {
                    let len = patch.cell(near_x, near_y, near_z).len();
                    fill_blocks(&mut self.shifts[2][at..], shift(near_z), len);
                    at += len;
                }
            }
        }
        let before: usize = rows[..4].iter().map(ExactSizeIterator::len).sum();
        before + patch.cell(x, y, z - 1).len()
    }

    /// Room for `len` candidates and a block more.
    fn make_room(&mut self, len: usize) {
        let room = len.next_multiple_of(LANES) + LANES;
        if self.who.len() < room {
            self.offsets.iter_mut().for_each(|axis| axis.resize(room, 0.0));
            self.shifts.iter_mut().for_each(|axis| axis.resize(room, 0.0));
            self.who.resize(room, Neighbour::default());
        }
    }

    /// The candidates in blocks.
    pub fn blocks(&self) -> Blocks<'_> {
        let blocks = |axis| &<[f32]>::as_chunks::<LANES>(axis).0[..self.blocks];
        Blocks {
            offsets: self.offsets.each_ref().map(|axis| blocks(axis)),
            shifts: self.shifts.each_ref().map(|axis| blocks(axis)),
            who: &self.who[..self.blocks * LANES],
            shifted: self.shifted,
        }
    }
}

impl Blocks<'_> {
    /// How many blocks there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.offsets[0].len()
    }

    /// The offset of a candidate from a particle [m]: `(x_j − x_i) + shift` along each axis.
    #[inline]
    pub fn offset(&self, candidate: usize, particle: Vec3) -> Vec3 {
        let (block, lane) = (candidate / LANES, candidate % LANES);
        let [x, y, z] = self.offsets.map(|axis| axis[block][lane]);
        let offset = Vec3::new(x, y, z) - particle;
        if !self.shifted {
            return offset;
        }
        let [x, y, z] = self.shifts.map(|axis| axis[block][lane]);
        offset + Vec3::new(x, y, z)
    }
}

/// Copies `len` elements and up to a block more.
#[inline]
fn copy_blocks<T: Copy>(to: &mut [T], from: &[T], len: usize) {
    let blocks = len.div_ceil(LANES);
    let (to, from) = (to.as_chunks_mut::<LANES>().0, from.as_chunks::<LANES>().0);
    for (to, from) in to[..blocks].iter_mut().zip(&from[..blocks]) {
        *to = *from;
    }
}

/// Fills `len` elements and up to a block more.
#[inline]
fn fill_blocks<T: Copy>(to: &mut [T], value: T, len: usize) {
    for to in &mut to.as_chunks_mut::<LANES>().0[..len.div_ceil(LANES)] {
        *to = [value; LANES];
    }
}
