//! Smoke rises on several processes as it does on one, within what rounding may do, also where ways lead from one to another.

use super::together::{in_the_full_tier, runs};
use crate::program::{Stage, assert_same, files, succeeds};
use std::collections::BTreeMap;
use undine_vdb::{Content, File, VOXELS};

/// A plume in a wind that crosses more than a Bucket in a step, around a ball.
const PLUME: &str = r#"
setup "plume" fps=24 frames=5 substeps=1
input "ember" {
    sphere radius="14 cm" centre="0.1 0.1 0.1 m"
}
input "ball" {
    sphere radius="10 cm" centre="0.5 0.3 0.1 m"
}
input "room" {
    box size="1.9 0.9 0.6 m" centre="0.6 0.2 0.1 m"
}
volume "air" voxel="2 cm" velocity="6 0.5 0 m/s" input="room" padding=0
stamp input="ember" temperature="500 K"
inflow velocity="6 0.5 0 m/s"
collider "ball" input="ball"
walls
confinement
pressure
gravity
output dir="cache" format="vdb"
"#;

/// The smoke of a frame, by the least corner of each leaf.
fn smoke(stage: &Stage, frame: i64) -> BTreeMap<[i32; 3], Vec<f32>> {
    let path = stage.cache().join(format!("air.{frame:04}.vdb"));
    let grid = File::open(path).expect("a frame").grid_named("density").expect("smoke");
    let Content::Float(tree) = grid.content else { panic!("smoke is no number") };
    let values = tree.leaves.values.chunks(VOXELS).map(<[f32]>::to_vec);
    tree.leaves.origins.iter().copied().zip(values).collect()
}

/// Voxels of smoke of half the size of cells, on cells of twice the size.
fn fine() -> String {
    PLUME.replace("voxel=\"2 cm\"", "voxel=\"4 cm\" fine-smoke=#true")
}

/// Every other solve mirrors the velocity, and ways are looked up to and fro: more of what lies beyond borders is read than otherwise. Such a flow
/// makes ten thousand times as much of what rounding does in five frames; so pressure is solved for until it is the same on any number of
/// processes, and what is left is what borders do.
fn reflected() -> String {
    let changed = PLUME
        .replace("voxel=\"2 cm\"", "voxel=\"2 cm\" reflection=#true advection=\"bfecc\"")
        .replace("\npressure\n", "\npressure tolerance=1e-9\n");
    assert!(changed.contains("bfecc") && changed.contains("1e-9"));
    changed
}

/// Smoke, whose density is 1 where it comes from, may be off by so much.
fn rises_as_on_one(scene: &str, processes: usize, tolerance: f32) {
    let (one, several) = (Stage::new(scene), Stage::new(scene));
    succeeds(&["run", &one.scene(), "--quiet"]);
    runs(processes, &several, &["--quiet"]);
    // To begin with there is no smoke, and no file of it.
    for frame in [2, 3, 5] {
        let (found, wanted) = (smoke(&several, frame), smoke(&one, frame));
        assert_eq!(found.keys().collect::<Vec<_>>(), wanted.keys().collect::<Vec<_>>());
        let total: f32 = wanted.values().flatten().sum();
        assert!(total > 100.0, "{total}");
        let pairs = found.values().flatten().zip(wanted.values().flatten());
        let off = pairs.fold(0.0_f32, |most, (a, b)| most.max((a - b).abs()));
        assert!(off < tolerance, "frame {frame} on {processes} processes: smoke is off by {off}");
    }
}

#[test]
fn smoke_rises_on_two_processes_as_on_one() {
    rises_as_on_one(PLUME, 2, 1e-3);
}

#[test]
fn smoke_rises_on_four_processes_as_on_one() {
    in_the_full_tier(|| rises_as_on_one(PLUME, 4, 1e-3));
}

/// Voxels of smoke and the cells that they are in may lie on different processes.
#[test]
fn fine_smoke_rises_on_two_processes_as_on_one() {
    rises_as_on_one(&fine(), 2, 1e-3);
}

#[test]
fn fine_smoke_rises_on_four_processes_as_on_one() {
    in_the_full_tier(|| rises_as_on_one(&fine(), 4, 1e-3));
}

#[test]
fn reflected_smoke_rises_on_two_processes_as_on_one() {
    rises_as_on_one(&reflected(), 2, 1e-5);
}

#[test]
fn reflected_smoke_rises_on_four_processes_as_on_one() {
    in_the_full_tier(|| rises_as_on_one(&reflected(), 4, 1e-5));
}

#[test]
fn air_on_two_processes_that_was_ended_goes_on_to_the_same_bytes() {
    in_the_full_tier(|| goes_on_to_the_same_bytes(2));
}

#[test]
fn air_on_four_processes_that_was_ended_goes_on_to_the_same_bytes() {
    in_the_full_tier(|| goes_on_to_the_same_bytes(4));
}

fn goes_on_to_the_same_bytes(processes: usize) {
    let (whole, torn) = (Stage::new(PLUME), Stage::new(PLUME));
    runs(processes, &whole, &["--quiet"]);
    runs(processes, &torn, &["--quiet", "--frames", "2"]);
    runs(processes, &torn, &["--quiet"]);
    let last = |stage: &Stage| {
        let all = files(&stage.cache());
        let last = |name: &String| name.contains(".0005.") || name == "checkpoint.0005.undine";
        all.into_iter().filter(|(name, _)| last(name)).collect::<BTreeMap<_, _>>()
    };
    assert!(last(&whole).len() >= 2, "{:?}", last(&whole).keys());
    assert_same(&last(&torn), &last(&whole), "after going on");
}
