//! Springs and attachments between particles. Particles are in single precision, and so are these tolerances.

use crate::scene::{
    Inputs, cloud, gravity, input, particles, positions, run, simulation, store, timeline,
};
use undine_core::glam::DVec3;
use undine_schema::Value;
use undine_schema::setup::{Behavior, Group};
use undine_sim::input::{Data, Geometry};
use undine_sim::newton::NewtonSettings;
use undine_sim::{Simulation, Stage, Timeline};

/// Every particle 1 kg.
fn tied(positions: Vec<DVec3>, edges: Vec<[u32; 2]>, numbers: &[(&str, Vec<f64>)]) -> Data {
    let count = positions.len();
    let mut data = cloud(positions, numbers);
    if let Geometry::Points(cloud) = &mut data.geometry {
        cloud.edges = edges;
        cloud.numbers.insert("mass".to_owned(), vec![1.0; count]);
    }
    data
}

fn springs() -> Behavior {
    Behavior::new(&undine_actions::springs::DECLARATION)
}

fn newton(substeps: u32, iterations: usize) -> Timeline {
    let newton = NewtonSettings { iterations, tolerance: 1e-7, ..NewtonSettings::default() };
    Timeline { newton, ..timeline(substeps) }
}

fn length(simulation: &Simulation, [a, b]: [usize; 2]) -> f64 {
    let at = positions(store(simulation, 0));
    at[a].distance(at[b])
}

/// Two masses swing against each other with ω² = 2k/m; backward Euler is of first order.
#[test]
fn a_pair_swings_as_it_must_with_first_order() {
    let spring = springs().set("stiffness", 8.0).set("rest-scale", 0.5);
    let setup = Group::default().with(particles()).with(spring);
    let error = |substeps| {
        let data = tied(vec![DVec3::ZERO, DVec3::X], vec![[0, 1]], &[]);
        let mut simulation = simulation(&setup, input("cloud", data), timeline(substeps));
        run(&mut simulation, 12);
        length(&simulation, [0, 1]) - (0.5 + 0.5 * (4.0_f64 * 0.5).cos())
    };
    let errors = [2, 4, 8].map(error);
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((0.85..1.15).contains(&order), "order {order} of {errors:?}");
    }
}

/// A net that tumbles: linear momentum to single precision.
#[test]
fn nets_keep_their_momentum() {
    let corner =
        |n: u32| DVec3::new(f64::from(n % 4), f64::from(n / 4), 0.1 * f64::from(n * n % 5));
    let positions: Vec<DVec3> = (0..16).map(corner).collect();
    let velocity = |at: &DVec3| DVec3::new(0.3 - at.y, at.x, 0.2 * at.x);
    let mut data = tied(positions.clone(), Vec::new(), &[]);
    if let Geometry::Points(cloud) = &mut data.geometry {
        cloud.vectors.insert("v".to_owned(), positions.iter().map(velocity).collect());
    }
    for bond in [
        springs().set("range", 1.2).set("stiffness", 300.0),
        springs().set("range", 1.2).set("stiffness", 300.0).set("solved-by", "multipliers"),
        Behavior::new(&undine_actions::attachment::DECLARATION)
            .set("to", "particles")
            .set("emission", "range")
            .set("range", 1.2)
            .set("flexibility", 1.0),
    ] {
        let setup = Group::default().with(particles()).with(bond.clone());
        let mut simulation = simulation(&setup, input("cloud", data.clone()), newton(4, 2));
        let before = simulation.budget().unwrap();
        run(&mut simulation, 12);
        let after = simulation.budget().unwrap();
        let size = before.mass * 2.0;
        let off = after.momentum.distance(before.momentum);
        assert!(off < 2e-6 * size, "{off} kg m/s of {bond:?}");
        assert!(positions_moved(&simulation, &positions) > 0.1);
    }
}

fn positions_moved(simulation: &Simulation, from: &[DVec3]) -> f64 {
    let now = positions(store(simulation, 0));
    now.iter().zip(from).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

/// The narrowest says how stiff: a channel of the points, then the input as a whole, then the Behavior.
#[test]
fn stiffness_comes_from_the_narrowest_level() {
    // Two pairs that gravity does not reach; each is stretched by the same, and the stiffer one comes back further.
    let at = |x: f64, y: f64| DVec3::new(x, y, 0.0);
    let points = vec![at(0.0, 0.0), at(1.0, 0.0), at(0.0, 5.0), at(1.0, 5.0)];
    let edges = vec![[0, 1], [2, 3]];
    let pull = |data: Data, stiffness: f64| {
        let spring = springs().set("stiffness", stiffness).set("rest-scale", 0.5);
        let setup = Group::default().with(particles()).with(spring);
        let mut simulation = simulation(&setup, input("cloud", data), timeline(1));
        run(&mut simulation, 1);
        [length(&simulation, [0, 1]), length(&simulation, [2, 3])]
    };
    let plain = |stiffness| pull(tied(points.clone(), edges.clone(), &[]), stiffness);
    let [soft, stiff] = [plain(10.0)[0], plain(40.0)[0]];
    assert!(stiff < soft - 1e-3);
    let channel = [("stiffness", vec![10.0, 10.0, 40.0, 40.0])];
    let varying = pull(tied(points.clone(), edges.clone(), &channel), 7.0);
    assert!((varying[0] - soft).abs() < 1e-6 && (varying[1] - stiff).abs() < 1e-6);
    // The mean of both ends.
    let mixed = [("stiffness", vec![0.0, 20.0, 50.0, 30.0])];
    let mixed = pull(tied(points.clone(), edges.clone(), &mixed), 7.0);
    assert!((mixed[0] - soft).abs() < 1e-6 && (mixed[1] - stiff).abs() < 1e-6);
    let mut whole = tied(points.clone(), edges, &[]);
    whole.attributes.insert("stiffness".to_owned(), Value::Number(40.0));
    assert!((pull(whole, 10.0)[0] - stiff).abs() < 1e-6);
}

/// A chain of bars hangs and swings, and no bar gets longer or shorter than single precision has it.
#[test]
fn rigid_chains_keep_their_lengths() {
    let points: Vec<DVec3> = (0..6).map(|n| DVec3::X * 0.25 * f64::from(n)).collect();
    let edges: Vec<[u32; 2]> = (1..6).map(|n| [n - 1, n]).collect();
    let setup = Group::default()
        .with(particles().set("velocity", [0.0, 0.0, 0.5]))
        .with(springs().set("rigid", true))
        .with(gravity());
    let mut data = tied(points, edges, &[]);
    if let Geometry::Points(cloud) = &mut data.geometry {
        // One end is so heavy that the others swing about it as both fall.
        cloud.numbers.insert("mass".to_owned(), vec![1000.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
        let spun = |n: u32| DVec3::new(0.0, f64::from(n), 0.0);
        cloud.vectors.insert("v".to_owned(), (0..6).map(spun).collect());
    }
    let mut simulation = simulation(&setup, input("cloud", data), newton(8, 8));
    for _ in 0..12 {
        run(&mut simulation, 1);
        for n in 1..6 {
            let now = length(&simulation, [n - 1, n]);
            assert!((now - 0.25).abs() < 2e-5, "bar {n}: {now} m");
        }
    }
}

/// What has left is not held any more, and the rest goes on.
#[test]
fn springs_survive_particles_that_leave() {
    let points: Vec<DVec3> = (0..4).map(|n| DVec3::X * f64::from(n)).collect();
    let edges = vec![[0, 1], [1, 2], [2, 3]];
    let spring = springs().set("stiffness", 50.0).set("rest-scale", 0.8);
    let setup = Group::default().with(particles()).with(spring);
    let inputs: Inputs = input("cloud", tied(points, edges, &[]));
    let mut simulation = simulation(&setup, inputs, timeline(2));
    simulation
        .add_kernel(Stage::EndSubstep, "lose one", |world, now| {
            if now.count == 3 {
                let domain = world.objects[0].domain;
                let id = world.particles.iter().next().unwrap().0;
                let ids = world.particles[id].id();
                world.particles[id].delete_where(&world.domains[domain], ids, |id| *id == 2)?;
            }
            Ok(())
        })
        .unwrap();
    run(&mut simulation, 24);
    let left = positions(store(&simulation, 0));
    assert_eq!(left.len(), 3);
    // The last one lost both of its neighbours' pull: it flies on at a constant speed.
    let speed = crate::scene::velocities(store(&simulation, 0))[2];
    run(&mut simulation, 1);
    assert_eq!(crate::scene::velocities(store(&simulation, 0))[2], speed);
    assert!(left[0].distance(left[1]) < 1.2);
}
