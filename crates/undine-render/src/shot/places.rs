//! Places and vectors as their owners keep them: borrowed, and read one at a time.

use super::bounds_of;
use rayon::prelude::*;
use undine_core::glam::{DVec3, Vec3};
use undine_core::mesh::Bounds;

/// Places, as their owner keeps them.
#[derive(Debug, Clone, Copy)]
pub enum Places<'a> {
    /// Offsets from a corner in the world, such as that of a Bucket [m].
    Offsets {
        /// The corner.
        corner: DVec3,
        /// Offsets from it.
        offsets: &'a [Vec3],
    },
    /// Places in the world [m].
    World(&'a [DVec3]),
}

impl Places<'_> {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Offsets { offsets, .. } => offsets.len(),
            Self::World(places) => places.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them, in the world [m].
    #[inline(always)]
    pub fn at(&self, n: usize) -> DVec3 {
        match self {
            Self::Offsets { corner, offsets } => *corner + offsets[n].as_dvec3(),
            Self::World(places) => places[n],
        }
    }

    /// One of them, seen from an eye [m]: small where it matters, however far both are from the origin.
    #[inline(always)]
    pub fn from_eye(&self, n: usize, eye: DVec3) -> Vec3 {
        match self {
            Self::Offsets { corner, offsets } => (*corner - eye).as_vec3() + offsets[n],
            Self::World(places) => (places[n] - eye).as_vec3(),
        }
    }

    /// The box around those that are finite.
    pub fn bounds(&self) -> Option<Bounds> {
        const PIECE: usize = 1 << 14;
        match self {
            Self::Offsets { corner, offsets } => {
                bounds_of(offsets.iter().map(|offset| *corner + offset.as_dvec3()))
            }
            // Boxes come out the same in any order.
            Self::World(places) => places
                .par_chunks(PIECE)
                .filter_map(|piece| bounds_of(piece.iter().copied()))
                .reduce_with(Bounds::union),
        }
    }
}

/// Vectors, as their owner keeps them.
#[derive(Debug, Clone, Copy)]
pub enum Vectors<'a> {
    /// Of 32 bits.
    Single(&'a [Vec3]),
    /// Of 64 bits.
    Double(&'a [DVec3]),
}

impl Vectors<'_> {
    /// One of them; nothing that is not finite.
    #[inline(always)]
    pub fn at(&self, n: usize) -> Vec3 {
        let vector = match self {
            Self::Single(vectors) => vectors[n],
            Self::Double(vectors) => vectors[n].as_vec3(),
        };
        if vector.is_finite() { vector } else { Vec3::ZERO }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Single(vectors) => vectors.len(),
            Self::Double(vectors) => vectors.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
