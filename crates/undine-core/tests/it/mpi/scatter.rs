//! Scatter and reduce: what kernels add across the borders of processes is all there, and sums are the same everywhere.

use super::crowd::Crowd;
use super::passes;
use super::scene::{alone, assert_same, distributed, random, sparse, voxels};
use std::{error::Error, sync::Arc};
use undine_core::{
    Accessor, BucketSet, ChannelSpec, CoreError, DiscreteVolume, GridDomain, Handle, Single,
    access::Pad,
    glam::{Mat3, Vec3},
    process::Processes,
    transfer::{
        Carried, Kernel, Mass, Method, mac_to_particles, momentum_to_velocity, particles_to_mac,
    },
    volume::{Resolution, VoxelShape},
};

#[test]
fn what_is_scattered_across_borders_is_all_there() {
    passes("scatter");
}

struct Grid {
    volume: DiscreteVolume,
    mass: Handle<f32>,
    momentum: Handle<Vec3>,
}

/// Scatters a crowd's mass, whole numbers, momentum and heat to the voxels around each particle, twice.
fn scattered(domain: &mut GridDomain, crowd: &Crowd) -> Result<Grid, CoreError> {
    domain.set_buckets(&crowd.system.topology().all().dilate(1)?)?;
    let mut volume = DiscreteVolume::new("grid", domain);
    let mass = volume.add_channel(&ChannelSpec::new("mass", 0.0_f32), VoxelShape::CELLS)?;
    let momentum =
        volume.add_channel(&ChannelSpec::new("momentum", Vec3::ZERO), VoxelShape::CELLS)?;
    let heat = volume.add_channel(&ChannelSpec::new("heat", 5.0_f32), VoxelShape::CELLS)?;
    let system = &crowd.system;
    for _ in 0..2 {
        let access =
            (system.own(system.position()), system.own(crowd.mass), system.own(crowd.velocity));
        let targets = (
            [
                volume.accumulate(mass, Pad::both(1)),
                volume.accumulate(heat, Pad { low: 2, high: 1 }),
            ],
            volume.accumulate(momentum, Pad::both(1)),
        );
        crowd.accessor(domain).scatter(
            access,
            targets,
            |_, (positions, masses, velocities), ([mass, heat], momentum)| {
                for ((position, &weight), &velocity) in positions.iter().zip(masses).zip(velocities)
                {
                    let cell = (*position / 0.1).floor().as_ivec3();
                    for n in 0..27 {
                        let (x, y, z) =
                            (cell.x + n / 9 - 1, cell.y + n / 3 % 3 - 1, cell.z + n % 3 - 1);
                        let at = mass.index(x, y, z);
                        mass.values_mut()[at] += weight;
                        let at = heat.index(x, y, z);
                        heat.values_mut()[at] += weight * velocity.x * 0.037;
                        let at = momentum.index(x, y, z);
                        momentum.values_mut()[at] += weight * velocity;
                    }
                }
            },
        )?;
    }
    Ok(Grid { volume, mass, momentum })
}

pub fn scatter(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let (mut domain, mut reference) = (distributed(processes), alone());
    let (mut crowd, mut wanted) = (Crowd::new(&domain)?, Crowd::new(&reference)?);
    crowd.append(&domain, 1, 3000, 1.5)?;
    wanted.append(&reference, 1, 3000, 1.5)?;
    let grid = scattered(&mut domain, &crowd)?;
    let model = scattered(&mut reference, &wanted)?;

    let (found, expected) = (voxels(&**processes, &grid.volume)?, voxels(&Single, &model.volume)?);
    let mut total = 0.0;
    for (key, channels) in &found {
        let floats = |bytes: &[u8]| bytemuck::pod_collect_to_vec::<u8, f32>(bytes);
        let expected = &expected[key];
        // Whole numbers add up exactly, in whatever order.
        assert_eq!(channels[0], expected[0], "mass in {:?}", key.bucket());
        total += floats(&channels[0]).iter().map(|&mass| f64::from(mass)).sum::<f64>();
        for channel in [1, 2] {
            for (a, b) in floats(&channels[channel]).iter().zip(floats(&expected[channel])) {
                assert!((a - b).abs() <= 1e-6 * b.abs().max(1.0), "{a} instead of {b}");
            }
        }
    }
    assert_eq!(found.len(), expected.len());
    let masses: f64 = (0..3000_u64).map(|n| (n % 7 + 1) as f64).sum();
    assert_eq!(total, masses * 27.0 * 2.0);

    // The copies are stale after it, and a reader gets the sums of all.
    let sum = |domain: &GridDomain, grid: &Grid| -> Result<_, CoreError> {
        let access = (grid.volume.around(grid.mass, 1), grid.volume.own(grid.momentum));
        let mut out = DiscreteVolume::new("out", domain);
        let blur = out.add_channel(&ChannelSpec::new("blur", 0.0_f32), VoxelShape::CELLS)?;
        Accessor::new("blur", domain).run((access, out.write(blur)), |_, ((mass, _), blur)| {
            for (n, blur) in blur.iter_mut().enumerate() {
                let (x, y, z) = (n as i32 >> 6, n as i32 >> 3 & 7, n as i32 & 7);
                *blur =
                    (0..27).map(|k| mass.at(x + k / 9 - 1, y + k / 3 % 3 - 1, z + k % 3 - 1)).sum();
            }
        })?;
        Ok(out)
    };
    let found = voxels(&**processes, &sum(&domain, &grid)?)?;
    assert_same(&found, &voxels(&Single, &sum(&reference, &model)?)?, "around sums");
    transfer(processes, (&domain, &mut crowd), (&reference, &mut wanted))?;
    reduce(processes)
}

/// From particles to a MAC grid and back: one process's velocities to rounding, every particle in its place.
fn transfer(
    processes: &Arc<dyn Processes>,
    (domain, crowd): (&GridDomain, &mut Crowd),
    (reference, wanted): (&GridDomain, &mut Crowd),
) -> Result<(), Box<dyn Error>> {
    let round_trip = |domain: &GridDomain, crowd: &Crowd| -> Result<(), CoreError> {
        let mut volume = DiscreteVolume::new("grid", domain);
        let momentum = volume.add_mac("momentum", "kg m/s", Resolution::R8)?;
        let mass = volume.add_mac("mass", "kg", Resolution::R8)?;
        let affine = crowd.system.handle::<Mat3>("frame")?;
        let carried = Carried {
            velocity: crowd.velocity,
            affine: Some(affine),
            mass: Mass::Channel(crowd.mass),
        };
        let (system, kernel) = (&crowd.system, Kernel::Quadratic);
        particles_to_mac(domain, system, carried, &volume, momentum, mass, kernel)?;
        momentum_to_velocity(domain, &volume, momentum, mass)?;
        let method = Method::Apic { affine };
        mac_to_particles(domain, &volume, momentum, system, crowd.velocity, method, kernel)
    };
    round_trip(domain, crowd)?;
    round_trip(reference, wanted)?;
    let (found, expected) = (crowd.contents(domain)?, wanted.contents(reference)?);
    assert_eq!(found.len(), expected.len());
    for (key, channels) in &found {
        let floats = |bytes: &[u8]| bytemuck::pod_collect_to_vec::<u8, f32>(bytes);
        // Positions and ids as they were; velocities, the third channel, to rounding.
        assert_eq!(channels[..2], expected[key][..2]);
        for (a, b) in floats(&channels[2]).iter().zip(floats(&expected[key][2])) {
            assert!((a - b).abs() <= 1e-6 * b.abs().max(1.0), "velocity {a} instead of {b}");
        }
    }
    assert_eq!(processes.all_sum_u64(crowd.system.len() as u64)?, wanted.system.len() as u64);
    Ok(())
}

/// Reductions over Buckets: the same bits on every process, and one process's to rounding.
fn reduce(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let (mut domain, mut reference) = (distributed(processes), alone());
    let add = |a: f64, b: f64| a + b;
    let work = |bucket: undine_core::Bucket| {
        let number: u64 = bytemuck::cast(bucket.key());
        (random(1, number) - 0.3) * 10_f64.powi((number % 9) as i32)
    };
    let sum = |domain: &GridDomain| {
        Accessor::new("sum", domain).reduce((), |here, ()| work(here.bucket), add)
    };
    let largest = |domain: &GridDomain| {
        Accessor::new("max", domain).reduce((), |here, ()| work(here.bucket), f64::max)
    };
    assert_eq!(sum(&domain)?, None);
    let mut sizes = vec![sparse(3, 40, 4, 3), sparse(4, 20, 2, 1)];
    // One Bucket: some processes have nothing to tell.
    sizes.push(BucketSet::from_keys(sizes[0].keys()[..1].to_vec()));
    for all in sizes {
        domain.set_buckets(&all)?;
        reference.set_buckets(&all)?;
        let found = sum(&domain)?.ok_or("nothing to add")?;
        let wanted = sum(&reference)?.ok_or("nothing to add")?;
        let magnitude: f64 = all.buckets().map(|bucket| work(bucket).abs()).sum();
        assert!((found - wanted).abs() <= 1e-15 * magnitude, "{found} instead of {wanted}");
        let others = processes.all_gather_values(&[found])?;
        assert!(others.iter().all(|other| other[0].to_bits() == found.to_bits()));
        assert_eq!(sum(&domain)?.map(f64::to_bits), Some(found.to_bits()));
        assert_eq!(largest(&domain)?, largest(&reference)?);
    }
    Ok(())
}
