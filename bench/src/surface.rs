//! Particles become a mesh: a collapsed dam with a wavy top, a sheet thrown up the far wall, and droplets. All of it is timed, from
//! positions to triangles.

use crate::Result;
use crate::harness::{Benchmark, Context, Outcome};
use crate::machine::peak_bytes_of;
use crate::random::point;
use crate::report::Value;
use std::time::Instant;
use undine_core::glam::DVec3;
use undine_core::{Frame, GridDomain};
use undine_geometry::Triangles;
use undine_geometry::meshing::vertex_normals;
use undine_geometry::surfacing::{Anisotropy, Method, Particles, Radii, Surfacing};

/// The `surface` benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "surface",
    doc: "SIZE particles of a dam break to a mesh with normals, by ellipsoids, and by spheres (union_…), and 8 SIZE; one particle is one unit",
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
    let mut state = State::new(particles(context.size))?;
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
    let peer = context.splashsurf(&state.positions, state.radius, VOXEL);
    drop(state);
    let [rate, union_rate] = [main.rate(), union.rate()];
    let [growth, union_growth] = growth(context.size, [rate, union_rate])?;
    let areas = [context.size / 4, context.size, 8 * context.size].map(of_area);
    let [quarter, once, eight] = areas.map(|area| area.unwrap_or([f64::NAN; 2]));
    let mut outcome = Outcome::new(main)
        .mem_bytes(mem_bytes)
        .also("union", union)
        .with("buckets", Value::Count(buckets))
        .with("triangles", Value::Count(triangles))
        .with("union_triangles", Value::Count(union_triangles))
        .with("voxel_bytes", Value::Count(buckets * 2 * 512 * 4))
        .with("growth", Value::Number(growth))
        .with("union_growth", Value::Number(union_growth))
        .with(
            "voxels_of_area_growth",
            Value::Number(largest_ratio([quarter[0], once[0], eight[0]])),
        )
        .with("mem_of_area_growth", Value::Number(largest_ratio([quarter[1], once[1], eight[1]])));
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

/// What a particle costs where there are eight times as many, in what it costs where they run at these rates: by ellipsoids and by spheres.
fn growth(size: usize, rates: [f64; 2]) -> Result<[f64; 2]> {
    let mut state = State::new(particles(8 * size))?;
    let units = state.positions.len() as f64;
    let mut growth = [0.0; 2];
    let methods = [Method::Ellipsoids(Anisotropy::default()), Method::Spheres];
    for ((growth, method), rate) in growth.iter_mut().zip(methods).zip(rates) {
        let started = Instant::now();
        match method {
            Method::Spheres => state.surface(method)?,
            _ => state.surface_with_normals(method)?,
        }
        *growth = started.elapsed().as_secs_f64() / units * rate;
    }
    Ok(growth)
}

/// Bytes of voxels, and the most of all memory that is there at once, where so many particles fill the dam alone: for a particle of the
/// surface, of which there are as many as the power ⅔ of all.
fn of_area(count: usize) -> Result<[f64; 2]> {
    let mut state = State::new(dam(count))?;
    let peak = peak_bytes_of(|| state.surface(Method::Ellipsoids(Anisotropy::default())))?;
    let area = (state.positions.len() as f64).powf(2.0 / 3.0);
    Ok([(state.buckets * 512 * 4) as f64 / area, peak as f64 / area])
}

fn largest_ratio(values: [f64; 3]) -> f64 {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    values.iter().copied().fold(0.0, f64::max) / least
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
    fn new((positions, radius): (Vec<DVec3>, f64)) -> Result<Self> {
        let domain = GridDomain::new("surface", Frame::new(DVec3::ZERO, VOXEL * radius)?);
        Ok(Self { domain, positions, radius, mesh: None, buckets: 0 })
    }

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

/// A dam of nine tenths of so many particles in a box of 1 m, and half of their spacing [m].
fn dam(count: usize) -> (Vec<DVec3>, f64) {
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
    (positions, 0.5 * spacing)
}

/// About so many particles, and half of their spacing [m]: the dam, a sheet up the far wall, and droplets.
fn particles(count: usize) -> (Vec<DVec3>, f64) {
    let (mut positions, radius) = dam(count);
    let along = (0.5 / radius) as usize;
    let left = count.saturating_sub(positions.len());
    for n in 0..left {
        let [a, b, c] = point((along.pow(3) + n) as u64).to_array();
        positions.push(match n % 2 {
            0 => DVec3::new(1.0 - 0.03 * a, b, 0.2 + 0.6 * c * c),
            _ => DVec3::new(a, b, 0.2 + 0.8 * c * c * c),
        });
    }
    (positions, radius)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_particles_as_asked_for_and_their_mesh_is_closed() {
        let mut state = State::new(particles(20_000)).unwrap();
        assert!(state.positions.len().abs_diff(20_000) < 1500, "{}", state.positions.len());
        state.surface(Method::Spheres).unwrap();
        let mesh = state.mesh.unwrap();
        mesh.into_surface("surface").unwrap().check_closed().unwrap();
    }
}
