//! The surface of points in a file, as a mesh with what the points carry: `undine surface`.

use undine_core::CoreError;
use undine_core::glam::DVec3;
use undine_core::mesh::Polygons;
use undine_core::{Frame, GridDomain, MemoryBudget};
use undine_geometry::meshing::{
    Decimation, Origins, SmoothMethod, SmoothWeights, Smoothing, decimate, smooth, vertex_normals,
    without_parts_below,
};
pub use undine_geometry::surfacing::{Anisotropy, Averaging, Carrying, Method};
use undine_geometry::surfacing::{Particles, Radii, Surfacing};
use undine_geometry::{GeometryError, Triangles};
use undine_io::{Channels, Faces, Geometry, IoError, Points, Values};

/// How points become a mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct SurfaceOptions {
    /// What stands for a particle.
    pub method: Method,
    /// The radius of all particles [m]; else that of their channel `pscale`.
    pub radius: Option<f64>,
    /// What radii are multiplied by.
    pub scale: f64,
    /// The width of a voxel [m]; else 0.4 of the mean radius.
    pub voxel: Option<f64>,
    /// How often the mesh is smoothed, its volume kept.
    pub smooth: u32,
    /// How far the mesh may move where flat parts get fewer triangles [m]; 0 keeps all.
    pub coarsen: f64,
    /// Parts of less than this volume go [m³].
    pub least: f64,
    /// How channels come to vertices.
    pub carrying: Carrying,
}

impl Default for SurfaceOptions {
    fn default() -> Self {
        Self {
            method: Surfacing::default().method,
            radius: None,
            scale: 1.0,
            voxel: None,
            smooth: 0,
            coarsen: 0.0,
            least: 0.0,
            carrying: Carrying::default(),
        }
    }
}

/// Why there is no surface.
#[derive(Debug, thiserror::Error)]
pub enum SurfaceError {
    /// A file could not be read or written.
    #[error(transparent)]
    Io(#[from] IoError),
    /// Particles, radii or voxels are not as they should be.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// Nobody says how large particles are.
    #[error(
        "the points have no channel `pscale` with their radii: say one for all with --radius, about as large as their spacing"
    )]
    NoRadius,
}

impl From<CoreError> for SurfaceError {
    fn from(why: CoreError) -> Self {
        Self::Geometry(why.into())
    }
}

/// The width of a voxel in mean radii.
const VOXEL: f64 = 0.4;

/// The surface of some points as a closed mesh, with normals `N` and all that the points carry at its vertices.
pub fn surface(
    points: &Points,
    options: &SurfaceOptions,
    budget: MemoryBudget,
) -> Result<Geometry, SurfaceError> {
    let radii = radii(points, options)?;
    let mean = radii.iter().sum::<f64>() / radii.len().max(1) as f64;
    // What has no proper size is refused below, for what is wrong with it.
    let usual = if mean > 0.0 && mean.is_finite() { VOXEL * mean } else { 1.0 };
    let voxel = options.voxel.unwrap_or(usual);
    let velocities =
        ["v", "velocity"].iter().find_map(|name| points.channels.get(*name)?.vectors());
    let particles = Particles {
        positions: &points.positions,
        radii: if options.radius.is_some() { Radii::All(mean) } else { Radii::Each(&radii) },
        velocities: velocities.as_deref(),
    };
    let surfacing = Surfacing { method: options.method, ..Surfacing::default() };
    let domain = GridDomain::new("surface", Frame::new(DVec3::ZERO, voxel)?).with_budget(budget);
    let surfaced = surfacing.surface("surface", &domain, &particles)?;
    let mesh = finished(surfaced.mesh()?, options)?;
    let mut channels = Channels::new();
    channels.insert("N".to_owned(), Values::Vec3(vertex_normals(&mesh)));
    let origins = surfaced.origins(mesh.positions(), options.carrying);
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
fn radii(points: &Points, options: &SurfaceOptions) -> Result<Vec<f64>, SurfaceError> {
    let count = points.positions.len();
    if let Some(radius) = options.radius {
        return Ok(vec![options.scale * radius; count.max(1)]);
    }
    let channel = points.channels.get("pscale").and_then(Values::numbers);
    let channel = channel.ok_or(SurfaceError::NoRadius)?;
    Ok(channel.iter().map(|radius| options.scale * radius).collect())
}

/// Without tiny parts, smoothed, and with fewer triangles where it is flat.
fn finished(mut mesh: Triangles, options: &SurfaceOptions) -> Result<Triangles, SurfaceError> {
    if options.least > 0.0 {
        mesh = without_parts_below(&mesh, options.least)?.mesh;
    }
    if options.smooth > 0 {
        let method = SmoothMethod::KeepVolume { strength: 0.5 };
        let weights = SmoothWeights::Even;
        mesh = smooth(&mesh, Smoothing { method, weights, passes: options.smooth })?;
    }
    if options.coarsen > 0.0 {
        let decimation = Decimation { triangles: 0, error: options.coarsen, hold_boundary: true };
        mesh = decimate(&mesh, decimation)?.remeshed.mesh;
    }
    Ok(mesh)
}

/// A channel at the vertices: numbers and vectors mixed, whole numbers from the particle that counts most.
fn carried(values: &Values, origins: &Origins) -> Result<Values, SurfaceError> {
    fn main<T: Copy>(values: &[T], origins: &Origins) -> Vec<T> {
        (0..origins.len()).map(|vertex| values[origins.main(vertex) as usize]).collect()
    }
    Ok(match values {
        Values::F32(values) => Values::F32(origins.carry(values, |v, w| v * w as f32)?),
        Values::F64(values) => Values::F64(origins.carry(values, |v, w| v * w)?),
        Values::Vec3(values) => Values::Vec3(origins.carry(values, |v, w| v * w as f32)?),
        Values::DVec3(values) => Values::DVec3(origins.carry(values, |v, w| v * w)?),
        Values::I32(values) => Values::I32(main(values, origins)),
        Values::U32(values) => Values::U32(main(values, origins)),
        Values::U64(values) => Values::U64(main(values, origins)),
    })
}
