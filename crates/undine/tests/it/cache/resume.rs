//! What a run does with the folder that it finds, and with the files beside the frames.

use std::path::Path;
use std::sync::Arc;

use undine::cache::faults::{After, FaultyDisk};
use undine::cache::{
    Cache, CacheError, Choice, FrameId, Keep, MANIFEST, MANIFEST_COPY, Note, Start, Which,
};

use super::{ALL, FOLDER, Run, assert_only_listed_remains, compared, put, scene};

/// A finished run with a checkpoint a frame, all of them kept.
fn finished() -> (Run, FaultyDisk) {
    let run = Run { keep: Keep { every: 1, last: 100 }, parts: 1, ..Run::default() };
    let disk = FaultyDisk::default();
    go(&run, &disk).unwrap();
    (run, disk)
}

fn go(run: &Run, disk: &FaultyDisk) -> Result<Start, CacheError> {
    run.go(Arc::new(disk.clone()), Path::new(FOLDER))
}

fn path(name: &str) -> std::path::PathBuf {
    Path::new(FOLDER).join(name)
}

#[test]
fn a_finished_run_goes_on_with_nothing_and_changes_nothing() {
    let (run, disk) = finished();
    let before = disk.files();
    assert_eq!(go(&run, &disk).unwrap(), Start { after: Some(1005), notes: vec![] });
    assert_eq!(disk.files(), before);
}

#[test]
fn the_range_of_frames_may_grow() {
    let (run, disk) = finished();
    let longer = Run { last: 1009, ..run };
    assert_eq!(go(&longer, &disk).unwrap().after, Some(1005));
    let at_once = FaultyDisk::default();
    go(&longer, &at_once).unwrap();
    assert_eq!(compared(&disk), compared(&at_once));
}

#[test]
fn a_damaged_checkpoint_is_told_and_an_older_one_used() {
    let (run, whole) = finished();
    let mut cut = whole.files()["checkpoint.1005.undine"].clone();
    let mut flipped = cut.clone();
    cut.pop();
    flipped[3] ^= 1;
    for bytes in [Some(cut), Some(flipped), None] {
        let disk = whole.restart(After::Kill);
        match &bytes {
            Some(bytes) => disk.put(&path("checkpoint.1005.undine"), bytes),
            None => disk.take(&path("checkpoint.1005.undine")),
        }
        let start = go(&run, &disk).unwrap();
        assert_eq!(start.after, Some(1004));
        assert!(
            matches!(&start.notes[0], Note::Checkpoint { frame: 1005, .. }),
            "{:?}",
            start.notes
        );
        assert_eq!(
            start.notes[1],
            Note::Redone { first: FrameId::whole(1005), last: FrameId::whole(1005), asked: None }
        );
        assert_eq!(compared(&disk), compared(&whole));
    }
}

#[test]
fn without_any_whole_checkpoint_a_run_begins_again() {
    let (run, whole) = finished();
    let disk = whole.restart(After::Kill);
    for frame in 1001..=1005 {
        disk.put(&path(&format!("checkpoint.{frame}.undine")), b"not what it was");
    }
    let start = go(&run, &disk).unwrap();
    assert_eq!((start.after, start.notes.len()), (None, 6));
    assert_eq!(compared(&disk), compared(&whole));
}

#[test]
fn a_damaged_frame_before_the_start_ends_every_run_until_it_is_made_again_or_left_out() {
    let (run, disk) = finished();
    disk.put(&path("liquid.1002.ply"), b"cut short");
    disk.take(&path("spray.1004.bgeo.sc"));
    let before = disk.files();
    let refused = |run: &Run, disk: &FaultyDisk| {
        let error = go(run, disk).unwrap_err();
        assert_eq!(error.remade_from(), Some(1002), "{error}");
        assert!(error.is_disk(), "{error}");
        error.to_string()
    };
    for _ in 0..2 {
        let told = refused(&run, &disk);
        for part in ["liquid.1002.ply has 9 bytes", "spray.1004", "--from 1002", "--keep"] {
            assert!(told.contains(part), "no {part} in {told}");
        }
        assert_eq!(disk.files(), before);
    }
    let with = |which, from| Run { choice: Choice { which, from }, ..run.clone() };
    let start = go(&with(Which::Keep, None), &disk).unwrap();
    assert!(
        matches!(&start.notes[..], [Note::Frame { frame, .. }, Note::Frame { .. }] if *frame == FrameId::whole(1002))
    );
    // What was left out is not forgotten.
    assert!(refused(&run, &disk).contains("went on without"));
    assert_eq!(go(&with(Which::Resume, Some(1002)), &disk).unwrap().after, Some(1001));
    assert_eq!(compared(&disk), compared(&finished().1));
}

#[test]
fn a_frame_with_other_bytes_is_found_where_a_finished_cache_is_read() {
    let (run, disk) = finished();
    let mut bytes = disk.files()["liquid.1003.ply"].clone();
    bytes[50] ^= 1;
    disk.put(&path("liquid.1003.ply"), &bytes);
    let (cache, _) = run.open(Arc::new(disk.clone()), Path::new(FOLDER)).unwrap();
    let mut read = Vec::new();
    let error = cache.check_frames(&mut |all, now| read.push((all, now))).unwrap_err();
    assert_eq!(error.remade_from(), Some(1003));
    assert!(error.to_string().contains("another checksum"), "{error}");
    // Five frames with files of 100 and 50 bytes.
    assert_eq!((read.len(), read.last()), (10, Some(&(750, 750))));
}

#[test]
fn from_redoes_a_frame_and_all_after_it() {
    let (run, whole) = finished();
    for (from, after) in [(1003, Some(1002)), (1001, None), (i64::MIN, None), (2000, Some(1005))] {
        let disk = whole.restart(After::Kill);
        let again = Run { choice: Choice { from: Some(from), ..Choice::default() }, ..run.clone() };
        assert_eq!(go(&again, &disk).unwrap().after, after);
        assert_eq!(compared(&disk), compared(&whole));
    }
}

#[test]
fn a_changed_scene_is_refused_with_what_differs_and_the_choices() {
    let (run, disk) = finished();
    let mut changed = run.clone();
    changed.scene = scene("8 0 0 m/s");
    changed.scene.set("gravity.acceleration", "0 -9.81 0 m/s2");
    let before = disk.files();
    let error = go(&changed, &disk).unwrap_err();
    let told = error.to_string();
    for part in
        ["was 4 0 0 m/s, is 8 0 0 m/s", "gravity.acceleration: is new", "--fresh", "--keep", FOLDER]
    {
        assert!(told.contains(part), "{told}");
    }
    assert!(!told.contains("density") && !error.is_disk());
    assert_eq!(disk.files(), before);
}

#[test]
fn a_changed_scene_can_keep_its_frames_or_begin_again() {
    let (run, whole) = finished();
    let choice = |which| Choice { which, from: Some(1004) };
    let keep = Run { scene: scene("8 0 0 m/s"), choice: choice(Which::Keep), ..run.clone() };
    let kept = whole.restart(After::Kill);
    let start = go(&keep, &kept).unwrap();
    assert_eq!((start.after, start.notes.last()), (Some(1003), Some(&Note::Kept(1003))));
    let (cache, _) = Run { choice: Choice::default(), ..keep }
        .open(Arc::new(kept.clone()), Path::new(FOLDER))
        .unwrap();
    assert_eq!(cache.frames().len(), 5);
    assert_eq!(cache.manifest().earlier[0].last, 1003);
    assert_eq!(cache.manifest().earlier[0].differences[0].path, "wind/inflow.velocity");
    assert!(cache.verify().unwrap().is_empty());

    let fresh = Run { scene: scene("8 0 0 m/s"), choice: choice(Which::Fresh), last: 1002, ..run };
    let begun = whole.restart(After::Kill);
    begun.put(&path("notes.txt"), b"by hand");
    assert_eq!(go(&fresh, &begun).unwrap().after, None);
    assert_eq!(begun.files()["notes.txt"], b"by hand");
    let alone = FaultyDisk::default();
    alone.put(&path("notes.txt"), b"by hand");
    go(&fresh, &alone).unwrap();
    assert_eq!(compared(&begun), compared(&alone));
}

#[test]
fn a_scene_may_change_before_the_first_frame() {
    let (run, disk) = (Run::default(), FaultyDisk::default());
    drop(run.open(Arc::new(disk.clone()), Path::new(FOLDER)).unwrap());
    let changed = Run { scene: scene("8 0 0 m/s"), ..run };
    assert_eq!(go(&changed, &disk).unwrap().after, None);
}

#[test]
fn a_lost_or_damaged_manifest_is_restored_from_its_copy_if_all_files_agree() {
    let (run, whole) = finished();
    for damage in [None, Some(&b"{ garbage"[..])] {
        let disk = whole.restart(After::Kill);
        match damage {
            Some(bytes) => disk.put(&path(MANIFEST), bytes),
            None => disk.take(&path(MANIFEST)),
        }
        let start = go(&run, &disk).unwrap();
        assert_eq!(start, Start { after: Some(1005), notes: vec![Note::Restored] });
        assert_eq!(compared(&disk), compared(&whole));
        // Same length, other bytes: only a look inside finds that.
        let mut bytes = disk.files()["liquid.1002.ply"].clone();
        bytes[50] ^= 1;
        disk.put(&path("liquid.1002.ply"), &bytes);
        disk.take(&path(MANIFEST));
        assert_eq!(go(&run, &disk).unwrap_err().remade_from(), Some(1002));
    }
}

#[test]
fn frames_without_any_manifest_are_not_believed() {
    let (run, disk) = finished();
    disk.take(&path(MANIFEST));
    disk.take(&path(MANIFEST_COPY));
    let error = go(&run, &disk).unwrap_err();
    assert!(matches!(error, CacheError::ManifestLost { count: 15, .. }), "{error}");
    assert!(error.to_string().contains("--fresh"));
    let fresh = Choice { which: Which::Fresh, from: None };
    go(&Run { choice: fresh, ..run }, &disk).unwrap();
    assert_eq!(compared(&disk), compared(&finished().1));
}

#[test]
fn only_the_last_checkpoints_are_kept() {
    let run = Run { keep: Keep { every: 2, last: 2 }, last: 1011, ..Run::default() };
    let disk = FaultyDisk::default();
    go(&run, &disk).unwrap();
    let left: Vec<_> =
        disk.files().into_keys().filter(|name| name.starts_with("checkpoint")).collect();
    assert_eq!(left, ["checkpoint.1010.undine", "checkpoint.1011.undine"]);
}

#[test]
fn frames_and_checkpoints_come_in_order_and_outputs_once() {
    let (_, disk) = finished();
    let (mut cache, _) = finished().0.open(Arc::new(disk.clone()), Path::new(FOLDER)).unwrap();
    assert!(matches!(cache.begin_frame(FrameId::whole(1005)), Err(CacheError::Order { .. })));
    let checkpoint = cache.checkpoint(1005, |file| put(file, b"state"));
    assert!(matches!(checkpoint, Err(CacheError::Order { .. })));
    let mut frame = cache.begin_frame(FrameId::between(1005, 1, 2).unwrap()).unwrap();
    frame.file("liquid.ply", |file| put(file, b"once")).unwrap();
    assert!(matches!(
        frame.file("liquid.ply", |file| put(file, b"twice")),
        Err(CacheError::Twice { .. })
    ));
    drop(frame);
    assert_only_listed_remains(&disk, ALL);
}

#[test]
fn a_frame_whose_content_fails_leaves_nothing() {
    let (run, disk) = finished();
    let (mut cache, _) = run.open(Arc::new(disk.clone()), Path::new(FOLDER)).unwrap();
    let mut frame = cache.begin_frame(FrameId::whole(1006)).unwrap();
    frame.file("liquid.ply", |file| put(file, b"good")).unwrap();
    let no = || CacheError::Name { name: "mine".to_owned(), why: "is an error of one's own" };
    assert!(matches!(frame.file("spray.ply", |_| Err(no())), Err(CacheError::Name { .. })));
    drop(frame);
    assert!(matches!(cache.checkpoint(1006, |_| Err(no())), Err(CacheError::Name { .. })));
    assert_only_listed_remains(&disk, ALL);
}

#[test]
fn a_cache_that_is_open_is_locked_for_others() {
    let (run, disk) = finished();
    let open = run.open(Arc::new(disk.clone()), Path::new(FOLDER)).unwrap();
    let error = go(&run, &disk).unwrap_err();
    assert!(matches!(error, CacheError::Busy { process: Some(_), .. }), "{error}");
    drop(open);
    go(&run, &disk).unwrap();
}

#[test]
fn torn_lines_and_lines_of_frames_made_again_are_cut() {
    let (run, disk) = finished();
    let line = |frame: i64| format!("{{\"frame\":{frame}}}\n");
    disk.put(
        &path("stats.jsonl"),
        (line(1001) + "garbage\n" + &line(1004) + "{\"frame\":10").as_bytes(),
    );
    disk.put(&path("log.txt"), b"begun\n\xff\xfe\ntorn");
    let again = Run { choice: Choice { from: Some(1003), ..Choice::default() }, ..run };
    let (cache, _): (Cache, _) = again.open(Arc::new(disk.clone()), Path::new(FOLDER)).unwrap();
    let mut statistics = cache.frame_lines("stats.jsonl").unwrap();
    statistics.push("{\"frame\":1003}").unwrap();
    statistics.sync().unwrap();
    cache.lines("log.txt", |_| true).unwrap().push("on\nward").unwrap();
    cache.write_sidecar("report.html", b"old").unwrap();
    cache.write_sidecar("report.html", b"new").unwrap();
    let files = disk.files();
    assert_eq!(files["stats.jsonl"], (line(1001) + &line(1003)).into_bytes());
    assert_eq!(files["log.txt"], b"begun\n\xff\xfe\nonward\n");
    assert_eq!(files["report.html"], b"new");
    for taken in
        [MANIFEST, "liquid.1001.ply", "checkpoint.1001.undine", "../report", ".undine-lock"]
    {
        assert!(matches!(cache.write_sidecar(taken, b""), Err(CacheError::Name { .. })), "{taken}");
    }
}
