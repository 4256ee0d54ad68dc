//! A disk that stops or fails at every operation in turn.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use undine::cache::faults::{After, Fault, FaultyDisk};
use undine::cache::{CacheError, Choice, FrameId, Keep, Trouble, Which, read_manifest_on};

use super::{
    ALL, FOLDER, FRAMES, Run, assert_listed_is_whole, assert_only_listed_remains, compared, put,
};

/// Runs without a fault, and gives the disk and how many operations it took.
fn uninterrupted(run: &Run) -> (FaultyDisk, usize) {
    let disk = FaultyDisk::default();
    run.go(Arc::new(disk.clone()), Path::new(FOLDER)).unwrap();
    let operations = disk.operations();
    (disk, operations)
}

/// Runs until the disk stops at an operation, and gives what the next process finds.
fn stopped_at(disk: FaultyDisk, run: &Run, operation: usize, after: After) -> FaultyDisk {
    disk.plan(operation, Fault::Stops);
    let ended = run.go(Arc::new(disk.clone()), Path::new(FOLDER));
    // A stop while rubbish is removed goes unnoticed by the run, but never by the disk.
    assert!(ended.is_err() || !disk.happened());
    let found = disk.restart(after);
    assert_listed_is_whole(&found);
    found
}

const AFTER: [After; 5] = [
    After::Kill,
    After::PowerCut(1),
    After::PowerCut(22),
    After::PowerCut(333),
    After::PowerCut(4444),
];

#[test]
fn a_run_stopped_at_any_operation_goes_on_to_the_same_bytes() {
    let run = Run::default();
    let (whole, operations) = uninterrupted(&run);
    assert!(operations > 100, "{operations}");
    for operation in 1..=operations {
        for after in AFTER {
            let found = stopped_at(FaultyDisk::default(), &run, operation, after);
            run.go(Arc::new(found.clone()), Path::new(FOLDER)).unwrap();
            assert_eq!(compared(&found), compared(&whole), "stopped at {operation}, {after:?}");
            assert_only_listed_remains(&found, ALL);
        }
    }
}

#[test]
fn statistics_are_those_of_an_uninterrupted_run_after_a_kill() {
    let run = Run::default();
    let (whole, operations) = uninterrupted(&run);
    for operation in 1..=operations {
        let found = stopped_at(FaultyDisk::default(), &run, operation, After::Kill);
        run.go(Arc::new(found.clone()), Path::new(FOLDER)).unwrap();
        assert_eq!(
            found.files()["stats.jsonl"],
            whole.files()["stats.jsonl"],
            "stopped at {operation}"
        );
    }
}

#[test]
fn a_resume_stopped_at_any_operation_goes_on_to_the_same_bytes() {
    let run = Run::default();
    let (whole, operations) = uninterrupted(&run);
    for first in (1..=operations).step_by(7) {
        for (second, after) in (1..operations - first).step_by(3).zip(AFTER.into_iter().cycle()) {
            let found = stopped_at(FaultyDisk::default(), &run, first, after);
            let found = stopped_at(found, &run, second, after);
            run.go(Arc::new(found.clone()), Path::new(FOLDER)).unwrap();
            assert_eq!(
                compared(&found),
                compared(&whole),
                "stopped at {first} and {second}, {after:?}"
            );
            assert_only_listed_remains(&found, ALL);
        }
    }
}

#[test]
fn beginning_again_can_be_stopped_at_any_operation() {
    let old = Run { first: 998, last: 1010, parts: 3, ..Run::default() };
    let fresh = Choice { which: Which::Fresh, from: None };
    let run = Run { scene: super::scene("8 0 0 m/s"), choice: fresh, ..Run::default() };
    let (whole, _) = uninterrupted(&run);
    let (cache, _) = uninterrupted(&old);
    let begun = cache.restart(After::Kill);
    run.go(Arc::new(begun.clone()), Path::new(FOLDER)).unwrap();
    assert_eq!(compared(&begun), compared(&whole));
    for operation in 1..=begun.operations() {
        for after in AFTER {
            let found = stopped_at(cache.restart(After::Kill), &run, operation, after);
            run.go(Arc::new(found.clone()), Path::new(FOLDER)).unwrap();
            assert_eq!(compared(&found), compared(&whole), "stopped at {operation}, {after:?}");
        }
    }
}

#[test]
fn a_frame_or_checkpoint_that_is_finished_outlives_a_power_cut() {
    let (disk, run) = (FaultyDisk::default(), Run::default());
    let (mut cache, _) = run.open(Arc::new(disk.clone()), Path::new(FOLDER)).unwrap();
    for frame in 1..=4 {
        run.write_frame(&mut cache, FrameId::whole(frame), 5).unwrap();
        cache.checkpoint(frame, |file| put(file, b"state")).unwrap();
        for seed in 0..50 {
            let found = disk.restart(After::PowerCut(seed));
            let manifest =
                read_manifest_on(Arc::new(found.clone()), Path::new(FOLDER)).unwrap().unwrap();
            assert_eq!(&manifest, cache.manifest());
            assert_eq!(manifest.checkpoints.last().unwrap().frame, frame);
            assert_listed_is_whole(&found);
        }
    }
}

/// Lets each fault happen at each operation, and gives error and disk to the check.
fn each_fault(fault: Fault, check: impl Fn(usize, Result<(), CacheError>, &FaultyDisk)) {
    let run = Run::default();
    let (_, operations) = uninterrupted(&run);
    for operation in 1..=operations {
        let disk = FaultyDisk::default();
        disk.plan(operation, fault);
        let ended = run.go(Arc::new(disk.clone()), Path::new(FOLDER)).map(drop);
        if disk.happened() {
            check(operation, ended, &disk);
        }
    }
}

/// After a fault that passes, only whole frames remain, and the same command leaves the same bytes.
fn passes(fault: Fault, right: impl Fn(Trouble) -> bool) {
    let run = Run::default();
    let (whole, _) = uninterrupted(&run);
    each_fault(fault, |operation, ended, disk| {
        match ended {
            // The fault befell a removal of rubbish or a look at what is there no longer.
            Ok(()) => assert_eq!(compared(disk), compared(&whole)),
            Err(CacheError::Disk(error)) => {
                assert!(right(error.trouble), "{operation}: {error}");
                let last = last_listed(disk);
                assert_eq!(error.whole.map(|id| id.to_string()), last, "{operation}: {error}");
            }
            Err(other) => panic!("{operation}: {other}"),
        }
        assert_listed_is_whole(disk);
        // An older checkpoint may stay until it is certain that the newer one does; a frame must not.
        assert_only_listed_remains(disk, FRAMES);
        run.go(Arc::new(disk.clone()), Path::new(FOLDER)).unwrap();
        assert_eq!(compared(disk), compared(&whole), "{fault:?} at {operation}");
        assert_only_listed_remains(disk, ALL);
    });
}

fn last_listed(disk: &FaultyDisk) -> Option<String> {
    let manifest = read_manifest_on(Arc::new(disk.clone()), Path::new(FOLDER)).unwrap();
    manifest.and_then(|manifest| manifest.last()).map(|id| id.to_string())
}

#[test]
fn a_short_write_is_no_error() {
    let (whole, _) = uninterrupted(&Run::default());
    each_fault(Fault::ShortWrite, |operation, ended, disk| {
        ended.unwrap();
        assert_eq!(disk.files(), whole.files(), "{operation}");
    });
}

#[test]
fn a_full_disk_leaves_only_whole_frames_and_says_what_is_free() {
    passes(Fault::NoSpace, |trouble| trouble == Trouble::Full { free: Some(4096) });
}

#[test]
fn missing_permission_leaves_only_whole_frames() {
    passes(Fault::NoPermission, |trouble| trouble == Trouble::Permission);
}

#[test]
fn a_sync_that_fails_leaves_only_whole_frames() {
    passes(Fault::SyncFails, |trouble| trouble == Trouble::Other);
}

#[test]
fn a_rename_that_fails_leaves_only_whole_frames() {
    passes(Fault::RenameFails, |trouble| trouble == Trouble::Other);
}

#[test]
fn a_folder_that_vanishes_is_told() {
    each_fault(Fault::Vanishes, |operation, ended, disk| {
        match ended {
            Err(CacheError::Disk(error)) => {
                assert_eq!(error.trouble, Trouble::Vanished, "{operation}: {error}");
                assert!(error.to_string().contains("/shots/cache"), "{error}");
            }
            // Nothing but the statistics' file, which is open, was written after the last checkpoint.
            ended => assert!(ended.is_ok(), "{operation}: {ended:?}"),
        }
        assert!(disk.files().is_empty());
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_schedule_of_stops_ends_in_the_same_bytes(
        first in -3..3_i64,
        frames in 1..7_i64,
        parts in 1..4_u32,
        every in 1..4_u32,
        last in 1..4_u32,
        stops in prop::collection::vec((1..120_usize, any::<Option<u64>>()), 0..6),
    ) {
        let run = Run { first, last: first + frames, parts, keep: Keep { every, last }, ..Run::default() };
        let (whole, _) = uninterrupted(&run);
        let mut disk = FaultyDisk::default();
        for (operation, cut) in stops {
            disk.plan(operation, Fault::Stops);
            let _ = run.go(Arc::new(disk.clone()), Path::new(FOLDER));
            disk = disk.restart(cut.map_or(After::Kill, After::PowerCut));
            assert_listed_is_whole(&disk);
        }
        run.go(Arc::new(disk.clone()), Path::new(FOLDER)).unwrap();
        prop_assert_eq!(compared(&disk), compared(&whole));
        assert_only_listed_remains(&disk, ALL);
    }
    #[test]
    fn the_same_content_in_any_pieces_gives_the_same_bytes(
        content in prop::collection::vec(any::<u8>(), 0..2000),
        piece in 1..600_usize,
    ) {
        let write = |piece: usize| {
            let (disk, run) = (FaultyDisk::default(), Run::default());
            let (mut cache, _) = run.open(Arc::new(disk.clone()), Path::new(FOLDER)).unwrap();
            let mut frame = cache.begin_frame(FrameId::whole(1)).unwrap();
            let all = |file: &mut dyn Write| content.chunks(piece).try_for_each(|part| file.write_all(part));
            frame
                .file("liquid.ply", |file| {
                    all(file).expect("a disk without faults");
                    Ok::<(), CacheError>(())
                })
                .unwrap();
            frame.finish().unwrap();
            assert_eq!(disk.files()["liquid.0001.ply"], content);
            disk.files()
        };
        prop_assert_eq!(write(piece), write(usize::MAX));
    }
}
