//! Strength of connection (Vaněk, Mandel, Brezina 1996, §4): which nodes are coupled strongly enough to be joined, and the
//! matrix without weak couplings, which smooths the prolongation.
//!
//! What is dropped is added to the diagonal, so that the filtered matrix sends constants where the matrix does.

use super::nodes::Nodes;
use super::sparse::{Accumulator, Sparse, from_rows};
use crate::error::Result;
use crate::rows::Rows;
use rayon::prelude::*;
use std::borrow::Cow;

/// A filtered diagonal keeps at least this share of the matrix's own: what is dropped may nearly cancel it.
const LEAST_DIAGONAL: f32 = 0.1;

/// A matrix without its weak couplings, and the graph of the strong ones between nodes.
pub(super) struct Strong<'a> {
    /// The filtered matrix.
    pub matrix: Cow<'a, Sparse>,
    /// Local nodes × stored nodes; the values say how strong. May hold the diagonal.
    pub graph: Cow<'a, Sparse>,
}

/// The strong couplings between rows that are nodes each. `diagonal` has an entry for every column.
pub(super) fn between_rows<'a>(matrix: &'a Sparse, diagonal: &[f32], strength: f64) -> Strong<'a> {
    let square = (strength * strength) as f32;
    let weak = |row: usize, column: u32, value: f32| {
        column as usize != row
            && value * value <= square * diagonal[row] * diagonal[column as usize]
    };
    let all_strong = (0..matrix.rows()).into_par_iter().with_min_len(1024).all(|row| {
        let (columns, values) = matrix.row(row);
        columns.iter().zip(values).all(|(&column, &value)| !weak(row, column, value))
    });
    if all_strong {
        return Strong { matrix: Cow::Borrowed(matrix), graph: Cow::Borrowed(matrix) };
    }
    let filtered = filter(
        matrix,
        |row, column, value| {
            if weak(row, column, value) { Fate::Lump } else { Fate::Keep }
        },
    );
    Strong { graph: Cow::Owned(filtered.clone()), matrix: Cow::Owned(filtered) }
}

/// The strong couplings between nodes of several rows, by the Frobenius norms of the blocks between them. `node_of` names the
/// node of every column, `component` its place there. Collective.
pub(super) fn between_nodes<'a>(
    rows: &Rows,
    matrix: &'a Sparse,
    nodes: &Nodes,
    node_of: &[u32],
    component: &[u32],
    strength: f64,
) -> Result<Strong<'a>> {
    let stored_nodes = node_of.iter().max().map_or(0, |&last| last as usize + 1);
    let norms = from_rows(
        nodes.count(matrix.rows()),
        stored_nodes,
        || Accumulator::new(stored_nodes),
        |sums, node, into| {
            for row in nodes.range(node) {
                let (columns, values) = matrix.row(row);
                for (&column, &value) in columns.iter().zip(values) {
                    sums.add_row(value, (&[node_of[column as usize]], &[value]));
                }
            }
            sums.finish(into);
        },
    );
    let mut diagonal = norms.diagonal();
    diagonal.resize(stored_nodes, 0.0);
    let mut by_row: Vec<f32> = node_of.iter().map(|&node| diagonal[node as usize]).collect();
    rows.refresh(&mut by_row)?;
    node_of.iter().zip(by_row).for_each(|(&node, norm)| diagonal[node as usize] = norm);

    // Norms are squared here, and so is the condition.
    let fourth = (strength * strength) as f32;
    let fourth = fourth * fourth;
    let graph = from_rows(
        norms.rows(),
        stored_nodes,
        || (),
        |(), node, into| {
            let (columns, values) = norms.row(node);
            for (&column, &value) in columns.iter().zip(values) {
                let weak = value * value <= fourth * diagonal[node] * diagonal[column as usize];
                if column as usize == node || !weak {
                    into.push(column, value.sqrt());
                }
            }
        },
    );
    if graph.entries() == norms.entries() {
        return Ok(Strong { matrix: Cow::Borrowed(matrix), graph: Cow::Owned(graph) });
    }
    let filtered = filter(matrix, |row, column, _| {
        let (columns, _) = graph.row(node_of[row] as usize);
        if columns.binary_search(&node_of[column as usize]).is_ok() {
            Fate::Keep
        } else if component[row] == component[column as usize] {
            Fate::Lump
        } else {
            Fate::Drop
        }
    });
    Ok(Strong { matrix: Cow::Owned(filtered), graph: Cow::Owned(graph) })
}

/// What happens to an entry.
#[derive(PartialEq)]
enum Fate {
    Keep,
    /// It is added to the diagonal.
    Lump,
    Drop,
}

fn filter(matrix: &Sparse, fate: impl Fn(usize, u32, f32) -> Fate + Sync + Send) -> Sparse {
    from_rows(
        matrix.rows(),
        matrix.columns(),
        || (),
        |(), row, into| {
            let (columns, values) = matrix.row(row);
            let mut diagonal = None;
            let mut lumped = 0.0;
            for (&column, &value) in columns.iter().zip(values) {
                match fate(row, column, value) {
                    Fate::Keep => {
                        if column as usize == row {
                            diagonal = Some(into.values.len());
                        }
                        into.push(column, value);
                    }
                    Fate::Lump => lumped += value,
                    Fate::Drop => {}
                }
            }
            if let Some(place) = diagonal {
                let own = into.values[place];
                into.values[place] = (own + lumped).max(LEAST_DIAGONAL * own);
            }
        },
    )
}
