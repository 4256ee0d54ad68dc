//! Water, against what optics says.

use super::triangles::{ball, mesh, shot};
use undine_core::glam::{DVec3, Vec3, Vec4Swizzles};
use undine_render::shot::{Camera, Finish, Ground, Light, Mesh, Shot, Subject};
use undine_render::{Image, Quality, Size, render};

const ABSORPTION: Vec3 = Vec3::new(2.0, 0.7, 0.3);

/// What water mirrors straight on.
const MIRRORED: f32 = 0.0204;

/// A flat box of water from height 0 to a height, or only its upper side.
fn slab(height: f64, is_closed: bool) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let places = (0..8)
        .map(|n| {
            let side = |bit: u32| if n >> bit & 1 == 1 { 4.0 } else { -4.0 };
            DVec3::new(side(0), if n & 2 == 2 { height } else { 0.0 }, side(2))
        })
        .collect();
    let quads =
        [[2, 6, 7, 3], [4, 5, 7, 6], [0, 1, 5, 4], [0, 2, 3, 1], [0, 4, 6, 2], [1, 3, 7, 5]];
    let count = if is_closed { 6 } else { 1 };
    let triangles =
        quads[..count].iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    (places, triangles)
}

/// Looks straight down from 5 m at a ground that is lit by the sun alone, which is above.
fn from_above(slab: &(Vec<DVec3>, Vec<[u32; 3]>), has_ground: bool, eye: f64) -> Image {
    let water = Finish::Water { absorption: ABSORPTION };
    let subject = Subject::Mesh(Mesh { finish: water, ..mesh(&slab.0, &slab.1) });
    let ground = Ground { point: DVec3::ZERO, normal: Vec3::Y };
    let shot = Shot {
        camera: Camera::new(DVec3::Y * eye, DVec3::Y * (eye - 1.0), DVec3::Z, 0.1).unwrap(),
        light: Light { sun: Vec3::new(0.2, 1.0, 0.0).normalize(), sky: 0.0, ..Light::default() },
        grounds: if has_ground { vec![ground] } else { Vec::new() },
        ..shot(vec![subject])
    };
    render(&shot, Size::new(33, 33).unwrap(), Quality { passes: 1 }).unwrap()
}

fn middle(image: &Image) -> Vec3 {
    image.light[16 * 33 + 16].xyz()
}

#[test]
fn light_through_a_slab_fades_as_beer_and_lambert_say() {
    // Down along the bent sun, and up to the eye; the ratio of two slabs has no Fresnel terms and no colour of the ground in it.
    let bent = 1.0 / (1.0 - (0.2f32 / 1.04f32.sqrt() / 1.333).powi(2)).sqrt();
    let (thin, thick) =
        (from_above(&slab(0.2, true), true, 5.0), from_above(&slab(0.5, true), true, 5.0));
    // What the water scatters itself is taken off: it is what is left over a slab of no end.
    let fog = middle(&from_above(&slab(0.5, false), false, 5.0));
    let all = ABSORPTION + 0.3 * ABSORPTION.min_element();
    let own = |height: f32| fog * (1.0 - (-2.0 * height * all).exp());
    let found = (middle(&thick) - own(0.5)) / (middle(&thin) - own(0.2));
    let expected = (-ABSORPTION * 0.3 * (1.0 + bent)).exp();
    assert!((found - expected).abs().max_element() < 0.02, "{found}, not {expected}");
}

#[test]
fn water_without_an_end_is_deep_and_of_its_own_colour() {
    let deep = middle(&from_above(&slab(1.0, false), false, 5.0));
    assert!(deep.x < deep.y && deep.y < deep.z && deep.z > 0.0, "{deep}");
    // A sheet over a ground is the same as a body that stands on it.
    let sheet = middle(&from_above(&slab(0.4, false), true, 5.0));
    let body = middle(&from_above(&slab(0.4, true), true, 5.0));
    assert!((sheet - body).length() < 1e-3 * body.length(), "{sheet}, not {body}");
}

#[test]
fn water_that_reaches_below_the_ground_is_as_thick_as_what_is_above() {
    let (mut places, triangles) = slab(0.4, true);
    places.iter_mut().filter(|place| place.y == 0.0).for_each(|place| place.y = -3.0);
    let below = middle(&from_above(&(places, triangles), true, 5.0));
    let body = middle(&from_above(&slab(0.4, true), true, 5.0));
    assert!((below - body).length() < 1e-3 * body.length(), "{below}, not {body}");
}

#[test]
fn a_mirror_of_water_is_weak_straight_on_and_strong_at_a_grazing_angle() {
    // A white sky and nothing else; the water is black.
    let (places, triangles) = slab(1.0, false);
    let water = Finish::Water { absorption: Vec3::splat(1e6) };
    let from = |eye: DVec3| {
        let subject = Subject::Mesh(Mesh { finish: water, ..mesh(&places, &triangles) });
        let target = DVec3::Y;
        let light = Light { sun_colour: Vec3::ZERO, ..Light::default() };
        let camera = Camera::new(eye, target, DVec3::Z, 0.02).unwrap();
        let shot = Shot { camera, light, ..shot(vec![subject]) };
        let image = render(&shot, Size::new(9, 9).unwrap(), Quality { passes: 1 }).unwrap();
        let scattered = 0.3 / 1.3 * 0.5;
        (image.light[4 * 9 + 4].xyz(), scattered)
    };
    let sky = |direction: DVec3| {
        let camera = Camera::new(DVec3::ZERO, direction, DVec3::Z, 0.02).unwrap();
        let light = Light { sun_colour: Vec3::ZERO, ..Light::default() };
        let shot = Shot { camera, light, ..shot(Vec::new()) };
        render(&shot, Size::new(9, 9).unwrap(), Quality { passes: 1 }).unwrap().light[40].xyz()
    };
    let zenith = sky(DVec3::Y);
    let (straight, scattered) = from(DVec3::new(0.0, 4.0, 1e-3));
    let expected = zenith * (MIRRORED + (1.0 - MIRRORED) * scattered);
    assert!(
        (straight - expected).length() < 0.02 * expected.length(),
        "{straight}, not {expected}"
    );
    let (grazing, _) = from(DVec3::new(0.0, 1.02, 3.5));
    let horizon = sky(DVec3::new(0.0, 0.02, -3.5));
    assert!((grazing - horizon).length() < 0.1 * horizon.length(), "{grazing}, not {horizon}");
}

#[test]
fn a_camera_inside_sees_all_through_the_water() {
    let bare = middle(&from_above(&(vec![DVec3::ZERO], Vec::new()), true, 1.0));
    let inside = middle(&from_above(&slab(2.0, true), true, 1.0));
    assert!(inside.x < 0.2 * bare.x && inside.is_finite(), "{inside}, without water {bare}");
    assert!(inside.x < inside.y && inside.y < inside.z);
}

#[test]
fn what_is_in_front_of_water_hides_it() {
    let (places, triangles) = ball(0.5, 20);
    let (wide, sheet) = slab(0.1, true);
    let water = Finish::Water { absorption: ABSORPTION };
    let with = |subjects| {
        let image = render(&shot(subjects), Size::new(41, 41).unwrap(), Quality { passes: 1 });
        let image = image.unwrap();
        (image.depth[20 * 41 + 20], image.light[20 * 41 + 20])
    };
    let alone = with(vec![Subject::Mesh(mesh(&places, &triangles))]);
    let far: Vec<_> = wide.iter().map(|place| *place - DVec3::Z * 8.0).collect();
    let behind = Subject::Mesh(Mesh { finish: water, ..mesh(&far, &sheet) });
    assert_eq!(with(vec![Subject::Mesh(mesh(&places, &triangles)), behind]).0, alone.0);
}
