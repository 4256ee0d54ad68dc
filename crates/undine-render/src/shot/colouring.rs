//! What colours a Subject: one colour, or a channel through a colour map.

use crate::colour_map::ColourMap;
use undine_core::glam::{DVec3, Vec3};

/// The values of a channel as its owner keeps them. Vectors count by their length.
#[derive(Debug, Clone, Copy)]
pub enum Numbers<'a> {
    /// Of 32 bits.
    F32(&'a [f32]),
    /// Of 64 bits.
    F64(&'a [f64]),
    /// Whole numbers.
    I32(&'a [i32]),
    /// Whole numbers from 0 on.
    U32(&'a [u32]),
    /// Ids.
    U64(&'a [u64]),
    /// Vectors of 32 bits.
    Vec3(&'a [Vec3]),
    /// Vectors of 64 bits.
    DVec3(&'a [DVec3]),
}

impl Numbers<'_> {
    /// One of them.
    #[inline(always)]
    pub fn at(&self, n: usize) -> f32 {
        match self {
            Self::F32(values) => values[n],
            Self::F64(values) => values[n] as f32,
            Self::I32(values) => values[n] as f32,
            Self::U32(values) => values[n] as f32,
            Self::U64(values) => values[n] as f32,
            Self::Vec3(values) => values[n].length(),
            Self::DVec3(values) => values[n].length() as f32,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::I32(values) => values.len(),
            Self::U32(values) => values.len(),
            Self::U64(values) => values.len(),
            Self::Vec3(values) => values.len(),
            Self::DVec3(values) => values.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What colours a Subject.
#[derive(Debug, Clone)]
pub enum Colouring {
    /// One colour, linear.
    Plain(Vec3),
    /// A channel, through a map: `low` has its first colour and `high` its last.
    Mapped {
        /// The map.
        map: ColourMap,
        /// What is at the beginning of the map.
        low: f32,
        /// What is at its end.
        high: f32,
    },
}

impl Colouring {
    /// The colour of a value; of the Subject, if it has none.
    #[inline(always)]
    pub fn of(&self, value: Option<f32>) -> Vec3 {
        match self {
            Self::Plain(colour) => *colour,
            Self::Mapped { map, low, high } => {
                let value = value.unwrap_or(f32::NAN);
                let extent = high - low;
                map.at(if extent > 0.0 { (value - low) / extent } else { 0.5 })
            }
        }
    }
}
