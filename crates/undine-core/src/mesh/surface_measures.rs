//! Normals, areas and the volume of a Surface.

use super::csr::Csr;
use super::measure::{self, polygon_vector_area};
use super::surface::Surface;
use crate::error::Result;
use glam::DVec3;

/// How much each face counts in the normal of its vertices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NormalWeight {
    /// By its area: cheap.
    Area,
    /// By its angle at the vertex: does not change when a face is cut into triangles
    /// (Baerentzen & Aanaes 2005), as signed distances need it.
    #[default]
    Angle,
}

impl Surface {
    /// The normal of every face, as long as its area [m²].
    pub fn face_vector_areas(&self) -> Result<Vec<DVec3>> {
        let positions = self.positions()?;
        let faces = self.connectivity();
        Ok(measure::map(faces.len(), |face| polygon_vector_area(faces.face(face), &positions)))
    }

    /// The unit normal of every face; zero for a face without area.
    pub fn face_normals(&self) -> Result<Vec<DVec3>> {
        let mut normals = self.face_vector_areas()?;
        for normal in &mut normals {
            *normal = normal.normalize_or_zero();
        }
        Ok(normals)
    }

    /// The area of every face [m²]; of a polygon that is not planar, that of its projection along its
    /// normal.
    pub fn face_areas(&self) -> Result<Vec<f64>> {
        Ok(self.face_vector_areas()?.into_iter().map(DVec3::length).collect())
    }

    /// The whole area [m²].
    pub fn area(&self) -> Result<f64> {
        let areas = self.face_areas()?;
        Ok(measure::sum(areas.len(), |face| areas[face]))
    }

    /// The unit normal of every vertex; zero where there is no face, or where faces cancel.
    pub fn vertex_normals(&self, weight: NormalWeight) -> Result<Vec<DVec3>> {
        let positions = self.positions()?;
        let faces = self.connectivity();
        let areas = self.face_vector_areas()?;
        let corners =
            Csr::invert(self.vertex_count(), || (0..).zip(faces.corners().iter().copied()));
        Ok(measure::map(corners.len(), |vertex| {
            let mut normal = DVec3::ZERO;
            for &corner in &corners[vertex] {
                let corner = corner as usize;
                let face = faces.face_of_corner(corner);
                normal += match weight {
                    NormalWeight::Area => areas[face],
                    NormalWeight::Angle => {
                        let range = faces.corner_range(face);
                        let place = corner - range.start;
                        let angle = corner_angle(&faces.corners()[range], place, &positions);
                        areas[face].normalize_or_zero() * angle
                    }
                };
            }
            normal.normalize_or_zero()
        }))
    }

    /// The volume inside [m³], by the divergence theorem: ⅓ ∮ x·n dA. Negative if the faces look
    /// inwards. Fails if the surface is not closed, because there is no inside then.
    pub fn volume(&self) -> Result<f64> {
        self.check_closed()?;
        let positions = self.positions()?;
        // Any origin gives the same volume; one near by keeps the digits, 10 km away too.
        let Some(bounds) = self.bounds()? else { return Ok(0.0) };
        let origin = bounds.centre();
        let faces = self.connectivity();
        let cones = measure::sum(faces.len(), |face| {
            let corners = faces.face(face);
            let at = |vertex: u32| positions[vertex as usize] - origin;
            let a = at(corners[0]);
            let fan = corners[1..].windows(2);
            fan.fold(0.0, |sum, pair| sum + a.dot(at(pair[0]).cross(at(pair[1]))))
        });
        Ok(cones / 6.0)
    }
}

/// The angle of a face at a corner [rad], from 0 to π.
fn corner_angle(corners: &[u32], place: usize, positions: &[DVec3]) -> f64 {
    let at = |place: usize| positions[corners[place % corners.len()] as usize];
    let here = at(place);
    let (next, previous) = (at(place + 1) - here, at(place + corners.len() - 1) - here);
    next.cross(previous).length().atan2(next.dot(previous))
}
