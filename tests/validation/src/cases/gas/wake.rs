//! Vortices leave a cylinder in a wind by turns: at Re = 100 with a Strouhal number f D/U of 0.164 to 0.166 in an unbounded stream (C. H. K.
//! Williamson, *Vortex Dynamics in the Cylinder Wake*, 1996).
//!
//! A flow in two dimensions: one Bucket along the cylinder, closed without friction at both ends. The stream is 12 diameters wide, which
//! makes it faster beside the cylinder by up to a twelfth.

use super::flat::{cuboid, data, velocities_at};
use crate::page::Case;
use crate::verdict::Verdict;
use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_geometry::{Pose, Shape};
use undine_schema::setup::{Behavior, Group};
use undine_sim::timeline::Substeps;
use undine_sim::{Result, Simulation, Timeline};

/// The case.
pub const WAKE: Case = Case {
    name: "gas-wake",
    doc: "How often vortices leave a cylinder at Re = 100, 8 cells across it, MacCormack with reflection.",
    run,
};

/// The diameter of the cylinder [m], and the wind [m/s].
const ACROSS: f64 = 0.08;
const WIND: f64 = 1.0;
const VOXEL: f64 = 0.01;
/// Density of air [kg/m³].
const DENSITY: f64 = 1.204;
/// Frames in a second, each of two substeps.
const RATE: f64 = 50.0;
/// How long [s], and from when on waves are counted.
const LENGTH: f64 = 10.0;
const SETTLED: f64 = 6.0;

fn run() -> Verdict {
    match simulate() {
        Ok((strouhal, swing)) => Verdict::new()
            .near("Strouhal number", strouhal, 0.165, 0.015)
            .at_least("swing of the velocity across [m/s]", swing, 0.2),
        Err(why) => Verdict::broken(why),
    }
}

fn simulate() -> Result<(f64, f64)> {
    let mut simulation = stream()?;
    let behind = DVec3::new(2.0 * ACROSS, 0.0, 4.0 * VOXEL);
    let mut across = Vec::new();
    for _ in 0..(RATE * LENGTH) as usize {
        simulation.advance_frame(&mut (), |_, _| Ok(()))?;
        across.push(velocities_at(&simulation, &[behind])?[0].y);
    }
    let settled = &across[(RATE * SETTLED) as usize..];
    // When it passes zero upwards, between two frames.
    let passed = |n: usize| {
        let (a, b) = (settled[n], settled[n + 1]);
        (a < 0.0 && b >= 0.0).then(|| n as f64 + a / (a - b))
    };
    let times: Vec<f64> = (0..settled.len() - 1).filter_map(passed).collect();
    let waves = times.len().saturating_sub(1) as f64;
    let period = match (times.first(), times.last()) {
        (Some(first), Some(last)) if waves > 0.0 => (last - first) / waves / RATE,
        _ => f64::INFINITY,
    };
    let swing = settled.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
    Ok((ACROSS / (period * WIND), swing))
}

/// A cylinder in a wind, a little off the middle, so that it does not wait for rounding to begin.
fn stream() -> Result<Simulation> {
    let (low, high) = (DVec3::new(-4.0, -6.0, 0.0), DVec3::new(12.0, 6.0, 0.0));
    let thick = DVec3::Z * 7.5 * VOXEL;
    let room = cuboid(ACROSS * low + 0.5 * VOXEL, ACROSS * high + thick)?;
    let pose = Pose { translation: DVec3::new(0.0, 0.3 * VOXEL, 0.0), ..Pose::IDENTITY };
    let cylinder = Shape::cylinder(0.5 * ACROSS, 1.0)?.moved(&pose)?;
    let inputs = [("room", room), ("cylinder", cylinder)]
        .map(|(name, shape)| (name.to_owned(), Arc::new(data(shape))));
    let inputs = BTreeMap::from(inputs);
    let of = Behavior::new;
    let wind = [WIND, 0.0, 0.0];
    let inflow = || of(&undine_fluid::inflow::DECLARATION);
    let setup = Group::default()
        .with(
            of(&undine_gas::air::DECLARATION)
                .named("air")
                .set("input", "room")
                .set("padding", 0_i64)
                .set("voxel", VOXEL)
                .set("density", DENSITY)
                .set("reflection", true)
                .set("velocity", wind),
        )
        .with(inflow().named("wind").set("velocity", wind).set("axes", "x"))
        .with(inflow().named("ends").set("velocity", wind).set("sides", "all").set("axes", "yz"))
        .with(of(&undine_actions::collider::DECLARATION).named("cylinder").set("input", "cylinder"))
        .with(of(&undine_fluid::walls::DECLARATION))
        .with(
            of(&undine_fluid::viscosity::DECLARATION)
                .set("viscosity", DENSITY * WIND * ACROSS / 100.0),
        )
        .with(of(&undine_fluid::pressure::DECLARATION));
    let kinds =
        [undine_gas::BEHAVIORS, undine_fluid::BEHAVIORS, undine_actions::BEHAVIORS].concat();
    let timeline = Timeline { fps: RATE, substeps: Substeps::Fixed(2), ..Timeline::default() };
    Simulation::new(&setup, &kinds, timeline, Arc::new(inputs), MemoryBudget::unlimited())
}
