//! A level set as a solid surface: each block that the surface passes is drawn as the pixels of its box, and each of these looks for a
//! change of sign along its line of sight.

use super::primitives::{Hit, Primitives};
use super::target::Target;
use super::view::{Ray, View};
use crate::error::Result;
use crate::march::{Block, Field};
use crate::shot::{Colouring, Volume};
use rayon::prelude::*;
use undine_core::glam::{DVec3, Vec2, Vec3};

/// The surface on which a volume has a value.
pub(super) struct Isosurface<'a> {
    field: Field<'a>,
    level: f32,
    colouring: &'a Colouring,
    /// The blocks that it passes.
    crossed: Vec<u32>,
}

impl<'a> Isosurface<'a> {
    pub fn of(volume: &'a Volume<'a>, level: f32, colouring: &'a Colouring) -> Result<Self> {
        let field = Field::new(volume)?;
        let crossed = (0..field.blocks.len())
            .filter(|&n| field.blocks[n].range[0] < level && field.blocks[n].range[1] >= level)
            .map(|n| n as u32)
            .collect();
        Ok(Self { field, level, colouring, crossed })
    }

    /// The depth at which a line of sight meets the surface in a block, and where that is [voxels from its corner].
    fn meet(&self, block: &Block, near: f32, eye: DVec3, ray: &Ray) -> Option<(f32, Vec3)> {
        let side = self.field.side() as f64;
        let corner = block.place.as_dvec3() * side;
        let origin = self.field.in_voxels(ray.origin, eye) - corner;
        let direction = self.field.along(ray.direction);
        // The part of the line in the block.
        let (mut from, mut until) = (f64::from(near), f64::INFINITY);
        for axis in 0..3 {
            let (origin, direction) = (origin[axis], direction[axis]);
            let (a, b) = (-origin / direction, (side - origin) / direction);
            // A line along a face gives no number, and is cut by the other axes.
            from = from.max(a.min(b));
            until = until.min(a.max(b));
        }
        if !(from < until && until.is_finite()) {
            return None;
        }
        // From the place where the line enters, all in short numbers.
        let entry = (origin + from * direction).as_vec3();
        let along = direction.as_vec3();
        let length = (until - from) as f32;
        let value = |t: f32| self.field.level(block, entry + t * along) - self.level;
        let count = (length * along.length() / 0.75).ceil().clamp(1.0, 64.0) as usize;
        let (mut low, mut at_low) = (0.0, value(0.0));
        for n in 1..=count {
            let (mut high, mut at_high) = (length * n as f32 / count as f32, 0.0);
            at_high += value(high);
            if (at_low > 0.0) != (at_high > 0.0) && at_low.is_finite() && at_high.is_finite() {
                // False position, with the weight of an end that stays halved (the Illinois method).
                let is_outside = at_low > 0.0;
                for _ in 0..8 {
                    let middle = low + (high - low) * at_low / (at_low - at_high);
                    let at = value(middle);
                    if (at > 0.0) == is_outside {
                        (low, at_low) = (middle, at);
                        at_high *= 0.5;
                    } else {
                        (high, at_high) = (middle, at);
                        at_low *= 0.5;
                    }
                }
                let found = 0.5 * (low + high);
                return Some(((from + f64::from(found)) as f32, entry + found * along));
            }
            (low, at_low) = (high, at_high);
        }
        None
    }
}

impl Primitives for Isosurface<'_> {
    fn len(&self) -> usize {
        self.crossed.len()
    }

    fn draw<T: Target>(&self, view: &View, _moment: f32, first: u32, target: &T) {
        let size = target.size();
        let limit = Vec2::new(size.width as f32, size.height as f32);
        let volume = self.field.volume;
        let side = self.field.side() as f64;
        self.crossed.par_iter().enumerate().for_each(|(n, &block)| {
            let block = &self.field.blocks[block as usize];
            // The pixels of its box; all of them, if the camera is within or beside it.
            let (mut low, mut high) = (limit, Vec2::ZERO);
            for corner in 0..8 {
                let far =
                    DVec3::new((corner & 1) as f64, (corner >> 1 & 1) as f64, (corner >> 2) as f64);
                let voxel = (block.place.as_dvec3() + far) * side + 0.5;
                let place = (volume.corner - view.eye + volume.edges * voxel).as_vec3();
                let turned = view.turned(place);
                if turned.z <= view.near {
                    (low, high) = (Vec2::ZERO, limit);
                    break;
                }
                let pixel = view.pixel(turned);
                (low, high) = (low.min(pixel), high.max(pixel));
            }
            let from = (low - 1.0).max(Vec2::ZERO);
            let to = (high + 1.0).min(limit - 1.0);
            if !(from.cmple(to).all()) {
                return;
            }
            for y in from.y as usize..=to.y as usize {
                for x in from.x as usize..=to.x as usize {
                    let ray = view.ray_through(x, y);
                    if let Some((depth, _)) = self.meet(block, view.near, view.eye, &ray) {
                        target.put(x, y, depth.max(view.near), first + n as u32);
                    }
                }
            }
        });
    }

    fn hit(&self, primitive: usize, view: &View, _moment: f32, ray: &Ray) -> Hit {
        let block = &self.field.blocks[self.crossed[primitive] as usize];
        let (depth, place) = self
            .meet(block, view.near, view.eye, ray)
            .unwrap_or((view.near, Vec3::splat(0.5 * self.field.side() as f32)));
        // A gradient is turned by the transpose of the map from metres to voxels.
        let rises = self.field.to_voxels.transpose() * self.field.gradient(block, place).as_dvec3();
        let normal = rises.as_vec3().normalize_or(-view.forward);
        let towards = normal.dot(ray.direction) <= 0.0;
        Hit {
            depth,
            normal: if towards { normal } else { -normal },
            colour: self.colouring.of(self.field.value(block, place)),
            velocity: Vec3::ZERO,
            tangent: None,
            is_lit: true,
        }
    }
}
