//! Particles that go from Group to Group, and that end.

use crate::collision::shape;
use crate::scene::{
    Inputs, gravity, input, kinds, particles, positions, run, simulation, store, timeline, values,
    velocities,
};
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_geometry::random::unit;
use undine_geometry::shape::Shape;
use undine_schema::setup::{Behavior, Group};
use undine_sim::input::{Data, Geometry, PointCloud};
use undine_sim::{Simulation, Timeline};

fn transition(to: &str) -> Behavior {
    Behavior::new(&undine_actions::transition::DECLARATION).set("to", to)
}

fn kill() -> Behavior {
    Behavior::new(&undine_actions::kill::DECLARATION)
}

/// Particles all over a box, each with its own velocity, mass and colour.
fn crowd(count: u64) -> Data {
    let vector = |k: u64| move |n| DVec3::from_array([0, 1, 2].map(|a| unit(k, 3 * n + a) - 0.5));
    let cloud = PointCloud {
        positions: (0..count).map(vector(1)).map(|x| 4.0 * x).collect(),
        numbers: [
            ("mass".to_owned(), (0..count).map(|n| 1e-3 * (1.0 + unit(3, n))).collect()),
            ("colour".to_owned(), (0..count).map(|n| n as f64).collect()),
        ]
        .into(),
        vectors: [("v".to_owned(), (0..count).map(vector(2)).map(|v| 6.0 * v).collect())].into(),
        edges: Vec::new(),
    };
    Data { geometry: Geometry::Points(cloud), ..Data::default() }
}

fn inputs() -> Inputs {
    let mut inputs = input("cloud", crowd(1000));
    let points = PointCloud {
        positions: vec![DVec3::splat(9.0)],
        numbers: [("colour".to_owned(), vec![5000.0])].into(),
        ..PointCloud::default()
    };
    let other = Data { geometry: Geometry::Points(points), ..Data::default() };
    inputs.insert("other".to_owned(), Arc::new(other));
    inputs.insert("ball".to_owned(), Arc::new(shape(Shape::sphere(1.0).unwrap())));
    inputs
}

/// Water that becomes mist inside of a ball, in another Domain, and back again outside of it.
fn to_and_fro() -> Group {
    Group::default()
        .with(
            Group::new("water")
                .with(particles())
                .with(transition("mist").set("inside", "ball").named("rise")),
        )
        .with(
            Group::new("mist")
                .with(particles().set("input", "other").set("voxel", 0.3))
                .with(transition("water").set("outside", "ball").named("fall")),
        )
}

/// Forces within each Object are none: whatever changes is the transitions' doing.
#[test]
fn transitions_keep_mass_and_momentum_exactly() {
    let mut simulation = simulation(&to_and_fro(), inputs(), timeline(1));
    let begun = simulation.budget().unwrap();
    let (mut most, mut least) = (0, usize::MAX);
    for _ in 0..24 {
        run(&mut simulation, 1);
        let now = simulation.budget().unwrap();
        // Sums over other Objects in another order round differently, and nothing else does.
        assert!((now.mass / begun.mass - 1.0).abs() < 1e-13);
        assert!(
            (now.momentum - begun.momentum).length() < 1e-13 * begun.momentum.length().max(1.0)
        );
        let inside = store(&simulation, 1).len();
        (most, least) = (most.max(inside), least.min(inside));
        assert_eq!(store(&simulation, 0).len() + inside, 1001);
    }
    assert!(most > 20, "{most}");
    // Each value has travelled to the last bit.
    let (water, mist) = (store(&simulation, 0), store(&simulation, 1));
    let all = |name: &str| {
        let mut both = values::<f32>(water, name);
        both.extend(values::<f32>(mist, name));
        both.sort_by(f32::total_cmp);
        both
    };
    let Geometry::Points(cloud) = crowd(1000).geometry else { unreachable!() };
    let mut masses: Vec<f32> = cloud.numbers["mass"].iter().map(|&mass| mass as f32).collect();
    masses.push((4.0 / 3.0 * std::f64::consts::PI * 1e-9 * 1000.0) as f32);
    masses.sort_by(f32::total_cmp);
    assert_eq!(all("mass"), masses);
    let mut colours: Vec<f32> = (0..1000).map(|n| n as f32).collect();
    colours.push(5000.0);
    assert_eq!(all("colour"), colours);
}

#[test]
fn who_comes_knows_where_it_was_and_where_it_is() {
    let setup = Group::default()
        .with(Group::new("water").with(particles()).with(transition("mist").set("inside", "ball")))
        .with(Group::new("mist").with(particles().set("input", "other").set("voxel", 0.3)));
    let mut simulation = simulation(&setup, inputs(), timeline(1));
    run(&mut simulation, 1);
    let (water, mist) = (store(&simulation, 0), store(&simulation, 1));
    let sources = values::<u64>(mist, "source-id");
    let colours = values::<f32>(mist, "colour");
    assert!(sources.len() > 10 && sources[0] == u64::MAX && colours[0] == 5000.0);
    // In the order of their old ids; a colour is the old id here.
    for (source, colour) in sources.iter().zip(&colours).skip(1) {
        assert_eq!(*source as f32, *colour);
    }
    assert!(sources[1..].is_sorted());
    for x in &positions(mist)[1..] {
        assert!(x.length() < 1.0 + 1e-6, "{x}");
    }
    for x in positions(water) {
        assert!(x.length() > 1.0 - 1e-6, "{x}");
    }
}

#[test]
fn each_criterion_lets_go_whom_it_says_and_all_must_hold() {
    let ends = |behavior: Behavior| {
        let setup = Group::default().with(particles()).with(behavior);
        let mut simulation = simulation(&setup, inputs(), timeline(1));
        run(&mut simulation, 6);
        simulation
    };
    let fast = ends(kill().set("faster-than", 2.0));
    assert!(velocities(store(&fast, 0)).iter().all(|v| v.length() <= 2.0));
    let slow = ends(kill().set("slower-than", 2.0));
    assert!(velocities(store(&slow, 0)).iter().all(|v| v.length() >= 2.0));
    assert_eq!(store(&fast, 0).len() + store(&slow, 0).len(), 1000);
    let dyed = ends(kill().set("channel", "colour").set("above", 99.5).set("below", 199.5));
    assert_eq!(store(&dyed, 0).len(), 900);
    let both = ends(kill().set("channel", "colour").set("below", 499.5).set("faster-than", 2.0));
    let gone = 1000 - store(&both, 0).len();
    let fast_gone = 1000 - store(&fast, 0).len();
    assert!(gone > 0 && gone < fast_gone, "{gone} of {fast_gone}");
    assert_eq!(store(&ends(kill().set("older-than", 0.3)), 0).len(), 1000);
    assert_eq!(store(&ends(kill().set("older-than", 0.2)), 0).len(), 0);
    assert_eq!(store(&ends(kill().set("channel", "unknown").set("above", 0.0)), 0).len(), 1000);
    let outside = ends(kill().set("outside", "ball"));
    assert!(positions(store(&outside, 0)).iter().all(|x| x.length() <= 1.0 + 1e-6));
}

#[test]
fn several_sinks_and_transitions_share_an_object() {
    let setup = to_and_fro()
        .with(kill().set("faster-than", 4.0))
        .with(kill().set("older-than", 0.5).named("old"))
        .with(gravity());
    let mut simulation = simulation(&setup, inputs(), timeline(2));
    run(&mut simulation, 6);
    assert!((1..1001).contains(&(store(&simulation, 0).len() + store(&simulation, 1).len())));
    run(&mut simulation, 12);
    assert_eq!(store(&simulation, 0).len() + store(&simulation, 1).len(), 0);
}

#[test]
fn transitions_are_the_same_for_any_number_of_threads() {
    let result = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut simulation = simulation(&to_and_fro(), inputs(), timeline(2));
            run(&mut simulation, 12);
            [0, 1].map(|n| {
                let store = store(&simulation, n);
                (positions(store), velocities(store), values::<f32>(store, "colour"))
            })
        })
    };
    assert!(result(1) == result(2));
}

#[test]
fn what_makes_no_sense_is_refused_with_what_would() {
    let refused = |behavior: Behavior| {
        let setup = Group::default().with(particles()).with(behavior);
        let budget = MemoryBudget::unlimited();
        let made =
            Simulation::new(&setup, &kinds(), Timeline::default(), Arc::new(inputs()), budget);
        made.err().map(|why| why.to_string()).unwrap_or_default()
    };
    assert!(refused(kill()).contains("all of them would"));
    assert!(refused(kill().set("above", 1.0)).contains("channel"));
    assert!(refused(kill().set("inside", "cloud")).contains("points"));
    assert!(refused(transition("nowhere").set("inside", "ball")).contains("nowhere"));
}

/// Every Behavior of these tests at once: no two Tasks are in each other's way, and none changes what it does not declare.
#[test]
fn tasks_change_what_they_declare_and_nothing_else() {
    let field = Behavior::new(&undine_actions::field::DECLARATION).set("form", "turbulence");
    let setup = to_and_fro()
        .with(gravity())
        .with(field)
        .with(Behavior::new(&undine_actions::drag::DECLARATION).set("wind", [1.0, 0.0, 0.0]))
        .with(Behavior::new(&undine_actions::collider::DECLARATION).set("input", "block"))
        .with(Behavior::new(&undine_actions::collision::DECLARATION).set("restitution", 0.5))
        .with(Behavior::new(&undine_actions::emit::DECLARATION).set("input", "ball"))
        .with(kill().set("faster-than", 5.0));
    let mut inputs = inputs();
    let block = Shape::cuboid(DVec3::splat(0.3)).unwrap();
    inputs.insert("block".to_owned(), Arc::new(shape(block)));
    let mut simulation = simulation(&setup, inputs, timeline(2));
    simulation.audited(true);
    run(&mut simulation, 4);
    assert!(store(&simulation, 1).len() > 10);
}
