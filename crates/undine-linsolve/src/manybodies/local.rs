//! One Object's block of a matrix, on its own.

use super::blocks::Blocks;
use crate::matrix::Csr;
use std::collections::VecDeque;

/// Where every row is among the blocks.
#[derive(Debug)]
pub(super) struct Places {
    /// The block of each row.
    pub block: Vec<u32>,
    /// Its place among the rows of the block.
    pub place: Vec<u32>,
}

impl Places {
    /// For blocks that hold all of `count` rows.
    pub fn new(blocks: &Blocks, count: usize) -> Self {
        let (mut block, mut place) = (vec![0; count], vec![0; count]);
        for n in 0..blocks.len() {
            for (at, &row) in blocks.rows(n).iter().enumerate() {
                block[row as usize] = n as u32;
                place[row as usize] = at as u32;
            }
        }
        Self { block, place }
    }

    /// The entries of a row that are in its block, as places in the block and values.
    pub fn entries<'a>(
        &'a self,
        matrix: &'a Csr<f64>,
        row: u32,
    ) -> impl Iterator<Item = (usize, f64)> + 'a {
        let own = self.block[row as usize];
        let (columns, values) = matrix.row(row as usize);
        columns.iter().zip(values).filter_map(move |(&column, &value)| {
            // Columns beyond the rows are copies of other processes' rows, which are in no block of ours.
            let block = *self.block.get(column as usize)?;
            (block == own).then(|| (self.place[column as usize] as usize, value))
        })
    }

    /// The half-width of a block's band.
    pub fn width(&self, matrix: &Csr<f64>, rows: &[u32]) -> usize {
        let width = |(place, &row): (usize, &u32)| {
            self.entries(matrix, row).map(|(column, _)| place.abs_diff(column)).max().unwrap_or(0)
        };
        rows.iter().enumerate().map(width).max().unwrap_or(0)
    }

    /// A block as a matrix that stores all of its diagonal.
    pub fn extract(&self, matrix: &Csr<f64>, rows: &[u32]) -> Csr<f64> {
        let mut starts = Vec::with_capacity(rows.len() + 1);
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        let mut list: Vec<(usize, f64)> = Vec::new();
        starts.push(0);
        for (place, &row) in rows.iter().enumerate() {
            list.clear();
            list.extend(self.entries(matrix, row));
            if list.iter().all(|&(column, _)| column != place) {
                list.push((place, 0.0));
            }
            list.sort_unstable_by_key(|&(column, _)| column);
            indices.extend(list.iter().map(|&(column, _)| column as u32));
            values.extend(list.iter().map(|&(_, value)| value));
            starts.push(indices.len() as u32);
        }
        Csr::from_sound_parts(rows.len(), starts, indices, values)
    }

    /// Bytes of the lists.
    pub fn bytes(&self) -> u64 {
        4 * (self.block.len() + self.place.len()) as u64
    }
}

/// The rows of a matrix in the order of Cuthill & McKee (1969), reversed: a narrow band, if there is one.
pub(super) fn narrow_order(matrix: &Csr<f64>) -> Vec<u32> {
    let n = matrix.rows();
    let degree = |row: u32| matrix.range(row as usize).len();
    let mut order: Vec<u32> = Vec::with_capacity(n);
    let mut seen = vec![false; n];
    for start in 0..n as u32 {
        if seen[start as usize] {
            continue;
        }
        // From an end of the component, found by walking to the far side twice.
        let mut end = start;
        for _ in 0..2 {
            end = *breadth_first(matrix, end, &mut seen.clone(), degree).last().unwrap_or(&end);
        }
        order.extend(breadth_first(matrix, end, &mut seen, degree));
    }
    order.reverse();
    order
}

/// The rows that can be reached from one, those of few entries first among neighbours.
fn breadth_first(
    matrix: &Csr<f64>,
    start: u32,
    seen: &mut [bool],
    degree: impl Fn(u32) -> usize,
) -> Vec<u32> {
    let mut order = Vec::new();
    let mut queue = VecDeque::from([start]);
    seen[start as usize] = true;
    while let Some(row) = queue.pop_front() {
        order.push(row);
        let mut next: Vec<u32> = (matrix.row(row as usize).0.iter().copied())
            .filter(|&other| !std::mem::replace(&mut seen[other as usize], true))
            .collect();
        next.sort_by_key(|&row| degree(row));
        queue.extend(next);
    }
    order
}
