//! What files say of what they hold.

use crate::shapes::{cube, curves, spray};
use serde_json::json;
use std::path::Path;
use undine_io::info::{Depth, FileInfo, inspect, inspect_sequence};
use undine_io::{FileMetadata, IoError, Pattern, WriteOptions, write};
use undine_vdb::write::{Compression, encode_grid, write_file};
use undine_vdb::{Class, Content, Grid, LeafMask, Metadata, Transform, Tree, VOXELS};

fn info(folder: &Path, name: &str, geometry: &undine_io::Geometry) -> FileInfo {
    let path = folder.join(name);
    let metadata = FileMetadata { fps: Some(24.0), frame: Some(7), ..FileMetadata::default() };
    write(&path, geometry, &WriteOptions { metadata, ..WriteOptions::default() }).unwrap();
    inspect(&path, Depth::Values).unwrap()
}

/// A fog of one leaf, of the values 0, 1, 2 … at its active voxels, of which there are as many.
fn fog(name: &str, values: usize) -> Grid {
    let mut tree = Tree::new(0.0_f32);
    let mut leaf = [0.0; VOXELS];
    (0..values).for_each(|n| leaf[n] = n as f32);
    tree.leaves.push([8, 0, 0], LeafMask::of(|n| n < values), &leaf);
    Grid {
        name: name.to_owned(),
        class: Class::FogVolume,
        transform: Transform::uniform(0.5, [0.0, 1.0, 0.0]),
        saved_as_half: false,
        metadata: Metadata::new(),
        content: Content::Float(tree),
    }
}

pub fn write_fog(path: &Path, grids: &[Grid]) {
    let encoded: Vec<_> =
        grids.iter().map(|grid| encode_grid(grid, Compression::default()).unwrap()).collect();
    write_file(path, &Metadata::new(), &encoded, false).unwrap();
}

pub fn two_fogs(path: &Path) {
    write_fog(path, &[fog("density", 9), fog("flame", 2)]);
}

#[test]
fn meshes_points_and_curves_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = info(folder.path(), "cube.ply", &cube());
    assert_eq!(mesh.metadata["fps"], "24");
    let part = &mesh.parts[0];
    assert_eq!(part.kind, "mesh");
    assert_eq!(part.counts, [("points", 8), ("faces", 6), ("corners", 24)]);
    let json = mesh.json();
    assert_eq!(json["format"], "ply");
    assert_eq!(
        json["parts"][0]["bounds"],
        json!({"min": [-1.0, 0.0, -1.0], "max": [1.0, 2.0, 1.0]})
    );
    let v = &json["parts"][0]["channels"][3];
    assert_eq!(v["name"], "v");
    assert_eq!((&v["type"], &v["on"]), (&json!("vec3s"), &json!("points")));
    assert_eq!((&v["min"], &v["max"]), (&json!([-2.0, 0.0, -2.0]), &json!([2.0, 4.0, 2.0])));

    let text = info(folder.path(), "curves.obj", &curves()).text();
    assert!(text.contains("curves\n    holds    7 points, 2 curves\n"), "{text}");
    let spray = info(folder.path(), "spray.ply", &spray(1500));
    assert!(spray.text().contains("1 500 points"), "{}", spray.text());
    assert_eq!(spray.parts[0].memory, Some(1500 * (24 + 12 + 4 + 8)));
}

#[test]
fn grids_are_told_by_their_heads_and_by_their_values() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fog.vdb");
    two_fogs(&path);
    let heads = inspect(&path, Depth::Heads).unwrap();
    let density = &heads.parts[0];
    assert_eq!((density.name.as_str(), density.kind.as_str()), ("density", "fog volume"));
    assert_eq!(density.counts, [("active voxels", 9)]);
    assert_eq!(density.channels[0].range, None);
    let whole = inspect(&path, Depth::Values).unwrap();
    let density = &whole.parts[0];
    assert_eq!(density.counts, [("active voxels", 9), ("leaves", 1), ("tiles", 0)]);
    let range = density.channels[0].range.as_ref().unwrap();
    assert_eq!((&range.min[..], &range.max[..]), (&[0.0][..], &[8.0][..]));
    // Voxels (8 0 0) to (8 1 7), each half a metre around its centre.
    let bounds = density.bounds.unwrap();
    assert_eq!(bounds.min.to_array(), [3.75, 0.75, -0.25]);
    assert_eq!(bounds.max.to_array(), [4.25, 1.75, 3.75]);
    assert_eq!(heads.parts[0].bounds, density.bounds);
    let text = whole.text();
    assert!(text.contains("voxel    0.5 m") && text.contains("0 to 8"), "{text}");
}

#[test]
fn damage_is_a_warning_where_the_rest_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fog.vdb");
    two_fogs(&path);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.truncate(bytes.len() - 3);
    std::fs::write(&path, bytes).unwrap();
    let info = inspect(&path, Depth::Values).unwrap();
    assert!(!info.warnings.is_empty() && info.text().contains("warning: "), "{}", info.text());
    std::fs::write(&path, "no grids").unwrap();
    let refused = inspect(&path, Depth::Values).unwrap_err().to_string();
    assert!(refused.contains("fog.vdb") && refused.contains("byte"), "{refused}");
}

#[test]
fn a_scene_is_told_by_its_prims() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["cube.usda", "cube.usdc"] {
        let info = info(folder.path(), name, &cube());
        let mesh = info.parts.iter().find(|part| part.kind == "Mesh").expect(name);
        assert!(mesh.counts.starts_with(&[("points", 8), ("faces", 6)]), "{:?}", mesh.counts);
        assert_eq!(mesh.bounds.unwrap().max.to_array(), [1.0, 2.0, 1.0]);
        assert_eq!(info.metadata["upAxis"], "Y");
    }
}

#[test]
fn a_sequence_is_summed_up() {
    let folder = tempfile::tempdir().unwrap();
    let pattern = Pattern::new("spray.####.ply", folder.path()).unwrap();
    for frame in [1, 2, 5] {
        write(&pattern.file(frame), &spray(10 * frame as u32), &WriteOptions::default()).unwrap();
    }
    std::fs::write(pattern.file(4), "cut").unwrap();
    let mut heard = Vec::new();
    let frames = pattern.frames().unwrap();
    let info =
        inspect_sequence(&pattern, "spray.####.ply", frames, Depth::Values, &mut |n| heard.push(n));
    let info = info.unwrap();
    assert_eq!(heard, [1, 2, 4, 5]);
    assert_eq!(info.missing, 1);
    assert_eq!(info.parts[0].counts, [("points", [10, 50])]);
    let text = info.text();
    for words in ["4 frames from 1 to 5, 1 missing", "10 to 50 points", "in 3 frames", "frame 4: "]
    {
        assert!(text.contains(words), "no {words} in\n{text}");
    }
    let json = info.json();
    assert_eq!(json["frames"], json!({"first": 1, "last": 5, "count": 4, "missing": 1}));
    assert_eq!(json["parts"][0]["counts"]["points"], json!([10, 50]));
}

#[test]
fn what_is_not_read_is_said_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.glb");
    write(&path, &cube(), &WriteOptions::default()).unwrap();
    assert!(matches!(inspect(&path, Depth::Values), Err(IoError::NotReadable { .. })));
    let gone = inspect(&folder.path().join("gone.ply"), Depth::Values);
    assert!(matches!(gone, Err(IoError::Read { .. })));
}

#[test]
fn a_scene_is_told_in_metres_as_it_is_put_together() {
    let folder = tempfile::tempdir().unwrap();
    let moving = "#usda 1.0\n(\n    customLayerData = { int frame = 3 }\n    metersPerUnit = 0.01\n)\n\
        def Points \"Spray\" {\n    double3 xformOp:translate = (1000, 0, 0)\n    \
        uniform token[] xformOpOrder = [\"xformOp:translate\"]\n    point3f[] points.timeSamples = {\n        \
        1: [(100, 0, 0)],\n        2: [(100, 0, 0)],\n        5: [(100, 0, 0), (300, 0, 0)],\n    }\n}\n\
        def Sphere \"Ball\" {}\n";
    let above = "#usda 1.0\n(\n    metersPerUnit = 0.01\n    subLayers = [@moving.usda@]\n)\n";
    std::fs::write(folder.path().join("moving.usda"), moving).unwrap();
    std::fs::write(folder.path().join("above.usda"), above).unwrap();
    for name in ["moving.usda", "above.usda"] {
        let info = inspect(&folder.path().join(name), Depth::Values).unwrap();
        assert_eq!(info.metadata["frames"], "1-2, 5", "{name}");
        assert_eq!(info.parts[0].counts, [("points", 1)]);
        assert_eq!(info.parts[1].counts, [("points", 2)]);
        assert_eq!(info.parts[1].name, "scene, last frame");
        assert_eq!(info.parts[1].bounds.unwrap().max.to_array(), [13.0, 0.0, 0.0]);
        assert_eq!(info.warnings, ["not read: /Ball: a Sphere"]);
    }
    let info = inspect(&folder.path().join("moving.usda"), Depth::Heads).unwrap();
    assert_eq!(info.metadata["frame"], "3");
    assert_eq!(info.parts[0].bounds.unwrap().max.to_array(), [3.0, 0.0, 0.0]);
}
