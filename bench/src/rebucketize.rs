//! Particles that change their Bucket: eight per voxel, and at each call one in twenty crosses a face of its Bucket.

use crate::Result;
use crate::harness::{Benchmark, Context, Outcome};
use crate::random;
use crate::report::Value;
use undine_core::glam::{DVec3, Mat3, Vec3};
use undine_core::{Accessor, ChannelSpec, Frame, GridDomain, ParticleSystem};

/// The `rebucketize` benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "rebucketize",
    doc: "SIZE particles, 8 per voxel, with velocity and affine matrix, 5 % of them changing Bucket; one particle is one unit",
    default_size: 4_000_000,
    peers: &[],
    run,
};

/// The width of a voxel [m].
const VOXEL: f64 = 0.01;

fn run(context: &Context) -> Result<Outcome> {
    let mut domain = GridDomain::new("rebucketize", Frame::new(DVec3::ZERO, VOXEL)?);
    domain.set_buckets(&Default::default())?;
    let mut particles = ParticleSystem::new("liquid", &domain)?;
    particles.add_channel(&ChannelSpec::new("velocity", Vec3::ZERO))?;
    particles.add_channel(&ChannelSpec::new("affine", Mat3::ZERO))?;
    let count = context.size;
    let edge = (count as f64 / 8.0).cbrt() * VOXEL;
    let positions: Vec<DVec3> = (0..count as u64).map(|n| random::point(n) * edge).collect();
    particles.append(&domain, particles.batch(&positions)?)?;

    let mut state = State { domain, particles, away: false };
    let measured = context.work("particles", count as u64).measure_after(
        &mut state,
        |state| {
            state.push(false)?;
            state.particles.rebucketize(&state.domain)?;
            state.push(true)
        },
        |state| Ok(state.particles.rebucketize(&state.domain)?),
        |state, hash| {
            // Only who is where: the order within a Bucket goes back to all calls before.
            if let Ok(ids) = state.particles.column(state.particles.id()) {
                let scramble = |sum: u64, id: &u64| sum ^ id.wrapping_mul(random::GOLDEN);
                let sum = |slot: u32| ids.chunk(slot).iter().fold(0, scramble);
                let sums: Vec<u64> =
                    (0..state.particles.topology().local() as u32).map(sum).collect();
                hash.write(&sums);
            }
        },
    )?;
    let memory = state.particles.memory()?;
    Ok(Outcome::new(measured)
        .mem_bytes(memory.total())
        .with("overhead", Value::Number(memory.overhead_ratio()))
        .with("moved", Value::Number(0.05)))
}

struct State {
    domain: GridDomain,
    particles: ParticleSystem,
    /// Whether those who cross are across.
    away: bool,
}

impl State {
    /// Takes one in twenty a Bucket along x, or back.
    fn push(&mut self, away: bool) -> Result<()> {
        if self.away == away {
            return Ok(());
        }
        self.away = away;
        let size = self.particles.topology().frame().bucket_size(0) as f32;
        let (position, id) = (self.particles.position(), self.particles.id());
        Ok(Accessor::new("push", &self.domain).over(self.particles.topology()).run(
            (self.particles.write(position), self.particles.own(id)),
            |_, (positions, ids)| {
                for (position, id) in positions.iter_mut().zip(ids) {
                    if id % 20 == 7 {
                        position.x += if away { size } else { -size };
                    }
                }
            },
        )?)
    }
}
