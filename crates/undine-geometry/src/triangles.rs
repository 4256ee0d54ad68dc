//! Triangles as every query takes them: positions and indices, checked once.
//!
//! Nothing is asked of them but finite positions: they may be open, inverted, degenerate, duplicate, or pass
//! through each other.

use crate::error::{GeometryError, Result};
use rayon::prelude::*;
use undine_core::glam::DVec3;
use undine_core::mesh::{Bounds, Polygons, Surface};

/// Triangles over shared vertices. One is seen from outside when its corners turn to the left.
#[derive(Debug, Clone, PartialEq)]
pub struct Triangles {
    positions: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
}

impl Triangles {
    /// Triangles by the vertices at their corners. Positions [m] must be finite, and indices exist.
    pub fn new(positions: Vec<DVec3>, triangles: Vec<[u32; 3]>) -> Result<Self> {
        check_positions(&positions)?;
        let vertices = positions.len();
        let dangles = |vertex: &u32| *vertex as usize >= vertices;
        let dangling = |corners: &[u32; 3]| corners.iter().any(dangles);
        if let Some(triangle) = triangles.par_iter().position_first(dangling) {
            let vertex = triangles[triangle].into_iter().find(dangles).unwrap_or_default();
            return Err(GeometryError::DanglingIndex { triangle, vertex, vertices });
        }
        Ok(Self { positions, triangles })
    }

    /// The triangles of a Surface, whose polygons are triangulated. Vertices keep their numbers.
    pub fn of_surface(surface: &Surface) -> Result<Self> {
        let triangles = surface.triangulate()?.triangles().to_vec();
        Self::new(surface.positions()?.to_vec(), triangles)
    }

    /// The same as a Surface with channels to fill.
    pub fn into_surface(self, name: &str) -> Result<Surface> {
        Ok(Surface::new(name, self.positions, Polygons::triangles(self.triangles)?)?)
    }

    /// The vertices' positions [m].
    pub fn positions(&self) -> &[DVec3] {
        &self.positions
    }

    /// The vertices at the corners of each triangle.
    pub fn indices(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// How many triangles there are.
    pub fn len(&self) -> usize {
        self.triangles.len()
    }

    /// Whether there is no triangle.
    pub fn is_empty(&self) -> bool {
        self.triangles.is_empty()
    }

    /// The corners of a triangle [m].
    #[inline]
    pub fn corners(&self, triangle: usize) -> [DVec3; 3] {
        self.triangles[triangle].map(|vertex| self.positions[vertex as usize])
    }

    /// The corners of all triangles [m].
    pub fn iter(&self) -> impl ExactSizeIterator<Item = [DVec3; 3]> + '_ {
        (0..self.len()).map(|triangle| self.corners(triangle))
    }

    /// The box around all triangles; without triangles there is none.
    pub fn bounds(&self) -> Option<Bounds> {
        Bounds::around(self.iter().flatten())
    }

    /// Moves the vertices; as many positions [m] as there are vertices, all finite.
    pub fn set_positions(&mut self, positions: Vec<DVec3>) -> Result<()> {
        let (found, wanted) = (positions.len(), self.positions.len());
        if found != wanted {
            return Err(GeometryError::WrongLength { what: "the new positions", found, wanted });
        }
        check_positions(&positions)?;
        self.positions = positions;
        Ok(())
    }

    /// The same triangles with each vertex elsewhere [m]; a place that is not finite leaves it where it was.
    pub fn mapped(mut self, to: impl Fn(DVec3) -> DVec3) -> Self {
        for at in &mut self.positions {
            let moved = to(*at);
            *at = if moved.is_finite() { moved } else { *at };
        }
        self
    }

    /// The same seen from the other side.
    pub fn inverted(mut self) -> Self {
        self.triangles.iter_mut().for_each(|corners| corners.swap(1, 2));
        self
    }

    /// Positions and indices.
    pub fn into_parts(self) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        (self.positions, self.triangles)
    }
}

/// The largest coordinate [m] that trees and tools take: products of five of them are finite.
pub const LARGEST_COORDINATE: f64 = 1e60;

/// Refuses positions so far away that areas, volumes or moments could not be written down.
pub(crate) fn check_scale(positions: &[DVec3]) -> Result<()> {
    let largest = positions.iter().map(|p| p.abs().max_element()).fold(0.0, f64::max);
    if largest <= LARGEST_COORDINATE {
        return Ok(());
    }
    let (what, wanted) = ("the largest coordinate of a mesh [m]", "at most 1e60");
    Err(GeometryError::BadParameter { what, found: largest, wanted })
}

fn check_positions(positions: &[DVec3]) -> Result<()> {
    match positions.par_iter().position_first(|position| !position.is_finite()) {
        Some(vertex) => Err(GeometryError::VertexNotFinite { vertex, position: positions[vertex] }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_triangle_is_refused_with_its_number() {
        let bad = Triangles::new(vec![DVec3::ZERO, DVec3::NAN], vec![]).unwrap_err();
        assert!(bad.to_string().contains("vertex 1"), "{bad}");
        let bad = Triangles::new(vec![DVec3::ZERO], vec![[0, 0, 0], [0, 7, 0]]).unwrap_err();
        assert_eq!(bad.to_string(), "triangle 1 refers to vertex 7, but there are only 1");
    }
}
