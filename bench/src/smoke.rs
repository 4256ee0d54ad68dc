//! A plume of smoke, whole steps of it: voxel-steps a second of a sparse one, and how long a frame takes beside Blender's Mantaflow.

use crate::Result;
use crate::dam::Profile;
use crate::harness::{Benchmark, Context, Outcome};
use crate::machine::peak_bytes_of;
use crate::measure::Measured;
use crate::peers::{Bake, PeerSolves};
use crate::report::Value;
use crate::simulated::{frame, hash, voxels};
use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_geometry::{Pose, Shape};
use undine_schema::setup::{Behavior, Group};
use undine_sim::input::{Data, Geometry};
use undine_sim::timeline::Substeps;
use undine_sim::{Simulation, Timeline};

/// The `smoke` benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "smoke",
    doc: "a frame of a plume in a closed room of 1 m, 4 substeps, MacCormack, residual 1e-4; size is cells across, a step of a voxel one unit",
    default_size: 256,
    peers: &[],
    run,
};

/// Substeps in a frame: the cap of Mantaflow, which makes 3.5 here.
const SUBSTEPS: u32 = 4;
/// How much of the divergence the pressure may leave, relative to what there was.
const TOLERANCE: f64 = 1e-4;
/// Frames that the plume rises before those that count.
const WARM_UP: usize = 12;
/// Frames that count.
const COUNTED: usize = 3;
/// Cells across of the room that Mantaflow simulates whole.
const BESIDE: usize = 128;
/// Frames of that, all of which count.
const FRAMES: usize = 24;

fn run(context: &Context) -> Result<Outcome> {
    let mut profile = Profile::default();
    let (mut seconds, mut count, mut plume) = (0.0, 0, None);
    let mem_bytes = peak_bytes_of(|| {
        let plume = plume.insert(plume_of(context.size)?);
        for _ in 0..WARM_UP {
            frame(plume, &mut ())?;
        }
        for _ in 0..COUNTED {
            seconds += frame(plume, &mut profile)?;
            count += voxels(plume);
        }
        Ok(())
    })?;
    let mut plume = plume.ok_or("there is no plume")?;
    profile.print(seconds);
    let voxels = count / COUNTED as u64;
    println!(
        "  {voxels} voxels, {:.1} % of the room",
        100.0 * voxels as f64 / (context.size as f64).powi(3)
    );
    let hash = hash(&plume)?;
    let on_all = frame(&mut plume, &mut ())?;
    let on_one = context.on_one(|| frame(&mut plume, &mut ()))?;
    let seconds = seconds / COUNTED as f64;
    let main = Measured {
        unit: "voxel-steps",
        units: voxels * u64::from(SUBSTEPS),
        bytes: None,
        threads: context.threads,
        seconds,
        seconds_on_one: seconds * on_one / on_all,
        hash,
        mem_bytes: None,
        peers: PeerSolves::new(),
    };
    let mut outcome = Outcome::new(main.mem_bytes(mem_bytes))
        .with("substeps", Value::Count(SUBSTEPS.into()))
        .with("voxels", Value::Count(voxels));
    let size = BESIDE.min(context.size);
    let mut beside = plume_of(size)?;
    let mut room = 0.0;
    for _ in 0..FRAMES {
        room += frame(&mut beside, &mut ())?;
    }
    let ours = room / FRAMES as f64;
    outcome = outcome.with("room_seconds", Value::Number(ours));
    if let Some(bake) = context.mantaflow(Bake::Plume, size, [1, FRAMES]) {
        outcome = outcome
            .with("vs_mantaflow", Value::Number(bake.seconds_per_frame / ours))
            .with("mantaflow_seconds", Value::Number(bake.seconds_per_frame))
            .with("mantaflow_bytes", Value::Count(bake.extra_bytes));
    }
    Ok(outcome)
}

/// Warm smoke out of a ball of 12 cm radius, 15 cm above the floor of a closed room of 1 m, so many cells across.
fn plume_of(cells: usize) -> Result<Simulation> {
    if !(16..=1024).contains(&cells) {
        return Err(format!("a size of {cells} makes no sense: from 16 to 1024 cells").into());
    }
    let pose = Pose { translation: DVec3::new(0.5, 0.15, 0.5), ..Pose::IDENTITY };
    let ember = Shape::sphere(0.12)?.moved(&pose)?;
    let pose = Pose { translation: DVec3::splat(0.5), ..Pose::IDENTITY };
    let room = Shape::cuboid(DVec3::splat(0.5))?.moved(&pose)?;
    let data = |shape| Arc::new(Data::new(Geometry::Shape(Arc::new(shape))));
    let inputs = BTreeMap::from([
        ("ember".to_owned(), data(ember)),
        ("room".to_owned(), data(room.inverted()?)),
    ]);
    let of = Behavior::new;
    let setup = Group::default()
        .with(of(&undine_gas::air::DECLARATION).named("air").set("voxel", 1.0 / cells as f64))
        .with(of(&undine_gas::stamp::DECLARATION).set("input", "ember").set("temperature", 380.0))
        .with(of(&undine_fluid::walls::DECLARATION))
        .with(of(&undine_fluid::pressure::DECLARATION).set("tolerance", TOLERANCE))
        .with(of(&undine_actions::collider::DECLARATION).named("room").set("input", "room"))
        .with(of(&undine_actions::gravity::DECLARATION));
    let kinds =
        [undine_gas::BEHAVIORS, undine_fluid::BEHAVIORS, undine_actions::BEHAVIORS].concat();
    let timeline = Timeline { substeps: Substeps::Fixed(SUBSTEPS), ..Timeline::default() };
    let budget = MemoryBudget::unlimited();
    Ok(Simulation::new(&setup, &kinds, timeline, Arc::new(inputs), budget)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plume_fills_a_part_of_its_room() {
        let mut plume = plume_of(32).expect("a plume");
        frame(&mut plume, &mut ()).expect("a frame");
        assert!(voxels(&plume) > 0 && voxels(&plume) <= 32_u64.pow(3) * 4);
        assert!(plume_of(8).is_err());
    }
}
