//! The points of a piece as a view sees them, each quantity in an array of its own, so that the processor works on several at once.

use super::Thinning;
use super::piece::MOST;
use crate::raster::view::View;
use crate::shot::{Places, PointChunk, Radii, Vectors};
use multiversion::multiversion;
use std::ops::Range;
use undine_core::glam::Vec3;

/// Points as a view sees them.
pub(super) struct Batch {
    /// Where they are: to the right, up and away [m].
    pub x: [f32; MOST],
    pub y: [f32; MOST],
    pub z: [f32; MOST],
    /// How large they are [m].
    pub radius: [f32; MOST],
    /// Their pixels.
    pub across: [f32; MOST],
    pub down: [f32; MOST],
    /// Pixels of a metre where they are.
    pub scale: [f32; MOST],
}

impl Batch {
    /// Of nothing.
    pub fn new() -> Self {
        let none = [0.0; MOST];
        Self { x: none, y: none, z: none, radius: none, across: none, down: none, scale: none }
    }

    /// Takes at most [`MOST`] points of a chunk, at a moment [s from the frame]: all, or some of them. Tells how many.
    pub fn take(
        &mut self,
        chunk: &PointChunk,
        range: Range<usize>,
        thinning: Thinning,
        view: &View,
        moment: f32,
    ) -> usize {
        let from = (range.start + thinning.first).min(range.end);
        take(self, chunk, from..range.end, thinning.every, view, moment)
    }
}

/// Without fused multiplication, so that the bytes are the same on every processor.
#[multiversion(targets("x86_64+avx2"))]
fn take(
    batch: &mut Batch,
    chunk: &PointChunk,
    range: Range<usize>,
    every: usize,
    view: &View,
    moment: f32,
) -> usize {
    let Batch { x, y, z, radius, across, down, scale } = batch;
    let count = range.len().div_ceil(every).min(MOST);
    let range = range.start..range.end.min(range.start + count * every);
    let (x, y, z) = (&mut x[..count], &mut y[..count], &mut z[..count]);

    // Where they are from the eye, in the axes of the world.
    match chunk.positions {
        Places::Offsets { corner, offsets } => {
            let corner = (corner - view.eye).as_vec3();
            for (n, offset) in offsets[range.clone()].iter().step_by(every).enumerate() {
                (x[n], y[n], z[n]) =
                    (corner.x + offset.x, corner.y + offset.y, corner.z + offset.z);
            }
        }
        Places::World(places) => {
            for (n, place) in places[range.clone()].iter().step_by(every).enumerate() {
                let away = *place - view.eye;
                (x[n], y[n], z[n]) = (away.x as f32, away.y as f32, away.z as f32);
            }
        }
    }
    if let (Some(velocities), true) = (chunk.velocities, moment != 0.0) {
        let mut push = |n: usize, velocity: Vec3| {
            let moment = if velocity.is_finite() { moment } else { 0.0 };
            let keep = |way: f32| if moment == 0.0 { 0.0 } else { moment * way };
            x[n] += keep(velocity.x);
            y[n] += keep(velocity.y);
            z[n] += keep(velocity.z);
        };
        match velocities {
            Vectors::Single(all) => {
                let some = all[range.clone()].iter().step_by(every);
                some.enumerate().for_each(|(n, v)| push(n, *v));
            }
            Vectors::Double(all) => {
                let some = all[range.clone()].iter().step_by(every);
                some.enumerate().for_each(|(n, v)| push(n, v.as_vec3()));
            }
        }
    }
    match chunk.radii {
        Radii::Same(_) => radius[..count].fill(chunk.radii.at(range.start)),
        Radii::Each(_) => {
            let some = radius[..count].iter_mut().zip(range.step_by(every));
            some.for_each(|(to, n)| *to = chunk.radii.at(n));
        }
    }

    // Along the axes of the view, and onto pixels.
    let (across, down, scale) = (&mut across[..count], &mut down[..count], &mut scale[..count]);
    for n in 0..count {
        let turned = view.turned(Vec3::new(x[n], y[n], z[n]));
        (x[n], y[n], z[n]) = (turned.x, turned.y, turned.z);
        scale[n] = view.pixels_per_metre(turned.z);
        across[n] = view.centre.x + scale[n] * turned.x;
        down[n] = view.centre.y - scale[n] * turned.y;
    }
    count
}
