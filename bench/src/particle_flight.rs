//! Particles that fly, dragged by the air, through the whole pipeline: particle steps per second.

use crate::Result;
use crate::harness::{Benchmark, Context, Outcome};
use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_schema::setup::{Behavior, Group};
use undine_sim::checkpoint::{self, Identity, State};
use undine_sim::input::Data;
use undine_sim::registry;
use undine_sim::{Simulation, Timeline};

/// The `particle-flight` benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "particle-flight",
    doc: "a step of SIZE³ particles under gravity and drag, with all checks; one particle is one unit",
    default_size: 100,
    peers: &[],
    run,
};

fn run(context: &Context) -> Result<Outcome> {
    if !(1..=400).contains(&context.size) {
        let size = context.size;
        return Err(
            format!("a size of {size} makes no sense: from 1 to 400 particles a side").into()
        );
    }
    let side = context.size as u32;
    let places = 0..side * side * side;
    let spacing = 0.02;
    let points = places.map(|n| {
        let cell = [n / (side * side), n / side % side, n % side];
        DVec3::from(cell.map(f64::from)) * spacing
    });
    let cloud = Arc::new(Data::points(points.collect()));
    let inputs = BTreeMap::from([("cloud".to_owned(), cloud)]);
    let setup = Group::default()
        .with(
            Behavior::new(&undine_particles::particles::DECLARATION)
                .set("input", "cloud")
                .set("velocity", [1.0, 2.0, 3.0])
                .set("voxel", spacing),
        )
        .with(Behavior::new(&undine_actions::gravity::DECLARATION))
        .with(Behavior::new(&undine_actions::drag::DECLARATION));
    let kinds = [undine_particles::BEHAVIORS, undine_actions::BEHAVIORS].concat();
    let budget = MemoryBudget::unlimited();
    let mut simulation =
        Simulation::new(&setup, &kinds, Timeline::default(), Arc::new(inputs), budget)?;
    let memory = simulation.world.budget.used();
    // Every call begins with the same state: the first one, out of a checkpoint.
    let clock = simulation.clock();
    let mut first = Vec::new();
    checkpoint::save(&Identity::default(), &State::default(), &simulation.world, &mut first)?;
    let measured = context.work("particles", u64::from(side).pow(3)).measure_after(
        &mut simulation,
        |simulation| {
            checkpoint::load(None, &mut simulation.world, &mut Cursor::new(&first))?;
            simulation.set_clock(clock);
            Ok(())
        },
        |simulation| Ok(simulation.advance_frame(&mut (), |_, _| Ok(()))?),
        |simulation, hash| {
            let digests = registry::digests(&simulation.world).unwrap_or_default();
            let channels = digests.iter().flat_map(|store| &store.channels);
            channels.for_each(|channel| hash.write(&[channel.digest]));
        },
    )?;
    Ok(Outcome::new(measured).mem_bytes(memory))
}
