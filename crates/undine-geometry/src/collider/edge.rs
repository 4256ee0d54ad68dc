//! An edge that moves, against the edges of a mesh: what vertices alone would go around of, such as a needle or a blade.
//!
//! Ends of the edge are swept by themselves ([`super::triangles`]); that its inside meets the inside of a triangle before it meets one of
//! the triangle's edges, or one of its own ends does, cannot be. So edges against edges are all that is left ([`edge_edge`]).

use super::advance::{NEARER, TOUCH};
use super::form::{Held, Touch};
use super::triangles::{at_weights, half_thickness};
use crate::ccd::{Contact, Gap, edge_edge};
use crate::error::Result;
use crate::mesh_solid::MeshSolid;
use crate::solid::Solid;
use crate::triangle::frame;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;

/// An edge of which an end begins nearer to the mesh than this part of its radius grows out of it.
pub(super) const ROOTED: f64 = 0.25;

/// How an edge of a radius [m] goes, from time 0 to time 1, in the collider's coordinates.
#[derive(Debug, Clone, Copy)]
pub(super) struct EdgeWay {
    pub from: [DVec3; 2],
    pub to: [DVec3; 2],
    pub radius: f64,
    /// How near it was to stay on the leg before [m], if there was one.
    pub kept: Option<f64>,
}

/// Which part of an edge touched.
pub(super) type EdgeTouch = (f64, Touch);

/// A mesh while a leg lasts.
pub(super) struct MeshWay<'a> {
    pub mesh: &'a MeshSolid,
    /// Where vertices are at the end of it [m]; where they were, if nothing is said.
    pub end: Option<&'a [DVec3]>,
    /// Triangles that the edge may meet.
    pub near: Vec<u32>,
    /// [s]
    pub duration: f64,
}

impl EdgeWay {
    /// A box around all that it passes.
    pub fn bounds(&self, half: f64) -> Bounds {
        let reach = (1.0 + 2.0 * TOUCH) * (self.radius + half);
        let ([a, b], [c, d]) = (self.from, self.to);
        Bounds { min: a.min(b).min(c.min(d)) - reach, max: a.max(b).max(c.max(d)) + reach }
    }
}

/// An edge of a triangle: its vertices, and which corners of which triangle they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Line {
    vertices: [u32; 2],
    triangle: u32,
    corners: [usize; 2],
}

impl MeshWay<'_> {
    /// The first touch of an edge; and how near it may come on the next leg [m].
    pub fn first_touch(&self, way: &EdgeWay) -> Result<(Option<EdgeTouch>, Option<f64>)> {
        let lines = self.lines();
        let start = |line: &Line| {
            line.vertices.map(|n| self.mesh.bvh().triangles().positions()[n as usize])
        };
        let end = |line: &Line| match self.end {
            Some(end) => line.vertices.map(|n| end[n as usize]),
            None => start(line),
        };
        let half = half_thickness(self.mesh);
        let (full, [a, b]) = (way.radius + half, way.from);
        let mut separation = way.kept;
        if separation.is_none() {
            // What is near already may slide along and leave, but not come half as near.
            let near = Gap::new((1.0 + 2.0 * TOUCH) * full, 0.0)?;
            let mut nearest = f64::INFINITY;
            for line in &lines {
                let [c, d] = start(line);
                if let Some(met) = edge_edge([a, b, c, d], [a, b, c, d], near)? {
                    nearest = nearest.min(met.distance);
                }
            }
            separation = Some(if nearest.is_finite() { NEARER * nearest } else { full });
        }
        let separation = separation.unwrap_or(full);
        // Where it crosses the mesh when it begins, nobody can tell which side is whose.
        if separation <= 1e-6 * full {
            return Ok((None, Some(separation)));
        }
        let gap = Gap::new(separation, TOUCH * separation)?;
        let mut first: Option<(Contact, Line)> = None;
        for line in lines {
            let ([c, d], [g, h]) = (start(&line), end(&line));
            let found = edge_edge([a, b, c, d], [way.to[0], way.to[1], g, h], gap)?;
            if let Some(found) = found
                && first.is_none_or(|(first, _)| found.time < first.time)
            {
                first = Some((found, line));
            }
        }
        let touch = first.and_then(|(contact, line)| {
            let part = contact.weights[1];
            // What begins inside is kept from going deeper by where it ends. And what grows out of the mesh, as hair does out of skin, is
            // beside its edges from the start, on no side of them.
            let is_inside = self.mesh.distance(a.lerp(b, part)) < 0.0 && half == 0.0;
            let begins = self.mesh.distance(a).min(self.mesh.distance(b));
            let is_free = is_inside || begins < ROOTED * way.radius;
            (!is_free).then(|| (part, self.touch(&contact, &line, way, half)))
        });
        Ok((touch, Some(separation)))
    }

    fn touch(&self, contact: &Contact, line: &Line, way: &EdgeWay, half: f64) -> Touch {
        let touch = Touch {
            time: contact.time,
            normal: contact.normal,
            distance: contact.distance - half,
            velocity: DVec3::ZERO,
            held: None,
        };
        let Some(end) = self.end else { return touch };
        let mut weights = [0.0; 3];
        (weights[line.corners[0]], weights[line.corners[1]]) =
            (-contact.weights[2], -contact.weights[3]);
        let start = self.mesh.bvh().triangles().corners(line.triangle as usize);
        let indices = self.mesh.bvh().triangles().indices()[line.triangle as usize];
        let end = indices.map(|vertex| end[vertex as usize]);
        let now = std::array::from_fn(|n| start[n].lerp(end[n], contact.time));
        let at = |k: usize| way.from[k].lerp(way.to[k], contact.time);
        let gap = at(0).lerp(at(1), contact.weights[1]) - at_weights(now, weights);
        let path = at_weights(end, weights) - at_weights(start, weights);
        Touch {
            velocity: path / self.duration.max(f64::MIN_POSITIVE),
            held: Some(Held {
                triangle: line.triangle,
                weights,
                offset: frame(now).transpose() * gap,
                normal: frame(now).transpose() * contact.normal,
            }),
            ..touch
        }
    }

    /// The edges of the triangles that are near, each once.
    fn lines(&self) -> Vec<Line> {
        let indices = self.mesh.bvh().triangles().indices();
        let of = |&triangle: &u32| {
            let ids = indices[triangle as usize];
            [[0, 1], [1, 2], [2, 0]].map(|[k, l]: [usize; 2]| {
                let corners = if ids[k] < ids[l] { [k, l] } else { [l, k] };
                Line { vertices: corners.map(|corner| ids[corner]), triangle, corners }
            })
        };
        let mut lines: Vec<Line> = self.near.iter().flat_map(of).collect();
        lines.sort_unstable();
        lines.dedup_by_key(|line| line.vertices);
        lines
    }
}
