//! Strands that are tied to what moves: bodies, points, skins, and each other.

use super::scene::{curves, elastic, gravity, rod, straight};
use crate::scene::{Run, body, frames, moving, octahedron, store, vectors};
use undine_core::glam::{DMat3, DVec3};
use undine_geometry::{Motion, Pose, Twist};
use undine_schema::setup::Behavior;
use undine_sim::input::{Data, Geometry};

fn attachment(to: &str) -> Behavior {
    Behavior::new(&undine_actions::attachment::DECLARATION)
        .set("to", to)
        .set("emission", "pair")
        .set("normal-stiffness", 1e5)
        .set("tangent-stiffness", 1e5)
}

fn anchors(name: &str) -> Behavior {
    Behavior::new(&undine_actions::anchors::DECLARATION).named(name).set("input", name)
}

fn strand() -> Behavior {
    rod().set("radius", 0.01).set("density", 1000.0).set("youngs", 1e8)
}

/// A root that is welded, place and frame, holds the first edge, which is a clamp in the middle of it: the tip of a heavy cantilever that is so
/// much shorter drops as far. Both are of second order in the length of edges, 1/20² of it.
#[test]
fn a_welded_root_is_a_clamp() {
    let points = straight(DVec3::ZERO, DVec3::X, 20);
    let tip = |setup, inputs| {
        let run = Run { substeps: 1, iterations: 30 };
        let mut simulation = run.with_frame(1.0).of(&setup, inputs);
        frames(&mut simulation, 12);
        *vectors(&simulation, "rod", "position").last().unwrap()
    };
    let clamped = elastic(strand().set("roots", "clamped")).with(gravity());
    let mut from_its_middle = points.clone();
    from_its_middle[0] = DVec3::X * 0.025;
    let wanted = tip(clamped, vec![("rod", curves(&[from_its_middle]))]);
    let weld = attachment("wall").set("orientation-stiffness", [1e6; 3]);
    let welded = elastic(strand()).with(anchors("wall")).with(weld).with(gravity());
    let inputs = vec![
        ("rod", curves(std::slice::from_ref(&points))),
        ("wall", Data::points(vec![DVec3::ZERO, DVec3::Y])),
    ];
    let found = tip(welded, inputs);
    assert!(wanted.y < -0.02, "{wanted}");
    assert!(found.distance(wanted) < 0.01 * wanted.y.abs(), "{found}, wanted {wanted}");
}

/// Held by its place alone, a strand swings down; and the root stays where it is.
#[test]
fn a_root_that_is_held_by_its_place_turns() {
    let setup = elastic(strand()).with(anchors("wall")).with(attachment("wall")).with(gravity());
    let points = straight(DVec3::ZERO, DVec3::X * 0.5, 10);
    let inputs =
        vec![("rod", curves(&[points])), ("wall", Data::points(vec![DVec3::ZERO, DVec3::Y]))];
    let mut simulation = Run { substeps: 8, iterations: 4 }.of(&setup, inputs);
    frames(&mut simulation, 7);
    let places = vectors(&simulation, "rod", "position");
    assert!(places[0].length() < 1e-3, "{}", places[0]);
    assert!(places[10].y < -0.3, "{}", places[10]);
}

/// Pairs by ids: vertices of strands are counted through all of them, so that 19 is the fourth but last of the second, which hangs by it; the first one falls.
#[test]
fn a_network_says_which_vertices_are_held() {
    let mut network = Data::points(vec![DVec3::ZERO]);
    if let Geometry::Points(cloud) = &mut network.geometry {
        cloud.numbers.insert("source".to_owned(), vec![19.0]);
        cloud.numbers.insert("target".to_owned(), vec![1.0]);
    }
    let tie = attachment("wall").set("emission", "network").set("network", "pairs");
    let setup = elastic(strand()).with(anchors("wall")).with(tie).with(gravity());
    let strand = |z: f64| straight(DVec3::Z * z, DVec3::new(0.5, 0.0, z), 10);
    let inputs = vec![
        ("rod", curves(&[strand(0.0), strand(0.3)])),
        ("wall", Data::points(vec![DVec3::ZERO, DVec3::new(0.4, 0.0, 0.3)])),
        ("pairs", network),
    ];
    let mut simulation = Run { substeps: 8, iterations: 4 }.of(&setup, inputs);
    let start = vectors(&simulation, "rod", "position");
    frames(&mut simulation, 6);
    let places = vectors(&simulation, "rod", "position");
    assert!(places[19].distance(start[19]) < 1e-3, "{}", places[19]);
    assert!(places[11].y < -0.05, "the long end swings down: {}", places[11]);
    // A quarter of a second, in steps of which each has the velocity of its end.
    let (step, steps) = (1.0 / 192.0, 48.0);
    let fallen = -0.5 * 9.80665 * step * step * steps * (steps + 1.0);
    for at in &places[..11] {
        assert!((at.y - fallen).abs() < 1e-9, "{} m of {fallen} m", at.y);
    }
}

/// On a body that turns about the strand's own direction, the welded root turns with it and twists the strand along.
#[test]
fn frames_of_roots_follow_what_they_are_tied_to() {
    let spin = Twist { linear: DVec3::ZERO, angular: DVec3::X };
    let hub = moving(
        octahedron(DVec3::ZERO, DVec3::splat(0.1)),
        Motion::steady(Pose::IDENTITY, spin).unwrap(),
    );
    let weld = attachment("hub").set("orientation-stiffness", [1e4; 3]);
    let setup = elastic(strand()).with(body("hub").set("kinematic", true)).with(weld);
    let points = straight(DVec3::X * 0.1, DVec3::X * 0.6, 10);
    let inputs = vec![("rod", curves(&[points])), ("hub", hub)];
    let mut simulation = Run { substeps: 8, iterations: 3 }.of(&setup, inputs);
    let frame = |simulation: &undine_sim::Simulation, n: usize| {
        let points = store(simulation, "rod");
        points.column(points.handle::<DMat3>("frame").unwrap()).unwrap()[n]
    };
    let start = frame(&simulation, 0);
    frames(&mut simulation, 24);
    // The whole strand has turned by one radian, but for what inertia holds back.
    for n in [0, 9] {
        let now = frame(&simulation, n);
        let turned = start.z_axis.dot(now.y_axis).atan2(start.y_axis.dot(now.y_axis));
        assert!((turned - 1.0).abs() < 0.1, "edge {n} has turned by {turned}");
    }
}

/// A strand tied to another one by the nearest of their vertices hangs on it, and momentum is kept.
#[test]
fn strands_hold_each_other() {
    let other = Behavior::new(&undine_solid::curves::object::DECLARATION)
        .named("other")
        .set("input", "other")
        .set("radius", 0.01)
        .set("density", 1000.0)
        .set("youngs", 1e8)
        .set("velocity", [0.0, 0.0, 0.5]);
    let tie = attachment("other").set("normal-stiffness", 1e3).set("tangent-stiffness", 1e3);
    let setup = elastic(strand()).with(other).with(tie);
    let inputs = vec![
        ("rod", curves(&[straight(DVec3::ZERO, DVec3::X * 0.5, 8)])),
        ("other", curves(&[straight(DVec3::new(0.55, 0.0, 0.0), DVec3::new(0.55, 0.5, 0.0), 8)])),
    ];
    let mut simulation = Run { substeps: 4, iterations: 6 }.of(&setup, inputs);
    let before = simulation.budget().unwrap().momentum;
    frames(&mut simulation, 12);
    let after = simulation.budget().unwrap().momentum;
    assert!(after.distance(before) < 1e-9 * before.length(), "{before} {after}");
    let apart = vectors(&simulation, "rod", "position")[8]
        .distance(vectors(&simulation, "other", "position")[0]);
    assert!((apart - 0.05).abs() < 5e-3, "{apart}");
    let moved = vectors(&simulation, "rod", "position")[8].z;
    assert!(moved > 0.02, "{moved}");
}
