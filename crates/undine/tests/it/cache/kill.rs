//! The machine's own disk: processes that are killed, a disk that is full, folders that vanish.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use undine::cache::{CacheError, RealDisk, Trouble, read_manifest};

use super::{Run, TEMPORARY};

const CHILD: &str = "UNDINE_TEST_CACHE";

fn run() -> Run {
    Run { last: 1040, length: 20_000, ..Run::default() }
}

/// Not a test by itself: the process that the others start and kill.
#[test]
fn child() {
    if let Some(folder) = std::env::var_os(CHILD) {
        run().go(Arc::new(RealDisk), Path::new(&folder)).unwrap();
    }
}

fn start(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "cache::kill::child"])
        .env(CHILD, folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Waits until the manifest lists so many frames, or the process has ended.
fn wait_for(frames: usize, folder: &Path, child: &mut Child) {
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() && begun.elapsed() < Duration::from_secs(300) {
        if read_manifest(folder).unwrap().is_some_and(|manifest| manifest.frames.len() >= frames) {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn compared(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut files: BTreeMap<_, _> = entries
        .map(|e| (e.file_name().into_string().unwrap(), std::fs::read(e.path()).unwrap()))
        .collect();
    files.remove(undine::cache::LOCK);
    files
}

#[test]
fn a_process_killed_at_any_moment_goes_on_to_the_same_bytes() {
    let (whole, killed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run().go(Arc::new(RealDisk), whole.path()).unwrap();
    for frames in [1, 9, 18, 40, 61] {
        let mut child = start(killed.path());
        wait_for(frames, killed.path(), &mut child);
        // While it lives, nobody else may write; unless it was done already.
        match run().open(Arc::new(RealDisk), killed.path()) {
            Err(CacheError::Busy { process, .. }) => assert_eq!(process, Some(child.id())),
            Err(other) => panic!("{other}"),
            Ok(_) => assert!(child.try_wait().unwrap().is_some()),
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    run().go(Arc::new(RealDisk), killed.path()).unwrap();
    assert_eq!(compared(killed.path()), compared(whole.path()));
}

/// A file system of a few pages, or the reason why there is none.
struct Tiny(tempfile::TempDir);

impl Tiny {
    fn mount() -> Option<Tiny> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"])
            .arg(folder.path())
            .output();
        match mounted {
            Ok(output) if output.status.success() => Some(Tiny(folder)),
            Ok(output) => {
                eprintln!("skipped, no tmpfs: {}", String::from_utf8_lossy(&output.stderr).trim());
                None
            }
            Err(error) => {
                eprintln!("skipped, no tmpfs: {error}");
                None
            }
        }
    }
}

impl Drop for Tiny {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[test]
fn a_disk_that_is_really_full_leaves_whole_frames_and_goes_on_when_there_is_room() {
    let Some(tiny) = Tiny::mount() else { return };
    let folder = tiny.0.path().join("cache");
    // What else lies there takes most of the space.
    std::fs::write(tiny.0.path().join("other"), vec![1; 120 << 10]).unwrap();
    let run = Run { length: 20_000, parts: 1, ..Run::default() };
    let error = match run.go(Arc::new(RealDisk), &folder) {
        Err(CacheError::Disk(error)) => error,
        other => panic!("{other:?}"),
    };
    assert!(matches!(error.trouble, Trouble::Full { free: Some(_) }), "{error}");
    let manifest = read_manifest(&folder).unwrap().unwrap();
    assert!(!manifest.frames.is_empty());
    assert_eq!(error.whole, manifest.last());
    let told = error.to_string();
    assert!(told.contains("disk full") && told.contains("nothing written is lost"), "{told}");
    assert!(compared(&folder).keys().all(|name| !name.starts_with(TEMPORARY)));

    std::fs::remove_file(tiny.0.path().join("other")).unwrap();
    run.go(Arc::new(RealDisk), &folder).unwrap();
    let whole = tempfile::tempdir().unwrap();
    run.go(Arc::new(RealDisk), whole.path()).unwrap();
    assert_eq!(compared(&folder), compared(whole.path()));
}

#[test]
fn a_folder_that_is_really_removed_is_told() {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("shots/cache");
    let (mut cache, _) = run().open(Arc::new(RealDisk), &folder).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let mut frame = cache.begin_frame(undine::cache::FrameId::whole(1)).unwrap();
    match frame.file("liquid.ply", |file| super::put(file, b"bytes")) {
        Err(CacheError::Disk(error)) => assert_eq!(error.trouble, Trouble::Vanished, "{error}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_told() {
    let above = tempfile::tempdir().unwrap();
    std::fs::write(above.path().join("file"), b"in the way").unwrap();
    for folder in ["file", "file/cache"] {
        match run().open(Arc::new(RealDisk), &above.path().join(folder)) {
            Err(CacheError::Disk(error)) => {
                assert!(error.to_string().contains("making folder"), "{error}")
            }
            other => panic!("{:?}", other.map(|_| ())),
        }
    }
}
