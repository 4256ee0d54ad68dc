//! The seven-point stencil on one colour of a Bucket: a row of four voxels at a time, each with its six neighbours of the
//! other colour.

use super::half::{Half, Nothing};
use crate::real::Real;

/// The entries of a table of six neighbours: below and above along x, y and z.
pub const SIDES: usize = 6;

/// No Bucket there.
pub const NONE: u32 = u32::MAX;

/// Four numbers.
pub type Row<T> = [T; 4];

/// The halves of the other colour in and around a Bucket.
pub struct Around<'a, T> {
    own: &'a Half<T>,
    sides: [&'a Half<T>; SIDES],
}

impl<'a, T: Nothing> Around<'a, T> {
    /// Around the Bucket `place`. `halves` has `stride` halves to a Bucket, of which these are the first.
    #[inline(always)]
    pub fn new(halves: &'a [Half<T>], stride: usize, place: usize, sides: &[u32; SIDES]) -> Self {
        let half = |&side: &u32| match side {
            NONE => T::NOTHING,
            side => &halves[side as usize * stride],
        };
        Self { own: &halves[place * stride], sides: sides.each_ref().map(half) }
    }

    /// Calls `visit` with each row of `colour`, its x and y, and the values of its neighbours below and above along x, y and z.
    ///
    /// Rows of even and odd parity follow each other, so that within each call the parity is known to the compiler.
    #[inline(always)]
    pub fn rows(&self, colour: usize, mut visit: impl FnMut(usize, usize, [Row<T>; SIDES])) {
        if colour == 0 {
            self.rows_of(0, &mut visit);
        } else {
            self.rows_of(1, &mut visit);
        }
    }

    #[inline(always)]
    fn rows_of(&self, parity: usize, visit: &mut impl FnMut(usize, usize, [Row<T>; SIDES])) {
        for x in (0..8).step_by(2) {
            for y in (0..8).step_by(2) {
                visit(x, y, self.row(x, y, parity));
                visit(x, y + 1, self.row(x, y + 1, 1 - parity));
            }
            for y in (0..8).step_by(2) {
                visit(x + 1, y, self.row(x + 1, y, 1 - parity));
                visit(x + 1, y + 1, self.row(x + 1, y + 1, parity));
            }
        }
    }

    /// `parity`: the z of the row's first voxel.
    #[inline(always)]
    fn row(&self, x: usize, y: usize, parity: usize) -> [Row<T>; SIDES] {
        let own = self.own;
        let row = own[x][y];
        let x_below = if x > 0 { own[x - 1][y] } else { self.sides[0][7][y] };
        let x_above = if x < 7 { own[x + 1][y] } else { self.sides[1][0][y] };
        let y_below = if y > 0 { own[x][y - 1] } else { self.sides[2][x][7] };
        let y_above = if y < 7 { own[x][y + 1] } else { self.sides[3][x][0] };
        let (z_below, z_above) = if parity == 0 {
            ([self.sides[4][x][y][3], row[0], row[1], row[2]], row)
        } else {
            (row, [row[1], row[2], row[3], self.sides[5][x][y][0]])
        };
        [x_below, x_above, y_below, y_above, z_below, z_above]
    }
}

/// The sum of the neighbours of each voxel of a row.
#[inline(always)]
pub fn sum<T: Real>(n: &[Row<T>; SIDES]) -> Row<T> {
    std::array::from_fn(|i| ((n[0][i] + n[1][i]) + (n[2][i] + n[3][i])) + (n[4][i] + n[5][i]))
}

/// The sum of the neighbours of each voxel of row (x, y), each times the coefficient of the face between.
#[inline(always)]
pub fn weighted<T: Real>(
    n: &[Row<T>; SIDES],
    faces: &[Half<f32>; SIDES],
    x: usize,
    y: usize,
) -> Row<T> {
    let c = |side: usize, i: usize| T::from_f64(f64::from(faces[side][x][y][i]));
    std::array::from_fn(|i| {
        ((c(0, i) * n[0][i] + c(1, i) * n[1][i]) + (c(2, i) * n[2][i] + c(3, i) * n[3][i]))
            + (c(4, i) * n[4][i] + c(5, i) * n[5][i])
    })
}
