//! The result is that of one process, to the last bit, where no sum is over all of them.

use super::together::{example, frames, runs};
use crate::program::{Stage, assert_same, succeeds};

fn is_the_same_on(processes: usize, one: &Stage, several: &Stage, words: &[&str]) {
    let scene = one.scene();
    let alone: Vec<&str> = ["run", &scene, "--quiet"].iter().chain(words).copied().collect();
    succeeds(&alone);
    runs(processes, several, words);
    let (found, wanted) = (frames(several), frames(one));
    assert!(wanted.len() > 8, "{:?}", wanted.keys());
    assert_same(&found, &wanted, &format!("on {processes} processes"));
}

#[test]
fn thrown_balls_fly_as_on_one_process() {
    is_the_same_on(2, &example("thrown-balls"), &example("thrown-balls"), &["--frames", "12"]);
}

#[test]
fn falling_drops_fall_as_on_one_process() {
    is_the_same_on(3, &example("falling-drops"), &example("falling-drops"), &["--frames", "8"]);
}

#[test]
fn bouncing_balls_bounce_as_on_one_process() {
    is_the_same_on(2, &example("bouncing-balls"), &example("bouncing-balls"), &["--frames", "20"]);
}

#[test]
fn what_constraints_tie_together_moves_as_on_one_process() {
    for name in ["hanging-net", "chained-boxes"] {
        is_the_same_on(2, &example(name), &example(name), &["--frames", "8"]);
    }
}

/// Born, ended and handed over in several Domains of different voxels, with ids that do not tell who has them.
const COMING_AND_GOING: &str = r#"
setup "coming-and-going" fps=24 frames=12 substeps=2 cfl=2
input "nozzle" {
    sphere radius="20 cm"
}
input "room" {
    box size="2 2 2 m"
}
group "spray" {
    particles "drops" voxel="3 cm"
    emit input="nozzle" rate="4000 Hz" speed="3 m/s" jitter="1 m/s" radius="2 mm" radius-jitter=0.4
    transition to="mist" older-than="80 ms"
}
group "mist" {
    particles "fog" voxel="5 cm"
}
kill outside="room"
gravity
drag
output dir="cache"
"#;

#[test]
fn particles_come_and_go_as_on_one_process() {
    let (one, several) = (Stage::new(COMING_AND_GOING), Stage::new(COMING_AND_GOING));
    is_the_same_on(2, &one, &several, &[]);
    let log = std::fs::read_to_string(several.cache().join("log.txt")).expect("a log");
    assert_eq!(log.matches("frame 12: ").count(), 1, "one process tells of all:\n{log}");
}
