//! Writing a checkpoint: plan all sections, then stream them.

use super::directory::{ChannelRecord, Directory, FrameRecord, Shape, StoreRecord, TopologyRecord};
use super::error::CheckpointError;
use super::header::{Header, VERSION};
use super::spread::Spread;
use super::state::{Identity, State};
use crate::registry::{Column, Store, Stores};
use std::io::Write;
use std::sync::Arc;
use undine_core::{CoreError, Topology};

/// Bytes that are gathered before they are written.
const BUFFER: usize = 1 << 20;

/// The name under which channels are claimed.
const TASK: &str = "checkpoint";

/// Writes a checkpoint of all stores, and returns its length in bytes. Fails if a channel is being written.
///
/// `out` needs no buffer of its own, and is flushed, not synced. Collective: the first process writes what all have, and what
/// the others give as `out` gets nothing.
pub fn save(
    identity: &Identity,
    state: &State,
    stores: &dyn Stores,
    out: &mut dyn Write,
) -> Result<u64, CheckpointError> {
    let spread = Spread::of(stores);
    let (directory, topologies) = plan(identity, state, stores, &spread)?;
    let json = serde_json::to_vec(&directory)
        .map_err(|error| CheckpointError::malformed(error.to_string()))?;
    let header = Header {
        version: VERSION,
        directory: json.len() as u64,
        payload: directory.payload().unwrap_or(u64::MAX),
        directory_crc: crc32fast::hash(&json),
    };
    let mut nothing = std::io::sink();
    let out = if spread.is_first() { out } else { &mut nothing };
    out.write_all(&header.to_bytes()).map_err(CheckpointError::written)?;
    out.write_all(&json).map_err(CheckpointError::written)?;

    let mut sections = Sections::new(&spread, out, &directory.sections);
    for topology in &topologies {
        sections.write([bytemuck::cast_slice(topology.all().keys())].into_iter())?;
    }
    each(stores, |store| write_store(&store, &mut sections))?;
    sections.finish()?;
    Ok(header.file_len())
}

/// What will be written where, in the order in which `save` then does it.
fn plan(
    identity: &Identity,
    state: &State,
    stores: &dyn Stores,
    spread: &Spread,
) -> Result<(Directory, Vec<Arc<Topology>>), CheckpointError> {
    // Sets of Buckets come first.
    let mut topologies: Vec<Arc<Topology>> = Vec::new();
    each(stores, |store| {
        if let Some(topology) = topology_of(&store)
            && place_of(&topologies, topology).is_none()
        {
            topologies.push(topology.clone());
        }
        Ok(())
    })?;
    let mut directory = Directory {
        identity: identity.clone(),
        processes: spread.processes.count() as u64,
        state: state.clone(),
        topologies: Vec::new(),
        stores: Vec::new(),
        sections: Vec::new(),
    };
    for topology in &topologies {
        let record = TopologyRecord {
            frame: FrameRecord::new(topology.frame()),
            keys: directory.sections.len(),
        };
        directory.topologies.push(record);
        directory.sections.push(size_of_val(topology.all().keys()) as u64);
    }
    each(stores, |store| {
        let topology = topology_of(&store).and_then(|topology| place_of(&topologies, topology));
        plan_store(&store, topology.unwrap_or_default(), &mut directory, spread)
    })?;
    Ok((directory, topologies))
}

fn plan_store(
    store: &Store<'_>,
    topology: usize,
    directory: &mut Directory,
    spread: &Spread,
) -> Result<(), CheckpointError> {
    let (kind, label) = (store.kind(), store.label().to_owned());
    if directory.stores.iter().any(|other| other.kind == kind && other.label == label) {
        return Err(CheckpointError::DuplicateStore { kind, label });
    }
    let mut section = |bytes: u64| {
        directory.sections.push(bytes);
        directory.sections.len() - 1
    };
    let shape = match store {
        Store::Domain(_) => Shape::Domain { topology },
        Store::Particles(particles) => Shape::Particles {
            topology,
            counts: section(4 * particles.topology().all().len() as u64),
            next_id: particles.next_id(),
        },
        Store::Topological(particles) => {
            Shape::Topological { len: particles.len() as u64, next_id: particles.next_id() }
        }
        Store::Volume(_) => Shape::Volume { topology },
        Store::Mesh(mesh) => Shape::Mesh {
            kind: mesh.kind().to_string(),
            vertices: mesh.vertex_count() as u64,
            tables: mesh.connectivity().tables().map(|table| section(4 * table.len() as u64)),
        },
        Store::Flat(_, len) => Shape::Flat { len: *len as u64 },
    };
    let particles = match store {
        Store::Particles(particles) => spread.processes.all_sum_u64(particles.len() as u64)?,
        _ => 0,
    };
    let mut channels = Vec::new();
    each_kept_column(store, |column| {
        if let Store::Flat(_, len) = store
            && column.elements() != *len as u64
        {
            return Err(CheckpointError::Store(CoreError::WrongLength {
                what: format!("channel `{}` of {}", column.info.name, store.label()),
                found: column.elements() as usize,
                wanted: *len,
            }));
        }
        directory.sections.push(match store {
            Store::Particles(_) => particles * column.info.element.bytes() as u64,
            Store::Volume(volume) => {
                let of_bucket = column.voxels().map_or(0, |(_, bytes)| bytes as u64);
                volume.topology().all().len() as u64 * of_bucket
            }
            _ => column.bytes(),
        });
        channels.push(ChannelRecord::new(&column, directory.sections.len() - 1));
        Ok(())
    })?;
    directory.stores.push(StoreRecord { kind, label, shape, channels });
    Ok(())
}

fn write_store(store: &Store<'_>, sections: &mut Sections<'_>) -> Result<(), CheckpointError> {
    // Of what lies on Buckets each process has a part; all else is whole on every one.
    let mut counts: Vec<u32> = Vec::new();
    let owners = match store {
        Store::Particles(particles) => {
            let ids = particles.column(particles.id())?;
            let local = 0..particles.topology().local() as u32;
            let own: Vec<u32> = local.map(|slot| ids.chunk(slot).len() as u32).collect();
            let owners = sections.spread.owners(particles.topology());
            let own = bytemuck::cast_slice(&own).to_vec();
            let whole = sections.spread.gather(&owners, |_| 4, own)?.unwrap_or_default();
            sections.write([&whole[..]].into_iter())?;
            counts = bytemuck::pod_collect_to_vec(&whole);
            Some(owners)
        }
        Store::Volume(volume) => Some(sections.spread.owners(volume.topology())),
        Store::Mesh(mesh) => {
            for table in mesh.connectivity().tables() {
                sections.write([bytemuck::cast_slice(&table)].into_iter())?;
            }
            None
        }
        Store::Domain(_) | Store::Topological(_) | Store::Flat(..) => None,
    };
    each_kept_column(store, |column| match &owners {
        Some(owners) if !sections.spread.is_alone() => {
            let of_bucket = |place: usize| match column.voxels() {
                Some((_, bytes)) => bytes,
                None => counts[place] as usize * column.info.element.bytes(),
            };
            let own = (0..column.pieces()).flat_map(|piece| column.piece(piece)).copied();
            let whole = sections.spread.gather(owners, of_bucket, own.collect())?;
            sections.write([&whole.unwrap_or_default()[..]].into_iter())
        }
        _ => sections.write((0..column.pieces()).map(|piece| column.piece(piece))),
    })
}

/// Calls `visit` with every column that belongs in a checkpoint, by class and name: the order in which they were made may be
/// another one after a resume.
fn each_kept_column(
    store: &Store<'_>,
    mut visit: impl FnMut(Column<'_>) -> Result<(), CheckpointError>,
) -> Result<(), CheckpointError> {
    let mut names = Vec::new();
    store.each_column(TASK, |column| {
        if column.info.checkpoint {
            names.push((column.class, column.info.name.clone()));
        }
    })?;
    names.sort();
    for (class, name) in names {
        let mut result = Ok(());
        store.each_column(TASK, |column| {
            if column.class == class && column.info.name == name {
                result = visit(column);
            }
        })?;
        result?;
    }
    Ok(())
}

/// Visits every store until one fails.
fn each(
    stores: &dyn Stores,
    mut visit: impl FnMut(Store<'_>) -> Result<(), CheckpointError>,
) -> Result<(), CheckpointError> {
    let mut result = Ok(());
    stores.each(&mut |store| {
        if result.is_ok() {
            result = visit(store);
        }
    });
    result
}

fn topology_of<'a>(store: &Store<'a>) -> Option<&'a Arc<Topology>> {
    match store {
        Store::Domain(domain) => Some(domain.topology()),
        Store::Particles(particles) => Some(particles.topology()),
        Store::Volume(volume) => Some(volume.topology()),
        Store::Topological(_) | Store::Mesh(_) | Store::Flat(..) => None,
    }
}

/// The place of a set of Buckets by what is in it, so that files do not tell who shared which.
fn place_of(topologies: &[Arc<Topology>], topology: &Topology) -> Option<usize> {
    topologies.iter().position(|other| {
        other.id() == topology.id()
            || other.frame() == topology.frame() && other.all() == topology.all()
    })
}

/// Streams sections, each with its checksum behind it.
struct Sections<'a> {
    spread: &'a Spread,
    out: &'a mut dyn Write,
    planned: std::slice::Iter<'a, u64>,
    buffer: Vec<u8>,
}

impl<'a> Sections<'a> {
    fn new(spread: &'a Spread, out: &'a mut dyn Write, planned: &'a [u64]) -> Self {
        Self { spread, out, planned: planned.iter(), buffer: Vec::with_capacity(BUFFER) }
    }

    /// Writes the next section, piece by piece, on the first process.
    fn write<'b>(&mut self, pieces: impl Iterator<Item = &'b [u8]>) -> Result<(), CheckpointError> {
        if !self.spread.is_first() {
            return Ok(());
        }
        let mut crc = crc32fast::Hasher::new();
        let mut bytes = 0;
        for piece in pieces {
            crc.update(piece);
            bytes += piece.len() as u64;
            self.put(piece)?;
        }
        // Somebody has a store that changes behind a shared reference.
        if self.planned.next() != Some(&bytes) {
            return Err(CheckpointError::malformed("a store changed while it was being written"));
        }
        self.put(&crc.finalize().to_le_bytes())
    }

    /// Gathers small pieces; large ones go straight through.
    fn put(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        if self.buffer.len() + bytes.len() > BUFFER {
            self.out.write_all(&self.buffer).map_err(CheckpointError::written)?;
            self.buffer.clear();
        }
        if bytes.len() >= BUFFER {
            return self.out.write_all(bytes).map_err(CheckpointError::written);
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    fn finish(self) -> Result<(), CheckpointError> {
        if !self.spread.is_first() {
            return Ok(());
        }
        if self.planned.len() > 0 {
            return Err(CheckpointError::malformed("a store vanished while it was being written"));
        }
        self.out.write_all(&self.buffer).map_err(CheckpointError::written)?;
        self.out.flush().map_err(CheckpointError::written)
    }
}
