//! Level sets as such: bands, signs where there are no voxels, sampling.

use crate::solids::{Ball, domain};
use undine_core::glam::DVec3;
use undine_core::{Bucket, GridDomain, MemoryBudget};
use undine_geometry::levelset::{Extent, LevelSet};
use undine_geometry::{Solid, random};

/// A ball of radius 1 m in voxels of 5 cm.
fn ball(extent: Extent) -> (Ball, LevelSet) {
    let ball = Ball { centre: DVec3::new(0.13, -0.21, 0.07), radius: 1.0 };
    let set = LevelSet::of_solid("ball", &domain(0.05), &ball, extent).unwrap();
    (ball, set)
}

#[test]
fn distances_between_voxels_are_those_of_the_solid_and_deep_inside_is_inside() {
    for extent in [Extent::NARROW, Extent::Full(3.0)] {
        let (ball, set) = ball(extent);
        let column = set.column().unwrap();
        let sampler = set.sampler(&column);
        for n in 0..20_000 {
            let at = DVec3::from_array([0, 1, 2].map(|k| 3.0 * random::unit(k, n) - 1.5));
            let (found, wanted) = (sampler.distance(at), ball.distance(at));
            let width = f64::from(set.width());
            let in_box = (at - ball.centre).abs().max_element() < 1.1;
            // Around its centre the distance has a kink that no interpolation follows.
            if wanted.abs() < width - 0.1 && in_box && wanted > -0.7 {
                // An eighth of the square of a voxel, times the sum of second derivatives, 2/r.
                let bound = 1e-6 + 0.05 * 0.05 / 4.0 / (1.0 + wanted - 0.05);
                assert!((found - wanted).abs() < bound, "{at}: {found} instead of {wanted}");
                let nearest = sampler.nearest(at);
                let exact = ball.nearest(at);
                // Between voxels the gradient is off by about the angle of half a voxel, seen from the centre.
                let error = nearest.point.distance(exact.point);
                assert!(
                    error < 2e-3 + 0.03 * wanted.abs() / (1.0 + wanted),
                    "{at}: {nearest:?} {exact:?}"
                );
                assert!(nearest.normal.dot(exact.normal) > 0.995);
            } else if matches!(extent, Extent::Band(_)) && wanted.abs() > width + 0.1 {
                assert_eq!(found.signum(), wanted.signum(), "{at}");
                assert!((found.abs() - width).abs() < 1e-3, "{at}: {found} of {width}");
            }
        }
    }
}

#[test]
fn a_band_has_no_buckets_but_those_near_the_surface() {
    let (ball, set) = ball(Extent::NARROW);
    let frame = *set.domain().frame();
    for bucket in set.topology().all().buckets() {
        assert!(ball.distance(frame.centre(bucket)).abs() < 0.15 + 0.2 * 3.0_f64.sqrt());
    }
    let radius = frame.bucket_size(0) * 3.0_f64.sqrt() * 0.5;
    let mut inside = 0;
    for x in -4..4 {
        for y in -4..4 {
            for z in -4..4 {
                let bucket = Bucket::new(x, y, z);
                let deep = ball.distance(frame.centre(bucket)) < -0.15 - radius;
                inside += u64::from(set.beyond().is_inside(bucket));
                assert!(!deep || set.beyond().is_inside(bucket), "{bucket:?}");
                let stored = set.topology().slot(bucket).is_some();
                assert!(!(stored && set.beyond().is_inside(bucket)), "{bucket:?}");
            }
        }
    }
    assert!(inside > 8 && inside == set.beyond().inside_count());
    assert_eq!(set.beyond().buckets().count() as u64, inside);
}

#[test]
fn memory_grows_with_the_area() {
    let buckets = [0.04, 0.02, 0.01].map(|voxel| {
        let ball = Ball { centre: DVec3::ZERO, radius: 1.0 };
        let set = LevelSet::of_solid("ball", &domain(voxel), &ball, Extent::NARROW).unwrap();
        set.topology().local() as f64
    });
    // Halving voxels makes four times the Buckets of a surface, and eight times those of a volume.
    assert!(buckets[2] / buckets[1] < 4.4 && buckets[1] / buckets[0] < 4.4, "{buckets:?}");
}

#[test]
fn new_buckets_lie_inside_or_outside_and_trimming_drops_them() {
    let (_, mut set) = ball(Extent::NARROW);
    let before = set.topology().all().clone();
    let wide = before.dilate(2).unwrap();
    set.cover(&wide).unwrap();
    {
        let column = set.column().unwrap();
        let sampler = set.sampler(&column);
        assert_eq!(sampler.at(DVec3::new(0.1, -0.2, 0.0)), -set.width());
        assert_eq!(sampler.at(DVec3::splat(0.9)), set.width());
    }
    set.trim().unwrap();
    assert_eq!(*set.topology().all(), before);
}

#[test]
fn a_pass_sees_the_inside_where_there_are_no_voxels() {
    let (_, mut set) = ball(Extent::NARROW);
    let (width, voxel) = (set.width(), set.voxel_size() as f32);
    set.update("look around", 2, |here, tile, to| {
        // Neighbouring voxels differ by a voxel at most, also across the border of the band.
        for x in -2..9 {
            for y in -2..10 {
                for z in -2..10 {
                    let [a, b] = [x, x + 1].map(|x| tile.values()[tile.index(x, y, z)]);
                    assert!((a - b).abs() < 1.001 * voxel, "{here:?} {x} {y} {z}: {a} {b}");
                }
            }
        }
        to.fill(width);
    })
    .unwrap();
    set.trim().unwrap();
    assert_eq!(set.topology().local(), 0);
}

#[test]
fn what_has_no_level_set_is_refused_with_numbers() {
    let ball = Ball { centre: DVec3::ZERO, radius: 1.0 };
    for voxels in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused = LevelSet::of_solid("ball", &domain(0.1), &ball, Extent::Band(voxels));
        assert!(refused.unwrap_err().to_string().contains("must be positive"));
    }
    let tight: GridDomain = domain(1e-5).with_budget(MemoryBudget::new(10_000_000));
    for extent in [Extent::NARROW, Extent::Full(1.0)] {
        let refused = LevelSet::of_solid("ball", &tight, &ball, extent).unwrap_err().to_string();
        assert!(refused.contains("10.0 MB"), "{refused}");
    }
}
