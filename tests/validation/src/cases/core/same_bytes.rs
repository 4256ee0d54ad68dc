//! The same bytes for any number of threads, over a long run of everything at once.

use crate::page::Case;
use crate::verdict::Verdict;
use undine_core::glam::{DVec3, Mat3, Vec3};
use undine_core::transfer::{self, Carried, Kernel, Mass, Method};
use undine_core::volume::Resolution;
use undine_core::{
    Accessor, ChannelSpec, DiscreteVolume, Frame, GridDomain, ParticleSystem, Result,
};

/// The case.
pub const SAME_BYTES: Case = Case {
    name: "core-same-bytes",
    doc: "Two hundred steps of particles that move, change Buckets, are transferred to a MAC grid and back, are born and \
          deleted: the same bytes on 1 to 8 threads.",
    run: same_bytes,
};

fn same_bytes() -> Verdict {
    let hashes: Vec<std::result::Result<u64, String>> = [1, 2, 3, 5, 8]
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .map_err(|why| why.to_string())?;
            pool.install(|| run().map_err(|why| why.to_string()))
        })
        .into();
    let mut verdict = Verdict::new();
    let first = match &hashes[0] {
        Ok(hash) => *hash,
        Err(why) => return Verdict::broken(why),
    };
    for (hash, threads) in hashes.iter().zip([1, 2, 3, 5, 8]) {
        match hash {
            Ok(hash) => {
                verdict =
                    verdict.same(&format!("hash of the end on {threads} threads"), *hash, first)
            }
            Err(why) => return Verdict::broken(why),
        }
    }
    verdict
}

/// Runs the steps, and hashes every channel of the particles.
fn run() -> Result<u64> {
    let mut domain = GridDomain::new("tank", Frame::new(DVec3::ZERO, 0.1)?);
    let mut grid = DiscreteVolume::new("grid", &domain);
    let velocity = grid.add_mac("velocity", "m/s", Resolution::R8)?;
    let weight = grid.add_mac("weight", "kg", Resolution::R8)?;
    let mut water = ParticleSystem::new("water", &domain)?;
    let carried = water.add_channel(&ChannelSpec::new("velocity", Vec3::ZERO).unit("m/s"))?;
    let affine = water.add_channel(&ChannelSpec::new("affine", Mat3::ZERO).unit("1/s"))?;
    for step in 0..200_u64 {
        // Every tenth step a blob is born, thrown sideways; what has fallen far is deleted.
        if step % 10 == 0 {
            let centre = DVec3::new(0.3 * (step as f64).sin(), 2.0, 0.3 * (step as f64).cos());
            let points: Vec<DVec3> =
                (0..4000).map(|n| centre + 0.5 * scattered(step * 4000 + n)).collect();
            let mut batch = water.batch(&points)?;
            batch.values_mut::<Vec3>("velocity")?.fill(centre.as_vec3().cross(Vec3::Y));
            water.append(&domain, batch)?;
        }
        domain.set_buckets(&water.topology().all().dilate(1)?)?;
        grid.follow(domain.topology())?;
        for face in velocity.faces.into_iter().chain(weight.faces) {
            grid.column_mut(face)?.fill(0.0);
        }
        let particles = Carried { velocity: carried, affine: Some(affine), mass: Mass::Same(1.0) };
        transfer::particles_to_mac(
            &domain,
            &water,
            particles,
            &grid,
            velocity,
            weight,
            Kernel::Quadratic,
        )?;
        transfer::momentum_to_velocity(&domain, &grid, velocity, weight)?;
        transfer::mac_to_particles(
            &domain,
            &grid,
            velocity,
            &water,
            carried,
            Method::Apic { affine },
            Kernel::Quadratic,
        )?;
        Accessor::new("fall", &domain).over(water.topology()).run(
            (water.write(water.position()), water.write(carried)),
            |_, (positions, velocities)| {
                for (position, velocity) in positions.iter_mut().zip(velocities) {
                    velocity.y -= 0.01 * 9.81;
                    *position += 0.01 * *velocity;
                }
            },
        )?;
        water.rebucketize(&domain)?;
        water.delete_where(&domain, carried, |velocity| velocity.y < -12.0)?;
    }
    let slots = water.topology().local() as u32;
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for (_, column) in water.columns_mut() {
        for slot in 0..slots {
            for byte in column.read_chunk(slot) {
                hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
        }
    }
    Ok(hash)
}

/// A point in the ball of radius one that belongs to `n`.
fn scattered(n: u64) -> DVec3 {
    let angle = 2.399_963 * n as f64;
    let height = (0.754_877_67 * n as f64).fract() * 2.0 - 1.0;
    let radius = (0.569_840_29 * n as f64).fract().cbrt();
    let flat = (1.0 - height * height).sqrt();
    radius * DVec3::new(flat * angle.cos(), height, flat * angle.sin())
}
