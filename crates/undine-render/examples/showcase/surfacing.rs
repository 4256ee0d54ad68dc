//! The same particles of a crown, surfaced by four methods: spheres and means above, corrected means and ellipsoids below.

use crate::studio::{Outcome, Studio, camera, outdoors, solid};
use std::f64::consts::TAU;
use undine_core::glam::{DVec3, Vec3};
use undine_core::{Frame, GridDomain};
use undine_geometry::surfacing::{
    Anisotropy, Averaging, Method, Particles, Radii, Recipe, Surfacing,
};
use undine_geometry::{Triangles, random};
use undine_render::shot::Subject;
use undine_render::{Display, Size};

/// The spacing of particles, and their radius [m].
const SPACING: f64 = 0.022;
/// The width of a voxel [m].
const VOXEL: f64 = 0.35 * SPACING;
/// The pool: from the middle to its rim, and how high the water stands [m].
const POOL: [f64; 2] = [1.05, 0.1];
/// The foot of the crown's wall, from the axis [m].
const FOOT: f64 = 0.52;
const LOBES: usize = 14;

fn methods() -> [(&'static str, Method); 4] {
    [
        ("spheres", Method::Spheres),
        ("average", Method::Average(Averaging::PLAIN)),
        ("corrected-average", Method::Average(Averaging::CORRECTED)),
        ("ellipsoids", Method::Ellipsoids(Anisotropy::default())),
    ]
}

pub fn picture(studio: &Studio) -> Outcome<Display> {
    let particles = particles();
    println!("{} particles", particles.len());
    let quarter = Size::new(640, 390)?;
    let mut quarters = Vec::new();
    for (name, method) in methods() {
        let mesh = surfaced(&particles, method)?;
        let parts = mesh.clone().into_surface(name)?.components().count();
        println!("{name}: {} triangles in {parts} parts", mesh.len());
        let camera = camera([0.0, 0.95, 1.6], [0.0, 0.24, 0.0], 36.0)?;
        let water = Subject::Mesh(solid(&mesh, Vec3::new(0.36, 0.45, 0.56)));
        quarters.push(studio.taken_in(&outdoors(vec![water], camera), quarter)?);
    }
    let row = |pair: &[Display]| -> Vec<[u8; 4]> {
        let [left, right] = [0, 1].map(|n| pair[n].pixels.chunks(quarter.width));
        left.zip(right).flat_map(|(left, right)| [left, right].concat()).collect()
    };
    let pixels = quarters.chunks(2).flat_map(row).collect();
    Ok(Display { size: Size::new(2 * quarter.width, 2 * quarter.height)?, pixels })
}

fn surfaced(particles: &[DVec3], method: Method) -> Outcome<Triangles> {
    let domain = GridDomain::new("surfacing", Frame::new(DVec3::ZERO, VOXEL)?);
    let particles =
        Particles { positions: particles, radii: Radii::All(SPACING), velocities: None };
    let surfacing = Surfacing { method, ..Surfacing::default() };
    let mesh = surfacing.surface("surfacing", &domain, &particles)?.mesh()?;
    Ok(Recipe::default().finish(mesh, SPACING)?)
}

/// Random numbers from −½ to ½, three by three.
fn jitter(kind: u64, n: usize) -> DVec3 {
    let draw = |axis: u64| random::unit(kind, 3 * n as u64 + axis) - 0.5;
    DVec3::new(draw(0), draw(1), draw(2))
}

fn particles() -> Vec<DVec3> {
    let mut all: Vec<DVec3> = pool().chain(wall()).collect();
    (0..LOBES).for_each(|lobe| all.extend(finger(lobe)));
    all.extend(droplets());
    all
}

/// A disk of water with ripples, and a bowl within the crown.
fn pool() -> impl Iterator<Item = DVec3> {
    let across = (2.0 * POOL[0] / SPACING) as usize;
    let up = (1.3 * POOL[1] / SPACING) as usize;
    (0..across * across * up).filter_map(move |n| {
        let cell = [n / up / across, n % up, n / up % across].map(|n| n as f64 + 0.5);
        let middle = SPACING * DVec3::from_array(cell) - DVec3::new(POOL[0], 0.0, POOL[0]);
        let at = middle + 0.6 * SPACING * jitter(1, n);
        let away = at.x.hypot(at.z);
        let bowl = 0.05 * (1.0 - (away / FOOT).powi(2)).max(0.0);
        let ripple = 0.012 * (16.0 * away).sin() * (-2.0 * (away - FOOT).abs()).exp();
        let inside = at.y < POOL[1] - bowl + ripple && away < POOL[0];
        inside.then_some(at)
    })
}

/// Where the crown's wall is, a part of the way up at an angle.
fn wall_at(angle: f64, up: f64) -> DVec3 {
    let lobe = (LOBES as f64 * angle).cos();
    let height = 0.26 + 0.03 * (2.0 * angle + 1.0).sin() + 0.06 * lobe;
    let away = FOOT + 0.17 * up * up + 0.02 * (3.0 * angle).sin() * up;
    DVec3::new(away * angle.cos(), POOL[1] - 0.02 + height * up, away * angle.sin())
}

/// A sheet of one layer.
fn wall() -> impl Iterator<Item = DVec3> {
    let rows = (0.34 / SPACING) as usize;
    (0..rows).flat_map(move |row| {
        let up = (row as f64 + 0.5) / rows as f64;
        let around = (TAU * (FOOT + 0.17 * up * up) / SPACING) as usize;
        (0..around).map(move |n| {
            let angle = TAU * (n as f64 + 0.5 * (row % 2) as f64) / around as f64;
            wall_at(angle, up) + 0.35 * SPACING * jitter(2, row * 1000 + n)
        })
    })
}

/// What stands on the tip of a lobe: a jet that grows thin.
fn finger(lobe: usize) -> Vec<DVec3> {
    let angle = TAU * lobe as f64 / LOBES as f64;
    let (tip, below) = (wall_at(angle, 1.0), wall_at(angle, 0.85));
    let along = (tip - below).normalize();
    let long = 6 + (3.7 * lobe as f64).sin().mul_add(3.0, 3.0) as usize;
    let across = along.any_orthonormal_vector();
    let place = move |n: usize| {
        let thick = 0.6 * SPACING * (1.0 - n as f64 / (3 * long) as f64);
        let turned = across * (2.1 * n as f64).cos() + along.cross(across) * (2.1 * n as f64).sin();
        tip + along * (n as f64 * 0.35 * SPACING) + turned * thick
    };
    (0..2 * long).map(place).collect()
}

/// Drops of one to three particles that have left the tips.
fn droplets() -> impl Iterator<Item = DVec3> {
    (0..48).flat_map(|n| {
        let angle = TAU * (n as f64 / 48.0) + 0.06 * jitter(3, n).x;
        let away = 0.78 + 0.3 * (jitter(4, n).x + 0.5);
        let high = 0.42 + 0.28 * (jitter(4, n).y + 0.5);
        let middle = DVec3::new(away * angle.cos(), high, away * angle.sin());
        (0..1 + n % 3).map(move |k| middle + 1.1 * SPACING * jitter(5, 3 * n + k))
    })
}
