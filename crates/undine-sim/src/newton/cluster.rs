//! A cluster: contacts that have blocks of unknowns in common, one with the next, swept until the laws of all hold.
//!
//! Blocks of many unknowns, such as a strand's, are put into the *coordinates of their contacts* first: y = H z, how far each contact is
//! opened and slipped by the block, which follow from forces on contacts by H D⁻¹ Hᵀ. There are three of them for each contact where a
//! strand has six unknowns and more, so that a visit reads and writes a fraction of what it would.
//!
//! Contacts along stiff strands are felt all along them, and sweeps alone come to rest slowly; so they are followed
//! [downhill](super::downhill). Each sweep ends with forces that fulfil the laws of every contact by itself, wherever it began. A large cluster is
//! swept on all threads, in [parts](super::parts).

use super::contact::{ContactEnd, Contacts};
use super::coulomb::Law;
use super::downhill::Downhill;
use super::parts::{LARGE, Parts, Task, Touching};
use super::rotation::outer;
use super::sweep::{Goal, Lever, Moving, Point, Run, Sweep, View};
use super::touch::{Block, Start, TouchReport, TouchSettings, Touched};
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;
use undine_core::glam::{DMat3, DVec3};

/// Sweeps before they are followed downhill: few are enough where little has changed.
pub(super) const PLAIN: usize = 8;

/// Blocks of more unknowns than a body has may be put into coordinates of contacts.
const BODY: usize = 6;

/// Blocks that one task puts into coordinates of contacts.
const BLOCKS_PER_TASK: usize = 8;

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
    /// How it is swept.
    rounds: Rounds,
    /// By how much laws may be off on the mean [m]: the least that any of its contacts says.
    pub accuracy: f64,
}

/// In which order contacts are visited: round by round, tasks of a round beside each other, and what is left. Where there are no rounds, all is left.
#[derive(Debug, Default)]
struct Rounds {
    list: Vec<Vec<Task>>,
    rest: Range<usize>,
    /// Where each part begins, among blocks and in z, and where the last one ends.
    starts: Vec<[usize; 2]>,
}

/// A round of fewer contacts is not worth waking others for.
const FEW: usize = 32;

/// By how much the laws of contacts may be off on the mean [m].
pub(super) fn accuracy(contacts: &Contacts, list: &[u32]) -> f64 {
    let least = |least: f64, &number: &u32| least.min(contacts.list()[number as usize].accuracy);
    let least = list.iter().fold(f64::INFINITY, least);
    if least.is_finite() { least } else { 0.0 }
}

impl<'a> Cluster<'a> {
    /// The contacts of a list, in whichever order they are swept best.
    pub fn new(
        all: (&[&'a Block], &[u32]),
        row_of: &[u32],
        (contacts, list): (&Contacts, &[u32]),
        start: &Start<'_>,
    ) -> Self {
        if list.len() < LARGE {
            return Self::in_order(all, row_of, (contacts, list), start);
        }
        let sorted = touched(all.1, row_of, (contacts, list));
        let mut touching = Touching::default();
        for &number in list {
            let block = |end: &ContactEnd| all.1[row_of[end.node as usize] as usize];
            let place = |number: u32| sorted.partition_point(|&other| other < number) as u32;
            touching.add(contacts.ends(number as usize).iter().map(|end| place(block(end))));
        }
        let parts = Parts::new(sorted.len(), &touching);
        let list: Vec<u32> = parts.contacts.iter().map(|&n| list[n as usize]).collect();
        Self::ordered(all, row_of, (contacts, &list), (sorted, Some(parts)), start)
    }

    /// The contacts of a list, in its order, as far as they hang on blocks that are not empty.
    pub fn in_order(
        all: (&[&'a Block], &[u32]),
        row_of: &[u32],
        contacts: (&Contacts, &[u32]),
        start: &Start<'_>,
    ) -> Self {
        Self::ordered(all, row_of, contacts, (touched(all.1, row_of, contacts), None), start)
    }

    /// The same, with the numbers of blocks in rising order, and in which order they are put.
    fn ordered(
        (all, block_of): (&[&'a Block], &[u32]),
        row_of: &[u32],
        (contacts, list): (&Contacts, &[u32]),
        (sorted, parts): (Vec<u32>, Option<Parts>),
        start: &Start<'_>,
    ) -> Self {
        let mut place: Vec<u32> = (0..sorted.len() as u32).collect();
        let mut numbers = sorted.clone();
        if let Some(parts) = &parts {
            for (to, &from) in parts.blocks.iter().enumerate() {
                (place[from as usize], numbers[to]) = (to as u32, sorted[from as usize]);
            }
        }
        let blocks: Vec<&Block> = numbers.iter().map(|&number| all[number as usize]).collect();
        let (mut points, mut hangs) = (Vec::with_capacity(list.len()), Vec::new());
        for &number in list {
            let contact = &contacts.list()[number as usize];
            let frame = contact.frame();
            let mut b = contact.displacement(&frame);
            let begin = hangs.len();
            for end in contacts.ends(number as usize) {
                let row = row_of[end.node as usize];
                let block = sorted.partition_point(|&other| other < block_of[row as usize]);
                let block = place[block] as usize;
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
                node: contacts.ends(number as usize).first().map_or(u32::MAX, |end| end.node),
                frame,
                b,
                w: DMat3::ZERO,
                law: Law::default(),
                force: DVec3::X * normal + along.clamp_length_max(contact.friction * normal),
                hangs: begin..hangs.len(),
                levers: 0..0,
            });
        }
        let moved = vec![0; blocks.len()];
        let accuracy = accuracy(contacts, list);
        let (moving, z, levers) = (Vec::new(), Vec::new(), Vec::new());
        let rounds = Rounds { rest: 0..list.len(), ..Rounds::default() };
        let mut cluster =
            Self { numbers, blocks, moving, z, points, hangs, levers, moved, rounds, accuracy };
        cluster.choose_coordinates(contacts, start);
        if let Some(parts) = parts {
            let z = |block: usize| cluster.moving.get(block).map_or(cluster.z.len(), |m| m.start);
            let starts = parts.starts.iter().map(|&block| [block, z(block)]).collect();
            cluster.rounds = Rounds { list: parts.rounds, rest: parts.rest, starts };
        }
        if !start.at_work {
            let give = |view: &mut View<'_>, points: &mut [Point]| {
                points.iter().for_each(|point| view.give(point, point.force));
            };
            cluster.rounds(true, give);
        }
        cluster
    }

    /// Chooses in which coordinates each block moves: the fewer ones.
    fn choose_coordinates(&mut self, contacts: &Contacts, start: &Start<'_>) {
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
        let few = |block: &Block, on: &[_]| {
            let rows = block.rows.len();
            rows > BODY && rows > 3 * on.len()
        };
        let blocks = self.blocks.par_iter().zip(&on).with_min_len(BLOCKS_PER_TASK);
        let among = |(block, on): (&&Block, &Vec<(u32, Vec<u32>)>)| {
            few(block, on).then(|| self.among_contacts(block, on))
        };
        let among: Vec<Option<Vec<f64>>> = blocks.map(among).collect();
        // The place of the contact in each block that moves in coordinates of contacts.
        let mut places: Vec<Vec<(u32, u32)>> = vec![Vec::new(); self.points.len()];
        for (number, (among, on)) in among.into_iter().zip(&on).enumerate() {
            let block = self.blocks[number];
            let free = block.rows.iter().map(|&row| start.free[row as usize]);
            let begin = self.z.len();
            let Some(inverse) = among else {
                self.z.extend(free);
                let (width, inverse) = (block.rows.len(), Cow::Borrowed(&block.inverse[..]));
                self.moving.push(Moving { start: begin, width, inverse, is_own: true });
                continue;
            };
            let free: Vec<f64> = free.collect();
            for (place, (point, hangs)) in on.iter().enumerate() {
                places[*point as usize].push((number as u32, 3 * place as u32));
                self.z.extend(self.displaced(hangs, &free).to_array());
            }
            let (width, inverse) = (3 * on.len(), Cow::Owned(inverse));
            self.moving.push(Moving { start: begin, width, inverse, is_own: false });
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
            let contact = &contacts.list()[point.number as usize];
            let gives = DMat3::from_diagonal(DVec3::splat(contact.compliance));
            point.law = Law::new(&(point.w + gives), contact.friction);
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

    /// All of it and one of its points.
    fn whole(&mut self, n: usize) -> (View<'_>, &mut Point) {
        let near = Run { block: 0, start: 0, z: &mut self.z, moved: &mut self.moved };
        let view = View { moving: &self.moving, levers: &self.levers, near, far: None };
        (view, &mut self.points[n])
    }

    /// Goes on downhill from where a sweep has led to, whose change was of this size [J].
    pub fn follow(&mut self, downhill: &mut Downhill, change: f64) {
        downhill.follow(&mut self.points, &mut self.z, change);
    }

    /// Hands a change of a contact's force on to what it touches.
    pub fn give(&mut self, n: usize, change: DVec3) {
        let (mut view, point) = self.whole(n);
        view.give(point, change);
    }

    /// Visits a contact in a sweep; by how much it was off [m].
    pub fn look(&mut self, n: usize, sweep: &mut Sweep) -> f64 {
        let (mut view, point) = self.whole(n);
        view.look(point, sweep)
    }

    /// Remembers that a contact which was off [m] has done something to its blocks.
    pub fn mark(&mut self, n: usize, off: f64, sweep: &Sweep) {
        let (mut view, point) = self.whole(n);
        view.mark(point, off, sweep);
    }

    /// Works on all contacts, round by round, forth or back; what came of each task, in the order in which one thread would have worked
    /// on them.
    fn rounds<T: Send>(
        &mut self,
        is_forth: bool,
        work: impl Fn(&mut View<'_>, &mut [Point]) -> T + Sync,
    ) -> Vec<T> {
        let mut found = Vec::new();
        if is_forth {
            (0..self.rounds.list.len()).for_each(|n| self.round(n, &work, &mut found));
        }
        let near = Run { block: 0, start: 0, z: &mut self.z, moved: &mut self.moved };
        let mut view = View { moving: &self.moving, levers: &self.levers, near, far: None };
        found.push(work(&mut view, &mut self.points[self.rounds.rest.clone()]));
        if !is_forth {
            (0..self.rounds.list.len()).rev().for_each(|n| self.round(n, &work, &mut found));
        }
        found
    }

    /// Works on the tasks of a round, each of which sees its own parts alone.
    fn round<T: Send>(
        &mut self,
        number: usize,
        work: &(impl Fn(&mut View<'_>, &mut [Point]) -> T + Sync),
        found: &mut Vec<T>,
    ) {
        let Rounds { list, starts, .. } = &self.rounds;
        let mut runs = Vec::with_capacity(starts.len());
        let (mut z, mut moved) = (&mut self.z[..], &mut self.moved[..]);
        for span in starts.windows(2) {
            let [block, start] = span[0];
            let (own_z, own_moved);
            (own_z, z) = z.split_at_mut(span[1][1] - start);
            (own_moved, moved) = moved.split_at_mut(span[1][0] - block);
            runs.push(Some(Run { block, start, z: own_z, moved: own_moved }));
        }
        let first = list[number].first().map_or(0, |task| task.contacts.start);
        let mut points = &mut self.points[first..];
        let mut tasks = Vec::with_capacity(list[number].len());
        for Task { parts, contacts } in &list[number] {
            let own;
            (own, points) = points.split_at_mut(contacts.len());
            let near = runs[parts[0]].take().unwrap_or_default();
            let far = runs[parts[1]].take();
            let view = View { moving: &self.moving, levers: &self.levers, near, far };
            tasks.push((view, own));
        }
        let work = |(mut view, points): (View<'_>, &mut [Point])| work(&mut view, points);
        let contacts: usize = list[number].iter().map(|task| task.contacts.len()).sum();
        match contacts < FEW {
            true => found.extend(tasks.into_iter().map(work)),
            false => found.par_extend(tasks.into_par_iter().map(work)),
        }
    }

    /// Sweeps until all laws hold; a last sweep visits all contacts.
    pub fn solve(&mut self, settings: &TouchSettings) -> TouchReport {
        let goal = Goal::new(settings, self.accuracy, self.points.len());
        let mut report = TouchReport::default();
        let mut downhill = Downhill::default();
        let (mut all, mut is_last) = (true, false);
        while goal.goes_on(report.sweeps, is_last) {
            let follows = report.sweeps >= PLAIN;
            let mut sweep = goal.sweep(report.sweeps, all || follows);
            // A sweep comes last, so that forces end on their cones.
            if follows {
                let change = downhill.change(&self.points, |_| true);
                self.follow(&mut downhill, change);
            }
            let begun = sweep.begun();
            let visit = |view: &mut View<'_>, points: &mut [Point]| {
                let mut sweep = begun;
                view.sweep(points, &mut sweep);
                sweep
            };
            self.rounds(sweep.is_forth(), visit).iter().for_each(|found| sweep.join(found));
            (report.sweeps, report.residual) = (sweep.number, sweep.residual);
            report.worst = sweep.worst;
            report.tolerance = goal.most(&sweep);
            let is_enough = goal.is_reached(&sweep);
            if is_enough && sweep.all {
                report.converged = true;
                break;
            }
            (all, is_last) = (is_enough, is_enough);
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

/// The blocks that contacts touch, by their numbers, in rising order.
fn touched(block_of: &[u32], row_of: &[u32], (contacts, list): (&Contacts, &[u32])) -> Vec<u32> {
    let ends = list.iter().flat_map(|&number| contacts.ends(number as usize));
    let block = |end: &ContactEnd| block_of[row_of[end.node as usize] as usize];
    let mut numbers: Vec<u32> = ends.map(block).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
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

    /// What contacts on blocks came to: forces fulfil Signorini's and Coulomb's laws where the blocks then are, told from the blocks themselves. How
    /// many contacts press.
    fn assert_laws(blocks: &[&Block], free: &[f64], contacts: &Contacts, found: &Touched) -> usize {
        let mut z = free.to_vec();
        for (block, push) in blocks.iter().zip(&found.pushes) {
            let rows = block.rows.len();
            for (i, &row) in block.rows.iter().enumerate() {
                let inverse = &block.inverse[rows * i..rows * (i + 1)];
                z[row as usize] += inverse.iter().zip(push).map(|(a, b)| a * b).sum::<f64>();
            }
        }
        let mut pressed = 0;
        for &(number, force) in &found.forces {
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
        pressed
    }

    /// Room for what contacts on so many blocks come to.
    fn nothing_found(blocks: usize) -> Touched {
        Touched {
            unknowns: vec![Vec::new(); blocks],
            pushes: vec![Vec::new(); blocks],
            ..Touched::default()
        }
    }

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
            let mut found = nothing_found(1);
            cluster.take(&mut found);
            let pressed = assert_laws(&[&block], &free, &contacts, &found);
            assert!(pressed > 2, "{pressed} of {count}");
        }
    }

    /// Strands of so many points in a square, each pushed its own way, with contacts between neighbours, and a few that touch strands from all
    /// over.
    fn tuft(side: u32, points: u32) -> (Vec<Block>, Vec<f64>, Contacts) {
        let strands = side * side;
        let width = 3 * points;
        let mut blocks = Vec::new();
        for strand in 0..strands {
            let mut inverse = vec![0.0; (width * width) as usize];
            for (i, j) in (0..points).flat_map(|i| (0..points).map(move |j| (i, j))) {
                let near = f64::from(1 + i.min(j));
                for axis in 0..3 {
                    // As a beam of which the points give way by themselves, too.
                    let own = if i == j { 1.0 } else { 0.0 };
                    let entry = (width * (3 * i + axis) + 3 * j + axis) as usize;
                    inverse[entry] = own + 0.2 * near * if axis == 1 { 0.1 } else { 1.0 };
                }
            }
            blocks.push(Block { rows: (width * strand..width * (strand + 1)).collect(), inverse });
        }
        let noise = |n: u32| (f64::from(n) * 12.9898).sin() * 43.7585 % 1.0;
        let free = (0..width * strands).map(|row| 0.1 * noise(row / 3 + row % 3)).collect();
        let mut contacts = Contacts::new();
        let mut add = |n: u32, ends: &[(u32, f64)]| {
            let contact = Contact {
                normal: DVec3::new(noise(n), noise(n + 7), 0.3 + noise(n + 13)).normalize(),
                gap: 0.02 * noise(n + 3).abs(),
                slip: DVec3::ZERO,
                apart: 0.0,
                friction: [0.3, 0.8, 0.0][n as usize % 3],
                compliance: 0.0,
                accuracy: 0.0,
                force: DVec3::ZERO,
            };
            contacts.add(contact, |list| {
                list.extend(ends.iter().map(|&(strand, weight)| {
                    let node = points * strand + (n + strand) % points;
                    ContactEnd { node, lever: None, weight }
                }));
            });
        };
        for n in 0..6 * strands {
            let (strand, kind) = (n / 6, n % 6);
            let (x, y) = (strand % side + kind % 2, strand / side + kind / 2 % 2);
            let other = side * (y % side) + x % side;
            if other != strand {
                add(n, &[(strand, 1.0), (other, -1.0)]);
            }
        }
        for n in 0..9 {
            let strand = |k: u32| (31 * n + k * (97 + 53 * n)) % strands;
            let ends = (0..4).map(|k| (strand(k), 0.5 - 0.3 * f64::from(k)));
            add(n, &ends.collect::<Vec<_>>());
        }
        (blocks, free, contacts)
    }

    /// A large cluster is swept in parts: laws hold, and threads do not show.
    #[test]
    fn laws_hold_in_a_cluster_of_many_parts_and_threads_do_not_show() {
        let (side, points) = (26, 5);
        let (blocks, free, contacts) = tuft(side, points);
        let blocks: Vec<&Block> = blocks.iter().collect();
        let list: Vec<u32> = (0..contacts.len() as u32).collect();
        let row_of: Vec<u32> = (0..side * side * points).map(|node| 3 * node).collect();
        let block_of: Vec<u32> = (0..free.len() as u32).map(|row| row / (3 * points)).collect();
        let start = Start { free: &free, from: &[], at_work: false };
        let solve = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let (blocks, contacts) = ((&blocks[..], &block_of[..]), (&contacts, &list[..]));
                let mut cluster = Cluster::new(blocks, &row_of, contacts, &start);
                let Rounds { list, rest, starts } = &cluster.rounds;
                assert!(starts.len() > 8 && list.len() > 2, "{} rounds", list.len());
                assert!(!rest.is_empty() && list[0].len() > 7, "{rest:?}");
                let report = cluster.solve(&TouchSettings { tolerance: 1e-11, sweeps: 20_000 });
                assert!(report.converged, "{report:?}");
                let mut found = nothing_found(blocks.0.len());
                cluster.take(&mut found);
                (found, report)
            })
        };
        let (one, report) = solve(1);
        let pressed = assert_laws(&blocks, &free, &contacts, &one);
        assert!(3 * pressed > contacts.len(), "{pressed} of {}", contacts.len());
        for threads in [2, 3] {
            let (found, other) = solve(threads);
            assert_eq!(other, report);
            assert!(found.forces == one.forces && found.pushes == one.pushes, "{threads} threads");
            assert!(found.unknowns == one.unknowns, "{threads} threads");
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
