//! A waterspout of a million points, coloured by their speed and blurred by it.

use crate::studio::{Outcome, Studio, camera, outdoors};
use rayon::prelude::*;
use std::f64::consts::TAU;
use undine_core::glam::{DVec3, Vec3};
use undine_geometry::random::unit;
use undine_render::shot::{
    Colouring, Numbers, Places, PointChunk, Points, Radii, Shot, Subject, Vectors,
};
use undine_render::{ColourBar, ColourMap, Display, Legend};

const POINTS: u64 = 1_000_000;
/// How fast the fastest points are [m/s].
const FASTEST: f32 = 5.0;

pub fn picture(studio: &Studio) -> Outcome<Display> {
    let (places, velocities): (Vec<DVec3>, Vec<Vec3>) =
        (0..POINTS).into_par_iter().map(point).unzip();
    let chunk = PointChunk {
        positions: Places::World(&places),
        radii: Radii::Same(0.006),
        velocities: Some(Vectors::Single(&velocities)),
        values: Some(Numbers::Vec3(&velocities)),
    };
    let map = ColourMap::named("water")?;
    let colouring = Colouring::Mapped { map, low: 0.0, high: FASTEST };
    let subjects = vec![Subject::Points(Points { chunks: vec![chunk], colouring })];
    let camera = camera([1.6, 2.1, 7.2], [0.0, 1.1, 0.0], 26.0)?;
    let shot = Shot { shutter: 0.012, ..outdoors(subjects, camera) };
    let colours =
        ColourBar { map, low: 0.0, high: FASTEST.into(), name: "speed".into(), unit: "m/s".into() };
    let legend = Legend { colours: Some(colours), ..Legend::default() };
    Ok(legend.on(&studio.taken(&shot)?)?)
}

/// Where a point is, and how fast: two in five in the spout, the others in the spray around its foot.
fn point(id: u64) -> (DVec3, Vec3) {
    if id % 5 < 2 { in_spout(id) } else { in_spray(id) }
}

/// Seven strands wind up and away from each other; points stay near them.
fn in_spout(id: u64) -> (DVec3, Vec3) {
    let high = 2.6 * unit(1, id).powf(0.8) * (1.0 - 0.15 * unit(10, id));
    let wide = 0.11 + 0.07 * high + 0.09 * high * high;
    let strand = (unit(2, id) * 7.0).floor() / 7.0;
    let spread = near_zero(3, id);
    let turn = TAU * (strand + 0.55 * high + 0.045 * near_zero(4, id));
    let away = wide * (1.0 + 0.22 * spread * spread.abs());
    // A spout never stands straight.
    let axis = DVec3::new(0.12 * (1.9 * high).sin(), high, 0.08 * (1.3 * high).sin());
    let around = 1.9 / away.max(0.1).sqrt() * (1.0 + 0.25 * near_zero(9, id));
    placed(axis, away, turn, around, 0.8)
}

/// Arms of a spiral on the ground, thrown up near the foot.
fn in_spray(id: u64) -> (DVec3, Vec3) {
    let away = 0.12 - 0.42 * (1.0 - unit(5, id)).max(1e-3).ln();
    let arm = (unit(6, id) * 5.0).floor() / 5.0;
    let turn = TAU * (arm - 0.55 * away.ln() + 0.055 * near_zero(7, id));
    let thrown = 0.02 + 0.7 * (-((away - 0.3) / 0.28).powi(2)).exp() + 0.05 * (-away).exp();
    let high = 0.006 + thrown * unit(8, id).powi(4);
    placed(
        DVec3::new(0.0, high, 0.0),
        away,
        turn,
        2.3 / (away + 0.25) * (1.0 + 0.2 * near_zero(9, id)),
        1.5 * high,
    )
}

/// A place about an axis, and the velocity of what turns about it and rises [m/s].
fn placed(axis: DVec3, away: f64, turn: f64, around: f64, rising: f64) -> (DVec3, Vec3) {
    let (sine, cosine) = turn.sin_cos();
    let place = axis + away * DVec3::new(cosine, 0.0, sine);
    (place, (around * DVec3::new(-sine, 0.0, cosine) + rising * DVec3::Y).as_vec3())
}

/// A number near 0, rarely as far as 2 (three throws of a die).
fn near_zero(seed: u64, id: u64) -> f64 {
    (0..3).map(|n| unit(seed + 100 * n, id) - 0.5).sum::<f64>() * 1.4
}
