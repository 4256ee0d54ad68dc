//! Bounds of unknowns, and how far an iterate is from solving its rows within them.

use crate::error::{Result, SolveError};
use crate::rows::Rows;
use crate::vector;
use rayon::prelude::*;

/// l ≤ x ≤ u, row by row. −∞ and ∞ leave a side open; equal bounds fix a row.
#[derive(Debug, Clone, Copy)]
pub struct Bounds<'a> {
    lower: &'a [f64],
    upper: &'a [f64],
}

impl<'a> Bounds<'a> {
    /// Refuses, by row, bounds that are NaN or leave no room. Collective.
    pub fn new(rows: &Rows, lower: &'a [f64], upper: &'a [f64]) -> Result<Self> {
        let checked = rows
            .check("the list of lower bounds", lower)
            .and_then(|()| rows.check("the list of upper bounds", upper))
            .and_then(|()| check(lower, upper));
        rows.all_agree(checked)?;
        Ok(Self { lower, upper })
    }

    /// The lower bounds.
    pub fn lower(&self) -> &'a [f64] {
        self.lower
    }

    /// The upper bounds.
    pub fn upper(&self) -> &'a [f64] {
        self.upper
    }

    /// The admissible value of a row nearest to x.
    #[inline(always)]
    pub fn clamp(&self, row: usize, x: f64) -> f64 {
        clamp(x, self.lower[row], self.upper[row])
    }

    /// Moves every entry to the nearest admissible value.
    pub fn project(&self, x: &mut [f64]) {
        vector::for_chunks(x, |start, x| {
            for (x, row) in x.iter_mut().zip(start..) {
                *x = self.clamp(row, *x);
            }
        });
    }

    /// Whether a bound holds a row back: x sits on it, and the residual r = b − A·x pushes against it.
    #[inline(always)]
    pub fn holds(&self, row: usize, x: f64, r: f64) -> bool {
        (x <= self.lower[row] && r <= 0.0)
            || (x >= self.upper[row] && r >= 0.0)
            || self.lower[row] == self.upper[row]
    }

    /// ‖c‖² of the entries here and the largest c, c being the complementarity residual.
    pub(super) fn complementarity(&self, diagonal: &[f64], x: &[f64], r: &[f64]) -> (f64, f64) {
        let row = |row: usize| {
            let low = diagonal[row] * (self.lower[row] - x[row]);
            let high = diagonal[row] * (self.upper[row] - x[row]);
            clamp(r[row], low, high)
        };
        let chunk = |n: usize| {
            let rows = n * vector::CHUNK..((n + 1) * vector::CHUNK).min(x.len());
            rows.map(row).fold((0.0, 0.0), |(sum, max), c| (sum + c * c, larger(max, c.abs())))
        };
        let chunks: Vec<(f64, f64)> =
            (0..x.len().div_ceil(vector::CHUNK)).into_par_iter().map(chunk).collect();
        chunks.into_iter().fold((0.0, 0.0), |a, b| (a.0 + b.0, larger(a.1, b.1)))
    }

    /// How many entries sit at their lower bound, and how many others at their upper one.
    pub(super) fn count(&self, x: &[f64]) -> (usize, usize) {
        let lower = (0..x.len()).filter(|&row| x[row] <= self.lower[row]).count();
        let upper =
            (0..x.len()).filter(|&row| x[row] >= self.upper[row] && x[row] > self.lower[row]);
        (lower, upper.count())
    }
}

/// The larger of two, or NaN.
fn larger(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

/// NaN stays NaN; `low` ≤ `high`.
#[inline(always)]
fn clamp(x: f64, low: f64, high: f64) -> f64 {
    let x = if x < low { low } else { x };
    if x > high { high } else { x }
}

fn check(lower: &[f64], upper: &[f64]) -> Result<()> {
    let fine = |l: f64, u: f64| l <= u && l < f64::INFINITY && u > f64::NEG_INFINITY;
    match lower.iter().zip(upper).position(|(&l, &u)| !fine(l, u)) {
        None => Ok(()),
        Some(row) => Err(SolveError::BadValue {
            what: format!("the range of row {row}"),
            found: format!("{} to {}", lower[row], upper[row]),
            wanted: "two numbers that ascend, with a finite one between or at them",
        }),
    }
}
