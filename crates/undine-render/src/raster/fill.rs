//! Which pixels a triangle covers, and how deep it is in each.
//!
//! Corners are moved to the nearest of a fixed grid of points within the pixels, and which side of an edge a pixel is on is told in whole
//! numbers (Pineda, *A parallel algorithm for polygon rasterization*, 1988). So two triangles that share an edge leave no pixel between
//! them out, and none is of both: one on the edge itself is of the triangle that it is the left or the upper edge of.

use super::view::View;
use crate::image::Size;
use rayon::prelude::*;
use undine_core::glam::{Vec2, Vec3};

/// A triangle with more pixels around it than this is drawn by several threads.
const LARGE: i64 = 1 << 15;

/// How many rows of a large one a thread takes at once.
const ROWS: i64 = 16;

/// A row of a triangle with more pixels than this is cut where its edges are; in a shorter one each pixel is asked.
const LONG: i64 = 8;

/// The pixels of a view.
pub(super) struct Raster<'a> {
    view: &'a View,
    size: Size,
    /// The fixed points within a pixel are 2 to the power of this, each way.
    bits: u32,
    /// As far from the first pixel as corners may be [pixels].
    most: f32,
}

/// A corner on its grid, with a number that is linear over the picture: in a perspective view the inverse of its depth.
#[derive(Clone, Copy)]
struct Corner {
    x: i64,
    y: i64,
    linear: f32,
}

impl<'a> Raster<'a> {
    pub fn new(view: &'a View, size: Size) -> Self {
        let across = size.width.max(size.height).max(1024);
        // Products of two distances have to fit into 63 bits.
        let bits = 8.min(28 - across.next_power_of_two().trailing_zeros());
        Self { view, size, bits, most: 2.0 * across as f32 }
    }

    /// Hands out the pixels of a triangle given along the axes of the view: x, y, depth, and whether its front is seen, whose corners
    /// run against the clock.
    #[inline(always)]
    pub fn triangle<P>(&self, turned: [Vec3; 3], put: &P)
    where
        P: Fn(usize, usize, f32, bool) + Sync,
    {
        let near = self.view.near;
        // Written out, because closures over arrays are not always inlined.
        let [a, b, c] = turned;
        let (at_a, at_b, at_c) = (self.view.pixel(a), self.view.pixel(b), self.view.pixel(c));
        let aside = at_a.abs().max(at_b.abs()).max(at_c.abs()).max_element();
        let is_sound = at_a.is_finite() && at_b.is_finite() && at_c.is_finite();
        if is_sound && aside <= self.most && a.z > near && b.z > near && c.z > near {
            let (a, b, c) =
                (self.corner(at_a, a.z), self.corner(at_b, b.z), self.corner(at_c, c.z));
            self.scan([a, b, c], put);
        } else if turned.iter().all(|corner| corner.is_finite())
            && turned.iter().any(|corner| corner.z > near)
        {
            self.clipped(turned, put);
        }
    }

    #[inline(always)]
    fn corner(&self, pixel: Vec2, depth: f32) -> Corner {
        let fixed = |part: f32| {
            let part = part * (1u32 << self.bits) as f32;
            i64::from((part + 0.5f32.copysign(part)) as i32)
        };
        let View { base, slope, .. } = self.view;
        let linear = slope * self.view.pixels_per_metre(depth) + base * depth;
        Corner { x: fixed(pixel.x), y: fixed(pixel.y), linear }
    }

    /// Draws what is left of a triangle in front of the near plane and not too far aside (Sutherland & Hodgman 1974).
    #[cold]
    fn clipped<P>(&self, turned: [Vec3; 3], put: &P)
    where
        P: Fn(usize, usize, f32, bool) + Sync,
    {
        let View { near, scale, base, slope, centre, .. } = *self.view;
        let near = near * (1.0 + 1e-6);
        let inside = |plane: usize, at: Vec3| -> f64 {
            let (x, y, z) = (f64::from(at.x), f64::from(at.y), f64::from(at.z));
            let along = f64::from(base) + f64::from(slope) * z;
            let aside = |most: f32| f64::from(most) * along / f64::from(scale);
            match plane {
                0 => z - f64::from(near),
                1 => aside(self.most - centre.x) - x,
                2 => x + aside(self.most + centre.x),
                3 => aside(self.most + centre.y) - y,
                _ => y + aside(self.most - centre.y),
            }
        };
        let mut polygon = turned.to_vec();
        for plane in 0..5 {
            let mut kept = Vec::with_capacity(8);
            for n in 0..polygon.len() {
                let (a, b) = (polygon[n], polygon[(n + 1) % polygon.len()]);
                let (at_a, at_b) = (inside(plane, a), inside(plane, b));
                if at_a >= 0.0 {
                    kept.push(a);
                }
                if (at_a >= 0.0) != (at_b >= 0.0) {
                    // From the same end for both triangles of an edge, so that it stays one edge.
                    let is_turned =
                        b.to_array().partial_cmp(&a.to_array()).is_some_and(|o| o.is_lt());
                    let (a, b, at_a, at_b) =
                        if is_turned { (b, a, at_b, at_a) } else { (a, b, at_a, at_b) };
                    let part = at_a / (at_a - at_b);
                    kept.push((a.as_dvec3() + part * (b - a).as_dvec3()).as_vec3());
                }
            }
            polygon = kept;
        }
        let corners: Vec<_> = polygon
            .iter()
            .map(|&corner| {
                let corner = corner.with_z(corner.z.max(near));
                let pixel = self.view.pixel(corner);
                self.corner(pixel.clamp(Vec2::splat(-self.most), Vec2::splat(self.most)), corner.z)
            })
            .collect();
        for n in 2..corners.len() {
            self.scan([corners[0], corners[n - 1], corners[n]], put);
        }
    }

    #[inline(always)]
    fn scan<P>(&self, [a, b, c]: [Corner; 3], put: &P)
    where
        P: Fn(usize, usize, f32, bool) + Sync,
    {
        let twice_area = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
        // Rows run down, so that what runs against the clock has a negative area.
        let is_front = twice_area < 0;
        let (b, c) = if is_front { (c, b) } else { (b, c) };

        // The pixels whose middles are within the box around it.
        let half = 1i64 << self.bits >> 1;
        let first = |least: i64| (least + half - 1) >> self.bits;
        let last = |greatest: i64| (greatest - half) >> self.bits;
        let left = first(a.x.min(b.x).min(c.x)).max(0);
        let top = first(a.y.min(b.y).min(c.y)).max(0);
        let right = last(a.x.max(b.x).max(c.x)).min(self.size.width as i64 - 1);
        let bottom = last(a.y.max(b.y).max(c.y)).min(self.size.height as i64 - 1);
        if left > right || top > bottom || twice_area == 0 {
            return;
        }

        // Each edge is a number that is not negative inside, at the middle of the first pixel; and how it changes from pixel to pixel.
        let (x, y) = ((left << self.bits) + half, (top << self.bits) + half);
        let edge = |from: Corner, to: Corner| {
            let (dx, dy) = (to.x - from.x, to.y - from.y);
            let is_left_or_top = dy < 0 || (dy == 0 && dx > 0);
            let at = dx * (y - from.y) - dy * (x - from.x) - i64::from(!is_left_or_top);
            (at, -dy << self.bits, dx << self.bits)
        };
        let edges = [edge(a, b), edge(b, c), edge(c, a)];

        // The linear number at the middle of the first pixel, and how it changes.
        let per_area = (1i64 << self.bits) as f32 / twice_area.abs() as f32;
        let (to_b, to_c) = (b.linear - a.linear, c.linear - a.linear);
        let per_x = (to_b * (c.y - a.y) as f32 - to_c * (b.y - a.y) as f32) * per_area;
        let per_y = (to_c * (b.x - a.x) as f32 - to_b * (c.x - a.x) as f32) * per_area;
        let pixel = 1.0 / (1i64 << self.bits) as f32;
        let at_first =
            a.linear + per_x * ((x - a.x) as f32 * pixel) + per_y * ((y - a.y) as f32 * pixel);
        let least = a.linear.min(b.linear).min(c.linear);
        let greatest = a.linear.max(b.linear).max(c.linear);
        let depth = |x: i64, y: i64| {
            // Rounding may not carry it out of the triangle, however thin that is.
            let linear = (at_first + per_x * (x - left) as f32 + per_y * (y - top) as f32)
                .clamp(least, greatest);
            if self.view.slope != 0.0 { self.view.scale / linear } else { linear }
        };

        let row = |y: i64| {
            let down = y - top;
            let at = [
                edges[0].0 + down * edges[0].2,
                edges[1].0 + down * edges[1].2,
                edges[2].0 + down * edges[2].2,
            ];
            if right - left < LONG {
                let mut at = at;
                for x in left..=right {
                    if (at[0] | at[1] | at[2]) >= 0 {
                        put(x as usize, y as usize, depth(x, y), is_front);
                    }
                    at[0] += edges[0].1;
                    at[1] += edges[1].1;
                    at[2] += edges[2].1;
                }
                return;
            }
            let (mut from, mut to) = (0, right - left);
            for (at, (_, per_x, _)) in at.into_iter().zip(edges) {
                match per_x {
                    0 if at < 0 => to = -1,
                    0 => {}
                    1.. => {
                        from = from
                            .max((-at).div_euclid(per_x) + i64::from((-at).rem_euclid(per_x) != 0))
                    }
                    _ => to = to.min(at.div_euclid(-per_x)),
                }
            }
            for x in left + from..=left + to {
                put(x as usize, y as usize, depth(x, y), is_front);
            }
        };
        if (right - left + 1) * (bottom - top + 1) < LARGE {
            (top..=bottom).for_each(row);
        } else {
            let pieces = (bottom - top) / ROWS + 1;
            (0..pieces).into_par_iter().for_each(|piece| {
                let from = top + piece * ROWS;
                (from..=bottom.min(from + ROWS - 1)).for_each(row);
            });
        }
    }
}
