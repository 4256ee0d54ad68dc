//! Inputs that have an inside: shapes, meshes and level sets, as Behaviors take them.

use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;
use undine_geometry::levelset::LevelSet;
use undine_geometry::mesh_solid::{Inside, MeshSolid};
use undine_geometry::pose::Pose;
use undine_geometry::solid::{Nearest, Solid};
use undine_geometry::triangles::Triangles;
use undine_sim::input::{Data, Geometry};
use undine_sim::{Ingest, Result};

/// Something with an inside that any thread may ask.
pub type AnySolid = Arc<dyn Solid + Send + Sync>;

/// The inside of the input that a parameter names, at the time of the Ingest; `None` where it names none, or an empty one. A
/// thickness [m] makes a sheet of a mesh; zero is for closed meshes.
pub fn optional_solid(
    ingest: &Ingest<'_>,
    parameter: &str,
    thickness: f64,
) -> Result<Option<AnySolid>> {
    let Some(data) = ingest.optional_data(parameter)? else { return Ok(None) };
    let solid: AnySolid = match &data.geometry {
        Geometry::Empty => return Ok(None),
        Geometry::Shape(shape) => shape.clone(),
        Geometry::Surface(surface) => {
            let triangles = Triangles::of_surface(surface)?;
            if triangles.is_empty() {
                return Ok(None);
            }
            Arc::new(MeshSolid::new(triangles, inside(thickness))?)
        }
        Geometry::LevelSet(set) => Arc::new(LevelSolid(set.clone())),
        Geometry::Points(_) | Geometry::Curves(_) | Geometry::Body(_) => {
            return Err(no_inside(ingest, parameter, &data));
        }
    };
    Ok(Some(match &data.motion {
        None => solid,
        Some(motion) => Arc::new(Posed { solid, pose: motion.pose(ingest.time) }),
    }))
}

/// How a mesh has an inside: as a sheet of a thickness [m], or, without one, by what it encloses.
pub fn inside(thickness: f64) -> Inside {
    if thickness > 0.0 { Inside::Thickness(thickness) } else { Inside::default() }
}

/// The input is of a kind that has no inside.
pub fn no_inside(ingest: &Ingest<'_>, parameter: &str, data: &Data) -> undine_sim::SimError {
    let kind = match &data.geometry {
        Geometry::Points(_) => "points",
        Geometry::Curves(_) => "curves",
        Geometry::Body(_) => "tetrahedra",
        _ => "something else",
    };
    let what = format!("a shape, a surface or a level set is needed, and this input is {kind}");
    ingest.bad(parameter, what, "name an input that has an inside, or make one of it first")
}

/// A solid in a pose.
#[derive(Debug)]
struct Posed {
    solid: AnySolid,
    pose: Pose,
}

impl Solid for Posed {
    fn distance(&self, at: DVec3) -> f64 {
        self.solid.distance(self.pose.to_local(at))
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        let near = self.solid.nearest(self.pose.to_local(at));
        Nearest {
            point: self.pose.to_world(near.point),
            normal: self.pose.rotation * near.normal,
            distance: near.distance,
        }
    }

    fn bounds(&self) -> Option<Bounds> {
        let local = self.solid.bounds()?;
        let corner = |n: u8| {
            let pick = |axis: usize| {
                let high = n >> axis & 1 == 1;
                if high { local.max[axis] } else { local.min[axis] }
            };
            self.pose.to_world(DVec3::new(pick(0), pick(1), pick(2)))
        };
        Bounds::around((0..8).map(corner))
    }
}

/// A level set as a solid. Whoever holds its channel for writing makes it infinitely far away.
#[derive(Debug)]
struct LevelSolid(Arc<LevelSet>);

impl LevelSolid {
    fn ask<R>(&self, ask: impl FnOnce(&dyn Solid) -> R, otherwise: R) -> R {
        self.0.column().map_or(otherwise, |column| ask(&self.0.sampler(&column)))
    }
}

impl Solid for LevelSolid {
    fn distance(&self, at: DVec3) -> f64 {
        self.ask(|solid| solid.distance(at), f64::INFINITY)
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        let none = Nearest { point: at, normal: DVec3::Z, distance: f64::INFINITY };
        self.ask(|solid| solid.nearest(at), none)
    }

    fn bounds(&self) -> Option<Bounds> {
        self.ask(|solid| solid.bounds(), None)
    }
}
