//! Geometric multigrid on the overlapping levels of a pressure system: one cycle in `f32`, to precondition CG in `f64`.
//!
//! A W-cycle with two red-black sweeps before the coarse correction and two, in reversed order of colours, after it: the
//! cycle is symmetric and positive definite. Transfer is piecewise constant (see [`super::piece`]).

use super::coarsest::Coarsest;
use super::exchange::{Gather, Halo, Transfer};
use super::half::{HALF, Half, VOXELS};
use super::level::Level;
use super::piece::Piece;
use super::smooth::Where::{self, Everywhere, Varied};
use super::smooth::{self, Halves};
use super::stencil::NONE;
use super::tables::Tables;
use crate::error::{Result, SolveError};
use crate::operator::Preconditioner;
use rayon::prelude::*;
use std::sync::Arc;
use undine_core::{BucketSet, Partition, Processes, Topology};

/// Sweeps more on Buckets whose coefficients vary.
const VARIED_SWEEPS: usize = 2;

/// The colour that is relaxed first, and has a residual when the sweeps are done.
const RED: usize = 0;
const BLACK: usize = 1;

/// A level with no more Buckets than this is gathered on every process: its messages would take longer than its work.
const GATHERED: usize = 64;

/// All levels of a pressure system.
///
/// On several processes the finer levels are distributed as the Domain is; from [`Entry`] on, each process has all Buckets.
#[derive(Debug)]
pub struct Hierarchy {
    pub(super) tables: Vec<Tables>,
    pub(super) levels: Vec<Level>,
    /// By distributed level, on several processes.
    halos: Vec<Halo>,
    /// By distributed level, to the next, on several processes.
    transfers: Vec<Transfer>,
    entry: Option<Entry>,
    coarsest: Coarsest,
    /// Whether coefficients vary from face to face on the finest level of any process.
    varied: bool,
}

/// The level at which everything is gathered on every process.
#[derive(Debug)]
struct Entry {
    /// Its number.
    level: usize,
    /// As it is distributed.
    table: Tables,
    gather: Gather,
}

impl Hierarchy {
    /// The hierarchy above the pieces of the finest level. Collective.
    pub fn new(
        processes: &Arc<dyn Processes>,
        topology: &Topology,
        mut tables: Vec<Tables>,
        finest: Vec<Piece>,
    ) -> Result<Self> {
        let (mut halos, mut transfers, mut entry) = (Vec::new(), Vec::new(), None);
        let mut pieces = finest;
        let mut levels = Vec::new();
        if processes.count() > 1 && tables.len() > 1 {
            // The distributed levels, and then the rest, as one process alone would have them.
            let all = topology.all();
            let small = |&level: &u8| all.level(level).len() <= GATHERED;
            let first = all.levels().skip(1).find(small).unwrap_or(tables.len() as u8 - 1);
            for n in 0..usize::from(first) {
                halos.push(Halo::new(processes, &tables[n])?);
                let transfer = Transfer::new(processes, &tables[n], &tables[n + 1])?;
                let children = transfer.with_foreign(&pieces, tables[n].stored)?;
                let next = coarser(&children, &tables[n + 1], n);
                levels.push(Level::new(&pieces, tables[n].sides.clone(), tables[n].stored));
                transfers.push(transfer);
                pieces = next;
            }
            let keys: Vec<_> = all.levels().filter(|&level| level >= first).collect();
            let keys = keys.into_iter().flat_map(|level| all.level(level)).copied().collect();
            let frame = *topology.frame();
            let alone =
                Topology::new(frame, BucketSet::from_keys(keys), &Partition::whole(frame), 0);
            let place = |bucket| alone.slot(bucket).unwrap_or(NONE);
            let own: Vec<u32> =
                topology.level(first).map(|slot| place(topology.bucket(slot))).collect();
            let below = topology.level(first - 1);
            let parents = below.map(|slot| place(topology.bucket(slot).parent())).collect();
            let gather = Gather::new(processes, &own)?;
            pieces = gather.pieces(&pieces)?;
            let level = usize::from(first);
            let mut rest = tables.split_off(level);
            tables[level - 1].parents = parents;
            tables.extend(Tables::new(&alone));
            entry = Some(Entry { level, table: rest.swap_remove(0), gather });
        }
        if tables.is_empty() {
            // No liquid anywhere: a finest level without Buckets.
            tables.push(Tables::default());
        }
        let mut coarsest = Coarsest::default();
        for n in levels.len()..tables.len() {
            if n + 1 == tables.len() {
                coarsest = Coarsest::new(&pieces, &tables[n].sides);
            }
            let next = tables.get(n + 1).map_or_else(Vec::new, |table| coarser(&pieces, table, n));
            levels.push(Level::new(&pieces, tables[n].sides.clone(), tables[n].stored));
            pieces = next;
        }
        for table in &mut tables {
            // The levels have them now.
            table.sides = Vec::new();
        }
        let varied = processes.any(!levels[0].faces.is_empty())?;
        Ok(Self { tables, levels, halos, transfers, entry, coarsest, varied })
    }

    /// The level of the system itself.
    pub fn finest(&self) -> &Level {
        &self.levels[0]
    }

    /// Bytes of all levels.
    pub fn bytes(&self) -> u64 {
        self.levels.iter().map(Level::bytes).sum::<u64>()
            + self.tables.iter().map(Tables::bytes).sum::<u64>()
            + self.coarsest.bytes()
    }
}

/// The pieces of a level, from those of the `level` before it.
fn coarser(pieces: &[Piece], table: &Tables, level: usize) -> Vec<Piece> {
    let piece = |(children, sides): (&[u32; 8], &[u32; 6])| {
        let children = children.map(|child| pieces.get(child as usize));
        Piece::coarser(children, level, sides.map(|side| side != NONE))
    };
    table.children.par_iter().zip(&table.sides).map(piece).collect()
}

/// The multigrid cycle of a pressure system, as a preconditioner.
pub struct Multigrid<'a> {
    hierarchy: &'a Hierarchy,
    /// By level: the correction.
    x: Vec<Halves>,
    /// By level: the right-hand side, which is the residual of the level before.
    b: Vec<Halves>,
    /// The finest level while some of its cells are held.
    held: Option<Level>,
}

impl<'a> Multigrid<'a> {
    pub(super) fn new(hierarchy: &'a Hierarchy) -> Self {
        let zeros = || hierarchy.levels.iter().map(|level| smooth::zeros(level.stored)).collect();
        Self { hierarchy, x: zeros(), b: zeros(), held: None }
    }

    /// One cycle on a level, from zero or from the guess in `x`. Collective.
    fn cycle(&mut self, n: usize, guess: bool) -> Result<()> {
        let Hierarchy { levels, coarsest, .. } = self.hierarchy;
        if n + 1 == levels.len() {
            coarsest.solve(&self.b[n], &mut self.x[n]);
            return Ok(());
        }
        if guess {
            self.relax(n, Everywhere, RED)?;
        } else {
            smooth::start(
                level_of(&self.held, self.hierarchy, n),
                RED,
                &self.b[n][RED],
                &mut self.x[n][RED],
            );
            self.refresh(n, RED)?;
        }
        self.relax(n, Everywhere, BLACK)?;
        self.relax_varied(n, [RED, BLACK])?;
        self.relax(n, Everywhere, RED)?;
        self.relax(n, Everywhere, BLACK)?;
        self.restrict(n)?;
        self.cycle(n + 1, false)?;
        if n + 2 < levels.len() {
            self.cycle(n + 1, true)?;
        }
        self.prolong(n)?;
        self.relax(n, Everywhere, BLACK)?;
        self.relax(n, Everywhere, RED)?;
        self.relax_varied(n, [BLACK, RED])?;
        self.relax(n, Everywhere, BLACK)?;
        self.relax(n, Everywhere, RED)
    }

    /// More sweeps where coefficients vary, if they do on the finest level. They keep the cycle symmetric: what comes after the
    /// coarser level is the reverse of what came before it.
    fn relax_varied(&mut self, n: usize, colours: [usize; 2]) -> Result<()> {
        if !self.hierarchy.varied {
            return Ok(());
        }
        for colour in colours.repeat(VARIED_SWEEPS) {
            self.relax(n, Varied, colour)?;
        }
        Ok(())
    }

    fn relax(&mut self, n: usize, which: Where, colour: usize) -> Result<()> {
        let level = level_of(&self.held, self.hierarchy, n);
        let [red, black] = &mut self.x[n];
        let (x, other) = if colour == RED { (red, &*black) } else { (black, &*red) };
        smooth::relax(level, which, colour, &self.b[n][colour], other, x);
        self.refresh(n, colour)
    }

    fn refresh(&mut self, n: usize, colour: usize) -> Result<()> {
        match self.hierarchy.halos.get(n) {
            None => Ok(()),
            Some(halo) => halo.refresh(colour, &mut self.x[n][colour]),
        }
    }

    /// Sums the residual of a level, which only red cells have, into the right-hand side of the next.
    fn restrict(&mut self, n: usize) -> Result<()> {
        let Hierarchy { tables, transfers, entry, .. } = self.hierarchy;
        let (level, x) = (level_of(&self.held, self.hierarchy, n), &self.x[n]);
        let (b, coarse_b) = self.b.split_at_mut(n + 1);
        let (b, coarse_b) = (&b[n][RED], &mut coarse_b[0]);
        let Some(transfer) = transfers.get(n) else {
            smooth::restrict(level, RED, b, x, &tables[n + 1], coarse_b);
            return Ok(());
        };
        let up = |sums: &mut Halves| {
            let own = |place| smooth::residual_sums(level, RED, b, x, place);
            transfer.up(own, |parent, octant, octant_sums| {
                let [red, black] = &mut *sums;
                smooth::put(octant, octant_sums, [&mut red[parent], &mut black[parent]]);
            })
        };
        match entry {
            Some(entry) if entry.level == n + 1 => {
                let mut own = smooth::zeros(entry.table.local);
                smooth::restrict(level, RED, b, x, &entry.table, &mut own);
                up(&mut own)?;
                entry.gather.halves(&own[RED], &mut coarse_b[RED])?;
                entry.gather.halves(&own[BLACK], &mut coarse_b[BLACK])
            }
            _ => {
                smooth::restrict(level, RED, b, x, &tables[n + 1], coarse_b);
                up(coarse_b)
            }
        }
    }

    /// Adds the correction of the next level to the red cells of a level.
    fn prolong(&mut self, n: usize) -> Result<()> {
        let Hierarchy { tables, transfers, entry, .. } = self.hierarchy;
        let (fine, coarse) = self.x.split_at_mut(n + 1);
        let gathered = entry.as_ref().is_some_and(|entry| entry.level == n + 1);
        if let Some(transfer) = transfers.get(n)
            && !gathered
        {
            coarse[0].iter_mut().try_for_each(|halves| transfer.down(halves))?;
        }
        smooth::prolong(
            level_of(&self.held, self.hierarchy, n),
            RED,
            &tables[n],
            &coarse[0],
            &mut fine[n][RED],
        );
        self.refresh(n, RED)
    }
}

/// A level, the finest with its cells that are held.
fn level_of<'b>(held: &'b Option<Level>, hierarchy: &'b Hierarchy, n: usize) -> &'b Level {
    match held {
        Some(held) if n == 0 => held,
        _ => &hierarchy.levels[n],
    }
}

impl Preconditioner for Multigrid<'_> {
    fn name(&self) -> String {
        format!("multigrid on Buckets, {} levels", self.hierarchy.levels.len())
    }

    fn apply(&mut self, r: &[f64], z: &mut [f64]) -> Result<()> {
        let [red, black] = &mut self.b[0];
        red.par_iter_mut().zip(black).zip(r.par_chunks(VOXELS)).with_min_len(64).for_each(
            |((red, black), r)| {
                round(&r[..HALF], red);
                round(&r[HALF..], black);
            },
        );
        self.cycle(0, false)?;
        let [red, black] = &self.x[0];
        z.par_chunks_mut(VOXELS).zip(red).zip(black).with_min_len(64).for_each(
            |((z, red), black)| {
                widen(red, &mut z[..HALF]);
                widen(black, &mut z[HALF..]);
            },
        );
        Ok(())
    }

    /// Only the finest level knows of cells that are held; on coarser ones their share is spread over all.
    fn restrict(&mut self, free: Option<&[bool]>) -> Result<()> {
        let finest = self.hierarchy.finest();
        let wanted = finest.local() * VOXELS;
        if let Some(found) = free.map(<[bool]>::len).filter(|&found| found != wanted) {
            return Err(SolveError::WrongLength { what: "the list of free rows", found, wanted });
        }
        self.held = free.map(|free| finest.with_held(free));
        Ok(())
    }

    fn bytes(&self) -> u64 {
        let halves = self.x.iter().chain(&self.b).flatten();
        self.hierarchy.bytes()
            + self.held.as_ref().map_or(0, Level::bytes)
            + halves.map(|half| size_of_val(&half[..]) as u64).sum::<u64>()
    }
}

fn round(from: &[f64], to: &mut Half<f32>) {
    for (to, from) in to.as_flattened_mut().as_flattened_mut().iter_mut().zip(from) {
        *to = *from as f32;
    }
}

fn widen(from: &Half<f32>, to: &mut [f64]) {
    for (to, from) in to.iter_mut().zip(from.as_flattened().as_flattened()) {
        *to = f64::from(*from);
    }
}
