//! Curves as tubes: rounded cones from point to point, with normals that are smooth along each curve.
//!
//! What is thinner than a pixel is drawn a pixel wide, but only in as many of the passes as it is thin: their average has the
//! curve's own width, so that hair far away gets fainter and not thicker.

use super::primitives::{Hit, Primitives};
use super::segments::{self, End};
use super::target::Target;
use super::view::{Ray, View};
use crate::shot::Curves;
use rayon::prelude::*;
use undine_core::glam::Vec3;
use undine_core::mesh::{Connectivity, ElementClass};
use undine_geometry::random;

/// Tubes are drawn at least this thick [pixels].
const LEAST_RADIUS: f32 = 0.5;
/// Curves that are drawn by one thread at a time.
const PIECE: usize = 64;

/// Curves as tubes: each edge is a primitive.
pub(super) struct Tubes<'a> {
    curves: &'a Curves<'a>,
    /// How many curves there are of which all points are.
    count: usize,
}

impl<'a> Tubes<'a> {
    pub fn of(curves: &'a Curves<'a>) -> Self {
        // Strands that speak of more points than there are lose those curves.
        let points = curves.positions.len();
        let strands = curves.strands;
        let count = (0..strands.len()).take_while(|&n| strands.vertices(n).end <= points).count();
        Self { curves, count }
    }

    /// Where a point is at a moment, seen from the eye.
    #[inline(always)]
    fn place(&self, n: usize, view: &View, moment: f32) -> Vec3 {
        let place = self.curves.positions.from_eye(n, view.eye);
        match self.curves.velocities {
            Some(velocities) if moment != 0.0 => place + moment * velocities.at(n),
            _ => place,
        }
    }

    /// The curve of an edge, and the points before, at both ends of, and after it.
    fn around(&self, edge: usize) -> [usize; 4] {
        let strands = self.curves.strands;
        let (mut low, mut high) = (0, self.count);
        while low + 1 < high {
            let middle = (low + high) / 2;
            match strands.edges(middle).start <= edge {
                true => low = middle,
                false => high = middle,
            }
        }
        let points = strands.vertices(low);
        let (first, count) = (points.start, points.len());
        let own = edge - strands.edges(low).start;
        let closed = strands.edges(low).len() == count;
        let at = |step: usize, back: usize| {
            let place = own + step;
            match closed {
                true => first + (place + count - back) % count,
                false => first + place.saturating_sub(back).min(count - 1),
            }
        };
        [at(0, 1), at(0, 0), at(1, 0), at(2, 0)]
    }
}

impl Primitives for Tubes<'_> {
    fn len(&self) -> usize {
        match self.count == self.curves.strands.len() {
            true => self.curves.strands.count(ElementClass::Edge),
            false => self.count.checked_sub(1).map_or(0, |n| self.curves.strands.edges(n).end),
        }
    }

    fn draw<T: Target>(&self, view: &View, moment: f32, first: u32, target: &T) {
        let strands = self.curves.strands;
        (0..self.count).into_par_iter().with_min_len(PIECE).for_each(|curve| {
            let points = strands.vertices(curve);
            // A number of its own for each curve, so that not all thin ones are drawn in the same passes.
            let turn = (random::unit(0, curve as u64) as f32 + view.turn).fract();
            let end = |n: usize| {
                let turned = view.turned(self.place(n, view, moment));
                let radius =
                    self.curves.radii.at(n) * view.pixels_per_metre(turned.z.max(view.near));
                (End { turned, radius: radius.max(LEAST_RADIUS) }, radius / LEAST_RADIUS)
            };
            let Some(mut from) = points.clone().next().map(end) else { return };
            for (step, edge) in strands.edges(curve).enumerate() {
                let n = points.start + (step + 1) % points.len();
                let to = end(n);
                if 0.5 * (from.1 + to.1) > turn {
                    let before = points.start + step;
                    let (thick, thin) = (self.curves.radii.at(before), self.curves.radii.at(n));
                    let nearer = |part: f32, aside: f32| {
                        (thick + part * (thin - thick)) * (1.0 - aside * aside).sqrt()
                    };
                    segments::draw(view, [from.0, to.0], first + edge as u32, target, nearer);
                }
                from = to;
            }
        });
    }

    fn hit(&self, primitive: usize, view: &View, moment: f32, ray: &Ray) -> Hit {
        let numbers = self.around(primitive);
        let [before, from, to, after] = numbers.map(|n| self.place(n, view, moment));
        let (depth, part) = segments::closest(ray, from, to);
        let [_, a, b, _] = numbers;
        let mix = |a: f32, b: f32| a + part * (b - a);
        let radius = mix(self.curves.radii.at(a), self.curves.radii.at(b)).max(1e-30);
        // The curve's direction turns evenly from point to point.
        let straight = (to - from).normalize_or(view.right);
        let tangent = (to - before)
            .normalize_or(straight)
            .lerp((after - from).normalize_or(straight), part)
            .normalize_or(straight);
        let axis = from + part * (to - from);
        let towards = -ray.direction.normalize();
        let facing = (towards - towards.dot(tangent) * tangent).normalize_or(towards);
        let side = facing.cross(tangent).normalize_or(view.right);
        let aside = ((ray.at(depth) - axis).dot(side) / radius).clamp(-1.0, 1.0);
        let high = (1.0 - aside * aside).sqrt();
        let velocity = self
            .curves
            .velocities
            .map_or(Vec3::ZERO, |velocities| velocities.at(a).lerp(velocities.at(b), part));
        let value = self.curves.values.map(|values| mix(values.at(a), values.at(b)));
        Hit {
            depth: (depth - radius * high / ray.direction.length()).max(view.near),
            normal: (aside * side + high * facing).normalize_or(towards),
            colour: self.curves.colouring.of(value),
            velocity,
            tangent: self.curves.hair.then_some(tangent),
            is_lit: true,
        }
    }
}
