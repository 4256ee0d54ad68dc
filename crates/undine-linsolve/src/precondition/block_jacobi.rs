//! Block Jacobi: the inverse of every dense block on the diagonal, for systems whose unknowns come in nodes.

use crate::error::{Result, SolveError};
use crate::matrix::{Csr, Matrix};
use crate::operator::{Operator, Preconditioner};
use rayon::prelude::*;

/// The first shift of a block that is not definite, as a share of its largest entry; then ten times as much, and so on.
const FIRST_SHIFT: f64 = 1e-6;

/// A pivot below this share of the block's largest entry is zero but for rounding.
const SMALLEST: f64 = 1e-13;

/// Blocks that one task works on.
const BLOCKS_PER_TASK: usize = 256;

/// z = diag(A₁₁, A₂₂, …)⁻¹·r. The inverses are stored, so that blocks should be small: nodes of 3, 4 or 6 unknowns, and
/// hardly more than 32.
#[derive(Debug, Clone)]
pub struct BlockJacobi {
    /// Where every block's rows begin, and one end more.
    starts: Vec<u32>,
    /// Where every block's inverse begins, row after row, and one end more.
    places: Vec<usize>,
    inverses: Vec<f64>,
    shifted: Vec<usize>,
}

impl BlockJacobi {
    /// For a symmetric matrix. `starts` are the first rows of the blocks, and the number of local rows as the last entry.
    ///
    /// A block that is not positive definite is shifted until it is, so that the whole stays fit for CG and MINRES;
    /// [`Self::shifted`] names it. Collective.
    pub fn new(matrix: &Matrix, starts: &[u32]) -> Result<Self> {
        matrix.rows().all_agree(Self::invert(matrix.csr(), starts, invert_definite))
    }

    /// For any matrix: blocks are inverted as they are. Refuses a block that is singular. Collective.
    pub fn general(matrix: &Matrix, starts: &[u32]) -> Result<Self> {
        matrix.rows().all_agree(Self::invert(matrix.csr(), starts, invert_general))
    }

    /// The starts of blocks of one size, the last one perhaps smaller.
    pub fn uniform(rows: usize, size: usize) -> Vec<u32> {
        let size = size.max(1);
        (0..rows).step_by(size).chain([rows]).map(|start| start as u32).collect()
    }

    /// The blocks that were not positive definite and got a larger diagonal.
    pub fn shifted(&self) -> &[usize] {
        &self.shifted
    }

    fn invert(csr: &Csr<f64>, starts: &[u32], invert: Invert) -> Result<Self> {
        check_starts(starts, csr.rows())?;
        let size = |block: usize| (starts[block + 1] - starts[block]) as usize;
        let mut places = vec![0; starts.len()];
        for block in 0..starts.len() - 1 {
            places[block + 1] = places[block] + size(block) * size(block);
        }
        let blocks: Vec<Result<(Vec<f64>, bool)>> = (0..starts.len() - 1)
            .into_par_iter()
            .map(|block| {
                invert(block, starts[block] as usize, dense(csr, starts, block), size(block))
            })
            .collect();
        let mut inverses = Vec::with_capacity(places[places.len() - 1]);
        let mut shifted = Vec::new();
        for (block, outcome) in blocks.into_iter().enumerate() {
            let (inverse, was_shifted) = outcome?;
            inverses.extend(inverse);
            shifted.extend(was_shifted.then_some(block));
        }
        Ok(Self { starts: starts.to_vec(), places, inverses, shifted })
    }
}

impl Preconditioner for BlockJacobi {
    fn name(&self) -> String {
        match self.shifted.len() {
            0 => "block Jacobi".into(),
            shifted => {
                format!("block Jacobi, {shifted} of {} blocks shifted", self.starts.len() - 1)
            }
        }
    }

    fn apply(&mut self, r: &[f64], z: &mut [f64]) -> Result<()> {
        // Tasks get whole blocks, and so pieces of z of different lengths.
        let mut rest = z;
        let tasks: Vec<(usize, &mut [f64])> = (0..self.starts.len() - 1)
            .step_by(BLOCKS_PER_TASK)
            .map(|first| {
                let end = (first + BLOCKS_PER_TASK).min(self.starts.len() - 1);
                let len = (self.starts[end] - self.starts[first]) as usize;
                let (piece, behind) = std::mem::take(&mut rest).split_at_mut(len);
                rest = behind;
                (first, piece)
            })
            .collect();
        tasks.into_par_iter().for_each(|(first, mut piece)| {
            let mut block = first;
            while !piece.is_empty() {
                let rows = self.starts[block] as usize..self.starts[block + 1] as usize;
                let (z, behind) = std::mem::take(&mut piece).split_at_mut(rows.len());
                let inverse = &self.inverses[self.places[block]..self.places[block + 1]];
                for (z, inverse) in z.iter_mut().zip(inverse.chunks_exact(rows.len().max(1))) {
                    let terms = inverse.iter().zip(&r[rows.clone()]);
                    *z = terms.fold(0.0, |sum, (a, r)| sum + a * r);
                }
                piece = behind;
                block += 1;
            }
        });
        Ok(())
    }

    fn bytes(&self) -> u64 {
        (size_of_val(&self.inverses[..])
            + size_of_val(&self.starts[..])
            + size_of_val(&self.places[..])) as u64
    }
}

/// Inverts a dense block, given its number, its first row and its size; says whether it had to be shifted.
type Invert = fn(usize, usize, Vec<f64>, usize) -> Result<(Vec<f64>, bool)>;

/// That blocks begin at row 0, end at the last and are none of them empty.
fn check_starts(starts: &[u32], rows: usize) -> Result<()> {
    let ascend = starts.windows(2).all(|pair| pair[0] < pair[1]);
    if starts.first() == Some(&0) && starts.last() == Some(&(rows as u32)) && ascend {
        return Ok(());
    }
    Err(SolveError::BadValue {
        what: "the list of where blocks begin".into(),
        found: format!("{} entries from {:?} to {:?}", starts.len(), starts.first(), starts.last()),
        wanted: "ascending from 0 to the number of local rows",
    })
}

/// A block of the diagonal, dense, row after row.
fn dense(csr: &Csr<f64>, starts: &[u32], block: usize) -> Vec<f64> {
    let (first, end) = (starts[block], starts[block + 1]);
    let size = (end - first) as usize;
    let mut dense = vec![0.0; size * size];
    for row in 0..size {
        let (columns, values) = csr.row(first as usize + row);
        for (&column, &value) in columns.iter().zip(values) {
            if (first..end).contains(&column) {
                dense[row * size + (column - first) as usize] = value;
            }
        }
    }
    dense
}

/// A⁻¹ through A + shift·I = L·Lᵀ, with the smallest shift of a fixed ladder that makes it definite.
fn invert_definite(
    block: usize,
    first: usize,
    a: Vec<f64>,
    size: usize,
) -> Result<(Vec<f64>, bool)> {
    let largest = a.iter().fold(0.0_f64, |max, a| max.max(a.abs()));
    let mut shift = 0.0;
    loop {
        match cholesky(&a, size, shift, SMALLEST * largest) {
            Ok(l) => return Ok((invert_cholesky(&l, size), shift > 0.0)),
            // A block of zeros, or of numbers that no shift can mend: NaN, or so small that a share of them is nothing.
            Err((row, pivot)) if !(FIRST_SHIFT * largest > 0.0 && shift < f64::INFINITY) => {
                return Err(SolveError::BadPivot {
                    what: format!("block {block}"),
                    row: first + row,
                    pivot,
                    wanted: "positive, and large enough to be shifted",
                });
            }
            Err(_) => shift = if shift == 0.0 { FIRST_SHIFT * largest } else { 10.0 * shift },
        }
    }
}

/// The lower triangle of L with L·Lᵀ = A + shift·I, or the row and value of a pivot that is too small.
fn cholesky(a: &[f64], size: usize, shift: f64, least: f64) -> Result<Vec<f64>, (usize, f64)> {
    let mut l = vec![0.0; size * size];
    for row in 0..size {
        for column in 0..=row {
            let known: f64 = (0..column).map(|k| l[row * size + k] * l[column * size + k]).sum();
            let rest = a[row * size + column] - known;
            if column < row {
                l[row * size + column] = rest / l[column * size + column];
            } else if rest + shift > least {
                l[row * size + row] = (rest + shift).sqrt();
            } else {
                return Err((row, rest + shift));
            }
        }
    }
    Ok(l)
}

/// (L·Lᵀ)⁻¹, symmetric to the last bit.
fn invert_cholesky(l: &[f64], size: usize) -> Vec<f64> {
    // L⁻¹ column by column, then the products of its columns.
    let mut inverse_l = vec![0.0; size * size];
    for column in 0..size {
        inverse_l[column * size + column] = 1.0 / l[column * size + column];
        for row in column + 1..size {
            let known: f64 =
                (column..row).map(|k| l[row * size + k] * inverse_l[k * size + column]).sum();
            inverse_l[row * size + column] = -known / l[row * size + row];
        }
    }
    let mut inverse = vec![0.0; size * size];
    for row in 0..size {
        for column in 0..=row {
            let product =
                (row..size).map(|k| inverse_l[k * size + row] * inverse_l[k * size + column]).sum();
            inverse[row * size + column] = product;
            inverse[column * size + row] = product;
        }
    }
    inverse
}

/// A⁻¹ by Gauss-Jordan elimination with row pivoting.
fn invert_general(
    block: usize,
    first: usize,
    mut a: Vec<f64>,
    size: usize,
) -> Result<(Vec<f64>, bool)> {
    let largest = a.iter().fold(0.0_f64, |max, a| max.max(a.abs()));
    let mut inverse = vec![0.0; size * size];
    (0..size).for_each(|n| inverse[n * size + n] = 1.0);
    for column in 0..size {
        let at = |row: usize| row * size + column;
        let pivot_row = (column..size).fold(column, |best, row| {
            if a[at(row)].abs() > a[at(best)].abs() { row } else { best }
        });
        let pivot = a[at(pivot_row)];
        if pivot.is_nan() || pivot.abs() <= SMALLEST * largest {
            return Err(SolveError::BadPivot {
                what: format!("block {block}"),
                row: first + column,
                pivot,
                wanted: "other than zero",
            });
        }
        for k in 0..size {
            a.swap(pivot_row * size + k, column * size + k);
            inverse.swap(pivot_row * size + k, column * size + k);
        }
        for k in 0..size {
            a[column * size + k] /= pivot;
            inverse[column * size + k] /= pivot;
        }
        for row in (0..size).filter(|&row| row != column) {
            let factor = a[row * size + column];
            for k in 0..size {
                a[row * size + k] -= factor * a[column * size + k];
                inverse[row * size + k] -= factor * inverse[column * size + k];
            }
        }
    }
    Ok((inverse, false))
}
