//! A bit for each voxel of a Bucket and of those next to it, in rows along z that are handled as one.

use undine_core::access::VoxelNeighbourhood;

/// The bits of the eight voxels of a row.
pub const FULL: u16 = 0xff;

/// The bits of 10³ voxels: a Bucket's, and one more on every side.
#[derive(Debug, Clone)]
pub struct Padded {
    /// By x and y; bit z + 1 is that of voxel z.
    rows: [u16; 100],
}

impl Padded {
    /// From masks of 8³ bits.
    pub fn load(words: &VoxelNeighbourhood<'_, u64>) -> Self {
        let mut rows = [0; 100];
        for x in -1..=8_i32 {
            for beside in -1..=1_i32 {
                let [below, here, above] =
                    [-1, 0, 1].map(|z| words.neighbour(x >> 3, beside, z)[(x & 7) as usize]);
                let within = match beside {
                    -1 => 7..8,
                    0 => 0..8,
                    _ => 0..1,
                };
                for y in within {
                    let bit = |word: u64, z: i32| (word >> (8 * y + z)) as u16;
                    let row =
                        bit(below, 7) & 1 | (bit(here, 0) & FULL) << 1 | (bit(above, 0) & 1) << 9;
                    rows[((x + 1) * 10 + y + 8 * beside + 1) as usize] = row;
                }
            }
        }
        Self { rows }
    }

    /// The bits of the voxels (x, y, z…z+7).
    #[inline]
    pub fn row(&self, x: i32, y: i32, z: i32) -> u16 {
        self.rows[((x + 1) * 10 + y + 1) as usize] >> (z + 1) & FULL
    }

    /// The bit of a voxel.
    #[inline]
    pub fn get(&self, x: i32, y: i32, z: i32) -> u16 {
        self.row(x, y, z) & 1
    }

    /// Whether no bit is set.
    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(|row| *row == 0)
    }

    /// The same without the bits of another one.
    pub fn without(&self, other: &Self) -> Self {
        Self { rows: std::array::from_fn(|n| self.rows[n] & !other.rows[n]) }
    }
}

/// The bits of a Bucket, moved up by one voxel along an axis: each is that of the voxel below.
pub fn shifted_up(words: &VoxelNeighbourhood<'_, u64>, axis: usize) -> [u64; 8] {
    /// The first voxel of each row.
    const FIRST: u64 = 0x0101_0101_0101_0101;
    let here = words.chunk();
    match axis {
        0 => {
            let below = words.neighbour(-1, 0, 0);
            std::array::from_fn(|x| if x > 0 { here[x - 1] } else { below[7] })
        }
        1 => {
            let below = words.neighbour(0, -1, 0);
            std::array::from_fn(|x| here[x] << 8 | below[x] >> 56)
        }
        _ => {
            let below = words.neighbour(0, 0, -1);
            std::array::from_fn(|x| here[x] << 1 & !FIRST | below[x] >> 7 & FIRST)
        }
    }
}

/// Where numbers are positive, as bits.
pub fn positive(values: &[f32]) -> [u64; 8] {
    where_true(values, |value| value > 0.0)
}

/// Where numbers are no less than a limit, as bits.
pub fn at_least(values: &[f32], limit: f32) -> [u64; 8] {
    where_true(values, |value| value >= limit)
}

/// Where numbers are other than zero, as bits.
pub fn where_not_zero(values: &[f32]) -> [u64; 8] {
    where_true(values, |value| value != 0.0)
}

/// Where something holds of a number, as bits: a byte at a time, so that it is done four numbers wide.
#[inline(always)]
fn where_true(values: &[f32], holds: impl Fn(f32) -> bool) -> [u64; 8] {
    let mut words = [0; 8];
    for (word, values) in words.iter_mut().zip(values.as_chunks::<64>().0) {
        for (place, values) in values.as_chunks::<8>().0.iter().enumerate() {
            let byte = values
                .iter()
                .enumerate()
                .fold(0, |byte, (bit, value)| byte | u64::from(holds(*value)) << bit);
            *word |= byte << (8 * place);
        }
    }
    words
}
