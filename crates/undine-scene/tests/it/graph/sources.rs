//! Sources have the volumes, areas and counts of formulas.

use super::{graph, node, number, text, vector, whole};
use std::f64::consts::PI;
use undine_core::glam::DVec3;
use undine_geometry::Solid;
use undine_io::UpAxis;
use undine_scene::GraphNode;
use undine_scene::graph::{Context, Graph, NODES};
use undine_schema::Setting;
use undine_sim::input::{Data, Geometry};

fn data(nodes: Vec<GraphNode>) -> Data {
    Data::clone(&graph(nodes).evaluate("it", 0.0).unwrap())
}

#[test]
fn every_declaration_is_sound_and_has_its_own_name() {
    for (n, node) in NODES.iter().enumerate() {
        let faults = undine_schema::declaration::faults(node.declaration);
        assert_eq!(faults, [""; 0]);
        assert!(NODES[..n].iter().all(|other| other.declaration.name != node.declaration.name));
    }
}

#[test]
fn solids_and_their_surfaces_have_the_volume_of_the_formula() {
    type Case = (&'static str, Vec<(&'static str, Setting)>, f64);
    let cases: [Case; 5] = [
        ("box", vec![("size", vector(1.0, 2.0, 3.0))], 6.0),
        ("sphere", vec![("radius", number(0.7)), ("detail", whole(6))], 4.0 / 3.0 * PI * 0.343),
        (
            "cylinder",
            vec![("radius", number(0.5)), ("height", number(2.0)), ("detail", whole(6))],
            PI * 0.5,
        ),
        (
            "torus",
            vec![("ring", number(1.0)), ("tube", number(0.25)), ("detail", whole(6))],
            2.0 * PI * PI * 0.0625,
        ),
        (
            "capsule",
            vec![("radius", number(0.5)), ("length", number(1.0)), ("detail", whole(6))],
            PI * 0.25 + 4.0 / 3.0 * PI * 0.125,
        ),
    ];
    for (name, mut settings, volume) in cases {
        settings.push(("centre", vector(5.0, -2.0, 1.0)));
        let solid = data(vec![node(name, &settings)]);
        let Geometry::Shape(shape) = &solid.geometry else { panic!("{name} is no solid") };
        let exact = shape.mass_properties().unwrap();
        assert!((exact.volume - volume).abs() < 1e-9 * volume, "{name}: {}", exact.volume);

        settings.push(("form", text("surface")));
        let mesh = data(vec![node(name, &settings)]);
        let Geometry::Surface(surface) = &mesh.geometry else { panic!("{name} is no surface") };
        surface.check_closed().unwrap();
        // Chords of angle h leave out a part h²/6 or so.
        let found = surface.volume().unwrap();
        assert!((found - volume).abs() < 2e-3 * volume, "{name}: {found}, not {volume}");
        // The surface lies on the solid.
        for &at in surface.positions().unwrap().iter() {
            assert!(shape.distance(at) < 1e-9, "{name}: {at}");
        }
    }
}

#[test]
fn what_stands_upright_follows_the_scene_and_its_axis() {
    let tall = |axis: &str, up: UpAxis| {
        let nodes = vec![node("cylinder", &[("height", number(10.0)), ("axis", text(axis))])];
        let context = Context { up, ..Context::default() };
        let graph = Graph::new(vec![super::input("it", nodes)], context).unwrap();
        let bounds = graph.evaluate("it", 0.0).unwrap().solid(0.0).unwrap().bounds().unwrap();
        bounds.size()
    };
    for (axis, up, along) in [
        ("up", UpAxis::Y, DVec3::Y),
        ("up", UpAxis::Z, DVec3::Z),
        ("x", UpAxis::Y, DVec3::X),
        ("z", UpAxis::Y, DVec3::Z),
    ] {
        let size = tall(axis, up);
        assert!((size.dot(along) - 10.0).abs() < 1e-9, "{axis}: {size}");
    }
    let floor = data(vec![node("plane", &[("centre", vector(0.0, 2.0, 0.0))])]);
    let floor = floor.solid(0.0).unwrap();
    assert!((floor.distance(DVec3::new(9.0, 5.0, 1.0)) - 3.0).abs() < 1e-12);
}

#[test]
fn meshes_have_the_counts_and_sizes_that_were_asked_for() {
    let sheet = data(vec![node(
        "sheet",
        &[
            ("width", number(2.0)),
            ("depth", number(3.0)),
            ("columns", whole(4)),
            ("rows", whole(5)),
        ],
    )]);
    let Geometry::Surface(sheet) = &sheet.geometry else { panic!() };
    assert_eq!((sheet.connectivity().len(), sheet.vertex_count()), (20, 30));
    assert!((sheet.area().unwrap() - 6.0).abs() < 1e-12);
    assert!(sheet.face_normals().unwrap().iter().all(|normal| normal.distance(DVec3::Y) < 1e-9));

    let curves = data(vec![node(
        "grid-of-curves",
        &[
            ("columns", whole(3)),
            ("rows", whole(2)),
            ("segments", whole(7)),
            ("length", number(0.2)),
        ],
    )]);
    let Geometry::Curves(curves) = &curves.geometry else { panic!() };
    assert_eq!((curves.connectivity().len(), curves.vertex_count()), (6, 48));
    assert!(curves.curve_lengths().unwrap().iter().all(|length| (length - 0.2).abs() < 1e-12));

    let body = data(vec![node(
        "tet-box",
        &[("size", vector(1.0, 2.0, 0.5)), ("cells", vector(2.0, 3.0, 4.0))],
    )]);
    let Geometry::Body(body) = &body.geometry else { panic!() };
    assert_eq!(body.connectivity().cells().len(), 6 * 24);
    let volumes = body.cell_volumes().unwrap();
    assert!(volumes.iter().all(|volume| (volume - 1.0 / 144.0).abs() < 1e-12));
    // The boundary of a box is closed: cells side by side share whole faces.
    let boundary = body.boundary().unwrap();
    assert!((boundary.surface.volume().unwrap() - 1.0).abs() < 1e-12);

    let points = data(vec![node("points", &[("at", text("1 2 3 cm; 0 0 1 m;"))])]);
    assert_eq!(
        points.cloud().unwrap().positions,
        [DVec3::new(0.01, 0.02, 0.03), DVec3::new(0.0, 0.0, 1.0)]
    );
}

#[test]
fn hostile_parameters_are_refused_with_node_and_parameter() {
    for (name, settings, word) in [
        ("sphere", vec![("radius", number(-1.0))], "input/sphere: `radius` is -1"),
        ("sphere", vec![("radius", number(f64::NAN))], "`radius`"),
        ("sphere", vec![("radius", number(f64::INFINITY))], "`radius`"),
        ("sphere", vec![("radius", text("big"))], "a number is wanted"),
        ("sphere", vec![("form", text("blob"))], "one of solid, surface"),
        ("sphere", vec![("detail", whole(99)), ("form", text("surface"))], "from 0 to 9"),
        ("torus", vec![("ring", number(0.1)), ("tube", number(0.5))], "torus"),
        ("plane", vec![("normal", vector(0.0, 0.0, 0.0))], "`normal`"),
        ("tet-box", vec![("cells", vector(1.5, 1.0, 1.0))], "whole numbers"),
        ("tet-box", vec![("cells", vector(60000.0, 60000.0, 60000.0))], "vertices are needed"),
        ("sheet", vec![("columns", whole(65536)), ("rows", whole(65536))], "vertices are needed"),
        ("points", vec![("at", text("1 2 m"))], "`at`"),
        ("points", vec![("at", text("1 2 3 kg"))], "a length"),
        ("points", vec![], "`at` is not given"),
    ] {
        let refused = graph(vec![node(name, &settings)]).evaluate("it", 0.0).unwrap_err();
        assert!(refused.to_string().contains(word), "{name}: {refused}");
    }
}
