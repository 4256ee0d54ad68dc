//! The solve of contacts on points and bodies: block Gauss–Seidel, contact by contact, each solved exactly.
//!
//! Unknowns come in blocks, D z = f + Hᵀ r: of a point, a body, or all that is tied together. A contact's displacement is u = b + H z, and
//! W = H D⁻¹ Hᵀ of its own, and what the contact itself gives way. Visiting contacts in their order, each takes the force that fulfils its laws with all others as they are; what changes
//! is handed on to z at once (Daviet et al. 2011, §3.3; Moreau 1988). Where a contact was off when it was visited, as a displacement,
//! is the residual: when the largest of a sweep is small enough, all laws hold to that. Contacts that have no block in common, not
//! even by way of others, are solved beside each other, each of these clusters for as long as it takes.

use super::cluster::Cluster;
use super::contact::{ContactEnd, Contacts};
use super::error::{NewtonError, Result};
use super::local::OwnBlocks;
use super::parts::LARGE;
use super::unknowns::{Inertia, Unknowns};
use rayon::prelude::*;
use undine_core::Forest;
use undine_core::glam::DVec3;

/// When a solve of contacts is over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TouchSettings {
    /// Enough when no contact is off by more than this [m].
    pub tolerance: f64,
    /// Most sweeps over all contacts.
    pub sweeps: usize,
}

/// How a solve of contacts went.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TouchReport {
    /// How many contacts there were.
    pub contacts: usize,
    /// How many of them hang together so far that several processes solved them in common.
    pub in_common: usize,
    /// Sweeps over all contacts.
    pub sweeps: usize,
    /// By how much a contact was off at most in the last sweep [m].
    pub residual: f64,
    /// A node that this contact hangs on, if it is known.
    pub worst: Option<u32>,
    /// What would be little enough for it [m].
    pub tolerance: f64,
    /// Whether it was.
    pub converged: bool,
}

/// Unknowns that contacts move together, as the inverse of their matrix says: those of a point or a body, or those that are touched of
/// all that elements tie together.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Block {
    /// Which of all unknowns these are, in rising order.
    pub rows: Vec<u32>,
    /// How each follows from a force on each, row after row; symmetric.
    pub inverse: Vec<f64>,
}

/// What contacts begin with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start<'a> {
    /// What all unknowns would do without contacts, since the state that was linearised.
    pub free: &'a [f64],
    /// How far unknowns had gone from there when contacts were found; nothing where they had not.
    pub from: &'a [f64],
    /// Whether the forces that contacts have already are in `free`.
    pub at_work: bool,
}

/// What contacts came to.
#[derive(Debug, Clone, Default)]
pub(super) struct Touched {
    pub report: TouchReport,
    /// The force of each contact that was solved [N].
    pub forces: Vec<(u32, DVec3)>,
    /// What the unknowns of each block do, and what contacts push them with: Hᵀ r.
    pub unknowns: Vec<Vec<f64>>,
    pub pushes: Vec<Vec<f64>>,
}

/// Solves the contacts that are `chosen`, on blocks of unknowns of which `block_of` says which one holds an unknown; `row_of` has
/// where those of a node begin.
pub(super) fn solve(
    (blocks, block_of): (&[&Block], &[u32]),
    row_of: &[u32],
    (contacts, chosen): (&Contacts, &[u32]),
    start: &Start<'_>,
    settings: &TouchSettings,
) -> Touched {
    let (lists, held) = clusters((blocks.len(), block_of), row_of, (contacts, chosen));
    let work = |list: &Vec<u32>| {
        let mut cluster = Cluster::new((blocks, block_of), row_of, (contacts, list), start);
        let report = cluster.solve(settings);
        (cluster, report)
    };
    // Threads share a large one. Those that wait for others in it would begin with another one, were there any.
    let is_large = |list: &&Vec<u32>| list.len() >= LARGE;
    let mut clusters: Vec<(Cluster<'_>, TouchReport)> =
        lists.iter().filter(is_large).map(work).collect();
    clusters.par_extend(lists.par_iter().filter(|list| !is_large(list)).map(work));
    let mut touched = Touched {
        report: TouchReport { contacts: chosen.len(), converged: true, ..TouchReport::default() },
        forces: held,
        unknowns: vec![Vec::new(); blocks.len()],
        pushes: vec![Vec::new(); blocks.len()],
    };
    for (cluster, report) in &clusters {
        touched.report.join(report);
        cluster.take(&mut touched);
    }
    // There may be thousands, made by all threads.
    clusters.into_par_iter().for_each(drop);
    touched
}

/// Contacts that have blocks in common, list by list, in the order of their first ones; and those that hang on nothing, with no force.
pub(super) fn clusters(
    (blocks, block_of): (usize, &[u32]),
    row_of: &[u32],
    (contacts, chosen): (&Contacts, &[u32]),
) -> (Vec<Vec<u32>>, Vec<(u32, DVec3)>) {
    let block = |end: &ContactEnd| block_of[row_of[end.node as usize] as usize];
    let mut joined = Forest::new(blocks);
    for &number in chosen {
        let ends = contacts.ends(number as usize);
        ends.windows(2).for_each(|pair| joined.join(block(&pair[0]), block(&pair[1])));
    }
    // Clusters in the order of their first contacts, whatever threads do.
    let mut cluster_of = vec![u32::MAX; blocks];
    let mut lists: Vec<Vec<u32>> = Vec::new();
    let mut held = Vec::new();
    for &number in chosen {
        // What the scene holds on both sides gives way to nothing.
        let Some(end) = contacts.ends(number as usize).first() else {
            held.push((number, DVec3::ZERO));
            continue;
        };
        let cluster = &mut cluster_of[joined.root(block(end)) as usize];
        if *cluster == u32::MAX {
            *cluster = lists.len() as u32;
            lists.push(Vec::new());
        }
        lists[*cluster as usize].push(number);
    }
    (lists, held)
}

impl TouchReport {
    /// Two solves as one: what is told is that of the worse one, with what would be little enough for that one.
    pub(super) fn join(&mut self, other: &Self) {
        self.sweeps = self.sweeps.max(other.sweeps);
        // A NaN is kept, to be found. Where several processes have solved in common, one of them knows which it was.
        let tells = other.residual == self.residual && self.worst.is_none();
        let is_worse = match (self.converged, other.converged) {
            (true, false) => true,
            (false, true) => false,
            _ => tells || other.residual.is_nan() || other.residual > self.residual,
        };
        if is_worse {
            (self.residual, self.tolerance) = (other.residual, other.tolerance);
            self.worst = other.worst;
        }
        self.converged &= other.converged;
    }
}

/// A block for each group that is touched, of its own inertia and forces; and which block each unknown is in.
pub(super) fn own_blocks(
    unknowns: &Unknowns,
    own: &OwnBlocks,
    touched: impl Fn(usize) -> bool,
) -> Result<(Vec<Block>, Vec<u32>)> {
    let mut blocks = Vec::new();
    let mut block_of = vec![u32::MAX; unknowns.rows()];
    for (number, span) in unknowns.spans().iter().enumerate() {
        let width = span.kind.unknowns();
        for group in (0..span.count).filter(|group| touched(span.group + group)) {
            let (_, matrix) = own.of(number, span, group);
            let Some(inverse) = inverse_of(matrix, width) else {
                let (what, of) = ("the balance of element", span.name.clone());
                return Err(NewtonError::NotFinite { what, index: group, of, found: f64::NAN });
            };
            let first = span.row + width * group;
            block_of[first..first + width].fill(blocks.len() as u32);
            let rows = (first..first + width).map(|row| row as u32).collect();
            blocks.push(Block { rows, inverse });
        }
    }
    Ok((blocks, block_of))
}

/// Moves points and bodies from where they are as little as contacts ask for, by inertia alone, in a step of `dt` [s]: `du` of all
/// unknowns. Forces that contacts have already stay at work: what is found is the whole of each.
pub fn settle(
    unknowns: &Unknowns,
    inertia: &[Inertia<'_>],
    contacts: &mut Contacts,
    dt: f64,
    settings: &TouchSettings,
) -> Result<(Vec<f64>, TouchReport)> {
    let mut own = OwnBlocks::default();
    own.set(unknowns, inertia, 1.0 / (dt * dt), None);
    let mut touched = vec![false; unknowns.groups()];
    let mut row_of = vec![0; unknowns.nodes()];
    for contact in 0..contacts.len() {
        for end in contacts.ends(contact) {
            let (span, group) = unknowns.group_of(end.node as usize);
            touched[span.group + group] = true;
            row_of[end.node as usize] = (span.row + span.kind.unknowns() * group) as u32;
        }
    }
    let (blocks, block_of) = own_blocks(unknowns, &own, |group| touched[group])?;
    let mut du = vec![0.0; unknowns.rows()];
    let all: Vec<u32> = (0..contacts.len() as u32).collect();
    // The forces that were at work have moved everything to where it is.
    let start = Start { free: &du, from: &[], at_work: true };
    let list: Vec<&Block> = blocks.iter().collect();
    let found = solve((&list, &block_of), &row_of, (contacts, &all), &start, settings);
    for (block, unknowns) in blocks.iter().zip(&found.unknowns) {
        block.rows.iter().zip(unknowns).for_each(|(&row, z)| du[row as usize] = *z);
    }
    found.forces.iter().for_each(|&(number, force)| contacts.set_force(number as usize, force));
    Ok((du, found.report))
}

/// The inverse of a symmetric positive definite matrix of `width` rows, row after row; none if it is not one.
fn inverse_of(matrix: &[f64], width: usize) -> Option<Vec<f64>> {
    let mut l = [[0.0; 6]; 6];
    for j in 0..width {
        for i in j..width {
            let sum = (0..j).fold(matrix[width * i + j], |sum, k| sum - l[i][k] * l[j][k]);
            l[i][j] = if i == j { sum.sqrt() } else { sum / l[j][j] };
        }
        if l[j][j].is_nan() || l[j][j] <= 0.0 {
            return None;
        }
    }
    let mut inverse = vec![0.0; width * width];
    for column in 0..width {
        let mut x = [0.0; 6];
        for i in 0..width {
            let unit = if i == column { 1.0 } else { 0.0 };
            x[i] = (0..i).fold(unit, |sum, k| sum - l[i][k] * x[k]) / l[i][i];
        }
        for i in (0..width).rev() {
            x[i] = (i + 1..width).fold(x[i], |sum, k| sum - l[k][i] * x[k]) / l[i][i];
        }
        (0..width).for_each(|i| inverse[width * i + column] = x[i]);
    }
    // To the bit, since rows are read as columns.
    for i in 0..width {
        for j in 0..i {
            inverse[width * j + i] = inverse[width * i + j];
        }
    }
    Some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_solves_the_worse_is_told_with_what_would_be_enough_for_it() {
        let report = |residual, tolerance, converged| TouchReport {
            residual,
            tolerance,
            converged,
            ..TouchReport::default()
        };
        let [fine, bad] = [report(5e-6, 1e-5, true), report(2e-6, 1e-6, false)];
        for [mut one, other] in [[fine, bad], [bad, fine]] {
            one.join(&other);
            assert_eq!(one, bad);
        }
    }
}
