//! The median filter: of the values in a cube, the one in the middle.
//!
//! Found by forgetting: of n values, neither the smallest nor the largest of any n/2 + 2 can be in the middle. So these
//! two go, one more value comes in, and so on until one is left. Eight voxels along z at once, without branches.

use super::filter::Buffer;
use multiversion::multiversion;
use undine_core::access::Tile;

/// A row of voxels along z.
type Row = [f32; 8];

/// The median of the cube around each voxel of a Bucket that reaches so many voxels in each direction.
pub(super) fn median(tile: &Tile<f32>, reach: u8, buffer: &mut Buffer, to: &mut [f32]) {
    let reach = i32::from(reach);
    let (rows, _) = to.as_chunks_mut::<8>();
    for (n, to) in rows.iter_mut().enumerate() {
        let (x, y) = (n as i32 >> 3, n as i32 & 7);
        buffer.clear();
        for i in -reach..=reach {
            for j in -reach..=reach {
                for k in -reach..=reach {
                    let at = tile.index(x + i, y + j, k);
                    buffer.extend_from_slice(&tile.values()[at..at + 8]);
                }
            }
        }
        *to = middle(buffer.as_chunks_mut::<8>().0);
    }
}

/// The value in the middle, of an odd number of rows, in each lane.
#[multiversion(targets("x86_64+avx2"))]
fn middle(rows: &mut [Row]) -> Row {
    let mut kept = (rows.len() / 2 + 2).min(rows.len());
    let (working, rest) = rows.split_at_mut(kept);
    for next in rest.iter() {
        ends_apart(&mut working[..kept]);
        working[0] = *next;
        kept -= 1;
    }
    ends_apart(&mut working[..kept]);
    working[kept / 2]
}

/// Brings the smallest to the front and the largest to the back.
#[inline(always)]
fn ends_apart(rows: &mut [Row]) {
    let Some((first, others)) = rows.split_first_mut() else { return };
    others.iter_mut().for_each(|other| in_order(first, other));
    let Some((last, others)) = others.split_last_mut() else { return };
    others.iter_mut().for_each(|other| in_order(other, last));
}

/// Exchanges what is not in order. What is no number stays where it is.
#[inline(always)]
fn in_order(low: &mut Row, high: &mut Row) {
    for (low, high) in low.iter_mut().zip(high) {
        let (a, b) = (*low, *high);
        *low = if b < a { b } else { a };
        *high = if b < a { a } else { b };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random;
    use undine_core::access::Pad;
    use undine_core::volume::Resolution;

    #[test]
    fn the_middle_is_that_of_the_sorted_values() {
        for (count, seed) in [(1, 1), (3, 2), (27, 3), (27, 4), (125, 5)] {
            // Few different values, so that many are equal.
            let value = |n: usize| (random::bits(seed, n as u64) % 40) as f32;
            let rows: Vec<Row> =
                (0..count).map(|row| std::array::from_fn(|n| value(8 * row + n))).collect();
            let found = middle(&mut rows.clone());
            for (lane, found) in found.iter().enumerate() {
                let mut sorted: Vec<f32> = rows.iter().map(|row| row[lane]).collect();
                sorted.sort_unstable_by(f32::total_cmp);
                assert_eq!(*found, sorted[count / 2], "{count} rows, lane {lane}");
            }
        }
    }

    #[test]
    fn the_median_of_a_plane_that_ends_in_a_band_is_itself_bit_for_bit() {
        for (slopes, width) in [([1.0, 0.0, 0.0], 9.0), ([0.5, -0.25, 0.75], 2.0)] {
            let [a, b, c]: [f32; 3] = slopes;
            let mut tile = Tile::new(Resolution::R8, Pad::both(2), 0.0);
            let plane = |x: i32, y: i32, z: i32| {
                (a * x as f32 + b * y as f32 + c * z as f32 - 1.5).clamp(-width, width)
            };
            for n in 0..12 * 12 * 12 {
                let (x, y, z) = (n / 144 - 2, n / 12 % 12 - 2, n % 12 - 2);
                let at = tile.index(x, y, z);
                tile.values_mut()[at] = plane(x, y, z);
            }
            for reach in [1, 2] {
                let mut found = [0.0; 512];
                median(&tile, reach, &mut Buffer::new(), &mut found);
                for (place, found) in found.iter().enumerate() {
                    let [x, y, z] = Resolution::R8.coords(place).map(|n| n as i32);
                    assert_eq!(*found, plane(x, y, z), "{x} {y} {z}");
                }
            }
        }
    }
}
