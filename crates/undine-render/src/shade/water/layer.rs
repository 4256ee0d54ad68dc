//! Where water is along each line of sight of a view: its nearest front and back, and how much of it there is.
//!
//! What is behind opaque things is cut off. Along a line that enters and leaves water, the depths of all backs less those of all fronts are
//! the way inside. The depths are summed as whole numbers, with how many more backs there are than fronts in the lowest bits, so that the
//! sum is the same in any order.

use super::optics;
use crate::error::{RenderError, Result};
use crate::image::Size;
use crate::raster::{Hit, Known, NONE, Primitives, Ray, Target, Triangles, View, Visibility};
use crate::shot::{Finish, Subject};
use rayon::prelude::*;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use undine_core::glam::Vec3;

/// Bits for how many more backs than fronts there are.
const COUNT_BITS: u32 = 12;

/// No depth counts as more than this many units.
const MOST_UNITS: f32 = (1u64 << 40) as f32;

/// All meshes of water.
pub(crate) struct Waters<'a> {
    bodies: Vec<Body<'a>>,
}

struct Body<'a> {
    first: u32,
    triangles: Triangles<'a>,
    absorption: Vec3,
}

impl<'a> Waters<'a> {
    pub fn of(subjects: &'a [Subject<'a>], known: &mut Known) -> Result<Self> {
        let mut bodies = Vec::new();
        let mut count = 0u64;
        for subject in subjects {
            let Subject::Mesh(mesh) = subject else { continue };
            let Finish::Water { absorption } = mesh.finish else { continue };
            let triangles = Triangles::of(mesh, known)?;
            let first = count as u32;
            count += triangles.len() as u64;
            if count >= u64::from(u32::MAX) {
                return Err(RenderError::TooMany { count, most: u64::from(u32::MAX) - 1 });
            }
            let absorption = absorption.map(|part| if part > 0.0 { part.min(1e9) } else { 0.0 });
            bodies.push(Body { first, triangles, absorption });
        }
        Ok(Self { bodies })
    }

    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    fn body(&self, primitive: u32) -> &Body<'a> {
        &self.bodies[self.bodies.partition_point(|body| body.first <= primitive) - 1]
    }

    /// What a line of sight meets in a primitive.
    pub fn hit(&self, primitive: u32, view: &View, moment: f32, ray: &Ray) -> Hit {
        let body = self.body(primitive);
        body.triangles.hit((primitive - body.first) as usize, view, moment, ray)
    }

    /// How much light a metre takes away [1/m].
    pub fn absorption(&self, primitive: u32) -> Vec3 {
        self.body(primitive).absorption
    }
}

/// The water of a view.
pub(crate) struct Layer {
    size: Size,
    front: Visibility,
    back: Visibility,
    sums: Vec<AtomicI64>,
    /// What depths are counted in [m].
    unit: f32,
}

/// The water along a line of sight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    /// The depth and the primitive of the nearest front.
    pub front: Option<(f32, u32)>,
    /// The depth and the primitive of the nearest back.
    pub back: Option<(f32, u32)>,
    /// How much water there is, in depth [m]; infinite if it has no end.
    pub thickness: f32,
    /// Whether the line of sight begins inside.
    pub is_inside: bool,
}

impl Layer {
    /// Of no water.
    pub fn new(size: Size) -> Self {
        Self {
            size,
            front: Visibility::new(size),
            back: Visibility::new(size),
            sums: (0..size.pixels()).map(|_| AtomicI64::new(0)).collect(),
            unit: 1.0,
        }
    }

    /// Draws all water as it is at a moment, up to what is opaque: `behind` is the depth of that in each pixel, infinite where nothing is.
    /// Depths of about `scale` [m] are told apart to a millionth of it.
    pub fn draw<B>(&mut self, waters: &Waters<'_>, view: &View, moment: f32, scale: f32, behind: &B)
    where
        B: Fn(usize, usize) -> f32 + Sync,
    {
        self.front.clear();
        self.back.clear();
        self.sums.par_iter_mut().for_each(|sum| *sum.get_mut() = 0);
        self.unit = scale.max(f32::MIN_POSITIVE * 1e9) / (1u32 << 22) as f32;
        for body in &waters.bodies {
            body.triangles.scan(view, moment, self.size, &|x, y, depth, triangle, is_front| {
                let end = behind(x, y);
                if depth < end {
                    let side = if is_front { &self.front } else { &self.back };
                    side.put(x, y, depth, body.first + triangle);
                }
                let units = (depth.min(end) / self.unit).min(MOST_UNITS) as i64;
                let entry = (units << COUNT_BITS) + 1;
                let entry = if is_front { -entry } else { entry };
                self.sums[y * self.size.width + x].fetch_add(entry, Relaxed);
            });
        }
    }

    /// The water in a pixel, behind which something opaque is at a depth; none if there is none.
    #[inline(always)]
    pub fn at(&self, x: usize, y: usize, behind: f32) -> Option<Column> {
        let sum = self.sums[y * self.size.width + x].load(Relaxed);
        let seen = |side: &Visibility| {
            let (depth, primitive) = side.at(x, y);
            (primitive != NONE).then_some((depth, primitive))
        };
        let (front, back) = (seen(&self.front), seen(&self.back));
        if sum == 0 && front.is_none() && back.is_none() {
            return None;
        }
        let shift = i64::BITS - COUNT_BITS;
        let count = sum << shift >> shift;
        let mut thickness = ((sum - count) >> COUNT_BITS) as f32 * self.unit;
        // What is entered and not left goes on to what is opaque.
        if count < 0 {
            thickness += -count as f32 * behind;
        }
        let is_inside = count > 0 || thickness < -16.0 * self.unit;
        (front.is_some() || is_inside).then_some(Column {
            front,
            back,
            thickness: thickness.max(0.0),
            is_inside,
        })
    }
}

/// How light crosses a body of water from its front: approximately, from what is seen in the view (Wyman, *An approximate image-space
/// approach for interactive refraction*, 2005).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crossing {
    /// Where it leaves the water, or meets something opaque; relative to the eye [m].
    pub place: Vec3,
    /// Its direction after that.
    pub direction: Vec3,
    /// Its way inside [m].
    pub length: f32,
    /// The part of it that goes on.
    pub part: f32,
    /// Whether it meets something opaque in the water itself.
    pub is_stopped: bool,
}

/// What is needed to follow light through the water of a view.
pub(crate) struct Through<'a, B> {
    pub waters: &'a Waters<'a>,
    pub layer: &'a Layer,
    pub view: &'a View,
    pub moment: f32,
    /// The depth of what is opaque in each pixel.
    pub behind: B,
}

impl<B: Fn(usize, usize) -> f32> Through<'_, B> {
    /// Follows light that enters the water of a pixel at a front, in a direction that it has inside.
    pub fn cross(
        &self,
        (x, y): (usize, usize),
        column: &Column,
        front: f32,
        inside: Vec3,
    ) -> Crossing {
        let ray = self.view.ray_through(x, y);
        let place = ray.at(front);
        let endless = Crossing {
            place,
            direction: inside,
            length: f32::INFINITY,
            part: 1.0,
            is_stopped: true,
        };
        let forward = inside.dot(self.view.forward).max(0.05);
        let straight = column.thickness * ray.direction.length();
        if !straight.is_finite() {
            return endless;
        }
        // As long as the straight way to begin with; then to where water ends in the pixel that this leads to, twice.
        let mut length = straight;
        let mut end = (x, y, *column, front + column.thickness, (self.behind)(x, y));
        for _ in 0..2 {
            let Some((x, y)) = self.pixel(place + length * inside) else { break };
            let behind = (self.behind)(x, y);
            let Some(there) = self.layer.at(x, y, behind) else { break };
            let Some((entered, _)) = there.front else { break };
            let last = entered + there.thickness;
            if !last.is_finite() {
                return endless;
            }
            length = ((last - front) / forward).clamp(0.0, 4.0 * straight);
            end = (x, y, there, last, behind);
        }
        let left = place + length * inside;
        let (x, y, there, last, behind) = end;
        let is_stopped = last >= behind - 1e-4 * behind;
        let back = there.back.filter(|_| !is_stopped);
        let Some((_, primitive)) = back else {
            return Crossing { place: left, direction: inside, length, part: 1.0, is_stopped };
        };
        let ray = self.view.ray_through(x, y);
        let normal = self.waters.hit(primitive, self.view, self.moment, &ray).normal;
        let normal = if normal.dot(inside) > 0.0 { -normal } else { normal };
        let mirrored = optics::mirrored(-inside.dot(normal), 1.0 / optics::INDEX);
        match optics::bent(inside, normal, 1.0 / optics::INDEX) {
            Some(direction) => {
                Crossing { place: left, direction, length, part: 1.0 - mirrored, is_stopped }
            }
            // What is mirrored back inside leaves somewhere else, much as it would have here.
            None => Crossing {
                place: left,
                direction: optics::reflected(inside, normal),
                length: 2.0 * length,
                part: 0.9,
                is_stopped,
            },
        }
    }

    /// The pixel of a place, if there is one.
    pub fn pixel(&self, place: Vec3) -> Option<(usize, usize)> {
        let turned = self.view.turned(place);
        let pixel = self.view.pixel(turned);
        let is_one = turned.z > self.view.near
            && pixel.x >= 0.0
            && pixel.y >= 0.0
            && pixel.x < self.layer.size.width as f32
            && pixel.y < self.layer.size.height as f32;
        is_one.then_some((pixel.x as usize, pixel.y as usize))
    }
}
