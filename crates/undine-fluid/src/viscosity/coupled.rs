//! The system with rigid bodies in it, whose velocities are unknowns as those of faces are (in the variational form of C. Batty,
//! F. Bertails and R. Bridson, *A Fast Variational Framework for Accurate Solid-Fluid Coupling*, 2007).
//!
//! Six unknowns q for each body, of the inertia M and the samples S that it touches, and the faces u around it:
//!
//! ```text
//! A·u + C·q = m u*,   Cᵀ·u + (M + S)·q = M q*
//! ```
//!
//! The second row gives q for any u, so that what is solved for is A − C·(M + S)⁻¹·Cᵀ: symmetric and positive definite, and A in all
//! but six directions for each body. Bodies that are less than a voxel apart share samples, and so M + S is sparse, and not just
//! blocks of six; it is factored once.

use super::grips::{Motion, Pull};
use super::piece::FACES;
use super::system::System;
use crate::pressure::Afloat;
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};
use undine_linsolve::direct::{Direct, Kind, Ordering};
use undine_linsolve::pressure::{MOTIONS, RigidTerm};
use undine_linsolve::{Csr, Operator, Result, Rows};

/// Faces that one task gathers from.
const CHUNK: usize = 2048;

/// A viscous system with the bodies that it touches.
pub struct Coupled<'a> {
    system: &'a System,
    bodies: Vec<Body>,
    /// M + S, factored.
    inertia: Mutex<Direct>,
    /// The right-hand sides of bodies.
    momenta: Vec<f64>,
}

/// C of a body.
struct Body {
    /// Which of all bodies it is.
    number: usize,
    /// Ascending.
    entries: Vec<u32>,
    columns: Vec<Motion>,
}

impl<'a> Coupled<'a> {
    /// Of a system, what walls add to it, and bodies with the velocities of before the solve. `None` if it touches none of them.
    /// Voxels are of a size [m³]. Collective.
    pub fn new(
        system: &'a System,
        pulls: &[Pull],
        bodies: &[Afloat],
        volume: f64,
    ) -> Result<Option<Self>> {
        let processes = system.rows().processes();
        let grips =
            || pulls.iter().zip(0_u32..).filter_map(|(it, n)| Some((it.grips.as_ref()?, n)));
        let mut touched = vec![0.0; bodies.len()];
        for (grips, _) in grips() {
            grips.blocks.iter().for_each(|(body, ..)| touched[*body as usize] = 1.0);
        }
        processes.all_sum_f64s(&mut touched)?;
        let numbers: Vec<usize> = (0..bodies.len()).filter(|&n| touched[n] > 0.0).collect();
        if numbers.is_empty() {
            return Ok(None);
        }
        let mut place = vec![0; bodies.len()];
        numbers.iter().zip(0..).for_each(|(&number, n)| place[number] = n);

        let nothing = |&number: &usize| Body { number, entries: Vec::new(), columns: Vec::new() };
        let mut touched: Vec<Body> = numbers.iter().map(nothing).collect();
        let mut momenta = vec![0.0; MOTIONS * numbers.len()];
        // S of all processes, in order of rank: the same on each.
        let mut indices: Vec<[u32; 2]> = Vec::new();
        let mut values: Vec<f64> = Vec::new();
        for (grips, n) in grips() {
            for (face, body, column) in &grips.rows {
                let body = &mut touched[place[*body as usize]];
                body.entries.push(n * FACES as u32 + face);
                body.columns.push(*column);
            }
            for (one, other, block) in &grips.blocks {
                indices.push([one, other].map(|body| place[*body as usize] as u32));
                values.extend(block.as_flattened());
            }
            for (body, push) in &grips.pushes {
                let to = &mut momenta[MOTIONS * place[*body as usize]..][..MOTIONS];
                to.iter_mut().zip(push).for_each(|(to, push)| *to += push);
            }
        }
        processes.all_sum_f64s(&mut momenta)?;
        let indices = processes.all_gather_values(&indices)?.concat();
        let values = processes.all_gather_values(&values)?.concat();

        let mut triplets = Vec::new();
        let mut add = |row: usize, column: usize, block: &[f64]| {
            for (n, &value) in block.iter().enumerate() {
                let (i, j) = (n / MOTIONS, n % MOTIONS);
                triplets.push((MOTIONS * row + i, MOTIONS * column + j, value));
            }
        };
        for (n, &number) in numbers.iter().enumerate() {
            let body = &bodies[number];
            let mass = inertia(body)?.map(|row| row.map(|value| value / volume));
            let [v, w] = [body.twist.linear, body.twist.angular];
            let moves = [v.x, v.y, v.z, w.x, w.y, w.z];
            for (to, row) in momenta[MOTIONS * n..].iter_mut().zip(&mass) {
                *to += row.iter().zip(moves).map(|(m, v)| m * v).sum::<f64>();
            }
            add(n, n, mass.as_flattened());
        }
        for ([one, other], block) in indices.iter().zip(values.chunks(MOTIONS * MOTIONS)) {
            add(*one as usize, *other as usize, block);
        }
        let size = momenta.len();
        let matrix = Csr::from_triplets(size, size, triplets)?;
        let inertia = Mutex::new(Direct::factor(&matrix, Kind::Cholesky, &Ordering::Automatic)?);
        Ok(Some(Self { system, bodies: touched, inertia, momenta }))
    }

    /// (M + S)⁻¹·b.
    fn over_inertia(&self, b: &[f64]) -> Result<Vec<f64>> {
        let mut q = vec![0.0; b.len()];
        let mut inertia = self.inertia.lock().unwrap_or_else(PoisonError::into_inner);
        // What it leaves is far below what the iteration around it does, which measures the whole system.
        let _ = inertia.solve(b, &mut q)?;
        Ok(q)
    }

    /// Cᵀ·u. Collective.
    fn gather(&self, u: &[f64]) -> Result<Vec<f64>> {
        let mut sums: Vec<f64> = self.bodies.iter().flat_map(|body| body.gather(u)).collect();
        self.rows().processes().all_sum_f64s(&mut sums)?;
        Ok(sums)
    }

    /// y ← y − C·q.
    fn take_out(&self, q: &[f64], y: &mut [f64]) {
        for (body, q) in self.bodies.iter().zip(q.chunks(MOTIONS)) {
            for (&entry, column) in body.entries.iter().zip(&body.columns) {
                y[entry as usize] -= column.iter().zip(q).map(|(c, q)| c * q).sum::<f64>();
            }
        }
    }

    /// Takes out of the right-hand side of faces what bodies do without them.
    pub fn eliminate(&self, b: &mut [f64]) -> Result<()> {
        let q = self.over_inertia(&self.momenta)?;
        self.take_out(&q, b);
        Ok(())
    }

    /// The motions of bodies that go with velocities of faces: by number. Collective.
    pub fn motions(&self, u: &[f64]) -> Result<Vec<(usize, Motion)>> {
        let mut left = self.gather(u)?;
        left.iter_mut().zip(&self.momenta).for_each(|(left, all)| *left = all - *left);
        let q = self.over_inertia(&left)?;
        let numbers = self.bodies.iter().map(|body| body.number);
        Ok(numbers.zip(q.as_chunks().0.iter().copied()).collect())
    }
}

impl Body {
    /// The sums over the local faces, always added in the same order.
    fn gather(&self, u: &[f64]) -> Motion {
        let chunk = |(entries, columns): (&[u32], &[Motion])| {
            let mut sums = [0.0; MOTIONS];
            for (&entry, column) in entries.iter().zip(columns) {
                let u = u[entry as usize];
                sums.iter_mut().zip(column).for_each(|(sum, c)| *sum += c * u);
            }
            sums
        };
        let chunks = self.entries.par_chunks(CHUNK).zip(self.columns.par_chunks(CHUNK));
        let sums: Vec<Motion> = chunks.map(chunk).collect();
        sums.into_iter().fold([0.0; MOTIONS], |a, b| std::array::from_fn(|k| a[k] + b[k]))
    }
}

/// M: mass [kg] and inertia [kg m²] of a body that can be pushed.
fn inertia(body: &Afloat) -> Result<[Motion; MOTIONS]> {
    let i = &body.inverse_mass;
    let turning = std::array::from_fn(|n| std::array::from_fn(|m| i[3 + n][3 + m]));
    // What makes an inverse of a mass and an inertia makes these of their inverses.
    RigidTerm::free(i[0][0], turning)
}

impl Operator for Coupled<'_> {
    fn rows(&self) -> &Rows {
        self.system.rows()
    }

    fn apply(&self, x: &mut [f64], y: &mut [f64]) -> Result<()> {
        self.apply_dot(x, y).map(|_| ())
    }

    fn apply_dot(&self, x: &mut [f64], y: &mut [f64]) -> Result<f64> {
        let dot = self.system.apply_dot(x, y)?;
        let sums = self.gather(x)?;
        let q = self.over_inertia(&sums)?;
        self.take_out(&q, y);
        Ok(dot - sums.iter().zip(&q).map(|(sum, q)| sum * q).sum::<f64>())
    }

    fn bytes(&self) -> u64 {
        let body = |body: &Body| size_of_val(&body.entries[..]) + size_of_val(&body.columns[..]);
        self.system.bytes() + self.bodies.iter().map(body).sum::<usize>() as u64
    }
}
