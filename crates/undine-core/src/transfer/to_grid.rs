//! From particles to the faces of a MAC grid.

use super::Kernel;
use super::check::{check, mac_resolution};
#[cfg(target_arch = "x86_64")]
use super::eight::Avx;
use super::eight::{Eight, Halves};
use super::stencil::{PAD, Stencil, row, slab, tile, window, window_at_mut};
use crate::access::Accessor;
use crate::channel::Handle;
use crate::domain::GridDomain;
use crate::error::Result;
use crate::particles::ParticleSystem;
use crate::volume::{DiscreteVolume, MacHandle, Resolution};
use glam::{Mat3, Vec3, Vec4};

/// What particles carry to the grid.
#[derive(Debug, Clone, Copy)]
pub struct Carried {
    /// Velocity [m/s].
    pub velocity: Handle<Vec3>,
    /// The velocity's gradient around the particle [1/s]; none for PIC and FLIP.
    pub affine: Option<Handle<Mat3>>,
    /// Mass [kg].
    pub mass: Mass,
}

/// The mass of particles.
#[derive(Debug, Clone, Copy)]
pub enum Mass {
    /// Every particle has this mass [kg].
    Same(f32),
    /// Each particle has its own [kg].
    Channel(Handle<f32>),
}

/// Adds the momentum [kg·m/s] and mass [kg] of all particles to the faces around them. Collective.
///
/// The channels are not set to zero first, so that several Particle Systems may add to them. What a
/// particle would give to a Bucket that the volume does not have is lost: pad the volume's Buckets by
/// one. Refuses particles outside of their Bucket, and a volume that lacks a Bucket with particles.
pub fn particles_to_mac(
    domain: &GridDomain,
    particles: &ParticleSystem,
    carried: Carried,
    volume: &DiscreteVolume,
    momentum: MacHandle,
    mass: MacHandle,
    kernel: Kernel,
) -> Result<()> {
    const TASK: &str = "particles to grid";
    let resolution = check(TASK, domain, particles, volume, [momentum, mass])?;
    let add = match (kernel, resolution) {
        (Kernel::Linear, Resolution::R2 | Resolution::R4) => add_all::<2, 4, { 2 * window(4) }>,
        (Kernel::Linear, Resolution::R8) => add_all::<2, 8, { 2 * window(8) }>,
        (Kernel::Linear, Resolution::R16) => add_all::<2, 16, { 2 * window(16) }>,
        (Kernel::Quadratic, Resolution::R2 | Resolution::R4) => add_all::<3, 4, { 2 * window(4) }>,
        (Kernel::Quadratic, Resolution::R8) => add_all::<3, 8, { 2 * window(8) }>,
        (Kernel::Quadratic, Resolution::R16) => add_all::<3, 16, { 2 * window(16) }>,
    };
    let voxel = particles.topology().frame().bucket_size(0) / resolution.edge() as f64;
    let (same, masses) = match carried.mass {
        Mass::Same(mass) => (mass, None),
        Mass::Channel(handle) => (0.0, Some(particles.own(handle))),
    };
    let read = (
        particles.own(particles.position()),
        particles.own(carried.velocity),
        carried.affine.map(|handle| particles.own(handle)),
        masses,
    );
    let tiles = [momentum, mass].map(|mac| mac.faces.map(|face| volume.accumulate(face, PAD)));
    Accessor::new(TASK, domain).over(particles.topology()).scatter_with(
        read,
        tiles,
        || [(); 3].map(|()| vec![0.0; 2 * tile(resolution.edge())]),
        |both, _, (position, velocity, affine, mass), [momentum, weight]| {
            let voxel = voxel as f32;
            let particles = Particles { voxel, position, velocity, affine, mass, same };
            add(particles, both.each_mut().map(|both| &mut both[..]));
            for ((both, momentum), weight) in both.iter_mut().zip(momentum).zip(weight) {
                let faces = momentum.values_mut().iter_mut().zip(weight.values_mut());
                for (both, (momentum, mass)) in both.as_chunks_mut::<2>().0.iter_mut().zip(faces) {
                    [*momentum, *mass] = std::mem::take(both);
                }
            }
        },
    )
}

/// Divides momentum by mass, in place: velocity [m/s] where there is mass, and zero elsewhere. Collective.
pub fn momentum_to_velocity(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    momentum: MacHandle,
    mass: MacHandle,
) -> Result<()> {
    const TASK: &str = "momentum to velocity";
    domain.processes().all_agree(mac_resolution(TASK, volume, [momentum, mass]))?;
    Accessor::new(TASK, domain).over(volume.topology()).run(
        (momentum.faces.map(|face| volume.write(face)), mass.faces.map(|face| volume.own(face))),
        |_, (momentum, mass)| {
            for (momentum, mass) in momentum.into_iter().zip(mass) {
                for (value, &mass) in momentum.iter_mut().zip(mass) {
                    *value = if mass > 0.0 { *value / mass } else { 0.0 };
                }
            }
        },
    )
}

/// The particles of one Bucket.
#[derive(Clone, Copy)]
struct Particles<'a> {
    /// The width of a voxel [m].
    voxel: f32,
    position: &'a [Vec3],
    velocity: &'a [Vec3],
    affine: Option<&'a [Mat3]>,
    mass: Option<&'a [f32]>,
    /// The mass of each if `mass` has none.
    same: f32,
}

/// Adds all particles of a Bucket to tiles of which each element is momentum followed by mass.
fn add_all<const NODES: usize, const EDGE: usize, const WINDOW: usize>(
    particles: Particles,
    tiles: [&mut [f32]; 3],
) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has AVX2.
        return unsafe { add_all_avx2::<NODES, EDGE, WINDOW>(particles, tiles) };
    }
    add_each::<Halves, NODES, EDGE, WINDOW>(particles, tiles);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_all_avx2<const NODES: usize, const EDGE: usize, const WINDOW: usize>(
    particles: Particles,
    tiles: [&mut [f32]; 3],
) {
    add_each::<Avx, NODES, EDGE, WINDOW>(particles, tiles);
}

#[inline(always)]
fn add_each<E: Eight, const NODES: usize, const EDGE: usize, const WINDOW: usize>(
    particles: Particles,
    [x, y, z]: [&mut [f32]; 3],
) {
    let per_voxel = 1.0 / particles.voxel;
    let moving = particles.position.iter().zip(particles.velocity).enumerate();
    for (n, (position, velocity)) in moving {
        let stencil = Stencil::<E>::new::<NODES, EDGE>(position.extend(0.0) * per_voxel);
        let mass = particles.mass.map_or(particles.same, |mass| mass[n]);
        // As change per voxel.
        let affine = particles.affine.map_or(Mat3::ZERO, |affine| affine[n] * particles.voxel);
        let (m, v, c) = (mass, velocity, affine);
        add_component::<E, NODES, EDGE, WINDOW>(&stencil, 0, m, v.x, c.row(0), x);
        add_component::<E, NODES, EDGE, WINDOW>(&stencil, 1, m, v.y, c.row(1), y);
        add_component::<E, NODES, EDGE, WINDOW>(&stencil, 2, m, v.z, c.row(2), z);
    }
}

/// Adds one component `v` of the velocity, its gradient `c` per voxel, and the mass `m`.
#[inline(always)]
fn add_component<E: Eight, const NODES: usize, const EDGE: usize, const WINDOW: usize>(
    stencil: &Stencil<E>,
    component: usize,
    m: f32,
    v: f32,
    c: Vec3,
    tile: &mut [f32],
) {
    let start = 2 * stencil.start::<EDGE>(component);
    let Some(window) = window_at_mut::<WINDOW>(tile, start) else { return };
    let (wx, dx) = stencil.along(0, component);
    let (wy, dy) = stencil.along(1, component);
    let (wz, dz) = stencil.along(2, component);

    // Momentum in even lanes, mass in odd ones: what the velocity is there, and 1.
    let both = |momentum: f32, mass: f32| E::twice(Vec4::new(momentum, mass, momentum, mass));
    let along_z = both(v, 1.0) + both(c.z, 0.0) * E::doubled(dz);
    let m_wz = E::doubled(wz * m);
    let (wx, dx) = (E::twice(wx).lanes(), E::twice(dx).lanes());
    let (wy, dy) = (E::twice(wy).lanes(), E::twice(dy).lanes());
    for i in 0..NODES {
        let along_xz = along_z + both(c.x, 0.0) * dx[i];
        let m_wxz = m_wz * wx[i];
        for j in 0..NODES {
            let at = 2 * (i * slab(EDGE) + j * row(EDGE));
            if let Some(row) = window[at..].first_chunk_mut::<8>() {
                let value = along_xz + both(c.y, 0.0) * dy[j];
                (E::load(row) + m_wxz * wy[j] * value).store(row);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::stencil::tests::places;
    use super::*;
    use glam::Vec3Swizzles;

    fn both_paths_agree<const NODES: usize, const EDGE: usize, const WINDOW: usize>() {
        let position = places(1000);
        let velocity: Vec<Vec3> = position.iter().map(|place| Vec3::ONE - place.yzx()).collect();
        let affine: Vec<Mat3> = position
            .iter()
            .map(|place| Mat3::from_cols(*place, place.zxy(), place.yzx()))
            .collect();
        let mass: Vec<f32> = position.iter().map(|place| 0.5 + place.x).collect();
        let particles = Particles {
            voxel: 1.0 / EDGE as f32,
            position: &position,
            velocity: &velocity,
            affine: Some(&affine),
            mass: Some(&mass),
            same: 0.0,
        };
        let [mut plain, mut best] = [(); 2].map(|()| [(); 3].map(|()| vec![0.0; 2 * tile(EDGE)]));
        add_each::<Halves, NODES, EDGE, WINDOW>(
            particles,
            plain.each_mut().map(|tile| &mut tile[..]),
        );
        add_all::<NODES, EDGE, WINDOW>(particles, best.each_mut().map(|tile| &mut tile[..]));
        let bits =
            |tiles: &[Vec<f32>; 3]| tiles.concat().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert!(plain.iter().flatten().any(|value| *value != 0.0));
        assert!(bits(&plain) == bits(&best), "{NODES} faces, {EDGE} voxels");
    }

    #[test]
    fn the_grid_gets_the_same_bits_with_and_without_avx2() {
        both_paths_agree::<2, 4, { 2 * window(4) }>();
        both_paths_agree::<2, 8, { 2 * window(8) }>();
        both_paths_agree::<2, 16, { 2 * window(16) }>();
        both_paths_agree::<3, 4, { 2 * window(4) }>();
        both_paths_agree::<3, 8, { 2 * window(8) }>();
        both_paths_agree::<3, 16, { 2 * window(16) }>();
    }
}
