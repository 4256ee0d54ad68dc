//! Plain tables: points with named channels of any element type, and polygons between them.

use crate::error::{IoError, Result};
use std::borrow::Cow;
use std::collections::BTreeMap;
use undine_core::glam::{DVec3, Vec3};
use undine_core::mesh::{Polygons, Strands};

/// Channels by name, in the order of their names.
pub type Channels = BTreeMap<String, Values>;

/// The values of a channel, one for each element.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Numbers of 32 bits.
    F32(Vec<f32>),
    /// Numbers of 64 bits.
    F64(Vec<f64>),
    /// Whole numbers.
    I32(Vec<i32>),
    /// Whole numbers from 0 on.
    U32(Vec<u32>),
    /// Ids.
    U64(Vec<u64>),
    /// Vectors of 32 bits.
    Vec3(Vec<Vec3>),
    /// Vectors of 64 bits.
    DVec3(Vec<DVec3>),
}

impl Values {
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

    /// What they are, for messages.
    pub fn noun(&self) -> &'static str {
        match self {
            Self::F32(_) | Self::F64(_) => "numbers",
            Self::I32(_) | Self::U32(_) | Self::U64(_) => "whole numbers",
            Self::Vec3(_) | Self::DVec3(_) => "vectors",
        }
    }

    /// As numbers; `None` if they are vectors. Ids beyond 2⁵³ lose their last digits.
    pub fn numbers(&self) -> Option<Cow<'_, [f64]>> {
        Some(match self {
            Self::F64(values) => Cow::Borrowed(values),
            Self::F32(values) => values.iter().map(|&value| f64::from(value)).collect(),
            Self::I32(values) => values.iter().map(|&value| f64::from(value)).collect(),
            Self::U32(values) => values.iter().map(|&value| f64::from(value)).collect(),
            Self::U64(values) => values.iter().map(|&value| value as f64).collect(),
            Self::Vec3(_) | Self::DVec3(_) => return None,
        })
    }

    /// As vectors; `None` if they are numbers.
    pub fn vectors(&self) -> Option<Cow<'_, [DVec3]>> {
        match self {
            Self::DVec3(values) => Some(Cow::Borrowed(values)),
            Self::Vec3(values) => Some(values.iter().map(|value| value.as_dvec3()).collect()),
            _ => None,
        }
    }

    /// As ids: whole numbers that are not negative; `None` if they are anything else.
    pub fn ids(&self) -> Option<Cow<'_, [u64]>> {
        match self {
            Self::U64(values) => Some(Cow::Borrowed(values)),
            Self::U32(values) => Some(values.iter().map(|&value| u64::from(value)).collect()),
            Self::I32(values) => {
                let ids = values.iter().map(|&value| u64::try_from(value).ok());
                Some(Cow::Owned(ids.collect::<Option<_>>()?))
            }
            _ => None,
        }
    }

    /// The values of these elements, in this order.
    pub fn gathered(&self, order: &[u32]) -> Self {
        fn of<T: Copy>(values: &[T], order: &[u32]) -> Vec<T> {
            order.iter().map(|&element| values[element as usize]).collect()
        }
        match self {
            Self::F32(values) => Self::F32(of(values, order)),
            Self::F64(values) => Self::F64(of(values, order)),
            Self::I32(values) => Self::I32(of(values, order)),
            Self::U32(values) => Self::U32(of(values, order)),
            Self::U64(values) => Self::U64(of(values, order)),
            Self::Vec3(values) => Self::Vec3(of(values, order)),
            Self::DVec3(values) => Self::DVec3(of(values, order)),
        }
    }

    /// The first element that is not finite.
    pub fn first_not_finite(&self) -> Option<usize> {
        match self {
            Self::F32(values) => values.iter().position(|value| !value.is_finite()),
            Self::F64(values) => values.iter().position(|value| !value.is_finite()),
            Self::Vec3(values) => values.iter().position(|value| !value.is_finite()),
            Self::DVec3(values) => values.iter().position(|value| !value.is_finite()),
            Self::I32(_) | Self::U32(_) | Self::U64(_) => None,
        }
    }
}

/// With how many digits positions are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// Of 32 bits: what most programs read fastest, and many formats have nothing else.
    #[default]
    Single,
    /// Of 64 bits: exactly.
    Double,
}

/// Points with channels.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Points {
    /// Where each is [m].
    pub positions: Vec<DVec3>,
    /// What else is known of each.
    pub channels: Channels,
}

impl Points {
    /// Refuses positions that are no places, or so far away that numbers of this precision cannot say where.
    pub fn check_positions(&self, precision: Precision) -> Result<()> {
        let is_good = |place: &DVec3| match precision {
            Precision::Single => place.as_vec3().is_finite(),
            Precision::Double => place.is_finite(),
        };
        let Some(bad) = self.positions.iter().position(|place| !is_good(place)) else {
            return Ok(());
        };
        let [x, y, z] = self.positions[bad].to_array();
        Err(IoError::Unwritable {
            what: "a position".to_owned(),
            found: format!("point {bad} is at {x} {y} {z}"),
            wanted: "every coordinate must be a finite number that the format can hold".to_owned(),
        })
    }
}

/// Polygons with channels.
#[derive(Debug, Clone)]
pub struct Faces {
    /// The corners of each.
    pub polygons: Polygons,
    /// What else is known of each.
    pub channels: Channels,
}

/// Curves with channels. They run through the first of the points, curve after curve; points on none of them follow.
#[derive(Debug, Clone)]
pub struct Curves {
    /// The points of each.
    pub strands: Strands,
    /// What else is known of each.
    pub channels: Channels,
}

impl Curves {
    /// The two points of each edge, curve after curve; the edge that closes a curve is its last.
    pub fn edges(&self) -> Vec<[u32; 2]> {
        let mut edges = Vec::new();
        for curve in 0..self.strands.len() {
            let vertices = self.strands.vertices(curve);
            let count = self.strands.edges(curve).len();
            edges.extend(vertices.clone().take(count).map(|n| {
                let next = if n + 1 < vertices.end { n + 1 } else { vertices.start };
                [n as u32, next as u32]
            }));
        }
        edges
    }
}
