//! Hair through the whole pipeline: strands of 32 vertices that are stretched, bent and twisted under gravity and bump into each other,
//! two substeps a frame, one Newton iteration each; and one system of them by manybodies against one global sparse Cholesky.

use crate::Result;
use crate::harness::{Benchmark, Context, Outcome};
use crate::poisson::converged;
use crate::report::Value;
use crate::simulated::Swept;
use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::Arc;
use std::time::Instant;
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_core::mesh::{Curves, Strands};
use undine_linsolve::direct::solve_direct;
use undine_linsolve::gallery::{RodsSetup, rods};
use undine_linsolve::manybodies::{Blocks, manybodies_solve};
use undine_linsolve::{Matrix, Stop};
use undine_schema::setup::{Behavior, Group};
use undine_sim::checkpoint::{self, Identity, State};
use undine_sim::input::{Data, Geometry};
use undine_sim::registry;
use undine_sim::timeline::Substeps;
use undine_sim::{Simulation, Timeline};

/// The `hair` benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "hair",
    doc: "a frame of two substeps of SIZE strands of 32 vertices, with all checks; one vertex in one substep is one unit",
    default_size: 1000,
    peers: &[],
    run,
};

/// Vertices of a strand.
const VERTICES: usize = 32;

/// Substeps of a frame.
const SUBSTEPS: u32 = 2;

/// Frames before the one that is timed, so that strands swing.
const WARM_UP: usize = 4;

/// So many strands touch each other when they swing.
const LEAST_THAT_TOUCH: usize = 500;

/// How many times as many strands `growth` is for.
const MANY: usize = 20;

fn run(context: &Context) -> Result<Outcome> {
    if !(1..=100_000).contains(&context.size) {
        let size = context.size;
        return Err(format!("a size of {size} makes no sense: from 1 to 100000 strands").into());
    }
    let mut simulation = simulation(context.size)?;
    for _ in 0..WARM_UP {
        simulation.advance_frame(&mut (), |_, _| Ok(()))?;
    }
    let memory = simulation.world.budget.used();
    let clock = simulation.clock();
    let state = State { frame: clock.frame, step: clock.substeps, ..State::default() };
    let mut first = Vec::new();
    checkpoint::save(&Identity::default(), &state, &simulation.world, &mut first)?;
    let mut swept = Swept::default();
    simulation.advance_frame(&mut swept, |_, _| Ok(()))?;
    let units = (context.size * VERTICES) as u64 * u64::from(SUBSTEPS);
    let measured = context.work("vertex-substeps", units).measure_after(
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
    drop(simulation);
    if context.size >= LEAST_THAT_TOUCH && swept.contacts == 0 {
        return Err("no strand touches another, so that nothing was measured of contacts".into());
    }
    let many = MANY * context.size;
    let growth = seconds_of_a_vertex(many)? * measured.rate();
    let [ours, cholesky] = system(context.size)?;
    Ok(Outcome::new(measured.mem_bytes(memory))
        .with("contacts", Value::Count(swept.contacts as u64))
        .with("many_strands", Value::Count(many as u64))
        .with("growth", Value::Number(growth))
        .with("manybodies_seconds", Value::Number(ours))
        .with("cholesky_seconds", Value::Number(cholesky))
        .with("vs_cholesky", Value::Number(cholesky / ours)))
}

/// What a substep of a vertex takes where there are so many strands, once they swing [s].
fn seconds_of_a_vertex(strands: usize) -> Result<f64> {
    let mut simulation = simulation(strands)?;
    for _ in 0..WARM_UP {
        simulation.advance_frame(&mut (), |_, _| Ok(()))?;
    }
    let started = Instant::now();
    simulation.advance_frame(&mut (), |_, _| Ok(()))?;
    let units = (strands * VERTICES) as f64 * f64::from(SUBSTEPS);
    Ok(started.elapsed().as_secs_f64() / units)
}

/// Curly strands of 16 cm that hang from a square, thrown sideways.
fn simulation(strands: usize) -> Result<Simulation> {
    let side = (strands as f64).sqrt().ceil() as usize;
    let mut positions = Vec::with_capacity(strands * VERTICES);
    for n in 0..strands {
        let root = 0.004 * DVec3::new((n % side) as f64, 0.0, (n / side) as f64);
        let phase = n as f64 * 2.4;
        for k in 0..VERTICES {
            let s = k as f64;
            let curl = DVec3::new((0.5 * s + phase).cos(), 0.0, (0.5 * s + phase).sin());
            positions.push(root - 0.005 * s * DVec3::Y + 0.002 * s.min(4.0) / 4.0 * curl);
        }
    }
    let offsets = (0..=strands).map(|n| (n * VERTICES) as u32).collect();
    let curves = Curves::new("hair", positions, Strands::open(offsets)?)?;
    let data = Data::new(Geometry::Curves(Arc::new(curves)));
    let inputs = BTreeMap::from([("groom".to_owned(), Arc::new(data))]);
    let setup = Group::default()
        .with(
            Behavior::new(&undine_solid::curves::object::DECLARATION)
                .set("input", "groom")
                .set("roots", "clamped")
                .set("velocity", [0.3, 0.0, 0.2]),
        )
        .with(Behavior::new(&undine_solid::curves::stretching::DECLARATION))
        .with(Behavior::new(&undine_solid::curves::bending::DECLARATION))
        .with(Behavior::new(&undine_solid::curves::twisting::DECLARATION))
        .with(Behavior::new(&undine_actions::collision::DECLARATION))
        .with(Behavior::new(&undine_actions::gravity::DECLARATION));
    let kinds = [undine_solid::BEHAVIORS, undine_actions::BEHAVIORS].concat();
    let timeline = Timeline { substeps: Substeps::Fixed(SUBSTEPS), ..Timeline::default() };
    let budget = MemoryBudget::unlimited();
    Ok(Simulation::new(&setup, &kinds, timeline, Arc::new(inputs), budget)?)
}

/// Seconds to solve a system of as many rods with a contact per two vertices: by manybodies, and by one Cholesky of all.
fn system(strands: usize) -> Result<[f64; 2]> {
    let hair = rods(&RodsSetup::of_unknowns(strands * VERTICES * 4))?;
    let matrix = Matrix::single(hair.matrix)?;
    let blocks = Blocks::ranges(&hair.blocks);
    let mut x = vec![0.0; hair.b.len()];
    let started = Instant::now();
    let _ = converged(manybodies_solve(&matrix, &blocks, &hair.b, &mut x, &Stop::relative(1e-8))?)?;
    let ours = started.elapsed().as_secs_f64();
    x.fill(0.0);
    let started = Instant::now();
    let _ = converged(solve_direct(&matrix, &hair.b, &mut x)?)?;
    Ok([ours, started.elapsed().as_secs_f64()])
}
