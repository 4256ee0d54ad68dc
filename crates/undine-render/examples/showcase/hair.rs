//! Hair: strands that leave a head, bend under their weight, and part at the crown of it.

use crate::noise::noise;
use crate::studio::{Outcome, Studio, camera, outdoors, spheres};
use std::f64::consts::TAU;
use undine_core::glam::{DVec3, Vec3};
use undine_core::mesh::Strands;
use undine_geometry::random::unit;
use undine_render::Display;
use undine_render::shot::{Colouring, Curves, Light, Numbers, Places, Radii, Shot, Subject};

const STRANDS: u64 = 40_000;
const POINTS: u32 = 40;
const HEAD: DVec3 = DVec3::new(0.0, 0.62, 0.0);
const RADIUS: f64 = 0.25;

pub fn picture(studio: &Studio) -> Outcome<Display> {
    let places: Vec<DVec3> = (0..STRANDS).flat_map(strand).collect();
    let taper = |n: u32| 0.0007 * (1.0 - 0.8 * n as f32 / POINTS as f32);
    let radii: Vec<f32> = (0..STRANDS).flat_map(|_| (0..POINTS).map(taper)).collect();
    let strands = Strands::open((0..=STRANDS as u32).map(|n| n * POINTS).collect())?;
    let hair = Curves {
        positions: Places::World(&places),
        strands: &strands,
        radii: Radii::Each(Numbers::F32(&radii)),
        velocities: None,
        values: None,
        colouring: Colouring::Plain(Vec3::new(0.42, 0.17, 0.05)),
        hair: true,
    };
    let head = [HEAD];
    let subjects = vec![
        Subject::Curves(hair),
        spheres(&head, Radii::Same(RADIUS as f32), Vec3::new(0.24, 0.11, 0.05)),
    ];
    let camera = camera([0.95, 1.15, 2.45], [0.06, 0.54, 0.0], 30.0)?;
    let sun = Vec3::new(-0.75, 0.8, 0.35).normalize();
    studio.taken(&Shot { light: Light { sun, ..Light::default() }, ..outdoors(subjects, camera) })
}

/// The points of a strand, from its root on.
fn strand(id: u64) -> Vec<DVec3> {
    let (up, turn) = (1.0 - 1.5 * unit(1, id), TAU * unit(2, id));
    let flat = (1.0 - up * up).max(0.0).sqrt();
    let normal = DVec3::new(flat * turn.cos(), up, flat * turn.sin());
    let mut place = HEAD + RADIUS * normal;
    let mut ahead = (normal + 0.15 * wave(3.0 * normal)).normalize();
    let step = 0.0125 * (0.85 + 0.3 * unit(3, id));
    let mut places = Vec::with_capacity(POINTS as usize);
    for _ in 0..POINTS {
        places.push(place);
        // Weight, locks that curl together, and a little of each strand's own.
        let own = DVec3::new(unit(5, id), unit(6, id), unit(7, id)) - 0.5;
        let curl = 0.16 * wave(5.0 * (HEAD + RADIUS * normal) + 9.0 * place);
        ahead = (ahead + DVec3::new(0.0, -0.11, 0.0) + curl + 0.035 * own).normalize();
        place = outside(place + step * ahead);
    }
    places
}

/// A place, moved out of the head.
fn outside(place: DVec3) -> DVec3 {
    let from = place - HEAD;
    if from.length() < 1.02 * RADIUS { HEAD + 1.02 * RADIUS * from.normalize() } else { place }
}

/// A smooth vector that changes over about a unit of length.
fn wave(at: DVec3) -> DVec3 {
    let at = at.as_vec3();
    Vec3::new(noise(at), noise(at + 17.3), noise(at + 41.7)).as_dvec3()
}
