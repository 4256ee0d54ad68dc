//! `undine render` and `undine compare`, and the pictures that a run leaves.

use crate::program::{SCENE, Stage, ended, succeeds};
use std::path::Path;
use tempfile::TempDir;

/// Two points that move, with ids.
fn ply(x: f32) -> String {
    format!(
        "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\nproperty float vx\nproperty float vy\nproperty float vz\nproperty uint id\nend_header\n{x} 0 0 1 0 0 7\n1 1 0 0 2 0 8\n"
    )
}

const SMALL: [&str; 4] = ["--size", "96x54", "--samples", "1"];

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn rendered(what: &str, out: &Path, more: &[&str]) -> String {
    let out = out.display().to_string();
    let mut words = vec!["render", what, "--out", &out];
    words.extend(SMALL);
    words.extend(more);
    succeeds(&words)
}

#[test]
fn a_run_says_where_its_pictures_are() {
    let stage = Stage::new(&SCENE.replace("frames=24", "frames=3"));
    let out = succeeds(&["run", &stage.scene()]);
    let last = out.lines().last().unwrap_or_default();
    assert!(last.contains("pictures") && last.contains("sheet.png"), "{out}");
}

#[test]
fn caches_scenes_files_and_sequences_are_drawn() {
    let stage = Stage::new(&SCENE.replace("frames=24", "frames=5"));
    succeeds(&["run", &stage.scene(), "--quiet"]);
    let cache = stage.cache().display().to_string();
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);

    let out = rendered(&cache, &at("cache"), &["--frames", "1-5:2", "--sheet", "--animate"]);
    assert!(out.contains("3 pictures"), "{out}");
    let wanted = [
        "render-sheet.png",
        "render.0001.png",
        "render.0003.png",
        "render.0005.png",
        "render.webp",
    ];
    assert_eq!(names(&at("cache")), wanted);

    rendered(&stage.scene(), &at("scene"), &["--frames", "5", "--color-by", "v", "--map", "turbo"]);
    rendered(&stage.path().display().to_string(), &at("folder"), &["--frames", "5"]);
    assert_eq!(names(&at("scene")), ["render.0005.png"]);
    assert_eq!(names(&at("folder")), ["render.0005.png"]);
    let usda = stage.cache().join("thrown.usda").display().to_string();
    rendered(&usda, &at("usda"), &["--frames", "2-3"]);
    assert_eq!(names(&at("usda")), ["thrown.0002.png", "thrown.0003.png"]);

    for (name, x) in [("a.0001.ply", 0.0), ("a.0002.ply", 0.5), ("a.0004.ply", 0.75)] {
        std::fs::write(at(name), ply(x)).unwrap();
    }
    let file = |name: &str| at(name).display().to_string();
    rendered(&file("a.####.ply"), &at("sequence"), &["--camera", "orbit", "--format", "exr"]);
    assert_eq!(names(&at("sequence")), ["a.0001.exr", "a.0002.exr", "a.0004.exr"]);
    rendered(&file("a.0001.ply"), &at("one"), &["--camera", "eye 0,1,4 target 0,0.5,0"]);
    assert_eq!(names(&at("one")).len(), 1);
    for to in ["a.vdb", "a.usdc", "a.obj"] {
        succeeds(&["convert", &file("a.0001.ply"), &file(to), "--quiet"]);
        rendered(&file(to), &at(&format!("{to}-pictures")), &["--radius", "5 cm"]);
        assert_eq!(names(&at(&format!("{to}-pictures"))).len(), 1, "{to}");
    }
}

#[test]
fn what_cannot_be_drawn_is_said_with_what_can() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(at("a.0001.ply"), ply(0.0)).unwrap();
    std::fs::write(at("broken.ply"), "ply\nnonsense").unwrap();
    std::fs::create_dir(at("empty")).unwrap();
    let cases: [(&str, &[&str], i32, &str); 12] = [
        (&at("a.####.ply"), &["--frames", "7"], 2, "there is frame 1"),
        (&at("a.####.ply"), &["--color-by", "speeed"], 2, "`speeed`"),
        (&at("a.####.ply"), &["--size", "99999x99999"], 2, "67 million"),
        (&at("a.####.ply"), &["--size", "big"], 2, "1280x720"),
        (&at("a.####.ply"), &["--map", "rainbow"], 2, "viridis"),
        (&at("a.####.ply"), &["--camera", "sideways"], 2, "orbit"),
        (&at("a.####.ply"), &["--view", "side"], 2, "no view"),
        (&at("a.####.ply"), &["--threads", "0"], 2, "1024"),
        (&at("b.####.ply"), &[], 2, "b.0001.ply"),
        (&at("none.ply"), &[], 5, "none.ply"),
        (&at("broken.ply"), &[], 5, "broken.ply"),
        (&at("empty"), &[], 2, "manifest.json"),
    ];
    for (what, more, code, word) in cases {
        let out = at("out");
        let mut words = vec!["render", what, "--out", &out];
        words.extend(more);
        let ended = ended(&words);
        assert_eq!(ended.code, code, "{words:?}: {}", ended.error);
        assert!(ended.error.contains(word), "{words:?}: {}", ended.error);
        assert!(!ended.error.contains("panicked"), "{}", ended.error);
    }
}

#[test]
fn nothing_to_see_is_a_picture_of_the_ground_with_a_note() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let nothing = "ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nproperty float y\nproperty float z\nend_header\n";
    std::fs::write(at("nothing.ply"), nothing).unwrap();
    let ended = ended(&["render", &at("nothing.ply"), "--out", &at("out"), "--size", "32x18"]);
    assert_eq!(ended.code, 0, "{}", ended.error);
    assert!(ended.error.contains("nothing to see"), "{}", ended.error);
    assert_eq!(names(&folder.path().join("out")).len(), 1);
}

#[test]
fn two_caches_are_compared_point_by_point() {
    let one = Stage::new(&SCENE.replace("frames=24", "frames=4"));
    let other = Stage::new(&SCENE.replace("frames=24", "frames=4").replace("drag\n", ""));
    for stage in [&one, &other] {
        succeeds(&["run", &stage.scene(), "--quiet"]);
    }
    let folder = TempDir::new().unwrap();
    let out = folder.path().display().to_string();
    let [a, b] = [&one, &other].map(|stage| stage.cache().display().to_string());
    let mut words = vec!["compare", &a, &b, "--out", &out];
    words.extend(SMALL);
    let told = succeeds(&words);
    assert!(told.contains("frame 4") && told.contains("differ: mean"), "{told}");
    assert_eq!(names(folder.path()), ["compare-distance.0004.png", "compare.0004.png"]);
    let mut words = vec!["compare", &a, &a, "--frame", "2", "--out", &out];
    words.extend(SMALL);
    let told = succeeds(&words);
    assert!(told.contains(" 0 of "), "{told}");
    let gone = ended(&["compare", &a, &b, "--frame", "9"]);
    assert_eq!(gone.code, 2, "{}", gone.error);
    assert!(gone.error.contains("frames 1 to 4"), "{}", gone.error);
}
