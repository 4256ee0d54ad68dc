//! From the faces of a MAC grid to particles.

use super::Kernel;
use super::check::check;
use super::stencil::{PAD, Stencil, row, slab, slope_scale, slopes, window, window_at};
use crate::access::{Accessor, Tile};
use crate::channel::Handle;
use crate::domain::GridDomain;
use crate::error::{CoreError, Result};
use crate::particles::ParticleSystem;
use crate::volume::{DiscreteVolume, MacHandle, Resolution};
use glam::{Mat3, Mat4, Vec3, Vec4};
use multiversion::multiversion;

/// How particles take on the velocity of the grid.
#[derive(Debug, Clone, Copy)]
pub enum Method {
    /// They take it as it is.
    Pic,
    /// They take it as it is, and its gradient [1/s] too (Jiang et al. 2015).
    Apic {
        /// The channel for the gradient.
        affine: Handle<Mat3>,
    },
    /// They take a blend of it, and of their own velocity with the change on the grid (Jones, equation
    /// 2.20, with `blend` = 1 − α): `(1 − blend) Σ w u + blend (v + Σ w (u − before))`.
    Flip {
        /// The grid's velocity before it changed [m/s].
        before: MacHandle,
        /// 0 for PIC, 1 for FLIP alone.
        blend: f32,
    },
}

/// Gives the velocity [m/s] on the faces around them to all particles. Collective.
///
/// Where the volume has no Bucket, its background counts. Refuses particles outside of their Bucket,
/// and a volume that lacks a Bucket with particles.
pub fn mac_to_particles(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    velocity: MacHandle,
    particles: &ParticleSystem,
    to: Handle<Vec3>,
    method: Method,
    kernel: Kernel,
) -> Result<()> {
    const TASK: &str = "grid to particles";
    let (affine, flip) = match method {
        Method::Pic => (None, None),
        Method::Apic { affine } => (Some(affine), None),
        Method::Flip { before, blend } => (None, Some((before, blend))),
    };
    let blend = flip.map_or(0.0, |(_, blend)| blend);
    if !(0.0..=1.0).contains(&blend) {
        return Err(CoreError::BadValue {
            what: "the blend of FLIP and PIC".into(),
            found: blend.to_string(),
            wanted: "between 0 (PIC) and 1 (FLIP)",
        });
    }
    let before = flip.map(|(before, _)| before);
    let resolution =
        check(TASK, domain, particles, volume, [velocity, before.unwrap_or(velocity)])?;
    let take = match (kernel, resolution) {
        (Kernel::Linear, Resolution::R2 | Resolution::R4) => take_all::<2, 4, { window(4) }>,
        (Kernel::Linear, Resolution::R8) => take_all::<2, 8, { window(8) }>,
        (Kernel::Linear, Resolution::R16) => take_all::<2, 16, { window(16) }>,
        (Kernel::Quadratic, Resolution::R2 | Resolution::R4) => take_all::<3, 4, { window(4) }>,
        (Kernel::Quadratic, Resolution::R8) => take_all::<3, 8, { window(8) }>,
        (Kernel::Quadratic, Resolution::R16) => take_all::<3, 16, { window(16) }>,
    };
    let voxel = particles.topology().frame().bucket_size(0) / resolution.edge() as f64;
    let around = |mac: MacHandle| mac.faces.map(|face| volume.around(face, PAD.reach() as u8));
    Accessor::new(TASK, domain).over(particles.topology()).run_with(
        (
            around(velocity),
            before.map(around),
            particles.own(particles.position()),
            particles.write(to),
            affine.map(|affine| particles.write(affine)),
        ),
        || [(); 2].map(|()| [(); 3].map(|()| Tile::new(resolution, PAD, 0.0))),
        |[tiles, old], _, (faces, before, position, velocity, affine)| {
            for (tile, faces) in tiles.iter_mut().zip(faces) {
                faces.load(tile);
            }
            // The blend is Σ w (u − blend · before) + blend · v: one gather instead of two.
            for ((tile, old), faces) in tiles.iter_mut().zip(old).zip(before.into_iter().flatten())
            {
                faces.load(old);
                for (u, before) in tile.values_mut().iter_mut().zip(old.values()) {
                    *u -= blend * before;
                }
            }
            let particles = Particles { voxel: voxel as f32, position, velocity, affine, blend };
            take(particles, tiles.each_ref().map(|tile| tile.values()));
        },
    )
}

/// The particles of one Bucket.
struct Particles<'a> {
    /// The width of a voxel [m].
    voxel: f32,
    position: &'a [Vec3],
    velocity: &'a mut [Vec3],
    affine: Option<&'a mut [Mat3]>,
    /// How much of its own velocity a particle keeps.
    blend: f32,
}

/// Gathers the velocity of all particles of a Bucket from its tiles.
#[multiversion(targets("x86_64+avx2"))]
fn take_all<const NODES: usize, const EDGE: usize, const WINDOW: usize>(
    particles: Particles,
    tiles: [&[f32]; 3],
) {
    take_each::<NODES, EDGE, WINDOW>(particles, tiles);
}

#[inline(always)]
fn take_each<const NODES: usize, const EDGE: usize, const WINDOW: usize>(
    particles: Particles,
    tiles: [&[f32]; 3],
) {
    let Particles { voxel, position, velocity, affine, blend } = particles;
    let per_voxel = 1.0 / voxel;
    match affine {
        Some(affine) => {
            for ((position, velocity), affine) in position.iter().zip(velocity).zip(affine) {
                let place = position.extend(0.0) * Vec4::splat(per_voxel);
                let x = gather::<true, NODES, EDGE, WINDOW>(place, 0, tiles[0]);
                let y = gather::<true, NODES, EDGE, WINDOW>(place, 1, tiles[1]);
                let z = gather::<true, NODES, EDGE, WINDOW>(place, 2, tiles[2]);
                let columns = Mat4::from_cols(x, y, z, Vec4::ZERO).transpose();
                *velocity = columns.x_axis.truncate();
                let scale = Vec4::splat(slope_scale::<NODES>(per_voxel));
                *affine = Mat3::from_cols(
                    (columns.y_axis * scale).truncate(),
                    (columns.z_axis * scale).truncate(),
                    (columns.w_axis * scale).truncate(),
                );
            }
        }
        None => {
            for (position, velocity) in position.iter().zip(velocity) {
                let place = position.extend(0.0) * Vec4::splat(per_voxel);
                let x = gather::<false, NODES, EDGE, WINDOW>(place, 0, tiles[0]).x;
                let y = gather::<false, NODES, EDGE, WINDOW>(place, 1, tiles[1]).x;
                let z = gather::<false, NODES, EDGE, WINDOW>(place, 2, tiles[2]).x;
                let kept = if blend > 0.0 { *velocity * blend } else { Vec3::ZERO };
                *velocity = Vec3::new(x, y, z) + kept;
            }
        }
    }
}

/// One component at a place, and if wanted its gradient per voxel: (u, ∂u/∂x, ∂u/∂y, ∂u/∂z).
#[inline(always)]
fn gather<const GRADIENT: bool, const NODES: usize, const EDGE: usize, const WINDOW: usize>(
    place: Vec4,
    axis: usize,
    tile: &[f32],
) -> Vec4 {
    let stencil = Stencil::new::<NODES, EDGE>(place, axis);
    let Some(window) = window_at::<WINDOW>(tile, stencil.start) else { return Vec4::ZERO };
    let [wx, wy, wz] = stencil.weight;
    let [dx, dy, dz] = stencil.distance;
    let gz = slopes::<NODES>(wz, dz);
    let (x, slope_x) = (wx.to_array(), slopes::<NODES>(wx, dx).to_array());
    let (y, slope_y) = (wy.to_array(), slopes::<NODES>(wy, dy).to_array());

    // Along x and y, whole rows are summed; along z, their lanes at the end.
    let mut sums = [Vec4::ZERO; 3];
    for i in 0..NODES {
        let mut rows = [Vec4::ZERO; 2];
        for j in 0..NODES {
            let at = i * slab(EDGE) + j * row(EDGE);
            let u = Vec4::from_slice(&window[at..at + 4]);
            rows = sum(j, rows, [u * Vec4::splat(y[j]), u * Vec4::splat(slope_y[j])]);
        }
        let [value, along_y] = rows;
        let (x, slope_x) = (Vec4::splat(x[i]), Vec4::splat(slope_x[i]));
        sums = sum(i, sums, [value * x, value * slope_x, along_y * x]);
    }
    let [value, along_x, along_y] = sums;
    if GRADIENT {
        let lanes = Mat4::from_cols(value * wz, along_x * wz, along_y * wz, value * gz).transpose();
        lanes.x_axis + lanes.y_axis + lanes.z_axis
    } else {
        let lanes = value * wz;
        Vec4::splat(lanes.x + lanes.y + lanes.z)
    }
}

/// Adds the `n`-th summands; the first are the sums themselves, which saves adding zero.
#[inline(always)]
fn sum<const N: usize>(n: usize, sums: [Vec4; N], next: [Vec4; N]) -> [Vec4; N] {
    if n == 0 { next } else { std::array::from_fn(|k| sums[k] + next[k]) }
}
