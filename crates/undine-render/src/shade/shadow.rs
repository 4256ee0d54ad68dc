//! What a light does not reach, by a map of what is nearest to it (Williams, *Casting curved shadows on curved surfaces*, 1978).
//!
//! The passes of a picture move the light, which makes shadows soft by itself. What a few passes leave of steps is smoothed within
//! each pass: by a filter as wide as the light's part of this pass looks from what is in its way (Fernando, *Percentage-closer soft
//! shadows*, 2005), turned differently for each pixel and each pass. Most places are far from any shadow: a coarse map tells so by one
//! look, of what is nearest within the filter's reach.

use crate::image::Size;
use crate::raster::{DepthMap, Scenery, View};
use rayon::prelude::*;
use std::f32::consts::TAU;
use undine_core::glam::{DVec3, Vec2, Vec3};
use undine_core::mesh::Bounds;

/// The shadows of one light in one pass. The map is kept from pass to pass.
pub(crate) struct Shadow {
    view: View,
    map: DepthMap,
    /// Nothing within the filter's reach of a tile's pixels is nearer to the light [m].
    nearest: Vec<f32>,
    /// How many tiles a row of them has.
    tiles: usize,
    /// How many pixels the map may have.
    most: usize,
    /// How wide the light's part of one pass is: the tangent of the angle from its middle to its edge.
    spread: f32,
    /// The filter's widest reach [pixels of the map].
    reach: f32,
    /// How often a filter looks: with many passes, each need not look as often.
    taps: usize,
    /// Cosines and sines of parts of a whole turn.
    turns: [Vec2; TURNS],
}

/// What has to be in a map.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    /// What casts shadows.
    pub casters: Bounds,
    /// What is seen of what they fall onto.
    pub receivers: Bounds,
}

/// How many ways a filter can be turned.
const TURNS: usize = 64;

/// How many pixels a tile has along its sides.
const TILE: usize = 16;

/// Points of a disc that fill it evenly (Vogel 1979), one turn of the golden angle after the other.
/// The first two do so alone, more roughly.
const TAPS: [Vec2; 4] = [
    Vec2::new(-0.451_544, 0.413_652),
    Vec2::new(0.069_11, -0.787_541),
    Vec2::new(0.353_553, 0.0),
    Vec2::new(0.569_165, 0.742_353),
];

/// From so many passes on, two looks of a filter are enough: with less, their noise would be seen where it is dark.
const MANY: usize = 24;

/// A filter is no narrower: it would see the steps of the map [pixels of the map].
const LEAST_REACH: f32 = 0.75;

impl Shadow {
    /// With room for a map of so many pixels along its sides, of a light that one pass shows so wide a part of, for so many passes.
    pub fn new(side: usize, spread: f32, reach: f32, passes: usize) -> Self {
        let size = Size { width: side, height: side };
        Self {
            view: View::along(Vec3::NEG_Y, DVec3::ZERO, 1.0, side),
            map: DepthMap::new(size),
            nearest: Vec::new(),
            tiles: 0,
            most: size.pixels(),
            spread,
            reach: (reach * side as f32).max(LEAST_REACH),
            taps: if passes < MANY { TAPS.len() } else { 2 },
            turns: std::array::from_fn(|n| Vec2::from_angle(TAU * n as f32 / TURNS as f32)),
        }
    }

    /// Draws the shadows of a pass: of all that can fall on what is seen.
    pub fn draw(&mut self, scenery: &Scenery<'_>, towards: Vec3, extent: &Extent, moment: f32) {
        self.view = fitted(-towards, extent, self.most);
        self.map.clear(self.view.size);
        scenery.draw_casters(&self.view, moment, &self.map);
        self.find_nearest();
    }

    /// Fills the coarse map: what is nearest in each tile, and then in all tiles that the filter may reach from it.
    fn find_nearest(&mut self) {
        let (wide, tall) =
            (self.view.size.width.div_ceil(TILE), self.view.size.height.div_ceil(TILE));
        let around = (self.reach / TILE as f32).ceil() as usize;
        let map = &self.map;
        let rows = (0..tall).into_par_iter();
        let own: Vec<f32> = rows.flat_map_iter(|y| map.nearest_of_tiles(y * TILE, TILE)).collect();
        // Along rows, and then along columns, of tiles.
        let least = |from: &[f32], at: usize, last: usize, step: usize, line: usize| {
            let near = at.saturating_sub(around)..=(at + around).min(last);
            near.fold(f32::INFINITY, |least, n| least.min(from[line + n * step]))
        };
        let across: Vec<f32> =
            (0..wide * tall).map(|n| least(&own, n % wide, wide - 1, 1, n / wide * wide)).collect();
        self.nearest.clear();
        self.nearest
            .extend((0..wide * tall).map(|n| least(&across, n / wide, tall - 1, wide, n % wide)));
        self.tiles = wide;
    }

    /// What is nearest within the filter's reach of a pixel [m].
    #[inline(always)]
    fn nearest_around(&self, pixel: Vec2) -> f32 {
        let Size { width, height } = self.view.size;
        // What is beside the map looks as its rim does, which is as near to all that is within reach.
        let x = (pixel.x.max(0.0) as usize).min(width - 1) / TILE;
        let y = (pixel.y.max(0.0) as usize).min(height - 1) / TILE;
        self.nearest.get(y * self.tiles + x).copied().unwrap_or(f32::INFINITY)
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
        // Is anything near at all?
        let deepest = turned.z - 0.5 * texel + (self.reach + 1.0) * (slope.x.abs() + slope.y.abs());
        if deepest <= self.nearest_around(pixel) {
            return 1.0;
        }
        let base = turned.z - slope.dot(pixel) - 0.5 * texel;
        let gap = |at: Vec2| {
            // Cut off towards zero, which is faster than down: beside the map there is nothing.
            let (x, y) = (at.x as i32, at.y as i32);
            let cell = Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
            base + slope.dot(cell) - self.map.at(x, y)
        };
        let Vec2 { x: cos, y: sin } = self.turns[(turn * TURNS as f32) as usize % TURNS];
        let rotated = |tap: Vec2| Vec2::new(cos * tap.x - sin * tap.y, sin * tap.x + cos * tap.y);
        // What is in the way, and how far?
        let (mut blocked, mut away) = (0.0, 0.0);
        let taps = &TAPS[..self.taps];
        for &tap in taps {
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
        let wide = (self.spread * away / blocked * self.view.scale).clamp(LEAST_REACH, self.reach);
        let is_open = |tap: Vec2| gap(pixel + wide * rotated(Vec2::new(-tap.y, tap.x))) <= 0.0;
        let open = taps.iter().filter(|tap| is_open(**tap)).count();
        open as f32 / taps.len() as f32
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
