//! New particles by Bucket and offset.

use crate::fixtures::domain;
use glam::Vec3;
use undine_core::{Bucket, CoreError, ParticleSystem};

#[test]
fn offsets_keep_their_last_bit_and_find_their_way_out_of_a_bucket() {
    let domain = domain();
    let mut particles = ParticleSystem::new("drops", &domain).unwrap();
    // A Bucket is 0.8 m wide.
    let far = Bucket::new(300_000, -7, 12);
    let offsets = [Vec3::splat(0.1), Vec3::new(0.3, 0.799_999_95, 1e-20), Vec3::new(0.9, 0.1, 0.2)];
    let batch = particles.batch_in(vec![far; 3], &offsets).unwrap();
    assert_eq!(particles.append(&domain, batch).unwrap(), 0..3);
    let positions = particles.column(particles.position()).unwrap();
    let slot = particles.topology().slot(far).unwrap();
    assert_eq!(positions.chunk(slot), &offsets[..2]);
    let next = particles.topology().slot(Bucket::new(300_001, -7, 12)).unwrap();
    assert!((positions.chunk(next)[0] - Vec3::new(0.1, 0.1, 0.2)).length() < 1e-6);
}

#[test]
fn places_that_are_none_are_refused() {
    let domain = domain();
    let mut particles = ParticleSystem::new("drops", &domain).unwrap();
    let (here, offset) = (Bucket::new(0, 0, 0), Vec3::splat(0.1));
    let wrong = particles.batch_in(vec![here; 2], &[offset]).err();
    assert!(matches!(wrong, Some(CoreError::WrongLength { .. })));
    let wrong = particles.batch_in(vec![Bucket::new(1 << 19, 0, 0)], &[offset]).err();
    assert!(matches!(wrong, Some(CoreError::OutOfRange { .. })));
    let wrong = particles.batch_in(vec![here.parent()], &[offset]).err();
    assert!(matches!(wrong, Some(CoreError::NoSuchLevel { .. })));
    let batch = particles.batch_in(vec![here], &[Vec3::NAN]).unwrap();
    assert!(matches!(particles.append(&domain, batch), Err(CoreError::NotFinite { .. })));
    assert!(particles.is_empty());
}
