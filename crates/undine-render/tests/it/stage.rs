//! What tests of light and drawing are made with.

use undine_core::glam::{DVec3, Vec3};
use undine_render::shot::{
    Camera, Colouring, Ground, Light, Places, PointChunk, Points, Radii, Shot, Subject,
};
use undine_render::{Image, Quality, Size, render};

/// Spheres of one size and colour.
pub fn spheres(places: &[DVec3], radius: f32) -> Subject<'_> {
    let chunk = PointChunk {
        positions: Places::World(places),
        radii: Radii::Same(radius),
        velocities: None,
        values: None,
    };
    let colouring = Colouring::Plain(Vec3::splat(0.5));
    Subject::Points(Points { chunks: vec![chunk], colouring })
}

/// A Shot from straight above, x to the right and z down in the picture, that shows `half` metres on each side of the origin.
pub fn from_above(subjects: Vec<Subject<'_>>, half: f64) -> Shot<'_> {
    let away = 50.0 * half;
    Shot {
        subjects,
        camera: Camera::new(DVec3::Y * away, DVec3::ZERO, DVec3::NEG_Z, 2.0 * (half / away).atan())
            .unwrap(),
        light: Light::default(),
        grounds: Vec::new(),
        shutter: 0.0,
    }
}

pub fn floor() -> Ground {
    Ground { point: DVec3::ZERO, normal: Vec3::Y }
}

/// A square picture.
pub fn picture(shot: &Shot<'_>, side: usize, passes: usize) -> Image {
    render(shot, Size::new(side, side).unwrap(), Quality { passes }).unwrap()
}

/// The light of a pixel.
pub fn at(image: &Image, x: usize, y: usize) -> Vec3 {
    image.light[y * image.size.width + x].truncate()
}

/// Checks that a Shot looks the same on any number of threads.
pub fn same_on_any_threads(shot: &Shot<'_>) {
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| picture(shot, 80, 4))
    };
    let one = on(1);
    for threads in [2, 3, 7] {
        assert_eq!(one, on(threads), "{threads} threads");
    }
}
