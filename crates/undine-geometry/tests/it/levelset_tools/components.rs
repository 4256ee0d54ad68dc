//! Components: counted, measured and taken apart, also where their inside passes through Buckets without voxels.

use super::measure::{band, bits, check_beyond, even_slopes, largest_error, volume, voxels};
use crate::solids::{Ball, Brick, Ring};
use undine_core::glam::{DVec3, IVec3};
use undine_geometry::levelset::{LevelSet, OUTSIDE};
use undine_geometry::{Several, Solid};

const VOXEL: f64 = 0.05;

/// Rings that hang in each other without touching.
fn chain() -> Several<Ring> {
    let ring = |n: i32| Ring {
        centre: DVec3::new(3.2 * f64::from(n), 0.3 * f64::from(n % 2), 0.02),
        major: 0.8,
        minor: 0.3 - 0.04 * f64::from(n),
    };
    Several((0..3).map(ring).collect())
}

#[test]
fn rings_are_counted_measured_and_taken_apart() {
    let rings = chain();
    let set = band(&rings, VOXEL);
    let components = set.components().unwrap();
    assert_eq!(components.count(), 3);
    let parts = set.fracture().unwrap();
    assert_eq!(parts.len(), 3);
    for (part, &found) in parts.iter().zip(components.volumes()) {
        // Which ring it is, is known by where it is.
        let is = |ring: &&Ring| largest_error(part, 0.9, |at| ring.distance(at)) < 1e-4;
        let ring = rings.0.iter().find(is).expect("one of the rings");
        assert!((found / ring.volume() - 1.0).abs() < 0.02, "{found} {}", ring.volume());
        assert!((volume(part) / found - 1.0).abs() < 1e-6, "{found} {}", volume(part));
        assert!(bits(part, IVec3::ZERO) == bits(&band(ring, VOXEL), IVec3::ZERO));
        assert_eq!(part.components().unwrap().count(), 1);
    }
}

#[test]
fn an_inside_hangs_together_through_buckets_without_voxels() {
    // A dumbbell whose bar and balls are all wider than Buckets: columns along x, y and z all have gaps.
    for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
        let across = DVec3::ONE - axis;
        let bar = Brick { min: -2.5 * axis - 0.8 * across, max: 2.5 * axis + 0.8 * across };
        let set = band(&bar, VOXEL);
        assert!(set.beyond().inside_count() > 20);
        let components = set.components().unwrap();
        assert_eq!(components.count(), 1);
        let wanted = 5.0 * 1.6 * 1.6;
        assert!((components.volumes()[0] / wanted - 1.0).abs() < 0.01);
    }
}

#[test]
fn a_ball_in_a_shell_is_another_component() {
    let ball = |radius: f64| Ball { centre: DVec3::new(0.01, 0.02, 0.03), radius };
    let shell = band(&ball(2.1), VOXEL).difference(&band(&ball(1.6), VOXEL), 0.0).unwrap();
    let set = shell.union(&band(&ball(0.25), VOXEL), 0.0).unwrap();
    let parts = set.fracture().unwrap();
    assert_eq!(parts.len(), 2);
    let of_shell = |at: DVec3| ball(2.1).distance(at).max(-ball(1.6).distance(at));
    let of_ball = |at: DVec3| ball(0.25).distance(at);
    let inner = usize::from(volume(&parts[0]) > volume(&parts[1]));
    check_beyond(&parts[inner], of_ball, 6);
    check_beyond(&parts[1 - inner], of_shell, 6);
    assert!(bits(&parts[1 - inner], IVec3::ZERO) == bits(&shell, IVec3::ZERO));
}

#[test]
fn near_components_are_taken_apart_with_right_distances() {
    // Three voxels apart: their bands overlap.
    let one = Ball { centre: DVec3::new(-0.55, 0.0, 0.0), radius: 0.5 };
    let other = Ball { centre: DVec3::new(0.5, 0.02, 0.01), radius: 0.4 };
    let set = band(&Several(vec![one, other]), VOXEL);
    let parts = set.fracture().unwrap();
    assert_eq!(parts.len(), 2);
    let mut found = 0;
    for part in &parts {
        for ball in [one, other] {
            let error = largest_error(part, 2.0, |at| ball.distance(at));
            if error < 0.3 {
                found += 1;
                assert!(largest_error(part, 0.6, |at| ball.distance(at)) < 0.1);
                assert!(even_slopes(part) > 97.0, "{}", even_slopes(part));
                check_beyond(part, |at| ball.distance(at), 4);
            }
        }
    }
    assert_eq!(found, 2);
}

#[test]
fn components_are_numbered_by_their_lowest_voxel_along_the_curve() {
    let set = band(&chain(), VOXEL);
    let components = set.components().unwrap();
    let (labels, handle) = components.labels();
    let column = labels.column(handle).unwrap();
    let mut next = 0;
    for slot in 0..set.topology().local() as u32 {
        for &label in column.chunk(slot) {
            assert!(label == OUTSIDE || label <= next, "{label} before {next}");
            next += u32::from(label == next);
        }
    }
    assert_eq!(next, 3);
    for (bucket, place, _, distance) in voxels(&set) {
        let slot = set.topology().slot(bucket).unwrap();
        assert_eq!(column.chunk(slot)[place] == OUTSIDE, distance >= 0.0);
    }
}

#[test]
fn crumbs_are_removed_and_the_rest_keeps_its_bits() {
    let body = Ball { centre: DVec3::ZERO, radius: 1.0 };
    let crumb = |n: u64| {
        let angle = 0.7 * n as f64;
        Ball { centre: 2.1 * DVec3::new(angle.cos(), angle.sin(), 0.1), radius: 0.1 }
    };
    let mut balls = vec![body];
    balls.extend((0..6).map(crumb));
    let set = band(&Several(balls), VOXEL);
    assert_eq!(set.components().unwrap().count(), 7);
    let (rest, gone) = set.without_components_below(0.05).unwrap();
    assert_eq!((gone, rest.components().unwrap().count()), (6, 1));
    assert!(bits(&rest, IVec3::ZERO) == bits(&band(&body, VOXEL), IVec3::ZERO));
    let (nothing, gone) = set.without_components_below(100.0).unwrap();
    assert_eq!((gone, nothing.topology().local()), (7, 0));
    let (all, gone) = set.without_components_below(0.0).unwrap();
    assert_eq!((gone, bits(&all, IVec3::ZERO) == bits(&set, IVec3::ZERO)), (0, true));
    for volume in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(set.without_components_below(volume).is_err());
    }
}

#[test]
fn nothing_has_no_components() {
    let set = band(&Ball { centre: DVec3::ZERO, radius: 0.5 }, VOXEL);
    let nothing = LevelSet::empty("nothing", set.domain(), 0.15).unwrap();
    assert_eq!(nothing.components().unwrap().count(), 0);
    assert_eq!(nothing.fracture().unwrap().len(), 0);
}

#[test]
fn many_balls_are_as_many_components() {
    // On a lattice of cells, so that none touch; some within one Bucket.
    let balls: Vec<Ball> = (0..60)
        .map(|n| {
            let cell = DVec3::new(f64::from(n % 4), f64::from(n / 4 % 4), f64::from(n / 16));
            Ball {
                centre: 0.27 * cell + 0.011 * DVec3::new(cell.y, cell.z, cell.x),
                radius: 0.06 + 0.001 * f64::from(n % 7),
            }
        })
        .collect();
    let set = band(&Several(balls.clone()), 0.02);
    let components = set.components().unwrap();
    assert_eq!(components.count(), balls.len());
    let exact = |ball: &Ball| 4.0 / 3.0 * std::f64::consts::PI * ball.radius.powi(3);
    let wanted: f64 = balls.iter().map(exact).sum();
    let found: f64 = components.volumes().iter().sum();
    // Of three voxels' radius: too much by (h/2r)².
    assert!((found / wanted - 1.0).abs() < 0.03, "{found} {wanted}");
}
