//! Small classics, and systems that conjugate gradients cannot solve.

use super::poisson::{faces, grid_rows, neighbour, number};
use crate::error::Result;
use crate::matrix::Csr;

/// Hilbert's matrix 1 / (i + j + 1): positive definite, and so badly conditioned that 13 rows exhaust `f64`.
pub fn hilbert(n: usize) -> Result<Csr<f64>> {
    Csr::from_rows(n, n, |row, entries| {
        entries.extend((0..n).map(|column| (column as u32, 1.0 / (row + column + 1) as f64)));
    })
}

/// The same three numbers in every row: below, on and above the diagonal.
pub fn tridiagonal(n: usize, below: f64, on: f64, above: f64) -> Result<Csr<f64>> {
    Csr::from_rows(n, n, |row, entries| {
        if row > 0 {
            entries.push((row as u32 - 1, below));
        }
        entries.push((row as u32, on));
        if row + 1 < n {
            entries.push((row as u32 + 1, above));
        }
    })
}

/// −ε Δu + w·∇u on a box of cells of size 1, 7 points, first-order upwind, zero around it: unsymmetric, an M-matrix.
pub fn convection_diffusion(cells: [usize; 3], epsilon: f64, w: [f64; 3]) -> Result<Csr<f64>> {
    grid_rows(cells, |here, row| {
        let mut diagonal = 0.0;
        for (axis, side) in faces() {
            // What flows in from this side: only where the wind comes from.
            let inflow = (-(side as f64) * w[axis]).max(0.0);
            let c = epsilon + inflow;
            diagonal += c;
            let mut offset = [0; 3];
            offset[axis] = side;
            if let Some(there) = neighbour(cells, here, offset) {
                row.push((there, -c));
            }
        }
        row.push((number(cells, here), diagonal));
    })
}

/// Stokes flow in a closed n×n box on a MAC grid: [A Bᵀ; B −c I] with A the Laplacians of the velocities on inner faces
/// (first those along x, then y) and B the divergence of each cell: symmetric and indefinite.
///
/// With `compression` c = 0 constant pressure is its null space, with c > 0 it is regular.
pub fn saddle(n: usize, compression: f64) -> Result<Csr<f64>> {
    let inner = n.saturating_sub(1);
    // Face a of axis x is between the cells (a, b) and (a + 1, b); of axis y between (b, a) and (b, a + 1).
    let face = |axis: usize, a: usize, b: usize| (axis * inner * n + a * n + b) as u32;
    let cell = |x: usize, y: usize| (2 * inner * n + x * n + y) as u32;
    let rows = 2 * inner * n + n * n;
    Csr::from_rows(rows, rows, |row, entries| {
        if row < 2 * inner * n {
            let (axis, a, b) = (row / (inner * n), row / n % inner, row % n);
            let mut diagonal = 2.0;
            if a > 0 {
                entries.push((face(axis, a - 1, b), -1.0));
            }
            if a + 1 < inner {
                entries.push((face(axis, a + 1, b), -1.0));
            }
            // Beside a wall the velocity falls to zero within half a cell.
            for (is_inside, there) in [(b > 0, b.wrapping_sub(1)), (b + 1 < n, b + 1)] {
                diagonal += if is_inside { 1.0 } else { 2.0 };
                if is_inside {
                    entries.push((face(axis, a, there), -1.0));
                }
            }
            entries.push((row as u32, diagonal));
            let at = |a: usize| if axis == 0 { cell(a, b) } else { cell(b, a) };
            entries.extend([(at(a), 1.0), (at(a + 1), -1.0)]);
        } else {
            let (x, y) = ((row - 2 * inner * n) / n, row - 2 * inner * n);
            let y = y % n;
            for (axis, a, b) in [(0, x, y), (1, y, x)] {
                if a < inner {
                    entries.push((face(axis, a, b), 1.0));
                }
                if a > 0 {
                    entries.push((face(axis, a - 1, b), -1.0));
                }
            }
            if compression != 0.0 {
                entries.push((row as u32, -compression));
            }
        }
    })
}
