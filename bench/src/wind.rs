//! Wind in a crown of strands that are as many particles as the palm tree of the Loki paper (its Figure 16 and Table 1), with as much air
//! around them: elastic rods, an incompressible volume, and drag and buoyancy that couple both.

use crate::Result;
use crate::dam::Profile;
use crate::harness::{Benchmark, Context, Outcome};
use crate::machine::peak_bytes_of;
use crate::measure::Measured;
use crate::peers::PeerSolves;
use crate::random::point;
use crate::report::Value;
use crate::simulated::{frame, hash, voxels};
use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_core::mesh::{Curves, Strands};
use undine_schema::setup::{Behavior, Group};
use undine_sim::input::{Data, Geometry};
use undine_sim::timeline::Substeps;
use undine_sim::{Simulation, Timeline};

/// The `wind` benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "wind",
    doc: "a frame of a crown of SIZE strands of 31 vertices and 1.4 million voxels of wind, 2 substeps; one vertex in one substep is one unit",
    default_size: 10_800,
    peers: &[],
    run,
};

/// Vertices of a strand.
const VERTICES: usize = 31;
/// Substeps in a frame, as in the paper.
const SUBSTEPS: u32 = 2;
/// Frames before those that count: the wind has come through the crown.
const WARM_UP: usize = 4;
/// Frames that count.
const COUNTED: usize = 3;
/// How long strands are, and how wide voxels [m].
const LENGTH: f64 = 2.0;
const VOXEL: f64 = 0.0365;

fn run(context: &Context) -> Result<Outcome> {
    if !(1..=100_000).contains(&context.size) {
        let size = context.size;
        return Err(format!("a size of {size} makes no sense: from 1 to 100000 strands").into());
    }
    let mut profile = Profile::default();
    let (mut seconds, mut crown) = (0.0, None);
    let mem_bytes = peak_bytes_of(|| {
        let crown = crown.insert(crown_of(context.size)?);
        for _ in 0..WARM_UP {
            frame(crown, &mut ())?;
        }
        for _ in 0..COUNTED {
            seconds += frame(crown, &mut profile)?;
        }
        Ok(())
    })?;
    let mut crown = crown.ok_or("there is no crown")?;
    profile.print(seconds);
    let voxels = voxels(&crown);
    let hash = hash(&crown)?;
    let on_all = frame(&mut crown, &mut ())?;
    let on_one = context.on_one(|| frame(&mut crown, &mut ()))?;
    let seconds = seconds / COUNTED as f64;
    let main = Measured {
        unit: "vertex-substeps",
        units: (context.size * VERTICES) as u64 * u64::from(SUBSTEPS),
        bytes: None,
        threads: context.threads,
        seconds,
        seconds_on_one: seconds * on_one / on_all,
        hash,
        mem_bytes: None,
        peers: PeerSolves::new(),
    };
    Ok(Outcome::new(main.mem_bytes(mem_bytes))
        .with("particles", Value::Count((context.size * VERTICES) as u64))
        .with("voxels", Value::Count(voxels)))
}

/// Strands from one place to all sides that bend down under their weight, in a wind of 5 m/s.
fn crown_of(strands: usize) -> Result<Simulation> {
    let mut positions = Vec::with_capacity(strands * VERTICES);
    for n in 0..strands {
        let [turn, rise, start] = point(n as u64).to_array();
        let (turn, rise) = (std::f64::consts::TAU * turn, 1.4 * rise - 0.4);
        let level = (1.0 - rise * rise).max(0.0).sqrt();
        let mut along = DVec3::new(level * turn.cos(), rise, level * turn.sin());
        let mut at = 0.1 * (1.0 + start) * along;
        for _ in 0..VERTICES {
            positions.push(at);
            at += LENGTH / (VERTICES - 1) as f64 * along;
            along = (along - 0.04 * DVec3::Y).normalize();
        }
    }
    let offsets = (0..=strands).map(|n| (n * VERTICES) as u32).collect();
    let curves = Curves::new("crown", positions, Strands::open(offsets)?)?;
    let data = Data::new(Geometry::Curves(Arc::new(curves)));
    let inputs = BTreeMap::from([("crown".to_owned(), Arc::new(data))]);
    let of = Behavior::new;
    let setup = Group::default()
        .with(
            of(&undine_solid::curves::object::DECLARATION)
                .named("strands")
                .set("input", "crown")
                .set("roots", "clamped")
                .set("radius", 0.002)
                .set("density", 600.0)
                .set("youngs", 5e9),
        )
        .with(of(&undine_solid::curves::stretching::DECLARATION))
        .with(of(&undine_solid::curves::bending::DECLARATION).set("damping-time", 0.02))
        .with(of(&undine_solid::curves::twisting::DECLARATION).set("damping-time", 0.02))
        .with(
            of(&undine_gas::air::DECLARATION)
                .named("air")
                .set("voxel", VOXEL)
                .set("around", "strands")
                .set("padding", 1),
        )
        .with(of(&undine_fluid::inflow::DECLARATION).set("velocity", [5.0, 0.0, 0.0]))
        .with(of(&undine_fluid::pressure::DECLARATION))
        .with(of(&undine_actions::coupled::drag::DECLARATION))
        .with(of(&undine_actions::coupled::buoyancy::DECLARATION))
        .with(of(&undine_actions::gravity::DECLARATION));
    let kinds = [
        undine_solid::BEHAVIORS,
        undine_gas::BEHAVIORS,
        undine_fluid::BEHAVIORS,
        undine_actions::BEHAVIORS,
    ]
    .concat();
    let timeline = Timeline { substeps: Substeps::Fixed(SUBSTEPS), ..Timeline::default() };
    let budget = MemoryBudget::unlimited();
    Ok(Simulation::new(&setup, &kinds, timeline, Arc::new(inputs), budget)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_crown_stands_in_the_wind() {
        let mut crown = crown_of(20).expect("a crown");
        frame(&mut crown, &mut ()).expect("a frame");
        assert!(voxels(&crown) > 10_000, "{}", voxels(&crown));
    }
}
