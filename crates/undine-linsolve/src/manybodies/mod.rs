//! Manybodies: a system of many Objects, each stiff in itself and loosely tied to others by contacts and attachments (Loki,
//! §6.5 and Figure 13). Each Object's block is factored directly; all of them together precondition CG on the whole system.
//!
//! Narrow bands, which is what rods are, are factored eight at a time; other blocks by sparse Cholesky, the pattern worked out
//! once for all blocks that share it. Blocks are independent, and each is always worked on in the same order: the same bits on
//! any number of threads.

mod band;
mod bands;
mod batch;
mod blocks;
mod lanes;
mod local;
mod sparse;

pub use bands::{BandMemory, BandReport, Bands};
pub use blocks::Blocks;

use crate::error::Result;
use crate::krylov::cg;
use crate::matrix::{Csr, Matrix};
use crate::operator::{Operator, Preconditioner};
use crate::report::{Report, Stop};
use band::{LANES, Shape};
use batch::{Batch, Member};
use local::Places;
use rayon::prelude::*;
use sparse::{Classes, Sparse};
use std::time::Instant;

/// Blocks of at most this half-width are factored as bands without a look at their pattern.
const NARROW: usize = 32;

/// A batch takes a block in if that lengthens its shortest by at most this share.
const PADDING: f64 = 0.25;

/// Shares of a row's magnitudes by which a diagonal is raised, one after another. The last makes every row dominant, so
/// that the block is positive definite.
const SHIFTS: [f64; 5] = [1e-8, 1e-6, 1e-4, 1e-2, 1.001];

/// A block that was not positive definite, and what was done about it.
///
/// Every block of a positive definite matrix is positive definite. So the whole is either semi-definite, as a body that floats
/// freely, and CG converges with the shift; or it is indefinite, and CG will say so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fallback {
    /// The block, by its number.
    pub block: usize,
    /// The row of the system where its pivot was not positive.
    pub row: usize,
    /// That pivot.
    pub pivot: f64,
    /// Each diagonal entry was raised by this share of the sum of its row's magnitudes.
    pub shift: f64,
}

/// How many digits factors are kept with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Precision {
    /// As many as CG needs of a preconditioner.
    Enough,
    Double,
}

/// The factored blocks of a matrix: a preconditioner.
#[derive(Debug)]
pub struct Manybodies {
    blocks: Blocks,
    places: Places,
    batches: Vec<Batch>,
    sparse: Vec<Sparse>,
    fallbacks: Vec<Fallback>,
    precision: Precision,
    /// The result block after block, if that is not the order of rows.
    ordered: Option<Vec<f64>>,
}

impl Manybodies {
    /// Factors the blocks of a matrix. Rows that are in no block are blocks of their own.
    ///
    /// Over several processes each factors its own rows; entries of other processes' rows are left to CG.
    pub fn new(matrix: &Matrix, blocks: &Blocks) -> Result<Self> {
        Self::with_precision(matrix, blocks, Precision::Enough)
    }

    /// The same with all factors in double precision: where no entry lies between blocks and none of them had to be
    /// [shifted](Self::fallbacks), they solve the system as they are, without CG.
    pub fn direct(matrix: &Matrix, blocks: &Blocks) -> Result<Self> {
        Self::with_precision(matrix, blocks, Precision::Double)
    }

    fn with_precision(matrix: &Matrix, blocks: &Blocks, precision: Precision) -> Result<Self> {
        let csr = matrix.csr();
        let blocks = matrix.rows().all_agree(blocks.completed(csr.rows()))?;
        let places = Places::new(&blocks, csr.rows());
        let (batches, sparse) = choose(csr, &blocks, &places)?;
        let in_order = blocks.all().iter().enumerate().all(|(n, &row)| n == row as usize);
        let mut manybodies = Self {
            ordered: (!in_order).then(|| vec![0.0; csr.rows()]),
            blocks,
            places,
            batches,
            sparse,
            fallbacks: Vec::new(),
            precision,
        };
        manybodies.take_values(csr)?;
        Ok(manybodies)
    }

    /// Factors the blocks of another matrix with the same pattern; all that depends on the pattern is kept.
    ///
    /// Entries that the pattern of the first matrix did not have in a block are found out and lead to a new choice.
    pub fn refactor(&mut self, matrix: &Matrix) -> Result<()> {
        let csr = matrix.csr();
        let fits = csr.rows() == self.places.block.len() && self.fits(csr);
        if !fits {
            *self = Self::with_precision(matrix, &self.blocks, self.precision)?;
            return Ok(());
        }
        self.take_values(csr)
    }

    /// The blocks that were not positive definite, by number.
    pub fn fallbacks(&self) -> &[Fallback] {
        &self.fallbacks
    }

    /// The blocks, with those of single rows that were added.
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// Whether every entry of the blocks has a place in the factors.
    fn fits(&self, csr: &Csr<f64>) -> bool {
        self.batches.par_iter().all(|batch| batch.fits(csr, &self.blocks, &self.places))
            && self.sparse.par_iter().all(|sparse| sparse.fits(csr, &self.blocks, &self.places))
    }

    fn take_values(&mut self, csr: &Csr<f64>) -> Result<()> {
        let Self { blocks, places, batches, sparse, precision, .. } = self;
        let precision = *precision;
        let (bands, others) = rayon::join(
            || -> Result<Vec<Vec<Fallback>>> {
                let factor = |batch: &mut Batch| batch.refactor(csr, blocks, places, precision);
                batches.par_iter_mut().map(factor).collect()
            },
            || -> Result<Vec<Option<Fallback>>> {
                sparse.par_iter_mut().map(|sparse| sparse.refactor(csr, blocks, places)).collect()
            },
        );
        self.fallbacks =
            bands?.into_iter().flatten().chain(others?.into_iter().flatten()).collect();
        self.fallbacks.sort_unstable_by_key(|fallback| fallback.block);
        Ok(())
    }
}

impl Preconditioner for Manybodies {
    fn name(&self) -> String {
        let bands: usize = self.batches.iter().map(|batch| batch.members.len()).sum();
        format!("manybodies, {} bands and {} sparse blocks", bands, self.sparse.len())
    }

    fn apply(&mut self, r: &[f64], z: &mut [f64]) -> Result<()> {
        let Self { blocks, batches, sparse, ordered, .. } = self;
        let blocks = &*blocks;
        // Cut the result into the blocks' parts, and give each to the one who works on it.
        let mut rest = match ordered {
            Some(ordered) => &mut ordered[..],
            None => &mut *z,
        };
        let mut parts: Vec<Option<&mut [f64]>> = Vec::with_capacity(blocks.len());
        for block in 0..blocks.len() {
            let (part, later) = rest.split_at_mut(blocks.range(block).len());
            parts.push(Some(part));
            rest = later;
        }
        let mut part = |block: u32| parts[block as usize].take().unwrap_or_default();
        let batches: Vec<(&mut Batch, Vec<&mut [f64]>)> = batches
            .iter_mut()
            .map(|batch| {
                let parts = batch.members.iter().map(|member| part(member.block)).collect();
                (batch, parts)
            })
            .collect();
        let sparse: Vec<(&mut Sparse, &mut [f64])> = sparse
            .iter_mut()
            .map(|sparse| (part(sparse.block), sparse))
            .map(|(z, s)| (s, z))
            .collect();
        rayon::join(
            || batches.into_par_iter().for_each(|(batch, mut z)| batch.solve(r, blocks, &mut z)),
            || sparse.into_par_iter().for_each(|(sparse, z)| sparse.solve(r, blocks, z)),
        );
        if let Some(ordered) = ordered {
            for (&row, &value) in blocks.all().iter().zip(&ordered[..]) {
                z[row as usize] = value;
            }
        }
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.blocks.bytes()
            + self.places.bytes()
            + self.batches.iter().map(Batch::bytes).sum::<u64>()
            + self.sparse.iter().map(Sparse::bytes).sum::<u64>()
            + self.ordered.as_ref().map_or(0, |ordered| size_of_val(&ordered[..]) as u64)
    }
}

/// Solves A·x = b, A symmetric and positive definite, by CG with its blocks factored. `x` goes in as the first guess. Collective.
pub fn manybodies_solve(
    matrix: &Matrix,
    blocks: &Blocks,
    b: &[f64],
    x: &mut [f64],
    stop: &Stop,
) -> Result<Report> {
    let started = Instant::now();
    let mut manybodies = Manybodies::new(matrix, blocks)?;
    let setup_seconds = started.elapsed().as_secs_f64();
    let mut report = cg(matrix, &mut manybodies, b, x, stop)?;
    report.setup_seconds = setup_seconds;
    if let Some(first) = manybodies.fallbacks.first() {
        report.notes.push(format!(
            "{} blocks are not positive definite and were shifted; the first is block {}, whose pivot at row {} is {:.3e}",
            manybodies.fallbacks.len(),
            first.block,
            first.row,
            first.pivot
        ));
    }
    Ok(report)
}

/// Which blocks are bands, and which are not.
fn choose(csr: &Csr<f64>, blocks: &Blocks, places: &Places) -> Result<(Vec<Batch>, Vec<Sparse>)> {
    let widths: Vec<usize> = (0..blocks.len())
        .into_par_iter()
        .map(|block| places.width(csr, blocks.rows(block)))
        .collect();
    let mut bands: Vec<(Shape, Member)> = Vec::new();
    let mut classes = Classes::default();
    let mut sparse = Vec::new();
    for (block, &width) in widths.iter().enumerate() {
        let rows = blocks.rows(block).len();
        if width <= NARROW {
            let member = Member { block: block as u32, order: None };
            bands.push((Shape { rows, width }, member));
            continue;
        }
        let local = places.extract(csr, blocks.rows(block));
        match classes.of(local, block)? {
            sparse::Choice::Band { width, order } => {
                let member = Member { block: block as u32, order: Some(order) };
                bands.push((Shape { rows, width }, member));
            }
            sparse::Choice::Sparse(factor) => sparse.push(factor),
        }
    }
    Ok((batches(bands), sparse))
}

/// Puts bands of the same width and about the same length together.
fn batches(mut bands: Vec<(Shape, Member)>) -> Vec<Batch> {
    bands.sort_by_key(|(shape, _)| (shape.width, shape.rows));
    let mut batches: Vec<Batch> = Vec::new();
    let mut open: Vec<(Shape, Member)> = Vec::new();
    let close = |open: &mut Vec<(Shape, Member)>, batches: &mut Vec<Batch>| {
        if let Some(&(shape, _)) = open.last() {
            batches.push(Batch::new(shape, open.drain(..).map(|(_, member)| member).collect()));
        }
    };
    for (shape, member) in bands {
        let fits = open.first().is_none_or(|(first, _)| {
            first.width == shape.width
                && shape.rows as f64 <= (1.0 + PADDING) * first.rows as f64 + 4.0
        });
        if open.len() == LANES || !fits {
            close(&mut open, &mut batches);
        }
        open.push((shape, member));
    }
    close(&mut open, &mut batches);
    batches
}
