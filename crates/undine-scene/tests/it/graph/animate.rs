//! Files: units, axes, sequences of frames.

use super::{input, keyed, node, number, text, vector, whole};
use std::path::Path;
use undine_core::glam::{DVec3, Vec3};
use undine_core::mesh::Polygons;
use undine_io::UpAxis;
use undine_io::ply::{self, Precision};
use undine_io::{Channels, Faces, Points, Values};
use undine_scene::graph::{Context, Graph};
use undine_schema::{Interpolation, Setting};
use undine_sim::input::{PointCloud, VELOCITY};

fn write(folder: &Path, name: &str, points: &Points, faces: Option<&Faces>) {
    let mut file = std::fs::File::create(folder.join(name)).unwrap();
    ply::write(&mut file, points, faces, Precision::Double).unwrap();
}

fn load(folder: &Path, what: &str, settings: &[(&str, Setting)], up: UpAxis) -> Graph {
    let context =
        Context { folder: folder.to_owned(), up, frame_seconds: 0.1, ..Context::default() };
    Graph::new(vec![input("it", vec![node(what, settings)])], context).unwrap()
}

fn cloud(graph: &Graph, time: f64) -> PointCloud {
    graph.evaluate("it", time).unwrap().cloud().unwrap().into_owned()
}

#[test]
fn units_and_up_axes_are_those_of_the_scene_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let channels = Channels::from([
        ("v".to_owned(), Values::Vec3(vec![Vec3::new(0.0, 0.0, 200.0)])),
        ("N".to_owned(), Values::Vec3(vec![Vec3::Z])),
        ("pscale".to_owned(), Values::F64(vec![5.0])),
        ("mass".to_owned(), Values::F64(vec![5.0])),
    ]);
    let points = Points { positions: vec![DVec3::new(100.0, 0.0, 250.0)], channels };
    write(folder.path(), "a.ply", &points, None);
    let settings = [("file", text("a.ply")), ("unit", text("cm")), ("up", text("z"))];
    let up_in_y = cloud(&load(folder.path(), "load", &settings, UpAxis::Y), 0.0);
    assert!(up_in_y.positions[0].distance(DVec3::new(1.0, 2.5, 0.0)) < 1e-12);
    assert!(up_in_y.vectors["v"][0].distance(DVec3::new(0.0, 2.0, 0.0)) < 1e-12);
    assert!(up_in_y.vectors["N"][0].distance(DVec3::Y) < 1e-12);
    assert!(
        (up_in_y.numbers["pscale"][0] - 0.05).abs() < 1e-15 && up_in_y.numbers["mass"][0] == 5.0
    );
    let same = cloud(&load(folder.path(), "load", &settings, UpAxis::Z), 0.0);
    assert!(same.positions[0].distance(DVec3::new(1.0, 0.0, 2.5)) < 1e-12);
    let other = [("file", text("a.ply")), ("unit", text("in")), ("up", text("y"))];
    let up_in_z = cloud(&load(folder.path(), "load", &other, UpAxis::Z), 0.0);
    assert!(up_in_z.positions[0].distance(DVec3::new(2.54, -6.35, 0.0)) < 1e-12);
    let wrong = [("file", text("a.ply")), ("unit", text("kg"))];
    let refused = load(folder.path(), "load", &wrong, UpAxis::Y).evaluate("it", 0.0).unwrap_err();
    assert!(refused.to_string().contains("a length (m) is wanted"), "{refused}");
}

/// Exports for hair often have places at rest that are the places themselves: they stay the same to the last bit, whatever unit they are in and
/// however they are moved.
#[test]
fn places_at_rest_go_wherever_positions_go() {
    let folder = tempfile::tempdir().unwrap();
    let positions = [[100.3, 0.1, 250.7], [-3.7, 11.9, 0.3]].map(DVec3::from).to_vec();
    let rest = Values::DVec3(positions.clone());
    let channels = Channels::from([("rest".to_owned(), rest)]);
    write(folder.path(), "a.ply", &Points { positions, channels }, None);
    let settings = [("file", text("a.ply")), ("unit", text("cm")), ("up", text("z"))];
    let transform = [
        ("translate", vector(1.0, 2.0, 3.0)),
        ("rotate", keyed(&[(0.0, [0.0; 3]), (1.0, [0.5, -1.0, 2.0])], Interpolation::Linear)),
        ("scale", vector(0.5, 3.0, 1.1)),
        ("pivot", vector(0.3, 0.1, -0.2)),
    ];
    let load = node("load", &settings);
    for nodes in [vec![load.clone()], vec![load, node("transform", &transform)]] {
        let context = Context { folder: folder.path().to_owned(), ..Context::default() };
        let graph = Graph::new(vec![input("it", nodes)], context).unwrap();
        for time in [0.0, 0.7] {
            let found = cloud(&graph, time);
            assert_eq!(found.vectors["rest"], found.positions);
            assert!(found.positions[0].length() < 10.0, "in metres: {}", found.positions[0]);
        }
    }
}

/// Where the vertices of a triangle are.
fn place(vertex: u32, time: f64) -> DVec3 {
    let phase = f64::from(vertex);
    DVec3::new((2.0 * time + phase).sin(), (1.5 * time).cos() + phase, phase * phase)
}

fn speed(vertex: u32, time: f64) -> DVec3 {
    let phase = f64::from(vertex);
    DVec3::new(2.0 * (2.0 * time + phase).cos(), -1.5 * (1.5 * time).sin(), 0.0)
}

fn triangle() -> Faces {
    let polygons = Polygons::triangles(vec![[0, 1, 2]]).unwrap();
    Faces { polygons, channels: Channels::new() }
}

/// The largest errors of places and velocities between frames `step` frames of 0.1 s apart.
fn errors(step: usize, way: &str) -> (f64, f64) {
    let folder = tempfile::tempdir().unwrap();
    for frame in (0..=40).step_by(step) {
        let time = 0.1 * (frame as f64 - 1.0);
        let points = Points {
            positions: (0..3).map(|vertex| place(vertex, time)).collect(),
            channels: Channels::new(),
        };
        write(folder.path(), &format!("t.{frame:04}.ply"), &points, Some(&triangle()));
    }
    let settings = [("file", text("t.####.ply")), ("interpolation", text(way))];
    let graph = load(folder.path(), "animate", &settings, UpAxis::Y);
    let mut worst: (f64, f64) = (0.0, 0.0);
    for n in 0..50 {
        let time = 1.0 + 0.0317 * f64::from(n);
        let found = cloud(&graph, time);
        for vertex in 0..3 {
            let [at, v] =
                [found.positions[vertex as usize], found.vectors[VELOCITY][vertex as usize]];
            worst.0 = worst.0.max(at.distance(place(vertex, time)));
            worst.1 = worst.1.max(v.distance(speed(vertex, time)));
        }
    }
    worst
}

#[test]
fn places_and_velocities_between_frames_converge_with_their_order() {
    for (way, order_of_places, order_of_velocities) in [("linear", 2.0, 2.0), ("cubic", 3.0, 2.0)] {
        let (coarse, fine) = (errors(4, way), errors(1, way));
        let order = |coarse: f64, fine: f64| (coarse / fine).ln() / 4.0_f64.ln();
        let (places, velocities) = (order(coarse.0, fine.0), order(coarse.1, fine.1));
        assert!(places > order_of_places - 0.3, "{way}: places of order {places}");
        assert!(velocities > order_of_velocities - 0.3, "{way}: velocities of order {velocities}");
    }
}

#[test]
fn points_are_followed_by_id_and_other_topologies_are_not_mixed() {
    let folder = tempfile::tempdir().unwrap();
    let points = |at: &[(u64, f64)]| Points {
        positions: at.iter().map(|&(_, x)| DVec3::new(x, 0.0, 0.0)).collect(),
        channels: Channels::from([(
            "id".to_owned(),
            Values::U64(at.iter().map(|&(id, _)| id).collect()),
        )]),
    };
    write(folder.path(), "p.1.ply", &points(&[(7, 0.0), (9, 10.0)]), None);
    write(folder.path(), "p.2.ply", &points(&[(9, 11.0), (7, 2.0)]), None);
    write(folder.path(), "p.3.ply", &points(&[(9, 12.0)]), None);
    let graph = load(folder.path(), "animate", &[("file", text("p.$F.ply"))], UpAxis::Y);
    let half = cloud(&graph, 0.05);
    assert!(half.positions[0].distance(DVec3::new(1.0, 0.0, 0.0)) < 1e-12);
    assert!(half.positions[1].distance(DVec3::new(10.5, 0.0, 0.0)) < 1e-12);
    assert_eq!(half.numbers["id"], [7.0, 9.0]);
    // One frame lasts 0.1 s.
    assert!(half.vectors[VELOCITY][0].distance(DVec3::new(20.0, 0.0, 0.0)) < 1e-9);
    // A point is gone: the nearest frame, as it is.
    assert_eq!(cloud(&graph, 0.14).positions.len(), 2);
    assert_eq!(cloud(&graph, 0.16).positions.len(), 1);
    // Beyond the ends it rests.
    assert_eq!(cloud(&graph, -1.0).vectors[VELOCITY], [DVec3::ZERO; 2]);
    assert_eq!(cloud(&graph, 9.0).positions.len(), 1);
    assert!(graph.changes_with_time("it"));
}

#[test]
fn a_frame_that_is_not_there_is_named_with_its_neighbours() {
    let folder = tempfile::tempdir().unwrap();
    let points = Points { positions: vec![DVec3::ZERO], channels: Channels::new() };
    write(folder.path(), "a.0001.ply", &points, None);
    write(folder.path(), "a.0005.ply", &points, None);
    let file = ("file", text("a.####.ply"));
    let refused = |what: &str, more: &[(&str, Setting)], time: f64| {
        let settings: Vec<_> = std::iter::once(file.clone()).chain(more.iter().cloned()).collect();
        load(folder.path(), what, &settings, UpAxis::Y)
            .evaluate("it", time)
            .unwrap_err()
            .to_string()
    };
    let words = refused("load", &[], 0.2);
    assert!(words.contains("input/load") && words.contains("are 1 and 5"), "{words}");
    assert!(
        refused("initial-state", &[("frame", whole(9))], 0.0).contains("the last of 2 frames is 5")
    );
    let missing = load(folder.path(), "animate", &[("file", text("b.####.ply"))], UpAxis::Y);
    assert!(
        missing.evaluate("it", 0.0).unwrap_err().to_string().contains("no file of this pattern")
    );
    let state =
        load(folder.path(), "initial-state", &[file.clone(), ("frame", whole(5))], UpAxis::Y);
    assert_eq!(cloud(&state, 3.0).positions, [DVec3::ZERO]);
    let odd = load(folder.path(), "animate", &[file, ("speed", number(-1.0))], UpAxis::Y);
    assert!(odd.evaluate("it", 0.0).unwrap_err().to_string().contains("`speed`"));
}
