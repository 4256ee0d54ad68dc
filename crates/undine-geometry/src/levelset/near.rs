//! Distances of the voxels next to the surface, accurate to a small part of a voxel.
//!
//! A voxel with a neighbour on the other side sees the surface as the zero set of a quadric: φ, its gradient g and its
//! Hessian H by central differences over 3³ voxels. The nearest point s of the quadric is found as in D. Chopp, *Some
//! Improvements of the Fast Marching Method*, SIAM J. Sci. Comput. 23 (2001), §3: a Newton step towards the zero set
//! and a step along it that turns s towards the gradient, here in one formula,
//!
//! s ← ((s·∇q − q) / |∇q|²) ∇q, with q = φ + g·s + ½ s·Hs and ∇q = g + Hs.
//!
//! The model is wrong by φ‴/6, so that distances are of third order where the surface is smooth. At corners and in
//! thin sheets, where no quadric fits, φ is taken to be linear on the nearer side.

use super::VOXELS;
use super::lanes::Lanes;
use multiversion::multiversion;
use undine_core::access::Tile;

/// Steps towards the nearest point. Each adds at least a digit where the surface bends by less than a radian per voxel.
const STEPS: usize = 4;

/// The quadric counts where it differs from a plane by no more than this part of the distance.
const TOLERANCE: f32 = 0.15;

/// Distances of a Bucket: next to the surface those to it, farther away ± `width`. The tile is padded by one voxel.
/// Inside is what is below zero.
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn measure(tile: &Tile<f32>, voxel: f32, width: f32, to: &mut [f32; VOXELS]) {
    let (rows, _) = to.as_chunks_mut::<8>();
    for (place, to) in rows.iter_mut().enumerate() {
        let at = tile.index((place >> 3) as i32, (place & 7) as i32, 0);
        let around = Around { values: tile.values(), at, slab: tile.slab(), row: tile.row() };
        *to = measure_row(&around, voxel, width).0;
    }
}

/// A row in a tile.
struct Around<'a> {
    values: &'a [f32],
    at: usize,
    slab: usize,
    row: usize,
}

impl Around<'_> {
    /// The row at an offset of −1, 0 or 1 along each axis.
    #[inline(always)]
    fn row(&self, x: isize, y: isize, z: isize) -> Lanes {
        let step = x * self.slab as isize + y * self.row as isize + z;
        Lanes::load(self.values, self.at.wrapping_add_signed(step))
    }

    /// Four times the mixed derivative, from the rows at the corners.
    #[inline(always)]
    fn twist(&self, corner: impl Fn(isize, isize) -> [isize; 3]) -> Lanes {
        let at = |a: isize, b: isize| {
            let [x, y, z] = corner(a, b);
            self.row(x, y, z)
        };
        (at(1, 1) - at(1, -1)) - (at(-1, 1) - at(-1, -1))
    }
}

#[inline(always)]
fn measure_row(around: &Around<'_>, voxel: f32, width: f32) -> Lanes {
    let zero = Lanes::splat(0.0);
    let f = around.row(0, 0, 0);
    let inside = f.below(zero);
    let sides = [
        [around.row(-1, 0, 0), around.row(1, 0, 0)],
        [around.row(0, -1, 0), around.row(0, 1, 0)],
        [around.row(0, 0, -1), around.row(0, 0, 1)],
    ];
    // Axis by axis: calls of `map` on arrays of lanes are not inlined, and pass them through memory.
    let [[a, b], [c, d], [e, g]] = sides;
    let crosses = |side: Lanes| side.below(zero).differs(inside);
    let next_to_surface =
        (crosses(a) | crosses(b)) | (crosses(c) | crosses(d)) | (crosses(e) | crosses(g));
    let far = inside.pick(Lanes::splat(-width), Lanes::splat(width));
    if !next_to_surface.any() {
        return far;
    }

    let slope = [0.5 * (b - a), 0.5 * (d - c), 0.5 * (g - e)];
    let bend = [(b - f) + (a - f), (d - f) + (c - f), (g - f) + (e - f)];
    let twist = [
        0.25 * around.twist(|a, b| [a, b, 0]),
        0.25 * around.twist(|a, b| [a, 0, b]),
        0.25 * around.twist(|a, b| [0, a, b]),
    ];
    let near = Quadric { f, slope, bend, twist }.nearest();
    let plane = plane_upwind(f, sides, far);
    // A comparison with NaN is false, so that what is no number is refused too.
    let fits = (near - plane).abs().at_most(TOLERANCE * plane);
    let distance = voxel * fits.pick(near, plane);
    // Never zero: the sign alone says on which side a voxel lies.
    let distance = distance.max(Lanes::splat(f32::MIN_POSITIVE)).min(Lanes::splat(width));
    next_to_surface.pick(distance.times_sign_of(far), far)
}

/// φ around voxels, lengths in voxels.
struct Quadric {
    f: Lanes,
    /// The gradient.
    slope: [Lanes; 3],
    /// Derivatives by xx, yy, zz.
    bend: [Lanes; 3],
    /// Derivatives by xy, xz, yz.
    twist: [Lanes; 3],
}

impl Quadric {
    /// How far its zero set is from the voxel.
    #[inline(always)]
    fn nearest(&self) -> Lanes {
        let ([gx, gy, gz], [xx, yy, zz], [xy, xz, yz]) = (self.slope, self.bend, self.twist);
        // The first step, from s = 0.
        let k = Lanes::splat(0.0) - self.f / (gx * gx + gy * gy + gz * gz);
        let [mut x, mut y, mut z] = [k * gx, k * gy, k * gz];
        for _ in 1..STEPS {
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

/// The distance to the surface if φ were linear on the side of each axis where it falls most steeply towards the surface:
/// right for a plane, and for a corner or a sheet, of which it sees the nearer side. Lengths in voxels.
#[inline(always)]
fn plane_upwind(f: Lanes, sides: [[Lanes; 2]; 3], sign: Lanes) -> Lanes {
    let zero = Lanes::splat(0.0);
    // Relative to φ here, so that squares are numbers however large or small φ is.
    let relative = Lanes::splat(1.0) / f.times_sign_of(sign);
    let mut sum = zero;
    for [low, high] in sides {
        let fall = |side: Lanes| (f - side).times_sign_of(sign) * relative;
        let steepest = fall(low).max(fall(high)).max(zero);
        sum = sum + steepest * steepest;
    }
    Lanes::splat(1.0) / sum.sqrt()
}
