//! The coarsest level, factored: L·D·Lᵀ of at most a few dozen cells, in `f64`.
//!
//! A region without anything that holds its pressure is singular. Its last pivot is zero, and the cell is then kept at zero:
//! a generalised inverse that is still symmetric and positive semi-definite.

use super::half::{VOXELS, place};
use super::piece::{Piece, STRIDES, is_on};
use super::smooth::Halves;
use super::stencil::NONE;

/// A pivot that is smaller than its diagonal times this is zero.
const ZERO: f64 = 1e-10;

/// The factors of the coarsest level.
#[derive(Debug, Default)]
pub struct Coarsest {
    /// Each cell's Bucket and place in it, in the order by colours.
    cells: Vec<(u32, u32)>,
    /// L below the diagonal, 1/D on it; by rows.
    factors: Vec<f64>,
}

impl Coarsest {
    /// Factors the equations of some Buckets.
    pub fn new(pieces: &[Piece], sides: &[[u32; 6]]) -> Self {
        let mut numbers = vec![[NONE; VOXELS]; pieces.len()];
        let mut cells = Vec::new();
        for (bucket, piece) in pieces.iter().enumerate() {
            for voxel in (0..VOXELS).filter(|&voxel| is_on(&piece.active, voxel)) {
                numbers[bucket][voxel] = cells.len() as u32;
                cells.push((bucket, voxel));
            }
        }
        let n = cells.len();
        let mut matrix = vec![0.0; n * n];
        for (row, &(bucket, voxel)) in cells.iter().enumerate() {
            matrix[row * n + row] = pieces[bucket].diagonal(voxel);
            for (side, c) in pieces[bucket].around(voxel).into_iter().enumerate() {
                let (axis, above) = (side / 2, side % 2 == 1);
                let stride = STRIDES[axis];
                let along = voxel / stride % 8;
                let (bucket, voxel) = match (above, along) {
                    (false, 0) => (sides[bucket][side], voxel + 7 * stride),
                    (true, 7) => (sides[bucket][side], voxel - 7 * stride),
                    (false, _) => (bucket as u32, voxel - stride),
                    (true, _) => (bucket as u32, voxel + stride),
                };
                if c != 0.0 && bucket != NONE {
                    let column = numbers[bucket as usize][voxel];
                    matrix[row * n + column as usize] -= f64::from(c);
                }
            }
        }
        factor(&mut matrix, n);
        let cells = cells.into_iter().map(|(bucket, voxel)| (bucket as u32, place(voxel) as u32));
        Self { cells: cells.collect(), factors: matrix }
    }

    /// x = A⁻¹·b.
    pub fn solve(&self, b: &Halves, x: &mut Halves) {
        let at = |&(bucket, place): &(u32, u32)| {
            (bucket as usize, place as usize >> 8, place as usize & 255)
        };
        let value = |cell: &(u32, u32)| {
            let (bucket, colour, place) = at(cell);
            f64::from(b[colour][bucket].as_flattened().as_flattened()[place])
        };
        let mut y: Vec<f64> = self.cells.iter().map(value).collect();
        let (n, l) = (y.len(), &self.factors);
        for i in 0..n {
            y[i] -= (0..i).map(|j| l[i * n + j] * y[j]).sum::<f64>();
        }
        for i in 0..n {
            y[i] *= l[i * n + i];
        }
        for i in (0..n).rev() {
            y[i] -= (i + 1..n).map(|j| l[j * n + i] * y[j]).sum::<f64>();
        }
        for (y, cell) in y.into_iter().zip(&self.cells) {
            let (bucket, colour, place) = at(cell);
            x[colour][bucket].as_flattened_mut().as_flattened_mut()[place] = y as f32;
        }
    }

    /// Bytes of the factors.
    pub fn bytes(&self) -> u64 {
        (size_of_val(&self.factors[..]) + size_of_val(&self.cells[..])) as u64
    }
}

/// L·D·Lᵀ in place: L below the diagonal, 1/D on it. Columns of zero pivots are left out.
fn factor(a: &mut [f64], n: usize) {
    let diagonal: Vec<f64> = (0..n).map(|i| a[i * n + i]).collect();
    for j in 0..n {
        let pivot = a[j * n + j];
        let sound = pivot > ZERO * diagonal[j];
        let inverse = if sound { 1.0 / pivot } else { 0.0 };
        for i in j + 1..n {
            let l = a[i * n + j] * inverse;
            if l != 0.0 {
                for k in j + 1..=i {
                    a[i * n + k] -= l * a[k * n + j];
                }
            }
        }
        for i in j + 1..n {
            a[i * n + j] *= inverse;
        }
        a[j * n + j] = inverse;
    }
}
