//! Every example: it checks, its schedule is the one kept beside it, and it runs.

use crate::program::succeeds;
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

/// Without its wind, hair in the wind is a hair solver: there is no air, and the hair goes on.
#[test]
fn hair_in_the_wind_runs_without_its_wind() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/hair-in-the-wind");
    let cache = TempDir::new().expect("a temporary folder");
    let set = format!("output.dir={}", cache.path().join("cache").display());
    let scene = folder.display().to_string();
    let off = ["--set", "wind.disabled=#true", "--set", "hair/strands.sag-free=#false"];
    succeeds(&[&["run", &scene, "--quiet", "--set", &set, "--frames", "3"][..], &off].concat());
    let names: Vec<String> = std::fs::read_dir(cache.path().join("cache"))
        .expect("a cache")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert!(names.iter().any(|name| name == "hair-strands.0003.usdc"), "{names:?}");
    assert!(!names.iter().any(|name| name.ends_with(".vdb")), "there is no air: {names:?}");
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
