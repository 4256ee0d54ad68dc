//! How a balance moves with the rest parameters of Constraints (Loki §6.3), for matching targets: by the implicit function theorem,
//! f(u, p) = 0 has du/dp = −(∂f/∂u)⁻¹ ∂f/∂p.
//!
//! That needs the exact ∂f/∂u. Of each element it is −(JᵀSJ + Σ σₘ ∂Jₘ/∂u), σ = S C being held in the second term: how J turns is
//! found by differences of the fourth order along each unknown of the element, which leaves an error of about 1e-12 of σ and none
//! in the first term, however stiff it is. Turns are not coordinates: for one element alone the second term is not symmetric, but what is
//! not adds up to the torques out of balance, and is left out. Forces from outside are dead loads; contacts, damping and inner friction take
//! no part.

use super::element::{ConstraintTerm, ELEMENTS_PER_TASK};
use super::error::{NewtonError, Result};
use super::rod::Columns;
use super::saddle::HardRows;
use super::shape::Hang;
use super::term::Term;
use super::unknowns::{Kind, Span, Unknowns};
use crate::constraint::{Constraint, Placed, Scaling};
use rayon::prelude::*;
use std::collections::BTreeMap;
use undine_core::Forest;
use undine_linsolve::manybodies::{Blocks, Manybodies};
use undine_linsolve::{Csr, Matrix, Preconditioner};

/// The step of differences: of an angle [rad], and as a share of the element's size.
const STEP: f64 = 1e-4;

/// No step is a smaller share of where the element is than this, so that rounding leaves digits.
const LEAST_STEP: f64 = 1e-10;

/// Solves are refined this often at most.
const REFINEMENTS: usize = 3;

/// Unknowns in balance, and how they follow rest parameters.
#[derive(Debug)]
pub struct Equilibrium {
    unknowns: Unknowns,
    /// −∂f/∂u. Unknowns that nothing holds have a 1 on the diagonal, and stay.
    stiffness: Matrix,
    factors: Manybodies,
    /// ∂f/∂p, by rows of unknowns and by rows of parameters.
    by_parameter: Csr<f64>,
    transposed: Csr<f64>,
}

impl Equilibrium {
    /// Of Constraints where their Objects are. Refuses hard rows, and what is in no stable balance.
    pub fn new(unknowns: &Unknowns, row_of: &[u32], terms: &[&dyn Term]) -> Result<Self> {
        let rows = unknowns.rows();
        let mut hard = HardRows::default();
        for term in terms {
            term.hard(&mut hard)?;
            if hard.count() > 0 {
                return Err(NewtonError::BadValue {
                    what: format!("the stiffness of {}", term.name()),
                    found: f64::INFINITY,
                    wanted: "finite where the motion of a balance is asked for",
                });
            }
        }
        let mut entries: Vec<(u32, u32, f64)> = Vec::new();
        let mut by_parameter: Vec<(usize, usize, f64)> = Vec::new();
        let mut parameters = 0;
        for term in terms {
            entries.extend(term.by_unknowns(row_of));
            term.by_parameters(row_of, &mut |parameter, row, value| {
                by_parameter.push((row, parameters + parameter, value));
            });
            parameters += term.parameters();
        }
        let mut held = vec![false; rows];
        let mut tied = Forest::new(rows);
        for &(row, column, _) in &entries {
            held[row as usize] = true;
            tied.join(row, column);
        }
        let mut parts: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for row in (0..rows as u32).filter(|&row| held[row as usize]) {
            parts.entry(tied.root(row)).or_default().push(row);
        }
        let stays = (0..rows).filter(|&row| !held[row]).map(|row| (row, row, 1.0));
        let entries =
            entries.into_iter().map(|(row, column, slope)| (row as usize, column as usize, -slope));
        let stiffness = Csr::from_triplets(rows, rows, entries.chain(stays))?;
        let stiffness = Matrix::single(stiffness)?;
        let factors = Manybodies::direct(&stiffness, &Blocks::lists(parts.into_values()))?;
        if let Some(bad) = factors.fallbacks().first() {
            return Err(not_stable(unknowns, bad.row, bad.pivot));
        }
        let by_parameter = Csr::from_triplets(rows, parameters, by_parameter)?;
        let transposed = by_parameter.transpose();
        Ok(Self { unknowns: unknowns.clone(), stiffness, factors, by_parameter, transposed })
    }

    /// The unknowns, each Object's under its path.
    pub fn unknowns(&self) -> &Unknowns {
        &self.unknowns
    }

    /// How many rest parameters there are.
    pub fn parameters(&self) -> usize {
        self.transposed.rows()
    }

    /// The first of the three rows in which each point, vertex or body of an Object moves [m]; none of an Object that has none.
    pub fn places(&self, object: &str) -> Option<Vec<usize>> {
        let is_it = |span: &&Span| span.name == object && span.kind != Kind::Scalars;
        let span = self.unknowns.spans().iter().find(is_it)?;
        Some((0..span.count).map(|n| span.row + span.kind.unknowns() * n).collect())
    }

    /// J·v = du/dp·v: how unknowns move with a change of all rest parameters.
    pub fn forward(&mut self, change: &[f64]) -> Result<Vec<f64>> {
        check_length("the change", change.len(), "the rest parameters", self.parameters())?;
        let mut push = vec![0.0; self.unknowns.rows()];
        self.by_parameter.multiply(change, &mut push);
        self.solve(&push)
    }

    /// Jᵀ·w: the derivatives by all rest parameters of something that has the derivatives w by unknowns.
    pub fn backward(&mut self, by_unknowns: &[f64]) -> Result<Vec<f64>> {
        let wanted = self.unknowns.rows();
        check_length("the derivatives", by_unknowns.len(), "the unknowns", wanted)?;
        let moved = self.solve(by_unknowns)?;
        let mut by_parameters = vec![0.0; self.parameters()];
        self.transposed.multiply(&moved, &mut by_parameters);
        Ok(by_parameters)
    }

    /// (−∂f/∂u)⁻¹·b, refined while that makes it better.
    fn solve(&mut self, b: &[f64]) -> Result<Vec<f64>> {
        let (mut x, mut left) = (vec![0.0; b.len()], b.to_vec());
        let mut more = vec![0.0; b.len()];
        let mut smallest = f64::INFINITY;
        for _ in 0..=REFINEMENTS {
            self.factors.apply(&left, &mut more)?;
            let next: Vec<f64> = x.iter().zip(&more).map(|(x, more)| x + more).collect();
            left.copy_from_slice(b);
            self.stiffness.csr().multiply_with(&next, &mut left, |b, ax| b - ax);
            let size = left.iter().map(|left| left * left).sum::<f64>().sqrt();
            // What is no better, or not a number, is not taken.
            if size.is_nan() || size >= 0.5 * smallest {
                break;
            }
            (x, smallest) = (next, size);
        }
        Ok(x)
    }
}

fn check_length(what: &'static str, found: usize, of: &str, wanted: usize) -> Result<()> {
    match found == wanted {
        true => Ok(()),
        false => Err(NewtonError::WrongLength { what, of: of.into(), found, wanted }),
    }
}

fn not_stable(unknowns: &Unknowns, row: usize, found: f64) -> NewtonError {
    let spans = unknowns.spans();
    let at = spans.partition_point(|span| span.row <= row).saturating_sub(1);
    let span = &spans[at];
    let group = (row - span.row) / span.kind.unknowns();
    let place = match span.kind {
        Kind::Points => format!("point {group}"),
        Kind::Bodies => format!("body {group}"),
        Kind::Scalars => format!("element {group}"),
        Kind::Rods => format!("vertex {group}"),
    };
    NewtonError::NotStable { of: span.name.clone(), place, found }
}

impl<C: Constraint<M, N>, const M: usize, const N: usize> ConstraintTerm<'_, C, M, N> {
    /// ∂f/∂u of all elements.
    pub(super) fn exact_stiffness(&self, row_of: &[u32]) -> Vec<(u32, u32, f64)> {
        let firsts: Vec<usize> = (0..self.elements.len()).step_by(ELEMENTS_PER_TASK).collect();
        let task = |first: usize| {
            let mut out = Vec::new();
            let mut columns = Columns::default();
            for n in first..(first + ELEMENTS_PER_TASK).min(self.elements.len()) {
                self.add_exact(n, row_of, &mut columns, &mut out);
            }
            out
        };
        firsts.into_par_iter().map(task).collect::<Vec<_>>().concat()
    }

    fn add_exact(
        &self,
        n: usize,
        row_of: &[u32],
        columns: &mut Columns,
        out: &mut Vec<(u32, u32, f64)>,
    ) {
        let (element, at, hangs) = (&self.elements[n], self.at(n), self.hangs(n));
        columns.set(&hangs);
        let columns = &*columns;
        let width = columns.width();
        let rows = self.constraint.evaluate(element, &at);
        let scaling = self.soft(element);
        let sigma = scaling.times(&rows.value);
        let mut j = vec![0.0; width * M];
        for (m, j) in j.chunks_exact_mut(width.max(1)).enumerate() {
            columns.write_row(&hangs, &at, &rows.by_position[m], &rows.by_frame[m], j);
        }
        // Jᵀσ where the unknowns have moved.
        let mut row = vec![0.0; width];
        let mut pull = |du: &[f64], share: f64, sum: &mut [f64]| {
            let moved: [(Placed, Hang<'_>); N] =
                std::array::from_fn(|k| hangs[k].after(&at[k], columns, du));
            let (at, hangs) = (moved.map(|moved| moved.0), moved.map(|moved| moved.1));
            let rows = self.constraint.evaluate(element, &at);
            for (m, sigma) in sigma.iter().enumerate() {
                columns.write_row(&hangs, &at, &rows.by_position[m], &rows.by_frame[m], &mut row);
                sum.iter_mut().zip(&row).for_each(|(sum, j)| *sum += share * sigma * j);
            }
        };
        let mut turned = vec![0.0; width * width];
        let mut du = vec![0.0; width];
        for (column, step) in steps(&at, &hangs, columns).into_iter().enumerate() {
            let sum = &mut turned[column * width..][..width];
            for (times, share) in [(-2.0, 1.0), (-1.0, -8.0), (1.0, 8.0), (2.0, -1.0)] {
                du[column] = times * step;
                pull(&du, share / (12.0 * step), sum);
            }
            du[column] = 0.0;
        }
        let stiffness = |m: usize, o: usize| match &scaling {
            Scaling::Diagonal(s) if m == o => s[m],
            Scaling::Diagonal(_) => 0.0,
            Scaling::Full(s) => s[m][o],
        };
        let entry = |a: usize, b: usize| {
            let mut sum = 0.5 * (turned[a * width + b] + turned[b * width + a]);
            for m in 0..M {
                for o in 0..M {
                    sum += stiffness(m, o) * j[m * width + a] * j[o * width + b];
                }
            }
            sum
        };
        let mut places = vec![0; width];
        columns.each_row(row_of, |column, row| places[column] = row as u32);
        for a in 0..width {
            for b in 0..a {
                // The same number on both sides, whatever the order of sums.
                let value = -entry(a, b);
                out.extend([(places[a], places[b], value), (places[b], places[a], value)]);
            }
            out.push((places[a], places[a], -entry(a, a)));
        }
    }
}

/// The step of each unknown of an element.
fn steps<const N: usize>(at: &[Placed; N], hangs: &[Hang<'_>; N], columns: &Columns) -> Vec<f64> {
    let far = at.iter().map(|at| at.x.length()).fold(0.0, f64::max);
    let lengths = (0..N).flat_map(|n| (0..n).map(move |o| (n, o)));
    let lengths = lengths.map(|(n, o)| at[n].x.distance(at[o].x));
    let own = hangs.iter().map(|hang| match hang {
        Hang::Rod(rod) => rod.length(),
        Hang::Body { lever, .. } => lever.length(),
        Hang::Fixed | Hang::Point { .. } | Hang::Weights { .. } => 0.0,
    });
    let size = lengths.chain(own).filter(|length| *length > 0.0).fold(f64::INFINITY, f64::min);
    let size = if size.is_finite() { size } else { 1.0 };
    let mut steps = vec![(STEP * size).max(LEAST_STEP * far); columns.width()];
    for hang in hangs {
        for n in (0..hang.count()).filter(|&n| hang.is_turn(n)) {
            let first = columns.of(hang.node(n));
            let width = if matches!(hang, Hang::Rod(_)) { 1 } else { 3 };
            steps[first..first + width].fill(STEP);
        }
    }
    steps
}
