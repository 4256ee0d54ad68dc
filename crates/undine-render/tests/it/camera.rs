//! Cameras: what they show.

use crate::stage::{picture, spheres};
use std::f64::consts::FRAC_PI_2;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;
use undine_render::shot::{Camera, Framing, Light, Places, Shot, most_of};

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
fn stray_points_do_not_make_all_others_small() {
    let mut places: Vec<_> = (0..10_000)
        .map(|n| DVec3::new((f64::from(n) * 0.7).sin(), (f64::from(n) * 1.3).sin(), 0.0))
        .collect();
    places.extend([DVec3::splat(1e6), DVec3::splat(-1e9), DVec3::NAN]);
    let shown = |places: &[DVec3]| most_of(&[Places::World(places)]);
    let size = shown(&places).unwrap().size();
    assert!(size.max_element() <= 2.0 && size.x > 1.95, "{size}");
    assert_eq!(shown(&[DVec3::ZERO, DVec3::X * 50.0]).unwrap().size().x, 50.0);
    assert!(shown(&[]).is_none() && shown(&[DVec3::NAN]).is_none());
}

#[test]
fn what_no_camera_can_show_is_refused() {
    let framing = Framing {
        from: DVec3::ONE,
        up: DVec3::Y,
        field_of_view: 0.6,
        aspect: f64::NAN,
        margin: 0.1,
    };
    assert!(Camera::framing(&bounds([f64::NAN; 3], [f64::NAN; 3]), &framing).is_err());
    let camera = Camera::framing(&bounds([1.0; 3], [1.0; 3]), &framing).unwrap();
    assert!((camera.eye.distance(camera.target) - 1.0).abs() < 1e-9);
}
