//! Points, each a sphere: in chunks, as Particle Systems keep them, or as one table.

use super::{Colouring, Numbers, Places, Vectors};
use rayon::prelude::*;
use undine_core::mesh::Bounds;

/// How large points are.
#[derive(Debug, Clone, Copy)]
pub enum Radii<'a> {
    /// All the same [m].
    Same(f32),
    /// Each its own [m].
    Each(Numbers<'a>),
}

impl Radii<'_> {
    /// That of a point [m]: never negative, and nothing that is no number.
    #[inline(always)]
    pub fn at(&self, n: usize) -> f32 {
        let radius = match self {
            Self::Same(radius) => *radius,
            Self::Each(radii) => radii.at(n),
        };
        if radius.is_finite() { radius.max(0.0) } else { 0.0 }
    }
}

impl Radii<'_> {
    /// The largest of them [m].
    pub fn largest(&self) -> f32 {
        match self {
            Self::Same(_) => self.at(0),
            Self::Each(radii) => (0..radii.len()).map(|n| self.at(n)).fold(0.0, f32::max),
        }
    }
}

/// Some of the points.
#[derive(Debug, Clone, Copy)]
pub struct PointChunk<'a> {
    /// Where they are.
    pub positions: Places<'a>,
    /// How large they are.
    pub radii: Radii<'a>,
    /// How fast they are [m/s].
    pub velocities: Option<Vectors<'a>>,
    /// What colours them.
    pub values: Option<Numbers<'a>>,
}

/// Points, each a sphere.
#[derive(Debug, Clone)]
pub struct Points<'a> {
    /// All of them, chunk after chunk.
    pub chunks: Vec<PointChunk<'a>>,
    /// What colours them.
    pub colouring: Colouring,
}

impl Points<'_> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.positions.len()).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.chunks.iter().all(|chunk| chunk.positions.is_empty())
    }

    /// The box around the middles of those that are finite.
    pub fn bounds(&self) -> Option<Bounds> {
        // Boxes come out the same in any order.
        let boxes = self.chunks.par_iter().filter_map(|chunk| chunk.positions.bounds());
        boxes.reduce_with(Bounds::union)
    }
}
