//! The few things a cache does to files, and how it does them so that a file is there whole or not at all.
//!
//! Every file is written under a temporary name, synced, and only then given its own name; a name lasts once its folder is
//! synced. All of it goes through [`Disk`], so that tests can put a disk there that fails or stops at any operation.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::error::{CacheError, DiskError, Doing, Trouble};
use super::manifest::FileEntry;
use super::names::{FrameId, TEMPORARY};

/// How much is gathered before it goes to the disk [bytes].
const GATHERED: usize = 256 << 10;

/// The operations on files that a cache is made of.
pub trait Disk: Send + Sync + fmt::Debug {
    /// Makes a folder and those above it, so that they last; fine if it is there.
    fn create_folder(&self, folder: &Path) -> io::Result<()>;
    /// Begins a file that must not be there yet.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Opens a file for more at its end; makes it if it is not there.
    fn append(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Opens a file to be read from its beginning.
    fn read(&self, path: &Path) -> io::Result<Box<dyn Read + Send>>;
    /// Gives a file another name, in place of what bore it before.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Waits until the names in a folder are on the disk.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// The names of the plain files in a folder, sorted, with their lengths. Names that are no Unicode are not ours.
    fn list(&self, folder: &Path) -> io::Result<Vec<(String, u64)>>;
    /// What is free for us where a folder lies [bytes].
    fn free(&self, folder: &Path) -> io::Result<u64>;
    /// Tries to lock a file for this process; the lock goes with its guard, or with the process, however that ends.
    fn lock(&self, path: &Path) -> io::Result<Lock>;
}

/// A file that is being written.
pub trait DiskFile: Write + Send {
    /// Waits until all that was written is on the disk.
    fn sync(&mut self) -> io::Result<()>;
}

/// What came of trying to lock.
pub enum Lock {
    /// It is ours while the guard lives.
    Ours(Box<dyn Send + Sync>),
    /// Another process has it, which wrote its id there.
    Theirs(Option<u32>),
    /// This file system knows no locks.
    Unknown,
}

/// The disk of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        if folder.is_dir() {
            return Ok(());
        }
        // Each new name lasts only once the folder above is synced.
        let above = folder.parent().filter(|above| !above.as_os_str().is_empty());
        if let Some(above) = above {
            self.create_folder(above)?;
        }
        match fs::create_dir(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists || !folder.is_dir() => {
                return Err(error);
            }
            _ => {}
        }
        self.sync_folder(above.unwrap_or(Path::new(".")))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(OpenOptions::new().write(true).create_new(true).open(path)?))
    }

    fn append(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(OpenOptions::new().append(true).create(true).open(path)?))
    }

    fn read(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(File::open(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        // Elsewhere a folder cannot be opened as a file; there names last with the journal.
        if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<(String, u64)>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let about = match entry.metadata() {
                // Removed since the folder was opened.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                about => about?,
            };
            if let (true, Ok(name)) = (about.is_file(), entry.file_name().into_string()) {
                files.push((name, about.len()));
            }
        }
        files.sort();
        Ok(files)
    }

    fn free(&self, folder: &Path) -> io::Result<u64> {
        free_space(folder)
    }

    fn lock(&self, path: &Path) -> io::Result<Lock> {
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => {
                file.set_len(0)?;
                writeln!(file, "{}", std::process::id())?;
                Ok(Lock::Ours(Box::new(file)))
            }
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                let process =
                    file.take(32).read_to_string(&mut text).ok().and(text.trim().parse().ok());
                Ok(Lock::Theirs(process))
            }
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                Ok(Lock::Unknown)
            }
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

impl DiskFile for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}

#[cfg(unix)]
fn free_space(folder: &Path) -> io::Result<u64> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(folder.as_os_str().as_bytes())?;
    let mut about = std::mem::MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: `path` ends in a zero byte and lives through the call; `about` has room for what is written.
    if unsafe { libc::statvfs(path.as_ptr(), about.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so it filled `about`.
    let about = unsafe { about.assume_init() };
    #[allow(clippy::unnecessary_cast, reason = "the widths differ between systems")]
    Ok((about.f_bavail as u64).saturating_mul(about.f_frsize as u64))
}

#[cfg(not(unix))]
fn free_space(_: &Path) -> io::Result<u64> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A cache's folder on its disk: writes files whole, and says what a failure means for the cache.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    pub disk: Arc<dyn Disk>,
    pub path: PathBuf,
    /// The last moment that the manifest lists, for the messages of all who write here.
    whole: Arc<Mutex<Option<FrameId>>>,
}

impl Folder {
    /// A folder on a disk; it need not be there yet.
    pub fn new(disk: Arc<dyn Disk>, path: &Path) -> Folder {
        Folder { disk, path: path.to_owned(), whole: Arc::default() }
    }

    /// The last moment that the manifest lists.
    pub fn whole(&self) -> Option<FrameId> {
        *self.whole.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the last moment that the manifest lists.
    pub fn set_whole(&self, last: Option<FrameId>) {
        *self.whole.lock().unwrap_or_else(PoisonError::into_inner) = last;
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
            whole: self.whole(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_space_is_told_for_folders_that_exist() {
        assert!(RealDisk.free(&std::env::temp_dir()).unwrap() > 0);
        assert!(RealDisk.free(Path::new("/no/such/folder")).is_err());
        assert!(RealDisk.free(Path::new("zero\0byte")).is_err());
    }
}
