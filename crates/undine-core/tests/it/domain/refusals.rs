//! Bad input: a typed error whose message names the thing, and a Domain as it was.

use super::*;
use std::sync::Arc;
use undine_core::{CoreError, GridDomain, MemoryBudget, Partition};

/// A Domain with a few Buckets and room for about a thousand.
fn tank() -> GridDomain {
    let mut domain = GridDomain::new("tank", frame()).with_budget(MemoryBudget::new(160 * 1000));
    domain.add(&BucketSet::from_buckets([Bucket::new(1, 2, 3)]).unwrap()).unwrap();
    domain
}

/// The error of an operation, which must say all `words` and leave the Domain as it was.
fn refused<T>(
    domain: &mut GridDomain,
    words: &[&str],
    operation: impl FnOnce(&mut GridDomain) -> undine_core::Result<T>,
) -> CoreError {
    let (topology, cut) = (domain.topology().clone(), domain.partition().clone());
    let error = operation(domain).err().expect("the operation was not refused");
    assert!(Arc::ptr_eq(&topology, domain.topology()) && Arc::ptr_eq(&cut, domain.partition()));
    let message = error.to_string();
    for word in words {
        assert!(message.contains(word), "`{message}` does not say `{word}`");
    }
    error
}

#[test]
fn a_voxel_size_must_be_a_sensible_length() {
    for size in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = Frame::new(DVec3::ZERO, size).unwrap_err();
        assert!(matches!(error, CoreError::BadLength { what: "voxel size", .. }), "{error}");
    }
    for size in [1e-16, 5e-324, 1e13, f64::MAX] {
        let error = Frame::new(DVec3::ZERO, size).unwrap_err();
        assert!(error.to_string().contains("from 1e-15 m"), "{error}");
    }
    let error = Frame::new(DVec3::new(0.0, f64::NAN, 0.0), 1.0).unwrap_err();
    assert!(matches!(&error, CoreError::NotFinite { what, .. } if what.contains("origin")));
}

#[test]
fn a_box_must_be_finite_right_way_round_and_within_range() {
    let mut domain = tank();
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for axis in 0..3 {
            let mut corner = DVec3::ZERO;
            corner[axis] = bad;
            let low = refused(&mut domain, &["a box in tank"], |d| {
                d.buckets_in_box(corner, DVec3::ONE, 0)
            });
            let high = refused(&mut domain, &["a box in tank"], |d| {
                d.buckets_in_box(DVec3::ZERO, corner, 0)
            });
            assert!(matches!(low, CoreError::NotFinite { .. }), "{low}");
            assert!(matches!(high, CoreError::NotFinite { .. }), "{high}");
        }
    }
    let error = refused(&mut domain, &["inside out"], |d| {
        d.buckets_in_box(DVec3::ONE, DVec3::new(2.0, 2.0, 0.9), 0)
    });
    assert!(matches!(error, CoreError::BadValue { .. }), "{error}");
    for far in [1e6, 1e300, f64::MAX] {
        let error = refused(&mut domain, &["a box in tank", "index range"], |d| {
            d.buckets_in_box(DVec3::ZERO, DVec3::splat(far), 0)
        });
        assert!(matches!(error, CoreError::OutOfRange { level: 0, .. }), "{error}");
    }
    let error =
        refused(&mut domain, &["level 16"], |d| d.buckets_in_box(DVec3::ZERO, DVec3::ONE, 16));
    assert!(matches!(error, CoreError::NoSuchLevel { found: 16, max: 15 }), "{error}");
}

#[test]
fn a_box_may_end_where_the_index_range_ends() {
    let domain = GridDomain::new("tank", frame());
    let half = f64::from(Bucket::limit(15)) * frame().bucket_size(15);
    let (min, max) = (frame().origin() - half, frame().origin() + half);
    assert_eq!(domain.buckets_in_box(min, max, 15).unwrap().len(), 32 * 32 * 32);
    assert!(domain.buckets_in_box(min, max + 1.0, 15).is_err());
    assert!(domain.buckets_in_box(max, max, 15).is_err());
}

#[test]
fn what_passes_the_budget_is_refused_before_it_is_made() {
    let mut domain = tank();
    let error = refused(&mut domain, &["1331 Buckets", "a box in tank", "160.0 kB"], |d| {
        d.buckets_in_box(d.frame().origin(), d.frame().origin() + 11.0, 0)
    });
    assert!(matches!(error, CoreError::OverBudget { .. }), "{error}");
    let width = 8e5;
    let error = refused(&mut domain, &["a box in tank"], |d| {
        d.buckets_in_box(DVec3::splat(-width / 2.0), DVec3::splat(width / 2.0), 0)
    });
    assert!(
        matches!(error, CoreError::OverBudget { .. } | CoreError::OutOfRange { .. }),
        "{error}"
    );

    let scattered = (0..500).map(|n| Bucket::new(n * 600 - 150_000, 0, 0));
    domain.add(&BucketSet::from_buckets(scattered).unwrap()).unwrap();
    let error = refused(&mut domain, &["Buckets of tank"], |d| d.dilate(256));
    assert!(matches!(error, CoreError::OverBudget { .. }), "{error}");
    let many = BucketSet::from_buckets((0..1001).map(|n| Bucket::new(n, 0, 0))).unwrap();
    refused(&mut domain, &["1001 Buckets of tank"], |d| d.set_buckets(&many));
    refused(&mut domain, &["Buckets of tank"], |d| d.add(&many));
    refused(&mut domain, &["1001 Buckets of tank"], |d| d.subset(&many));
}

#[test]
fn without_a_budget_slots_still_limit_a_box() {
    let mut domain = GridDomain::new("tank", frame());
    let error = refused(&mut domain, &["a box in tank"], |d| {
        d.buckets_in_box(DVec3::splat(-5e5), DVec3::splat(5e5), 0)
    });
    assert!(matches!(error, CoreError::BadIndex { .. }), "{error}");
}

#[test]
fn a_bad_point_is_named_by_its_number() {
    let mut domain = tank();
    let mut points = vec![DVec3::ONE; 5000];
    points[4321].y = f64::NAN;
    let error = refused(&mut domain, &["point 4321 in tank"], |d| d.buckets_at_points(&points, 0));
    assert!(matches!(error, CoreError::NotFinite { .. }), "{error}");
    // Of several, always the first.
    points[4999] = DVec3::NAN;
    points[4321].y = 1e30;
    let error = refused(&mut domain, &["point 4321 in tank"], |d| d.buckets_at_points(&points, 0));
    assert!(matches!(error, CoreError::OutOfRange { .. }), "{error}");
    let error = refused(&mut domain, &["level 200"], |d| d.buckets_at_points(&points, 200));
    assert!(matches!(error, CoreError::NoSuchLevel { .. }), "{error}");
}

#[test]
fn a_set_refuses_what_lies_beyond_the_index_range() {
    let mut set = BucketSet::from_buckets([Bucket::new(0, 0, 0)]).unwrap();
    let before = set.clone();
    for (level, c) in [(0, 1 << 19), (0, -(1 << 19) - 1), (15, 16), (0, i32::MAX), (3, i32::MIN)] {
        let far = Bucket::at(level, IVec3::new(0, c, 0));
        assert!(matches!(set.insert(far), Err(CoreError::OutOfRange { .. })));
        assert!(BucketSet::from_buckets([far]).is_err());
        assert!(!set.contains(far) && !set.remove(far));
    }
    let nowhere = Bucket::at(200, IVec3::ZERO);
    assert!(matches!(set.insert(nowhere), Err(CoreError::NoSuchLevel { found: 200, .. })));
    assert!(!set.contains(nowhere) && set.level(200).is_empty());
    assert_eq!(set, before);
    for level in [15, 200, 255] {
        assert!(matches!(set.coarsen(level), Err(CoreError::NoSuchLevel { .. })));
    }
}

#[test]
fn padding_is_refused_if_it_is_too_wide_or_leaves_the_index_range() {
    let mut domain = tank();
    let error = refused(&mut domain, &["padding", "257", "at most 256"], |d| d.dilate(257));
    assert!(matches!(error, CoreError::BadValue { .. }), "{error}");
    refused(&mut domain, &["padding"], |d| d.dilate(u32::MAX));
    for c in [1 - (1 << 19), (1 << 19) - 2] {
        domain.set_buckets(&BucketSet::from_buckets([Bucket::new(0, 0, c)]).unwrap()).unwrap();
        let error = refused(&mut domain, &["padding", "index range"], |d| d.dilate(2));
        assert!(matches!(error, CoreError::OutOfRange { .. }), "{error}");
        domain.dilate(1).unwrap();
        assert_eq!(domain.topology().local(), 27);
    }
}

#[test]
fn a_partition_for_another_number_of_processes_is_refused() {
    let mut domain = tank();
    let cut = Arc::new(Partition::even(frame(), 3));
    let error = refused(&mut domain, &["Partition", "3"], |d| d.repartition(cut));
    assert!(matches!(error, CoreError::WrongLength { found: 3, wanted: 1, .. }), "{error}");
}

#[test]
fn threads_cannot_take_more_than_the_budget_together() {
    let budget = MemoryBudget::new(1000);
    let taken: Vec<_> = std::thread::scope(|scope| {
        let take = || {
            let mut held = Vec::new();
            for _ in 0..500 {
                let mut one = budget.reserve_nothing();
                if one.resize("a byte", 1).is_ok() {
                    held.push(one);
                }
            }
            held
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(take)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!((taken.len(), budget.used()), (1000, 1000));
    drop(taken);
    assert_eq!(budget.used(), 0);
}
