//! The median filter: of the values in a cube, the one in the middle.

use super::filter::Buffer;
use undine_core::access::Tile;
use undine_core::volume::Resolution;

/// The median of the cube around each voxel of a Bucket that reaches so many voxels in each direction.
pub(super) fn median(tile: &Tile<f32>, reach: u8, buffer: &mut Buffer, to: &mut [f32]) {
    let reach = i32::from(reach);
    let side = 2 * reach as usize + 1;
    for (place, to) in to.iter_mut().enumerate() {
        let [x, y, z] = Resolution::R8.coords(place).map(|n| n as i32);
        buffer.clear();
        for i in -reach..=reach {
            for j in -reach..=reach {
                let at = tile.index(x + i, y + j, z - reach);
                buffer.extend_from_slice(&tile.values()[at..at + side]);
            }
        }
        let middle = buffer.len() / 2;
        *to = *buffer.select_nth_unstable_by(middle, f32::total_cmp).1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undine_core::access::Pad;

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
