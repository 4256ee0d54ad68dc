//! Elements of Constraints: from C, ∇C and S to gradients and matrices on nodes, in stiffness or in compliance mode.
//!
//! For each element, with the rows' force σ = S C + (τ/Δt) S (C − Cⁿ) + F (Rayleigh, Dahl) and its derivative S′, the gradient is
//! Jᵀσ and the matrix JᵀS′J + K. J is ∇C pulled back to the coordinates q of the particles' [`Hang`]s; K = Σ σₘ ∂²Cₘ/∂q² has
//! the Constraint's own curvature and that of rotations. The sum is projected to be positive semi-definite there, which the
//! map from nodes to q keeps.
//!
//! In compliance mode (Tournier et al. 2015, *Stable constrained dynamics*) each row has a multiplier λ with
//! J δu + W λ = −C, W = S⁻¹, and the force Jᵀλ. Rows with W > 0 are eliminated to what stiffness mode has, but for K, which
//! takes −λ of the iteration before in place of σ: however stiff the row, the curvature is that of the forces at work. Rows
//! with W = 0 are hard, and stay in a saddle system.

use super::error::{NewtonError, Result};
use super::iterate::Merit;
use super::rotation::outer;
use super::saddle::HardRows;
use super::shape::{Embedded, Hang};
use crate::constraint::dahl::Dahl;
use crate::constraint::damping::Rayleigh;
use crate::constraint::project::project;
use crate::constraint::{Constraint, Placed, Rows, Scaling};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use undine_core::glam::{DMat3, DVec3};
use undine_linsolve::matrix::{Element, Elements};

/// Elements that one task works on where no list of `undine-linsolve` cuts them.
const ELEMENTS_PER_TASK: usize = 512;

/// How a Constraint joins the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// By its force and the derivative of that. For soft Constraints.
    #[default]
    Stiffness,
    /// By Lagrange multipliers. For stiff and hard Constraints.
    Compliance,
}

/// A value for all elements, or one each.
#[derive(Debug, Clone, Copy)]
pub enum Values<'a, T> {
    /// The same for all.
    All(T),
    /// One for each.
    Each(&'a [T]),
}

impl<T: Copy> Values<'_, T> {
    #[inline]
    fn at(&self, element: usize) -> T {
        match self {
            Self::All(value) => *value,
            Self::Each(values) => values[element],
        }
    }

    fn length(&self) -> Option<usize> {
        match self {
            Self::All(_) => None,
            Self::Each(values) => Some(values.len()),
        }
    }
}

/// The damping of a Constraint's rows during a step.
#[derive(Debug, Clone, Copy)]
pub struct Damping<'a, const M: usize> {
    /// Rayleigh damping's relaxation time τ [s]; 0 for none.
    pub relaxation: Values<'a, f64>,
    /// Dahl friction of each row, if any.
    pub dahl: Option<Values<'a, [Dahl; M]>>,
    /// Cⁿ of each element, at the step's start ([`ConstraintTerm::values`]).
    pub start: &'a [[f64; M]],
    /// The friction force Fⁿ of each element at the step's start; not read without Dahl friction.
    pub friction: &'a [[f64; M]],
}

impl<const M: usize> Damping<'_, M> {
    /// No damping.
    pub const NONE: Self =
        Self { relaxation: Values::All(0.0), dahl: None, start: &[], friction: &[] };

    fn is_none(&self) -> bool {
        self.dahl.is_none() && matches!(self.relaxation, Values::All(0.0))
    }
}

/// All elements of one Constraint, between embedded particle systems.
#[derive(Debug)]
pub struct ConstraintTerm<'a, C: Constraint<M, N>, const M: usize, const N: usize> {
    /// What errors call it.
    pub name: &'a str,
    /// The Constraint.
    pub constraint: &'a C,
    /// What each element keeps.
    pub elements: &'a [C::Element],
    /// The particles of each element, each of the system in its place of `embedded`.
    pub stencil: &'a [[u32; N]],
    /// The particle systems. The same one may come more than once.
    pub embedded: [Embedded<'a>; N],
    /// Stiffness or compliance.
    pub mode: Mode,
    /// Damping.
    pub damping: Damping<'a, M>,
    /// Compliance mode's multipliers of the iteration or the step before, for each element; empty for none yet.
    pub multipliers: &'a [[f64; M]],
}

/// The nodes that each element of a term touches, in its order; a node may come twice.
#[derive(Debug, Clone, PartialEq)]
pub struct TermNodes {
    pub(super) starts: Vec<u32>,
    pub(super) nodes: Vec<u32>,
}

impl Default for TermNodes {
    fn default() -> Self {
        Self { starts: vec![0], nodes: Vec::new() }
    }
}

impl TermNodes {
    pub(super) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn of(&self, element: usize) -> &[u32] {
        &self.nodes[self.starts[element] as usize..self.starts[element + 1] as usize]
    }

    pub(super) fn push(&mut self, hangs: &[Hang<'_>]) {
        for hang in hangs {
            self.nodes.extend((0..hang.count()).map(|n| hang.node(n)));
        }
        self.starts.push(self.nodes.len() as u32);
    }
}

/// A list of elements as the system sees it: one call per list, none per element.
pub trait Term: Sync {
    /// What errors call it.
    fn name(&self) -> &str;

    /// The lengths of its lists: what must not change between connecting and solving.
    fn lengths(&self) -> Vec<usize>;

    /// Checks all lists and says which nodes the elements touch.
    fn nodes(&self) -> Result<TermNodes>;

    /// Writes force and matrix of those elements that touch a node, whose numbers are given.
    fn fill(&self, dt: f64, touching: &[u32], out: &mut Elements) -> Result<()>;

    /// Adds the hard rows.
    fn hard(&self, out: &mut HardRows) -> Result<()>;

    /// Whether it has multipliers.
    fn has_multipliers(&self) -> bool;

    /// The multipliers of all rows after the unknowns have moved by `du`, element after element; `row_of` says where the
    /// unknowns of a node begin. Those of hard rows come out as 0.
    fn recover(&self, dt: f64, du: &[f64], row_of: &[u32]) -> Vec<f64>;

    /// The energy of all elements at the current iterate, and how far hard rows are off.
    fn merit(&self, dt: f64) -> Merit;
}

/// One element at the current iterate.
struct Linear<'a, const M: usize, const N: usize> {
    at: [Placed; N],
    hangs: [Hang<'a>; N],
    rows: Rows<M, N>,
    /// The scaling of soft rows.
    scaling: Scaling<M>,
    /// σ.
    force: [f64; M],
    /// S′: the share of S, and what Dahl friction adds to the diagonal.
    share: f64,
    friction: [f64; M],
    energy: f64,
}

impl<'a, C: Constraint<M, N>, const M: usize, const N: usize> ConstraintTerm<'a, C, M, N> {
    /// C of every element, for [`Damping::start`] at a step's start.
    pub fn values(&self, out: &mut Vec<[f64; M]>) -> Result<()> {
        self.check()?;
        out.resize(self.elements.len(), [0.0; M]);
        out.par_iter_mut().with_min_len(ELEMENTS_PER_TASK).enumerate().for_each(|(n, out)| {
            *out = self.constraint.evaluate(&self.elements[n], &self.at(n)).value;
        });
        Ok(())
    }

    /// The Dahl friction of every element at a step's end, for [`Damping::friction`] of the next.
    pub fn friction(&self, out: &mut Vec<[f64; M]>) -> Result<()> {
        self.check()?;
        let Some(dahl) = self.damping.dahl else {
            out.clear();
            return Ok(());
        };
        out.resize(self.elements.len(), [0.0; M]);
        out.par_iter_mut().with_min_len(ELEMENTS_PER_TASK).enumerate().for_each(|(n, out)| {
            let value = self.constraint.evaluate(&self.elements[n], &self.at(n)).value;
            let (dahl, before) = (dahl.at(n), &self.damping.friction[n]);
            let change = |m: usize| value[m] - self.damping.start[n][m];
            *out = std::array::from_fn(|m| dahl[m].after(before[m], change(m)).force);
        });
        Ok(())
    }

    fn at(&self, element: usize) -> [Placed; N] {
        let stencil = &self.stencil[element];
        std::array::from_fn(|n| self.embedded[n].placed()[stencil[n] as usize])
    }

    fn hangs(&self, element: usize) -> [Hang<'a>; N] {
        let stencil = &self.stencil[element];
        std::array::from_fn(|n| self.embedded[n].hang(stencil[n] as usize))
    }

    /// Refuses lists of different lengths.
    fn check(&self) -> Result<()> {
        let wanted = self.elements.len();
        let length = |what, found: usize| match found == wanted {
            true => Ok(()),
            false => Err(NewtonError::WrongLength { what, of: self.name.into(), found, wanted }),
        };
        length("the stencil", self.stencil.len())?;
        length("the relaxation times", self.damping.relaxation.length().unwrap_or(wanted))?;
        if !self.damping.is_none() {
            length("the rows at the step's start", self.damping.start.len())?;
        }
        if let Some(dahl) = &self.damping.dahl {
            length("the Dahl friction", dahl.length().unwrap_or(wanted))?;
            length("the friction forces", self.damping.friction.len())?;
        }
        if !self.multipliers.is_empty() {
            length("the multipliers", self.multipliers.len())?;
        }
        Ok(())
    }

    /// Blocks of 3 coordinates that the hangs of an element need each.
    fn blocks(&self) -> usize {
        let blocks = self.embedded.iter().map(|embedded| embedded.blocks(C::FRAMES));
        blocks.max().unwrap_or(1)
    }

    /// Evaluates one element.
    #[inline]
    fn linear(&self, element: usize, dt: f64) -> Linear<'a, M, N> {
        let at = self.at(element);
        let rows = self.constraint.evaluate(&self.elements[element], &at);
        let mut scaling = self.constraint.scaling(&self.elements[element]);
        // Hard rows have multipliers in place of a stiffness.
        if self.mode == Mode::Compliance
            && let Scaling::Diagonal(s) = &mut scaling
        {
            s.iter_mut().filter(|s| **s == f64::INFINITY).for_each(|s| *s = 0.0);
        }
        let mut force = scaling.times(&rows.value);
        let mut energy = 0.5 * dot(&force, &rows.value);
        let (mut share, mut friction) = (1.0, [0.0; M]);
        if !self.damping.is_none() {
            let start = &self.damping.start[element];
            let change: [f64; M] = std::array::from_fn(|m| rows.value[m] - start[m]);
            let rayleigh = Rayleigh { relaxation: self.damping.relaxation.at(element) };
            energy += rayleigh.potential(&scaling, &change, dt);
            share += rayleigh.share(dt);
            let damping = scaling.times(&change);
            for m in 0..M {
                force[m] += rayleigh.share(dt) * damping[m];
            }
            if let Some(dahl) = &self.damping.dahl {
                let (dahl, before) = (dahl.at(element), &self.damping.friction[element]);
                for m in 0..M {
                    let row = dahl[m].after(before[m], change[m]);
                    force[m] += row.force;
                    friction[m] = row.stiffness;
                    energy += row.potential;
                }
            }
        }
        let hangs = self.hangs(element);
        Linear { at, hangs, rows, scaling, force, share, friction, energy }
    }

    /// The weights of the rows' curvature.
    #[inline]
    fn weights(&self, element: usize, force: &[f64; M]) -> [f64; M] {
        match self.mode {
            Mode::Stiffness => *force,
            Mode::Compliance => {
                self.multipliers.get(element).map_or([0.0; M], |lambda| lambda.map(|l| -l))
            }
        }
    }

    /// Force and matrix of one element on its nodes. False if they are not finite.
    #[inline]
    fn write<const A: usize>(
        &self,
        element: usize,
        dt: f64,
        force: &mut [f64],
        matrix: &mut [f64],
    ) -> bool {
        let linear = self.linear(element, dt);
        let j = linear.gradient::<A>(C::FRAMES);
        let weights = self.weights(element, &linear.force);

        // JᵀS′J and −Jᵀσ in the coordinates q.
        let mut local = Local::<N, A>::ZERO;
        for m in 0..M {
            let sj = linear.scaled::<A>(&j, m);
            local.add_row(&j[m], &sj, linear.force[m]);
        }

        // K, and then the whole made positive semi-definite.
        let curvature = self.constraint.curvature(&self.elements[element], &linear.at, &weights);
        let turns = A > 1 && linear.hangs.iter().any(|hang| matches!(hang, Hang::Body { .. }));
        if let Some(curvature) = &curvature {
            local.add_curvature(&linear.hangs, curvature);
        }
        if turns {
            for n in 0..N {
                if let Hang::Body { lever, .. } = &linear.hangs[n] {
                    let by_x = sum_rows(&weights, |m| linear.rows.by_position[m][n]);
                    let mut bend = turn_curvature(by_x, *lever);
                    if C::FRAMES {
                        for k in 0..3 {
                            let by = sum_rows(&weights, |m| linear.rows.by_frame[m][n].col(k));
                            bend += turn_curvature(by, linear.at[n].frame.col(k));
                        }
                    }
                    local.matrix[n][1][n][1] += bend;
                }
            }
        }
        if curvature.is_some() || turns {
            local.project();
        }
        local.spread(&linear.hangs, force, matrix);
        local.is_finite()
    }

    fn fill_by<const A: usize>(&self, dt: f64, touching: &[u32], out: &mut Elements) -> Result<()> {
        // The first fault by number, whichever thread meets it.
        let fault = AtomicUsize::new(usize::MAX);
        out.fill(|n, values| {
            if let Element::Dense { force, matrix } = values {
                let element = touching[n] as usize;
                if !self.write::<A>(element, dt, force, matrix) {
                    fault.fetch_min(element, Ordering::Relaxed);
                }
            }
        });
        match fault.into_inner() {
            usize::MAX => Ok(()),
            index => {
                let linear = self.linear(index, dt);
                let values = linear.rows.value.iter().chain(&linear.force);
                let found = values.copied().find(|v| !v.is_finite()).unwrap_or(f64::NAN);
                let of = self.name.into();
                Err(NewtonError::NotFinite { what: "element", index, of, found })
            }
        }
    }

    fn recover_by<const A: usize>(&self, dt: f64, du: &[f64], row_of: &[u32]) -> Vec<f64> {
        let mut lambda = vec![0.0; M * self.elements.len()];
        let chunks = lambda.par_chunks_mut(M.max(1)).with_min_len(ELEMENTS_PER_TASK);
        chunks.enumerate().for_each(|(element, lambda)| {
            let linear = self.linear(element, dt);
            let j = linear.gradient::<A>(C::FRAMES);
            let dq: [[DVec3; A]; N] = std::array::from_fn(|n| moved(&linear.hangs[n], du, row_of));
            for (m, lambda) in lambda.iter_mut().enumerate() {
                // λ = −(σ + S′ J δu).
                let sj = linear.scaled::<A>(&j, m);
                let terms = sj.iter().flatten().zip(dq.iter().flatten());
                *lambda = -terms.fold(linear.force[m], |sum, (j, dq)| sum + j.dot(*dq));
            }
        });
        lambda
    }

    fn hard_by<const A: usize>(&self, out: &mut HardRows) {
        let task = |first: usize| {
            let mut found = HardRows::default();
            for element in first..(first + ELEMENTS_PER_TASK).min(self.elements.len()) {
                let scaling = self.constraint.scaling(&self.elements[element]);
                if !(0..M).any(|m| scaling.is_hard(m)) {
                    continue;
                }
                let linear = self.linear(element, 1.0);
                let j = linear.gradient::<A>(C::FRAMES);
                for m in (0..M).filter(|&m| scaling.is_hard(m)) {
                    let guess = self.multipliers.get(element).map_or(0.0, |lambda| lambda[m]);
                    found.begin(M * element + m, linear.rows.value[m], guess);
                    for (hang, j) in linear.hangs.iter().zip(&j[m]) {
                        for node in 0..hang.count() {
                            found.push(hang.node(node), combine(&hang.coefficients(node), j));
                        }
                    }
                    found.end();
                }
            }
            found
        };
        let firsts: Vec<usize> = (0..self.elements.len()).step_by(ELEMENTS_PER_TASK).collect();
        let parts: Vec<HardRows> = firsts.into_par_iter().map(task).collect();
        parts.iter().for_each(|part| out.append(part));
    }
}

/// Calls a method for as many blocks as the hangs need.
macro_rules! by_blocks {
    ($term:ident.$method:ident($($argument:expr),*)) => {
        match $term.blocks() {
            1 => $term.$method::<1>($($argument),*),
            2 => $term.$method::<2>($($argument),*),
            _ => $term.$method::<4>($($argument),*),
        }
    };
}

impl<C: Constraint<M, N>, const M: usize, const N: usize> Term for ConstraintTerm<'_, C, M, N> {
    fn name(&self) -> &str {
        self.name
    }

    fn lengths(&self) -> Vec<usize> {
        let placed = self.embedded.iter().map(|embedded| embedded.placed().len());
        placed.chain([self.elements.len(), usize::from(self.mode == Mode::Compliance)]).collect()
    }

    fn nodes(&self) -> Result<TermNodes> {
        self.check()?;
        let mut nodes = TermNodes::default();
        for (element, stencil) in self.stencil.iter().enumerate() {
            for (&particle, embedded) in stencil.iter().zip(&self.embedded) {
                let (found, wanted) = (particle as usize, embedded.placed().len());
                if found >= wanted {
                    let (what, of) = ("element", self.name.into());
                    return Err(NewtonError::OutOfRange {
                        what,
                        index: element,
                        of,
                        found,
                        wanted,
                    });
                }
            }
            let scaling = self.constraint.scaling(&self.elements[element]);
            if self.mode == Mode::Stiffness && (0..M).any(|m| scaling.is_hard(m)) {
                return Err(NewtonError::BadValue {
                    what: format!("the stiffness of element {element} of {}", self.name),
                    found: f64::INFINITY,
                    wanted: "finite in stiffness mode; hard rows need compliance mode",
                });
            }
            nodes.push(&self.hangs(element));
        }
        Ok(nodes)
    }

    fn fill(&self, dt: f64, touching: &[u32], out: &mut Elements) -> Result<()> {
        self.check()?;
        by_blocks!(self.fill_by(dt, touching, out))
    }

    fn hard(&self, out: &mut HardRows) -> Result<()> {
        if self.mode == Mode::Compliance {
            by_blocks!(self.hard_by(out));
        }
        Ok(())
    }

    fn has_multipliers(&self) -> bool {
        self.mode == Mode::Compliance
    }

    fn recover(&self, dt: f64, du: &[f64], row_of: &[u32]) -> Vec<f64> {
        by_blocks!(self.recover_by(dt, du, row_of))
    }

    fn merit(&self, dt: f64) -> Merit {
        let task = |first: usize| {
            let mut merit = Merit::default();
            for element in first..(first + ELEMENTS_PER_TASK).min(self.elements.len()) {
                let linear = self.linear(element, dt);
                merit.add(linear.energy);
                if self.mode == Mode::Compliance {
                    let scaling = self.constraint.scaling(&self.elements[element]);
                    let hard = (0..M).filter(|&m| scaling.is_hard(m));
                    merit.violation += hard.map(|m| linear.rows.value[m].abs()).sum::<f64>();
                }
            }
            merit
        };
        let firsts: Vec<usize> = (0..self.elements.len()).step_by(ELEMENTS_PER_TASK).collect();
        let parts: Vec<Merit> = firsts.into_par_iter().map(task).collect();
        parts.into_iter().fold(Merit::default(), Merit::plus)
    }
}

impl<const M: usize, const N: usize> Linear<'_, M, N> {
    /// J: the gradient of every row by the coordinates q.
    #[inline]
    fn gradient<const A: usize>(&self, frames: bool) -> [[[DVec3; A]; N]; M] {
        std::array::from_fn(|m| {
            std::array::from_fn(|n| {
                let by_frame = frames.then_some(&self.rows.by_frame[m][n]);
                self.hangs[n].pull(&self.at[n], self.rows.by_position[m][n], by_frame)
            })
        })
    }

    /// A row of S′J.
    #[inline]
    fn scaled<const A: usize>(&self, j: &[[[DVec3; A]; N]; M], m: usize) -> [[DVec3; A]; N] {
        let own = |s: f64| {
            let s = s * self.share + self.friction[m];
            std::array::from_fn(|n| j[m][n].map(|j| j * s))
        };
        match &self.scaling {
            Scaling::Diagonal(s) => own(s[m]),
            Scaling::Full(s) => {
                let mut row = own(s[m][m]);
                for other in (0..M).filter(|&other| other != m) {
                    let s = s[m][other] * self.share;
                    for (row, j) in row.iter_mut().flatten().zip(j[other].iter().flatten()) {
                        *row += *j * s;
                    }
                }
                row
            }
        }
    }
}

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
    fn add_row(&mut self, j: &[[DVec3; A]; N], sj: &[[DVec3; A]; N], sigma: f64) {
        for n in 0..N {
            for a in 0..A {
                self.gradient[n][a] += j[n][a] * sigma;
                for o in 0..N {
                    for b in 0..A {
                        self.matrix[n][a][o][b] += outer(j[n][a], sj[o][b]);
                    }
                }
            }
        }
    }

    /// Adds the curvature of a Constraint by positions.
    #[inline]
    fn add_curvature(&mut self, hangs: &[Hang<'_>; N], curvature: &[[DMat3; N]; N]) {
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
                for o in n..N {
                    for other in 0..hangs[o].count() {
                        if j >= i {
                            let their = hangs[o].coefficients::<A>(other);
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
        for a in 0..A {
            for b in 0..A {
                block += self.matrix[n][a][o][b] * (own[a] * their[b]);
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
fn turn_curvature(v: DVec3, r: DVec3) -> DMat3 {
    (outer(v, r) + outer(r, v)) * 0.5 - DMat3::from_diagonal(DVec3::splat(v.dot(r)))
}

/// How far a particle's coordinates q move with the unknowns.
#[inline]
fn moved<const A: usize>(hang: &Hang<'_>, du: &[f64], row_of: &[u32]) -> [DVec3; A] {
    let mut q = [DVec3::ZERO; A];
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
fn combine<const A: usize>(c: &[f64; A], v: &[DVec3; A]) -> DVec3 {
    c.iter().zip(v).fold(DVec3::ZERO, |sum, (c, v)| sum + *v * *c)
}

#[inline]
fn sum_rows<const M: usize>(weights: &[f64; M], of: impl Fn(usize) -> DVec3) -> DVec3 {
    (0..M).fold(DVec3::ZERO, |sum, m| sum + of(m) * weights[m])
}

#[inline]
fn symmetric(block: DMat3) -> DMat3 {
    (block + block.transpose()) * 0.5
}

#[inline]
fn dot<const M: usize>(a: &[f64; M], b: &[f64; M]) -> f64 {
    a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a * b)
}
