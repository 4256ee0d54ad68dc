//! Films: that `ffmpeg` gets every frame, and what is left when it fails. A script stands in for it where the real one is not
//! needed.

use crate::pictures::display;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use undine_render::Size;
use undine_render::files::mp4::{Film, MISSING, ffmpeg};

/// A program that is called as `ffmpeg` is; its last argument is `$out`.
fn program(folder: &Path, script: &str) -> PathBuf {
    let path = folder.join("ffmpeg");
    let content = format!("#!/bin/sh\nfor out; do :; done\n{script}\n");
    // Written by another process: a program cannot be started while a child of another test still has it open for writing.
    let write = ["-c", "printf %s \"$1\" > \"$2\" && chmod +x \"$2\"", "sh", &content];
    assert!(Command::new("sh").args(write).arg(&path).status().unwrap().success());
    path
}

#[test]
fn every_frame_reaches_ffmpeg_and_the_film_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let film = folder.path().join("run.mp4");
    let program = program(folder.path(), "cat > \"$out\"");
    let mut making = Film::begin(&program, &film, Size::new(31, 17).unwrap(), 24.0).unwrap();
    let frames: Vec<_> = (0..5).map(|moment| display(31, 17, moment)).collect();
    frames.iter().for_each(|frame| making.push(frame).unwrap());
    making.finish().unwrap();
    let colours = frames.iter().flat_map(|frame| &frame.pixels).flat_map(|pixel| &pixel[..3]);
    assert!(fs::read(&film).unwrap().iter().eq(colours));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn when_ffmpeg_fails_its_words_are_told_and_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let film = folder.path().join("run.mp4");
    let script = "cat > \"$out\"; echo Unknown encoder libx264 >&2; exit 1";
    let program = program(folder.path(), script);
    let mut making = Film::begin(&program, &film, Size::new(31, 17).unwrap(), 24.0).unwrap();
    making.push(&display(31, 17, 0)).unwrap();
    let said = making.finish().unwrap_err().to_string();
    assert!(said.contains("run.mp4") && said.contains("Unknown encoder libx264"), "{said}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_film_that_is_given_up_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let film = folder.path().join("run.mp4");
    let program = program(folder.path(), ": > \"$out\"; exec sleep 60");
    let making = Film::begin(&program, &film, Size::new(8, 8).unwrap(), 24.0).unwrap();
    drop(making);
    assert!(!film.exists());
}

#[test]
fn where_there_is_no_ffmpeg_one_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("ffmpeg");
    assert!(
        Film::begin(&nowhere, &folder.path().join("a.mp4"), Size::new(8, 8).unwrap(), 24.0)
            .is_err()
    );
    assert!(MISSING.contains("PATH"));
}

#[test]
fn the_real_ffmpeg_makes_a_film_of_an_odd_size() {
    let Some(program) = ffmpeg() else { return eprintln!("{MISSING}") };
    let folder = tempfile::tempdir().unwrap();
    let film = folder.path().join("run.mp4");
    let mut making = Film::begin(&program, &film, Size::new(65, 47).unwrap(), 24.0).unwrap();
    (0..12).for_each(|moment| making.push(&display(65, 47, moment)).unwrap());
    making.finish().unwrap();
    let bytes = fs::read(&film).unwrap();
    assert_eq!(&bytes[4..8], b"ftyp");
    assert!(bytes.windows(4).any(|name| name == b"moov"));
}
