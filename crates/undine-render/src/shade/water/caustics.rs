//! The sun through water: light that enters at each point of its surface, and where it arrives on what is below.
//!
//! Light is followed from every pixel of a view from the sun, and added up where it lands (Shah et al., *Caustics mapping*, 2007). So a body
//! of water has a shadow, with its bright lines, in the colour that it leaves to the light.

use super::layer::{Column, Layer, Through, Waters};
use super::optics;
use crate::image::Size;
use crate::raster::View;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use undine_core::glam::{DVec3, Vec2, Vec3};

/// How many pixels a view from the sun has along its side.
const SIDE: usize = 512;

/// The light of one pixel as a whole number: sums of them are the same in any order.
const WHOLE: f32 = 1024.0;

/// However well it is focused, no light is brighter than this many suns.
const BRIGHTEST: f32 = 6.0;

/// Where the sun arrives through water.
pub(crate) struct Caustics {
    view: View,
    layer: Layer,
    sums: Vec<[AtomicU32; 3]>,
    /// The same in suns, each pixel smoothed with those around it.
    smooth: Vec<Vec3>,
}

impl Caustics {
    pub fn new() -> Self {
        let size = Size { width: SIDE, height: SIDE };
        Self {
            view: View::along(Vec3::NEG_Y, DVec3::ZERO, 1.0, SIDE),
            layer: Layer::new(size),
            sums: (0..size.pixels()).map(|_| [const { AtomicU32::new(0) }; 3]).collect(),
            smooth: vec![Vec3::ONE; size.pixels()],
        }
    }

    /// Follows the light of one direction towards the sun, for all within a ball. `behind` is the depth of what is opaque, in a view of the
    /// sun and at a point of it.
    pub fn follow<B>(
        &mut self,
        waters: &Waters<'_>,
        towards: Vec3,
        ball: (DVec3, f32),
        moment: f32,
        behind: B,
    ) where
        B: Fn(&View, Vec2) -> f32 + Sync,
    {
        let (middle, radius) = ball;
        self.view = View::along(-towards, middle, radius, SIDE);
        let view = &self.view;
        let behind: Vec<f32> = (0..SIDE * SIDE)
            .into_par_iter()
            .map(|n| behind(view, Vec2::new((n % SIDE) as f32 + 0.5, (n / SIDE) as f32 + 0.5)))
            .collect();
        let behind = |x: usize, y: usize| behind[y * SIDE + x];
        self.layer.draw(waters, view, moment, radius, &behind);
        self.sums
            .par_iter_mut()
            .for_each(|sum| sum.iter_mut().for_each(|part| *part.get_mut() = 0));

        let through = Through { waters, layer: &self.layer, view, moment, behind };
        (0..SIDE).into_par_iter().for_each(|y| {
            for x in 0..SIDE {
                let light = match self.layer.at(x, y, behind(x, y)) {
                    Some(column) => self.enter(&through, x, y, &column),
                    None => Some((Vec2::new(x as f32 + 0.5, y as f32 + 0.5), Vec3::ONE)),
                };
                if let Some((pixel, light)) = light {
                    self.add(pixel, light);
                }
            }
        });
        self.smooth();
    }

    /// Smooths what has arrived by weights of 1, 2, 1 along rows and columns: with what is between pixels, a tent two pixels wide.
    fn smooth(&mut self) {
        let sums = &self.sums;
        self.smooth.par_chunks_mut(SIDE).enumerate().for_each(|(y, smooth)| {
            let (above, below) = (y.saturating_sub(1), (y + 1).min(SIDE - 1));
            let across = |x: usize| {
                let at = |y: usize| {
                    let [r, g, b] = &sums[y * SIDE + x];
                    let sum = [r.load(Relaxed), g.load(Relaxed), b.load(Relaxed)];
                    Vec3::from(sum.map(|part| part as f32))
                };
                at(above) + 2.0 * at(y) + at(below)
            };
            let (mut before, mut here) = (across(0), across(0));
            for (x, smooth) in smooth.iter_mut().enumerate() {
                let after = across((x + 1).min(SIDE - 1));
                *smooth = (before + 2.0 * here + after) / (16.0 * WHOLE);
                (before, here) = (here, after);
            }
        });
    }

    /// Where the light of a pixel arrives, and how much of it.
    fn enter<B: Fn(usize, usize) -> f32>(
        &self,
        through: &Through<'_, B>,
        x: usize,
        y: usize,
        column: &Column,
    ) -> Option<(Vec2, Vec3)> {
        let view = &self.view;
        let (front, primitive) = column.front?;
        let ray = view.ray_through(x, y);
        let hit = through.waters.hit(primitive, view, through.moment, &ray);
        let inside = optics::bent(view.forward, hit.normal, optics::INDEX)?;
        let entering = 1.0 - optics::mirrored(-view.forward.dot(hit.normal), optics::INDEX);
        let crossing = through.cross((x, y), column, front, inside);
        let light = entering
            * crossing.part
            * optics::left(through.waters.absorption(primitive), crossing.length);
        let turned = view.turned(crossing.place);
        let forward = crossing.direction.dot(view.forward);
        if crossing.is_stopped || forward <= 0.05 {
            return self.lands(through, crossing.place, light);
        }
        // On through the air, to what is opaque behind the pixel where it leaves the water.
        let behind = match through.pixel(crossing.place) {
            Some((x, y)) => (through.behind)(x, y),
            None => return None,
        };
        let on = if behind.is_finite() { ((behind - turned.z) / forward).max(0.0) } else { 0.0 };
        self.lands(through, crossing.place + on * crossing.direction, light)
    }

    /// The pixel of a place that light arrives at; none if something opaque is in front of it, which would look lit instead.
    fn lands<B: Fn(usize, usize) -> f32>(
        &self,
        through: &Through<'_, B>,
        place: Vec3,
        light: Vec3,
    ) -> Option<(Vec2, Vec3)> {
        let (x, y) = through.pixel(place)?;
        let turned = self.view.turned(place);
        let is_hidden = (through.behind)(x, y) < turned.z - 8.0 / self.view.scale;
        (!is_hidden).then(|| (self.view.pixel(turned), light))
    }

    /// Adds light to the four pixels around a point.
    fn add(&self, pixel: Vec2, light: Vec3) {
        let low = pixel - 0.5;
        let most = (SIDE - 2) as f32;
        if !(low.x >= 0.0 && low.y >= 0.0 && low.x <= most && low.y <= most) {
            return;
        }
        let (x, y) = (low.x as usize, low.y as usize);
        let part = low - Vec2::new(x as f32, y as f32);
        for (dx, dy, weight) in [
            (0, 0, (1.0 - part.x) * (1.0 - part.y)),
            (1, 0, part.x * (1.0 - part.y)),
            (0, 1, (1.0 - part.x) * part.y),
            (1, 1, part.x * part.y),
        ] {
            let sum = &self.sums[(y + dy) * SIDE + x + dx];
            for (sum, light) in sum.iter().zip((light * weight * WHOLE + 0.5).to_array()) {
                if light >= 1.0 {
                    sum.fetch_add(light as u32, Relaxed);
                }
            }
        }
    }

    /// How much of the sun arrives at a place, given from an eye, for all that water does.
    pub fn reaches(&self, place: Vec3, eye: DVec3) -> Vec3 {
        let view = &self.view;
        let pixel = view.pixel(view.turned((eye - view.eye).as_vec3() + place)) - 0.5;
        let most = (SIDE - 3) as f32;
        if !(pixel.x >= 1.0 && pixel.y >= 1.0 && pixel.x < most && pixel.y < most) {
            return Vec3::ONE;
        }
        let (x, y) = (pixel.x as usize, pixel.y as usize);
        let part = pixel - Vec2::new(x as f32, y as f32);
        let rows = &self.smooth[y * SIDE + x..];
        let above = rows[0].lerp(rows[1], part.x);
        let below = rows[SIDE].lerp(rows[SIDE + 1], part.x);
        above.lerp(below, part.y).min(Vec3::splat(BRIGHTEST))
    }
}
