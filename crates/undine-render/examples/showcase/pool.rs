//! A block of wavy water with a ball and a box in it: refraction, colour by depth, and light gathered on the floor.

use crate::studio::{Outcome, Studio, camera, outdoors, placed, solid, water};
use undine_core::glam::{DVec3, Vec3};
use undine_geometry::{Triangles, gallery};
use undine_render::Display;
use undine_render::shot::{Light, Shot, Subject};

/// Half a side of the block [m].
const HALF: f64 = 1.6;
/// Quads along a side.
const QUADS: u32 = 360;

pub fn picture(studio: &Studio) -> Outcome<Display> {
    let block = block()?;
    let ball = gallery::sphere(0.4, 6);
    let case = gallery::cuboid(DVec3::new(0.3, 0.45, 0.3));
    let subjects = vec![
        Subject::Mesh(water(&block, Vec3::new(1.1, 0.28, 0.2))),
        placed(solid(&ball, Vec3::new(0.75, 0.05, 0.04)), 1.0, DVec3::new(0.3, 0.55, 0.2)),
        placed(solid(&case, Vec3::new(0.8, 0.6, 0.15)), 1.0, DVec3::new(-0.8, 0.45, -0.5)),
    ];
    let camera = camera([1.5, 2.5, 4.8], [0.0, 0.2, 0.1], 35.0)?;
    let light = Light { sun: Vec3::new(0.5, 0.9, 0.35).normalize(), ..Light::default() };
    studio.taken(&Shot { light, ..outdoors(subjects, camera) })
}

/// How high the water stands [m]: three trains of waves, and rings around the ball.
fn height(x: f64, z: f64) -> f64 {
    let away = (x - 0.3).hypot(z - 0.2);
    0.55 + 0.03 * (5.0 * x + 2.0 * z).sin()
        + 0.02 * (9.0 * z - 3.0 * x).sin()
        + 0.012 * (17.0 * x + 11.0 * z).sin()
        + 0.04 * (18.0 * away).sin() * (-2.5 * away).exp()
}

/// Surface, walls and floor, as one closed mesh.
fn block() -> undine_geometry::Result<Triangles> {
    let along = QUADS + 1;
    let place = |n: u32| HALF * (2.0 * f64::from(n) / f64::from(QUADS) - 1.0);
    let layer = |is_surface: bool| {
        (0..along * along).map(move |n| {
            let [x, z] = [place(n / along), place(n % along)];
            DVec3::new(x, if is_surface { height(x, z) } else { 0.0 }, z)
        })
    };
    let vertex = |is_surface: bool, i: u32, j: u32| {
        i * along + j + if is_surface { 0 } else { along * along }
    };
    let mut triangles = Vec::new();
    let mut quad = |[a, b, c, d]: [u32; 4]| triangles.extend([[a, b, c], [a, c, d]]);
    for n in 0..QUADS * QUADS {
        let (i, j) = (n / QUADS, n % QUADS);
        let around = [(i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j)];
        quad(around.map(|(i, j)| vertex(true, i, j)));
        let [a, b, c, d] = around.map(|(i, j)| vertex(false, i, j));
        quad([a, d, c, b]);
    }
    for n in 0..QUADS {
        let mut wall = |[i, j]: [u32; 2], [k, l]: [u32; 2]| {
            quad([
                vertex(true, i, j),
                vertex(false, i, j),
                vertex(false, k, l),
                vertex(true, k, l),
            ]);
        };
        wall([0, n], [0, n + 1]);
        wall([QUADS, n + 1], [QUADS, n]);
        wall([n + 1, 0], [n, 0]);
        wall([n, QUADS], [n + 1, QUADS]);
    }
    Triangles::new(layer(true).chain(layer(false)).collect(), triangles)
}
