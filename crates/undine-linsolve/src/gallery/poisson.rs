//! Discrete Laplacians on boxes of cells, spacing 1, all positive (semi-)definite. Cells are numbered with the last axis
//! fastest.

use super::noise;
use crate::error::Result;
use crate::matrix::Csr;
use rayon::prelude::*;
use std::f64::consts::PI;

/// −Δ in two dimensions, 5 points: 4 on the diagonal, −1 to each neighbour, zero around the box.
pub fn laplacian_2d(cells: [usize; 2]) -> Result<Csr<f64>> {
    anisotropic([cells[0], cells[1], 1], [1.0, 1.0, 0.0])
}

/// −Δ in three dimensions, 7 points: 6 on the diagonal, −1 to each neighbour, zero around the box.
pub fn laplacian(cells: [usize; 3]) -> Result<Csr<f64>> {
    anisotropic(cells, [1.0; 3])
}

/// 27 points: 26 on the diagonal, −1 to each of the cells around, zero around the box (the matrix of the HPCG benchmark).
pub fn laplacian_27(cells: [usize; 3]) -> Result<Csr<f64>> {
    grid_rows(cells, |place, row| {
        for n in 0..27 {
            let offset = [n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1];
            if let Some(there) = neighbour(cells, place, offset) {
                row.push((there, if n == 13 { 26.0 } else { -1.0 }));
            }
        }
    })
}

/// −Σ w ∂² over the axes, 7 points, zero around the box. An axis of weight 0 is not coupled.
pub fn anisotropic(cells: [usize; 3], weights: [f64; 3]) -> Result<Csr<f64>> {
    finite_volumes(cells, Around::Zero, |_, axis, _| weights[axis])
}

/// −∇·(c ∇), 7 points, zero around the box: c is 1 or `ratio` in cubes of `block` cells that a seed chooses, and at a face
/// the harmonic mean of both sides, as in a flow through layers of different density.
pub fn jumps(cells: [usize; 3], ratio: f64, block: usize, seed: u64) -> Result<Csr<f64>> {
    let block = block.max(1);
    let coefficient = |place: [usize; 3]| {
        let cube = place.iter().fold(0, |hash, &p| hash * 65_537 + (p / block) as u64);
        if noise(seed, cube) < 0.0 { 1.0 } else { ratio }
    };
    finite_volumes(cells, Around::Zero, |here, _, there| {
        let c = coefficient(here);
        there.map_or(c, |there| {
            let other = coefficient(there);
            2.0 * c * other / (c + other)
        })
    })
}

/// −Δ, 7 points, closed walls all around: singular, with the constant as its null space.
pub fn neumann(cells: [usize; 3]) -> Result<Csr<f64>> {
    finite_volumes(cells, Around::Closed, |_, _, _| 1.0)
}

/// The pressure system of a box half full of liquid.
#[derive(Debug, Clone)]
pub struct HalfFull {
    /// 7 points over the liquid cells in the order of the mask: closed walls, pressure 0 in every cell of air.
    pub matrix: Csr<f64>,
    /// A divergence, smooth and with noise.
    pub b: Vec<f64>,
    /// Which of the n³ cells are liquid.
    pub liquid: Vec<bool>,
}

/// The pressure system of an n³ box, liquid up to a wavy surface with two drops above it and a bubble below.
pub fn half_full(n: usize) -> Result<HalfFull> {
    let liquid = liquid_mask(n);
    let cells: Vec<u32> = (0..liquid.len() as u32).filter(|&cell| liquid[cell as usize]).collect();
    let mut unknown = vec![u32::MAX; liquid.len()];
    for (row, &cell) in cells.iter().enumerate() {
        unknown[cell as usize] = row as u32;
    }
    let box_ = [n; 3];
    let matrix = Csr::from_rows(cells.len(), cells.len(), |row, entries| {
        let place = place(box_, cells[row] as usize);
        let mut diagonal = 0.0;
        for (axis, side) in faces() {
            let mut offset = [0; 3];
            offset[axis] = side;
            let Some(there) = neighbour(box_, place, offset) else { continue };
            diagonal += 1.0;
            if liquid[there as usize] {
                entries.push((unknown[there as usize], -1.0));
            }
        }
        entries.push((row as u32, diagonal));
    })?;
    let divergence = |&cell: &u32| {
        let [x, y, z] = place(box_, cell as usize).map(|p| (p as f64 + 0.5) / n as f64);
        let smooth = (2.0 * PI * x).sin() * (4.0 * PI * y).cos() * (PI * z).sin();
        smooth + 0.3 * noise(1, cell.into())
    };
    let b = cells.par_iter().map(divergence).collect();
    Ok(HalfFull { matrix, b, liquid })
}

/// Which cells of an n³ box are liquid: those below a wavy surface at about half its height (the last axis is up) and two
/// drops, but for a bubble.
pub fn liquid_mask(n: usize) -> Vec<bool> {
    let ball = |at: [f64; 3], centre: [f64; 3], radius: f64| {
        (0..3).map(|d| (at[d] - centre[d]).powi(2)).sum::<f64>() < radius * radius
    };
    let is_liquid = |cell: usize| {
        let at = place([n; 3], cell).map(|p| (p as f64 + 0.5) / n as f64);
        let [x, y, z] = at;
        let height = 0.5
            + 0.08 * (4.0 * PI * x).sin() * (3.0 * PI * y).cos()
            + 0.03 * (14.0 * PI * x + 3.0 * y).sin();
        let drops = ball(at, [0.3, 0.3, 0.8], 0.09) || ball(at, [0.7, 0.6, 0.85], 0.06);
        (z < height || drops) && !ball(at, [0.6, 0.4, 0.2], 0.07)
    };
    (0..n * n * n).into_par_iter().map(is_liquid).collect()
}

/// What is beyond the faces of a box.
#[derive(Clone, Copy, PartialEq)]
enum Around {
    /// The value 0, one cell away.
    Zero,
    /// Nothing flows.
    Closed,
}

/// Flow through faces: `coefficient(here, axis, there)` of each, where `there` is none outside of the box.
fn finite_volumes(
    cells: [usize; 3],
    around: Around,
    coefficient: impl Fn([usize; 3], usize, Option<[usize; 3]>) -> f64 + Sync,
) -> Result<Csr<f64>> {
    grid_rows(cells, |here, row| {
        let mut diagonal = 0.0;
        for (axis, side) in faces() {
            let mut offset = [0; 3];
            offset[axis] = side;
            match neighbour(cells, here, offset) {
                Some(there) => {
                    let c = coefficient(here, axis, Some(place(cells, there as usize)));
                    diagonal += c;
                    if c != 0.0 {
                        row.push((there, -c));
                    }
                }
                None if around == Around::Zero => diagonal += coefficient(here, axis, None),
                None => {}
            }
        }
        row.push((number(cells, here), diagonal));
    })
}

/// A matrix with a row per cell of a box.
pub(super) fn grid_rows(
    cells: [usize; 3],
    fill: impl Fn([usize; 3], &mut Vec<(u32, f64)>) + Sync,
) -> Result<Csr<f64>> {
    let count = cells.iter().product();
    Csr::from_rows(count, count, |row, entries| fill(place(cells, row), entries))
}

/// The axis and direction of each of a cell's six faces.
pub(super) fn faces() -> impl Iterator<Item = (usize, isize)> {
    (0..3).flat_map(|axis| [(axis, -1), (axis, 1)])
}

/// Where the cell of a number is.
pub(super) fn place(cells: [usize; 3], number: usize) -> [usize; 3] {
    [number / (cells[1] * cells[2]), number / cells[2] % cells[1], number % cells[2]]
}

/// The number of a cell.
pub(super) fn number(cells: [usize; 3], place: [usize; 3]) -> u32 {
    ((place[0] * cells[1] + place[1]) * cells[2] + place[2]) as u32
}

/// The cell at an offset, if it is in the box.
pub(super) fn neighbour(cells: [usize; 3], place: [usize; 3], offset: [isize; 3]) -> Option<u32> {
    let mut there = [0; 3];
    for d in 0..3 {
        there[d] = place[d].checked_add_signed(offset[d]).filter(|&p| p < cells[d])?;
    }
    Some(number(cells, there))
}
