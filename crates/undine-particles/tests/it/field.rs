//! Force fields, through the whole pipeline.

use crate::collision::shape;
use crate::scene::{
    Inputs, cloud, input, particles, positions, run, simulation, store, timeline, velocities,
};
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_geometry::shape::Shape;
use undine_schema::setup::{Behavior, Group};
use undine_sim::Timeline;
use undine_sim::input::Data;

fn field(form: &str) -> Behavior {
    Behavior::new(&undine_actions::field::DECLARATION).set("form", form)
}

fn pushed(field: Behavior, inputs: Inputs, frames: usize) -> Vec<DVec3> {
    let setup = Group::default().with(particles()).with(field);
    let mut simulation = simulation(&setup, inputs, timeline(1));
    run(&mut simulation, frames);
    velocities(store(&simulation, 0))
}

fn two() -> Inputs {
    input("cloud", Data::points(vec![DVec3::ZERO, DVec3::new(5.0, 0.0, 0.0)]))
}

#[test]
fn a_uniform_field_pushes_by_mass_or_by_volume() {
    let along = |field: Behavior| field.set("axis", [0.0, 0.0, 2.0]);
    for v in pushed(along(field("uniform").set("strength", 3.0)), two(), 24) {
        assert!(v.distance(3.0 * DVec3::Z) < 1e-5, "{v}");
    }
    // Of 1000 kg/m³, 3000 N/m³ is the same.
    for v in pushed(along(field("uniform").set("force-density", 3000.0)), two(), 24) {
        assert!(v.distance(3.0 * DVec3::Z) < 1e-5, "{v}");
    }
}

#[test]
fn a_mask_lets_a_field_count_where_it_says_and_a_channel_for_whom() {
    let mut inputs = two();
    inputs.insert("ball".to_owned(), Arc::new(shape(Shape::sphere(1.0).unwrap())));
    let masked = |outside: bool| {
        let field = field("uniform").set("mask", "ball").set("mask-outside", outside);
        pushed(field, inputs.clone(), 12)
    };
    let (inside, outside) = (masked(false), masked(true));
    assert!((inside[0].y - 0.5).abs() < 1e-5 && inside[1] == DVec3::ZERO);
    assert!(outside[0] == DVec3::ZERO && (outside[1].y - 0.5).abs() < 1e-5);
    let points = vec![DVec3::ZERO, DVec3::X];
    let weighted = input("cloud", cloud(points, &[("weight", vec![0.25, -2.0])]));
    let found = pushed(field("uniform"), weighted, 24);
    assert!((found[0].y - 0.25).abs() < 1e-5 && (found[1].y + 2.0).abs() < 1e-5, "{found:?}");
}

#[test]
fn a_field_begins_and_ends() {
    let timed = || field("uniform").set("start", 0.25).set("end", 0.75);
    assert_eq!(pushed(timed(), two(), 5)[0], DVec3::ZERO);
    let half = pushed(timed(), two(), 24)[0].y;
    assert!((half - 0.5).abs() < 0.05, "{half}");
    let faded = pushed(timed().set("fade", 0.2), two(), 24)[0].y;
    assert!((faded - 0.3).abs() < 0.05, "{faded}");
}

/// A stiff radial pull is a spring without end: implicitly, no step is too long for it.
#[test]
fn a_strong_pull_to_a_point_is_stable_for_long_steps() {
    let pull = field("radial").set("strength", 1e5).set("reach", 1.0).set("power", 0.0);
    let setup = Group::default().with(particles()).with(pull);
    let points = Data::points(vec![DVec3::new(2.0, 0.5, 0.0)]);
    let timeline = Timeline { time_scale: 4.0, ..timeline(1) };
    let mut simulation = simulation(&setup, input("cloud", points), timeline);
    for _ in 0..50 {
        run(&mut simulation, 1);
        let x = positions(store(&simulation, 0))[0];
        assert!(x.is_finite() && x.length() < 1e5, "{x}");
    }
}

#[test]
fn a_vortex_turns_by_the_right_hand_and_turbulence_is_the_same_twice() {
    let around = pushed(field("vortex").set("power", 0.0), two(), 1);
    assert!(around[1].z < -0.03 && around[1].x.abs() < 1e-3, "{}", around[1]);
    let swirl = || pushed(field("turbulence").set("strength", 5.0).set("seed", 4), two(), 6);
    assert_eq!(swirl(), swirl());
    assert!(swirl()[0].length() > 0.01 && swirl()[0] != swirl()[1]);
    let other = pushed(field("turbulence").set("strength", 5.0).set("seed", 5), two(), 6);
    assert_ne!(other, swirl());
}
