//! How the cost of a liquid grows: with the number of its particles, and with the box around it.

use crate::Result;
use crate::dam::{Dam, Plan, SUBSTEPS};
use crate::harness::{Benchmark, Context, Outcome};
use crate::measure::Measured;
use crate::peers::PeerSolves;
use crate::report::Value;

/// The `flip-scale` benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "flip-scale",
    doc: "a step of a particle of a dam break, from 0.5 million particles to SIZE million, and in a box ten times as large",
    default_size: 16,
    peers: &[],
    run,
};

/// Particles of the smallest dam, in millions, as near as whole cells come.
const SMALLEST: f64 = 0.5;
/// Particles of the dam that has liquid far away from it, in millions: so many that the Buckets of that liquid itself do not count.
const NEAR: f64 = 2.0;
/// How often each of two dams that are compared takes its turn.
const TURNS: usize = 5;

/// What frames of a dam took.
struct Timed {
    seconds: f64,
    particle_steps: u64,
    hash: u64,
}

fn run(context: &Context) -> Result<Outcome> {
    if !(1..=64).contains(&context.size) {
        let size = context.size;
        return Err(
            format!("a size of {size} makes no sense: from 1 to 64 million particles").into()
        );
    }
    let largest = context.size as f64;
    let (mut millions, mut costs, mut last) = (SMALLEST, Vec::new(), None);
    while millions < 1.01 * largest {
        let timed = second_frame(&plan(millions)?)?;
        println!(
            "  {:.2} million particles: {:.1} ns a step of a particle",
            timed.particle_steps as f64 / f64::from(SUBSTEPS) * 1e-6,
            1e9 * timed.cost()
        );
        costs.push(timed.cost());
        last = Some(timed);
        millions = if millions < largest { (2.0 * millions).min(largest) } else { f64::INFINITY };
    }
    let last = last.ok_or("nothing was simulated")?;
    let smallest = costs.first().copied().unwrap_or(f64::NAN);
    let growth = costs.iter().copied().fold(f64::NAN, f64::max) / smallest;
    let main = Measured {
        unit: "particle-steps",
        units: last.particle_steps,
        bytes: None,
        threads: context.threads,
        seconds: last.seconds,
        seconds_on_one: last.seconds,
        hash: last.hash,
        mem_bytes: None,
        peers: PeerSolves::new(),
    };
    Ok(Outcome::new(main)
        .with("growth", Value::Number(growth))
        .with("far_ratio", Value::Number(far_ratio()?)))
}

/// A dam of so many million particles, whose substeps cross as many cells as the smallest one's.
fn plan(millions: f64) -> Result<Plan> {
    let cells = |millions: f64| (millions * 1e6 / (8.0 * 0.4 * 0.6)).cbrt();
    let plan = Plan::of(cells(millions).round() as usize)?;
    Ok(Plan { fps: plan.fps * plan.cells as f64 / cells(SMALLEST), ..plan })
}

/// The second frame of a dam; the first one is the warm-up.
fn second_frame(plan: &Plan) -> Result<Timed> {
    let mut dam = Dam::new(plan)?;
    dam.frame(&mut ())?;
    let seconds = dam.frame(&mut ())?;
    let particle_steps = dam.particles() * u64::from(SUBSTEPS);
    Ok(Timed { seconds, particle_steps, hash: dam.hash()? })
}

/// How much more a step of a particle costs where a few cells of liquid lie ten edges away along every axis.
fn far_ratio() -> Result<f64> {
    let near = plan(NEAR)?;
    let mut dams = [Dam::new(&near)?, Dam::new(&Plan { with_far_pool: true, ..near })?];
    let mut best = [f64::INFINITY; 2];
    // They take turns, so that a disturbance of the machine meets both; the first turn is the warm-up.
    for turn in 0..=TURNS {
        for (dam, best) in dams.iter_mut().zip(&mut best) {
            let cost = dam.frame(&mut ())? / dam.particles() as f64;
            if turn > 0 {
                *best = best.min(cost);
            }
        }
    }
    Ok(best[1] / best[0])
}

impl Timed {
    /// Time of a step of a particle [s].
    fn cost(&self) -> f64 {
        self.seconds / self.particle_steps as f64
    }
}
