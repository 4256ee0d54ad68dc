//! Meshes of triangles, against what geometry says.

use std::borrow::Cow;
use std::f64::consts::{PI, TAU};
use undine_core::glam::{DMat3, DVec3, Vec3};
use undine_render::shot::{
    Camera, Colouring, Finish, Light, Mesh, Numbers, Places, Shot, Subject, Turning, Vectors,
};
use undine_render::{Image, Quality, RenderError, Size, render};

pub fn mesh<'a>(places: &'a [DVec3], triangles: &'a [[u32; 3]]) -> Mesh<'a> {
    Mesh {
        positions: Places::World(places),
        triangles: Cow::Borrowed(triangles),
        placed: None,
        normals: None,
        smooth: true,
        velocities: None,
        turning: None,
        values: None,
        colouring: Colouring::Plain(Vec3::splat(0.5)),
        finish: Finish::Solid,
    }
}

/// A ball of rings of quads, each of two triangles.
pub fn ball(radius: f64, rings: u32) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let around = 2 * rings;
    let mut places = vec![DVec3::Y * radius];
    for ring in 1..rings {
        for n in 0..around {
            let (down, turn) =
                (PI * f64::from(ring) / f64::from(rings), TAU * f64::from(n) / f64::from(around));
            let flat = DVec3::new(turn.cos(), 0.0, turn.sin());
            places.push(radius * (down.cos() * DVec3::Y + down.sin() * flat));
        }
    }
    places.push(DVec3::NEG_Y * radius);
    let last = places.len() as u32 - 1;
    let at = |ring: u32, n: u32| 1 + (ring - 1) * around + n % around;
    let mut triangles = Vec::new();
    for n in 0..around {
        triangles.push([0, at(1, n + 1), at(1, n)]);
        triangles.push([last, at(rings - 1, n), at(rings - 1, n + 1)]);
        for ring in 1..rings - 1 {
            let [a, b] = [at(ring, n), at(ring, n + 1)];
            let [c, d] = [at(ring + 1, n + 1), at(ring + 1, n)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    (places, triangles)
}

pub fn shot(subjects: Vec<Subject<'_>>) -> Shot<'_> {
    Shot {
        subjects,
        camera: Camera::new(DVec3::Z * 5.0, DVec3::ZERO, DVec3::Y, 0.6).unwrap(),
        light: Light::default(),
        grounds: Vec::new(),
        shutter: 0.0,
    }
}

fn picture(mesh: Mesh<'_>) -> Image {
    let size = Size::new(101, 101).unwrap();
    render(&shot(vec![Subject::Mesh(mesh)]), size, Quality { passes: 1 }).unwrap()
}

/// The slope of the line of sight through the middle of a pixel of such a picture.
fn slope(pixel: usize) -> f64 {
    (pixel as f64 + 0.5 - 50.5) / (50.5 / 0.3f64.tan())
}

#[test]
fn a_tilted_plane_is_as_deep_as_geometry_says() {
    // z = ½ x in front of the camera at z = 5: depth 5 / (1 + ½ slope).
    let corner = |x: f64, y: f64| DVec3::new(x, y, 0.5 * x);
    let places = [corner(-9.0, -9.0), corner(9.0, -9.0), corner(9.0, 9.0), corner(-9.0, 9.0)];
    let image = picture(mesh(&places, &[[0, 1, 2], [0, 2, 3]]));
    for y in [0, 50, 100] {
        for x in 0..101 {
            let expected = 5.0 / (1.0 + 0.5 * slope(x));
            let found = f64::from(image.depth[y * 101 + x]);
            assert!((found - expected).abs() < 1e-4 * expected, "{x}: {found}, not {expected}");
        }
    }
}

#[test]
fn channels_are_interpolated_in_space_and_not_on_the_picture() {
    // The velocity is the place itself; so it is at every point of the plane, however it is tilted.
    let places =
        [DVec3::new(-3.0, -3.0, -6.0), DVec3::new(3.0, -3.0, 3.0), DVec3::new(0.0, 4.0, 0.0)];
    let velocities = places.map(|place| place.as_vec3());
    let mesh =
        Mesh { velocities: Some(Vectors::Single(&velocities)), ..mesh(&places, &[[0, 1, 2]]) };
    let image = picture(mesh);
    let mut count = 0;
    for n in (0..101 * 101).filter(|n| image.depth[*n].is_finite()) {
        let depth = f64::from(image.depth[n]);
        let place = DVec3::new(slope(n % 101) * depth, -slope(n / 101) * depth, 5.0 - depth);
        let found = image.velocity[n].as_dvec3();
        assert!(found.distance(place) < 2e-2, "{n}: {found}, not {place}");
        count += 1;
    }
    assert!(count > 500);
}

#[test]
fn what_turns_moves_as_its_places_do() {
    let places =
        [DVec3::new(-3.0, -3.0, -6.0), DVec3::new(3.0, -3.0, 3.0), DVec3::new(0.0, 4.0, 0.0)];
    let turning = Turning {
        about: DVec3::new(0.5, 0.0, 0.0),
        velocity: DVec3::new(0.0, 0.0, 2.0),
        spin: DVec3::new(0.0, 3.0, 1.0),
    };
    let image = picture(Mesh { turning: Some(turning), ..mesh(&places, &[[0, 1, 2]]) });
    let mut count = 0;
    for n in (0..101 * 101).filter(|n| image.depth[*n].is_finite()) {
        let depth = f64::from(image.depth[n]);
        let place = DVec3::new(slope(n % 101) * depth, -slope(n / 101) * depth, 5.0 - depth);
        let wanted = turning.velocity + turning.spin.cross(place - turning.about);
        let found = image.velocity[n].as_dvec3();
        assert!(found.distance(wanted) < 6e-2, "{n}: {found}, not {wanted}");
        count += 1;
    }
    assert!(count > 500);
}

/// A quarter of a turn takes a place along its circle, not along its tangent.
#[test]
fn a_turn_goes_along_a_circle() {
    let turning = Turning { about: DVec3::X, velocity: DVec3::Y, spin: DVec3::Z };
    let (turned, moved) = turning.until(0.5 * PI);
    let found = turned * DVec3::new(3.0, 0.0, 0.0) + moved;
    assert!(found.distance(DVec3::new(1.0, 2.0 + 0.5 * PI, 0.0)) < 1e-12, "{found}");
}

#[test]
fn a_closed_mesh_has_no_cracks() {
    // Every pixel well inside of the outline is covered, and none shows the far side.
    let (places, triangles) = ball(1.0, 40);
    let image = picture(mesh(&places, &triangles));
    let outline = 1.0 / 24f64.sqrt();
    for n in 0..101 * 101 {
        let aside = slope(n % 101).hypot(slope(n / 101));
        let depth = image.depth[n];
        if aside < 0.98 * outline {
            assert!(depth < 5.0, "{n}: {depth}");
        } else if aside > 1.01 * outline {
            assert_eq!(depth, f32::INFINITY);
        }
    }
}

/// How much more light comes from a mesh of colour 0.75 than from one of 0.25: its gloss is the same, so that this is of its matte part.
fn matte(places: &[DVec3], triangles: &[[u32; 3]], light: Light) -> (Image, Vec<f64>) {
    let [bright, dark] = [0.75, 0.25].map(|colour| {
        let colouring = Colouring::Plain(Vec3::splat(colour));
        let subject = Subject::Mesh(Mesh { colouring, ..mesh(places, triangles) });
        let shot = Shot { light, ..shot(vec![subject]) };
        render(&shot, Size::new(101, 101).unwrap(), Quality { passes: 1 }).unwrap()
    });
    let more = bright.light.iter().zip(&dark.light).map(|(a, b)| f64::from(a.x - b.x)).collect();
    (bright, more)
}

#[test]
fn a_lit_ball_is_as_bright_as_lambert_says() {
    let (places, triangles) = ball(1.0, 60);
    let light =
        Light { sun: Vec3::Z, sky: 0.0, sun_colour: Vec3::splat(PI as f32), ..Light::default() };
    let (image, more) = matte(&places, &triangles, light);
    // All but what the gloss mirrors of light from everywhere: 3 % of it straight on.
    let most = more[50 * 101 + 50] / 0.5;
    assert!((most - 0.969).abs() < 0.005, "{most}");
    for x in 38..=62 {
        let depth = f64::from(image.depth[50 * 101 + x]);
        let cosine = (1.0 - (slope(x) * depth).powi(2)).sqrt();
        let found = more[50 * 101 + x] / most;
        assert!((found - 0.5 * cosine).abs() < 0.003, "{x}: {found}, not {}", 0.5 * cosine);
    }
}

#[test]
fn a_box_has_sharp_edges_and_flat_faces() {
    let places: Vec<_> = (0..8)
        .map(|n| DVec3::new(f64::from(n & 1), f64::from(n >> 1 & 1), f64::from(n >> 2 & 1)) - 0.5)
        .collect();
    let quads =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles: Vec<_> = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    let light = Light { sun: Vec3::Z, sky: 0.0, ..Light::default() };
    let (_, more) = matte(&places, &triangles, light);
    let middle = more[50 * 101 + 50];
    assert!(middle > 0.1);
    for n in 34..=66 {
        assert!((more[n * 101 + n] - middle).abs() < 2e-4, "{n}");
    }
}

#[test]
fn a_triangle_that_reaches_behind_the_camera_is_cut_off_at_it() {
    // The floor, far larger than the picture, from far before the camera to far behind it.
    let places =
        [DVec3::new(-1e6, -1.0, -1e6), DVec3::new(1e6, -1.0, -1e6), DVec3::new(0.0, -1.0, 2e6)];
    let image = picture(mesh(&places, &[[0, 2, 1]]));
    for y in 52..101 {
        let expected = 1.0 / slope(y);
        let found = f64::from(image.depth[y * 101 + 50]);
        assert!((found - expected).abs() < 1e-2 * expected, "{y}: {found}, not {expected}");
    }
    assert_eq!(image.depth[49 * 101 + 50], f32::INFINITY);
}

#[test]
fn what_is_no_triangle_is_left_out() {
    let far = 1e300;
    let places = [DVec3::ZERO, DVec3::X, DVec3::X * 2.0, DVec3::NAN, DVec3::splat(far), DVec3::Y];
    let triangles = [[0, 1, 2], [0, 1, 3], [1, 1, 1], [3, 3, 3], [4, 4, 0]];
    let image = picture(mesh(&places, &triangles));
    assert!(image.depth.iter().all(|depth| depth.is_infinite()));
    assert!(image.light.iter().all(|light| light.is_finite()));
}

#[test]
fn a_mesh_whose_parts_do_not_fit_is_refused() {
    let places = [DVec3::ZERO, DVec3::X, DVec3::Y];
    let size = Size::new(8, 8).unwrap();
    let made = |mesh| render(&shot(vec![Subject::Mesh(mesh)]), size, Quality { passes: 1 });
    assert!(matches!(made(mesh(&places, &[[0, 1, 3]])), Err(RenderError::Asked { .. })));
    let values = Some(Numbers::F32(&[1.0]));
    let few = Mesh { values, ..mesh(&places, &[[0, 1, 2]]) };
    assert!(matches!(made(few), Err(RenderError::Asked { .. })));
}

#[test]
fn a_placed_mesh_is_where_it_was_moved() {
    let (places, triangles) = ball(1.0, 20);
    let placed = Some((DMat3::from_diagonal(DVec3::splat(0.5)), DVec3::Z));
    let image = picture(Mesh { placed, ..mesh(&places, &triangles) });
    assert!((image.depth[50 * 101 + 50] - 3.5).abs() < 5e-3);
    // The same far from the origin, with the camera.
    let far = DVec3::new(1e4, 2e4, -1e4);
    let placed = Some((DMat3::from_diagonal(DVec3::splat(0.5)), DVec3::Z + far));
    let moved = Mesh { placed, ..mesh(&places, &triangles) };
    let camera = Camera::new(DVec3::Z * 5.0 + far, far, DVec3::Y, 0.6).unwrap();
    let shot = Shot { camera, ..shot(vec![Subject::Mesh(moved)]) };
    let there = render(&shot, image.size, Quality { passes: 1 }).unwrap();
    assert!((there.depth[50 * 101 + 50] - 3.5).abs() < 5e-3);
}

#[test]
fn one_looks_into_a_room_through_the_nearer_wall() {
    let (places, mut triangles) = ball(1.0, 32);
    triangles.iter_mut().for_each(|[_, b, c]| std::mem::swap(b, c));
    let depth = |finish| {
        let image = picture(Mesh { finish, ..mesh(&places, &triangles) });
        image.depth[50 * 101 + 50]
    };
    assert!((depth(Finish::Solid) - 4.0).abs() < 5e-3, "{}", depth(Finish::Solid));
    assert!((depth(Finish::Room) - 6.0).abs() < 5e-3, "{}", depth(Finish::Room));
}

#[test]
fn meshes_are_the_same_on_any_number_of_threads() {
    let (places, triangles) = ball(1.0, 64);
    let floor = [
        DVec3::new(-90.0, -1.0, -90.0),
        DVec3::new(0.0, -1.0, 90.0),
        DVec3::new(90.0, -1.0, -90.0),
    ];
    let subjects = || {
        let water = Finish::Water { absorption: Vec3::new(0.5, 0.2, 0.1) };
        let shown = Mesh { finish: water, ..mesh(&places, &triangles) };
        vec![Subject::Mesh(shown), Subject::Mesh(mesh(&floor, &[[0, 1, 2]]))]
    };
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let size = Size::new(320, 240).unwrap();
        pool.install(|| render(&shot(subjects()), size, Quality { passes: 3 }).unwrap())
    };
    let one = on(1);
    for threads in [2, 3, 7] {
        assert!(one == on(threads), "{threads} threads");
    }
}
