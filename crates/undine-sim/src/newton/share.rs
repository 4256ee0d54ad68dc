//! Who works on what, where several processes solve one system together (Loki §6.3).
//!
//! Every process has all unknowns, elements and contacts, in the same order; what is shared out is the work on them. What elements tie
//! together is a *piece*, such as a strand of hair, and so is each point or body that nothing ties. Pieces are put in the order of their roots
//! along a space-filling curve, and cut so that every process gets as many unknowns: those of one process are neighbours. It fills
//! their elements, adds them up, factors and solves them, and what it finds is brought together in a fixed order. Nobody else has their matrices.

use super::error::{NewtonError, Result};
use super::term::TermNodes;
use super::unknowns::Unknowns;
use std::ops::Range;
use std::sync::Arc;
use undine_core::process::Processes;
use undine_core::{CoreError, Forest};
use undine_linsolve::{Outcome, Report, SolveError};

/// The processes that solve a system together, and where everything is.
#[derive(Debug, Clone)]
pub(super) struct Among {
    pub processes: Arc<dyn Processes>,
    /// The place of each group along a space-filling curve.
    pub places: Vec<u64>,
}

/// Which pieces there are, and who works on each.
#[derive(Debug, Clone)]
pub(super) struct Share {
    pub processes: Arc<dyn Processes>,
    /// The piece of each group.
    piece_of: Vec<u32>,
    /// Who works on each piece.
    owner: Vec<u32>,
    /// The unknowns of what is tied together in the pieces of each process, in rising order.
    rows: Vec<Vec<u32>>,
    /// Which groups this process looks at: its own, and what nothing ties.
    pub here: Vec<bool>,
}

/// A piece: where its root is, its first group, and what it weighs.
struct Piece {
    place: u64,
    root: u32,
    weight: u64,
}

impl Share {
    /// Shares out all pieces: `tied` says which groups elements touch, `nodes` are those of the elements.
    pub fn new(among: &Among, unknowns: &Unknowns, tied: &[bool], nodes: &[TermNodes]) -> Self {
        let groups = unknowns.groups();
        let mut joined = Forest::new(groups);
        for term in nodes {
            for element in 0..term.count() {
                let mut touched = term.of(element).iter().map(|&node| unknowns.group(node));
                let Some(first) = touched.next() else { continue };
                touched.for_each(|other| joined.join(first, other));
            }
        }
        // The lowest group of a piece is its root, and comes before the others.
        let (mut piece_of, mut pieces) = (vec![0; groups], Vec::new());
        for span in unknowns.spans() {
            for group in span.group..span.group + span.count {
                let root = joined.root(group as u32);
                if root as usize == group {
                    piece_of[group] = pieces.len() as u32;
                    let place = among.places.get(group).copied().unwrap_or(0);
                    pieces.push(Piece { place, root, weight: 0 });
                }
                let piece = piece_of[root as usize];
                piece_of[group] = piece;
                // What nothing ties is solved in no time.
                let weight = if tied[group] { 8 * span.kind.unknowns() as u64 } else { 1 };
                pieces[piece as usize].weight += weight;
            }
        }
        let processes = Arc::clone(&among.processes);
        let owner = cut(&pieces, processes.count());
        let mut rows = vec![Vec::new(); processes.count()];
        for span in unknowns.spans() {
            let width = span.kind.unknowns();
            for group in (0..span.count).filter(|group| tied[span.group + group]) {
                let of = owner[piece_of[span.group + group] as usize] as usize;
                let first = (span.row + width * group) as u32;
                rows[of].extend(first..first + width as u32);
            }
        }
        let rank = processes.rank() as u32;
        let is_mine = |piece: &u32| owner[*piece as usize] == rank;
        let here = piece_of.iter().zip(tied).map(|(piece, tied)| !tied || is_mine(piece)).collect();
        Self { processes, piece_of, owner, rows, here }
    }

    /// Whether two share out alike.
    pub fn is_like(&self, other: &Self) -> bool {
        self.piece_of == other.piece_of && self.owner == other.owner && self.rows == other.rows
    }

    /// The piece of a group.
    pub fn piece(&self, group: usize) -> u32 {
        self.piece_of[group]
    }

    /// Who works on a piece.
    pub fn owner(&self, piece: u32) -> usize {
        self.owner[piece as usize] as usize
    }

    /// Whether this process works on a group.
    pub fn is_mine(&self, group: usize) -> bool {
        self.owner(self.piece(group)) == self.processes.rank()
    }

    /// Whether each part of a span, such as a strand, is one piece, as far as its groups are among these: span, and group in it.
    pub fn is_whole(&self, unknowns: &Unknowns, groups: &[(usize, usize)]) -> bool {
        groups.windows(2).all(|pair| {
            let [(one, first), (other, second)] = [pair[0], pair[1]];
            let span = &unknowns.spans()[one];
            let between = span.parts.partition_point(|&part| part as usize <= second);
            let begins = span.parts.partition_point(|&part| part as usize <= first) < between;
            let is_next = one != other || begins;
            is_next || self.piece(span.group + first) == self.piece(span.group + second)
        })
    }

    /// Brings together what each process has found for the unknowns of its pieces. Collective.
    pub fn gather(&self, vectors: &mut [&mut [f64]]) -> Result<()> {
        let rank = self.processes.rank();
        let own = |vector: &[f64]| -> Vec<f64> {
            self.rows[rank].iter().map(|&row| vector[row as usize]).collect()
        };
        let values: Vec<f64> = vectors.iter().flat_map(|vector| own(vector)).collect();
        let all = self.processes.all_gather_values(&values).map_err(told)?;
        for (rows, values) in self.rows.iter().zip(&all) {
            let wanted = vectors.len() * rows.len();
            if values.len() != wanted {
                let (what, of) = ("the unknowns", "another process".into());
                return Err(NewtonError::WrongLength { what, of, found: values.len(), wanted });
            }
            let parts = values.chunks_exact(rows.len().max(1));
            for (vector, values) in vectors.iter_mut().zip(parts) {
                rows.iter().zip(values).for_each(|(&row, value)| vector[row as usize] = *value);
            }
        }
        Ok(())
    }

    /// This process's part of so many things that all look at alike.
    pub fn part(&self, count: usize) -> Range<usize> {
        let (rank, processes) = (self.processes.rank(), self.processes.count());
        count * rank / processes..count * (rank + 1) / processes
    }

    /// What all processes have made of their parts, one after another. Collective.
    pub fn concat(&self, own: &[f64]) -> Result<Vec<f64>> {
        Ok(self.processes.all_gather_values(own).map_err(told)?.concat())
    }

    /// The outcome, if all processes had success; otherwise the error of the first that failed, on every one. Collective.
    pub fn agree<T>(&self, outcome: Result<T>) -> Result<T> {
        let said = outcome.as_ref().err().map(ToString::to_string).unwrap_or_default();
        let said = self.processes.all_gather(said.as_bytes()).map_err(told)?;
        let Some(process) = said.iter().position(|said| !said.is_empty()) else { return outcome };
        let why = String::from_utf8_lossy(&said[process]).into_owned();
        Err(told(CoreError::OnProcess { process, count: self.processes.count(), why }))
    }

    /// The linear solves of all processes as one: the most iterations and the largest residual. Collective.
    pub fn join(&self, own: Option<Report>) -> Result<Option<Report>> {
        let figures = own.as_ref().map_or([0.0; 3], |report| {
            [1.0 + report.iterations as f64, report.residual, f64::from(!report.converged())]
        });
        let all = self.processes.all_gather_values(&[figures]).map_err(told)?.concat();
        let most = |n: usize| all.iter().fold(0.0, |most: f64, figures| most.max(figures[n]));
        let failed = all.iter().position(|figures| figures[2] != 0.0);
        // A process without pieces tells of those of the others.
        let mut joined = own.unwrap_or_else(none);
        joined.iterations = (most(0) - 1.0).max(0.0) as usize;
        joined.residual = most(1);
        if let Some(process) = failed.filter(|_| joined.converged()) {
            joined.outcome = Outcome::Stagnated;
            joined.notes.push(format!("process {process} did not get there"));
        }
        Ok(Some(joined))
    }
}

/// Shares out pieces by their places, so that all processes get about as much.
fn cut(pieces: &[Piece], processes: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..pieces.len() as u32).collect();
    order.sort_unstable_by_key(|&n| (pieces[n as usize].place, pieces[n as usize].root));
    let total: u64 = pieces.iter().map(|piece| piece.weight).sum();
    let (mut owner, mut before) = (vec![0; pieces.len()], 0);
    for n in order {
        // By the middle of each, in halves.
        let middle = u128::from(2 * before + pieces[n as usize].weight);
        let process = middle * processes as u128 / u128::from(2 * total.max(1));
        owner[n as usize] = (process as u32).min(processes as u32 - 1);
        before += pieces[n as usize].weight;
    }
    owner
}

/// How no solve went.
fn none() -> Report {
    Report {
        solver: "none".into(),
        preconditioner: "nothing".into(),
        outcome: Outcome::Converged,
        iterations: 0,
        residual: 0.0,
        largest_residual: 0.0,
        history: Vec::new(),
        setup_seconds: 0.0,
        solve_seconds: 0.0,
        bytes: 0,
        notes: Vec::new(),
    }
}

/// What went wrong between processes.
pub(super) fn told(error: CoreError) -> NewtonError {
    SolveError::from(error).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_cut_along_the_curve_into_equal_shares() {
        // Eight of equal weight, whose places run backwards, and one that weighs as much as all of them at the end.
        let piece = |n: u32, weight| Piece { place: 100 - u64::from(n), root: n, weight };
        let mut pieces: Vec<Piece> = (0..8).map(|n| piece(n, 10)).collect();
        assert_eq!(cut(&pieces, 2), [1, 1, 1, 1, 0, 0, 0, 0]);
        assert_eq!(cut(&pieces, 3), [2, 2, 2, 1, 1, 0, 0, 0]);
        assert_eq!(cut(&pieces, 1), [0; 8]);
        pieces.push(piece(9, 80));
        assert_eq!(cut(&pieces, 2), [1, 1, 1, 1, 1, 1, 1, 1, 0]);
        assert_eq!(cut(&[], 4), [0_u32; 0]);
    }
}
