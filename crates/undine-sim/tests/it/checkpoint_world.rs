//! A World is saved and loaded as a whole.

use crate::checkpoint::{identity, state};
use std::io::Cursor;
use undine_core::glam::DVec3;
use undine_core::particles::TopologicalParticles;
use undine_core::volume::VoxelShape;
use undine_core::{ChannelSpec, DiscreteVolume, MemoryBudget, ParticleSystem};
use undine_sim::World;
use undine_sim::checkpoint::{load, save};
use undine_sim::elements::ElementSet;
use undine_sim::registry::digests;

/// What a scene makes before its first step.
fn fresh() -> World {
    let mut world = World::new(MemoryBudget::unlimited());
    for voxel in [0.1, 0.25] {
        let domain = world.domain(voxel).unwrap();
        let domain = &world.domains[domain];
        let spray = ParticleSystem::new(format!("spray {voxel}"), domain).unwrap();
        let rods = TopologicalParticles::new(format!("rods {voxel}"), domain).unwrap();
        let mut air = DiscreteVolume::new(format!("air {voxel}"), domain);
        air.add_channel(&ChannelSpec::new("density", 0.5_f32), VoxelShape::CELLS).unwrap();
        let mut springs = ElementSet::new(format!("springs {voxel}"));
        springs.add_channel(&ChannelSpec::new("rest", 1.0_f64)).unwrap();
        springs.add_channel(&ChannelSpec::new("force", 0.0_f64).transient()).unwrap();
        world.particles.add(spray);
        world.points.add(rods);
        world.volumes.add(air);
        world.elements.add(springs);
    }
    world
}

fn live(world: &mut World) {
    let points: Vec<DVec3> = (0..40).map(|n| DVec3::new(0.3, 0.1, 0.05) * f64::from(n)).collect();
    let domains: Vec<_> = world.domains.iter().map(|(_, domain)| domain.clone()).collect();
    for (spray, domain) in world.particles.iter_mut().zip(&domains) {
        let batch = spray.batch(&points).unwrap();
        spray.append(domain, batch).unwrap();
    }
    for (rods, domain) in world.points.iter_mut().zip(&domains) {
        rods.append(domain, &points).unwrap();
    }
    for (air, domain) in world.volumes.iter_mut().zip(world.domains.iter_mut()) {
        domain.add(&domain.buckets_at_points(&points, 0).unwrap()).unwrap();
        air.follow(domain.topology()).unwrap();
        let density = air.handle::<f32>("density").unwrap();
        air.column_mut(density).unwrap().chunk_mut(0)[7] += 1.0;
    }
    for set in world.elements.iter_mut() {
        set.resize(set.len() + 5);
        let rest = set.handle::<f64>("rest").unwrap();
        set.column_mut(rest).unwrap()[3] += 2.0;
    }
}

#[test]
fn a_world_comes_back_and_goes_on_the_same() {
    let mut original = fresh();
    live(&mut original);
    let mut bytes = Vec::new();
    save(&identity(), &state(), &original, &mut bytes).unwrap();
    let mut copy = fresh();
    load(Some(&identity()), &mut copy, &mut Cursor::new(&bytes)).unwrap();
    assert_eq!(digests(&copy).unwrap(), digests(&original).unwrap());
    assert!(copy.elements.iter().all(|(_, set)| set.len() == 5));
    live(&mut original);
    live(&mut copy);
    assert_eq!(digests(&copy).unwrap(), digests(&original).unwrap());
}
