//! Dense blocks, on `faer`'s kernels: the Cholesky factor of a front's columns, and what it leaves for the rows below.
//!
//! Large blocks are cut into tiles of fixed size, each worked on by one thread: the result has the same bits on any number
//! of threads.

use crate::real::Real;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{
    LltError, LltRegularization, cholesky_in_place, cholesky_in_place_scratch,
};
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::prelude::{Reborrow, ReborrowMut};
use faer::traits::RealField;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

/// A number that fronts can be made of.
pub(super) trait Scalar: Real + RealField {}
impl Scalar for f32 {}
impl Scalar for f64 {}

/// Columns that are eliminated at a time.
const PANEL: usize = 128;

/// Rows and columns of a tile.
const TILE: usize = 256;

/// Fronts with fewer multiplications are not cut into tiles.
const ALONE: f64 = 4e6;

/// A pivot that is not positive: its column in the block, and its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pivot {
    pub column: usize,
    pub value: f64,
}

/// Factors the first `width` columns of a front in place: `front` holds them, `width + below` entries each, of which the
/// lower triangle counts.
pub(super) fn eliminate<T: Scalar>(
    front: &mut [T],
    width: usize,
    below: usize,
) -> Result<(), Pivot> {
    let height = width + below;
    let mut front = MatMut::from_column_major_slice_mut(front, height, width);
    let alone = work(width, below) < ALONE;
    for start in (0..width).step_by(PANEL) {
        let panel = PANEL.min(width - start);
        let (_, mut trailing) = front.rb_mut().split_at_row_mut(start);
        let (_, columns) = trailing.rb_mut().split_at_col_mut(start);
        let (columns, mut rest) = columns.split_at_col_mut(panel);
        let (mut diagonal, mut under) = columns.split_at_row_mut(panel);
        cholesky(diagonal.rb_mut())
            .map_err(|pivot| Pivot { column: start + pivot.column, ..pivot })?;
        let diagonal = diagonal.rb();
        for_rows(under.rb_mut(), alone, |rows| {
            solve_lower_triangular_in_place(diagonal, rows.transpose_mut(), Par::Seq);
        });
        let under = under.rb();
        if rest.ncols() > 0 {
            let (_, rest) = rest.rb_mut().split_at_row_mut(panel);
            subtract_square(rest, under, alone, Accum::Add);
        }
    }
    Ok(())
}

/// update = −L·Lᵀ, its lower triangle, where L are the rows below of an eliminated front.
pub(super) fn outer_product<T: Scalar>(front: &[T], width: usize, below: usize, update: &mut [T]) {
    if below == 0 {
        return;
    }
    let front = MatRef::from_column_major_slice(front, width + below, width);
    let (_, under) = front.split_at_row(width);
    let update = MatMut::from_column_major_slice_mut(update, below, below);
    subtract_square(update, under, work(width, below) < ALONE, Accum::Replace);
}

/// Multiplications that a front needs.
pub(super) fn work(width: usize, below: usize) -> f64 {
    let (w, b) = (width as f64, below as f64);
    w * w * w / 6.0 + 0.5 * w * w * b + 0.5 * w * b * b
}

/// target −= L·(L's first rows)ᵀ where L has as many rows as target, of which only the lower triangle counts.
fn subtract_square<T: Scalar>(target: MatMut<'_, T>, l: MatRef<'_, T>, alone: bool, accum: Accum) {
    let (rows, columns) = (target.nrows(), target.ncols());
    let minus = -T::ONE;
    if alone {
        let (top, bottom) = target.split_at_row_mut(columns);
        let (l_top, l_bottom) = l.split_at_row(columns);
        subtract_diagonal(top, l_top, accum);
        if rows > columns {
            matmul(bottom, accum, l_bottom, l_top.transpose(), minus, Par::Seq);
        }
        return;
    }
    // The tiles of the lower triangle, with the rows of L on either side of each.
    let mut tiles = Vec::new();
    let mut rest = target;
    let mut column = 0;
    while column < columns {
        let width = TILE.min(columns - column);
        let (now, later) = rest.split_at_col_mut(width);
        rest = later;
        let mut now = now.split_at_row_mut(column).1;
        let mut row = column;
        while row < rows {
            let height = if row == column { width } else { TILE.min(rows - row) };
            let (tile, later) = now.split_at_row_mut(height);
            now = later;
            tiles.push((tile, row, column));
            row += height;
        }
        column += width;
    }
    tiles.into_par_iter().for_each(|(tile, row, column)| {
        let right = l.subrows(column, tile.ncols());
        if row == column {
            subtract_diagonal(tile, right, accum);
        } else {
            let left = l.subrows(row, tile.nrows());
            matmul(tile, accum, left, right.transpose(), minus, Par::Seq);
        }
    });
}

/// The lower triangle of target −= L·Lᵀ.
fn subtract_diagonal<T: Scalar>(target: MatMut<'_, T>, l: MatRef<'_, T>, accum: Accum) {
    triangular::matmul(
        target,
        BlockStructure::TriangularLower,
        accum,
        l,
        BlockStructure::Rectangular,
        l.transpose(),
        BlockStructure::Rectangular,
        -T::ONE,
        Par::Seq,
    );
}

/// Calls `work` on runs of rows, on all threads.
fn for_rows<T: Scalar>(
    block: MatMut<'_, T>,
    alone: bool,
    work: impl Fn(MatMut<'_, T>) + Send + Sync,
) {
    if alone {
        return work(block);
    }
    let mut runs = Vec::new();
    let mut rest = block;
    while rest.nrows() > 0 {
        let height = TILE.min(rest.nrows());
        let (run, later) = rest.split_at_row_mut(height);
        runs.push(run);
        rest = later;
    }
    runs.into_par_iter().for_each(work);
}

/// The Cholesky factor of a block of at most [`PANEL`] columns, in place.
fn cholesky<T: Scalar>(mut block: MatMut<'_, T>) -> Result<(), Pivot> {
    let width = block.nrows();
    let before = block.rb().to_owned();
    let mut memory =
        MemBuffer::new(cholesky_in_place_scratch::<T>(width, Par::Seq, Default::default()));
    let factored = cholesky_in_place(
        block.rb_mut(),
        LltRegularization::default(),
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    );
    match factored {
        Ok(_) => Ok(()),
        Err(LltError::NonPositivePivot { .. }) => Err(first_bad_pivot(before.as_ref())),
    }
}

/// The first pivot of a block that is not positive, found the plain way because `faer` does not tell its value.
fn first_bad_pivot<T: Scalar>(block: MatRef<'_, T>) -> Pivot {
    let width = block.nrows();
    let mut l = block.to_owned();
    for column in 0..width {
        let pivot = l[(column, column)];
        if !(pivot > T::ZERO && Real::is_finite(pivot)) {
            return Pivot { column, value: pivot.to_f64() };
        }
        for row in column + 1..width {
            let factor = l[(row, column)] / pivot;
            for other in column + 1..=row {
                let product = factor * l[(other, column)];
                l[(row, other)] -= product;
            }
        }
    }
    // Rounding may hide from this order of sums what the other one met.
    Pivot { column: width - 1, value: 0.0 }
}
