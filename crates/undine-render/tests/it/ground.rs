//! Grounds: where they are, how they end, and at any size.

use crate::stage::{at, floor, from_above, picture, spheres};
use undine_core::glam::{DVec3, Vec3};
use undine_render::shot::{Camera, Ground, Light, Shot};

/// A camera above the ground that looks level with the horizon in the middle of the picture.
fn level(size: f64, at: DVec3, target: f64) -> Camera {
    Camera::new(
        at + DVec3::new(0.0, size, 4.0 * size),
        at + DVec3::Y * target * size,
        DVec3::Y,
        0.7,
    )
    .unwrap()
}

#[test]
fn the_ground_fades_into_the_horizon_without_a_line() {
    let middle = [DVec3::ZERO];
    let shot = Shot {
        subjects: vec![spheres(&middle, 0.5)],
        camera: level(1.0, DVec3::ZERO, 1.0),
        light: Light::default(),
        grounds: vec![floor()],
        shutter: 0.0,
    };
    let image = picture(&shot, 200, 4);
    for y in 90..115 {
        let step = (at(&image, 10, y) - at(&image, 10, y + 1)).abs().max_element();
        assert!(step < 0.03, "a step of {step} at {y}");
    }
}

#[test]
fn the_ground_is_as_far_away_as_it_is() {
    let mut shot = from_above(Vec::new(), 1.0);
    shot.grounds = vec![Ground { point: DVec3::new(7.0, 10.0, -3.0), normal: Vec3::Y }];
    let image = picture(&shot, 21, 1);
    assert!((image.depth[10 * 21 + 10] - 40.0).abs() < 1e-3);
}

/// Scenes of a millimetre, a metre and ten kilometres look the same: only the grid could tell, and it counts in tens.
#[test]
fn the_ground_looks_the_same_at_any_size() {
    let of_size = |size: f64| {
        let middle = [DVec3::Y * 0.5 * size];
        let shot = Shot {
            subjects: vec![spheres(&middle, 0.5 * size as f32)],
            camera: level(size, DVec3::ZERO, 0.2),
            light: Light::default(),
            grounds: vec![floor()],
            shutter: 0.0,
        };
        picture(&shot, 100, 4)
    };
    let metre = of_size(1.0);
    for size in [1e-3, 1e4] {
        let other = of_size(size);
        let apart: f32 =
            metre.light.iter().zip(&other.light).map(|(a, b)| (*a - *b).abs().max_element()).sum();
        let mean = apart / metre.light.len() as f32;
        assert!(mean < 0.005, "{mean} at {size} m");
    }
}

#[test]
fn a_wall_ends_around_what_it_holds_and_is_seen_from_its_front_only() {
    let middle = [DVec3::new(-0.5, 0.0, 0.0), DVec3::new(0.5, 0.0, 0.0)];
    let wall = |normal: Vec3, z: f64| {
        let shot = Shot {
            subjects: vec![spheres(&middle, 0.1)],
            camera: Camera::new(DVec3::Z * 20.0, DVec3::ZERO, DVec3::Y, 0.3).unwrap(),
            light: Light::default(),
            grounds: vec![Ground { point: DVec3::Z * z, normal }],
            shutter: 0.0,
        };
        picture(&shot, 100, 1)
    };
    let behind = wall(Vec3::Z, -0.5);
    assert!((behind.depth[50 * 100 + 50] - 20.5).abs() < 1e-3);
    assert_eq!(behind.depth[0], f32::INFINITY);
    // One in front that looks away hides nothing.
    assert_eq!(wall(Vec3::NEG_Z, 0.5).depth[50 * 100 + 50], f32::INFINITY);
}

#[test]
fn grounds_that_are_nowhere_and_empty_shots_make_a_picture() {
    let mut shot = from_above(Vec::new(), 1.0);
    shot.grounds = vec![
        Ground { point: DVec3::NAN, normal: Vec3::Y },
        Ground { point: DVec3::ZERO, normal: Vec3::ZERO },
        Ground { point: DVec3::ZERO, normal: Vec3::NAN },
    ];
    let image = picture(&shot, 20, 2);
    assert!(image.light.iter().all(|light| light.is_finite()));
    assert!(image.depth.iter().all(|depth| *depth == f32::INFINITY));
}

#[test]
fn a_camera_inside_of_a_sphere_makes_a_picture() {
    let middle = [DVec3::Y];
    let mut shot = from_above(vec![spheres(&middle, 100.0)], 1.0);
    shot.grounds = vec![floor()];
    let image = picture(&shot, 20, 2);
    assert!(image.light.iter().all(|light| light.is_finite()));
}
