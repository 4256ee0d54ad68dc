//! Implicit variational viscosity of a liquid with a free surface (Batty & Bridson 2008, §3): the velocities u on the
//! faces of a MAC grid that minimise
//!
//! ½ Σ ρ V (u − u*)² + Δt Σ μ V ε(u):ε(u),
//!
//! with the normal strains εxx = ∂u/∂x … at cell centres, the shear strains εxy = ½ (∂u/∂y + ∂v/∂x) … at edges, and V the
//! part of each sample's own cube that is liquid. The three components are coupled through the shear. That no force acts on the
//! free surface comes for free: strains outside of the liquid are not in the sum.

use super::poisson::liquid_mask;
use super::{noise, rigid_motions};
use crate::error::Result;
use crate::matrix::{Csr, Nodes};
use rayon::prelude::*;
use std::f64::consts::PI;

/// What is around the box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Walls {
    /// Solid that the liquid sticks to.
    Stick,
    /// Air: rigid motions of the liquid cost nothing but inertia.
    None,
}

/// A viscous liquid.
#[derive(Debug, Clone)]
pub struct Viscosity {
    /// The system over the faces, divided by ρ Δx³.
    pub matrix: Csr<f64>,
    /// V u* of each face.
    pub b: Vec<f64>,
    /// The liquid part V of each face's cube: the matrix without viscosity.
    pub inertia: Vec<f64>,
    /// Where each face is, in cells.
    pub positions: Vec<[f64; 3]>,
    /// The axis of each face.
    pub components: Vec<u8>,
    /// Faces at the lower sides of one cell, which are numbered together.
    pub nodes: Nodes,
    /// The six rigid motions, an entry per row.
    pub modes: Vec<Vec<f64>>,
}

/// An n³ box half full ([`liquid_mask`]; the last axis is up), for a viscosity of `strength` = Δt μ / (ρ Δx²). Honey in
/// cells of 5 mm and steps of 1/48 s has 6; a resolved close-up of it some hundreds.
pub fn viscosity(n: usize, strength: f64, walls: Walls) -> Result<Viscosity> {
    let grid = Grid { n: n as isize, walls, liquid: liquid_mask(n) };
    let mut faces: Vec<Face> = (0..3).flat_map(|axis| grid.unknown_faces(axis)).collect();
    faces.sort_by_key(|face| (face.at, face.axis));
    let nodes = Nodes::of_sizes(faces.chunk_by(|a, b| a.at == b.at).map(<[Face]>::len))?;
    let mut rows: [Vec<u32>; 3] = std::array::from_fn(|axis| vec![u32::MAX; grid.all_faces(axis)]);
    for (row, face) in faces.iter().enumerate() {
        rows[face.axis][grid.face_number(*face)] = row as u32;
    }
    let inertia: Vec<f64> = faces.par_iter().map(|&face| grid.face_volume(face)).collect();

    let matrix = Csr::from_rows(faces.len(), faces.len(), |row, entries| {
        let face = faces[row];
        entries.push((row as u32, inertia[row]));
        let mut add = |weight: f64, sample: &[(Face, f64)]| {
            // A strain that needs the velocity of a face in the air is not there: nothing holds that face, and it would
            // move so that the strain were zero.
            if weight == 0.0 || sample.iter().any(|&(face, _)| grid.is_air(face)) {
                return;
            }
            let own =
                sample.iter().find(|(other, _)| *other == face).map_or(0.0, |&(_, sign)| sign);
            for &(other, sign) in sample.iter().filter(|&&(other, _)| grid.is_unknown(other)) {
                let column = rows[other.axis][grid.face_number(other)];
                entries.push((column, weight * own * sign));
            }
        };
        // The normal strain of both cells: 2 μ ε².
        for side in [-1, 0] {
            let cell = shifted(face.at, face.axis, side);
            let weight = 2.0 * strength * grid.liquid_part(cell);
            let far = Face { axis: face.axis, at: shifted(cell, face.axis, 1) };
            add(weight, &[(Face { axis: face.axis, at: cell }, -1.0), (far, 1.0)]);
        }
        // The shear of the four edges: 4 μ εxy² = μ (∂u/∂y + ∂v/∂x)².
        for other in (0..3).filter(|&other| other != face.axis) {
            for side in [0, 1] {
                let edge = shifted(face.at, other, side);
                let (weight, sample) = grid.shear(edge, face.axis, other);
                add(strength * weight, &sample);
            }
        }
    })?;

    // Falls, swirls, and is a little noisy.
    let wanted = |(row, face): (usize, &Face)| {
        let [x, y, z] = face.position().map(|p| p / n as f64);
        let smooth = match face.axis {
            0 => (2.0 * PI * y).sin() * (PI * z).cos(),
            1 => -(2.0 * PI * x).sin() * (PI * z).cos(),
            _ => -1.0,
        };
        inertia[row] * (smooth + 0.1 * noise(2, row as u64))
    };
    let b = faces.par_iter().enumerate().map(|(row, face)| wanted((row, face))).collect();
    let positions: Vec<[f64; 3]> = faces.iter().map(Face::position).collect();
    let modes = rigid_motions(faces.iter().map(|face| (face.position(), face.axis)));
    let components = faces.iter().map(|face| face.axis as u8).collect();
    Ok(Viscosity { matrix, b, inertia, positions, components, nodes, modes })
}

/// A face between the cells `at` − 1 and `at` along its axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Face {
    axis: usize,
    at: [isize; 3],
}

impl Face {
    fn position(&self) -> [f64; 3] {
        std::array::from_fn(|d| self.at[d] as f64 + if d == self.axis { 0.0 } else { 0.5 })
    }
}

struct Grid {
    n: isize,
    walls: Walls,
    liquid: Vec<bool>,
}

impl Grid {
    fn is_inside(&self, cell: [isize; 3]) -> bool {
        cell.iter().all(|p| (0..self.n).contains(p))
    }

    /// 1 for a liquid cell, 0 for any other.
    fn liquid_part(&self, cell: [isize; 3]) -> f64 {
        let n = self.n;
        let number = || ((cell[0] * n + cell[1]) * n + cell[2]) as usize;
        f64::from(u8::from(self.is_inside(cell) && self.liquid[number()]))
    }

    fn face_volume(&self, face: Face) -> f64 {
        let below = shifted(face.at, face.axis, -1);
        0.5 * (self.liquid_part(face.at) + self.liquid_part(below))
    }

    /// A face of a solid cell: its velocity is the wall's, zero.
    fn is_solid(&self, face: Face) -> bool {
        let below = shifted(face.at, face.axis, -1);
        self.walls == Walls::Stick && !(self.is_inside(face.at) && self.is_inside(below))
    }

    fn is_unknown(&self, face: Face) -> bool {
        !self.is_solid(face) && self.face_volume(face) > 0.0
    }

    fn is_air(&self, face: Face) -> bool {
        !self.is_solid(face) && self.face_volume(face) == 0.0
    }

    /// The liquid part of an edge's cube, and ∂u/∂y + ∂v/∂x of the four faces around it as signs. The edge is the lower
    /// one of cell `edge` along both axes.
    fn shear(&self, edge: [isize; 3], x: usize, y: usize) -> (f64, [(Face, f64); 4]) {
        let (left, below) = (shifted(edge, x, -1), shifted(edge, y, -1));
        let diagonal = shifted(left, y, -1);
        let part: f64 = [edge, left, below, diagonal].iter().map(|&c| self.liquid_part(c)).sum();
        let sample = [
            (Face { axis: x, at: edge }, 1.0),
            (Face { axis: x, at: below }, -1.0),
            (Face { axis: y, at: edge }, 1.0),
            (Face { axis: y, at: left }, -1.0),
        ];
        (0.25 * part, sample)
    }

    /// How many faces an axis has, those of the outermost cells included.
    fn all_faces(&self, axis: usize) -> usize {
        (0..3).map(|d| (self.n + isize::from(d == axis)) as usize).product()
    }

    fn face_number(&self, face: Face) -> usize {
        let size = |d: usize| self.n + isize::from(d == face.axis);
        let [x, y, z] = face.at;
        ((x * size(1) + y) * size(2) + z) as usize
    }

    fn unknown_faces(&self, axis: usize) -> Vec<Face> {
        let size = |d: usize| (self.n + isize::from(d == axis)) as usize;
        let face = |number: usize| {
            let z = number % size(2);
            let y = number / size(2) % size(1);
            Face { axis, at: [number / (size(1) * size(2)), y, z].map(|p| p as isize) }
        };
        (0..self.all_faces(axis))
            .into_par_iter()
            .map(face)
            .filter(|&face| self.is_unknown(face))
            .collect()
    }
}

fn shifted(mut at: [isize; 3], axis: usize, by: isize) -> [isize; 3] {
    at[axis] += by;
    at
}
