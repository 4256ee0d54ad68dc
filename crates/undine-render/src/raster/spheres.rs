//! Points as spheres: a disc of pixels each, with the depth of a sphere.

use super::primitives::{Hit, Primitives};
use super::target::Target;
use super::view::{Ray, View};
use crate::shot::{PointChunk, Points};
use rayon::prelude::*;
use undine_core::glam::{Vec2, Vec3};

/// Smaller spheres are drawn as large as this, so that none falls between the pixels [pixels].
const LEAST_RADIUS: f32 = 0.5;

/// Points as spheres.
pub(super) struct Spheres<'a> {
    points: &'a Points<'a>,
    /// The number of the first point of each chunk, and of all.
    firsts: Vec<usize>,
}

impl<'a> Spheres<'a> {
    pub fn of(points: &'a Points<'a>) -> Self {
        let mut firsts = vec![0];
        for chunk in &points.chunks {
            firsts.push(firsts[firsts.len() - 1] + chunk.positions.len());
        }
        Self { points, firsts }
    }
}

/// Where a point is at a moment, seen from the eye.
#[inline(always)]
fn place(chunk: &PointChunk, n: usize, view: &View, moment: f32) -> Vec3 {
    let place = chunk.positions.from_eye(n, view.eye);
    match chunk.velocities {
        Some(velocities) if moment != 0.0 => place + moment * velocities.at(n),
        _ => place,
    }
}

impl Primitives for Spheres<'_> {
    fn len(&self) -> usize {
        self.firsts[self.firsts.len() - 1]
    }

    fn draw<T: Target>(&self, view: &View, moment: f32, first: u32, target: &T) {
        let size = target.size();
        let limit = Vec2::new(size.width as f32, size.height as f32);
        self.points.chunks.par_iter().zip(&self.firsts).for_each(|(chunk, before)| {
            for n in 0..chunk.positions.len() {
                let middle = view.turned(place(chunk, n, view, moment));
                if middle.is_nan() || middle.z <= view.near {
                    continue;
                }
                let pixel = view.pixel(middle);
                let radius =
                    (chunk.radii.at(n) * view.pixels_per_metre(middle.z)).max(LEAST_RADIUS);
                let (low, high) = (pixel - radius, pixel + radius);
                if !(low.cmplt(limit).all() && high.cmpge(Vec2::ZERO).all()) {
                    continue;
                }
                let from = low.max(Vec2::ZERO);
                let to = high.min(limit - 1.0);
                for y in from.y as usize..=to.y as usize {
                    for x in from.x as usize..=to.x as usize {
                        let aside = Vec2::new(x as f32 + 0.5, y as f32 + 0.5) - pixel;
                        let inside = 1.0 - aside.length_squared() / (radius * radius);
                        if inside >= 0.0 {
                            let depth = middle.z - chunk.radii.at(n) * inside.sqrt();
                            let primitive = first + (before + n) as u32;
                            target.put(x, y, depth.max(view.near), primitive);
                        }
                    }
                }
            }
        });
    }

    fn hit(&self, primitive: usize, view: &View, moment: f32, ray: &Ray) -> Hit {
        let chunk = self.firsts.partition_point(|&first| first <= primitive) - 1;
        let n = primitive - self.firsts[chunk];
        let chunk = &self.points.chunks[chunk];
        let middle = place(chunk, n, view, moment);
        let radius = chunk.radii.at(n);
        // |origin + z direction − middle|² = radius²; where it misses by a little, the nearest point of the line.
        let away = ray.origin - middle;
        let a = ray.direction.length_squared();
        let b = away.dot(ray.direction);
        let inside = (b * b - a * (away.length_squared() - radius * radius)).max(0.0);
        let depth = (-b - inside.sqrt()) / a;
        let normal = (ray.at(depth) - middle).normalize_or(-view.forward);
        Hit {
            depth,
            normal,
            colour: self.points.colouring.of(chunk.values.map(|values| values.at(n))),
            velocity: chunk.velocities.map_or(Vec3::ZERO, |velocities| velocities.at(n)),
            tangent: None,
            is_lit: true,
        }
    }
}
