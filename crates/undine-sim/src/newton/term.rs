//! Lists of elements as the system sees them, whatever Constraint or Force they are of.

use super::error::Result;
use super::iterate::Merit;
use super::saddle::HardRows;
use super::shape::Hang;
use std::ops::Range;
use undine_linsolve::matrix::Elements;

/// The nodes that each element of a term touches, in its order; a node may come twice.
#[derive(Debug, Clone, PartialEq)]
pub struct TermNodes {
    pub(super) starts: Vec<u32>,
    pub(super) nodes: Vec<u32>,
}

impl Default for TermNodes {
    fn default() -> Self {
        Self { starts: vec![0], nodes: Vec::new() }
    }
}

impl TermNodes {
    pub(super) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn of(&self, element: usize) -> &[u32] {
        &self.nodes[self.starts[element] as usize..self.starts[element + 1] as usize]
    }

    pub(super) fn push_nodes(&mut self, nodes: impl Iterator<Item = u32>) {
        self.nodes.extend(nodes);
        self.starts.push(self.nodes.len() as u32);
    }

    /// Adds elements behind these.
    pub(super) fn append(&mut self, other: &Self) {
        let first = self.nodes.len() as u32;
        self.nodes.extend(&other.nodes);
        self.starts.extend(other.starts[1..].iter().map(|start| first + start));
    }

    pub(super) fn push(&mut self, hangs: &[Hang<'_>]) {
        for hang in hangs {
            self.nodes.extend((0..hang.count()).map(|n| hang.node(n)));
        }
        self.starts.push(self.nodes.len() as u32);
    }
}

/// A list of elements as the system sees it: one call per list, none per element.
pub trait Term: Sync {
    /// What errors call it.
    fn name(&self) -> &str;

    /// The lengths of its lists: what must not change between connecting and solving.
    fn lengths(&self) -> Vec<usize>;

    /// Checks all lists and says which nodes the elements touch.
    fn nodes(&self) -> Result<TermNodes>;

    /// Hands out all that its nodes follow from, piece by piece; false if it cannot say, and then nodes are looked at.
    fn pattern(&self, _part: &mut dyn FnMut(&[u32])) -> bool {
        false
    }

    /// Refuses values that make no sense, wherever nodes are those of before.
    fn check_values(&self) -> Result<()> {
        Ok(())
    }

    /// How many rows each element hands in with their gradients; 0 if each has a matrix of its own.
    fn rows(&self) -> usize {
        0
    }

    /// Writes force and matrix, or rows, of those elements that touch a node, whose numbers are given.
    fn fill(&self, dt: f64, touching: &[u32], out: &mut Elements) -> Result<()>;

    /// Adds the hard rows.
    fn hard(&self, out: &mut HardRows) -> Result<()>;

    /// Whether it has multipliers.
    fn has_multipliers(&self) -> bool;

    /// How many elements it has, if they have multipliers.
    fn elements(&self) -> usize {
        0
    }

    /// The multipliers of all rows of some elements after the unknowns have moved by `du`, element after element; `row_of` says where the
    /// unknowns of a node begin. Those of hard rows come out as 0.
    fn recover(&self, _elements: Range<usize>, _dt: f64, _du: &[f64], _row_of: &[u32]) -> Vec<f64> {
        Vec::new()
    }

    /// How many rest parameters all elements have together.
    fn parameters(&self) -> usize {
        0
    }

    /// Adds the forces of all elements at the current iterate, without damping, to the rows of unknowns.
    fn add_forces(&self, _row_of: &[u32], _out: &mut [f64]) {}

    /// Hands out the derivatives of those forces by rest parameters: which parameter, which row, how much.
    fn by_parameters(&self, _row_of: &[u32], _each: &mut dyn FnMut(usize, usize, f64)) {}

    /// ∂f/∂u of those forces, exact and not projected: row, column, value, of each element all that it has. Contacts and Forces hand out
    /// nothing.
    fn by_unknowns(&self, _row_of: &[u32]) -> Vec<(u32, u32, f64)> {
        Vec::new()
    }

    /// By how many sums the energy of all elements is added up.
    fn sums(&self) -> usize {
        0
    }

    /// Some of these sums at the current iterate, and how far hard rows are off.
    fn merits(&self, _sums: Range<usize>, _dt: f64) -> Vec<Merit> {
        Vec::new()
    }
}
