//! Planes that things stand on: a floor that goes on to the horizon, and walls that end around what they hold.
//!
//! A floor fades into the horizon's light, so that no line is seen where it ends. A grid on it tells how large things are: a line
//! every 1, 10, 100 … of metres (or 10 cm, 1 cm …), those that a pixel can tell apart. Lines are averaged over the pixel they are
//! seen through, exactly along each axis, so that they never flicker or make patterns.

use super::sky::smooth;
use crate::raster::{Ray, View};
use crate::shot::Ground;
use undine_core::glam::{DVec3, Vec2, Vec3};
use undine_core::mesh::Bounds;

/// The part of light that a ground gives back.
pub(crate) const ALBEDO: Vec3 = Vec3::new(0.46, 0.455, 0.445);
const WALL_ALBEDO: Vec3 = Vec3::new(0.62, 0.62, 0.61);
/// How wide the lines of a grid are, against their distance; but no wider than so many pixels.
const LINE: f32 = 0.012;
const LINE_PIXELS: f32 = 1.3;
/// How much darker the lines are.
const LINE_DARK: f32 = 0.34;
/// Lines are not told apart where they are more than this many of them away.
const FINEST: f64 = 1e15;
/// What is tilted by less is a floor without end: the cosine of 11°.
const LEVEL: f32 = 0.98;

/// A ground as a picture shows it.
pub(crate) struct Floor {
    point: DVec3,
    normal: Vec3,
    across: Vec3,
    along: Vec3,
    /// Whether it goes on to the horizon.
    pub is_endless: bool,
    /// The middle of what stands on it [m].
    middle: DVec3,
    /// How far from there an endless one fades, or half the sides of the other [m].
    reach: Vec2,
}

/// What is seen of a ground.
pub(crate) struct Footing {
    pub colour: Vec3,
    pub normal: Vec3,
    /// How much of it has faded into the horizon, 0 to 1.
    pub faded: f32,
}

impl Floor {
    /// Under the Subjects that are in a box. None if the ground is nowhere.
    pub fn new(ground: &Ground, bounds: &Bounds, up: Vec3) -> Option<Self> {
        let normal = ground.normal.try_normalize()?;
        if !ground.point.is_finite() {
            return None;
        }
        // The grid runs along the axes of the world where it can.
        let axis = if normal.x.abs() < 0.9 { Vec3::X } else { Vec3::Z };
        let across =
            (axis - axis.dot(normal) * normal).normalize_or(normal.any_orthonormal_vector());
        let along = normal.cross(across);
        let radius = (0.5 * bounds.size().length()).max(1e-9) as f32;
        let is_endless = normal.dot(up) > LEVEL;
        let half = |axis: Vec3| {
            let centre = bounds.centre();
            let widest = bounds.corners().iter().fold(0.0, |widest: f32, corner| {
                widest.max((*corner - centre).as_vec3().dot(axis).abs())
            });
            1.15 * widest + 0.05 * radius
        };
        let reach = match is_endless {
            true => Vec2::splat(6.0 * radius),
            false => Vec2::new(half(across), half(along)),
        };
        let middle = bounds.centre();
        Some(Self { point: ground.point, normal, across, along, is_endless, middle, reach })
    }

    /// The depth at which a line of sight meets it from the front.
    pub fn meet(&self, view: &View, ray: &Ray) -> Option<f32> {
        let towards = ray.direction.dot(self.normal);
        if towards >= 0.0 {
            return None;
        }
        let below = (self.point - view.eye).as_vec3() - ray.origin;
        let depth = below.dot(self.normal) / towards;
        if !(depth > view.near && depth.is_finite()) {
            return None;
        }
        let inside = self.is_endless || {
            let place = ray.at(depth) + (view.eye - self.middle).as_vec3();
            place.dot(self.across).abs() < self.reach.x
                && place.dot(self.along).abs() < self.reach.y
        };
        inside.then_some(depth)
    }

    /// Which way it looks.
    pub fn normal(&self) -> Vec3 {
        self.normal
    }

    /// What is seen of it at a depth, through a pixel.
    pub fn footing(&self, view: &View, ray: &Ray, depth: f32) -> Footing {
        let place = ray.at(depth);
        let from_middle = place + (view.eye - self.middle).as_vec3();
        let from_middle = Vec2::new(from_middle.dot(self.across), from_middle.dot(self.along));
        if !self.is_endless {
            // A rim tells where a wall ends.
            let rim = (1.0 - (from_middle.abs() / self.reach).max_element()) / 0.012;
            let colour = WALL_ALBEDO * (0.8 + 0.2 * smooth(rim));
            return Footing { colour, normal: self.normal, faded: 0.0 };
        }
        let faded = 1.0 - (-from_middle.length_squared() / (self.reach.x * self.reach.x)).exp();
        let grid = if faded < 0.99 { self.grid(view, ray, depth, place) } else { 0.0 };
        let colour = ALBEDO * (1.0 - LINE_DARK * grid);
        Footing { colour, normal: self.normal, faded }
    }

    /// How much of a pixel is covered by lines of the grid, fainter ones counting less.
    fn grid(&self, view: &View, ray: &Ray, depth: f32, place: Vec3) -> f32 {
        // How far the pixel reaches on the plane: where it meets the lines of sight a pixel to the right and down.
        let next = |step: Vec3| {
            let direction = ray.direction + view.slope * step;
            let origin = ray.origin + view.base * step;
            let towards = direction.dot(self.normal).min(-1e-6);
            let below = (place - origin).dot(self.normal);
            origin + below / towards * direction - place
        };
        let (x, y) = (next(view.right / view.scale), next(view.up / view.scale));
        let pixel = Vec2::new(
            x.dot(self.across).abs() + y.dot(self.across).abs(),
            x.dot(self.along).abs() + y.dot(self.along).abs(),
        );
        let widest = (depth * view.slope + view.base) / view.scale;
        let widest = widest.max(0.5 * pixel.max_element());
        if !(widest > 0.0 && widest.is_finite()) {
            return 0.0;
        }
        // Lines closer than this many pixels are not drawn; a decade further they are whole.
        const CLOSEST: f32 = 9.0;
        let level = (CLOSEST * widest).log10();
        let first = whole_below(level);
        let rising = smooth(level - first);
        let at = view.eye + place.as_dvec3();
        let at = (at.dot(self.across.as_dvec3()), at.dot(self.along.as_dvec3()));
        let lines = power_of_ten(-(first as i32));
        let at = (lines * at.0, lines * at.1);
        let pixel = lines as f32 * pixel;
        if !(at.0.abs() < FINEST && at.1.abs() < FINEST) {
            return 0.0;
        }
        let strengths =
            [(0.1, 0.55 * (1.0 - rising)), (0.01, 0.55 + 0.45 * (1.0 - rising)), (0.001, 1.0)];
        strengths.into_iter().fold(0.0, |covered: f32, (coarser, strength)| {
            let covers = |at: f64, pixel: f32| {
                let at = coarser * at;
                // Cut off towards zero, which is faster than down.
                let phase = (at - at as i64 as f64) as f32;
                let pixel = coarser as f32 * pixel;
                stripe(phase, pixel, LINE.min(LINE_PIXELS * pixel))
            };
            let (u, v) = (covers(at.0, pixel.x), covers(at.1, pixel.y));
            covered.max(strength * (u + v - u * v))
        })
    }
}

/// From a table, because to multiply takes longer than all the rest. What is beyond it is as its ends.
#[inline(always)]
fn power_of_ten(exponent: i32) -> f64 {
    const MOST: usize = 22;
    const POWERS: [f64; 2 * MOST + 1] = {
        let mut powers = [1.0; 2 * MOST + 1];
        let mut n = 1;
        while n <= MOST {
            // Up to 10²² these are exact.
            powers[MOST + n] = 10.0 * powers[MOST + n - 1];
            powers[MOST - n] = 1.0 / powers[MOST + n];
            n += 1;
        }
        powers
    };
    POWERS[(exponent + MOST as i32).clamp(0, 2 * MOST as i32) as usize]
}

/// Down to a whole number of no more than a few digits: a cast is faster than `floor`, and cuts off towards zero.
#[inline(always)]
fn whole_below(x: f32) -> f32 {
    (x + 64.0) as i32 as f32 - 64.0
}

/// How much of an interval of a width around a phase is covered by a line at every whole number, itself so wide.
#[inline]
fn stripe(phase: f32, width: f32, line: f32) -> f32 {
    let width = width.max(1e-6);
    // Most places are far from any line.
    let nearest = (phase + 64.5) as i32 as f32 - 64.0;
    if (phase - nearest).abs() > 0.5 * (width + line) {
        return 0.0;
    }
    // The integral of lines from 0 on: whole ones, and a part of the one that it ends in.
    let sum = |x: f32| {
        let x = x + 0.5 * line;
        let whole = whole_below(x);
        line * whole + (x - whole).min(line)
    };
    ((sum(phase + 0.5 * width) - sum(phase - 0.5 * width)) / width).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_cover_what_they_are_wide() {
        assert!((stripe(0.0, 1e-4, LINE) - 1.0).abs() < 1e-3);
        assert_eq!(stripe(0.5, 0.1, LINE), 0.0);
        for phase in [0.0, 0.3, 0.77] {
            assert!((stripe(phase, 1.0, LINE) - LINE).abs() < 1e-6);
            assert!((stripe(phase, 7.0, LINE) - LINE).abs() < 1e-6);
        }
    }
}
