//! Reading a checkpoint: prove that it is whole, compare it with the stores, then stream it into them.

use super::directory::{Directory, Section};
use super::error::CheckpointError;
use super::header::{Header, VERSION};
use super::migrate::{self, MIGRATIONS, Migration};
use super::restore::{Plan, restore};
use super::state::{Identity, State};
use crate::registry::{StoreKind, Stores};
use serde::Deserialize;
use std::io::{BufReader, Read, Seek, SeekFrom};

/// Bytes that are read at once.
const BUFFER: usize = 1 << 20;

/// Where a checkpoint is read from.
pub trait Source: Read + Seek {}

impl<R: Read + Seek> Source for R {}

/// What a checkpoint is, without its channels.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The format version of the file.
    pub version: u32,
    /// Who wrote it.
    pub identity: Identity,
    /// Where the simulation was.
    pub state: State,
    /// The stores that are in it: kind, label, names of channels.
    pub stores: Vec<(StoreKind, String, Vec<String>)>,
    /// The length of the file in bytes.
    pub bytes: u64,
}

/// What is in a checkpoint. Header and directory are verified, sections are not.
pub fn inspect(source: &mut dyn Source) -> Result<Summary, CheckpointError> {
    let file = File::open(source, MIGRATIONS)?;
    let stores = file.directory.stores.iter().map(|store| {
        let channels = store.channels.iter().map(|channel| channel.name.clone());
        (store.kind, store.label.clone(), channels.collect())
    });
    Ok(Summary {
        version: file.header.version,
        identity: file.directory.identity.clone(),
        state: file.directory.state.clone(),
        stores: stores.collect(),
        bytes: file.header.file_len(),
    })
}

/// Whether a checkpoint is whole: its length and every checksum.
pub fn verify(source: &mut dyn Source) -> Result<(), CheckpointError> {
    File::open(source, MIGRATIONS)?.verify_sections()
}

/// Puts all stores into the state of a checkpoint, and returns the rest of it.
///
/// With `expected`, a checkpoint of another scene or build is refused. If the file is damaged or does not fit the stores, nothing
/// changes. If memory or the disk fail in between, stores hold a part of it: load another checkpoint, or make them again.
///
/// Collective: every process reads the same file, and takes from it what it is to have. How many wrote it does not matter.
pub fn load(
    expected: Option<&Identity>,
    stores: &mut dyn Stores,
    source: &mut dyn Source,
) -> Result<State, CheckpointError> {
    load_with(MIGRATIONS, expected, stores, source)
}

/// [`load`], with other steps from older versions than there are.
pub fn load_with(
    migrations: &[Migration],
    expected: Option<&Identity>,
    stores: &mut dyn Stores,
    source: &mut dyn Source,
) -> Result<State, CheckpointError> {
    let mut file = File::open(source, migrations)?;
    if let Some(expected) = expected {
        check_identity(&file.directory.identity, expected)?;
    }
    file.verify_sections()?;
    let plan = Plan::new(&mut file, stores)?;
    restore(&mut file, &plan, stores)?;
    Ok(file.directory.state)
}

fn check_identity(found: &Identity, wanted: &Identity) -> Result<(), CheckpointError> {
    let pairs = [("scene", &found.scene, &wanted.scene), ("build", &found.build, &wanted.build)];
    match pairs.into_iter().find(|(_, found, wanted)| found != wanted) {
        None => Ok(()),
        Some((what, found, wanted)) => {
            let (found, wanted) = (found.clone(), wanted.clone());
            Err(CheckpointError::Identity { what, found, wanted })
        }
    }
}

/// A checkpoint whose header and directory are sound.
pub(super) struct File<'a> {
    source: BufReader<&'a mut dyn Source>,
    header: Header,
    pub directory: Directory,
    /// Where each section begins in the file.
    starts: Vec<u64>,
    /// Where the source stands.
    at: u64,
}

impl<'a> File<'a> {
    fn open(source: &'a mut dyn Source, migrations: &[Migration]) -> Result<Self, CheckpointError> {
        let found = source.seek(SeekFrom::End(0)).map_err(CheckpointError::read)?;
        source.seek(SeekFrom::Start(0)).map_err(CheckpointError::read)?;
        let mut source = BufReader::with_capacity(BUFFER, source);
        if found < Header::LEN as u64 {
            return Err(CheckpointError::Length { found, wanted: Header::LEN as u64 });
        }
        let mut bytes = [0; Header::LEN];
        source.read_exact(&mut bytes).map_err(CheckpointError::read)?;
        let header = Header::from_bytes(&bytes)?;
        migrate::check(header.version, migrations)?;
        // From here on no length is larger than the file itself.
        if header.file_len() != found {
            return Err(CheckpointError::Length { found, wanted: header.file_len() });
        }
        let mut json = vec![0; header.directory as usize];
        source.read_exact(&mut json).map_err(CheckpointError::read)?;
        let (found, wanted) = (crc32fast::hash(&json), header.directory_crc);
        if found != wanted {
            return Err(CheckpointError::Damaged { part: "directory".into(), found, wanted });
        }
        let directory = parse(&json, header.version, migrations)?;
        if directory.payload() != Some(header.payload) {
            let why = format!("its sections do not make {} bytes", header.payload);
            return Err(CheckpointError::malformed(why));
        }
        let at = Header::LEN as u64 + header.directory;
        let starts = directory.sections.iter().scan(at, |next, bytes| {
            let start = *next;
            *next += bytes + 4;
            Some(start)
        });
        let starts = starts.collect();
        Ok(Self { source, header, directory, starts, at })
    }

    /// Bytes of the whole file.
    pub fn len(&self) -> u64 {
        self.header.file_len()
    }

    /// Compares every section with its checksum.
    fn verify_sections(&mut self) -> Result<(), CheckpointError> {
        let mut buffer = vec![0; BUFFER];
        for section in 0..self.starts.len() {
            self.begin(section)?;
            let mut crc = crc32fast::Hasher::new();
            let mut left = self.directory.sections[section];
            while left > 0 {
                let part = &mut buffer[..left.min(BUFFER as u64) as usize];
                self.read(part)?;
                crc.update(part);
                left -= part.len() as u64;
            }
            let mut wanted = [0; 4];
            self.read(&mut wanted)?;
            let (found, wanted) = (crc.finalize(), u32::from_le_bytes(wanted));
            if found != wanted {
                return Err(CheckpointError::Damaged { part: self.name(section), found, wanted });
            }
        }
        Ok(())
    }

    /// Goes to the beginning of a section.
    pub fn begin(&mut self, section: Section) -> Result<(), CheckpointError> {
        self.begin_at(section, 0)
    }

    /// Goes so many bytes into a section.
    pub fn begin_at(&mut self, section: Section, offset: u64) -> Result<(), CheckpointError> {
        let place = self.starts[section].saturating_add(offset);
        if place != self.at {
            // Within what is buffered this costs nothing.
            let step = place.wrapping_sub(self.at) as i64;
            self.source.seek_relative(step).map_err(CheckpointError::read)?;
            self.at = place;
        }
        Ok(())
    }

    /// Reads on.
    pub fn read(&mut self, bytes: &mut [u8]) -> Result<(), CheckpointError> {
        self.source.read_exact(bytes).map_err(CheckpointError::read)?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    /// A whole section of numbers. Sections are never longer than the file.
    pub fn numbers<T: bytemuck::Pod>(
        &mut self,
        section: Section,
    ) -> Result<Vec<T>, CheckpointError> {
        let bytes = self.directory.section(section)?;
        if bytes % size_of::<T>() as u64 != 0 {
            let why = format!("{bytes} bytes of numbers that have {}", size_of::<T>());
            return Err(CheckpointError::malformed(why));
        }
        let mut values: Vec<T> = bytemuck::zeroed_vec(bytes as usize / size_of::<T>());
        self.begin(section)?;
        self.read(bytemuck::cast_slice_mut(&mut values))?;
        Ok(values)
    }

    /// What a section holds, for messages.
    fn name(&self, section: Section) -> String {
        for store in &self.directory.stores {
            if let Some(channel) = store.channels.iter().find(|channel| channel.values == section) {
                return format!("channel `{}` of {}", channel.name, store.label);
            }
        }
        format!("section {section}")
    }
}

fn parse(
    json: &[u8],
    version: u32,
    migrations: &[Migration],
) -> Result<Directory, CheckpointError> {
    let malformed = |error: serde_json::Error| CheckpointError::malformed(error.to_string());
    if version == VERSION {
        return serde_json::from_slice(json).map_err(malformed);
    }
    let mut value = serde_json::from_slice(json).map_err(malformed)?;
    migrate::bring_up_to_date(&mut value, version, migrations)?;
    Directory::deserialize(value).map_err(malformed)
}
