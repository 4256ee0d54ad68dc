//! Linear elasticity of a box of 8-node hexahedra: K = Σ ∫ Bᵀ D B with trilinear shape functions and 2×2×2 Gauss points
//! (Hughes, *The Finite Element Method*, §3), three unknowns per node.

use super::poisson::{number, place};
use super::rigid_motions;
use crate::error::Result;
use crate::matrix::Csr;

/// What holds the box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// The nodes of the face at x = 0 cannot move; they are not among the unknowns.
    OneFace,
    /// Nothing: the six rigid motions are the null space.
    Nothing,
}

/// An elastic box.
#[derive(Debug, Clone)]
pub struct Elastic {
    /// Stiffness, row 3·node + component [N/m].
    pub matrix: Csr<f64>,
    /// Where the free nodes are at rest [m].
    pub positions: Vec<[f64; 3]>,
    /// The six rigid motions, an entry per row.
    pub modes: Vec<Vec<f64>>,
}

/// A box of `elements` cubes of 1 m, with Young's modulus 1 Pa and a given Poisson's ratio
/// (0 … 0.5, where towards 0.5 it becomes incompressible and hard to solve).
pub fn elasticity(elements: [usize; 3], poissons_ratio: f64, held: Held) -> Result<Elastic> {
    let k = cube_stiffness(poissons_ratio);
    let all = elements.map(|n| n + 1);
    let skipped = usize::from(held == Held::OneFace);
    let free = [all[0] - skipped, all[1], all[2]];
    let nodes: usize = free.iter().product();
    let matrix = Csr::from_rows(3 * nodes, 3 * nodes, |row, entries| {
        let (node, component) = (row / 3, row % 3);
        let mut here = place(free, node);
        here[0] += skipped;
        // The node is corner `a` of up to eight cubes; their other corners are the 27 nodes around.
        let mut sums = [[0.0; 3]; 27];
        let mut touched = [false; 27];
        for a in 0..8 {
            let corner = corner(a);
            let cube: [Option<usize>; 3] = std::array::from_fn(|d| {
                here[d].checked_sub(corner[d]).filter(|&cube| cube < elements[d])
            });
            if cube.contains(&None) {
                continue;
            }
            for b in 0..8 {
                let other = self::corner(b);
                let slot = (0..3).fold(0, |slot, d| 3 * slot + (1 + other[d] - corner[d]));
                touched[slot] = true;
                for (sum, k) in sums[slot].iter_mut().zip(&k[3 * a + component][3 * b..]) {
                    *sum += k;
                }
            }
        }
        for slot in (0..27).filter(|&slot| touched[slot]) {
            let offset = [slot / 9, slot / 3 % 3, slot % 3];
            let there: [usize; 3] = std::array::from_fn(|d| here[d] + offset[d] - 1);
            if there[0] < skipped {
                continue;
            }
            let other = number(free, [there[0] - skipped, there[1], there[2]]);
            entries.extend((0..3).map(|d| (3 * other + d as u32, sums[slot][d])));
        }
    })?;
    let position = |node| {
        let [x, y, z] = place(free, node);
        [(x + skipped) as f64, y as f64, z as f64]
    };
    let positions: Vec<[f64; 3]> = (0..nodes).map(position).collect();
    let modes = rigid_motions((0..3 * nodes).map(|row| (positions[row / 3], row % 3)));
    Ok(Elastic { matrix, positions, modes })
}

/// Which of both ends of each axis a cube's corner is at.
fn corner(n: usize) -> [usize; 3] {
    [n >> 2 & 1, n >> 1 & 1, n & 1]
}

/// The 24×24 stiffness of a unit cube of Young's modulus 1.
fn cube_stiffness(nu: f64) -> [[f64; 24]; 24] {
    // Lamé's constants: stress = λ tr(ε) I + 2 μ ε.
    let lambda = nu / ((1.0 + nu) * (1.0 - 2.0 * nu));
    let mu = 0.5 / (1.0 + nu);
    let mut k = [[0.0; 24]; 24];
    for point in 0..8 {
        let at = corner(point).map(|end| 0.5 + (end as f64 - 0.5) / 3.0_f64.sqrt());
        // ∇N of each corner's shape function, a product of x or 1 − x over the axes.
        let gradient: [[f64; 3]; 8] = std::array::from_fn(|a| {
            let ends = corner(a);
            std::array::from_fn(|d| {
                (0..3).fold(1.0, |product, axis| {
                    let (value, slope) =
                        if ends[axis] == 1 { (at[axis], 1.0) } else { (1.0 - at[axis], -1.0) };
                    product * if axis == d { slope } else { value }
                })
            })
        });
        // ∫ λ ∂ᵢNₐ ∂ⱼN_b + μ ∂ⱼNₐ ∂ᵢN_b + μ δᵢⱼ ∇Nₐ·∇N_b; each of the eight points weighs 1/8.
        for (a, ga) in gradient.iter().enumerate() {
            for (b, gb) in gradient.iter().enumerate() {
                let dot: f64 = (0..3).map(|d| ga[d] * gb[d]).sum();
                for i in 0..3 {
                    for j in 0..3 {
                        let same = if i == j { mu * dot } else { 0.0 };
                        k[3 * a + i][3 * b + j] +=
                            (lambda * (ga[i] * gb[j]) + mu * (ga[j] * gb[i]) + same) / 8.0;
                    }
                }
            }
        }
    }
    k
}
