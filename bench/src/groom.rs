//! A groom whose strands hang together by their contacts: a tuft that leans in from all sides and is thrown together, so that contacts are one
//! cluster, which no strand leaves. What is measured is the sweeps over it.

use crate::Result;
use crate::harness::{Benchmark, Context, Outcome};
use crate::random::point;
use crate::report::Value;
use crate::simulated::Swept;
use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_core::mesh::{Curves, Strands};
use undine_schema::setup::{Behavior, Group};
use undine_sim::checkpoint::{self, Identity, State};
use undine_sim::input::{Data, Geometry};
use undine_sim::timeline::Substeps;
use undine_sim::{Simulation, Timeline, registry};

/// The `groom` benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "groom",
    doc: "a frame of two substeps of a tuft of SIZE strands of 25 vertices that is thrown together; one visit of a contact in a sweep is one unit",
    default_size: 300,
    peers: &[],
    run,
};

/// Vertices of a strand.
const VERTICES: usize = 25;
/// Substeps of a frame.
const SUBSTEPS: u32 = 2;
/// Frames before the one that is timed, in which strands come together.
const WARM_UP: usize = 3;

fn run(context: &Context) -> Result<Outcome> {
    if !(1..=20_000).contains(&context.size) {
        let size = context.size;
        return Err(format!("a size of {size} makes no sense: from 1 to 20000 strands").into());
    }
    let mut tuft = tuft(context.size)?;
    for _ in 0..WARM_UP {
        tuft.advance_frame(&mut (), |_, _| Ok(()))?;
    }
    let memory = tuft.world.budget.used();
    let clock = tuft.clock();
    let state = State { frame: clock.frame, step: clock.substeps, ..State::default() };
    let mut first = Vec::new();
    checkpoint::save(&Identity::default(), &state, &tuft.world, &mut first)?;
    let reset = |tuft: &mut Simulation| -> Result<()> {
        checkpoint::load(None, &mut tuft.world, &mut Cursor::new(&first))?;
        tuft.set_clock(clock);
        Ok(())
    };
    let mut swept = Swept::default();
    tuft.advance_frame(&mut swept, |_, _| Ok(()))?;
    let measured = context.work("visits", swept.visits as u64).measure_after(
        &mut tuft,
        reset,
        |tuft| Ok(tuft.advance_frame(&mut (), |_, _| Ok(()))?),
        |tuft, hash| {
            let digests = registry::digests(&tuft.world).unwrap_or_default();
            let channels = digests.iter().flat_map(|store| &store.channels);
            channels.for_each(|channel| hash.write(&[channel.digest]));
        },
    )?;
    Ok(Outcome::new(measured.mem_bytes(memory))
        .with("contacts", Value::Count(swept.contacts as u64))
        .with("sweeps", Value::Count(swept.sweeps as u64)))
}

/// Strands of 12 cm that stand on a disc, as dense whatever their number, and lean in to its middle, thrown across it.
fn tuft(strands: usize) -> Result<Simulation> {
    let radius = 0.0012 * (strands as f64).sqrt();
    let mut positions = Vec::with_capacity(strands * VERTICES);
    for n in 0..strands {
        // As seeds in a sunflower, none of which is near to another.
        let (turn, out) = (n as f64 * 2.399_963, ((n as f64 + 0.5) / strands as f64).sqrt());
        let root = radius * out * DVec3::new(turn.cos(), 0.0, turn.sin());
        let [lean, phase, _] = point(n as u64).to_array();
        let phase = std::f64::consts::TAU * phase;
        for k in 0..VERTICES {
            let s = k as f64 / (VERTICES - 1) as f64;
            let angle = 12.0 * s + phase;
            let curl = 0.003 * s * DVec3::new(angle.cos(), 0.0, angle.sin());
            positions.push(root * (1.0 - 0.5 * (1.0 + lean) * s) + 0.12 * s * DVec3::Y + curl);
        }
    }
    let offsets = (0..=strands).map(|n| (n * VERTICES) as u32).collect();
    let curves = Curves::new("tuft", positions, Strands::open(offsets)?)?;
    let data = Data::new(Geometry::Curves(Arc::new(curves)));
    let inputs = BTreeMap::from([("tuft".to_owned(), Arc::new(data))]);
    let of = Behavior::new;
    let setup = Group::default()
        .with(
            of(&undine_solid::curves::object::DECLARATION)
                .set("input", "tuft")
                .set("roots", "clamped")
                .set("radius", 1e-4)
                .set("density", 1300.0)
                .set("youngs", 4e9)
                .set("velocity", [0.5, 0.0, 0.3]),
        )
        .with(of(&undine_solid::curves::stretching::DECLARATION))
        .with(of(&undine_solid::curves::bending::DECLARATION).set("damping-time", 0.005))
        .with(of(&undine_solid::curves::twisting::DECLARATION).set("damping-time", 0.005))
        .with(of(&undine_actions::collision::DECLARATION).set("friction", 0.3))
        .with(of(&undine_actions::gravity::DECLARATION));
    let kinds = [undine_solid::BEHAVIORS, undine_actions::BEHAVIORS].concat();
    let timeline = Timeline { substeps: Substeps::Fixed(SUBSTEPS), ..Timeline::default() };
    let budget = MemoryBudget::unlimited();
    Ok(Simulation::new(&setup, &kinds, timeline, Arc::new(inputs), budget)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strands_of_a_small_tuft_touch_each_other() {
        let mut tuft = tuft(30).expect("a tuft");
        let mut swept = Swept::default();
        for _ in 0..WARM_UP {
            tuft.advance_frame(&mut swept, |_, _| Ok(())).expect("a frame");
        }
        assert!(swept.contacts > 20 && swept.sweeps > 0, "{swept:?}");
    }
}
