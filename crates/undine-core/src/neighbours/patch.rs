//! The particles of a Bucket and of the layer of cells around it, gathered by cell.

use super::candidates::LANES;
use super::cells::{Cells, Sorted};
use super::neighbour::Neighbour;
use crate::access::ParticleNeighbourhood;
use crate::domain::offset_towards;
use glam::Vec3;
use std::ops::Range;

/// The particles in the cells of a Bucket and one cell beyond on each side.
///
/// Cells are numbered x slowest, z fastest, from 0 (beyond the Bucket) to `edge + 1` (beyond the
/// other side). Offsets are from the corner of the particle's own Bucket.
#[derive(Debug, Default)]
pub(super) struct Patch {
    /// Where the particles of each cell begin, and one end more.
    starts: Vec<u32>,
    /// Offsets [m], by axis.
    pub offsets: [Vec<f32>; 3],
    /// Which particles they are.
    pub who: Vec<Neighbour>,
    edge: usize,
}

impl Patch {
    /// Gathers the particles around a Bucket. `sorted` gives the particles of a slot by cell, if they
    /// have been sorted.
    pub fn gather<'s>(
        &mut self,
        cells: &Cells,
        positions: &ParticleNeighbourhood<'_, Vec3>,
        sorted: impl Fn(u32) -> Option<&'s Sorted>,
    ) {
        self.edge = cells.edge + 2;
        self.starts.clear();
        self.starts.resize(self.edge.pow(3) + 1, 0);

        // Count, so that each start becomes its cell's end.
        for direction in 0..27 {
            let chunk = positions.towards(direction);
            if chunk.is_empty() {
                continue;
            }
            let layer = Layer::of(cells, direction);
            match sorted(positions.slot_towards(direction)) {
                Some(sorted) => layer.each_row(|from, to, len| {
                    for cell in 0..len {
                        self.starts[to + cell] +=
                            sorted.starts[from + cell + 1] - sorted.starts[from + cell];
                    }
                }),
                None => layer.each_particle(cells, chunk, |to, _| self.starts[to] += 1),
            }
        }
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }

        // Fill each cell from its end, so that in the end each start is one again. A block more lets
        // readers copy whole blocks.
        let len = end as usize + LANES;
        self.offsets.iter_mut().for_each(|axis| axis.resize(len, 0.0));
        self.who.resize(len, Neighbour::default());
        let [xs, ys, zs] = &mut self.offsets;
        for direction in 0..27 {
            let chunk = positions.towards(direction);
            if chunk.is_empty() {
                continue;
            }
            let (starts, who) = (&mut self.starts, &mut self.who);
            let mut put = |at: usize, place: u32| {
                let offset = chunk[place as usize];
                (xs[at], ys[at], zs[at]) = (offset.x, offset.y, offset.z);
                who[at] = Neighbour::new(direction, place);
            };
            let layer = Layer::of(cells, direction);
            match sorted(positions.slot_towards(direction)) {
                Some(sorted) => layer.each_row(|from, to, len| {
                    for cell in 0..len {
                        let places = sorted.cell(from + cell);
                        starts[to + cell] -= places.len() as u32;
                        let first = starts[to + cell] as usize;
                        places.iter().enumerate().for_each(|(n, &place)| put(first + n, place));
                    }
                }),
                None => layer.each_particle(cells, chunk, |to, place| {
                    starts[to] -= 1;
                    put(starts[to] as usize, place);
                }),
            }
        }
    }

    /// Cells along an axis, with those beyond the Bucket.
    pub fn edge(&self) -> usize {
        self.edge
    }

    /// The particles of a cell.
    pub fn cell(&self, x: usize, y: usize, z: usize) -> Range<usize> {
        self.row(x, y, z..z + 1)
    }

    /// The particles of cells that lie in a row along z.
    #[inline]
    pub fn row(&self, x: usize, y: usize, z: Range<usize>) -> Range<usize> {
        let row = (x * self.edge + y) * self.edge;
        self.starts[row + z.start] as usize..self.starts[row + z.end] as usize
    }
}

/// The cells of the Bucket in some direction that belong to the patch.
struct Layer {
    /// In their own Bucket.
    from: [Range<usize>; 3],
    /// What to add to have them in the patch.
    shift: [isize; 3],
    edge: usize,
}

impl Layer {
    fn of(cells: &Cells, direction: usize) -> Self {
        let edge = cells.edge;
        let steps = offset_towards(direction).to_array();
        let from = steps.map(|step| match step {
            -1 => edge - 1..edge,
            0 => 0..edge,
            _ => 0..1,
        });
        Self { from, shift: steps.map(|step| 1 + step as isize * edge as isize), edge }
    }

    fn in_patch(&self, cell: [usize; 3]) -> usize {
        let [x, y, z]: [usize; 3] =
            std::array::from_fn(|axis| cell[axis].wrapping_add_signed(self.shift[axis]));
        (x * (self.edge + 2) + y) * (self.edge + 2) + z
    }

    /// Calls `visit` with each row of cells along z: the first in its Bucket, in the patch, and how many.
    fn each_row(&self, mut visit: impl FnMut(usize, usize, usize)) {
        let [xs, ys, zs] = self.from.clone();
        for x in xs {
            for y in ys.clone() {
                let first = (x * self.edge + y) * self.edge + zs.start;
                visit(first, self.in_patch([x, y, zs.start]), zs.len());
            }
        }
    }

    /// Calls `visit` with the cell in the patch and the place of each particle that is in the layer,
    /// from the last to the first.
    fn each_particle(&self, cells: &Cells, chunk: &[Vec3], mut visit: impl FnMut(usize, u32)) {
        for (place, &offset) in chunk.iter().enumerate().rev() {
            let cell = cells.of(offset);
            if (0..3).all(|axis| self.from[axis].contains(&cell[axis])) {
                visit(self.in_patch(cell), place as u32);
            }
        }
    }
}
