//! The tentative prolongation T (Vaněk, Mandel, Brezina 1996, §3): on each aggregate the near-null vectors, made orthonormal by a QR
//! factorisation. Q is the aggregate's part of T, and R the vectors of the next level, so that T·R reproduces them exactly.

use super::aggregate::{Aggregates, NONE};
use super::grouping::Grouping;
use super::sparse::{Entries, Sparse, cut, from_rows};
use rayon::prelude::*;

/// A vector that loses all but this share of its length against the others is none of its own.
const DEPENDENT: f64 = 1e-6;

/// T, and what the next level needs to make its own.
pub(super) struct Tentative {
    /// Local rows × local coarse rows.
    pub matrix: Sparse,
    /// The nodes of the next level.
    pub nodes: Grouping,
    /// The near-null vectors of the next level, `count` entries for every row.
    pub vectors: Vec<f64>,
}

/// T of aggregates of nodes; `vectors` has `count` entries for every row.
pub(super) fn tentative(
    aggregates: &Aggregates,
    nodes: &Grouping,
    count: usize,
    vectors: &[f64],
) -> Tentative {
    let rows = vectors.len() / count;
    let members = members(aggregates);

    // Factor every aggregate.
    let parts: Vec<Part> = members
        .par_iter()
        .map(|members| {
            let rows: Vec<usize> =
                members.iter().flat_map(|&node| nodes.range(node as usize)).collect();
            factor(&rows, count, vectors)
        })
        .collect();
    let coarse = Grouping::sizes(parts.iter().map(|part| part.rank));
    let coarse_rows: usize = parts.iter().map(|part| part.rank).sum();

    // Row r of T is row `place[r]` of its aggregate's Q.
    let mut place = vec![0_u32; rows];
    for members in &members {
        let rows = members.iter().flat_map(|&node| nodes.range(node as usize));
        rows.enumerate().for_each(|(n, row)| place[row] = n as u32);
    }
    let node_of = nodes.of_rows(rows);
    let fill = |_: &mut (), row: usize, into: &mut Entries| {
        let aggregate = aggregates.of_node[node_of[row] as usize];
        if aggregate == NONE {
            return;
        }
        let part = &parts[aggregate as usize];
        let first = coarse.range(aggregate as usize).start;
        for column in 0..part.rank {
            let value = part.q[place[row] as usize * part.rank + column];
            if value != 0.0 {
                into.push((first + column) as u32, value as f32);
            }
        }
    };
    let matrix = from_rows(rows, coarse_rows, || (), fill);

    let mut coarse_vectors = vec![0.0; coarse_rows * count];
    let pieces = cut(&mut coarse_vectors, parts.iter().map(|part| part.r.len()));
    pieces.into_iter().zip(&parts).for_each(|(piece, part)| piece.copy_from_slice(&part.r));
    Tentative { matrix, nodes: coarse, vectors: coarse_vectors }
}

/// The nodes of every aggregate, ascending.
fn members(aggregates: &Aggregates) -> Vec<Vec<u32>> {
    let mut members = vec![Vec::new(); aggregates.count];
    for (node, &aggregate) in aggregates.of_node.iter().enumerate() {
        if aggregate != NONE {
            members[aggregate as usize].push(node as u32);
        }
    }
    members
}

/// Q (rows × rank) and R (rank × count) of one aggregate, both row by row.
struct Part {
    rank: usize,
    q: Vec<f64>,
    r: Vec<f64>,
}

/// Modified Gram-Schmidt, twice, which is as good as Householder for so few columns. Dependent columns are left out of Q.
fn factor(rows: &[usize], count: usize, vectors: &[f64]) -> Part {
    let mut q: Vec<Vec<f64>> = Vec::new();
    let mut r: Vec<Vec<f64>> = Vec::new();
    for column in 0..count {
        let mut v: Vec<f64> = rows.iter().map(|&row| vectors[row * count + column]).collect();
        let length = norm(&v);
        let mut along = vec![0.0; q.len()];
        for _ in 0..2 {
            for (q, along) in q.iter().zip(&mut along) {
                let dot: f64 = q.iter().zip(&v).map(|(q, v)| q * v).sum();
                *along += dot;
                v.iter_mut().zip(q).for_each(|(v, q)| *v -= dot * q);
            }
        }
        let rest = norm(&v);
        if rest > DEPENDENT * length {
            v.iter_mut().for_each(|v| *v /= rest);
            q.push(v);
            along.push(rest);
        }
        r.push(along);
    }
    let rank = q.len();
    Part {
        rank,
        q: (0..rows.len()).flat_map(|row| q.iter().map(move |q| q[row])).collect(),
        r: (0..rank)
            .flat_map(|row| r.iter().map(move |r| r.get(row).copied().unwrap_or(0.0)))
            .collect(),
    }
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amg::NearNullSpace;

    #[test]
    fn the_vectors_come_back_and_columns_are_orthonormal() {
        // Twelve vertices in aggregates of five, four, two and one: the last two cannot tell all six motions apart.
        let positions: Vec<[f64; 3]> =
            (0..12).map(|n| [n as f64, (n * n % 5) as f64, (n * 7 % 4) as f64]).collect();
        let of_node = vec![0, 0, 1, 0, 1, 2, 0, 1, 2, 0, 1, 3];
        let aggregates = Aggregates { of_node, count: 4 };
        let nodes = Grouping::of(3);
        let space = NearNullSpace::rigid_motions(&positions, 3).unwrap();
        let (count, vectors) = space.by_rows(&nodes, 36).unwrap();
        let made = tentative(&aggregates, &nodes, count, &vectors);
        assert_eq!(made.nodes.range(2).len(), 5, "two vertices may not turn about their line");
        assert_eq!(made.nodes.range(3).len(), 3, "one vertex may only shift");

        let coarse = made.matrix.columns();
        for n in 0..count {
            let part: Vec<f32> =
                (0..coarse).map(|row| made.vectors[row * count + n] as f32).collect();
            let mut again = vec![0.0; 36];
            made.matrix.multiply(&part, &mut again);
            for (row, again) in again.iter().enumerate() {
                assert!((f64::from(*again) - vectors[row * count + n]).abs() < 1e-5);
            }
        }
        let transposed = made.matrix.transpose();
        for a in 0..coarse {
            let mut column = vec![0.0; 36];
            let (rows, values) = transposed.row(a);
            rows.iter().zip(values).for_each(|(&row, &value)| column[row as usize] = value);
            let mut dots = vec![0.0; coarse];
            transposed.multiply(&column, &mut dots);
            for (b, dot) in dots.iter().enumerate() {
                assert!((dot - f32::from(u8::from(a == b))).abs() < 1e-5);
            }
        }
    }
}
