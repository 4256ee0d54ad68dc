//! Multigrid on Buckets for viscosity that reaches many cells in a step: a V-cycle in `f32`, smoothed by Chebyshev polynomials.
//!
//! Each level has twice the voxel size of the one before, and so a quarter of the strength Δt μ / (ρ Δx²): levels end where
//! inertia outweighs viscosity. A process works on its own Buckets alone, as if the others held theirs still.

use super::coarsen::{Transfer, coarsen};
use super::grid::{Grid, NONE, load, tiles};
use super::piece::{FACES, Piece};
use super::system::{System, all_faces};
use rayon::prelude::*;
use undine_linsolve::{Preconditioner, Result, vector};

/// Steps of smoothing before and after each visit to the coarser level.
const DEGREE: usize = 3;
/// Smoothing works on this part of the spectrum, from the top: what varies from voxel to voxel along some axis.
const LOWEST: f32 = 0.06;
/// A level whose strength is below this is solved by smoothing alone.
const WEAK: f64 = 0.25;
/// Most steps of smoothing on the coarsest level, and most levels.
const MOST_STEPS: usize = 24;
const MOST_LEVELS: usize = 12;

/// A hierarchy of levels.
pub struct Multigrid<'a> {
    finest: &'a [Piece],
    levels: Vec<Level>,
    coarsest: Chebyshev,
    /// Steps of smoothing on the coarsest level.
    steps: usize,
}

/// One level, with its work space.
struct Level {
    grid: Grid,
    /// Its equations; those of the finest level are the system's own.
    pieces: Vec<Piece>,
    /// One over a diagonal for which no eigenvalue of D⁻¹·A passes one.
    inverse: Vec<f32>,
    /// To the next coarser level.
    transfer: Option<Transfer>,
    x: Vec<f32>,
    r: Vec<f32>,
    d: Vec<f32>,
    next: Vec<f32>,
}

impl<'a> Multigrid<'a> {
    /// For a system whose strength is Δt μ / (ρ Δx²).
    pub fn new(system: &'a System, strength: f64) -> Self {
        let local = system.grid.len() as u32;
        let own = |place: u32| if place < local { place } else { NONE };
        let around = system.grid.around.iter().map(|around| around.map(own)).collect();
        let grid = Grid { coords: system.grid.coords.clone(), around };
        let mut levels = vec![Level::new(grid, &system.pieces)];
        let mut strength = strength;
        while strength > WEAK && levels.len() < MOST_LEVELS {
            let last = &levels[levels.len() - 1];
            if last.grid.len() <= 1 {
                break;
            }
            let pieces = if levels.len() == 1 { &system.pieces } else { &last.pieces };
            let (grid, coarse, transfer) = coarsen(&last.grid, pieces);
            let count = levels.len();
            levels[count - 1].transfer = Some(transfer);
            let level = Level::new(grid, &coarse);
            levels.push(Level { pieces: coarse, ..level });
            strength *= 0.25;
        }
        // A diagonal of m + 24 k holds for a sum of m + 24 k at most, and nothing is below m.
        let lowest = (1.0 / (1.0 + 24.0 * strength)).clamp(1e-3, 0.5) as f32;
        let steps = ((1.5 / f64::from(lowest).sqrt()).ceil() as usize).clamp(2, MOST_STEPS);
        Self { finest: &system.pieces, levels, coarsest: Chebyshev::new(lowest), steps }
    }
}

impl Level {
    /// Without its equations, which may be another's.
    fn new(grid: Grid, equations: &[Piece]) -> Self {
        let count = grid.len() * FACES;
        let mut inverse = vec![0.0_f32; count];
        inverse.par_chunks_exact_mut(FACES).zip(equations).for_each(|(inverse, piece)| {
            for (inverse, (axis, voxel)) in inverse.iter_mut().zip(all_faces()) {
                // The square of a sum of n terms is at most n times the sum of their squares: two in a cell, four at an edge.
                let [mass, cells, edges] = piece.diagonal(axis, voxel);
                let bound = mass + 2.0 * cells + 4.0 * edges;
                *inverse = if bound > 0.0 { bound.recip() as f32 } else { 0.0 };
            }
        });
        let zeros = || vec![0.0_f32; count];
        let (x, r, d, next) = (zeros(), zeros(), zeros(), zeros());
        Self { grid, pieces: Vec::new(), inverse, transfer: None, x, r, d, next }
    }

    /// x = d = D⁻¹ r / centre: the first step from nothing.
    fn begin(&mut self, gain: f32) {
        let places = self.x.par_chunks_exact_mut(FACES).zip(self.d.par_chunks_exact_mut(FACES));
        let known = self.r.par_chunks_exact(FACES).zip(self.inverse.par_chunks_exact(FACES));
        places.zip(known).for_each(|((x, d), (r, inverse))| {
            for n in 0..FACES {
                d[n] = gain * inverse[n] * r[n];
                x[n] = d[n];
            }
        });
    }

    /// r ← r − A·d, then d ← momentum·d + gain·D⁻¹·r and x ← x + d.
    fn advance(&mut self, pieces: &[Piece], momentum: f32, gain: f32) {
        let Self { grid, inverse, x, r, d, next, .. } = self;
        let d: &[f32] = d;
        let changing = x.par_chunks_exact_mut(FACES).zip(r.par_chunks_exact_mut(FACES));
        let places = changing.zip(next.par_chunks_exact_mut(FACES));
        let known = pieces.par_iter().zip(&grid.around).zip(inverse.par_chunks_exact(FACES));
        let scratch = || (tiles(), vec![0.0_f32; FACES]);
        places.zip(known).enumerate().for_each_init(
            scratch,
            |(tiles, product), (place, (((x, r), next), ((piece, around), inverse)))| {
                load(around, d, tiles, false);
                piece.apply(tiles, product);
                let d = &d[place * FACES..][..FACES];
                for n in 0..FACES {
                    r[n] -= product[n];
                    next[n] = momentum * d[n] + gain * inverse[n] * r[n];
                    x[n] += next[n];
                }
            },
        );
        std::mem::swap(&mut self.d, &mut self.next);
    }
}

/// The steps of a Chebyshev iteration on a spectrum from `lowest` to 1.
#[derive(Clone, Copy)]
struct Chebyshev {
    centre: f32,
    radius: f32,
}

impl Chebyshev {
    fn new(lowest: f32) -> Self {
        Self { centre: 0.5 * (1.0 + lowest), radius: 0.5 * (1.0 - lowest) }
    }

    /// Momentum and gain of all steps after the first.
    fn steps(self, count: usize) -> impl Iterator<Item = (f32, f32)> {
        let sigma = self.centre / self.radius;
        let mut rho = sigma.recip();
        (1..count).map(move |_| {
            let before = rho;
            rho = (2.0 * sigma - before).recip();
            (rho * before, 2.0 * rho / self.radius)
        })
    }
}

/// One V-cycle on the first of some levels, from r to x.
fn cycle(finest: Option<&[Piece]>, levels: &mut [Level], coarsest: Chebyshev, steps: usize) {
    let Some((level, rest)) = levels.split_first_mut() else { return };
    let own = std::mem::take(&mut level.pieces);
    let pieces = finest.unwrap_or(&own);
    if rest.is_empty() {
        level.begin(coarsest.centre.recip());
        for (momentum, gain) in coarsest.steps(steps) {
            level.advance(pieces, momentum, gain);
        }
    } else {
        let chebyshev = Chebyshev::new(LOWEST);
        level.begin(chebyshev.centre.recip());
        for (momentum, gain) in chebyshev.steps(DEGREE) {
            level.advance(pieces, momentum, gain);
        }
        level.advance(pieces, 0.0, 0.0);
        if let Some(transfer) = level.transfer.take() {
            transfer.restrict(&level.r, &mut rest[0].r);
            cycle(None, rest, coarsest, steps);
            transfer.prolong(&rest[0].grid, &rest[0].x, &mut level.d);
            level.transfer = Some(transfer);
        }
        level.x.par_iter_mut().zip(&level.d).with_min_len(FACES).for_each(|(x, d)| *x += d);
        level.advance(pieces, 0.0, chebyshev.centre.recip());
        for (momentum, gain) in chebyshev.steps(DEGREE) {
            level.advance(pieces, momentum, gain);
        }
    }
    level.pieces = own;
}

impl Preconditioner for Multigrid<'_> {
    fn name(&self) -> String {
        format!("multigrid, {} levels", self.levels.len())
    }

    fn apply(&mut self, r: &[f64], z: &mut [f64]) -> Result<()> {
        // A power of two brings it into the range of single precision without rounding.
        let scale = match vector::largest(r) {
            largest if largest > 0.0 && largest.is_finite() => (-largest.log2().floor()).exp2(),
            _ => 1.0,
        };
        let first = &mut self.levels[0];
        vector::for_chunks(&mut first.r, |start, to| {
            to.iter_mut().zip(&r[start..]).for_each(|(to, r)| *to = (scale * r) as f32);
        });
        cycle(Some(self.finest), &mut self.levels, self.coarsest, self.steps);
        let x = &self.levels[0].x;
        vector::for_chunks(z, |start, z| {
            z.iter_mut().zip(&x[start..]).for_each(|(z, x)| *z = f64::from(*x) / scale);
        });
        Ok(())
    }

    fn bytes(&self) -> u64 {
        let level = |level: &Level| {
            let pieces: u64 = level.pieces.iter().map(Piece::bytes).sum();
            let transfer = level.transfer.as_ref().map_or(0, Transfer::bytes);
            20 * level.x.len() as u64 + pieces + transfer
        };
        self.levels.iter().map(level).sum()
    }
}
