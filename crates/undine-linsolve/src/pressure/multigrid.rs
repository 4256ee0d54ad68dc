//! Geometric multigrid on the overlapping levels of a pressure system: one cycle in `f32`, to precondition CG in `f64`.
//!
//! A W-cycle with two red-black sweeps before the coarse correction and two, in reversed order of colours, after it: the
//! cycle is symmetric and positive definite. Transfer is piecewise constant (see [`super::piece`]).

use super::coarsest::Coarsest;
use super::half::{HALF, Half, VOXELS};
use super::level::Level;
use super::piece::Piece;
use super::smooth::{self, Halves};
use super::stencil::NONE;
use super::tables::Tables;
use crate::error::Result;
use crate::operator::Preconditioner;
use rayon::prelude::*;

/// The colour that is relaxed first, and has a residual when the sweeps are done.
const RED: usize = 0;
const BLACK: usize = 1;

/// All levels of a pressure system.
#[derive(Debug, Default)]
pub struct Hierarchy {
    pub(super) tables: Vec<Tables>,
    pub(super) levels: Vec<Level>,
    coarsest: Coarsest,
}

impl Hierarchy {
    /// The hierarchy above the pieces of the finest level.
    pub fn new(mut tables: Vec<Tables>, finest: Vec<Piece>) -> Self {
        if tables.is_empty() {
            // No liquid anywhere: a finest level without Buckets.
            tables.push(Tables::default());
        }
        let mut levels = Vec::new();
        let mut pieces = finest;
        let mut coarsest = Coarsest::default();
        for n in 0..tables.len() {
            if n + 1 == tables.len() {
                coarsest = Coarsest::new(&pieces, &tables[n].sides);
            }
            let next = tables.get(n + 1).map_or_else(Vec::new, |table| coarser(&pieces, table, n));
            let sides = std::mem::take(&mut tables[n].sides);
            levels.push(Level::new(&pieces, sides, tables[n].stored));
            pieces = next;
        }
        Self { tables, levels, coarsest }
    }

    /// The level of the system itself.
    pub fn finest(&self) -> &Level {
        &self.levels[0]
    }

    /// Bytes of all levels.
    pub fn bytes(&self) -> u64 {
        self.levels.iter().map(Level::bytes).sum::<u64>()
            + self.tables.iter().map(Tables::bytes).sum::<u64>()
            + self.coarsest.bytes()
    }
}

/// The pieces of a level, from those of the `level` before it.
fn coarser(pieces: &[Piece], table: &Tables, level: usize) -> Vec<Piece> {
    let piece = |(children, sides): (&[u32; 8], &[u32; 6])| {
        let children = children.map(|child| pieces.get(child as usize));
        Piece::coarser(children, level, sides.map(|side| side != NONE))
    };
    table.children.par_iter().zip(&table.sides).map(piece).collect()
}

/// The multigrid cycle of a pressure system, as a preconditioner.
pub struct Multigrid<'a> {
    hierarchy: &'a Hierarchy,
    /// By level: the correction.
    x: Vec<Halves>,
    /// By level: the right-hand side, which is the residual of the level before.
    b: Vec<Halves>,
}

impl<'a> Multigrid<'a> {
    pub(super) fn new(hierarchy: &'a Hierarchy) -> Self {
        let zeros = || hierarchy.levels.iter().map(|level| smooth::zeros(level.stored)).collect();
        Self { hierarchy, x: zeros(), b: zeros() }
    }

    /// One cycle on a level, from zero or from the guess in `x`.
    fn cycle(&mut self, n: usize, guess: bool) {
        let Hierarchy { tables, levels, coarsest } = self.hierarchy;
        if n + 1 == levels.len() {
            return coarsest.solve(&self.b[n], &mut self.x[n]);
        }
        let level = &levels[n];
        if guess {
            self.relax(n, RED);
        } else {
            smooth::start(level, RED, &self.b[n][RED], &mut self.x[n][RED]);
        }
        self.relax(n, BLACK);
        self.relax(n, RED);
        self.relax(n, BLACK);
        let (b, coarse_b) = self.b.split_at_mut(n + 1);
        smooth::restrict(level, RED, &b[n][RED], &self.x[n], &tables[n + 1], &mut coarse_b[0]);
        self.cycle(n + 1, false);
        if n + 2 < levels.len() {
            self.cycle(n + 1, true);
        }
        let (fine, coarse) = self.x.split_at_mut(n + 1);
        smooth::prolong(level, RED, &tables[n], &coarse[0], &mut fine[n][RED]);
        for colour in [BLACK, RED, BLACK, RED] {
            self.relax(n, colour);
        }
    }

    fn relax(&mut self, n: usize, colour: usize) {
        let level = &self.hierarchy.levels[n];
        let [red, black] = &mut self.x[n];
        let (x, other) = if colour == RED { (red, &*black) } else { (black, &*red) };
        smooth::relax(level, colour, &self.b[n][colour], other, x);
    }
}

impl Preconditioner for Multigrid<'_> {
    fn name(&self) -> String {
        format!("multigrid on Buckets, {} levels", self.hierarchy.levels.len())
    }

    fn apply(&mut self, r: &[f64], z: &mut [f64]) -> Result<()> {
        let [red, black] = &mut self.b[0];
        red.par_iter_mut().zip(black).zip(r.par_chunks(VOXELS)).with_min_len(64).for_each(
            |((red, black), r)| {
                round(&r[..HALF], red);
                round(&r[HALF..], black);
            },
        );
        self.cycle(0, false);
        let [red, black] = &self.x[0];
        z.par_chunks_mut(VOXELS).zip(red).zip(black).with_min_len(64).for_each(
            |((z, red), black)| {
                widen(red, &mut z[..HALF]);
                widen(black, &mut z[HALF..]);
            },
        );
        Ok(())
    }

    fn bytes(&self) -> u64 {
        let halves = self.x.iter().chain(&self.b).flatten();
        self.hierarchy.bytes() + halves.map(|half| size_of_val(&half[..]) as u64).sum::<u64>()
    }
}

fn round(from: &[f64], to: &mut Half<f32>) {
    for (to, from) in to.as_flattened_mut().as_flattened_mut().iter_mut().zip(from) {
        *to = *from as f32;
    }
}

fn widen(from: &Half<f32>, to: &mut [f64]) {
    for (to, from) in to.iter_mut().zip(from.as_flattened().as_flattened()) {
        *to = f64::from(*from);
    }
}
