//! Colliders and rigid bodies as what they are: where they are at a time, and what a cache shows of them afterwards.

use std::collections::BTreeMap;
use std::f64::consts::FRAC_PI_2;
use std::path::Path;
use tempfile::TempDir;
use undine::cache::Choice;
use undine::shapes::{Placed, ShapeKind, Shapes};
use undine::{Listener, Options, catalogue, prepare, run};
use undine_core::glam::{DQuat, DVec3};
use undine_core::memory::MemoryBudget;
use undine_geometry::Form;
use undine_io::usd::Scene as UsdScene;
use undine_io::usd::geometry::PrimGeometry;
use undine_io::{UpAxis, Values};
use undine_scene::Scene;
use undine_sim::Simulation;

/// A floor, a paddle that turns by keys, a box that tumbles, and two balls.
const FALL: &str = r#"
setup "fall" frames=9 fps=24 UP
input "floor" { plane }
input "paddle" {
    box size="2 0.2 0.4 m"
    transform {
        rotate { key 1 "0 0 0 deg"; key 9 "0 0 90 deg" }
        translate { key 1 "1 2 3 m"; key 5 "1 2 7 m" }
    }
}
input "crate" {
    box size="1 2 3 m"
    transform translate="PLACE"
}
input "ball" { sphere radius="0.5 m" }
input "places" { points at="4 3 0 m; 6 3 0 m" }
group "props" {
    collider "floor" input="floor"
    collider "paddle" input="paddle"
    rigid-body "crate" input="crate" spin="0.5 6 0.5 rad/s"
    rigid-body "balls" input="places" shape="ball" velocity="0 0 1 m/s"
}
gravity
output dir="cache" OUTPUT
"#;

fn fall(place: &str, up: &str, output: &str) -> String {
    FALL.replace("PLACE", place).replace("UP", up).replace("OUTPUT", output)
}

fn scene_of(folder: &Path, text: &str) -> Scene {
    let file = folder.join("scene.kdl");
    std::fs::write(&file, text).unwrap();
    let scene = Scene::load(&file, &catalogue(), &[]);
    scene.unwrap_or_else(|report| panic!("{}", report.render(100)))
}

fn made(text: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let scene = scene_of(folder.path(), text);
    run(&scene, &Options::default(), &mut ()).unwrap();
    folder
}

fn simulation(text: &str) -> Simulation {
    let folder = TempDir::new().unwrap();
    let scene = scene_of(folder.path(), text);
    prepare::simulation(&scene, MemoryBudget::unlimited()).unwrap()
}

fn by_name(placed: Vec<Placed>) -> BTreeMap<String, Placed> {
    placed.into_iter().map(|placed| (placed.name.to_string(), placed)).collect()
}

/// The corners of a box where they are, whatever their order.
fn corners(placed: &Placed) -> Vec<DVec3> {
    let Form::Mesh(mesh) = &*placed.form else { panic!("{placed:?}") };
    mesh.positions().iter().map(|at| placed.pose.to_world(*at)).collect()
}

fn assert_same_places(found: &[DVec3], wanted: &[DVec3], off: f64, what: &str) {
    assert_eq!(found.len(), wanted.len(), "{what}");
    for at in wanted {
        let near = found.iter().map(|other| other.distance(*at)).fold(f64::MAX, f64::min);
        assert!(near <= off, "{what}: nothing at {at}, but {near} m away");
    }
}

/// The prims of a stage at a frame, by what they are called in the setup.
fn shown(folder: &Path, frame: f64) -> BTreeMap<String, PrimGeometry> {
    let scene = UsdScene::open(&folder.join("cache/fall.usda")).unwrap();
    let (each, _) = scene.read_each(Some(frame), None).unwrap();
    let named = each.into_iter().filter_map(|prim| Some((prim.words.get("path")?.clone(), prim)));
    named.collect()
}

#[test]
fn every_collider_and_body_is_listed_where_it_is() {
    let mut simulation = simulation(&fall("0 5 0 m", "", ""));
    let mut shapes = Shapes::of(&simulation).unwrap();
    let at = |shapes: &mut Shapes, simulation: &Simulation, frame: f64| {
        let time = simulation.timeline().time_at(frame);
        by_name(shapes.at(simulation, time).unwrap())
    };
    let first = at(&mut shapes, &simulation, 1.0);
    let names: Vec<&str> = first.keys().map(String::as_str).collect();
    let wanted = ["props/balls/0", "props/balls/1", "props/crate", "props/floor", "props/paddle"];
    assert_eq!(names, wanted);
    assert_eq!(first["props/crate"].kind, ShapeKind::Body);
    assert_eq!(first["props/floor"].kind, ShapeKind::Collider);
    let plane = Form::Plane { point: DVec3::ZERO, normal: DVec3::Y };
    assert_eq!(*first["props/floor"].form, plane);
    // A collider is where its input is, whatever the Simulation did.
    let later = at(&mut shapes, &simulation, 5.0);
    let pose = later["props/paddle"].pose;
    assert!(pose.translation.abs_diff_eq(DVec3::new(1.0, 2.0, 7.0), 1e-12), "{pose:?}");
    assert!(pose.rotation.angle_between(DQuat::from_rotation_z(0.5 * FRAC_PI_2)) < 1e-9);
    // Forms are shared: by balls, and by frames.
    assert!(std::sync::Arc::ptr_eq(&first["props/balls/0"].form, &first["props/balls/1"].form));
    for (name, placed) in &first {
        assert!(std::sync::Arc::ptr_eq(&placed.form, &later[name].form), "{name}");
    }
    // Bodies are where the World has them.
    assert_eq!(first["props/balls/1"].pose.translation, DVec3::new(6.0, 3.0, 0.0));
    for _ in 0..4 {
        simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap();
    }
    let later = at(&mut shapes, &simulation, 5.0);
    let gone = 4.0 / 24.0;
    let wanted = DVec3::new(6.0, 3.0 - 0.5 * 9.80665 * gone * gone, gone);
    let found = later["props/balls/1"].pose.translation;
    assert!(found.abs_diff_eq(wanted, 1e-6), "{found} not {wanted}");
    let size = corners(&later["props/crate"]);
    let most = size.iter().flat_map(|a| size.iter().map(move |b| a.distance(*b)));
    assert!((most.fold(0.0, f64::max) - 14.0_f64.sqrt()).abs() < 1e-9);
}

/// In the cache, a corner of the box is where the file of its centre has it: P + orient (p − pivot).
#[test]
fn a_tumbling_box_is_shown_where_its_points_file_has_it() {
    for place in ["0 5 0 m", "10 0.01 -20 km"] {
        let folder = made(&fall(place, "", ""));
        for frame in [1, 4, 9] {
            let file = folder.path().join(format!("cache/props-crate.{frame:04}.usdc"));
            let points = undine_io::read(&file).unwrap().points;
            let vector = |name: &str| points.channels[name].vectors().unwrap()[0];
            let Some(Values::F32(w)) = points.channels.get("orient_w") else {
                panic!("{points:?}")
            };
            let turn = DQuat::from_vec4(vector("orient").extend(f64::from(w[0]))).normalize();
            let corner = |n: u32| {
                let sign = |bit: u32| if n >> bit & 1 == 1 { 0.5 } else { -0.5 };
                points.positions[0] + turn * DVec3::new(sign(0), 2.0 * sign(1), 3.0 * sign(2))
            };
            let wanted: Vec<DVec3> = (0..8).map(corner).collect();
            let prims = shown(folder.path(), f64::from(frame));
            let found = &prims["props/crate"].geometry;
            let what = format!("{place}, frame {frame}");
            assert_same_places(&found.points.positions, &wanted, 2e-3, &what);
            assert_eq!(found.faces.as_ref().unwrap().polygons.len(), 12);
            assert_eq!(prims["props/crate"].words["kind"], "body");
        }
    }
}

#[test]
fn a_cache_alone_shows_what_was_simulated() {
    for (up, output) in [("", ""), ("up=\"z\"", ""), ("", "up=\"z\" format=\"ply\"")] {
        let text = fall("0 5 1 m", up, output);
        let folder = made(&text);
        let mut simulation = simulation(&text);
        let mut shapes = Shapes::of(&simulation).unwrap();
        // What is read is y up.
        let turned = |at: DVec3| if up.is_empty() { at } else { UpAxis::Z.from_file(at) };
        for frame in 1..=9 {
            let time = simulation.timeline().time(frame);
            let prims = shown(folder.path(), frame as f64);
            let placed = by_name(shapes.at(&simulation, time).unwrap());
            assert!(prims.keys().eq(placed.keys()), "{:?}", prims.keys());
            for (name, placed) in &placed {
                let prim = &prims[name];
                if let Form::Plane { point, normal } = *placed.form {
                    assert_eq!(prim.words["infinite"], "true");
                    for corner in &prim.geometry.points.positions {
                        assert!((*corner - turned(point)).dot(turned(normal)).abs() < 1e-4);
                        assert!(corner.length() > 100.0);
                    }
                    continue;
                }
                let wanted: Vec<DVec3> = corners(placed).into_iter().map(turned).collect();
                let found = &prim.geometry.points.positions;
                let what = format!("{name}, frame {frame}, {up}, {output}");
                assert_eq!(found.len(), wanted.len(), "{what}");
                for (a, b) in found.iter().zip(&wanted) {
                    assert!(a.distance(*b) < 1e-5, "{what}: {a} not {b}");
                }
            }
            if frame < 9 {
                simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap();
            }
        }
    }
}

/// A quadrangle that bends, with another number of points from frame 3 on.
const FLAG: &str = r#"#usda 1.0
( metersPerUnit = 1
  upAxis = "Y"
  timeCodesPerSecond = 24 )
def Mesh "flag" {
    int[] faceVertexCounts.timeSamples = { 1: [4], 3: [3] }
    int[] faceVertexIndices.timeSamples = { 1: [0, 1, 2, 3], 3: [0, 1, 2] }
    point3f[] points.timeSamples = {
        1: [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)],
        2: [(0, 0, 0), (1, 0, 0), (1, 1, 1), (0, 1, 1)],
        3: [(0, 0, 0), (2, 0, 0), (2, 2, 2)],
    }
}
"#;

#[test]
fn what_deforms_has_the_vertices_of_its_frame() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("flag.usda"), FLAG).unwrap();
    let text = "setup \"fall\" frames=3\ninput \"flag\" { animate file=\"flag.usda\" }\n\
        collider \"flag\" input=\"flag\" thickness=\"1 cm\"\nparticles \"p\" radius=\"1 cm\"\n";
    let scene = scene_of(folder.path(), text);
    run(&scene, &Options::default(), &mut ()).unwrap();
    for (frame, wanted) in [
        (1.0, vec![DVec3::ZERO, DVec3::X, DVec3::new(1.0, 1.0, 0.0), DVec3::Y]),
        (2.0, vec![DVec3::ZERO, DVec3::X, DVec3::ONE, DVec3::new(0.0, 1.0, 1.0)]),
        (3.0, vec![DVec3::ZERO, DVec3::X * 2.0, DVec3::splat(2.0)]),
    ] {
        let prims = shown(folder.path(), frame);
        assert_same_places(&prims["flag"].geometry.points.positions, &wanted, 1e-6, "flag");
    }
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder.join("cache")).unwrap().map(|entry| entry.unwrap());
    let files = entries.filter(|entry| entry.path().is_file());
    let files = files.map(|entry| {
        let name = entry.file_name().into_string().unwrap();
        (name, std::fs::read(entry.path()).unwrap())
    });
    files.filter(|(name, _)| name.contains("shapes") || name.ends_with(".usda")).collect()
}

/// Stops a run after so many frames.
struct Until(i64, i64);

impl Listener for Until {
    fn frame(&mut self, report: &undine::run::FrameReport) {
        self.1 = report.frame;
    }

    fn should_stop(&self) -> bool {
        self.1 >= self.0
    }
}

#[test]
fn a_run_that_goes_on_leaves_the_same_shapes() {
    let text = fall("0 5 0 m", "", "");
    let whole = made(&text);
    let stopped = TempDir::new().unwrap();
    let scene = scene_of(stopped.path(), &text);
    assert!(run(&scene, &Options::default(), &mut Until(4, 0)).is_err());
    assert!(!stopped.path().join("cache/shapes.0006.usdc").exists());
    run(&scene, &Options::default(), &mut ()).unwrap();
    let (found, wanted) = (files(stopped.path()), files(whole.path()));
    assert!(found.len() >= 9 + 3 && found.keys().eq(wanted.keys()), "{:?}", found.keys());
    for (name, bytes) in &found {
        assert_eq!(bytes, &wanted[name], "{name}");
    }
    // Frames that are made again are the same again.
    let choice = Choice { from: Some(3), ..Choice::default() };
    run(&scene, &Options { choice, ..Options::default() }, &mut ()).unwrap();
    assert_eq!(files(stopped.path()), wanted);
}

#[test]
fn an_output_says_whose_shapes_are_written() {
    let folder = made(&fall("0 5 0 m", "", "shapes=#false"));
    assert!(files(folder.path()).keys().all(|name| !name.contains("shapes.")));
    let folder = made(&fall("0 5 0 m", "", "of=\"props/crate\""));
    let prims = shown(folder.path(), 2.0);
    assert_eq!(prims.keys().collect::<Vec<_>>(), ["props/crate"]);
    let folder = made(&fall("0 5 0 m", "", "of=\"props/floor\""));
    assert_eq!(shown(folder.path(), 2.0).len(), 1);
    assert!(!folder.path().join("cache/shapes.0002.usdc").exists(), "nothing of it moves");
}

/// OpenUSD and Blender put every corner where we read it, whichever way is up.
#[cfg(feature = "peer-python")]
#[test]
fn peer_programs_show_shapes_where_they_are() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peer/shapes.py");
    for (up, output) in [("", ""), ("", "up=\"z\""), ("up=\"z\"", "format=\"ply\"")] {
        let folder = made(&fall("0 5 1 m", up, output));
        let stage = folder.path().join("cache/fall.usda");
        let words = [stage.to_str().unwrap(), "1", "4", "9"];
        let said = peers::python(&script, words);
        // Blender says a word of its own before.
        let told = said.lines().rfind(|line| line.starts_with('{')).expect("what there is");
        let told: serde_json::Value = serde_json::from_str(told).unwrap();
        let vectors = |value: &serde_json::Value| -> Vec<DVec3> {
            let corners: Vec<[f64; 3]> = serde_json::from_value(value.clone()).unwrap();
            corners.into_iter().map(DVec3::from_array).collect()
        };
        for frame in ["1", "4", "9"] {
            let prims = shown(folder.path(), frame.parse().unwrap());
            for (path, prim) in &prims {
                let found = &told["frames"][frame][path];
                let what = format!("{path}, frame {frame}, {up}, {output}");
                assert_eq!(found["kind"], prim.words["kind"], "{what}");
                assert_eq!(found["infinite"], prim.words.contains_key("infinite"), "{what}");
                let is_z = told["up"] == "Z";
                let read = &prim.geometry.points.positions;
                let ours = |at: &DVec3| if is_z { UpAxis::Z.to_file(*at) } else { *at };
                for (peer, wanted) in [
                    ("usd", read.iter().map(ours).collect::<Vec<_>>()),
                    ("blender", read.iter().map(|at| UpAxis::Z.to_file(*at)).collect()),
                ] {
                    let corners = vectors(&found[peer]);
                    assert_eq!(corners.len(), wanted.len(), "{what}, {peer}");
                    for (a, b) in corners.iter().zip(&wanted) {
                        assert!(a.distance(*b) < 1e-4, "{what}, {peer}: {a} not {b}");
                    }
                }
            }
            assert_eq!(prims.len(), 5);
        }
    }
}
