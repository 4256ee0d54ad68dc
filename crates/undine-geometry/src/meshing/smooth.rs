//! Smooth: vertices move towards the mean of their neighbours, and the volume is kept.
//!
//! Taubin 1995, *A signal processing approach to fair surface design*; cotangent weights and the return of lost volume
//! after Desbrun, Meyer, Schröder and Barr 1999, *Implicit fairing*.

use super::sides::Sides;
use crate::error::{GeometryError, Result};
use crate::triangles::{Triangles, check_scale};
use rayon::prelude::*;
use undine_core::Forest;
use undine_core::glam::DVec3;

/// How a mesh is smoothed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Smoothing {
    /// How the volume is kept.
    pub method: SmoothMethod,
    /// How a neighbour counts.
    pub weights: SmoothWeights,
    /// How often.
    pub passes: u32,
}

impl Default for Smoothing {
    fn default() -> Self {
        let method = SmoothMethod::Taubin { strength: 0.5, pass_band: 0.1 };
        Self { method, weights: SmoothWeights::Even, passes: 10 }
    }
}

/// How smoothing keeps the volume.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SmoothMethod {
    /// A step λ inwards, then a larger one μ outwards, so that only waves shorter than the pass band are damped.
    Taubin {
        /// λ, the part of the way to the mean of the neighbours: above 0, at most 1.
        strength: f64,
        /// The frequency 1/λ + 1/μ that is neither damped nor raised: above 0, below 1; customary are 0.01 to 0.1.
        pass_band: f64,
    },
    /// A step inwards, then all vertices of a part along their normals, as far as its volume was lost.
    KeepVolume {
        /// The part of the way to the mean of the neighbours: above 0, at most 1.
        strength: f64,
    },
}

/// How a neighbour counts in the mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SmoothWeights {
    /// All the same: triangles become more even, too.
    Even,
    /// By the cotangents of the opposite angles at the start: vertices move along the normal.
    Cotangent,
}

/// Smooths a mesh. Vertices and triangles keep their numbers.
///
/// Vertices on a boundary, or on edges where more than two triangles meet, are held.
pub fn smooth(mesh: &Triangles, smoothing: Smoothing) -> Result<Triangles> {
    check(smoothing.method)?;
    check_scale(mesh.positions())?;
    let sides = Sides::new(mesh)?;
    let umbrellas = Umbrellas::new(mesh, &sides, smoothing.weights);
    let mut positions = mesh.positions().to_vec();
    match smoothing.method {
        SmoothMethod::Taubin { strength, pass_band } => {
            let outwards = 1.0 / (pass_band - 1.0 / strength);
            for _ in 0..smoothing.passes {
                positions = umbrellas.step(&positions, strength);
                positions = umbrellas.step(&positions, outwards);
            }
        }
        SmoothMethod::KeepVolume { strength } => {
            let parts = Parts::new(mesh, &sides);
            for _ in 0..smoothing.passes {
                positions = umbrellas.step(&positions, strength);
                parts.restore(&mut positions, mesh.indices(), &umbrellas.held);
            }
        }
    }
    let mut smoothed = mesh.clone();
    smoothed.set_positions(positions)?;
    Ok(smoothed)
}

fn check(method: SmoothMethod) -> Result<()> {
    let (strength, pass_band) = match method {
        SmoothMethod::Taubin { strength, pass_band } => (strength, pass_band),
        SmoothMethod::KeepVolume { strength } => (strength, 0.1),
    };
    if !(strength > 0.0 && strength <= 1.0) {
        let wanted = "above 0 and at most 1";
        return Err(GeometryError::BadParameter {
            what: "the strength of smoothing",
            found: strength,
            wanted,
        });
    }
    if !(pass_band > 0.0 && pass_band < 1.0) {
        let wanted = "above 0 and below 1";
        return Err(GeometryError::BadParameter {
            what: "the pass band of smoothing",
            found: pass_band,
            wanted,
        });
    }
    Ok(())
}

/// The neighbours of each vertex with weights that sum to 1; none for vertices that are held.
struct Umbrellas {
    offsets: Vec<usize>,
    neighbours: Vec<(u32, f64)>,
    held: Vec<bool>,
}

impl Umbrellas {
    fn new(mesh: &Triangles, sides: &Sides, weights: SmoothWeights) -> Self {
        let held = sides.rim(mesh.positions().len());
        let mut both_ways: Vec<(u32, u32, f64)> = Vec::with_capacity(2 * sides.edges().len());
        for (edge, &[a, b]) in sides.edges().ends().iter().enumerate() {
            if a != b {
                let weight = match (weights, sides.pair(edge)) {
                    (SmoothWeights::Cotangent, Some(pair)) => {
                        pair.iter().map(|&side| cotangent(mesh, sides, side)).sum::<f64>().max(0.0)
                    }
                    _ => 1.0,
                };
                both_ways.extend([(a, b, weight), (b, a, weight)]);
            }
        }
        both_ways.sort_unstable_by_key(|&(vertex, other, _)| (vertex, other));

        let mut offsets = Vec::with_capacity(held.len() + 1);
        let mut neighbours = Vec::with_capacity(both_ways.len());
        let mut start = 0;
        offsets.push(0);
        for (vertex, &held) in (0..).zip(&held) {
            let end = start + both_ways[start..].partition_point(|&(of, _, _)| of <= vertex);
            let row = if held { &[][..] } else { &both_ways[start..end] };
            let sum: f64 = row.iter().map(|&(_, _, weight)| weight).sum();
            // Around a vertex whose angles are all too wide for cotangents, the neighbours count the same.
            neighbours.extend(row.iter().map(|&(_, other, weight)| {
                (other, if sum > 0.0 { weight / sum } else { 1.0 / row.len() as f64 })
            }));
            offsets.push(neighbours.len());
            start = end;
        }
        Self { offsets, neighbours, held }
    }

    /// The positions moved by the part `strength` of the way to the mean of the neighbours.
    fn step(&self, positions: &[DVec3], strength: f64) -> Vec<DVec3> {
        let moved = |vertex: usize| {
            let here = positions[vertex];
            let row = &self.neighbours[self.offsets[vertex]..self.offsets[vertex + 1]];
            // Differences, not a mean of places: they keep their digits far from the origin.
            let way = row.iter().fold(DVec3::ZERO, |way, &(other, weight)| {
                way + weight * (positions[other as usize] - here)
            });
            here + strength * way
        };
        (0..positions.len()).into_par_iter().with_min_len(1024).map(moved).collect()
    }
}

/// The cotangent of the angle opposite a side; 0 where there is no angle.
fn cotangent(mesh: &Triangles, sides: &Sides, side: u32) -> f64 {
    let at = |vertex: u32| mesh.positions()[vertex as usize];
    let [a, b] = sides.ends(side).map(at);
    let tip = at(sides.opposite(side));
    let (u, v) = (a - tip, b - tip);
    let sine = u.cross(v).length();
    if sine > 0.0 { u.dot(v) / sine } else { 0.0 }
}

/// The parts of a mesh that hang together, and the volume of each.
struct Parts {
    of_triangle: Vec<u32>,
    origin: DVec3,
    volumes: Vec<f64>,
}

impl Parts {
    fn new(mesh: &Triangles, sides: &Sides) -> Self {
        let vertices = mesh.positions().len();
        let mut parts = Forest::new(vertices);
        sides.edges().ends().iter().for_each(|&[a, b]| parts.join(a, b));
        let of_triangle = mesh.indices().iter().map(|corners| parts.root(corners[0])).collect();
        let origin = mesh.bounds().map_or(DVec3::ZERO, |bounds| bounds.centre());
        let mut parts = Self { of_triangle, origin, volumes: vec![0.0; vertices] };
        parts.volumes = parts.measure(mesh.positions(), mesh.indices());
        parts
    }

    /// The volume of each part [m³]; of an open part that between it and the origin. What moving the vertices adds to
    /// it does not depend on the origin, as long as the boundary stays.
    fn measure(&self, positions: &[DVec3], triangles: &[[u32; 3]]) -> Vec<f64> {
        let mut volumes = vec![0.0; self.volumes.len()];
        for (corners, &part) in triangles.iter().zip(&self.of_triangle) {
            let [a, b, c] = corners.map(|vertex| positions[vertex as usize] - self.origin);
            volumes[part as usize] += a.dot(b.cross(c)) / 6.0;
        }
        volumes
    }

    /// Moves the free vertices of each part along their normals, all as far, until its volume is what it was. The volume
    /// is a cubic of that way, nearly straight, so that three steps of Newton's method find it to rounding.
    fn restore(&self, positions: &mut [DVec3], triangles: &[[u32; 3]], held: &[bool]) {
        for _ in 0..3 {
            let volumes = self.measure(positions, triangles);
            // How the volume grows with each vertex: a third of the vector area around it.
            let mut growth = vec![DVec3::ZERO; positions.len()];
            let mut part_of = vec![0_u32; positions.len()];
            for (corners, &part) in triangles.iter().zip(&self.of_triangle) {
                let [a, b, c] = corners.map(|vertex| positions[vertex as usize]);
                let sixth = (b - a).cross(c - a) / 6.0;
                for &vertex in corners {
                    growth[vertex as usize] += sixth;
                    part_of[vertex as usize] = part;
                }
            }
            let mut slope = vec![0.0; volumes.len()];
            for (vertex, growth) in growth.iter().enumerate().filter(|&(vertex, _)| !held[vertex]) {
                slope[part_of[vertex] as usize] += growth.length();
            }
            for (vertex, growth) in growth.iter().enumerate().filter(|&(vertex, _)| !held[vertex]) {
                let part = part_of[vertex] as usize;
                if slope[part] > 0.0 {
                    let way = (self.volumes[part] - volumes[part]) / slope[part];
                    positions[vertex] += way * growth.normalize_or_zero();
                }
            }
        }
    }
}
