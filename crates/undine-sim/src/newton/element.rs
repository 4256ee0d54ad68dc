//! Elements of Constraints: from C, ∇C and S to gradients and matrices on nodes, in stiffness or in compliance mode.
//!
//! For each element, with the rows' force σ = S C + (τ/Δt) S (C − Cⁿ) + F (Rayleigh, Dahl) and its derivative S′, the gradient is
//! Jᵀσ and the matrix JᵀS′J + K. J is ∇C pulled back to the coordinates q that the particles hang in; K = Σ σₘ ∂²Cₘ/∂q² has
//! the Constraint's own curvature and that of rotations. The sum is projected to be positive semi-definite there, which the
//! map from nodes to q keeps.
//!
//! In compliance mode (Tournier et al. 2015, *Stable constrained dynamics*) each row has a multiplier λ with
//! J δu + W λ = −C, W = S⁻¹, and the force Jᵀλ. Rows with W > 0 are eliminated to what stiffness mode has, but for K, which
//! takes −λ of the iteration before in place of σ: however stiff the row, the curvature is that of the forces at work. Rows
//! with W = 0 are hard, and stay in a saddle system.

use super::coordinates::{Local, combine, moved, turn_curvature};
use super::error::{NewtonError, Result};
use super::iterate::Merit;
use super::linear::Linear;
use super::rod::Columns;
use super::saddle::HardRows;
use super::shape::{Embedded, Hang};
use super::term::{Term, TermNodes};
use crate::constraint::dahl::Dahl;
use crate::constraint::damping::Rayleigh;
use crate::constraint::{Constraint, Placed, Scaling};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use undine_core::glam::DVec3;
use undine_linsolve::matrix::{Element, Elements};

/// Elements that one task works on where no list of `undine-linsolve` cuts them.
pub(super) const ELEMENTS_PER_TASK: usize = 512;

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

    #[inline(always)]
    pub(super) fn at(&self, element: usize) -> [Placed; N] {
        let stencil = &self.stencil[element];
        std::array::from_fn(|n| self.embedded[n].placed()[stencil[n] as usize])
    }

    #[inline(always)]
    pub(super) fn hangs(&self, element: usize) -> [Hang<'a>; N] {
        let stencil = &self.stencil[element];
        std::array::from_fn(|n| self.embedded[n].hang(stencil[n] as usize, C::FRAMES))
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

    /// Refuses damping that would push.
    fn check_damping(&self, element: usize) -> Result<()> {
        let bad = |what: &str, found: f64, wanted| {
            let what = format!("{what} of element {element} of {}", self.name);
            Err(NewtonError::BadValue { what, found, wanted })
        };
        let relaxation = self.damping.relaxation.at(element);
        if !(relaxation >= 0.0 && relaxation.is_finite()) {
            return bad("the relaxation time [s]", relaxation, "finite and not negative");
        }
        let dahl = self.damping.dahl.as_ref().map(|dahl| dahl.at(element));
        for Dahl { limit, length } in dahl.into_iter().flatten() {
            if !(limit >= 0.0 && limit.is_finite()) {
                return bad("the friction limit", limit, "finite and not negative");
            }
            if limit > 0.0 && !(length > 0.0 && length.is_finite()) {
                return bad("the friction's transition length", length, "positive and finite");
            }
        }
        Ok(())
    }

    /// Refuses rows that are infinitely stiff where only multipliers could hold them.
    fn check_stiffness(&self, element: usize) -> Result<()> {
        let scaling = self.constraint.scaling(&self.elements[element]);
        if self.mode == Mode::Stiffness && (0..M).any(|m| scaling.is_hard(m)) {
            return Err(NewtonError::BadValue {
                what: format!("the stiffness of element {element} of {}", self.name),
                found: f64::INFINITY,
                wanted: "finite in stiffness mode; hard rows need compliance mode",
            });
        }
        Ok(())
    }

    /// Blocks of 3 coordinates that the hangs of an element need each.
    fn blocks(&self) -> usize {
        let blocks = self.embedded.iter().map(|embedded| embedded.blocks(C::FRAMES));
        blocks.max().unwrap_or(1)
    }

    /// Evaluates one element. Always inlined: what it returns is large, and most callers look at a part of it.
    #[inline(always)]
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
        let turns = A > 1 && linear.hangs.iter().any(|hang| matches!(hang, Hang::Body { .. }));
        let (own, at) = (&self.elements[element], &linear.at);
        if !turns && let Some(curvature) = self.constraint.convex_curvature(own, at, &weights) {
            local.add_curvature(&linear.hangs, &curvature);
            local.spread(&linear.hangs, force, matrix);
            return local.is_finite();
        }
        let curvature = self.constraint.curvature(own, at, &weights);
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

    /// The same where frames of rods take part: rows of J on the nodes, each node once, without the curvature of rows.
    #[inline]
    fn write_rows(
        &self,
        element: usize,
        dt: f64,
        columns: &mut Columns,
        (pull, stiffness, gradient): (&mut [f64], &mut [f64], &mut [f64]),
    ) -> bool {
        let linear = self.linear(element, dt);
        columns.set(&linear.hangs);
        for (m, row) in gradient.chunks_exact_mut(columns.width()).enumerate() {
            let (by_x, by_frame) = (&linear.rows.by_position[m], &linear.rows.by_frame[m]);
            columns.write_row(&linear.hangs, &linear.at, by_x, by_frame, row);
            pull[m] = linear.force[m];
            (0..M).for_each(|o| stiffness[M * m + o] = linear.stiffness(m, o));
        }
        pull.iter().chain(&*stiffness).chain(&*gradient).all(|value| value.is_finite())
    }

    /// Refuses rows that are infinitely stiff: the frames of rods have unknowns that those cannot hold.
    fn refuse_hard(&self) -> Result<()> {
        let hard = |element: &C::Element| {
            let scaling = self.constraint.scaling(element);
            (0..M).any(|m| scaling.is_hard(m))
        };
        match self.elements.iter().position(hard) {
            None => Ok(()),
            Some(element) => Err(NewtonError::BadValue {
                what: format!("the stiffness of element {element} of {}", self.name),
                found: f64::INFINITY,
                wanted: "finite, since it acts on frames of rods",
            }),
        }
    }

    /// Whether elements are written by rows.
    fn by_rows(&self) -> bool {
        C::FRAMES && self.embedded.iter().any(Embedded::is_rods)
    }

    fn fill_by<const A: usize>(&self, dt: f64, touching: &[u32], out: &mut Elements) -> Result<()> {
        // The first fault by number, whichever thread meets it.
        let fault = AtomicUsize::new(usize::MAX);
        out.fill_with(Columns::default, |columns, n, values| {
            let element = touching[n] as usize;
            let sound = match values {
                Element::Dense { force, matrix } => self.write::<A>(element, dt, force, matrix),
                Element::Rows { pull, stiffness, gradient } => {
                    self.write_rows(element, dt, columns, (pull, stiffness, gradient))
                }
            };
            if !sound {
                fault.fetch_min(element, Ordering::Relaxed);
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

    /// The nodes of the elements of one task.
    fn nodes_from(&self, first: usize) -> Result<TermNodes> {
        let mut nodes = TermNodes::default();
        let (by_rows, mut columns) = (self.by_rows(), Columns::default());
        for element in first..(first + ELEMENTS_PER_TASK).min(self.elements.len()) {
            for (&particle, embedded) in self.stencil[element].iter().zip(&self.embedded) {
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
            match by_rows {
                true => {
                    columns.set(&self.hangs(element));
                    nodes.push_nodes(columns.nodes().iter().copied());
                }
                false => nodes.push(&self.hangs(element)),
            }
        }
        Ok(nodes)
    }

    fn recover_by<const A: usize>(
        &self,
        elements: Range<usize>,
        dt: f64,
        du: &[f64],
        row_of: &[u32],
    ) -> Vec<f64> {
        let mut lambda = vec![0.0; M * elements.len()];
        let chunks = lambda.par_chunks_mut(M.max(1)).with_min_len(ELEMENTS_PER_TASK);
        chunks.enumerate().for_each(|(n, lambda)| {
            let linear = self.linear(elements.start + n, dt);
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

impl<C: Constraint<M, N>, const M: usize, const N: usize> Term for ConstraintTerm<'_, C, M, N> {
    fn name(&self) -> &str {
        self.name
    }

    fn lengths(&self) -> Vec<usize> {
        let placed = self.embedded.iter().map(|embedded| embedded.placed().len());
        placed.chain([self.elements.len(), usize::from(self.mode == Mode::Compliance)]).collect()
    }

    fn rows(&self) -> usize {
        if self.by_rows() { M } else { 0 }
    }

    fn pattern(&self, part: &mut dyn FnMut(&[u32])) -> bool {
        part(self.stencil.as_flattened());
        (0..N).all(|n| {
            let known =
                self.embedded[..n].iter().position(|known| known.is_same(&self.embedded[n]));
            part(&[known.map_or(u32::MAX, |known| known as u32)]);
            known.is_some() || self.embedded[n].pattern(part)
        })
    }

    fn check_values(&self) -> Result<()> {
        self.check()?;
        let check = |element: usize| {
            self.check_damping(element)?;
            self.check_stiffness(element)
        };
        let all = (0..self.elements.len()).into_par_iter().with_min_len(ELEMENTS_PER_TASK);
        // The first fault by number, whichever thread meets it.
        all.find_map_first(|element| check(element).err()).map_or(Ok(()), Err)
    }

    fn nodes(&self) -> Result<TermNodes> {
        self.check()?;
        let firsts: Vec<usize> = (0..self.elements.len()).step_by(ELEMENTS_PER_TASK).collect();
        let parts: Vec<Result<TermNodes>> =
            firsts.into_par_iter().map(|first| self.nodes_from(first)).collect();
        let mut nodes = TermNodes::default();
        for part in parts {
            nodes.append(&part?);
        }
        Ok(nodes)
    }

    fn fill(&self, dt: f64, touching: &[u32], out: &mut Elements) -> Result<()> {
        self.check()?;
        match self.blocks() {
            1 => self.fill_by::<1>(dt, touching, out),
            2 => self.fill_by::<2>(dt, touching, out),
            _ => self.fill_by::<4>(dt, touching, out),
        }
    }

    fn hard(&self, out: &mut HardRows) -> Result<()> {
        if self.mode == Mode::Stiffness {
            return Ok(());
        }
        if self.by_rows() {
            return self.refuse_hard();
        }
        match self.blocks() {
            1 => self.hard_by::<1>(out),
            2 => self.hard_by::<2>(out),
            _ => self.hard_by::<4>(out),
        }
        Ok(())
    }

    fn has_multipliers(&self) -> bool {
        self.mode == Mode::Compliance
    }

    fn elements(&self) -> usize {
        self.elements.len()
    }

    fn recover(&self, elements: Range<usize>, dt: f64, du: &[f64], row_of: &[u32]) -> Vec<f64> {
        match self.blocks() {
            1 => self.recover_by::<1>(elements, dt, du, row_of),
            2 => self.recover_by::<2>(elements, dt, du, row_of),
            _ => self.recover_by::<4>(elements, dt, du, row_of),
        }
    }

    fn parameters(&self) -> usize {
        C::REST_PARAMETERS * self.elements.len()
    }

    fn add_forces(&self, row_of: &[u32], out: &mut [f64]) {
        self.add_static_forces(row_of, out);
    }

    fn by_parameters(&self, row_of: &[u32], each: &mut dyn FnMut(usize, usize, f64)) {
        self.each_by_parameter(row_of, each);
    }

    fn by_unknowns(&self, row_of: &[u32]) -> Vec<(u32, u32, f64)> {
        self.exact_stiffness(row_of)
    }

    fn sums(&self) -> usize {
        self.elements.len().div_ceil(ELEMENTS_PER_TASK)
    }

    fn merits(&self, sums: Range<usize>, dt: f64) -> Vec<Merit> {
        let task = |sum: usize| {
            let mut merit = Merit::default();
            let first = sum * ELEMENTS_PER_TASK;
            for element in first..(first + ELEMENTS_PER_TASK).min(self.elements.len()) {
                let linear = self.linear(element, dt);
                merit.add(linear.energy);
                let scaling = self.constraint.scaling(&self.elements[element]);
                for m in 0..M {
                    let reach = linear.reach(m, C::FRAMES);
                    merit.magnitude += linear.force[m].abs() * reach;
                    if self.mode == Mode::Compliance && scaling.is_hard(m) {
                        merit.violation += linear.rows.value[m].abs();
                        merit.violation_magnitude += reach;
                    }
                }
            }
            merit
        };
        sums.into_par_iter().map(task).collect()
    }
}

#[inline]
fn sum_rows<const M: usize>(weights: &[f64; M], of: impl Fn(usize) -> DVec3) -> DVec3 {
    (0..M).fold(DVec3::ZERO, |sum, m| sum + of(m) * weights[m])
}

#[inline]
fn dot<const M: usize>(a: &[f64; M], b: &[f64; M]) -> f64 {
    a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a * b)
}
