//! The system of a Newton iteration: inertia, Forces and Constraints of all strongly coupled Objects, and its solution.
//!
//! Points, bodies and scalars that no element ties to others are solved one by one, without a matrix. The rest is assembled in
//! fixed order and goes to `undine-linsolve`, which chooses a method; with hard rows it is a saddle system.

use super::apart::{Apart, Piece, Whole};
use super::contact::Contacts;
use super::error::{NewtonError, Result};
use super::force::ForceTerm;
use super::island::Islands;
use super::iterate::{Linearised, Merit};
use super::local::OwnBlocks;
use super::response::{Enough, Response, Tied};
use super::saddle::{HardRows, solve_saddle};
use super::share::{Among, Share};
use super::term::{Term, TermNodes};
use super::touch::TouchReport;
use super::unknowns::{Inertia, Unknowns};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use undine_core::process::Processes;
use undine_linsolve::choose::{self, Method, Promise};
use undine_linsolve::krylov::cg;
use undine_linsolve::manybodies::{Blocks, Manybodies};
use undine_linsolve::matrix::{Assembly, Elements, NodeRows, Nodes, Pattern};
use undine_linsolve::{Matrix, Report, Stop, vector};

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
    /// On several processes, at most this many contacts that know of each other are left to one of them, even if that is more than its share.
    pub contacts_alone: usize,
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
            contacts_alone: 1000,
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
    /// The processes that solve it together, if there are several.
    among: Option<Among>,
    /// Whether it has to be told anew where everything is, and whether it was since elements were taken in.
    is_stale: bool,
    has_moved: bool,
    /// What the last solve leaves for contacts that are found after it.
    kept: Kept,
}

/// What a solve has found before contacts.
#[derive(Debug, Default)]
struct Kept {
    /// What unknowns would do without contacts, and the force on each.
    free: Vec<f64>,
    force: Vec<f64>,
    /// The hard rows, with their multipliers, and where those of each term end.
    hard: HardRows,
    hard_ends: Vec<usize>,
    /// What contacts have touched.
    islands: Islands,
    /// All but what contacts change.
    linearised: Linearised,
}

/// The part of the system that elements tie together.
#[derive(Debug)]
struct Coupled {
    /// Whether each group is tied to others.
    groups: Vec<bool>,
    /// Who works on which of them, where several processes do; all that follows is then about those of this process alone.
    share: Option<Share>,
    /// The groups in it: span, and group in it.
    list: Vec<(usize, usize)>,
    /// The number of each node in it, and the rows of those.
    number: Vec<u32>,
    sizes: NodeRows,
    /// The unknown of the whole system that each row is.
    rows: Vec<u32>,
    /// The rows of each span or part of it, for solvers that take Objects one by one.
    objects: Vec<Range<usize>>,
    /// The nodes of every term's elements, and what they follow from.
    nodes: Vec<TermNodes>,
    patterns: Vec<Option<Vec<u32>>>,
    /// What every term was connected as.
    lengths: Vec<Vec<usize>>,
    /// Objects one by one, where nothing ties them to each other.
    apart: Option<Apart>,
    /// All of it as one matrix, where that does not do.
    joined: Option<Joined>,
}

/// What elements tie together, as one matrix.
#[derive(Debug)]
struct Joined {
    piece: Piece,
    assembly: Assembly,
    /// What was assembled, without blocks.
    matrix: Option<Matrix>,
    objects: Blocks,
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
        let coupled = Coupled::new(&unknowns, &[], Vec::new(), None, None)?;
        let (own, kept) = (OwnBlocks::default(), Kept::default());
        Ok(Self {
            unknowns,
            row_of,
            own,
            coupled,
            among: None,
            is_stale: true,
            has_moved: false,
            kept,
        })
    }

    /// Whether it has to be told where everything is, to be shared out among several processes.
    pub fn is_stale(&self) -> bool {
        self.is_stale
    }

    /// Shares the work out among processes from the next time on that elements are taken in, by where the groups of all spans are along a
    /// space-filling curve. All calls are then collective: each process has the same unknowns, elements and contacts.
    pub fn share(&mut self, processes: &Arc<dyn Processes>, places: Vec<u64>) {
        (self.is_stale, self.has_moved) = (false, true);
        self.among =
            (processes.count() > 1).then(|| Among { processes: Arc::clone(processes), places });
    }

    /// How many unknowns of what elements tie together this process works on.
    pub fn own_rows(&self) -> usize {
        self.coupled.rows.len()
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
        terms.iter().try_for_each(|term| term.check_values())?;
        let lengths = terms.iter().map(|term| term.lengths());
        let same_lengths = lengths.eq(self.coupled.lengths.iter().cloned());
        let among = self.among_whom(&terms)?;
        let is_shared_as_before =
            among.is_some() == self.coupled.share.is_some() && !self.has_moved;
        let mut patterns = terms.iter().zip(&self.coupled.patterns);
        if same_lengths
            && is_shared_as_before
            && patterns.all(|(term, known)| follows(*term, known.as_deref()))
        {
            return Ok(());
        }
        let nodes = terms.iter().map(|term| term.nodes()).collect::<Result<Vec<_>>>()?;
        for (term, touched) in terms.iter().zip(&nodes) {
            let wanted = self.unknowns.nodes();
            if let Some(&node) = touched.nodes.iter().find(|&&node| node as usize >= wanted) {
                let (what, of, found) = ("a node", term.name().into(), node as usize);
                return Err(NewtonError::OutOfRange { what, index: 0, of, found, wanted });
            }
        }
        let is_same = same_lengths && nodes == self.coupled.nodes;
        if is_same && is_shared_as_before {
            return Ok(());
        }
        let share = among.map(|among| {
            Share::new(among, &self.unknowns, &tied_groups(&self.unknowns, &nodes), &nodes)
        });
        self.has_moved = false;
        let is_shared_alike = match (&share, &self.coupled.share) {
            (Some(share), Some(before)) => share.is_like(before),
            (share, before) => share.is_none() && before.is_none(),
        };
        if is_same && is_shared_alike {
            return Ok(());
        }
        let mut coupled = Coupled::new(&self.unknowns, &terms, nodes, Some(&self.coupled), share)?;
        // Nodes that are the same keep the assembly, whose pattern may still be right.
        if let Some(joined) = self.coupled.joined.take()
            && coupled.sizes.nodes() == self.coupled.sizes.nodes()
        {
            coupled.join(&self.unknowns, &terms, Some(joined.assembly))?;
        }
        self.coupled = coupled;
        Ok(())
    }

    /// Who solves it together, if several processes do. Hard rows are solved for with all that they tie at once: with any, every process has the
    /// whole.
    fn among_whom(&self, terms: &[&dyn Term]) -> Result<Option<&Among>> {
        let mut hard = HardRows::default();
        for term in terms.iter().filter(|_| self.among.is_some()) {
            term.hard(&mut hard)?;
        }
        Ok(self.among.as_ref().filter(|_| hard.count() == 0))
    }

    /// Forgets all but its patterns.
    pub fn forget(&mut self) {
        let mut islands = std::mem::take(&mut self.kept.islands);
        islands.forget();
        self.kept = Kept { islands, ..Kept::default() };
        self.is_stale = true;
        if let Some(joined) = &mut self.coupled.joined {
            joined.factors = None;
        }
        if let Some(apart) = &mut self.coupled.apart {
            apart.forget();
        }
    }

    /// How many points, bodies and scalars are tied to others.
    pub fn coupled(&self) -> usize {
        self.coupled.groups.iter().filter(|is_tied| **is_tied).count()
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
        let here = self.coupled.share.as_ref().map(|share| &share.here[..]);
        self.own.set(&self.unknowns, at.inertia, 1.0 / (at.dt * at.dt), here);
        let mut local = at.forces.iter().filter(|term| term.embedded.is_local());
        let added = local.try_for_each(|term| self.own.add(&self.unknowns, term, here));
        match &self.coupled.share {
            Some(share) => share.agree(added)?,
            None => added?,
        }
        du.clear();
        du.resize(self.unknowns.rows(), 0.0);
        self.own.solve(&self.unknowns, &self.coupled.groups, du)?;

        let mut linearised = Linearised::default();
        let mut hard = HardRows::default();
        let mut hard_ends = Vec::with_capacity(terms.len());
        if self.coupled.groups.contains(&true) {
            let own = self.solve_tied(at.dt, &terms, settings, (&mut hard, &mut hard_ends), du);
            let (lambda, mut report) = match &self.coupled.share {
                Some(share) => share.agree(own)?,
                None => own?,
            };
            if let Some(share) = &self.coupled.share {
                share.gather(&mut [&mut du[..], &mut self.own.force[..]])?;
                report = share.join(report)?;
            }
            linearised.violation = hard.values.iter().map(|c| c.abs()).sum();
            linearised.multiplier = vector::largest(&lambda);
            linearised.report = report;
            hard.guesses = lambda;
        }
        self.kept.free.clone_from(du);
        self.kept.force.clone_from(&self.own.force);
        (self.kept.hard, self.kept.hard_ends) = (hard, hard_ends);
        self.kept.islands.forget();
        self.kept.linearised = linearised;
        self.finish(at, contacts, &[], settings, du)
    }

    /// Assembles and solves what elements tie together and this process works on: `du` of its unknowns, and the force on them. Returns the
    /// multipliers of hard rows, and how it went.
    fn solve_tied(
        &mut self,
        dt: f64,
        terms: &[&dyn Term],
        settings: &SystemSettings,
        (hard, hard_ends): (&mut HardRows, &mut Vec<usize>),
        du: &mut [f64],
    ) -> Result<(Vec<f64>, Option<Report>)> {
        if self.coupled.list.is_empty() {
            return Ok((Vec::new(), None));
        }
        for term in terms {
            term.hard(hard)?;
            hard_ends.push(hard.count());
        }
        let all = (&self.unknowns, &mut self.own);
        let (lambda, report) = self.coupled.solve(all, (dt, terms), hard, settings, du)?;
        Ok((lambda, Some(report)))
    }

    /// Solves anew for contacts that were found after the last solve, where unknowns had gone `from` since the state that was linearised
    /// then: `du` of all unknowns from that state. Nothing else is linearised anew.
    pub fn touch_again(
        &mut self,
        at: &Iterate<'_>,
        contacts: &mut Contacts,
        from: &[f64],
        settings: &SystemSettings,
        du: &mut Vec<f64>,
    ) -> Result<Solved> {
        self.check(at)?;
        let (found, wanted) = (from.len(), self.kept.free.len());
        if found != wanted {
            let (what, of) = ("how far unknowns had gone", "the system".into());
            return Err(NewtonError::WrongLength { what, of, found, wanted });
        }
        du.clone_from(&self.kept.free);
        self.own.force.clone_from(&self.kept.force);
        self.finish(at, contacts, from, settings, du)
    }

    /// Contacts, and what is told of a solve.
    fn finish(
        &mut self,
        at: &Iterate<'_>,
        contacts: &mut Contacts,
        from: &[f64],
        settings: &SystemSettings,
        du: &mut Vec<f64>,
    ) -> Result<Solved> {
        let mut linearised = self.kept.linearised.clone();
        let mut lambda = self.kept.hard.guesses.clone();
        if !contacts.is_empty() {
            let (report, work) =
                self.touch(at.dt, contacts, from, settings, (&mut *du, &mut lambda))?;
            (linearised.touch, linearised.work) = (Some(report), work);
        }
        self.check_finite(du)?;
        linearised.slope = -vector::dot(&self.own.force, du);
        linearised.residual = vector::largest(&self.own.force);
        linearised.moved = self.moved(at.inertia, du);
        let multipliers = self.multipliers(at, du, &lambda)?;
        Ok(Solved { linearised, multipliers })
    }

    /// Solves contacts: their forces, and what those make of unknowns and of the multipliers of hard rows. Returns also the work of
    /// contacts along the step [J].
    fn touch(
        &mut self,
        dt: f64,
        contacts: &mut Contacts,
        from: &[f64],
        settings: &SystemSettings,
        (du, lambda): (&mut Vec<f64>, &mut Vec<f64>),
    ) -> Result<(TouchReport, f64)> {
        let Self { unknowns, row_of, own, coupled, kept, .. } = self;
        let hard = kept.hard.matrix(coupled.rows.len(), |node| coupled.row_of(node))?;
        let matrix = coupled.joined.as_ref().and_then(|joined| joined.matrix.as_ref());
        let tied = Tied {
            groups: &coupled.groups,
            rows: &coupled.rows,
            row_of: &|node| coupled.row_of(node),
            apart: coupled.apart.as_ref().filter(|apart| apart.is_solved()),
            matrix: matrix.map(Matrix::csr),
            hard: &hard,
            islands: &mut kept.islands,
        };
        let (free, multipliers, share) = (&kept.free, &kept.hard.guesses, coupled.share.as_ref());
        let mut response = Response { unknowns, row_of, own, tied, free, multipliers, from, share };
        let enough = Enough {
            tolerances: [dt * settings.contact_speed, dt * settings.tied_contact_speed],
            sweeps: settings.contact_sweeps,
            alone: settings.contacts_alone,
        };
        let found = response.solve(contacts, &enough)?;
        (*du, *lambda) = (found.du, found.multipliers);
        let mut work = 0.0;
        for (row, push) in found.pushes {
            own.force[row as usize] += push;
            work += push * du[row as usize];
        }
        Ok((found.report, work))
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
        for term in at.terms {
            let sums = match &self.coupled.share {
                None => term.merits(0..term.sums(), at.dt),
                Some(share) => {
                    let own = term.merits(share.part(term.sums()), at.dt);
                    let own: Vec<[f64; 4]> = own.into_iter().map(Merit::to_array).collect();
                    let all = share.concat(own.as_flattened())?;
                    all.as_chunks().0.iter().copied().map(Merit::from_array).collect()
                }
            };
            merit = merit.plus(sums.into_iter().fold(Merit::default(), Merit::plus));
        }
        Ok(merit)
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
        if !self.is_connected(at) {
            let terms = all_terms(at.terms, at.forces);
            let lengths: Vec<Vec<usize>> = terms.iter().map(|term| term.lengths()).collect();
            let (found, wanted) = (format!("{lengths:?}"), format!("{:?}", self.coupled.lengths));
            return Err(NewtonError::NotConnected { found, wanted });
        }
        Ok(())
    }

    /// Whether these are terms like those that the system was connected with.
    pub fn is_connected(&self, at: &Iterate<'_>) -> bool {
        let terms = all_terms(at.terms, at.forces);
        terms.iter().map(|term| term.lengths()).eq(self.coupled.lengths.iter().cloned())
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
    fn multipliers(&self, at: &Iterate<'_>, du: &[f64], hard: &[f64]) -> Result<Vec<Vec<f64>>> {
        let mut first = 0;
        let mut all = Vec::with_capacity(at.terms.len());
        for (number, term) in at.terms.iter().enumerate() {
            let mut lambda = Vec::new();
            let end = self.kept.hard_ends.get(number).copied().unwrap_or(first);
            if term.has_multipliers() {
                let recover =
                    |elements: Range<usize>| term.recover(elements, at.dt, du, &self.row_of);
                lambda = match &self.coupled.share {
                    None => recover(0..term.elements()),
                    Some(share) => share.concat(&recover(share.part(term.elements())))?,
                };
                let rows = first..end;
                let places = &self.kept.hard.places[rows.clone()];
                for (&place, &value) in places.iter().zip(&hard[rows]) {
                    lambda[place] = value;
                }
            }
            first = end;
            all.push(lambda);
        }
        Ok(all)
    }
}

impl Coupled {
    /// Finds what is tied together; nodes that are those of the last time are shared with it.
    fn new(
        unknowns: &Unknowns,
        terms: &[&dyn Term],
        nodes: Vec<TermNodes>,
        last: Option<&Coupled>,
        share: Option<Share>,
    ) -> Result<Self> {
        let groups = tied_groups(unknowns, &nodes);
        let is_here =
            |group: usize| groups[group] && share.as_ref().is_none_or(|share| share.is_mine(group));

        // The nodes of those groups, numbered anew.
        let mut list = Vec::new();
        let mut number = vec![u32::MAX; unknowns.nodes()];
        let (mut sizes, mut rows, mut objects) = (Vec::new(), Vec::new(), Vec::new());
        for (at, span) in unknowns.spans().iter().enumerate() {
            let mut first_row = rows.len();
            let mut parts = span.parts.iter().copied().peekable();
            let (per_group, width) = (span.kind.nodes(), span.kind.unknowns());
            for group in (0..span.count).filter(|group| is_here(span.group + group)) {
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
        let kept = last.filter(|last| **last.sizes.nodes() == sizes);
        let sizes = match kept {
            Some(last) => last.sizes.clone(),
            None => NodeRows::single(sizes),
        };
        let lengths = terms.iter().map(|term| term.lengths()).collect();
        let patterns = terms.iter().map(|term| pattern_of(*term)).collect();
        let whole = Whole { unknowns, terms, nodes: &nodes, number: &number, sizes: sizes.nodes() };
        // Contacts on several processes take what elements tie together for one.
        let is_whole = share.as_ref().is_none_or(|share| share.is_whole(unknowns, &list));
        let apart = if is_whole { Apart::new(&whole, &objects, &list)? } else { None };
        Ok(Self {
            groups,
            share,
            list,
            number,
            sizes,
            rows,
            objects,
            nodes,
            patterns,
            lengths,
            apart,
            joined: None,
        })
    }

    /// Where the unknowns of a node begin among its rows.
    fn row_of(&self, node: u32) -> usize {
        self.sizes.nodes().starts()[self.number[node as usize] as usize] as usize
    }

    /// Assembles and solves: what its unknowns do, the force on them, the multipliers of hard rows, and how it went.
    fn solve(
        &mut self,
        (unknowns, own): (&Unknowns, &mut OwnBlocks),
        (dt, terms): (f64, &[&dyn Term]),
        hard: &HardRows,
        settings: &SystemSettings,
        du: &mut [f64],
    ) -> Result<(Vec<f64>, Report)> {
        if let Some(apart) = &mut self.apart {
            apart.forget();
            if hard.count() == 0
                && settings.method == Method::Auto
                && let Some(report) = apart.solve((unknowns, &*own), dt, terms, &settings.stop)?
            {
                apart.each_row(|row, force, found| {
                    let row = self.rows[row] as usize;
                    (du[row], own.force[row]) = (found, force);
                });
                return Ok((Vec::new(), report));
            }
        }
        if self.joined.is_none() {
            self.join(unknowns, terms, None)?;
        }
        let Some(joined) = &mut self.joined else {
            let (found, wanted) = ("no elements".into(), "elements".into());
            return Err(NewtonError::NotConnected { found, wanted });
        };
        joined.assemble(unknowns, own, dt, terms)?;
        let (starts, number) = (self.sizes.nodes().starts(), &self.number);
        let row_of = |node: u32| starts[number[node as usize] as usize] as usize;
        let (found, lambda, report) = joined.solve(hard, row_of, settings)?;
        // The force that counts is that of the whole, elements included.
        let both = found.iter().zip(joined.assembly.force());
        for (&row, (found, force)) in self.rows.iter().zip(both) {
            (du[row as usize], own.force[row as usize]) = (*found, *force);
        }
        Ok((lambda, report))
    }

    /// Makes one matrix of all of it.
    fn join(
        &mut self,
        unknowns: &Unknowns,
        terms: &[&dyn Term],
        assembly: Option<Assembly>,
    ) -> Result<()> {
        let Self { nodes, number, sizes, .. } = self;
        let whole = Whole { unknowns, terms, nodes, number, sizes: sizes.nodes() };
        let touches = |nodes: &TermNodes| {
            (0..nodes.count() as u32).filter(|&n| whole.has(nodes.of(n as usize))).collect()
        };
        let piece = Piece::new(&whole, self.list.clone(), nodes.iter().map(touches).collect())?;
        let assembly = assembly.unwrap_or_else(|| Assembly::new(sizes.clone()));
        let objects = Blocks::ranges(&self.objects);
        self.joined = Some(Joined { piece, assembly, matrix: None, objects, factors: None });
        Ok(())
    }
}

impl Joined {
    /// Fills all elements and adds them up.
    fn assemble(
        &mut self,
        unknowns: &Unknowns,
        own: &OwnBlocks,
        dt: f64,
        terms: &[&dyn Term],
    ) -> Result<()> {
        self.piece.fill(unknowns, own, dt, terms)?;
        let lists: Vec<&Elements> = self.piece.elements.iter().collect();
        if self.assembly.assemble(&lists)? != Pattern::Reused {
            self.matrix = None;
        }
        Ok(())
    }

    /// Solves: the unknowns, the multipliers of hard rows, and how it went.
    fn solve(
        &mut self,
        hard: &HardRows,
        row_of: impl Fn(u32) -> usize + Sync,
        settings: &SystemSettings,
    ) -> Result<(Vec<f64>, Vec<f64>, Report)> {
        let force = self.assembly.force();
        let Some(blocks) = self.assembly.matrix() else {
            let (found, wanted) = ("no elements".into(), "elements".into());
            return Err(NewtonError::NotConnected { found, wanted });
        };
        match &mut self.matrix {
            Some(matrix) => blocks.refresh(matrix)?,
            none => *none = Some(blocks.to_matrix()?),
        }
        let Some(matrix) = &self.matrix else {
            let (found, wanted) = ("no matrix".into(), "one".into());
            return Err(NewtonError::NotConnected { found, wanted });
        };
        let nodes = self.assembly.nodes().nodes();
        if hard.count() > 0 {
            let found = solve_saddle(matrix.csr(), nodes, hard, row_of, force, settings)?;
            return Ok((found.du, found.lambda, found.report));
        }
        let system = choose::System {
            promise: Promise::PositiveDefinite,
            nodes: Some(nodes),
            objects: Some(&self.objects),
            ..choose::System::new(matrix)
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
                    factors.refactor(matrix)?;
                    factors
                }
                None => Manybodies::new(matrix, &self.objects)?,
            };
            let report = cg(blocks, &mut factors, force, &mut du, &settings.stop)?;
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

/// Which groups the nodes of elements are of.
fn tied_groups(unknowns: &Unknowns, nodes: &[TermNodes]) -> Vec<bool> {
    let mut groups = vec![false; unknowns.groups()];
    for &node in nodes.iter().flat_map(|term| &term.nodes) {
        groups[unknowns.group(node) as usize] = true;
    }
    groups
}

/// What the nodes of a term follow from, if it says so.
fn pattern_of(term: &dyn Term) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    let says = term.pattern(&mut |part| all.extend_from_slice(part));
    says.then_some(all)
}

/// Whether the nodes of a term follow from the same as those of a known pattern.
fn follows(term: &dyn Term, known: Option<&[u32]>) -> bool {
    let Some(mut rest) = known else { return false };
    let mut same = true;
    let says = term.pattern(&mut |part| {
        same &= rest.starts_with(part);
        rest = rest.get(part.len()..).unwrap_or(&[]);
    });
    says && same && rest.is_empty()
}

/// The Constraints, and the Forces that couple points because of how their particles hang on them.
fn all_terms<'a>(terms: &[&'a dyn Term], forces: &'a [ForceTerm<'a>]) -> Vec<&'a dyn Term> {
    let spread = forces.iter().filter(|force| !force.embedded.is_local());
    terms.iter().copied().chain(spread.map(|force| force as &dyn Term)).collect()
}
