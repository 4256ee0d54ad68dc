//! A mesh as a [`Solid`]: signed distances to closed, open and self-intersecting meshes, and sheets with a thickness.
//!
//! On which side a place lies is told by the winding number, which asks nothing of the mesh, or by the angle-weighted
//! normal at the nearest point, which is several times faster and right wherever the mesh is closed and does not pass
//! through itself (Bærentzen & Aanæs, *Signed distance computation using the angle weighted pseudonormal*, 2005).

use crate::bvh::{Bvh, Closest};
use crate::error::{GeometryError, Result, positive};
use crate::pseudonormals::Pseudonormals;
use crate::solid::{Nearest, Solid};
use crate::triangles::Triangles;
use crate::winding::{Rule, Winding};
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;

/// How a mesh becomes something with an inside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Inside {
    /// Inside is where the winding number says so. Robust; good for every mesh.
    Winding(Rule),
    /// Inside is behind the nearest point, as its angle-weighted normal has it; where the mesh is open or not a
    /// manifold at the nearest point, the winding number decides. Fast; wrong where a mesh passes through itself.
    Normals,
    /// Everything within half of this thickness [m] is inside. For open sheets.
    Thickness(f64),
}

impl Default for Inside {
    fn default() -> Self {
        Self::Winding(Rule::default())
    }
}

/// A mesh with an inside.
#[derive(Debug, Clone)]
pub struct MeshSolid {
    bvh: Bvh,
    winding: Winding,
    normals: Pseudonormals,
    inside: Inside,
}

impl MeshSolid {
    /// Triangles with an inside. There must be a triangle, and a thickness must be positive.
    pub fn new(triangles: Triangles, inside: Inside) -> Result<Self> {
        if let Inside::Thickness(thickness) = inside {
            positive("the thickness of a sheet [m]", thickness)?;
        }
        if triangles.is_empty() {
            return Err(GeometryError::Empty {
                what: "a mesh",
                wanted: "a solid needs a triangle",
            });
        }
        let bvh = Bvh::new(triangles)?;
        let normals = Pseudonormals::new(bvh.triangles());
        Ok(Self { winding: Winding::new(&bvh), normals, bvh, inside })
    }

    /// Moves the vertices, without building again; as many positions [m] as there are vertices.
    pub fn refit(&mut self, positions: Vec<DVec3>) -> Result<()> {
        self.bvh.refit(positions)?;
        self.winding = Winding::new(&self.bvh);
        self.normals.update(self.bvh.triangles());
        Ok(())
    }

    /// How it has an inside.
    pub fn inside(&self) -> Inside {
        self.inside
    }

    /// The tree over its triangles.
    pub fn bvh(&self) -> &Bvh {
        &self.bvh
    }

    /// Its winding number.
    pub fn winding(&self) -> &Winding {
        &self.winding
    }

    /// Its angle-weighted normals.
    pub fn normals(&self) -> &Pseudonormals {
        &self.normals
    }

    /// Whether a place [m] is inside.
    pub fn is_inside(&self, at: DVec3) -> bool {
        match self.inside {
            Inside::Winding(rule) => rule.is_inside(self.winding.number(&self.bvh, at)),
            Inside::Normals | Inside::Thickness(_) => self.distance(at) < 0.0,
        }
    }

    /// The signed distances of many places [m], in parallel.
    pub fn distances(&self, points: &[DVec3]) -> Vec<f64> {
        use rayon::prelude::*;
        let closest = self.bvh.closest_all(points);
        let places = points.par_iter().zip(closest);
        places.map(|(&at, closest)| self.signed(at, closest)).collect()
    }

    fn signed(&self, at: DVec3, closest: Option<Closest>) -> f64 {
        // Only what is no place is near to nothing; it is as far outside as can be.
        let Some(closest) = closest else { return f64::INFINITY };
        let distance = closest.distance_squared.sqrt();
        match self.inside {
            Inside::Thickness(thickness) => distance - 0.5 * thickness,
            Inside::Winding(_) | Inside::Normals if self.is_behind(at, &closest) => -distance,
            Inside::Winding(_) | Inside::Normals => distance,
        }
    }

    /// Whether a place is inside, given the nearest point of the mesh.
    fn is_behind(&self, at: DVec3, closest: &Closest) -> bool {
        let wound = |rule: Rule| rule.is_inside(self.winding.number(&self.bvh, at));
        match self.inside {
            Inside::Winding(rule) => wound(rule),
            Inside::Thickness(_) => false,
            Inside::Normals => match self.normals.closed_at(self.bvh.triangles(), closest) {
                Some(normal) => (at - closest.point).dot(normal) < 0.0,
                None => wound(Rule::default()),
            },
        }
    }

    /// The nearest point of the surface, and that of the triangles.
    pub(crate) fn nearest_and_closest(&self, at: DVec3) -> (Nearest, Option<Closest>) {
        let closest = self.bvh.closest(at);
        let near = match &closest {
            Some(closest) => self.nearest_at(at, closest),
            None => Nearest { point: at, normal: DVec3::Z, distance: f64::INFINITY },
        };
        (near, closest)
    }

    fn nearest_at(&self, at: DVec3, closest: &Closest) -> Nearest {
        let normal = self.normals.at(self.bvh.triangles(), closest);
        // Of a place on the mesh, the way to it is rounding alone.
        let rounding = 1e-14 * (at.abs() + closest.point.abs()).max_element();
        let off = closest.distance_squared.sqrt() > rounding;
        let away = (at - closest.point).try_normalize().filter(|_| off);
        if let Inside::Thickness(thickness) = self.inside {
            // The surface lies half of the thickness before the sheet, on the side of the place.
            let outwards = away.unwrap_or(normal);
            let point = closest.point + 0.5 * thickness * outwards;
            return Nearest { point, normal: outwards, distance: self.signed(at, Some(*closest)) };
        }
        let distance = self.signed(at, Some(*closest));
        // A mesh that looks inwards, or whose normals cancel, still has an outside.
        let outwards = away.map(|away| if distance < 0.0 { -away } else { away });
        let normal = match outwards {
            Some(outwards) if normal.dot(outwards) <= 0.0 => outwards,
            _ => normal,
        };
        Nearest { point: closest.point, normal, distance }
    }
}

impl Solid for MeshSolid {
    fn distance(&self, at: DVec3) -> f64 {
        self.signed(at, self.bvh.closest(at))
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        self.nearest_and_closest(at).0
    }

    fn bounds(&self) -> Option<Bounds> {
        let bounds = self.bvh.triangles().bounds()?;
        let grown = match self.inside {
            Inside::Thickness(thickness) => 0.5 * thickness,
            Inside::Winding(_) | Inside::Normals => 0.0,
        };
        Some(Bounds { min: bounds.min - grown, max: bounds.max + grown })
    }
}
