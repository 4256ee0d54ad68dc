//! Whether a cache is still what its manifest says: every file read, every length and checksum compared.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::error::CacheError;
use super::files::RealDisk;
use super::folder::Folder;
use super::manifest::{FileEntry, Manifest};
use super::names::{FrameId, MANIFEST, MANIFEST_COPY};
use super::resume::either;
use crate::frames::faults_of_stage;

/// A moment whose files are not what the manifest says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The moment.
    pub frame: FrameId,
    /// What is wrong with it.
    pub why: String,
}

impl Damage {
    /// A moment that a run was told to go on without.
    pub(super) fn left_out(frame: FrameId) -> Damage {
        Damage { frame, why: "a run went on without it".to_owned() }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "frame {}: {}", self.frame, self.why)
    }
}

/// The frame that a run has to begin with to make a moment again: one between two frames comes with the later one.
pub(super) fn remade_from(id: FrameId) -> i64 {
    if id.is_whole() { id.frame() } else { id.frame() + 1 }
}

/// The frame that a run has to begin with to make all of it good.
pub(super) fn first_damaged(damage: &[Damage]) -> i64 {
    damage.iter().map(|damage| remade_from(damage.frame)).min().unwrap_or_default()
}

/// What was found in a cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// How many moments are listed.
    pub frames: usize,
    /// How many checkpoints are listed.
    pub checkpoints: usize,
    /// How many files are listed.
    pub files: usize,
    /// How long all of them are, as listed [bytes].
    pub bytes: u64,
    /// The moments that are damaged or left out, in order.
    pub damage: Vec<Damage>,
    /// What else is damaged: checkpoints, the manifest or its copy, the USD scene over all frames. A run does without it, or writes it again.
    pub others: Vec<String>,
}

impl Verified {
    /// The frame that a run has to begin with to make all frames good; nothing if they are.
    pub fn remade_from(&self) -> Option<i64> {
        (!self.damage.is_empty()).then(|| first_damaged(&self.damage))
    }
}

/// Reads every file that a cache lists, without locking or changing it; nothing if the folder has no manifest and no copy of
/// one. `read` is told of all bytes and of those read.
pub fn verify(path: &Path, read: &mut dyn FnMut(u64, u64)) -> Result<Option<Verified>, CacheError> {
    let folder = Folder::new(Arc::new(RealDisk), path);
    let Some((manifest, is_copy)) = manifest_of(&folder)? else { return Ok(None) };
    let checkpoints = || manifest.checkpoints.iter().map(|entry| &entry.file);
    let bytes: u64 = manifest.files().map(|file| file.length).sum();
    let mut done = 0;
    let mut damage = frames(&folder, &manifest, &mut |_, now| {
        done = now;
        read(bytes, now);
    })?;
    let mut others = Vec::new();
    for file in checkpoints() {
        others.extend(folder.verify(file)?);
        done += file.length;
        read(bytes, done);
    }
    // A run that writes here meanwhile lists its files anew, and removes old checkpoints.
    if (!damage.is_empty() || !others.is_empty())
        && let Some((now, _)) = manifest_of(&folder)?
        && now != manifest
    {
        let listed = |name: &str| now.files().any(|file| name.starts_with(&file.name));
        damage.retain(|damage| now.frames.iter().any(|entry| entry.frame == damage.frame));
        others.retain(|why| listed(why));
    }
    let (other, good) = match is_copy {
        true => (MANIFEST, MANIFEST_COPY),
        false => (MANIFEST_COPY, MANIFEST),
    };
    others.extend(of_manifest(&folder, other, good)?);
    damage.extend(manifest.lost.iter().map(|&frame| Damage::left_out(frame)));
    damage.sort_by_key(|damage| damage.frame);
    let stage = faults_of_stage(&folder.path, &manifest).into_iter();
    others.extend(stage.map(|fault| format!("{fault}; `undine run` writes it again")));
    Ok(Some(Verified {
        frames: manifest.frames.len(),
        checkpoints: manifest.checkpoints.len(),
        files: manifest.files().count(),
        bytes,
        damage,
        others,
    }))
}

/// The manifest as a run takes it: the copy (then `true`), where the manifest is missing or damaged.
fn manifest_of(folder: &Folder) -> Result<Option<(Manifest, bool)>, CacheError> {
    either(Manifest::read(folder, MANIFEST), Manifest::read(folder, MANIFEST_COPY))
}

/// What is wrong with one of the two manifests, of which the other is good.
fn of_manifest(folder: &Folder, name: &str, good: &str) -> Result<Option<String>, CacheError> {
    let fault = match Manifest::read(folder, name) {
        Ok(Some(_)) => return Ok(None),
        Ok(None) => "is missing",
        Err(why) if why.is_disk() => return Err(why),
        Err(_) => "is damaged: it is no manifest",
    };
    Ok(Some(format!("{name} {fault}; {good} is whole, and `undine run` writes it again from that")))
}

/// Reads the files of all frames. `read` is told of all their bytes and of those read.
pub(super) fn frames(
    folder: &Folder,
    manifest: &Manifest,
    read: &mut dyn FnMut(u64, u64),
) -> Result<Vec<Damage>, CacheError> {
    let length = |file: &FileEntry| file.length;
    let all: u64 = manifest.frames.iter().flat_map(|entry| &entry.files).map(length).sum();
    let (mut damage, mut done) = (Vec::new(), 0);
    for entry in &manifest.frames {
        let mut faults = Vec::new();
        for file in &entry.files {
            faults.extend(folder.verify(file)?);
            done += file.length;
            read(all, done);
        }
        if !faults.is_empty() {
            damage.push(Damage { frame: entry.frame, why: faults.join(", ") });
        }
    }
    Ok(damage)
}
