//! What is wrong is refused by an error that names it, and then nothing has changed.

use crate::fixtures::{Random, bytes_of_particles, domain, domain_with};
use glam::{DVec3, Vec3};
use undine_core::{
    ChannelSpec, Combine, CoreError, ElementType, GridDomain, MemoryBudget, ParticleSystem,
};

fn spray(domain: &GridDomain, count: usize) -> ParticleSystem {
    let mut system = ParticleSystem::new("spray", domain).unwrap();
    system.add_channel(&ChannelSpec::new("mass", 1.0_f32).combine(Combine::Sum)).unwrap();
    let mut random = Random::new(3);
    let batch = system.batch(&(0..count).map(|_| random.point(2.0)).collect::<Vec<_>>()).unwrap();
    system.append(domain, batch).unwrap();
    system
}

/// Runs what must fail, and checks that the system is as it was.
fn refuse<T: std::fmt::Debug>(
    system: &mut ParticleSystem,
    f: impl FnOnce(&mut ParticleSystem) -> undine_core::Result<T>,
) -> CoreError {
    let (before, len) = (bytes_of_particles(system), system.len());
    let error = f(system).unwrap_err();
    assert!(bytes_of_particles(system) == before, "something changed before: {error}");
    assert_eq!(system.len(), len);
    error
}

#[test]
fn a_particle_that_went_nowhere_is_named_and_nobody_moves() {
    let bad = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e9, -1e9, f32::MAX];
    for (n, coordinate) in bad.into_iter().enumerate() {
        let domain = domain();
        let mut system = spray(&domain, 100);
        let id = {
            let ids = system.column(system.id()).unwrap();
            let mut offsets = system.column_mut(system.position()).unwrap();
            for slot in 0..system.topology().local() as u32 {
                offsets.chunk_mut(slot).iter_mut().for_each(|offset| offset.x += 0.7);
            }
            offsets.chunk_mut(n as u32)[0].y = coordinate;
            // A second one, later: always the first is named.
            offsets.chunk_mut(n as u32 + 5)[0].y = f32::NAN;
            ids.chunk(n as u32)[0]
        };
        let error = refuse(&mut system, |system| system.rebucketize(&domain));
        let right = match error {
            CoreError::NotFinite { .. } => !coordinate.is_finite(),
            CoreError::OutOfRange { .. } => coordinate.is_finite(),
            _ => false,
        };
        assert!(right, "{coordinate}: {error}");
        assert!(error.to_string().contains(&format!("particle {id} of spray")), "{error}");
    }
}

#[test]
fn new_particles_that_are_nowhere_are_refused() {
    let domain = domain();
    let mut system = spray(&domain, 10);
    for far in [f64::NAN, f64::INFINITY, 1e12] {
        let error = system.batch(&[DVec3::ZERO, DVec3::new(0.0, far, 0.0)]).err().unwrap();
        assert!(error.to_string().contains("new particle 1 of spray"), "{error}");
    }
    for far in [f32::NAN, f32::INFINITY, 1e9] {
        let error = refuse(&mut system, |system| {
            let mut batch = system.batch(&[DVec3::ZERO; 3])?;
            batch.offsets_mut()[2].z = far;
            system.append(&domain, batch)
        });
        assert!(error.to_string().contains("new particle 2 of spray"), "{error}");
    }
    let batch = system.batch(&[DVec3::ZERO]).unwrap();
    assert_eq!(system.append(&domain, batch).unwrap(), 10..11, "refused batches use no ids");
}

#[test]
fn offsets_of_new_particles_may_leave_their_bucket() {
    let domain = domain();
    let mut system = spray(&domain, 0);
    let mut batch = system.batch(&[DVec3::ZERO]).unwrap();
    batch.offsets_mut()[0] = Vec3::new(-0.1, 8.1, 0.1);
    system.append(&domain, batch).unwrap();
    let at = system.world_positions().unwrap()[0];
    assert!((at - DVec3::new(-0.1, 8.1, 0.1)).abs().max_element() < 1e-6);
}

#[test]
fn a_batch_must_fit_its_system() {
    let domain = domain();
    let (mut system, other) = (spray(&domain, 10), spray(&domain, 1));
    let mut batch = system.batch(&[DVec3::ZERO; 2]).unwrap();
    let error = batch.set("mass", &[1.0_f32; 3]).unwrap_err();
    assert!(matches!(error, CoreError::WrongLength { found: 3, wanted: 2, .. }), "{error}");
    let error = batch.set("mass", &[1.0_f64; 2]).unwrap_err();
    assert!(matches!(error, CoreError::WrongType { found: ElementType::F32, .. }), "{error}");
    let error = batch.set("colour", &[1.0_f32; 2]).unwrap_err();
    assert!(matches!(error, CoreError::UnknownChannel { .. }), "{error}");

    let foreign = other.batch(&[DVec3::ZERO]).unwrap();
    let error = refuse(&mut system, |system| system.append(&domain, foreign));
    assert!(matches!(error, CoreError::BadValue { .. }), "{error}");

    // As many channels as before, but others.
    system.add_channel(&ChannelSpec::new("heat", 1.0_f32)).unwrap();
    let old = system.batch(&[DVec3::ZERO]).unwrap();
    system.remove_channel("heat").unwrap();
    system.add_channel(&ChannelSpec::new("heat", DVec3::ZERO)).unwrap();
    let error = refuse(&mut system, |system| system.append(&domain, old));
    assert!(error.to_string().contains("older than a change of the channels"), "{error}");
}

#[test]
fn over_budget_nothing_changes_and_within_it_nothing_is_forgotten() {
    for limit in (20_000..90_000).step_by(777) {
        let budget = MemoryBudget::new(limit);
        let domain = domain_with(&budget);
        let Ok(mut system) = ParticleSystem::new("spray", &domain) else { continue };
        system.add_channel(&ChannelSpec::new("mass", 1.0_f32).combine(Combine::Sum)).unwrap();
        let mut random = Random::new(limit);
        let (mut refused, mut made) = (0, 0);
        while refused == 0 {
            let used = budget.used();
            let positions: Vec<_> = (0..90).map(|_| random.point(1.5)).collect();
            let batch = system.batch(&positions).unwrap();
            let before = bytes_of_particles(&mut system);
            match system.append(&domain, batch) {
                Ok(ids) => made = ids.end,
                Err(error) => {
                    assert!(matches!(error, CoreError::OverBudget { .. }), "{error}");
                    assert!(bytes_of_particles(&mut system) == before && budget.used() == used);
                    refused += 1;
                }
            }
            assert!(budget.used() <= limit, "{} of {limit}", budget.used());
        }
        let report = system.memory().unwrap().total() - system.topology().memory().total();
        assert_eq!(budget.used(), report);

        let places = vec![vec![(0, 1_000_000_000)]];
        let error = refuse(&mut system, |system| system.split(&domain, &places, |_| Ok(())));
        assert!(matches!(error, CoreError::OverBudget { .. }), "{error}");
        let big = ChannelSpec::new("pose", glam::DMat4::IDENTITY);
        let error = refuse(&mut system, |system| {
            system.add_channel(&big)?;
            system.add_channel(&ChannelSpec::new("pose 2", glam::DMat4::IDENTITY))?;
            system.add_channel(&ChannelSpec::new("pose 3", glam::DMat4::IDENTITY))
        });
        assert!(matches!(error, CoreError::OverBudget { .. }), "{error}");

        // Room again: the ids go on where they were.
        let all: Vec<Vec<u32>> = {
            let ids = system.column(system.id()).unwrap();
            let slots = 0..system.topology().local() as u32;
            slots.map(|slot| (0..ids.chunk(slot).len() as u32).collect()).collect()
        };
        system.delete(&all).unwrap();
        let batch = system.batch(&[DVec3::ZERO]).unwrap();
        assert_eq!(system.append(&domain, batch).unwrap().start, made);
        drop(system);
        assert_eq!(budget.used(), 0);
    }
}

#[test]
fn a_split_that_fails_leaves_every_share_whole() {
    let domain = domain();
    let mut system = spray(&domain, 20);
    let error = refuse(&mut system, |system| {
        system.split(&domain, &[vec![(0, 3)]], |batch| {
            batch.offsets_mut()[1] = Vec3::NAN;
            Ok(())
        })
    });
    assert!(matches!(error, CoreError::NotFinite { .. }), "{error}");
    let error = refuse(&mut system, |system| {
        system.split(&domain, &[vec![(0, 3)]], |batch| batch.set("mass", &[1.0_f32]))
    });
    assert!(matches!(error, CoreError::WrongLength { .. }), "{error}");
    for parts in [vec![(0, 0)], vec![(0, 2), (0, 3)]] {
        let error = refuse(&mut system, |system| system.split(&domain, &[parts], |_| Ok(())));
        assert!(matches!(error, CoreError::BadValue { .. }), "{error}");
    }
}

#[test]
fn places_that_do_not_exist_are_refused() {
    let domain = domain();
    let mut system = spray(&domain, 20);
    let buckets = system.topology().local();
    let bad = |error: CoreError| matches!(error, CoreError::BadIndex { index: 99, .. });
    assert!(bad(refuse(&mut system, |system| system.delete(&[vec![99]]))));
    assert!(bad(refuse(&mut system, |system| system.merge(&[vec![vec![0, 99]]]))));
    assert!(bad(refuse(&mut system, |system| {
        system.split(&domain, &[vec![(99, 2)]], |_| Ok(()))
    })));
    let long = vec![Vec::new(); buckets + 1];
    let error = refuse(&mut system, |system| system.delete(&long));
    assert!(matches!(error, CoreError::WrongLength { .. }), "{error}");
    for unordered in [vec![0, 0], vec![1, 0]] {
        let mut crowd = spray(&domain, 5000);
        let error = refuse(&mut crowd, |system| system.delete(&[unordered]));
        assert!(matches!(error, CoreError::BadValue { .. }), "{error}");
    }
    let error = refuse(&mut system, |system| system.merge(&[vec![vec![0], vec![0]]]));
    assert!(matches!(error, CoreError::BadValue { .. }), "{error}");
}

#[test]
fn position_and_id_stay() {
    let domain = domain();
    let mut system = spray(&domain, 1);
    for name in [ParticleSystem::POSITION, ParticleSystem::ID] {
        let error = refuse(&mut system, |system| system.remove_channel(name));
        assert!(matches!(error, CoreError::BadValue { .. }), "{error}");
    }
}

#[test]
fn particles_are_counted_while_somebody_writes_their_ids() {
    let domain = domain();
    let mut system = spray(&domain, 90);
    let ids = system.column_mut(system.id()).unwrap();
    assert_eq!((system.len(), system.is_empty()), (90, false));
    drop(ids);
    assert_eq!(system.delete_where(&domain, system.id(), |id| id % 3 == 0).unwrap(), 30);
    assert_eq!(system.len(), 60);
}
