//! Cameras: what they show, and how they move.

use crate::stage::{picture, spheres};
use std::f64::consts::FRAC_PI_2;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;
use undine_render::shot::{Camera, CameraKey, CameraPath, Framing, Light, Shot, shown_bounds};

/// Where a camera sees a place: to the right and up, ±1 at the edges of the picture; and how far ahead.
fn seen(camera: &Camera, place: DVec3, aspect: f64) -> [f64; 3] {
    let [right, up, forward] = camera.axes();
    let at = place - camera.eye;
    let slope = (0.5 * camera.field_of_view).tan();
    let depth = at.dot(forward);
    [at.dot(right) / depth / slope / aspect, at.dot(up) / depth / slope, depth]
}

fn bounds(min: [f64; 3], max: [f64; 3]) -> Bounds {
    Bounds { min: min.into(), max: max.into() }
}

#[test]
fn known_places_are_in_the_four_corners_of_a_picture() {
    let camera = Camera::new(DVec3::Z * 5.0, DVec3::ZERO, DVec3::Y, FRAC_PI_2).unwrap();
    // At a right angle, the edges of the picture are 5 m from the middle; these are the middles of its corner pixels of 100.
    let edge = 4.95;
    for (x, y, pixel) in [
        (-edge, edge, (0, 0)),
        (edge, edge, (99, 0)),
        (-edge, -edge, (0, 99)),
        (edge, -edge, (99, 99)),
    ] {
        let place = [DVec3::new(x, y, 0.0)];
        let shot = Shot {
            subjects: vec![spheres(&place, 0.04)],
            camera,
            light: Light::default(),
            grounds: Vec::new(),
            shutter: 0.0,
        };
        let image = picture(&shot, 100, 1);
        let found: Vec<_> = (0..100 * 100).filter(|&n| image.depth[n].is_finite()).collect();
        assert_eq!(found, [pixel.1 * 100 + pixel.0], "{x}, {y}");
    }
}

#[test]
fn framing_shows_every_corner_and_is_not_loose() {
    let boxes = [
        bounds([0.0; 3], [1.0; 3]),
        bounds([-3.0, 0.0, 2.0], [9.0, 0.1, 3.0]),
        bounds([1e4, 5.0, -1e4], [1e4 + 0.01, 5.2, -1e4 + 0.02]),
        bounds([0.0; 3], [0.0, 1e-3, 0.0]),
    ];
    for (bounds, aspect) in boxes.iter().zip([1.0, 16.0 / 9.0, 0.5, 2.0]) {
        let framing = Framing {
            from: DVec3::new(1.0, 0.5, 2.0),
            up: DVec3::Y,
            field_of_view: 0.6,
            aspect,
            margin: 0.1,
        };
        let camera = Camera::framing(bounds, &framing).unwrap();
        let mut widest: f64 = 0.0;
        for corner in bounds.corners() {
            let [x, y, depth] = seen(&camera, corner, aspect);
            assert!(depth > 0.0);
            widest = widest.max(x.abs()).max(y.abs());
        }
        assert!((widest - 0.8).abs() < 1e-6, "{widest} of {bounds:?}");
    }
}

#[test]
fn the_automatic_camera_shows_all_from_above_whichever_way_is_up() {
    let bounds = bounds([-1.0, 0.0, -0.5], [1.0, 0.8, 0.5]);
    for up in [DVec3::Y, DVec3::Z] {
        let camera = CameraPath::Auto { up }.at(3.0, &bounds, 16.0 / 9.0).unwrap();
        let mut widest: f64 = 0.0;
        for corner in bounds.corners() {
            let [x, y, _] = seen(&camera, corner, 16.0 / 9.0);
            widest = widest.max(x.abs()).max(y.abs());
        }
        assert!((0.65..0.9).contains(&widest), "{widest}");
        let away = (camera.eye - camera.target).normalize();
        let degrees = away.dot(up).asin().to_degrees();
        assert!((20.0..25.0).contains(&degrees), "{degrees}°");
        // What is level and far away is above the upper edge of all that is seen of the box.
        let horizon = seen(&camera, camera.eye - 1e6 * (away - away.dot(up) * up), 1.0)[1];
        assert!(horizon > 0.9, "{horizon}");
    }
}

#[test]
fn the_automatic_camera_stands_still_while_bounds_hardly_change() {
    let auto = CameraPath::Auto { up: DVec3::Y };
    let first = auto.at(0.0, &bounds([0.01, 0.0, 0.01], [1.9, 0.7, 0.9]), 1.5).unwrap();
    let next = auto.at(0.1, &bounds([0.02, 0.0, 0.015], [1.91, 0.71, 0.905]), 1.5).unwrap();
    assert_eq!(first, next);
}

#[test]
fn stray_points_do_not_make_all_others_small() {
    let mut places: Vec<_> = (0..10_000)
        .map(|n| DVec3::new((f64::from(n) * 0.7).sin(), (f64::from(n) * 1.3).sin(), 0.0))
        .collect();
    places.extend([DVec3::splat(1e6), DVec3::splat(-1e9), DVec3::NAN]);
    let shown = shown_bounds(&[spheres(&places, 0.1)]).unwrap();
    assert!(shown.size().max_element() <= 2.2 && shown.size().x > 1.95, "{shown:?}");
    let few = [DVec3::ZERO, DVec3::X * 50.0];
    assert_eq!(
        shown_bounds(&[spheres(&few, 0.1)]).unwrap().size().x,
        50.0 + 2.0 * f64::from(0.1f32)
    );
    assert!(shown_bounds(&[spheres(&[], 0.1), spheres(&[DVec3::NAN], 0.1)]).is_none());
}

#[test]
fn an_orbit_goes_around_its_target_at_its_speed() {
    let target = DVec3::new(1.0, 2.0, 3.0);
    let orbit = |up: DVec3| CameraPath::Orbit {
        up,
        target: Some(target),
        distance: Some(4.0),
        high: 0.0,
        start: 0.0,
        speed: FRAC_PI_2,
    };
    let bounds = bounds([0.0; 3], [1.0; 3]);
    let around = [DVec3::Z, DVec3::X, DVec3::NEG_Z, DVec3::NEG_X, DVec3::Z];
    for (second, towards) in around.into_iter().enumerate() {
        let camera = orbit(DVec3::Y).at(second as f64, &bounds, 1.0).unwrap();
        assert!(camera.eye.distance(target + 4.0 * towards) < 1e-9, "{second}: {}", camera.eye);
        assert_eq!(camera.target, target);
    }
    let camera = orbit(DVec3::Z).at(0.0, &bounds, 1.0).unwrap();
    assert!(camera.eye.distance(target - 4.0 * DVec3::Y) < 1e-9);
}

#[test]
fn an_orbit_shows_everything_all_the_way_around() {
    let bounds = bounds([-2.0, 0.0, -0.3], [2.0, 1.0, 0.3]);
    for (aspect, second) in [(1.7, 0.0), (1.7, 1.0), (0.6, 2.0), (1.0, 3.7)] {
        let orbit = CameraPath::Orbit {
            up: DVec3::Y,
            target: None,
            distance: None,
            high: 0.4,
            start: 0.2,
            speed: 0.5,
        };
        let camera = orbit.at(second, &bounds, aspect).unwrap();
        for corner in bounds.corners() {
            let [x, y, _] = seen(&camera, corner, aspect);
            assert!(x.abs() < 1.0 && y.abs() < 1.0, "{x}, {y}");
        }
    }
}

#[test]
fn a_keyed_camera_passes_its_keys_and_is_smooth_between_them() {
    let key = |time: f64, x: f64, field_of_view: f64| {
        let eye = DVec3::new(x, 1.0, 5.0);
        let camera = Camera::new(eye, DVec3::X * x, DVec3::Y, field_of_view).unwrap();
        CameraKey { time, camera }
    };
    // The order of keys does not matter.
    let keys = vec![key(2.0, 3.0, 0.6), key(0.0, 0.0, 0.5), key(1.0, 1.0, 0.7)];
    let path = CameraPath::Keyed(keys.clone());
    let bounds = bounds([0.0; 3], [1.0; 3]);
    let at = |time: f64| path.at(time, &bounds, 1.0).unwrap();
    for key in keys {
        assert!(at(key.time).eye.distance(key.camera.eye) < 1e-12);
        assert!((at(key.time).field_of_view - key.camera.field_of_view).abs() < 1e-12);
    }
    assert_eq!(at(-5.0), at(0.0));
    assert_eq!(at(9.0), at(2.0));
    // Its speed is the same on both sides of a key: a step along the line from the key before to the one after.
    let step = 1e-4;
    let before = (at(1.0).eye - at(1.0 - step).eye) / step;
    let after = (at(1.0 + step).eye - at(1.0).eye) / step;
    assert!(before.distance(after) < 1e-2 && (before.x - 1.5).abs() < 1e-2, "{before} {after}");
}

#[test]
fn what_no_camera_can_show_is_refused() {
    let nowhere = bounds([f64::NAN; 3], [f64::NAN; 3]);
    assert!(CameraPath::Auto { up: DVec3::Y }.at(0.0, &nowhere, 1.0).is_err());
    assert!(CameraPath::Keyed(Vec::new()).at(0.0, &nowhere, 1.0).is_err());
    let point = bounds([1.0; 3], [1.0; 3]);
    let camera = CameraPath::Auto { up: DVec3::ZERO }.at(0.0, &point, f64::NAN).unwrap();
    assert!((camera.eye.distance(camera.target) - 1.0).abs() < 1e-9);
}
