//! The prolongation P = (I − ω·D⁻¹·A_F)·T, one step of damped Jacobi on the tentative one (Vaněk, Mandel, Brezina 1996, eq. 5.2), with
//! ω = 4/3 / ρ(D⁻¹·A_F), where A_F is the filtered matrix.

use super::aggregate::{Aggregates, NONE};
use super::sparse::{Accumulator, Sparse, from_rows};

/// The rows of a tentative prolongation, for every column of the matrix.
pub(super) trait Rows: Sync + Send {
    /// A row's coarse columns and values.
    fn row(&self, row: usize) -> (&[u32], &[f32]);
}

impl Rows for Sparse {
    #[inline(always)]
    fn row(&self, row: usize) -> (&[u32], &[f32]) {
        Sparse::row(self, row)
    }
}

/// A tentative prolongation of single rows and one vector: each row has at most one entry.
pub(super) struct OnePerRow<'a> {
    /// The coarse column of each row, or [`NONE`].
    pub columns: &'a [u32],
    /// The vector.
    pub values: &'a [f32],
}

impl Rows for OnePerRow<'_> {
    #[inline(always)]
    fn row(&self, row: usize) -> (&[u32], &[f32]) {
        let length = usize::from(self.columns[row] != NONE);
        (&self.columns[row..row + length], &self.values[row..row + length])
    }
}

/// P of a filtered matrix, with the inverse of its diagonal, and a tentative prolongation onto `columns` coarse columns.
pub(super) fn smooth(
    filtered: &Sparse,
    tentative: &impl Rows,
    columns: usize,
    inverse: &[f32],
    omega: f64,
) -> Sparse {
    let omega = omega as f32;
    from_rows(
        filtered.rows(),
        columns,
        || Accumulator::new(columns),
        |sums, row, into| {
            let (others, values) = filtered.row(row);
            sums.add_row(1.0, tentative.row(row));
            let factor = -omega * inverse[row];
            for (&other, &value) in others.iter().zip(values) {
                sums.add_row(factor * value, tentative.row(other as usize));
            }
            sums.finish(into);
        },
    )
}

/// The tentative prolongation of single rows and one vector as a matrix. The next level's vector is then all ones.
pub(super) fn one_per_row(aggregates: &Aggregates, vector: &[f64]) -> Sparse {
    from_rows(
        vector.len(),
        aggregates.count,
        || (),
        |(), row, into| {
            if aggregates.of_node[row] != NONE {
                into.push(aggregates.of_node[row], vector[row] as f32);
            }
        },
    )
}
