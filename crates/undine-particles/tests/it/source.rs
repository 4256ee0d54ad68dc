//! Particles that are born.

use crate::collision::shape;
use crate::scene::{Inputs, positions, run, simulation, store, timeline, values, velocities};
use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_core::mesh::{Polygons, Surface};
use undine_geometry::motion::Motion;
use undine_geometry::pose::{Pose, Twist};
use undine_geometry::shape::Shape;
use undine_schema::setup::{Behavior, Group};
use undine_sim::Simulation;
use undine_sim::input::{Data, Geometry};

fn emit(input: &str) -> Behavior {
    Behavior::new(&undine_actions::emit::DECLARATION).set("input", input)
}

fn empty() -> Behavior {
    Behavior::new(&undine_particles::particles::DECLARATION)
}

fn inputs() -> Inputs {
    let corners = vec![DVec3::ZERO, DVec3::Z, DVec3::X];
    let faces = Polygons::triangles(vec![[0, 1, 2]]).unwrap();
    let surface = Arc::new(Surface::new("nozzle", corners, faces).unwrap());
    let nozzle = Data { geometry: Geometry::Surface(surface), ..Data::default() };
    let twist = Twist { linear: 2.0 * DVec3::X, angular: DVec3::ZERO };
    let moving = Motion::steady(Pose::at(DVec3::ZERO), twist).unwrap();
    let moving = Data { motion: Some(moving), ..nozzle.clone() };
    BTreeMap::from([
        ("nozzle".to_owned(), Arc::new(nozzle)),
        ("moving".to_owned(), Arc::new(moving)),
        ("ball".to_owned(), Arc::new(shape(Shape::sphere(0.5).unwrap()))),
        ("space".to_owned(), Arc::new(shape(Shape::half_space(DVec3::Y, 0.0).unwrap()))),
        ("points".to_owned(), Arc::new(Data::points(vec![DVec3::X, DVec3::Y]))),
    ])
}

fn scene(emit: Behavior, substeps: u32) -> Simulation {
    simulation(&Group::default().with(empty()).with(emit), inputs(), timeline(substeps))
}

#[test]
fn as_many_are_born_as_the_rate_says_whatever_the_steps_are() {
    for substeps in [1, 5] {
        for (rate, wanted) in [(100.0, 200), (7.0, 14), (0.0, 0), (10_000.0, 20_000)] {
            let mut simulation = scene(emit("nozzle").set("rate", rate), substeps);
            run(&mut simulation, 48);
            let found = store(&simulation, 0).len() as i64;
            assert!((found - wanted).abs() <= 1, "{rate}/s: {found}, wanted {wanted}");
        }
        let timed = emit("nozzle").set("rate", 1000.0).set("start", 0.5).set("end", 0.8);
        let mut simulation = scene(timed, substeps);
        run(&mut simulation, 11);
        assert_eq!(store(&simulation, 0).len(), 0);
        run(&mut simulation, 24);
        assert!((store(&simulation, 0).len() as i64 - 300).abs() <= 1);
    }
}

#[test]
fn they_are_born_on_surfaces_in_solids_and_at_points() {
    let rate = |emit: Behavior| emit.set("rate", 5000.0);
    let mut on = scene(rate(emit("nozzle")), 1);
    run(&mut on, 6);
    let places = positions(store(&on, 0));
    assert!(places.iter().all(|x| x.y.abs() < 1e-6 && x.x >= -1e-6 && x.x + x.z <= 1.0 + 1e-6));
    let middle = places.iter().sum::<DVec3>() / places.len() as f64;
    assert!(middle.distance(DVec3::new(1.0, 0.0, 1.0) / 3.0) < 0.03, "{middle}");
    let mut within = scene(rate(emit("ball")), 1);
    run(&mut within, 6);
    let places = positions(store(&within, 0));
    assert!(places.iter().all(|x| x.length() < 0.5 + 1e-6));
    let mean = places.iter().map(|x| x.length()).sum::<f64>() / places.len() as f64;
    assert!((mean - 0.75 * 0.5).abs() < 0.01, "{mean}");
    let mut at = scene(rate(emit("points")), 1);
    run(&mut at, 6);
    assert!(
        positions(store(&at, 0))
            .iter()
            .all(|x| { x.distance(DVec3::X) < 1e-6 || x.distance(DVec3::Y) < 1e-6 })
    );
}

/// A steady stream is as dense everywhere: born between steps, not in bursts.
#[test]
fn a_stream_has_no_gaps_and_ages_as_it_goes() {
    let stream = emit("nozzle").set("rate", 4800.0).set("speed", 24.0);
    let mut simulation = scene(stream, 1);
    run(&mut simulation, 24);
    let store = store(&simulation, 0);
    // By the right hand, this face looks up.
    let (places, ages) = (positions(store), values::<f32>(store, "age"));
    for (x, age) in places.iter().zip(&ages) {
        assert!((x.y - 24.0 * f64::from(*age)).abs() < 1e-3, "{x} at {age} s");
    }
    for metre in 2..22 {
        let here = places.iter().filter(|x| (x.y - f64::from(metre)).abs() < 0.5).count();
        assert!((130..270).contains(&here), "{here} at {metre} m");
    }
}

#[test]
fn they_begin_with_what_is_said() {
    let thrown = emit("moving")
        .set("rate", 2000.0)
        .set("velocity", [0.0, 3.0, 0.0])
        .set("jitter", 0.5)
        .set("radius", 2e-3)
        .set("radius-jitter", 0.5)
        .set("density", 500.0);
    let mut simulation = scene(thrown, 1);
    run(&mut simulation, 12);
    let store = store(&simulation, 0);
    let velocities = velocities(store);
    let mean = velocities.iter().sum::<DVec3>() / velocities.len() as f64;
    assert!(mean.distance(DVec3::new(2.0, 3.0, 0.0)) < 0.03, "{mean}");
    assert!(velocities.iter().all(|v| v.distance(DVec3::new(2.0, 3.0, 0.0)) < 0.5 + 1e-5));
    let radii = values::<f32>(store, "pscale");
    assert!(radii.iter().all(|r| (1e-3..3.0001e-3).contains(r)));
    assert!(radii.iter().any(|r| *r < 1.2e-3) && radii.iter().any(|r| *r > 2.8e-3));
    for (r, mass) in radii.iter().zip(values::<f32>(store, "mass")) {
        let wanted = 4.0 / 3.0 * std::f32::consts::PI * r * r * r * 500.0;
        assert!((mass / wanted - 1.0).abs() < 1e-5);
    }
}

/// Two sources of one scene have nothing in common, nor two seeds; and the same one is the same again.
#[test]
fn births_are_random_and_the_same_again_for_any_number_of_threads() {
    let result = |threads: usize, seed: i64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let setup = Group::default()
                .with(empty())
                .with(emit("ball").set("rate", 2000.0).set("seed", seed))
                .with(emit("ball").set("rate", 2000.0).named("again"));
            let mut simulation = simulation(&setup, inputs(), timeline(3));
            run(&mut simulation, 6);
            positions(store(&simulation, 0))
        })
    };
    let (one, two, other) = (result(1, 0), result(2, 0), result(1, 1));
    assert!(one == two && one != other);
    let mut sorted = one.clone();
    sorted.sort_by(|a, b| a.x.total_cmp(&b.x));
    sorted.dedup();
    assert_eq!(sorted.len(), one.len());
}

/// Nothing is remembered but channels and the clock: one that goes on elsewhere makes the same.
#[test]
fn a_source_that_goes_on_elsewhere_makes_the_same() {
    let births = |start: usize| {
        let mut simulation = scene(emit("ball").set("rate", 999.0), 2);
        let clock =
            undine_sim::simulation::Clock { frame: 1 + start as i64, substeps: 2 * start as u64 };
        if start > 0 {
            simulation.set_clock(clock);
        }
        run(&mut simulation, 6 - start);
        positions(store(&simulation, 0))
    };
    let (all, late) = (births(0), births(4));
    assert!(!late.is_empty() && all[all.len() - late.len()..] == late[..]);
}

#[test]
fn what_has_no_end_is_refused() {
    let setup = Group::default().with(empty()).with(emit("space"));
    let budget = undine_core::memory::MemoryBudget::unlimited();
    let kinds = crate::scene::kinds();
    let made = Simulation::new(&setup, &kinds, timeline(1), Arc::new(inputs()), budget);
    assert!(made.err().unwrap().to_string().contains("no end"));
    let mut many = scene(emit("ball").set("rate", 1e12), 1);
    let why = many.advance_frame(&mut (), |_, _| Ok(())).unwrap_err().to_string();
    assert!(why.contains("lower the rate"), "{why}");
}
