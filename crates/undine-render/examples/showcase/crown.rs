//! The crown that a drop throws up from a pool: one closed mesh, swept around an axis, and drops.

use crate::studio::{Outcome, Studio, camera, outdoors, placed, water};
use std::f64::consts::{PI, TAU};
use undine_core::glam::{DVec3, Vec3};
use undine_geometry::{Triangles, gallery};
use undine_render::Display;
use undine_render::shot::{Light, Shot, Subject};

/// How much of red, green and blue light a metre of the water takes away [1/m].
const ABSORPTION: Vec3 = Vec3::new(1.5, 0.28, 0.14);
/// How high the water stands [m].
const LEVEL: f64 = 0.3;
/// How wide the pool is, from the middle to its rim [m]: further than the picture shows.
const POOL: f64 = 14.0;
/// The foot of the crown's wall, from the axis [m].
const FOOT: f64 = 0.55;
/// How thick the wall is [m].
const WALL: f64 = 0.028;
/// How far the foot widens towards the pool, and inwards towards the floor [m].
const FILLET: [f64; 2] = [0.16, 0.18];
const LOBES: u32 = 14;
const AROUND: u32 = 840;

pub fn picture(studio: &Studio) -> Outcome<Display> {
    let crown = crown()?;
    let ball = gallery::sphere(1.0, 5);
    let mut subjects = vec![Subject::Mesh(water(&crown, ABSORPTION))];
    let drop = |radius: f64, place: DVec3| placed(water(&ball, ABSORPTION), radius, place);
    subjects.push(drop(0.11, DVec3::new(0.0, 0.85, 0.0)));
    // A drop has left the tip of each lobe, or is about to.
    subjects.extend((0..LOBES).map(|lobe| {
        let n = f64::from(lobe);
        let angle = n / f64::from(LOBES) * TAU;
        let (away, high) = (0.72 + 0.05 * (2.3 * n).sin(), 0.9 + 0.1 * (3.1 * n).sin());
        let place = DVec3::new(away * angle.cos(), high, away * angle.sin());
        drop(0.022 + 0.012 * (1.7 * n).sin(), place)
    }));
    let camera = camera([0.55, 1.65, 2.9], [0.0, 0.27, 0.0], 35.0)?;
    let sun = Vec3::new(0.5, 0.9, 0.35).normalize();
    let fair = Light::default();
    let light = Light { sun, sun_colour: 1.4 * fair.sun_colour, ..fair };
    let shot = Shot { light, ..outdoors(subjects, camera) };
    studio.taken_above(&shot, 200)
}

/// The pool with the crown on it, closed by its rim and floor.
fn crown() -> undine_geometry::Result<Triangles> {
    let rings = rings();
    let angle = |n: u32| f64::from(n) / f64::from(AROUND) * TAU;
    let positions = rings.iter().flat_map(|&part| {
        (0..AROUND).map(move |n| {
            let [away, high] = profile(part, angle(n));
            DVec3::new(away * angle(n).cos(), high, away * angle(n).sin())
        })
    });
    let vertex = |ring: u32, n: u32| ring * AROUND + n % AROUND;
    let quads = (1..rings.len() as u32).flat_map(|ring| {
        (0..AROUND).flat_map(move |n| {
            let [a, b] = [n, n + 1].map(|n| vertex(ring - 1, n));
            let [c, d] = [n + 1, n].map(|n| vertex(ring, n));
            [[a, c, b], [a, d, c]]
        })
    });
    Triangles::new(positions.collect(), quads.collect())
}

/// A part of the way from the middle of the floor around to the middle of the surface, and how far along it is, 0 to 1.
#[derive(Clone, Copy)]
enum Part {
    Floor(f64),
    Pool(f64),
    Outside(f64),
    Rim(f64),
    Inside(f64),
    Middle(f64),
}

/// The rings of the mesh, close to each other where the surface bends.
fn rings() -> Vec<Part> {
    let along = |part: fn(f64) -> Part, count: u32| {
        (0..count).map(move |n| part(f64::from(n) / f64::from(count)))
    };
    along(Part::Floor, 1)
        .chain([Part::Floor(1.0)])
        .chain(along(Part::Pool, 260))
        .chain(along(Part::Outside, 64))
        .chain(along(Part::Rim, 16))
        .chain(along(Part::Inside, 50))
        .chain(along(Part::Middle, 80))
        .chain([Part::Middle(1.0)])
        .collect()
}

/// How far from the axis and how high the surface is [m], at an angle.
fn profile(part: Part, angle: f64) -> [f64; 2] {
    let lobe = (f64::from(LOBES) * angle).cos().max(-0.6);
    let lean = 1.2 * (0.10 + 0.03 * (3.0 * angle + 0.5).sin());
    let height = 0.34 + 0.06 * (2.0 * angle + 1.0).sin() + 0.11 * lobe * lobe.abs();
    // How far the wall leans out, and how high it is, a part of the way up.
    let wall = |up: f64| {
        let smooth = up * up * (3.0 - 2.0 * up);
        [FOOT + lean * smooth + 0.01 * lobe * up, height * smooth * (0.35 + 0.65 * up)]
    };
    match part {
        Part::Floor(t) => [POOL * t, 0.0],
        Part::Pool(t) => {
            let near = FOOT + FILLET[0] + 0.5 * WALL;
            let away = POOL * (near / POOL).powf(t);
            let ripple = (16.0 * away).sin() * (-1.1 * (away - FOOT)).exp();
            // The foot of the wall is flat, and the rim of the pool, too.
            let share = ((away - near) / 0.12).clamp(0.0, 1.0);
            [away, LEVEL + 0.009 * ripple * share * share * (3.0 - 2.0 * share)]
        }
        Part::Outside(t) => {
            let [away, high] = wall(t);
            [away + FILLET[0] * (1.0 - t).powi(3) + 0.5 * WALL, LEVEL + high]
        }
        Part::Rim(t) => {
            let ([away, high], thick) = (wall(1.0), WALL * (1.0 + 0.5 * lobe));
            [away + 0.5 * thick * (PI * t).cos(), LEVEL + high + 0.9 * thick * (PI * t).sin()]
        }
        Part::Inside(t) => {
            let [away, high] = wall(1.0 - t);
            let share = if height > 0.0 { 1.0 + 0.06 / height } else { 1.0 };
            [away - FILLET[1] * t.powi(3) - 0.5 * WALL, LEVEL - 0.06 + high * share]
        }
        Part::Middle(t) => {
            let away = (FOOT - FILLET[1] - 0.5 * WALL) * (1.0 - t);
            let bowl = 0.06 * (1.0 - (away / 0.4).powi(2)).max(0.0);
            [away, LEVEL - 0.06 - bowl + 0.01 * (30.0 * away).cos() * t]
        }
    }
}
