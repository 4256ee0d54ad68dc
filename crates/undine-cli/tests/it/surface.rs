//! `undine surface`.

use crate::program::{ended, succeeds};
use std::fmt::Write;
use std::path::Path;
use tempfile::TempDir;

/// A cube of points, 5 cm apart, that all fly up at 2 m/s, and a droplet beside it; with radii if wanted.
fn points(with_radii: bool) -> String {
    let mut rows = String::new();
    let mut count = 0;
    let mut add = |x: f64, y: f64, z: f64| {
        count += 1;
        let radius = if with_radii { " 0.05" } else { "" };
        let _ = writeln!(rows, "{x} {y} {z} 0 2 0 {count}{radius}");
    };
    for n in 0..343 {
        add(0.05 * f64::from(n / 49), 0.05 * f64::from(n / 7 % 7), 0.05 * f64::from(n % 7));
    }
    add(0.8, 0.2, 0.2);
    let radius = if with_radii { "property float pscale\n" } else { "" };
    format!(
        "ply\nformat ascii 1.0\nelement vertex {count}\nproperty float x\nproperty float y\nproperty float z\n\
         property float vx\nproperty float vy\nproperty float vz\nproperty uint id\n{radius}end_header\n{rows}"
    )
}

fn at(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

#[test]
fn points_become_meshes_that_carry_what_points_carry() {
    let folder = TempDir::new().expect("a temporary folder");
    let name = |name: &str| at(folder.path(), name);
    for frame in ["s.0001.ply", "s.0002.ply"] {
        std::fs::write(folder.path().join(frame), points(true)).expect("a file");
    }
    let out = succeeds(&["surface", &name("s.####.ply"), &name("mesh.####.ply")]);
    assert!(out.contains("2 files are written"), "{out}");
    let info = succeeds(&["info", "--json", &name("mesh.0002.ply")]);
    let info: serde_json::Value = serde_json::from_str(&info).expect("JSON");
    let part = &info["parts"][0];
    assert!(part["counts"]["faces"].as_u64().expect("faces") > 1000, "{part}");
    let channels = part["channels"].as_array().expect("channels");
    let channel = |name: &str| channels.iter().find(|c| c["name"] == name).expect(name);
    for axis in 0..3 {
        let wanted = if axis == 1 { 2.0 } else { 0.0 };
        for end in ["min", "max"] {
            let found = channel("v")[end][axis].as_f64().expect("a number");
            assert!((found - wanted).abs() < 1e-5, "{found}");
        }
    }
    assert_eq!(channel("id")["max"][0], 344.0);
    let _ = channel("N");

    // One droplet less, and fewer triangles.
    let all = part["counts"]["faces"].as_u64();
    let options = ["--least", "1000 cm3", "--smooth", "3", "--coarsen", "1 mm", "--quiet"];
    let files = [name("s.0001.ply"), name("few.obj")];
    succeeds(&[&["surface", &files[0], &files[1]], &options[..]].concat());
    let info = succeeds(&["info", "--json", &files[1]]);
    let info: serde_json::Value = serde_json::from_str(&info).expect("JSON");
    assert!(info["parts"][0]["counts"]["faces"].as_u64() < all, "{info}");
}

#[test]
fn every_method_has_its_word() {
    let folder = TempDir::new().expect("a temporary folder");
    let name = |name: &str| at(folder.path(), name);
    std::fs::write(folder.path().join("points.ply"), points(false)).expect("a file");
    for method in ["spheres", "ellipsoids", "average", "corrected-average"] {
        let files = [name("points.ply"), name("mesh.stl")];
        let out =
            succeeds(&["surface", &files[0], &files[1], "--radius", "5 cm", "--method", method]);
        assert!(out.contains("triangles"), "{out}");
    }
}

#[test]
fn what_cannot_be_surfaced_is_said() {
    let folder = TempDir::new().expect("a temporary folder");
    let name = |name: &str| at(folder.path(), name);
    std::fs::write(folder.path().join("points.ply"), points(false)).expect("a file");
    let (from, to) = (name("points.ply"), name("mesh.ply"));
    let refused = |options: &[&str], to: &str, wanted: &str| {
        let found = ended(&[&["surface", &from, to], options].concat());
        assert_ne!(found.code, 0);
        assert!(found.error.contains(wanted), "{}", found.error);
    };
    refused(&[], &to, "no channel `pscale`");
    refused(&["--radius", "5 kg"], &to, "5 kg");
    refused(&["--radius", "0 m"], &to, "the radius of particles is 0");
    refused(&["--radius", "5 cm", "--voxel", "1 um"], &to, "take from");
    refused(&["--radius", "5 cm", "--voxel", "1 mm", "--memory", "1MB"], &to, "would fit");
    refused(&["--radius", "5 cm"], &name("mesh.vdb"), "a mesh has no place there");
}
