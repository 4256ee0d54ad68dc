//! Only what is asked for is evaluated, once, and what cannot be is refused by name.

use super::{input, keyed, node, text, whole};
use std::sync::Arc;
use undine_core::MemoryBudget;
use undine_scene::graph::{Context, Graph, GraphError};
use undine_scene::{GraphNode, Input};
use undine_schema::Interpolation;
use undine_sim::SimError;
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

/// The path, what is wrong and what would be right, as the scene shows it.
fn shown(graph: Graph) -> [String; 3] {
    match graph.data("it", 0.0).unwrap_err() {
        SimError::BadSetup { path, what, help } => [path, what, help],
        other => panic!("{other}"),
    }
}

#[test]
fn errors_are_shown_at_their_node_or_parameter_with_what_would_be_right() {
    let folder = tempfile::tempdir().unwrap();
    let at = |nodes: Vec<GraphNode>| {
        let context = Context { folder: folder.path().to_owned(), ..Context::default() };
        shown(Graph::new(vec![input("it", nodes)], context).unwrap())
    };
    let load = || node("load", &[("file", text("statue.ply"))]);
    let [path, what, help] = at(vec![load()]);
    assert_eq!(path, "input/load.file");
    assert!(what.starts_with("there is no file `") && what.ends_with("statue.ply`"), "{what}");
    assert!(help.starts_with("no PLY or OBJ file is in"), "{help}");
    std::fs::write(folder.path().join("statues.ply"), "").unwrap();
    std::fs::write(folder.path().join("statue.txt"), "").unwrap();
    assert_eq!(at(vec![load()])[2], "did you mean `statues.ply`?");
    let [_, _, help] = at(vec![node("load", &[("file", text("none/statue.ply"))])]);
    assert!(help.contains("no folder"), "{help}");
    let [path, what, help] = at(vec![node("load", &[("file", text("statue.####.ply"))])]);
    assert_eq!(
        (path.as_str(), help.as_str()),
        ("input/load.file", "no file of this pattern exists")
    );
    assert!(what.contains("statue.0001.ply"), "{what}");

    let tiny = node("scatter", &[("spacing", super::number(1e-9))]);
    let [path, _, help] = at(vec![node("box", &[]), tiny]);
    assert!(path.starts_with("input/scatter"), "{path}");
    assert!(!help.is_empty());
    let bad = node("set", &[("channel", text("P")), ("value", text("1"))]);
    let [path, what, _] = at(vec![node("points", &[("at", text("0 0 0 m"))]), bad]);
    assert_eq!((path.as_str(), what.as_str()), ("input/set.channel", "`channel` is `P`"));
    // What is wrong in another input is shown there.
    let inputs = vec![input("it", vec![from("other")]), input("other", vec![load()])];
    assert_eq!(shown(graph(inputs).unwrap())[0], "input/load.file");

    let late = vec![node("box", &[]), node("transform", &[]), node("sphere", &[])];
    let late = graph(vec![input("it", late)]).unwrap_err().into_sim();
    assert!(matches!(&late, SimError::BadSetup { path, .. } if path == "input/sphere"), "{late}");
}

#[test]
fn too_little_memory_for_an_input_is_no_mistake_of_the_scene() {
    let context = Context { budget: MemoryBudget::new(1000), ..Context::default() };
    let nodes = vec![node("box", &[]), node("to-distance", &[("voxel", super::number(0.05))])];
    let refused = Graph::new(vec![input("it", nodes)], context).unwrap().data("it", 0.0);
    let Err(SimError::NoRoom { path, what, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(path, "input/to-distance");
    assert!(what.contains("of the memory budget of 1.0 kB"), "{what}");
}

/// Hundreds of gigabytes each: were any of it made, the test would not end.
#[test]
fn what_does_not_fit_is_refused_before_it_is_made() {
    let sides = [("columns", whole(60_000)), ("rows", whole(60_000))];
    let curves = [("columns", whole(3000)), ("rows", whole(3000)), ("segments", whole(20))];
    let cells = super::vector(600.0, 600.0, 600.0);
    let fine = ("spacing", super::number(1e-3));
    let surface = node("box", &[("form", text("surface"))]);
    let many = ("count", whole(60_000_000));
    for nodes in [
        vec![node("sheet", &sides)],
        vec![node("grid-of-curves", &curves)],
        vec![node("tet-box", &[("cells", cells)])],
        vec![node("box", &[]), node("scatter", std::slice::from_ref(&many))],
        vec![node("box", &[]), node("scatter", std::slice::from_ref(&fine))],
        vec![surface.clone(), node("scatter", &[("on", text("surface")), many])],
        vec![surface, node("scatter", &[("on", text("surface")), fine])],
    ] {
        let context = Context { budget: MemoryBudget::new(50_000_000), ..Context::default() };
        let last = nodes.last().unwrap().path.clone();
        let refused = Graph::new(vec![input("it", nodes)], context).unwrap().data("it", 0.0);
        let Err(SimError::NoRoom { path, .. }) = refused else { panic!("{last}: {refused:?}") };
        assert_eq!(path, last);
    }
}

#[test]
fn what_is_disabled_takes_no_part() {
    let mut broken = node("load", &[("file", text("nowhere.ply"))]);
    broken.disabled = true;
    let graph = graph(vec![input("a", vec![broken, node("box", &[])])]).unwrap();
    assert!(graph.evaluate("a", 0.0).is_ok() && !graph.changes_with_time("a"));
}

#[test]
fn a_disabled_input_is_empty_for_all_that_name_it() {
    let scatter = || node("scatter", &[("spacing", super::number(0.2))]);
    let mut off = input("off", vec![node("load", &[("file", text("nowhere.ply"))])]);
    off.disabled = true;
    let merge = node("merge", &[("with", text("off"))]);
    let graph = graph(vec![
        off,
        input("made-from-it", vec![from("off"), scatter()]),
        input("beside-it", vec![node("box", &[]), merge, scatter()]),
    ]);
    let graph = graph.unwrap();
    let empty = |name: &str| graph.evaluate(name, 0.0).unwrap().is_empty();
    assert!(empty("off") && empty("made-from-it") && !empty("beside-it"));
}
