//! Neighbours within a radius: eight particles per voxel and a radius that holds thirty of them, as in SPH. Visiting them means
//! a density sum; the further parts smooth the velocity, which reads a channel of every neighbour, and write lists.

use crate::Result;
use crate::harness::{Benchmark, Context, Outcome};
use crate::random;
use crate::report::Value;
use undine_core::glam::{DVec3, Vec3};
use undine_core::neighbours::{NeighbourLists, Neighbours};
use undine_core::{ChannelSpec, Frame, GridDomain, Handle, ParticleSystem};

/// The `neighbours` benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "neighbours",
    doc: "SIZE particles, 8 per voxel, 30 neighbours each: SPH density, smoothed velocity, and lists; one particle is one unit",
    default_size: 2_000_000,
    peers: &[],
    run,
};

/// The width of a voxel [m].
const VOXEL: f64 = 0.01;

/// The radius [m]: 8 · 4π/3 · 0.964³ = 30.
const RADIUS: f64 = 0.964 * VOXEL;

fn run(context: &Context) -> Result<Outcome> {
    let mut state = State::new(context.size)?;
    let count = context.size as u64;
    let visiting =
        context.work("particles", count).measure(&mut state, State::density, |state, hash| {
            state.each_chunk(state.density, |chunk| hash.write(chunk));
        })?;
    let smoothing =
        context.work("particles", count).measure(&mut state, State::smooth, |state, hash| {
            state.each_chunk(state.smooth, |chunk| {
                hash.write(bytemuck::cast_slice::<_, f32>(chunk))
            });
        })?;
    let writing = context.work("particles", count).measure_after(
        &mut state,
        |state| {
            state.lists = None;
            Ok(())
        },
        State::write_lists,
        |state, hash| {
            let Some(lists) = &state.lists else { return };
            let mut slot = 0;
            state.each_chunk(state.density, |chunk| {
                (0..chunk.len()).for_each(|place| hash.write(lists.of(slot, place)));
                slot += 1;
            });
        },
    )?;
    let lists = state.lists.take().ok_or("no lists were written")?;
    let neighbours = lists.entries() as f64 / count as f64;
    Ok(Outcome::new(visiting)
        .mem_bytes(state.particles.memory()?.total())
        .with("neighbours", Value::Number(neighbours))
        .also("smooth", smoothing)
        .also("lists", writing)
        .with("lists_mem_bytes", Value::Count(lists.memory().total())))
}

struct State {
    domain: GridDomain,
    particles: ParticleSystem,
    density: Handle<f32>,
    velocity: Handle<Vec3>,
    smooth: Handle<Vec3>,
    lists: Option<NeighbourLists>,
}

impl State {
    fn new(count: usize) -> Result<Self> {
        let domain = GridDomain::new("neighbours", Frame::new(DVec3::ZERO, VOXEL)?);
        let mut particles = ParticleSystem::new("liquid", &domain)?;
        let density = particles.add_channel(&ChannelSpec::new("density", 0.0_f32))?;
        let velocity = particles.add_channel(&ChannelSpec::new("velocity", Vec3::ZERO))?;
        let smooth = particles.add_channel(&ChannelSpec::new("smooth", Vec3::ZERO))?;
        let edge = (count as f64 / 8.0).cbrt() * VOXEL;
        let positions: Vec<DVec3> = (0..count as u64).map(|n| random::point(n) * edge).collect();
        let mut batch = particles.batch(&positions)?;
        for (velocity, position) in batch.values_mut::<Vec3>("velocity")?.iter_mut().zip(&positions)
        {
            *velocity = position.as_vec3();
        }
        particles.append(&domain, batch)?;
        Ok(Self { domain, particles, density, velocity, smooth, lists: None })
    }

    fn search(&self) -> Result<Neighbours<'_>> {
        Ok(Neighbours::new("neighbours", &self.domain, &self.particles, RADIUS)?)
    }

    /// The sum of (1 − r²/h²)³ over neighbours (Müller et al. 2003, the kernel for density).
    fn density(&mut self) -> Result<()> {
        let per_h2 = (1.0 / (RADIUS * RADIUS)) as f32;
        let weight = |distance2: f32| {
            let inside = 1.0 - distance2 * per_h2;
            inside * inside * inside
        };
        let density = self.particles.write(self.density);
        Ok(self.search()?.for_each(density, |_, density, i, near| {
            density[i] = 1.0 + near.sum(weight);
        })?)
    }

    /// The velocity smoothed over neighbours (XSPH, Monaghan 1989).
    fn smooth(&mut self) -> Result<()> {
        let per_h2 = (1.0 / (RADIUS * RADIUS)) as f32;
        let access = (self.particles.around(self.velocity), self.particles.write(self.smooth));
        Ok(self.search()?.for_each(access, |_, (velocity, smooth), i, near| {
            let own = velocity.chunk()[i];
            let mut sum = Vec3::ZERO;
            for j in near.iter() {
                sum += (velocity.of(j.neighbour) - own) * (1.0 - j.distance2 * per_h2);
            }
            smooth[i] = own + 0.02 * sum;
        })?)
    }

    fn write_lists(&mut self) -> Result<()> {
        let lists = self.search()?.lists()?;
        self.lists = Some(lists);
        Ok(())
    }

    /// Calls `visit` with the particles of each Bucket.
    fn each_chunk<T: undine_core::Element>(&self, handle: Handle<T>, mut visit: impl FnMut(&[T])) {
        if let Ok(column) = self.particles.column(handle) {
            (0..self.particles.topology().local() as u32)
                .for_each(|slot| visit(column.chunk(slot)));
        }
    }
}
