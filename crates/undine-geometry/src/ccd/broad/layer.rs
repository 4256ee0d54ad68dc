//! Boxes by Bucket, on one level.

use super::flat::Flat;
use crate::error::{GeometryError, Result};
use rayon::prelude::*;
use undine_core::Frame;
use undine_core::domain::{MAX_LEVEL, VOXELS_PER_BUCKET};
use undine_core::glam::{DVec3, IVec3};
use undine_core::mesh::Bounds;

/// The finest level here, so many below the Domain's finest.
const FINEST: i32 = -10;

/// Bits per axis of a coordinate on the finest level.
const BITS: u32 = 30;

/// A box may be wider than its Bucket by rounding; this leaves room for it.
const SNUG: f64 = 1.0 - 1e-6;

/// The boxes of one level, sorted by Bucket.
pub(super) struct Layer {
    pub level: i32,
    /// The Buckets that have boxes, in order of x, then y, then z.
    pub cells: Vec<IVec3>,
    /// Where the boxes of each Bucket begin among the members; one more than there are Buckets.
    pub offsets: Vec<usize>,
    /// The boxes' numbers, Bucket after Bucket, and by number in each.
    pub members: Vec<u32>,
    /// The boxes themselves, in the same order.
    pub boxes: Vec<Bounds>,
    /// The same in single precision, as seen from one place.
    pub flat: Vec<Flat>,
    /// The box around all boxes of each Bucket.
    pub around: Vec<Bounds>,
}

/// The lattice in the world, with levels below the Domain's.
#[derive(Clone, Copy)]
pub(super) struct Lattice {
    frame: Frame,
}

impl Lattice {
    pub fn new(frame: Frame) -> Self {
        Self { frame }
    }

    fn size(self, level: i32) -> f64 {
        self.frame.voxel_size(0) * VOXELS_PER_BUCKET as f64 * 2.0_f64.powi(level)
    }

    /// The Bucket of a point. It grows with each coordinate, whatever rounding does.
    pub fn cell(self, at: DVec3, level: i32) -> IVec3 {
        ((at - self.frame.origin()) / self.size(level)).floor().as_ivec3()
    }

    /// The finest level, not below `least`, on which a box is narrower than a Bucket.
    fn level(self, bounds: &Bounds, least: i32) -> i32 {
        let extent = bounds.size().max_element();
        (least..i32::from(MAX_LEVEL))
            .find(|&l| extent <= self.size(l) * SNUG)
            .unwrap_or(MAX_LEVEL.into())
    }

    /// The level that suits most of some boxes: three quarters of a sample are narrower than its Buckets. Fewer levels
    /// are fewer places to look into, so that smaller boxes are put there too.
    pub fn usual_level(self, boxes: &[Bounds]) -> i32 {
        let every = (boxes.len() / 4096).max(1);
        let mut levels: Vec<i32> =
            boxes.iter().step_by(every).map(|b| self.level(b, FINEST)).collect();
        levels.sort_unstable();
        levels.get(levels.len() * 3 / 4).copied().unwrap_or(FINEST)
    }

    /// Refuses boxes that are none, or that no Bucket of the lattice holds.
    pub fn check(self, boxes: &[Bounds]) -> Result<()> {
        let good = |b: &Bounds| b.min.is_finite() && b.max.is_finite() && b.min.cmple(b.max).all();
        if let Some(number) = boxes.par_iter().position_first(|b| !good(b)) {
            let Bounds { min, max } = boxes[number];
            return Err(GeometryError::BadBox { number, min, max });
        }
        // Both corners have to lie on the coarsest level's lattice, and then they do on every level. If those of the box
        // around all do, nobody has to look for one that does not.
        let inside = |b: &Bounds| {
            let locate = |at| self.frame.locate(at, MAX_LEVEL, "the box of a moving primitive");
            locate(b.min).and_then(|_| locate(b.max)).map(|_| ())
        };
        let around = boxes.par_iter().copied().reduce_with(Bounds::union);
        if around.is_some_and(|around| inside(&around).is_err()) {
            boxes.iter().try_for_each(inside)?;
        }
        let narrow = |b: &Bounds| b.size().max_element() <= self.size(MAX_LEVEL.into()) * SNUG;
        if let Some(wide) = boxes.par_iter().find_first(|b| !narrow(b)) {
            return Err(GeometryError::BadParameter {
                what: "the widest side of the box of a moving primitive [m]",
                found: wide.size().max_element(),
                wanted: "less than the width of a Bucket of the coarsest level",
            });
        }
        Ok(())
    }

    /// Boxes that were checked, by level and Bucket; from the finest level, which is not below `least`. In single precision they are
    /// measured from a place [m] near them.
    pub fn layers(self, boxes: &[Bounds], least: i32, from: DVec3) -> Vec<Layer> {
        // Level, Bucket and number of a box in one integer that sorts in this order.
        let key = |(number, b): (usize, &Bounds)| {
            let level = self.level(b, least);
            let cell = (self.cell(b.min, level) + IVec3::splat(1 << (BITS - 1))).as_uvec3();
            let axes = [cell.x, cell.y, cell.z];
            let bucket =
                axes.iter().fold((level - FINEST) as u128, |key, &c| key << BITS | u128::from(c));
            bucket << 32 | number as u128
        };
        let mut keys: Vec<u128> = boxes.par_iter().enumerate().map(key).collect();
        keys.par_sort_unstable();
        keys.chunk_by(|a, b| a >> (32 + 3 * BITS) == b >> (32 + 3 * BITS))
            .map(|run| layer(run, boxes, from))
            .collect()
    }
}

/// One level of sorted keys.
fn layer(keys: &[u128], boxes: &[Bounds], from: DVec3) -> Layer {
    let level = (keys[0] >> (32 + 3 * BITS)) as i32 + FINEST;
    let members: Vec<u32> = keys.par_iter().map(|&key| key as u32).collect();
    let sorted: Vec<Bounds> = members.par_iter().map(|&number| boxes[number as usize]).collect();
    let flat = sorted.par_iter().map(|bounds| Flat::of(bounds, from)).collect();
    let mut cells = Vec::new();
    let mut offsets = vec![0];
    let mut around = Vec::new();
    for run in keys.chunk_by(|a, b| a >> 32 == b >> 32) {
        let axis = |n: u32| (run[0] >> (32 + n * BITS)) as i32 & ((1 << BITS) - 1);
        cells.push(IVec3::new(axis(2), axis(1), axis(0)) - IVec3::splat(1 << (BITS - 1)));
        let first: usize = offsets[offsets.len() - 1];
        let run = &sorted[first..first + run.len()];
        offsets.push(first + run.len());
        around.push(run.iter().copied().reduce(Bounds::union).expect("a run has a member"));
    }
    Layer { level, cells, offsets, members, boxes: sorted, flat, around }
}

impl Layer {
    /// The numbers of the Buckets from `low` to `high`, along each axis: runs along z, each found by one search.
    pub fn runs(&self, low: IVec3, high: IVec3) -> impl Iterator<Item = usize> + '_ {
        let columns = (low.x..=high.x).flat_map(move |x| (low.y..=high.y).map(move |y| (x, y)));
        columns.flat_map(move |(x, y)| {
            let place = |c: &IVec3| (c.x, c.y, c.z);
            let first = self.cells.partition_point(|c| place(c) < (x, y, low.z));
            let last = (x, y, high.z);
            (first..self.cells.len()).take_while(move |&n| place(&self.cells[n]) <= last)
        })
    }

    /// The members of a Bucket, as places among all members.
    pub fn places(&self, cell: usize) -> std::ops::Range<usize> {
        self.offsets[cell]..self.offsets[cell + 1]
    }
}
