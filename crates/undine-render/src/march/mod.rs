//! Volumes: each line of sight is marched through them, and what it finds is laid over what is opaque.
//!
//! Along a line, light L changes by dL/ds = −σ L + σ a ∫ p L + ε (Kajiya & Von Herzen, *Ray tracing volume densities*, 1984). Steps are
//! about a voxel long, each with values of one place in it that differs by pixel and pass; within a step the equation is solved
//! exactly. Light that is scattered more than once is that of Wrenninge, Kulla & Lundqvist, *Oz: the great and volumetric*, 2013:
//! octaves of the sun's light, each of half the strength, half as much taken away, and scattered half as much forward.

mod blackbody;
mod field;
mod light;
mod tree;
mod walk;

pub(crate) use field::{Block, Field};

use crate::error::Result;
use crate::raster::{Ray, View};
use crate::shade::radiance;
use crate::shot::{Appearance, Colouring, Light, Shot, Subject};
use blackbody::Blackbody;
use light::{NodeLight, thickness};
use std::f32::consts::{PI, TAU};
use undine_core::glam::{DVec3, Vec3, Vec4};
use walk::{Line, Piece, Walk};

/// Less of what is behind is not seen.
const OPAQUE: f32 = 1.0 / 512.0;

/// How many voxels a step towards the sky takes, from what is opaque.
const SKY_STRIDE: f64 = 4.0;

/// All volumes of a Shot that light passes.
pub(crate) struct Media<'a> {
    fields: Vec<Field<'a>>,
    /// The light in each that is lit.
    lights: Vec<Option<NodeLight>>,
    blackbody: Blackbody,
    light: Light,
    /// What comes from above and from below, on average.
    sky: [Vec3; 2],
}

/// What a line of sight meets in volumes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Met {
    /// The light that they add.
    pub light: Vec3,
    /// How much is seen of what is behind them.
    pub behind: f32,
}

/// What one pass asks of a line of sight.
pub(crate) struct Sight<'a> {
    /// The view.
    pub view: &'a View,
    /// The line.
    pub ray: Ray,
    /// Up to which depth [m].
    pub until: f32,
    /// Where in each step to look, 0 to 1.
    pub jitter: f32,
    /// How many voxels a step takes.
    pub stride: f32,
}

/// A step along a line, and what fills it.
#[derive(Debug, Clone, Copy)]
struct Step {
    from: f64,
    to: f64,
    /// How much a metre takes away [1/m].
    extinction: f32,
    /// How much light a metre adds [1/m].
    source: Vec3,
}

impl<'a> Media<'a> {
    /// Of what is neither opaque nor empty in a Shot.
    pub fn of(shot: &'a Shot<'a>) -> Result<Self> {
        let mut fields = Vec::new();
        for subject in &shot.subjects {
            if let Subject::Volume(volume) = subject {
                match volume.appearance {
                    Appearance::Surface { .. } => volume.check()?,
                    _ => fields.push(Field::new(volume)?),
                }
            }
        }
        let light = shot.light.sound();
        let casting: Vec<&Field<'_>> = fields.iter().filter(|field| is_smoke(field)).collect();
        let above = hemisphere(light.up, &light);
        let below = match shot.grounds.is_empty() {
            true => hemisphere(-light.up, &light),
            // Light that the ground throws back.
            false => 0.3 * (above + light.sun_colour * light.sun.dot(light.up).max(0.0) / PI),
        };
        // By night there is nothing to keep.
        let is_day = (light.sun_colour + above + below).max_element() > 0.0;
        let lights = fields
            .iter()
            .map(|field| match field.volume.appearance {
                Appearance::Smoke { multiple, .. } if is_day => {
                    Some(NodeLight::new(field, &casting, (light.sun, light.up), multiple))
                }
                _ => None,
            })
            .collect();
        Ok(Self { fields, lights, blackbody: Blackbody::new(), light, sky: [above, below] })
    }

    /// Whether there is nothing to see.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// How much memory they take beyond the volumes [bytes].
    pub fn memory(&self) -> usize {
        let lights = self.lights.iter().flatten().map(NodeLight::memory).sum::<usize>();
        lights + self.fields.iter().map(Field::memory).sum::<usize>()
    }

    /// How much of the sun's light reaches a place, given from an eye: what is left at the first block on the way.
    pub fn sun_reaches(&self, place: Vec3, eye: DVec3, towards: Vec3) -> f32 {
        let mut first: Option<(Piece, usize)> = None;
        for (n, field) in self.fields.iter().enumerate().filter(|(_, field)| is_smoke(field)) {
            let line =
                Line { origin: field.in_voxels(place, eye), direction: field.along(towards) };
            let until = first.map_or(f64::INFINITY, |(piece, _)| piece.from);
            let mut walk = Walk::new(field, line, 0.0, until);
            if let Some(piece) = walk.next(field, |block| block.range[1] > 0.0) {
                first = Some((piece, n));
            }
        }
        first.map_or(1.0, |(piece, n)| {
            let root =
                self.lights[n].as_ref().map_or(1.0, |light| light.sun(piece.block, piece.entry));
            root.powi(8)
        })
    }

    /// How much of the light from a direction of the sky reaches a place, given from an eye.
    pub fn sky_reaches(&self, place: Vec3, eye: DVec3, towards: Vec3) -> f32 {
        self.fields.iter().filter(|field| is_smoke(field)).fold(1.0, |left, field| {
            left * (-thickness(&[field], eye + place.as_dvec3(), towards, SKY_STRIDE)).exp()
        })
    }

    /// What a line of sight meets. `reached` says how much of the sun's light reaches a place, given from the eye, past what is opaque.
    pub fn meet(&self, sight: &Sight<'_>, reached: impl Fn(Vec3) -> f32) -> Met {
        let mut met = Met { light: Vec3::ZERO, behind: 1.0 };
        let metres = sight.ray.direction.length();
        let mut add = |length: f64, extinction: f32, source: Vec3| {
            let length = length as f32 * metres;
            let depth = extinction * length;
            let left = (-depth).exp();
            // ∫ exp(−σ s) ds over the step.
            let seen =
                if depth > 1e-3 { (1.0 - left) / extinction } else { length * (1.0 - 0.5 * depth) };
            met.light += met.behind * seen * source;
            met.behind *= left;
            met.behind < OPAQUE
        };
        // Most often there is one volume, and nothing to be kept.
        if self.fields.len() == 1 {
            let mut march = March::new(self, 0, sight);
            while let Some(step) = march.step(&reached) {
                if add(step.to - step.from, step.extinction, step.source) {
                    break;
                }
            }
            return met;
        }
        let mut marches: Vec<March<'_, '_>> =
            (0..self.fields.len()).map(|n| March::new(self, n, sight)).collect();
        // Of several, always up to the nearest end or beginning of a step; where steps overlap, what they add adds up.
        let mut steps: Vec<Option<Step>> =
            marches.iter_mut().map(|march| march.step(&reached)).collect();
        let mut at = f64::NEG_INFINITY;
        loop {
            let ends =
                steps.iter().flatten().map(|step| if step.from > at { step.from } else { step.to });
            let Some(end) = ends.reduce(f64::min) else { return met };
            let within = steps.iter().flatten().filter(|step| step.from <= at);
            let (extinction, source) = within.fold((0.0, Vec3::ZERO), |sum, step| {
                (sum.0 + step.extinction, sum.1 + step.source)
            });
            if extinction + source.max_element() > 0.0 && add(end - at, extinction, source) {
                return met;
            }
            at = end;
            for (step, march) in steps.iter_mut().zip(&mut marches) {
                if step.is_some_and(|step| step.to <= at) {
                    *step = march.step(&reached);
                }
            }
        }
    }
}

fn is_smoke(field: &Field<'_>) -> bool {
    matches!(field.volume.appearance, Appearance::Smoke { .. })
}

/// The mean light of the half of the sky around a direction.
fn hemisphere(up: Vec3, light: &Light) -> Vec3 {
    const COUNT: usize = 64;
    let side = up.any_orthonormal_vector();
    let other = up.cross(side);
    let sum: Vec3 = (0..COUNT)
        .map(|n| {
            let high = (n as f32 + 0.5) / COUNT as f32;
            let angle = TAU * (n as f32 * 0.618_034).fract();
            let flat = angle.cos() * side + angle.sin() * other;
            radiance(high * up + (1.0 - high * high).sqrt() * flat, light)
        })
        .sum();
    sum / COUNT as f32
}

/// How much is scattered by an angle of this cosine into a direction [1/sr] (Henyey & Greenstein 1941).
fn phase(cosine: f32, g: f32) -> f32 {
    let g = g.clamp(-0.95, 0.95);
    let base = (1.0 + g * g - 2.0 * g * cosine).max(1e-6);
    (1.0 - g * g) / (4.0 * PI * base * base.sqrt())
}

/// A march along a line of sight through one volume.
struct March<'m, 'a> {
    media: &'m Media<'a>,
    number: usize,
    walk: Walk,
    eye_ray: Ray,
    direction: Vec3,
    jitter: f32,
    /// How much of depth a step takes at least, and for each metre of depth.
    least: f64,
    by_depth: f64,
    /// What the four octaves of the sun's light count.
    octaves: Vec4,
    /// Steps left in a block, and the next of them.
    left: u32,
    block: usize,
    at: f64,
    length: f64,
    place: Vec3,
}

impl<'m, 'a> March<'m, 'a> {
    fn new(media: &'m Media<'a>, number: usize, sight: &Sight<'_>) -> Self {
        let field = &media.fields[number];
        let Ray { origin, direction } = sight.ray;
        let line = Line {
            origin: field.in_voxels(origin, sight.view.eye),
            direction: field.along(direction),
        };
        let walk = Walk::new(field, line, f64::from(sight.view.near), f64::from(sight.until));
        let octaves = match (&field.volume.appearance, &media.lights[number]) {
            (&Appearance::Smoke { forward, multiple, .. }, Some(light)) if !walk.is_over() => {
                // In what is thin, light is hardly scattered twice.
                let more = multiple * (1.0 - (-light.thickest).exp());
                let cosine = direction.normalize().dot(media.light.sun);
                let octave = |n: i32| 0.5_f32.powi(n) * phase(cosine, forward * 0.5_f32.powi(n));
                Vec4::new(octave(0), more * octave(1), more * octave(2), more * octave(3))
            }
            _ => Vec4::ZERO,
        };
        // A pixel's width along the line for each metre of depth.
        let by_depth = f64::from(1.0 / sight.view.scale) / f64::from(direction.length());
        Self {
            media,
            number,
            walk,
            eye_ray: sight.ray,
            direction: line.direction.as_vec3(),
            jitter: sight.jitter,
            least: f64::from(sight.stride) / line.direction.length(),
            by_depth,
            octaves,
            left: 0,
            block: 0,
            at: 0.0,
            length: 0.0,
            place: Vec3::ZERO,
        }
    }

    /// The next step that holds anything.
    #[inline]
    fn step(&mut self, reached: &impl Fn(Vec3) -> f32) -> Option<Step> {
        let field = &self.media.fields[self.number];
        let is_glowing =
            matches!(field.volume.appearance, Appearance::Smoke { glow, .. } if glow > 0.0);
        loop {
            if self.left == 0 {
                let wanted =
                    |block: &Block| block.range[1] > 0.0 || is_glowing && block.hottest > 800.0;
                let piece = self.walk.next(field, wanted)?;
                let length = piece.to - piece.from;
                let step = self.least.max(self.by_depth * piece.from);
                let count = (length / step).ceil().clamp(1.0, 1024.0);
                self.left = count as u32;
                self.block = piece.block;
                self.at = piece.from;
                self.length = length / count;
                self.place = piece.entry;
            }
            self.left -= 1;
            let part = self.length as f32;
            let place = self.place + self.jitter * part * self.direction;
            let depth = self.at as f32 + self.jitter * part;
            let (from, to) = (self.at, self.at + self.length);
            self.at = to;
            self.place += part * self.direction;
            let (extinction, source) = self.found(field, place, depth, reached);
            if extinction > 0.0 || source.max_element() > 0.0 {
                return Some(Step { from, to, extinction, source });
            }
        }
    }

    /// How much a place takes away and adds [1/m].
    #[inline(always)]
    fn found(
        &self,
        field: &Field<'a>,
        place: Vec3,
        depth: f32,
        reached: &impl Fn(Vec3) -> f32,
    ) -> (f32, Vec3) {
        let block = &field.blocks[self.block];
        let extinction = field.volume.extinction * field.density(block, place);
        match &field.volume.appearance {
            Appearance::Smoke { albedo, glow, .. } => {
                let mut source = Vec3::ZERO;
                if extinction > 0.0
                    && let Some(light) = &self.media.lights[self.number]
                {
                    let root = light.sun(self.block, place);
                    let (second, fourth) = (root * root, root * root * root * root);
                    let sun = self.octaves.dot(Vec4::new(fourth * fourth, fourth, second, root))
                        * reached(self.eye_ray.at(depth));
                    let [above, below] = light.sky(self.block, place);
                    let Media { light, sky, .. } = self.media;
                    let scattered =
                        sun * light.sun_colour + 0.5 * (above * sky[0] + below * sky[1]);
                    source = extinction * *albedo * scattered;
                }
                if *glow > 0.0 && block.hottest > 800.0 {
                    source += *glow * self.media.blackbody.at(field.temperature(block, place));
                }
                (extinction, source)
            }
            Appearance::Fog(colouring) => {
                let value = field.value(block, place);
                let extinction = extinction * presence(colouring, value);
                (extinction, extinction * colouring.of(value))
            }
            Appearance::Surface { .. } => (0.0, Vec3::ZERO),
        }
    }
}

/// How much of fog there is, by where its value is in the range of its colours.
fn presence(colouring: &Colouring, value: Option<f32>) -> f32 {
    match colouring {
        Colouring::Plain(_) => 1.0,
        Colouring::Mapped { low, high, .. } => {
            let part = (value.unwrap_or(f32::NAN) - low) / (high - low);
            if part > 0.0 { part.min(1.0) } else { 0.0 }
        }
    }
}
