//! Particles become a mesh: a collapsed dam with a wavy top, a sheet thrown up the far wall, and droplets. All of it is timed, from
//! positions to triangles.

use crate::Result;
use crate::harness::{Benchmark, Context, Outcome};
use crate::machine::peak_bytes_of;
use crate::random::point;
use crate::report::Value;
use undine_core::glam::DVec3;
use undine_core::{Frame, GridDomain};
use undine_geometry::Triangles;
use undine_geometry::meshing::vertex_normals;
use undine_geometry::surfacing::{Anisotropy, Method, Particles, Radii, Surfacing};

/// The `surface` benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "surface",
    doc: "SIZE particles of a dam break to a mesh with normals, by ellipsoids, and by spheres (union_…); one particle is one unit",
    default_size: 1_000_000,
    peers: &[],
    run,
};

/// The width of a voxel in radii of particles, half of their spacing: as fine as splashsurf is usually asked for.
const VOXEL: f64 = 0.75;

fn run(context: &Context) -> Result<Outcome> {
    if !(1000..=100_000_000).contains(&context.size) {
        let size = context.size;
        return Err(format!("a size of {size} makes no sense: from 1000 to 100 million").into());
    }
    let (positions, radius) = particles(context.size);
    let domain = GridDomain::new("surface", Frame::new(DVec3::ZERO, VOXEL * radius)?);
    let mut state = State { domain, positions, radius, mesh: None, buckets: 0 };
    let units = state.positions.len() as u64;
    let full = Method::Ellipsoids(Anisotropy::default());
    let mem_bytes = peak_bytes_of(|| state.surface_with_normals(full))?;
    let work = || context.work("particles", units);
    let main = work().measure(&mut state, |s| s.surface_with_normals(full), hash)?;
    let buckets = state.buckets;
    let triangles = state.triangles();
    // Without normals, as the peer's plain surface.
    let union = work().measure(&mut state, |s| s.surface(Method::Spheres), hash)?;
    let union_triangles = state.triangles();
    let peer = context.splashsurf(&state.positions, radius, VOXEL);
    let [rate, union_rate] = [main.rate(), union.rate()];
    let mut outcome = Outcome::new(main)
        .mem_bytes(mem_bytes)
        .also("union", union)
        .with("buckets", Value::Count(buckets))
        .with("triangles", Value::Count(triangles))
        .with("union_triangles", Value::Count(union_triangles))
        .with("voxel_bytes", Value::Count(buckets * 2 * 512 * 4));
    if let Some(peer) = peer {
        let peer_rate = |seconds: f64| units as f64 / seconds;
        outcome = outcome
            .with("vs_splashsurf", Value::Number(rate / peer_rate(peer.smoothed_seconds)))
            .with("union_vs_splashsurf", Value::Number(union_rate / peer_rate(peer.plain_seconds)))
            .with("mem_vs_splashsurf", Value::Number(mem_bytes as f64 / peer.peak_bytes as f64))
            .with("splashsurf_triangles", Value::Count(peer.triangles))
            .with("splashsurf_peak_bytes", Value::Count(peer.peak_bytes));
    }
    Ok(outcome)
}

struct State {
    domain: GridDomain,
    positions: Vec<DVec3>,
    /// Half of their spacing [m].
    radius: f64,
    mesh: Option<Triangles>,
    buckets: u64,
}

impl State {
    fn surface(&mut self, method: Method) -> Result<()> {
        let surfacing = Surfacing { method, ..Surfacing::default() };
        // Spheres as wide as the spacing: they leave no gaps.
        let radii = Radii::All(2.0 * self.radius);
        let particles = Particles { positions: &self.positions, radii, velocities: None };
        self.mesh = None;
        let surfaced = surfacing.surface("surface", &self.domain, &particles)?;
        self.mesh = Some(surfaced.mesh()?);
        self.buckets = surfaced.stamped().topology().local() as u64;
        Ok(())
    }

    fn surface_with_normals(&mut self, method: Method) -> Result<()> {
        self.surface(method)?;
        std::hint::black_box(self.mesh.as_ref().map(vertex_normals));
        Ok(())
    }

    fn triangles(&self) -> u64 {
        self.mesh.as_ref().map_or(0, Triangles::len) as u64
    }
}

fn hash(state: &State, hash: &mut crate::hash::StableHash) {
    let Some(mesh) = &state.mesh else { return };
    hash.write(mesh.positions());
    hash.write(mesh.indices());
}

/// About so many particles in a box of 1 m, and half of their spacing [m].
fn particles(count: usize) -> (Vec<DVec3>, f64) {
    let spacing = (0.32 / (0.9 * count as f64)).cbrt();
    let along = (1.0 / spacing) as usize;
    let mut positions = Vec::with_capacity(count);
    for n in 0..along.pow(3) {
        let cell = [n / (along * along), n / along % along, n % along];
        let at = DVec3::from_array(cell.map(|n| (n as f64 + 0.5) * spacing));
        let waves = 0.02 * (20.0 * at.x).sin() * (13.0 * at.y).cos();
        let jitter = point(n as u64) - 0.5;
        if at.z < 0.55 * (-2.0 * at.x).exp() + 0.08 + waves {
            positions.push(at + 0.5 * spacing * jitter);
        }
    }
    // What is left: a sheet up the far wall, and droplets.
    let left = count.saturating_sub(positions.len());
    for n in 0..left {
        let [a, b, c] = point((along.pow(3) + n) as u64).to_array();
        positions.push(match n % 2 {
            0 => DVec3::new(1.0 - 0.03 * a, b, 0.2 + 0.6 * c * c),
            _ => DVec3::new(a, b, 0.2 + 0.8 * c * c * c),
        });
    }
    (positions, 0.5 * spacing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_particles_as_asked_for_and_their_mesh_is_closed() {
        let (positions, radius) = particles(20_000);
        assert!(positions.len().abs_diff(20_000) < 1500, "{}", positions.len());
        let domain = GridDomain::new("surface", Frame::new(DVec3::ZERO, VOXEL * radius).unwrap());
        let mut state = State { domain, positions, radius, mesh: None, buckets: 0 };
        state.surface(Method::Spheres).unwrap();
        let mesh = state.mesh.unwrap();
        mesh.into_surface("surface").unwrap().check_closed().unwrap();
    }
}
