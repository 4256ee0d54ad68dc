//! Decimate: edges are collapsed, always the one that changes the shape least, until few enough triangles are left.
//!
//! Garland and Heckbert 1997, *Surface simplification using quadric error metrics*; the link condition, which keeps the
//! topology, after Dey, Edelsbrunner, Guha and Nekhayev 1999.

use super::origins::{Origins, Remeshed};
use super::quadric::Quadric;
use super::sides::Sides;
use super::{compact, proper_triangles};
use crate::error::{GeometryError, Result};
use crate::triangles::{Triangles, check_scale};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use undine_core::Forest;
use undine_core::glam::DVec3;

/// How far a mesh is decimated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decimation {
    /// It ends when no more triangles than these are left.
    pub triangles: usize,
    /// No edge is collapsed that would bring a vertex further than this [m] from the planes of the triangles for which
    /// it stands, as a root mean square. Infinite is no limit.
    pub error: f64,
    /// Whether the vertices of a boundary stay where they are. If not, they move along it.
    pub hold_boundary: bool,
}

/// A mesh that was decimated.
#[derive(Debug, Clone, PartialEq)]
pub struct Decimated {
    /// The mesh. A vertex lies near the mean of its sources, but where the shape is kept best. A triangle is the
    /// source triangle that it grew out of.
    pub remeshed: Remeshed,
    /// The largest root mean square distance [m] of a vertex to the planes of the triangles for which it stands.
    pub error: f64,
}

/// Collapses edges, until few enough triangles are left or no other edge may be collapsed.
///
/// A mesh that is closed stays closed, and a manifold stays one of the same topology: the Euler characteristic of every
/// part is kept, as is every loop of boundary. Triangles never turn over. Vertices where the mesh is no manifold stay
/// as they are. A triangle that has a vertex twice goes. Equal errors are taken in the order of vertex numbers.
pub fn decimate(mesh: &Triangles, decimation: Decimation) -> Result<Decimated> {
    if decimation.error.is_nan() || decimation.error < 0.0 {
        let (what, found) = ("the error of a decimation", decimation.error);
        return Err(GeometryError::BadParameter { what, found, wanted: "a length in metres" });
    }
    check_scale(mesh.positions())?;
    let mut work = Work::new(mesh, decimation)?;
    // A refused edge may be possible once its surroundings have changed: go on until a round changes nothing.
    loop {
        let before = work.left;
        work.round();
        if work.left == before || work.left <= decimation.triangles {
            break;
        }
    }
    work.finish()
}

const NONE: u32 = u32::MAX;

/// A vertex with more triangles than this is not collapsed: each collapse asks all of them again.
const MOST_AROUND: usize = 512;

/// The state of a decimation. Positions are from the middle of the mesh, so that places far away cost no digits.
struct Work {
    decimation: Decimation,
    origin: DVec3,
    positions: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    /// The numbers of the triangles in the mesh that came in.
    sources: Vec<u32>,
    is_there: Vec<bool>,
    left: usize,
    /// The corners `3 t + k` at each vertex: the first, and the one after each.
    first: Vec<u32>,
    next: Vec<u32>,
    quadrics: Vec<Quadric>,
    /// Vertices that stay where they are.
    held: Vec<bool>,
    /// Vertices on a boundary.
    rim: Vec<bool>,
    /// How often each vertex has changed: older candidates are void.
    changes: Vec<u32>,
    /// What each vertex is made of; empty for itself alone.
    origins: Vec<Vec<(u32, f64)>>,
    error: f64,
}

/// An edge that may be collapsed. The largest of a heap is the one of the least cost, then of the lowest vertices.
#[derive(PartialEq)]
struct Candidate {
    cost: f64,
    edge: [u32; 2],
    changes: [u32; 2],
}

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        other.cost.total_cmp(&self.cost).then(other.edge.cmp(&self.edge))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Where the ends of an edge would meet.
struct Meeting {
    place: DVec3,
    cost: f64,
    error: f64,
}

impl Work {
    fn new(mesh: &Triangles, decimation: Decimation) -> Result<Self> {
        let origin = mesh.bounds().map_or(DVec3::ZERO, |bounds| bounds.centre());
        let (triangles, sources) = proper_triangles(mesh);
        let positions: Vec<DVec3> = mesh.positions().iter().map(|&p| p - origin).collect();
        let mesh = Triangles::new(positions.clone(), triangles.clone())?;
        let sides = Sides::new(&mesh)?;
        let vertices = positions.len();
        let (mut held, rim) = held_and_rim(&mesh, &sides);
        if decimation.hold_boundary {
            held.iter_mut().zip(&rim).for_each(|(held, &rim)| *held |= rim);
        }

        let mut work = Self {
            decimation,
            origin,
            quadrics: quadrics(&mesh, &sides),
            is_there: vec![true; triangles.len()],
            left: triangles.len(),
            first: vec![NONE; vertices],
            next: vec![NONE; 3 * triangles.len()],
            changes: vec![0; vertices],
            origins: vec![Vec::new(); vertices],
            error: 0.0,
            positions,
            triangles,
            sources,
            held,
            rim,
        };
        for corner in (0..3 * work.triangles.len()).rev() {
            let vertex = work.triangles[corner / 3][corner % 3] as usize;
            work.next[corner] = std::mem::replace(&mut work.first[vertex], corner as u32);
        }
        Ok(work)
    }

    /// Collapses edges in the order of their cost, each that may be.
    fn round(&mut self) {
        let mut edges: Vec<[u32; 2]> = Vec::with_capacity(3 * self.left);
        for (&[a, b, c], _) in
            self.triangles.iter().zip(&self.is_there).filter(|(_, there)| **there)
        {
            edges.extend([[a, b], [b, c], [c, a]].map(|[a, b]| [a.min(b), a.max(b)]));
        }
        edges.sort_unstable();
        edges.dedup();
        let mut heap: BinaryHeap<Candidate> =
            edges.into_iter().filter_map(|edge| self.candidate(edge)).collect();

        let mut around = Vec::new();
        while self.left > self.decimation.triangles
            && let Some(Candidate { edge, changes, .. }) = heap.pop()
        {
            if changes != edge.map(|vertex| self.changes[vertex as usize]) {
                continue;
            }
            let Some(meeting) = self.meeting(edge) else { continue };
            if !self.keeps_topology(edge) || self.turns_over(edge, meeting.place) {
                continue;
            }
            self.collapse(edge, &meeting);
            let [kept, _] = edge;
            self.neighbours(kept, &mut around);
            let edges = around.iter().map(|&other| [kept.min(other), kept.max(other)]);
            heap.extend(edges.filter_map(|edge| self.candidate(edge)));
        }
    }

    fn candidate(&self, edge: [u32; 2]) -> Option<Candidate> {
        let cost = self.meeting(edge)?.cost;
        Some(Candidate { cost, edge, changes: edge.map(|vertex| self.changes[vertex as usize]) })
    }

    /// Where the ends of an edge would meet; `None` if they may not, or not at this cost.
    fn meeting(&self, edge: [u32; 2]) -> Option<Meeting> {
        let [a, b] = edge.map(|vertex| vertex as usize);
        let (p, q) = (self.positions[a], self.positions[b]);
        let sum = self.quadrics[a] + self.quadrics[b];
        // What is held does not move, and what is inside does not pull a boundary inwards.
        let place = match [self.held[a], self.held[b]] {
            [true, true] => return None,
            [true, false] if self.rim[b] => return None,
            [false, true] if self.rim[a] => return None,
            [true, false] => p,
            [false, true] => q,
            [false, false] => match [self.rim[a], self.rim[b]] {
                [true, false] => p,
                [false, true] => q,
                _ => sum.least(0.5 * (p + q)),
            },
        };
        let squares = sum.at(place);
        let error = if sum.weight > 0.0 { (squares / sum.weight).sqrt() } else { 0.0 };
        // Where the shape does not tell, short edges go first, which keeps triangles even.
        let cost = squares + 1e-6 * sum.weight * p.distance_squared(q);
        (error <= self.decimation.error && place.is_finite()).then_some(Meeting {
            place,
            cost,
            error,
        })
    }

    /// The link condition: the neighbours that both ends have are those of the triangles at the edge, no two of these
    /// triangles' outer sides already form one with both ends, and a boundary is not pinched.
    fn keeps_topology(&self, [a, b]: [u32; 2]) -> bool {
        let mut opposite = Vec::new();
        let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
        let mut count = 0;
        for triangle in self.around(a) {
            count += 1;
            let corners = self.triangles[triangle as usize];
            if corners.contains(&b) {
                opposite.extend(corners.iter().filter(|&&v| v != a && v != b));
            }
        }
        if count > MOST_AROUND || self.around(b).count() > MOST_AROUND {
            return false;
        }
        self.neighbours(a, &mut of_a);
        self.neighbours(b, &mut of_b);
        let shared: Vec<u32> =
            of_a.iter().copied().filter(|v| of_b.binary_search(v).is_ok()).collect();
        opposite.sort_unstable();
        if shared != opposite {
            return false;
        }
        let on_rim = self.rim[a as usize] && self.rim[b as usize];
        match opposite[..] {
            // An inner edge. Across it two boundaries, or two parts of one, would meet.
            [c, d] if !on_rim => {
                // A part of four triangles, or a fold on itself, would leave two triangles on each other.
                let both = |v: u32| {
                    self.around(v).any(|triangle| {
                        let corners = &self.triangles[triangle as usize];
                        corners.contains(&c) && corners.contains(&d)
                    })
                };
                !(both(a) && both(b))
            }
            // An edge of the boundary. A triangle all alone would leave nothing.
            [c] if on_rim => {
                let alone = |v: u32| of_sides(self, v, c) == 1;
                !(alone(a) && alone(b))
            }
            _ => false,
        }
    }

    /// Whether a triangle would turn over, or become a sliver, if the ends met there.
    fn turns_over(&self, [a, b]: [u32; 2], place: DVec3) -> bool {
        [[a, b], [b, a]].into_iter().any(|[end, other]| {
            self.around(end).any(|triangle| {
                let corners = self.triangles[triangle as usize];
                if corners.contains(&other) {
                    return false;
                }
                let old = corners.map(|vertex| self.positions[vertex as usize]);
                let new = std::array::from_fn(|k| if corners[k] == end { place } else { old[k] });
                let (before, after) = (normal(old), normal(new));
                let turned = after.dot(before) < 0.2 * after.length() * before.length();
                turned || evenness(new) < evenness(old).min(0.04) * 0.5
            })
        })
    }

    /// Both ends become the first, at the place where they meet.
    fn collapse(&mut self, [kept, gone]: [u32; 2], meeting: &Meeting) {
        let (a, b) = (kept as usize, gone as usize);
        // The triangles at the edge go; the others of the lost vertex get the kept one.
        let [of_kept, of_gone] =
            [kept, gone].map(|vertex| self.corners(vertex).collect::<Vec<u32>>());
        for corner in &of_gone {
            let triangle = (*corner / 3) as usize;
            if self.triangles[triangle].contains(&kept) {
                self.is_there[triangle] = false;
                self.left -= 1;
            } else {
                self.triangles[triangle][(*corner % 3) as usize] = kept;
            }
        }
        self.first[a] = NONE;
        self.first[b] = NONE;
        for corner in of_kept.into_iter().chain(of_gone).rev() {
            if self.is_there[(corner / 3) as usize] {
                self.next[corner as usize] = std::mem::replace(&mut self.first[a], corner);
            }
        }

        // The kept vertex is a mixture of both, by the place along the edge that is nearest to it.
        let (p, q) = (self.positions[a], self.positions[b]);
        let length = p.distance_squared(q);
        let part = if length > 0.0 {
            ((meeting.place - p).dot(q - p) / length).clamp(0.0, 1.0)
        } else {
            0.5
        };
        let gone_origins = std::mem::take(&mut self.origins[b]);
        let kept_origins = std::mem::take(&mut self.origins[a]);
        let scaled = |row: Vec<(u32, f64)>, vertex: u32, weight: f64| {
            let row = if row.is_empty() { vec![(vertex, 1.0)] } else { row };
            row.into_iter().map(move |(source, of_row)| (source, weight * of_row))
        };
        let kept_part = scaled(kept_origins, kept, 1.0 - part);
        let mixed = kept_part.chain(scaled(gone_origins, gone, part)).filter(|&(_, w)| w > 0.0);
        self.origins[a] = mixed.collect();

        self.positions[a] = meeting.place;
        self.quadrics[a] = self.quadrics[a] + self.quadrics[b];
        self.held[a] |= self.held[b];
        self.rim[a] |= self.rim[b];
        self.changes[a] += 1;
        self.changes[b] += 1;
        self.error = self.error.max(meeting.error);
    }

    /// The corners at a vertex, of triangles that are there.
    fn corners(&self, vertex: u32) -> impl Iterator<Item = u32> + '_ {
        let start = Some(self.first[vertex as usize]).filter(|&corner| corner != NONE);
        let after = |&corner: &u32| Some(self.next[corner as usize]).filter(|&next| next != NONE);
        std::iter::successors(start, after).filter(|&corner| self.is_there[(corner / 3) as usize])
    }

    /// The triangles at a vertex.
    fn around(&self, vertex: u32) -> impl Iterator<Item = u32> + '_ {
        self.corners(vertex).map(|corner| corner / 3)
    }

    /// The vertices that share a triangle with a vertex, ascending.
    fn neighbours(&self, vertex: u32, found: &mut Vec<u32>) {
        found.clear();
        found.extend(self.around(vertex).flat_map(|triangle| self.triangles[triangle as usize]));
        found.retain(|&other| other != vertex);
        found.sort_unstable();
        found.dedup();
    }

    fn finish(self) -> Result<Decimated> {
        let mut origins = Origins::none();
        for (vertex, row) in (0..).zip(&self.origins) {
            let alone = [(vertex, 1.0)];
            origins.push(if row.is_empty() { &alone } else { &row[..] }.iter().copied());
        }
        let positions: Vec<DVec3> = self.positions.iter().map(|&p| p + self.origin).collect();
        let triangles = self.triangles.iter().copied().zip(self.sources.iter().copied());
        let left = triangles.zip(&self.is_there).filter(|(_, there)| **there);
        let left = left.map(|(triangle, _)| triangle).collect();
        Ok(Decimated { remeshed: compact(&positions, origins, left)?, error: self.error })
    }
}

/// How many triangles have both vertices.
fn of_sides(work: &Work, a: u32, b: u32) -> usize {
    work.around(a).filter(|&triangle| work.triangles[triangle as usize].contains(&b)).count()
}

fn normal([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a)
}

/// From 0 for a triangle without area to 1 for one with equal sides.
fn evenness(corners: [DVec3; 3]) -> f64 {
    let [a, b, c] = corners;
    let squares = a.distance_squared(b) + b.distance_squared(c) + c.distance_squared(a);
    if squares > 0.0 { 2.0 * 3.0_f64.sqrt() * normal(corners).length() / squares } else { 0.0 }
}

/// The quadric of each vertex: the planes of its triangles by area, and at a boundary planes that stand upright on it.
fn quadrics(mesh: &Triangles, sides: &Sides) -> Vec<Quadric> {
    let mut quadrics = vec![Quadric::default(); mesh.positions().len()];
    let mut add = |vertices: &[u32], quadric: Quadric| {
        for &vertex in vertices {
            quadrics[vertex as usize] = quadrics[vertex as usize] + quadric;
        }
    };
    for (corners, indices) in mesh.iter().zip(mesh.indices()) {
        if let Some(unit) = normal(corners).try_normalize() {
            add(indices, Quadric::plane(corners[0], unit, 0.5 * normal(corners).length()));
        }
    }
    for (ends, uses) in sides.edges().ends().iter().zip(sides.edges().uses().rows()) {
        if let [side] = uses {
            let [p, q] = ends.map(|vertex| mesh.positions()[vertex as usize]);
            let upright = normal(mesh.corners((side / 3) as usize)).cross(q - p);
            if let Some(unit) = upright.try_normalize() {
                // Ten times what a triangle on the edge would weigh: boundaries are seen first.
                add(ends, Quadric::plane(p, unit, 10.0 * p.distance_squared(q)));
            }
        }
    }
    quadrics
}

/// Which vertices must stay, since the mesh is no manifold there, and which lie on a boundary.
fn held_and_rim(mesh: &Triangles, sides: &Sides) -> (Vec<bool>, Vec<bool>) {
    let vertices = mesh.positions().len();
    let (mut held, mut rim) = (vec![false; vertices], vec![false; vertices]);
    // The triangles around a vertex fall into fans: corners are in one if an edge at the vertex joins them.
    let mut fans = Forest::new(3 * mesh.len());
    for (edge, ends) in sides.edges().ends().iter().enumerate() {
        match (sides.pair(edge), &sides.edges().uses()[edge]) {
            (Some([one, other]), _) if sides.ends(one) != sides.ends(other) => {
                let next = |side: u32| if side % 3 == 2 { side - 2 } else { side + 1 };
                // They run against each other: one begins where the other ends.
                fans.join(one, next(other));
                fans.join(other, next(one));
            }
            (_, [_]) => ends.iter().for_each(|&vertex| rim[vertex as usize] = true),
            _ => ends.iter().for_each(|&vertex| held[vertex as usize] = true),
        }
    }
    let mut fan_of = vec![NONE; vertices];
    for (corner, &vertex) in mesh.indices().as_flattened().iter().enumerate() {
        let fan = fans.root(corner as u32);
        let first = &mut fan_of[vertex as usize];
        if *first == NONE {
            *first = fan;
        }
        held[vertex as usize] |= *first != fan;
    }
    (held, rim)
}
