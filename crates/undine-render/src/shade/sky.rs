//! The sky: what is behind everything, and the light that comes from all of it.
//!
//! It is a smooth gradient from the horizon to the zenith, with a glow around the sun: cheap enough for every pixel and every
//! mirror. Its light on a matte surface is kept in a table by the surface's normal. A pass shows which *one* direction of the sky
//! is in shadow; it counts by its share of the light that all passes together would give, so that a surface in the open has
//! exactly the light of the whole sky, with any number of passes, and one in a corner the part that reaches it.

use crate::pass::Pass;
use crate::shot::Light;
use std::f32::consts::{PI, TAU};
use undine_core::glam::{Vec2, Vec3};

/// How many entries the table has along each of its sides. It is odd, so that straight up is one of them.
const SIDE: usize = 33;

/// The light that comes from a direction of length 1.
#[inline]
pub(crate) fn radiance(direction: Vec3, light: &Light) -> Vec3 {
    let high = direction.dot(light.up);
    let above = high.clamp(0.0, 1.0);
    // Where nothing hides it, the lower half is a haze that darkens slowly.
    let haze = 1.0 - 0.35 * smooth(-high);
    let gradient = haze * light.horizon.lerp(light.zenith, above * (2.0 - above));
    let near_sun = direction.dot(light.sun).max(0.0).powi(6);
    light.sky * (gradient + GLOW * near_sun * light.sun_colour)
}

/// How bright the air around the sun is, against the sun's light.
const GLOW: f32 = 0.035;

/// From 0 to 1 between 0 and 1, flat at both ends.
#[inline(always)]
pub(super) fn smooth(x: f32) -> f32 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

/// The light of the whole sky on surfaces, and the share of it that each pass shows.
pub(crate) struct SkyLight {
    /// Axes of the table: its middle is straight up.
    across: Vec3,
    along: Vec3,
    up: Vec3,
    /// For each normal: what the sky gives, and what the directions of all passes have to be divided by.
    entries: Vec<(Vec3, f32)>,
}

impl SkyLight {
    /// Of a light, for some passes.
    pub fn new(light: &Light, passes: &[Pass]) -> Self {
        let across = light.up.any_orthonormal_vector();
        let mut sky =
            Self { across, along: light.up.cross(across), up: light.up, entries: Vec::new() };
        let directions = sky.directions(light);
        sky.entries = (0..SIDE * SIDE)
            .map(|n| {
                let normal = sky.normal(n % SIDE, n / SIDE);
                let given = directions.iter().fold(Vec3::ZERO, |sum, (direction, part)| {
                    sum + normal.dot(*direction).max(0.0) * *part
                });
                let weight = passes.iter().map(|pass| sky.weight(pass, normal)).sum::<f32>();
                (given, weight / passes.len() as f32)
            })
            .collect();
        sky
    }

    /// The light that a surface in the open gets from above, for each π of it [irradiance / π].
    #[inline]
    pub fn open(&self, normal: Vec3) -> Vec3 {
        self.at(normal).0
    }

    /// What one pass shows of that, if its direction of the sky is open.
    #[inline]
    pub fn of_pass(&self, pass: &Pass, normal: Vec3) -> Vec3 {
        let (given, weight) = self.at(normal);
        // Close to straight down, no direction of the sky is left, and hardly any light.
        given * (self.weight(pass, normal) / weight.max(0.02))
    }

    /// How much the direction of a pass counts: by the angle at which it comes, over how likely it is.
    #[inline(always)]
    fn weight(&self, pass: &Pass, normal: Vec3) -> f32 {
        normal.dot(pass.sky).max(0.0) / self.up.dot(pass.sky).max(1e-3)
    }

    /// Directions that fill the upper half evenly, with the light that comes along each of them over π.
    fn directions(&self, light: &Light) -> Vec<(Vec3, Vec3)> {
        const HIGH: usize = 16;
        const AROUND: usize = 32;
        let each = TAU / (HIGH * AROUND) as f32 / PI;
        (0..HIGH * AROUND)
            .map(|n| {
                let high = ((n % HIGH) as f32 + 0.5) / HIGH as f32;
                let (sin, cos) = (TAU * (n / HIGH) as f32 / AROUND as f32).sin_cos();
                let flat = (1.0 - high * high).sqrt() * (cos * self.across + sin * self.along);
                let direction = flat + high * self.up;
                (direction, each * radiance(direction, light))
            })
            .collect()
    }

    /// The normal of an entry: an octahedron unfolded to a square (Meyer et al., *On floating-point normal vectors*, 2010).
    fn normal(&self, x: usize, y: usize) -> Vec3 {
        let flat = 2.0 * Vec2::new(x as f32, y as f32) / (SIDE - 1) as f32 - 1.0;
        let high = 1.0 - flat.x.abs() - flat.y.abs();
        let flat = if high < 0.0 { folded(flat) } else { flat };
        (flat.x * self.across + flat.y * self.along + high * self.up).normalize()
    }

    /// What is between the entries around a normal.
    #[inline]
    fn at(&self, normal: Vec3) -> (Vec3, f32) {
        let own = Vec3::new(normal.dot(self.across), normal.dot(self.along), normal.dot(self.up));
        let sum = own.x.abs() + own.y.abs() + own.z.abs();
        let flat = Vec2::new(own.x, own.y) / sum.max(1e-9);
        let flat = if own.z < 0.0 { folded(flat) } else { flat };
        let place = (0.5 * flat + 0.5).clamp(Vec2::ZERO, Vec2::ONE) * (SIDE - 1) as f32;
        let (x, y) = ((place.x as usize).min(SIDE - 2), (place.y as usize).min(SIDE - 2));
        let (u, v) = (place.x - x as f32, place.y - y as f32);
        let entry = |x: usize, y: usize| self.entries[y * SIDE + x];
        let mix =
            |a: (Vec3, f32), b: (Vec3, f32), t: f32| (a.0.lerp(b.0, t), a.1 + t * (b.1 - a.1));
        mix(mix(entry(x, y), entry(x + 1, y), u), mix(entry(x, y + 1), entry(x + 1, y + 1), u), v)
    }
}

/// The lower half of the octahedron is folded out over the edges of the upper one.
#[inline(always)]
fn folded(flat: Vec2) -> Vec2 {
    (1.0 - Vec2::new(flat.y.abs(), flat.x.abs())) * Vec2::ONE.copysign(flat)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uniform() -> Light {
        let grey = Vec3::splat(0.7);
        Light { sun_colour: Vec3::ZERO, horizon: grey, zenith: grey, ..Light::default() }
    }

    /// A sky of the same radiance L everywhere gives E = π L (1 + cos θ) / 2 to a surface that is tilted by θ.
    #[test]
    fn a_uniform_sky_lights_a_tilted_plane_by_the_part_of_it_that_it_sees() {
        let light = uniform();
        let passes: Vec<_> = (0..8).map(|n| Pass::new(n, 8, &light, 0.0)).collect();
        let sky = SkyLight::new(&light, &passes);
        for degrees in [0.0f32, 30.0, 60.0, 90.0, 120.0] {
            let (sin, cos) = degrees.to_radians().sin_cos();
            let normal = Vec3::new(0.6 * sin, cos, 0.8 * sin);
            let wanted = 0.7 * 0.5 * (1.0 + cos);
            let open = sky.open(normal).x;
            assert!((open - wanted).abs() < 0.012, "{degrees}°: {open} against {wanted}");
        }
    }

    #[test]
    fn the_passes_together_give_the_light_of_the_whole_sky() {
        let light = Light::default();
        for count in [1, 8, 32] {
            let passes: Vec<_> = (0..count).map(|n| Pass::new(n, count, &light, 0.0)).collect();
            let sky = SkyLight::new(&light, &passes);
            let shown = |normal: Vec3| {
                passes.iter().map(|pass| sky.of_pass(pass, normal)).sum::<Vec3>() / count as f32
            };
            let up = light.up;
            assert!((shown(up) - sky.open(up)).abs().max_element() < 1e-5, "{count} passes");
        }
    }
}
