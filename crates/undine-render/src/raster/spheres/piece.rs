//! Pieces of points that are drawn together, each with a box around it: what is out of sight is skipped whole, and so is what is
//! behind nearer things (occlusion culling after Greene, Kass & Miller, *Hierarchical Z-buffer visibility*, 1993).

use crate::raster::target::{Rectangle, Target};
use crate::raster::view::View;
use crate::shot::{PointChunk, Radii};
use undine_core::glam::{DVec3, Vec2, Vec3};
use undine_core::mesh::Bounds;

/// The most points in a piece: as many as fit into the first-level cache with all that is made of them.
pub(super) const MOST: usize = 256;

/// Some successive points of a chunk.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    /// Which chunk they are of.
    pub chunk: u32,
    /// The first of them, in the chunk.
    pub from: u32,
    /// How many they are.
    pub count: u32,
    /// The largest radius [m].
    radius: f32,
    /// The greatest speed [m/s].
    speed: f32,
    /// From the middle of the box around those that are finite to its sides [m].
    half: Vec3,
    /// That middle, in the world [m].
    middle: DVec3,
}

/// The part of a picture that a piece may be seen in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Footprint {
    /// Nothing of it is nearer [m].
    pub near: f32,
    /// Nothing of it is outside of these pixels.
    pub pixels: Rectangle,
}

impl Piece {
    /// Of some points of a chunk; none if none of them is anywhere.
    pub fn of(chunk: &PointChunk, number: u32, from: usize, count: usize) -> Option<Self> {
        let range = from..from + count;
        let places = range.clone().map(|n| chunk.positions.at(n));
        let bounds = Bounds::around(places.filter(|place| place.is_finite()))?;
        let radius = match chunk.radii {
            Radii::Same(_) => chunk.radii.at(from),
            Radii::Each(_) => range.clone().map(|n| chunk.radii.at(n)).fold(0.0, f32::max),
        };
        let fastest = chunk.velocities.map_or(0.0, |velocities| {
            range.map(|n| velocities.at(n).length_squared()).fold(0.0, f32::max)
        });
        Some(Self {
            chunk: number,
            from: from as u32,
            count: count as u32,
            radius,
            speed: fastest.sqrt(),
            // Rounding to 32 bits must not make the box smaller.
            half: (0.5 * bounds.size()).as_vec3() * (1.0 + 1e-6),
            middle: bounds.centre(),
        })
    }

    /// The largest radius in an orthographic view [pixels].
    pub fn pixels(&self, view: &View) -> f32 {
        self.radius * view.scale
    }

    /// Where in a view it may be seen at a moment [s from the frame]; none if nowhere.
    pub fn footprint(&self, view: &View, moment: f32) -> Option<Footprint> {
        let middle = view.turned((self.middle - view.eye).as_vec3());
        let reach = self.radius + moment.abs() * self.speed;
        let extent =
            [view.right, view.up, view.forward].map(|axis| axis.abs().dot(self.half) + reach);
        // What is rounded on the way is less than a hundred thousandth of where it is.
        let extent = Vec3::from(extent) + 1e-5 * middle.length();
        let (low, high) = (middle - extent, middle + extent);
        let all = Rectangle::whole(view.size);
        if !(low.is_finite() && high.is_finite()) {
            return Some(Footprint { near: 0.0, pixels: all });
        }
        if high.z <= view.near {
            return None;
        }
        if low.z <= view.near {
            return Some(Footprint { near: 0.0, pixels: all });
        }
        // What is aside of the axis is farther aside in the picture where it is nearer.
        let (nearest, farthest) = (view.pixels_per_metre(low.z), view.pixels_per_metre(high.z));
        let least = |at: f32| at * if at < 0.0 { nearest } else { farthest };
        let most = |at: f32| at * if at < 0.0 { farthest } else { nearest };
        let from = Vec2::new(view.centre.x + least(low.x), view.centre.y - most(high.y));
        let to = Vec2::new(view.centre.x + most(high.x), view.centre.y - least(low.y));
        // A point that is smaller than a pixel has a whole one.
        let pixels = Rectangle::around(from - 1.0, to + 1.0, view.size);
        (!pixels.is_empty()).then_some(Footprint { near: low.z, pixels })
    }

    /// Whether all of it is behind what is drawn already. To ask is worth it only where it takes less than to draw.
    pub fn is_hidden<T: Target>(&self, footprint: &Footprint, view: &View, target: &T) -> bool {
        let Footprint { near, pixels } = footprint;
        let radius = self.radius * view.pixels_per_metre(*near);
        let to_draw = self.count as f32 * (16.0 + radius * radius);
        pixels.count() as f32 <= to_draw && target.is_nearer(pixels, *near)
    }
}
