//! How water looks: it mirrors what is around it, bends what is behind it, and takes light away by depth.

use super::layer::{Column, Through};
use super::optics::{self, INDEX};
use crate::raster::Ray;
use crate::shade::Seen;
use crate::shot::Light;
use undine_core::glam::Vec3;

/// How rough the surface is, against the sun only: ripples that are smaller than any triangle.
const ROUGHNESS: f32 = 0.12;

/// The part of light that is scattered in a length that the clearest colour loses as much in: what makes deep water blue, not black.
const SCATTERING: f32 = 0.3;

/// Steps of the search for what is in the picture along a line.
const STEPS: usize = 14;

/// What is around the water, beyond what the picture shows.
pub(crate) trait Surroundings {
    /// The light that comes to a place from a direction, from ground and sky; with the place that it comes from, if there is one.
    fn beyond(&self, place: Vec3, direction: Vec3) -> (Vec3, Option<Vec3>);

    /// How much of the sun reaches a place on a surface.
    fn sun_reaches(&self, place: Vec3, normal: Vec3) -> f32;

    /// Towards the sun of this pass.
    fn sun(&self) -> Vec3;

    /// Sun and sky.
    fn light(&self) -> &Light;
}

/// All that water shows.
pub(crate) struct Look<'a, S, B, O> {
    pub through: Through<'a, B>,
    pub around: &'a S,
    /// The light of what is opaque, in each pixel.
    pub opaque: O,
    /// Whether something is opaque besides grounds.
    pub has_things: bool,
    /// The light that water scatters where it is deep, for a scattering of all.
    pub ambient: Vec3,
}

/// The light that falls into water from above, for [`Look::ambient`].
pub(crate) fn ambient<S: Surroundings>(around: &S) -> Vec3 {
    let light = around.light();
    let sun = light.sun.dot(light.up).max(0.0) * light.sun_colour / std::f32::consts::PI;
    let (sky, _) = around.beyond(Vec3::ZERO, light.up);
    0.5 * (sun + sky)
}

impl<S, B, O> Look<'_, S, B, O>
where
    S: Surroundings,
    B: Fn(usize, usize) -> f32,
    O: Fn(usize, usize) -> Vec3,
{
    /// What is seen in a pixel with water.
    pub fn of(&self, ray: &Ray, column: &Column, (x, y): (usize, usize)) -> Seen {
        let (opaque, behind) = ((self.opaque)(x, y), (self.through.behind)(x, y));
        match column.front {
            Some(front) if !column.is_inside => {
                self.above_water((x, y), ray, column, front, opaque)
            }
            _ => self.below_water(ray, column, opaque, behind),
        }
    }

    fn above_water(
        &self,
        pixel: (usize, usize),
        ray: &Ray,
        column: &Column,
        (depth, primitive): (f32, u32),
        opaque: Vec3,
    ) -> Seen {
        let Through { waters, view, moment, .. } = self.through;
        let hit = waters.hit(primitive, view, moment, ray);
        let absorption = waters.absorption(primitive);
        let place = ray.at(depth);
        let direction = ray.direction.normalize();
        let cosine = -direction.dot(hit.normal);
        let mirrored = optics::mirrored(cosine, INDEX);
        let mirror = self.mirror(place, direction, hit.normal, absorption);
        let glint = self.glint(place, direction, hit.normal);

        let inside = optics::bent(direction, hit.normal, INDEX).unwrap_or(direction);
        let crossing = self.through.cross(pixel, column, depth, inside);
        let behind = match crossing.is_stopped {
            _ if crossing.length.is_infinite() => Vec3::ZERO,
            true => self.opaque_at(crossing.place, depth).unwrap_or(opaque),
            false => crossing.part * self.seen_along(crossing.place, crossing.direction),
        };
        let below = self.under_water(behind, absorption, crossing.length);
        let light = mirrored * mirror + glint + (1.0 - mirrored) * below;
        Seen { light: light.extend(1.0), depth, velocity: hit.velocity }
    }

    fn below_water(&self, ray: &Ray, column: &Column, opaque: Vec3, behind: f32) -> Seen {
        let Through { waters, view, moment, .. } = self.through;
        let slant = ray.direction.length();
        let primitive = column.back.or(column.front).map(|(_, primitive)| primitive);
        let absorption = primitive.map_or(Vec3::ZERO, |primitive| waters.absorption(primitive));
        let Some((depth, primitive)) = column.back else {
            let light = self.under_water(opaque, absorption, column.thickness.min(behind) * slant);
            return Seen { light: light.extend(1.0), depth: behind, velocity: Vec3::ZERO };
        };
        let hit = waters.hit(primitive, view, moment, ray);
        let place = ray.at(depth);
        let direction = ray.direction.normalize();
        let mirrored = optics::mirrored(-direction.dot(hit.normal), 1.0 / INDEX);
        let deep = self.under_water(Vec3::ZERO, absorption, f32::INFINITY);
        let down = optics::reflected(direction, hit.normal);
        let mirror = self
            .met(place, down)
            .map_or(deep, |(light, length)| self.under_water(light, absorption, length));
        let above = optics::bent(direction, hit.normal, 1.0 / INDEX)
            .map_or(Vec3::ZERO, |outside| self.seen_along(place, outside));
        let light = mirrored * mirror + (1.0 - mirrored) * above;
        let light = self.under_water(light, absorption, depth * slant);
        Seen { light: light.extend(1.0), depth, velocity: hit.velocity }
    }

    /// Light that has come a length [m] through water, and what the water has added to it.
    fn under_water(&self, light: Vec3, absorption: Vec3, length: f32) -> Vec3 {
        let scattering = Vec3::splat(SCATTERING * absorption.min_element());
        let all = absorption + scattering;
        let fog = scattering / all.max(Vec3::splat(f32::MIN_POSITIVE)) * self.ambient;
        if length.is_infinite() {
            return fog;
        }
        // Light has to come down before it comes to the eye.
        light * optics::left(absorption, length) + fog * (1.0 - optics::left(all, 2.0 * length))
    }

    /// What is mirrored, in the picture or beyond it.
    fn mirror(&self, place: Vec3, direction: Vec3, normal: Vec3, absorption: Vec3) -> Vec3 {
        let mirrored = optics::reflected(direction, normal);
        if let Some((light, _)) = self.met(place, mirrored) {
            return light;
        }
        let (light, from) = self.around.beyond(place, mirrored);
        // A steep wave mirrors the water in front of it.
        let low = (-4.0 * mirrored.dot(self.around.light().up)).clamp(0.0, 1.0);
        match from {
            Some(_) => light,
            None => light.lerp(self.under_water(Vec3::ZERO, absorption, f32::INFINITY), low),
        }
    }

    fn glint(&self, place: Vec3, direction: Vec3, normal: Vec3) -> Vec3 {
        let sun = self.around.sun();
        let glint = optics::glint(normal, -direction, sun, ROUGHNESS);
        if glint < 1e-4 {
            return Vec3::ZERO;
        }
        let lit = normal.dot(sun).max(0.0) * self.around.sun_reaches(place, normal);
        glint * lit * self.around.light().sun_colour
    }

    /// What is seen from a place outside of the water, along a direction.
    fn seen_along(&self, place: Vec3, direction: Vec3) -> Vec3 {
        if let Some((light, _)) = self.met(place, direction) {
            return light;
        }
        let (light, from) = self.around.beyond(place, direction);
        // What the picture shows of it has its shadows.
        from.and_then(|from| {
            let (x, y) = self.through.pixel(from)?;
            let (depth, shown) = (from.dot(self.through.view.forward), (self.through.behind)(x, y));
            ((depth - shown).abs() < 0.01 * depth).then(|| (self.opaque)(x, y))
        })
        .unwrap_or(light)
    }

    /// The light of what is opaque at a place, unless that is nearer than a depth.
    fn opaque_at(&self, place: Vec3, depth: f32) -> Option<Vec3> {
        let (x, y) = self.through.pixel(place)?;
        ((self.through.behind)(x, y) >= depth).then(|| (self.opaque)(x, y))
    }

    /// What is opaque, in the picture, and met by a line from a place; with how far away it is [m].
    fn met(&self, place: Vec3, direction: Vec3) -> Option<(Vec3, f32)> {
        if !self.has_things {
            return None;
        }
        let view = self.through.view;
        let footprint = 1.0 / view.pixels_per_metre(place.dot(view.forward).max(view.near));
        let (mut from, mut to) = (0.0, 4.0 * footprint);
        for _ in 0..STEPS {
            let at = place + to * direction;
            let (x, y) = self.through.pixel(at)?;
            let depth = at.dot(view.forward);
            let shown = (self.through.behind)(x, y);
            // Behind what is shown, but not farther than this step went.
            let over = depth - shown;
            if over > 0.0 {
                let is_met = over < (to - from) * (1.0 + direction.dot(view.forward).abs());
                return is_met.then(|| ((self.opaque)(x, y), to));
            }
            (from, to) = (to, 1.5 * to);
        }
        None
    }
}
