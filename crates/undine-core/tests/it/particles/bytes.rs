//! The same bytes for any number of threads and wherever the Domain lies; little memory beyond them.

use crate::fixtures::{Random, VOXEL, bytes_of_particles, on_threads};
use glam::{DVec3, Vec3};
use undine_core::{
    Accessor, ChannelSpec, Combine, Frame, GridDomain, MemoryBudget, ParticleSystem,
};

/// Everything that moves, makes and removes particles, a few times over.
fn busy_life(origin: DVec3) -> Vec<u8> {
    let domain = GridDomain::new("box", Frame::new(origin, VOXEL).unwrap());
    let mut system = ParticleSystem::new("spray", &domain).unwrap();
    let mass =
        system.add_channel(&ChannelSpec::new("mass", 1.0_f32).combine(Combine::Sum)).unwrap();
    let velocity = ChannelSpec::new("velocity", Vec3::X).combine(Combine::Mean);
    let velocity = system.add_channel(&velocity).unwrap();
    let mut random = Random::new(5);
    for round in 0..4 {
        let positions: Vec<DVec3> = (0..1500).map(|_| origin + random.point(3.0)).collect();
        let mut batch = system.batch(&positions).unwrap();
        batch.values_mut::<Vec3>("velocity").unwrap().fill_with(|| random.vec3());
        system.append(&domain, batch).unwrap();
        Accessor::new("move", &domain)
            .over(system.topology())
            .run(
                (system.write(system.position()), system.own(velocity), system.write(mass)),
                |_, (positions, velocities, masses)| {
                    for ((position, velocity), mass) in
                        positions.iter_mut().zip(velocities).zip(masses)
                    {
                        *position += *velocity;
                        *mass += velocity.x;
                    }
                },
            )
            .unwrap();
        system.rebucketize(&domain).unwrap();
        let pairs = Accessor::new("choose", &domain)
            .over(system.topology())
            .map(system.own(system.id()), |_, ids| -> Vec<Vec<u32>> {
                (0..ids.len() as u32 / 4).map(|n| vec![4 * n + 2, 4 * n]).collect()
            })
            .unwrap();
        system.merge(&pairs).unwrap();
        let halves: Vec<Vec<(u32, u32)>> = pairs
            .iter()
            .map(|pairs| (0..pairs.len() as u32 / 2).map(|n| (n, 3)).collect())
            .collect();
        let spread = |batch: &mut undine_core::particles::Batch| {
            let parents = batch.parents().to_vec();
            for (offset, parent) in batch.offsets_mut().iter_mut().zip(parents) {
                *offset += Random::new(parent).vec3();
            }
            Ok(())
        };
        system.split(&domain, &halves, spread).unwrap();
        system.delete_where(&domain, velocity, |v| v.y > 0.9 - 0.1 * round as f32).unwrap();
    }
    bytes_of_particles(&mut system)
}

#[test]
fn the_bytes_are_the_same_for_any_number_of_threads() {
    let one = on_threads(1, || busy_life(DVec3::ZERO));
    assert!(one.len() > 100_000);
    for threads in [2, 3, 7] {
        assert!(on_threads(threads, || busy_life(DVec3::ZERO)) == one, "{threads} threads");
    }
}

#[test]
fn the_bytes_are_the_same_ten_kilometres_away() {
    assert!(busy_life(DVec3::ZERO) == busy_life(DVec3::new(1e4, -1e4, 1e4)));
}

#[test]
fn eight_particles_per_cell_cost_at_most_a_tenth_more_than_their_values() {
    let budget = MemoryBudget::unlimited();
    let domain = crate::fixtures::domain_with(&budget);
    let mut system = ParticleSystem::new("liquid", &domain).unwrap();
    let velocity = system.add_channel(&ChannelSpec::new("velocity", Vec3::ZERO)).unwrap();
    let mut random = Random::new(1);
    let half = 4 * 8;
    let mut positions = Vec::new();
    for cell in 0..(half * half * half) {
        let corner = DVec3::new(
            f64::from(cell / (half * half)),
            f64::from(cell / half % half),
            f64::from(cell % half),
        );
        positions.extend(
            (0..8).map(|_| (corner + 0.5 + 0.5 * random.vec3().as_dvec3()) * VOXEL * 0.999),
        );
    }
    let batch = system.batch(&positions).unwrap();
    system.append(&domain, batch).unwrap();
    let check = |system: &ParticleSystem, when: &str| {
        let report = system.memory().unwrap();
        assert_eq!(report.raw, system.len() as u64 * 32);
        assert!(report.overhead_ratio() <= 0.1, "{:.3} {when}", report.overhead_ratio());
        let tables = system.topology().memory().total();
        assert_eq!(budget.used(), report.total() - tables, "{when}");
    };
    check(&system, "after appending");
    for round in 0..6 {
        let mut offsets = system.column_mut(system.position()).unwrap();
        for slot in 0..system.topology().local() as u32 {
            offsets.chunk_mut(slot).iter_mut().for_each(|offset| *offset += 0.1 * random.vec3());
        }
        drop(offsets);
        system.rebucketize(&domain).unwrap();
        if round % 2 == 1 {
            let speeds = system.column_mut(velocity).map(|mut speeds| {
                for slot in 0..system.topology().local() as u32 {
                    speeds.chunk_mut(slot).fill_with(|| random.vec3());
                }
            });
            speeds.unwrap();
            system.delete_where(&domain, velocity, |v| v.x > 0.9).unwrap();
        }
    }
    // A Bucket that the last particles left is dropped only when there are many such.
    let batch = system.batch(&positions).unwrap();
    system.append(&domain, batch).unwrap();
    check(&system, "after moving and deleting");
}
