//! Points that ride on tetrahedra: each follows the corners of its tetrahedron with barycentric weights.
//!
//! A surface that is too fine, too open or too thin to be simulated itself is embedded in a lattice around it, as
//! are boundary and material particles. Each point has a sparse row, four vertices and their weights, through which
//! forces on it go back to the vertices, and the affine frame F = Dₛ Dₘ⁻¹ of its tetrahedron.

use super::locate::{Location, Locator, rest_inverse, weights};
use crate::error::{GeometryError, Result};
use rayon::prelude::*;
use undine_core::glam::{DMat3, DVec3};
use undine_core::mesh::{Body, Surface};

/// What becomes of points that are in no tetrahedron. Both belong to the nearest one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Outside {
    /// They continue its deformation: some weights are negative, some greater than 1. Affine deformations
    /// are followed exactly; far away, small deformations make large motions.
    #[default]
    Extrapolate,
    /// They move as its point nearest to them does, and keep their offset from it unturned. Weights are 0 .. 1.
    Carry,
}

/// Points embedded in a Body.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    vertices: usize,
    cells: Vec<u32>,
    indices: Vec<[u32; 4]>,
    weights: Vec<[f64; 4]>,
    rest_inverses: Vec<DMat3>,
    /// Points that are in no tetrahedron, ascending, with what is added to them after their row [m].
    beyond: Vec<(u32, DVec3)>,
}

impl Embedding {
    /// Embeds points [m] in a Body at rest.
    ///
    /// Tetrahedra without volume do not count; if there are no others, it is refused.
    pub fn new(body: &Body, points: &[DVec3], beyond: Outside) -> Result<Self> {
        if let Some(vertex) = points.iter().position(|point| !point.is_finite()) {
            return Err(GeometryError::VertexNotFinite { vertex, position: points[vertex] });
        }
        let locator = Locator::new(body)?;
        let locations: Vec<Location> =
            points.par_iter().with_min_len(64).map(|&at| locator.locate(at)).collect();

        let positions = body.positions()?;
        let corners = |cell: u32| {
            body.connectivity().cells()[cell as usize].map(|vertex| positions[vertex as usize])
        };
        let row = |(&at, location): (&DVec3, &Location)| match beyond {
            Outside::Carry if !location.inside => {
                let weights = weights(corners(location.cell), location.nearest);
                normalized(weights.map(|weight| weight.clamp(0.0, 1.0)))
            }
            _ => weights(corners(location.cell), at),
        };
        let offset = |(point, location): (u32, &Location)| {
            let offset = match beyond {
                Outside::Extrapolate => DVec3::ZERO,
                Outside::Carry => points[point as usize] - location.nearest,
            };
            (!location.inside).then_some((point, offset))
        };
        let cells = locations.iter().map(|location| location.cell);
        Ok(Self {
            vertices: body.vertex_count(),
            indices: cells.clone().map(|cell| body.connectivity().cells()[cell as usize]).collect(),
            weights: points.par_iter().zip(&locations).map(row).collect(),
            rest_inverses: cells.clone().map(|cell| rest_inverse(corners(cell))).collect(),
            beyond: (0..).zip(&locations).filter_map(offset).collect(),
            cells: cells.collect(),
        })
    }

    /// Embeds the vertices of a Surface in a Body at rest.
    pub fn of_surface(body: &Body, surface: &Surface, beyond: Outside) -> Result<Self> {
        Self::new(body, &surface.positions()?, beyond)
    }

    /// How many points there are.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The tetrahedron of each point.
    pub fn cells(&self) -> &[u32] {
        &self.cells
    }

    /// The vertices of the Body that each point follows.
    pub fn indices(&self) -> &[[u32; 4]] {
        &self.indices
    }

    /// How much each point follows each of its vertices; the weights of a point sum to 1.
    pub fn weights(&self) -> &[[f64; 4]] {
        &self.weights
    }

    /// How the weights of a point's row change with its place at rest [1/m]: F = Σ xᵢ ∇wᵢᵀ.
    pub fn gradients(&self, point: usize) -> [DVec3; 4] {
        let rows = self.rest_inverses[point].transpose();
        let [b, c, d] = [rows.x_axis, rows.y_axis, rows.z_axis];
        [-(b + c + d), b, c, d]
    }

    /// The points that are in no tetrahedron, ascending.
    pub fn beyond(&self) -> impl ExactSizeIterator<Item = u32> + '_ {
        self.beyond.iter().map(|&(point, _)| point)
    }

    /// Where the points are [m] when the vertices of the Body are there [m].
    pub fn deform(&self, positions: &[DVec3]) -> Result<Vec<DVec3>> {
        self.check(positions)?;
        let mut points: Vec<DVec3> = self
            .indices
            .par_iter()
            .zip(&self.weights)
            .with_min_len(1024)
            .map(|(indices, weights)| {
                let [a, b, c, d] = indices.map(|vertex| positions[vertex as usize]);
                weights[0] * a + weights[1] * b + weights[2] * c + weights[3] * d
            })
            .collect();
        for &(point, offset) in &self.beyond {
            points[point as usize] += offset;
        }
        Ok(points)
    }

    /// The deformation gradient F at each point when the vertices of the Body are there [m].
    pub fn deformation_gradients(&self, positions: &[DVec3]) -> Result<Vec<DMat3>> {
        self.check(positions)?;
        let deformed = self.indices.par_iter().zip(&self.rest_inverses).with_min_len(1024);
        Ok(deformed
            .map(|(indices, rest_inverse)| {
                let [a, b, c, d] = indices.map(|vertex| positions[vertex as usize]);
                DMat3::from_cols(b - a, c - a, d - a) * *rest_inverse
            })
            .collect())
    }

    fn check(&self, positions: &[DVec3]) -> Result<()> {
        let (found, wanted) = (positions.len(), self.vertices);
        if found != wanted {
            let what = "the positions of the Body that points are embedded in";
            return Err(GeometryError::WrongLength { what, found, wanted });
        }
        Ok(())
    }
}

fn normalized(weights: [f64; 4]) -> [f64; 4] {
    let sum: f64 = weights.iter().sum();
    weights.map(|weight| weight / sum)
}
