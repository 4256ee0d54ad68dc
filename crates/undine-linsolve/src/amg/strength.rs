//! Strength of connection (Vaněk, Mandel, Brezina 1996, §4): which nodes are coupled strongly enough to be joined, and the
//! matrix without weak couplings, which smooths the prolongation.
//!
//! A coupling is strong if aᵢⱼ² > lᵢ·lⱼ, where lᵢ is the strength times the diagonal, but at most a quarter of the row's largest coupling:
//! of 26 equal neighbours none would be strong otherwise.
//!
//! What is dropped is added to the diagonal, so that the filtered matrix sends constants where the matrix does.

use super::grouping::Grouping;
use super::sparse::{Accumulator, Entries, Sparse, from_rows};
use crate::error::Result;
use crate::rows::Rows;
use rayon::prelude::*;
use std::borrow::Cow;

/// A coupling above this share of its row's largest is never weak.
const NEVER_WEAK: f32 = 0.25;

/// A filtered diagonal keeps at least this share of the matrix's own: what is dropped may nearly cancel it.
const LEAST_DIAGONAL: f32 = 0.1;

/// A matrix without its weak couplings, and the graph of the strong ones between nodes.
pub(super) struct Strong<'a> {
    /// The filtered matrix.
    pub matrix: Cow<'a, Sparse>,
    /// Local nodes × stored nodes; the values say how strong. May hold the diagonal.
    pub graph: Cow<'a, Sparse>,
}

/// The strong couplings between rows that are nodes each. Collective.
pub(super) fn between_rows<'a>(
    rows: &Rows,
    matrix: &'a Sparse,
    strength: f64,
) -> Result<Strong<'a>> {
    let mut limits = limits(matrix, strength);
    limits.resize(rows.stored(), 0.0);
    rows.refresh(&mut limits)?;
    let weak = |row: usize, column: u32, value: f32| {
        column as usize != row && value * value <= limits[row] * limits[column as usize]
    };
    let all_strong = (0..matrix.rows()).into_par_iter().with_min_len(1024).all(|row| {
        let (columns, values) = matrix.row(row);
        columns.iter().zip(values).all(|(&column, &value)| !weak(row, column, value))
    });
    if all_strong {
        return Ok(Strong { matrix: Cow::Borrowed(matrix), graph: Cow::Borrowed(matrix) });
    }
    let filtered = filter(
        matrix,
        |row, column, value| {
            if weak(row, column, value) { Fate::Lump } else { Fate::Keep }
        },
    );
    Ok(Strong { graph: Cow::Owned(filtered.clone()), matrix: Cow::Owned(filtered) })
}

/// The lᵢ of every row, from the magnitudes of its entries.
fn limits(matrix: &Sparse, strength: f64) -> Vec<f32> {
    let row = |row: usize| {
        let (columns, values) = matrix.row(row);
        let (mut diagonal, mut largest) = (0.0, 0.0_f32);
        for (&column, &value) in columns.iter().zip(values) {
            if column as usize == row {
                diagonal = value.abs();
            } else {
                largest = largest.max(value.abs());
            }
        }
        (strength as f32 * diagonal).min(NEVER_WEAK * largest)
    };
    (0..matrix.rows()).into_par_iter().with_min_len(1024).map(row).collect()
}

/// The strong couplings between nodes of several rows, by the Frobenius norms of the blocks between them. `node_of` names the
/// node of every column, `component` its place there. Collective.
pub(super) fn between_nodes<'a>(
    rows: &Rows,
    matrix: &'a Sparse,
    nodes: &Grouping,
    node_of: &[u32],
    component: &[u32],
    strength: f64,
) -> Result<Strong<'a>> {
    let stored_nodes = node_of.iter().max().map_or(0, |&last| last as usize + 1);
    let norms = from_rows(
        nodes.count(matrix.rows()),
        stored_nodes,
        || (Accumulator::new(stored_nodes), Entries::default()),
        |(sums, squares), node, into| {
            for row in nodes.range(node) {
                let (columns, values) = matrix.row(row);
                for (&column, &value) in columns.iter().zip(values) {
                    sums.add_row(value, (&[node_of[column as usize]], &[value]));
                }
            }
            sums.finish(squares);
            into.columns.append(&mut squares.columns);
            into.values.extend(squares.values.drain(..).map(f32::sqrt));
        },
    );
    let mut limits = limits(&norms, strength);
    limits.resize(stored_nodes, 0.0);
    let mut by_row: Vec<f32> = node_of.iter().map(|&node| limits[node as usize]).collect();
    rows.refresh(&mut by_row)?;
    node_of.iter().zip(by_row).for_each(|(&node, limit)| limits[node as usize] = limit);

    let graph = from_rows(
        norms.rows(),
        stored_nodes,
        || (),
        |(), node, into| {
            let (columns, values) = norms.row(node);
            for (&column, &value) in columns.iter().zip(values) {
                let weak = value * value <= limits[node] * limits[column as usize];
                if column as usize == node || !weak {
                    into.push(column, value);
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
