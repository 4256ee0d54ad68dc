//! Bodies that nothing holds: parabolas, free spin, instances and pieces.

use crate::scene::{
    Run, attachment, body, frames, moving, number, octahedron, turn, vector, vectors,
};
use crate::spin::period;
use std::sync::Arc;
use undine_core::glam::{DQuat, DVec3};
use undine_geometry::{Motion, Pose, Shape, Twist};
use undine_schema::Value;
use undine_schema::setup::{Behavior, Group};
use undine_sim::input::{Data, Geometry, PointCloud};

fn cuboid() -> Data {
    let shape = Shape::cuboid(DVec3::new(0.1, 0.2, 0.4)).unwrap();
    Data { geometry: Geometry::Shape(Arc::new(shape)), ..Data::default() }
}

/// The middle axis flips with the period of the elliptic functions; L does not change by a bit, nor energy by much.
#[test]
fn the_middle_axis_flips_in_the_pipeline() {
    // Moments are as 0.2, 0.17 and 0.05 about x, y and z.
    let setup = Group::default().with(body("nut").set("spin", [0.05, 7.0, 0.03]));
    let mut simulation = Run { substeps: 4, ..Run::default() }.of(&setup, vec![("nut", cuboid())]);
    let momentum = vector(&simulation, "nut", "angular-momentum");
    let moments = vector(&simulation, "nut", "inertia");
    let own = |simulation: &_| turn(simulation, "nut", "orientation").inverse() * momentum;
    let wanted = period(moments, own(&simulation));
    let energy = simulation.budget().unwrap().kinetic_energy;
    let (mut before, mut passages) = (own(&simulation).y, Vec::new());
    for frame in 1..=(3.2 * wanted * 24.0) as usize {
        frames(&mut simulation, 1);
        let now = own(&simulation).y;
        if before.signum() != now.signum() {
            passages.push((frame as f64 - now / (now - before)) / 24.0);
        }
        before = now;
        let budget = simulation.budget().unwrap();
        assert!((budget.kinetic_energy / energy - 1.0).abs() < 1e-6);
        assert_eq!(vector(&simulation, "nut", "angular-momentum"), momentum);
    }
    // Two passages in a period; those that are a whole number of periods apart.
    let pairs = (passages.len() - 1) / 2;
    assert!(pairs >= 2, "{passages:?}");
    let found = (passages[2 * pairs] - passages[0]) / pairs as f64;
    assert!((found / wanted - 1.0).abs() < 1e-5, "{found} s, wanted {wanted} s");
}

/// x = x₀ + v₀t + ½gt² to rounding, while it spins.
#[test]
fn a_thrown_spinning_body_follows_its_parabola() {
    let setup = Group::default()
        .with(body("crate").set("velocity", [3.0, 4.0, -1.0]).set("spin", [1.0, 5.0, 2.0]))
        .with(Behavior::new(&undine_actions::gravity::DECLARATION));
    for substeps in [1, 5] {
        let start = DVec3::new(0.3, 2.0, 1e4);
        let data = octahedron(start, DVec3::new(0.1, 0.2, 0.3));
        let mut simulation = Run { substeps, ..Run::default() }.of(&setup, vec![("crate", data)]);
        let momentum = vector(&simulation, "crate", "angular-momentum");
        frames(&mut simulation, 24);
        let wanted = start + DVec3::new(3.0, 4.0 - 0.5 * 9.80665, -1.0);
        let found = vector(&simulation, "crate", "position");
        assert!(found.distance(wanted) < 1e-10, "{found} is not {wanted}");
        assert_eq!(vector(&simulation, "crate", "angular-momentum"), momentum);
        // Boundary particles are where P + orient (p − pivot) has the vertices of the input.
        let (orient, pivot) =
            (turn(&simulation, "crate", "orient"), vector(&simulation, "crate", "pivot"));
        let vertex = start + DVec3::X * 0.1;
        let seen = vectors(&simulation, "crate boundary", "position")[0];
        assert!(seen.distance(found + orient * (vertex - pivot)) < 1e-9);
    }
}

/// Density and velocity by element, object, Behavior; momentum and energy of the budget are those of the bodies.
#[test]
fn points_become_bodies_of_a_shape() {
    let cloud = PointCloud {
        positions: vec![DVec3::ZERO, DVec3::X * 3.0],
        numbers: [("density".to_owned(), vec![500.0, 2000.0])].into(),
        vectors: [("v".to_owned(), vec![DVec3::Y, DVec3::Z])].into(),
        ..PointCloud::default()
    };
    let points = Data { geometry: Geometry::Points(cloud), ..Data::default() };
    let sphere = Shape::sphere(0.5).unwrap();
    let sphere = Data { geometry: Geometry::Shape(Arc::new(sphere)), ..Data::default() };
    let setup = Group::default()
        .with(body("balls").set("shape", "ball").set("density", 1.0).set("spin", [0.0, 2.0, 0.0]));
    let simulation = Run::default().of(&setup, vec![("balls", points), ("ball", sphere)]);
    let volume = std::f64::consts::PI / 6.0;
    let budget = simulation.budget().unwrap();
    assert!((budget.mass - 2500.0 * volume).abs() < 1e-9);
    let wanted = volume * DVec3::new(0.0, 500.0, 2000.0);
    assert!(budget.momentum.abs_diff_eq(wanted, 1e-9));
    // Spin 2/5 m r² ω of both; and the second one's orbit, r × p.
    let spin = 0.4 * budget.mass * 0.25 * 2.0 * DVec3::Y;
    let orbit = (DVec3::X * 3.0).cross(volume * DVec3::Z * 2000.0);
    assert!(budget.angular_momentum.abs_diff_eq(spin + orbit, 1e-9));
    let energy = 0.5 * budget.mass + 0.5 * 0.4 * budget.mass * 0.25 * 4.0;
    assert!((budget.kinetic_energy - energy).abs() < 1e-9);

    let mut heavy = octahedron(DVec3::ZERO, DVec3::ONE);
    heavy.attributes.insert("density".to_owned(), Value::Number(300.0));
    let setup = Group::default().with(body("one").set("density", 1.0));
    let simulation = Run::default().of(&setup, vec![("one", heavy)]);
    // An octahedron has 4/3 of its radii's product.
    assert!((number(&simulation, "one", "mass") - 400.0).abs() < 1e-9);
}

/// A kinematic body is where its input is; without `kinematic` the input's motion is only where it begins.
#[test]
fn inputs_that_move_lead_kinematic_bodies_and_throw_others() {
    let pose = Pose { rotation: DQuat::from_rotation_z(0.3), translation: DVec3::Y };
    let twist = Twist { linear: DVec3::X, angular: DVec3::Z * 2.0 };
    let motion = Motion::steady(pose, twist).unwrap();
    for kinematic in [true, false] {
        let mut data = octahedron(DVec3::X, DVec3::splat(0.1));
        data.motion = Some(motion.clone());
        let setup = Group::default()
            .with(body("top").set("kinematic", kinematic))
            .with(Behavior::new(&undine_actions::gravity::DECLARATION));
        let mut simulation = Run::default().of(&setup, vec![("top", data)]);
        let centre = vector(&simulation, "top", "position");
        assert!(centre.abs_diff_eq(pose.to_world(DVec3::X), 1e-12));
        let velocity = twist.at(centre - pose.translation);
        assert!(vector(&simulation, "top", "v").abs_diff_eq(velocity, 1e-12));
        frames(&mut simulation, 24);
        let found = vector(&simulation, "top", "position");
        let wanted = match kinematic {
            true => motion.pose(1.0).to_world(DVec3::X),
            false => centre + velocity - DVec3::Y * (0.5 * 9.80665),
        };
        assert!(found.abs_diff_eq(wanted, 1e-9), "{found} is not {wanted}");
        let orient = turn(&simulation, "top", "orient");
        assert!(orient.angle_between(DQuat::from_rotation_z(2.3)) < 1e-7, "{orient}");
    }
}

#[test]
fn what_is_no_solid_is_refused_with_its_parameter() {
    let simulate = |setup: &Group, data: Data| {
        let inputs: std::collections::BTreeMap<_, _> = [("a".to_owned(), Arc::new(data))].into();
        let timeline = undine_sim::Timeline::default();
        let budget = undine_core::memory::MemoryBudget::unlimited();
        let kinds = undine_solid::BEHAVIORS;
        undine_sim::Simulation::new(setup, kinds, timeline, Arc::new(inputs), budget).err()
    };
    let setup = Group::default().with(body("a"));
    let endless = Shape::half_space(DVec3::Y, 0.0).unwrap();
    let endless = Data { geometry: Geometry::Shape(Arc::new(endless)), ..Data::default() };
    for data in [endless, Data::points(vec![DVec3::ZERO])] {
        let bad = simulate(&setup, data).unwrap().to_string();
        assert!(bad.contains("a.input"), "{bad}");
    }
    assert!(simulate(&setup, Data::default()).is_none(), "nothing makes no Object");
}

/// What Tasks change is what they declare, of free, coupled and kinematic bodies.
#[test]
fn tasks_change_what_they_declare() {
    let motion = Motion::steady(
        Pose::IDENTITY,
        Twist { linear: DVec3::X, angular: DVec3::new(0.1, 0.2, 0.3) },
    );
    let led = moving(octahedron(DVec3::ZERO, DVec3::ONE), motion.unwrap());
    let inputs = vec![
        ("led", led),
        ("held", octahedron(DVec3::X * 3.0, DVec3::ONE)),
        ("free", octahedron(DVec3::Y * 9.0, DVec3::ONE)),
    ];
    let held = Group::new("pair")
        .with(body("led").set("kinematic", true))
        .with(body("held").set("spin", [0.3, 1.0, 0.0]))
        .with(attachment("led").set("orientation-stiffness", [1.0; 3]).set("damping-time", 0.1));
    let setup = Group::default()
        .with(held)
        .with(body("free").set("spin", [0.3, 1.0, 0.0]))
        .with(Behavior::new(&undine_actions::gravity::DECLARATION));
    let mut simulation = Run { substeps: 2, iterations: 2 }.of(&setup, inputs);
    simulation.audited(true);
    frames(&mut simulation, 3);
}
