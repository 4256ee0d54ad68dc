//! What moves by keys has the velocity of its way.

use super::{graph, keyed, node, number, text, vector};
use undine_core::glam::DVec3;
use undine_geometry::Solid;
use undine_scene::GraphNode;
use undine_scene::graph::Graph;
use undine_schema::{Interpolation, Setting};
use undine_sim::input::VELOCITY;

fn way(interpolation: Interpolation) -> Vec<(&'static str, Setting)> {
    vec![
        (
            "translate",
            keyed(
                &[(0.0, [0.0; 3]), (1.0, [1.0, 2.0, 0.0]), (2.5, [0.0, 3.0, 1.0])],
                interpolation,
            ),
        ),
        (
            "rotate",
            keyed(
                &[(0.0, [0.0; 3]), (1.5, [0.5, -1.0, 2.0]), (2.5, [1.0, 1.0, 7.0])],
                interpolation,
            ),
        ),
        ("pivot", vector(0.3, 0.1, -0.2)),
    ]
}

fn moved(source: GraphNode, interpolation: Interpolation, scale: Option<Setting>) -> Graph {
    let mut settings = way(interpolation);
    settings.extend(scale.map(|scale| ("scale", scale)));
    graph(vec![source, node("transform", &settings)])
}

/// Differences of places over a short time agree with `v`.
fn velocities_are_derivatives(graph: &Graph, what: &str) {
    let h = 1e-5;
    for time in [0.1, 0.7, 1.3, 2.2, 3.0] {
        let at = |time: f64| {
            graph.evaluate("it", time).unwrap().at(time).unwrap().cloud().unwrap().into_owned()
        };
        let (before, here, after) = (at(time - h), at(time), at(time + h));
        for (n, velocity) in here.vectors[VELOCITY].iter().enumerate() {
            let found = (after.positions[n] - before.positions[n]) / (2.0 * h);
            assert!(found.distance(*velocity) < 1e-6, "{what} at {time}: {velocity}, not {found}");
        }
    }
}

#[test]
fn velocities_are_the_exact_derivative_of_the_motion() {
    let points = || node("points", &[("at", text("0 0 0; 1 0 0; 0.2 -3 0.5"))]);
    let ball = || node("sphere", &[("form", text("surface")), ("detail", super::whole(0))]);
    for interpolation in [Interpolation::Linear, Interpolation::Cubic] {
        let growing = keyed(&[(0.0, [1.0, 1.0, 1.0]), (2.0, [2.0, 0.5, 3.0])], interpolation);
        velocities_are_derivatives(&moved(points(), interpolation, None), "points");
        velocities_are_derivatives(
            &moved(points(), interpolation, Some(growing.clone())),
            "growing",
        );
        velocities_are_derivatives(&moved(ball(), interpolation, None), "a rigid surface");
        velocities_are_derivatives(
            &moved(ball(), interpolation, Some(growing)),
            "a growing surface",
        );
    }
    // One motion on top of another.
    let cubic = way(Interpolation::Cubic);
    let twice = graph(vec![ball(), node("transform", &cubic), node("transform", &cubic)]);
    velocities_are_derivatives(&twice, "a motion on a motion");
    let twice = graph(vec![points(), node("transform", &cubic), node("transform", &cubic)]);
    velocities_are_derivatives(&twice, "points moved twice");
}

#[test]
fn a_moving_solid_stays_exact_and_collides_where_it_is() {
    let graph = moved(node("box", &[]), Interpolation::Cubic, None);
    let data = graph.evaluate("it", 1.3).unwrap();
    let motion = data.motion.as_ref().unwrap();
    let pose = motion.pose(1.3);
    let solid = data.solid(1.3).unwrap();
    let collider = data.collider(1.3, None, 0.0).unwrap();
    let step = collider.during(1.2, 1.3).unwrap();
    for corner in [DVec3::splat(0.5), DVec3::new(-0.5, 0.5, 0.5)] {
        let at = pose.to_world(corner);
        assert!(solid.distance(at).abs() < 1e-12 && step.distance(at).abs() < 1e-9);
        let beyond = pose.to_world(corner + corner.signum());
        assert!((solid.distance(beyond) - 3.0_f64.sqrt()).abs() < 1e-9);
    }
}

#[test]
fn places_follow_scale_turn_and_translation_in_this_order() {
    let points = node("points", &[("at", text("2 1 1"))]);
    let quarter = std::f64::consts::FRAC_PI_2;
    let moved = node(
        "transform",
        &[
            ("translate", vector(0.0, 0.0, 5.0)),
            ("rotate", vector(0.0, 0.0, quarter)),
            ("scale", vector(2.0, 1.0, 1.0)),
            ("pivot", vector(1.0, 1.0, 1.0)),
        ],
    );
    let graph = graph(vec![points, moved]);
    let data = graph.evaluate("it", 0.0).unwrap();
    // 1 m from the pivot along x, twice as far, a quarter turn to y.
    assert!(data.cloud().unwrap().positions[0].distance(DVec3::new(1.0, 3.0, 6.0)) < 1e-12);
    assert!(data.motion.is_none() && !data.cloud().unwrap().vectors.contains_key(VELOCITY));
    assert!(!graph.changes_with_time("it"));
}

#[test]
fn a_solid_that_cannot_keep_its_formula_is_refused() {
    let refused = graph(vec![
        node("sphere", &[("radius", number(1.0))]),
        node("transform", &[("scale", vector(1.0, 2.0, 1.0))]),
    ])
    .evaluate("it", 0.0)
    .unwrap_err()
    .to_string();
    assert!(refused.contains("form=\"surface\""), "{refused}");
}
