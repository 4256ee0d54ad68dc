//! Stages in Pixar's USD and in Blender.

use serde_json::{Value as Json, json};
use std::fs;
use std::path::{Path, PathBuf};
use undine_core::glam::{DVec3, Vec3};
use undine_core::mesh::{Polygons, Strands};
use undine_io::usd::geometry::{self, Form};
use undine_io::usd::layer::Layer;
use undine_io::usd::stage::{self, Stage, StageOutput, VolumeField};
use undine_io::usd::{Scene, binary, text};
use undine_io::{Channels, Curves, Faces, FileMetadata, Geometry, Points, UpAxis, Values};
use undine_vdb::write::{Compression, encode_grid, write_file};
use undine_vdb::{Class, Content, Grid, LeafMask, Metadata, Transform, Tree, VOXELS};

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peer").join(name)
}

fn ask(name: &str, stage: &Path, times: &[&str]) -> Json {
    let words = std::iter::once(stage.as_os_str()).chain(times.iter().map(|time| time.as_ref()));
    let said = peers::python(script(name), words);
    // Blender has more to say than it is asked for.
    let answer = said.lines().last().unwrap();
    serde_json::from_str(answer.trim_start_matches("answer:")).unwrap()
}

/// So many points at a frame, and where each is.
fn count_at(frame: usize) -> usize {
    3 + frame
}

fn place(frame: usize, n: usize) -> DVec3 {
    DVec3::new(n as f64, frame as f64, -0.5)
}

fn droplets(frame: usize) -> Geometry {
    let all = 0..count_at(frame);
    let channels = Channels::from([
        ("v".into(), Values::Vec3(all.clone().map(|n| Vec3::new(n as f32, 0.0, 2.0)).collect())),
        ("pscale".into(), Values::F32(all.clone().map(|n| 0.5 + n as f32).collect())),
        ("id".into(), Values::U64(all.clone().map(|n| 100 + n as u64).collect())),
        ("age".into(), Values::F32(all.clone().map(|n| 0.25 * n as f32).collect())),
        (
            "my axis!".into(),
            Values::Vec3(all.clone().map(|n| Vec3::new(n as f32, 0.0, 1.0)).collect()),
        ),
    ]);
    let positions = all.map(|n| place(frame, n)).collect();
    Geometry { points: Points { positions, channels }, faces: None, curves: None }
}

fn surface(frame: usize) -> Geometry {
    let vertices = 2 + frame;
    let positions: Vec<DVec3> = (0..vertices).map(|n| place(frame, n)).collect();
    let v = (0..vertices).map(|n| DVec3::new(0.0, n as f64, 0.0)).collect();
    let channels = Channels::from([
        ("v".into(), Values::DVec3(v)),
        ("N".into(), Values::Vec3(vec![Vec3::Z; vertices])),
        ("mass".into(), Values::F64(vec![0.5; vertices])),
    ]);
    let faces: Vec<[u32; 3]> = (0..frame as u32).map(|n| [n, n + 1, n + 2]).collect();
    let kinds = Channels::from([("kind".into(), Values::I32((0..frame as i32).collect()))]);
    let faces = Faces { polygons: Polygons::from_faces(&faces).unwrap(), channels: kinds };
    Geometry { points: Points { positions, channels }, faces: Some(faces), curves: None }
}

fn hair(frame: usize) -> Geometry {
    let positions: Vec<DVec3> = (0..5).map(|n| place(frame, n)).collect();
    let channels = Channels::from([("pscale".into(), Values::F32(vec![0.01; 5]))]);
    let strands = Strands::open(vec![0, 2, 5]).unwrap();
    let kinds = Channels::from([("strand".into(), Values::I32(vec![7, 8]))]);
    Geometry {
        points: Points { positions, channels },
        faces: None,
        curves: Some(Curves { strands, channels: kinds }),
    }
}

/// The frames of the caches here. Frame 3 is missing.
const FRAMES: [usize; 3] = [1, 2, 4];

/// Puts a cache of three outputs of points and meshes, and a volume, into a folder.
fn cache(folder: &Path, up: UpAxis, origin: DVec3, ending: &str) -> PathBuf {
    let metadata = FileMetadata { up, fps: Some(25.0), frame: Some(1), ..FileMetadata::default() };
    let save = |layer: &Layer, file: &str| {
        let bytes = match file.ends_with(".usdc") {
            true => binary::encode(layer).unwrap(),
            false => text::write(layer).unwrap().into_bytes(),
        };
        fs::write(folder.join(file), bytes).unwrap();
    };
    let mut outputs = Vec::new();
    for (name, made) in
        [("droplets", droplets as fn(usize) -> Geometry), ("surface", surface), ("fine hair", hair)]
    {
        let mut files = Vec::new();
        let mut first = None;
        for frame in FRAMES {
            let time = Some(frame as f64);
            let metadata = metadata.clone();
            let form = Form { name: name.into(), time, origin, metadata, ..Form::default() };
            let mut geometry = made(frame);
            geometry.points.positions.iter_mut().for_each(|position| *position += origin);
            let layer = geometry::layer(&geometry, &form).unwrap();
            let file = format!("{name}.{frame:04}.{ending}");
            save(&layer, &file);
            files.push((frame as f64, file));
            first.get_or_insert(layer);
        }
        let manifest = format!("{name}.manifest.usda");
        let output = StageOutput::of_clips(name, &first.unwrap(), &manifest, files).unwrap();
        save(&stage::manifest(&output).unwrap(), &manifest);
        outputs.push(output);
    }
    let field = |name: &str, data_type: &str, is_vector| VolumeField {
        name: name.into(),
        data_type: data_type.into(),
        class: "fogVolume".into(),
        is_vector,
    };
    let fields = vec![field("density", "float", false), field("vel", "float3", true)];
    let files = FRAMES.map(|frame| {
        let file = format!("smoke.{frame:04}.vdb");
        smoke(&folder.join(&file), frame);
        (frame as f64, file)
    });
    outputs.push(StageOutput::of_volume("smoke", fields, files.into()));
    let stage = Stage { name: "splash".into(), first: 1.0, last: 4.0, outputs, metadata };
    save(&stage::layer(&stage).unwrap(), "splash.usda");
    folder.join("splash.usda")
}

/// A volume of one leaf, which lies higher with every frame.
fn smoke(file: &Path, frame: usize) {
    fn grid<T: undine_vdb::Value>(
        name: &str,
        frame: usize,
        zero: T,
        value: T,
        content: fn(Tree<T>) -> Content,
    ) -> Grid {
        let mut tree = Tree::new(zero);
        tree.leaves.push([0, 8 * frame as i32, 0], LeafMask::ALL, &[value; VOXELS]);
        Grid {
            name: name.into(),
            class: Class::FogVolume,
            transform: Transform::uniform(0.5, [0.0; 3]),
            saved_as_half: false,
            metadata: Metadata::new(),
            content: content(tree),
        }
    }
    let density = grid("density", frame, 0.0_f32, 1.0, Content::Float);
    let velocity = grid("vel", frame, [0.0_f32; 3], [1.0, 2.0, 3.0], Content::Vec3s);
    let encoded =
        [density, velocity].map(|grid| encode_grid(&grid, Compression::default()).unwrap());
    write_file(file, &Metadata::new(), &encoded, false).unwrap();
}

/// The values of an attribute at all times asked for.
fn values<'a>(told: &'a Json, prim: &str, attribute: &str, kind: &str) -> &'a Json {
    let found = &told["prims"][prim]["attributes"][attribute];
    assert_eq!(found["type"], kind, "{prim}.{attribute}");
    &found["values"]
}

#[test]
fn usd_opens_a_cache_without_a_word_and_finds_every_value() {
    for (ending, up, origin) in
        [("usda", UpAxis::Y, DVec3::ZERO), ("usdc", UpAxis::Z, DVec3::new(64.0, 0.0, -1e6))]
    {
        let folder = tempfile::tempdir().unwrap();
        let root = cache(folder.path(), up, origin, ending);
        let told = ask("usd_dump.py", &root, &["1", "2", "4"]);
        assert_eq!((&told["complaints"], &told["faults"]), (&json!(""), &json!([])));
        assert_eq!(told["default"], "/splash");
        assert_eq!(told["up"], if up == UpAxis::Y { "Y" } else { "Z" });
        assert_eq!((&told["metres"], &told["fps"]), (&json!(1.0), &json!(25.0)));
        assert_eq!(told["range"], json!([1.0, 4.0]));

        let drops = |attribute, kind| values(&told, "/splash/droplets", attribute, kind);
        let mesh = |attribute, kind| values(&told, "/splash/surface", attribute, kind);
        for (n, frame) in FRAMES.into_iter().enumerate() {
            let all = 0..count_at(frame);
            let points = all.clone().map(|n| place(frame, n));
            assert_vectors(&drops("points", "point3f[]")[n], points, up);
            let v = all.clone().map(|n| DVec3::new(n as f64, 0.0, 2.0));
            assert_vectors(&drops("velocities", "vector3f[]")[n], v, up);
            let widths: Vec<_> = all.clone().map(|n| 1.0 + 2.0 * n as f64).collect();
            assert_eq!(drops("widths", "float[]")[n], json!(widths));
            let ids: Vec<_> = all.clone().map(|n| 100 + n).collect();
            assert_eq!(drops("ids", "int64[]")[n], json!(ids));
            assert_eq!(drops("primvars:id", "int[]")[n], json!(ids));
            let ages: Vec<_> = all.clone().map(|n| 0.25 * n as f64).collect();
            assert_eq!(drops("primvars:age", "float[]")[n], json!(ages));
            let axes = all.map(|n| DVec3::new(n as f64, 0.0, 1.0));
            assert_vectors(&drops("primvars:my_axis_", "vector3f[]")[n], axes, up);

            assert_eq!(mesh("faceVertexCounts", "int[]")[n], json!(vec![3; frame]));
            let corners: Vec<_> = (0..frame).flat_map(|n| [n, n + 1, n + 2]).collect();
            assert_eq!(mesh("faceVertexIndices", "int[]")[n], json!(corners));
            let normals = (0..2 + frame).map(|_| DVec3::Z);
            assert_vectors(&mesh("normals", "normal3f[]")[n], normals, up);
            assert_eq!(mesh("subdivisionScheme", "token")[n], "none");
            assert_eq!(mesh("primvars:kind", "int[]")[n], json!((0..frame).collect::<Vec<_>>()));
            let ends = [place(frame, 0), place(frame, 1 + frame)];
            assert_vectors(&mesh("extent", "float3[]")[n], ends.into_iter(), up);

            let smoke = values(&told, "/splash/smoke/density", "filePath", "asset");
            let file = json!({"path": format!("./smoke.{frame:04}.vdb"), "found": true});
            assert_eq!(smoke[n], file);
            // Where the prim stands: the last row, for points stand before their matrices there.
            let world = &told["prims"]["/splash/droplets"]["world"][n];
            let wanted = up.to_file(origin).extend(1.0).to_array();
            assert_eq!((&world[0], &world[3]), (&json!([1.0, 0.0, 0.0, 0.0]), &json!(wanted)));
        }
        let prims = &told["prims"];
        let interpolation = |prim: &str, name: &str| {
            prims[prim]["attributes"][name]["interpolation"].as_str().unwrap().to_owned()
        };
        assert_eq!(interpolation("/splash/droplets", "primvars:id"), "vertex");
        assert_eq!(interpolation("/splash/surface", "primvars:kind"), "uniform");
        assert_eq!(interpolation("/splash/fine_hair", "primvars:strand"), "uniform");
        assert_eq!(interpolation("/splash/fine_hair", "widths"), "vertex");
        assert_eq!(prims["/splash/fine_hair"]["type"], "BasisCurves");
        assert_eq!(
            prims["/splash/droplets"]["attributes"]["points"]["times"],
            json!([1.0, 2.0, 4.0])
        );
        let curves = values(&told, "/splash/fine_hair", "curveVertexCounts", "int[]");
        assert_eq!(curves[0], json!([2, 3]));
        assert_eq!(values(&told, "/splash/fine_hair", "type", "token")[0], "linear");
        let targets = &prims["/splash/smoke"]["targets"];
        assert_eq!(targets["field:density"], json!(["/splash/smoke/density"]));
        assert_eq!(values(&told, "/splash/smoke/vel", "vectorDataRoleHint", "token")[0], "Vector");

        // And what USD finds between frames, we find too.
        let told = ask("usd_dump.py", &root, &["3", "-1", "9"]);
        for (n, time) in [3.0, -1.0, 9.0].into_iter().enumerate() {
            for prim in ["droplets", "surface", "fine_hair"] {
                let path = format!("/splash/{prim}");
                let ours = undine_io::usd::read(&root, Some(time), Some(&path)).unwrap();
                let theirs = &values(&told, &path, "points", "point3f[]")[n];
                let theirs: Vec<[f64; 3]> = serde_json::from_value(theirs.clone()).unwrap();
                let theirs =
                    theirs.iter().map(|&point| up.from_file(DVec3::from_array(point)) + origin);
                assert_all_near(&ours.points.positions, &theirs.collect::<Vec<_>>(), 1e-6);
            }
        }
    }
}

/// Vectors of a file are those of a simulation, with its axis up.
fn assert_vectors(found: &Json, wanted: impl Iterator<Item = DVec3>, up: UpAxis) {
    let wanted: Vec<_> = wanted.map(|vector| up.to_file(vector).to_array()).collect();
    assert_eq!(found, &json!(wanted));
}

fn assert_all_near(found: &[DVec3], wanted: &[DVec3], tolerance: f64) {
    assert_eq!(found.len(), wanted.len());
    for (found, wanted) in found.iter().zip(wanted) {
        assert!(found.distance(*wanted) < tolerance, "found {found}, wanted {wanted}");
    }
}

/// What Blender finds at a frame, a value for each element.
fn attribute<'a>(object: &'a Json, name: &str, domain: &str, kind: &str) -> &'a Json {
    let found = &object[name];
    assert_eq!((&found["domain"], &found["type"]), (&json!(domain), &json!(kind)), "{name}");
    &found["values"]
}

#[test]
fn blender_shows_a_cache() {
    for (ending, up) in [("usda", UpAxis::Y), ("usdc", UpAxis::Z)] {
        let folder = tempfile::tempdir().unwrap();
        let origin = DVec3::new(3.0, 0.0, 1000.0);
        let root = cache(folder.path(), up, origin, ending);
        let told = ask("usd_blender.py", &root, &["1", "2", "4"]);
        assert_eq!(told["range"], json!([1, 4]));
        for frame in FRAMES {
            let objects = &told["frames"][frame.to_string()];
            let all = 0..count_at(frame);
            let drops = &objects["droplets"];
            assert_eq!(drops["type"], "POINTCLOUD");
            let of_points = |name, kind| attribute(drops, name, "POINT", kind);
            let places = all.clone().map(|n| place(frame, n));
            assert_vectors(of_points("position", "FLOAT_VECTOR"), places, up);
            let v = all.clone().map(|n| DVec3::new(n as f64, 0.0, 2.0));
            assert_vectors(of_points("velocity", "FLOAT_VECTOR"), v, up);
            let axes = all.clone().map(|n| DVec3::new(n as f64, 0.0, 1.0));
            assert_vectors(of_points("my_axis_", "FLOAT_VECTOR"), axes, up);
            let radii: Vec<_> = all.clone().map(|n| 0.5 + n as f64).collect();
            assert_eq!(of_points("radius", "FLOAT"), &json!(radii));
            let ids: Vec<_> = all.clone().map(|n| 100 + n).collect();
            assert_eq!(of_points("id", "INT"), &json!(ids));
            let ages: Vec<_> = all.map(|n| 0.25 * n as f64).collect();
            assert_eq!(of_points("age", "FLOAT"), &json!(ages));

            // Blender has Z up, whatever the scene has, and turns those that have Y up.
            let world: [[f64; 4]; 4] = serde_json::from_value(drops["world"].clone()).unwrap();
            let moved = DVec3::new(world[0][3], world[1][3], world[2][3]);
            assert_all_near(&[moved], &[UpAxis::Z.to_file(origin)], 1e-3);
            let is_turned = (world[2][1] - 1.0).abs() < 1e-6 && (world[1][2] + 1.0).abs() < 1e-6;
            assert_eq!(is_turned, up == UpAxis::Y, "{world:?}");

            let mesh = &objects["surface"];
            let vertices = 0..2 + frame;
            let of_mesh = |name| attribute(mesh, name, "POINT", "FLOAT_VECTOR");
            assert_vectors(of_mesh("position"), vertices.clone().map(|n| place(frame, n)), up);
            let v = vertices.map(|n| DVec3::new(0.0, n as f64, 0.0));
            assert_vectors(of_mesh("velocity"), v, up);
            let faces: Vec<_> = (0..frame).map(|n| [n, n + 1, n + 2]).collect();
            assert_eq!(mesh["polygons"], json!(faces));
            assert_eq!(
                attribute(mesh, "kind", "FACE", "INT"),
                &json!((0..frame).collect::<Vec<_>>())
            );
            assert_eq!(attribute(mesh, "mass", "POINT", "FLOAT")[0], 0.5);

            let hair = &objects["fine_hair"];
            assert_eq!(hair["type"], "CURVES");
            let places = (0..5).map(|n| place(frame, n));
            assert_vectors(attribute(hair, "position", "POINT", "FLOAT_VECTOR"), places, up);
            assert_eq!(attribute(hair, "strand", "CURVE", "INT"), &json!([7, 8]));

            let smoke = &objects["smoke"];
            assert_eq!((&smoke["type"], &smoke["loaded"]), (&json!("VOLUME"), &json!(true)));
            assert_eq!(smoke["grids"], json!(["density", "vel"]));
            let file = smoke["file"].as_str().unwrap();
            assert!(file.ends_with(&format!("smoke.{frame:04}.vdb")), "{file}");
        }
    }
}

#[test]
fn scenes_of_usd_are_read_with_every_point_where_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let times = ["0", "3", "7.5", "20", "31"];
    let told = ask("usd_make.py", folder.path(), &times);
    for file in ["made.usda", "made.usdc", "made.usd"] {
        let scene = Scene::open(&folder.path().join(file)).unwrap();
        for (n, time) in times.iter().enumerate() {
            let positions = told[n]["positions"].as_object().unwrap();
            assert_eq!(positions.len(), 10);
            for (path, theirs) in positions {
                let (ours, notes) = scene.read(time.parse().ok(), Some(path)).unwrap();
                assert!(notes.is_empty(), "{notes:?}");
                // Half a metre a unit, and Z up.
                let placed = |theirs: &Json| -> Vec<DVec3> {
                    let theirs: Vec<[f64; 3]> = serde_json::from_value(theirs.clone()).unwrap();
                    theirs.iter().map(|&[x, y, z]| 0.5 * DVec3::new(x, z, -y)).collect()
                };
                assert_all_near(&ours.points.positions, &placed(theirs), 1e-4);
                let v = ours.points.channels["v"].vectors().unwrap();
                assert_all_near(&v, &placed(&told[n]["velocities"][path]), 1e-4);
            }
        }
        let all = scene.read(Some(0.0), None).unwrap().0;
        assert_eq!(all.points.positions.len(), 40);
        // Samples at 0, 10 and 20; those of the part are twice as many a second, doubled, and three later.
        let times = scene.time_samples().unwrap();
        assert_eq!(times, [0.0, 3.0, 10.0, 20.0, 43.0, 83.0]);
    }
}
