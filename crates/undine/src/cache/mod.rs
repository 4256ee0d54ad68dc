//! The cache of a run: frames that are whole, checkpoints to go on from, and a manifest that says which is which.
//!
//! ```text
//! cache/liquid.1001.ply            a frame's file, NAME.FRAME.EXT
//! cache/liquid.1001.25.ply         the same a quarter of a frame later
//! cache/checkpoint.1001.undine     the full state at the end of frame 1001
//! cache/manifest.json              what is whole, with lengths and checksums, and the scene that made it
//! cache/manifest.copy.json         the same, for when that is lost
//! cache/stats.jsonl, log.txt, …    sidecars: not compared, not listed
//! cache/.undine-lock               locked while a run writes
//! ```
//!
//! A run may end at any moment, by a kill or a power cut, and the same command goes on and leaves the same bytes. The order
//! of writing gives that: (1) each file under a temporary name, synced; (2) renamed; (3) the folder synced; (4) the manifest,
//! in the same three steps. So whatever the manifest lists is whole, and whatever it does not list is written again.

mod error;
#[doc(hidden)]
pub mod faults;
mod files;
mod folder;
mod frame;
mod keep;
mod manifest;
mod names;
mod resume;
mod sidecar;
mod verify;

use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use error::{CacheError, DiskError, Doing, Trouble};
pub use files::{Disk, DiskFile, Lock, RealDisk};
pub use frame::FrameWriter;
pub use keep::Keep;
pub use manifest::{
    CheckpointEntry, Difference, EarlierScene, FileEntry, FrameEntry, Manifest, SceneRecord,
};
pub use names::{FrameId, LOCK, MANIFEST, MANIFEST_COPY, TEMPORARY};
pub use resume::{Choice, Note, Start, Which};
pub use sidecar::Lines;
pub use verify::{Damage, Verified, verify};

use folder::{Folder, temporary};

/// A cache that this process writes.
pub struct Cache {
    folder: Folder,
    manifest: Manifest,
    /// The frame that the run goes on from.
    after: Option<i64>,
    /// Held while the cache is open; nothing on file systems without locks.
    _lock: Option<Box<dyn Send + Sync>>,
}

impl Cache {
    /// Opens a cache for a run of `scene`, or begins it, and says where the run starts.
    pub fn open(
        folder: &Path,
        scene: &SceneRecord,
        keep: Keep,
        choice: Choice,
    ) -> Result<(Cache, Start), CacheError> {
        Cache::open_on(Arc::new(RealDisk), folder, scene, keep, choice)
    }

    /// As [`Cache::open`], on a disk of one's own.
    pub fn open_on(
        disk: Arc<dyn Disk>,
        path: &Path,
        scene: &SceneRecord,
        keep: Keep,
        choice: Choice,
    ) -> Result<(Cache, Start), CacheError> {
        let folder = Folder::new(disk, path);
        folder
            .disk
            .create_folder(path)
            .map_err(|error| folder.failure(Doing::MakeFolder, "", error))?;
        let mut notes = Vec::new();
        let lock = match folder
            .disk
            .lock(&path.join(LOCK))
            .map_err(|e| folder.failure(Doing::Lock, LOCK, e))?
        {
            Lock::Ours(guard) => Some(guard),
            Lock::Theirs(process) => {
                return Err(CacheError::Busy { folder: path.to_owned(), process });
            }
            Lock::Unknown => {
                notes.push(Note::NoLock);
                None
            }
        };

        let found = resume::look(&folder, &mut notes)?;
        let plan = resume::decide(&folder, found, scene, keep, choice, &mut notes)?;
        let after = plan.after;
        folder.set_whole(plan.manifest.last());
        let mut cache = Cache { folder, manifest: plan.manifest.clone(), after, _lock: lock };
        cache.settle(plan)?;
        Ok((cache, Start { after, notes }))
    }

    /// Makes the folder what the plan says: first the manifest names what leaves, then that is removed, then it is forgotten.
    fn settle(&mut self, plan: resume::Plan) -> Result<(), CacheError> {
        let resume::Plan { manifest, leaving, written, .. } = plan;
        if !leaving.is_empty() {
            let mut before = manifest.clone();
            before.leaving.clone_from(&leaving);
            self.commit(before)?;
            leaving.iter().try_for_each(|name| self.folder.remove(name))?;
            self.folder.sync()?;
        } else if written {
            return Ok(());
        }
        self.commit(manifest)
    }

    /// Begins the next frame, or a moment between two.
    pub fn begin_frame(&mut self, frame: FrameId) -> Result<FrameWriter<'_>, CacheError> {
        match self.manifest.last() {
            Some(last) if frame <= last => Err(CacheError::Order { frame, last }),
            _ => Ok(FrameWriter::new(self, frame)),
        }
    }

    /// Writes the checkpoint at the end of a frame, as `content` streams it, and lets go of those that need not stay.
    pub fn checkpoint<E: From<CacheError>>(
        &mut self,
        frame: i64,
        content: impl FnOnce(&mut dyn Write) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Some(last) = self.manifest.checkpoints.last()
            && frame <= last.frame
        {
            let (frame, last) = (FrameId::whole(frame), FrameId::whole(last.frame));
            return Err(CacheError::Order { frame, last }.into());
        }
        let file = self.folder.write_temporary(&names::checkpoint(frame), content)?;
        Ok(self.list_checkpoint(CheckpointEntry { frame, file })?)
    }

    fn list_checkpoint(&mut self, entry: CheckpointEntry) -> Result<(), CacheError> {
        let name = entry.file.name.clone();
        self.folder.publish(&name).inspect_err(|_| self.folder.discard(&temporary(&name)))?;
        let mut manifest = self.manifest.clone();
        manifest.checkpoints.push(entry.clone());
        let gone = manifest.keep.prune(&mut manifest.checkpoints);
        let listed = self.folder.sync().and_then(|()| self.commit(manifest));
        if self.manifest.checkpoints.last() != Some(&entry) {
            self.folder.discard(&name);
        }
        listed?;
        // Only now, when the newer one lasts. One that comes back after a power cut is not listed, and swept.
        gone.iter().try_for_each(|old| self.folder.remove(&old.file.name))
    }

    /// The last checkpoint: the frame at whose end it was taken, and its content from the beginning.
    pub fn read_checkpoint(&self) -> Result<Option<(i64, impl Read + use<>)>, CacheError> {
        let Some(CheckpointEntry { frame, file }) = self.manifest.checkpoints.last() else {
            return Ok(None);
        };
        let reader = self.folder.disk.read(&self.folder.path.join(&file.name));
        let reader = reader.map_err(|error| self.folder.failure(Doing::Read, &file.name, error))?;
        Ok(Some((*frame, BufReader::with_capacity(256 << 10, reader))))
    }

    /// The moments that are whole, in order.
    pub fn frames(&self) -> &[FrameEntry] {
        &self.manifest.frames
    }

    /// What the cache holds.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Where a file of the cache lies.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path.join(name)
    }

    /// What is free for us where the cache lies [bytes]; nothing if the system does not tell.
    pub fn free(&self) -> Option<u64> {
        self.folder.disk.free(&self.folder.path).ok()
    }

    /// Reads every listed frame, and fails if one is not what the manifest says. `read` is told of all bytes and of those read.
    pub fn check_frames(&self, read: &mut dyn FnMut(u64, u64)) -> Result<(), CacheError> {
        let mut damage = verify::frames(&self.folder, &self.manifest, read)?;
        damage.extend(self.manifest.lost.iter().map(|&frame| Damage::left_out(frame)));
        damage.sort_by_key(|damage| damage.frame);
        match damage.is_empty() {
            true => Ok(()),
            false => Err(CacheError::Damaged { folder: self.folder.path.clone(), damage }),
        }
    }

    /// Reads every listed file, and says which are not what the manifest says.
    pub fn verify(&self) -> Result<Vec<String>, CacheError> {
        let found: Result<Vec<_>, _> =
            self.manifest.files().map(|file| self.folder.verify(file)).collect();
        Ok(found?.into_iter().flatten().collect())
    }

    /// Makes a manifest the one that counts. From the rename on it does, even if a later step fails.
    fn commit(&mut self, manifest: Manifest) -> Result<(), CacheError> {
        let bytes = manifest.to_bytes();
        self.folder.replace(MANIFEST, &bytes)?;
        self.manifest = manifest;
        self.folder.set_whole(self.manifest.last());
        // One sync for both names: whichever of them a power cut takes, the other tells of whole files only.
        self.folder.write_whole(MANIFEST_COPY, &bytes)
    }
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cache")
            .field("folder", &self.folder.path)
            .field("whole", &self.folder.whole())
            .finish()
    }
}

/// Reads what a cache holds, without locking or changing it; nothing if the folder has no manifest.
pub fn read_manifest(folder: &Path) -> Result<Option<Manifest>, CacheError> {
    read_manifest_on(Arc::new(RealDisk), folder)
}

/// As [`read_manifest`], on a disk of one's own.
pub fn read_manifest_on(
    disk: Arc<dyn Disk>,
    folder: &Path,
) -> Result<Option<Manifest>, CacheError> {
    Manifest::read(&Folder::new(disk, folder), MANIFEST)
}

/// Replaces a file whole or not at all: temporary name, sync, rename, sync of the folder.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), CacheError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = Folder::new(Arc::new(RealDisk), folder.unwrap_or(Path::new(".")));
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    folder.write_whole(&name, bytes)
}
