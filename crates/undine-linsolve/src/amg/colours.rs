//! Gauss-Seidel by colours: blocks of neighbouring rows are coloured so that no two of one colour are coupled.
//!
//! Colour after colour, all blocks of a colour are swept on all threads, each row after row. That is plain Gauss-Seidel in an order of
//! rows that depends on the matrix alone. Blocks rather than rows have colours because then a sweep reads the matrix in order.

use super::sparse::Sparse;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Rows of a block.
const BLOCK: usize = 1024;

/// Below this many rows a sweep is not worth waking other threads for.
const ALONE: usize = 8 * BLOCK;

/// The blocks of every colour.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Colours(Vec<Vec<u32>>);

impl Colours {
    /// Colours the blocks of a matrix, each with the first colour that none of its neighbours has.
    pub fn new(matrix: &Sparse) -> Self {
        let rows = matrix.rows();
        let blocks = rows.div_ceil(BLOCK);
        if rows <= ALONE {
            return Self((0..blocks as u32).map(|block| vec![block]).collect());
        }
        let mut neighbours: Vec<Vec<u32>> = (0..blocks)
            .into_par_iter()
            .map(|block| {
                let entries = matrix.starts()[block * BLOCK] as usize
                    ..matrix.starts()[(block * BLOCK + BLOCK).min(rows)] as usize;
                let mut seen = vec![false; blocks];
                let mut found = Vec::new();
                for &column in matrix.indices()[entries].iter().filter(|&&c| (c as usize) < rows) {
                    let other = column as usize / BLOCK;
                    if !seen[other] {
                        seen[other] = true;
                        found.push(other as u32);
                    }
                }
                found
            })
            .collect();
        // Both ways: where an entry has no mirror image, the order of rows must still not depend on chance.
        for block in 0..blocks {
            for other in neighbours[block].clone() {
                if !neighbours[other as usize].contains(&(block as u32)) {
                    neighbours[other as usize].push(block as u32);
                }
            }
        }
        let mut colours: Vec<Vec<u32>> = Vec::new();
        let mut of_block = vec![usize::MAX; blocks];
        for (block, neighbours) in neighbours.iter().enumerate() {
            let taken = |colour| neighbours.iter().any(|&other| of_block[other as usize] == colour);
            let free = (0..=colours.len()).find(|&colour| !taken(colour)).unwrap_or(colours.len());
            if free == colours.len() {
                colours.push(Vec::new());
            }
            of_block[block] = free;
            colours[free].push(block as u32);
        }
        Self(colours)
    }

    /// One sweep in order. `inverse` is that of the diagonal; `x` may have copies of foreign rows behind, which stay.
    pub fn forward(&self, matrix: &Sparse, inverse: &[f32], b: &[f32], x: &mut [f32]) {
        let x = shared(x);
        for blocks in &self.0 {
            for_blocks(matrix, blocks, |rows| {
                rows.for_each(|row| relax(matrix, inverse, b, x, row));
            });
        }
    }

    /// One sweep in the opposite order.
    pub fn backward(&self, matrix: &Sparse, inverse: &[f32], b: &[f32], x: &mut [f32]) {
        let x = shared(x);
        for blocks in self.0.iter().rev() {
            for_blocks(matrix, blocks, |rows| {
                rows.rev().for_each(|row| relax(matrix, inverse, b, x, row));
            });
        }
    }

    pub fn bytes(&self) -> u64 {
        self.0.iter().map(|blocks| 4 * blocks.len() as u64).sum()
    }
}

fn for_blocks(
    matrix: &Sparse,
    blocks: &[u32],
    sweep: impl Fn(std::ops::Range<usize>) + Sync + Send,
) {
    let range = |&block: &u32| {
        let first = block as usize * BLOCK;
        first..(first + BLOCK).min(matrix.rows())
    };
    if blocks.len() < 2 {
        blocks.iter().for_each(|block| sweep(range(block)));
    } else {
        blocks.par_iter().for_each(|block| sweep(range(block)));
    }
}

/// Brings one row's residual to zero.
#[inline(always)]
fn relax(matrix: &Sparse, inverse: &[f32], b: &[f32], x: &[AtomicU32], row: usize) {
    let (columns, values) = matrix.row(row);
    let mut residual = b[row];
    for (&column, &value) in columns.iter().zip(values) {
        residual -= value * f32::from_bits(x[column as usize].load(Relaxed));
    }
    let before = f32::from_bits(x[row].load(Relaxed));
    x[row].store((before + residual * inverse[row]).to_bits(), Relaxed);
}

/// A vector that several threads write, each its own entries. Relaxed loads and stores cost what plain ones do.
fn shared(x: &mut [f32]) -> &[AtomicU32] {
    // SAFETY: `AtomicU32` has the size and alignment of `u32`, hence of `f32`, and any bits are valid for both; the borrow is
    // exclusive, so that for its duration nobody sees the floats other than through the atomics.
    unsafe { std::slice::from_raw_parts(x.as_mut_ptr().cast::<AtomicU32>(), x.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Csr;

    fn ring(rows: usize, reach: usize) -> Sparse {
        let entries = (0..rows).flat_map(|row| {
            let other = (row + reach) % rows;
            [(row, row, 5.0), (row, other, -1.0), (other, row, -1.0), (row, (row + 1) % rows, -0.5)]
        });
        Csr::from_triplets(rows, rows, entries).unwrap()
    }

    #[test]
    fn shared_entries_are_the_vector_itself() {
        let mut x = [1.0_f32, -2.5, 3.0];
        shared(&mut x)[1].store(7.25_f32.to_bits(), Relaxed);
        assert_eq!(x, [1.0, 7.25, 3.0]);
    }

    #[test]
    fn blocks_of_one_colour_are_not_coupled_and_every_block_has_one() {
        let matrix = ring(50_000, 3000);
        let colours = Colours::new(&matrix);
        let mut of_block = vec![None; 50_000_usize.div_ceil(BLOCK)];
        for (colour, blocks) in colours.0.iter().enumerate() {
            for &block in blocks {
                assert_eq!(of_block[block as usize].replace(colour), None);
            }
        }
        for row in 0..50_000 {
            for &column in matrix.row(row).0 {
                let (here, there) = (row / BLOCK, column as usize / BLOCK);
                assert!(here == there || of_block[here] != of_block[there]);
            }
        }
    }
}
