//! The few operations on vectors in `f32` that the cycle needs; sums are in `f64` and in a fixed order.

use crate::vector::{for_chunks, sum_chunks};

/// Entries that are summed together.
const CHUNK: usize = crate::vector::CHUNK;

/// x·y of the entries here.
pub(super) fn dot(x: &[f32], y: &[f32]) -> f64 {
    sum_chunks(x.len(), |n| {
        let range = n * CHUNK..(n * CHUNK + CHUNK).min(x.len());
        let terms = x[range.clone()].iter().zip(&y[range]);
        terms.fold(0.0, |sum, (&x, &y)| sum + f64::from(x) * f64::from(y))
    })
}

/// y ← f(y, x), entry by entry.
pub(super) fn update(y: &mut [f32], x: &[f32], f: impl Fn(f32, f32) -> f32 + Sync) {
    debug_assert_eq!(x.len(), y.len());
    for_chunks(y, |start, y| {
        for (y, &x) in y.iter_mut().zip(&x[start..]) {
            *y = f(*y, x);
        }
    });
}
