//! Hair on several processes goes as it does on one: on a head that shakes, and in air or water, whose cells lie on several of them, and where it
//! touches itself or falls on bodies.

use super::liquid::is_where_it_is_on_one;
use super::together::{in_the_full_tier, runs};
use crate::hair_scenes::{WET, WIND, head};
use crate::program::{Stage, assert_same, files, succeeds};
use std::collections::BTreeMap;
use undine_core::glam::DVec3;

/// Cords that hang so close that they touch each other as soon as a ball goes through them.
const CORDS: &str = r#"
setup "cords" fps=24 frames=6 substeps=2
input "ball" {
    sphere radius="4 cm"
    transform {
        translate {
            key "0 s" "1 6 -6 cm"
            key "0.25 s" "-1 6 8 cm"
        }
    }
}
input "cords" {
    grid-of-curves columns=16 rows=3 spacing="4 mm" length="16 cm" segments=10
    transform rotate="180 0 0 deg" translate="0 16 0 cm"
}
curves "strands" input="cords" density="900 kg/m3" radius="1.2 mm" youngs="3 MPa" roots="pinned"
stretching
bending damping-time="10 ms"
twisting damping-time="10 ms"
collider "ball" input="ball"
collision friction=0.3
gravity
output dir="cache" format="ply"
"#;

/// Three boxes on top of each other, each turned a little, and a rope that falls across the uppermost. Voxels are so small that each process
/// has some of every one.
const STACK: &str = r#"
setup "stack" fps=24 frames=6 substeps=4 newton-iterations=2
input "floor" {
    plane
}
input "low" {
    box size="20 20 20 cm" centre="0 10 0 cm"
}
input "middle" {
    box size="20 20 20 cm" centre="0 30 0 cm"
    transform rotate="0 12 0 deg"
}
input "high" {
    box size="20 20 20 cm" centre="0 50 0 cm"
    transform rotate="0 24 0 deg"
}
input "rope" {
    grid-of-curves columns=1 rows=1 length="50 cm" segments=20
    transform rotate="0 0 90 deg" translate="25 62 0 cm"
}
rigid-body "low" input="low" spacing="5 cm" voxel="2 cm"
rigid-body "middle" input="middle" spacing="5 cm" voxel="2 cm"
rigid-body "high" input="high" spacing="5 cm" voxel="2 cm"
curves "strands" input="rope" density="900 kg/m3" radius="5 mm" youngs="3 MPa" voxel="2 cm"
stretching
bending damping-time="10 ms"
twisting damping-time="10 ms"
collider "floor" input="floor"
collision friction=0.4
gravity
output dir="cache" format="ply"
"#;

/// Where the points of an Object are in a frame [m], in their order.
fn points(stage: &Stage, object: &str, frame: i64) -> Vec<DVec3> {
    let file = stage.cache().join(format!("{object}.{frame:04}.ply"));
    undine_io::read(&file).expect("a frame").points.positions
}

fn farthest(a: &[DVec3], b: &[DVec3]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0_f64, |most, (a, b)| most.max(a.distance(*b)))
}

/// How far vertices are apart at most, and how far they have gone since the first frame.
fn apart(found: &Stage, wanted: &Stage, frame: i64) -> [f64; 2] {
    let vertices = |stage: &Stage, frame: i64| points(stage, "strands", frame);
    let (there, first) = (vertices(wanted, frame), vertices(wanted, 1));
    [farthest(&vertices(found, frame), &there), farthest(&first, &there)]
}

/// Runs a scene on one process and on several, which write the same files.
fn on_one_and_several(scene: &str, processes: usize) -> (Stage, Stage) {
    let (one, several) = (Stage::new(scene), Stage::new(scene));
    succeeds(&["run", &one.scene(), "--quiet"]);
    runs(processes, &several, &["--quiet"]);
    let names = |stage: &Stage| files(&stage.cache()).into_keys().collect::<Vec<_>>();
    assert_eq!(names(&several), names(&one), "one file of each, whoever wrote");
    (one, several)
}

/// How far strands may be from where they go on one process [m]. Each process solves for what its strands would do without contacts to a part
/// in 1e8 of the forces on all of them; in twelve steps of some centimetres that adds up to some nanometres.
const FREE: f64 = 1e-7;

/// The same where they touch: contacts are solved to 1e-5 m/s.
const TOUCHING: f64 = 1e-5;

/// Runs a scene of six frames on one process and on several, and compares where strands are.
fn goes_as_on_one(scene: &str, processes: usize, tolerance: f64) -> (Stage, Stage) {
    let (one, several) = on_one_and_several(scene, processes);
    for frame in [2, 4, 6] {
        let [off, gone] = apart(&several, &one, frame);
        assert!(frame < 6 || gone > 0.1, "strands go {gone} m");
        assert!(off <= tolerance, "frame {frame} on {processes} processes: {off} m of {gone} m");
    }
    (one, several)
}

#[test]
fn hair_on_a_moving_head_goes_on_two_processes_as_on_one() {
    goes_as_on_one(&head(), 2, FREE);
}

#[test]
fn hair_on_a_moving_head_goes_on_four_processes_as_on_one() {
    in_the_full_tier(|| drop(goes_as_on_one(&head(), 4, FREE)));
}

/// Sums over the cells of the air round differently.
#[test]
fn hair_in_the_wind_goes_on_two_processes_as_on_one() {
    goes_as_on_one(&(head() + WIND), 2, 1e-4);
}

#[test]
fn hair_in_the_wind_goes_on_four_processes_as_on_one() {
    in_the_full_tier(|| drop(goes_as_on_one(&(head() + WIND), 4, 1e-4)));
}

/// Water amplifies what rounding does, so that few frames are compared.
fn wet_hair_goes_as_on_one(processes: usize) {
    let (one, several) = on_one_and_several(WET, processes);
    for frame in [2, 4] {
        is_where_it_is_on_one(&several, &one, frame);
        let [off, gone] = apart(&several, &one, frame);
        assert!(frame < 4 || gone > 0.05, "strands go {gone} m");
        assert!(off <= 1e-4, "frame {frame} on {processes} processes: {off} m of {gone} m");
    }
}

#[test]
fn hair_in_water_goes_on_two_processes_as_on_one() {
    wet_hair_goes_as_on_one(2);
}

#[test]
fn hair_in_water_goes_on_four_processes_as_on_one() {
    in_the_full_tier(|| wet_hair_goes_as_on_one(4));
}

/// Cords of one process touch those of another, and a ball that goes through all of them.
fn cords_go_as_on_one(processes: usize) {
    let (held, _) = goes_as_on_one(CORDS, processes, TOUCHING);
    // Without contacts they would be elsewhere.
    let free = Stage::new(&CORDS.replace("collision friction=0.3", ""));
    succeeds(&["run", &free.scene(), "--quiet"]);
    let [off, _] = apart(&free, &held, 6);
    assert!(off > 0.02, "contacts move them by {off} m");
}

#[test]
fn cords_that_touch_go_on_two_processes_as_on_one() {
    cords_go_as_on_one(2);
}

#[test]
fn cords_that_touch_go_on_four_processes_as_on_one() {
    in_the_full_tier(|| cords_go_as_on_one(4));
}

/// How many contacts the solves of a run had at most that several processes made in common; the log of a run tells of every solve.
fn most_in_common(stage: &Stage) -> u64 {
    let log = std::fs::read_to_string(stage.cache().join("stats.jsonl")).expect("statistics");
    let frames = log.lines().map(|line| {
        serde_json::from_str::<serde_json::Value>(line).expect("a line of JSON")["solves"].take()
    });
    let most = |solves: serde_json::Value| {
        let solves = solves.as_array().cloned().unwrap_or_default();
        let in_common = solves.iter().filter(|solve| solve["system"] == "contacts in common");
        in_common.filter_map(|solve| solve["unknowns"].as_u64()).max().unwrap_or(0)
    };
    frames.map(most).max().unwrap_or(0)
}

/// How near the middle lines of two cords come to each other [m].
fn nearest_cords(cords: &[DVec3], vertices: usize) -> f64 {
    let to_edge = |at: DVec3, edge: &[DVec3]| {
        let along = edge[1] - edge[0];
        let t = ((at - edge[0]).dot(along) / along.length_squared()).clamp(0.0, 1.0);
        at.distance(edge[0] + t * along)
    };
    let cords: Vec<&[DVec3]> = cords.chunks(vertices).collect();
    let mut nearest = f64::MAX;
    for (n, cord) in cords.iter().enumerate() {
        let places = cord
            .windows(2)
            .flat_map(|edge| (0..8).map(|k| edge[0].lerp(edge[1], f64::from(k) / 8.0)));
        for at in places {
            let others = cords.iter().enumerate().filter(|(other, _)| *other != n);
            let edges = others.flat_map(|(_, cord)| cord.windows(2));
            nearest = edges.fold(nearest, |least, edge| least.min(to_edge(at, edge)));
        }
    }
    nearest
}

/// So many contacts hang together that no process is left alone with them. Each is solved to a part in a thousand of how far cords go in a step;
/// some twenty that touch in a row pass that on, and sweeps in common, which visit them in another order, end a little elsewhere: so a cord may be elsewhere by some hundredths of its way, and most are where they are on one by some thousandths. What holds them apart
/// holds as well as on one.
fn dense_cords_go_as_on_one(processes: usize) {
    let dense = CORDS.replace("columns=16 rows=3", "columns=20 rows=6");
    let (one, several) = on_one_and_several(&dense, processes);
    let most = most_in_common(&several);
    assert!(most > 1000, "{most} contacts are solved in common");
    assert_eq!(most_in_common(&one), 0, "one process is always alone");
    for frame in [2, 3, 4, 6] {
        let [off, gone] = apart(&several, &one, frame);
        let [found, wanted] = [&several, &one].map(|stage| points(stage, "strands", frame));
        let mean = found.iter().zip(&wanted).map(|(a, b)| a.distance(*b)).sum::<f64>()
            / found.len() as f64;
        let [near, alone] = [&found, &wanted].map(|cords| nearest_cords(cords, 11));
        assert!(frame < 6 || gone > 0.1, "cords go {gone} m");
        let on = format!("frame {frame} on {processes} processes");
        assert!(
            off <= 0.05 * gone && mean <= 0.005 * gone,
            "{on}: {off} m and {mean} m of {gone} m"
        );
        assert!(near > 0.9 * alone, "{on}: {near} m apart, and {alone} m on one");
    }
}

#[test]
fn dense_cords_whose_contacts_are_solved_in_common_go_on_two_processes_as_on_one() {
    in_the_full_tier(|| dense_cords_go_as_on_one(2));
}

#[test]
fn dense_cords_whose_contacts_are_solved_in_common_go_on_four_processes_as_on_one() {
    in_the_full_tier(|| dense_cords_go_as_on_one(4));
}

/// Bodies touch each other, the floor and a rope, whoever has them. Their contacts hang together and go to one process, which solves them as it
/// would alone: nothing differs at all.
fn stack_goes_as_on_one(processes: usize) {
    let (one, several) = on_one_and_several(STACK, processes);
    let bodies = ["low-boundary", "middle-boundary", "high-boundary"];
    for frame in [2, 4, 6] {
        for object in bodies.iter().copied().chain(["strands"]) {
            let wanted = points(&one, object, frame);
            let off = farthest(&points(&several, object, frame), &wanted);
            assert!(off == 0.0, "{object} in frame {frame} on {processes} processes: {off} m");
            let gone = farthest(&points(&one, object, 1), &wanted);
            assert!(object == "strands" || gone < 1e-3, "{object} in frame {frame}: {gone} m");
        }
    }
    // The rope lies on the uppermost box, and its ends hang down beside it.
    let heights: Vec<f64> = points(&several, "strands", 6).iter().map(|at| at.y).collect();
    let (least, most) =
        heights.iter().fold((f64::MAX, f64::MIN), |(a, b), y| (a.min(*y), b.max(*y)));
    assert!(least < 0.58 && most > 0.604, "from {least} m to {most} m");
}

#[test]
fn a_rope_on_a_stack_of_boxes_goes_on_two_processes_as_on_one() {
    stack_goes_as_on_one(2);
}

#[test]
fn a_rope_on_a_stack_of_boxes_goes_on_four_processes_as_on_one() {
    in_the_full_tier(|| stack_goes_as_on_one(4));
}

#[test]
fn hair_on_two_processes_that_was_ended_goes_on_to_the_same_bytes() {
    goes_on_to_the_same_bytes(&(head() + WIND));
}

#[test]
fn cords_on_two_processes_that_were_ended_go_on_to_the_same_bytes() {
    goes_on_to_the_same_bytes(CORDS);
}

fn goes_on_to_the_same_bytes(scene: &str) {
    let (whole, torn) = (Stage::new(scene), Stage::new(scene));
    runs(2, &whole, &["--quiet"]);
    runs(2, &torn, &["--quiet", "--frames", "3"]);
    runs(2, &torn, &["--quiet"]);
    let last = |stage: &Stage| {
        let all = files(&stage.cache());
        let last = |name: &String| name.contains(".0006.") || name == "checkpoint.0006.undine";
        all.into_iter().filter(|(name, _)| last(name)).collect::<BTreeMap<_, _>>()
    };
    assert!(last(&whole).len() >= 2, "{:?}", last(&whole).keys());
    assert_same(&last(&torn), &last(&whole), "after going on");
}
