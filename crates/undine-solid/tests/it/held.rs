//! Bodies that springs and attachments hold, against closed forms and conservation laws.

use crate::scene::{
    Run, attachment, body, frames, moving, number, octahedron, springs, turn, vector, vectors,
};
use std::f64::consts::TAU;
use undine_core::glam::{DQuat, DVec3};
use undine_geometry::{Motion, Pose, Twist};
use undine_schema::setup::{Behavior, Group};
use undine_sim::Simulation;
use undine_sim::input::Data;

const RADII: DVec3 = DVec3::splat(0.1);

/// A wall at the origin and a body at x = 1: the points (0.1, 0, 0) and (0.9, 0, 0) alone are in range.
fn oscillator(stiffness: f64) -> (Group, Vec<(&'static str, Data)>) {
    let spring = springs().set("range", 0.85).set("rest-scale", 0.9).set("stiffness", stiffness);
    let setup =
        Group::default().with(body("wall").set("kinematic", true)).with(body("bob")).with(spring);
    let wall = octahedron(DVec3::ZERO, RADII);
    (setup, vec![("wall", wall), ("bob", octahedron(DVec3::X, RADII))])
}

/// x = L + (x₀ − L) cos ωt with ω² = k/m. Backward Euler is of first order.
#[test]
fn a_spring_swings_as_it_must_with_first_order() {
    let (setup, inputs) = oscillator(50.0);
    let error = |substeps| {
        let mut simulation = Run { substeps, ..Run::default() }.of(&setup, inputs.clone());
        frames(&mut simulation, 12);
        let rate = (50.0 / number(&simulation, "bob", "mass")).sqrt();
        let wanted = 0.92 + 0.08 * (rate * 0.5).cos();
        vector(&simulation, "bob", "position").x - wanted
    };
    let errors = [16, 32, 64].map(error);
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((0.9..1.1).contains(&order), "order {order} of {errors:?}");
    }
    assert!(errors[2].abs() < 1e-3, "{errors:?}");
}

/// ẍ = −(k/m)(x + τẋ): the swing dies away as exp(−kτt/2m).
#[test]
fn damping_takes_the_energy_that_it_should() {
    let (setup, inputs) = oscillator(50.0);
    let damped = setup.set("damping-time", 0.05);
    let mut simulation = Run { substeps: 128, ..Run::default() }.of(&damped, inputs);
    let mass = 1000.0 * 4.0 / 3.0 * 1e-3;
    let (rate, decay) = ((50.0_f64 / mass).sqrt(), 50.0 * 0.05 / (2.0 * mass));
    let swing = (rate * rate - decay * decay).sqrt();
    frames(&mut simulation, 12);
    let phase = 0.5 * swing;
    let wanted = 0.08 * (-0.5 * decay).exp() * (phase.cos() + decay / swing * phase.sin());
    let found = vector(&simulation, "bob", "position").x - 0.92;
    // Backward Euler alone would damp by another ½ω²Δt, a hundredth of the swing in half a second.
    assert!((found - wanted).abs() < 0.01 * 0.08, "{found}, wanted {wanted}");
}

/// A pair that flies, spins and pulls at corners, so that everything turns.
fn pair(bond: Behavior) -> (Group, Vec<(&'static str, Data)>) {
    let setup = Group::default()
        .with(body("one").set("velocity", [0.3, 0.0, -0.1]).set("spin", [0.5, 2.0, -1.0]))
        .with(body("two").set("velocity", [0.0, 0.4, 0.2]).set("spin", [0.0, -1.0, 1.5]))
        .with(bond);
    let one = octahedron(DVec3::ZERO, DVec3::new(0.1, 0.15, 0.2));
    let two = octahedron(DVec3::new(1.0, 0.05, 0.0), DVec3::new(0.12, 0.1, 0.15));
    (setup, vec![("one", one), ("two", two)])
}

fn bonds() -> [Behavior; 4] {
    let held = || attachment("two").set("normal-stiffness", 200.0).set("tangent-stiffness", 100.0);
    [
        springs().set("range", 0.9).set("stiffness", 300.0),
        held(),
        held().set("flexibility", 1.0),
        held().set("flexibility", 0.5).set("orientation-stiffness", [5.0, 4.0, 3.0]),
    ]
}

/// Linear momentum to rounding. Angular momentum to first order in the step, which is what backward Euler has.
#[test]
fn pairs_keep_their_momentum() {
    for bond in bonds() {
        let (setup, inputs) = pair(bond.clone());
        let lost = |substeps| {
            let run = Run { substeps, iterations: 8 };
            let mut simulation = run.of(&setup, inputs.clone());
            let before = simulation.budget().unwrap();
            frames(&mut simulation, 6);
            let after = simulation.budget().unwrap();
            let size = before.momentum.length();
            assert!(after.momentum.distance(before.momentum) < 1e-9 * size, "{bond:?}");
            assert!(after.mass == before.mass);
            after.angular_momentum.distance(before.angular_momentum)
                / before.angular_momentum.length()
        };
        let (coarse, fine) = (lost(16), lost(64));
        assert!(fine < 1e-3, "{fine} of {bond:?}");
        assert!(fine < 0.4 * coarse, "{coarse} to {fine} of {bond:?}");
    }
}

#[test]
fn stiffness_and_multipliers_come_to_the_same() {
    for bond in bonds() {
        let run = |solved_by: &str| {
            let (setup, inputs) = pair(bond.clone().set("solved-by", solved_by));
            let mut simulation = Run { substeps: 8, iterations: 40 }.of(&setup, inputs);
            frames(&mut simulation, 4);
            vectors(&simulation, "one boundary", "position")
        };
        let (stiff, multipliers) = (run("stiffness"), run("multipliers"));
        for (a, b) in stiff.iter().zip(&multipliers) {
            assert!(a.distance(*b) < 1e-7, "{a} {b} of {bond:?}");
        }
    }
}

/// The bar between the two nearest corners keeps its length.
#[test]
fn rigid_springs_keep_their_length() {
    let (setup, inputs) = pair(springs().set("range", 0.9).set("rigid", true));
    let mut simulation = Run { substeps: 4, iterations: 12 }.of(&setup, inputs);
    let length = |simulation: &Simulation| {
        let (one, two) = (
            vectors(simulation, "one boundary", "position"),
            vectors(simulation, "two boundary", "position"),
        );
        one[0].distance(two[1])
    };
    let (before, budget) = (length(&simulation), simulation.budget().unwrap());
    assert!(before < 0.9);
    for _ in 0..24 {
        frames(&mut simulation, 1);
        let now = length(&simulation);
        assert!((now - before).abs() < 1e-8 * before, "{now} m, not {before} m");
    }
    let after = simulation.budget().unwrap();
    assert!(after.momentum.distance(budget.momentum) < 1e-9 * budget.momentum.length());
}

/// A kinematic hub that spins about z, and a body at its +x corner.
fn carousel(bond: Behavior) -> (Group, Vec<(&'static str, Data)>) {
    let motion =
        Motion::steady(Pose::IDENTITY, Twist { linear: DVec3::ZERO, angular: DVec3::Z * 1.5 });
    let hub = moving(octahedron(DVec3::ZERO, RADII), motion.unwrap());
    let rider = octahedron(DVec3::X * 0.5, RADII);
    // At the start it moves as the hub does.
    let rider_behavior =
        body("rider").set("velocity", [0.0, 0.75, 0.0]).set("spin", [0.0, 0.0, 1.5]);
    let setup =
        Group::default().with(body("hub").set("kinematic", true)).with(rider_behavior).with(bond);
    (setup, vec![("hub", hub), ("rider", rider)])
}

/// The nearest corner of the rider in the hub's frame.
fn in_hub(simulation: &Simulation) -> DVec3 {
    let corner = vectors(simulation, "rider boundary", "position")[1];
    turn(simulation, "hub", "orient").inverse() * corner
}

#[test]
fn without_flexibility_the_place_in_the_targets_frame_is_held() {
    let bond = attachment("hub")
        .set("normal-stiffness", 1e5)
        .set("tangent-stiffness", 1e5)
        .set("orientation-stiffness", [1e3; 3]);
    let (setup, inputs) = carousel(bond);
    let mut simulation = Run { substeps: 8, iterations: 8 }.of(&setup, inputs);
    let start = in_hub(&simulation);
    for _ in 0..48 {
        frames(&mut simulation, 1);
        // Stretched by mω²r/k, about 1.5 kg · 2.25/s² · 0.5 m / 1e5 N/m, and what backward Euler adds.
        let off = in_hub(&simulation).distance(start);
        assert!(off < 2e-4, "{off} m");
        // β holds how it is turned: it follows the hub.
        let (hub, rider) =
            (turn(&simulation, "hub", "orient"), turn(&simulation, "rider", "orient"));
        assert!(hub.angle_between(rider) < 0.02, "{}", hub.angle_between(rider));
    }
}

/// Held by a corner on the hub's axis, a body at rest stays so, unless β makes it turn with the hub.
#[test]
fn orientation_stiffness_makes_a_still_body_follow() {
    let run = |beta: f64| {
        let bond =
            attachment("hub").set("orientation-stiffness", [beta; 3]).set("damping-time", 0.1);
        let (_, inputs) = carousel(bond.clone());
        let setup = Group::default()
            .with(body("hub").set("kinematic", true))
            .with(body("rider"))
            .with(bond);
        let above = octahedron(DVec3::Z * 0.2, RADII);
        let inputs = vec![inputs[0].clone(), ("rider", above)];
        let mut simulation = Run { substeps: 8, iterations: 4 }.of(&setup, inputs);
        frames(&mut simulation, 48);
        [turn(&simulation, "hub", "orient"), turn(&simulation, "rider", "orient")]
    };
    let [_, free] = run(0.0);
    assert!(free.angle_between(DQuat::IDENTITY) < 1e-6, "{free}");
    let [hub, held] = run(10.0);
    assert!(held.angle_between(DQuat::IDENTITY) > 2.8, "{held}");
    assert!(held.angle_between(hub) < 0.02, "{}", held.angle_between(hub));
}

/// ξ = 1: only the distance; whatever k_T is, the motion is the same.
#[test]
fn with_full_flexibility_tangent_stiffness_has_no_effect() {
    let run = |tangent: f64| {
        let bond = attachment("hub")
            .set("flexibility", 1.0)
            .set("normal-stiffness", 1e4)
            .set("tangent-stiffness", tangent);
        let (setup, inputs) = carousel(bond);
        let mut simulation = Run { substeps: 8, iterations: 4 }.of(&setup, inputs);
        let length = in_hub(&simulation).distance(DVec3::X * 0.1);
        frames(&mut simulation, 24);
        // A distance alone: the hub's turn moves its corner, but the rider lags behind.
        let now = in_hub(&simulation).distance(DVec3::X * 0.1);
        assert!((now - length).abs() < 0.02 * length, "{now} m, not {length} m");
        vectors(&simulation, "rider boundary", "position")
    };
    let (none, much) = (run(0.0), run(1e6));
    for (a, b) in none.iter().zip(&much) {
        assert!(a.distance(*b) < 1e-7, "{a} {b}");
    }
}

/// A body that hangs by its corner: T = 2π √((I + m r²)/(m g r)) for small swings.
#[test]
fn a_pendulum_has_its_period() {
    let bond = attachment("nail").set("normal-stiffness", 1e6).set("tangent-stiffness", 1e6);
    let setup = Group::default()
        .with(body("nail").set("kinematic", true))
        // Just enough spin for 0.05 rad, about the corner that is held.
        .with(body("bob").set("spin", [0.0, 0.0, 0.4]).set("velocity", [0.04, 0.0, 0.0]))
        .with(bond)
        .with(Behavior::new(&undine_actions::gravity::DECLARATION));
    let nail = octahedron(DVec3::Y * 0.2, RADII);
    let bob = octahedron(DVec3::ZERO, RADII);
    let run = Run { substeps: 40, iterations: 3 };
    let mut simulation = run.of(&setup, vec![("nail", nail), ("bob", bob)]);
    let mass = number(&simulation, "bob", "mass");
    let moment = vector(&simulation, "bob", "inertia").z;
    let wanted = TAU * ((moment + mass * 0.01) / (mass * 9.80665 * 0.1)).sqrt();
    let mut passages = Vec::new();
    let mut before = 0.0;
    for frame in 1..=60 {
        frames(&mut simulation, 1);
        let held = vectors(&simulation, "bob boundary", "position")[2];
        assert!(held.distance(DVec3::Y * 0.1) < 1e-3, "{held}");
        let now = turn(&simulation, "bob", "orient").to_scaled_axis().z;
        if frame > 1 && now * before < 0.0 {
            passages.push((f64::from(frame) - now / (now - before)) / 24.0);
        }
        before = now;
    }
    let found = 2.0 * (passages[passages.len() - 1] - passages[0]) / (passages.len() - 1) as f64;
    assert!((found / wanted - 1.0).abs() < 1e-3, "{found} s, wanted {wanted} s");
}

/// A swing of heavy and light bodies alike turns with what holds it: the frame of `orient` stays a rotation.
#[test]
fn orientations_stay_rotations() {
    let (setup, inputs) = pair(bonds()[3].clone());
    let mut simulation = Run { substeps: 2, iterations: 1 }.of(&setup, inputs);
    frames(&mut simulation, 48);
    for name in ["one", "two"] {
        let orient: DQuat = turn(&simulation, name, "orient");
        assert!((orient.length() - 1.0).abs() < 1e-12);
    }
}
