//! Particle Systems that start anew, as they do before a checkpoint is read into them.

use crate::fixtures::{Random, VOXEL, bytes_of_particles, cube, domain, domain_with};
use glam::DVec3;
use undine_core::particles::TopologicalParticles;
use undine_core::{ChannelSpec, CoreError, Frame, GridDomain, MemoryBudget, ParticleSystem};

fn spray(domain: &GridDomain, particles: usize) -> ParticleSystem {
    let mut spray = ParticleSystem::new("spray", domain).unwrap();
    spray.add_channel(&ChannelSpec::new("age", 2.0_f32)).unwrap();
    let mut random = Random::new(4);
    let points: Vec<DVec3> = (0..particles).map(|_| random.point(2.0)).collect();
    let batch = spray.batch(&points).unwrap();
    spray.append(domain, batch).unwrap();
    spray
}

#[test]
fn a_system_that_is_filled_again_is_the_same_and_gives_the_same_ids() {
    let domain = domain();
    let mut original = spray(&domain, 300);
    let mut copy = spray(&domain, 20);
    let age = copy.handle::<f32>("age").unwrap();

    let ids = original.column(original.id()).unwrap();
    let slots = 0..original.topology().local() as u32;
    let counts: Vec<u32> = slots.clone().map(|slot| ids.chunk(slot).len() as u32).collect();
    drop(ids);
    copy.reset(original.topology(), &counts, original.next_id()).unwrap();
    assert_eq!(copy.len(), 300);
    let column = copy.column(age).unwrap();
    assert!(slots.clone().flat_map(|slot| column.chunk(slot)).all(|&age| age == 2.0));
    drop(column);

    for ((_, to), (_, from)) in copy.columns_mut().zip(original.columns_mut()) {
        for slot in slots.clone() {
            to.chunk_bytes_mut(slot).copy_from_slice(from.read_chunk(slot));
        }
    }
    assert_eq!(bytes_of_particles(&mut copy), bytes_of_particles(&mut original));
    for system in [&mut original, &mut copy] {
        let batch = system.batch(&[DVec3::ONE, DVec3::ZERO]).unwrap();
        assert_eq!(system.append(&domain, batch).unwrap(), 300..302);
        system.rebucketize(&domain).unwrap();
    }
    assert_eq!(bytes_of_particles(&mut copy), bytes_of_particles(&mut original));
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let budget = MemoryBudget::new(1 << 20);
    let domain = domain_with(&budget);
    let mut system = spray(&domain, 10);
    let before = (bytes_of_particles(&mut system), budget.used());
    let two = domain.subset(&cube(0, 1)).unwrap();
    let error = system.reset(&two, &[u32::MAX], 0).unwrap_err();
    assert!(matches!(error, CoreError::OverBudget { .. }), "{error}");
    let error = system.reset(&two, &[1, 2], 0).unwrap_err();
    assert!(matches!(error, CoreError::WrongLength { found: 2, wanted: 1, .. }), "{error}");
    let other = GridDomain::new("far", Frame::new(DVec3::ONE, VOXEL).unwrap());
    assert!(system.reset(other.topology(), &[], 0).is_err());
    let coarse = domain.subset(&cube(0, 1).coarsen(0).unwrap()).unwrap();
    assert!(system.reset(&coarse, &[1], 0).is_err());
    assert_eq!((bytes_of_particles(&mut system), budget.used()), before);
}

#[test]
fn topological_particles_start_anew_at_their_defaults() {
    let budget = MemoryBudget::new(10_000);
    let domain = domain_with(&budget);
    let mut rods = TopologicalParticles::new("rods", &domain).unwrap();
    let twist = rods.add_channel(&ChannelSpec::new("twist", 0.5_f64)).unwrap();
    rods.append(&domain, &[DVec3::ONE; 5]).unwrap();
    rods.column_mut(twist).unwrap().fill(1.0);
    rods.locate(&domain).unwrap();

    assert!(matches!(rods.reset(1_000_000, 0), Err(CoreError::OverBudget { .. })));
    assert!(matches!(rods.reset(usize::MAX, 0), Err(CoreError::BadIndex { .. })));
    assert_eq!((rods.len(), rods.next_id()), (5, 5));

    rods.reset(3, 70).unwrap();
    assert_eq!(**rods.column(twist).unwrap(), [0.5; 3]);
    assert_eq!(rods.table().topology().local(), 0);
    for (_, column) in rods.columns_mut() {
        column.bytes_mut().fill(0);
    }
    assert_eq!(rods.append(&domain, &[DVec3::ONE]).unwrap(), 70..71);
    assert_eq!(**rods.column(twist).unwrap(), [0.0, 0.0, 0.0, 0.5]);
}
