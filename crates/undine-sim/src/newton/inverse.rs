//! Inverse dynamics (Loki §6.3): rest parameters p of Constraints such that a state is one of balance, by Gauss-Newton on
//! min ‖W f(x, p)‖² + regularisation, with ∂f/∂p = −∇Cᵀ(S ∂C/∂p + ∂S/∂p C) from the Constraints.
//!
//! Rows are weighted by the inverse root of their inertia, so that what is made small is an acceleration, whatever unknown it is
//! of. Columns are scaled to length 1, and a small share of that is added to the diagonal: parameters without effect stay.

use super::error::Result;
use super::rod::Columns;
use super::term::Term;
use super::{ConstraintTerm, Mode};
use crate::constraint::{Constraint, Scaling};
use std::collections::BTreeMap;
use undine_core::Forest;
use undine_linsolve::manybodies::{Blocks, Manybodies};
use undine_linsolve::{Csr, Matrix, Preconditioner};

/// What is added to the diagonal of the scaled system.
const REGULARISATION: f64 = 1e-11;

/// Steps of Gauss-Newton: the force is nearly linear in rest parameters.
const STEPS: usize = 12;

/// An imbalance below this share of the forces that are to be balanced is none.
pub const BALANCED: f64 = 1e-9;

/// How well a balance was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Balance {
    /// Parameters.
    pub parameters: usize,
    /// Steps that were made.
    pub steps: usize,
    /// What is left out of balance, as a share of the forces that were to be balanced.
    pub residual: f64,
}

/// What a search for balance works on: Constraints whose rest parameters may be read and set.
pub trait Balancing {
    /// The error of whoever asks.
    type Error: From<super::NewtonError>;

    /// Hands all Constraints to `work`, with where the unknowns of nodes begin.
    fn with_terms<R>(
        &self,
        work: impl FnOnce(&[&dyn Term], &[u32]) -> Result<R>,
    ) -> std::result::Result<R, Self::Error>;

    /// The rest parameters of all Constraints, term after term, each with its bounds.
    fn parameters(&self) -> Vec<(f64, [f64; 2])>;

    /// Sets them.
    fn set_parameters(&mut self, values: &[f64]);
}

/// The forces that are out of balance, row by row.
fn out_of_balance<B: Balancing>(on: &B, force: &[f64]) -> std::result::Result<Vec<f64>, B::Error> {
    let mut sum = force.to_vec();
    on.with_terms(|terms, row_of| {
        terms.iter().for_each(|term| term.add_forces(row_of, &mut sum));
        Ok(())
    })?;
    Ok(sum)
}

/// The length of forces by weights.
fn norm(force: &[f64], weight: &[f64]) -> f64 {
    let squares = force.iter().zip(weight).map(|(force, weight)| (force * weight).powi(2));
    squares.sum::<f64>().sqrt()
}

/// What is out of balance, as a share of the forces that Constraints are to balance; 0 where there are none.
pub fn imbalance<B: Balancing>(
    on: &B,
    force: &[f64],
    weight: &[f64],
) -> std::result::Result<f64, B::Error> {
    let (left, scale) = (out_of_balance(on, force)?, norm(force, weight));
    Ok(if scale > 0.0 { norm(&left, weight) / scale } else { 0.0 })
}

/// Finds rest parameters such that the forces of Constraints balance those on unknowns, weighted by `weight`; a weight of 0 leaves a
/// row out.
pub fn balance<B: Balancing>(
    on: &mut B,
    force: &[f64],
    weight: &[f64],
) -> std::result::Result<Balance, B::Error> {
    let start = on.parameters();
    let mut values: Vec<f64> = start.iter().map(|(value, _)| *value).collect();
    let norm = |force: &[f64]| norm(force, weight);
    let imbalance = |on: &B| out_of_balance(on, force);
    let scale = norm(force);
    let mut report = Balance { parameters: values.len(), steps: 0, residual: 1.0 };
    let mut left = imbalance(on)?;
    while report.steps < STEPS {
        report.residual = if scale > 0.0 { norm(&left) / scale } else { 0.0 };
        if report.residual <= BALANCED || values.is_empty() {
            break;
        }
        let delta = on.with_terms(|terms, row_of| step(terms, row_of, &left, weight))?;
        let before = values.clone();
        // As much of the step as makes it better, within bounds.
        let mut share = 1.0;
        loop {
            for (n, value) in values.iter_mut().enumerate() {
                let [least, most] = start[n].1;
                *value = (before[n] + share * delta[n]).clamp(least, most);
            }
            on.set_parameters(&values);
            let now = imbalance(on)?;
            if norm(&now) < norm(&left) {
                left = now;
                break;
            }
            share *= 0.5;
            if share < 1e-3 {
                values.copy_from_slice(&before);
                on.set_parameters(&values);
                report.residual = if scale > 0.0 { norm(&left) / scale } else { 0.0 };
                return Ok(report);
            }
        }
        report.steps += 1;
    }
    report.residual = if scale > 0.0 { norm(&left) / scale } else { 0.0 };
    Ok(report)
}

/// A step of Gauss-Newton: the δp that makes W (f + ∂f/∂p δp) smallest.
fn step(terms: &[&dyn Term], row_of: &[u32], left: &[f64], weight: &[f64]) -> Result<Vec<f64>> {
    // W ∂f/∂p, by rows.
    let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); left.len()];
    let mut count = 0;
    for term in terms {
        term.by_parameters(row_of, &mut |column, row, value| {
            let value = value * weight[row];
            if value != 0.0 {
                rows[row].push(((count + column) as u32, value));
            }
        });
        count += term.parameters();
    }
    let mut scale = vec![0.0_f64; count];
    for (column, value) in rows.iter().flatten() {
        scale[*column as usize] += value * value;
    }
    scale.iter_mut().for_each(|s| *s = if *s > 0.0 { s.sqrt().recip() } else { 0.0 });
    let mut right = vec![0.0; count];
    for (row, entries) in rows.iter_mut().enumerate() {
        for (column, value) in entries {
            *value *= scale[*column as usize];
            right[*column as usize] -= *value * weight[row] * left[row];
        }
    }
    // Strands know nothing of each other: each is a block of its own.
    let normal = Matrix::single(normal_equations(&rows, count)?)?;
    let mut x = vec![0.0; count];
    Manybodies::direct(&normal, &parts(&rows, count))?.apply(&right, &mut x)?;
    x.iter_mut().zip(&scale).for_each(|(x, scale)| *x *= scale);
    Ok(x)
}

/// AᵀA of rows, with what is added to its diagonal.
fn normal_equations(rows: &[Vec<(u32, f64)>], count: usize) -> Result<Csr<f64>> {
    let mut of_parameter: Vec<Vec<(u32, f64)>> = vec![Vec::new(); count];
    for (row, entries) in rows.iter().enumerate() {
        for &(parameter, value) in entries {
            of_parameter[parameter as usize].push((row as u32, value));
        }
    }
    Ok(Csr::from_rows(count, count, |parameter, out| {
        out.push((parameter as u32, REGULARISATION));
        for &(row, own) in &of_parameter[parameter] {
            out.extend(rows[row as usize].iter().map(|&(other, value)| (other, own * value)));
        }
    })?)
}

/// Parameters that rows tie together, those of each part by the first row that they are in, so that those of a strand come from
/// root to tip. Parameters without effect are in none.
fn parts(rows: &[Vec<(u32, f64)>], parameters: usize) -> Blocks {
    let mut tied = Forest::new(parameters);
    let mut first_row = vec![u32::MAX; parameters];
    for (row, entries) in rows.iter().enumerate() {
        for &(parameter, _) in entries {
            let at = &mut first_row[parameter as usize];
            *at = (*at).min(row as u32);
            tied.join(entries[0].0, parameter);
        }
    }
    let mut parts: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut order: Vec<u32> = (0..parameters as u32).collect();
    order.retain(|&n| first_row[n as usize] != u32::MAX);
    order.sort_by_key(|&n| (first_row[n as usize], n));
    for n in order {
        parts.entry(tied.root(n)).or_default().push(n);
    }
    Blocks::lists(parts.into_values())
}

impl<C: Constraint<M, N>, const M: usize, const N: usize> ConstraintTerm<'_, C, M, N> {
    /// Adds the force −∇Cᵀ S C of every element to the rows of unknowns.
    pub(super) fn add_static_forces(&self, row_of: &[u32], out: &mut [f64]) {
        let mut columns = Columns::default();
        let mut j = Vec::new();
        for (n, element) in self.elements.iter().enumerate() {
            let (at, hangs) = (self.at(n), self.hangs(n));
            let rows = self.constraint.evaluate(element, &at);
            let sigma = self.soft(element).times(&rows.value);
            columns.set(&hangs);
            j.resize(columns.width(), 0.0);
            for (m, sigma) in sigma.iter().enumerate() {
                columns.write_row(&hangs, &at, &rows.by_position[m], &rows.by_frame[m], &mut j);
                columns.each_row(row_of, |column, row| out[row] -= sigma * j[column]);
            }
        }
    }

    /// Hands out ∂f/∂p: the number of the parameter, the row of the unknown, the value.
    pub(super) fn each_by_parameter(
        &self,
        row_of: &[u32],
        each: &mut dyn FnMut(usize, usize, f64),
    ) {
        let mut columns = Columns::default();
        let mut j = Vec::new();
        for (n, element) in self.elements.iter().enumerate() {
            let (at, hangs) = (self.at(n), self.hangs(n));
            let rows = self.constraint.evaluate(element, &at);
            let scaling = self.soft(element);
            columns.set(&hangs);
            j.resize(columns.width() * M, 0.0);
            for (m, j) in j.chunks_exact_mut(columns.width().max(1)).enumerate() {
                columns.write_row(&hangs, &at, &rows.by_position[m], &rows.by_frame[m], j);
            }
            for p in 0..C::REST_PARAMETERS {
                let Some(by) = self.constraint.by_parameter(element, &at, p) else { continue };
                let mut sigma = scaling.times(&by.value);
                if let Some(scaling) = &by.scaling {
                    let more = scaling.times(&rows.value);
                    sigma.iter_mut().zip(more).for_each(|(sigma, more)| *sigma += more);
                }
                columns.each_row(row_of, |column, row| {
                    let sum =
                        (0..M).fold(0.0, |sum, m| sum + sigma[m] * j[m * columns.width() + column]);
                    each(n * C::REST_PARAMETERS + p, row, -sum);
                });
            }
        }
    }

    /// S, without hard rows.
    pub(super) fn soft(&self, element: &C::Element) -> Scaling<M> {
        let mut scaling = self.constraint.scaling(element);
        if let (Mode::Compliance, Scaling::Diagonal(s)) = (self.mode, &mut scaling) {
            s.iter_mut().filter(|s| **s == f64::INFINITY).for_each(|s| *s = 0.0);
        }
        scaling
    }
}
