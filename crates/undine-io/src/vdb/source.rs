//! Where the values of a leaf come from: a chunk, a part of one, several of them, or samples of a coarser level.

use super::value::{GridValue, VoxelValue};
use crate::error::{IoError, Result};
use std::collections::{BTreeMap, BTreeSet};
use undine_core::domain::{BucketKey, Slot, Topology, VOXELS_PER_BUCKET};
use undine_core::glam::{IVec3, Vec3};
use undine_core::process::Parcel;
use undine_core::volume::{
    Blend, Interpolation, MacSampler, Resolution, Sampler, VoxelColumn, VoxelShape,
};
use undine_core::{Bucket, GridDomain};
use undine_vdb::{LeafMask, VOXELS};

/// A leaf to be written.
#[derive(Debug, Clone)]
pub(super) struct Leaf {
    /// Its least corner [voxels].
    pub origin: [i32; 3],
    /// Its active voxels, once they are known.
    pub mask: LeafMask,
    /// Where its values come from.
    pub place: Place,
}

/// Where the values of a leaf come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The chunk of 8³ of a slot: it is the leaf's buffer.
    Chunk(Slot),
    /// An eighth of the chunk of 16³ of a slot.
    Eighth(Slot),
    /// Chunks of 4³ or 2³; some may be missing.
    Several,
    /// Samples around the Bucket in a slot, whose level is coarser, or whose values lie elsewhere in their voxels.
    Sampled(Slot),
}

/// What gives leaves their values.
pub(super) trait Source<V>: Sync {
    /// The leaf's buffer, if there is one that needs not be put together.
    fn whole(&self, leaf: &Leaf) -> Option<&[V; VOXELS]>;

    /// Puts a leaf together; where a cell of it has no Bucket, from what is said of such.
    fn fill(&self, leaf: &Leaf, missing: &dyn Fn([i32; 3]) -> V, out: &mut [V; VOXELS]);

    /// Whether there is a Bucket for a cell of a leaf of [`Place::Several`].
    fn has(&self, cell: [i32; 3]) -> bool;
}

/// The chunks of a channel that leaves of one level are made of.
pub(super) struct Chunks<'a, T: VoxelValue> {
    column: &'a VoxelColumn<T>,
    topology: &'a Topology,
    /// The level of the leaves.
    level: u8,
    /// Chunks of other processes that are parts of leaves of this one.
    foreign: BTreeMap<BucketKey, Vec<T>>,
    /// The value at an offset [m] from the corner of the Bucket in a slot; without it, that of the voxel there.
    sampler: Option<Box<dyn Fn(Slot, Vec3) -> T + Sync + 'a>>,
}

impl<'a, T: VoxelValue> Chunks<'a, T> {
    /// The chunks of a column for leaves of a level. Collective.
    pub fn new(
        domain: &GridDomain,
        topology: &'a Topology,
        column: &'a VoxelColumn<T>,
        level: u8,
    ) -> Result<Self> {
        let foreign = exchange_parts(domain, topology, column, level)?;
        Ok(Self { column, topology, level, foreign, sampler: None })
    }

    /// The leaves of this process. Each belongs to the owner of its first Bucket.
    pub fn leaves(&self, domain: &GridDomain) -> Vec<Leaf> {
        leaves(domain, self.topology, self.level, self.column.shape().resolution, &self.foreign)
    }

    fn chunk(&self, bucket: Bucket) -> Option<&[T]> {
        let local = |slot: &Slot| (*slot as usize) < self.topology.local();
        match self.topology.slot(bucket).filter(local) {
            Some(slot) => Some(self.column.chunk(slot)),
            None => self.foreign.get(&bucket.key()).map(Vec::as_slice),
        }
    }

    /// Calls `put` with the voxels of a leaf and their values, `None` where a cell is missing.
    fn each(&self, leaf: &Leaf, mut put: impl FnMut(usize, Result<T, [i32; 3]>)) {
        let shape = self.column.shape();
        match leaf.place {
            Place::Chunk(slot) => {
                let chunk = self.column.chunk(slot).iter();
                chunk.enumerate().for_each(|(voxel, &value)| put(voxel, Ok(value)));
            }
            Place::Eighth(slot) => {
                let chunk = self.column.chunk(slot);
                let [x0, y0, z0] = leaf.origin.map(|c| (c & 15) as usize);
                for voxel in 0..VOXELS {
                    let [x, y, z] = Resolution::R8.coords(voxel);
                    put(voxel, Ok(chunk[shape.resolution.index(x0 + x, y0 + y, z0 + z)]));
                }
            }
            Place::Several => {
                let (bits, edge) = (shape.resolution.bits(), shape.resolution.edge());
                let first = IVec3::from_array(leaf.origin) >> bits as i32;
                for cell in 0..VOXELS / shape.resolution.voxels() {
                    let log2 = 3 - bits;
                    let at = [2 * log2, log2, 0].map(|shift| cell >> shift & ((1 << log2) - 1));
                    let bucket =
                        Bucket::at(self.level, first + IVec3::from_array(at.map(|c| c as i32)));
                    let chunk = self.chunk(bucket).ok_or(bucket.coord.to_array());
                    for place in 0..shape.resolution.voxels() {
                        let within = shape.resolution.coords(place);
                        let [x, y, z] = [0, 1, 2].map(|axis| at[axis] * edge + within[axis]);
                        put(Resolution::R8.index(x, y, z), chunk.map(|chunk| chunk[place]));
                    }
                }
            }
            Place::Sampled(slot) => {
                let bucket = self.topology.bucket(slot);
                let finer = i32::from(bucket.level - self.level);
                let corner = bucket.coord << (finer + shape.resolution.bits() as i32);
                let chunk = self.column.chunk(slot);
                let size = voxel_size(self.topology, shape, self.level) as f32;
                for voxel in 0..VOXELS {
                    let [x, y, z] = Resolution::R8.coords(voxel).map(|c| c as i32);
                    let place = IVec3::from_array(leaf.origin) + IVec3::new(x, y, z) - corner;
                    let value = match &self.sampler {
                        Some(at) => at(slot, (place.as_vec3() + shape.centring.offset()) * size),
                        None => {
                            let IVec3 { x, y, z } = place >> finer;
                            chunk[shape.resolution.index(x as usize, y as usize, z as usize)]
                        }
                    };
                    put(voxel, Ok(value));
                }
            }
        }
    }
}

impl<'a, T: VoxelValue + Blend> Chunks<'a, T> {
    /// The same; samples of coarser levels are between voxels, linearly. Copies of other processes' Buckets must be fresh.
    pub fn smooth(mut self) -> Self {
        let sampler = Sampler::new(self.column, self.topology, Interpolation::Linear);
        self.sampler = Some(Box::new(move |slot, offset| sampler.at(slot, offset)));
        self
    }
}

impl<T: VoxelValue> Source<T::Stored> for Chunks<'_, T> {
    fn whole(&self, leaf: &Leaf) -> Option<&[T::Stored; VOXELS]> {
        let Place::Chunk(slot) = leaf.place else { return None };
        T::view(self.column.chunk(slot))?.first_chunk()
    }

    fn fill(
        &self,
        leaf: &Leaf,
        missing: &dyn Fn([i32; 3]) -> T::Stored,
        out: &mut [T::Stored; VOXELS],
    ) {
        self.each(leaf, |voxel, value| {
            out[voxel] = value.map_or_else(missing, T::stored);
        });
    }

    fn has(&self, cell: [i32; 3]) -> bool {
        self.chunk(Bucket::at(self.level, IVec3::from_array(cell))).is_some()
    }
}

/// The three face channels of a MAC velocity, put together voxel by voxel: a component lies on the face of lesser coordinate of
/// its voxel here as in OpenVDB's staggered grids.
pub(super) struct Staggered<'a> {
    pub faces: [Chunks<'a, f32>; 3],
}

impl Source<[f32; 3]> for Staggered<'_> {
    fn whole(&self, _leaf: &Leaf) -> Option<&[[f32; 3]; VOXELS]> {
        None
    }

    fn fill(
        &self,
        leaf: &Leaf,
        missing: &dyn Fn([i32; 3]) -> [f32; 3],
        out: &mut [[f32; 3]; VOXELS],
    ) {
        for (axis, chunks) in self.faces.iter().enumerate() {
            chunks.each(leaf, |voxel, value| {
                out[voxel][axis] = value.unwrap_or_else(|cell| missing(cell)[axis]);
            });
        }
    }

    fn has(&self, cell: [i32; 3]) -> bool {
        Source::<f32>::has(&self.faces[0], cell)
    }
}

/// A MAC velocity in the middle of each voxel: the mean of its two faces along each axis, also between levels.
pub(super) struct Centred<'a> {
    pub sampler: MacSampler<'a>,
    pub topology: &'a Topology,
    pub resolution: Resolution,
    pub level: u8,
}

impl Source<[f32; 3]> for Centred<'_> {
    fn whole(&self, _leaf: &Leaf) -> Option<&[[f32; 3]; VOXELS]> {
        None
    }

    fn fill(
        &self,
        leaf: &Leaf,
        _missing: &dyn Fn([i32; 3]) -> [f32; 3],
        out: &mut [[f32; 3]; VOXELS],
    ) {
        let Place::Sampled(slot) = leaf.place else { return };
        let bucket = self.topology.bucket(slot);
        let finer = i32::from(bucket.level - self.level);
        let corner = bucket.coord << (finer + self.resolution.bits() as i32);
        let shape = VoxelShape::CELLS.with_resolution(self.resolution);
        let size = voxel_size(self.topology, shape, self.level) as f32;
        for (voxel, value) in out.iter_mut().enumerate() {
            let [x, y, z] = Resolution::R8.coords(voxel).map(|c| c as i32);
            let place = IVec3::from_array(leaf.origin) + IVec3::new(x, y, z) - corner;
            *value = self.sampler.at(slot, (place.as_vec3() + 0.5) * size).to_array();
        }
    }

    fn has(&self, _cell: [i32; 3]) -> bool {
        true
    }
}

/// Masks: a bit per voxel, in the layout of a leaf's own mask.
pub(super) struct Bits<'a, V> {
    pub column: &'a VoxelColumn<u64>,
    pub value: fn(bool) -> V,
}

impl<V: GridValue> Source<V> for Bits<'_, V> {
    fn whole(&self, _leaf: &Leaf) -> Option<&[V; VOXELS]> {
        None
    }

    fn fill(&self, leaf: &Leaf, _missing: &dyn Fn([i32; 3]) -> V, out: &mut [V; VOXELS]) {
        let Place::Chunk(slot) = leaf.place else { return };
        let words = self.column.chunk(slot);
        for (voxel, out) in out.iter_mut().enumerate() {
            *out = (self.value)(words[voxel >> 6] >> (voxel & 63) & 1 == 1);
        }
    }

    fn has(&self, _cell: [i32; 3]) -> bool {
        true
    }
}

/// The side of a voxel of a channel on a level [m].
pub(super) fn voxel_size(topology: &Topology, shape: VoxelShape, level: u8) -> f64 {
    let scale = VOXELS_PER_BUCKET as f64 / shape.resolution.edge() as f64;
    topology.frame().voxel_size(level) * scale
}

/// The leaves of a level that are this process's.
fn leaves<P>(
    domain: &GridDomain,
    topology: &Topology,
    level: u8,
    resolution: Resolution,
    foreign: &BTreeMap<BucketKey, P>,
) -> Vec<Leaf> {
    let slots = topology.level(level);
    let leaf =
        |origin: IVec3, place| Leaf { origin: origin.to_array(), mask: LeafMask::NONE, place };
    match resolution {
        Resolution::R8 => {
            slots.map(|slot| leaf(topology.bucket(slot).coord * 8, Place::Chunk(slot))).collect()
        }
        Resolution::R16 => slots
            .flat_map(|slot| {
                let corner = topology.bucket(slot).coord * 16;
                (0..8).map(move |n| (slot, corner + IVec3::new(n >> 2, n >> 1 & 1, n & 1) * 8))
            })
            .map(|(slot, origin)| leaf(origin, Place::Eighth(slot)))
            .collect(),
        Resolution::R2 | Resolution::R4 => {
            let shift = 3 - resolution.bits() as i32;
            let rank = domain.processes().rank();
            let own = slots.map(|slot| topology.bucket(slot));
            let of_others = foreign.keys().map(|key| key.bucket());
            let coords: BTreeSet<[i32; 3]> = own
                .chain(of_others)
                .filter(|&bucket| owner_of_leaf(domain, bucket, shift) == rank)
                .map(|bucket| (bucket.coord >> shift).to_array())
                .collect();
            coords.into_iter().map(|at| leaf(IVec3::from_array(at) * 8, Place::Several)).collect()
        }
    }
}

/// The process that writes the leaf which a Bucket is a part of.
fn owner_of_leaf(domain: &GridDomain, bucket: Bucket, shift: i32) -> usize {
    domain.owner(Bucket::at(bucket.level, bucket.coord >> shift << shift))
}

/// Sends the chunks that are parts of other processes' leaves, and returns those that came from them. Collective.
fn exchange_parts<T: VoxelValue>(
    domain: &GridDomain,
    topology: &Topology,
    column: &VoxelColumn<T>,
    level: u8,
) -> Result<BTreeMap<BucketKey, Vec<T>>> {
    let processes = domain.processes();
    let bits = column.shape().resolution.bits();
    if processes.count() == 1 || bits >= 3 {
        return Ok(BTreeMap::new());
    }
    let mut outgoing: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
    for slot in topology.level(level) {
        let bucket = topology.bucket(slot);
        let owner = owner_of_leaf(domain, bucket, 3 - bits as i32);
        if owner != processes.rank() {
            let bytes = outgoing.entry(owner).or_default();
            bytes.extend_from_slice(bytemuck::bytes_of(&bucket.key()));
            bytes.extend_from_slice(bytemuck::cast_slice(column.chunk(slot)));
        }
    }
    let outgoing = outgoing.into_iter().map(|(process, bytes)| Parcel { process, bytes }).collect();
    let key = size_of::<BucketKey>();
    let chunk = key + column.chunk_len() * size_of::<T>();
    let mut foreign = BTreeMap::new();
    for parcel in processes.exchange(outgoing)? {
        for part in parcel.bytes.chunks_exact(chunk) {
            let values = bytemuck::pod_collect_to_vec(&part[key..]);
            foreign.insert(bytemuck::pod_read_unaligned(&part[..key]), values);
        }
    }
    Ok(foreign)
}

/// The leaves of all levels as leaves of the finest: those of coarser Buckets are to be sampled. At most `most_leaves`.
pub(super) fn leaves_of_all_levels(
    grid: &str,
    topology: &Topology,
    finest: u8,
    resolution: Resolution,
    most_leaves: u64,
) -> Result<Vec<Leaf>> {
    let per_bucket = (resolution.voxels() / VOXELS) as u64;
    let of_level = |level: u8| {
        let buckets = topology.all().level(level).len() as u64;
        buckets.saturating_mul(per_bucket).saturating_mul(1 << (3 * u32::from(level - finest)))
    };
    let count = topology.all().levels().map(of_level).fold(0_u64, u64::saturating_add);
    if count > most_leaves {
        return Err(IoError::Unwritable {
            what: format!("the grid `{grid}`, resampled to its finest level,"),
            found: format!("it would have {count} leaves of 512 voxels"),
            wanted: format!(
                "at most {most_leaves} are allowed; write a grid per level instead, or allow more"
            ),
        });
    }
    let mut leaves = Vec::new();
    let bits = resolution.bits() as i32;
    for slot in 0..topology.local() as Slot {
        let bucket = topology.bucket(slot);
        let finer = i32::from(bucket.level - finest);
        let side = 1_i64 << (finer + bits - 3);
        let corner = bucket.coord << (finer + bits);
        for n in 0..side.pow(3) {
            let at = [n / (side * side), n / side % side, n % side].map(|c| c as i32);
            let origin = corner + IVec3::from_array(at) * 8;
            // Where a finer Bucket covers the leaf, its voxels are the better ones.
            let cell = Bucket::at(finest, origin >> bits);
            let covered =
                (finest..bucket.level).any(|level| topology.all().contains(cell.ancestor(level)));
            let place = match finer {
                0 if resolution == Resolution::R8 => Place::Chunk(slot),
                0 => Place::Eighth(slot),
                _ => Place::Sampled(slot),
            };
            if !covered {
                leaves.push(Leaf { origin: origin.to_array(), mask: LeafMask::NONE, place });
            }
        }
    }
    Ok(leaves)
}
