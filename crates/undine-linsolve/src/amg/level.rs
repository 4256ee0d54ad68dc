//! One level of the hierarchy, and how the next coarser one is made from it.

use super::aggregate::{Aggregates, aggregate};
use super::coarse::Dense;
use super::distribute::{Made, Numbering, first_rows, settle, stored_nodes, with_foreign_rows};
use super::galerkin::galerkin;
use super::grouping::Grouping;
use super::prolong::{OnePerRow, one_per_row, smooth};
use super::settings::Settings;
use super::smoother::Smoothing;
use super::sparse::{Sparse, transpose};
use super::strength::{between_nodes, between_rows};
use super::tentative::tentative;
use super::{Parts, spectrum};
use crate::error::Result;
use crate::rows::Rows;
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::Arc;

/// A system on its way into the hierarchy.
pub(super) struct System {
    pub rows: Arc<Rows>,
    /// Local rows × stored columns.
    pub matrix: Sparse,
    pub nodes: Grouping,
    /// Near-null vectors: `count` entries for every local row.
    pub count: usize,
    pub vectors: Vec<f64>,
}

/// One level: its matrix, what smooths or solves it, and the way to the next one.
#[derive(Debug)]
pub(super) struct Level {
    pub rows: Arc<Rows>,
    pub matrix: Sparse,
    pub work: Work,
    /// The right-hand side, local.
    pub b: Vec<f32>,
    /// The unknowns, stored.
    pub x: Vec<f32>,
    /// The residual, local.
    pub r: Vec<f32>,
}

/// What a level does.
#[derive(Debug)]
pub(super) enum Work {
    /// Smooths, and leaves the rest to the next level.
    Smooth { smoothing: Smoothing, transfer: Transfer },
    /// Smooths only: the level does not coarsen any further, and is too large to be solved directly.
    SmoothOnly(Smoothing),
    /// Solves, on the process that has the rows.
    Solve(Dense),
}

/// The way to the next level and back.
#[derive(Debug)]
pub(super) struct Transfer {
    /// Local rows × stored coarse rows.
    pub prolong: Sparse,
    /// Its transpose.
    pub restrict: Sparse,
    /// What the next level's rows were made from, for a matrix with other values.
    pub aggregates: Aggregates,
}

impl Level {
    pub fn new(rows: Arc<Rows>, matrix: Sparse, work: Work) -> Self {
        let (local, stored) = (rows.local(), rows.stored());
        Self { rows, matrix, work, b: vec![0.0; local], x: vec![0.0; stored], r: vec![0.0; local] }
    }

    pub fn bytes(&self) -> u64 {
        let work = match &self.work {
            Work::Smooth { smoothing, transfer } => {
                let Transfer { prolong, restrict, aggregates } = transfer;
                smoothing.bytes()
                    + prolong.bytes()
                    + restrict.bytes()
                    + 4 * aggregates.of_node.len() as u64
            }
            Work::SmoothOnly(smoothing) => smoothing.bytes(),
            Work::Solve(dense) => dense.bytes(),
        };
        let vectors = 4 * (self.b.len() + self.x.len() + self.r.len()) as u64;
        work + vectors + self.matrix.bytes() + self.rows.bytes()
    }
}

/// A level that smooths, and the system of the next one; or the system itself if it does not coarsen. Collective.
///
/// `known` are the aggregates of an earlier matrix of the same pattern.
pub(super) fn coarsen(
    system: System,
    settings: &Settings,
    strength: f64,
    known: Option<Aggregates>,
    parts: &mut Parts,
) -> Result<Coarsened> {
    let System { rows, matrix, nodes, count, vectors } = &system;
    let inverse = inverse_diagonal(matrix);
    let single = nodes.is_single() && *count == 1;

    let strong = if nodes.is_single() {
        between_rows(rows, matrix, strength)?
    } else {
        let (node_of, component) = stored_nodes(rows, nodes)?;
        between_nodes(rows, matrix, nodes, &node_of, &component, strength)?
    };
    parts.mark("strength");

    let aggregates = known.unwrap_or_else(|| aggregate(&strong.graph, !single));
    parts.mark("aggregate");
    let coarse_nodes = rows.processes().all_sum_u64(aggregates.count as u64)?;
    let all_nodes = rows.processes().all_sum_u64(nodes.count(rows.local()) as u64)?;
    if coarse_nodes == 0 || coarse_nodes * 10 > all_nodes * 9 {
        return Ok(Coarsened::Not(Box::new(system), inverse));
    }

    let filtered = match &strong.matrix {
        Cow::Borrowed(_) => Cow::Borrowed(&inverse),
        Cow::Owned(filtered) => Cow::Owned(inverse_diagonal(filtered)),
    };
    let radius = spectrum::radius(rows, &strong.matrix, &filtered)?;
    let omega = 4.0 / 3.0 / radius;
    parts.mark("radius");
    let smooth_with = |tentative: &Sparse| {
        smooth(&strong.matrix, tentative, tentative.columns(), &filtered, omega)
    };
    let (tentative, coarse_nodes, coarse_vectors) = if !single {
        let made = tentative(&aggregates, nodes, *count, vectors);
        (Some(made.matrix), made.nodes, made.vectors)
    } else {
        (None, Grouping::single(), vec![1.0; aggregates.count])
    };
    parts.mark("tentative");
    let (next, prolong, restrict) = if rows.is_single() {
        let prolong = match &tentative {
            Some(tentative) => smooth_with(tentative),
            None => {
                let values: Vec<f32> = vectors.iter().map(|&value| value as f32).collect();
                let tentative = OnePerRow { columns: &aggregates.of_node, values: &values };
                smooth(&strong.matrix, &tentative, aggregates.count, &filtered, omega)
            }
        };
        parts.mark("prolong");
        let restrict = transpose(&prolong);
        parts.mark("transpose");
        let coarse = galerkin(&restrict, matrix, &prolong);
        parts.mark("galerkin");
        let next = System {
            rows: Rows::single(coarse.rows()),
            matrix: coarse,
            nodes: coarse_nodes,
            count: *count,
            vectors: coarse_vectors,
        };
        (next, prolong, restrict)
    } else {
        let tentative = tentative.unwrap_or_else(|| one_per_row(&aggregates, vectors));
        let numbering = Numbering::new(rows, tentative.columns())?;
        let (tentative, numbering) = with_foreign_rows(rows, &tentative, &numbering)?;
        let prolong = smooth_with(&tentative);
        let (stored, numbering) = with_foreign_rows(rows, &prolong, &numbering)?;
        let prolong = first_rows(&stored, rows.local());
        parts.mark("prolong");
        let part = galerkin(&transpose(&prolong), matrix, &stored);
        parts.mark("galerkin");
        let (nodes, vectors) = (coarse_nodes, coarse_vectors);
        let made = Made { numbering, prolong, part, nodes, count: *count, vectors };
        let settled = settle(rows, made, settings)?;
        parts.mark("settle");
        settled
    };
    drop((strong, filtered));

    let smoothing = Smoothing::new(settings.smoother, rows, matrix, &inverse)?;
    parts.mark("smoother");
    let transfer = Transfer { prolong, restrict, aggregates };
    let work = Work::Smooth { smoothing, transfer };
    let System { rows, matrix, .. } = system;
    Ok(Coarsened::Smaller(Box::new(Level::new(rows, matrix, work)), Box::new(next)))
}

/// What became of a system.
pub(super) enum Coarsened {
    /// A level, and the system of the next.
    Smaller(Box<Level>, Box<System>),
    /// It does not get smaller; with its inverse diagonal.
    Not(Box<System>, Vec<f32>),
}

/// 1 / aᵢᵢ; 1 where coarse rows have become empty, so that what is not there stays still.
pub(super) fn inverse_diagonal(matrix: &Sparse) -> Vec<f32> {
    (0..matrix.rows())
        .into_par_iter()
        .with_min_len(1024)
        .map(|row| {
            let (columns, values) = matrix.row(row);
            let place = columns.iter().position(|&column| column as usize == row);
            let diagonal = place.map_or(0.0, |place| values[place]);
            if diagonal > 0.0 { 1.0 / diagonal } else { 1.0 }
        })
        .collect()
}
