//! Queries about many pairs at once, over all threads.

use super::filter::{Gathered, apart_edge_edge, apart_point_triangle};
use super::lanes::LANES;
use super::pair::{first_edge_edge, first_point_triangle};
use super::{Contact, Gap, beyond, check};
use crate::error::{GeometryError, Result};
use rayon::prelude::*;
use undine_core::glam::DVec3;

/// Vertices that move in straight lines; checked once, for all queries about them.
#[derive(Debug, Clone, Copy)]
pub struct MovingVertices<'a> {
    start: &'a [DVec3],
    end: &'a [DVec3],
}

impl<'a> MovingVertices<'a> {
    /// Vertices' positions [m] at the times 0 and 1: as many, finite, and not beyond [`super::FARTHEST`].
    pub fn new(start: &'a [DVec3], end: &'a [DVec3]) -> Result<Self> {
        if start.len() != end.len() {
            let (found, wanted) = (end.len(), start.len());
            return Err(GeometryError::WrongLength {
                what: "the positions at the end",
                found,
                wanted,
            });
        }
        for positions in [start, end] {
            if positions.par_chunks(4096).any(|some| check(some).is_err()) {
                let within = |at: &DVec3| check(std::slice::from_ref(at)).is_ok();
                let vertex = positions.iter().position(|at| !within(at)).unwrap_or(0);
                return Err(beyond(vertex, positions[vertex]));
            }
        }
        Ok(Self { start, end })
    }

    /// Positions at time 0 [m].
    pub fn start(&self) -> &'a [DVec3] {
        self.start
    }

    /// Positions at time 1 [m].
    pub fn end(&self) -> &'a [DVec3] {
        self.end
    }

    /// Refuses primitives, or pairs of them, of vertices that do not exist.
    pub(super) fn check_indices<const N: usize>(
        &self,
        what: &'static str,
        primitives: &[[u32; N]],
    ) -> Result<()> {
        let vertices = self.start.len();
        let dangling = |vertex: &&u32| **vertex as usize >= vertices;
        let bad = |primitive: &[u32; N]| primitive.iter().find(dangling).copied();
        let first = primitives.par_iter().position_first(|primitive| bad(primitive).is_some());
        match first.and_then(|number| Some((number, bad(&primitives[number])?))) {
            None => Ok(()),
            Some((number, vertex)) => {
                Err(GeometryError::DanglingVertex { what, number, vertex, vertices })
            }
        }
    }
}

/// A contact of one pair among many.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairContact {
    /// The number of the pair.
    pub pair: usize,
    /// Its first contact.
    pub contact: Contact,
}

/// The first contacts of points with triangles, in the order of pairs; a pair is the point's vertex and the corners.
/// Each is what [`super::point_triangle`] answers.
pub fn point_triangle_all(
    motion: MovingVertices<'_>,
    pairs: &[[u32; 4]],
    gap: Gap,
) -> Result<Vec<PairContact>> {
    all(motion, pairs, gap, apart_point_triangle, first_point_triangle)
}

/// The first contacts of edges with edges, in the order of pairs; a pair is the ends of the first and of the second edge.
/// Each is what [`super::edge_edge`] answers.
pub fn edge_edge_all(
    motion: MovingVertices<'_>,
    pairs: &[[u32; 4]],
    gap: Gap,
) -> Result<Vec<PairContact>> {
    all(motion, pairs, gap, apart_edge_edge, first_edge_edge)
}

/// So many pairs that a task is long against its scheduling, and short against the whole.
const CHUNK: usize = 2048;

fn all(
    motion: MovingVertices<'_>,
    pairs: &[[u32; 4]],
    gap: Gap,
    apart: impl Fn(&Gathered, Gap) -> [bool; LANES] + Sync,
    first: impl Fn(&[DVec3; 4], &[DVec3; 4], Gap) -> Option<Contact> + Sync,
) -> Result<Vec<PairContact>> {
    motion.check_indices("pair", pairs)?;
    let in_chunk = |(chunk, some): (usize, &[[u32; 4]])| {
        let mut hits = Vec::new();
        for (group, few) in some.chunks(LANES).enumerate() {
            // Lanes that are left over hold a pair at rest in one point, of which nobody asks.
            let mut gathered = Gathered::EMPTY;
            for (lane, pair) in few.iter().enumerate() {
                gathered.set(lane, pair, motion.start, motion.end);
            }
            let apart = apart(&gathered, gap);
            for (lane, pair) in few.iter().enumerate().filter(|&(lane, _)| !apart[lane]) {
                let start = pair.map(|vertex| motion.start[vertex as usize]);
                let end = pair.map(|vertex| motion.end[vertex as usize]);
                if let Some(contact) = first(&start, &end, gap) {
                    hits.push(PairContact { pair: chunk * CHUNK + group * LANES + lane, contact });
                }
            }
        }
        hits
    };
    let hits: Vec<Vec<PairContact>> = pairs.par_chunks(CHUNK).enumerate().map(in_chunk).collect();
    Ok(hits.concat())
}
