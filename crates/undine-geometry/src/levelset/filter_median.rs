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
