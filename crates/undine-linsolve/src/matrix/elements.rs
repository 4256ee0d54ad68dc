//! Elements: what Constraints hand in to be assembled. Each touches a few nodes, with either
//!
//! - rows of a Constraint, each with its gradient ∇C, its force σ and how that changes with all of them, S: they give the matrix
//!   ∇Cᵀ S ∇C and the force −∇Cᵀ σ, and take a fraction of the memory; or
//! - a dense matrix and a force of its own, for energies that are not of that form and for masses.

use super::Nodes;
use super::csr::check_count;
use crate::error::{Result, SolveError};
use crate::vector;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Elements that one task works on.
const ELEMENTS_PER_TASK: usize = 512;

/// Which nodes each element touches, and how: all that a pattern depends on.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Structure {
    starts: Vec<u32>,
    nodes: Vec<u32>,
    /// Rows of ∇C; 0 for an element with a dense matrix.
    rows: Vec<u32>,
}

impl Structure {
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// The nodes of an element.
    #[inline]
    pub fn nodes(&self, element: usize) -> &[u32] {
        &self.nodes[self.starts[element] as usize..self.starts[element + 1] as usize]
    }

    /// The first element that differs from another structure's.
    pub fn first_difference(&self, other: &Self) -> Option<usize> {
        let common = self.count().min(other.count());
        let differs = |&element: &usize| {
            self.rows[element] != other.rows[element] || self.nodes(element) != other.nodes(element)
        };
        if self == other {
            return None;
        }
        Some((0..common).find(differs).unwrap_or(common))
    }
}

/// The elements of a Constraint, and their values of this step.
#[derive(Debug, Clone)]
pub struct Elements {
    sizes: Arc<Nodes>,
    structure: Arc<Structure>,
    /// Where each element's values begin, and one end more.
    offsets: Vec<u32>,
    /// Of each element: σ, S and ∇C; or force and matrix.
    values: Vec<f64>,
}

/// The values of one element; k is the number of unknowns of its nodes, in the order of the nodes.
#[derive(Debug)]
pub enum Element<'a> {
    /// Rows C; of an energy ½ Cᵀ S C the force is σ = S C.
    Rows {
        /// σ, r of them.
        pull: &'a mut [f64],
        /// S, r × r, symmetric.
        stiffness: &'a mut [f64],
        /// ∇C, r × k, row after row.
        gradient: &'a mut [f64],
    },
    /// Anything else.
    Dense {
        /// The force on each unknown, k of them.
        force: &'a mut [f64],
        /// The matrix, k × k, row after row.
        matrix: &'a mut [f64],
    },
}

impl Elements {
    /// No elements yet, on nodes that may be copies of foreign ones.
    pub fn new(nodes: &Arc<Nodes>) -> Self {
        let structure = Structure { starts: vec![0], ..Structure::default() };
        Self {
            sizes: Arc::clone(nodes),
            structure: Arc::new(structure),
            offsets: vec![0],
            values: Vec::new(),
        }
    }

    /// Adds an element with `rows` of ∇C, all zero yet. Refuses a node that is not there.
    pub fn add_rows(&mut self, nodes: &[u32], rows: usize) -> Result<()> {
        if rows == 0 {
            return self.refuse("has no row of C; it needs one or more".into());
        }
        self.add(nodes, rows)
    }

    /// Adds an element with a dense matrix and force, all zero yet. Refuses a node that is not there.
    pub fn add_dense(&mut self, nodes: &[u32]) -> Result<()> {
        self.add(nodes, 0)
    }

    /// Takes all elements away and keeps the memory, for Constraints that come and go, such as contacts.
    pub fn clear(&mut self) {
        let structure = Arc::make_mut(&mut self.structure);
        structure.starts.truncate(1);
        structure.nodes.clear();
        structure.rows.clear();
        self.offsets.truncate(1);
        self.values.clear();
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.structure.count()
    }

    /// New values, on all threads: `fill` gets each element's number and last values.
    pub fn fill(&mut self, fill: impl Fn(usize, Element<'_>) + Sync) {
        self.fill_with(|| (), |(), element, values| fill(element, values));
    }

    /// The same with something that elements of a task may use one after another, such as memory.
    pub fn fill_with<T>(
        &mut self,
        memory: impl Fn() -> T + Sync,
        fill: impl Fn(&mut T, usize, Element<'_>) + Sync,
    ) {
        let (sizes, structure, offsets) = (&self.sizes, &self.structure, &self.offsets);
        let parts = super::block::split(&mut self.values, offsets, ELEMENTS_PER_TASK);
        parts.into_par_iter().enumerate().for_each(|(task, mut values)| {
            let first = task * ELEMENTS_PER_TASK;
            let mut memory = memory();
            for element in first..(first + ELEMENTS_PER_TASK).min(structure.count()) {
                let length = (offsets[element + 1] - offsets[element]) as usize;
                let (here, rest) = values.split_at_mut(length);
                values = rest;
                let rows = structure.rows[element] as usize;
                if rows > 0 {
                    let (pull, here) = here.split_at_mut(rows);
                    let (stiffness, gradient) = here.split_at_mut(rows * rows);
                    fill(&mut memory, element, Element::Rows { pull, stiffness, gradient });
                } else {
                    let unknowns = unknowns(sizes, structure.nodes(element));
                    let (force, matrix) = here.split_at_mut(unknowns);
                    fill(&mut memory, element, Element::Dense { force, matrix });
                }
            }
        });
    }

    /// The nodes of an element.
    pub fn nodes(&self, element: usize) -> &[u32] {
        self.structure.nodes(element)
    }

    /// Takes the memory of all values, which are nothing then, for other elements to use.
    pub fn take_memory(&mut self) -> Vec<f64> {
        std::mem::take(&mut self.values)
    }

    /// Uses this memory for values, which begin as whatever is in it.
    pub fn use_memory(&mut self, mut memory: Vec<f64>) {
        memory.resize(self.offsets[self.count()] as usize, 0.0);
        self.values = memory;
    }

    pub(super) fn structure(&self) -> &Arc<Structure> {
        &self.structure
    }

    pub(super) fn sizes(&self) -> &Arc<Nodes> {
        &self.sizes
    }

    /// Refuses values that are not finite, by element.
    pub(crate) fn check_finite(&self) -> Result<()> {
        // The fast pass first: which one it is matters only if there is one.
        if vector::largest(&self.values).is_finite() {
            return Ok(());
        }
        let fault = self.values.iter().position(|value| !value.is_finite());
        fault.map_or(Ok(()), |at| {
            let element = self.offsets.partition_point(|&offset| offset as usize <= at) - 1;
            let why = format!("has the value {}", self.values[at]);
            Err(SolveError::BadElement { element, why })
        })
    }

    /// Adds what the unknowns of an element's `own`-th node get: to the rows of `matrix` at `slots` (a place per node of
    /// the element), each a block row after row, and to `force`.
    ///
    /// Entries come out symmetric to the last bit: a pair of unknowns meets the same products, in the same order, both ways.
    pub(super) fn add_to(
        &self,
        element: usize,
        own: usize,
        slots: &[u32],
        matrix: &mut [f64],
        force: &mut [f64],
    ) {
        let nodes = self.structure.nodes(element);
        let values = &self.values[self.range(element)];
        let rows = self.structure.rows[element] as usize;
        let k = unknowns(&self.sizes, nodes);
        let first = unknowns(&self.sizes, &nodes[..own]);
        let size = self.sizes.size(nodes[own] as usize);
        let mut column = 0;
        if rows == 0 {
            let (own_force, dense) = values.split_at(k);
            for (force, own) in force.iter_mut().zip(&own_force[first..]) {
                *force += own;
            }
            for (&node, &slot) in nodes.iter().zip(slots) {
                let width = self.sizes.size(node as usize);
                let block = &mut matrix[slot as usize..slot as usize + size * width];
                for (i, block) in block.chunks_exact_mut(width).enumerate() {
                    let entries = &dense[(first + i) * k + column..];
                    block.iter_mut().zip(entries).for_each(|(sum, entry)| *sum += entry);
                }
                column += width;
            }
            return;
        }
        let (pull, values) = values.split_at(rows);
        let (stiffness, gradient) = values.split_at(rows * rows);
        let gradient = |p: usize| &gradient[p * k..(p + 1) * k];
        for (p, pull) in pull.iter().enumerate() {
            for (force, g) in force.iter_mut().zip(&gradient(p)[first..]) {
                *force -= g * pull;
            }
        }
        // Only the upper triangle of S is read.
        let rows = Weighted { rows, k, stiffness, gradient: &values[rows * rows..] };
        for (&node, &slot) in nodes.iter().zip(slots) {
            let width = self.sizes.size(node as usize);
            let block = &mut matrix[slot as usize..slot as usize + size * width];
            match (size, width) {
                (1, 1) => rows.add_block::<1, 1>(first, column, block),
                (1, 3) => rows.add_block::<1, 3>(first, column, block),
                (3, 1) => rows.add_block::<3, 1>(first, column, block),
                (3, 3) => rows.add_block::<3, 3>(first, column, block),
                _ => rows.add_any_block([first, size], [column, width], block),
            }
            column += width;
        }
    }

    /// How many rows of ∇C an element has; 0 if it has a dense matrix.
    pub(crate) fn rows(&self, element: usize) -> usize {
        self.structure.rows[element] as usize
    }

    /// The values of an element: σ, S and ∇C, or force and matrix.
    pub(crate) fn values(&self, element: usize) -> &[f64] {
        &self.values[self.range(element)]
    }

    /// Bytes of the lists.
    pub fn bytes(&self) -> u64 {
        let Structure { starts, nodes, rows } = &*self.structure;
        let lists = starts.len() + nodes.len() + rows.len() + self.offsets.len();
        4 * lists as u64 + size_of_val(&self.values[..]) as u64
    }

    fn range(&self, element: usize) -> Range<usize> {
        self.offsets[element] as usize..self.offsets[element + 1] as usize
    }

    fn add(&mut self, nodes: &[u32], rows: usize) -> Result<()> {
        let count = self.sizes.count();
        if nodes.is_empty() {
            return self.refuse("touches no node; it needs one or more".into());
        }
        if nodes.len() > usize::from(u16::MAX) {
            return self.refuse(format!("touches {} nodes; it may touch 65535", nodes.len()));
        }
        if let Some(node) = nodes.iter().find(|&&node| node as usize >= count) {
            return self.refuse(format!("touches node {node}, but there are {count}"));
        }
        let k = unknowns(&self.sizes, nodes);
        let length = if rows > 0 { rows * (1 + rows + k) } else { k + k * k };
        let end = self.values.len() + length;
        check_count("the number of values of all elements", end)?;
        self.values.resize(end, 0.0);
        self.offsets.push(end as u32);
        // Copies only if somebody holds the structure of a step before.
        let structure = Arc::make_mut(&mut self.structure);
        structure.nodes.extend_from_slice(nodes);
        structure.starts.push(structure.nodes.len() as u32);
        structure.rows.push(rows as u32);
        Ok(())
    }

    fn refuse(&self, why: String) -> Result<()> {
        Err(SolveError::BadElement { element: self.count(), why })
    }
}

/// How many unknowns nodes have together.
#[inline]
fn unknowns(sizes: &Nodes, nodes: &[u32]) -> usize {
    nodes.iter().map(|&node| sizes.size(node as usize)).sum()
}

/// The rows of an element: S, and ∇C of `k` unknowns each.
#[derive(Clone, Copy)]
struct Weighted<'a> {
    rows: usize,
    k: usize,
    stiffness: &'a [f64],
    gradient: &'a [f64],
}

impl<'a> Weighted<'a> {
    /// The pairs of rows p ≤ q that S ties, with its entry.
    #[inline(always)]
    fn pairs(self) -> impl Iterator<Item = (usize, usize, f64)> {
        let of =
            move |p: usize| (p..self.rows).map(move |q| (p, q, self.stiffness[p * self.rows + q]));
        (0..self.rows).flat_map(of).filter(|pair| pair.2 != 0.0)
    }

    /// The gradient of a row from an unknown on.
    #[inline(always)]
    fn from(self, row: usize, unknown: usize) -> &'a [f64] {
        &self.gradient[row * self.k + unknown..(row + 1) * self.k]
    }

    /// block ← block + (∇Cᵀ S ∇C) of some unknowns by others, of common sizes.
    #[inline(always)]
    fn add_block<const R: usize, const C: usize>(self, i: usize, j: usize, block: &mut [f64]) {
        let mut sums = [[0.0; C]; R];
        for (p, q, s) in self.pairs() {
            let (ip, jp) = (&self.from(p, i)[..R], &self.from(p, j)[..C]);
            if p == q {
                for r in 0..R {
                    (0..C).for_each(|c| sums[r][c] += s * (ip[r] * jp[c]));
                }
            } else {
                let (iq, jq) = (&self.from(q, i)[..R], &self.from(q, j)[..C]);
                for r in 0..R {
                    (0..C).for_each(|c| sums[r][c] += s * (ip[r] * jq[c] + iq[r] * jp[c]));
                }
            }
        }
        block.iter_mut().zip(sums.as_flattened()).for_each(|(entry, sum)| *entry += sum);
    }

    /// The same of any sizes.
    fn add_any_block(self, [i, size]: [usize; 2], [j, width]: [usize; 2], block: &mut [f64]) {
        for r in 0..size {
            for c in 0..width {
                let sum = self.pairs().fold(0.0, |sum, (p, q, s)| {
                    let g = |row: usize, unknown: usize| self.gradient[row * self.k + unknown];
                    let here = g(p, i + r) * g(q, j + c);
                    let there = if p == q { 0.0 } else { g(q, i + r) * g(p, j + c) };
                    sum + s * (here + there)
                });
                block[r * width + c] += sum;
            }
        }
    }
}
