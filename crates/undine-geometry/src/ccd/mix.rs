//! A mix of candidates as a cloth simulation has it, for tests and benchmarks.

use super::{Gap, MovingVertices, broad};
use crate::error::Result;
use crate::gallery;
use crate::random::unit;
use std::f64::consts::TAU;
use undine_core::glam::DVec3;
use undine_core::{Frame, MemoryBudget};

/// Two wrinkled sheets in motion.
#[derive(Debug, Clone)]
pub struct PassingSheets {
    /// Positions at time 0 [m].
    pub start: Vec<DVec3>,
    /// Positions at time 1 [m].
    pub end: Vec<DVec3>,
    /// The triangles of both.
    pub triangles: Vec<[u32; 3]>,
    /// The edges of both.
    pub edges: Vec<[u32; 2]>,
}

/// Candidate pairs of both kinds.
#[derive(Debug, Clone)]
pub struct Candidates {
    /// Points and triangles.
    pub point_triangle: Vec<[u32; 4]>,
    /// Edges and edges.
    pub edge_edge: Vec<[u32; 4]>,
}

/// Two sheets of a metre, `quads` along each side, one above the other: both wrinkled, with noise, and in a step in which
/// the upper one falls through the lower one in places. `far` [m] moves everything away from the origin.
pub fn passing_sheets(quads: u32, far: DVec3, seed: u64) -> PassingSheets {
    let sheet = gallery::sheet([1.0, 1.0], [quads, quads]);
    let side = 1.0 / f64::from(quads);
    let count = sheet.positions().len() as u32;
    let (mut start, mut end) = (Vec::new(), Vec::new());
    for layer in 0..2_u32 {
        for (vertex, &at) in sheet.positions().iter().enumerate() {
            let noise = |kind: u64| {
                let number = 8 * (u64::from(layer * count) + vertex as u64) + kind;
                unit(seed, number) - 0.5
            };
            // The layers are turned against each other, so that no edges are parallel.
            let (sin, cos) = (0.4 * f64::from(layer)).sin_cos();
            let at = DVec3::new(cos * at.x - sin * at.y, sin * at.x + cos * at.y, 0.0);
            let phase = f64::from(layer) * 1.3;
            let wrinkle =
                1.5 * side * (TAU * 3.0 * at.x + phase).sin() * (TAU * 2.0 * at.y - phase).cos();
            let height = wrinkle + 2.2 * side * f64::from(layer);
            let jitter = DVec3::new(noise(0), noise(1), noise(2)) * 0.3 * side;
            let from = far + at + DVec3::Z * height + jitter;
            let fall = DVec3::new(0.3, -0.2, if layer == 1 { -0.7 } else { 0.1 }) * side;
            let tremble = DVec3::new(noise(3), noise(4), noise(5)) * 0.2 * side;
            start.push(from);
            end.push(from + fall + tremble);
        }
    }
    let triangles: Vec<[u32; 3]> = (0..2)
        .flat_map(|layer| sheet.indices().iter().map(move |t| t.map(|v| v + layer * count)))
        .collect();
    let mut edges: Vec<[u32; 2]> = triangles
        .iter()
        .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
        .map(|[a, b]| [a.min(b), a.max(b)])
        .collect();
    edges.sort_unstable();
    edges.dedup();
    PassingSheets { start, end, triangles, edges }
}

impl PassingSheets {
    /// The motion of all vertices.
    pub fn motion(&self) -> Result<MovingVertices<'_>> {
        MovingVertices::new(&self.start, &self.end)
    }

    /// All candidates, of a sheet with itself and with the other, found on the lattice of `frame`.
    pub fn candidates(&self, frame: Frame, gap: Gap, budget: &MemoryBudget) -> Result<Candidates> {
        let motion = self.motion()?;
        let points: Vec<u32> = (0..self.start.len() as u32).collect();
        let triangles = &self.triangles;
        Ok(Candidates {
            point_triangle: broad::point_triangle_candidates(
                frame, motion, &points, triangles, gap, budget,
            )?,
            edge_edge: broad::edge_edge_candidates(frame, motion, &self.edges, gap, budget)?,
        })
    }
}
