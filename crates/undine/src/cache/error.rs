//! What can go wrong with a cache, said so that a person knows what is safe and what to do.

use std::fmt;
use std::io;
use std::path::PathBuf;

use thiserror::Error;
use undine_core::memory::in_words;

use super::manifest::Difference;
use super::names::FrameId;
use super::verify::{Damage, first_damaged};

/// Why a cache cannot be opened, read or written.
#[derive(Debug, Error)]
pub enum CacheError {
    /// The disk, or the folder on it, does not let us.
    #[error(transparent)]
    Disk(Box<DiskError>),
    /// Another run writes this cache at this moment.
    #[error(
        "{} is being written by another run{}; wait for it or end it, or give this run another output folder",
        folder.display(),
        process.map(|id| format!(" (process {id})")).unwrap_or_default()
    )]
    Busy {
        /// The cache.
        folder: PathBuf,
        /// The other run's process, where it could be read.
        process: Option<u32>,
    },
    /// The frames that are there were made by another scene.
    #[error(
        "{} was made by another scene:\n{}  run with --fresh to throw its frames away and begin again, \
         or with --keep to keep them and go on with the changed scene",
        folder.display(),
        list(differences)
    )]
    Changed {
        /// The cache.
        folder: PathBuf,
        /// What differs, sorted by path.
        differences: Vec<Difference>,
    },
    /// Frames that the manifest lists are not as it lists them.
    #[error(
        "{} is not whole:\n{}  run with --from {} to make {} and all after it again, or with --keep to go on without",
        folder.display(),
        list(damage),
        first_damaged(damage),
        if damage.len() == 1 { "it" } else { "them" }
    )]
    Damaged {
        /// The cache.
        folder: PathBuf,
        /// What is damaged, in order.
        damage: Vec<Damage>,
    },
    /// A manifest that cannot be believed.
    #[error("{}: {why}; run with --fresh to begin again, or put the right file back", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A manifest of another format.
    #[error(
        "{} has format version {found}, this Undine reads version {known}; \
         go on with the Undine that wrote it ({undine}), or run with --fresh to begin again",
        path.display()
    )]
    Version {
        /// The manifest.
        path: PathBuf,
        /// The version that it has.
        found: u64,
        /// The version that is understood here.
        known: u32,
        /// The Undine that wrote it, as it says.
        undine: String,
    },
    /// Files that look like frames, and nothing that tells whether they are whole.
    #[error(
        "{} holds {count} files that look like frames ({example}, …) but no manifest, so that nothing tells whether they \
         are whole; give this run another output folder, put {} back, or run with --fresh to begin again",
        folder.display(),
        super::names::MANIFEST
    )]
    ManifestLost {
        /// The cache.
        folder: PathBuf,
        /// How many there are.
        count: usize,
        /// The first of them.
        example: String,
    },
    /// A name that no file in a cache can have.
    #[error("`{name}` cannot name a file of the cache: it {why}")]
    Name {
        /// The name.
        name: String,
        /// What would be right.
        why: &'static str,
    },
    /// One output written twice in a frame.
    #[error("output `{output}` is written twice in frame {frame}; give the two outputs two names")]
    Twice {
        /// The output.
        output: String,
        /// The moment.
        frame: FrameId,
    },
    /// A frame or checkpoint that does not come after those that are there.
    #[error(
        "frame {frame} comes after frame {last}, which is already in the cache; frames are written in order"
    )]
    Order {
        /// The moment that was to be written.
        frame: FrameId,
        /// The last one in the manifest.
        last: FrameId,
    },
}

impl CacheError {
    /// Whether the disk is at fault, and not the scene or the way we were called.
    pub fn is_disk(&self) -> bool {
        matches!(self, CacheError::Disk(_) | CacheError::Damaged { .. })
    }

    /// The frame that a run has to begin with to make good what is damaged.
    pub fn remade_from(&self) -> Option<i64> {
        match self {
            CacheError::Damaged { damage, .. } => Some(first_damaged(damage)),
            _ => None,
        }
    }
}

/// An operation that the disk refused.
#[derive(Debug)]
pub struct DiskError {
    /// What was being done.
    pub doing: Doing,
    /// To which file or folder.
    pub path: PathBuf,
    /// The kind of trouble.
    pub trouble: Trouble,
    /// The cache's folder.
    pub folder: PathBuf,
    /// The last moment that the manifest lists; it and all before it are safe.
    pub whole: Option<FrameId>,
    /// Whether it is known what the manifest lists: not before it is read, nor of a folder that is no cache.
    pub is_known: bool,
    /// What the system said.
    pub source: io::Error,
}

/// The operation that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Making the folder.
    MakeFolder,
    /// Beginning a file.
    Create,
    /// Writing into it.
    Write,
    /// Waiting until it is on the disk.
    Sync,
    /// Giving it its name.
    Rename,
    /// Removing it.
    Remove,
    /// Reading it.
    Read,
    /// Looking into the folder.
    List,
    /// Locking the cache.
    Lock,
}

/// What kind of trouble a disk has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// No space left, or a quota or a limit of file size reached.
    Full {
        /// What is free there \[bytes\], where that is known.
        free: Option<u64>,
    },
    /// No permission, or a file system that is read-only.
    Permission,
    /// The folder is gone.
    Vanished,
    /// Anything else; the system's words say what.
    Other,
}

impl std::error::Error for DiskError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

impl fmt::Display for DiskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (doing, path, folder) = (self.doing, self.path.display(), self.folder.display());
        match self.trouble {
            Trouble::Full { free } => {
                write!(f, "disk full while {doing} {path}")?;
                if let Some(free) = free {
                    write!(f, " ({} free)", in_words(free))?;
                }
            }
            Trouble::Permission => write!(f, "no permission for {doing} {path}")?,
            Trouble::Vanished => write!(f, "folder {folder} vanished while {doing} {path}")?,
            Trouble::Other => write!(f, "{doing} {path} failed")?,
        }
        write!(f, ": {}", self.source)?;
        match self.whole {
            // Whatever it held is gone with it.
            _ if !self.is_known || self.trouble == Trouble::Vanished => {}
            Some(last) => {
                write!(f, "; nothing written is lost, {folder} is whole to frame {last}")?;
            }
            None => write!(f, "; {folder} has no whole frame yet")?,
        }
        match self.trouble {
            Trouble::Full { .. } => write!(f, "; free some space and run the same command again"),
            Trouble::Permission => {
                write!(f, "; make {folder} writable and run the same command again")
            }
            Trouble::Vanished => {
                write!(f, "; bring the folder back and run the same command again")
            }
            // Nobody knows what would help.
            Trouble::Other => Ok(()),
        }
    }
}

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Doing::MakeFolder => "making folder",
            Doing::Create => "creating",
            Doing::Write => "writing",
            Doing::Sync => "syncing",
            Doing::Rename => "renaming to",
            Doing::Remove => "removing",
            Doing::Read => "reading",
            Doing::List => "listing",
            Doing::Lock => "locking",
        })
    }
}

/// The first of them, one a line; a scene that has nothing in common would fill the screen.
pub(super) fn list<T: fmt::Display>(found: &[T]) -> String {
    const SHOWN: usize = 20;
    let mut text: String = found.iter().take(SHOWN).map(|one| format!("  {one}\n")).collect();
    if found.len() > SHOWN {
        text += &format!("  … and {} more\n", found.len() - SHOWN);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_frames_are_told_of_where_they_are_known() {
        let told = |is_known, whole| {
            let source = io::ErrorKind::PermissionDenied.into();
            let (path, folder) = ("c/report.html".into(), "c".into());
            let (doing, trouble) = (Doing::Create, Trouble::Permission);
            DiskError { doing, path, trouble, folder, whole, is_known, source }.to_string()
        };
        assert!(told(true, None).contains("c has no whole frame yet"));
        assert!(told(true, Some(FrameId::whole(8))).contains("c is whole to frame 0008"));
        let unknown = told(false, None);
        assert!(!unknown.contains("whole") && unknown.contains("make c writable"), "{unknown}");
    }
}
