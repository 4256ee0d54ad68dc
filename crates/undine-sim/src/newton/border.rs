//! Contacts on several processes: who solves which of them, and how those that hang together are solved by several at once.
//!
//! Contacts that have blocks in common, one with the next, are a *cluster* ([`touch`](super::touch)). A cluster goes whole to one process, where
//! blocks of others are sent, and is solved there as on one process, to the bit. One that is too much for a process is solved in common
//! (Loki §6.3). Each contact then belongs to the process of the first block that it hangs on, and each process has copies of the foreign blocks that its
//! contacts touch. Its contacts are sorted:
//!
//! - *local* ones are between blocks that nobody else has to do with;
//! - those at the *border* involve a foreign block, or an own one that contacts of others touch.
//!
//! Processes whose borders meet take turns, so that all of it is a Gauss–Seidel sweep still, if in another order. What a turn has changed is sent to
//! those who have a copy of the blocks, and while it is under way the others visit their local contacts. Sweeps are followed
//! [downhill](super::downhill) as on one process.

use super::cluster::{self, Cluster, PLAIN};
use super::contact::{ContactEnd, Contacts};
use super::downhill::Downhill;
use super::error::Result;
use super::share::{Share, told};
use super::sweep::{Goal, Sweep};
use super::touch::{Block, Start, TouchReport, TouchSettings, Touched, clusters};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use undine_core::glam::DVec3;
use undine_core::process::{Parcel, Processes};

/// Blocks of unknowns, whoever has them.
#[derive(Clone, Copy)]
pub(super) struct Blocks<'a> {
    /// All of them; those that are foreign are empty.
    pub list: &'a [&'a Block],
    /// The block of each unknown that is touched.
    pub of: &'a [u32],
    /// The process of each.
    pub homes: &'a [u32],
    /// So many of the first are not empty on any process.
    pub everywhere: usize,
}

/// The contacts to solve.
#[derive(Clone, Copy)]
pub(super) struct Chosen<'a> {
    pub contacts: &'a Contacts,
    pub chosen: &'a [u32],
    /// Where the unknowns of a node begin.
    pub row_of: &'a [u32],
    /// At most so many that hang together are left to one process, even if that is more than its share.
    pub alone: usize,
}

/// What contacts came to, and the unknowns of each block that they move.
pub(super) struct Found {
    pub touched: Touched,
    pub rows: Vec<Vec<u32>>,
}

/// Solves contacts on all processes together; every one gets all of what is found. Collective.
pub(super) fn solve(
    share: &Share,
    blocks: &Blocks<'_>,
    chosen: &Chosen<'_>,
    start: &Start<'_>,
    settings: &TouchSettings,
) -> Result<Found> {
    let processes = &*share.processes;
    let rank = processes.rank() as u32;
    let Chosen { contacts, row_of, .. } = *chosen;
    let (lists, held) = clusters((blocks.list.len(), blocks.of), row_of, (contacts, chosen.chosen));
    let shares =
        hand_out(&lists, |first| chosen.process(blocks, first), processes.count(), chosen.alone);

    let common = Common::new(blocks, chosen, &lists, &shares);
    let mut wanted: BTreeSet<(u32, u32)> = common.holders.iter().map(|&(b, p)| (p, b)).collect();
    for (list, process) in lists.iter().zip(&shares) {
        let Some(process) = process else { continue };
        wanted.extend(list.iter().flat_map(|&n| chosen.blocks(blocks, n)).map(|b| (*process, b)));
    }
    let copies = fetch(processes, blocks, &wanted)?;
    let here = |number: usize| match copies.get(&(number as u32)) {
        Some(copy) => copy,
        None => blocks.list[number],
    };
    let all: Vec<&Block> = (0..blocks.list.len()).map(here).collect();

    let work = |list: &&Vec<u32>| {
        let mut cluster = Cluster::new((&all, blocks.of), row_of, (contacts, list), start);
        let report = cluster.solve(settings);
        (cluster, report)
    };
    let mine = lists.iter().zip(&shares).filter(|(_, process)| **process == Some(rank));
    let mine: Vec<&Vec<u32>> = mine.map(|(list, _)| list).collect();
    let solved: Vec<(Cluster<'_>, TouchReport)> = mine.par_iter().map(work).collect();
    let mut own = Touched {
        report: TouchReport { converged: true, ..TouchReport::default() },
        forces: Vec::new(),
        unknowns: vec![Vec::new(); all.len()],
        pushes: vec![Vec::new(); all.len()],
    };
    for (cluster, report) in &solved {
        own.report.join(report);
        cluster.take(&mut own);
    }
    if !common.list.is_empty() {
        let mut border = Border::new(&common, &all, blocks, chosen, start, rank);
        own.report.join(&border.solve(processes, settings)?);
        border.take(|block| blocks.homes[block as usize] == rank, &mut own);
    }

    let mut found = together(processes, &own, &all)?;
    found.touched.forces.extend(held);
    found.touched.report.contacts = chosen.chosen.len();
    found.touched.report.in_common = common.list.len();
    Ok(found)
}

impl Chosen<'_> {
    /// The blocks that a contact hangs on; one may come twice.
    fn blocks(&self, blocks: &Blocks<'_>, contact: u32) -> impl Iterator<Item = u32> {
        let block = |end: &ContactEnd| blocks.of[self.row_of[end.node as usize] as usize];
        self.contacts.ends(contact as usize).iter().map(block)
    }

    /// The process that a contact belongs to.
    fn process(&self, blocks: &Blocks<'_>, contact: u32) -> u32 {
        self.blocks(blocks, contact).next().map_or(0, |block| blocks.homes[block as usize])
    }
}

/// The process that each list goes to, none where it is too long for one: to its home, that of its first contact, unless that has its share
/// already.
fn hand_out(
    lists: &[Vec<u32>],
    home: impl Fn(u32) -> u32,
    processes: usize,
    alone: usize,
) -> Vec<Option<u32>> {
    let total: usize = lists.iter().map(Vec::len).sum();
    let most = total.div_ceil(processes).max(alone);
    let mut load = vec![0; processes];
    let mut give = |list: &Vec<u32>| {
        if list.len() > most {
            return None;
        }
        let home = home(*list.first()?) as usize;
        let least = (0..processes).min_by_key(|&process| load[process]).unwrap_or(home);
        let to = if load[home] + list.len() <= most { home } else { least };
        load[to] += list.len();
        Some(to as u32)
    };
    lists.iter().map(&mut give).collect()
}

/// Sends blocks to those who want them: process, and number. Returns the copies of foreign ones. Collective.
fn fetch(
    processes: &dyn Processes,
    blocks: &Blocks<'_>,
    wanted: &BTreeSet<(u32, u32)>,
) -> Result<BTreeMap<u32, Block>> {
    let rank = processes.rank() as u32;
    let mut parcels: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for &(to, number) in wanted.iter().filter(|&&(to, _)| to != rank) {
        let is_sent = number as usize >= blocks.everywhere && blocks.homes[number as usize] == rank;
        if is_sent {
            let Block { rows, inverse } = blocks.list[number as usize];
            let words = parcels.entry(to).or_default();
            words.extend([u64::from(number), rows.len() as u64]);
            words.extend(rows.iter().map(|&row| u64::from(row)));
            words.extend(inverse.iter().map(|value| value.to_bits()));
        }
    }
    let pack = |(process, words): (u32, Vec<u64>)| Parcel {
        process: process as usize,
        bytes: bytemuck::cast_slice(&words).to_vec(),
    };
    let arrived = processes.exchange(parcels.into_iter().map(pack).collect()).map_err(told)?;
    let mut copies = BTreeMap::new();
    for parcel in arrived {
        let words: Vec<u64> = bytemuck::pod_collect_to_vec(&parcel.bytes);
        let mut words = Words(words.into_iter());
        while let Some(number) = words.0.next() {
            let width = words.next() as usize;
            let (rows, inverse) = (words.numbers(width), words.values(width * width));
            copies.insert(number as u32, Block { rows, inverse });
        }
    }
    Ok(copies)
}

/// What each process has found, on every process. Collective.
fn together(processes: &dyn Processes, own: &Touched, all: &[&Block]) -> Result<Found> {
    let TouchReport { sweeps, residual, worst, tolerance, converged, .. } = own.report;
    let moved = |&number: &usize| !own.pushes[number].is_empty();
    let blocks: Vec<usize> = (0..all.len()).filter(moved).collect();
    let mut words =
        vec![sweeps as u64, residual.to_bits(), tolerance.to_bits(), u64::from(converged)];
    words.push(worst.map_or(0, |node| 1 + u64::from(node)));
    words.push(own.forces.len() as u64);
    for (contact, force) in &own.forces {
        words.push(u64::from(*contact));
        words.extend(force.to_array().map(f64::to_bits));
    }
    for number in blocks {
        let rows = &all[number].rows;
        words.extend([number as u64, rows.len() as u64]);
        words.extend(rows.iter().map(|&row| u64::from(row)));
        // Not of blocks that moved in other coordinates.
        words.push(own.unknowns[number].len() as u64);
        let values = own.unknowns[number].iter().chain(&own.pushes[number]);
        words.extend(values.map(|value| value.to_bits()));
    }
    let mut found = Found {
        touched: Touched {
            report: TouchReport { converged: true, ..TouchReport::default() },
            forces: Vec::new(),
            unknowns: vec![Vec::new(); all.len()],
            pushes: vec![Vec::new(); all.len()],
        },
        rows: vec![Vec::new(); all.len()],
    };
    for words in processes.all_gather_values(&words).map_err(told)? {
        let mut words = Words(words.into_iter());
        let mut report = TouchReport { sweeps: words.next() as usize, ..TouchReport::default() };
        (report.residual, report.tolerance) =
            (f64::from_bits(words.next()), f64::from_bits(words.next()));
        report.converged = words.next() != 0;
        report.worst = words.next().checked_sub(1).map(|node| node as u32);
        found.touched.report.join(&report);
        for _ in 0..words.next() {
            let contact = words.next() as u32;
            found.touched.forces.push((contact, words.vector()));
        }
        while let Some(number) = words.0.next() {
            let (number, width) = (number as usize, words.next() as usize);
            found.rows[number] = words.numbers(width);
            let told = words.next() as usize;
            found.touched.unknowns[number] = words.values(told);
            found.touched.pushes[number] = words.values(width);
        }
    }
    Ok(found)
}

/// What has come from another process, word by word.
struct Words(std::vec::IntoIter<u64>);

impl Words {
    fn next(&mut self) -> u64 {
        self.0.next().unwrap_or(0)
    }

    fn numbers(&mut self, count: usize) -> Vec<u32> {
        self.0.by_ref().take(count).map(|word| word as u32).collect()
    }

    fn values(&mut self, count: usize) -> Vec<f64> {
        self.0.by_ref().take(count).map(f64::from_bits).collect()
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::from_array(std::array::from_fn(|_| f64::from_bits(self.next())))
    }
}

/// Contacts that all processes solve in common.
struct Common {
    /// Which they are, in rising order, and the process of each.
    list: Vec<u32>,
    processes: Vec<u32>,
    /// Who has each block or a copy of it: block, and process.
    holders: BTreeSet<(u32, u32)>,
    /// The turn of each process, and how many turns there are.
    turns: Vec<usize>,
    count: usize,
}

impl Common {
    fn new(
        blocks: &Blocks<'_>,
        chosen: &Chosen<'_>,
        lists: &[Vec<u32>],
        shares: &[Option<u32>],
    ) -> Self {
        let in_common = lists.iter().zip(shares).filter(|(_, process)| process.is_none());
        let mut list: Vec<u32> = in_common.flat_map(|(list, _)| list).copied().collect();
        list.sort_unstable();
        let processes: Vec<u32> = list.iter().map(|&n| chosen.process(blocks, n)).collect();
        let mut holders = BTreeSet::new();
        for (&contact, &process) in list.iter().zip(&processes) {
            for block in chosen.blocks(blocks, contact) {
                holders.extend([(block, process), (block, blocks.homes[block as usize])]);
            }
        }
        let (turns, count) = turns(&holders);
        Self { list, processes, holders, turns, count }
    }

    /// Who has a block or a copy of it.
    fn holders(&self, block: u32) -> impl Iterator<Item = u32> {
        self.holders.range((block, 0)..=(block, u32::MAX)).map(|&(_, process)| process)
    }

    fn is_held(&self, block: u32, process: u32) -> bool {
        self.holders.contains(&(block, process))
    }
}

/// The turn of each process that holds a block, such that no two who hold the same one have the same; and how many turns there are.
fn turns(holders: &BTreeSet<(u32, u32)>) -> (Vec<usize>, usize) {
    let last = holders.iter().map(|&(_, process)| process as usize + 1).max().unwrap_or(0);
    let mut beside: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); last];
    let holders: Vec<(u32, u32)> = holders.iter().copied().collect();
    for of_block in holders.chunk_by(|one, other| one.0 == other.0) {
        for &(_, one) in of_block {
            beside[one as usize].extend(of_block.iter().map(|&(_, other)| other as usize));
        }
    }
    let mut turns = vec![0; last];
    for process in 0..last {
        let taken: BTreeSet<usize> =
            beside[process].range(..process).map(|&other| turns[other]).collect();
        turns[process] = (0..).find(|turn| !taken.contains(turn)).unwrap_or(0);
    }
    let count = turns.iter().max().map_or(1, |most| most + 1);
    (turns, count)
}

/// This process's part of contacts that are solved in common.
struct Border<'a> {
    /// All contacts that touch a block which this process has, or has a copy of.
    cluster: Cluster<'a>,
    /// The process of each.
    processes: Vec<u32>,
    rank: u32,
    /// How many contacts all processes have, and by how much their laws may be off on the mean [m].
    contacts: usize,
    accuracy: f64,
    /// Those that this process visits, by their place in the cluster.
    local: Vec<usize>,
    border: Vec<usize>,
    turn: usize,
    turns: usize,
    /// Those of this process that each other one has to hear of, and the other way round, with the turn of the other.
    sends: BTreeMap<u32, Vec<usize>>,
    receives: BTreeMap<u32, (usize, Vec<usize>)>,
}

/// Bytes that travel for a contact: its force, and by how much it was off.
const BYTES: usize = 32;

impl<'a> Border<'a> {
    fn new(
        common: &Common,
        all: &[&'a Block],
        blocks: &Blocks<'_>,
        chosen: &Chosen<'_>,
        start: &Start<'_>,
        rank: u32,
    ) -> Self {
        // Blocks that this process has nothing to do with are not looked at.
        const NOTHING: &Block = &Block { rows: Vec::new(), inverse: Vec::new() };
        let here = |number: u32| match common.is_held(number, rank) {
            true => all[number as usize],
            false => NOTHING,
        };
        let held: Vec<&Block> = (0..all.len() as u32).map(here).collect();
        let is_here = |n: u32| chosen.blocks(blocks, n).any(|block| common.is_held(block, rank));
        let (list, processes): (Vec<u32>, Vec<u32>) = (common.list.iter().copied())
            .zip(common.processes.iter().copied())
            .filter(|&(contact, _)| is_here(contact))
            .unzip();
        let (mut local, mut border) = (Vec::new(), Vec::new());
        let mut sends: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        let mut receives: BTreeMap<u32, (usize, Vec<usize>)> = BTreeMap::new();
        for (n, (&contact, &process)) in list.iter().zip(&processes).enumerate() {
            if process != rank {
                let turn = common.turns[process as usize];
                receives.entry(process).or_insert((turn, Vec::new())).1.push(n);
                continue;
            }
            let others: BTreeSet<u32> = chosen
                .blocks(blocks, contact)
                .flat_map(|block| common.holders(block))
                .filter(|&other| other != rank)
                .collect();
            if others.is_empty() { &mut local } else { &mut border }.push(n);
            for other in others {
                sends.entry(other).or_default().push(n);
            }
        }
        let contacts = (chosen.contacts, &list[..]);
        let cluster = Cluster::in_order((&held, blocks.of), chosen.row_of, contacts, start);
        let turn = common.turns.get(rank as usize).copied().unwrap_or(0);
        let turns = common.count;
        let contacts = common.list.len();
        let accuracy = cluster::accuracy(chosen.contacts, &common.list);
        Self {
            cluster,
            processes,
            rank,
            contacts,
            accuracy,
            local,
            border,
            turn,
            turns,
            sends,
            receives,
        }
    }

    /// Sweeps until all laws hold, on all processes. Collective.
    fn solve(
        &mut self,
        processes: &dyn Processes,
        settings: &TouchSettings,
    ) -> Result<TouchReport> {
        let goal = Goal::new(settings, self.accuracy, self.contacts);
        let mut report = TouchReport::default();
        let mut downhill = Downhill::default();
        let (mut all, mut is_last) = (true, false);
        while goal.goes_on(report.sweeps, is_last) {
            let follows = report.sweeps >= PLAIN;
            let mut sweep = goal.sweep(report.sweeps, all || follows);
            // Whoever has a copy of a contact goes on with it as its own process does.
            if follows {
                let is_own = |n: usize| self.processes[n] == self.rank;
                let own = downhill.change(&self.cluster.points, is_own);
                let change = processes.all_sum_f64(own).map_err(told)?;
                self.cluster.follow(&mut downhill, change);
            }
            for turn in 0..self.turns {
                self.take_turn(turn, processes, &mut sweep)?;
            }
            // The worst contact is on the process that was off most, and told by that one.
            let own = sweep.residual;
            sweep.residual = processes.all_max_f64(own).map_err(told)?;
            sweep.worst = sweep.worst.filter(|_| own == sweep.residual);
            sweep.squares = processes.all_sum_f64(sweep.squares).map_err(told)?;
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
        Ok(report)
    }

    /// The border of some processes; the others visit local contacts while they wait for what it has changed.
    fn take_turn(
        &mut self,
        turn: usize,
        processes: &dyn Processes,
        sweep: &mut Sweep,
    ) -> Result<()> {
        let mut outgoing = Vec::new();
        if turn == self.turn {
            let mut off = vec![0.0; self.cluster.points.len()];
            for n in ordered(&self.border, sweep.number) {
                off[n] = self.cluster.look(n, sweep);
            }
            for (&other, points) in &self.sends {
                let value = |&n: &usize| {
                    let DVec3 { x, y, z } = self.cluster.points[n].force;
                    [x, y, z, off[n]]
                };
                let values: Vec<[f64; 4]> = points.iter().map(value).collect();
                let bytes = bytemuck::cast_slice(&values).to_vec();
                outgoing.push(Parcel { process: other as usize, bytes });
            }
        }
        let from = self.receives.iter().filter(|(_, (of, _))| *of == turn);
        let incoming: Vec<(usize, usize)> =
            from.map(|(&other, (_, points))| (other as usize, BYTES * points.len())).collect();
        let under_way = processes.start(outgoing, &incoming).map_err(told)?;
        for n in self.meanwhile(turn, sweep.number) {
            let _ = self.cluster.look(n, sweep);
        }
        for parcel in under_way.finish().map_err(told)? {
            let Some((_, points)) = self.receives.get(&(parcel.process as u32)) else { continue };
            let values: Vec<[f64; 4]> = bytemuck::pod_collect_to_vec(&parcel.bytes);
            for (&n, [x, y, z, off]) in points.iter().zip(values) {
                let force = DVec3::new(x, y, z);
                let change = force - self.cluster.points[n].force;
                if change != DVec3::ZERO {
                    self.cluster.points[n].force = force;
                    self.cluster.give(n, change);
                }
                self.cluster.mark(n, off, sweep);
            }
        }
        Ok(())
    }

    /// The local contacts that are visited in a turn: some in each that is not one's own, and all if there is no other.
    fn meanwhile(&self, turn: usize, sweep: usize) -> Vec<usize> {
        let order = ordered(&self.local, sweep);
        if self.turns == 1 {
            return order;
        }
        if turn == self.turn {
            return Vec::new();
        }
        let (parts, part) = (self.turns - 1, if turn < self.turn { turn } else { turn - 1 });
        let cut = |part: usize| order.len() * part / parts;
        order[cut(part)..cut(part + 1)].to_vec()
    }

    /// Hands out what was found of this process's contacts and of some blocks.
    fn take(&self, is_block: impl Fn(u32) -> bool, out: &mut Touched) {
        self.cluster.take_some(is_block, |n| self.processes[n] == self.rank, out);
    }
}

/// To and fro, as on one process.
fn ordered(points: &[usize], sweep: usize) -> Vec<usize> {
    match sweep % 2 {
        1 => points.to_vec(),
        _ => points.iter().rev().copied().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_stay_at_home_until_it_has_its_share() {
        let lists: Vec<Vec<u32>> =
            [0..4, 4..8, 8..10, 10..11, 11..31].map(Iterator::collect).to_vec();
        // 31 contacts on 3 processes: 11 each. Those of the first three lists are at home on process 0.
        let home = |contact: u32| u32::from(contact >= 10);
        assert_eq!(hand_out(&lists, home, 3, 0), [Some(0), Some(0), Some(0), Some(1), None]);
        assert_eq!(hand_out(&lists, home, 3, 20)[4], Some(2));
        assert_eq!(hand_out(&lists[..4], home, 3, 0), [Some(0), Some(1), Some(2), Some(2)]);
    }

    #[test]
    fn processes_that_hold_a_block_take_turns() {
        // A chain of processes 0, 1, 2 and 3, and a block that 0, 2 and 3 hold.
        let chain = [(7, 0), (7, 1), (8, 1), (8, 2), (9, 2), (9, 3)];
        assert_eq!(turns(&chain.into()), (vec![0, 1, 0, 1], 2));
        let held: BTreeSet<(u32, u32)> =
            chain.into_iter().chain([(5, 0), (5, 2), (5, 3)]).collect();
        assert_eq!(turns(&held), (vec![0, 1, 2, 1], 3));
        assert_eq!(turns(&BTreeSet::new()), (Vec::new(), 1));
    }
}
