//! What belongs to one point, body or scalar alone: its inertia and the Forces on it, as a dense block of 3, 6 or 1 rows.
//! Where no element ties it to others, the block is solved right here.

use super::error::{NewtonError, Result};
use super::force::ForceTerm;
use super::unknowns::{Inertia, Kind, Span, Unknowns};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Groups that one task works on.
const GROUPS_PER_TASK: usize = 512;

/// The blocks of all groups, span after span.
#[derive(Debug, Default)]
pub(super) struct OwnBlocks {
    /// The force on each unknown.
    pub force: Vec<f64>,
    /// The blocks, each row after row.
    matrix: Vec<f64>,
    /// Where the blocks of each span begin.
    places: Vec<usize>,
}

impl OwnBlocks {
    /// The inertia of all spans, in place of what there was; only of the groups that are `here`, if that is not all of them.
    pub fn set(
        &mut self,
        unknowns: &Unknowns,
        inertia: &[Inertia<'_>],
        per_dt2: f64,
        here: Option<&[bool]>,
    ) {
        self.places.clear();
        let mut end = 0;
        for span in unknowns.spans() {
            self.places.push(end);
            end += span.count * span.kind.unknowns().pow(2);
        }
        self.matrix.resize(end, 0.0);
        self.force.resize(unknowns.rows(), 0.0);
        for ((span, inertia), &place) in unknowns.spans().iter().zip(inertia).zip(&self.places) {
            let width = span.kind.unknowns();
            let force = &mut self.force[span.row..span.row + width * span.count];
            let matrix = &mut self.matrix[place..place + width * width * span.count];
            let tasks = force
                .par_chunks_mut(width * GROUPS_PER_TASK)
                .zip(matrix.par_chunks_mut(width * width * GROUPS_PER_TASK));
            tasks.enumerate().for_each(|(task, (force, matrix))| {
                let groups =
                    force.chunks_exact_mut(width).zip(matrix.chunks_exact_mut(width * width));
                for (n, (force, matrix)) in groups.enumerate() {
                    let group = task * GROUPS_PER_TASK + n;
                    if is_here(here, span, group) {
                        inertia.write(group, per_dt2, force, matrix);
                    }
                }
            });
        }
    }

    /// Adds Forces on particles that each hang on one group; only of the groups that are `here`, if that is not all of them.
    pub fn add(
        &mut self,
        unknowns: &Unknowns,
        term: &ForceTerm<'_>,
        here: Option<&[bool]>,
    ) -> Result<()> {
        term.check()?;
        let Some(number) = term.embedded.span() else { return Ok(()) };
        let (span, place) = (&unknowns.spans()[number], self.places[number]);
        let width = span.kind.unknowns();
        let force = &mut self.force[span.row..span.row + width * span.count];
        let matrix = &mut self.matrix[place..place + width * width * span.count];
        let fault = AtomicUsize::new(usize::MAX);
        match span.kind {
            // Particle and point are the same, so that tasks share nothing.
            Kind::Points => {
                let tasks = force
                    .par_chunks_mut(3 * GROUPS_PER_TASK)
                    .zip(matrix.par_chunks_mut(9 * GROUPS_PER_TASK));
                tasks.enumerate().for_each(|(task, (force, matrix))| {
                    let groups = force.chunks_exact_mut(3).zip(matrix.chunks_exact_mut(9));
                    for (n, (force, matrix)) in groups.enumerate() {
                        let particle = task * GROUPS_PER_TASK + n;
                        if is_here(here, span, particle)
                            && !add_particle::<1, 3, 9>(term, particle, force, matrix)
                        {
                            fault.fetch_min(particle, Ordering::Relaxed);
                        }
                    }
                });
            }
            // Many particles of a body: one after another, in their order.
            Kind::Bodies => {
                for particle in 0..term.embedded.placed().len() {
                    let body = term.embedded.body(particle);
                    let force = &mut force[6 * body..6 * body + 6];
                    let matrix = &mut matrix[36 * body..36 * body + 36];
                    if is_here(here, span, body)
                        && !add_particle::<2, 6, 36>(term, particle, force, matrix)
                    {
                        fault.fetch_min(particle, Ordering::Relaxed);
                    }
                }
            }
            // As for points, beside the turn of an edge.
            Kind::Rods => {
                let tasks = force
                    .par_chunks_mut(4 * GROUPS_PER_TASK)
                    .zip(matrix.par_chunks_mut(16 * GROUPS_PER_TASK));
                tasks.enumerate().for_each(|(task, (force, matrix))| {
                    let groups = force.chunks_exact_mut(4).zip(matrix.chunks_exact_mut(16));
                    for (n, (force, matrix)) in groups.enumerate() {
                        let particle = task * GROUPS_PER_TASK + n;
                        if is_here(here, span, particle)
                            && !add_vertex(term, particle, force, matrix)
                        {
                            fault.fetch_min(particle, Ordering::Relaxed);
                        }
                    }
                });
            }
            Kind::Scalars => {}
        }
        match fault.into_inner() {
            usize::MAX => Ok(()),
            index => Err(term.fault(index)),
        }
    }

    /// Force and matrix of a group of the span with the given number.
    pub fn of(&self, number: usize, span: &Span, group: usize) -> (&[f64], &[f64]) {
        let width = span.kind.unknowns();
        let (row, place) = (span.row + width * group, self.places[number]);
        let place = place + width * width * group;
        (&self.force[row..row + width], &self.matrix[place..place + width * width])
    }

    /// Solves the groups that nothing ties to others: `du` of their rows.
    pub fn solve(&self, unknowns: &Unknowns, coupled: &[bool], du: &mut [f64]) -> Result<()> {
        let fault = AtomicUsize::new(usize::MAX);
        for (number, span) in unknowns.spans().iter().enumerate() {
            let width = span.kind.unknowns();
            let rows = &mut du[span.row..span.row + width * span.count];
            let coupled = &coupled[span.group..span.group + span.count];
            rows.par_chunks_mut(width * GROUPS_PER_TASK).enumerate().for_each(|(task, rows)| {
                for (n, du) in rows.chunks_exact_mut(width).enumerate() {
                    let group = task * GROUPS_PER_TASK + n;
                    if coupled[group] {
                        continue;
                    }
                    let (force, matrix) = self.of(number, span, group);
                    let solved = match span.kind {
                        Kind::Points => solve_block::<3>(matrix, force, du),
                        Kind::Bodies => solve_block::<6>(matrix, force, du),
                        Kind::Scalars => solve_block::<1>(matrix, force, du),
                        Kind::Rods => solve_block::<4>(matrix, force, du),
                    };
                    if !solved {
                        fault.fetch_min(span.group + group, Ordering::Relaxed);
                    }
                }
            });
        }
        match fault.into_inner() {
            usize::MAX => Ok(()),
            group => {
                let at = unknowns.spans().partition_point(|span| span.group <= group) - 1;
                let span = &unknowns.spans()[at];
                let index = group - span.group;
                let (force, matrix) = self.of(at, span, index);
                let values = force.iter().chain(matrix).copied();
                let found = values.into_iter().find(|v| !v.is_finite()).unwrap_or(f64::NAN);
                let (what, of) = ("the balance of element", span.name.clone());
                Err(NewtonError::NotFinite { what, index, of, found })
            }
        }
    }
}

/// Whether a group of a span is here.
#[inline]
fn is_here(here: Option<&[bool]>, span: &Span, group: usize) -> bool {
    here.is_none_or(|here| here[span.group + group])
}

/// Adds the Force on one particle to the block of its group. False if it is not finite.
#[inline]
fn add_particle<const A: usize, const W: usize, const SQUARE: usize>(
    term: &ForceTerm<'_>,
    particle: usize,
    force: &mut [f64],
    matrix: &mut [f64],
) -> bool {
    let (hang, local) = term.local::<A>(particle);
    let (mut own_force, mut own_matrix) = ([0.0; W], [0.0; SQUARE]);
    local.spread(&[hang], &mut own_force, &mut own_matrix);
    force.iter_mut().zip(own_force).for_each(|(sum, own)| *sum += own);
    if term.stiffness.is_some() {
        matrix.iter_mut().zip(own_matrix).for_each(|(sum, own)| *sum += own);
    }
    local.is_finite()
}

/// The same for a vertex of a rod; one that is held takes no force. False if it is not finite.
#[inline]
fn add_vertex(
    term: &ForceTerm<'_>,
    particle: usize,
    force: &mut [f64],
    matrix: &mut [f64],
) -> bool {
    let (hang, local) = term.local::<1>(particle);
    if hang.count() == 0 {
        return true;
    }
    let (mut own_force, mut own_matrix) = ([0.0; 3], [0.0; 9]);
    local.spread(&[hang], &mut own_force, &mut own_matrix);
    force.iter_mut().zip(own_force).for_each(|(sum, own)| *sum += own);
    if term.stiffness.is_some() {
        for (row, own) in matrix.chunks_exact_mut(4).zip(own_matrix.chunks_exact(3)) {
            row.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
        }
    }
    local.is_finite()
}

/// x = A⁻¹·b by Cholesky. False if A is not positive definite or anything is not finite.
#[inline]
fn solve_block<const D: usize>(matrix: &[f64], b: &[f64], x: &mut [f64]) -> bool {
    let mut l = [[0.0; D]; D];
    for j in 0..D {
        for i in j..D {
            let sum = (0..j).fold(matrix[D * i + j], |sum, k| sum - l[i][k] * l[j][k]);
            l[i][j] = if i == j { sum.sqrt() } else { sum / l[j][j] };
        }
        if l[j][j].is_nan() || l[j][j] <= 0.0 {
            return false;
        }
    }
    let mut y = [0.0; D];
    for i in 0..D {
        y[i] = (0..i).fold(b[i], |sum, k| sum - l[i][k] * y[k]) / l[i][i];
    }
    for i in (0..D).rev() {
        x[i] = (i + 1..D).fold(y[i], |sum, k| sum - l[k][i] * x[k]) / l[i][i];
    }
    x.iter().all(|x| x.is_finite())
}
