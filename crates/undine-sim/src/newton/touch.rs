//! The solve of contacts on points and bodies: block Gauss–Seidel, contact by contact, each solved exactly.
//!
//! Unknowns come in blocks, D z = f + Hᵀ r: of a point, a body, or all that is tied together. A contact's displacement is u = b + H z, and
//! W = H D⁻¹ Hᵀ of its own. Visiting contacts in their order, each takes the force that fulfils its laws with all others as they are; what changes
//! is handed on to z at once (Daviet et al. 2011, §3.3; Moreau 1988). Where a contact was off when it was visited, as a displacement,
//! is the residual: when the largest of a sweep is small enough, all laws hold to that.

use super::contact::Contacts;
use super::coulomb;
use super::error::{NewtonError, Result};
use super::local::OwnBlocks;
use super::rotation::outer;
use super::unknowns::{Inertia, Unknowns};
use std::ops::Range;
use undine_core::glam::{DMat3, DVec3};

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

impl Block {
    /// Its own of all unknowns.
    pub fn pick(&self, du: &[f64]) -> Vec<f64> {
        self.rows.iter().map(|&row| du[row as usize]).collect()
    }
}

/// What a contact has to do with one node or body of a block.
#[derive(Debug, Clone, Copy)]
struct Lever {
    block: usize,
    /// Its first unknown in the block, and how many they are.
    first: usize,
    width: usize,
    /// The contact's displacement by each unknown, along normal and tangents.
    by: [DVec3; 6],
}

/// A contact while it is solved, along normal and tangents.
#[derive(Debug, Clone)]
struct Point {
    frame: DMat3,
    b: DVec3,
    w: DMat3,
    friction: f64,
    force: DVec3,
    levers: Range<usize>,
}

/// Contacts on blocks of unknowns.
#[derive(Debug)]
pub(super) struct Touch<'a> {
    blocks: &'a [Block],
    /// Where each block begins in z.
    starts: Vec<usize>,
    z: Vec<f64>,
    points: Vec<Point>,
    levers: Vec<Lever>,
}

impl<'a> Touch<'a> {
    /// Contacts on these blocks, of which `block_of` says which one holds an unknown; `du` has what all unknowns would do without
    /// contacts, and `row_of` where those of a node begin.
    pub fn new(
        blocks: &'a [Block],
        block_of: &[u32],
        row_of: &[u32],
        contacts: &Contacts,
        du: &[f64],
    ) -> Self {
        let (mut z, mut starts) = (Vec::new(), Vec::with_capacity(blocks.len()));
        for block in blocks {
            starts.push(z.len());
            z.extend(block.pick(du));
        }
        let (mut points, mut levers) = (Vec::with_capacity(contacts.len()), Vec::new());
        for (number, contact) in contacts.list().iter().enumerate() {
            let frame = contact.frame();
            let begin = levers.len();
            for end in contacts.ends(number) {
                let row = row_of[end.node as usize];
                let block = block_of[row as usize] as usize;
                let first = blocks[block].rows.partition_point(|&other| other < row);
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
            let w = delassus(blocks, &levers[begin..]);
            points.push(Point {
                frame,
                b: contact.displacement(&frame),
                w,
                friction: contact.friction,
                force: frame.transpose() * contact.force,
                levers: begin..levers.len(),
            });
        }
        let mut touch = Self { blocks, starts, z, points, levers };
        // A guess that is on the cone: forces of the step before, along normals that have turned since.
        for n in 0..touch.points.len() {
            let point = &mut touch.points[n];
            let normal = point.force.x.max(0.0);
            let along = DVec3::new(0.0, point.force.y, point.force.z);
            point.force = DVec3::X * normal + along.clamp_length_max(point.friction * normal);
            let force = point.force;
            touch.give(n, force);
        }
        touch
    }

    /// Hands a change of a contact's force on to what it touches.
    #[inline]
    fn give(&mut self, point: usize, change: DVec3) {
        for lever in &self.levers[self.points[point].levers.clone()] {
            let block = &self.blocks[lever.block];
            let width = block.rows.len();
            let start = self.starts[lever.block];
            let z = &mut self.z[start..start + width];
            for (k, by) in lever.by[..lever.width].iter().enumerate() {
                let force = by.dot(change);
                let column = &block.inverse[width * (lever.first + k)..][..width];
                z.iter_mut().zip(column).for_each(|(z, column)| *z += column * force);
            }
        }
    }

    /// Visits a contact; by how much it was off [m].
    #[inline]
    fn visit(&mut self, n: usize) -> f64 {
        let point = &self.points[n];
        // What the scene holds on both sides gives way to nothing.
        if point.levers.is_empty() {
            self.points[n].force = DVec3::ZERO;
            return 0.0;
        }
        let mut u = point.b - point.w * point.force;
        for lever in &self.levers[point.levers.clone()] {
            let z = &self.z[self.starts[lever.block] + lever.first..][..lever.width];
            for (z, by) in z.iter().zip(&lever.by) {
                u += *by * *z;
            }
        }
        let force = coulomb::solve(&point.w, u, point.friction);
        let change = force - point.force;
        if change == DVec3::ZERO {
            return 0.0;
        }
        let off = (point.w * change).length();
        self.points[n].force = force;
        self.give(n, change);
        off
    }

    /// Sweeps until all laws hold.
    pub fn solve(&mut self, settings: &TouchSettings) -> TouchReport {
        let (contacts, tolerance) = (self.points.len(), settings.tolerance);
        let mut report = TouchReport { contacts, tolerance, ..TouchReport::default() };
        while report.sweeps < settings.sweeps {
            report.sweeps += 1;
            report.residual = 0.0;
            for k in 0..self.points.len() {
                // To and fro: what a stack rests on is heard of at its top in the same sweep, and the other way round.
                let n = if report.sweeps % 2 == 1 { k } else { self.points.len() - 1 - k };
                let off = self.visit(n);
                // A NaN is kept, to be found.
                if off.is_nan() || off > report.residual {
                    report.residual = off;
                }
            }
            if report.residual <= settings.tolerance {
                report.converged = true;
                break;
            }
        }
        report
    }

    /// What contacts push the unknowns of each block with: Hᵀ r.
    pub fn pushes(&self) -> Vec<Vec<f64>> {
        let mut pushes: Vec<Vec<f64>> =
            self.blocks.iter().map(|block| vec![0.0; block.rows.len()]).collect();
        for point in &self.points {
            for lever in &self.levers[point.levers.clone()] {
                for (k, by) in lever.by[..lever.width].iter().enumerate() {
                    pushes[lever.block][lever.first + k] += by.dot(point.force);
                }
            }
        }
        pushes
    }

    /// Gives unknowns of blocks and contacts what was found; `force` gets Hᵀ r added. Returns the work of the contacts along the
    /// step [J].
    pub fn take(&self, contacts: &mut Contacts, du: &mut [f64], force: &mut [f64]) -> f64 {
        let mut work = 0.0;
        for (block, &start) in self.blocks.iter().zip(&self.starts) {
            for (&row, &z) in block.rows.iter().zip(&self.z[start..]) {
                du[row as usize] = z;
            }
        }
        for (n, point) in self.points.iter().enumerate() {
            contacts.set_force(n, point.frame * point.force);
            for lever in &self.levers[point.levers.clone()] {
                for (k, by) in lever.by[..lever.width].iter().enumerate() {
                    let row = self.blocks[lever.block].rows[lever.first + k] as usize;
                    force[row] += by.dot(point.force);
                    work += by.dot(point.force) * du[row];
                }
            }
        }
        work
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
    own.set(unknowns, inertia, 1.0 / (dt * dt));
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
    let mut touch = Touch::new(&blocks, &block_of, &row_of, contacts, &du);
    // The forces that were at work have moved everything to where it is.
    touch.z.fill(0.0);
    let report = touch.solve(settings);
    let mut force = vec![0.0; du.len()];
    touch.take(contacts, &mut du, &mut force);
    Ok((du, report))
}

/// W = H D⁻¹ Hᵀ of one contact.
fn delassus(blocks: &[Block], levers: &[Lever]) -> DMat3 {
    let mut w = DMat3::ZERO;
    for one in levers {
        for other in levers.iter().filter(|other| other.block == one.block) {
            let block = &blocks[one.block];
            for i in 0..one.width {
                let row = &block.inverse[block.rows.len() * (one.first + i)..];
                for j in 0..other.width {
                    w += outer(one.by[i], other.by[j]) * row[other.first + j];
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
