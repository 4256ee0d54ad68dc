//! What a light does not reach, by a map of what is nearest to it (Williams, *Casting curved shadows on curved surfaces*, 1978).
//!
//! The passes of a picture move the light, which makes shadows soft by itself. What a few passes leave of steps is smoothed within
//! each pass: by a filter as wide as the light's part of this pass looks from what is in its way (Fernando, *Percentage-closer soft
//! shadows*, 2005), turned differently for each pixel and each pass.

use crate::image::Size;
use crate::raster::{DepthMap, Scenery, View};
use std::f32::consts::TAU;
use undine_core::glam::{DVec3, Vec2, Vec3};
use undine_core::mesh::Bounds;

/// The shadows of one light in one pass. The map is kept from pass to pass.
pub(crate) struct Shadow {
    view: View,
    map: DepthMap,
    /// How many pixels the map may have.
    most: usize,
    /// How wide the light's part of one pass is: the tangent of the angle from its middle to its edge.
    spread: f32,
    /// The filter's widest reach [pixels of the map].
    reach: f32,
}

/// What has to be in a map.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    /// What casts shadows.
    pub casters: Bounds,
    /// What is seen of what they fall onto.
    pub receivers: Bounds,
}

/// Points of a disc that fill it evenly (Vogel 1979), one turn of the golden angle after the other.
const TAPS: [Vec2; 4] = [
    Vec2::new(0.353_553, 0.0),
    Vec2::new(-0.451_544, 0.413_652),
    Vec2::new(0.069_11, -0.787_541),
    Vec2::new(0.569_165, 0.742_353),
];

impl Shadow {
    /// With room for a map of so many pixels along its sides, of a light that one pass shows so wide a part of.
    pub fn new(side: usize, spread: f32, reach: f32) -> Self {
        let size = Size { width: side, height: side };
        Self {
            view: View::along(Vec3::NEG_Y, DVec3::ZERO, 1.0, side),
            map: DepthMap::new(size),
            most: size.pixels(),
            spread,
            reach: reach * side as f32,
        }
    }

    /// Draws the shadows of a pass: of all that can fall on what is seen.
    pub fn draw(&mut self, scenery: &Scenery<'_>, towards: Vec3, extent: &Extent, moment: f32) {
        self.view = fitted(-towards, extent, self.most);
        self.map.clear(self.view.size);
        scenery.draw_casters(&self.view, moment, &self.map);
    }

    /// The depth of what is nearest to the light, at a point of another view along the same direction [m].
    pub fn nearest(&self, view: &View, pixel: Vec2) -> f32 {
        let start = (view.eye - self.view.eye).as_vec3() + view.ray(pixel).origin;
        let turned = self.view.turned(start);
        let pixel = self.view.pixel(turned);
        self.map.at(pixel.x.floor() as i32, pixel.y.floor() as i32) - turned.z
    }

    /// How much of the light reaches a place, given from an eye, on a surface that looks along a normal, 0 to 1. `turn` is the
    /// filter's angle as a part of a whole turn.
    #[inline]
    pub fn reaches(&self, place: Vec3, eye: DVec3, normal: Vec3, turn: f32) -> f32 {
        let texel = 1.0 / self.view.scale;
        // A texel off the surface, for what is round; what is flat needs nothing, because the depth of its plane is followed.
        let place = (eye - self.view.eye).as_vec3() + place + 1.25 * texel * normal;
        let turned = self.view.turned(place);
        let pixel = self.view.pixel(turned);
        let Size { width, height } = self.view.size;
        let last = Vec2::new(width as f32, height as f32) + self.reach;
        if !(pixel.cmpgt(Vec2::splat(-self.reach)).all() && pixel.cmplt(last).all()) {
            return 1.0;
        }
        let normal = self.view.turned(normal);
        // Depth changes by this with each pixel of the map along x and down y; not without bound where light only grazes.
        let steep = texel / normal.z.min(-0.25);
        let slope = Vec2::new(-normal.x * steep, normal.y * steep);
        let base = turned.z - slope.dot(pixel) - 0.5 * texel;
        let gap = |at: Vec2| {
            // Cut off towards zero, which is faster than down: beside the map there is nothing.
            let (x, y) = (at.x as i32, at.y as i32);
            let cell = Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
            base + slope.dot(cell) - self.map.at(x, y)
        };
        let (sin, cos) = (TAU * turn).sin_cos();
        let rotated = |tap: Vec2| Vec2::new(cos * tap.x - sin * tap.y, sin * tap.x + cos * tap.y);
        // What is in the way, and how far?
        let (mut blocked, mut away) = (0.0, 0.0);
        for tap in TAPS {
            let gap = gap(pixel + self.reach * rotated(tap));
            if gap > 0.0 {
                (blocked, away) = (blocked + 1.0, away + gap);
            }
        }
        let own = gap(pixel);
        if own > 0.0 {
            (blocked, away) = (blocked + 1.0, away + own);
        } else if blocked == 0.0 {
            return 1.0;
        }
        let wide = (self.spread * away / blocked * self.view.scale).clamp(0.75, self.reach);
        let mut open = 0.0;
        for tap in TAPS {
            open += if gap(pixel + wide * rotated(Vec2::new(-tap.y, tap.x))) > 0.0 {
                0.0
            } else {
                0.25
            };
        }
        open
    }
}

/// A view along a direction of what casts shadows on what is seen, of at most so many pixels.
fn fitted(forward: Vec3, extent: &Extent, most: usize) -> View {
    let middle = extent.casters.centre();
    let right = forward.any_orthonormal_vector();
    let up = right.cross(forward);
    let span = |bounds: &Bounds, axis: Vec3| {
        bounds.corners().iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), corner| {
            let at = (*corner - middle).as_vec3().dot(axis);
            (low.min(at), high.max(at))
        })
    };
    let both = |axis: Vec3| {
        let (casters, receivers) = (span(&extent.casters, axis), span(&extent.receivers, axis));
        let (low, high) = (casters.0.max(receivers.0), casters.1.min(receivers.1));
        if low < high { (low, high) } else { casters }
    };
    let (left, rightmost) = both(right);
    let (lowest, highest) = both(up);
    let (first, last) = span(&extent.casters, forward);
    let least = 1e-6 * (last - first).max(1e-30);
    let (wide, tall) = ((rightmost - left).max(least), (highest - lowest).max(least));
    // As many pixels each way as the sides want of the whole.
    let scale = (most as f32 / (wide * tall)).sqrt();
    let pixels = |length: f32| ((length * scale) as usize).clamp(16, most / 16);
    let width = pixels(wide);
    let height = pixels(tall).min(most / width);
    let scale = (width as f32 / wide).min(height as f32 / tall);
    let depth = (last - first).max(least);
    let aside = 0.5 * (left + rightmost) * right + 0.5 * (lowest + highest) * up;
    let back = first - 0.05 * depth;
    View {
        eye: middle + (aside + back * forward).as_dvec3(),
        scale,
        size: Size { width, height },
        centre: 0.5 * Vec2::new(width as f32, height as f32),
        ..View::along(forward, middle, 1.0, 16)
    }
}
