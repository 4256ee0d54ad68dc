//! The coarse matrix Pᵀ·A·P, row by row on all threads.
//!
//! A coarse row is (row of Pᵀ · A) · P. Its first product is short enough to stay in the cache and is never stored.

use super::sparse::{Accumulator, Sparse, from_rows};

/// Pᵀ·A·P, where `restrict` is Pᵀ of the local rows, and `prolong` has a row of P for every column of the matrix.
pub(super) fn galerkin(restrict: &Sparse, matrix: &Sparse, prolong: &Sparse) -> Sparse {
    debug_assert_eq!(matrix.rows(), restrict.columns());
    debug_assert_eq!(matrix.columns(), prolong.rows());
    from_rows(
        restrict.rows(),
        prolong.columns(),
        || (Accumulator::new(matrix.columns()), Accumulator::new(prolong.columns())),
        |(fine, coarse), row, into| {
            let (columns, values) = restrict.row(row);
            for (&column, &value) in columns.iter().zip(values) {
                fine.add_row(value, matrix.row(column as usize));
            }
            fine.drain(|column, value| coarse.add_row(value, prolong.row(column as usize)));
            coarse.finish(into);
        },
    )
}
