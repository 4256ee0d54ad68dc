//! The search for overlapping boxes, Bucket by Bucket, over all threads.

use super::flat::Flat;
use super::layer::{Lattice, Layer};
use crate::error::Result;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use undine_core::glam::IVec3;
use undine_core::mesh::Bounds;
use undine_core::{Frame, MemoryBudget};

/// What `make` makes of each pair of a box of `first` and one of `second` that overlap or touch, by their numbers; nothing
/// where it returns nothing.
///
/// Each pair once, in an order by Buckets that depends on the boxes only. Memory is that of the boxes, and of the pairs
/// that are kept; those are refused when they would pass the budget.
pub fn overlapping<T: Copy + Send + Sync>(
    frame: Frame,
    first: &[Bounds],
    second: &[Bounds],
    budget: &MemoryBudget,
    make: impl Fn(u32, u32) -> Option<T> + Sync,
) -> Result<Vec<T>> {
    let lattice = Lattice::new(frame);
    check(lattice, &[first, second], budget)?;
    let least = lattice.usual_level(first).max(lattice.usual_level(second));
    let Some(from) = first.first().map(|bounds| bounds.min) else { return Ok(Vec::new()) };
    let layers = |boxes: &[Bounds]| lattice.layers(boxes, least, from);
    let (first, second) = (layers(first), layers(second));
    let kept = Kept::new(budget);
    let mut found = Vec::new();
    // The finer box looks for the coarser; of equals, the first set's.
    for a in &first {
        for b in second.iter().filter(|b| b.level >= a.level) {
            found.push(kept.search(lattice, [a, b], false, &make)?);
        }
    }
    let swapped = |b: u32, a: u32| make(a, b);
    for b in &second {
        for a in first.iter().filter(|a| a.level > b.level) {
            found.push(kept.search(lattice, [b, a], false, swapped)?);
        }
    }
    Ok(found.concat())
}

/// What `make` makes of each two boxes, the lower number first, that overlap or touch; as [`overlapping`] does.
pub fn overlapping_self<T: Copy + Send + Sync>(
    frame: Frame,
    boxes: &[Bounds],
    budget: &MemoryBudget,
    make: impl Fn(u32, u32) -> Option<T> + Sync,
) -> Result<Vec<T>> {
    overlapping_self_part(frame, boxes, (0, 1), budget, make)
}

/// One of several parts of what [`overlapping_self`] finds, which processes that all have the boxes look for, each for its own: the number of
/// the part, from 0, and how many there are. All parts together have each pair once.
pub fn overlapping_self_part<T: Copy + Send + Sync>(
    frame: Frame,
    boxes: &[Bounds],
    part: (usize, usize),
    budget: &MemoryBudget,
    make: impl Fn(u32, u32) -> Option<T> + Sync,
) -> Result<Vec<T>> {
    let lattice = Lattice::new(frame);
    check(lattice, &[boxes], budget)?;
    let Some(from) = boxes.first().map(|bounds| bounds.min) else { return Ok(Vec::new()) };
    let layers = lattice.layers(boxes, lattice.usual_level(boxes), from);
    let ordered = |a: u32, b: u32| make(a.min(b), a.max(b));
    let kept = Kept::new(budget);
    let mut found = Vec::new();
    for a in &layers {
        for b in layers.iter().filter(|b| b.level >= a.level) {
            found.push(kept.search_part(lattice, [a, b], a.level == b.level, part, ordered)?);
        }
    }
    Ok(found.concat())
}

/// Refuses bad boxes, and boxes whose tables would pass the budget.
fn check(lattice: Lattice, sets: &[&[Bounds]], budget: &MemoryBudget) -> Result<()> {
    for boxes in sets {
        // Keys, numbers, copies of boxes in both precisions and, at worst, a Bucket for each.
        let of_boxes = 2 * size_of::<Bounds>() + size_of::<Flat>();
        let each = 16 + 4 + of_boxes + size_of::<IVec3>() + size_of::<usize>();
        budget.check("the broad phase", (boxes.len() * each) as u64)?;
        lattice.check(boxes)?;
    }
    Ok(())
}

/// Counts what is kept, so that a search ends as soon as it would pass the budget.
struct Kept<'a> {
    budget: &'a MemoryBudget,
    bytes: AtomicU64,
}

/// So many Buckets that a task is long against its scheduling, and short against the whole.
const CHUNK: usize = 8;

/// Pairs that a task finds between two looks at the account, which all tasks share.
const UNCOUNTED: usize = 4096;

impl<'a> Kept<'a> {
    fn new(budget: &'a MemoryBudget) -> Self {
        Self { budget, bytes: AtomicU64::new(0) }
    }

    /// Adds to the account. Vectors grow by doubling, and parts are put together at the end: at most three times the
    /// pairs' own memory is held.
    fn count<T>(&self, pairs: usize) -> Result<()> {
        let more = (3 * pairs * size_of::<T>()) as u64;
        let all = self.bytes.fetch_add(more, Ordering::Relaxed) + more;
        Ok(self.budget.check("the candidate pairs of the broad phase", all)?)
    }

    /// The pairs of a box of the first layer and one of the second, which is coarser or as fine; `same` if both are the
    /// same layer.
    fn search<T: Copy + Send + Sync>(
        &self,
        lattice: Lattice,
        layers: [&Layer; 2],
        same: bool,
        make: impl Fn(u32, u32) -> Option<T> + Sync,
    ) -> Result<Vec<T>> {
        self.search_part(lattice, layers, same, (0, 1), make)
    }

    /// The same of one of several parts of the first layer's Buckets.
    fn search_part<T: Copy + Send + Sync>(
        &self,
        lattice: Lattice,
        [fine, coarse]: [&Layer; 2],
        same: bool,
        (part, parts): (usize, usize),
        make: impl Fn(u32, u32) -> Option<T> + Sync,
    ) -> Result<Vec<T>> {
        let chunks = fine.cells.len().div_ceil(CHUNK);
        let in_chunk = |chunk: usize| {
            let (mut found, mut counted) = (Vec::new(), 0);
            for cell in chunk * CHUNK..fine.cells.len().min((chunk + 1) * CHUNK) {
                let around = fine.around[cell];
                let low = lattice.cell(around.min, coarse.level) - 1;
                let high = lattice.cell(around.max, coarse.level);
                // Of two Buckets of one layer, the earlier looks into the later.
                let first = if same { cell } else { 0 };
                for other in coarse.runs(low, high).filter(|&other| other >= first) {
                    if overlap(&around, &coarse.around[other]) {
                        let found = (&mut found, &mut counted);
                        self.in_buckets([fine, coarse], [cell, other], same, &make, found)?;
                    }
                }
            }
            self.count::<T>(found.len() - counted)?;
            Ok(found)
        };
        // Chunks go round: those of a crowded place to all.
        let mine: Vec<usize> = (part..chunks).step_by(parts.max(1)).collect();
        let found: Result<Vec<Vec<T>>> = mine.into_par_iter().map(in_chunk).collect();
        Ok(found?.concat())
    }

    /// The pairs of a box in one Bucket and one in another. They are counted box by box, because one Bucket may hold more
    /// pairs than there is memory for.
    fn in_buckets<T>(
        &self,
        [fine, coarse]: [&Layer; 2],
        [cell, other]: [usize; 2],
        same: bool,
        make: impl Fn(u32, u32) -> Option<T>,
        (found, counted): (&mut Vec<T>, &mut usize),
    ) -> Result<()> {
        let others = coarse.around[other];
        for a in fine.places(cell).filter(|&a| overlap(&fine.boxes[a], &others)) {
            let mut places = coarse.places(other);
            if same && cell == other {
                places.start = a + 1;
            }
            // Most boxes that are compared do not overlap, which is told faster in single precision.
            let (own, flat) = (&fine.boxes[a], fine.flat[a]);
            for b in places {
                if flat.meets(&coarse.flat[b]) && overlap(own, &coarse.boxes[b]) {
                    found.extend(make(fine.members[a], coarse.members[b]));
                }
            }
            if found.len() - *counted >= UNCOUNTED {
                self.count::<T>(found.len() - *counted)?;
                *counted = found.len();
            }
        }
        Ok(())
    }
}

#[inline]
fn overlap(a: &Bounds, b: &Bounds) -> bool {
    // Without a branch per axis: most boxes that are compared do not overlap, along any of them.
    let along = |a: [f64; 2], b: [f64; 2]| (a[0] <= b[1]) & (b[0] <= a[1]);
    along([a.min.x, a.max.x], [b.min.x, b.max.x])
        & along([a.min.y, a.max.y], [b.min.y, b.max.y])
        & along([a.min.z, a.max.z], [b.min.z, b.max.z])
}
