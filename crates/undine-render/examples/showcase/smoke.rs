//! A plume of smoke that rises, leans and widens, beside a ball: it shades itself, the ball and the ground.

use crate::cubes::{Gas, filled, volume};
use crate::noise::{billows, smooth_step, warped};
use crate::studio::{Outcome, Studio, camera, outdoors, spheres};
use undine_core::glam::{DVec3, Vec3};
use undine_render::Display;
use undine_render::shot::{Appearance, Radii, Subject};

pub fn picture(studio: &Studio) -> Outcome<Display> {
    let cubes = filled(plume);
    let ball = [DVec3::new(1.25, 0.55, 0.75)];
    let subjects = vec![
        spheres(&ball, Radii::Same(0.55), Vec3::new(0.62, 0.16, 0.08)),
        Subject::Volume(volume(&cubes, 14.0, Appearance::SMOKE)),
    ];
    let camera = camera([1.0, 1.7, 9.4], [0.4, 1.76, 0.0], 27.0)?;
    studio.taken(&outdoors(subjects, camera))
}

/// Puffs along a curve, with billows on them.
fn plume(at: Vec3) -> Gas {
    const PUFFS: u8 = 26;
    let inside = |puff: u8| {
        let (n, t) = (f32::from(puff), f32::from(puff) / f32::from(PUFFS - 1));
        let wide = 0.035 + 0.16 * t.powf(1.1);
        let aside = 0.45 * wide * Vec3::new((2.4 * n).cos(), 0.0, (2.4 * n).sin());
        let middle = Vec3::new(0.36 + 0.22 * t * t, 0.03 + 0.76 * t.powf(0.9), 0.5) + aside;
        (wide - at.distance(middle)) / (0.11 + 0.3 * wide)
    };
    let inside = (0..PUFFS).map(inside).fold(-1.0, f32::max);
    if inside < -0.9 {
        return Gas::default();
    }
    let heaps = billows(11.0 * warped(at, 6.0, 0.03) - Vec3::Y * 2.0, 5);
    let dense = smooth_step((inside + 1.15 * heaps - 0.42) / 0.25);
    let above_ground = ((at.y - 0.01) / 0.03).clamp(0.0, 1.0);
    Gas { density: dense * above_ground * (1.0 - 0.45 * at.y), temperature: 0.0 }
}
