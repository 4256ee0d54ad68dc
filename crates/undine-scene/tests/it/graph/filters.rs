//! Filters: distances, points in volumes and on surfaces, channels.

use super::{graph, keyed, node, number, text, vector, whole};
use std::f64::consts::PI;
use undine_core::glam::DVec3;
use undine_geometry::Solid;
use undine_scene::GraphNode;
use undine_schema::{Interpolation, Setting, Value};
use undine_sim::input::{Data, Geometry, PointCloud, VELOCITY};

fn data(nodes: Vec<GraphNode>) -> Data {
    Data::clone(&graph(nodes).evaluate("it", 0.0).unwrap())
}

fn cloud(nodes: Vec<GraphNode>) -> PointCloud {
    data(nodes).cloud().unwrap().into_owned()
}

#[test]
fn points_in_a_volume_have_its_density() {
    let ball = || node("sphere", &[("radius", number(1.0)), ("centre", vector(3.0, 0.0, 0.0))]);
    let volume = 4.0 / 3.0 * PI;
    let jittered = cloud(vec![ball(), node("scatter", &[("spacing", number(0.05))])]);
    let wanted = volume / 0.05_f64.powi(3);
    let found = jittered.positions.len() as f64;
    assert!((found / wanted - 1.0).abs() < 0.01, "{found}, not {wanted}");
    let uniform = cloud(vec![ball(), node("scatter", &[("count", whole(5000))])]);
    assert_eq!(uniform.positions.len(), 5000);
    let mean = uniform.positions.iter().sum::<DVec3>() / 5000.0;
    assert!(mean.distance(DVec3::new(3.0, 0.0, 0.0)) < 0.03, "{mean}");
    let apart = node("scatter", &[("spacing", number(0.2)), ("method", text("poisson"))]);
    let apart = cloud(vec![ball(), apart]).positions;
    for (n, at) in apart.iter().enumerate() {
        assert!(apart[..n].iter().all(|other| other.distance(*at) >= 0.2));
    }
    for at in jittered.positions.iter().chain(&uniform.positions).chain(&apart) {
        assert!(at.distance(DVec3::new(3.0, 0.0, 0.0)) <= 1.0);
    }
    assert_eq!(jittered.numbers["id"][7], 7.0);
}

#[test]
fn points_on_a_surface_carry_what_it_carries() {
    let sheet = node("sheet", &[("width", number(2.0))]);
    let steady = node("set", &[("channel", text("mass")), ("value", text("3 g"))]);
    let moving = node(
        "transform",
        &[("translate", keyed(&[(0.0, [0.0; 3]), (1.0, [4.0, 0.0, 0.0])], Interpolation::Linear))],
    );
    let scatter = node("scatter", &[("on", text("surface")), ("count", whole(4000))]);
    let points = cloud(vec![sheet, steady, moving, scatter]);
    assert_eq!(points.positions.len(), 4000);
    let left = points.positions.iter().filter(|at| at.x < 0.0).count();
    assert!(left.abs_diff(2000) < 150, "{left}");
    for n in 0..4000 {
        assert!(points.vectors["N"][n].distance(DVec3::Y) < 1e-9);
        assert!(points.vectors[VELOCITY][n].distance(DVec3::new(4.0, 0.0, 0.0)) < 1e-9);
        assert!((points.numbers["mass"][n] - 0.003).abs() < 1e-12);
    }
}

#[test]
fn random_things_are_the_same_for_any_number_of_threads() {
    let nodes = || {
        vec![
            node("sphere", &[]),
            node("scatter", &[("count", whole(3000)), ("seed", whole(5))]),
            node(
                "set",
                &[("channel", text("pscale")), ("value", text("1 mm")), ("most", text("3 mm"))],
            ),
            node(
                "noise",
                &[
                    ("channel", text("v")),
                    ("amplitude", text("1 1 1 m/s")),
                    ("size", number(0.2)),
                    ("octaves", whole(3)),
                ],
            ),
        ]
    };
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| cloud(nodes()))
    };
    let one = with(1);
    assert_eq!(one, with(3));
    let sizes = &one.numbers["pscale"];
    assert!(sizes.iter().all(|size| (0.001..=0.003).contains(size)));
    let mean = sizes.iter().sum::<f64>() / 3000.0;
    assert!((mean - 0.002).abs() < 3e-5, "{mean}");
    let fast = one.vectors["v"].iter().map(|v| v.length()).fold(0.0, f64::max);
    assert!(fast > 0.5 && fast < 4.0, "{fast}");
}

#[test]
fn noise_of_positions_makes_a_terrain_of_a_sheet() {
    let sheet = || node("sheet", &[("columns", whole(20)), ("rows", whole(20))]);
    let noise = |amplitude: &str| {
        let size = ("size", number(0.3));
        node("noise", &[("channel", text("P")), ("amplitude", text(amplitude)), size])
    };
    let flat = cloud(vec![sheet()]);
    let hills = cloud(vec![sheet(), noise("10 cm")]);
    assert_eq!(hills.numbers, flat.numbers);
    let moved = |hills: &PointCloud| -> Vec<DVec3> {
        hills.positions.iter().zip(&flat.positions).map(|(to, from)| *to - *from).collect()
    };
    let high = moved(&hills).iter().map(|by| by.y).fold(0.0, f64::max);
    assert!(high > 0.02 && high < 0.12, "{high}");
    assert!(moved(&hills).iter().all(|by| by.x.abs() + by.z.abs() < 1e-12));
    // By three numbers it moves along axes, and points without normals do so alone.
    let aside = cloud(vec![sheet(), noise("10 0 0 cm")]);
    assert!(moved(&aside).iter().all(|by| by.y == 0.0 && by.z == 0.0));
    assert!(moved(&aside).iter().any(|by| by.x > 0.02));
    let points = || node("points", &[("at", text("0.1 0 0 m; 1.2 0 0 m"))]);
    assert_ne!(cloud(vec![points(), noise("1 1 1 cm")]), cloud(vec![points()]));
    for (from, amplitude) in [(points(), "1 cm"), (sheet(), "1 kg"), (sheet(), "1 2 cm")] {
        assert!(graph(vec![from, noise(amplitude)]).evaluate("it", 0.0).is_err(), "{amplitude}");
    }
}

#[test]
fn distances_are_those_of_the_shape() {
    for (form, channels) in [("solid", false), ("surface", true)] {
        let ball =
            node("sphere", &[("radius", number(1.0)), ("form", text(form)), ("detail", whole(5))]);
        let set = data(vec![ball, node("to-distance", &[("voxel", number(0.1))])]);
        let solid = set.solid(0.0).unwrap();
        for at in [DVec3::X, DVec3::new(0.6, 0.6, 0.6), DVec3::new(0.0, 0.9, 0.0)] {
            let found = solid.distance(at);
            assert!(
                (found - (at.length() - 1.0)).abs() < 0.01,
                "{form} {channels}: {found} at {at}"
            );
        }
        let Geometry::LevelSet(set) = &set.geometry else { panic!() };
        let size = set.size().unwrap();
        assert!((size.volume / (4.0 / 3.0 * PI) - 1.0).abs() < 0.01);
    }
}

#[test]
fn channels_are_written_into_voxels() {
    let nodes = |source: GraphNode| {
        let warm = node("set", &[("channel", text("temperature")), ("value", text("20 degC"))]);
        vec![
            source,
            warm,
            node("rasterise", &[("voxel", number(0.1)), ("channels", text("temperature"))]),
        ]
    };
    let ball = node("sphere", &[("form", text("surface"))]);
    let points = node("points", &[("at", text("0 0 0; 0.3 0 0"))]);
    for source in [ball, points] {
        let data = data(nodes(source));
        let Geometry::LevelSet(set) = &data.geometry else { panic!() };
        let channels = set.volume().channels();
        let handle = channels.handle::<f32>("temperature").unwrap();
        let column = set.volume().column(handle).unwrap();
        assert!(
            (0..set.topology().local() as u32).all(|slot| {
                column.chunk(slot).iter().all(|value| (value - 293.15).abs() < 1e-3)
            })
        );
    }
}

#[test]
fn what_is_merged_stands_side_by_side() {
    let boxes = |form: &str| {
        let at = |x: f64| {
            let settings: &[(&str, Setting)] =
                &[("form", text(form)), ("centre", vector(x, 0.0, 0.0))];
            node("box", settings)
        };
        data(vec![at(0.0), at(3.0)])
    };
    let Geometry::Surface(surface) = &boxes("surface").geometry else { panic!() };
    assert!((surface.volume().unwrap() - 2.0).abs() < 1e-12);
    let both = boxes("solid").solid(0.0).unwrap();
    assert!(both.distance(DVec3::ZERO) < 0.0 && both.distance(DVec3::new(3.0, 0.0, 0.0)) < 0.0);
    assert!(both.distance(DVec3::new(1.5, 0.0, 0.0)) > 0.9);

    let mut merge = node("merge", &[]);
    merge.children = vec![node("points", &[("at", text("1 1 1; 2 2 2"))])];
    let masses = node("set", &[("channel", text("mass")), ("value", text("2 kg"))]);
    let points = cloud(vec![node("points", &[("at", text("0 0 0"))]), masses, merge]);
    assert_eq!((points.positions.len(), &points.numbers["mass"]), (3, &vec![2.0, 0.0, 0.0]));
    let wrong = graph(vec![node("box", &[]), node("points", &[("at", text("0 0 0"))])]);
    assert!(wrong.evaluate("it", 0.0).unwrap_err().to_string().contains("two of one kind"));
}

#[test]
fn solids_are_cut_and_hollowed() {
    let with = |name: &str, inner: Vec<GraphNode>| {
        let mut filter = node(name, &[]);
        filter.children = inner;
        filter
    };
    let hole = || vec![node("sphere", &[("radius", number(0.25))])];
    let probe = |nodes: Vec<GraphNode>, x: f64| {
        data(nodes).solid(0.0).unwrap().distance(DVec3::new(x, 0.0, 0.0))
    };
    let cut = || vec![node("box", &[]), with("subtract", hole())];
    assert!((probe(cut(), 0.0) - 0.25).abs() < 1e-12 && probe(cut(), 0.4) < 0.0);
    let common = || vec![node("box", &[]), with("intersect", hole())];
    assert!(probe(common(), 0.0) < 0.0 && probe(common(), 0.4) > 0.1);
    let shell = || vec![node("box", &[]), node("hollow", &[("thickness", number(0.1))])];
    assert!((probe(shell(), 0.0) - 0.4).abs() < 1e-12 && probe(shell(), 0.45) < 0.0);

    let room = || vec![node("box", &[]), node("invert", &[])];
    assert!((probe(room(), 0.1) - 0.4).abs() < 1e-12 && probe(room(), 7.0) < -6.0);

    let wrong = graph(vec![node("points", &[("at", text("0 0 0"))]), node("hollow", &[])]);
    assert!(wrong.evaluate("it", 0.0).unwrap_err().to_string().contains("solid by formulas"));
    let wrong = graph(vec![node("points", &[("at", text("0 0 0"))]), with("subtract", hole())]);
    assert!(wrong.evaluate("it", 0.0).unwrap_err().to_string().contains("two level sets"));
}

#[test]
fn what_is_set_on_a_solid_holds_for_the_whole() {
    let set = node("set", &[("channel", text("density")), ("value", text("500 kg/m3"))]);
    let crate_ = data(vec![node("box", &[]), set]);
    assert_eq!(crate_.attributes["density"], Value::Number(500.0));
}

#[test]
fn filters_refuse_what_they_cannot_work_on() {
    for (nodes, word) in [
        (
            vec![node("points", &[("at", text("0 0 0"))]), node("to-distance", &[])],
            "it is given points",
        ),
        (
            vec![
                node("box", &[]),
                node("scatter", &[("on", text("surface")), ("count", whole(1))]),
            ],
            "form=\"surface\"",
        ),
        (vec![node("box", &[]), node("scatter", &[])], "`spacing` is not given"),
        (
            vec![node("box", &[]), node("scatter", &[("spacing", number(1e-9))])],
            "cells of a sampling",
        ),
        (vec![node("plane", &[]), node("scatter", &[("spacing", number(0.1))])], "extent"),
        (vec![node("plane", &[]), node("scatter", &[("count", whole(5))])], "without end"),
        (vec![node("plane", &[]), node("to-distance", &[])], "to-distance"),
        (vec![node("box", &[]), node("to-distance", &[("voxel", number(0.0))])], "greater than 0"),
        (
            vec![node("box", &[]), node("set", &[("channel", text("v")), ("value", text("fast"))])],
            "no number",
        ),
        (
            vec![node("box", &[]), node("set", &[("channel", text("P")), ("value", text("1"))])],
            "transform",
        ),
        (vec![node("box", &[]), node("rasterise", &[])], "points or a surface"),
    ] {
        let refused = graph(nodes).evaluate("it", 0.0).unwrap_err().to_string();
        assert!(refused.contains(word), "{refused}, without {word}");
    }
}

#[test]
fn channels_of_customary_names_hold_what_is_customary() {
    let points = || node("points", &[("at", text("0 0 0 m; 1 0 0 m"))]);
    let set = |channel: &str, value: &str| {
        let set = node("set", &[("channel", text(channel)), ("value", text(value))]);
        graph(vec![points(), set]).evaluate("it", 0.0)
    };
    for (channel, value) in [
        ("v", "1 0 0 m"),
        ("v", "1 m/s"),
        ("mass", "3 cm"),
        ("pscale", "3 g"),
        ("density", "1 kg"),
        ("temperature", "3 s"),
        ("age", "3 m"),
        ("w", "1 0 0 m/s"),
        ("pscale", "1 2 3 mm"),
    ] {
        let refused = set(channel, value).unwrap_err().to_string();
        let words = format!("input/set: `value` of channel `{channel}`");
        assert!(refused.contains(&words), "{refused}");
        let noise = node("noise", &[("channel", text(channel)), ("amplitude", text(value))]);
        assert!(graph(vec![points(), noise]).evaluate("it", 0.0).is_err(), "{channel} {value}");
    }
    let most = [("channel", text("pscale")), ("value", text("1 mm")), ("most", text("3 g"))];
    assert!(graph(vec![points(), node("set", &most)]).evaluate("it", 0.0).is_err());
    // A bare number is SI, and what has no customary meaning may be anything.
    for (channel, value) in
        [("v", "1 2 3"), ("mass", "3"), ("w", "60 0 0 rpm"), ("shade", "3 Pa"), ("age", "2 s")]
    {
        assert!(set(channel, value).is_ok(), "{channel} {value}");
    }
}

/// What is known of a point holds for the whole strand that grows from it: its number apart, and its normal.
#[test]
fn strands_have_what_their_points_have() {
    let points = node("points", &[("at", text("0 0 0 m; 1 0 0 m; 2 0 0 m"))]);
    let thick = node(
        "set",
        &[("channel", text("pscale")), ("value", text("30 um")), ("most", text("60 um"))],
    );
    let fast = node("set", &[("channel", text("v")), ("value", text("0 0 2 m/s"))]);
    let number = node("set", &[("channel", text("id")), ("value", text("7"))]);
    let up = node("set", &[("channel", text("N")), ("value", text("0 1 0"))]);
    let grown = node("strands", &[("segments", whole(4))]);
    let roots = cloud(vec![points.clone(), thick.clone()]).numbers["pscale"].clone();
    assert!(roots[0] != roots[1] && roots[1] != roots[2], "{roots:?}");
    let hair = cloud(vec![points, thick, fast, number, up, grown]);
    assert_eq!(hair.positions.len(), 15);
    for (n, pscale) in hair.numbers["pscale"].iter().enumerate() {
        assert_eq!(*pscale, roots[n / 5], "vertex {n}");
        assert_eq!(hair.vectors[VELOCITY][n], DVec3::Z * 2.0);
    }
    assert!(!hair.numbers.contains_key("id") && !hair.vectors.contains_key("N"));
}

/// Of a file, what is known of curves holds for their vertices, unless those know better.
#[test]
fn curves_of_files_have_what_is_known_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hair.usda");
    let text_of = "#usda 1.0\ndef BasisCurves \"hair\"\n{\n    uniform token type = \"linear\"\n    \
         int[] curveVertexCounts = [2, 3]\n    \
         point3f[] points = [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0), (1, 2, 0)]\n    \
         float[] primvars:youngs = [3, 4] (interpolation = \"uniform\")\n    \
         float[] primvars:density = [1, 2, 3, 4, 5] (interpolation = \"vertex\")\n}\n";
    std::fs::write(&file, text_of).unwrap();
    let hair = cloud(vec![node("load", &[("file", text(&file.display().to_string()))])]);
    assert_eq!(hair.numbers["youngs"], [3.0, 3.0, 4.0, 4.0, 4.0]);
    assert_eq!(hair.numbers["density"], [1.0, 2.0, 3.0, 4.0, 5.0]);
}
