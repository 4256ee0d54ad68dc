//! Cells and faces of a Bucket beside those next to them along an axis, across the Bucket's own border.
//!
//! Voxel n = x<<6 | y<<3 | z; face n of an axis is the lower face of cell n.

/// Voxels of a Bucket.
pub const VOXELS: usize = 512;

/// A number for each voxel of a Bucket.
pub type Chunk = [f32; VOXELS];

/// A copy of a chunk.
#[inline]
pub fn chunk(values: &[f32]) -> Chunk {
    let mut chunk = [0.0; VOXELS];
    chunk.copy_from_slice(&values[..VOXELS]);
    chunk
}

/// By voxel, what the next voxel up the axis has; `next` is the Bucket there.
#[inline]
pub fn upper(axis: usize, own: &[f32], next: &[f32]) -> Chunk {
    let mut shifted = [0.0; VOXELS];
    match axis {
        0 => {
            shifted[..448].copy_from_slice(&own[64..512]);
            shifted[448..].copy_from_slice(&next[..64]);
        }
        1 => {
            for x in (0..VOXELS).step_by(64) {
                shifted[x..x + 56].copy_from_slice(&own[x + 8..x + 64]);
                shifted[x + 56..x + 64].copy_from_slice(&next[x..x + 8]);
            }
        }
        _ => {
            for row in (0..VOXELS).step_by(8) {
                shifted[row..row + 7].copy_from_slice(&own[row + 1..row + 8]);
                shifted[row + 7] = next[row];
            }
        }
    }
    shifted
}

/// By voxel, what the next voxel down the axis has; `next` is the Bucket there.
#[inline]
pub fn lower(axis: usize, own: &[f32], next: &[f32]) -> Chunk {
    let mut shifted = [0.0; VOXELS];
    match axis {
        0 => {
            shifted[64..].copy_from_slice(&own[..448]);
            shifted[..64].copy_from_slice(&next[448..512]);
        }
        1 => {
            for x in (0..VOXELS).step_by(64) {
                shifted[x + 8..x + 64].copy_from_slice(&own[x..x + 56]);
                shifted[x..x + 8].copy_from_slice(&next[x + 56..x + 64]);
            }
        }
        _ => {
            for row in (0..VOXELS).step_by(8) {
                shifted[row + 1..row + 8].copy_from_slice(&own[row..row + 7]);
                shifted[row] = next[row + 7];
            }
        }
    }
    shifted
}

/// A bit for each voxel of a Bucket.
pub type Bits = [u64; 8];

/// The bits of a chunk of a mask.
#[inline]
pub fn bits(chunk: &[u64]) -> Bits {
    let mut bits = [0; 8];
    bits.copy_from_slice(&chunk[..8]);
    bits
}

/// z = 0 of every row.
const FIRST: u64 = 0x0101_0101_0101_0101;

/// By voxel, the bit of the next voxel up the axis; `next` is the Bucket there.
#[inline]
pub fn upper_bits(axis: usize, own: &Bits, next: &Bits) -> Bits {
    std::array::from_fn(|x| match axis {
        0 if x == 7 => next[0],
        0 => own[x + 1],
        1 => own[x] >> 8 | next[x] << 56,
        _ => (own[x] & !FIRST) >> 1 | (next[x] & FIRST) << 7,
    })
}

/// By voxel, the bit of the next voxel down the axis; `next` is the Bucket there.
#[inline]
pub fn lower_bits(axis: usize, own: &Bits, next: &Bits) -> Bits {
    std::array::from_fn(|x| match axis {
        0 if x == 0 => next[7],
        0 => own[x - 1],
        1 => own[x] << 8 | next[x] >> 56,
        _ => (own[x] << 1 & !FIRST) | (next[x] >> 7 & FIRST),
    })
}

/// Whether a bit is on.
#[inline]
pub fn is_on(bits: &Bits, voxel: usize) -> bool {
    bits[voxel >> 6] >> (voxel & 63) & 1 != 0
}

/// The voxels whose bits are on, ascending.
pub fn ones(bits: &Bits) -> impl Iterator<Item = usize> {
    bits.iter().enumerate().flat_map(|(x, &word)| {
        std::iter::successors(Some(word), |rest| Some(rest & rest.wrapping_sub(1)))
            .take_while(|rest| *rest != 0)
            .map(move |rest| x << 6 | rest.trailing_zeros() as usize)
    })
}

/// The offset of the next Bucket along an axis, up or down.
#[inline]
pub fn step(axis: usize, by: i32) -> (i32, i32, i32) {
    match axis {
        0 => (by, 0, 0),
        1 => (0, by, 0),
        _ => (0, 0, by),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The place of a voxel of three Buckets in a row, which are numbered on.
    fn number(axis: usize, bucket: usize, voxel: usize) -> f32 {
        let along = [voxel >> 6, voxel >> 3 & 7, voxel & 7][axis];
        (8 * bucket + along) as f32
    }

    #[test]
    fn neighbours_are_one_further_along_their_axis_alone() {
        for axis in 0..3 {
            let bucket = |n| (0..VOXELS).map(|voxel| number(axis, n, voxel)).collect::<Vec<_>>();
            let [below, own, above] = [bucket(0), bucket(1), bucket(2)];
            let (up, down) = (upper(axis, &own, &above), lower(axis, &own, &below));
            assert!((0..VOXELS).all(|n| up[n] == own[n] + 1.0 && down[n] == own[n] - 1.0));
        }
    }

    #[test]
    fn bits_move_as_numbers_do() {
        for axis in 0..3 {
            let some = |seed: u64| -> Bits {
                std::array::from_fn(|n| (seed + n as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15))
            };
            let (own, next) = (some(3), some(77));
            let number = |bits: &Bits| -> Vec<f32> {
                (0..VOXELS).map(|n| f32::from(u8::from(is_on(bits, n)))).collect()
            };
            let moved = number(&lower_bits(axis, &own, &next));
            assert_eq!(moved, lower(axis, &number(&own), &number(&next)));
            let moved = number(&upper_bits(axis, &own, &next));
            assert_eq!(moved, upper(axis, &number(&own), &number(&next)));
            assert_eq!(ones(&own).count(), number(&own).iter().filter(|&&on| on > 0.0).count());
            assert!(ones(&own).all(|voxel| is_on(&own, voxel)));
        }
    }
}
