//! Compressed sparse rows of dense blocks, of any sizes in one matrix: a rigid body has 6 unknowns, a rod's vertex 4, a
//! vertex of cloth 3, a pressure 1.
//!
//! One column index serves a whole block, so that a product reads 8.25 instead of 12 bytes per entry of 4×4 blocks.

use super::csr::check_count;
use super::{Csr, Nodes};
use crate::error::{Result, SolveError};
use crate::operator::Operator;
use crate::real::Real;
use crate::rows::Rows;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Nodes that one task works on.
pub(super) const NODES_PER_TASK: usize = 256;

/// A sparse matrix of dense blocks, a node per row and column of blocks. Columns of a row ascend, none twice.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockCsr<T> {
    /// The nodes of the columns; the first ones are those of the rows.
    nodes: Arc<Nodes>,
    /// Where each row of blocks begins in `indices`, and one end more.
    starts: Vec<u32>,
    /// The column's node of every block.
    indices: Vec<u32>,
    /// Where each row of blocks begins in `values`, and one end more.
    value_starts: Vec<u32>,
    /// The blocks one after another, each row after row.
    values: Vec<T>,
}

impl<T: Real> BlockCsr<T> {
    /// A matrix of given parts: `starts` has one entry more than there are rows of blocks, which are those of the first
    /// nodes; `values` holds block after block, each row after row.
    ///
    /// Refuses a structure that is none, and entries that are not finite. Rows are named by their node.
    pub fn new(
        nodes: Arc<Nodes>,
        starts: Vec<u32>,
        indices: Vec<u32>,
        values: Vec<T>,
    ) -> Result<Self> {
        let blocks =
            Csr::new(nodes.count(), starts, indices.clone(), vec![1.0_f32; indices.len()])?;
        if blocks.rows() > nodes.count() {
            return Err(SolveError::NotSquare { rows: blocks.rows(), columns: nodes.count() });
        }
        let matrix = Self::zeros(nodes, blocks.starts().to_vec(), indices)?;
        if values.len() != matrix.values.len() {
            return Err(SolveError::WrongLength {
                what: "the list of values of all blocks",
                found: values.len(),
                wanted: matrix.values.len(),
            });
        }
        let matrix = Self { values, ..matrix };
        matrix.check_finite()?;
        Ok(matrix)
    }

    /// A matrix of zeros with a pattern that is known to be sound.
    pub(super) fn zeros(nodes: Arc<Nodes>, starts: Vec<u32>, indices: Vec<u32>) -> Result<Self> {
        let mut value_starts = Vec::with_capacity(starts.len());
        let mut end = 0;
        value_starts.push(0);
        for node in 0..starts.len() - 1 {
            let columns = &indices[starts[node] as usize..starts[node + 1] as usize];
            let width: usize = columns.iter().map(|&column| nodes.size(column as usize)).sum();
            end += nodes.size(node) * width;
            check_count("the number of entries of all blocks", end)?;
            value_starts.push(end as u32);
        }
        Ok(Self { nodes, starts, indices, value_starts, values: vec![T::ZERO; end] })
    }

    /// The smallest blocks that hold all entries of a matrix, with zeros where it has none. The columns are all rows of
    /// the nodes; the rows those of as many nodes as they fill.
    pub fn from_csr(matrix: &Csr<T>, nodes: Arc<Nodes>) -> Result<Self> {
        let row_nodes = nodes.starts().binary_search(&(matrix.rows() as u32));
        let Ok(row_nodes) = row_nodes.map_err(|_| ()) else {
            return Err(SolveError::WrongLength {
                what: "a matrix to cut into blocks",
                found: matrix.rows(),
                wanted: nodes.rows(),
            });
        };
        if matrix.columns() != nodes.rows() {
            let (rows, columns) = (nodes.rows(), matrix.columns());
            return Err(SolveError::NotSquare { rows, columns });
        }
        let node_of = nodes.of_rows();
        let columns_of = |node: usize| {
            let rows = nodes.range(node);
            let entries = rows.flat_map(|row| matrix.row(row).0);
            let mut columns: Vec<u32> = entries.map(|&column| node_of[column as usize]).collect();
            columns.sort_unstable();
            columns.dedup();
            columns
        };
        let columns: Vec<Vec<u32>> = (0..row_nodes).into_par_iter().map(columns_of).collect();
        let (starts, indices) = joined(&columns)?;
        let mut blocks = Self::zeros(nodes, starts, indices)?;
        let BlockCsr { nodes, starts, indices, value_starts, values } = &mut blocks;
        let each = split(values, value_starts, 1);
        each.into_par_iter().enumerate().for_each(|(node, values)| {
            let columns = &indices[starts[node] as usize..starts[node + 1] as usize];
            let size = nodes.size(node);
            for (local, row) in nodes.range(node).enumerate() {
                let (mut block, mut at) = (0, 0);
                for (&column, &value) in matrix.row(row).0.iter().zip(matrix.row(row).1) {
                    let wanted = node_of[column as usize];
                    while columns[block] != wanted {
                        at += size * nodes.size(columns[block] as usize);
                        block += 1;
                    }
                    let range = nodes.range(wanted as usize);
                    values[at + local * range.len() + (column as usize - range.start)] = value;
                }
            }
        });
        Ok(blocks)
    }

    /// The same matrix without blocks; zeros inside of blocks stay. Its nodes are [`Self::nodes`].
    pub fn to_csr(&self) -> Result<Csr<T>> {
        let rows = self.rows();
        check_count("the number of entries of all blocks", self.values.len())?;
        let mut starts = vec![0_u32; rows + 1];
        for node in 0..self.row_nodes() {
            let range = self.nodes.range(node);
            let width = (self.value_range(node).len() / range.len()) as u32;
            for row in range {
                starts[row + 1] = starts[row] + width;
            }
        }
        let mut indices = vec![0_u32; self.values.len()];
        let mut values = vec![T::ZERO; self.values.len()];
        self.by_rows(&mut indices, |column, _, part| {
            let columns = self.nodes.range(column);
            part.iter_mut().zip(columns).for_each(|(index, column)| *index = column as u32);
        });
        self.by_rows(&mut values, |_, entries, part| part.copy_from_slice(entries));
        Ok(Csr::from_sound_parts(self.columns(), starts, indices, values))
    }

    /// Fills a list that has something for each entry, row after row: `fill` gets the column's node and the entries of a block's row, and
    /// their part of the list.
    fn by_rows<U: Send>(&self, list: &mut [U], fill: impl Fn(usize, &[T], &mut [U]) + Sync) {
        // A row of blocks holds the same entries either way, only in another order.
        let parts = split(list, &self.value_starts, NODES_PER_TASK);
        parts.into_par_iter().enumerate().for_each(|(task, part)| {
            let first = task * NODES_PER_TASK;
            let mut base = 0;
            for node in first..(first + NODES_PER_TASK).min(self.row_nodes()) {
                let size = self.nodes.size(node);
                let width = self.value_range(node).len() / size;
                let mut before = 0;
                for (column, block) in self.row(node) {
                    let columns = self.nodes.size(column);
                    for (local, entries) in block.chunks_exact(columns).enumerate() {
                        let at = base + local * width + before;
                        fill(column, entries, &mut part[at..at + columns]);
                    }
                    before += columns;
                }
                base += size * width;
            }
        });
    }

    /// The nodes of the columns; the first [`Self::row_nodes`] are those of the rows.
    pub fn nodes(&self) -> &Arc<Nodes> {
        &self.nodes
    }

    /// How many rows of blocks there are.
    pub fn row_nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.nodes.starts()[self.row_nodes()] as usize
    }

    /// How many columns there are.
    pub fn columns(&self) -> usize {
        self.nodes.rows()
    }

    /// How many blocks are stored.
    pub fn blocks(&self) -> usize {
        self.indices.len()
    }

    /// The columns' nodes of a row of blocks.
    #[inline(always)]
    pub fn row_columns(&self, node: usize) -> &[u32] {
        &self.indices[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    /// The blocks of a row: the column's node, and the entries row after row.
    pub fn row(&self, node: usize) -> impl Iterator<Item = (usize, &[T])> {
        let size = self.nodes.size(node);
        let mut rest = &self.values[self.value_range(node)];
        self.row_columns(node).iter().map(move |&column| {
            let (block, behind) = rest.split_at(size * self.nodes.size(column as usize));
            rest = behind;
            (column as usize, block)
        })
    }

    /// The block at a place, row after row, if one is stored.
    pub fn block(&self, row: usize, column: usize) -> Option<&[T]> {
        self.row(row).find(|&(found, _)| found == column).map(|(_, block)| block)
    }

    /// The block on the diagonal of each row; none where the matrix stores none.
    pub fn diagonal_blocks(&self) -> impl Iterator<Item = Option<&[T]>> {
        (0..self.row_nodes()).map(|node| self.block(node, node))
    }

    /// All values, block after block.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// All values and where each row of blocks begins in them, for new ones on the same pattern.
    pub(super) fn values_and_starts(&mut self) -> (&mut [T], &[u32]) {
        (&mut self.values, &self.value_starts)
    }

    /// Where the values of a row of blocks are.
    #[inline(always)]
    pub(super) fn value_range(&self, node: usize) -> Range<usize> {
        self.value_starts[node] as usize..self.value_starts[node + 1] as usize
    }

    /// y = A·x. The sums run in the order of columns, as those of [`Csr::multiply`] do.
    pub fn multiply(&self, x: &[T], y: &mut [T]) {
        assert!(x.len() == self.columns() && y.len() == self.rows(), "a vector per side");
        let row_starts = &self.nodes.starts()[..=self.row_nodes()];
        let work = |(task, y): (usize, &mut [T])| {
            let first = task * NODES_PER_TASK;
            self.multiply_nodes(first..(first + NODES_PER_TASK).min(self.row_nodes()), x, y);
        };
        let parts = split(y, row_starts, NODES_PER_TASK);
        if parts.len() <= 4 {
            parts.into_iter().enumerate().for_each(work);
        } else {
            parts.into_par_iter().enumerate().for_each(work);
        }
    }

    fn multiply_nodes(&self, nodes: Range<usize>, x: &[T], mut y: &mut [T]) {
        for node in nodes {
            let (here, rest) = y.split_at_mut(self.nodes.size(node));
            match here.len() {
                1 => self.multiply_node::<1>(node, x, here),
                3 => self.multiply_node::<3>(node, x, here),
                4 => self.multiply_node::<4>(node, x, here),
                6 => self.multiply_node::<6>(node, x, here),
                _ => self.multiply_any(node, x, here),
            }
            y = rest;
        }
    }

    /// A node of a common size.
    #[inline]
    fn multiply_node<const R: usize>(&self, node: usize, x: &[T], y: &mut [T]) {
        let mut sums = [T::ZERO; R];
        let mut rest = &self.values[self.value_range(node)];
        for &column in self.row_columns(node) {
            let range = self.nodes.range(column as usize);
            let (block, behind) = rest.split_at(R * range.len());
            let x = &x[range];
            match x.len() {
                1 => add_product::<T, R, 1>(block, x, &mut sums),
                3 => add_product::<T, R, 3>(block, x, &mut sums),
                4 => add_product::<T, R, 4>(block, x, &mut sums),
                6 => add_product::<T, R, 6>(block, x, &mut sums),
                _ => add_any_product(block, x, &mut sums),
            }
            rest = behind;
        }
        y.copy_from_slice(&sums);
    }

    /// A node of any size.
    fn multiply_any(&self, node: usize, x: &[T], y: &mut [T]) {
        y.fill(T::ZERO);
        for (column, block) in self.row(node) {
            add_any_product(block, &x[self.nodes.range(column)], y);
        }
    }

    /// The same matrix in another precision.
    pub fn convert<U: Real>(&self) -> BlockCsr<U> {
        BlockCsr {
            nodes: Arc::clone(&self.nodes),
            starts: self.starts.clone(),
            indices: self.indices.clone(),
            value_starts: self.value_starts.clone(),
            values: self.values.par_iter().map(|value| U::from_f64(value.to_f64())).collect(),
        }
    }

    /// Bytes of the lists.
    pub fn bytes(&self) -> u64 {
        let lists = self.starts.len() + self.indices.len() + self.value_starts.len();
        4 * lists as u64 + self.nodes.bytes() + size_of_val(&self.values[..]) as u64
    }

    fn check_finite(&self) -> Result<()> {
        let fault = (0..self.row_nodes()).into_par_iter().find_map_first(|node| {
            self.row(node).find_map(|(column, block)| {
                let at = block.iter().position(|value| !value.is_finite())?;
                let width = self.nodes.size(column);
                Some(SolveError::EntryNotFinite {
                    row: self.nodes.range(node).start + at / width,
                    column: self.nodes.range(column).start + at % width,
                    value: block[at].to_f64(),
                })
            })
        });
        fault.map_or(Ok(()), Err)
    }
}

/// y ← y + block · x, of a common size.
#[inline(always)]
fn add_product<T: Real, const R: usize, const C: usize>(block: &[T], x: &[T], y: &mut [T; R]) {
    let x = &x[..C];
    let block = &block[..R * C];
    for r in 0..R {
        for c in 0..C {
            y[r] += block[r * C + c] * x[c];
        }
    }
}

/// y ← y + block · x, of any size.
fn add_any_product<T: Real>(block: &[T], x: &[T], y: &mut [T]) {
    for (y, entries) in y.iter_mut().zip(block.chunks_exact(x.len())) {
        for (&entry, &x) in entries.iter().zip(x) {
            *y += entry * x;
        }
    }
}

/// A list cut where every `every`-th run of it begins.
pub(super) fn split<'a, T>(
    mut list: &'a mut [T],
    starts: &[u32],
    every: usize,
) -> Vec<&'a mut [T]> {
    let runs = starts.len() - 1;
    let mut parts = Vec::with_capacity(runs.div_ceil(every));
    for first in (0..runs).step_by(every) {
        let end = (first + every).min(runs);
        let (part, rest) = list.split_at_mut((starts[end] - starts[first]) as usize);
        parts.push(part);
        list = rest;
    }
    parts
}

/// Lists one after another, and where each begins.
pub(super) fn joined(lists: &[Vec<u32>]) -> Result<(Vec<u32>, Vec<u32>)> {
    check_count("the number of blocks", lists.iter().map(Vec::len).sum())?;
    let mut starts = Vec::with_capacity(lists.len() + 1);
    let mut end = 0;
    starts.push(0);
    starts.extend(lists.iter().map(|list| {
        end += list.len() as u32;
        end
    }));
    Ok((starts, lists.concat()))
}

/// A square matrix of blocks in `f64` over the rows of one or several processes.
#[derive(Debug, Clone)]
pub struct BlockMatrix {
    rows: Arc<Rows>,
    blocks: BlockCsr<f64>,
}

impl BlockMatrix {
    /// A matrix that is all on this process.
    pub fn single(blocks: BlockCsr<f64>) -> Result<Self> {
        Self::new(Rows::single(blocks.rows()), blocks)
    }

    /// The local rows of a matrix; its columns are the stored entries of `rows`.
    pub fn new(rows: Arc<Rows>, blocks: BlockCsr<f64>) -> Result<Self> {
        let (found, columns) = (blocks.rows(), blocks.columns());
        if rows.is_single() && found != columns {
            return Err(SolveError::NotSquare { rows: found, columns });
        }
        let what = "the matrix of blocks";
        if found != rows.local() {
            return Err(SolveError::WrongLength { what, found, wanted: rows.local() });
        }
        if columns != rows.stored() {
            return Err(SolveError::WrongLength { what, found: columns, wanted: rows.stored() });
        }
        Ok(Self { rows, blocks })
    }

    /// The local rows; columns beyond them are copies of foreign rows.
    pub fn blocks(&self) -> &BlockCsr<f64> {
        &self.blocks
    }

    /// The blocks, for new values.
    pub(super) fn blocks_mut(&mut self) -> &mut BlockCsr<f64> {
        &mut self.blocks
    }

    /// The rows as something to share.
    pub fn shared_rows(&self) -> &Arc<Rows> {
        &self.rows
    }

    /// The same system without blocks, for methods that work entry by entry.
    pub fn to_matrix(&self) -> Result<super::Matrix> {
        super::Matrix::new(Arc::clone(&self.rows), self.blocks.to_csr()?)
    }

    /// Brings the values of a matrix that was made of this one up to date; the pattern has to be as it was then.
    pub fn refresh(&self, matrix: &mut super::Matrix) -> Result<()> {
        let values = matrix.csr.values_mut();
        if values.len() != self.blocks.values.len() {
            return Err(SolveError::WrongLength {
                what: "the values to bring up to date",
                found: values.len(),
                wanted: self.blocks.values.len(),
            });
        }
        self.blocks.by_rows(values, |_, entries, part| part.copy_from_slice(entries));
        Ok(())
    }
}

impl Operator for BlockMatrix {
    fn rows(&self) -> &Rows {
        &self.rows
    }

    fn apply(&self, x: &mut [f64], y: &mut [f64]) -> Result<()> {
        self.rows.refresh(x)?;
        self.blocks.multiply(x, y);
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.blocks.bytes() + self.rows.bytes()
    }
}
