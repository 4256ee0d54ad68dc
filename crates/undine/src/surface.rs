//! The surface of points in a file, as a mesh with what the points carry: `undine surface`.

use undine_core::CoreError;
use undine_core::glam::DVec3;
use undine_core::mesh::Polygons;
use undine_core::{Frame, GridDomain, MemoryBudget};
use undine_geometry::meshing::{Origins, vertex_normals};
pub use undine_geometry::surfacing::{Anisotropy, Averaging, Carrying, Method, Recipe};
use undine_geometry::surfacing::{Particles, Radii, Surfacing};
use undine_geometry::{GeometryError, LevelSet};
use undine_io::{Channels, Faces, Geometry, IoError, Points, Values};
use undine_sim::SimError;

/// Why there is no surface.
#[derive(Debug, thiserror::Error)]
pub enum SurfaceError {
    /// A file could not be read or written.
    #[error(transparent)]
    Io(#[from] IoError),
    /// Particles, radii or voxels are not as they should be.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// A filter could not do its work.
    #[error(transparent)]
    Filter(#[from] SimError),
    /// Nobody says how large particles are.
    #[error(
        "the points have no channel `pscale` with their radii: say one for all with --radius, about as large as their spacing"
    )]
    NoRadius,
}

impl SurfaceError {
    /// Whether it is memory that does not suffice.
    pub fn is_of_memory(&self) -> bool {
        use GeometryError::{Core, VoxelsTooSmall};
        matches!(self, Self::Geometry(VoxelsTooSmall { .. } | Core(CoreError::OverBudget { .. })))
    }
}

impl From<CoreError> for SurfaceError {
    fn from(why: CoreError) -> Self {
        Self::Geometry(why.into())
    }
}

/// What is done to the distances before they become a mesh.
pub type Filters<'a> = &'a dyn Fn(LevelSet) -> Result<LevelSet, SimError>;

/// The surface of some points as a closed mesh, with normals `N` and all that the points carry at its vertices.
pub fn surface(
    points: &Points,
    recipe: &Recipe,
    filters: Option<Filters<'_>>,
    budget: MemoryBudget,
) -> Result<Geometry, SurfaceError> {
    let radii = radii(points, recipe)?;
    let mean = radii.iter().sum::<f64>() / radii.len().max(1) as f64;
    // What has no proper size is refused below, for what is wrong with it.
    let usual = if mean > 0.0 && mean.is_finite() { Recipe::VOXEL * mean } else { 1.0 };
    let voxel = recipe.voxel.unwrap_or(usual);
    let velocities =
        ["v", "velocity"].iter().find_map(|name| points.channels.get(*name)?.vectors());
    let particles = Particles {
        positions: &points.positions,
        radii: if recipe.radius.is_some() { Radii::All(mean) } else { Radii::Each(&radii) },
        velocities: velocities.as_deref(),
    };
    let surfacing = Surfacing { method: recipe.method, ..Surfacing::default() };
    let domain = GridDomain::new("surface", Frame::new(DVec3::ZERO, voxel)?).with_budget(budget);
    let surfaced = surfacing.surface("surface", &domain, &particles)?;
    let (mesh, sources) = match filters {
        None => (surfaced.mesh()?, surfaced.into_sources()),
        Some(filters) => {
            let (set, sources) = surfaced.into_parts()?;
            (filters(set)?.mesh()?, sources)
        }
    };
    let mesh = recipe.finish(mesh, mean)?;
    let mut channels = Channels::new();
    channels.insert("N".to_owned(), Values::Vec3(vertex_normals(&mesh)));
    let origins = sources.origins(mesh.positions(), recipe.carrying);
    for (name, values) in &points.channels {
        if name != "pscale" && name != "N" {
            channels.insert(name.clone(), carried(values, &origins)?);
        }
    }
    let (positions, triangles) = mesh.into_parts();
    let faces = Faces { polygons: Polygons::triangles(triangles)?, channels: Channels::new() };
    Ok(Geometry { points: Points { positions, channels }, faces: Some(faces), curves: None })
}

/// The radius of each point [m].
fn radii(points: &Points, recipe: &Recipe) -> Result<Vec<f64>, SurfaceError> {
    let (count, scale) = (points.positions.len(), recipe.scale());
    if let Some(radius) = recipe.radius {
        return Ok(vec![scale * radius; count.max(1)]);
    }
    let channel = points.channels.get("pscale").and_then(Values::numbers);
    let channel = channel.ok_or(SurfaceError::NoRadius)?;
    Ok(channel.iter().map(|radius| scale * radius).collect())
}

/// A channel at the vertices: numbers and vectors mixed, within the range of those of the particles near; whole numbers from the particle
/// that counts most.
fn carried(values: &Values, origins: &Origins) -> Result<Values, SurfaceError> {
    fn main<T: Copy>(values: &[T], origins: &Origins) -> Vec<T> {
        (0..origins.len()).map(|vertex| values[origins.main(vertex) as usize]).collect()
    }
    Ok(match values {
        Values::F32(values) => Values::F32(origins.carry_within(values)?),
        Values::F64(values) => Values::F64(origins.carry_within(values)?),
        Values::Vec3(values) => Values::Vec3(origins.carry_within(values)?),
        Values::DVec3(values) => Values::DVec3(origins.carry_within(values)?),
        Values::I32(values) => Values::I32(main(values, origins)),
        Values::U32(values) => Values::U32(main(values, origins)),
        Values::U64(values) => Values::U64(main(values, origins)),
    })
}
