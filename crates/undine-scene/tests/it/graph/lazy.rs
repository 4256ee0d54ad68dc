//! Only what is asked for is evaluated, once, and what cannot be is refused by name.

use super::{input, keyed, node, text};
use std::sync::Arc;
use undine_scene::graph::{Context, Graph, GraphError};
use undine_scene::{GraphNode, Input};
use undine_schema::Interpolation;
use undine_sim::input::Inputs;

fn from(name: &str) -> GraphNode {
    node("from", &[("input", text(name))])
}

fn graph(inputs: Vec<Input>) -> Result<Graph, GraphError> {
    Graph::new(inputs, Context::default())
}

#[test]
fn an_input_that_nobody_asks_for_is_never_loaded() {
    let missing = input("missing", vec![node("load", &[("file", text("nowhere.ply"))])]);
    let graph = graph(vec![missing, input("crate", vec![node("box", &[])])]).unwrap();
    assert!(graph.evaluate("crate", 0.0).is_ok());
    let refused = graph.evaluate("missing", 0.0).unwrap_err().to_string();
    assert!(refused.contains("input/load: cannot read nowhere.ply"), "{refused}");
}

#[test]
fn what_does_not_change_is_evaluated_once_and_the_rest_once_per_time() {
    let keys = keyed(&[(0.0, [0.0; 3]), (1.0, [1.0, 0.0, 0.0])], Interpolation::Linear);
    let still =
        input("still", vec![node("box", &[]), node("scatter", &[("spacing", super::number(0.2))])]);
    let moving = input("moving", vec![from("still"), node("transform", &[("translate", keys)])]);
    let graph = graph(vec![still, moving, input("follower", vec![from("moving")])]).unwrap();
    let [a, b] = [0.0, 5.0].map(|time| graph.evaluate("still", time).unwrap());
    assert!(Arc::ptr_eq(&a, &b));
    let [a, b, c] = [0.5, 0.5, 0.6].map(|time| graph.evaluate("moving", time).unwrap());
    assert!(Arc::ptr_eq(&a, &b) && !Arc::ptr_eq(&a, &c));
    for (name, changes) in [("still", false), ("moving", true), ("follower", true), ("none", false)]
    {
        assert_eq!(graph.changes_with_time(name), changes, "{name}");
        assert_eq!(Inputs::changes(&graph, name), changes);
    }
    let moved = graph.evaluate("follower", 1.0).unwrap().cloud().unwrap().positions[0];
    let rest = graph.evaluate("still", 1.0).unwrap().cloud().unwrap().positions[0];
    assert!((moved.x - rest.x - 1.0).abs() < 1e-12);
}

#[test]
fn circles_and_missing_names_are_refused_with_the_node() {
    let circle = graph(vec![
        input("a", vec![from("b")]),
        input("b", vec![node("box", &[]), node("merge", &[("with", text("a"))])]),
    ]);
    let words = circle.unwrap_err().to_string();
    assert!(words.contains("input `a` needs itself: a → b → a"), "{words}");
    let missing = graph(vec![input("a", vec![from("c")])]).unwrap_err().to_string();
    assert!(missing.contains("input/from: there is no input `c`; there are: a"), "{missing}");
    let twice = graph(vec![input("a", vec![]), input("a", vec![])]).unwrap_err();
    assert!(matches!(twice, GraphError::Duplicate { .. }));
    let late = graph(vec![input("a", vec![node("transform", &[]), node("box", &[])])]).unwrap_err();
    assert!(matches!(late, GraphError::SourceAfterFilter { .. }), "{late}");
    let mut odd = node("box", &[]);
    odd.children = vec![node("box", &[])];
    assert!(matches!(graph(vec![input("a", vec![odd])]), Err(GraphError::NothingWithin { .. })));
    let graph = graph(vec![input("a", vec![])]).unwrap();
    assert!(graph.evaluate("b", 0.0).unwrap_err().to_string().contains("there is no input `b`"));
    assert!(graph.data("b", 0.0).is_err() && graph.evaluate("a", 0.0).unwrap().is_empty());
}

#[test]
fn what_is_disabled_takes_no_part() {
    let mut broken = node("load", &[("file", text("nowhere.ply"))]);
    broken.disabled = true;
    let graph = graph(vec![input("a", vec![broken, node("box", &[])])]).unwrap();
    assert!(graph.evaluate("a", 0.0).is_ok() && !graph.changes_with_time("a"));
}
