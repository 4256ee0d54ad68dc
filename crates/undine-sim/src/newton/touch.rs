//! The solve of contacts on points and bodies: block Gauss–Seidel, contact by contact, each solved exactly.
//!
//! Unknowns come in blocks, D z = f + Hᵀ r: of a point, a body, or all that is tied together. A contact's displacement is u = b + H z, and
//! W = H D⁻¹ Hᵀ of its own, and what the contact itself gives way. Visiting contacts in their order, each takes the force that fulfils its laws with all others as they are; what changes
//! is handed on to z at once (Daviet et al. 2011, §3.3; Moreau 1988). Where a contact was off when it was visited, as a displacement,
//! is the residual: when the largest of a sweep is small enough, all laws hold to that. Contacts that have no block in common, not
//! even by way of others, are solved beside each other, each of these clusters for as long as it takes.

use super::contact::{ContactEnd, Contacts};
use super::coulomb;
use super::error::{NewtonError, Result};
use super::local::OwnBlocks;
use super::rotation::outer;
use super::unknowns::{Inertia, Unknowns};
use rayon::prelude::*;
use std::ops::Range;
use undine_core::Forest;
use undine_core::glam::{DMat3, DVec3};

/// A contact that is off by this part of the tolerance has nothing to tell the others.
pub(super) const LITTLE: f64 = 0.1;

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
    /// Sweeps over all contacts.
    pub sweeps: usize,
    /// By how much a contact was off at most in the last sweep [m].
    pub residual: f64,
    /// What would be little enough [m].
    pub tolerance: f64,
    /// Whether it was.
    pub converged: bool,
}

/// Unknowns that contacts move together, as the inverse of their matrix says: those of a point or a body, or those that are touched of
/// all that elements tie together.
#[derive(Debug, Clone, Default)]
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

/// What a contact has to do with one node or body of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lever {
    pub block: u32,
    /// Its first unknown in the block, and how many they are.
    first: u32,
    width: usize,
    /// The contact's displacement by each unknown, along normal and tangents.
    by: [DVec3; 6],
}

/// A contact while it is solved, along normal and tangents.
#[derive(Debug, Clone)]
pub(super) struct Point {
    pub number: u32,
    frame: DMat3,
    b: DVec3,
    w: DMat3,
    /// How far the contact itself gives way [m/N].
    compliance: f64,
    friction: f64,
    pub force: DVec3,
    pub levers: Range<usize>,
}

/// Contacts that have blocks in common, one with the next: they know nothing of any others.
#[derive(Debug)]
pub(super) struct Cluster<'a> {
    /// The blocks, by their numbers, and where each begins in z.
    pub numbers: Vec<u32>,
    blocks: Vec<&'a Block>,
    starts: Vec<usize>,
    z: Vec<f64>,
    pub points: Vec<Point>,
    pub levers: Vec<Lever>,
    /// The last sweep in which something was done to each block.
    pub moved: Vec<usize>,
}

/// A sweep over contacts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sweep {
    /// Its number, from 1.
    pub number: usize,
    /// Whether all contacts are visited, also those to which nothing was done.
    pub all: bool,
    /// A contact that is off by less has nothing to tell the others [m].
    pub little: f64,
    /// By how much a contact was off at most so far [m].
    pub residual: f64,
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
    let clusters: Vec<(Cluster<'_>, TouchReport)> = lists.par_iter().map(work).collect();
    let mut touched = Touched {
        report: TouchReport {
            contacts: chosen.len(),
            tolerance: settings.tolerance,
            converged: true,
            ..TouchReport::default()
        },
        forces: held,
        unknowns: vec![Vec::new(); blocks.len()],
        pushes: vec![Vec::new(); blocks.len()],
    };
    for (cluster, report) in &clusters {
        touched.report.join(report);
        cluster.take(&mut touched);
    }
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
    /// Two solves as one.
    pub(super) fn join(&mut self, other: &Self) {
        self.sweeps = self.sweeps.max(other.sweeps);
        // A NaN is kept, to be found.
        if other.residual.is_nan() || other.residual > self.residual {
            self.residual = other.residual;
        }
        self.converged &= other.converged;
    }
}

impl<'a> Cluster<'a> {
    /// The contacts of a list, as far as they hang on blocks that are not empty.
    pub fn new(
        (all, block_of): (&[&'a Block], &[u32]),
        row_of: &[u32],
        (contacts, list): (&Contacts, &[u32]),
        start: &Start<'_>,
    ) -> Self {
        let block = |end: &ContactEnd| block_of[row_of[end.node as usize] as usize];
        let ends = list.iter().flat_map(|&number| contacts.ends(number as usize));
        let mut numbers: Vec<u32> = ends.map(block).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let blocks: Vec<&Block> = numbers.iter().map(|&number| all[number as usize]).collect();
        let (mut z, mut starts) = (Vec::new(), Vec::with_capacity(blocks.len()));
        for block in &blocks {
            starts.push(z.len());
            z.extend(block.rows.iter().map(|&row| start.free[row as usize]));
        }
        let (mut points, mut levers) = (Vec::with_capacity(list.len()), Vec::new());
        for &number in list {
            let contact = &contacts.list()[number as usize];
            let frame = contact.frame();
            let mut b = contact.displacement(&frame);
            let begin = levers.len();
            for end in contacts.ends(number as usize) {
                let row = row_of[end.node as usize];
                let block = numbers.partition_point(|&other| other < block_of[row as usize]);
                if blocks[block].rows.is_empty() {
                    continue;
                }
                let first = blocks[block].rows.partition_point(|&other| other < row) as u32;
                let block = block as u32;
                let width = if end.lever.is_some() { 6 } else { 3 };
                let same = |lever: &Lever| lever.block == block && lever.first == first;
                let known =
                    levers[begin..].iter().position(same).map_or(levers.len(), |n| begin + n);
                if known == levers.len() {
                    levers.push(Lever { block, first, width, by: [DVec3::ZERO; 6] });
                }
                let by = &mut levers[known].by;
                for (k, axis) in DVec3::AXES.into_iter().enumerate() {
                    by[k] += frame.transpose() * (axis * end.weight);
                    if let Some(lever) = end.lever {
                        by[3 + k] += frame.transpose() * (axis.cross(lever) * end.weight);
                    }
                }
            }
            // The contact was found where unknowns had gone some way already.
            for lever in &levers[begin..] {
                let row = blocks[lever.block as usize].rows[lever.first as usize] as usize;
                if let Some(from) = start.from.get(row..row + lever.width) {
                    b -= lever.by.iter().zip(from).fold(DVec3::ZERO, |sum, (by, u)| sum + *by * *u);
                }
            }
            // A guess that is on the cone: forces of the step before, along normals that have turned since.
            let guess = frame.transpose() * contact.force;
            let normal = guess.x.max(0.0);
            let along = DVec3::new(0.0, guess.y, guess.z);
            points.push(Point {
                number,
                frame,
                b,
                w: delassus(&blocks, &levers[begin..]),
                compliance: contact.compliance,
                friction: contact.friction,
                force: DVec3::X * normal + along.clamp_length_max(contact.friction * normal),
                levers: begin..levers.len(),
            });
        }
        let moved = vec![0; blocks.len()];
        let mut cluster = Self { numbers, blocks, starts, z, points, levers, moved };
        if !start.at_work {
            (0..cluster.points.len()).for_each(|n| cluster.give(n, cluster.points[n].force));
        }
        cluster
    }

    /// Hands a change of a contact's force on to what it touches.
    #[inline]
    pub fn give(&mut self, point: usize, change: DVec3) {
        for lever in &self.levers[self.points[point].levers.clone()] {
            let block = self.blocks[lever.block as usize];
            let width = block.rows.len();
            let start = self.starts[lever.block as usize];
            let z = &mut self.z[start..start + width];
            for (k, by) in lever.by[..lever.width].iter().enumerate() {
                let force = by.dot(change);
                let column = &block.inverse[width * (lever.first as usize + k)..][..width];
                z.iter_mut().zip(column).for_each(|(z, column)| *z += column * force);
            }
        }
    }

    /// Visits a contact; by how much it was off [m].
    #[inline]
    fn visit(&mut self, n: usize) -> f64 {
        let point = &self.points[n];
        let mut u = point.b - point.w * point.force;
        for lever in &self.levers[point.levers.clone()] {
            let z = &self.z[self.starts[lever.block as usize] + lever.first as usize..];
            for (z, by) in z[..lever.width].iter().zip(&lever.by) {
                u += *by * *z;
            }
        }
        let gives = DMat3::from_diagonal(DVec3::splat(point.compliance));
        let force = coulomb::solve(&(point.w + gives), u, point.friction);
        let change = force - point.force;
        if change == DVec3::ZERO {
            return 0.0;
        }
        let off = (point.w * change).length();
        self.points[n].force = force;
        self.give(n, change);
        off
    }

    /// Visits a contact in a sweep; by how much it was off [m]. One between blocks to which next to nothing was done since it was visited is
    /// left as it is.
    #[inline]
    pub fn look(&mut self, n: usize, sweep: &mut Sweep) -> f64 {
        let levers = self.points[n].levers.clone();
        let has_moved = |lever: &Lever| self.moved[lever.block as usize] + 1 >= sweep.number;
        if !sweep.all && !self.levers[levers].iter().any(has_moved) {
            return 0.0;
        }
        let off = self.visit(n);
        self.mark(n, off, sweep);
        // A NaN is kept, to be found.
        if off.is_nan() || off > sweep.residual {
            sweep.residual = off;
        }
        off
    }

    /// Remembers that a contact which was off [m] has done something to its blocks.
    #[inline]
    pub fn mark(&mut self, n: usize, off: f64, sweep: &Sweep) {
        if off.is_nan() || off > sweep.little {
            for lever in &self.levers[self.points[n].levers.clone()] {
                self.moved[lever.block as usize] = sweep.number;
            }
        }
    }

    /// Sweeps until all laws hold; a last sweep visits all contacts.
    pub fn solve(&mut self, settings: &TouchSettings) -> TouchReport {
        let mut report = TouchReport::default();
        let mut all = true;
        while report.sweeps < settings.sweeps {
            report.sweeps += 1;
            let (number, little) = (report.sweeps, LITTLE * settings.tolerance);
            let mut sweep = Sweep { number, all, little, residual: 0.0 };
            for k in 0..self.points.len() {
                // To and fro: what a stack rests on is heard of at its top in the same sweep, and the other way round.
                let n = if number % 2 == 1 { k } else { self.points.len() - 1 - k };
                self.look(n, &mut sweep);
            }
            report.residual = sweep.residual;
            let is_small = report.residual <= settings.tolerance;
            if is_small && all {
                report.converged = true;
                break;
            }
            all = is_small;
        }
        report
    }

    /// Hands out what was found.
    pub fn take(&self, out: &mut Touched) {
        self.take_some(|_| true, |_| true, out);
    }

    /// The same of some blocks and some points.
    pub fn take_some(
        &self,
        is_block: impl Fn(u32) -> bool,
        is_point: impl Fn(usize) -> bool,
        out: &mut Touched,
    ) {
        for (n, &number) in self.numbers.iter().enumerate().filter(|(_, number)| is_block(**number))
        {
            let width = self.blocks[n].rows.len();
            out.unknowns[number as usize] = self.z[self.starts[n]..][..width].to_vec();
            out.pushes[number as usize] = vec![0.0; width];
        }
        for (n, point) in self.points.iter().enumerate() {
            if is_point(n) {
                out.forces.push((point.number, point.frame * point.force));
            }
            for lever in &self.levers[point.levers.clone()] {
                let number = self.numbers[lever.block as usize];
                if !is_block(number) {
                    continue;
                }
                let push = &mut out.pushes[number as usize];
                for (k, by) in lever.by[..lever.width].iter().enumerate() {
                    push[lever.first as usize + k] += by.dot(point.force);
                }
            }
        }
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

/// W = H D⁻¹ Hᵀ of one contact.
fn delassus(blocks: &[&Block], levers: &[Lever]) -> DMat3 {
    let mut w = DMat3::ZERO;
    for one in levers {
        for other in levers.iter().filter(|other| other.block == one.block) {
            let block = blocks[one.block as usize];
            for i in 0..one.width {
                let row = &block.inverse[block.rows.len() * (one.first as usize + i)..];
                for j in 0..other.width {
                    w += outer(one.by[i], other.by[j]) * row[other.first as usize + j];
                }
            }
        }
    }
    (w + w.transpose()) * 0.5
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
