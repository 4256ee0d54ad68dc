//! Gauss-Seidel sweeps by colours of blocks of rows: forward before the coarser level, backward after it.

use super::sparse::Sparse;
use crate::colours::Colours;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Rows that are worth a block of their own, and most blocks. A smoother does not mind more blocks, as a factorisation would.
const FEWEST: usize = 1024;
const BLOCKS: usize = 4096;

/// The colours of a matrix's rows, for sweeps.
pub(super) fn colours(matrix: &Sparse) -> Colours {
    Colours::in_blocks(matrix, FEWEST, BLOCKS)
}

/// One sweep in order. `inverse` is that of the diagonal; `x` may have copies of foreign rows behind, which stay.
pub(super) fn forward(
    colours: &Colours,
    matrix: &Sparse,
    inverse: &[f32],
    b: &[f32],
    x: &mut [f32],
) {
    let x = shared(x);
    for colour in 0..colours.count() {
        colours.each(colour, |rows| rows.for_each(|row| relax(matrix, inverse, b, x, row)));
    }
}

/// One sweep in the opposite order.
pub(super) fn backward(
    colours: &Colours,
    matrix: &Sparse,
    inverse: &[f32],
    b: &[f32],
    x: &mut [f32],
) {
    let x = shared(x);
    for colour in (0..colours.count()).rev() {
        colours.each(colour, |rows| rows.rev().for_each(|row| relax(matrix, inverse, b, x, row)));
    }
}

/// Brings one row's residual to zero.
#[inline(always)]
fn relax(matrix: &Sparse, inverse: &[f32], b: &[f32], x: &[AtomicU32], row: usize) {
    let (columns, values) = matrix.row(row);
    let mut residual = b[row];
    for (&column, &value) in columns.iter().zip(values) {
        residual -= value * f32::from_bits(x[column as usize].load(Relaxed));
    }
    let before = f32::from_bits(x[row].load(Relaxed));
    x[row].store((before + residual * inverse[row]).to_bits(), Relaxed);
}

/// A vector that several threads write, each its own entries. Relaxed loads and stores cost what plain ones do.
fn shared(x: &mut [f32]) -> &[AtomicU32] {
    // SAFETY: `AtomicU32` has the size and alignment of `u32`, hence of `f32`, and any bits are valid for both; the borrow is
    // exclusive, so that for its duration nobody sees the floats other than through the atomics.
    unsafe { std::slice::from_raw_parts(x.as_mut_ptr().cast::<AtomicU32>(), x.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gallery::laplacian;

    #[test]
    fn shared_entries_are_the_vector_itself() {
        let mut x = [1.0_f32, -2.5, 3.0];
        shared(&mut x)[1].store(7.25_f32.to_bits(), Relaxed);
        assert_eq!(x, [1.0, 7.25, 3.0]);
    }

    #[test]
    fn a_sweep_is_that_of_one_row_after_another_in_the_order_of_colours() {
        let matrix: Sparse = laplacian([20; 3]).unwrap().convert();
        let colours = colours(&matrix);
        let inverse = vec![1.0 / 6.0; matrix.rows()];
        let b: Vec<f32> = (0..matrix.rows()).map(|n| (n % 17) as f32 - 8.0).collect();
        let mut x = vec![0.0; b.len()];
        let mut wanted = x.clone();
        forward(&colours, &matrix, &inverse, &b, &mut x);
        backward(&colours, &matrix, &inverse, &b, &mut x);
        let order: Vec<usize> = colours.in_order().collect();
        for &row in order.iter().chain(order.iter().rev()) {
            let (columns, values) = matrix.row(row);
            let mut residual = b[row];
            for (&column, &value) in columns.iter().zip(values) {
                residual -= value * wanted[column as usize];
            }
            wanted[row] += residual * inverse[row];
        }
        assert_eq!(x, wanted);
    }
}
