//! Objects that elements never tie to each other, such as strands of hair between contacts: each is assembled, factored and solved by
//! itself, eight of them side by side, and what is worked on stays in the cache.

use super::error::Result;
use super::local::OwnBlocks;
use super::term::{Term, TermNodes};
use super::unknowns::Unknowns;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;
use undine_linsolve::manybodies::{BandMemory, BandReport, Bands};
use undine_linsolve::matrix::{Element, Elements, Nodes};
use undine_linsolve::{Outcome, Report, Stop};

/// Some of what a system is made of: groups with their inertia and Forces, and elements.
#[derive(Debug)]
pub(super) struct Piece {
    /// The groups: span, and group in it.
    groups: Vec<(usize, usize)>,
    /// The elements of each term.
    touching: Vec<Vec<u32>>,
    /// Inertia and Forces of groups, then each term's elements.
    pub elements: Vec<Elements>,
}

/// The tied part of a system, as pieces are cut out of it.
pub(super) struct Whole<'a> {
    pub unknowns: &'a Unknowns,
    pub terms: &'a [&'a dyn Term],
    /// The nodes of every term's elements, and the number of each in the tied part.
    pub nodes: &'a [TermNodes],
    pub number: &'a [u32],
    pub sizes: &'a Arc<Nodes>,
}

impl Whole<'_> {
    /// Whether an element with these nodes is part of it. It ties all of them, so that the first says so.
    pub fn has(&self, nodes: &[u32]) -> bool {
        nodes.first().is_some_and(|&node| self.number[node as usize] != u32::MAX)
    }
}

impl Piece {
    /// Of these groups, and of these elements of each term.
    pub fn new(
        whole: &Whole<'_>,
        groups: Vec<(usize, usize)>,
        touching: Vec<Vec<u32>>,
    ) -> Result<Self> {
        let Whole { unknowns, terms, nodes, number, sizes } = whole;
        let mut own = Elements::new(sizes);
        for &(span, group) in &groups {
            let span = &unknowns.spans()[span];
            let first = number[span.node + span.kind.nodes() * group];
            own.add_dense(&[first, first + 1][..span.kind.nodes()])?;
        }
        let mut elements = vec![own];
        let mut numbers = Vec::new();
        for ((term, nodes), touching) in terms.iter().zip(*nodes).zip(&touching) {
            let mut theirs = Elements::new(sizes);
            for &element in touching {
                numbers.clear();
                let touched = nodes.of(element as usize);
                numbers.extend(touched.iter().map(|&node| number[node as usize]));
                match term.rows() {
                    0 => theirs.add_dense(&numbers)?,
                    rows => theirs.add_rows(&numbers, rows)?,
                }
            }
            elements.push(theirs);
        }
        Ok(Self { groups, touching, elements })
    }

    /// The values of all elements, at the current iterate.
    pub fn fill(
        &mut self,
        unknowns: &Unknowns,
        own: &OwnBlocks,
        dt: f64,
        terms: &[&dyn Term],
    ) -> Result<()> {
        let (groups, theirs) = self.elements.split_at_mut(1);
        let list = &self.groups;
        groups[0].fill(|n, values| {
            if let Element::Dense { force, matrix } = values {
                let (span, group) = list[n];
                let (own_force, own_matrix) = own.of(span, &unknowns.spans()[span], group);
                force.copy_from_slice(own_force);
                matrix.copy_from_slice(own_matrix);
            }
        });
        for ((term, touching), elements) in terms.iter().zip(&self.touching).zip(theirs) {
            term.fill(dt, touching, elements)?;
        }
        Ok(())
    }
}

/// All Objects of a system, eight in a piece.
#[derive(Debug)]
pub(super) struct Apart {
    pieces: Vec<(Piece, Bands)>,
    /// The piece of each Object, and its place there.
    places: Vec<(u32, u32)>,
    /// Where the rows of each Object begin.
    firsts: Vec<u32>,
    /// Whether the factors are those of the last solve.
    is_solved: bool,
}

/// Memory of a thread, for one piece after another.
#[derive(Default)]
struct Memory {
    values: Vec<Vec<f64>>,
    bands: BandMemory,
}

impl Apart {
    /// None if elements tie Objects to each other, or do not lie in narrow bands. `objects` are the rows of each Object, which follow each
    /// other; `groups` are those of all, in the order of rows.
    pub fn new(
        whole: &Whole<'_>,
        objects: &[Range<usize>],
        groups: &[(usize, usize)],
    ) -> Result<Option<Self>> {
        let firsts: Vec<u32> = objects.iter().map(|rows| rows.start as u32).collect();
        let object_of = |row: usize| firsts.partition_point(|&first| first as usize <= row) - 1;
        let batches =
            Bands::batches(&objects.iter().map(|rows| rows.len()).collect::<Vec<usize>>());
        let mut places = vec![(0, 0); objects.len()];
        for (piece, batch) in batches.iter().enumerate() {
            for (place, &object) in batch.iter().enumerate() {
                places[object as usize] = (piece as u32, place as u32);
            }
        }

        // Who gets which groups and elements, in their order.
        let starts = whole.sizes.starts();
        let mut own: Vec<Vec<(usize, usize)>> = vec![Vec::new(); batches.len()];
        for &(at, group) in groups {
            let span = &whole.unknowns.spans()[at];
            let node = whole.number[span.node + span.kind.nodes() * group];
            let object = object_of(starts[node as usize] as usize);
            own[places[object].0 as usize].push((at, group));
        }
        let mut touching: Vec<Vec<Vec<u32>>> =
            vec![vec![Vec::new(); whole.terms.len()]; batches.len()];
        for (term, nodes) in whole.nodes.iter().enumerate() {
            for element in (0..nodes.count()).filter(|&n| whole.has(nodes.of(n))) {
                let row = |&node: &u32| starts[whole.number[node as usize] as usize] as usize;
                let mut rows = nodes.of(element).iter().map(row);
                let Some(first) = rows.next() else { continue };
                let object = object_of(first);
                if !rows.all(|row| objects[object].contains(&row)) {
                    return Ok(None);
                }
                touching[places[object].0 as usize][term].push(element as u32);
            }
        }

        let mut pieces = Vec::with_capacity(batches.len());
        for ((batch, own), touching) in batches.iter().zip(own).zip(touching) {
            let mut piece = Piece::new(whole, own, touching)?;
            let rows = batch.iter().map(|&object| objects[object as usize].clone()).collect();
            let Some(bands) = Bands::new(whole.sizes, rows, &piece.elements) else {
                return Ok(None);
            };
            // Values are in memory that all pieces use.
            piece.elements.iter_mut().for_each(|elements| drop(elements.take_memory()));
            pieces.push((piece, bands));
        }
        Ok(Some(Self { pieces, places, firsts, is_solved: false }))
    }

    /// Assembles and solves; none if that is not enough, because an Object is not positive definite, or so nearly not that rounding
    /// leaves too much.
    pub fn solve(
        &mut self,
        (unknowns, own): (&Unknowns, &OwnBlocks),
        dt: f64,
        terms: &[&dyn Term],
        stop: &Stop,
    ) -> Result<Option<Report>> {
        let started = Instant::now();
        let work = |memory: &mut Memory, (piece, bands): &mut (Piece, Bands)| {
            memory.values.resize_with(piece.elements.len(), Vec::new);
            for (elements, values) in piece.elements.iter_mut().zip(&mut memory.values) {
                elements.use_memory(std::mem::take(values));
            }
            piece.fill(unknowns, own, dt, terms)?;
            let report = bands.solve(&piece.elements, &mut memory.bands)?;
            for (elements, values) in piece.elements.iter_mut().zip(&mut memory.values) {
                *values = elements.take_memory();
            }
            Ok(report)
        };
        let reports: Vec<BandReport> =
            self.pieces.par_iter_mut().map_init(Memory::default, work).collect::<Result<_>>()?;
        let sound = BandReport { is_sound: true, ..BandReport::default() };
        let found = reports.into_iter().fold(sound, BandReport::plus);
        let residual = if found.force > 0.0 { (found.residual / found.force).sqrt() } else { 0.0 };
        self.is_solved =
            found.is_sound && (residual <= stop.relative || found.largest <= stop.absolute);
        Ok(self.is_solved.then(|| Report {
            solver: "Cholesky".into(),
            preconditioner: format!("{} narrow bands", self.places.len()),
            outcome: Outcome::Converged,
            iterations: 0,
            residual,
            largest_residual: found.largest,
            history: vec![1.0, residual],
            setup_seconds: 0.0,
            solve_seconds: started.elapsed().as_secs_f64(),
            bytes: self.pieces.iter().map(|(_, bands)| bands.bytes()).sum(),
            notes: Vec::new(),
        }))
    }

    /// Whether the last solve was made here, and was good.
    pub fn is_solved(&self) -> bool {
        self.is_solved
    }

    /// The factors are those of no system any more.
    pub fn forget(&mut self) {
        self.is_solved = false;
    }

    /// Hands out all rows: which one, the force on it, and what it does.
    pub fn each_row(&self, mut visit: impl FnMut(usize, f64, f64)) {
        for (_, bands) in &self.pieces {
            for (place, rows) in bands.objects().iter().enumerate() {
                for (row, [force, x]) in rows.clone().zip(bands.solved(place)) {
                    visit(row, force, x);
                }
            }
        }
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        let ends = self.pieces.iter().flat_map(|(_, bands)| bands.objects());
        ends.map(|rows| rows.end).max().unwrap_or(0)
    }

    /// The rows of the Object that a row is of, and how it was factored.
    pub fn factor_of(&self, row: u32) -> Factored<'_> {
        let object = self.firsts.partition_point(|&first| first <= row) - 1;
        let (piece, place) = self.places[object];
        Factored { bands: &self.pieces[piece as usize].1, place: place as usize }
    }
}

/// The factor of one Object.
pub(super) struct Factored<'a> {
    bands: &'a Bands,
    place: usize,
}

impl Factored<'_> {
    /// Its rows.
    pub fn rows(&self) -> Range<usize> {
        self.bands.objects()[self.place].clone()
    }

    /// How many entries a row has left of the diagonal.
    pub fn width(&self) -> usize {
        self.bands.width()
    }

    /// Entries of a row of L, A = L·Lᵀ, that is so far behind the first: the last `width` left of the diagonal, and the reciprocal of
    /// that on it.
    pub fn row(&self, row: usize) -> impl Iterator<Item = f64> + '_ {
        self.bands.factor_row(self.place, row)
    }
}
