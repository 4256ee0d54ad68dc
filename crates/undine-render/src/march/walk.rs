//! A line through the blocks of a sparse volume: those that hold something, one after another.

use super::field::{Block, Field};
use super::tree::Found;
use undine_core::glam::{DVec3, I64Vec3, Vec3};

/// A line through a volume: all `origin + t · direction` [voxels].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line {
    pub origin: DVec3,
    pub direction: DVec3,
}

/// A part of a line within one block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    /// The number of the block.
    pub block: usize,
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// The place in the block at `from` [voxels from its corner].
    pub entry: Vec3,
}

/// A walk along a line.
pub(crate) struct Walk {
    line: Line,
    at: f64,
    until: f64,
    /// The block that is next.
    place: I64Vec3,
}

impl Walk {
    /// From one place of a line to another.
    pub fn new(field: &Field<'_>, line: Line, from: f64, until: f64) -> Self {
        let (base, side) = field.tree.root();
        let size = field.side() as f64;
        let nowhere = Self { line, at: 1.0, until: 0.0, place: base };
        if side == 0 || !line.origin.is_finite() || !line.direction.is_finite() {
            return nowhere;
        }
        // Cut to the root's cube.
        let (low, high) = (base.as_dvec3() * size, (base + side).as_dvec3() * size);
        let (mut from, mut until) = (from, until);
        for axis in 0..3 {
            let (origin, direction) = (line.origin[axis], line.direction[axis]);
            if direction == 0.0 {
                if origin < low[axis] || origin >= high[axis] {
                    return nowhere;
                }
                continue;
            }
            let (a, b) = ((low[axis] - origin) / direction, (high[axis] - origin) / direction);
            from = from.max(a.min(b));
            until = until.min(a.max(b));
        }
        if from >= until || from.is_nan() || until.is_nan() {
            return nowhere;
        }
        let place = ((line.origin + from * line.direction) / size).floor().as_i64vec3();
        Self { line, at: from, until, place: place.clamp(base, base + (side - 1)) }
    }

    /// Whether there is nothing on the way.
    pub fn is_over(&self) -> bool {
        self.at >= self.until
    }

    /// The next piece in a block that some test holds for.
    #[inline]
    pub fn next(&mut self, field: &Field<'_>, wanted: impl Fn(&Block) -> bool) -> Option<Piece> {
        let size = field.side() as f64;
        while self.at < self.until {
            let found = field.tree.find(self.place);
            let (cube, side) = match found {
                Found::Block(_) => (self.place, 1),
                Found::Empty(0) => return None,
                Found::Empty(side) => (field.tree.cube(self.place, side), side),
            };
            // Where the line leaves the cube, and through which of its faces.
            let (low, high) = (cube.as_dvec3() * size, (cube + side).as_dvec3() * size);
            let (mut leave, mut axis) = (f64::INFINITY, 0);
            for n in 0..3 {
                let direction = self.line.direction[n];
                if direction != 0.0 {
                    let face = if direction > 0.0 { high[n] } else { low[n] };
                    let t = (face - self.line.origin[n]) / direction;
                    if t < leave {
                        (leave, axis) = (t, n);
                    }
                }
            }
            if leave == f64::INFINITY {
                leave = self.until;
            }
            let from = self.at;
            let to = leave.min(self.until).max(from);
            let place = (self.line.origin + leave * self.line.direction) / size;
            let mut next = place.floor().as_i64vec3().clamp(cube, cube + (side - 1));
            next[axis] =
                if self.line.direction[axis] > 0.0 { cube[axis] + side } else { cube[axis] - 1 };
            (self.at, self.place) = (leave.max(from), next);
            if leave >= self.until {
                self.at = self.until;
            }
            if let Found::Block(block) = found
                && to > from
                && wanted(&field.blocks[block])
            {
                let entry = (self.line.origin + from * self.line.direction - low).as_vec3();
                return Some(Piece { block, from, to, entry });
            }
        }
        None
    }
}
