//! Surfaces under sun and sky: matte, with a little gloss.
//!
//! The gloss is a microfacet one (Walter et al., *Microfacet models for refraction*, 2007: GGX) with the mirrored sky by the fit of
//! Karis (*Physically based shading on mobile*, 2014). What it mirrors is taken from what is left for the matte part, so that
//! nothing gives more light than it gets. Hair scatters by the angle to its strand (Kajiya & Kay, *Rendering fur with three
//! dimensional textures*, 1989), with a second lobe that has the colour of the hair (after Marschner et al. 2003).

use super::shadow::Shadow;
use super::sky::{SkyLight, radiance, smooth};
use super::water::Caustics;
use crate::march::Media;
use crate::pass::Pass;
use crate::shot::Light;
use std::f32::consts::PI;
use undine_core::glam::{DVec3, Vec3};

/// How much of light from straight ahead the gloss mirrors: what has a refractive index of 1.5.
const MIRRORED: f32 = 0.04;
/// How rough the gloss is, 0 for a mirror to 1.
const ROUGHNESS: f32 = 0.5;

/// A place on a surface.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Surface {
    /// The part of light that it gives back, by colour.
    pub colour: Vec3,
    /// Where it is, from the eye [m].
    pub place: Vec3,
    /// Which way it looks, of length 1.
    pub normal: Vec3,
    /// Towards the eye, of length 1.
    pub towards: Vec3,
    /// Along the strand, if it is hair.
    pub tangent: Option<Vec3>,
}

/// The lights of a pass, and what is in their way.
pub(crate) struct Lights<'a> {
    /// Sun and sky.
    pub light: &'a Light,
    /// Which part of them.
    pub pass: &'a Pass,
    /// What the sun does not reach.
    pub sun: &'a Shadow,
    /// What the sky of this pass does not reach.
    pub sky: &'a Shadow,
    /// The sun through water, if there is any.
    pub caustics: Option<&'a Caustics>,
    /// Volumes, which take light away.
    pub media: &'a Media<'a>,
    /// The light of all of the sky.
    pub sky_light: &'a SkyLight,
    /// The normal of a ground, and what the sky of this pass gives it: what is asked most often.
    pub level: (Vec3, Vec3),
    /// What comes back from below, over π.
    pub bounce: Vec3,
    /// Whether a ground is between the sun and everything.
    pub sun_is_down: bool,
    /// What places are relative to [m].
    pub eye: DVec3,
}

impl Lights<'_> {
    /// The light that a matte surface gives back. `turn` turns the filters of shadows, 0 to 1.
    pub fn matte(&self, surface: &Surface, turn: f32) -> Vec3 {
        let Surface { colour, normal, .. } = *surface;
        let (sky, open) = self.skylight(surface, turn);
        let facing = normal.dot(self.pass.sun).max(0.0);
        let sun = facing / PI * self.sunlight(surface, turn);
        colour * (sun + sky + self.bounced(normal, open))
    }

    /// The light that a surface with a little gloss gives back.
    pub fn glossy(&self, surface: &Surface, turn: f32) -> Vec3 {
        if let Some(tangent) = surface.tangent {
            return self.hair(surface, tangent, turn);
        }
        let Surface { colour, normal, towards, .. } = *surface;
        let (sky, open) = self.skylight(surface, turn);
        let sun = self.sunlight(surface, turn);
        let facing = normal.dot(self.pass.sun).max(0.0);
        let seen = normal.dot(towards).clamp(1e-3, 1.0);
        // What the sky gives by the mirror: of above, or of the ground.
        let mirrored = 2.0 * seen * normal - towards;
        let above = smooth(0.5 + 2.0 * mirrored.dot(self.light.up));
        let around = self.bounce.lerp(radiance(mirrored, self.light), above);
        let share = mirrored_share(seen);
        let gloss = share * around * (0.3 + 0.7 * open)
            + facing * highlight(normal, towards, self.pass.sun, seen, self.light.sun_radius) * sun;
        let matte = facing / PI * sun + sky + self.bounced(normal, open);
        (1.0 - share) * colour * matte + gloss
    }

    /// Strands: light that comes across them is scattered all around.
    fn hair(&self, surface: &Surface, tangent: Vec3, turn: f32) -> Vec3 {
        let Surface { colour, normal, towards, .. } = *surface;
        let (sky, open) = self.skylight(surface, turn);
        let (along_sun, along_eye) = (tangent.dot(self.pass.sun), tangent.dot(towards));
        let across = |along: f32| (1.0 - along * along).max(0.0).sqrt();
        // Scattered light wraps around a strand, but what is behind it gets less.
        let wrapped = 0.25 + 0.75 * normal.dot(self.pass.sun).max(0.0);
        let matte = 0.75 * across(along_sun) * wrapped / PI;
        // The scales of a hair tilt its mirror to the root, the light that went through it to the tip.
        let lobe = |shift: f32, sharpness: i32| {
            let cos = across(along_sun) * across(along_eye) - (along_sun + shift) * along_eye;
            cos.clamp(0.0, 1.0).powi(sharpness)
        };
        let gloss = 0.05 * lobe(0.12, 64) * Vec3::ONE + 0.12 * lobe(-0.18, 16) * colour;
        let sun = self.sunlight(surface, turn);
        (colour * matte + gloss) * sun + colour * (sky + self.bounced(normal, open))
    }

    /// What the sun gives to a surface that faces it.
    #[inline]
    fn sunlight(&self, surface: &Surface, turn: f32) -> Vec3 {
        let facing = surface.normal.dot(self.pass.sun);
        if self.sun_is_down || (facing <= 0.0 && surface.tangent.is_none()) {
            return Vec3::ZERO;
        }
        let Surface { place, normal, .. } = *surface;
        let open = self.sun.reaches(place, self.eye, normal, turn);
        if open <= 0.0 {
            return Vec3::ZERO;
        }
        let water = self.caustics.map_or(Vec3::ONE, |caustics| caustics.reaches(place, self.eye));
        let smoke = match self.media.is_empty() {
            true => 1.0,
            false => self.media.sun_reaches(place, self.eye, self.pass.sun),
        };
        open * smoke * water * self.light.sun_colour
    }

    /// What the sky of this pass gives, over π, and how much of it is open.
    #[inline]
    fn skylight(&self, surface: &Surface, turn: f32) -> (Vec3, f32) {
        let given = match self.level {
            (normal, given) if normal == surface.normal => given,
            _ => self.sky_light.of_pass(self.pass, surface.normal),
        };
        if given.max_element() <= 0.0 {
            return (Vec3::ZERO, 0.5);
        }
        let mut open = self.sky.reaches(surface.place, self.eye, surface.normal, turn);
        if open > 0.0 && !self.media.is_empty() {
            open *= self.media.sky_reaches(surface.place, self.eye, self.pass.sky);
        }
        (open * given, open)
    }

    /// What comes back from the ground, over π; less where it is dark around.
    #[inline(always)]
    fn bounced(&self, normal: Vec3, open: f32) -> Vec3 {
        self.bounce * (0.5 - 0.5 * normal.dot(self.light.up)) * (0.35 + 0.65 * open)
    }
}

/// The part of the light from all around that is mirrored towards an eye at the cosine `seen`.
#[inline(always)]
fn mirrored_share(seen: f32) -> f32 {
    let x = 1.0 - ROUGHNESS;
    let least = (x * x).min((-9.28 * seen).exp2()) * x + 0.0425 - 0.0275 * ROUGHNESS;
    let scale = -1.04 * least + 1.04 - 0.572 * ROUGHNESS;
    let added = 1.04 * least - 0.04 + 0.022 * ROUGHNESS;
    (MIRRORED * scale + added).clamp(0.0, 1.0)
}

/// How much of the sun's light is mirrored to the eye, without the cosine at which it comes.
#[inline(always)]
fn highlight(normal: Vec3, towards: Vec3, sun: Vec3, seen: f32, sun_radius: f32) -> f32 {
    let half = (towards + sun).normalize_or(normal);
    // A wide sun looks as a rougher surface does.
    let a = (ROUGHNESS * ROUGHNESS + 0.5 * sun_radius).min(1.0);
    let facing = normal.dot(sun).max(1e-3);
    let tilt = normal.dot(half);
    let spread = tilt * tilt * (a * a - 1.0) + 1.0;
    let facets = a * a / (PI * spread * spread);
    let hidden = 0.5 / (facing * (seen * (1.0 - a) + a) + seen * (facing * (1.0 - a) + a));
    let fresnel = MIRRORED + (1.0 - MIRRORED) * (1.0 - towards.dot(half).clamp(0.0, 1.0)).powi(5);
    facets * hidden * fresnel
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All the light that a surface mirrors of a sun, over all places of the sun: never more than comes in.
    #[test]
    fn gloss_gives_no_more_light_than_it_gets() {
        for seen in [0.05f32, 0.3, 0.7, 1.0] {
            let towards = Vec3::new((1.0 - seen * seen).sqrt(), seen, 0.0);
            let count = 200;
            let mut sum = 0.0;
            for n in 0..count * count {
                let high = ((n % count) as f32 + 0.5) / count as f32;
                let (sin, cos) = (2.0 * PI * (n / count) as f32 / count as f32).sin_cos();
                let flat = (1.0 - high * high).sqrt();
                let sun = Vec3::new(flat * cos, high, flat * sin);
                sum += high * highlight(Vec3::Y, towards, sun, seen, 0.0);
            }
            let given = sum * 2.0 * PI / (count * count) as f32;
            assert!(given < 1.0 && given > 0.3 * MIRRORED, "{given} at {seen}");
            assert!((0.0..1.0).contains(&mirrored_share(seen)));
        }
    }
}
