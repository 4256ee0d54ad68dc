//! Rows that may be worked on at once: blocks of consecutive rows, coloured so that no two of a colour touch.
//!
//! Gauss-Seidel sweeps and triangular solves go row by row, each row needing those before it. Here "before" means: of an
//! earlier colour, or of the same block and a smaller number. All blocks of a colour then run in parallel, and the result
//! has the same bits on any number of threads, because the blocks depend on the matrix alone (Iwashita & Shimasaki 2003
//! call it block multicolour ordering). Inside a block the order stays the natural one, which costs far fewer iterations
//! than colouring single rows. A numbering that follows a grid or a band gives two colours.

use crate::error::Result;
use crate::matrix::Csr;
use crate::real::Real;
use crate::rows::Rows;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Most blocks of a process: half of them run at once. More cost iterations: on a half-full box of 64³ or 96³ cells,
/// 16 blocks take 2 % more iterations than one with IC(0) and a quarter more with MIC(0), 64 blocks 8 % and 70 % more.
const BLOCKS: usize = 16;

/// Rows that are worth a block of their own.
const FEWEST: usize = 4096;

/// Not coloured yet.
const NONE: u32 = u32::MAX;

/// Coloured blocks of consecutive rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Colours {
    rows: usize,
    /// Rows of every block but the last.
    size: usize,
    /// The colour of every block.
    colours: Vec<u32>,
    /// The blocks of every colour, ascending.
    blocks: Vec<Vec<u32>>,
}

impl Colours {
    /// Colours the local rows of a matrix; columns beyond them do not count.
    pub fn local<T: Real>(matrix: &Csr<T>) -> Self {
        Self::in_blocks(matrix, FEWEST, BLOCKS)
    }

    /// The same in blocks of at least `fewest` rows, and at most so many of them.
    pub fn in_blocks<T: Real>(matrix: &Csr<T>, fewest: usize, blocks: usize) -> Self {
        let mut colours = Self::new(matrix.rows(), fewest, blocks);
        let links = colours.links(matrix);
        colours.paint(&links, &[]);
        colours.collect(0);
        colours
    }

    /// Colours the rows of all processes, so that blocks of a colour do not touch across processes either. Every process
    /// has the same number of colours afterwards. Collective.
    pub fn across(rows: &Rows, matrix: &Csr<f64>) -> Result<Self> {
        if rows.is_single() {
            return Ok(Self::local(matrix));
        }
        let mut colours = Self::new(matrix.rows(), FEWEST, BLOCKS);
        let links = colours.links(matrix);
        let mut of_rows = vec![NONE; rows.stored()];
        // Process after process, each knowing what those before it chose.
        for process in 0..rows.processes().count() {
            if process == rows.processes().rank() {
                let mut taken: Vec<(u32, u32)> = Vec::new();
                for row in 0..colours.rows {
                    let foreign = matrix.row(row).0.iter().filter(|&&c| c as usize >= colours.rows);
                    let block = colours.block(row) as u32;
                    taken.extend(foreign.map(|&c| (block, of_rows[c as usize])));
                }
                taken.retain(|&(_, colour)| colour != NONE);
                taken.sort_unstable();
                taken.dedup();
                colours.paint(&links, &taken);
                for (row, colour) in of_rows[..colours.rows].iter_mut().enumerate() {
                    *colour = colours.colours[colours.block(row)];
                }
            }
            rows.refresh(&mut of_rows)?;
        }
        let count = colours.colours.iter().max().map_or(0, |&most| most as usize + 1);
        colours.collect(rows.max(count as f64)? as usize);
        Ok(colours)
    }

    /// How many colours there are.
    pub fn count(&self) -> usize {
        self.blocks.len()
    }

    /// Something that ascends in the order of work, and by which rows can be compared.
    #[inline(always)]
    pub fn place(&self, row: usize) -> u64 {
        (u64::from(self.colours[self.block(row)]) << 32) | row as u64
    }

    /// Calls `work` on the rows of every block of a colour, on all threads; returns what it returned, block after block.
    pub fn each<R: Send>(&self, colour: usize, work: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
        let blocks = &self.blocks[colour];
        match blocks.len() {
            1 => blocks.iter().map(|&block| work(self.range(block))).collect(),
            _ => blocks.par_iter().with_max_len(1).map(|&block| work(self.range(block))).collect(),
        }
    }

    /// All rows in the order of work.
    pub fn in_order(&self) -> impl Iterator<Item = usize> {
        self.blocks.iter().flatten().flat_map(|&block| self.range(block))
    }

    /// Bytes of the lists.
    pub fn bytes(&self) -> u64 {
        8 * self.colours.len() as u64
    }

    fn new(rows: usize, fewest: usize, blocks: usize) -> Self {
        let count = (rows / fewest).clamp(1, blocks);
        let size = rows.div_ceil(count).max(1);
        Self { rows, size, colours: vec![NONE; rows.div_ceil(size)], blocks: Vec::new() }
    }

    #[inline(always)]
    fn block(&self, row: usize) -> usize {
        row / self.size
    }

    fn range(&self, block: u32) -> Range<usize> {
        let first = block as usize * self.size;
        first..(first + self.size).min(self.rows)
    }

    /// Which blocks touch which: of every block the others that an entry of either leads to.
    fn links<T: Real>(&self, matrix: &Csr<T>) -> Vec<Vec<u32>> {
        let found: Vec<Vec<u32>> = (0..self.colours.len())
            .into_par_iter()
            .map(|block| {
                let mut touched = vec![false; self.colours.len()];
                for row in self.range(block as u32) {
                    for &column in matrix.row(row).0 {
                        if (column as usize) < self.rows {
                            touched[self.block(column as usize)] = true;
                        }
                    }
                }
                (0..touched.len() as u32).filter(|&other| touched[other as usize]).collect()
            })
            .collect();
        let mut links = found.clone();
        for (block, touched) in found.iter().enumerate() {
            touched.iter().for_each(|&other| links[other as usize].push(block as u32));
        }
        links
    }

    /// Gives every block the first colour that no neighbour has. `taken` are colours of foreign neighbours, by block.
    fn paint(&mut self, links: &[Vec<u32>], taken: &[(u32, u32)]) {
        for (block, links) in links.iter().enumerate() {
            let mut used: Vec<u32> = links
                .iter()
                .map(|&other| self.colours[other as usize])
                .chain(taken.iter().filter(|entry| entry.0 as usize == block).map(|entry| entry.1))
                .collect();
            used.sort_unstable();
            let free =
                used.iter().fold(0, |free, &used| if used == free { free + 1 } else { free });
            self.colours[block] = free;
        }
    }

    /// Lists the blocks of every colour, of `least` colours at least.
    fn collect(&mut self, least: usize) {
        let count = self.colours.iter().max().map_or(0, |&most| most as usize + 1);
        self.blocks = vec![Vec::new(); count.max(least)];
        for (block, &colour) in self.colours.iter().enumerate() {
            self.blocks[colour as usize].push(block as u32);
        }
    }
}

/// A vector that several threads write at once, each its own entries, while they read those of others that are done.
///
/// Relaxed atomics cost as much as plain loads and stores; an order that is wrong can give a wrong number, but never more.
#[derive(Debug, Default)]
pub(crate) struct SharedVector(Vec<AtomicU64>);

impl SharedVector {
    /// Zeros.
    pub fn zeros(len: usize) -> Self {
        Self((0..len).map(|_| AtomicU64::new(0)).collect())
    }

    /// An entry.
    #[inline(always)]
    pub fn get(&self, n: usize) -> f64 {
        f64::from_bits(self.0[n].load(Relaxed))
    }

    /// Sets an entry.
    #[inline(always)]
    pub fn set(&self, n: usize, value: f64) {
        self.0[n].store(value.to_bits(), Relaxed);
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Copies into a plain vector, as far as that goes.
    pub fn store(&self, x: &mut [f64]) {
        crate::vector::for_chunks(x, |start, x| {
            for (x, shared) in x.iter_mut().zip(&self.0[start..]) {
                *x = f64::from_bits(shared.load(Relaxed));
            }
        });
    }

    /// Copies from a plain vector, as far as that goes.
    pub fn load(&mut self, x: &[f64]) {
        let len = x.len();
        crate::vector::for_chunks(&mut self.0[..len], |start, shared| {
            for (shared, &x) in shared.iter_mut().zip(&x[start..]) {
                *shared.get_mut() = x.to_bits();
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A band of half width `half` in `rows` rows.
    fn band(rows: usize, half: usize) -> Csr<f64> {
        let row = |row: usize| (row.saturating_sub(half)..(row + half + 1).min(rows)).step_by(half);
        let triplets = (0..rows).flat_map(|r| row(r).map(move |column| (r, column, 1.0)));
        Csr::from_triplets(rows, rows, triplets).unwrap()
    }

    #[test]
    fn blocks_of_a_colour_never_touch() {
        for (rows, half) in
            [(0, 1), (1, 1), (1000, 7), (9000, 50), (50_000, 1500), (50_000, 20_000)]
        {
            let matrix = band(rows, half);
            let colours = Colours::local(&matrix);
            let order: Vec<usize> = colours.in_order().collect();
            assert!(order.is_sorted_by_key(|&row| colours.place(row)), "the order of work");
            let each = (0..colours.count()).flat_map(|colour| colours.each(colour, |range| range));
            assert_eq!(each.flatten().collect::<Vec<_>>(), order);
            assert_eq!(order.len(), rows, "every row is in one block");
            for row in 0..rows {
                for &column in matrix.row(row).0 {
                    let (a, b) = (colours.block(row), colours.block(column as usize));
                    assert!(a == b || colours.colours[a] != colours.colours[b]);
                }
            }
        }
    }

    #[test]
    fn a_band_needs_two_colours() {
        assert_eq!(Colours::local(&band(50_000, 1000)).count(), 2);
        assert_eq!(Colours::local(&band(500, 100)).count(), 1);
    }
}
