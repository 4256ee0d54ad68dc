//! `undine info` and `undine convert`.

use crate::program::{ended, succeeds};
use std::path::Path;
use tempfile::TempDir;

/// A square with velocities, as text.
const SQUARE: &str = "ply\nformat ascii 1.0\ncomment fps 24\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nproperty float vx\nproperty float vy\nproperty float vz\nproperty uint id\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0 1 0 0 7\n1 0 0 1 0 0 8\n1 1 0 1 0 0.25 9\n0 1 0 1 0 0 10\n4 0 1 2 3\n";

fn folder() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    for name in ["square.ply", "a.0001.ply", "a.0002.ply", "a.0004.ply"] {
        std::fs::write(folder.path().join(name), SQUARE).expect("a file");
    }
    folder
}

fn at(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

#[test]
fn info_is_a_table_for_people() {
    let folder = folder();
    let text = succeeds(&["info", &at(folder.path(), "square.ply")]);
    let text = text.replace(&at(folder.path(), ""), "");
    insta::assert_snapshot!(text, @r"
    square.ply: PLY, 310 bytes
      fps              24
      metres_per_unit  1
      up_axis          Y
      mesh
        holds    4 points, 1 faces, 4 corners
        box      0 0 0 to 1 1 0 m
        memory   184 bytes
        id  on points  uint32  7 to 10
        v   on points  vec3s   1 0 0 to 1 0 0.25
    ");
}

#[test]
fn info_is_json_for_programs_one_line_a_file() {
    let folder = folder();
    let names = ["square.ply", "a.####.ply"].map(|name| at(folder.path(), name));
    let out = succeeds(&["info", "--json", &names[0], &names[1]]);
    let lines: Vec<serde_json::Value> =
        out.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert_eq!(lines[0]["parts"][0]["counts"]["points"], 4);
    assert_eq!(lines[0]["parts"][0]["channels"][0]["max"][0], 10.0);
    assert_eq!(lines[1]["frames"]["count"], 3);
    assert_eq!(lines[1]["frames"]["missing"], 1);
    let out = succeeds(&["info", "--json", "--frames", "2-9", &names[1]]);
    let line: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(line["frames"]["first"], 2);
}

#[test]
fn a_file_that_cannot_be_read_does_not_hide_the_others() {
    let folder = folder();
    let [gone, good, odd] = ["gone.ply", "square.ply", "odd.xyz"].map(|n| at(folder.path(), n));
    let ended = ended(&["info", &gone, &odd, &good]);
    assert_eq!(ended.code, 2, "{}", ended.error);
    assert!(ended.out.contains("4 points"), "{}", ended.out);
    assert!(ended.error.contains("gone.ply") && ended.error.contains("unknown format"));
}

#[test]
fn convert_writes_a_file_and_a_sequence() {
    let folder = folder();
    let name = |name: &str| at(folder.path(), name);
    let out = ended(&["convert", &name("square.ply"), &name("square.obj")]);
    assert_eq!(out.code, 0, "{}", out.error);
    assert!(
        out.error.contains("note: OBJ has no place for channel id, channel v"),
        "{}",
        out.error
    );
    assert!(out.out.contains("square.obj is written"));
    let out = succeeds(&["convert", &name("a.####.ply"), &name("b.$F2.glb"), "--frames", "1-3"]);
    assert!(out.contains("2 files are written"), "{out}");
    assert!(folder.path().join("b.01.glb").is_file() && !folder.path().join("b.04.glb").exists());
    let words = ["--rename", "v=vel", "--up", "z", "--text", "--double", "--quiet"];
    let (from, to) = (name("square.ply"), name("z.ply"));
    let all: Vec<&str> = ["convert", &from, &to].into_iter().chain(words).collect();
    assert_eq!(succeeds(&all), "");
    let text = std::fs::read_to_string(folder.path().join("z.ply")).expect("text");
    for words in ["ascii", "property double x", "velx", "comment up_axis Z", "comment fps 24"] {
        assert!(text.contains(words), "no {words} in\n{text}");
    }
}

#[test]
fn convert_refuses_what_has_no_meaning_and_leaves_nothing() {
    let folder = folder();
    let name = |name: &str| at(folder.path(), name);
    let before = std::fs::read_dir(folder.path()).expect("a folder").count();
    for (from, to, code, words) in [
        ("square.ply", "square.ply", 2, "written over a file that is read"),
        ("square.ply", "square.vdb", 1, "no faces"),
        ("a.####.ply", "one.ply", 2, "many files would become one"),
        ("a.####.ply", "one.ply", 2, "a.####.ply cannot become"),
        ("gone.ply", "b.ply", 5, "gone.ply"),
        ("square.ply", "no/folder/b.ply", 5, "b.ply"),
        ("square.ply", "b.png", 2, "unknown format"),
    ] {
        let refused = ended(&["convert", &name(from), &name(to)]);
        assert_eq!(refused.code, code, "{from} to {to}: {}", refused.error);
        assert!(refused.error.contains(words), "{from} to {to}: {}", refused.error);
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), before);
    for words in [["--codec", "lzma"], ["--up", "x"], ["--frames", "5-3"], ["--rename", "a"]] {
        let all = ["convert", "a.ply", "b.ply", words[0], words[1]];
        assert_eq!(ended(&all).code, 2, "{words:?}");
    }
}

#[test]
fn what_is_asked_for_in_vain_is_told_or_refused() {
    let folder = folder();
    let name = |name: &str| at(folder.path(), name);
    let (from, to) = (name("square.ply"), name("b.ply"));
    let told = ended(&["convert", &from, &to, "--half", "--codec", "zip"]);
    assert_eq!(told.code, 0, "{}", told.error);
    assert!(told.error.contains("note: without effect here: --codec"), "{}", told.error);
    let refused = ended(&["convert", &from, &name("c.ply"), "--frames", "3"]);
    assert_eq!(refused.code, 2, "{}", refused.error);
    assert!(refused.error.contains("this is one file"), "{}", refused.error);
    let told = ended(&["info", &from, "--frames", "3"]);
    assert!(told.error.contains("note: --frames"), "{}", told.error);
    let help = succeeds(&["convert", "--help"]);
    assert!(help.contains(".usdc"), "{help}");
}
