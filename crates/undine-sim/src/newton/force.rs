//! Forces on embedded particles (Loki §6.2): f, and if it is to be implicit, its derivative.

use super::coordinates::Local;
use super::error::{NewtonError, Result};
use super::iterate::Merit;
use super::saddle::HardRows;
use super::shape::{Embedded, Hang};
use super::term::{Term, TermNodes};
use crate::constraint::Placed;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use undine_core::glam::{DMat3, DVec3};
use undine_linsolve::matrix::{Element, Elements};

/// Particles that one task works on.
const PARTICLES_PER_TASK: usize = 1024;

/// The Forces on an embedded particle system at the current iterate.
#[derive(Debug, Clone, Copy)]
pub struct ForceTerm<'a> {
    /// What errors call it.
    pub name: &'a str,
    /// The particles.
    pub embedded: Embedded<'a>,
    /// f on each particle [N].
    pub force: &'a [DVec3],
    /// −df/dx of each particle [N/m], with whatever a velocity adds to it (−∂f/∂v/Δt); none for an explicit Force. Its
    /// symmetric part enters the matrix, projected to be positive semi-definite.
    pub stiffness: Option<&'a [DMat3]>,
}

impl ForceTerm<'_> {
    /// Minus the work of the Forces [J] from where the particles were when they were found: the potential of Forces that change as their
    /// derivatives say, which explicit ones do not.
    pub fn potential(&self, start: &[Placed]) -> Result<Merit> {
        self.check()?;
        self.length("the places at the step's start", start.len())?;
        let placed = self.embedded.placed();
        let task = |first: usize| {
            let mut merit = Merit::default();
            for n in first..(first + PARTICLES_PER_TASK).min(placed.len()) {
                let moved = placed[n].x - start[n].x;
                merit.add(-self.force[n].dot(moved));
                if let Some(stiffness) = self.stiffness {
                    merit.add(0.5 * moved.dot(stiffness[n] * moved));
                }
            }
            merit
        };
        let firsts: Vec<usize> = (0..placed.len()).step_by(PARTICLES_PER_TASK).collect();
        let parts: Vec<Merit> = firsts.into_par_iter().map(task).collect();
        Ok(parts.into_iter().fold(Merit::default(), Merit::plus))
    }

    /// Refuses lists of other lengths than the particles'.
    pub(super) fn check(&self) -> Result<()> {
        self.length("the forces", self.force.len())?;
        let wanted = self.embedded.placed().len();
        self.length("the stiffnesses", self.stiffness.map_or(wanted, <[DMat3]>::len))
    }

    fn length(&self, what: &'static str, found: usize) -> Result<()> {
        let wanted = self.embedded.placed().len();
        match found == wanted {
            true => Ok(()),
            false => Err(NewtonError::WrongLength { what, of: self.name.into(), found, wanted }),
        }
    }

    /// Gradient and matrix of one particle in its coordinates q.
    #[inline]
    pub(super) fn local<const A: usize>(&self, particle: usize) -> (Hang<'_>, Local<1, A>) {
        let hang = self.embedded.hang(particle, false);
        let at = &self.embedded.placed()[particle];
        let mut local = Local::ZERO;
        local.gradient[0] = hang.pull(at, -self.force[particle], None);
        if let Some(stiffness) = self.stiffness {
            let k = (stiffness[particle] + stiffness[particle].transpose()) * 0.5;
            let moves = hang.moves::<A>();
            for a in 0..A {
                for b in 0..A {
                    local.matrix[0][a][0][b] = moves[a].transpose() * k * moves[b];
                }
            }
            local.project();
        }
        (hang, local)
    }

    /// That a particle's force and stiffness are finite; what is not.
    pub(super) fn fault(&self, index: usize) -> NewtonError {
        let force = self.force[index].to_array();
        let stiffness = self.stiffness.map_or([0.0; 9], |k| k[index].to_cols_array());
        let mut all = force.into_iter().chain(stiffness);
        let found = all.find(|value| !value.is_finite()).unwrap_or(f64::NAN);
        NewtonError::NotFinite { what: "the force on particle", index, of: self.name.into(), found }
    }
}

/// As elements of one particle each, for shapes that spread a particle over several points.
impl Term for ForceTerm<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn lengths(&self) -> Vec<usize> {
        vec![self.embedded.placed().len()]
    }

    fn nodes(&self) -> Result<TermNodes> {
        self.check()?;
        let mut nodes = TermNodes::default();
        for particle in 0..self.embedded.placed().len() {
            nodes.push(&[self.embedded.hang(particle, false)]);
        }
        Ok(nodes)
    }

    fn fill(&self, _dt: f64, touching: &[u32], out: &mut Elements) -> Result<()> {
        self.check()?;
        let fault = AtomicUsize::new(usize::MAX);
        out.fill(|n, values| {
            if let Element::Dense { force, matrix } = values {
                let particle = touching[n] as usize;
                let (hang, local) = self.local::<1>(particle);
                local.spread(&[hang], force, matrix);
                if !local.is_finite() {
                    fault.fetch_min(particle, Ordering::Relaxed);
                }
            }
        });
        match fault.into_inner() {
            usize::MAX => Ok(()),
            index => Err(self.fault(index)),
        }
    }

    fn hard(&self, _out: &mut HardRows) -> Result<()> {
        Ok(())
    }

    fn has_multipliers(&self) -> bool {
        false
    }
}
