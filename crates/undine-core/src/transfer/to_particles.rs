//! From the faces of a MAC grid to particles.

use super::Kernel;
use super::check::check;
#[cfg(target_arch = "x86_64")]
use super::eight::Avx;
use super::eight::{Eight, Halves};
use super::stencil::{PAD, Stencil, row, slab, slope_scale, slopes, window, window_at};
use crate::access::{Accessor, Tile};
use crate::channel::Handle;
use crate::domain::GridDomain;
use crate::error::{CoreError, Result};
use crate::particles::ParticleSystem;
use crate::volume::{DiscreteVolume, MacHandle, Resolution};
use glam::{Mat3, Mat4, Vec3, Vec4};

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
fn take_all<const NODES: usize, const EDGE: usize, const WINDOW: usize>(
    particles: Particles,
    tiles: [&[f32]; 3],
) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has AVX2.
        return unsafe { take_all_avx2::<NODES, EDGE, WINDOW>(particles, tiles) };
    }
    take_each::<Halves, NODES, EDGE, WINDOW>(particles, tiles);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn take_all_avx2<const NODES: usize, const EDGE: usize, const WINDOW: usize>(
    particles: Particles,
    tiles: [&[f32]; 3],
) {
    take_each::<Avx, NODES, EDGE, WINDOW>(particles, tiles);
}

#[inline(always)]
fn take_each<E: Eight, const NODES: usize, const EDGE: usize, const WINDOW: usize>(
    particles: Particles,
    [x, y, z]: [&[f32]; 3],
) {
    let Particles { voxel, position, velocity, affine, blend } = particles;
    let per_voxel = 1.0 / voxel;
    let Some(affine) = affine else {
        for (position, velocity) in position.iter().zip(velocity) {
            let stencil = Stencil::<E>::new::<NODES, EDGE>(position.extend(0.0) * per_voxel);
            let x = gather::<E, false, NODES, EDGE, WINDOW>(&stencil, 0, x).x;
            let y = gather::<E, false, NODES, EDGE, WINDOW>(&stencil, 1, y).x;
            let z = gather::<E, false, NODES, EDGE, WINDOW>(&stencil, 2, z).x;
            let kept = if blend > 0.0 { *velocity * blend } else { Vec3::ZERO };
            *velocity = Vec3::new(x, y, z) + kept;
        }
        return;
    };
    let scale = slope_scale::<NODES>(per_voxel);
    for ((position, velocity), affine) in position.iter().zip(velocity).zip(affine) {
        let stencil = Stencil::<E>::new::<NODES, EDGE>(position.extend(0.0) * per_voxel);
        let x = gather::<E, true, NODES, EDGE, WINDOW>(&stencil, 0, x);
        let y = gather::<E, true, NODES, EDGE, WINDOW>(&stencil, 1, y);
        let z = gather::<E, true, NODES, EDGE, WINDOW>(&stencil, 2, z);
        let columns = Mat4::from_cols(x, y, z, Vec4::ZERO).transpose();
        *velocity = columns.x_axis.truncate();
        *affine = Mat3::from_cols(
            (columns.y_axis * scale).truncate(),
            (columns.z_axis * scale).truncate(),
            (columns.w_axis * scale).truncate(),
        );
    }
}

/// One component at a place, and if wanted its gradient before [`slope_scale`]: (u, ∂u/∂x, ∂u/∂y,
/// ∂u/∂z).
#[inline(always)]
fn gather<
    E: Eight,
    const GRADIENT: bool,
    const NODES: usize,
    const EDGE: usize,
    const WINDOW: usize,
>(
    stencil: &Stencil<E>,
    component: usize,
    tile: &[f32],
) -> Vec4 {
    let start = stencil.start::<EDGE>(component);
    let Some(window) = window_at::<WINDOW>(tile, start) else { return Vec4::ZERO };
    let (wx, dx) = stencil.along(0, component);
    let (wy, dy) = stencil.along(1, component);
    let (wz, dz) = stencil.along(2, component);
    let along_row = |at: usize| Vec4::from_slice(&window[at..at + 4]);

    // Along x and y, whole rows are summed; along z, their lanes at the end.
    if !GRADIENT {
        let mut value = Vec4::ZERO;
        for (i, wx) in wx.to_array().into_iter().take(NODES).enumerate() {
            let mut rows = Vec4::ZERO;
            for (j, wy) in wy.to_array().into_iter().take(NODES).enumerate() {
                rows += along_row(i * slab(EDGE) + j * row(EDGE)) * wy;
            }
            value += rows * wx;
        }
        let lanes = value * wz;
        return Vec4::splat(lanes.x + lanes.y + lanes.z);
    }

    // The value in the low half, its slope along y in the high one.
    let wy = E::pair(wy, slopes::<NODES>(wy, dy)).lanes();
    let (wx, slope_x) = (E::twice(wx).lanes(), slopes::<NODES>(wx, dx).to_array());
    let mut sums: Option<(E, Vec4)> = None;
    for i in 0..NODES {
        let row_at = |j: usize| E::twice(along_row(i * slab(EDGE) + j * row(EDGE))) * wy[j];
        let mut rows = row_at(0);
        for j in 1..NODES {
            rows = rows + row_at(j);
        }
        let (value, along_x) = (rows * wx[i], rows.low() * slope_x[i]);
        sums = Some(match sums {
            None => (value, along_x),
            Some(sums) => (sums.0 + value, sums.1 + along_x),
        });
    }
    let Some((value, along_x)) = sums else { return Vec4::ZERO };
    let (value, along_y) = (value.low(), value.high());
    let along_z = value * slopes::<NODES>(wz, dz);
    let lanes = Mat4::from_cols(value * wz, along_x * wz, along_y * wz, along_z).transpose();
    lanes.x_axis + lanes.y_axis + lanes.z_axis
}

#[cfg(test)]
mod tests {
    use super::super::stencil::tests::places;
    use super::super::stencil::tile;
    use super::*;

    fn both_paths_agree<const NODES: usize, const EDGE: usize, const WINDOW: usize>() {
        let position = places(1000);
        let values: Vec<f32> = (0..3 * tile(EDGE)).map(|n| (n * n % 1009) as f32 / 997.0).collect();
        let tiles: Vec<&[f32]> = values.chunks(tile(EDGE)).collect();
        let tiles = [tiles[0], tiles[1], tiles[2]];
        for (gradient, blend) in [(true, 0.0), (false, 0.0), (false, 0.75)] {
            let run = |take: fn(Particles, [&[f32]; 3])| {
                let mut velocity = position.clone();
                let mut affine = vec![Mat3::ZERO; position.len()];
                let particles = Particles {
                    voxel: 1.0 / EDGE as f32,
                    position: &position,
                    velocity: &mut velocity,
                    affine: gradient.then_some(&mut affine[..]),
                    blend,
                };
                take(particles, tiles);
                (velocity, affine)
            };
            let plain = run(take_each::<Halves, NODES, EDGE, WINDOW>);
            let best = run(take_all::<NODES, EDGE, WINDOW>);
            let bits = |found: &(Vec<Vec3>, Vec<Mat3>)| {
                [bytemuck::cast_slice::<_, u32>(&found.0), bytemuck::cast_slice(&found.1)].concat()
            };
            assert!(bits(&plain) == bits(&best), "{NODES} faces, {EDGE} voxels, {blend}");
        }
    }

    #[test]
    fn particles_get_the_same_bits_with_and_without_avx2() {
        both_paths_agree::<2, 4, { window(4) }>();
        both_paths_agree::<2, 8, { window(8) }>();
        both_paths_agree::<2, 16, { window(16) }>();
        both_paths_agree::<3, 4, { window(4) }>();
        both_paths_agree::<3, 8, { window(8) }>();
        both_paths_agree::<3, 16, { window(16) }>();
    }
}
