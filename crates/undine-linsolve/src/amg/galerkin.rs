//! The coarse matrix Pᵀ·A·P, row by row on all threads.
//!
//! Which of its two products comes first is a question of work. With few entries in a row of P it is A·P, whose rows are made in order
//! and stored for a moment. With many (six rigid motions) it is Pᵀ·A, a row of which is used at once and never stored.

use super::sparse::{Accumulator, Blocks, Sparse, from_rows};

/// From this many entries in a row of P on, Pᵀ·A comes first.
const MANY: usize = 8;

/// Pᵀ·A·P, where `restrict` is Pᵀ of the local rows, and `prolong` has a row of P for every column of the matrix.
pub(super) fn galerkin(restrict: &Sparse, matrix: &Sparse, prolong: &Sparse) -> Sparse {
    debug_assert_eq!(matrix.rows(), restrict.columns());
    debug_assert_eq!(matrix.columns(), prolong.rows());
    let columns = prolong.columns();
    if prolong.entries() < MANY * prolong.rows() {
        let product = Blocks::new(
            matrix.rows(),
            || Accumulator::new(columns),
            |sums, row, into| {
                let (others, values) = matrix.row(row);
                for (&other, &value) in others.iter().zip(values) {
                    sums.add_row(value, prolong.row(other as usize));
                }
                sums.finish_unsorted(into);
            },
        );
        return from_rows(
            restrict.rows(),
            columns,
            || Accumulator::new(columns),
            |sums, row, into| {
                let (others, values) = restrict.row(row);
                for (&other, &value) in others.iter().zip(values) {
                    sums.add_row(value, product.row(other as usize));
                }
                sums.finish(into);
            },
        );
    }
    let state = || (Accumulator::new(matrix.columns()), Accumulator::new(columns));
    from_rows(restrict.rows(), columns, state, |(fine, coarse), row, into| {
        let (others, values) = restrict.row(row);
        for (&other, &value) in others.iter().zip(values) {
            fine.add_row(value, matrix.row(other as usize));
        }
        fine.drain(|other, value| coarse.add_row(value, prolong.row(other as usize)));
        coarse.finish(into);
    })
}
