//! The Laplacian filter: φ + h²/12·Δφ with the seven-point Laplacian. The half step damps every wave, also the shortest.

use multiversion::multiversion;
use undine_core::access::Tile;

/// Moves each voxel half of the way to the mean of its six neighbours.
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn towards_neighbours(tile: &Tile<f32>, to: &mut [f32]) {
    let values = tile.values();
    let (slab, row) = (tile.slab(), tile.row());
    for (n, to) in to.chunks_exact_mut(8).enumerate() {
        let at = tile.index(n as i32 >> 3, n as i32 & 7, 0);
        let row_at = |start: usize| -> &[f32; 8] {
            values[start..start + 8].try_into().expect("eight voxels")
        };
        let own = row_at(at);
        let [x0, x1] = [at - slab, at + slab].map(row_at);
        let [y0, y1] = [at - row, at + row].map(row_at);
        let [z0, z1] = [at - 1, at + 1].map(row_at);
        for i in 0..8 {
            // Differences of opposite neighbours first: on a plane they cancel, and it stays as it is.
            let bent = ((x0[i] - own[i]) + (x1[i] - own[i]))
                + ((y0[i] - own[i]) + (y1[i] - own[i]))
                + ((z0[i] - own[i]) + (z1[i] - own[i]));
            to[i] = own[i] + bent * (1.0 / 12.0);
        }
    }
}
