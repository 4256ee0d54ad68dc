//! The passes of a picture: each has its own part of a pixel, of the shutter's time, of the sun and of the sky.
//!
//! Their average is the picture (Haeberli & Akeley, *The accumulation buffer*, 1990): edges and motion are smooth and shadows soft,
//! without any code for it in what is drawn.

use crate::shot::Light;
use std::f32::consts::TAU;
use undine_core::glam::{Vec2, Vec3};

/// One of the passes of a picture.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pass {
    /// How far the picture is moved [pixels], −½ to ½.
    pub offset: Vec2,
    /// When, from the frame [s].
    pub moment: f32,
    /// Towards a point of the sun.
    pub sun: Vec3,
    /// Towards a point of the sky, above the horizon; each as likely as it is high (a cosine).
    pub sky: Vec3,
    /// A number of its own, 0 to 1, as far from those of the passes before as can be: for all that is chosen by pass.
    pub turn: f32,
}

impl Pass {
    /// The n-th of so many. The first is the middle of everything.
    pub fn new(n: usize, count: usize, light: &Light, shutter: f32) -> Self {
        // A sequence that fills a square evenly from any number of points on (Roberts, *The unreasonable effectiveness of
        // quasirandom sequences*, 2018), in independent pairs.
        let part_of = |n: usize, dimension: usize| {
            const STEPS: [f64; 7] = [
                0.754_877_666_246_692_7,
                0.569_840_290_998_053_2,
                0.618_033_988_749_894_9,
                0.819_172_513_396_164_4,
                0.671_043_606_703_789_2,
                0.549_700_477_901_970_2,
                0.450_299_522_098_029_8,
            ];
            (0.5 + n as f64 * STEPS[dimension]).fract() as f32
        };
        let part = |dimension: usize| part_of(n, dimension);
        let even = (n as f32 + 0.5) / count as f32;
        // The golden angle from one to the next fills both the sun's disc and the sky evenly (Vogel 1979).
        let around = |start: f32| TAU * (start + part(2));
        let side = light.sun.any_orthonormal_vector();
        let (sin, cos) = around(0.0).sin_cos();
        let aside = even.sqrt() * light.sun_radius.tan();
        let sun = light.sun + aside * (cos * side + sin * light.sun.cross(side));
        let across = light.up.any_orthonormal_vector();
        let (sin, cos) = around(0.37).sin_cos();
        let high = 1.0 - even;
        let flat = cos * across + sin * light.up.cross(across);
        // The moments divide the shutter's time evenly, in the order of the sequence: what moves is as long as its way.
        let before = (0..count).filter(|&other| part_of(other, 3) < part(3)).count();
        let moment = (before as f32 + 0.5) / count as f32;
        Self {
            offset: if n == 0 { Vec2::ZERO } else { Vec2::new(part(0), part(1)) - 0.5 },
            moment: if n == 0 { 0.0 } else { shutter * (moment - 0.5) },
            sun: sun.normalize_or(light.up),
            sky: high.sqrt() * light.up + (1.0 - high).sqrt() * flat,
            turn: part(2),
        }
    }
}

/// A number for a pixel, 0 to 1, as different as can be from those of the pixels around it (Jimenez, *Next generation
/// post-processing in Call of Duty*, 2014).
#[inline(always)]
pub(crate) fn pixel_turn(x: usize, y: usize) -> f32 {
    (52.982_918 * (0.067_110_56 * x as f32 + 0.005_837_15 * y as f32).fract()).fract()
}
