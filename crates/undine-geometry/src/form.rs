//! Forms: what solids look like. Triangles for whatever has an end, and a point and a normal for a plane, which has none.
//!
//! A [`Shape`](crate::Shape) gives its forms by [`Shape::forms`](crate::Shape::forms): primitives by triangles whose corners lie on
//! their surface, everything else by [`contour`].

use crate::error::Result;
use crate::levelset::LevelSet;
use crate::meshing::contour;
use crate::pose::Pose;
use crate::solid::Solid;
use crate::triangles::Triangles;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;

/// What a solid, or a part of it, looks like.
#[derive(Debug, Clone, PartialEq)]
pub enum Form {
    /// A surface, seen from outside where corners turn to the left.
    Mesh(Triangles),
    /// All below a plane without end.
    Plane {
        /// A point of it [m].
        point: DVec3,
        /// Outwards, of length 1.
        normal: DVec3,
    },
}

/// How finely forms are made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Detail {
    /// Edges around a full circle.
    pub segments: u32,
    /// Cells along the longest side of what is contoured.
    pub cells: u32,
    /// What has no end and is no plane is cut off by a cube about its origin, with sides of twice this [m].
    pub reach: f64,
}

impl Default for Detail {
    fn default() -> Self {
        Self { segments: 64, cells: 96, reach: 100.0 }
    }
}

/// The finest detail: a circle, and the longest side of what is contoured, in so many parts.
const FINEST: u32 = 384;

impl Detail {
    /// The same within what makes sense, whatever was asked for.
    pub(crate) fn sane(&self) -> Self {
        let reach = self.reach.is_finite() && self.reach > 0.0;
        Self {
            segments: self.segments.clamp(8, FINEST),
            cells: self.cells.clamp(8, FINEST),
            reach: if reach { self.reach } else { Self::default().reach },
        }
    }
}

impl Form {
    /// The same turned and moved.
    pub fn moved(self, pose: &Pose) -> Self {
        match self {
            Self::Mesh(mesh) => Self::Mesh(mesh.mapped(|at| pose.to_world(at))),
            Self::Plane { point, normal } => {
                Self::Plane { point: pose.to_world(point), normal: pose.rotation * normal }
            }
        }
    }

    /// The same seen from inside.
    pub fn inverted(self) -> Self {
        match self {
            Self::Mesh(mesh) => Self::Mesh(mesh.inverted()),
            Self::Plane { point, normal } => Self::Plane { point, normal: -normal },
        }
    }

    /// A box around it; a plane has none.
    pub fn bounds(&self) -> Option<Bounds> {
        match self {
            Self::Mesh(mesh) => mesh.bounds(),
            Self::Plane { .. } => None,
        }
    }
}

/// The surface of any solid, whatever it is made of; cut off as `detail` says where it has no end.
pub fn mesh_of(solid: &dyn Solid, detail: &Detail) -> Result<Triangles> {
    let Detail { cells, reach, .. } = detail.sane();
    let bounds = solid.bounds().filter(|bounds| bounds.size().is_finite());
    let bounds = bounds.unwrap_or(Bounds { min: DVec3::splat(-reach), max: DVec3::splat(reach) });
    let longest = bounds.size().max_element();
    if longest <= 0.0 {
        return Triangles::new(Vec::new(), Vec::new());
    }
    let cell = longest / f64::from(cells);
    contour(solid, &bounds, cell)
}

/// The surface of a level set, as fine as its voxels where these are not too many.
pub fn mesh_of_level_set(set: &LevelSet) -> Result<Triangles> {
    let column = set.column()?;
    let sampler = set.sampler(&column);
    let Some(bounds) = sampler.bounds() else { return Triangles::new(Vec::new(), Vec::new()) };
    let cell = set.voxel_size().max(bounds.size().max_element() / f64::from(FINEST));
    contour(&sampler, &bounds, cell)
}
