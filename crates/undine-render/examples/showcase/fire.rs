//! A ball of fire in dark smoke, at dusk: it glows where it is hot, by Planck's law.

use crate::cubes::{Gas, filled, volume};
use crate::noise::{billows, smooth_step, warped};
use crate::studio::{Outcome, Studio, camera, outdoors};
use undine_core::glam::Vec3;
use undine_render::Display;
use undine_render::shot::{Appearance, Light, Shot, Subject};

/// Dark smoke that glows brightly.
const FIRE: Appearance = Appearance::Smoke {
    albedo: Vec3::new(0.55, 0.5, 0.46),
    forward: 0.35,
    multiple: 1.0,
    glow: 3.0,
};

pub fn picture(studio: &Studio) -> Outcome<Display> {
    let cubes = filled(fireball);
    let subjects = vec![Subject::Volume(volume(&cubes, 14.0, FIRE))];
    let camera = camera([1.0, 1.2, 8.0], [0.0, 1.5, 0.0], 23.0)?;
    let day = Light::default();
    let light = Light { sky: 0.35, sun_colour: 0.45 * day.sun_colour, ..day };
    studio.taken(&Shot { light, ..outdoors(subjects, camera) })
}

/// A ball with billows on it, which is hottest inside and in its creases.
fn fireball(at: Vec3) -> Gas {
    let from = (at - Vec3::new(0.5, 0.45, 0.5)) * Vec3::new(1.0, 1.12, 1.0);
    let away = from.length();
    if away > 0.5 {
        return Gas::default();
    }
    let heaps = billows(7.0 * warped(at, 5.0, 0.04), 5);
    let density = smooth_step(((0.27 - away) / 0.15 + 1.25 * (heaps - 0.3)) / 0.3);
    let inside = (1.0 - away / 0.34).clamp(0.0, 1.0);
    let crease = (1.0 - heaps / 0.42).max(0.0);
    let heat = (2.2 * crease + inside) * density - 0.35;
    let temperature = 700.0 + 1500.0 * heat.clamp(0.0, 1.0);
    Gas { density, temperature: if density > 0.0 { temperature } else { 0.0 } }
}
