//! Meshes and points in Blender.

use crate::shapes::{cube, curves, spray};
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};
use undine_io::{Geometry, WriteOptions, write};

fn ask(files: &[PathBuf]) -> Vec<Json> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peer/mesh_blender.py");
    let said = peers::python(script, files);
    let answer = said.lines().find_map(|line| line.strip_prefix("answer:")).expect(&said);
    serde_json::from_str(answer).expect("JSON")
}

fn written(folder: &Path, files: &[(&str, Geometry)]) -> Vec<PathBuf> {
    let put = |(name, geometry): &(&str, Geometry)| {
        let path = folder.join(name);
        write(&path, geometry, &WriteOptions::default()).unwrap();
        path
    };
    files.iter().map(put).collect()
}

#[test]
fn blender_opens_every_format_with_the_same_mesh() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["a.ply", "b.obj", "c.stl", "d.glb"].map(|name| (name, cube()));
    let found = ask(&written(folder.path(), &files));
    for ((name, _), found) in files.iter().zip(&found) {
        assert_eq!(found["vertices"], 8, "{name}");
        let is_triangles = name.ends_with("stl") || name.ends_with("glb");
        assert_eq!(found["faces"], if is_triangles { 12 } else { 6 }, "{name}");
        // Blender turns glTF to its own Z up, and takes the others as they are.
        let turned = name.ends_with("glb");
        let [min, max] = if turned { [[-1, -1, 0], [1, 1, 2]] } else { [[-1, 0, -1], [1, 2, 1]] };
        let near = |found: &Json, wanted: [i32; 3]| {
            (0..3).all(|n| (found[n].as_f64().unwrap() - f64::from(wanted[n])).abs() < 1e-6)
        };
        assert!(near(&found["min"], min) && near(&found["max"], max), "{name}: {found}");
    }
    // 2 y of each corner.
    let y = json!([0.0, 0.0, 4.0, 4.0, 0.0, 0.0, 4.0, 4.0]);
    assert_eq!(found[0]["attributes"]["vy"], y);
    assert_eq!(found[3]["attributes"]["_VY"], y);
}

#[test]
fn blender_opens_a_sequence_of_points_with_velocities_and_curves() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("s.0001.ply", spray(10)),
        ("s.0002.ply", spray(20)),
        ("s.0003.ply", spray(30)),
        ("s.glb", spray(30)),
        ("c.ply", curves()),
        ("c.obj", curves()),
        ("c.glb", curves()),
    ];
    let found = ask(&written(folder.path(), &files));
    let counts: Vec<u64> = found.iter().map(|found| found["vertices"].as_u64().unwrap()).collect();
    assert_eq!(counts, [10, 20, 30, 30, 7, 7, 7]);
    for (file, prefix) in [(2, "v"), (3, "_V")] {
        let attributes = &found[file]["attributes"];
        let axis = |axis: &str| {
            let name = format!(
                "{prefix}{}",
                if prefix == "v" { axis.into() } else { axis.to_uppercase() }
            );
            attributes[name][29].as_f64().unwrap()
        };
        assert_eq!([axis("x"), axis("y"), axis("z")], [29.0, -1.0, 0.5]);
    }
    assert!(found[4..].iter().all(|curves| curves["edges"] == 6), "{:?}", &found[4..]);
}
