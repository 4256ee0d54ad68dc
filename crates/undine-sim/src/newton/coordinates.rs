//! The coordinates q in which an element's gradient and matrix are added up and projected, before nodes come in: for each
//! particle a few blocks of 3, as its [`Hang`] says.

use super::rotation::outer;
use super::shape::Hang;
use crate::constraint::project::project;
use undine_core::glam::{DMat3, DVec3};

/// Gradient and matrix of one element in the coordinates q: N particles of A blocks of 3.
pub(super) struct Local<const N: usize, const A: usize> {
    pub gradient: [[DVec3; A]; N],
    pub matrix: [[[[DMat3; A]; N]; A]; N],
}

impl<const N: usize, const A: usize> Local<N, A> {
    pub const ZERO: Self =
        Self { gradient: [[DVec3::ZERO; A]; N], matrix: [[[[DMat3::ZERO; A]; N]; A]; N] };

    /// Adds j·sjᵀ to the matrix, of which all rows together are symmetric, and j·σ to the gradient.
    #[inline]
    pub fn add_row(&mut self, j: &[[DVec3; A]; N], sj: &[[DVec3; A]; N], sigma: f64) {
        for (n, j) in j.iter().enumerate() {
            for (a, &j) in j.iter().enumerate() {
                self.gradient[n][a] += j * sigma;
                let blocks = self.matrix[n][a].iter_mut().flatten();
                for (block, &sj) in blocks.zip(sj.iter().flatten()) {
                    *block += outer(j, sj);
                }
            }
        }
    }

    /// Adds the curvature of a Constraint by positions.
    #[inline]
    pub fn add_curvature(&mut self, hangs: &[Hang<'_>; N], curvature: &[[DMat3; N]; N]) {
        if A == 1 {
            // Particles move as their own block does; those that are fixed have no nodes to hand anything to.
            for (own, curvature) in self.matrix.iter_mut().zip(curvature) {
                for (block, more) in own[0].iter_mut().zip(curvature) {
                    block[0] += *more;
                }
            }
            return;
        }
        let moves: [[DMat3; A]; N] = std::array::from_fn(|n| hangs[n].moves());
        for n in 0..N {
            for o in 0..N {
                for a in 0..A.min(2) {
                    for b in 0..A.min(2) {
                        self.matrix[n][a][o][b] +=
                            moves[n][a].transpose() * curvature[n][o] * moves[o][b];
                    }
                }
            }
        }
    }

    /// Makes the matrix positive semi-definite.
    pub fn project(&mut self) {
        const { assert!(3 * N * A <= 48, "an element's particles have more than 48 coordinates") }
        match 3 * N * A {
            0..=6 => self.project_as::<6>(),
            7..=12 => self.project_as::<12>(),
            13..=24 => self.project_as::<24>(),
            _ => self.project_as::<48>(),
        }
    }

    fn project_as<const D: usize>(&mut self) {
        let mut dense = [[0.0; D]; D];
        let index = |n: usize, a: usize, i: usize| 3 * (A * n + a) + i;
        for n in 0..N {
            for a in 0..A {
                for i in 0..3 {
                    for o in 0..N {
                        for b in 0..A {
                            for j in 0..3 {
                                let here = self.matrix[n][a][o][b].col(j)[i];
                                let mirrored = self.matrix[o][b][n][a].col(i)[j];
                                dense[index(n, a, i)][index(o, b, j)] = 0.5 * (here + mirrored);
                            }
                        }
                    }
                }
            }
        }
        if !project(&mut dense, 3 * N * A) {
            return;
        }
        for n in 0..N {
            for a in 0..A {
                for o in 0..N {
                    for b in 0..A {
                        self.matrix[n][a][o][b] =
                            DMat3::from_cols_array_2d(&std::array::from_fn(|j| {
                                std::array::from_fn(|i| dense[index(n, a, i)][index(o, b, j)])
                            }));
                    }
                }
            }
        }
    }

    /// Writes force (the negative gradient) and matrix on the nodes, 3 unknowns each, the matrix row after row and symmetric
    /// to the bit.
    #[inline]
    pub fn spread(&self, hangs: &[Hang<'_>; N], force: &mut [f64], matrix: &mut [f64]) {
        let width = force.len();
        let (mut i, mut first) = (0, 0);
        for n in 0..N {
            for node in 0..hangs[n].count() {
                let own = hangs[n].coefficients::<A>(node);
                let f = -combine(&own, &self.gradient[n]);
                force[i..i + 3].copy_from_slice(&f.to_array());
                // Blocks on and right of the diagonal; the others mirror them.
                let mut j = first;
                for (o, hang) in hangs.iter().enumerate().skip(n) {
                    for other in 0..hang.count() {
                        if j >= i {
                            let their = hang.coefficients::<A>(other);
                            let block = self.block(n, &own, o, &their);
                            let block = if j == i { symmetric(block) } else { block };
                            for row in 0..3 {
                                for column in 0..3 {
                                    let entry = block.col(column)[row];
                                    matrix[(i + row) * width + j + column] = entry;
                                    matrix[(j + column) * width + i + row] = entry;
                                }
                            }
                        }
                        j += 3;
                    }
                }
                i += 3;
            }
            first = i;
        }
    }

    /// Σ c_a c_b H_ab between two nodes.
    #[inline]
    fn block(&self, n: usize, own: &[f64; A], o: usize, their: &[f64; A]) -> DMat3 {
        let mut block = DMat3::ZERO;
        for (row, own) in self.matrix[n].iter().zip(own) {
            for (&here, their) in row[o].iter().zip(their) {
                block += here * (own * their);
            }
        }
        block
    }

    pub fn is_finite(&self) -> bool {
        self.gradient.iter().flatten().all(|g| g.is_finite())
            && self.matrix.iter().flatten().flatten().flatten().all(|h| h.is_finite())
    }
}

/// The curvature of v·(exp(θ)·r) by θ at θ = 0: ½ (v rᵀ + r vᵀ) − (v·r) 1.
#[inline]
pub(super) fn turn_curvature(v: DVec3, r: DVec3) -> DMat3 {
    (outer(v, r) + outer(r, v)) * 0.5 - DMat3::from_diagonal(DVec3::splat(v.dot(r)))
}

/// How far a particle's coordinates q move with the unknowns.
#[inline]
pub(super) fn moved<const A: usize>(hang: &Hang<'_>, du: &[f64], row_of: &[u32]) -> [DVec3; A] {
    let mut q = [DVec3::ZERO; A];
    if let Hang::Rod(rod) = hang {
        q.iter_mut().zip(rod.moved(du, row_of)).for_each(|(q, moved)| *q = moved);
        return q;
    }
    for node in 0..hang.count() {
        let row = row_of[hang.node(node) as usize] as usize;
        let du = DVec3::from_slice(&du[row..row + 3]);
        let c = hang.coefficients::<A>(node);
        (0..A).for_each(|a| q[a] += du * c[a]);
    }
    q
}

/// Σ c_a v_a.
#[inline]
pub(super) fn combine<const A: usize>(c: &[f64; A], v: &[DVec3; A]) -> DVec3 {
    c.iter().zip(v).fold(DVec3::ZERO, |sum, (c, v)| sum + *v * *c)
}

#[inline]
fn symmetric(block: DMat3) -> DMat3 {
    (block + block.transpose()) * 0.5
}
