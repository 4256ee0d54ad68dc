//! A distributed run that was ended goes on to the same bytes; and on another number of processes to the same frames.

use super::together::{UNDINE, frames, runs};
use crate::program::{SCENE, Stage, assert_same, files, succeeds};
use std::process::Stdio;
use std::time::{Duration, Instant};

#[test]
fn a_run_of_two_processes_killed_in_the_middle_ends_with_the_same_bytes() {
    let whole = Stage::new(SCENE);
    runs(2, &whole, &["--quiet"]);
    let wanted = files(&whole.cache());
    assert!(wanted.keys().any(|name| name.starts_with("checkpoint")), "{:?}", wanted.keys());

    let torn = Stage::new(SCENE);
    let scene = torn.scene();
    for until in [3, 11] {
        let words: &[&str] = &["run", &scene, "--quiet"];
        let mut child = mpirun::command(UNDINE, &[(2, words)])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("mpirun");
        let began = Instant::now();
        let frames = || {
            let entries = std::fs::read_dir(torn.cache()).into_iter().flatten().flatten();
            let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
            names.filter(|name| name.ends_with(".usdc") && !name.starts_with('.')).count()
        };
        while frames() < until && began.elapsed() < Duration::from_secs(300) {
            std::thread::sleep(Duration::from_millis(2));
        }
        // SAFETY: sends a signal to a child of this process, which has not been waited for. Its own children end with it.
        unsafe { libc::kill(child.id() as i32, libc::SIGKILL) };
        child.wait().expect("an end");
        wait_until_free(&torn);
    }
    runs(2, &torn, &["--quiet"]);
    assert_same(&files(&torn.cache()), &wanted, "after two kills");
}

/// The processes of a dead `mpirun` notice it after a moment; until then they have the cache.
fn wait_until_free(stage: &Stage) {
    let lock = stage.cache().join(".undine-lock");
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(300) {
        let Ok(file) = std::fs::File::open(&lock) else { return };
        match file.try_lock() {
            Ok(()) => return,
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
    panic!("the processes of a dead mpirun live on");
}

#[test]
fn a_checkpoint_of_n_processes_is_gone_on_from_by_any_number() {
    let whole = Stage::new(SCENE);
    succeeds(&["run", &whole.scene(), "--quiet", "--frames", "9"]);
    let changing = Stage::new(SCENE);
    runs(2, &changing, &["--quiet", "--frames", "3"]);
    succeeds(&["run", &changing.scene(), "--quiet", "--frames", "5"]);
    runs(3, &changing, &["--quiet", "--frames", "7"]);
    runs(2, &changing, &["--quiet", "--frames", "9"]);
    let frames = |stage: &Stage| {
        let mut all = frames(stage);
        all.retain(|name, _| name.starts_with("balls."));
        all
    };
    assert_same(&frames(&changing), &frames(&whole), "on 2, 1, 3 and 2 processes");
}

#[test]
fn a_run_that_is_complete_is_left_as_it_is_by_several_processes() {
    let stage = Stage::new(SCENE);
    runs(2, &stage, &["--quiet", "--frames", "3"]);
    let before = files(&stage.cache());
    let told = runs(2, &stage, &["--frames", "3"]).output;
    assert_eq!(told.matches("complete").count(), 1, "{told}");
    assert_same(&files(&stage.cache()), &before, "after a second run");
}
