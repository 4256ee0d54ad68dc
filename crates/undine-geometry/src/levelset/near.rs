//! Distances of the voxels next to the surface, accurate to a small part of a voxel.
//!
//! A voxel with a neighbour on the other side sees the surface as the zero set of a quadric: φ, its gradient g and its
//! Hessian H by central differences over 3³ voxels. The nearest point s of the quadric is found as in D. Chopp, *Some
//! Improvements of the Fast Marching Method*, SIAM J. Sci. Comput. 23 (2001), §3: a Newton step towards the zero set
//! and a step along it that turns s towards the gradient, here in one formula,
//!
//! s ← ((s·∇q − q) / |∇q|²) ∇q, with q = φ + g·s + ½ s·Hs and ∇q = g + Hs.
//!
//! The model is wrong by φ‴/6, so that distances are of third order where the surface is smooth. At corners, where no
//! quadric fits, the distance is that of the plane through the crossings of the axes (Adalsteinsson & Sethian 1999).

use super::VOXELS;
use multiversion::multiversion;
use undine_core::access::Tile;

/// A row of voxels along z.
pub(super) type Row = [f32; 8];

/// Steps towards the nearest point. Each adds at least a digit where the surface bends by less than a radian per voxel.
const STEPS: usize = 4;

/// Distances of a Bucket: next to the surface those to it, farther away ± `width`. The tile is padded by one voxel.
/// Inside is what is below zero.
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn measure(tile: &Tile<f32>, voxel: f32, width: f32, to: &mut [f32; VOXELS]) {
    let (rows, _) = to.as_chunks_mut::<8>();
    for (place, to) in rows.iter_mut().enumerate() {
        let around = Around::new(tile, tile.index((place >> 3) as i32, (place & 7) as i32, 0));
        *to = measure_row(&around, voxel, width);
    }
}

/// A row and what lies around it.
struct Around<'a> {
    values: &'a [f32],
    at: usize,
    /// From a voxel to the next along x, y and z.
    steps: [usize; 3],
}

impl<'a> Around<'a> {
    #[inline(always)]
    fn new(tile: &'a Tile<f32>, at: usize) -> Self {
        Self { values: tile.values(), at, steps: [tile.slab(), tile.row(), 1] }
    }

    /// The row at an offset of −1, 0 or 1 along each axis.
    #[inline(always)]
    fn row(&self, x: isize, y: isize, z: isize) -> Row {
        let [sx, sy, sz] = self.steps.map(|step| step as isize);
        let start = (self.at as isize + x * sx + y * sy + z * sz) as usize;
        *self.values[start..].first_chunk().expect("the row is in the tile")
    }
}

#[inline(always)]
fn measure_row(around: &Around<'_>, voxel: f32, width: f32) -> Row {
    let own = around.row(0, 0, 0);
    let sides = [
        [around.row(-1, 0, 0), around.row(1, 0, 0)],
        [around.row(0, -1, 0), around.row(0, 1, 0)],
        [around.row(0, 0, -1), around.row(0, 0, 1)],
    ];
    let mut crosses = [0_u32; 8];
    for side in sides.as_flattened() {
        for z in 0..8 {
            crosses[z] |= u32::from((side[z] < 0.0) != (own[z] < 0.0));
        }
    }
    let far = own.map(|own| if own < 0.0 { -width } else { width });
    if crosses.iter().fold(0, |any, cross| any | cross) == 0 {
        return far;
    }
    let corners = |a: Row, b: Row, c: Row, d: Row| -> Row {
        std::array::from_fn(|z| 0.25 * ((a[z] - b[z]) - (c[z] - d[z])))
    };
    let xy = corners(
        around.row(1, 1, 0),
        around.row(1, -1, 0),
        around.row(-1, 1, 0),
        around.row(-1, -1, 0),
    );
    let xz = corners(
        around.row(1, 0, 1),
        around.row(1, 0, -1),
        around.row(-1, 0, 1),
        around.row(-1, 0, -1),
    );
    let yz = corners(
        around.row(0, 1, 1),
        around.row(0, 1, -1),
        around.row(0, -1, 1),
        around.row(0, -1, -1),
    );
    let [x, y, z] = &sides;
    let mut found = [0.0; 8];
    for n in 0..8 {
        let f = own[n];
        let slope = |side: &[Row; 2]| 0.5 * (side[1][n] - side[0][n]);
        let bend = |side: &[Row; 2]| (side[1][n] - f) + (side[0][n] - f);
        let quadric = Quadric {
            f,
            g: [slope(x), slope(y), slope(z)],
            h: [bend(x), bend(y), bend(z), xy[n], xz[n], yz[n]],
        };
        let plane = plane_through_crossings(f, sides.map(|side| [side[0][n], side[1][n]]));
        let near = quadric.nearest();
        // A comparison with NaN is false, so that what is no number is refused too.
        let fits = near >= 0.3 * plane && near <= 1.3 * plane;
        let distance = voxel * if fits { near } else { plane };
        // Never zero: the sign alone says on which side a voxel lies.
        let distance = distance.max(f32::MIN_POSITIVE).min(width);
        let signed = if f < 0.0 { -distance } else { distance };
        found[n] = if crosses[n] != 0 { signed } else { far[n] };
    }
    found
}

/// φ around a voxel, lengths in voxels.
struct Quadric {
    f: f32,
    g: [f32; 3],
    /// xx, yy, zz, xy, xz, yz.
    h: [f32; 6],
}

impl Quadric {
    /// How far its zero set is from the voxel.
    #[inline(always)]
    fn nearest(&self) -> f32 {
        let ([gx, gy, gz], [xx, yy, zz, xy, xz, yz]) = (self.g, self.h);
        let [mut x, mut y, mut z] = [0.0_f32; 3];
        for _ in 0..STEPS {
            let bx = xx * x + xy * y + xz * z;
            let by = xy * x + yy * y + yz * z;
            let bz = xz * x + yz * y + zz * z;
            let [nx, ny, nz] = [gx + bx, gy + by, gz + bz];
            // s·∇q − q = ½ s·Hs − φ.
            let along = 0.5 * (x * bx + y * by + z * bz) - self.f;
            let k = along / (nx * nx + ny * ny + nz * nz);
            [x, y, z] = [k * nx, k * ny, k * nz];
        }
        (x * x + y * y + z * z).sqrt()
    }
}

/// The distance to the plane through the points where the axes cross the surface, in voxels: 1/d² = Σ 1/θ² over the
/// nearest crossing θ of each axis.
#[inline(always)]
fn plane_through_crossings(f: f32, sides: [[f32; 2]; 3]) -> f32 {
    let mut sum = 0.0;
    for [low, high] in sides {
        let inverse = |other: f32| if (other < 0.0) != (f < 0.0) { (f - other) / f } else { 0.0 };
        let nearest = inverse(low).abs().max(inverse(high).abs());
        sum += nearest * nearest;
    }
    1.0 / sum.sqrt()
}
