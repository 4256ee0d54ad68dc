//! Making sparse matrices in parallel: rows from a function, transposes, and sums of sparse rows.
//!
//! All work is cut into blocks of a fixed number of rows, so that results do not depend on the number of threads.

use crate::matrix::Csr;
use crate::real::Real;
use crate::vector::for_chunks;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Rows that one task makes.
const BLOCK: usize = 1024;

/// The matrices of the hierarchy.
pub(super) type Sparse = Csr<f32>;

/// A matrix whose rows are made by `fill(state, row, into)`, on all threads. It gives columns in ascending order.
///
/// `state` makes work space, one for each thread that takes part.
pub(super) fn from_rows<S: Send>(
    rows: usize,
    columns: usize,
    state: impl Fn() -> S + Sync,
    fill: impl Fn(&mut S, usize, &mut Entries) + Sync + Send,
) -> Sparse {
    Blocks::new(rows, state, fill).join(columns)
}

/// Sparse rows in blocks as they were made: good enough for a product that is needed once.
pub(super) struct Blocks {
    rows: usize,
    blocks: Vec<Block>,
}

/// Some rows, and where each begins, and one end more.
struct Block {
    starts: Vec<u32>,
    entries: Entries,
}

impl Blocks {
    /// Rows made by `fill`; here their columns may come in any order.
    pub fn new<S: Send>(
        rows: usize,
        state: impl Fn() -> S + Sync,
        fill: impl Fn(&mut S, usize, &mut Entries) + Sync + Send,
    ) -> Self {
        // Work space is large and tasks are many, so it goes from task to task. A poisoned lock says that another panicked.
        let idle: Mutex<Vec<S>> = Mutex::new(Vec::new());
        let lock = || idle.lock().unwrap_or_else(PoisonError::into_inner);
        let block = |block: usize| {
            let mut work = lock().pop().unwrap_or_else(&state);
            let range = block * BLOCK..(block * BLOCK + BLOCK).min(rows);
            let mut starts = Vec::with_capacity(range.len() + 1);
            let mut entries = Entries::default();
            starts.push(0);
            for row in range {
                fill(&mut work, row, &mut entries);
                starts.push(entries.columns.len() as u32);
            }
            lock().push(work);
            Block { starts, entries }
        };
        Self { rows, blocks: (0..rows.div_ceil(BLOCK)).into_par_iter().map(block).collect() }
    }

    /// The columns and values of a row.
    #[inline(always)]
    pub fn row(&self, row: usize) -> (&[u32], &[f32]) {
        let Block { starts, entries } = &self.blocks[row / BLOCK];
        let range = starts[row % BLOCK] as usize..starts[row % BLOCK + 1] as usize;
        (&entries.columns[range.clone()], &entries.values[range])
    }

    /// The rows as a matrix, if their columns ascend.
    fn join(self, columns: usize) -> Sparse {
        let mut starts = Vec::with_capacity(self.rows + 1);
        starts.push(0);
        let mut end = 0;
        for block in &self.blocks {
            starts.extend(block.starts[1..].iter().map(|here| end + here));
            end += block.entries.columns.len() as u32;
        }
        let mut indices = vec![0; end as usize];
        let mut values = vec![0.0; end as usize];
        let lengths = || self.blocks.iter().map(|block| block.entries.columns.len());
        let (places, numbers) = (cut(&mut indices, lengths()), cut(&mut values, lengths()));
        places.into_par_iter().zip(numbers).zip(&self.blocks).for_each(
            |((places, numbers), block)| {
                places.copy_from_slice(&block.entries.columns);
                numbers.copy_from_slice(&block.entries.values);
            },
        );
        Csr::from_sound_parts(columns, starts, indices, values)
    }
}

/// Columns and values of some rows, one row behind the other.
#[derive(Debug, Default)]
pub(super) struct Entries {
    pub columns: Vec<u32>,
    pub values: Vec<f32>,
}

impl Entries {
    /// Adds an entry to the last row.
    #[inline(always)]
    pub fn push(&mut self, column: u32, value: f32) {
        self.columns.push(column);
        self.values.push(value);
    }
}

/// A list in pieces of the given lengths.
pub(super) fn cut<T>(mut list: &mut [T], lengths: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    let mut pieces = Vec::new();
    for length in lengths {
        let (piece, rest) = list.split_at_mut(length);
        pieces.push(piece);
        list = rest;
    }
    pieces
}

/// Sums up one sparse row: entries come in any order, and are kept by column.
pub(super) struct Accumulator {
    slots: Vec<Slot>,
    /// Which row is being summed; slots of earlier ones count as empty.
    row: u32,
    /// The columns of this row, in the order in which they came.
    columns: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    row: u32,
    sum: f32,
}

impl Accumulator {
    /// For rows with this many columns.
    pub fn new(columns: usize) -> Self {
        Self { slots: vec![Slot::default(); columns], row: 1, columns: Vec::with_capacity(64) }
    }

    /// Adds a multiple of a sparse row.
    #[inline(always)]
    pub fn add_row(&mut self, factor: f32, (columns, values): (&[u32], &[f32])) {
        for (&column, &value) in columns.iter().zip(values) {
            let slot = &mut self.slots[column as usize];
            if slot.row == self.row {
                slot.sum += factor * value;
            } else {
                *slot = Slot { row: self.row, sum: factor * value };
                self.columns.push(column);
            }
        }
    }

    /// Calls `f` with each column and its sum, in the order in which columns came, and begins anew.
    #[inline(always)]
    pub fn drain(&mut self, mut f: impl FnMut(u32, f32)) {
        for &column in &self.columns {
            f(column, self.slots[column as usize].sum);
        }
        self.begin();
    }

    /// Appends the sums in ascending order of columns, and begins anew.
    #[inline(always)]
    pub fn finish(&mut self, into: &mut Entries) {
        let columns = &mut self.columns;
        if columns.len() <= 8 {
            for last in 1..columns.len() {
                let mut place = last;
                while place > 0 && columns[place - 1] > columns[place] {
                    columns.swap(place - 1, place);
                    place -= 1;
                }
            }
        } else {
            columns.sort_unstable();
        }
        self.finish_unsorted(into);
    }

    /// Appends the sums in the order in which their columns came, and begins anew.
    #[inline(always)]
    pub fn finish_unsorted(&mut self, into: &mut Entries) {
        into.columns.extend_from_slice(&self.columns);
        into.values.extend(self.columns.iter().map(|&column| self.slots[column as usize].sum));
        self.begin();
    }

    fn begin(&mut self) {
        self.columns.clear();
        self.row = self.row.wrapping_add(1);
        if self.row == 0 {
            // After 2³² rows the marks of the first would come to life again.
            self.slots.fill(Slot::default());
            self.row = 1;
        }
    }
}

/// The transpose, on all threads.
pub(super) fn transpose(matrix: &Sparse) -> Sparse {
    // Few and large blocks: each keeps a counter for every column.
    let (rows, columns) = (matrix.rows(), matrix.columns());
    let block = (rows / 16).max(4 * BLOCK);
    let ranges: Vec<_> =
        (0..rows.div_ceil(block)).map(|n| n * block..(n * block + block).min(rows)).collect();
    if ranges.len() < 2 {
        return matrix.transpose();
    }
    let mut counts: Vec<Vec<u32>> = ranges
        .par_iter()
        .map(|range| {
            let mut counts = vec![0; columns];
            let entries =
                matrix.starts()[range.start] as usize..matrix.starts()[range.end] as usize;
            matrix.indices()[entries].iter().for_each(|&column| counts[column as usize] += 1);
            counts
        })
        .collect();

    // Where each block's first entry of a column goes.
    let mut starts = Vec::with_capacity(columns + 1);
    let mut end = 0;
    for column in 0..columns {
        starts.push(end);
        for counts in &mut counts {
            end += std::mem::replace(&mut counts[column], end);
        }
    }
    starts.push(end);

    // Places of different blocks interleave, hence atomic stores; no place is written twice.
    let indices: Vec<AtomicU32> = zeros(matrix.entries());
    let values: Vec<AtomicU32> = zeros(matrix.entries());
    ranges.into_par_iter().zip(counts).for_each(|(range, mut next)| {
        for row in range {
            let (columns, entries) = matrix.row(row);
            for (&column, &value) in columns.iter().zip(entries) {
                let place = next[column as usize] as usize;
                next[column as usize] += 1;
                indices[place].store(row as u32, Relaxed);
                values[place].store(value.to_bits(), Relaxed);
            }
        }
    });
    let indices = indices.into_iter().map(AtomicU32::into_inner).collect();
    let values = values.into_iter().map(|bits| f32::from_bits(bits.into_inner())).collect();
    Csr::from_sound_parts(rows, starts, indices, values)
}

/// y = f(row, y, A·x), row by row.
pub(super) fn multiply_rows(
    matrix: &Sparse,
    x: &[f32],
    y: &mut [f32],
    f: impl Fn(usize, f32, f32) -> f32 + Sync,
) {
    assert!(x.len() == matrix.columns() && y.len() == matrix.rows(), "a vector per side");
    for_chunks(y, |first, y| {
        for (row, y) in (first..).zip(y) {
            let (columns, values) = matrix.row(row);
            let terms = columns.iter().zip(values).map(|(&column, &a)| a * x[column as usize]);
            *y = f(row, *y, terms.fold(0.0, |sum, term| sum + term));
        }
    });
}

fn zeros(count: usize) -> Vec<AtomicU32> {
    (0..count).map(|_| AtomicU32::new(0)).collect()
}

/// A matrix in `f32`, each value times a factor.
pub(super) fn scaled(matrix: &Csr<f64>, factor: f64) -> Sparse {
    let values = matrix.values().par_iter().map(|value| f32::from_f64(factor * value)).collect();
    let (starts, indices) = (matrix.starts().to_vec(), matrix.indices().to_vec());
    Csr::from_sound_parts(matrix.columns(), starts, indices, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transpose_on_all_threads_is_the_plain_one() {
        let matrix = from_rows(
            40_000,
            97,
            || (),
            |(), row, into| {
                for column in (0..97).filter(|column| (row * 31 + column * 17) % 23 == 0) {
                    into.push(column as u32, (row + column) as f32);
                }
            },
        );
        assert_eq!(transpose(&matrix), matrix.transpose());
    }

    #[test]
    fn an_accumulator_sums_by_column_and_forgets() {
        let mut sums = Accumulator::new(10);
        for _ in 0..2 {
            let mut row = Entries::default();
            sums.add_row(1.0, (&[7, 2], &[1.0, 2.0]));
            sums.add_row(-2.0, (&[0, 2, 7], &[-2.0, 1.0, -1.5]));
            sums.finish(&mut row);
            assert_eq!((row.columns, row.values), (vec![0, 2, 7], vec![4.0, 0.0, 4.0]));
        }
    }
}
