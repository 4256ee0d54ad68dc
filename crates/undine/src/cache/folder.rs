//! A cache's folder: how a file comes to be there whole or not at all.
//!
//! Every file is written under a temporary name, synced, and only then given its own name; a name lasts once its folder is
//! synced. Length and checksum are taken on the way, so that no file is ever held in memory or read twice.

use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::error::{CacheError, DiskError, Doing, Trouble};
use super::files::{Disk, DiskFile};
use super::manifest::FileEntry;
use super::names::{FrameId, TEMPORARY};

/// How much is gathered before it goes to the disk [bytes].
const GATHERED: usize = 256 << 10;

/// A cache's folder on its disk: writes files whole, and says what a failure means for the cache.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    pub disk: Arc<dyn Disk>,
    pub path: PathBuf,
    /// The last moment that the manifest lists, for the messages of all who write here; nothing, before that is known.
    whole: Arc<Mutex<Option<Option<FrameId>>>>,
}

impl Folder {
    /// A folder on a disk; it need not be there yet.
    pub fn new(disk: Arc<dyn Disk>, path: &Path) -> Folder {
        Folder { disk, path: path.to_owned(), whole: Arc::default() }
    }

    /// The last moment that the manifest lists; nothing, before that is known.
    pub fn whole(&self) -> Option<Option<FrameId>> {
        *self.whole.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the last moment that the manifest lists.
    pub fn set_whole(&self, last: Option<FrameId>) {
        *self.whole.lock().unwrap_or_else(PoisonError::into_inner) = Some(last);
    }

    /// Writes a file under its temporary name, synced, as `content` streams it; length and checksum are taken on the way.
    ///
    /// If the disk fails, that is the error, whatever `content` makes of it.
    pub fn write_temporary<E: From<CacheError>>(
        &self,
        name: &str,
        content: impl FnOnce(&mut dyn Write) -> Result<(), E>,
    ) -> Result<FileEntry, E> {
        let written = self.stream(&temporary(name), content);
        if written.is_err() {
            // The file is of no use; that it cannot be removed either would hide the cause.
            let _ = self.disk.remove(&self.path.join(temporary(name)));
        }
        let (length, crc32) = written?;
        Ok(FileEntry { name: name.to_owned(), length, crc32 })
    }

    fn stream<E: From<CacheError>>(
        &self,
        name: &str,
        content: impl FnOnce(&mut dyn Write) -> Result<(), E>,
    ) -> Result<(u64, u32), E> {
        let path = self.path.join(name);
        let file =
            self.disk.create(&path).map_err(|error| self.failure(Doing::Create, name, error))?;
        let summed = Summed { file, length: 0, sum: crc32fast::Hasher::new(), failure: None };
        let mut writer = BufWriter::with_capacity(GATHERED, summed);
        let told = content(&mut writer);
        let flushed = if told.is_ok() { writer.flush() } else { Ok(()) };
        // Taken apart, so that nothing is written when it is dropped.
        let mut summed = writer.into_parts().0;
        if let Some(error) = summed.failure.take().or(flushed.err()) {
            return Err(self.failure(Doing::Write, name, error).into());
        }
        told?;
        summed.file.sync().map_err(|error| self.failure(Doing::Sync, name, error))?;
        Ok((summed.length, summed.sum.finalize()))
    }

    /// Gives a file that was written under its temporary name its own.
    pub fn publish(&self, name: &str) -> Result<(), CacheError> {
        self.disk
            .rename(&self.path.join(temporary(name)), &self.path.join(name))
            .map_err(|error| self.failure(Doing::Rename, name, error))
    }

    /// Makes what was renamed and removed last.
    pub fn sync(&self) -> Result<(), CacheError> {
        self.disk.sync_folder(&self.path).map_err(|error| self.failure(Doing::Sync, "", error))
    }

    /// Removes a file, if it is there.
    pub fn remove(&self, name: &str) -> Result<(), CacheError> {
        match self.disk.remove(&self.path.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done.map_err(|error| self.failure(Doing::Remove, name, error)),
        }
    }

    /// Removes what a write that failed left behind, as far as the disk lets us.
    pub fn discard(&self, name: &str) {
        let _ = self.disk.remove(&self.path.join(name));
    }

    /// Replaces a whole file: temporary name, sync, rename, sync of the folder.
    pub fn write_whole(&self, name: &str, bytes: &[u8]) -> Result<(), CacheError> {
        self.replace(name, bytes)?;
        self.sync()
    }

    /// As [`Folder::write_whole`], but the new name may not last yet.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), CacheError> {
        self.write_temporary(name, |file| {
            file.write_all(bytes).map_err(|error| self.failure(Doing::Write, name, error))
        })?;
        self.publish(name).inspect_err(|_| self.discard(&temporary(name)))
    }

    /// Why a file is not what its entry says; nothing if it is. Reads it whole.
    pub fn verify(&self, entry: &FileEntry) -> Result<Option<String>, CacheError> {
        let name = &entry.name;
        let mut file = match self.disk.read(&self.path.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Some(format!("{name} is missing")));
            }
            file => file.map_err(|error| self.failure(Doing::Read, name, error))?,
        };
        let (mut length, mut sum) = (0_u64, crc32fast::Hasher::new());
        let mut buffer = vec![0; GATHERED];
        loop {
            match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    sum.update(&buffer[..count]);
                    length += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A sector that cannot be read is damage, like one that reads wrong.
                Err(error) => return Ok(Some(format!("{name} cannot be read: {error}"))),
            }
        }
        Ok(if length != entry.length {
            Some(format!("{name} has {length} bytes, not {}", entry.length))
        } else if sum.finalize() != entry.crc32 {
            Some(format!("{name} has another checksum"))
        } else {
            None
        })
    }

    /// Says what an error of the disk means for the cache.
    pub fn failure(&self, doing: Doing, name: &str, source: io::Error) -> CacheError {
        use io::ErrorKind as Kind;
        let trouble = match source.kind() {
            Kind::StorageFull | Kind::QuotaExceeded | Kind::FileTooLarge => {
                Trouble::Full { free: self.disk.free(&self.path).ok() }
            }
            Kind::PermissionDenied | Kind::ReadOnlyFilesystem => Trouble::Permission,
            Kind::NotFound if self.disk.list(&self.path).is_err() => Trouble::Vanished,
            _ => Trouble::Other,
        };
        let path = if name.is_empty() { self.path.clone() } else { self.path.join(name) };
        let folder = self.path.clone();
        CacheError::Disk(Box::new(DiskError {
            doing,
            path,
            trouble,
            folder,
            whole: self.whole().flatten(),
            is_known: self.whole().is_some(),
            source,
        }))
    }
}

/// The name that a file has until it is whole.
pub(super) fn temporary(name: &str) -> String {
    format!("{TEMPORARY}{name}")
}

/// Takes length and checksum of what passes, and remembers a failure for those who look at the disk's errors only later.
struct Summed {
    file: Box<dyn DiskFile>,
    length: u64,
    sum: crc32fast::Hasher,
    failure: Option<io::Error>,
}

impl Write for Summed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match self.file.write(bytes) {
            Ok(0) if !bytes.is_empty() => Err(io::ErrorKind::WriteZero.into()),
            written => written,
        };
        match written {
            Ok(count) => {
                self.sum.update(&bytes[..count]);
                self.length += count as u64;
                Ok(count)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                let again = error
                    .raw_os_error()
                    .map_or_else(|| error.kind().into(), io::Error::from_raw_os_error);
                self.failure.get_or_insert(error);
                Err(again)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
