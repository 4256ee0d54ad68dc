//! Smoothed-aggregation algebraic multigrid (Vaněk, Mandel, Brezina 1996; Tamstorf, Jones, McCormick 2015; Demidov's AMGCL): the general
//! preconditioner for systems that come from fields, with or without a grid.
//!
//! Strongly coupled nodes are joined to aggregates, near-null vectors on each aggregate give a tentative prolongation, one step of
//! damped Jacobi smooths it, and Pᵀ·A·P is the next, coarser matrix, until a level is small enough to be solved directly.
//!
//! The hierarchy is in `f32`: it only has to be near the inverse, and half the bytes make it nearly twice as fast. Everything runs on
//! all threads with the same bits on any number of them.

mod aggregate;
mod coarse;
mod cycle;
mod distribute;
mod galerkin;
mod gauss_seidel;
mod grouping;
mod level;
mod prolong;
mod reuse;
mod settings;
mod smoother;
mod sparse;
mod spectrum;
mod strength;
mod tentative;
mod vector32;

pub use grouping::{Grouping, NearNullSpace};
pub use reuse::Refreshed;
pub use settings::{Cycle, Settings, Smoother};

use crate::error::{Result, SolveError};
use crate::matrix::{Csr, Matrix};
use crate::operator::{Operator, Preconditioner};
use crate::rows::Rows;
use crate::vector::{self, for_chunks};
use aggregate::Aggregates;
use coarse::Dense;
use level::{Coarsened, Level, System, Work, coarsen};
use rayon::prelude::*;
use smoother::Smoothing;
use std::time::Instant;

/// A hierarchy of levels made from a matrix: an approximate inverse that works as well for a million unknowns as for a thousand.
#[derive(Debug)]
pub struct Amg {
    settings: Settings,
    levels: Vec<Level>,
    /// The finest level holds A times this, a power of two.
    scale: f64,
    complexity: f64,
    parts: Parts,
}

impl Amg {
    /// Makes the hierarchy. Refuses a diagonal that is not positive. Collective.
    pub fn new(matrix: &Matrix, settings: &Settings) -> Result<Self> {
        Self::with_aggregates(matrix, settings, Vec::new())
    }

    /// The same with aggregates that are known for the first levels. Collective.
    fn with_aggregates(
        matrix: &Matrix,
        settings: &Settings,
        known: Vec<Aggregates>,
    ) -> Result<Self> {
        let mut parts = Parts::new();
        let rows = matrix.rows();
        let checked = settings
            .check()
            .and_then(|()| settings.nodes.check(rows.local()))
            .and_then(|()| largest_diagonal(matrix.csr()))
            .and_then(|largest| {
                Ok((largest, settings.near_null_space.by_rows(&settings.nodes, rows.local())?))
            });
        let (largest, (count, mut vectors)) = rows.all_agree(checked)?;
        bring_into_range(rows, count, &mut vectors)?;
        let scale = scale_of(rows, largest)?;
        let mut system = System {
            rows: matrix.shared_rows().clone(),
            matrix: sparse::scaled(matrix.csr(), scale),
            nodes: settings.nodes.clone(),
            count,
            vectors,
        };
        parts.mark("copy");

        let mut levels: Vec<Level> = Vec::new();
        let mut known = known.into_iter();
        let mut strength = settings.strength;
        loop {
            let System { rows, matrix, .. } = &system;
            let is_gathered = rows.max(rows.local() as f64)? as u64 == rows.total();
            if is_gathered && rows.total() <= settings.coarse_rows as u64 {
                let dense = Dense::new(matrix);
                parts.mark("factor");
                levels.push(Level::new(system.rows, system.matrix, Work::Solve(dense)));
                break;
            }
            let coarsened = if levels.len() + 1 < settings.levels {
                coarsen(system, settings, strength, known.next(), &mut parts)?
            } else {
                let inverse = level::inverse_diagonal(matrix);
                Coarsened::Not(Box::new(system), inverse)
            };
            match coarsened {
                Coarsened::Smaller(level, next) => {
                    levels.push(*level);
                    system = *next;
                }
                Coarsened::Not(system, inverse) => {
                    let System { rows, matrix, .. } = *system;
                    let smoothing = Smoothing::new(settings.smoother, &rows, &matrix, &inverse)?;
                    levels.push(Level::new(rows, matrix, Work::SmoothOnly(smoothing)));
                    break;
                }
            }
            strength *= 0.5;
        }
        let entries = |level: &Level| rows.sum(level.matrix.entries() as f64);
        let all = levels.iter().map(entries).sum::<Result<f64>>()?;
        let complexity = all / entries(&levels[0])?.max(1.0);
        Ok(Self { settings: settings.clone(), levels, scale, complexity, parts })
    }

    /// How many levels there are.
    pub fn levels(&self) -> usize {
        self.levels.len()
    }

    /// The entries of all levels' matrices, over those of the first.
    pub fn operator_complexity(&self) -> f64 {
        self.complexity
    }

    /// Where the time to make it went: each part and its seconds.
    pub fn parts(&self) -> &[(&'static str, f64)] {
        &self.parts.times
    }
}

impl Preconditioner for Amg {
    fn name(&self) -> String {
        let cycle = match self.settings.cycle {
            Cycle::V => "",
            Cycle::K => ", K-cycle",
        };
        let levels = match self.levels() {
            1 => "1 level".into(),
            levels => format!("{levels} levels"),
        };
        format!("SA-AMG, {levels}, operator complexity {:.2}{cycle}", self.complexity)
    }

    fn apply(&mut self, r: &[f64], z: &mut [f64]) -> Result<()> {
        let Self { settings, levels, scale, .. } = self;
        let rows = levels[0].rows.clone();
        // To the middle of what f32 can hold; by a power of two, which rounds nothing.
        let largest = rows.max(vector::largest(r))?;
        if largest == 0.0 || !largest.is_finite() {
            z.fill(largest);
            return Ok(());
        }
        let shrink = power_of_two_below(largest).recip();
        for_chunks(&mut levels[0].b, |start, b| {
            b.iter_mut().zip(&r[start..]).for_each(|(b, r)| *b = (r * shrink) as f32);
        });
        cycle::visit(levels, settings.sweeps, settings.cycle)?;
        let grow = *scale / shrink;
        let x = &levels[0].x;
        for_chunks(z, |start, z| {
            z.iter_mut().zip(&x[start..]).for_each(|(z, &x)| *z = grow * f64::from(x));
        });
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.levels.iter().map(Level::bytes).sum()
    }
}

/// Where the time goes.
#[derive(Debug)]
struct Parts {
    last: Instant,
    times: Vec<(&'static str, f64)>,
}

impl Parts {
    fn new() -> Self {
        Self { last: Instant::now(), times: Vec::new() }
    }

    /// Books the time since the last mark.
    fn mark(&mut self, part: &'static str) {
        let now = Instant::now();
        let seconds = (now - self.last).as_secs_f64();
        match self.times.iter_mut().find(|(name, _)| *name == part) {
            Some((_, sum)) => *sum += seconds,
            None => self.times.push((part, seconds)),
        }
        self.last = now;
    }
}

/// The largest diagonal entry. Refuses one that is not positive.
fn largest_diagonal(matrix: &Csr<f64>) -> Result<f64> {
    let wrong = (0..matrix.rows())
        .into_par_iter()
        .with_min_len(1024)
        .try_fold(
            || 0.0_f64,
            |largest, row| {
                let (columns, values) = matrix.row(row);
                let place = columns.iter().position(|&column| column as usize == row);
                let diagonal = place.map_or(0.0, |place| values[place]);
                if diagonal > 0.0 && diagonal.is_finite() {
                    Ok(largest.max(diagonal))
                } else {
                    Err(row)
                }
            },
        )
        .try_reduce(|| 0.0, |a, b| Ok(a.max(b)));
    match wrong {
        Ok(largest) => Ok(largest),
        // The first of them, which the parallel search need not have met first.
        Err(row) => {
            matrix.check_positive_diagonal("SA-AMG")?;
            let value = matrix.get(row, row);
            Err(SolveError::BadDiagonal { row, value, method: "SA-AMG", wanted: "positive" })
        }
    }
}

/// The power of two that brings the largest diagonal entry to about 1. Collective.
fn scale_of(rows: &Rows, largest: f64) -> Result<f64> {
    let largest = rows.max(largest)?;
    Ok(if largest > 0.0 { power_of_two_below(largest).recip() } else { 1.0 })
}

/// Scales near-null vectors, `count` entries to a row, whose squares or whose `f32` would vanish or overflow. Their lengths
/// mean nothing. Collective.
fn bring_into_range(rows: &Rows, count: usize, vectors: &mut [f64]) -> Result<()> {
    for n in 0..count {
        let entries = vectors.iter().skip(n).step_by(count);
        let largest = rows.max(entries.fold(0.0, |max: f64, entry| max.max(entry.abs())))?;
        if largest > 0.0 && !(1e-10..=1e10).contains(&largest) {
            let scale = power_of_two_below(largest).recip();
            vectors.iter_mut().skip(n).step_by(count).for_each(|entry| *entry *= scale);
        }
    }
    Ok(())
}

/// The largest power of two that is at most a positive number, in the range where its inverse is a number too.
fn power_of_two_below(value: f64) -> f64 {
    value.log2().floor().clamp(-1000.0, 1000.0).exp2()
}
