//! Liquid flows in and out, as much as is said.

use crate::scene::{Scene, cuboid, fixed, kinds, particles, positions, run, tank, velocities};
use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_geometry::Shape;
use undine_schema::Value;
use undine_schema::setup::{Behavior, Group};
use undine_schema::{Interpolation, Key, Keys};
use undine_sim::Simulation;
use undine_sim::checkpoint::{Identity, State, load, save};
use undine_sim::input::{Data, Geometry};
use undine_sim::registry::Stores;

const DENSITY: f64 = 1000.0;
/// The nozzle is 0.2 m wide.
const AREA: f64 = 0.04;

fn water() -> Behavior {
    let declaration = &undine_liquid::hybrid::DECLARATION;
    Behavior::new(declaration).named("water").set("voxel", 0.05).set("density", DENSITY)
}

fn source() -> Behavior {
    Behavior::new(&undine_fluid::source::DECLARATION).named("tap").set("input", "nozzle")
}

fn nozzle() -> Shape {
    cuboid(DVec3::new(-0.1, 0.0, -0.1), DVec3::new(0.1, 0.2, 0.1))
}

/// A stream in empty space.
fn stream(source: Behavior) -> Scene {
    let pressure = Behavior::new(&undine_fluid::pressure::DECLARATION);
    Scene::default().with(water()).with(source).with(pressure).with_input("nozzle", nozzle())
}

fn mass(simulation: &Simulation) -> f64 {
    simulation.budget().unwrap().mass
}

fn fault(setup: Group, inputs: &[(&str, Shape)]) -> String {
    let data = |shape: &Shape| Arc::new(Data::new(Geometry::Shape(Arc::new(shape.clone()))));
    let inputs: BTreeMap<String, Arc<Data>> =
        inputs.iter().map(|(name, shape)| ((*name).to_owned(), data(shape))).collect();
    let budget = MemoryBudget::unlimited();
    let made = Simulation::new(&setup, &kinds(), fixed(24.0, 1), Arc::new(inputs), budget);
    made.err().map_or_else(String::new, |error| error.to_string())
}

#[test]
fn what_comes_is_speed_times_area_whatever_the_steps() {
    for substeps in [1, 3, 8] {
        let source = source().set("velocity", [0.0, -2.0, 0.0]);
        let mut simulation = stream(source).simulation(fixed(25.0, substeps));
        simulation.audited(substeps == 1);
        run(&mut simulation, 10);
        let wanted = DENSITY * 2.0 * AREA * 0.4;
        assert!(
            (mass(&simulation) / wanted - 1.0).abs() < 1e-5,
            "{substeps}: {}",
            mass(&simulation)
        );
        // A stream without gaps, as fast as it began.
        let mut low = f64::INFINITY;
        for (at, v) in positions(&simulation).iter().zip(velocities(&simulation)) {
            assert!((v - DVec3::new(0.0, -2.0, 0.0)).length() < 1e-3, "{v}");
            assert!(at.x.abs() < 0.11 && at.z.abs() < 0.11 && at.y < 0.201, "{at}");
            low = low.min(at.y);
        }
        assert!((low - (0.2 - 0.8)).abs() < 0.01, "{low}");
        let slice = |n: i32| {
            let (from, to) = (-0.6 + 0.1 * f64::from(n), -0.5 + 0.1 * f64::from(n));
            positions(&simulation).iter().filter(|at| (from..to).contains(&at.y)).count() as f64
        };
        let wanted = 0.1 * AREA / (0.05_f64.powi(3) / 8.0);
        for n in 0..8 {
            assert!(
                (slice(n) / wanted - 1.0).abs() < 0.06,
                "{substeps}, {n}: {}",
                slice(n) / wanted
            );
        }
    }
}

#[test]
fn a_rate_is_kept_exactly_also_when_it_changes_and_ends() {
    let key = |time: f64, value: f64| Key { time, value: Value::from(value) };
    let keys = Keys::new(vec![key(0.0, 0.0), key(0.4, 0.08)], Interpolation::Linear).unwrap();
    let source = source().set("velocity", [0.0, -1.0, 0.0]).set("rate", keys).set("end", 0.31);
    let mut simulation = stream(source).simulation(fixed(25.0, 2));
    run(&mut simulation, 10);
    // The integral of 0.2 t until 0.31 s.
    let wanted = DENSITY * 0.1 * 0.31 * 0.31;
    assert!((mass(&simulation) / wanted - 1.0).abs() < 1e-4, "{} {wanted}", mass(&simulation));
}

#[test]
fn a_source_that_is_off_brings_nothing() {
    let source = source().set("velocity", [0.0, -1.0, 0.0]).set("active", false);
    let mut simulation = stream(source).simulation(fixed(25.0, 2));
    run(&mut simulation, 3);
    assert_eq!(mass(&simulation), 0.0);
}

#[test]
fn a_stream_goes_on_as_if_it_had_not_been_interrupted() {
    let made = || {
        let source = source().set("velocity", [0.3, -2.0, 0.1]);
        stream(source).simulation(fixed(24.0, 3))
    };
    let mut whole = made();
    run(&mut whole, 3);
    let (mut bytes, identity) = (Vec::new(), Identity { build: "b".into(), scene: "s".into() });
    let state = State { frame: 3, time: 0.125, step: 9, values: BTreeMap::default() };
    save(&identity, &state, &whole.world as &dyn Stores, &mut bytes).unwrap();
    let clock = whole.clock();
    run(&mut whole, 3);
    let mut resumed = made();
    load(Some(&identity), &mut resumed.world, &mut std::io::Cursor::new(bytes)).unwrap();
    resumed.set_clock(clock);
    run(&mut resumed, 3);
    assert!(positions(&whole).len() > 1000);
    assert!(positions(&whole) == positions(&resumed));
    assert!(velocities(&whole) == velocities(&resumed));
}

#[test]
fn what_the_input_says_of_itself_becomes_a_channel() {
    let data = Data {
        attributes: BTreeMap::from([("dye".to_owned(), Value::from(0.7))]),
        ..Data::new(Geometry::Shape(Arc::new(nozzle())))
    };
    let inputs: BTreeMap<String, Arc<Data>> =
        BTreeMap::from([("nozzle".to_owned(), Arc::new(data))]);
    let setup = Group::default().with(water()).with(source().set("velocity", [0.0, -1.0, 0.0]));
    let budget = MemoryBudget::unlimited();
    let mut simulation =
        Simulation::new(&setup, &kinds(), fixed(24.0, 2), Arc::new(inputs), budget).unwrap();
    run(&mut simulation, 2);
    let store = particles(&simulation);
    let dye = store.column(store.handle::<f32>("dye").unwrap()).unwrap();
    let all = (0..store.topology().local() as u32).flat_map(|slot| dye.chunk(slot).to_vec());
    let all: Vec<f32> = all.collect();
    assert!(!all.is_empty() && all.iter().all(|&dye| dye == 0.7));
}

#[test]
fn a_source_under_water_lifts_the_surface_at_its_rate() {
    // 0.6 m wide; through the surface flows what the source brings.
    let (low, high) = (DVec3::new(-0.3, 0.0, -0.3), DVec3::new(0.3, 1.2, 0.3));
    let pool = cuboid(low, DVec3::new(0.3, 0.6, 0.3));
    let hole = cuboid(DVec3::new(-0.1, 0.1, -0.1), DVec3::new(0.1, 0.2, 0.1));
    let source = source().set("velocity", [0.0, 1.0, 0.0]);
    let scene = Scene::of(pool, 0.05).with_wall("tank", tank(low, high)).with(source);
    let scene = scene.with_input("nozzle", hole).under_gravity();
    let mut simulation = scene.simulation(fixed(240.0, 1));
    let before = mass(&simulation);
    run(&mut simulation, 4);
    let top: Vec<DVec3> = positions(&simulation)
        .iter()
        .zip(velocities(&simulation))
        .filter(|(at, _)| at.y > 0.5)
        .map(|(_, v)| v)
        .collect();
    let rising = top.iter().sum::<DVec3>().y / top.len() as f64;
    let wanted = 1.0 * AREA / 0.36;
    assert!((rising / wanted - 1.0).abs() < 0.15, "{rising} {wanted}");
    let brought = mass(&simulation) - before;
    assert!((brought / (998.2 * AREA * 4.0 / 240.0) - 1.0).abs() < 1e-3, "{brought}");
}

#[test]
fn what_cannot_flow_is_refused_with_a_reason() {
    let setup = |source: Behavior| Group::default().with(water()).with(source);
    let inputs = [("nozzle", nozzle())];
    let message = fault(setup(source().set("velocity", [0.0; 3]).set("rate", 0.1)), &inputs);
    assert!(message.contains("velocity") && message.contains("direction"), "{message}");
    let flowing = || source().set("velocity", [0.0, 1.0, 0.0]);
    let endless = [("nozzle", Shape::half_space(DVec3::Y, 0.0).unwrap())];
    let message = fault(setup(flowing()), &endless);
    assert!(message.contains("no end") && message.contains("box"), "{message}");
    let message = fault(setup(flowing().set("start", 2.0).set("end", 1.0)), &inputs);
    assert!(message.contains("ends at 1 s"), "{message}");
    let collider = Behavior::new(&undine_actions::collider::DECLARATION).named("rock");
    let rock = Shape::sphere(2.0).unwrap();
    let message = fault(
        setup(flowing()).with(collider.set("input", "rock")),
        &[("nozzle", nozzle()), ("rock", rock)],
    );
    assert!(message.contains("inside of collider") && message.contains("rock"), "{message}");
    // Where there is no fluid, there is nothing to do.
    assert_eq!(fault(Group::default().with(flowing()), &inputs), "");
}

#[test]
fn a_sink_takes_all_that_is_inside() {
    let ball = Shape::sphere(0.3).unwrap();
    let drain = cuboid(DVec3::splat(-1.0), DVec3::new(0.0, 1.0, 1.0));
    let sink = Behavior::new(&undine_fluid::sink::DECLARATION).set("input", "drain");
    let scene = Scene::of(ball, 0.05).with(sink).with_input("drain", drain);
    let mut simulation = scene.simulation(fixed(24.0, 1));
    let right = positions(&simulation).iter().filter(|at| at.x >= 0.0).count() as f64;
    simulation.audited(true);
    run(&mut simulation, 1);
    assert!(positions(&simulation).iter().all(|at| at.x >= 0.0));
    assert!((positions(&simulation).len() as f64 / right - 1.0).abs() < 0.01);
}

#[test]
fn a_sink_with_a_rate_takes_that_much() {
    let pool = cuboid(DVec3::splat(-0.3), DVec3::splat(0.3));
    let sink = Behavior::new(&undine_fluid::sink::DECLARATION).set("input", "liquid");
    let scene = Scene::of(pool, 0.05).with(sink.set("rate", 0.0123));
    let mut simulation = scene.simulation(fixed(24.0, 3));
    let before = mass(&simulation);
    run(&mut simulation, 4);
    let gone = (before - mass(&simulation)) / 998.2;
    let wanted = 0.0123 * 4.0 / 24.0;
    assert!((gone / wanted - 1.0).abs() < 1e-4, "{gone} {wanted}");
}

#[test]
fn kill_ends_liquid_too() {
    let ball = Shape::sphere(0.3).unwrap();
    let stage = cuboid(DVec3::ZERO, DVec3::ONE);
    let kill = Behavior::new(&undine_actions::kill::DECLARATION).set("outside", "stage");
    let scene = Scene::of(ball, 0.05).with(kill).with_input("stage", stage);
    let mut simulation = scene.simulation(fixed(24.0, 1));
    let all = positions(&simulation).len();
    run(&mut simulation, 1);
    assert!(positions(&simulation).iter().all(|at| at.min_element() >= 0.0));
    let left = positions(&simulation).len() as f64;
    assert!((left / (all as f64 / 8.0) - 1.0).abs() < 0.05);
}
