//! The pressure of a breaking dam with walls that do not stick: a bounded system to measure solvers with.

use super::poisson::{number, place};
use crate::error::{Result, SolveError};
use crate::matrix::Csr;
use rayon::prelude::*;
use std::f64::consts::TAU;

/// A bounded system: A·x = b within lower ≤ x ≤ upper.
#[derive(Debug, Clone)]
pub struct BoundedSystem {
    /// A, symmetric and positive definite.
    pub matrix: Csr<f64>,
    /// The right-hand side.
    pub b: Vec<f64>,
    /// Lower bounds.
    pub lower: Vec<f64>,
    /// Upper bounds.
    pub upper: Vec<f64>,
}

/// A column of liquid in a box of n³ cells, half as wide and three quarters as high as the box, in the first moment after
/// the box is jerked along −x.
///
/// Unknowns are the pressures of the liquid's cells, x slowest and z fastest. Four faces of the column are walls: x = 0, the
/// floor y = 0, z = 0 and z = n; the two others are free surfaces with a pressure of zero half a cell away. Cells that
/// touch a wall may push but not pull: their lower bound is 0, all others have none. The liquid falls (gravity), stays
/// behind the jerked box by varying amounts, so that the upper part of the wall x = 0 would have to hold it, and
/// bubbles a little, so that the floor and the sides would have to as well, here and there.
///
/// Units are chosen so that cells and faces measure 1. Refuses boxes of fewer than 4 cells a side.
pub fn dam_break(n: usize) -> Result<BoundedSystem> {
    if n < 4 {
        return Err(SolveError::BadValue {
            what: "the number of cells along a dam break's box".into(),
            found: n.to_string(),
            wanted: "at least 4",
        });
    }
    let cells = [n / 2, 3 * n / 4, n];
    let count = cells.iter().product();
    let matrix = Csr::from_rows(count, count, |cell, row| {
        let mut diagonal = 0.0;
        for (_, _, neighbour) in faces(cells, place(cells, cell)) {
            match neighbour {
                Neighbour::Wall => {}
                Neighbour::Air => diagonal += 2.0,
                Neighbour::Liquid(there) => {
                    diagonal += 1.0;
                    row.push((there, -1.0));
                }
            }
        }
        row.push((cell as u32, diagonal));
    })?;
    let (b, lower) = (0..count)
        .into_par_iter()
        .map(|cell| {
            let at = place(cells, cell);
            let (mut divergence, mut lower) = (0.0, f64::NEG_INFINITY);
            for (axis, side, neighbour) in faces(cells, at) {
                match neighbour {
                    Neighbour::Wall => lower = 0.0,
                    _ => divergence += (2.0 * side as f64 - 1.0) * velocity(at, axis, side, n),
                }
            }
            (-divergence, lower)
        })
        .unzip();
    Ok(BoundedSystem { matrix, b, lower, upper: vec![f64::INFINITY; count] })
}

/// What is behind a face of a cell.
enum Neighbour {
    Wall,
    Air,
    Liquid(u32),
}

/// The faces of a cell: axis, side (0 or 1) and what is behind.
fn faces(cells: [usize; 3], at: [usize; 3]) -> impl Iterator<Item = (usize, usize, Neighbour)> {
    (0..6).map(move |face| {
        let (axis, side) = (face / 2, face % 2);
        let is_last = at[axis] + side == if side == 0 { 0 } else { cells[axis] };
        let neighbour = match (is_last, side, axis) {
            (true, 0, _) | (true, _, 2) => Neighbour::Wall,
            (true, ..) => Neighbour::Air,
            (false, ..) => {
                let mut there = at;
                there[axis] = there[axis] + 2 * side - 1;
                Neighbour::Liquid(number(cells, there))
            }
        };
        (axis, side, neighbour)
    })
}

/// The velocity through a face before the pressure acts, relative to the box.
fn velocity(at: [usize; 3], axis: usize, side: usize, n: usize) -> f64 {
    let mut place = at.map(|at| (at as f64 + 0.5) / n as f64);
    place[axis] = (at[axis] + side) as f64 / n as f64;
    let [x, y, z] = place.map(|place| TAU * place);
    match axis {
        0 => 0.5 + 0.3 * (3.0 * z).cos(),
        1 => -1.0 + 0.6 * (2.0 * x).sin() * (4.0 * z).sin(),
        _ => 0.2 * (5.0 * y).sin() * (3.0 * x).cos(),
    }
}
