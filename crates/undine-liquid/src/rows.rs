//! A bit for each cell of a Bucket and around it, in rows along z: masks that are widened.

use undine_core::access::VoxelNeighbourhood;

/// How far beyond a Bucket its [`Rows`] reach.
pub const PAD: i32 = 5;
const WIDTH: usize = 8 + 2 * PAD as usize;

/// The bits of a Bucket and around it, a row along z in each word.
pub struct Rows([[u32; WIDTH]; WIDTH]);

impl Rows {
    /// Those of a mask, declared with a stencil of a Bucket.
    pub fn load(mask: &VoxelNeighbourhood<'_, u64>) -> Self {
        let mut rows = [[0; WIDTH]; WIDTH];
        for (x, plane) in rows.iter_mut().enumerate() {
            let x = x as i32 - PAD;
            for y in -1..=1 {
                let words = [-1, 0, 1].map(|z| mask.neighbour(x >> 3, y, z)[(x & 7) as usize]);
                let within = (0..8).filter(|row| (-PAD..8 + PAD).contains(&(8 * y + row)));
                for row in within {
                    let [low, own, high] = words.map(|word| (word >> (8 * row)) as u32 & 0xff);
                    plane[(8 * y + row + PAD) as usize] =
                        low >> (8 - PAD) | own << PAD | (high << (PAD + 8)) & ((1 << WIDTH) - 1);
                }
            }
        }
        Self(rows)
    }

    /// Sets every bit that is within `n` of one along each axis; at the ends of the rows only by what is seen from there.
    pub fn dilate(&self, n: u32) -> Self {
        let mut rows = self.0;
        for _ in 0..n {
            let mut wider = [[0; WIDTH]; WIDTH];
            for (plane, wider) in rows.iter_mut().zip(&mut wider) {
                for row in plane.iter_mut() {
                    *row |= *row << 1 | *row >> 1;
                }
                for (y, to) in wider.iter_mut().enumerate() {
                    *to = plane[y] | plane[y.saturating_sub(1)] | plane[(y + 1).min(WIDTH - 1)];
                }
            }
            for (x, plane) in rows.iter_mut().enumerate() {
                let [low, high] = [x.saturating_sub(1), (x + 1).min(WIDTH - 1)];
                for (y, to) in plane.iter_mut().enumerate() {
                    *to = wider[x][y] | wider[low][y] | wider[high][y];
                }
            }
        }
        Self(rows)
    }

    /// The bits that another one has, too.
    pub fn and(&self, other: &Self) -> Self {
        let mut rows = self.0;
        for (row, other) in rows.iter_mut().flatten().zip(other.0.iter().flatten()) {
            *row &= other;
        }
        Self(rows)
    }

    /// Writes the bits of the Bucket.
    pub fn store(&self, to: &mut [u64]) {
        for (x, to) in to.iter_mut().enumerate() {
            let plane = &self.0[x + PAD as usize];
            *to = (0..8).fold(0, |word, y| {
                word | u64::from(plane[y + PAD as usize] >> PAD & 0xff) << (8 * y)
            });
        }
    }
}
