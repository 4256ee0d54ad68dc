//! Disks that fill up, cannot be written or vanish: nothing that is whole is lost, and the code and message are right.

use crate::program::{SCENE, Stage, assert_same, ended, files, succeeds};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

fn frames(cache: &Path) -> BTreeMap<String, Vec<u8>> {
    files(cache).into_iter().filter(|(name, _)| name.ends_with(".usdc")).collect()
}

/// A small file system on a folder, if this machine lets us mount one.
struct Tiny<'a>(&'a Path);

impl<'a> Tiny<'a> {
    fn mount(at: &'a Path, size: &str) -> Option<Self> {
        std::fs::create_dir_all(at).unwrap();
        let options = format!("size={size}");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &options, "none"]).arg(at).status();
        mounted.is_ok_and(|status| status.success()).then_some(Self(at))
    }
}

impl Drop for Tiny<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

#[test]
fn a_disk_that_fills_up_keeps_whole_frames_and_the_run_goes_on_with_more_room() {
    let whole = Stage::new(SCENE);
    succeeds(&["run", &whole.scene(), "--quiet"]);
    let stage = Stage::new(SCENE);
    let cache = stage.cache();
    let Some(tiny) = Tiny::mount(&cache, "700k") else {
        eprintln!("skipped: no file system can be mounted here");
        return;
    };
    let full = ended(&["run", &stage.scene()]);
    assert_eq!(full.code, 5, "{}\n{}", full.out, full.error);
    assert!(full.error.contains("full") || full.error.contains("space"), "{}", full.error);
    assert!(full.error.contains("again"), "{}", full.error);
    let wanted = frames(&whole.cache());
    for (name, bytes) in frames(&cache) {
        assert_eq!(Some(&bytes), wanted.get(&name), "{name}");
    }
    let more = Command::new("mount").args(["-o", "remount,size=64m"]).arg(&cache).status().unwrap();
    assert!(more.success());
    succeeds(&["run", &stage.scene(), "--quiet"]);
    assert_same(&frames(&cache), &wanted, "with more room");
    drop(tiny);
}

#[test]
fn a_folder_that_cannot_be_made_is_said_before_the_work_begins() {
    let stage = Stage::new(SCENE);
    // A file where the folder should be: also root cannot write there.
    std::fs::write(stage.cache(), "in the way").unwrap();
    let refused = ended(&["run", &stage.scene()]);
    // The scene names something that is no folder, and is told at its line.
    assert_eq!(refused.code, 2, "{}", refused.error);
    assert!(refused.error.contains("cache"), "{}", refused.error);
    assert_eq!(std::fs::read_to_string(stage.cache()).unwrap(), "in the way");
}

#[test]
fn an_input_that_vanished_is_named_with_its_line() {
    let stage = Stage::new(
        "setup \"a\" frames=2\ninput \"cloud\" file=\"gone.ply\"\nparticles input=\"cloud\"\n",
    );
    let refused = ended(&["run", &stage.scene()]);
    assert!([2, 5].contains(&refused.code), "{}", refused.error);
    assert!(refused.error.contains("gone.ply"), "{}", refused.error);
}
