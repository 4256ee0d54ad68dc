//! A table of points in pieces, as a Particle System has them, so that all threads have work.

use std::ops::Range;
use undine_io::Values;
use undine_render::shot::{Numbers, Places, PointChunk, Radii, Vectors};

/// How many points a piece has.
const PIECE: usize = 1 << 14;

/// A table in pieces.
pub fn pieces(chunk: PointChunk<'_>) -> Vec<PointChunk<'_>> {
    let count = chunk.positions.len();
    let ranges = (0..count).step_by(PIECE).map(|from| from..(from + PIECE).min(count));
    ranges.map(|range| piece(&chunk, range)).collect()
}

fn piece<'a>(chunk: &PointChunk<'a>, range: Range<usize>) -> PointChunk<'a> {
    PointChunk {
        positions: match chunk.positions {
            Places::World(places) => Places::World(&places[range.clone()]),
            Places::Offsets { corner, offsets } => {
                Places::Offsets { corner, offsets: &offsets[range.clone()] }
            }
        },
        radii: match chunk.radii {
            Radii::Each(radii) => Radii::Each(part(radii, range.clone())),
            same => same,
        },
        velocities: chunk.velocities.map(|velocities| match velocities {
            Vectors::Single(values) => Vectors::Single(&values[range.clone()]),
            Vectors::Double(values) => Vectors::Double(&values[range.clone()]),
        }),
        values: chunk.values.map(|values| part(values, range)),
    }
}

fn part(numbers: Numbers<'_>, range: Range<usize>) -> Numbers<'_> {
    match numbers {
        Numbers::F32(values) => Numbers::F32(&values[range]),
        Numbers::F64(values) => Numbers::F64(&values[range]),
        Numbers::I32(values) => Numbers::I32(&values[range]),
        Numbers::U32(values) => Numbers::U32(&values[range]),
        Numbers::U64(values) => Numbers::U64(&values[range]),
        Numbers::Vec3(values) => Numbers::Vec3(&values[range]),
        Numbers::DVec3(values) => Numbers::DVec3(&values[range]),
    }
}

/// The values of a channel, borrowed.
pub fn numbers(values: &Values) -> Numbers<'_> {
    match values {
        Values::F32(values) => Numbers::F32(values),
        Values::F64(values) => Numbers::F64(values),
        Values::I32(values) => Numbers::I32(values),
        Values::U32(values) => Numbers::U32(values),
        Values::U64(values) => Numbers::U64(values),
        Values::Vec3(values) => Numbers::Vec3(values),
        Values::DVec3(values) => Numbers::DVec3(values),
    }
}
