//! What goes wrong on one process ends all, and is told once, by name.

use super::together::UNDINE;
use crate::program::{SCENE, Stage};

#[test]
fn a_mistake_in_the_scene_is_told_once_by_all() {
    let stage = Stage::new(&SCENE.replace("gravity", "gravitas"));
    let scene = stage.scene();
    let run = mpirun::program(UNDINE, &[(3, &["run", &scene])]);
    assert_eq!(run.code, 2, "{}", run.output);
    assert_eq!(
        run.output.matches("gravitas").count(),
        2,
        "the message and its line\n{}",
        run.output
    );
}

#[test]
fn memory_that_is_short_on_one_process_ends_all_with_its_name() {
    let stage = Stage::new(SCENE);
    let scene = stage.scene();
    let parts: [(usize, &[&str]); 2] =
        [(1, &["run", &scene]), (1, &["run", &scene, "--memory", "1kB"])];
    let run = mpirun::program(UNDINE, &parts);
    assert_ne!(run.code, 0, "{}", run.output);
    assert!(run.output.contains("process 1 of 2"), "{}", run.output);
    assert!(run.output.contains("memory"), "{}", run.output);
}

#[test]
fn a_process_that_fails_alone_ends_all_and_says_why() {
    let stage = Stage::new(&SCENE.replace("frames=24", "frames=20000"));
    let scene = stage.scene();
    let parts: [(usize, &[&str]); 2] =
        [(1, &["run", &scene, "--quiet"]), (1, &["run", &scene, "--threads", "0"])];
    let run = mpirun::program(UNDINE, &parts);
    assert_eq!(run.code, 2, "{}", run.output);
    assert!(run.output.contains("process 1 of 2:\nerror: --threads"), "{}", run.output);
}

#[test]
fn other_commands_are_done_once() {
    let stage = Stage::new(SCENE);
    let scene = stage.scene();
    let run = mpirun::program(UNDINE, &[(2, &["check", &scene])]);
    let once = mpirun::program(UNDINE, &[(1, &["check", &scene])]);
    assert_eq!((run.code, &run.output), (0, &once.output));
    let wrong = mpirun::program(UNDINE, &[(2, &["chekc", &scene])]);
    assert_eq!(wrong.code, 2, "{}", wrong.output);
    assert_eq!(wrong.output.matches("unrecognized subcommand").count(), 1, "{}", wrong.output);
}
