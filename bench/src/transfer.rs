//! APIC on a MAC grid with quadratic kernels: from particles to the grid and back, the core of every step of a
//! liquid. Eight particles per cell, in Bucket order but in no order within a Bucket.

use crate::Result;
use crate::harness::{Benchmark, Context, Outcome};
use crate::hash::StableHash;
use crate::peers::TAICHI_MPM;
use crate::random;
use crate::report::Value;
use undine_core::glam::{DVec3, Mat3, Vec3};
use undine_core::transfer::{self, Carried, Kernel, Mass, Method};
use undine_core::volume::{MacHandle, Resolution};
use undine_core::{
    Accessor, ChannelSpec, DiscreteVolume, Frame, GridDomain, Handle, ParticleSystem,
};

/// Particles to grid, division by mass, and grid to particles.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "transfer",
    doc: "APIC on a MAC grid, quadratic kernels, to grid and back, 8 particles per cell; size is particles",
    default_size: 4_000_000,
    peers: &[TAICHI_MPM],
    run,
};

/// The width of a voxel [m].
const VOXEL: f64 = 0.01;

fn run(context: &Context) -> Result<Outcome> {
    let mut liquid = Liquid::new(context.size)?;
    let particles = context.size as u64;
    let both = context.work("particles", particles).measure_after(
        &mut liquid,
        Liquid::stir,
        |liquid| {
            liquid.to_grid()?;
            liquid.to_particles()
        },
        Liquid::hash,
    )?;
    let memory = liquid.particles.memory()?;
    let volume = liquid.volume.memory()?;
    Ok(Outcome::new(both)
        .mem_bytes(memory.total() + volume.total())
        .with("particles_overhead", Value::Number(memory.overhead_ratio()))
        .with("volume_overhead", Value::Number(volume.overhead_ratio())))
}

/// A cube of liquid.
struct Liquid {
    domain: GridDomain,
    particles: ParticleSystem,
    velocity: Handle<Vec3>,
    affine: Handle<Mat3>,
    volume: DiscreteVolume,
    momentum: MacHandle,
    mass: MacHandle,
}

impl Liquid {
    fn new(count: usize) -> Result<Self> {
        let mut domain = GridDomain::new("liquid", Frame::new(DVec3::ZERO, VOXEL)?);
        let mut particles = ParticleSystem::new("liquid", &domain)?;
        let velocity =
            particles.add_channel(&ChannelSpec::new("velocity", Vec3::ZERO).unit("m/s"))?;
        let affine = particles.add_channel(&ChannelSpec::new("affine", Mat3::ZERO).unit("1/s"))?;
        let batch = particles.batch(&jittered(count))?;
        particles.append(&domain, batch)?;

        domain.set_buckets(&particles.topology().all().dilate(1)?)?;
        let mut volume = DiscreteVolume::new("liquid", &domain);
        let momentum = volume.add_mac("velocity", "m/s", Resolution::R8)?;
        let mass = volume.add_mac("mass", "kg", Resolution::R8)?;
        Ok(Liquid { domain, particles, velocity, affine, volume, momentum, mass })
    }

    /// Gives the particles a smooth velocity, as before the first call.
    fn stir(&mut self) -> Result<()> {
        let frame = *self.domain.frame();
        let (particles, position) = (&self.particles, self.particles.position());
        Accessor::new("stir", &self.domain).over(particles.topology()).run(
            (particles.own(position), particles.write(self.velocity), particles.write(self.affine)),
            |here, (position, velocity, affine)| {
                let corner = frame.corner(here.bucket).as_vec3();
                for ((offset, velocity), affine) in position.iter().zip(velocity).zip(affine) {
                    let place = corner + *offset;
                    *velocity = Vec3::new(place.y - 0.4, 0.4 - place.x, place.z * place.x);
                    *affine = Mat3::from_cols(
                        Vec3::new(0.0, -1.0, place.z),
                        Vec3::X,
                        Vec3::new(0.0, 0.0, place.x),
                    );
                }
            },
        )?;
        Ok(())
    }

    fn to_grid(&self) -> Result<()> {
        for face in self.momentum.faces.into_iter().chain(self.mass.faces) {
            self.volume.column_mut(face)?.fill(0.0);
        }
        let carried = Carried {
            velocity: self.velocity,
            affine: Some(self.affine),
            mass: Mass::Same(1000.0 * (VOXEL * VOXEL * VOXEL) as f32 / 8.0),
        };
        let Self { domain, particles, volume, momentum, mass, .. } = self;
        transfer::particles_to_mac(
            domain,
            particles,
            carried,
            volume,
            *momentum,
            *mass,
            Kernel::Quadratic,
        )?;
        Ok(transfer::momentum_to_velocity(domain, volume, *momentum, *mass)?)
    }

    fn to_particles(&self) -> Result<()> {
        Ok(transfer::mac_to_particles(
            &self.domain,
            &self.volume,
            self.momentum,
            &self.particles,
            self.velocity,
            Method::Apic { affine: self.affine },
            Kernel::Quadratic,
        )?)
    }

    fn hash(&self, hash: &mut StableHash) {
        for face in self.momentum.faces.into_iter().chain(self.mass.faces) {
            let column = self.volume.column(face).expect("nobody writes the channel");
            (0..self.volume.topology().local() as u32)
                .for_each(|slot| hash.write(column.chunk(slot)));
        }
        let velocity = self.particles.column(self.velocity).expect("nobody writes the channel");
        let affine = self.particles.column(self.affine).expect("nobody writes the channel");
        for slot in 0..self.particles.topology().local() as u32 {
            hash.write(velocity.chunk(slot));
            hash.write(affine.chunk(slot));
        }
    }
}

/// Particles at jittered places, eight in each cell of a cube, in random order.
fn jittered(count: usize) -> Vec<DVec3> {
    let cells = ((count as f64 / 8.0).cbrt().ceil() as u64).max(1);
    let place = |n: u64| {
        let (cell, part) = (n / 8, n % 8);
        let corner = [cell / (cells * cells), cell / cells % cells, cell % cells];
        let axis = |axis: usize| {
            let half = part >> axis & 1;
            let jitter = random::unit(3 * n + axis as u64);
            (corner[axis] as f64 + 0.5 * (half as f64 + jitter)) * VOXEL
        };
        DVec3::new(axis(0), axis(1), axis(2))
    };
    let mut order: Vec<u64> = (0..count as u64).collect();
    order.sort_by_key(|&n| random::scramble(n));
    order.into_iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_cell_has_eight_particles_one_in_each_octant() {
        let mut octants = BTreeMap::<[i64; 3], usize>::new();
        for place in jittered(8 * 6 * 6 * 6) {
            let octant = (place / (0.5 * VOXEL)).floor().to_array().map(|c| c as i64);
            *octants.entry(octant).or_default() += 1;
        }
        assert_eq!(octants.len(), 12 * 12 * 12);
        assert!(octants.values().all(|&count| count == 1));
    }

    #[test]
    fn particles_stay_in_no_order_within_a_bucket() {
        let liquid = Liquid::new(8 * 8 * 8 * 8).expect("a small liquid");
        let position = liquid.particles.column(liquid.particles.position()).expect("nobody writes");
        let ascending = position.chunk(0).windows(2).filter(|pair| pair[0].x < pair[1].x).count();
        let pairs = position.chunk(0).len() - 1;
        assert_eq!(pairs, 8 * 8 * 8 * 8 - 1);
        assert!((pairs / 3..2 * pairs / 3).contains(&ascending), "{ascending} of {pairs}");
    }
}
