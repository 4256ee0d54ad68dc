//! Points as spheres, against what geometry says.

use undine_core::glam::{DVec3, Vec3};
use undine_render::shot::{
    Camera, Colouring, Light, Places, PointChunk, Points, Radii, Shot, Subject,
};
use undine_render::{Image, Quality, Size, render};

fn picture(places: &[DVec3], radius: f32, passes: usize) -> Image {
    let chunk = PointChunk {
        positions: Places::World(places),
        radii: Radii::Same(radius),
        velocities: None,
        values: None,
    };
    let colouring = Colouring::Plain(Vec3::splat(0.5));
    let shot = Shot {
        subjects: vec![Subject::Points(Points { chunks: vec![chunk], colouring })],
        camera: Camera::new(DVec3::Z * 5.0, DVec3::ZERO, DVec3::Y, 0.6).unwrap(),
        light: Light::default(),
        grounds: Vec::new(),
        shutter: 0.0,
    };
    render(&shot, Size::new(101, 101).unwrap(), Quality { passes }).unwrap()
}

#[test]
fn the_middle_of_a_sphere_is_a_radius_nearer_than_its_centre() {
    let image = picture(&[DVec3::ZERO], 0.5, 1);
    assert!((image.depth[50 * 101 + 50] - 4.5).abs() < 1e-5);
    assert_eq!(image.depth[0], f32::INFINITY);
}

#[test]
fn a_picture_is_the_same_on_any_number_of_threads() {
    let places: Vec<_> = (0..500)
        .map(|n| DVec3::new((f64::from(n) * 0.7).sin(), (f64::from(n) * 1.3).cos(), 0.0))
        .collect();
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| picture(&places, 0.1, 4))
    };
    let one = on(1);
    for threads in [2, 3, 7] {
        assert_eq!(one, on(threads), "{threads} threads");
    }
}
