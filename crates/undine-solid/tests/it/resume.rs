//! A run of bodies that goes on from a checkpoint is the uninterrupted one, to the bit.

use crate::same_bytes;
use crate::scene::{Run, attachment, body, moving, octahedron, springs};
use undine_core::glam::DVec3;
use undine_geometry::{Motion, Pose, Twist};
use undine_schema::setup::{Behavior, Group};
use undine_sim::Simulation;

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

#[test]
fn a_run_has_the_same_bytes_when_it_goes_on_and_on_any_threads() {
    same_bytes::check(3, simulation);
}
