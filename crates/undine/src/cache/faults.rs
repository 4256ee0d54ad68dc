//! A disk in memory that fails or stops at a chosen operation, to show that a cache survives it.
//!
//! It keeps apart what a program sees and what is on the platter: bytes last once their file is synced, names once their
//! folder is. After a power cut, of what was not synced any part may be there: names in any combination, files whole, cut
//! short, empty, or of full length with zeros inside.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use super::files::{Disk, DiskFile, Lock};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A write takes only half of what it is given, which is no error.
    ShortWrite,
    /// No space left: half of a write arrives.
    NoSpace,
    /// No permission.
    NoPermission,
    /// A sync reports that the device failed.
    SyncFails,
    /// A rename reports that the device failed.
    RenameFails,
    /// The folder and all in it is gone, and stays gone.
    Vanishes,
    /// The process ends: this write arrives by half, nothing after it happens.
    Stops,
}

/// How the machine goes on after the process stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// It never noticed: a kill loses nothing that was written.
    Kill,
    /// Power came back: what was not synced is there or not, as the seed has it.
    PowerCut(u64),
}

/// The disk.
#[derive(Clone, Debug, Default)]
pub struct FaultyDisk {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    files: Vec<Bytes>,
    /// The names that programs see.
    names: BTreeMap<PathBuf, usize>,
    /// The names on the platter.
    lasting: BTreeMap<PathBuf, usize>,
    /// Changes of names since the folder was synced; each happens as one.
    pending: Vec<Vec<(PathBuf, Option<usize>)>>,
    operations: usize,
    plan: Option<(usize, Fault)>,
    stopped: bool,
    vanished: bool,
    locked: bool,
}

#[derive(Clone, Debug, Default)]
struct Bytes {
    seen: Vec<u8>,
    /// How many of them are on the platter; files here only grow.
    synced: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    Create,
    Write,
    Sync,
    Rename,
    SyncFolder,
    Remove,
    Read,
    List,
}

impl Fault {
    fn befalls(self, operation: Operation) -> bool {
        use Operation::*;
        match self {
            Fault::ShortWrite => operation == Write,
            Fault::NoSpace => matches!(operation, Create | Write | Sync | Rename),
            Fault::NoPermission => matches!(operation, Create | Rename | Remove | Read | List),
            Fault::SyncFails => matches!(operation, Sync | SyncFolder),
            Fault::RenameFails => operation == Rename,
            Fault::Vanishes | Fault::Stops => true,
        }
    }
}

impl FaultyDisk {
    /// Lets a fault happen once, at the `at`-th operation from now (the first is 1) or the next one that it can befall.
    pub fn plan(&self, at: usize, fault: Fault) {
        let mut state = self.state();
        state.plan = Some((state.operations + at, fault));
    }

    /// How many operations were begun so far.
    pub fn operations(&self) -> usize {
        self.state().operations
    }

    /// Whether the planned fault has happened.
    pub fn happened(&self) -> bool {
        self.state().plan.is_none()
    }

    /// The disk as the next process finds it.
    pub fn restart(&self, after: After) -> FaultyDisk {
        let state = self.state();
        let mut next = State { files: state.files.clone(), ..State::default() };
        match after {
            After::Kill => next.names.clone_from(&state.names),
            After::PowerCut(seed) => {
                let mut draws = (0..).map(|count| mix(seed.wrapping_add(count)));
                let mut draw = move || draws.next().unwrap_or_default();
                next.names.clone_from(&state.lasting);
                for change in state.pending.iter().filter(|_| draw() & 1 == 0) {
                    apply(&mut next.names, change);
                }
                for bytes in &mut next.files {
                    let unsynced = bytes.seen.len() - bytes.synced;
                    match draw() % 4 {
                        _ if unsynced == 0 => {}
                        0 => {}
                        1 => bytes.seen.truncate(bytes.synced),
                        2 => bytes.seen.truncate(bytes.synced + draw() as usize % unsynced),
                        _ => bytes.seen[bytes.synced..].fill(0),
                    }
                }
            }
        }
        next.files.iter_mut().for_each(|bytes| bytes.synced = bytes.seen.len());
        next.lasting.clone_from(&next.names);
        FaultyDisk { state: Arc::new(Mutex::new(next)) }
    }

    /// Every file's name and bytes.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let state = self.state();
        let name =
            |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        state.names.iter().map(|(path, &at)| (name(path), state.files[at].seen.clone())).collect()
    }

    /// Puts a file there, as somebody else would.
    pub fn put(&self, path: &Path, bytes: &[u8]) {
        let mut state = self.state();
        let at = state.files.len();
        state.files.push(Bytes { seen: bytes.to_vec(), synced: bytes.len() });
        state.names.insert(path.to_owned(), at);
        state.lasting.insert(path.to_owned(), at);
    }

    /// Takes a file away, as somebody else would.
    pub fn take(&self, path: &Path) {
        let mut state = self.state();
        state.names.remove(path);
        state.lasting.remove(path);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl State {
    /// Counts an operation, and says whether it befalls a fault that it must act out itself.
    fn begin(&mut self, operation: Operation) -> io::Result<Option<Fault>> {
        if self.stopped {
            return Err(io::Error::other("the process has stopped"));
        }
        self.operations += 1;
        let due =
            self.plan.filter(|&(at, fault)| self.operations >= at && fault.befalls(operation));
        let fault = due.map(|(_, fault)| fault);
        if fault.is_some() {
            self.plan = None;
        }
        match fault {
            Some(Fault::Vanishes) => {
                self.names.clear();
                self.lasting.clear();
                self.pending.clear();
                self.vanished = true;
            }
            Some(Fault::Stops) => self.stopped = true,
            _ => {}
        }
        if self.vanished && operation != Operation::Write && operation != Operation::Sync {
            return Err(io::ErrorKind::NotFound.into());
        }
        match fault {
            None | Some(Fault::Vanishes) => Ok(None),
            Some(fault) if operation == Operation::Write => Ok(Some(fault)),
            Some(Fault::NoSpace) => Err(io::ErrorKind::StorageFull.into()),
            Some(Fault::NoPermission) => Err(io::ErrorKind::PermissionDenied.into()),
            Some(_) => Err(io::Error::other("the device failed")),
        }
    }

    fn change(&mut self, change: Vec<(PathBuf, Option<usize>)>) {
        apply(&mut self.names, &change);
        self.pending.push(change);
    }

    fn find(&self, path: &Path) -> io::Result<usize> {
        self.names.get(path).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

fn apply(names: &mut BTreeMap<PathBuf, usize>, change: &[(PathBuf, Option<usize>)]) {
    for (path, file) in change {
        match file {
            Some(file) => names.insert(path.clone(), *file),
            None => names.remove(path),
        };
    }
}

impl Disk for FaultyDisk {
    fn create_folder(&self, _: &Path) -> io::Result<()> {
        self.state().begin(Operation::Create).map(drop)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.state();
        state.begin(Operation::Create)?;
        if state.names.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let at = state.files.len();
        state.files.push(Bytes::default());
        state.change(vec![(path.to_owned(), Some(at))]);
        Ok(Box::new(FaultyFile { disk: self.clone(), at }))
    }

    fn append(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let there = self.state().names.get(path).copied();
        match there {
            Some(at) => {
                self.state().begin(Operation::Create)?;
                Ok(Box::new(FaultyFile { disk: self.clone(), at }))
            }
            None => self.create(path),
        }
    }

    fn read(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        let mut state = self.state();
        state.begin(Operation::Read)?;
        let at = state.find(path)?;
        Ok(Box::new(io::Cursor::new(state.files[at].seen.clone())))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.begin(Operation::Rename)?;
        let at = state.find(from)?;
        state.change(vec![(from.to_owned(), None), (to.to_owned(), Some(at))]);
        Ok(())
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.begin(Operation::SyncFolder)?;
        state.pending.clear();
        state.lasting = state.names.clone();
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.begin(Operation::Remove)?;
        state.find(path)?;
        state.change(vec![(path.to_owned(), None)]);
        Ok(())
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<(String, u64)>> {
        let mut state = self.state();
        state.begin(Operation::List)?;
        let inside = state.names.iter().filter_map(|(path, &at)| {
            let name = path.strip_prefix(folder).ok()?.to_str()?.to_owned();
            Some((name, state.files[at].seen.len() as u64))
        });
        Ok(inside.collect())
    }

    fn free(&self, _: &Path) -> io::Result<u64> {
        Ok(4096)
    }

    fn lock(&self, _: &Path) -> io::Result<Lock> {
        struct Guard(FaultyDisk);
        impl Drop for Guard {
            fn drop(&mut self) {
                self.0.state().locked = false;
            }
        }
        let mut state = self.state();
        if std::mem::replace(&mut state.locked, true) {
            return Ok(Lock::Theirs(Some(std::process::id())));
        }
        Ok(Lock::Ours(Box::new(Guard(self.clone()))))
    }
}

struct FaultyFile {
    disk: FaultyDisk,
    at: usize,
}

impl Write for FaultyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.disk.state();
        let fault = state.begin(Operation::Write)?;
        let count = if fault.is_some() { bytes.len().div_ceil(2) } else { bytes.len() };
        state.files[self.at].seen.extend_from_slice(&bytes[..count]);
        match fault {
            None | Some(Fault::ShortWrite) => Ok(count),
            Some(Fault::NoSpace) => Err(io::ErrorKind::StorageFull.into()),
            Some(_) => Err(io::Error::other("the process has stopped")),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl DiskFile for FaultyFile {
    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.disk.state();
        state.begin(Operation::Sync)?;
        let bytes = &mut state.files[self.at];
        bytes.synced = bytes.seen.len();
        Ok(())
    }
}

/// The finaliser of splitmix64: well-mixed bits of a number.
fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
