//! `undine verify`: whether every file of a cache is what it was when it was written.

use crate::arguments::Verify;
use crate::progress::Reading;
use crate::report::folder_of;
use crate::{complain, print};
use std::path::{Path, PathBuf};
use undine::ExitCode;
use undine::cache::{MANIFEST, Verified, verify as verified};
use undine_core::memory::in_words;

/// Reads a cache, and says what is damaged and how to make it good.
pub fn verify(arguments: &Verify) -> ExitCode {
    let folder = match cache_of(&arguments.cache) {
        Ok(folder) => folder,
        Err(code) => return code,
    };
    let mut reading = Reading::default();
    let mut read = |all, now| reading.tell(arguments.quiet, "the cache", all, now);
    match verified(&folder, &mut read) {
        Ok(Some(found)) => tell(&folder, &found, arguments),
        Ok(None) => {
            eprintln!(
                "error: {} has no {MANIFEST} and no copy of one: it is no cache of a run",
                folder.display()
            );
            ExitCode::BadScene
        }
        Err(why) => {
            complain(&why);
            if why.is_disk() { ExitCode::Disk } else { ExitCode::BadScene }
        }
    }
}

fn tell(folder: &Path, found: &Verified, arguments: &Verify) -> ExitCode {
    let name = folder.display();
    for damage in &found.damage {
        eprintln!("{damage}");
    }
    for other in &found.others {
        eprintln!("{other}");
    }
    if let Some(from) = found.remade_from() {
        let (count, all) = (found.damage.len(), found.frames);
        eprintln!("error: {name}: {count} of {all} frames are damaged");
        eprintln!("  again   {}", again(&arguments.cache, folder, from));
        return ExitCode::Disk;
    }
    if !found.others.is_empty() {
        eprintln!("error: {name}: all frames are whole, and what is named here is not");
        return ExitCode::Disk;
    }
    if arguments.quiet {
        return ExitCode::Done;
    }
    let Verified { frames, checkpoints, files, bytes, .. } = found;
    let bytes = in_words(*bytes);
    print(&format!(
        "{name} is whole: {frames} frames and {checkpoints} checkpoints, {files} files, {bytes}\n"
    ))
}

/// The command that makes the frames again; a cache does not know where its scene lies.
fn again(asked: &Path, folder: &Path, from: i64) -> String {
    let scene = if asked == folder { Path::new("SCENE") } else { asked };
    format!("undine run {} --from {from}", scene.display())
}

/// A cache is itself; of a scene, the folder that its frames go to is meant.
fn cache_of(path: &Path) -> Result<PathBuf, ExitCode> {
    let is_scene = path.is_file() || path.join("scene.kdl").is_file();
    if path.join(MANIFEST).is_file() || !is_scene {
        return Ok(path.to_owned());
    }
    folder_of(path)
}
