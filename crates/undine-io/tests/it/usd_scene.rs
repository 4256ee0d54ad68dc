//! Scenes of several files, read at times: what is where, in metres with Y up.

use std::fs;
use std::path::Path;
use tempfile::TempDir;
use undine_core::glam::{DVec3, Vec3};
use undine_core::mesh::{Polygons, Strands};
use undine_io::usd::geometry::{self, Form};
use undine_io::usd::stage::{self, Stage, StageOutput};
use undine_io::usd::{self, Scene, text};
use undine_io::{
    Channels, Curves, Faces, FileMetadata, Geometry, Points, Precision, UpAxis, Values,
};

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, source) in files {
        fs::write(folder.path().join(name), format!("#usda 1.0\n{source}")).unwrap();
    }
    folder
}

fn scene(source: &str) -> TempDir {
    folder(&[("a.usda", source)])
}

fn read_at(folder: &TempDir, time: impl Into<Option<f64>>) -> Geometry {
    usd::read(&folder.path().join("a.usda"), time.into(), None).unwrap()
}

fn refusal(folder: &TempDir) -> String {
    usd::read(&folder.path().join("a.usda"), None, None).unwrap_err().to_string()
}

fn assert_near(found: &[DVec3], wanted: &[[f64; 3]]) {
    assert_eq!(found.len(), wanted.len(), "{found:?}");
    for (found, wanted) in found.iter().zip(wanted) {
        let wanted = DVec3::from_array(*wanted);
        assert!(found.distance(wanted) < 1e-9, "found {found}, wanted {wanted}");
    }
}

/// Points with all channels that have a place of their own, and some that have none.
fn points() -> Points {
    let channels = Channels::from([
        ("v".into(), Values::Vec3(vec![Vec3::X, Vec3::Y])),
        ("N".into(), Values::Vec3(vec![Vec3::Z, Vec3::NEG_Y])),
        ("pscale".into(), Values::F32(vec![0.25, 0.125])),
        ("id".into(), Values::U64(vec![7, 1 << 40])),
        ("age".into(), Values::F64(vec![0.1, 0.2])),
        ("rest".into(), Values::DVec3(vec![DVec3::splat(0.1), DVec3::ZERO])),
        ("kind".into(), Values::I32(vec![-1, 1])),
    ]);
    Points { positions: vec![DVec3::new(1.0, 2.0, 3.0), DVec3::new(-4.0, 5.0, 0.5)], channels }
}

#[test]
fn tables_come_back_from_a_file_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    for up in [UpAxis::Y, UpAxis::Z] {
        let metadata = FileMetadata { up, ..FileMetadata::default() };
        let (precision, time) = (Precision::Double, Some(3.0));
        let form = Form { metadata, precision, time, ..Form::default() };
        let cloud = Geometry { points: points(), faces: None, curves: None };
        let layer = geometry::layer(&cloud, &form).unwrap();
        let file = folder.path().join("a.usda");
        fs::write(&file, text::write(&layer).unwrap()).unwrap();
        let again = undine_io::read(&file).unwrap();
        assert!(again.faces.is_none() && again.curves.is_none());
        let Points { positions, mut channels } = again.points;
        assert_near(&positions, &[[1.0, 2.0, 3.0], [-4.0, 5.0, 0.5]]);
        let v = channels.remove("v").unwrap();
        assert_near(&v.vectors().unwrap(), &[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
        let normals = channels.remove("N").unwrap();
        assert_near(&normals.vectors().unwrap(), &[[0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]);
        let mut wanted = points().channels;
        wanted.retain(|name, _| name != "v" && name != "N");
        assert_eq!(channels, wanted);
    }
}

#[test]
fn faces_and_curves_come_back_with_their_channels() {
    let folder = tempfile::tempdir().unwrap();
    let positions: Vec<DVec3> = (0..5).map(|n| DVec3::splat(f64::from(n))).collect();
    let points = Points { positions, channels: Channels::new() };
    let kinds = Channels::from([("kind".to_owned(), Values::I32(vec![3, 4]))]);
    let polygons = Polygons::from_faces(&[&[0, 1, 2, 3][..], &[2, 3, 4]]).unwrap();
    let faces = Some(Faces { polygons, channels: kinds.clone() });
    let mesh = Geometry { points: points.clone(), faces, curves: None };
    for closed in [false, true] {
        let strands = Strands::new(vec![0, 3, 5], vec![closed; 2]);
        // A closed curve of two points is none.
        let Ok(strands) = strands else { continue };
        let curves = Some(Curves { strands: strands.clone(), channels: kinds.clone() });
        let hair = Geometry { points: points.clone(), faces: None, curves };
        let file = folder.path().join("hair.usda");
        undine_io::write(&file, &hair, &Default::default()).unwrap();
        let again = undine_io::read(&file).unwrap();
        assert_eq!(again.points, points);
        let curves = again.curves.unwrap();
        assert_eq!((curves.strands, curves.channels), (strands, kinds.clone()));
    }
    let file = folder.path().join("mesh.usda");
    undine_io::write(&file, &mesh, &Default::default()).unwrap();
    let faces = undine_io::read(&file).unwrap().faces.unwrap();
    assert_eq!(faces.polygons.faces().collect::<Vec<_>>(), [&[0, 1, 2, 3][..], &[2, 3, 4]]);
    assert_eq!(faces.channels, kinds);
}

#[test]
fn far_from_the_origin_no_digit_is_lost_that_matters() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("far.usda");
    let far = DVec3::new(10_000.0, -3.0, 250_000.0);
    let positions: Vec<DVec3> = (0..4).map(|n| far + DVec3::splat(0.001 * f64::from(n))).collect();
    let rest = Values::DVec3(positions.clone());
    let channels = Channels::from([("rest".to_owned(), rest)]);
    let cloud = Points { positions: positions.clone(), channels };
    let cloud = Geometry { points: cloud, faces: None, curves: None };
    undine_io::write(&file, &cloud, &Default::default()).unwrap();
    let Points { positions: again, channels } = undine_io::read(&file).unwrap().points;
    assert!(again.iter().zip(&positions).all(|(a, b)| a.distance(*b) < 1e-6), "{again:?}");
    assert_eq!(channels["rest"].vectors().unwrap()[..], again[..]);
}

const TRIANGLE: &str = "int[] faceVertexCounts = [3]\nint[] faceVertexIndices = [0, 1, 2]\npoint3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]";

#[test]
fn units_and_axes_become_metres_and_y_up() {
    let body = format!(
        "def Mesh \"M\" {{ {TRIANGLE}\nvector3f[] velocities = [(0, 0, 1), (0, 0, 0), (0, 0, 0)] }}"
    );
    // A scene that says nothing is in centimetres.
    let mesh = read_at(&scene(&body), None);
    assert_near(&mesh.points.positions, &[[0.0; 3], [0.01, 0.0, 0.0], [0.0, 0.01, 0.0]]);
    let mesh = read_at(&scene(&format!("( metersPerUnit = 2 upAxis = \"Z\" )\n{body}")), None);
    assert_near(&mesh.points.positions, &[[0.0; 3], [2.0, 0.0, 0.0], [0.0, 0.0, -2.0]]);
    assert_near(&mesh.points.channels["v"].vectors().unwrap()[..1], &[[0.0, 2.0, 0.0]]);
}

/// Other programs write them as `float3`, of which scene description says nothing.
#[test]
fn places_at_rest_are_places_whatever_type_they_have() {
    for kind in ["float3", "point3f", "vector3f"] {
        let folder = scene(&format!(
            "( upAxis = \"Z\" )\ndef BasisCurves \"H\" {{ point3f[] points = [(0.1, 0.2, 0.3), (7.7, 0.6, 0)]\nint[] curveVertexCounts = [2]\nuniform token type = \"linear\"\n{kind}[] primvars:rest = [(0.1, 0.2, 0.3), (7.7, 0.6, 0)] ( interpolation = \"vertex\" )\n{kind}[] primvars:other = [(1, 0, 0), (1, 0, 0)] ( interpolation = \"vertex\" )\ndouble3 xformOp:translate = (5, 4, 3)\nfloat xformOp:rotateX = 33\nuniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:rotateX\"] }}"
        ));
        let points = read_at(&folder, None).points;
        let rest = points.channels["rest"].vectors().unwrap();
        assert_eq!(rest[..], points.positions[..], "{kind}");
        assert!((rest[1].distance(rest[0]) - 0.07617).abs() < 1e-4, "in metres: {rest:?}");
    }
}

#[test]
fn operations_apply_from_the_innermost_to_the_outermost() {
    let with = |operations: &str| {
        let source = format!(
            "( metersPerUnit = 1 )\ndef Xform \"W\" {{ double3 xformOp:translate = (100, 0, 0)\nuniform token[] xformOpOrder = [\"xformOp:translate\"]\ndef Points \"P\" {{ point3f[] points = [(1, 2, 3)]\n{operations} }} }}"
        );
        read_at(&scene(&source), None).points.positions
    };
    for (operations, wanted) in [
        ("", [101.0, 2.0, 3.0]),
        (
            "float xformOp:rotateZ = 90\ndouble3 xformOp:translate = (10, 0, 0)\nuniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:rotateZ\"]",
            [108.0, 1.0, 3.0],
        ),
        (
            "float xformOp:rotateZ = 90\ndouble3 xformOp:translate = (10, 0, 0)\nuniform token[] xformOpOrder = [\"xformOp:rotateZ\", \"xformOp:translate\"]",
            [98.0, 11.0, 3.0],
        ),
        // X first: (1, 2, 3) → (1, −3, 2), then Y: → (2, −3, −1), then Z: → (3, 2, −1).
        (
            "float3 xformOp:rotateXYZ = (90, 90, 90)\nuniform token[] xformOpOrder = [\"xformOp:rotateXYZ\"]",
            [103.0, 2.0, -1.0],
        ),
        (
            "float3 xformOp:scale = (2, 3, 4)\nuniform token[] xformOpOrder = [\"xformOp:scale\"]",
            [102.0, 6.0, 12.0],
        ),
        (
            "quatf xformOp:orient = (0.70710678, 0, 0, 0.70710678)\nuniform token[] xformOpOrder = []",
            [101.0, 2.0, 3.0],
        ),
        (
            "matrix4d xformOp:transform = ((0, 1, 0, 0), (-1, 0, 0, 0), (0, 0, 1, 0), (5, 0, 0, 1))\nuniform token[] xformOpOrder = [\"xformOp:transform\"]",
            [103.0, 1.0, 3.0],
        ),
        (
            "float3 xformOp:translate:pivot = (1, 2, 3)\nfloat3 xformOp:scale = (7, 7, 7)\nuniform token[] xformOpOrder = [\"xformOp:translate:pivot\", \"xformOp:scale\", \"!invert!xformOp:translate:pivot\"]",
            [101.0, 2.0, 3.0],
        ),
        (
            "float3 xformOp:scale = (7, 7, 7)\nuniform token[] xformOpOrder = [\"xformOp:scale\", \"!resetXformStack!\"]",
            [1.0, 2.0, 3.0],
        ),
    ] {
        assert_near(&with(operations), &[wanted]);
    }
}

#[test]
fn between_samples_positions_and_places_move_evenly_and_counts_are_held() {
    let folder = scene(
        "( metersPerUnit = 1 startTimeCode = 0 endTimeCode = 20 timeCodesPerSecond = 30 )\ndef Points \"P\" {\npoint3f[] points.timeSamples = { 0: [(0, 0, 0)], 10: [(1, 0, 0)], 20: [(5, 0, 0), (6, 0, 0)] }\ndouble3 xformOp:translate.timeSamples = { 0: (0, 0, 0), 20: (0, 20, 0) }\nquatd xformOp:orient.timeSamples = { 0: (1, 0, 0, 0), 20: (0, 0, 0, 1) }\nuniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:orient\"] }",
    );
    assert_near(&read_at(&folder, None).points.positions, &[[0.0; 3]]);
    let turn = |time: f64| (time / 20.0 * std::f64::consts::PI).sin_cos();
    let (sin, cos) = turn(5.0);
    assert_near(&read_at(&folder, 5.0).points.positions, &[[0.5 * cos, 5.0 + 0.5 * sin, 0.0]]);
    let (sin, cos) = turn(15.0);
    assert_near(&read_at(&folder, 15.0).points.positions, &[[cos, 15.0 + sin, 0.0]]);
    assert_eq!(read_at(&folder, 99.0).points.positions.len(), 2);
    let scene = Scene::open(&folder.path().join("a.usda")).unwrap();
    assert_eq!(scene.time_samples().unwrap(), [0.0, 10.0, 20.0]);
    assert_eq!((scene.range(), scene.time_codes_per_second()), (Some((0.0, 20.0)), 30.0));
}

#[test]
fn what_is_referred_to_is_read_from_its_file() {
    let folder = folder(&[
        (
            "a.usda",
            "( metersPerUnit = 1 subLayers = [@b.usda@] )\nover \"W\" { over \"P\" { double3 xformOp:translate = (0, 7, 0) } }",
        ),
        (
            "b.usda",
            "( metersPerUnit = 1 )\ndef Xform \"W\" { def \"P\" ( references = @./c.usda@ (offset = 10; scale = 2) ) { double3 xformOp:translate = (9, 9, 9)\nuniform token[] xformOpOrder = [\"xformOp:translate\"] }\ndef \"Q\" ( prepend payload = @c.usda@</Other> ) { }\ndef \"R\" ( inherits = </_Class> ) { } }\nclass Points \"_Class\" { point3f[] points = [(3, 3, 3)] }",
        ),
        (
            "c.usda",
            "( defaultPrim = \"Cloud\" )\ndef Points \"Cloud\" { point3f[] points.timeSamples = { 0: [(0, 0, 0)], 10: [(10, 0, 0)] } }\ndef Points \"Other\" { point3f[] points = [(0, 0, 1)] }",
        ),
    ]);
    // Time 20 is 5 there.
    let all = read_at(&folder, 20.0).points.positions;
    assert_near(&all, &[[5.0, 7.0, 0.0], [0.0, 0.0, 1.0], [3.0, 3.0, 3.0]]);
    let file = folder.path().join("a.usda");
    let one = usd::read(&file, Some(20.0), Some("/W/Q")).unwrap();
    assert_near(&one.points.positions, &[[0.0, 0.0, 1.0]]);
    assert_eq!(usd::time_samples(&file).unwrap(), [10.0, 30.0]);
    let refused = usd::read(&file, None, Some("/W/Nothing")).unwrap_err().to_string();
    assert!(refused.contains("prim /W/Nothing: it is not in the scene"), "{refused}");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let folder = scene("def \"A\" ( references = @gone.usda@ ) { }");
    assert!(refusal(&folder).contains("gone.usda"), "{}", refusal(&folder));
}

#[test]
fn scenes_that_refer_to_themselves_end() {
    for source in [
        "( subLayers = [@a.usda@] )",
        "def \"A\" ( references = </A> ) { }",
        "def \"A\" ( references = [</A>, </A>] ) { }",
        "def \"A\" { def \"B\" ( references = </A> ) { } }",
        "def \"A\" ( references = [</B>, </B>] ) { }\ndef \"B\" ( inherits = [</A>, </C>] ) { }\nclass \"C\" { }",
        "( defaultPrim = \"A\" )\ndef \"A\" { def \"B\" ( payload = @a.usda@ ) { } def \"C\" ( payload = @a.usda@ ) { } }",
    ] {
        let refused = refusal(&scene(source));
        assert!(refused.contains("does not refer to itself"), "{source}\n{refused}");
    }
}

#[test]
fn what_does_not_belong_together_is_refused_by_its_prim() {
    for (body, words) in [
        ("Mesh \"M\" { int[] faceVertexCounts = [3] }", "corners, but there are 0 indices"),
        (
            "Mesh \"M\" { int[] faceVertexCounts = [3]\nint[] faceVertexIndices = [0, 1, 2] }",
            "there are 0",
        ),
        ("Mesh \"M\" { int[] faceVertexCounts = [-3] }", "negative"),
        (
            "Mesh \"M\" { int[] faceVertexCounts = [2]\nint[] faceVertexIndices = [0, 0]\npoint3f[] points = [(0, 0, 0)] }",
            "three at least",
        ),
        ("Mesh \"M\" { float[] points = [1] }", "no vectors"),
        ("Points \"M\" { point3f[] points = [(0, nan, 0)] }", "point 0 is not at a finite place"),
        ("BasisCurves \"M\" { int[] curveVertexCounts = [4] }", "4 points, but there are 0"),
        (
            "Points \"M\" { float3 xformOp:scale = (0, 1, 1)\nuniform token[] xformOpOrder = [\"!invert!xformOp:scale\"] }",
            "cannot be undone",
        ),
        ("Points \"M\" { uniform token[] xformOpOrder = [\"spin\"] }", "no operation"),
    ] {
        let refused = refusal(&scene(&format!("def Xform \"W\" {{ def {body} }}")));
        assert!(refused.contains(words) && refused.contains("prim /W/M"), "{body}\n{refused}");
    }
}

#[test]
fn only_what_would_be_rendered_is_read_and_the_rest_is_noted() {
    let folder = scene(&format!(
        "def Mesh \"M\" {{ {TRIANGLE}\ncolor3f[] primvars:displayColor = [(1, 0, 0)] ( interpolation = \"constant\" ) }}\ndef Mesh \"Guide\" {{ {TRIANGLE}\nuniform token purpose = \"guide\" }}\ndef Mesh \"Off\" ( active = false ) {{ {TRIANGLE} }}\nover Mesh \"Over\" {{ {TRIANGLE} }}\ndef Sphere \"S\" {{ }}\ndef PointInstancer \"I\" {{ def Mesh \"Pattern\" {{ {TRIANGLE} }} }}\ndef Scope \"V\" {{ variantSet \"v\" = {{ }} }}"
    ));
    let scene = Scene::open(&folder.path().join("a.usda")).unwrap();
    let (geometry, notes) = scene.read(None, None).unwrap();
    assert_eq!(geometry.points.positions.len(), 3);
    for words in ["displayColor", "/S: a Sphere", "/I: an instancer", "variant set `v`"] {
        assert!(notes.iter().any(|note| note.contains(words)), "{words}: {notes:?}");
    }
}

#[test]
fn prims_are_joined_and_what_has_no_velocity_rests() {
    let folder = scene(&format!(
        "( metersPerUnit = 1 )\ndef Mesh \"A\" {{ {TRIANGLE}\nuniform token orientation = \"leftHanded\"\nfloat[] primvars:heat = [1, 2] ( interpolation = \"vertex\" )\nint[] primvars:heat:indices = [0, 1, 0]\nfloat[] primvars:own = [1, 2, 3] ( interpolation = \"vertex\" ) }}\ndef Points \"B\" {{ point3f[] points = [(5, 5, 5)]\nvector3f[] velocities = [(1, 2, 3)]\ndouble[] primvars:heat = [9] ( interpolation = \"vertex\" )\nfloat[] widths = [4] ( interpolation = \"constant\" ) }}\ndef BasisCurves \"C\" {{ point3f[] points = [(7, 0, 0), (8, 0, 0)]\nint[] curveVertexCounts = [2]\nuniform token type = \"linear\"\nint[] primvars:heat = [3, 4] ( interpolation = \"vertex\" ) }}"
    ));
    let Geometry { points, faces, curves } = read_at(&folder, None);
    assert_near(&points.positions[..2], &[[7.0, 0.0, 0.0], [8.0, 0.0, 0.0]]);
    assert_eq!(curves.unwrap().strands.vertices(0), 0..2);
    assert_eq!(faces.unwrap().polygons.face(0), [4, 3, 2]);
    assert_eq!(points.channels["heat"], Values::F64(vec![3.0, 4.0, 1.0, 2.0, 1.0, 9.0]));
    let v = points.channels["v"].vectors().unwrap().into_owned();
    assert_eq!((v[0], v[5]), (DVec3::ZERO, DVec3::new(1.0, 2.0, 3.0)));
    assert_eq!(points.channels.len(), 2);
}

fn droplets(frame: usize) -> Geometry {
    let count = if frame < 4 { 2 } else { 3 };
    let positions = (0..count).map(|n| DVec3::new(n as f64, frame as f64, 0.0)).collect();
    let ids = Values::U64((0..count).map(|n| 50 + n as u64).collect());
    let points = Points { positions, channels: Channels::from([("id".to_owned(), ids)]) };
    Geometry { points, faces: None, curves: None }
}

/// A cache of frames 1, 3, 4 and 4.5, in a folder of its own.
fn cache(folder: &Path, up: UpAxis, origin: DVec3) {
    let metadata = FileMetadata { up, ..FileMetadata::default() };
    let mut frames = Vec::new();
    let mut first = None;
    for (time, frame) in [(1.0, 1), (3.0, 3), (4.0, 4), (4.5, 5)] {
        let form = Form {
            name: "drops".into(),
            time: Some(time),
            origin,
            metadata: metadata.clone(),
            ..Form::default()
        };
        let mut geometry = droplets(frame);
        geometry.points.positions.iter_mut().for_each(|position| *position += origin);
        let layer = geometry::layer(&geometry, &form).unwrap();
        let file = format!("drops.{frame:04}.usda");
        fs::write(folder.join(&file), text::write(&layer).unwrap()).unwrap();
        frames.insert(0, (time, file));
        first.get_or_insert(layer);
    }
    let drops =
        StageOutput::of_clips("my drops", &first.unwrap(), "drops.manifest.usda", frames).unwrap();
    let manifest = stage::manifest(&drops).unwrap();
    fs::write(folder.join("drops.manifest.usda"), text::write(&manifest).unwrap()).unwrap();
    let stage =
        Stage { name: "cache".into(), first: 1.0, last: 4.5, outputs: vec![drops], metadata };
    fs::write(folder.join("a.usda"), text::write(&stage::layer(&stage).unwrap()).unwrap()).unwrap();
}

#[test]
fn a_cache_of_ours_is_read_at_any_frame() {
    for (up, origin) in [(UpAxis::Y, DVec3::ZERO), (UpAxis::Z, DVec3::new(1e5, 0.0, -7.0))] {
        let folder = tempfile::tempdir().unwrap();
        cache(folder.path(), up, origin);
        let at = |time: Option<f64>| {
            let points = read_at(&folder, time).points;
            (points.positions[1] - origin, points.channels["id"].clone())
        };
        let ids = |count: u64| Values::U64((50..50 + count).collect());
        // Frame 2 is missing: what is there moves on to frame 3. Before the first and behind the last, nothing moves.
        for (time, height, count) in [
            (None, 1.0, 2),
            (Some(-5.0), 1.0, 2),
            (Some(1.0), 1.0, 2),
            (Some(2.0), 2.0, 2),
            (Some(3.0), 3.0, 2),
            (Some(3.9), 3.0, 2),
            (Some(4.0), 4.0, 3),
            (Some(4.25), 4.5, 3),
            (Some(4.5), 5.0, 3),
            (Some(100.0), 5.0, 3),
        ] {
            let (position, found) = at(time);
            assert_near(&[position], &[[1.0, height, 0.0]]);
            assert_eq!(found, ids(count), "{time:?}");
        }
        let times = usd::time_samples(&folder.path().join("a.usda")).unwrap();
        assert_eq!(times, [1.0, 3.0, 4.0, 4.5]);
    }
}

#[test]
fn outputs_and_frames_that_clash_are_not_written() {
    let layer = geometry::layer(&droplets(1), &Form::default()).unwrap();
    let output = |name: &str, frames: &[f64]| {
        let frames = frames.iter().map(|&time| (time, format!("{time}.usda"))).collect();
        StageOutput::of_clips(name, &layer, "m.usda", frames).unwrap()
    };
    for (outputs, words) in [
        (vec![output("a b", &[1.0]), output("a-b", &[1.0])], "another one is called `a_b`"),
        (vec![output("a", &[1.0, 1.0])], "frame 1 of output `a`"),
        (vec![output("a", &[f64::NAN])], "it is no time"),
    ] {
        let stage = Stage {
            name: "s".into(),
            first: 1.0,
            last: 1.0,
            outputs,
            metadata: FileMetadata::default(),
        };
        let refused = stage::layer(&stage).unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    }
}

#[test]
fn clips_by_a_template_are_found() {
    let folder = folder(&[
        (
            "a.usda",
            "( metersPerUnit = 1 )\ndef Points \"P\" ( clips = { dictionary default = { string templateAssetPath = \"./c.##.usda\"\nstring primPath = \"/C\"\ndouble templateStartTime = 1\ndouble templateEndTime = 3\ndouble templateStride = 1 } } ) { }",
        ),
        ("c.01.usda", "def \"C\" { point3f[] points.timeSamples = { 1: [(1, 0, 0)] } }"),
        ("c.03.usda", "def \"C\" { point3f[] points.timeSamples = { 3: [(3, 0, 0), (0, 0, 0)] } }"),
    ]);
    assert_eq!(read_at(&folder, 1.0).points.positions, [DVec3::X]);
    assert_eq!(read_at(&folder, 2.0).points.positions, [DVec3::X]);
    assert_eq!(read_at(&folder, 3.0).points.positions.len(), 2);
    let endless = scene(
        "def Points \"P\" ( clips = { dictionary default = { string templateAssetPath = \"c.#.usda\"\nstring primPath = \"/C\"\ndouble templateStartTime = 1\ndouble templateEndTime = 1e300\ndouble templateStride = 1 } } ) { }",
    );
    assert!(refusal(&endless).contains("a million files"), "{}", refusal(&endless));
}

/// A scene with something of everything that is read.
const MANY: &str = "( metersPerUnit = 0.5 upAxis = \"Z\" defaultPrim = \"W\" )
def Xform \"W\" {
    double3 xformOp:translate.timeSamples = { 0: (0, 0, 0), 4: (4, 0, 0) }
    uniform token[] xformOpOrder = [\"xformOp:translate\"]
    def Mesh \"M\" { int[] faceVertexCounts = [3, 4] int[] faceVertexIndices = [0, 1, 2, 0, 1, 2, 3]
        point3f[] points.timeSamples = { 0: [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], 2: [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)] }
        int[] primvars:kind = [1, 2] ( interpolation = \"uniform\" ) }
    def Points \"P\" ( references = </W/Q> (offset = 1; scale = 2) ) { float3 xformOp:scale = (1, 2, 3)
        quatf xformOp:orient = (1, 0, 0, 0)
        uniform token[] xformOpOrder = [\"!resetXformStack!\", \"xformOp:scale\", \"!invert!xformOp:orient\"] }
    def Points \"Q\" ( inherits = </C> ) { point3f[] points = [(1, 2, 3)] int64[] ids = [7] float[] widths = [1] }
    def BasisCurves \"H\" { point3f[] points = [(0, 0, 0), (1, 0, 0)] int[] curveVertexCounts = [2] uniform token type = \"linear\" }
    def Points \"K\" ( clips = { dictionary default = { double2[] active = [(0, 0), (2, 1)] asset[] assetPaths = [@a.usda@, @a.usda@]
        string primPath = \"/W/Q\" double2[] times = [(0, 0), (2, 2)] asset manifestAssetPath = @a.usda@ } } ) { }
}
class \"C\" { normal3f[] normals = [(0, 0, 1)] ( interpolation = \"vertex\" ) }
";

proptest::proptest! {
    #[test]
    fn no_scene_is_too_strange(
        changes in proptest::collection::vec((0_usize..4000, 0_u8..=255, 0_usize..12), 1..5),
        time in proptest::option::of(-10.0..10.0_f64),
    ) {
        let folder = scene(MANY);
        let file = folder.path().join("a.usda");
        usd::read(&file, time, None).unwrap();
        let mut bytes = fs::read(&file).unwrap();
        for (place, byte, taken) in changes {
            let place = place % bytes.len();
            let end = (place + taken).min(bytes.len());
            // Mostly characters that mean something.
            let put = if byte < 128 { b"0123456789-.,()[]<>/\"WMPQ"[usize::from(byte) % 25] } else { byte };
            bytes.splice(place..end, [put]);
        }
        fs::write(&file, &bytes).unwrap();
        let _ = usd::read(&file, time, None);
        let _ = usd::time_samples(&file);
    }
}

#[test]
fn copies_without_end_are_refused() {
    // Each prim refers twice to the next one, which no memory would hold.
    let mut source = String::new();
    for n in 0..30 {
        let next = n + 1;
        source += &format!(
            "def \"P{n}\" {{ def \"A\" ( references = </P{next}> ) {{ }} def \"B\" ( references = </P{next}> ) {{ }} }}\n"
        );
    }
    source += &format!("def Mesh \"P30\" {{ {TRIANGLE} }}");
    assert!(refusal(&scene(&source)).contains("262144 prims"), "{}", refusal(&scene(&source)));
}
