//! From particles to distances on the voxels of a Bucket: the least distance to any particle near it, rows of eight voxels at once.

use super::anisotropy::Kernel;
use super::bins::Bins;
use super::buried::{may_reach, voxels};
use super::reach::Reach;
use crate::levelset::lanes::Lanes;
use multiversion::multiversion;
use undine_core::Bucket;
use undine_core::glam::Vec3;

/// Distances of a Bucket's voxels.
pub(super) type Chunk = [f32; 512];

/// The centres of a row of voxels, from the first.
pub(super) const ROW: Lanes = Lanes([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);

/// Distances [voxels] to spheres (eq. 5.1): φ = min |x − x_p| − r_p, where they are below `most`; `most` elsewhere.
pub(super) fn spheres(
    bins: &Bins,
    reach: &Reach,
    bucket: Bucket,
    most: f32,
    near: &mut Vec<[f32; 4]>,
    to: &mut Chunk,
) {
    near.clear();
    reach.each_near(bins, bucket, |slot, shift| {
        for n in bins.of(slot) {
            let at = bins.place(n) + shift - 0.5;
            if may_reach(at, Vec3::splat(bins.radius[n] + most)) {
                near.push([at.x, at.y, at.z, bins.radius[n]]);
            }
        }
    });
    match near.iter().all(|sphere| sphere[3] == near[0][3]) {
        true => stamp_equal_spheres(near, most, to),
        false => stamp_spheres(near, most, to),
    }
}

/// Spheres of one radius: the nearest centre decides, and a root is taken once.
#[multiversion(targets("x86_64+avx2"))]
fn stamp_equal_spheres(spheres: &[[f32; 4]], most: f32, to: &mut Chunk) {
    let Some(&[.., radius]) = spheres.first() else { return to.fill(most) };
    let far = radius + most;
    to.fill(far * far);
    let (rows, _) = to.as_chunks_mut::<8>();
    for &[x, y, z, _] in spheres {
        let Some([xs, ys, _]) = voxels(Vec3::new(x, y, z), Vec3::splat(far)) else { continue };
        let along = ROW - Lanes::splat(z);
        let along = along * along;
        for i in xs.0..=xs.1 {
            let dx = (i as f32 - x) * (i as f32 - x);
            for j in ys.0..=ys.1 {
                let across = dx + (j as f32 - y) * (j as f32 - y);
                if across < far * far {
                    let row = &mut rows[(i << 3 | j) as usize];
                    *row = (along + Lanes::splat(across)).min(Lanes(*row)).0;
                }
            }
        }
    }
    let radius = Lanes::splat(radius);
    for row in rows {
        *row = (Lanes(*row).sqrt() - radius).0;
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn stamp_spheres(spheres: &[[f32; 4]], most: f32, to: &mut Chunk) {
    to.fill(most);
    let (rows, _) = to.as_chunks_mut::<8>();
    for &[x, y, z, radius] in spheres {
        let far = radius + most;
        let Some([xs, ys, _]) = voxels(Vec3::new(x, y, z), Vec3::splat(far)) else { continue };
        let along = ROW - Lanes::splat(z);
        let along = along * along;
        for i in xs.0..=xs.1 {
            let dx = (i as f32 - x) * (i as f32 - x);
            for j in ys.0..=ys.1 {
                let across = dx + (j as f32 - y) * (j as f32 - y);
                if across < far * far {
                    let row = &mut rows[(i << 3 | j) as usize];
                    let found = (along + Lanes::splat(across)).sqrt() - Lanes::splat(radius);
                    *row = found.min(Lanes(*row)).0;
                }
            }
        }
    }
}

/// Distances [voxels] to ellipsoids (eq. 5.2), where they are below `most`; `most` elsewhere.
pub(super) fn ellipsoids(
    (bins, kernels): (&Bins, &[Kernel]),
    reach: &Reach,
    bucket: Bucket,
    most: f32,
    near: &mut Vec<Kernel>,
    to: &mut Chunk,
) {
    near.clear();
    reach.each_near(bins, bucket, |slot, shift| {
        for kernel in &kernels[bins.of(slot)] {
            let centre = kernel.centre + shift - 0.5;
            if may_reach(centre, kernel.half + most) {
                near.push(Kernel { centre, ..*kernel });
            }
        }
    });
    stamp_ellipsoids(near, most, to);
}

/// With y = x − x_p and q = |G y|: q − r is no distance yet, since q grows faster along the shorter axes; over the length of its
/// gradient, |G² y| / q, it is one, exactly on the surface and to first order beside it.
#[multiversion(targets("x86_64+avx2"))]
fn stamp_ellipsoids(kernels: &[Kernel], most: f32, to: &mut Chunk) {
    // Keeps the middle of an ellipsoid, where no direction is the nearest, from dividing nothing by nothing.
    let tiny = Lanes::splat(1e-12);
    to.fill(most);
    let (rows, _) = to.as_chunks_mut::<8>();
    for kernel in kernels {
        let Vec3 { x, y, z } = kernel.centre;
        let Some([xs, ys, _]) = voxels(kernel.centre, kernel.half + most) else { continue };
        let [gxx, gxy, gxz, gyy, gyz, gzz] = kernel.inverse;
        let along = ROW - Lanes::splat(z);
        let steps = [gxz * along, gyz * along, gzz * along];
        let radius = Lanes::splat(kernel.radius);
        // (q − r) q / |G² y| is no less than (q − r) over the largest eigenvalue: where q is above this, it is above `most`.
        let far = 1.001 * (kernel.radius + most * kernel.steepest);
        let along_z = gxz * gxz + gyz * gyz + gzz * gzz;
        for i in xs.0..=xs.1 {
            let dx = i as f32 - x;
            for j in ys.0..=ys.1 {
                let dy = j as f32 - y;
                let start = [gxx * dx + gxy * dy, gxy * dx + gyy * dy, gxz * dx + gyz * dy];
                // Where the line of the row comes nearest.
                let square = start[0] * start[0] + start[1] * start[1] + start[2] * start[2];
                let towards = start[0] * gxz + start[1] * gyz + start[2] * gzz;
                if square * along_z - towards * towards > far * far * along_z {
                    continue;
                }
                let a = Lanes::splat(start[0]) + steps[0];
                let b = Lanes::splat(start[1]) + steps[1];
                let c = Lanes::splat(start[2]) + steps[2];
                let q = (a * a + b * b + c * c + tiny).sqrt();
                let u = gxx * a + gxy * b + gxz * c;
                let v = gxy * a + gyy * b + gyz * c;
                let w = gxz * a + gyz * b + gzz * c;
                let slope = (u * u + v * v + w * w + tiny).sqrt();
                let row = &mut rows[(i << 3 | j) as usize];
                *row = ((q - radius) * q / slope).min(Lanes(*row)).0;
            }
        }
    }
}
