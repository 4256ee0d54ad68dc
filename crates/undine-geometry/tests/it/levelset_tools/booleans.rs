//! Booleans: pointwise minima and maxima, the right inside where there are no voxels, blends.

use super::measure::{band, bits, check_beyond, even_slopes, largest_error, volume, voxels};
use crate::solids::{Ball, Brick, Ring, domain};
use undine_core::glam::{DVec3, IVec3};
use undine_core::{Frame, GridDomain};
use undine_geometry::Solid;
use undine_geometry::blend::smooth_min;
use undine_geometry::levelset::{Extent, LevelSet};

const VOXEL: f64 = 0.05;

/// Two balls of which one may lie in the other, touch it, overlap it or be apart from it.
fn pairs() -> [(&'static str, Ball, Ball); 4] {
    let ball = |x: f64, radius: f64| Ball { centre: DVec3::new(x, 0.013, -0.007), radius };
    [
        ("overlapping", ball(-0.5, 1.1), ball(0.5, 0.9)),
        ("nested", ball(0.0, 1.5), ball(0.1, 0.6)),
        ("nested the other way", ball(0.1, 0.6), ball(0.0, 1.5)),
        ("apart", ball(-1.1, 0.8), ball(1.1, 0.9)),
    ]
}

#[test]
fn booleans_are_the_minimum_and_maximum_of_both_distances_and_know_their_inside() {
    for (name, one, other) in pairs() {
        let sets = [band(&one, VOXEL), band(&other, VOXEL)];
        let (a, b) = (|at| one.distance(at), |at| other.distance(at));
        type Exact<'a> = Box<dyn Fn(DVec3) -> f64 + 'a>;
        let cases: [(LevelSet, Exact); 4] = [
            (sets[0].union(&sets[1], 0.0).unwrap(), Box::new(|at| f64::min(a(at), b(at)))),
            (sets[0].intersection(&sets[1], 0.0).unwrap(), Box::new(|at| f64::max(a(at), b(at)))),
            (sets[0].difference(&sets[1], 0.0).unwrap(), Box::new(|at| f64::max(a(at), -b(at)))),
            (sets[1].difference(&sets[0], 0.0).unwrap(), Box::new(|at| f64::max(b(at), -a(at)))),
        ];
        for (number, (set, exact)) in cases.iter().enumerate() {
            let width = f64::from(set.width());
            for (bucket, place, at, distance) in voxels(set) {
                let wanted = exact(at).clamp(-width, width);
                assert!((distance - wanted).abs() < 1e-6, "{name} {number} {bucket:?} {place}");
            }
            check_beyond(set, exact, 8);
        }
        // What has no surface has no Buckets.
        let counts = cases.each_ref().map(|(set, _)| set.topology().local());
        let empty = match name {
            "nested" => [false, false, false, true],
            "nested the other way" => [false, false, true, false],
            "apart" => [false, true, false, false],
            _ => [false; 4],
        };
        assert_eq!(counts.map(|count| count == 0), empty, "{name}");
        // A ∪ B and A ∩ B together have the volume of A and B together.
        let sum = |a: &LevelSet, b: &LevelSet| volume(a) + volume(b);
        let (wanted, found) = (sum(&sets[0], &sets[1]), sum(&cases[0].0, &cases[1].0));
        assert!((found - wanted).abs() < 2e-3 * wanted, "{name}: {found} {wanted}");
    }
}

#[test]
fn what_is_taken_from_itself_is_nothing() {
    let set = band(&Ball { centre: DVec3::ZERO, radius: 1.0 }, VOXEL);
    let nothing = set.difference(&set, 0.0).unwrap();
    assert_eq!((nothing.topology().local(), nothing.beyond().inside_count()), (0, 0));
    let same = set.union(&set, 0.0).unwrap();
    assert!(bits(&same, IVec3::ZERO) == bits(&set, IVec3::ZERO));
    let same = set.intersection(&set, 0.0).unwrap();
    assert!(bits(&same, IVec3::ZERO) == bits(&set, IVec3::ZERO));
    let empty = LevelSet::empty("nothing", &domain(VOXEL), 3.0 * VOXEL).unwrap();
    assert_eq!(set.intersection(&empty, 0.0).unwrap().topology().local(), 0);
    let same = empty.union(&set, 0.0).unwrap();
    assert!(bits(&same, IVec3::ZERO) == bits(&set, IVec3::ZERO));
}

#[test]
fn the_laws_of_de_morgan_hold_bit_for_bit() {
    let brick = Brick { min: DVec3::splat(-1.0), max: DVec3::splat(1.0) };
    let brick = band(&brick, VOXEL);
    let ball = band(&Ball { centre: DVec3::new(0.9, 0.3, 0.2), radius: 0.6 }, VOXEL);
    let ring = band(&Ring { centre: DVec3::new(-0.3, 0.2, 0.6), major: 0.7, minor: 0.3 }, VOXEL);
    let union = ball.union(&ring, 0.0).unwrap();
    let one = brick.difference(&union, 0.0).unwrap();
    let without = [&ball, &ring].map(|set| brick.difference(set, 0.0).unwrap());
    let other = without[0].intersection(&without[1], 0.0).unwrap();
    assert!(bits(&one, IVec3::ZERO) == bits(&other, IVec3::ZERO));
    assert_eq!(one.beyond(), other.beyond());
    let common = ball.intersection(&ring, 0.0).unwrap();
    let one = brick.difference(&common, 0.0).unwrap();
    let other = without[0].union(&without[1], 0.0).unwrap();
    let voxel = one.voxel_size();
    let column = other.column().unwrap();
    let sampler = other.sampler(&column);
    for (.., at, distance) in voxels(&one) {
        if distance.abs() < 0.5 * voxel {
            let found = f64::from(sampler.at(at));
            assert!((found - distance).abs() < 1e-5, "{at}: {distance} {found}");
        }
    }
}

#[test]
fn blended_surfaces_lie_where_the_polynomial_is_zero() {
    let one = Ball { centre: DVec3::new(-0.4, 0.0, 0.0), radius: 0.7 };
    let other = Ball { centre: DVec3::new(0.5, 0.1, 0.0), radius: 0.6 };
    let sets = [band(&one, VOXEL), band(&other, VOXEL)];
    // Less than the bands are wide, and more.
    for blend in [0.1, 0.4] {
        let exact = |at: DVec3| smooth_min(one.distance(at), other.distance(at), blend);
        let union = sets[0].union(&sets[1], blend).unwrap();
        assert_eq!(union.width(), sets[0].width());
        let error = largest_error(&union, 0.6, exact);
        // The polynomial itself is not a distance: its slope falls to 0.75 in the blend.
        assert!(error < 0.25, "{blend}: {error}");
        let column = union.column().unwrap();
        let sampler = union.sampler(&column);
        for n in 0..200 {
            let angle = f64::from(n) * 0.0314;
            // On the blended surface along a ray from the axis, found by bisection.
            let ray = |r: f64| {
                DVec3::new(0.1 + 0.3 * (angle * 7.0).sin(), r * angle.cos(), r * angle.sin())
            };
            let (mut low, mut high) = (0.0, 1.5);
            for _ in 0..50 {
                let middle = 0.5 * (low + high);
                if exact(ray(middle)) < 0.0 { low = middle } else { high = middle }
            }
            let off = sampler.distance(ray(low)).abs() / VOXEL;
            assert!(off < 0.1, "{blend}: {off} voxels at {}", ray(low));
        }
        assert!(even_slopes(&union) > 95.0, "{}", even_slopes(&union));
        let sharp = sets[0].union(&sets[1], 0.0).unwrap();
        assert!(volume(&union) > volume(&sharp));
    }
}

#[test]
fn a_level_set_on_another_lattice_is_taken_over() {
    let one = Ball { centre: DVec3::new(-0.4, 0.0, 0.0), radius: 0.7 };
    let other = Ball { centre: DVec3::new(0.5, 0.1, 0.0), radius: 0.6 };
    let frame = Frame::new(DVec3::new(0.017, 0.3, -0.1), 0.043).unwrap();
    let domain = GridDomain::new("other", frame);
    let foreign = LevelSet::of_solid("other", &domain, &other, Extent::NARROW).unwrap();
    let united = band(&one, VOXEL).union(&foreign, 0.0).unwrap();
    assert_eq!(united.voxel_size(), VOXEL);
    let exact = |at: DVec3| one.distance(at).min(other.distance(at));
    let error = largest_error(&united, 1.5, exact);
    assert!(error < 0.1, "{error}");
    check_beyond(&united, exact, 5);
}

#[test]
fn blends_that_are_no_lengths_are_refused() {
    let set = band(&Ball { centre: DVec3::ZERO, radius: 0.5 }, 0.1);
    for blend in [-1.0, f64::NAN, f64::INFINITY] {
        let refused = set.union(&set, blend).unwrap_err().to_string();
        assert!(refused.contains("the width of a blend"), "{refused}");
    }
}
