//! Closed regions with rigid bodies in them.
//!
//! The null vectors of A are the constants of closed regions. One that no body can squeeze stays a null
//! vector: equal pressure all around a submerged body adds up to no force. A piston is another matter: it takes the null
//! vector away, and with it the condition on the right-hand side. Two regions with a piston between them keep one: the pressures that
//! hold each other in balance. In general the null vectors of A + Σ J·M⁻¹·Jᵀ are those combinations of the regions'
//! constants on which no body feels a force, and they are found as such.

use super::rigid::{Body, MOTIONS};
use super::small;
use super::system::PressureSystem;
use crate::error::Result;
use crate::operator::Operator;

/// A sum of forces below this share of the sum of their magnitudes is none. Areas of faces come in single precision.
const BALANCED: f64 = 1e-6;

/// An eigenvalue below this share of the largest is zero.
const ZERO: f64 = 1e-12;

/// Which combinations of the constants of closed regions bodies hold: those that give some body a force.
#[derive(Debug, Default)]
pub struct Constants {
    /// Orthonormal as vectors over all rows; orthogonal to all null vectors.
    held: Vec<Constant>,
}

/// A vector that is constant in each closed region.
#[derive(Debug)]
pub struct Constant {
    /// By region.
    pub values: Vec<f64>,
    /// Uᵀ·v, by body and motion.
    pub forces: Vec<f64>,
}

impl Constant {
    /// |Uᵀ·v|².
    pub fn stiffness(&self) -> f64 {
        self.forces.iter().map(|force| force * force).sum()
    }
}

impl Constants {
    /// Collective.
    pub fn new(system: &PressureSystem, bodies: &[Body]) -> Result<Self> {
        let regions = system.regions();
        let count = regions.count();
        let rows = system.rows();
        if count == 0 || bodies.is_empty() {
            return Ok(Self::default());
        }

        // G = Uᵀ·(constants), and what its entries would be if nothing balanced.
        let mut numbers = vec![0.0; rows.local()];
        regions.add(&(1..=count).map(|n| n as f64).collect::<Vec<_>>(), &mut numbers);
        let height = MOTIONS * bodies.len();
        let mut sums = vec![0.0; 2 * height * count];
        for (n, body) in bodies.iter().enumerate() {
            for (&entry, column) in body.entries.iter().zip(&body.columns) {
                let Some(region) = (numbers[entry as usize] as usize).checked_sub(1) else {
                    continue;
                };
                for (k, u) in column.iter().enumerate() {
                    let at = (MOTIONS * n + k) * count + region;
                    sums[at] += u;
                    sums[height * count + at] += u.abs();
                }
            }
        }
        rows.processes().all_sum_f64s(&mut sums)?;
        let (forces, magnitudes) = sums.split_at_mut(height * count);
        for (force, magnitude) in forces.iter_mut().zip(&*magnitudes) {
            *force = if force.abs() <= BALANCED * magnitude { 0.0 } else { *force };
        }

        // Null vectors do not depend on how heavy bodies are, so that each row of G counts alike. With the constants
        // made orthonormal, those of the eigenvectors of Gᵀ·G are held that have an eigenvalue.
        let touched: Vec<usize> = (0..count)
            .filter(|&region| (0..height).any(|row| forces[row * count + region] != 0.0))
            .collect();
        let size = touched.len();
        let lengths: Vec<f64> = touched.iter().map(|&r| regions.cells()[r].sqrt()).collect();
        let mut gram = vec![0.0; size * size];
        for (forces, magnitudes) in forces.chunks(count).zip(magnitudes.chunks(count)) {
            let largest = magnitudes.iter().fold(0.0, |max: f64, m| max.max(*m));
            if largest == 0.0 {
                continue;
            }
            let row: Vec<f64> = touched.iter().map(|&r| forces[r] / largest).collect();
            for (ij, gram) in gram.iter_mut().enumerate() {
                let (i, j) = (ij / size, ij % size);
                *gram += row[i] * row[j] / (lengths[i] * lengths[j]);
            }
        }
        let pairs = small::eigen(gram, size);
        let largest = pairs.iter().fold(0.0, |max: f64, (value, _)| max.max(*value));
        let mut held = Vec::new();
        for (_, vector) in pairs.into_iter().filter(|(value, _)| *value > ZERO * largest) {
            let mut values = vec![0.0; count];
            for ((&region, length), x) in touched.iter().zip(&lengths).zip(vector) {
                values[region] = x / length;
            }
            let force = |row: &[f64]| row.iter().zip(&values).map(|(g, v)| g * v).sum::<f64>();
            let forces = forces.chunks(count).map(force).collect();
            held.push(Constant { values, forces });
        }
        Ok(Self { held })
    }

    /// The constants that bodies hold.
    pub fn held(&self) -> &[Constant] {
        &self.held
    }

    /// Σ v·weight(v)·(vᵀ·x) over the constants v that bodies hold, by region, of an x with these sums over regions.
    pub fn combine(&self, sums: &[f64], weight: impl Fn(&Constant) -> f64) -> Vec<f64> {
        let mut values = vec![0.0; sums.len()];
        for constant in &self.held {
            let dot: f64 = constant.values.iter().zip(sums).map(|(v, sum)| v * sum).sum();
            let factor = weight(constant) * dot;
            values.iter_mut().zip(&constant.values).for_each(|(value, v)| *value += factor * v);
        }
        values
    }
}
