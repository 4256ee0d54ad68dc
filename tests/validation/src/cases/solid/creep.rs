//! A block on a slope does not creep: with a coefficient of friction a tenth above the tangent of the slope it must not move for a
//! minute, however steep the slope is. Friction that is smoothed, or that a solver leaves unfinished, lets it down little by little.

use crate::page::Case;
use crate::verdict::Verdict;
use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::glam::{DQuat, DVec3};
use undine_core::memory::MemoryBudget;
use undine_geometry::{Shape, Triangles, gallery};
use undine_schema::setup::{Behavior, Group};
use undine_sim::input::{Data, Geometry};
use undine_sim::timeline::Substeps;
use undine_sim::{Result, Simulation, Timeline};

/// The case.
pub const CREEP: Case = Case {
    name: "solid-creep",
    doc: "How far a block of 20 cm creeps in 60 s down slopes with μ = 1.1 tan θ, in steps of 1/24 s.",
    run,
};

/// How long [s], and frames in a second.
const LENGTH: usize = 60;
const RATE: usize = 24;

fn run() -> Verdict {
    let mut verdict = Verdict::new();
    for degrees in [5.0, 20.0, 35.0] {
        verdict = match crept(degrees) {
            Ok(moved) => verdict.at_most(&format!("creep at {degrees}° [m]"), moved, 1e-6),
            Err(why) => return Verdict::broken(why),
        };
    }
    verdict
}

/// How far the block is at most from where it began [m], at the end of any frame.
fn crept(degrees: f64) -> Result<f64> {
    let angle = degrees.to_radians();
    let turn = DQuat::from_rotation_z(-angle);
    let half = DVec3::new(0.1, 0.05, 0.1);
    let (positions, triangles) = gallery::cuboid(half).into_parts();
    let positions = positions.into_iter().map(|at| turn * (DVec3::Y * half.y + at)).collect();
    let block = Triangles::new(positions, triangles)?.into_surface("block")?;
    let slope = Shape::half_space(turn * DVec3::Y, 0.0)?;
    let inputs = BTreeMap::from([
        ("block".to_owned(), Arc::new(Data::new(Geometry::Surface(Arc::new(block))))),
        ("slope".to_owned(), Arc::new(Data::new(Geometry::Shape(Arc::new(slope))))),
    ]);
    let of = Behavior::new;
    let setup = Group::default()
        .with(of(&undine_solid::rigid::body::DECLARATION).named("block").set("input", "block"))
        .with(of(&undine_actions::collider::DECLARATION).named("slope").set("input", "slope"))
        .with(of(&undine_actions::collision::DECLARATION).set("friction", 1.1 * angle.tan()))
        .with(of(&undine_actions::gravity::DECLARATION));
    let kinds = [undine_solid::BEHAVIORS, undine_actions::BEHAVIORS].concat();
    let timeline =
        Timeline { fps: RATE as f64, substeps: Substeps::Fixed(1), ..Timeline::default() };
    let mut simulation =
        Simulation::new(&setup, &kinds, timeline, Arc::new(inputs), MemoryBudget::unlimited())?;
    let start = centre(&simulation)?;
    let mut farthest = 0.0_f64;
    for _ in 0..LENGTH * RATE {
        simulation.advance_frame(&mut (), |_, _| Ok(()))?;
        farthest = farthest.max(centre(&simulation)?.distance(start));
    }
    Ok(farthest)
}

fn centre(simulation: &Simulation) -> Result<DVec3> {
    let mut stores = simulation.world.points.iter();
    let of_block = stores.find(|(_, points)| points.label() == "block");
    Ok(match of_block {
        Some((_, points)) => points.column(points.position())?[0],
        None => DVec3::NAN,
    })
}
