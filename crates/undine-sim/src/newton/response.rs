//! How a system gives way to contacts: from what it would do without them to forces and unknowns with which all their laws hold.
//!
//! Of all contacts that were found, most stay open. Those that act already, and those that would be broken without forces, are solved
//! ([`touch`](super::touch)) on what they touch: points and bodies that nothing ties, and [islands](super::island) of what elements tie
//! together. What that breaks among the others is taken in, until it breaks none.

use super::apart::Apart;
use super::border::{self, Blocks, Chosen};
use super::contact::{ContactEnd, Contacts};
use super::error::{NewtonError, Result};
use super::island::{Island, Islands};
use super::local::OwnBlocks;
use super::share::Share;
use super::touch::{self, Block, Start, TouchReport, TouchSettings, Touched, own_blocks};
use super::unknowns::Unknowns;
use rayon::prelude::*;
use std::collections::BTreeMap;
use undine_core::glam::DVec3;
use undine_linsolve::Csr;

/// Sweeps over contacts before others that they have broken meanwhile are taken in: what is not solved for yet need not be solved well.
const ROUGH: usize = 16;

/// How often contacts that others have pushed together are taken in, before they are left to the next look for contacts.
const MOST_TURNS: usize = 20;

/// What nothing ties is solved to this part of how deep things would be in each other without contacts: where all rests, of how far they would
/// fall in the step. More cannot be seen, and takes sweeps without end where many touch.
const OF_WAY: f64 = 1e-6;

/// Contacts that one task looks at.
const CONTACTS_PER_TASK: usize = 512;

/// A block that another process has.
static NOTHING: Block = Block { rows: Vec::new(), inverse: Vec::new() };

/// A system as contacts see it.
pub(super) struct Response<'a> {
    pub unknowns: &'a Unknowns,
    /// Where the unknowns of each node begin.
    pub row_of: &'a [u32],
    pub own: &'a OwnBlocks,
    pub tied: Tied<'a>,
    /// What unknowns would do without contacts, and the multipliers of hard rows.
    pub free: &'a [f64],
    pub multipliers: &'a [f64],
    /// How far unknowns had gone when contacts were found; nothing where they had not.
    pub from: &'a [f64],
    /// Who works on what, if several processes do; rows of what is tied are then those of this process alone.
    pub share: Option<&'a Share>,
}

/// What elements tie together.
pub(super) struct Tied<'a> {
    /// Whether each group is tied.
    pub groups: &'a [bool],
    /// The unknown that each row is.
    pub rows: &'a [u32],
    /// Where the rows of a node begin.
    pub row_of: &'a (dyn Fn(u32) -> usize + Sync),
    /// What was factored Object by Object; without it, the matrix of all of it.
    pub apart: Option<&'a Apart>,
    pub matrix: Option<&'a Csr<f64>>,
    pub hard: &'a Csr<f64>,
    pub islands: &'a mut Islands,
}

/// When contacts are solved: enough when none is off by more than this [m], the second number where they hang on what is tied; and most
/// sweeps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Enough {
    pub tolerances: [f64; 2],
    pub sweeps: usize,
    /// On several processes: at most so many that hang together are left to one.
    pub alone: usize,
}

/// What a system makes of contacts.
#[derive(Debug, Default)]
pub(super) struct Responded {
    pub report: TouchReport,
    /// All unknowns, and the multipliers of hard rows.
    pub du: Vec<f64>,
    pub multipliers: Vec<f64>,
    /// What contacts push unknowns with.
    pub pushes: Vec<(u32, f64)>,
}

impl Response<'_> {
    /// Solves contacts, which get their forces.
    pub fn solve(&mut self, contacts: &mut Contacts, enough: &Enough) -> Result<Responded> {
        self.check(contacts)?;
        let mut found = Responded {
            du: self.free.to_vec(),
            multipliers: self.multipliers.to_vec(),
            ..Responded::default()
        };
        found.report.converged = true;
        let deep = |index: usize| -self.opening(contacts, index, self.free);
        let all = (0..contacts.len()).into_par_iter().with_min_len(CONTACTS_PER_TASK);
        let way = all.map(deep).reduce(|| 0.0, f64::max);
        let [loose, tied] = enough.tolerances;
        let enough = &Enough { tolerances: [loose.max(OF_WAY * way), tied], ..*enough };
        let mut is_chosen = self.each(contacts, |index| {
            contacts.list()[index].force != DVec3::ZERO
                || self.opening(contacts, index, self.free) < 0.0
        });
        let mut is_rough = true;
        for _ in 0..MOST_TURNS {
            let chosen: Vec<u32> =
                (0..contacts.len() as u32).filter(|&index| is_chosen[index as usize]).collect();
            if chosen.is_empty() {
                break;
            }
            let sweeps = if is_rough { enough.sweeps.min(ROUGH) } else { enough.sweeps };
            let tolerance =
                self.turn(contacts, &chosen, &Enough { sweeps, ..*enough }, &mut found)?;
            let more = self.each(contacts, |index| {
                let little = tolerance.max(contacts.list()[index].accuracy);
                !is_chosen[index] && self.opening(contacts, index, &found.du) < -little
            });
            if !more.contains(&true) {
                if !is_rough || found.report.converged {
                    break;
                }
                is_rough = false;
                continue;
            }
            is_rough = true;
            is_chosen.iter_mut().zip(more).for_each(|(chosen, more)| *chosen |= more);
        }
        Ok(found)
    }

    /// Solves the chosen ones; what is enough [m].
    fn turn(
        &mut self,
        contacts: &mut Contacts,
        chosen: &[u32],
        enough: &Enough,
        out: &mut Responded,
    ) -> Result<f64> {
        let touches = self.take_in(contacts, chosen)?;
        let tolerance = enough.tolerances[usize::from(touches.is_tied)];
        let start = Start { free: self.free, from: self.from, at_work: false };
        let settings = TouchSettings { tolerance, sweeps: enough.sweeps };
        let list: Vec<&Block> = touches
            .own
            .iter()
            .chain(self.islands().map(|of| of.map_or(&NOTHING, |of| &of.block)))
            .collect();
        out.pushes.clear();
        let found = match self.share {
            None => {
                let (blocks, contacts) = ((&list[..], &touches.block_of[..]), (&*contacts, chosen));
                let found = touch::solve(blocks, self.row_of, contacts, &start, &settings);
                for (block, push) in list.iter().zip(&found.pushes) {
                    out.pushes.extend(block.rows.iter().copied().zip(push.iter().copied()));
                }
                found
            }
            Some(share) => {
                let (of, homes) = (&touches.block_of[..], &touches.homes[..]);
                let blocks = Blocks { list: &list, of, homes, everywhere: touches.own.len() };
                let (row_of, alone) = (self.row_of, enough.alone);
                let chosen = Chosen { contacts: &*contacts, chosen, row_of, alone };
                let found = border::solve(share, &blocks, &chosen, &start, &settings)?;
                for (rows, push) in found.rows.iter().zip(&found.touched.pushes) {
                    out.pushes.extend(rows.iter().copied().zip(push.iter().copied()));
                }
                found.touched
            }
        };
        for &(index, force) in &found.forces {
            contacts.set_force(index as usize, force);
        }
        self.follow(&touches, &found, out)?;
        let sweeps = out.report.sweeps + found.report.sweeps;
        out.report = TouchReport { sweeps, ..found.report };
        Ok(tolerance)
    }

    /// What the chosen ones touch: those that nothing ties are blocks of their own, the others parts of islands.
    fn take_in(&mut self, contacts: &Contacts, chosen: &[u32]) -> Result<Touches> {
        let mut touched = vec![false; self.unknowns.groups()];
        let (mut rows, mut is_tied) = (Vec::new(), false);
        for end in chosen.iter().flat_map(|&index| contacts.ends(index as usize)) {
            let group = self.unknowns.group(end.node) as usize;
            if !self.tied.groups[group] {
                touched[group] = true;
                continue;
            }
            is_tied = true;
            if self.share.is_none_or(|share| share.is_mine(group)) {
                let row = (self.tied.row_of)(end.node) as u32;
                rows.extend(row..row + if end.lever.is_some() { 6 } else { 3 });
            }
        }
        rows.sort_unstable();
        rows.dedup();
        let (own, block_of) = own_blocks(self.unknowns, self.own, |group| touched[group])?;
        let islands = &mut *self.tied.islands;
        match (self.tied.apart, self.tied.matrix) {
            _ if rows.is_empty() => {}
            (Some(apart), _) => islands.touch_apart(apart, self.tied.rows, &rows),
            (None, Some(matrix)) => {
                islands.touch((matrix, self.tied.hard), self.tied.rows, &rows);
            }
            (None, None) => {}
        }
        let mut touches = Touches { own, block_of, homes: Vec::new(), is_tied };
        if let Some(share) = self.share {
            let groups = (0..touched.len()).filter(|&group| touched[group]);
            touches.homes = groups.map(|group| share.owner(share.piece(group)) as u32).collect();
            self.meet(share, contacts, chosen, &mut touches);
        }
        let first = touches.own.len() as u32;
        for (island, number) in self.islands().zip(first..) {
            let rows = island.map_or(&[][..], |island| &island.block.rows);
            rows.iter().for_each(|&row| touches.block_of[row as usize] = number);
        }
        Ok(touches)
    }

    /// Takes in which pieces the chosen ones touch, whosever they are, in the order in which one process would have met them.
    fn meet(&mut self, share: &Share, contacts: &Contacts, chosen: &[u32], touches: &mut Touches) {
        let mut tied: Vec<(u32, u32, u32)> = Vec::new();
        for end in chosen.iter().flat_map(|&index| contacts.ends(index as usize)) {
            let group = self.unknowns.group(end.node) as usize;
            if self.tied.groups[group] {
                tied.push((self.row_of[end.node as usize], end.node, share.piece(group)));
            }
        }
        tied.sort_unstable();
        tied.dedup();
        let rank = share.processes.rank();
        let islands = &mut *self.tied.islands;
        let mut numbers: BTreeMap<u32, u32> =
            islands.met.iter().zip(0..).map(|(&(piece, _), number)| (piece, number)).collect();
        let first = touches.own.len() as u32;
        for (row, node, piece) in tied {
            let number = *numbers.entry(piece).or_insert_with(|| {
                let is_mine = share.owner(piece) == rank;
                let island = is_mine.then(|| islands.of((self.tied.row_of)(node)));
                islands.met.push((piece, island));
                islands.met.len() as u32 - 1
            });
            touches.block_of[row as usize] = first + number;
        }
        touches.homes.extend(islands.met.iter().map(|&(piece, _)| share.owner(piece) as u32));
    }

    /// The islands that contacts have touched; none in place of each that another process has.
    fn islands(&self) -> impl Iterator<Item = Option<&Island>> {
        let Islands { list, met, .. } = &*self.tied.islands;
        let all = list.iter().filter(|_| self.share.is_none()).map(Some);
        all.chain(met.iter().map(|&(_, island)| island.map(|n| &list[n as usize])))
    }

    /// What is tied to what is touched follows, and so do the multipliers of hard rows.
    fn follow(&self, touches: &Touches, found: &Touched, out: &mut Responded) -> Result<()> {
        out.du.copy_from_slice(self.free);
        out.multipliers.copy_from_slice(self.multipliers);
        for (block, unknowns) in touches.own.iter().zip(&found.unknowns) {
            block.rows.iter().zip(unknowns).for_each(|(&row, u)| out.du[row as usize] = *u);
        }
        let islands: Vec<(Option<&Island>, &Vec<f64>)> =
            self.islands().zip(&found.pushes[touches.own.len()..]).collect();
        let follow = |(island, push): &(Option<&Island>, &Vec<f64>)| match island {
            Some(island) if !push.is_empty() => island.follow(push),
            _ => Vec::new(),
        };
        let follow: Vec<Vec<(u32, f64)>> = islands.par_iter().map(follow).collect();
        let unknowns = self.tied.rows.len();
        for (row, follows) in follow.into_iter().flatten() {
            match self.tied.rows.get(row as usize) {
                Some(&row) => out.du[row as usize] += follows,
                None => out.multipliers[row as usize - unknowns] -= follows,
            }
        }
        match self.share {
            Some(share) => share.gather(&mut [&mut out.du[..]]),
            None => Ok(()),
        }
    }

    /// How far the surfaces of a contact are apart [m] when unknowns do `du`.
    fn opening(&self, contacts: &Contacts, index: usize, du: &[f64]) -> f64 {
        let gone = |row: usize| du[row] - self.from.get(row).copied().unwrap_or(0.0);
        contacts.opening(index, self.row_of, gone)
    }

    fn each(&self, contacts: &Contacts, is: impl Fn(usize) -> bool + Sync + Send) -> Vec<bool> {
        let all = (0..contacts.len()).into_par_iter().with_min_len(CONTACTS_PER_TASK);
        all.map(is).collect()
    }

    /// Refuses contacts on what is not there.
    fn check(&self, contacts: &Contacts) -> Result<()> {
        let wanted = self.unknowns.nodes();
        let outside = |end: &&ContactEnd| end.node as usize >= wanted;
        for index in 0..contacts.len() {
            if let Some(end) = contacts.ends(index).iter().find(outside) {
                let (what, of) = ("the node of contact", "the system".into());
                let found = end.node as usize;
                return Err(NewtonError::OutOfRange { what, index, of, found, wanted });
            }
        }
        Ok(())
    }
}

/// What contacts touch.
struct Touches {
    /// Points and bodies that nothing ties.
    own: Vec<Block>,
    /// The block of each unknown that is touched: first those, then the islands.
    block_of: Vec<u32>,
    /// The process of each block, where there are several.
    homes: Vec<u32>,
    /// Whether islands are touched.
    is_tied: bool,
}
