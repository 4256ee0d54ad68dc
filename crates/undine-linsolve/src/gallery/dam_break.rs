//! The pressure of a breaking dam with walls that do not stick: a bounded system to measure solvers with.

use crate::error::{Result, SolveError};
use crate::matrix::{Csr, Matrix};

/// A bounded system: A·x = b within lower ≤ x ≤ upper.
#[derive(Debug, Clone)]
pub struct BoundedSystem {
    /// A, symmetric and positive definite.
    pub matrix: Matrix,
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
    let (nx, ny, nz) = (n / 2, 3 * n / 4, n);
    let place = |[x, y, z]: [usize; 3]| (x * ny + y) * nz + z;
    let mut triplets = Vec::with_capacity(7 * nx * ny * nz);
    let mut b = Vec::with_capacity(nx * ny * nz);
    let mut lower = Vec::with_capacity(nx * ny * nz);
    for cell in 0..nx * ny * nz {
        let at = [cell / (ny * nz), cell / nz % ny, cell % nz];
        let (mut diagonal, mut divergence, mut at_wall) = (0.0, 0.0, false);
        for axis in 0..3 {
            for (side, sign) in [(0, -1.0), (1, 1.0)] {
                match neighbour(at, axis, side, [nx, ny, nz]) {
                    Neighbour::Wall => at_wall = true,
                    Neighbour::Air => {
                        diagonal += 2.0;
                        divergence += sign * velocity(at, axis, side, n);
                    }
                    Neighbour::Liquid(there) => {
                        diagonal += 1.0;
                        divergence += sign * velocity(at, axis, side, n);
                        triplets.push((cell, place(there), -1.0));
                    }
                }
            }
        }
        triplets.push((cell, cell, diagonal));
        b.push(-divergence);
        lower.push(if at_wall { 0.0 } else { f64::NEG_INFINITY });
    }
    let csr = Csr::from_triplets(b.len(), b.len(), triplets)?;
    let upper = vec![f64::INFINITY; b.len()];
    Ok(BoundedSystem { matrix: Matrix::single(csr)?, b, lower, upper })
}

enum Neighbour {
    Wall,
    Air,
    Liquid([usize; 3]),
}

fn neighbour(mut at: [usize; 3], axis: usize, side: usize, size: [usize; 3]) -> Neighbour {
    match (side, axis) {
        (0, _) if at[axis] == 0 => Neighbour::Wall,
        (1, 2) if at[axis] + 1 == size[axis] => Neighbour::Wall,
        (1, _) if at[axis] + 1 == size[axis] => Neighbour::Air,
        (0, _) => {
            at[axis] -= 1;
            Neighbour::Liquid(at)
        }
        _ => {
            at[axis] += 1;
            Neighbour::Liquid(at)
        }
    }
}

/// The velocity through a face before the pressure acts, relative to the box.
fn velocity(at: [usize; 3], axis: usize, side: usize, n: usize) -> f64 {
    let mut place = at.map(|at| (at as f64 + 0.5) / n as f64);
    place[axis] = (at[axis] + side) as f64 / n as f64;
    let [x, y, z] = place.map(|place| std::f64::consts::TAU * place);
    match axis {
        0 => 0.5 + 0.3 * (3.0 * z).cos(),
        1 => -1.0 + 0.6 * (2.0 * x).sin() * (4.0 * z).sin(),
        _ => 0.2 * (5.0 * y).sin() * (3.0 * x).cos(),
    }
}
