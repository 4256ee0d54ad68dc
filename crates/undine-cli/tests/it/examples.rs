//! Every example: it checks, its schedule is the one kept beside it, and it runs.

use crate::program::{Stage, files, succeeds};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let entries = std::fs::read_dir(folder).expect("examples");
    let mut all: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.join("scene.kdl").is_file())
        .collect();
    all.sort();
    assert!(all.len() >= 5, "{all:?}");
    all
}

#[test]
fn every_example_checks_and_is_formatted() {
    for example in examples() {
        let scene = example.join("scene.kdl").display().to_string();
        assert!(succeeds(&["check", &scene]).contains("nothing is wrong"));
        succeeds(&["fmt", "--check", &scene]);
        assert!(example.join("README.md").is_file(), "{scene} has no README.md");
    }
}

/// With UNDINE_UPDATE set, writes the schedules instead.
#[test]
fn every_example_has_the_schedule_that_is_kept_beside_it() {
    for example in examples() {
        let found = succeeds(&["explain", &example.display().to_string()]);
        let kept = example.join("schedule.txt");
        if std::env::var_os("UNDINE_UPDATE").is_some() {
            std::fs::write(&kept, &found).expect("a schedule");
        }
        let wanted = std::fs::read_to_string(&kept).unwrap_or_default();
        assert!(
            found == wanted,
            "{}: run the tests with UNDINE_UPDATE=1 and look at what changed\n{found}",
            kept.display()
        );
    }
}

#[test]
fn every_example_of_a_liquid_runs_for_a_few_frames() {
    run_all(5, has_liquid);
}

#[test]
fn every_example_of_hair_runs_for_a_few_frames() {
    run_all(1, |scene| !has_liquid(scene) && has_hair(scene) && !has_air(scene));
}

#[test]
fn every_example_of_hair_in_air_runs_for_a_few_frames() {
    run_all(1, |scene| has_hair(scene) && has_air(scene));
}

/// The text of an example's scene.
fn scene_of(example: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    std::fs::read_to_string(folder.join(example).join("scene.kdl")).expect("a scene")
}

/// The scene with something else in one place, which it has to have.
fn with(scene: &str, is: &str, becomes: &str) -> String {
    assert!(scene.contains(is), "there is no {is}");
    scene.replace(is, becomes)
}

/// Without its wind, hair in the wind is a hair solver: there is no air, and the hair goes on, sag-free as it is. With a tenth of its
/// strands, of which each finds its shape by itself.
#[test]
fn hair_in_the_wind_runs_without_its_wind() {
    let stage = Stage::new(&with(&scene_of("hair-in-the-wind"), "count=2700", "count=270"));
    let off = ["--set", "wind.disabled=#true"];
    succeeds(&[&["run", &stage.scene(), "--quiet", "--frames", "3"][..], &off].concat());
    let names: Vec<String> = files(&stage.cache()).into_keys().collect();
    assert!(names.iter().any(|name| name == "hair-strands.0003.usdc"), "{names:?}");
    assert!(!names.iter().any(|name| name.ends_with(".vdb")), "there is no air: {names:?}");
}

/// Without its hair it is a wind tunnel with a head in it.
#[test]
fn hair_in_the_wind_runs_without_its_hair() {
    let stage = Stage::new(&scene_of("hair-in-the-wind"));
    let off = ["--set", "hair.disabled=#true"];
    succeeds(&[&["run", &stage.scene(), "--quiet", "--frames", "3"][..], &off].concat());
    let names: Vec<String> = files(&stage.cache()).into_keys().collect();
    assert!(names.iter().any(|name| name == "wind-air.0003.vdb"), "{names:?}");
    assert!(!names.iter().any(|name| name.contains("strands")), "there is no hair: {names:?}");
}

/// Hair on the shaking head hangs as it is in the input as long as the head does not shake: within 1e-3 of its length, for half a second.
#[test]
fn hair_on_the_shaking_head_starts_sag_free() {
    let scene = with(&scene_of("shaking-head"), "count=1600", "count=60");
    let scene = with(&scene, "output dir=\"cache\"", "output dir=\"cache\" format=\"ply\"");
    let still = ["0 50 0 deg", "0 -50 0 deg", "0 40 0 deg"]
        .iter()
        .fold(scene, |scene, turned| with(&scene, turned, "0 0 0 deg"));
    let farthest = |scene: &str| {
        let stage = Stage::new(scene);
        succeeds(&["run", &stage.scene(), "--quiet", "--frames", "12"]);
        let vertices = |frame: i64| {
            let file = stage.cache().join(format!("hair-strands.{frame:04}.ply"));
            undine_io::read(&file).expect("a frame").points.positions
        };
        let first = vertices(1);
        assert!(first.len() >= 20 * 25, "{} vertices", first.len());
        let moved = |frame: i64| {
            let apart = vertices(frame).into_iter().zip(&first).map(|(a, b)| a.distance(*b));
            apart.fold(0.0, f64::max)
        };
        (2..=12).map(moved).fold(0.0, f64::max)
    };
    let length = 0.25;
    let (held, sags) = (farthest(&still), farthest(&with(&still, "sag-free=#true", "")));
    assert!(held < 1e-3 * length, "it moves by {held} m");
    assert!(sags > 0.1 * length, "without it by {sags} m, which is little");
}

#[test]
fn every_other_example_runs_for_a_few_frames() {
    run_all(5, |scene| !has_liquid(scene) && !has_hair(scene));
}

fn has_liquid(scene: &str) -> bool {
    scene.contains("hybrid ")
}

fn has_air(scene: &str) -> bool {
    scene.contains("volume ")
}

fn has_hair(scene: &str) -> bool {
    scene.contains("curves ")
}

/// Runs the examples whose scene, as it is written, is wanted: at least so many.
fn run_all(at_least: usize, is_wanted: impl Fn(&str) -> bool) {
    let written =
        |example: &PathBuf| std::fs::read_to_string(example.join("scene.kdl")).expect("a scene");
    let wanted: Vec<PathBuf> =
        examples().into_iter().filter(|example| is_wanted(&written(example))).collect();
    assert!(wanted.len() >= at_least, "{wanted:?}");
    for example in wanted {
        let cache = TempDir::new().expect("a temporary folder");
        let set = format!("output.dir={}", cache.path().join("cache").display());
        let scene = example.display().to_string();
        // Coarser than it is meant to be: whether it runs is the question here.
        let run = ["run", &scene, "--quiet", "--set", &set, "--frames", "2", "--quality", "0.4"];
        succeeds(&run);
        let frames = std::fs::read_dir(cache.path().join("cache-quality-0.4")).expect("a cache");
        let count = frames.filter(|entry| {
            let Ok(entry) = entry else { return false };
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.ends_with(".0002.usdc") || name.ends_with(".0002.vdb")
        });
        assert!(count.count() > 0, "{scene} wrote no second frame");
    }
}
