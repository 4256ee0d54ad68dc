//! Subdivide: every triangle into four, with the shape kept, or smoothed by the rules of Loop.
//!
//! Loop 1987, *Smooth subdivision surfaces based on triangles*; boundaries and creases after Hoppe et al. 1994.

use super::origins::{Origins, Remeshed};
use super::proper_triangles;
use super::sides::Sides;
use crate::error::{GeometryError, Result};
use crate::triangles::{Triangles, check_scale};
use std::f64::consts::TAU;

/// How a mesh is subdivided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subdivision {
    /// Where the vertices go.
    pub scheme: SubdivisionScheme,
    /// How often; each time there are four times as many triangles.
    pub levels: u32,
    /// How many triangles there may be at most; a request that needs more is refused.
    pub most: usize,
}

impl Default for Subdivision {
    fn default() -> Self {
        Self { scheme: SubdivisionScheme::Loop, levels: 1, most: 1 << 26 }
    }
}

/// Where the vertices of a subdivided mesh go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubdivisionScheme {
    /// New ones halve the edges; the shape stays.
    Midpoint,
    /// Towards a surface with continuous curvature, but for its vertices with other than six neighbours. A boundary, and
    /// an edge where more than two triangles meet, becomes a curve of its own; where more than two such edges meet,
    /// or only one ends, the vertex stays.
    Loop,
}

/// Divides every triangle into four, several times. Vertices keep their numbers, new ones follow.
///
/// A triangle that has a vertex twice goes.
pub fn subdivide(mesh: &Triangles, subdivision: Subdivision) -> Result<Remeshed> {
    check_scale(mesh.positions())?;
    let wanted = 4_u64.saturating_pow(subdivision.levels).saturating_mul(mesh.len() as u64);
    let limit = subdivision.most as u64;
    if wanted > limit {
        return Err(GeometryError::TooMany {
            what: "the triangles of a subdivision",
            found: wanted,
            most: limit,
        });
    }
    let (triangles, mut sources) = proper_triangles(mesh);
    let mut fine = Remeshed {
        mesh: Triangles::new(mesh.positions().to_vec(), triangles)?,
        vertices: Origins::identity(mesh.positions().len()),
        triangles: Vec::new(),
    };
    for _ in 0..subdivision.levels {
        fine = once(&fine, subdivision.scheme)?;
        sources = sources.into_iter().flat_map(|source| [source; 4]).collect();
    }
    fine.triangles = sources.into_iter().map(Some).collect();
    Ok(fine)
}

fn once(coarse: &Remeshed, scheme: SubdivisionScheme) -> Result<Remeshed> {
    let mesh = &coarse.mesh;
    let sides = Sides::new(mesh)?;
    let mut rows = match scheme {
        SubdivisionScheme::Midpoint => Origins::identity(mesh.positions().len()),
        SubdivisionScheme::Loop => kept_by_loop(mesh, &sides),
    };
    for (edge, &[a, b]) in sides.edges().ends().iter().enumerate() {
        match (scheme, sides.pair(edge)) {
            (SubdivisionScheme::Loop, Some(pair)) => {
                let [c, d] = pair.map(|side| sides.opposite(side));
                rows.push([(a, 0.375), (b, 0.375), (c, 0.125), (d, 0.125)]);
            }
            _ => rows.push([(a, 0.5), (b, 0.5)]),
        }
    }

    let vertices = mesh.positions().len() as u32;
    let halves = sides.edges().of_use().as_chunks::<3>().0;
    let triangles = mesh.indices().iter().zip(halves).flat_map(|(&[a, b, c], halves)| {
        let [ab, bc, ca] = halves.map(|edge| vertices + edge);
        [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
    });
    let positions = rows.carry(mesh.positions(), |position, weight| weight * position)?;
    Ok(Remeshed {
        mesh: Triangles::new(positions, triangles.collect())?,
        vertices: rows.before(&coarse.vertices),
        triangles: Vec::new(),
    })
}

/// What the vertices that are there already are made of.
fn kept_by_loop(mesh: &Triangles, sides: &Sides) -> Origins {
    let mut around: Vec<(u32, u32, bool)> = Vec::with_capacity(2 * sides.edges().len());
    for (edge, &[a, b]) in sides.edges().ends().iter().enumerate() {
        let is_crease = sides.pair(edge).is_none();
        around.extend([(a, b, is_crease), (b, a, is_crease)]);
    }
    around.sort_unstable();
    let mut rows = Origins::none();
    let mut start = 0;
    for vertex in 0..mesh.positions().len() as u32 {
        let end = start + around[start..].partition_point(|&(of, _, _)| of <= vertex);
        let row = &around[start..end];
        start = end;
        let mut creases =
            row.iter().filter(|(_, _, is_crease)| *is_crease).map(|&(_, other, _)| other);
        match (creases.next(), creases.next(), creases.next()) {
            (None, ..) if !row.is_empty() => {
                let valence = row.len() as f64;
                let cosine = (TAU / valence).cos();
                let all = 0.625 - (0.375 + 0.25 * cosine).powi(2);
                let neighbours = row.iter().map(|&(_, other, _)| (other, all / valence));
                rows.push(std::iter::once((vertex, 1.0 - all)).chain(neighbours));
            }
            (Some(a), Some(b), None) => rows.push([(vertex, 0.75), (a, 0.125), (b, 0.125)]),
            _ => rows.push([(vertex, 1.0)]),
        }
    }
    rows
}
