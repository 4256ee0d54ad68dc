//! What a run does with a folder that it finds: begin, go on from a checkpoint, or refuse and say why.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::error::{CacheError, Doing};
use super::folder::Folder;
use super::keep::Keep;
use super::manifest::{
    CheckpointEntry, EarlierScene, FileEntry, FrameEntry, Manifest, SceneRecord,
};
use super::names::{self, FrameId, MANIFEST, MANIFEST_COPY, TEMPORARY};
use super::verify::{Damage, remade_from};

/// What the user wants done with what is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Go on, keep or begin again.
    pub which: Which,
    /// Redo this frame and all after it (`--from`); not looked at when beginning again.
    pub from: Option<i64>,
}

/// Whether what is there is gone on with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Which {
    /// Go on if the scene is the same, refuse if not.
    #[default]
    Resume,
    /// Keep the frames of a changed scene, and go on with the new one (`--keep`).
    Keep,
    /// Throw away what is there, and begin again (`--fresh`).
    Fresh,
}

/// Where a run starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// The frame whose checkpoint the run goes on from; nothing if it begins at the beginning.
    pub after: Option<i64>,
    /// What a person should know about it.
    pub notes: Vec<Note>,
}

/// Something that was found when a cache was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// The file system knows no locks.
    NoLock,
    /// Files under way when a run ended were removed.
    Swept(usize),
    /// The manifest was lost or damaged, and its copy, checked against all files, took its place.
    Restored,
    /// A manifest that cannot be believed was thrown away, because the user asked to begin again.
    Unreadable(String),
    /// A checkpoint is damaged, and an older one is used.
    Checkpoint {
        /// The frame at whose end it was taken.
        frame: i64,
        /// What is wrong with it.
        why: String,
    },
    /// A frame before the start is damaged, and the run was told to go on without it: it is no longer listed.
    Frame {
        /// The moment.
        frame: FrameId,
        /// What is wrong with it.
        why: String,
    },
    /// Frames after the start are dropped and made again.
    Redone {
        /// The first of them.
        first: FrameId,
        /// The last of them.
        last: FrameId,
        /// The frame that was to be the first of them, if one was asked for.
        asked: Option<i64>,
    },
    /// Frames of a scene that has changed since are kept, up to this one.
    Kept(i64),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::NoLock => write!(
                f,
                "this file system knows no locks: see to it that no other run writes this cache"
            ),
            Note::Swept(count) => {
                write!(f, "removed {count} unfinished files of a run that was ended")
            }
            Note::Restored => write!(
                f,
                "{MANIFEST} was lost or damaged; restored from its copy, every file checked"
            ),
            Note::Unreadable(why) => {
                write!(f, "begins again in place of a cache that cannot be read: {why}")
            }
            Note::Checkpoint { frame, why } => {
                write!(f, "the checkpoint of frame {frame} is damaged ({why}): not used")
            }
            Note::Frame { frame, why } => {
                write!(
                    f,
                    "frame {frame} is damaged ({why}) and left out; --from {} makes it again",
                    remade_from(*frame)
                )
            }
            Note::Redone { first, last, asked: None } => {
                write!(f, "frames {first} to {last} have no checkpoint and are made again")
            }
            Note::Redone { first, last, asked: Some(asked) } if first.frame() >= *asked => {
                write!(f, "frames {first} to {last} are made again")
            }
            Note::Redone { first, last, asked: Some(asked) } => write!(
                f,
                "no checkpoint is left of frame {} (checkpoint-keep says how many stay): the run goes back to frame {}, \
                 and frames {first} to {last} are made again",
                asked.saturating_sub(1),
                first.frame()
            ),
            Note::Kept(last) => write!(
                f,
                "the scene has changed; the frames to {last} are those of the earlier one"
            ),
        }
    }
}

/// What lies in the folder.
pub(super) struct Found {
    files: BTreeMap<String, u64>,
    manifest: Result<Option<Manifest>, CacheError>,
    copy: Result<Option<Manifest>, CacheError>,
}

/// What is to be done.
pub(super) struct Plan {
    /// The manifest to begin with.
    pub manifest: Manifest,
    /// Whether it is in the folder already, and its copy too.
    pub written: bool,
    /// The files to be removed.
    pub leaving: Vec<String>,
    /// The frame whose checkpoint the run goes on from.
    pub after: Option<i64>,
}

/// Looks into a folder and sweeps what was under way when a run ended.
pub(super) fn look(folder: &Folder, notes: &mut Vec<Note>) -> Result<Found, CacheError> {
    let listed =
        folder.disk.list(&folder.path).map_err(|error| folder.failure(Doing::List, "", error))?;
    let (under_way, rest): (Vec<_>, Vec<_>) =
        listed.into_iter().partition(|(name, _)| name.starts_with(TEMPORARY));
    under_way.iter().try_for_each(|(name, _)| folder.remove(name))?;
    if !under_way.is_empty() {
        notes.push(Note::Swept(under_way.len()));
    }
    Ok(Found {
        files: rest.into_iter().collect(),
        manifest: Manifest::read(folder, MANIFEST),
        copy: Manifest::read(folder, MANIFEST_COPY),
    })
}

/// Decides where a run starts, from what lies in the folder. Changes nothing.
pub(super) fn decide(
    folder: &Folder,
    found: Found,
    scene: &SceneRecord,
    keep: Keep,
    choice: Choice,
    notes: &mut Vec<Note>,
) -> Result<Plan, CacheError> {
    let fresh = choice.which == Which::Fresh;
    let Found { files, manifest, copy } = found;
    let both =
        matches!((&manifest, &copy), (Ok(Some(manifest)), Ok(Some(copy))) if manifest == copy);
    let (before, restored) = match believed(folder, &files, manifest, copy) {
        Err(error) if fresh && !error.is_disk() => {
            notes.push(Note::Unreadable(error.to_string()));
            (None, false)
        }
        believed => believed?,
    };
    let before = before.unwrap_or_else(|| Manifest::new(scene, keep));
    let differences = before.differences(scene);
    let empty = before.frames.is_empty() && before.checkpoints.is_empty();
    if !differences.is_empty() && choice.which == Which::Resume && !empty {
        return Err(CacheError::Changed { folder: folder.path.clone(), differences });
    }
    if restored {
        notes.push(Note::Restored);
    }

    let checkpoints = if fresh { Vec::new() } else { usable(folder, &before, choice.from, notes)? };
    let after = checkpoints.last().map(|last| last.frame);
    let stays =
        |entry: &FrameEntry| after.is_some_and(|after| entry.frame <= FrameId::whole(after));
    let (stay, redone): (Vec<_>, Vec<_>) = before.frames.iter().cloned().partition(stays);
    if let (false, Some(first), Some(last)) = (fresh, redone.first(), redone.last()) {
        notes.push(Note::Redone { first: first.frame, last: last.frame, asked: choice.from });
    }

    // Frames that stay were made by the scene before; those after the start will be made by this one.
    let mut manifest = Manifest::new(scene, keep);
    let (whole, mut damage) = part(folder, &files, stay, restored)?;
    let lost = before.lost.iter().copied();
    manifest.lost =
        lost.filter(|lost| after.is_some_and(|after| *lost <= FrameId::whole(after))).collect();
    if choice.which == Which::Resume {
        damage.extend(manifest.lost.iter().map(|&frame| Damage::left_out(frame)));
        damage.sort_by_key(|damage| damage.frame);
        if !damage.is_empty() {
            return Err(CacheError::Damaged { folder: folder.path.clone(), damage });
        }
    }
    manifest.lost.extend(damage.iter().map(|damage| damage.frame));
    manifest.lost.sort();
    notes.extend(damage.into_iter().map(|Damage { frame, why }| Note::Frame { frame, why }));
    manifest.frames = whole;
    manifest.checkpoints = checkpoints;
    if let Some(after) = after {
        manifest.earlier.clone_from(&before.earlier);
        manifest.earlier.iter_mut().for_each(|earlier| earlier.last = earlier.last.min(after));
        if !differences.is_empty() {
            notes.push(Note::Kept(after));
            manifest.earlier.push(EarlierScene { last: after, differences });
        }
    }
    let leaving = leaving(&files, &before, &manifest, after);
    Ok(Plan { written: both && before == manifest, manifest, leaving, after })
}

/// The manifest, or its copy if the manifest is lost or damaged (then `true`), or nothing in a folder without frames.
fn believed(
    folder: &Folder,
    files: &BTreeMap<String, u64>,
    manifest: Result<Option<Manifest>, CacheError>,
    copy: Result<Option<Manifest>, CacheError>,
) -> Result<(Option<Manifest>, bool), CacheError> {
    match either(manifest, copy)? {
        Some((manifest, restored)) => Ok((Some(manifest), restored)),
        None => {
            let ours: Vec<_> = files
                .keys()
                .filter(|name| names::parse(name).is_some() || names::is_checkpoint(name))
                .collect();
            match ours.first() {
                None => Ok((None, false)),
                Some(&example) => Err(CacheError::ManifestLost {
                    folder: folder.path.clone(),
                    count: ours.len(),
                    example: example.clone(),
                }),
            }
        }
    }
}

/// The manifest, or its copy if the manifest is lost or damaged (then `true`); nothing if neither is there.
pub(super) fn either(
    manifest: Result<Option<Manifest>, CacheError>,
    copy: Result<Option<Manifest>, CacheError>,
) -> Result<Option<(Manifest, bool)>, CacheError> {
    match (manifest, copy) {
        (Ok(Some(manifest)), _) => Ok(Some((manifest, false))),
        (Ok(None) | Err(CacheError::Manifest { .. }), Ok(Some(copy))) => Ok(Some((copy, true))),
        (Err(error), _) | (Ok(None), Err(error)) => Err(error),
        (Ok(None), Ok(None)) => Ok(None),
    }
}

/// The checkpoints up to the last one that is whole and ends before frame `from`.
fn usable(
    folder: &Folder,
    before: &Manifest,
    from: Option<i64>,
    notes: &mut Vec<Note>,
) -> Result<Vec<CheckpointEntry>, CacheError> {
    let mut checkpoints = before.checkpoints.clone();
    checkpoints.retain(|entry| from.is_none_or(|from| entry.frame < from));
    while let Some(last) = checkpoints.last() {
        let Some(why) = folder.verify(&last.file)? else { break };
        notes.push(Note::Checkpoint { frame: last.frame, why });
        checkpoints.pop();
    }
    Ok(checkpoints)
}

/// The frames whose files are there with their lengths, and what is damaged of the others. With checksums too if `read` says
/// to look inside: that takes as long as reading the whole cache, so a run that goes on does it only when the manifest itself
/// is in doubt.
fn part(
    folder: &Folder,
    files: &BTreeMap<String, u64>,
    frames: Vec<FrameEntry>,
    read: bool,
) -> Result<(Vec<FrameEntry>, Vec<Damage>), CacheError> {
    let fault = |file: &FileEntry| match files.get(&file.name) {
        None => Ok(Some(format!("{} is missing", file.name))),
        Some(&length) if length != file.length => {
            Ok(Some(format!("{} has {length} bytes, not {}", file.name, file.length)))
        }
        Some(_) if read => folder.verify(file),
        Some(_) => Ok(None),
    };
    let (mut whole, mut damage) = (Vec::with_capacity(frames.len()), Vec::new());
    for entry in frames {
        let found = entry.files.iter().map(fault).find_map(Result::transpose).transpose()?;
        match found {
            Some(why) => damage.push(Damage { frame: entry.frame, why }),
            None => whole.push(entry),
        }
    }
    Ok((whole, damage))
}

/// The files that must go: those of dropped frames, of frames after the start that no manifest came to list, of checkpoints
/// that are not listed, and what an earlier run was about to remove. Nothing else in the folder is touched.
fn leaving(
    files: &BTreeMap<String, u64>,
    before: &Manifest,
    manifest: &Manifest,
    after: Option<i64>,
) -> Vec<String> {
    let listed: BTreeSet<&str> = manifest.files().map(|file| file.name.as_str()).collect();
    let was_leaving: BTreeSet<&str> = before.leaving.iter().map(String::as_str).collect();
    let outputs: BTreeSet<String> = before
        .frames
        .iter()
        .flat_map(|entry| &entry.files)
        .filter_map(|file| Some(names::parse(&file.name)?.output))
        .collect();
    let after_start = |frame: i64, whole: bool| {
        after.is_none_or(|after| frame > after || (frame == after && !whole))
    };
    let goes = |name: &str| {
        was_leaving.contains(name)
            || names::is_checkpoint(name)
            || names::parse(name)
                .is_some_and(|n| outputs.contains(&n.output) && after_start(n.frame, n.whole))
    };
    files.keys().filter(|name| !listed.contains(name.as_str()) && goes(name)).cloned().collect()
}
