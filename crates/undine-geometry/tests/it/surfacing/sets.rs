//! Sets of particles that everyone can picture, and what is asked of every mesh.

use undine_core::glam::{DVec3, I64Vec3};
use undine_core::{Frame, GridDomain};
use undine_geometry::random::unit;
use undine_geometry::surfacing::{
    Anisotropy, Averaging, Method, Particles, Radii, Surfaced, Surfacing,
};
use undine_geometry::{MassProperties, Solid, Triangles, meshing};

/// A Domain with voxels of this size [m].
pub fn domain(voxel: f64) -> GridDomain {
    GridDomain::new("space", Frame::new(DVec3::ZERO, voxel).unwrap())
}

/// Points of a lattice within a solid, each moved by up to a part of the spacing along every axis.
pub fn filled(solid: &dyn Solid, spacing: f64, jitter: f64) -> Vec<DVec3> {
    let bounds = solid.bounds().unwrap();
    let low = (bounds.min / spacing).floor().as_i64vec3();
    let high = (bounds.max / spacing).ceil().as_i64vec3();
    let mut points = Vec::new();
    for x in low.x..=high.x {
        for y in low.y..=high.y {
            for z in low.z..=high.z {
                let at = (I64Vec3::new(x, y, z).as_dvec3() + 0.5) * spacing;
                if solid.distance(at) < 0.0 {
                    points.push(at + jitter * spacing * noise(x, y, z));
                }
            }
        }
    }
    points
}

/// From −1 to 1 along each axis, the same for the same numbers.
pub fn noise(x: i64, y: i64, z: i64) -> DVec3 {
    let id = (x as u64).wrapping_mul(73_856_093)
        ^ (y as u64).wrapping_mul(19_349_663)
        ^ (z as u64).wrapping_mul(83_492_791);
    DVec3::new(unit(5, id), unit(6, id), unit(7, id)) * 2.0 - 1.0
}

/// A single layer in the plane z = 0, from −half to half, each moved within the plane.
pub fn sheet(half: f64, spacing: f64, jitter: f64) -> Vec<DVec3> {
    let n = (half / spacing) as i64;
    let rows = (-n..=n).flat_map(|x| (-n..=n).map(move |y| (x, y)));
    rows.map(|(x, y)| {
        let moved = jitter * spacing * noise(x, y, 0);
        DVec3::new(spacing * x as f64 + moved.x, spacing * y as f64 + moved.y, 0.0)
    })
    .collect()
}

pub fn all(positions: &[DVec3], radius: f64) -> Particles<'_> {
    Particles { positions, radii: Radii::All(radius), velocities: None }
}

pub fn spheres() -> Surfacing {
    Surfacing { method: Method::Spheres, ..Surfacing::default() }
}

pub fn ellipsoids(settings: Anisotropy) -> Surfacing {
    Surfacing { method: Method::Ellipsoids(settings), ..Surfacing::default() }
}

pub fn averages(settings: Averaging) -> Surfacing {
    Surfacing { method: Method::Average(settings), ..Surfacing::default() }
}

pub fn surface(how: &Surfacing, voxel: f64, particles: &Particles<'_>) -> Surfaced {
    how.surface("surface", &domain(voxel), particles).unwrap()
}

/// The mesh of a surface, which must be closed and a manifold.
pub fn mesh(surfaced: &Surfaced) -> Triangles {
    let mesh = surfaced.mesh().unwrap();
    check(&mesh);
    mesh
}

/// Refuses a mesh that is open, no manifold or has degenerate triangles.
pub fn check(mesh: &Triangles) {
    let surface = mesh.clone().into_surface("surface").unwrap();
    surface.check_closed().unwrap();
    let faults = surface.faults(3).unwrap();
    assert!(faults.is_empty(), "{faults:?}");
}

/// How many parts a mesh has that do not touch.
pub fn parts(mesh: &Triangles) -> usize {
    mesh.clone().into_surface("surface").unwrap().components().count()
}

pub fn mass(mesh: &Triangles) -> MassProperties {
    meshing::mass_properties(mesh).unwrap()
}
