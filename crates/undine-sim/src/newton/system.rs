//! The system of a Newton iteration: inertia, Forces and Constraints of all strongly coupled Objects, and its solution.
//!
//! Points, bodies and scalars that no element ties to others are solved one by one, without a matrix. The rest is assembled in
//! fixed order and goes to `undine-linsolve`, which chooses a method; with hard rows it is a saddle system.

use super::contact::Contacts;
use super::error::{NewtonError, Result};
use super::force::ForceTerm;
use super::island::{self, Island};
use super::iterate::{Linearised, Merit};
use super::local::OwnBlocks;
use super::saddle::{HardRows, solve_saddle};
use super::term::{Term, TermNodes};
use super::touch::{Block, Touch, TouchReport, TouchSettings, own_blocks};
use super::unknowns::{Inertia, Unknowns};
use rayon::prelude::*;
use std::sync::Arc;
use undine_linsolve::choose::{self, Method, Promise};
use undine_linsolve::krylov::cg;
use undine_linsolve::manybodies::{Blocks, Manybodies};
use undine_linsolve::matrix::{Assembly, Element, Elements, NodeRows, Nodes};
use undine_linsolve::{Report, Stop, vector};

/// Groups whose energy one task adds up.
const GROUPS_PER_TASK: usize = 1024;

/// How a system is solved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SystemSettings {
    /// The method of the linear solve; not for systems with hard rows.
    pub method: Method,
    /// When an iterative solve stops.
    pub stop: Stop,
    /// Systems with hard rows of at most this many rows are factored as L·D·Lᵀ; larger ones are for MINRES.
    pub saddle_direct_rows: usize,
    /// Enough when no contact is off by more than this speed [m/s].
    pub contact_speed: f64,
    /// The same where contacts hang on what elements tie together, such as strands, where forces go from contact to contact through
    /// all that is between.
    pub tied_contact_speed: f64,
    /// Most sweeps over all contacts.
    pub contact_sweeps: usize,
}

impl Default for SystemSettings {
    fn default() -> Self {
        Self {
            method: Method::Auto,
            stop: Stop::relative(1e-8),
            saddle_direct_rows: 50_000,
            contact_speed: 1e-8,
            tied_contact_speed: 1e-5,
            contact_sweeps: 1000,
        }
    }
}

/// All that enters one linearisation, at the current iterate.
#[derive(Clone, Copy)]
pub struct Iterate<'a> {
    /// The step Δt [s].
    pub dt: f64,
    /// The inertia of every span.
    pub inertia: &'a [Inertia<'a>],
    /// The Constraints, in the order in which the system was connected with them.
    pub terms: &'a [&'a dyn Term],
    /// The Forces, likewise.
    pub forces: &'a [ForceTerm<'a>],
}

/// What a solve found, besides the step.
#[derive(Debug, Clone)]
pub struct Solved {
    /// What the Newton loop needs to know.
    pub linearised: Linearised,
    /// For each term its multipliers, element after element; empty in stiffness mode.
    pub multipliers: Vec<Vec<f64>>,
}

/// A system over the unknowns of Objects, kept from iteration to iteration for its patterns and memory.
#[derive(Debug)]
pub struct System {
    unknowns: Unknowns,
    /// Where the unknowns of each node begin.
    row_of: Vec<u32>,
    own: OwnBlocks,
    coupled: Coupled,
}

/// The part of the system that elements tie together.
#[derive(Debug)]
struct Coupled {
    /// Whether each group is in it.
    groups: Vec<bool>,
    /// The groups that are: span, and group in it.
    list: Vec<(usize, usize)>,
    /// The number of each node in it.
    number: Vec<u32>,
    /// The unknown of the whole system that each row is.
    rows: Vec<u32>,
    /// The rows of each span or part of it, for solvers that take Objects one by one.
    objects: Blocks,
    /// The nodes of every term's elements.
    nodes: Vec<TermNodes>,
    /// What every term was connected as.
    lengths: Vec<Vec<usize>>,
    /// The elements of each term that touch any node.
    touching: Vec<Vec<u32>>,
    /// Inertia and Forces of groups, then each term's elements.
    elements: Vec<Elements>,
    assembly: Assembly,
    /// The factored blocks of Objects, kept for their memory and patterns.
    factors: Option<Manybodies>,
}

impl System {
    /// A system without elements.
    pub fn new(unknowns: Unknowns) -> Result<Self> {
        let mut row_of = Vec::with_capacity(unknowns.nodes());
        for span in unknowns.spans() {
            let (nodes, width) = (span.kind.nodes(), span.kind.unknowns());
            for group in 0..span.count {
                let mut row = span.row + width * group;
                for node in 0..nodes {
                    row_of.push(row as u32);
                    row += span.kind.size(node);
                }
            }
        }
        let coupled = Coupled::new(&unknowns, &[], Vec::new(), None)?;
        Ok(Self { unknowns, row_of, own: OwnBlocks::default(), coupled })
    }

    /// The unknowns.
    pub fn unknowns(&self) -> &Unknowns {
        &self.unknowns
    }

    /// Where the unknowns of each node begin.
    pub fn row_of(&self) -> &[u32] {
        &self.row_of
    }

    /// Takes in which elements there are: once a step, or whenever they change. Checks everything that they point at.
    pub fn connect(&mut self, terms: &[&dyn Term], forces: &[ForceTerm<'_>]) -> Result<()> {
        let terms = all_terms(terms, forces);
        let nodes = terms.iter().map(|term| term.nodes()).collect::<Result<Vec<_>>>()?;
        for (term, touched) in terms.iter().zip(&nodes) {
            let wanted = self.unknowns.nodes();
            if let Some(&node) = touched.nodes.iter().find(|&&node| node as usize >= wanted) {
                let (what, of, found) = ("a node", term.name().into(), node as usize);
                return Err(NewtonError::OutOfRange { what, index: 0, of, found, wanted });
            }
        }
        let lengths = terms.iter().map(|term| term.lengths());
        if nodes == self.coupled.nodes && lengths.eq(self.coupled.lengths.iter().cloned()) {
            return Ok(());
        }
        let mut coupled = Coupled::new(&self.unknowns, &terms, nodes, Some(&self.coupled))?;
        // Nodes that are the same keep the assembly, whose pattern may still be right.
        if coupled.assembly.nodes().nodes() == self.coupled.assembly.nodes().nodes() {
            std::mem::swap(&mut coupled.assembly, &mut self.coupled.assembly);
        }
        self.coupled = coupled;
        Ok(())
    }

    /// How many points, bodies and scalars are tied to others.
    pub fn coupled(&self) -> usize {
        self.coupled.list.len()
    }

    /// Assembles and solves: `du` of all unknowns.
    pub fn solve(
        &mut self,
        at: &Iterate<'_>,
        settings: &SystemSettings,
        du: &mut Vec<f64>,
    ) -> Result<Solved> {
        self.solve_touching(at, &mut Contacts::new(), settings, du)
    }

    /// The same with contacts, whose forces are found too.
    pub fn solve_touching(
        &mut self,
        at: &Iterate<'_>,
        contacts: &mut Contacts,
        settings: &SystemSettings,
        du: &mut Vec<f64>,
    ) -> Result<Solved> {
        self.check(at)?;
        let terms = all_terms(at.terms, at.forces);
        self.own.set(&self.unknowns, at.inertia, 1.0 / (at.dt * at.dt));
        for term in at.forces.iter().filter(|term| term.embedded.is_local()) {
            self.own.add(&self.unknowns, term)?;
        }
        du.clear();
        du.resize(self.unknowns.rows(), 0.0);
        self.own.solve(&self.unknowns, &self.coupled.groups, du)?;

        let mut linearised = Linearised::default();
        let mut hard = HardRows::default();
        let mut hard_ends = Vec::with_capacity(terms.len());
        if !self.coupled.list.is_empty() {
            self.coupled.assemble(&self.unknowns, &self.own, at.dt, &terms)?;
            for term in &terms {
                term.hard(&mut hard)?;
                hard_ends.push(hard.count());
            }
            let (found, lambda, report) = self.coupled.solve(&hard, settings)?;
            for (&row, &found) in self.coupled.rows.iter().zip(&found) {
                du[row as usize] = found;
            }
            // The force that counts is that of the whole, elements included.
            for (&row, &force) in self.coupled.rows.iter().zip(self.coupled.assembly.force()) {
                self.own.force[row as usize] = force;
            }
            linearised.violation = hard.values.iter().map(|c| c.abs()).sum();
            linearised.multiplier = vector::largest(&lambda);
            linearised.report = Some(report);
            hard.guesses = lambda;
        }
        if !contacts.is_empty() {
            let (report, work) = self.touch(at.dt, contacts, &mut hard, settings, du)?;
            (linearised.touch, linearised.work) = (Some(report), work);
        }
        self.check_finite(du)?;
        linearised.slope = -vector::dot(&self.own.force, du);
        linearised.residual = vector::largest(&self.own.force);
        linearised.moved = self.moved(at.inertia, du);
        let multipliers = self.multipliers(at, du, &hard, &hard_ends);
        Ok(Solved { linearised, multipliers })
    }

    /// Solves contacts: their forces, and what those make of `du`. Returns also the work of contacts along it [J].
    fn touch(
        &mut self,
        dt: f64,
        contacts: &mut Contacts,
        hard: &mut HardRows,
        settings: &SystemSettings,
        du: &mut [f64],
    ) -> Result<(TouchReport, f64)> {
        // The groups that are touched: those that nothing ties are blocks of their own, the others parts of islands.
        let mut touched = vec![false; self.unknowns.groups()];
        let mut tied = vec![false; self.coupled.rows.len()];
        for contact in 0..contacts.len() {
            for end in contacts.ends(contact) {
                let wanted = self.unknowns.nodes();
                if end.node as usize >= wanted {
                    let (what, of) = ("the node of contact", "the system".into());
                    let found = end.node as usize;
                    return Err(NewtonError::OutOfRange {
                        what,
                        index: contact,
                        of,
                        found,
                        wanted,
                    });
                }
                let (span, group) = self.unknowns.group_of(end.node as usize);
                if self.coupled.groups[span.group + group] {
                    let row = self.coupled.row_of(end.node);
                    tied[row..row + if end.lever.is_some() { 6 } else { 3 }].fill(true);
                } else {
                    touched[span.group + group] = true;
                }
            }
        }
        let (mut blocks, mut block_of) =
            own_blocks(&self.unknowns, &self.own, |group| touched[group])?;
        let first_island = blocks.len();
        let mut factored = Vec::new();
        if tied.contains(&true) {
            for (island, mut block) in self.coupled.islands(hard, &tied)? {
                for row in &mut block.rows {
                    *row = self.coupled.rows[*row as usize];
                    block_of[*row as usize] = blocks.len() as u32;
                }
                blocks.push(block);
                factored.push(island);
            }
        }
        let mut touch = Touch::new(&blocks, &block_of, &self.row_of, contacts, du);
        let report = touch.solve(&TouchSettings {
            tolerance: dt
                * match factored.is_empty() {
                    true => settings.contact_speed,
                    false => settings.tied_contact_speed,
                },
            sweeps: settings.contact_sweeps,
        });
        let islands = || blocks[first_island..].iter();
        let free: Vec<Vec<f64>> = islands().map(|block| block.pick(du)).collect();
        let work = touch.take(contacts, du, &mut self.own.force);

        // What is tied to what is touched follows, and so do the multipliers of hard rows.
        let pushes = touch.pushes().split_off(first_island);
        let follow = factored.par_iter().zip(&pushes).map(|(island, push)| island.follow(push));
        let follow: Vec<Vec<(u32, f64)>> = follow.collect();
        for ((block, free), follow) in islands().zip(free).zip(follow) {
            block.rows.iter().zip(free).for_each(|(&row, free)| du[row as usize] = free);
            for (row, follows) in follow {
                match self.coupled.rows.get(row as usize) {
                    Some(&row) => du[row as usize] += follows,
                    None => hard.guesses[row as usize - self.coupled.rows.len()] -= follows,
                }
            }
        }
        Ok((report, work))
    }

    /// The merit of the current iterate: inertia and Constraints. Work of Forces is the caller's to add
    /// ([`ForceTerm::potential`]).
    pub fn merit(&self, at: &Iterate<'_>) -> Result<Merit> {
        self.check(at)?;
        let per_dt2 = 1.0 / (at.dt * at.dt);
        let mut merit = Merit::default();
        for (span, inertia) in self.unknowns.spans().iter().zip(at.inertia) {
            let task = |first: usize| {
                let mut merit = Merit::default();
                let groups = first..(first + GROUPS_PER_TASK).min(span.count);
                groups.for_each(|group| merit.add(inertia.energy(group, per_dt2)));
                merit
            };
            let firsts: Vec<usize> = (0..span.count).step_by(GROUPS_PER_TASK).collect();
            let parts: Vec<Merit> = firsts.into_par_iter().map(task).collect();
            merit = parts.into_iter().fold(merit, Merit::plus);
        }
        Ok(at.terms.iter().fold(merit, |merit, term| merit.plus(term.merit(at.dt))))
    }

    /// That what is handed in is what the system was made for.
    fn check(&self, at: &Iterate<'_>) -> Result<()> {
        if !(at.dt > 0.0 && at.dt.is_finite()) {
            let what = "the step of time [s]".into();
            return Err(NewtonError::BadValue {
                what,
                found: at.dt,
                wanted: "positive and finite",
            });
        }
        let (found, wanted) = (at.inertia.len(), self.unknowns.spans().len());
        if found != wanted {
            let (what, of) = ("the inertia", "the system".into());
            return Err(NewtonError::WrongLength { what, of, found, wanted });
        }
        for (inertia, span) in at.inertia.iter().zip(self.unknowns.spans()) {
            inertia.check(span)?;
        }
        for force in at.forces {
            let Some(number) = force.embedded.span() else { continue };
            if !self.unknowns.spans().get(number).is_some_and(|span| force.embedded.fits(span)) {
                let found = format!("{} on particles of another span", force.name);
                let wanted = format!("those of span {number}");
                return Err(NewtonError::NotConnected { found, wanted });
            }
        }
        let terms = all_terms(at.terms, at.forces);
        let lengths: Vec<Vec<usize>> = terms.iter().map(|term| term.lengths()).collect();
        if lengths != self.coupled.lengths {
            let (found, wanted) = (format!("{lengths:?}"), format!("{:?}", self.coupled.lengths));
            return Err(NewtonError::NotConnected { found, wanted });
        }
        Ok(())
    }

    fn check_finite(&self, du: &[f64]) -> Result<()> {
        let Some(row) = du.iter().position(|du| !du.is_finite()) else { return Ok(()) };
        let at = self.unknowns.spans().partition_point(|span| span.row <= row) - 1;
        let span = &self.unknowns.spans()[at];
        let index = (row - span.row) / span.kind.unknowns();
        let (what, of) = ("the step of element", span.name.clone());
        Err(NewtonError::NotFinite { what, index, of, found: du[row] })
    }

    /// How far the step moves any material [m].
    fn moved(&self, inertia: &[Inertia<'_>], du: &[f64]) -> f64 {
        let spans = self.unknowns.spans().iter().zip(inertia);
        spans.fold(0.0, |largest: f64, (span, inertia)| {
            let width = span.kind.unknowns();
            let du = &du[span.row..span.row + width * span.count];
            let groups = du.par_chunks_exact(width).with_min_len(GROUPS_PER_TASK).enumerate();
            let moved = groups.map(|(group, du)| inertia.moved(group, du)).reduce(|| 0.0, f64::max);
            largest.max(moved)
        })
    }

    /// The multipliers of every term that has any.
    fn multipliers(
        &self,
        at: &Iterate<'_>,
        du: &[f64],
        hard: &HardRows,
        hard_ends: &[usize],
    ) -> Vec<Vec<f64>> {
        let mut first = 0;
        let mut all = Vec::with_capacity(at.terms.len());
        for (number, term) in at.terms.iter().enumerate() {
            let mut lambda = Vec::new();
            let end = hard_ends.get(number).copied().unwrap_or(first);
            if term.has_multipliers() {
                lambda = term.recover(at.dt, du, &self.row_of);
                let rows = first..end;
                for (&place, &value) in hard.places[rows.clone()].iter().zip(&hard.guesses[rows]) {
                    lambda[place] = value;
                }
            }
            first = end;
            all.push(lambda);
        }
        all
    }
}

impl Coupled {
    /// Finds what is tied together; nodes that are those of the last time are shared with it.
    fn new(
        unknowns: &Unknowns,
        terms: &[&dyn Term],
        nodes: Vec<TermNodes>,
        last: Option<&Coupled>,
    ) -> Result<Self> {
        let mut groups = vec![false; unknowns.groups()];
        for &node in nodes.iter().flat_map(|term| &term.nodes) {
            let (span, group) = unknowns.group_of(node as usize);
            groups[span.group + group] = true;
        }

        // The nodes of those groups, numbered anew.
        let mut list = Vec::new();
        let mut number = vec![u32::MAX; unknowns.nodes()];
        let (mut sizes, mut rows, mut objects) = (Vec::new(), Vec::new(), Vec::new());
        for (at, span) in unknowns.spans().iter().enumerate() {
            let mut first_row = rows.len();
            let mut parts = span.parts.iter().copied().peekable();
            let (per_group, width) = (span.kind.nodes(), span.kind.unknowns());
            for group in (0..span.count).filter(|group| groups[span.group + group]) {
                let mut begins = false;
                while parts.next_if(|&part| part as usize <= group).is_some() {
                    begins = true;
                }
                if begins && rows.len() > first_row {
                    objects.push(first_row..rows.len());
                    first_row = rows.len();
                }
                list.push((at, group));
                for node in 0..per_group {
                    number[span.node + per_group * group + node] = sizes.len() as u32;
                    sizes.push(span.kind.size(node));
                }
                let first = span.row + width * group;
                rows.extend((first..first + width).map(|row| row as u32));
            }
            if rows.len() > first_row {
                objects.push(first_row..rows.len());
            }
        }
        let sizes = Nodes::of_sizes(sizes)?;
        let kept = last.filter(|last| **last.assembly.nodes().nodes() == sizes);
        let assembly = Assembly::new(match kept {
            Some(last) => last.assembly.nodes().clone(),
            None => NodeRows::single(sizes),
        });

        // The elements: of groups first, then of terms.
        let sizes = Arc::clone(assembly.nodes().nodes());
        let mut own = Elements::new(&sizes);
        for &(span, group) in &list {
            let span = &unknowns.spans()[span];
            let first = number[span.node + span.kind.nodes() * group];
            own.add_dense(&[first, first + 1][..span.kind.nodes()])?;
        }
        let mut elements = vec![own];
        let mut touching = Vec::new();
        let mut numbers = Vec::new();
        for term in &nodes {
            let mut theirs = Elements::new(&sizes);
            let mut active = Vec::new();
            for element in (0..term.count()).filter(|&element| !term.of(element).is_empty()) {
                numbers.clear();
                numbers.extend(term.of(element).iter().map(|&node| number[node as usize]));
                theirs.add_dense(&numbers)?;
                active.push(element as u32);
            }
            elements.push(theirs);
            touching.push(active);
        }
        let lengths = terms.iter().map(|term| term.lengths()).collect();
        let objects = Blocks::ranges(&objects);
        Ok(Self {
            groups,
            list,
            number,
            rows,
            objects,
            nodes,
            lengths,
            touching,
            elements,
            assembly,
            factors: None,
        })
    }

    /// Fills all elements and adds them up.
    fn assemble(
        &mut self,
        unknowns: &Unknowns,
        own: &OwnBlocks,
        dt: f64,
        terms: &[&dyn Term],
    ) -> Result<()> {
        let (groups, theirs) = self.elements.split_at_mut(1);
        let list = &self.list;
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
        let lists: Vec<&Elements> = self.elements.iter().collect();
        self.assembly.assemble(&lists)?;
        Ok(())
    }

    /// Where the unknowns of a node begin among its rows.
    fn row_of(&self, node: u32) -> usize {
        self.assembly.nodes().nodes().starts()[self.number[node as usize] as usize] as usize
    }

    /// The islands that contacts touch.
    fn islands(&self, hard: &HardRows, touched: &[bool]) -> Result<Vec<(Island, Block)>> {
        let Some(matrix) = self.assembly.matrix() else { return Ok(Vec::new()) };
        let matrix = matrix.to_matrix()?;
        let rows = hard.matrix(self.rows.len(), |node| self.row_of(node))?;
        Ok(island::islands(matrix.csr(), &rows, touched))
    }

    /// Solves: the unknowns, the multipliers of hard rows, and how it went.
    fn solve(
        &mut self,
        hard: &HardRows,
        settings: &SystemSettings,
    ) -> Result<(Vec<f64>, Vec<f64>, Report)> {
        let force = self.assembly.force();
        let Some(matrix) = self.assembly.matrix() else {
            let (found, wanted) = ("no elements".into(), "elements".into());
            return Err(NewtonError::NotConnected { found, wanted });
        };
        let matrix = matrix.to_matrix()?;
        let nodes = self.assembly.nodes().nodes();
        if hard.count() > 0 {
            let row_of = |node: u32| self.row_of(node);
            let found = solve_saddle(matrix.csr(), nodes, hard, row_of, force, settings)?;
            return Ok((found.du, found.lambda, found.report));
        }
        let system = choose::System {
            promise: Promise::PositiveDefinite,
            nodes: Some(nodes),
            objects: Some(&self.objects),
            ..choose::System::new(&matrix)
        };
        let mut du = vec![0.0; force.len()];
        let method = match settings.method {
            // What suited a system suits the next one with the same elements.
            Method::Auto if self.factors.is_some() => Method::Manybodies,
            Method::Auto => system.choose()?.0,
            method => method,
        };
        if method == Method::Manybodies {
            let mut factors = match self.factors.take() {
                Some(mut factors) => {
                    factors.refactor(&matrix)?;
                    factors
                }
                None => Manybodies::new(&matrix, &self.objects)?,
            };
            let report = cg(&matrix, &mut factors, force, &mut du, &settings.stop)?;
            self.factors = Some(factors);
            if report.converged() {
                return Ok((du, Vec::new(), report));
            }
            du.fill(0.0);
        }
        let report = system.solve(method, force, &mut du, &settings.stop)?;
        Ok((du, Vec::new(), report))
    }
}

/// The Constraints, and the Forces that couple points because of how their particles hang on them.
fn all_terms<'a>(terms: &[&'a dyn Term], forces: &'a [ForceTerm<'a>]) -> Vec<&'a dyn Term> {
    let spread = forces.iter().filter(|force| !force.embedded.is_local());
    terms.iter().copied().chain(spread.map(|force| force as &dyn Term)).collect()
}
