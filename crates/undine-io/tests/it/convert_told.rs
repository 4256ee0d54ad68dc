//! Units, times and names on the way from format to format, and what is told of what is lost.

use crate::convert::{put, run};
use crate::shapes::{cube, spray};
use std::path::Path;
use undine_core::glam::{DVec3, Vec3};
use undine_io::convert::{ConvertOptions, convert, plan};
use undine_io::vdb::{PointOptions, points_grid};
use undine_io::{Pattern, Precision, UpAxis, Values, read, read_with_metadata, usd};
use undine_vdb::codec::Codec;
use undine_vdb::points::{Attribute, Column};
use undine_vdb::{
    Class, Content, Entry, File, Grid, LeafMask, Leaves, Metadata, Transform, Tree, VOXELS, write,
};

fn as_asked() -> ConvertOptions {
    ConvertOptions::default()
}

/// Two points that move one unit a frame along x from frame 1 to frame 5, in centimetres with Z up.
const MOVING: &str = r#"#usda 1.0
(
    customLayerData = { int frame = 3
        double time = 0.125
        string creator = "Somebody" }
    metersPerUnit = 0.01
    timeCodesPerSecond = 25
    upAxis = "Z"
)
def Points "Spray" {
    point3f[] points.timeSamples = {
        1: [(100, 0, 0), (100, 0, 100)],
        5: [(500, 0, 0), (500, 0, 100)],
    }
}
"#;

fn frames(folder: &Path, from: &str, to: &str, frames: Option<(i64, i64)>) -> Vec<Option<i64>> {
    let pattern = |name: &str| Pattern::new(name, folder).unwrap();
    let jobs = plan(&pattern(from), &pattern(to), frames).unwrap();
    jobs.iter().for_each(|job| drop(convert(job, &as_asked()).unwrap()));
    jobs.iter().map(|job| job.frame).collect()
}

#[test]
fn files_in_other_units_arrive_in_metres() {
    let folder = tempfile::tempdir().unwrap();
    let text = "ply\nformat ascii 1.0\ncomment metres_per_unit 0.01\nelement vertex 1\n\
        property double x\nproperty double y\nproperty double z\nproperty float vx\n\
        property float vy\nproperty float vz\nproperty double pscale\nproperty double mass\n\
        end_header\n100 200 300 50 0 0 25 8\n";
    std::fs::write(folder.path().join("cm.ply"), text).unwrap();
    run(folder.path(), "cm.ply", "m.ply", &as_asked()).unwrap();
    for name in ["cm.ply", "m.ply"] {
        let (found, metadata) = read_with_metadata(&folder.path().join(name)).unwrap();
        assert_eq!(found.points.positions, [DVec3::new(1.0, 2.0, 3.0)], "{name}");
        assert_eq!(found.points.channels["v"], Values::Vec3(vec![Vec3::new(0.5, 0.0, 0.0)]));
        assert_eq!(found.points.channels["pscale"], Values::F64(vec![0.25]));
        assert_eq!(found.points.channels["mass"], Values::F64(vec![8.0]));
        assert_eq!(metadata.metres_per_unit, 1.0);
    }
}

/// A grid of one leaf, all of it of this value.
fn block(name: &str, class: Class, value: f32) -> Grid {
    let leaves =
        Leaves { origins: vec![[0; 3]], masks: vec![LeafMask::ALL], values: vec![value; VOXELS] };
    let tree = Tree { background: 2.0 * value, tiles: Vec::new(), leaves };
    Grid {
        name: name.into(),
        class,
        transform: Transform::uniform(0.5, [1.0, 0.0, 0.0]),
        saved_as_half: false,
        metadata: Metadata::new(),
        content: Content::Float(tree),
    }
}

fn save(path: &Path, metadata: &Metadata, grids: &[Grid]) {
    let encoded: Vec<_> =
        grids.iter().map(|grid| write::encode_grid(grid, Default::default()).unwrap()).collect();
    let mut bytes = Vec::new();
    write::write(&mut bytes, metadata, &encoded).unwrap();
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn volumes_in_other_units_arrive_in_metres_with_their_distances() {
    let folder = tempfile::tempdir().unwrap();
    let grids = [block("surface", Class::LevelSet, 8.0), block("density", Class::FogVolume, 8.0)];
    let metadata = Metadata::from([("metres_per_unit".to_owned(), Entry::Double(0.25))]);
    save(&folder.path().join("a.vdb"), &metadata, &grids);
    run(folder.path(), "a.vdb", "b.vdb", &as_asked()).unwrap();
    let mut file = File::open(folder.path().join("b.vdb")).unwrap();
    assert_eq!(file.metadata()["metres_per_unit"], Entry::Double(1.0));
    for (index, value) in [(0, 2.0), (1, 8.0)] {
        let grid = file.grid(index).unwrap();
        assert_eq!(grid.transform.world([2.0, 0.0, 0.0]), [0.5, 0.0, 0.0]);
        let Content::Float(tree) = &grid.content else { panic!("{:?}", grid.content.kind()) };
        assert_eq!((tree.leaves.values[0], tree.background), (value, 2.0 * value));
    }
}

#[test]
fn a_frame_of_a_scene_is_taken_at_its_time() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.usda"), MOVING).unwrap();
    assert_eq!(frames(folder.path(), "a.usda", "one.ply", Some((4, 4))), [Some(4)]);
    let (found, metadata) = read_with_metadata(&folder.path().join("one.ply")).unwrap();
    // Metres, and the axis that the scene has.
    assert_eq!(found.points.positions[1].round(), DVec3::new(4.0, 0.0, 1.0));
    assert_eq!((metadata.up, metadata.fps), (UpAxis::Z, Some(25.0)));
    assert_eq!((metadata.frame, metadata.time), (Some(4), None));
    // Its own frame has its own time.
    frames(folder.path(), "a.usda", "three.ply", Some((3, 3)));
    let (_, metadata) = read_with_metadata(&folder.path().join("three.ply")).unwrap();
    assert_eq!((metadata.frame, metadata.time), (Some(3), Some(0.125)));
    assert_eq!(metadata.creator, "Somebody");
    // Without a frame it is the earliest.
    let (_, metadata) = read_with_metadata(&folder.path().join("a.usda")).unwrap();
    assert_eq!((metadata.frame, metadata.time), (Some(1), None));
}

#[test]
fn a_scene_becomes_a_sequence_of_every_frame() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.usda"), MOVING).unwrap();
    let all: Vec<Option<i64>> = (1..=5).map(Some).collect();
    assert_eq!(frames(folder.path(), "a.usda", "b.####.ply", None), all);
    let second = read(&folder.path().join("b.0002.ply")).unwrap().points.positions;
    assert_eq!(second[0].x.round(), 2.0);
    assert_eq!(frames(folder.path(), "a.usda", "c.####.ply", Some((2, 3))), [Some(2), Some(3)]);
    let said = MOVING.replace("upAxis", "startTimeCode = 0\n    endTimeCode = 2.5\n    upAxis");
    std::fs::write(folder.path().join("d.usda"), said).unwrap();
    let range = [Some(0), Some(1), Some(2)];
    assert_eq!(frames(folder.path(), "d.usda", "e.####.ply", None), range);
    let pattern = |name: &str| Pattern::new(name, folder.path()).unwrap();
    for (from, to, span, words) in [
        ("a.usda", "f.ply", (1, 3), "many files would become one"),
        ("b.0001.ply", "f.ply", (1, 1), "this is one file"),
        ("a.usda", "f.####.ply", (0, i64::MAX), "choose some by --frames"),
    ] {
        let refused = plan(&pattern(from), &pattern(to), Some(span)).unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    }
}

#[test]
fn all_frames_of_a_sequence_have_one_prim() {
    let folder = tempfile::tempdir().unwrap();
    for frame in 1..=2 {
        put(folder.path(), &format!("a.{frame:04}.ply"), &spray(frame));
    }
    frames(folder.path(), "a.####.ply", "splash.####.usda", None);
    for frame in 1..=2 {
        let file = folder.path().join(format!("splash.{frame:04}.usda"));
        assert_eq!(usd::load(&file).unwrap().prims[0].name, "splash");
    }
}

#[test]
fn places_far_away_keep_their_tenths_of_millimetres() {
    let folder = tempfile::tempdir().unwrap();
    let mut far = spray(1);
    let place = DVec3::new(123_456.787, 0.0, 0.0);
    far.points.positions[0] = place;
    put(folder.path(), "far.ply", &far);
    run(folder.path(), "far.ply", "again.ply", &as_asked()).unwrap();
    assert_eq!(read(&folder.path().join("again.ply")).unwrap().points.positions, [place]);
    // A scene has an origin of its own for them.
    assert!(run(folder.path(), "far.ply", "far.usdc", &as_asked()).unwrap().is_empty());
    let notes = run(folder.path(), "far.ply", "far.glb", &as_asked()).unwrap();
    assert!(notes.iter().any(|note| note.contains("move by up to")), "{notes:?}");
}

/// What is told of a file of this text.
fn notes(name: &str, text: &str, to: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), text).unwrap();
    run(folder.path(), name, to, &as_asked()).unwrap()
}

#[test]
fn what_a_table_has_no_place_for_is_told() {
    let obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 5 5 5\nvt 0 0\ng a\nusemtl b\nf 1 2 3\nl 1 2\n";
    assert_eq!(
        notes("a.obj", obj, "a.ply"),
        ["left out: lines `g`, `usemtl`, `vt`", "left out: curves (`l`) beside faces"]
    );
    let told = notes("a.obj", obj, "a.stl");
    assert!(told.contains(&"STL has no place for 1 points on no face".to_owned()), "{told:?}");
    let told = notes("a.obj", obj, "a.glb");
    assert!(told.iter().any(|note| note.contains("1 points are on no face")), "{told:?}");
    let ply = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n\
        property float z\nelement face 1\nproperty list uchar int vertex_indices\n\
        property list uchar float texcoord\nelement edge 1\nproperty int vertex1\n\
        property int vertex2\nelement camera 1\nproperty float view\nend_header\n\
        0 0 0\n1 0 0\n0 1 0\n3 0 1 2 2 0.5 0.5\n0 1\n7\n";
    let wanted = ["lists `texcoord`", "1 elements `camera`", "1 edges beside faces"];
    let told = notes("a.ply", ply, "a.obj").join("\n");
    assert!(wanted.iter().all(|words| told.contains(words)), "{told}");
    let scene = "#usda 1.0\n(\n metersPerUnit = 1\n)\ndef Sphere \"Ball\" {}\ndef Points \"P\" {\n \
        point3f[] points = [(0, 0, 0)]\n double[] primvars:age = [0.1] (interpolation = \"vertex\")\n}\n";
    assert_eq!(notes("a.usda", scene, "a.ply"), ["left out: /Ball: a Sphere"]);
    let told = notes("a.usda", scene, "a.usdc");
    assert!(told.contains(&"rounded from 64 to 32 bits: channel age; --double keeps more".into()));
}

#[test]
fn a_scene_of_which_nothing_can_be_read_is_no_empty_file() {
    let folder = tempfile::tempdir().unwrap();
    for (text, words) in [
        ("#usda 1.0\ndef Sphere \"Ball\" {}\n", "/Ball: a Sphere"),
        ("#usda 1.0\ndef PointInstancer \"I\" {}\n", "/I: an instancer"),
        ("#usda 1.0\ndef Xform \"X\" {}\n", "no points, meshes or curves"),
    ] {
        std::fs::write(folder.path().join("a.usda"), text).unwrap();
        let refused = run(folder.path(), "a.usda", "a.ply", &as_asked()).unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
        assert!(!folder.path().join("a.ply").exists());
    }
    // A frame without points is one.
    let empty = "#usda 1.0\ndef Points \"P\" {\n point3f[] points = []\n}\ndef Cube \"C\" {}\n";
    std::fs::write(folder.path().join("b.usda"), empty).unwrap();
    run(folder.path(), "b.usda", "b.ply", &as_asked()).unwrap();
}

#[test]
fn what_stays_in_a_file_of_grids_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = points_grid("spray", &spray(3).points, &PointOptions::default()).unwrap();
    if let Content::Points(tree) = &mut first.content {
        tree.attributes.push(Attribute::new("orient", Column::Quats(vec![[0.0; 4]; 3])));
    }
    let second = points_grid("foam", &spray(2).points, &PointOptions::default()).unwrap();
    let fog = block("density", Class::FogVolume, 1.0);
    save(&folder.path().join("a.vdb"), &Metadata::new(), &[first, second, fog]);
    let told = run(folder.path(), "a.vdb", "a.ply", &as_asked()).unwrap().join("\n");
    for words in ["the points `foam`", "the volume `density`", "`orient` of `spray`, quats"] {
        assert!(told.contains(words), "no {words} in\n{told}");
    }
}

#[test]
fn what_is_asked_for_in_vain_is_told() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "a.ply", &cube());
    let options = ConvertOptions {
        half: Some(true),
        codec: Some(Codec::Zip),
        grids: vec!["density".into()],
        ..as_asked()
    };
    let told = run(folder.path(), "a.ply", "b.ply", &options).unwrap().join("\n");
    for words in ["--half", "--codec", "--grid"] {
        assert!(told.contains(words), "no {words} in\n{told}");
    }
    put(folder.path(), "p.ply", &spray(2));
    let options = ConvertOptions { as_text: true, precision: Precision::Double, ..as_asked() };
    let told = run(folder.path(), "p.ply", "p.vdb", &options).unwrap().join("\n");
    assert!(told.contains("--text") && told.contains("--double"), "{told}");
}

#[test]
fn two_names_do_not_become_one() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "a.ply", &spray(2));
    let fogs = [block("a", Class::FogVolume, 1.0), block("b", Class::FogVolume, 1.0)];
    save(&folder.path().join("a.vdb"), &Metadata::new(), &fogs);
    let pairs = |pairs: &[(&str, &str)]| ConvertOptions {
        rename: pairs.iter().map(|&(from, to)| (from.into(), to.into())).collect(),
        ..as_asked()
    };
    for (from, to, names) in [
        ("a.ply", "b.ply", pairs(&[("v", "x2"), ("id", "x2")])),
        ("a.vdb", "b.vdb", pairs(&[("a", "c"), ("b", "c")])),
        ("a.vdb", "b.vdb", pairs(&[("a", "b")])),
    ] {
        let refused = run(folder.path(), from, to, &names).unwrap_err().to_string();
        assert!(refused.contains("already"), "{refused}");
        assert!(!folder.path().join(to).exists());
    }
}
