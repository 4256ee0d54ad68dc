//! A run of bodies that goes on from a checkpoint is the uninterrupted one, to the bit.

use crate::scene::{Run, attachment, body, frames, moving, octahedron, springs};
use std::io::Cursor;
use undine_core::glam::DVec3;
use undine_geometry::{Motion, Pose, Twist};
use undine_schema::setup::{Behavior, Group};
use undine_sim::Simulation;
use undine_sim::checkpoint::{Identity, State, load, save};
use undine_sim::simulation::Clock;

/// A kinematic hub that spins, a body welded to it with damping and friction, and one on springs, under gravity.
fn simulation() -> Simulation {
    let twist = Twist { linear: DVec3::X * 0.1, angular: DVec3::new(0.2, 0.0, 1.5) };
    let motion = Motion::steady(Pose::IDENTITY, twist).unwrap();
    let weld = attachment("hub")
        .set("orientation-stiffness", [5.0; 3])
        .set("damping-time", 0.02)
        .set("friction-limit", 0.5);
    let setup = Group::default()
        .with(body("hub").set("kinematic", true))
        .with(body("rider").set("spin", [0.0, 1.0, 0.0]))
        .with(body("bob").set("velocity", [0.3, 0.0, 0.0]))
        .with(weld)
        .with(springs().set("range", 0.4).set("solved-by", "multipliers"))
        .with(Behavior::new(&undine_actions::gravity::DECLARATION));
    let small = DVec3::splat(0.1);
    let inputs = vec![
        ("hub", moving(octahedron(DVec3::ZERO, small), motion)),
        ("rider", octahedron(DVec3::X * 0.5, small)),
        ("bob", octahedron(DVec3::X, small)),
    ];
    Run { substeps: 4, iterations: 2 }.of(&setup, inputs)
}

fn bytes(simulation: &Simulation) -> Vec<u8> {
    let clock = simulation.clock();
    let state = State { frame: clock.frame, step: clock.substeps, ..State::default() };
    let mut bytes = Vec::new();
    save(&Identity::default(), &state, &simulation.world, &mut bytes).unwrap();
    bytes
}

#[test]
fn a_resumed_run_has_the_same_bytes() {
    let mut whole = simulation();
    frames(&mut whole, 3);
    let checkpoint = bytes(&whole);
    frames(&mut whole, 3);
    let mut resumed = simulation();
    let state = load(None, &mut resumed.world, &mut Cursor::new(&checkpoint)).unwrap();
    resumed.set_clock(Clock { frame: state.frame, substeps: state.step });
    assert!(bytes(&resumed) == checkpoint, "what is loaded is what was saved");
    frames(&mut resumed, 3);
    assert!(bytes(&resumed) == bytes(&whole), "and goes on in the same way");
}
