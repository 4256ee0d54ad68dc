//! A dam break, whole steps of it: how long a frame takes beside Blender's Mantaflow, where the time goes, and how much memory it
//! takes.

use crate::Result;
use crate::dam::{Dam, PRESSURE_TOLERANCE, Plan, Profile, SUBSTEPS};
use crate::harness::{Benchmark, Context, Outcome};
use crate::machine::peak_bytes_of;
use crate::measure::Measured;
use crate::peers::{Bake, PeerSolves};
use crate::report::Value;

/// The `flip-dam` benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "flip-dam",
    doc: "a frame of a dam break, 4 substeps, 8 particles a cell, frames 4 to 12; size is cells across, a step of a particle one unit",
    default_size: 64,
    peers: &[],
    run,
};

/// Frames before those that count.
const WARM_UP: usize = 3;
/// Frames that count: to the twelfth.
const COUNTED: usize = 9;
/// The width of the narrow band, Mantaflow's own [cells].
const BAND: u32 = 3;

fn run(context: &Context) -> Result<Outcome> {
    let plan = Plan::of(context.size)?;
    let [full, band] = [None, Some(BAND)].map(|band| -> Result<(Measured, u64)> {
        println!("  {}", if band.is_some() { "narrow band:" } else { "particles everywhere:" });
        let broken = break_dam(context, &Plan { band, ..plan })?;
        broken.profile.print(broken.seconds * COUNTED as f64);
        let bytes = broken.mem_bytes;
        Ok((broken.into_measured(context.threads), bytes))
    });
    let ((full, mem_bytes), (band, band_bytes)) = (full?, band?);
    let seconds = [full.seconds, band.seconds];
    let mut outcome = Outcome::new(full.mem_bytes(mem_bytes))
        .also("band", band.mem_bytes(band_bytes))
        .with("substeps", Value::Count(SUBSTEPS.into()))
        .with("pressure_tolerance", Value::Number(PRESSURE_TOLERANCE));
    if let Some(bake) = context.mantaflow(Bake::Dam, context.size, [WARM_UP, WARM_UP + COUNTED]) {
        let memory = |bytes: u64| Value::Number(bytes as f64 / bake.extra_bytes.max(1) as f64);
        let [full, band] = seconds.map(|ours| Value::Number(bake.seconds_per_frame / ours));
        outcome = outcome
            .with("full_vs_mantaflow", full)
            .with("band_vs_mantaflow", band)
            .with("mem_vs_mantaflow", memory(mem_bytes))
            .with("band_mem_vs_mantaflow", memory(band_bytes))
            .with("mantaflow_seconds", Value::Number(bake.seconds_per_frame))
            .with("mantaflow_bytes", Value::Count(bake.extra_bytes));
    }
    Ok(outcome)
}

/// What a dam break took.
struct Broken {
    /// Time of a frame on all threads [s].
    seconds: f64,
    /// How much faster that is than on one.
    speedup: f64,
    /// Steps of particles in a frame.
    particle_steps: u64,
    mem_bytes: u64,
    hash: u64,
    profile: Profile,
}

/// Frames 4 to 12 once on all threads, and the one after them on all threads and on one: a run takes minutes, not seconds, and
/// nine frames are as good as nine calls.
fn break_dam(context: &Context, plan: &Plan) -> Result<Broken> {
    let mut profile = Profile::default();
    let (mut seconds, mut particles, mut dam) = (0.0, 0, None);
    let mem_bytes = peak_bytes_of(|| {
        let dam = dam.insert(Dam::new(plan)?);
        for _ in 0..WARM_UP {
            dam.frame(&mut ())?;
        }
        for _ in 0..COUNTED {
            seconds += dam.frame(&mut profile)?;
            particles += dam.particles();
        }
        Ok(())
    })?;
    let mut dam = dam.ok_or("there is no dam")?;

    let twelfth = dam.save()?;
    let on_all = dam.frame(&mut ())?;
    let hash = dam.hash()?;
    dam.restore(&twelfth)?;
    let on_one = context.on_one(|| dam.frame(&mut ()))?;
    if dam.hash()? != hash {
        let threads = context.threads;
        return Err(format!("the result on {threads} threads differs from that on one").into());
    }
    let frames = COUNTED as u64;
    Ok(Broken {
        seconds: seconds / COUNTED as f64,
        speedup: on_one / on_all,
        particle_steps: particles / frames * u64::from(SUBSTEPS),
        mem_bytes,
        hash,
        profile,
    })
}

impl Broken {
    /// As the harness has it.
    fn into_measured(self, threads: usize) -> Measured {
        Measured {
            unit: "particle-steps",
            units: self.particle_steps,
            bytes: None,
            threads,
            seconds: self.seconds,
            seconds_on_one: self.seconds * self.speedup,
            hash: self.hash,
            mem_bytes: None,
            peers: PeerSolves::new(),
        }
    }
}
