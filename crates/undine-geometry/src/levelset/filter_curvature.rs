//! Flow by mean curvature: φₜ = κ|∇φ| with κ = ∇·(∇φ/|∇φ|), from central differences (Osher and Fedkiw 2003, §4.1):
//!
//! κ|∇φ|³ = φₓₓ(φᵧ² + φ_z²) + φᵧᵧ(φₓ² + φ_z²) + φ_zz(φₓ² + φᵧ²) − 2(φₓφᵧφₓᵧ + φₓφ_zφₓ_z + φᵧφ_zφᵧ_z)

use multiversion::multiversion;
use undine_core::access::Tile;

/// One explicit step of the flow for `time` [m²], at most a sixth of the square of the `voxel` [m]. |κ| is at most one per
/// voxel: what is smaller is not resolved.
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn curvature_flow(tile: &Tile<f32>, voxel: f32, time: f32, to: &mut [f32]) {
    let values = tile.values();
    let (dx, dy) = (tile.slab(), tile.row());
    // Lengths in voxels: then slopes are about 1, and curvatures 1 at most.
    let (per_voxel, step) = (1.0 / voxel, time / voxel);
    for (n, to) in to.chunks_exact_mut(8).enumerate() {
        let at = tile.index(n as i32 >> 3, n as i32 & 7, 0);
        // A row and its 18 neighbours along z: windows that the compiler can see the ends of.
        let row = |shift: isize| -> &[f32; 8] {
            let start = (at as isize + shift) as usize;
            values[start..start + 8].try_into().expect("eight voxels")
        };
        let (sx, sy, sz) = (dx as isize, dy as isize, 1_isize);
        let own = row(0);
        let [x0, x1, y0, y1, z0, z1] = [-sx, sx, -sy, sy, -sz, sz].map(row);
        let [xy00, xy01, xy10, xy11] = [-sx - sy, -sx + sy, sx - sy, sx + sy].map(row);
        let [xz00, xz01, xz10, xz11] = [-sx - sz, -sx + sz, sx - sz, sx + sz].map(row);
        let [yz00, yz01, yz10, yz11] = [-sy - sz, -sy + sz, sy - sz, sy + sz].map(row);
        for i in 0..8 {
            let px = 0.5 * per_voxel * (x1[i] - x0[i]);
            let py = 0.5 * per_voxel * (y1[i] - y0[i]);
            let pz = 0.5 * per_voxel * (z1[i] - z0[i]);
            let pxx = per_voxel * (x1[i] - 2.0 * own[i] + x0[i]);
            let pyy = per_voxel * (y1[i] - 2.0 * own[i] + y0[i]);
            let pzz = per_voxel * (z1[i] - 2.0 * own[i] + z0[i]);
            let pxy = 0.25 * per_voxel * (xy11[i] - xy10[i] - xy01[i] + xy00[i]);
            let pxz = 0.25 * per_voxel * (xz11[i] - xz10[i] - xz01[i] + xz00[i]);
            let pyz = 0.25 * per_voxel * (yz11[i] - yz10[i] - yz01[i] + yz00[i]);
            let (qx, qy, qz) = (px * px, py * py, pz * pz);
            let square = qx + qy + qz;
            let slope = square.sqrt();
            let bent = pxx * (qy + qz) + pyy * (qx + qz) + pzz * (qx + qy)
                - 2.0 * (px * py * pxy + px * pz * pxz + py * pz * pyz);
            let curvature = (bent / (square * slope).max(1e-9)).clamp(-1.0, 1.0);
            // Where there is hardly a slope, as in the middle of a drop, all directions count alike.
            let flat = ((pxx + pyy + pzz) * (2.0 / 3.0)).clamp(-1.0, 1.0);
            let speed = if square > 0.01 { curvature * slope } else { flat };
            to[i] = own[i] + step * speed;
        }
    }
}
