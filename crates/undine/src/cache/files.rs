//! The few things a cache does to files, and the machine's disk that does them.
//!
//! All of it goes through [`Disk`], so that tests can put a disk there that fails or stops at any operation.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::Path;

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
