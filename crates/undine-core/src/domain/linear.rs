//! Buckets packed by plain coordinates, for set operations that shift: adding a constant keeps the
//! order, so that dilation is a merge of shifted lists and needs no sorting.

use super::bucket::{Bucket, BucketKey};
use crate::error::Result;
use glam::IVec3;
use rayon::prelude::*;

/// Bits per axis. Shifts that would leave a field are refused before they happen.
const FIELD: u32 = 20;

/// A Bucket as `x, y, z` fields of one number, within one level. Sorts by x, then y, then z.
pub(super) type Packed = u64;

fn pack(coord: IVec3, limit: i32) -> Packed {
    let [x, y, z] = coord.to_array().map(|c| (c + limit) as u64);
    x << (2 * FIELD) | y << FIELD | z
}

fn unpack(packed: Packed, limit: i32) -> IVec3 {
    let field = |shift: u32| (packed >> shift & ((1 << FIELD) - 1)) as i32 - limit;
    IVec3::new(field(2 * FIELD), field(FIELD), field(0))
}

/// Every Bucket within `n` of one of `keys` (all of one level) along each axis, sorted by key.
///
/// Refuses to leave the index range, and what `check` refuses: it is told, before more is made, how
/// many Buckets there will be at least.
pub(super) fn dilate(
    keys: &[BucketKey],
    n: i32,
    what: &str,
    check: &impl Fn(usize) -> Result<()>,
) -> Result<Vec<BucketKey>> {
    let Some(first) = keys.first() else { return Ok(Vec::new()) };
    let level = first.level();
    let limit = Bucket::limit(level);
    let buckets: Vec<_> = keys.par_iter().map(|key| key.bucket()).collect();
    for bucket in &buckets {
        for end in [-n, n] {
            bucket.offset(IVec3::splat(end)).check(what)?;
        }
    }
    let mut packed: Vec<_> = buckets.par_iter().map(|bucket| pack(bucket.coord, limit)).collect();
    packed.par_sort_unstable();
    for axis in 0..3 {
        // A set padded by r is in runs of 2r + 1, so that shifts by so much leave no gap.
        let mut padded = 0;
        while padded < n {
            let shift = (2 * padded + 1).min(n - padded);
            packed = merge_shifted(&packed, (shift as u64) << (axis * FIELD));
            padded += shift;
            check(packed.len())?;
        }
    }
    let mut dilated: Vec<_> =
        packed.par_iter().map(|&cell| Bucket::at(level, unpack(cell, limit)).key()).collect();
    dilated.par_sort_unstable();
    Ok(dilated)
}

/// The sorted union of a list with itself shifted down and up by `step`.
fn merge_shifted(list: &[Packed], step: u64) -> Vec<Packed> {
    let mut merged = Vec::with_capacity(list.len() + list.len() / 2);
    let mut heads = [0_usize; 3];
    let shifts = [step.wrapping_neg(), 0, step];
    loop {
        // The smallest of the three heads; equal ones advance together, which removes duplicates.
        let head =
            |source: usize| list.get(heads[source]).map(|cell| cell.wrapping_add(shifts[source]));
        let candidates = [head(0), head(1), head(2)];
        let Some(smallest) = candidates.iter().flatten().min().copied() else { break };
        merged.push(smallest);
        for (source, candidate) in candidates.iter().enumerate() {
            heads[source] += usize::from(*candidate == Some(smallest));
        }
    }
    merged
}
