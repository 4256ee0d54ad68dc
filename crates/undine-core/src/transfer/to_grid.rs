//! From particles to the faces of a MAC grid.

use super::Kernel;
use super::check::check;
use super::stencil::{PAD, Stencil, row, slab, window, window_at_mut};
use crate::access::Accessor;
use crate::channel::Handle;
use crate::domain::GridDomain;
use crate::error::Result;
use crate::particles::ParticleSystem;
use crate::volume::{DiscreteVolume, MacHandle, Resolution};
use glam::{Mat3, Vec3, Vec4};
use multiversion::multiversion;

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
        (Kernel::Linear, Resolution::R2 | Resolution::R4) => add_all::<2, 4, { window(4) }>,
        (Kernel::Linear, Resolution::R8) => add_all::<2, 8, { window(8) }>,
        (Kernel::Linear, Resolution::R16) => add_all::<2, 16, { window(16) }>,
        (Kernel::Quadratic, Resolution::R2 | Resolution::R4) => add_all::<3, 4, { window(4) }>,
        (Kernel::Quadratic, Resolution::R8) => add_all::<3, 8, { window(8) }>,
        (Kernel::Quadratic, Resolution::R16) => add_all::<3, 16, { window(16) }>,
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
    Accessor::new(TASK, domain).over(particles.topology()).scatter(
        read,
        tiles,
        |_, (position, velocity, affine, mass), [momentum, weight]| {
            let particles =
                Particles { voxel: voxel as f32, position, velocity, affine, mass, same };
            for axis in 0..3 {
                add(particles, axis, momentum[axis].values_mut(), weight[axis].values_mut());
            }
        },
    )
}

/// Divides momentum by mass, in place: velocity [m/s] where there is mass, and zero elsewhere.
pub fn momentum_to_velocity(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    momentum: MacHandle,
    mass: MacHandle,
) -> Result<()> {
    Accessor::new("momentum to velocity", domain).over(volume.topology()).run(
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

/// Adds one component of all particles of a Bucket to its tiles.
#[multiversion(targets("x86_64+avx2"))]
fn add_all<const NODES: usize, const EDGE: usize, const WINDOW: usize>(
    particles: Particles,
    axis: usize,
    momentum: &mut [f32],
    mass: &mut [f32],
) {
    match axis {
        0 => add_component::<0, NODES, EDGE, WINDOW>(particles, momentum, mass),
        1 => add_component::<1, NODES, EDGE, WINDOW>(particles, momentum, mass),
        _ => add_component::<2, NODES, EDGE, WINDOW>(particles, momentum, mass),
    }
}

#[inline(always)]
fn add_component<const AXIS: usize, const NODES: usize, const EDGE: usize, const WINDOW: usize>(
    particles: Particles,
    momentum: &mut [f32],
    mass: &mut [f32],
) {
    let per_voxel = 1.0 / particles.voxel;
    let moving = particles.position.iter().zip(particles.velocity).enumerate();
    for (n, (position, velocity)) in moving {
        let place = position.extend(0.0) * Vec4::splat(per_voxel);
        let stencil = Stencil::new::<NODES, EDGE>(place, AXIS);
        let m = particles.mass.map_or(particles.same, |mass| mass[n]);
        // The component's gradient, as change per voxel.
        let c = particles.affine.map_or(Vec3::ZERO, |affine| affine[n].row(AXIS) * particles.voxel);
        let Some(momentum) = window_at_mut::<WINDOW>(momentum, stencil.start) else { continue };
        let Some(mass) = window_at_mut::<WINDOW>(mass, stencil.start) else { continue };

        let [wx, wy, wz] = stencil.weight;
        let [dx, dy, dz] = stencil.distance;
        let x = (wx.to_array(), (Vec4::splat(velocity[AXIS]) + Vec4::splat(c.x) * dx).to_array());
        let y = (wy.to_array(), (wy * dy * Vec4::splat(c.y)).to_array());
        let mz = Vec4::splat(m) * wz;
        let slope = mz * dz * Vec4::splat(c.z);
        for i in 0..NODES {
            // Of all rows with this x: mass, and momentum before y has its say.
            let mass_x = Vec4::splat(x.0[i]) * mz;
            let momentum_x = Vec4::splat(x.0[i]) * (Vec4::splat(x.1[i]) * mz + slope);
            for j in 0..NODES {
                let at = i * slab(EDGE) + j * row(EDGE);
                let (wy, wy_cy) = (Vec4::splat(y.0[j]), Vec4::splat(y.1[j]));
                add(momentum, at, wy * momentum_x + wy_cy * mass_x);
                add(mass, at, wy * mass_x);
            }
        }
    }
}

#[inline(always)]
fn add<const WINDOW: usize>(window: &mut [f32; WINDOW], at: usize, row: Vec4) {
    let to = &mut window[at..at + 4];
    (Vec4::from_slice(to) + row).write_to_slice(to);
}
