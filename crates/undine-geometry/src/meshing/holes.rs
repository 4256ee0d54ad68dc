//! Fill holes: small loops of boundary get the triangulation that bends least, and of those the least area.
//!
//! Liepa 2003, *Filling holes in meshes*, §3, by the dynamic programme of Barequet and Sharir 1995, which takes
//! O(n³) steps for a loop of n edges.

use super::origins::{Origins, Remeshed};
use super::sides::Sides;
use crate::error::{GeometryError, Result};
use crate::triangles::{Triangles, check_scale};
use rayon::prelude::*;
use std::collections::HashMap;
use undine_core::glam::DVec3;

/// Which holes are small enough to be filled; both limits must be kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HoleLimits {
    /// The most edges around a hole, from 3 to 1000.
    pub edges: usize,
    /// The greatest length around a hole [m].
    pub length: f64,
}

impl Default for HoleLimits {
    fn default() -> Self {
        Self { edges: 100, length: f64::INFINITY }
    }
}

/// A mesh whose small holes are filled.
#[derive(Debug, Clone, PartialEq)]
pub struct Filled {
    /// The mesh: its vertices and triangles as they were, then the new triangles.
    pub remeshed: Remeshed,
    /// How many holes were filled.
    pub filled: usize,
    /// The vertices around each hole that is larger than the limits, in the sense of the missing triangles.
    pub left: Vec<Vec<u32>>,
}

/// Fills the holes of a mesh up to a size.
///
/// A hole is a loop of sides that no triangle runs against, each vertex once. If no hole is left, every edge has as many
/// triangles that run along it one way as the other: the mesh is closed. No new edge is put where there is one already,
/// unless the loop cannot be filled otherwise.
pub fn fill_holes(mesh: &Triangles, limits: HoleLimits) -> Result<Filled> {
    if !(3..=1000).contains(&limits.edges) {
        let (what, found) = ("the most edges around a hole", limits.edges as f64);
        return Err(GeometryError::BadParameter { what, found, wanted: "from 3 to 1000" });
    }
    if limits.length.is_nan() || limits.length < 0.0 {
        let (what, found) = ("the greatest length around a hole", limits.length);
        return Err(GeometryError::BadParameter { what, found, wanted: "a length in metres" });
    }
    check_scale(mesh.positions())?;
    let sides = Sides::new(mesh)?;
    let length = |hole: &Hole| {
        let at = |vertex: u32| mesh.positions()[vertex as usize];
        hole.iter().map(|&side| sides.ends(side)).map(|[a, b]| at(a).distance(at(b))).sum::<f64>()
    };
    let (small, large): (Vec<Hole>, Vec<Hole>) = holes(&sides)
        .into_iter()
        .partition(|hole| hole.len() <= limits.edges && length(hole) <= limits.length);

    let new: Vec<Vec<[u32; 3]>> = small.par_iter().map(|hole| fill(mesh, &sides, hole)).collect();
    let triangles = mesh.indices().iter().copied().chain(new.into_iter().flatten()).collect();
    let filled = Triangles::new(mesh.positions().to_vec(), triangles)?;
    let mut sources: Vec<Option<u32>> = (0..mesh.len() as u32).map(Some).collect();
    sources.resize(filled.len(), None);
    Ok(Filled {
        remeshed: Remeshed {
            mesh: filled,
            vertices: Origins::identity(mesh.positions().len()),
            triangles: sources,
        },
        filled: small.len(),
        left: large.iter().map(|hole| around(&sides, hole)).collect(),
    })
}

/// The sides around a hole, in the sense of the triangles that are missing: against that of the sides.
type Hole = Vec<u32>;

/// The vertices around a hole: side `i` leads from vertex `i + 1` to vertex `i`.
fn around(sides: &Sides, hole: &Hole) -> Vec<u32> {
    hole.iter().map(|&side| sides.ends(side)[1]).collect()
}

/// The loops of sides without a partner. At each vertex as many of them end as begin, since the rim of each triangle is
/// a loop; so a walk along them ends only where it meets itself, and there a loop is cut off.
fn holes(sides: &Sides) -> Vec<Hole> {
    // For each vertex the unpaired sides that lead to it, the lowest last.
    let mut leading_to: HashMap<u32, Vec<u32>> = HashMap::new();
    let unpaired = sides.unpaired();
    for &side in unpaired.iter().rev() {
        leading_to.entry(sides.ends(side)[1]).or_default().push(side);
    }
    let mut holes = Vec::new();
    let mut place: HashMap<u32, usize> = HashMap::new();
    for &first in &unpaired {
        let mut walk: Hole = Vec::new();
        let mut vertex = sides.ends(first)[1];
        while let Some(side) = leading_to.get_mut(&vertex).and_then(Vec::pop) {
            place.insert(vertex, walk.len());
            walk.push(side);
            vertex = sides.ends(side)[0];
            if let Some(start) = place.get(&vertex).copied() {
                let hole: Hole = walk.drain(start..).collect();
                hole.iter().for_each(|&side| {
                    place.remove(&sides.ends(side)[1]);
                });
                holes.push(hole);
            }
        }
    }
    holes
}

/// The triangles that fill a hole.
fn fill(mesh: &Triangles, sides: &Sides, hole: &Hole) -> Vec<[u32; 3]> {
    let vertices = around(sides, hole);
    let exists = |a: u32, b: u32| sides.edges().ends().binary_search(&[a.min(b), a.max(b)]).is_ok();
    let points: Vec<DVec3> = vertices.iter().map(|&v| mesh.positions()[v as usize]).collect();
    let beyond: Vec<DVec3> =
        hole.iter().map(|&side| mesh.positions()[sides.opposite(side) as usize]).collect();
    let strict = |a: usize, b: usize| !exists(vertices[a], vertices[b]);
    let triangles = triangulate(&points, &beyond, strict)
        .or_else(|| triangulate(&points, &beyond, |_, _| true))
        .unwrap_or_default();
    triangles.into_iter().map(|corners| corners.map(|n| vertices[n])).collect()
}

/// What a triangulation costs: the sharpest fold first, then the area.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Cost {
    /// The sharpest fold between neighbours, as a thousand times the sine of half its angle: finer differences are
    /// noise, and less is won by them than by less area.
    fold: u32,
    /// The area [m²].
    area: f64,
}

/// The best triangulation of a loop, seen from where it turns to the left. `beyond[i]` is the third corner of the
/// triangle on the other side of the edge from point `i` to the next. `None` if new edges are allowed nowhere.
fn triangulate(
    points: &[DVec3],
    beyond: &[DVec3],
    allowed: impl Fn(usize, usize) -> bool,
) -> Option<Vec<[usize; 3]>> {
    let count = points.len();
    if count < 3 {
        return None;
    }
    let normal = |a: DVec3, b: DVec3, c: DVec3| (b - a).cross(c - a);
    // The best triangulation of the points i to k, closed by the edge between them: its cost, and the middle point of
    // the triangle at that edge.
    let mut best: Vec<Option<(Cost, usize)>> = vec![None; count * count];
    let at = |i: usize, k: usize| i * count + k;
    for i in 0..count - 1 {
        best[at(i, i + 1)] = Some((Cost { fold: 0, area: 0.0 }, i));
    }
    for width in 2..count {
        for i in 0..count - width {
            let k = i + width;
            let closes = width == count - 1;
            if !closes && !allowed(i, k) {
                continue;
            }
            let mut least: Option<(Cost, usize)> = None;
            for middle in i + 1..k {
                let (Some(left), Some(right)) = (best[at(i, middle)], best[at(middle, k)]) else {
                    continue;
                };
                if least.is_some_and(|(least, _)| left.0.fold.max(right.0.fold) > least.fold) {
                    continue;
                }
                let here = normal(points[i], points[middle], points[k]);
                // The triangle on the other side of an edge of this one: of the loop, or of the part beyond.
                let fold_at = |from: usize, to: usize, part: usize| {
                    let other = if to == from + 1 {
                        normal(points[to], points[from], beyond[from])
                    } else {
                        normal(points[from], points[part], points[to])
                    };
                    fold(here, other)
                };
                let mut sharpest = fold_at(i, middle, left.1).max(fold_at(middle, k, right.1));
                if closes {
                    let last = normal(points[0], points[count - 1], beyond[count - 1]);
                    sharpest = sharpest.max(fold(here, last));
                }
                let cost = Cost {
                    fold: sharpest.max(left.0.fold).max(right.0.fold),
                    area: 0.5 * here.length() + left.0.area + right.0.area,
                };
                if least.is_none_or(|(least, _)| cost < least) {
                    least = Some((cost, middle));
                }
            }
            best[at(i, k)] = least;
        }
    }

    best[at(0, count - 1)]?;
    let mut triangles = Vec::with_capacity(count - 2);
    let mut open = vec![(0, count - 1)];
    while let Some((i, k)) = open.pop() {
        if k > i + 1
            && let Some((_, middle)) = best[at(i, k)]
        {
            triangles.push([i, middle, k]);
            open.extend([(i, middle), (middle, k)]);
        }
    }
    Some(triangles)
}

/// A thousand times the sine of half the angle between two normals. A triangle without area bends as far as can be.
fn fold(one: DVec3, other: DVec3) -> u32 {
    let lengths = (one.length_squared() * other.length_squared()).sqrt();
    let cosine = if lengths > 0.0 { one.dot(other) / lengths } else { -1.0 };
    (1000.0 * (0.5 * (1.0 - cosine)).max(0.0).sqrt()).round() as u32
}
