//! Morphology: true offsets, also beyond the band; thin parts go, gaps close.

use super::measure::{band, check_beyond, even_slopes, largest_error, volume};
use crate::solids::{Ball, Brick, Ring};
use undine_core::glam::DVec3;
use undine_geometry::Several;
use undine_geometry::Solid;

const VOXEL: f64 = 0.05;

#[test]
fn a_dilated_ball_has_a_larger_radius_and_an_eroded_one_a_smaller() {
    let ball = Ball { centre: DVec3::new(0.01, -0.02, 0.005), radius: 1.0 };
    // A part of a voxel, about the band, and three times the band.
    for offset in [0.01, 0.11, 0.5, -0.01, -0.11, -0.5] {
        let mut set = band(&ball, VOXEL);
        if offset > 0.0 { set.dilate(offset) } else { set.erode(-offset) }.unwrap();
        let exact = |at: DVec3| ball.distance(at) - offset;
        let error = largest_error(&set, 0.5, exact);
        assert!(error < 0.08, "{offset}: {error} voxels");
        check_beyond(&set, exact, 6);
        assert!(even_slopes(&set) > 97.0, "{offset}: {}", even_slopes(&set));
        let wanted = 4.0 / 3.0 * std::f64::consts::PI * (ball.radius + offset).powi(3);
        assert!((volume(&set) / wanted - 1.0).abs() < 0.02, "{offset}: {}", volume(&set));
    }
}

#[test]
fn what_is_eroded_away_is_gone() {
    let mut set = band(&Ball { centre: DVec3::ZERO, radius: 0.3 }, VOXEL);
    set.erode(0.5).unwrap();
    assert_eq!((set.topology().local(), set.beyond().inside_count()), (0, 0));
    set.dilate(0.5).unwrap();
    assert_eq!((set.topology().local(), set.beyond().inside_count()), (0, 0));
}

#[test]
fn a_dilated_box_has_round_edges() {
    let brick = Brick { min: DVec3::splat(-0.513), max: DVec3::splat(0.521) };
    let mut set = band(&brick, VOXEL);
    set.dilate(0.3).unwrap();
    let error = largest_error(&set, 0.5, |at| brick.distance(at) - 0.3);
    assert!(error < 0.35, "{error} voxels");
}

#[test]
fn opening_takes_thin_parts_away_and_leaves_the_rest() {
    let body = Brick { min: DVec3::splat(-0.6), max: DVec3::splat(0.6) };
    let fin = Brick { min: DVec3::new(0.5, -0.5, -0.08), max: DVec3::new(1.2, 0.5, 0.08) };
    let mut set = band(&Several(vec![body, fin]), VOXEL);
    let mut alone = band(&body, VOXEL);
    set.open(0.15).unwrap();
    alone.open(0.15).unwrap();
    let column = set.column().unwrap();
    let sampler = set.sampler(&column);
    assert!(sampler.at(DVec3::new(0.9, 0.0, 0.0)) > 0.0, "the fin is gone");
    assert!(sampler.at(DVec3::new(0.4, 0.0, 0.0)) < 0.0, "the body is there");
    // Faces stay where they are, corners are rounded.
    assert!(sampler.at(DVec3::new(-0.6, 0.0, 0.0)).abs() < 0.1 * VOXEL as f32);
    assert!(sampler.at(DVec3::splat(-0.6)) > 0.05);
    assert!((volume(&set) / volume(&alone) - 1.0).abs() < 0.02);
}

#[test]
fn closing_fills_gaps_and_leaves_the_rest() {
    let halves = Several(vec![
        Brick { min: DVec3::new(-1.0, -0.6, -0.6), max: DVec3::new(-0.1, 0.6, 0.6) },
        Brick { min: DVec3::new(0.1, -0.6, -0.6), max: DVec3::new(1.0, 0.6, 0.6) },
    ]);
    let mut set = band(&halves, VOXEL);
    assert_eq!(set.components().unwrap().count(), 2);
    set.close(0.2).unwrap();
    assert_eq!(set.components().unwrap().count(), 1);
    let column = set.column().unwrap();
    let sampler = set.sampler(&column);
    assert!(sampler.at(DVec3::ZERO) < 0.0, "the gap is closed");
    assert!(sampler.at(DVec3::new(1.0, 0.0, 0.0)).abs() < 0.15 * VOXEL as f32);
    assert!(sampler.at(DVec3::new(-1.0, 0.55, 0.55)).abs() < 0.3 * VOXEL as f32);
}

#[test]
fn closing_the_hole_of_a_ring_leaves_one_without_a_hole() {
    let ring = Ring { centre: DVec3::ZERO, major: 0.6, minor: 0.35 };
    let mut set = band(&ring, VOXEL);
    set.close(0.4).unwrap();
    let column = set.column().unwrap();
    assert!(set.sampler(&column).at(DVec3::ZERO) < 0.0);
}

#[test]
fn distances_that_are_none_are_refused() {
    let mut set = band(&Ball { centre: DVec3::ZERO, radius: 0.5 }, 0.1);
    for distance in [-0.1, f64::NAN, f64::INFINITY, 1e30] {
        let refused = set.dilate(distance).unwrap_err().to_string();
        assert!(refused.contains("the distance by which a surface moves"), "{refused}");
        assert!(set.close(distance).is_err());
    }
    let before = volume(&set);
    set.dilate(0.0).unwrap();
    assert_eq!(volume(&set), before);
}
