//! Bringing stores into the state that a checkpoint tells of.
//!
//! Everything is compared first, while nothing has changed; see [`Plan`]. Then Domains get their Buckets, shared out among the
//! processes that there are now, and the other stores start anew on them and are filled, section by section. Each process reads
//! what it is to have.

use super::directory::{ChannelRecord, FrameRecord, Section, Shape, StoreRecord, VoxelRecord};
use super::error::CheckpointError;
use super::read::File;
use crate::balance::Weights;
use crate::registry::{Store, StoreMut, Stores};
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::Arc;
use undine_core::channel::{ChannelInfo, ChannelSet, ErasedFlat, Flat, FlatColumn};
use undine_core::domain::{BucketKey, Slot};
use undine_core::element::ElementVisitor;
use undine_core::mesh::{AnyMesh, ElementClass};
use undine_core::particles::TopologicalParticles;
use undine_core::volume::VoxelShape;
use undine_core::{
    BucketSet, ChannelSpec, Combine, DiscreteVolume, Element, ElementType, GridDomain,
    ParticleSystem, Topology,
};

type Result<T, E = CheckpointError> = std::result::Result<T, E>;

/// A checkpoint that was found to fit the stores.
pub(super) struct Plan {
    /// By the number of a set of Buckets.
    buckets: Vec<BucketSet>,
    /// By the number of a store in the directory: how many particles each Bucket has.
    counts: Vec<Vec<u32>>,
}

impl Plan {
    /// Compares the directory with the stores, so that nothing but memory and the disk can fail later.
    pub fn new(file: &mut File<'_>, stores: &dyn Stores) -> Result<Self> {
        let mut buckets = Vec::new();
        for topology in 0..file.directory.topologies.len() {
            let keys = file.numbers(file.directory.topologies[topology].keys)?;
            buckets.push(bucket_set(keys)?);
        }
        let mut counts = Vec::new();
        for store in 0..file.directory.stores.len() {
            counts.push(match file.directory.stores[store].shape {
                Shape::Particles { counts, .. } => file.numbers(counts)?,
                _ => Vec::new(),
            });
        }
        let plan = Self { buckets, counts };

        let mut seen = vec![false; plan.counts.len()];
        let mut result = Ok(());
        stores.each(&mut |store| {
            if result.is_ok() {
                result = plan.check_store(file, &store, &mut seen);
            }
        });
        result?;
        match seen.iter().position(|seen| !seen) {
            None => Ok(plan),
            Some(unseen) => {
                let StoreRecord { kind, label, .. } = file.directory.stores[unseen].clone();
                Err(CheckpointError::UnknownStore { kind, label })
            }
        }
    }

    fn check_store(&self, file: &File<'_>, store: &Store<'_>, seen: &mut [bool]) -> Result<()> {
        let (number, record) = find(file, store)?;
        if std::mem::replace(&mut seen[number], true) {
            let (kind, label) = (store.kind(), store.label().to_owned());
            return Err(CheckpointError::DuplicateStore { kind, label });
        }
        let differs = |what: &str, found: String, wanted: String| {
            let (store, what) = (store.label().to_owned(), what.to_owned());
            Err(CheckpointError::StoreDiffers { store, what, found, wanted })
        };

        // How many elements a channel must have, and the lattice that they are on.
        let mut elements: Option<u64> = None;
        let mut topology = None;
        match (store, &record.shape) {
            (Store::Domain(domain), Shape::Domain { topology: on }) => {
                topology = Some((*on, domain.frame()));
            }
            (Store::Particles(particles), Shape::Particles { topology: on, .. }) => {
                topology = Some((*on, particles.topology().frame()));
                elements = Some(self.counts[number].iter().map(|&count| u64::from(count)).sum());
            }
            (Store::Topological(_), Shape::Topological { len, .. }) => elements = Some(*len),
            (Store::Volume(volume), Shape::Volume { topology: on }) => {
                topology = Some((*on, volume.topology().frame()));
            }
            (Store::Mesh(mesh), Shape::Mesh { kind, .. }) => {
                if *kind != mesh.kind().to_string() {
                    return differs("the kind", kind.clone(), mesh.kind().to_string());
                }
            }
            (Store::Flat(_, now), Shape::Flat { len }) => {
                // Without a channel nothing else proves that there are so many.
                if *len > Ord::max(*now as u64, file.len()) {
                    return Err(CheckpointError::malformed("a set has more elements than bytes"));
                }
                elements = Some(*len);
            }
            _ => return Err(CheckpointError::malformed("a store has the shape of another kind")),
        }
        if let Some((number, frame)) = topology {
            let Some(found) = file.directory.topologies.get(number) else {
                return Err(CheckpointError::malformed("a store is on Buckets that there are not"));
            };
            let wanted = FrameRecord::new(frame);
            if found.frame != wanted {
                return differs("the lattice", found.frame.describe(), wanted.describe());
            }
            if let Shape::Particles { .. } = record.shape
                && self.counts[self.place(file, record)].len() != self.buckets[number].len()
            {
                return Err(CheckpointError::malformed("particles are counted for other Buckets"));
            }
        }

        // Every channel of the file fits, and none is missing.
        for (place, channel) in record.channels.iter().enumerate() {
            let earlier = &record.channels[..place];
            let same = |other: &ChannelRecord| {
                (&other.class, &other.name) == (&channel.class, &channel.name)
            };
            if earlier.iter().any(same) {
                let why = format!("channel `{}` of {} is there twice", channel.name, record.label);
                return Err(CheckpointError::malformed(why));
            }
            let buckets = topology.map_or(0, |(number, _)| self.buckets[number].len() as u64);
            check_bytes(file, record, channel, elements, buckets)?;
        }
        let mut result = Ok(());
        store.each_column("checkpoint", |column| {
            if result.is_ok() && column.info.checkpoint {
                let class = column.class.map(ElementClass::name);
                let voxels = column.voxels().map(|(shape, bytes)| VoxelRecord::new(shape, bytes));
                result = check_channel(record, class, column.info, voxels);
            }
        })?;
        result
    }

    fn place(&self, file: &File<'_>, record: &StoreRecord) -> usize {
        file.directory.stores.iter().position(|other| std::ptr::eq(other, record)).unwrap_or(0)
    }
}

/// The record of a store, and its number.
fn find<'a>(file: &'a File<'_>, store: &Store<'_>) -> Result<(usize, &'a StoreRecord)> {
    let (kind, label) = (store.kind(), store.label());
    let mut records = file.directory.stores.iter().enumerate();
    records
        .find(|(_, record)| record.kind == kind && record.label == label)
        .ok_or_else(|| CheckpointError::MissingStore { kind, label: label.to_owned() })
}

/// Whether a channel's section has the bytes that its store says, and its record makes sense.
fn check_bytes(
    file: &File<'_>,
    record: &StoreRecord,
    channel: &ChannelRecord,
    elements: Option<u64>,
    buckets: u64,
) -> Result<()> {
    let found = file.directory.section(channel.values)?;
    let size = channel.element()?.bytes() as u64;
    channel.combine()?;
    let senseless = |what: &str| {
        let why = format!("channel `{}` of {} has {what}", channel.name, record.label);
        Err(CheckpointError::malformed(why))
    };
    if channel.default.len() as u64 != size {
        return senseless("a default of another type");
    }
    let wanted = match (&record.shape, channel.voxels) {
        (Shape::Volume { .. }, None) => return senseless("no voxels"),
        (Shape::Volume { .. }, Some(voxels)) => {
            if mask_or_numbers(channel, voxels).is_none() {
                return senseless("voxels of an impossible shape");
            }
            buckets.checked_mul(voxels.bucket_bytes)
        }
        (_, Some(_)) => return senseless("voxels, but its store has none"),
        (_, None) => match elements {
            Some(elements) => elements.checked_mul(size),
            // A mesh knows its counts when it has its connectivity.
            None => (found % size == 0).then_some(found),
        },
    };
    if wanted != Some(found) {
        return senseless(&format!("{found} bytes, which are not those of its elements"));
    }
    Ok(())
}

/// The shape of a channel of voxels, and whether it has a bit for each.
fn mask_or_numbers(channel: &ChannelRecord, voxels: VoxelRecord) -> Option<(VoxelShape, bool)> {
    let shape = voxels.shape()?;
    let element = channel.element().ok()?;
    let count = shape.resolution.voxels();
    if voxels.bucket_bytes == (count * element.bytes()) as u64 {
        return Some((shape, false));
    }
    let is_mask = element == ElementType::U64
        && voxels.bucket_bytes == 8 * count.div_ceil(64) as u64
        && shape == VoxelShape::CELLS.with_resolution(shape.resolution);
    is_mask.then_some((shape, true))
}

/// Whether the file has this channel, of the same kind.
fn check_channel(
    record: &StoreRecord,
    class: Option<&str>,
    info: &ChannelInfo,
    voxels: Option<VoxelRecord>,
) -> Result<()> {
    let (store, name) = (record.label.clone(), info.name.clone());
    let of_class = |channel: &&ChannelRecord| channel.class.as_deref() == class;
    let Some(found) = record.channels.iter().filter(of_class).find(|found| found.name == name)
    else {
        let known: Vec<_> = record.channels.iter().filter(of_class).collect();
        let known: Vec<_> = known.iter().map(|channel| format!("`{}`", channel.name)).collect();
        let known = if known.is_empty() { "none".into() } else { known.join(", ") };
        return Err(CheckpointError::MissingChannel { store, channel: name, known });
    };
    let differs = |what, found: String, wanted: String| {
        Err(CheckpointError::ChannelDiffers { store, channel: name, what, found, wanted })
    };
    if found.element != info.element.name() {
        return differs("type", found.element.clone(), info.element.name().to_owned());
    }
    if found.unit != info.unit {
        return differs("unit", format!("`{}`", found.unit), format!("`{}`", info.unit));
    }
    if found.voxels != voxels {
        let describe = |voxels: Option<VoxelRecord>| match voxels {
            None => "no voxels".to_owned(),
            Some(VoxelRecord { edge, centring, bucket_bytes }) => {
                format!("{edge} voxels along a Bucket of {bucket_bytes} bytes, centring {centring}")
            }
        };
        return differs("shape", describe(found.voxels), describe(voxels));
    }
    Ok(())
}

/// The set of Buckets with these keys, if they are keys and ascend.
fn bucket_set(keys: Vec<BucketKey>) -> Result<BucketSet> {
    let good = keys.par_iter().all(|key| key.bucket().is_in_range() && key.bucket().key() == *key);
    if !good || !keys.is_sorted_by(|a, b| a < b) {
        return Err(CheckpointError::malformed("its Buckets are none, or out of order"));
    }
    Ok(BucketSet::from_keys(keys))
}

/// Puts every store into the state of the file.
pub(super) fn restore(file: &mut File<'_>, plan: &Plan, stores: &mut dyn Stores) -> Result<()> {
    share_out(file, plan, stores)?;
    // Stores that shared their Buckets share them again.
    let mut topologies: Vec<Option<Arc<Topology>>> = vec![None; plan.buckets.len()];
    let mut result = Ok(());
    let mut visit = |domains: bool, stores: &mut dyn Stores| {
        stores.each_mut(&mut |store| {
            if result.is_ok() && domains == matches!(store, StoreMut::Domain(_)) {
                result = restore_store(file, plan, &mut topologies, store);
            }
        });
    };
    visit(true, stores);
    visit(false, stores);
    result
}

/// Cuts all Domains so that every process gets as much of what is to come.
fn share_out(file: &File<'_>, plan: &Plan, stores: &mut dyn Stores) -> Result<()> {
    let (mut frames, mut processes) = (Vec::new(), 1);
    stores.each(&mut |store| {
        if let Store::Domain(domain) = store {
            frames.push(*domain.frame());
            processes = domain.processes().count();
        }
    });
    let Some(mut weights) = Weights::on(frames.iter()).filter(|_| processes > 1) else {
        return Ok(());
    };
    let frame_of = |topology: usize| {
        let record = file.directory.topologies[topology].frame;
        frames.iter().find(|frame| FrameRecord::new(frame) == record)
    };
    for (record, counts) in file.directory.stores.iter().zip(&plan.counts) {
        match record.shape {
            Shape::Particles { topology, .. } => {
                let Some(frame) = frame_of(topology) else { continue };
                for (bucket, &count) in plan.buckets[topology].buckets().zip(counts) {
                    weights.add_particles(frame, bucket, count as usize);
                }
            }
            Shape::Volume { topology } => {
                let Some(frame) = frame_of(topology) else { continue };
                for bucket in plan.buckets[topology].buckets() {
                    weights.add_voxels(frame, bucket);
                }
            }
            _ => {}
        }
    }
    let cut = Arc::new(weights.cut(processes));
    let mut result = Ok(());
    stores.each_mut(&mut |store| {
        if let StoreMut::Domain(domain) = store
            && result.is_ok()
        {
            result = domain.repartition(cut.clone());
        }
    });
    Ok(result?)
}

/// Where the local Buckets of a Topology stand among all, by slot.
fn places(topology: &Topology) -> impl Iterator<Item = usize> {
    let keys = topology.all().keys();
    topology.buckets()[..topology.local()]
        .iter()
        .map(|bucket| keys.partition_point(|key| *key < bucket.key()))
}

fn restore_store(
    file: &mut File<'_>,
    plan: &Plan,
    topologies: &mut [Option<Arc<Topology>>],
    store: StoreMut<'_>,
) -> Result<()> {
    let (number, record) = find(file, &store.as_ref())?;
    let record = record.clone();
    let mut buckets_on = |domain: &GridDomain, number: usize| -> Result<Arc<Topology>> {
        Ok(match &topologies[number] {
            Some(topology) => topology.clone(),
            None => {
                let topology = domain.subset(&plan.buckets[number])?;
                topologies[number] = Some(topology.clone());
                topology
            }
        })
    };
    match (store, &record.shape) {
        (StoreMut::Domain(domain), &Shape::Domain { topology }) => {
            domain.set_buckets(&plan.buckets[topology])?;
            topologies[topology].get_or_insert_with(|| domain.topology().clone());
            Ok(())
        }
        (StoreMut::Particles(store, domain), &Shape::Particles { topology, next_id, .. }) => {
            let topology = buckets_on(domain, topology)?;
            restore_particles(file, &record, store, &topology, &plan.counts[number], next_id)
        }
        (StoreMut::Topological(store), &Shape::Topological { len, next_id }) => {
            restore_topological(file, &record, store, len, next_id)
        }
        (StoreMut::Volume(store, domain), &Shape::Volume { topology }) => {
            let topology = buckets_on(domain, topology)?;
            restore_volume(file, &record, store, &topology)
        }
        (StoreMut::Mesh(mesh), &Shape::Mesh { vertices, tables, .. }) => {
            restore_mesh(file, &record, mesh, vertices, tables)
        }
        (StoreMut::Flat(channels, now), &Shape::Flat { len }) => {
            *now = len as usize;
            restore_flat(file, &record, channels, *now)
        }
        _ => Err(CheckpointError::malformed("a store has the shape of another kind")),
    }
}

fn restore_particles(
    file: &mut File<'_>,
    record: &StoreRecord,
    store: &mut ParticleSystem,
    topology: &Arc<Topology>,
    counts: &[u32],
    next_id: u64,
) -> Result<()> {
    let missing = missing_channels(record, None, store.channels().infos());
    for channel in missing {
        channel.element()?.visit(AddTo { to: &mut *store, channel })?;
    }
    let starts: Vec<u64> = counts
        .iter()
        .scan(0, |next, &count| Some(std::mem::replace(next, *next + u64::from(count))))
        .collect();
    let places: Vec<usize> = places(topology).collect();
    let own: Vec<u32> = places.iter().map(|&place| counts[place]).collect();
    store.reset(topology, &own, next_id)?;
    for (info, column) in store.columns_mut() {
        if let Some(section) = section_of(record, None, info) {
            let bytes = info.element.bytes() as u64;
            for (slot, &place) in places.iter().enumerate() {
                file.begin_at(section, starts[place] * bytes)?;
                file.read(column.chunk_bytes_mut(slot as Slot))?;
            }
        }
    }
    let ids = store.column(store.id())?;
    let largest = (0..own.len() as Slot).flat_map(|slot| ids.chunk(slot)).max();
    check_ids(record, largest, next_id)
}

fn restore_topological(
    file: &mut File<'_>,
    record: &StoreRecord,
    store: &mut TopologicalParticles,
    len: u64,
    next_id: u64,
) -> Result<()> {
    let missing = missing_channels(record, None, store.channels().infos());
    for channel in missing {
        channel.element()?.visit(AddTo { to: &mut *store, channel })?;
    }
    store.reset(usize::try_from(len).unwrap_or(usize::MAX), next_id)?;
    for (info, column) in store.columns_mut() {
        if let Some(section) = section_of(record, None, info) {
            file.begin(section)?;
            file.read(column.bytes_mut())?;
        }
    }
    let ids = store.column(store.id())?;
    check_ids(record, ids.iter().max(), next_id)
}

fn restore_volume(
    file: &mut File<'_>,
    record: &StoreRecord,
    store: &mut DiscreteVolume,
    topology: &Arc<Topology>,
) -> Result<()> {
    let missing = missing_channels(record, None, store.channels().infos());
    for channel in missing {
        channel.element()?.visit(AddTo { to: &mut *store, channel })?;
    }
    store.reset(topology)?;
    for (info, column) in store.columns_mut() {
        if let Some(section) = section_of(record, None, info) {
            let bytes = column.chunk_bytes() as u64;
            for (slot, place) in places(topology).enumerate() {
                file.begin_at(section, place as u64 * bytes)?;
                file.read(column.chunk_bytes_mut(slot as Slot))?;
            }
        }
    }
    Ok(())
}

fn restore_mesh(
    file: &mut File<'_>,
    record: &StoreRecord,
    mesh: &mut AnyMesh,
    vertices: u64,
    [starts, items]: [Section; 2],
) -> Result<()> {
    // No more vertices than the file has positions of, whatever it says.
    let position = record.channels.iter().find(|channel| channel.name == AnyMesh::POSITION);
    let positions = position.map_or(Ok(0), |channel| file.directory.section(channel.values))?;
    if vertices.checked_mul(ElementType::DVec3.bytes() as u64) != Some(positions) {
        let why = format!("{} has {vertices} vertices, but other positions", record.label);
        return Err(CheckpointError::malformed(why));
    }
    let tables = [file.numbers(starts)?, file.numbers(items)?];
    for &class in mesh.kind().classes() {
        let missing = missing_channels(record, Some(class), mesh.channels(class)?.infos());
        for channel in missing {
            channel.element()?.visit(AddTo { to: &mut (&mut *mesh, class), channel })?;
        }
    }
    mesh.reset(vertices as usize, tables)?;
    for &class in mesh.kind().classes() {
        for (info, column) in mesh.columns_mut(class)? {
            if let Some(section) = section_of(record, Some(class), info) {
                fill_flat(file, record, info, column, section)?;
            }
        }
    }
    Ok(())
}

fn restore_flat(
    file: &mut File<'_>,
    record: &StoreRecord,
    channels: &mut ChannelSet<Flat>,
    len: usize,
) -> Result<()> {
    let missing = missing_channels(record, None, channels.infos());
    for channel in missing {
        channel.element()?.visit(AddTo { to: &mut *channels, channel })?;
    }
    for (info, column) in channels.columns_mut() {
        column.resize(0);
        column.resize(len);
        if let Some(section) = section_of(record, None, info) {
            fill_flat(file, record, info, column, section)?;
        }
    }
    Ok(())
}

fn fill_flat(
    file: &mut File<'_>,
    record: &StoreRecord,
    info: &ChannelInfo,
    column: &mut dyn ErasedFlat,
    section: Section,
) -> Result<()> {
    let bytes = column.bytes_mut();
    if file.directory.section(section)? != bytes.len() as u64 {
        let why =
            format!("channel `{}` of {} has another number of elements", info.name, record.label);
        return Err(CheckpointError::malformed(why));
    }
    file.begin(section)?;
    file.read(bytes)
}

/// New particles must not get the ids of those that are there.
fn check_ids(record: &StoreRecord, largest: Option<&u64>, next_id: u64) -> Result<()> {
    match largest {
        Some(&id) if id >= next_id => {
            let label = &record.label;
            let why = format!("{label} has a particle {id}, but its next id is {next_id}");
            Err(CheckpointError::malformed(why))
        }
        _ => Ok(()),
    }
}

/// The section of a channel that is kept.
fn section_of(
    record: &StoreRecord,
    class: Option<ElementClass>,
    info: &ChannelInfo,
) -> Option<Section> {
    let class = class.map(ElementClass::name);
    let mut channels = record.channels.iter();
    let found = channels
        .find(|channel| channel.class.as_deref() == class && channel.name == info.name)
        .filter(|_| info.checkpoint)?;
    Some(found.values)
}

/// The channels of the file that a store does not have.
fn missing_channels<'a, 'b>(
    record: &'a StoreRecord,
    class: Option<ElementClass>,
    infos: impl Iterator<Item = &'b ChannelInfo>,
) -> Vec<&'a ChannelRecord> {
    let there: Vec<&str> = infos.map(|info| info.name.as_str()).collect();
    let class = class.map(ElementClass::name);
    let missing = |channel: &&ChannelRecord| {
        channel.class.as_deref() == class && !there.contains(&channel.name.as_str())
    };
    record.channels.iter().filter(missing).collect()
}

/// Makes a channel that only the file has.
struct AddTo<'a, S> {
    to: &'a mut S,
    channel: &'a ChannelRecord,
}

/// A store that a channel can be added to.
trait AddChannel {
    fn add<T: Element>(&mut self, spec: &ChannelSpec<T>, channel: &ChannelRecord) -> Result<()>;
}

impl<S: AddChannel> ElementVisitor for AddTo<'_, S> {
    type Output = Result<()>;

    fn visit<T: Element>(self) -> Result<()> {
        let default: T = bytemuck::try_pod_read_unaligned(&self.channel.default)
            .map_err(|_| CheckpointError::malformed("a default of another type"))?;
        let combine: Combine = self.channel.combine()?;
        let spec = ChannelSpec::new(self.channel.name.clone(), default)
            .unit(Cow::Owned(self.channel.unit.clone()))
            .combine(combine);
        self.to.add(&spec, self.channel)
    }
}

impl AddChannel for ParticleSystem {
    fn add<T: Element>(&mut self, spec: &ChannelSpec<T>, _: &ChannelRecord) -> Result<()> {
        Ok(self.add_channel(spec).map(|_| ())?)
    }
}

impl AddChannel for TopologicalParticles {
    fn add<T: Element>(&mut self, spec: &ChannelSpec<T>, _: &ChannelRecord) -> Result<()> {
        Ok(self.add_channel(spec).map(|_| ())?)
    }
}

impl AddChannel for DiscreteVolume {
    fn add<T: Element>(&mut self, spec: &ChannelSpec<T>, channel: &ChannelRecord) -> Result<()> {
        let shape = channel.voxels.and_then(|voxels| mask_or_numbers(channel, voxels));
        match shape {
            None => return Err(CheckpointError::malformed("voxels of an impossible shape")),
            Some((shape, false)) => self.add_channel(spec, shape).map(|_| ())?,
            Some((shape, true)) => self.add_mask(&channel.name, shape.resolution).map(|_| ())?,
        }
        Ok(())
    }
}

impl AddChannel for (&mut AnyMesh, ElementClass) {
    fn add<T: Element>(&mut self, spec: &ChannelSpec<T>, _: &ChannelRecord) -> Result<()> {
        Ok(self.0.add_channel(self.1, spec).map(|_| ())?)
    }
}

impl AddChannel for ChannelSet<Flat> {
    fn add<T: Element>(&mut self, spec: &ChannelSpec<T>, _: &ChannelRecord) -> Result<()> {
        Ok(self.add(spec, FlatColumn::new(spec, 0)).map(|_| ())?)
    }
}
