//! A cluster: contacts that have blocks of unknowns in common, one with the next, swept until the laws of all hold.
//!
//! Blocks of many unknowns, such as a strand's, are put into the *coordinates of their contacts* first: y = H z, how far each contact is
//! opened and slipped by the block, which follow from forces on contacts by H D⁻¹ Hᵀ. There are three of them for each contact where a
//! strand has six unknowns and more, so that a visit reads and writes a fraction of what it would.
//!
//! Contacts along stiff strands are felt all along them, and sweeps alone come to rest slowly. What a sweep has changed is a step
//! downhill, and is followed as conjugate gradients follow theirs, begun anew where that does not lead down (Silcowitz-Hansen, Niebe &
//! Erleben 2010, *A nonsmooth nonlinear conjugate gradient method for interactive contact force problems*, algorithm 1). Each sweep
//! ends with forces that fulfil the laws of every contact by itself, wherever it began.

use super::contact::{ContactEnd, Contacts};
use super::coulomb;
use super::rotation::outer;
use super::touch::{Block, Start, TouchReport, TouchSettings, Touched};
use std::borrow::Cow;
use std::ops::Range;
use undine_core::glam::{DMat3, DVec3};

/// A contact that is off by this part of the tolerance has nothing to tell the others.
pub(super) const LITTLE: f64 = 0.1;

/// Where laws may be off on the mean over contacts, the worst of them may be so many times.
pub const SPREAD: f64 = 10.0;

/// Most sweeps over contacts of what moves so much that its laws may be off: what is left is taken up when they are looked for again.
const WHILE_MOVING: usize = 200;

/// Sweeps before they are followed downhill: few are enough where little has changed.
const PLAIN: usize = 8;

/// Blocks of more unknowns than a body has may be put into coordinates of contacts.
const BODY: usize = 6;

/// What a contact has to do with one node or body of a block, or with its own coordinates there.
#[derive(Debug, Clone, Copy)]
struct Lever {
    block: u32,
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
    /// What it hangs on, and the same in the coordinates in which blocks move.
    hangs: Range<usize>,
    levers: Range<usize>,
}

/// How a block moves while contacts are solved: in its own unknowns, or in the coordinates of its contacts.
#[derive(Debug)]
struct Moving<'a> {
    /// Where its coordinates begin in z, and how many they are.
    start: usize,
    width: usize,
    /// How each follows from a force on each, row after row; symmetric.
    inverse: Cow<'a, [f64]>,
    /// Whether these are its own unknowns.
    is_own: bool,
}

/// Contacts that have blocks in common, one with the next: they know nothing of any others.
#[derive(Debug)]
pub(super) struct Cluster<'a> {
    /// The blocks, by their numbers.
    pub numbers: Vec<u32>,
    blocks: Vec<&'a Block>,
    moving: Vec<Moving<'a>>,
    z: Vec<f64>,
    pub points: Vec<Point>,
    hangs: Vec<Lever>,
    levers: Vec<Lever>,
    /// The last sweep in which something was done to each block.
    moved: Vec<usize>,
    /// By how much laws may be off on the mean [m]: the least that any of its contacts says.
    pub accuracy: f64,
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
    /// By how much a contact was off at most so far [m], and the sum of squares [m²].
    pub residual: f64,
    pub squares: f64,
}

/// When sweeps are over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Goal {
    /// Enough when no contact is off by more than this [m].
    tolerance: f64,
    /// Also enough when they are off by no more than this on the mean, and none by more than [`SPREAD`] times as much [m].
    accuracy: f64,
    contacts: f64,
    /// Most sweeps.
    sweeps: usize,
}

impl Goal {
    /// Of so many contacts.
    pub fn new(settings: &TouchSettings, accuracy: f64, contacts: usize) -> Self {
        let TouchSettings { tolerance, sweeps } = *settings;
        let moves = accuracy > tolerance;
        let sweeps = if moves { sweeps.min(WHILE_MOVING) } else { sweeps };
        Self { tolerance, accuracy, contacts: contacts.max(1) as f64, sweeps }
    }

    /// Whether there may be another sweep after so many.
    pub fn goes_on(&self, after: usize) -> bool {
        after < self.sweeps
    }

    /// The next sweep over the contacts, after so many.
    pub fn sweep(&self, after: usize, all: bool) -> Sweep {
        let little = LITTLE * self.tolerance.max(self.accuracy);
        Sweep { number: after + 1, all, little, residual: 0.0, squares: 0.0 }
    }

    /// Whether a sweep is the last one.
    pub fn is_reached(&self, sweep: &Sweep) -> bool {
        let mean = (sweep.squares / self.contacts).sqrt();
        sweep.residual <= self.tolerance
            || (mean <= self.accuracy && sweep.residual <= SPREAD * self.accuracy)
    }

    /// By how much a contact may be off [m].
    pub fn most(&self) -> f64 {
        self.tolerance.max(SPREAD * self.accuracy)
    }
}

/// By how much the laws of contacts may be off on the mean [m].
pub(super) fn accuracy(contacts: &Contacts, list: &[u32]) -> f64 {
    let least = |least: f64, &number: &u32| least.min(contacts.list()[number as usize].accuracy);
    let least = list.iter().fold(f64::INFINITY, least);
    if least.is_finite() { least } else { 0.0 }
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
        let (mut points, mut hangs) = (Vec::with_capacity(list.len()), Vec::new());
        for &number in list {
            let contact = &contacts.list()[number as usize];
            let frame = contact.frame();
            let mut b = contact.displacement(&frame);
            let begin = hangs.len();
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
                let known = hangs[begin..].iter().position(same).map_or(hangs.len(), |n| begin + n);
                if known == hangs.len() {
                    hangs.push(Lever { block, first, width, by: [DVec3::ZERO; 6] });
                }
                let by = &mut hangs[known].by;
                for (k, axis) in DVec3::AXES.into_iter().enumerate() {
                    by[k] += frame.transpose() * (axis * end.weight);
                    if let Some(lever) = end.lever {
                        by[3 + k] += frame.transpose() * (axis.cross(lever) * end.weight);
                    }
                }
            }
            // The contact was found where unknowns had gone some way already.
            for lever in &hangs[begin..] {
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
                w: DMat3::ZERO,
                compliance: contact.compliance,
                friction: contact.friction,
                force: DVec3::X * normal + along.clamp_length_max(contact.friction * normal),
                hangs: begin..hangs.len(),
                levers: 0..0,
            });
        }
        let moved = vec![0; blocks.len()];
        let accuracy = accuracy(contacts, list);
        let (moving, z, levers) = (Vec::new(), Vec::new(), Vec::new());
        let mut cluster =
            Self { numbers, blocks, moving, z, points, hangs, levers, moved, accuracy };
        cluster.choose_coordinates(start);
        if !start.at_work {
            (0..cluster.points.len()).for_each(|n| cluster.give(n, cluster.points[n].force));
        }
        cluster
    }

    /// Chooses in which coordinates each block moves: the fewer ones.
    fn choose_coordinates(&mut self, start: &Start<'_>) {
        // The contacts on each block, and what each of them hangs on there.
        let mut on: Vec<Vec<(u32, Vec<u32>)>> = vec![Vec::new(); self.blocks.len()];
        for (n, point) in self.points.iter().enumerate() {
            for hang in point.hangs.clone() {
                let list = &mut on[self.hangs[hang].block as usize];
                match list.last_mut() {
                    Some((last, hangs)) if *last == n as u32 => hangs.push(hang as u32),
                    _ => list.push((n as u32, vec![hang as u32])),
                }
            }
        }
        // The place of the contact in each block that moves in coordinates of contacts.
        let mut places: Vec<Vec<(u32, u32)>> = vec![Vec::new(); self.points.len()];
        for (number, (block, on)) in self.blocks.iter().zip(&on).enumerate() {
            let rows = block.rows.len();
            let free = block.rows.iter().map(|&row| start.free[row as usize]);
            let begin = self.z.len();
            if rows <= BODY || rows <= 3 * on.len() {
                self.z.extend(free);
                let inverse = Cow::Borrowed(&block.inverse[..]);
                self.moving.push(Moving { start: begin, width: rows, inverse, is_own: true });
                continue;
            }
            let free: Vec<f64> = free.collect();
            for (place, (point, hangs)) in on.iter().enumerate() {
                places[*point as usize].push((number as u32, 3 * place as u32));
                self.z.extend(self.displaced(hangs, &free).to_array());
            }
            let inverse = Cow::Owned(self.among_contacts(block, on));
            self.moving.push(Moving { start: begin, width: 3 * on.len(), inverse, is_own: false });
        }
        for (point, places) in self.points.iter_mut().zip(&places) {
            let begin = self.levers.len();
            let hangs = self.hangs[point.hangs.clone()].iter();
            self.levers.extend(hangs.filter(|hang| self.moving[hang.block as usize].is_own));
            let mut by = [DVec3::ZERO; 6];
            by[..3].copy_from_slice(&DVec3::AXES);
            let own = |&(block, first): &(u32, u32)| Lever { block, first, width: 3, by };
            self.levers.extend(places.iter().map(own));
            point.levers = begin..self.levers.len();
            point.w = delassus(&self.moving, &self.levers[point.levers.clone()]);
        }
    }

    /// How far unknowns of a block that have gone `z` displace a contact.
    fn displaced(&self, hangs: &[u32], z: &[f64]) -> DVec3 {
        let mut sum = DVec3::ZERO;
        for hang in hangs.iter().map(|&hang| &self.hangs[hang as usize]) {
            let z = &z[hang.first as usize..][..hang.width];
            sum = z.iter().zip(&hang.by).fold(sum, |sum, (z, by)| sum + *by * *z);
        }
        sum
    }

    /// How the contacts on a block follow from forces on them: H D⁻¹ Hᵀ.
    fn among_contacts(&self, block: &Block, on: &[(u32, Vec<u32>)]) -> Vec<f64> {
        let (rows, width) = (block.rows.len(), 3 * on.len());
        let mut inverse = vec![0.0; width * width];
        let mut columns = [(); 3].map(|()| vec![0.0; rows]);
        for (one, (_, hangs)) in on.iter().enumerate() {
            // D⁻¹ Hᵀ of this contact.
            columns.iter_mut().for_each(|column| column.fill(0.0));
            for hang in hangs.iter().map(|&hang| &self.hangs[hang as usize]) {
                for (k, by) in hang.by[..hang.width].iter().enumerate() {
                    let row = &block.inverse[rows * (hang.first as usize + k)..][..rows];
                    for (column, by) in columns.iter_mut().zip(by.to_array()) {
                        column.iter_mut().zip(row).for_each(|(sum, row)| *sum += by * row);
                    }
                }
            }
            for (other, (_, hangs)) in on.iter().enumerate().skip(one) {
                for (axis, column) in columns.iter().enumerate() {
                    let follows = self.displaced(hangs, column).to_array();
                    for (k, value) in follows.into_iter().enumerate() {
                        inverse[width * (3 * one + axis) + 3 * other + k] = value;
                    }
                }
            }
        }
        // To the bit, since rows are read as columns.
        for i in 0..width {
            (0..i).for_each(|j| inverse[width * i + j] = inverse[width * j + i]);
        }
        inverse
    }

    /// Hands a change of a contact's force on to what it touches.
    #[inline]
    pub fn give(&mut self, point: usize, change: DVec3) {
        for lever in &self.levers[self.points[point].levers.clone()] {
            let Moving { start, width, ref inverse, .. } = self.moving[lever.block as usize];
            let z = &mut self.z[start..start + width];
            // Unknowns come in threes.
            for (k, by) in lever.by[..lever.width].chunks_exact(3).enumerate() {
                let force = [by[0].dot(change), by[1].dot(change), by[2].dot(change)];
                let columns = &inverse[width * (lever.first as usize + 3 * k)..][..3 * width];
                let (first, others) = columns.split_at(width);
                let (second, third) = others.split_at(width);
                for (((z, a), b), c) in z.iter_mut().zip(first).zip(second).zip(third) {
                    *z += a * force[0] + b * force[1] + c * force[2];
                }
            }
        }
    }

    /// Visits a contact; by how much it was off [m].
    #[inline]
    fn visit(&mut self, n: usize) -> f64 {
        let point = &self.points[n];
        let mut u = point.b - point.w * point.force;
        for lever in &self.levers[point.levers.clone()] {
            let start = self.moving[lever.block as usize].start;
            let z = &self.z[start + lever.first as usize..];
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
        sweep.squares += off * off;
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
        let goal = Goal::new(settings, self.accuracy, self.points.len());
        let mut report = TouchReport { tolerance: goal.most(), ..TouchReport::default() };
        let mut downhill = Downhill::default();
        let mut all = true;
        while goal.goes_on(report.sweeps) {
            let follows = report.sweeps >= PLAIN;
            let mut sweep = goal.sweep(report.sweeps, all || follows);
            // A sweep comes last, so that forces end on their cones.
            if follows {
                downhill.follow(self);
            }
            for k in 0..self.points.len() {
                // To and fro: what a stack rests on is heard of at its top in the same sweep, and the other way round.
                let n = if sweep.number % 2 == 1 { k } else { self.points.len() - 1 - k };
                self.look(n, &mut sweep);
            }
            (report.sweeps, report.residual) = (sweep.number, sweep.residual);
            let is_enough = goal.is_reached(&sweep);
            if is_enough && sweep.all {
                report.converged = true;
                break;
            }
            all = is_enough;
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
            out.pushes[number as usize] = vec![0.0; self.blocks[n].rows.len()];
            let Moving { start, width, is_own, .. } = self.moving[n];
            if is_own {
                out.unknowns[number as usize] = self.z[start..start + width].to_vec();
            }
        }
        for (n, point) in self.points.iter().enumerate() {
            if is_point(n) {
                out.forces.push((point.number, point.frame * point.force));
            }
            for hang in &self.hangs[point.hangs.clone()] {
                let number = self.numbers[hang.block as usize];
                if !is_block(number) {
                    continue;
                }
                let push = &mut out.pushes[number as usize];
                for (k, by) in hang.by[..hang.width].iter().enumerate() {
                    push[hang.first as usize + k] += by.dot(point.force);
                }
            }
        }
    }
}

/// Where sweeps lead: forces and coordinates go on along a direction that is conjugate to those before.
#[derive(Debug, Default)]
struct Downhill {
    /// Where the sweep began.
    forces: Vec<DVec3>,
    z: Vec<f64>,
    /// The direction.
    along: Vec<DVec3>,
    along_z: Vec<f64>,
    /// How large the change of the sweep before was, as energy [J].
    size: f64,
}

impl Downhill {
    /// Goes on from where a sweep has led to: by the direction before, as far as the new change is smaller than that before. Where it is
    /// larger, the next one begins anew.
    fn follow(&mut self, cluster: &mut Cluster<'_>) {
        if self.forces.len() == cluster.points.len() {
            self.go_on(cluster);
        }
        self.forces.clear();
        self.forces.extend(cluster.points.iter().map(|point| point.force));
        self.z.clone_from(&cluster.z);
        self.along.resize(self.forces.len(), DVec3::ZERO);
        self.along_z.resize(self.z.len(), 0.0);
    }

    fn go_on(&mut self, cluster: &mut Cluster<'_>) {
        let changes = cluster.points.iter().zip(&self.forces);
        let size = changes.fold(0.0, |sum, (point, before)| {
            let change = point.force - *before;
            sum + change.dot(point.w * change)
        });
        let share = if size <= self.size { size / self.size } else { 0.0 };
        self.size = size;
        for ((point, before), along) in
            cluster.points.iter_mut().zip(&self.forces).zip(&mut self.along)
        {
            let change = point.force - *before;
            point.force += *along * share;
            *along = *along * share + change;
        }
        for ((z, before), along) in cluster.z.iter_mut().zip(&self.z).zip(&mut self.along_z) {
            let change = *z - before;
            *z += *along * share;
            *along = *along * share + change;
        }
    }
}

/// W = H D⁻¹ Hᵀ of one contact.
fn delassus(moving: &[Moving<'_>], levers: &[Lever]) -> DMat3 {
    let mut w = DMat3::ZERO;
    for one in levers {
        for other in levers.iter().filter(|other| other.block == one.block) {
            let Moving { width, ref inverse, .. } = moving[one.block as usize];
            for i in 0..one.width {
                let row = &inverse[width * (one.first as usize + i)..];
                for j in 0..other.width {
                    w += outer(one.by[i], other.by[j]) * row[other.first as usize + j];
                }
            }
        }
    }
    (w + w.transpose()) * 0.5
}

#[cfg(test)]
mod tests {
    use super::super::contact::Contact;
    use super::*;
    use undine_core::glam::Vec3Swizzles;

    /// A beam that is held at one end, of so many points, each of which feels a force on any other; and contacts of it with a floor and between its
    /// points.
    struct Beam {
        block: Block,
        free: Vec<f64>,
        contacts: Contacts,
    }

    /// With contacts at every so many points, over a floor of so much of the curvature that the load gives a beam where it is held.
    fn beam(points: usize, count: usize, stride: usize, curved: f64) -> Beam {
        let rows = 3 * points;
        let mut inverse = vec![0.0; rows * rows];
        for i in 0..points {
            for j in 0..points {
                // A cantilever's: stiff along itself, and each point follows what bends those before.
                let (near, far) = ((1 + i.min(j)) as f64, (1 + i.max(j)) as f64);
                let bent = near * near * (3.0 * far - near) / 6.0;
                for axis in 0..3 {
                    let along = if axis == 0 { 0.05 * near } else { bent };
                    inverse[rows * (3 * i + axis) + 3 * j + axis] = along;
                }
            }
        }
        // A load all along it bends it over a floor that curves away.
        let load = |row: usize| [0.2, -1.0, 0.3][row % 3];
        let free =
            (0..rows).map(|i| (0..rows).map(|j| inverse[rows * i + j] * load(j)).sum()).collect();
        let curvature = 0.5 * curved * (points * points) as f64;
        let mut contacts = Contacts::new();
        for n in 0..count {
            let node = (n * stride % points) as u32;
            let lean = 0.3 * (n as f64 * 2.4).sin();
            let contact = Contact {
                normal: DVec3::new(lean, 1.0, 0.1 * lean).normalize(),
                gap: 0.5 * curvature * f64::from((1 + node).pow(2)),
                slip: DVec3::ZERO,
                apart: 0.0,
                friction: [0.2, 0.8, 0.0][n % 3],
                compliance: 0.0,
                accuracy: 0.0,
                force: DVec3::ZERO,
            };
            contacts.add(contact, |ends| {
                ends.push(ContactEnd { node, lever: None, weight: 1.0 });
                if n % 4 == 3 && node > 1 {
                    ends.push(ContactEnd { node: node / 2, lever: None, weight: -0.5 });
                }
            });
        }
        Beam { block: Block { rows: (0..rows as u32).collect(), inverse }, free, contacts }
    }

    /// In fewer coordinates or in its own unknowns: forces fulfil Signorini's and Coulomb's laws where the whole block then is, told from the
    /// block itself.
    #[test]
    fn laws_hold_in_whatever_coordinates_a_block_moves() {
        for (count, is_own) in [(6, false), (15, true)] {
            let Beam { block, free, contacts } = beam(12, count, 1, 0.28);
            let list: Vec<u32> = (0..count as u32).collect();
            let row_of: Vec<u32> = (0..12).map(|node| 3 * node).collect();
            let block_of = vec![0; free.len()];
            let start = Start { free: &free, from: &[], at_work: false };
            let mut cluster =
                Cluster::new((&[&block], &block_of), &row_of, (&contacts, &list), &start);
            assert_eq!(cluster.moving[0].is_own, is_own);
            let report = cluster.solve(&TouchSettings { tolerance: 1e-11, sweeps: 100_000 });
            assert!(report.converged, "{report:?}");

            let mut found = Touched {
                unknowns: vec![Vec::new()],
                pushes: vec![Vec::new()],
                ..Touched::default()
            };
            cluster.take(&mut found);
            let rows = free.len();
            let z: Vec<f64> = (0..rows)
                .map(|i| {
                    let row = &block.inverse[rows * i..rows * (i + 1)];
                    free[i] + row.iter().zip(&found.pushes[0]).map(|(a, b)| a * b).sum::<f64>()
                })
                .collect();
            let mut pressed = 0;
            for (number, force) in found.forces {
                let contact = &contacts.list()[number as usize];
                let gone =
                    |end: &ContactEnd| DVec3::from_slice(&z[3 * end.node as usize..]) * end.weight;
                let slip: DVec3 = contacts.ends(number as usize).iter().map(gone).sum();
                let frame = contact.frame();
                let (u, r) = (frame.transpose() * slip, frame.transpose() * force);
                let opening = contact.gap + u.x;
                assert!(opening > -1e-9 && r.x >= 0.0, "{number}: {opening} {r}");
                assert!(opening * r.x < 1e-8, "{number}: {opening} {r}");
                assert!(r.yz().length() <= contact.friction * r.x + 1e-14 * r.length());
                if r.x > 0.0 && u.yz().length() > 1e-8 {
                    let wanted = -u.yz().normalize() * (contact.friction * r.x);
                    assert!((r.yz() - wanted).length() <= 1e-4 * r.x, "{number}: {u} {r}");
                }
                pressed += usize::from(r.x > 0.0);
            }
            assert!(pressed > 2, "{pressed} of {count}");
        }
    }

    /// Along a stiff beam sweeps alone creep: followed downhill, they come to rest in less than three quarters of them.
    #[test]
    fn sweeps_that_are_followed_come_to_rest_sooner() {
        let Beam { block, free, contacts } = beam(30, 9, 3, 0.02);
        let list: Vec<u32> = (0..9).collect();
        let row_of: Vec<u32> = (0..30).map(|node| 3 * node).collect();
        let block_of = vec![0; free.len()];
        let start = Start { free: &free, from: &[], at_work: false };
        let new = || Cluster::new((&[&block], &block_of), &row_of, (&contacts, &list), &start);
        let followed = new().solve(&TouchSettings { tolerance: 1e-8, sweeps: 100_000 });
        let mut plain = new();
        let goal = Goal::new(&TouchSettings { tolerance: 1e-8, sweeps: 100_000 }, 0.0, list.len());
        let mut sweeps = 0;
        loop {
            let mut sweep = goal.sweep(sweeps, true);
            let from: usize = if sweep.number % 2 == 1 { 0 } else { list.len() - 1 };
            for k in 0..list.len() {
                plain.look(from.abs_diff(k), &mut sweep);
            }
            sweeps = sweep.number;
            if goal.is_reached(&sweep) {
                break;
            }
        }
        assert!(followed.converged && 4 * followed.sweeps < 3 * sweeps, "{followed:?} {sweeps}");
    }
}
