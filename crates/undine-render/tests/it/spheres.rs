//! Points as spheres, against what geometry says.

use undine_core::glam::{DVec3, Vec3};
use undine_render::shot::{
    Camera, Colouring, Ground, Light, Numbers, Places, PointChunk, Points, Radii, Shot, Subject,
    Vectors,
};
use undine_render::{Image, Quality, Size, render};

const SIDE: usize = 101;
const FIELD_OF_VIEW: f64 = 0.6;
const EYE: DVec3 = DVec3::new(0.0, 0.0, 5.0);

fn chunk(places: &[DVec3], radius: f32) -> PointChunk<'_> {
    PointChunk {
        positions: Places::World(places),
        radii: Radii::Same(radius),
        velocities: None,
        values: None,
    }
}

fn picture_of(chunks: Vec<PointChunk>, shutter: f32, passes: usize) -> Image {
    let colouring = Colouring::Plain(Vec3::splat(0.5));
    let shot = Shot {
        subjects: vec![Subject::Points(Points { chunks, colouring })],
        camera: Camera::new(EYE, DVec3::ZERO, DVec3::Y, FIELD_OF_VIEW).unwrap(),
        light: Light::default(),
        grounds: Vec::new(),
        shutter,
    };
    render(&shot, Size::new(SIDE, SIDE).unwrap(), Quality { passes }).unwrap()
}

fn picture(places: &[DVec3], radius: f32, passes: usize) -> Image {
    picture_of(vec![chunk(places, radius)], 0.0, passes)
}

/// How many pixels are covered, parts of pixels counted as such.
fn covered(image: &Image) -> f32 {
    image.light.iter().map(|light| light.w).sum()
}

/// The side of a pixel at a depth [m].
fn pixel(depth: f64) -> f64 {
    2.0 * depth * (0.5 * FIELD_OF_VIEW).tan() / SIDE as f64
}

/// Places that look random, in a cube of side 1 around the origin.
fn scattered(count: usize) -> Vec<DVec3> {
    let part = |n: usize, step: f64| (n as f64 * step).fract() - 0.5;
    (0..count)
        .map(|n| DVec3::new(part(n, 0.8191725134), part(n, 0.6710436067), part(n, 0.5497004779)))
        .collect()
}

#[test]
fn the_middle_of_a_sphere_is_a_radius_nearer_than_its_centre() {
    let image = picture(&[DVec3::ZERO], 0.5, 1);
    assert!((image.depth[50 * SIDE + 50] - 4.5).abs() < 1e-5);
    assert_eq!(image.depth[0], f32::INFINITY);
}

#[test]
fn a_large_sphere_aside_is_seen_where_lines_of_sight_meet_it() {
    let (middle, radius) = (DVec3::new(0.9, -0.7, 0.5), 0.4);
    let image = picture(&[middle], radius as f32, 1);
    let mut seen = 0;
    for y in 0..SIDE {
        for x in 0..SIDE {
            let slope = |at: f64| (at + 0.5 - 0.5 * SIDE as f64) * pixel(1.0);
            let ray = DVec3::new(slope(x as f64), -slope(y as f64), -1.0);
            let (a, b) = (ray.length_squared(), ray.dot(middle - EYE));
            let inside = b * b - a * ((middle - EYE).length_squared() - radius * radius);
            let depth = image.depth[y * SIDE + x];
            if inside > 1e-3 {
                let wanted = (b - inside.sqrt()) / a;
                assert!((f64::from(depth) - wanted).abs() < 1e-4, "{depth}, not {wanted}");
                seen += 1;
            } else if inside < -1e-3 {
                assert_eq!(depth, f32::INFINITY, "at {x}, {y}");
            }
        }
    }
    assert!(seen > 300);
}

#[test]
fn what_is_smaller_than_a_pixel_covers_as_much_as_it_is_large() {
    let places: Vec<_> = (0..900)
        .map(|n| DVec3::new(f64::from(n % 30) * 0.077 - 1.1, f64::from(n / 30) * 0.077 - 1.1, 0.0))
        .collect();
    for pixels in [0.2, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 1.0, 1.2] {
        let radius = pixels * pixel(5.0);
        let each = covered(&picture(&places, radius as f32, 32)) / 900.0;
        let wanted = (std::f64::consts::PI * pixels * pixels) as f32;
        assert!((each / wanted - 1.0).abs() < 0.05, "{each} instead of {wanted} for {pixels}");
    }
}

#[test]
fn no_point_vanishes_however_small() {
    let places: Vec<_> = (0..50)
        .map(|n| DVec3::new(f64::from(n % 10) * 0.25 - 1.1, f64::from(n / 10) * 0.25 - 0.6, 0.0))
        .collect();
    for radius in [0.0, 1e-30, 1e-4, 1e-3] {
        for passes in [1, 8, 13] {
            let least = 50.0 / passes as f32;
            let found = covered(&picture(&places, radius, passes));
            assert!(found > 0.999 * least, "{found} pixels of {least} at {radius} m, {passes}");
        }
    }
}

#[test]
fn a_sphere_around_the_camera_hides_nothing() {
    let ball = DVec3::ZERO;
    let (seen, ball) = (picture(&[ball, EYE], 0.5, 1), picture(&[ball], 0.5, 1));
    assert_eq!(seen.depth, ball.depth);
}

#[test]
fn what_is_behind_the_camera_is_not_seen() {
    let image = picture(&[DVec3::Z * 6.0, DVec3::Z * 5.6], 0.5, 2);
    assert_eq!(covered(&image), 0.0);
}

#[test]
fn a_sphere_through_the_near_plane_is_capped_there() {
    // Its middle is beside the camera, which is just outside; it fills the picture's right half.
    let image = picture(&[EYE + DVec3::new(1.001, 0.0, -0.0005)], 1.0, 1);
    let row = &image.depth[50 * SIDE..51 * SIDE];
    assert_eq!(row[0], f32::INFINITY);
    assert!(row[SIDE - 1] >= 4e-4 && row[SIDE - 1] < 0.1, "{}", row[SIDE - 1]);
}

#[test]
fn a_huge_sphere_fills_the_picture() {
    let image = picture(&[DVec3::Z * -1e6], 1e6, 1);
    assert!((image.depth[50 * SIDE + 50] - 5.0).abs() < 0.2);
    assert!(image.depth.iter().all(|depth| depth.is_finite()));
}

#[test]
fn what_is_no_number_changes_nothing_else() {
    let wrong = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300];
    let mut places = vec![DVec3::ZERO];
    places.extend(wrong.iter().map(|&x| DVec3::new(x, 0.0, 0.0)));
    places.extend(wrong.iter().map(|&x| DVec3::splat(x)));
    let velocities = vec![Vec3::new(f32::NAN, f32::INFINITY, 0.0); places.len()];
    let moving = Some(Vectors::Single(&velocities));
    let alone = picture(&[DVec3::ZERO], 0.3, 4);
    let among = picture_of(vec![PointChunk { velocities: moving, ..chunk(&places, 0.3) }], 1.0, 4);
    assert_eq!(alone.depth, among.depth);
    let light = |image: &Image| covered(image);
    assert_eq!(light(&alone), light(&among));

    let radii = [f32::NAN, f32::INFINITY, -1.0, 3e38];
    let near = vec![DVec3::ZERO; radii.len()];
    let radii = Radii::Each(Numbers::F32(&radii));
    let image = picture_of(vec![PointChunk { radii, ..chunk(&near, 0.0) }], 0.0, 4);
    assert!(image.light.iter().all(|light| light.is_finite()));
}

#[test]
fn nothing_is_a_picture_too() {
    for chunks in [vec![], vec![chunk(&[], 0.1)], vec![chunk(&[DVec3::NAN], 0.1)]] {
        assert_eq!(covered(&picture_of(chunks, 0.0, 2)), 0.0);
    }
}

#[test]
fn points_move_while_the_shutter_is_open() {
    let (still, velocities) = ([DVec3::ZERO], [Vec3::X]);
    let velocities = Some(Vectors::Single(&velocities));
    let moved = picture_of(vec![PointChunk { velocities, ..chunk(&still, 0.1) }], 1.0, 32);
    let still = picture(&still, 0.1, 32);
    // As much is covered, over a width of a metre more.
    assert!((covered(&moved) / covered(&still) - 1.0).abs() < 0.05);
    let width = |image: &Image| {
        let seen = (0..SIDE).filter(|x| (0..SIDE).any(|y| image.light[y * SIDE + x].w > 0.0));
        seen.count() as f64 * pixel(5.0)
    };
    let more = width(&moved) - width(&still);
    assert!((more - 1.0).abs() < 0.1, "{more} m");
    assert_eq!(moved.velocity[50 * SIDE + 50], Vec3::X);
}

#[test]
fn what_is_hidden_may_be_left_out_and_nobody_sees() {
    // In order of their cells most pieces are hidden by others; as they come, each piece is everywhere and none is.
    let places = scattered(40_000);
    let mut sorted = places.clone();
    let cell = |place: &DVec3| (8.0 * (*place + 1.0)).as_ivec3().to_array();
    sorted.sort_by_key(cell);
    let offsets: Vec<Vec<Vec3>> = sorted
        .chunk_by(|a, b| cell(a) == cell(b))
        .map(|places| places.iter().map(|place| place.as_vec3()).collect())
        .collect();
    let radii = Radii::Same(0.03);
    let chunks = offsets.iter().map(|offsets| {
        let positions = Places::Offsets { corner: DVec3::ZERO, offsets };
        PointChunk { positions, radii, velocities: None, values: None }
    });
    let (all, some) = (picture(&places, 0.03, 1), picture_of(chunks.collect(), 0.0, 1));
    let differ = all.depth.iter().zip(&some.depth).filter(|(a, b)| (*a - *b).abs() > 1e-4);
    assert_eq!(differ.count(), 0);
}

#[test]
fn points_in_chunks_of_any_size_cast_the_same_shadows() {
    // So small that in each pass a part of them casts the shadows of all.
    let places = scattered(3_000);
    let shadow = |size: usize| {
        let chunks = places.chunks(size).map(|places| chunk(places, 0.004)).collect();
        let colouring = Colouring::Plain(Vec3::splat(0.5));
        let shot = Shot {
            subjects: vec![Subject::Points(Points { chunks, colouring })],
            camera: Camera::new(EYE + DVec3::Y, DVec3::Y * -0.5, DVec3::Y, FIELD_OF_VIEW).unwrap(),
            light: Light { sun: Vec3::Y, sky: 0.0, ..Light::default() },
            grounds: vec![Ground { point: DVec3::Y * -0.6, normal: Vec3::Y }],
            shutter: 0.0,
        };
        let image = render(&shot, Size::new(SIDE, SIDE).unwrap(), Quality { passes: 8 }).unwrap();
        f64::from(image.light.iter().map(|light| light.y).sum::<f32>()) / (SIDE * SIDE) as f64
    };
    let whole = shadow(places.len());
    for size in [1, 2, 3, 5, 7, 256, 300] {
        let found = shadow(size);
        assert!(
            (found / whole - 1.0).abs() < 0.02,
            "{found} instead of {whole} in chunks of {size}"
        );
    }
}

#[test]
fn a_picture_is_the_same_on_any_number_of_threads() {
    let places = scattered(4_000);
    let velocities: Vec<_> = places.iter().map(|place| place.as_vec3()).collect();
    let velocities = Some(Vectors::Single(&velocities));
    for radius in [0.003, 0.02, 0.08] {
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let chunk = PointChunk { velocities, ..chunk(&places, radius) };
            pool.install(|| picture_of(vec![chunk], 0.2, 4))
        };
        let one = on(1);
        for threads in [2, 3, 7] {
            assert_eq!(one, on(threads), "{threads} threads");
        }
    }
}

#[test]
fn splats_keep_the_colour_that_they_have() {
    let places = [DVec3::ZERO];
    let chunk = PointChunk {
        positions: Places::World(&places),
        radii: Radii::Same(0.5),
        velocities: None,
        values: None,
    };
    let colour = Vec3::new(0.25, 0.5, 0.125);
    let points = Points { chunks: vec![chunk], colouring: Colouring::Plain(colour) };
    let shot = Shot {
        subjects: vec![Subject::Splats(points)],
        camera: Camera::new(DVec3::Z * 5.0, DVec3::ZERO, DVec3::Y, 0.6).unwrap(),
        light: Light::default(),
        grounds: Vec::new(),
        shutter: 0.0,
    };
    let image = render(&shot, Size::new(11, 11).unwrap(), Quality { passes: 4 }).unwrap();
    assert!((image.light[5 * 11 + 5] - colour.extend(1.0)).length() < 1e-6);
}
