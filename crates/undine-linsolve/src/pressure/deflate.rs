//! Multigrid for pressure systems with rigid bodies.
//!
//! In each of its motions a body adds to the spectrum of the system an eigenvalue of 1 + s, where s is the mass of liquid that
//! goes along in terms of the body's own. For a light body it is large, and CG spends an iteration or more on it. With P the
//! multigrid cycle, which is about A⁻¹, and U·Uᵀ what the light motions add, the preconditioner is
//!
//! ```text
//! (P⁻¹ + U·Uᵀ)⁻¹ = P − W·(I + Uᵀ·W)⁻¹·Wᵀ,   W = P·U
//! ```
//!
//! (Woodbury): symmetric and positive definite as P is, the same in every iteration, and about as close to the inverse of
//! A + U·Uᵀ as P is to that of A, whatever bodies weigh. W costs a cycle for each motion, and it is not sparse: motion of a
//! body presses on liquid everywhere. A sparse choice, to correct in the cells of U only, does not do: its condition
//! number grows with resolution, as pressures in the next layer of cells are almost as good and are left out.
//!
//! Where a body holds the constant v of a closed region, P knows nothing of it. A is then taken as A + δ·v·vᵀ, with δ a small
//! share of what the bodies add along v.

use super::constants::Constant;
use super::multigrid::Multigrid;
use super::rigid::{Coupled, MOTIONS};
use super::small;
use crate::error::Result;
use crate::operator::{Operator, Preconditioner};
use crate::vector;
use rayon::prelude::*;

/// The estimate of s from which correcting for a motion takes no more time than it saves, if one solve is all that follows.
///
/// Measured with three balls of a tenth, a hundredth and a thousandth of the liquid's density: to a residual of 1e-6 CG needs 12, 15
/// and 26 iterations without any correction, and 5 with the 9 to 18 that there can be. Below, iterations are limited however
/// many bodies there are: the condition number is that of multigrid times no more than 1 + s.
pub const LIGHT: f64 = 20.0;

/// A motion with a smaller s than this is not worth the memory even when it is known.
const HEAVY: f64 = 0.1;

/// δ as a share of |Uᵀ·v|²: small enough to change no eigenvalue by much, large enough for single precision.
const SHARE: f64 = 0.01;

/// What Uᵀ·W is enlarged by: W is in single precision, and the preconditioner must stay positive.
const ROUNDING: f64 = 1e-5;

/// Rows that one task works on.
const CHUNK: usize = 4096;

/// A multigrid cycle with the correction for light bodies.
pub struct Deflated<'a> {
    coupled: &'a Coupled<'a>,
    multigrid: Multigrid<'a>,
    /// W, by motion that is corrected for.
    columns: Vec<Vec<f32>>,
    /// L·Lᵀ = I + Uᵀ·W.
    factors: Vec<f64>,
    /// Without constants of closed regions.
    work: Vec<f64>,
}

impl<'a> Deflated<'a> {
    /// Collective.
    pub(super) fn new(coupled: &'a Coupled<'a>, light: f64) -> Result<Self> {
        let local = coupled.rows().local();
        let constants = coupled.constants().held();
        let mut this = Self {
            coupled,
            multigrid: coupled.system().multigrid(),
            columns: Vec::new(),
            factors: Vec::new(),
            work: vec![0.0; if constants.is_empty() { 0 } else { local }],
        };
        let estimates = this.estimates()?;
        let (mut u, mut w) = (vec![0.0; local], vec![0.0; local]);
        let mut chosen = Vec::new();
        let mut products = Vec::new();
        for motion in (0..estimates.len()).filter(|&motion| estimates[motion] > light) {
            let mut unit = [0.0; MOTIONS];
            unit[motion % MOTIONS] = 1.0;
            u.fill(0.0);
            coupled.bodies()[motion / MOTIONS].spread(&unit, &mut u);
            this.cycle(&u, &mut w)?;
            let product = coupled.gather(&w)?;
            if product[motion] > HEAVY {
                let mut column = vec![0.0; local];
                vector::convert(&w, &mut column);
                this.columns.push(column);
                chosen.push(motion);
                products.push(product);
            }
        }

        let size = chosen.len();
        let at = |i: usize, j: usize| products[i][chosen[j]];
        let mut matrix = vec![0.0; size * size];
        for (i, j) in (0..size * size).map(|ij| (ij / size, ij % size)) {
            let one = f64::from(u8::from(i == j));
            matrix[i * size + j] = one + (1.0 + ROUNDING) * 0.5 * (at(i, j) + at(j, i));
        }
        match small::cholesky(&matrix, size) {
            Some(factors) => this.factors = factors,
            // Not a number came up: CG will say where.
            None => this.columns.clear(),
        }
        Ok(this)
    }

    /// How many motions are corrected for.
    pub fn corrected(&self) -> usize {
        self.columns.len()
    }

    /// About s, by body and motion. Collective.
    ///
    /// s = uᵀ·A⁻¹·u is more than uᵀ·D⁻¹·u, D being the diagonal, by about as many cells as the body is wide: for a ball that moves
    /// along an axis 3R cells, its surface having some 6πR² cells. A ragged u, such as that of a turning ball, has less. A
    /// held constant adds its own.
    fn estimates(&self) -> Result<Vec<f64>> {
        let level = self.coupled.system().finest();
        let bodies = self.coupled.bodies();
        let mut sums: Vec<f64> = bodies.iter().flat_map(|body| body.weigh(level)).collect();
        self.coupled.rows().processes().all_sum_f64s(&mut sums)?;
        let mut estimates = Vec::new();
        for sums in sums.chunks(MOTIONS + 1) {
            estimates.extend(sums[..MOTIONS].iter().map(|sum| 0.7 * sums[MOTIONS].sqrt() * sum));
        }
        for constant in self.coupled.constants().held() {
            let delta = SHARE * constant.stiffness();
            let forces = estimates.iter_mut().zip(&constant.forces);
            forces.for_each(|(estimate, force)| *estimate += force * force / delta);
        }
        Ok(estimates)
    }

    /// z = P·r. Collective.
    fn cycle(&mut self, r: &[f64], z: &mut [f64]) -> Result<()> {
        let constants = self.coupled.constants();
        if constants.held().is_empty() {
            return self.multigrid.apply(r, z);
        }
        let (regions, rows) = (self.coupled.system().regions(), self.coupled.rows());
        vector::copy(r, &mut self.work);
        let sums = regions.project(&mut self.work, rows)?;
        self.multigrid.apply(&self.work, z)?;
        regions.project(z, rows)?;
        let weight = |constant: &Constant| 1.0 / (SHARE * constant.stiffness());
        regions.add(&constants.combine(&sums, weight), z);
        Ok(())
    }

    /// Wᵀ·r of the local rows, always added in the same order.
    fn gather(&self, r: &[f64]) -> Vec<f64> {
        let chunk = |(n, r): (usize, &[f64])| -> Vec<f64> {
            let dot = |w: &Vec<f32>| {
                let pairs = w[n * CHUNK..].iter().zip(r);
                pairs.map(|(&w, r)| f64::from(w) * r).sum::<f64>()
            };
            self.columns.iter().map(dot).collect()
        };
        let chunks: Vec<Vec<f64>> = r.par_chunks(CHUNK).enumerate().map(chunk).collect();
        let mut sums = vec![0.0; self.columns.len()];
        for chunk in chunks {
            sums.iter_mut().zip(chunk).for_each(|(sum, chunk)| *sum += chunk);
        }
        sums
    }

    /// z ← z − W·s.
    fn spread(&self, s: &[f64], z: &mut [f64]) {
        vector::for_chunks(z, |start, z| {
            for (w, s) in self.columns.iter().zip(s) {
                z.iter_mut().zip(&w[start..]).for_each(|(z, &w)| *z -= f64::from(w) * s);
            }
        });
    }
}

impl Preconditioner for Deflated<'_> {
    fn name(&self) -> String {
        let (corrected, all) = (self.corrected(), MOTIONS * self.coupled.bodies().len());
        format!("{}, corrected for {corrected} of {all} motions of bodies", self.multigrid.name())
    }

    fn apply(&mut self, r: &[f64], z: &mut [f64]) -> Result<()> {
        self.cycle(r, z)?;
        if self.columns.is_empty() {
            return Ok(());
        }
        let mut sums = self.gather(r);
        self.coupled.rows().processes().all_sum_f64s(&mut sums)?;
        small::solve(&self.factors, &mut sums);
        self.spread(&sums, z);
        Ok(())
    }

    fn bytes(&self) -> u64 {
        let columns: usize = self.columns.iter().map(|w| size_of_val(&w[..])).sum();
        self.multigrid.bytes() + (columns + 8 * (self.factors.len() + self.work.len())) as u64
    }
}
