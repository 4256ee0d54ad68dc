//! Resampling between lattices that lie on each other, with voxels of the same width, twice it or half of it.
//!
//! A voxel twice as wide takes the mean of the eight that it covers; one half as wide takes, along each axis, ¾ of the
//! voxel in which it lies and ¼ of the next. Both are trilinear interpolation. Each Bucket gathers the box of voxels
//! that it needs; those that other processes own are sent first, because another lattice is cut at other Buckets.

use super::{LevelSet, VOXELS};
use crate::error::Result;
use crate::pose::Pose;
use undine_core::domain::VOXELS_PER_BUCKET;
use undine_core::glam::{DQuat, IVec3};
use undine_core::process::Parcel;
use undine_core::volume::{Resolution, VoxelColumn};
use undine_core::{Accessor, Bucket, BucketKey, CoreError, Frame};

/// Voxels along a Bucket.
const EDGE: i32 = VOXELS_PER_BUCKET as i32;

/// How a lattice lies on another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ratio {
    scale: Scale,
    /// From the first voxel of the old lattice to that of the new one, in the finer voxels.
    shift: IVec3,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scale {
    Same,
    /// New voxels are twice as wide.
    Coarser,
    /// New voxels are half as wide.
    Finer,
}

impl Ratio {
    /// How `to` lies on `from` that is moved by `pose`, if their voxels meet.
    pub fn between(from: &Frame, to: &Frame, pose: &Pose) -> Option<Self> {
        if pose.rotation != DQuat::IDENTITY {
            return None;
        }
        let (old, new) = (from.voxel_size(0), to.voxel_size(0));
        let scale = match new / old {
            1.0 => Scale::Same,
            2.0 => Scale::Coarser,
            0.5 => Scale::Finer,
            _ => return None,
        };
        let shift = (to.origin() - pose.translation - from.origin()) / old.min(new);
        let whole = shift.round();
        // Only what rounding of the origins leaves.
        let meets = (shift - whole).abs().max_element() < 1e-6;
        let in_range = whole.abs().max_element() < f64::from(1 << 24);
        (meets && in_range).then(|| Self { scale, shift: whole.as_ivec3() })
    }

    /// The first old voxel that a new Bucket needs, and how many along each axis.
    fn needs(&self, bucket: Bucket) -> (IVec3, IVec3) {
        let first = bucket.coord * EDGE;
        match self.scale {
            Scale::Same => (first + self.shift, IVec3::splat(EDGE)),
            Scale::Coarser => (2 * first + self.shift, IVec3::splat(2 * EDGE)),
            Scale::Finer => {
                let low = ((first + self.shift) >> 1) - 1;
                let high = ((first + self.shift + (EDGE - 1)) >> 1) + 1;
                (low, high - low + 1)
            }
        }
    }

    /// The old Buckets that a new one needs.
    fn buckets(&self, bucket: Bucket) -> impl Iterator<Item = Bucket> + use<> {
        let (first, count) = self.needs(bucket);
        super::surface::box_of(first >> 3, (first + count - 1) >> 3)
            .map(|coord| Bucket::at(0, coord))
    }
}

impl LevelSet {
    /// Takes the distances of another level set whose lattice lies on this one's.
    pub(super) fn take_aligned(&mut self, from: &Self, ratio: Ratio) -> Result<()> {
        let column = from.column()?;
        let sent = fetch(self, from, &column, ratio)?;
        let source = Source { set: from, column: &column, sent };
        let width = self.width;
        let accessor = Accessor::new("resample", &self.domain).over(self.topology());
        let access = self.volume.write(self.distance);
        accessor.run_with(access, Vec::new, |voxels, here, to| {
            let (first, count) = ratio.needs(here.bucket);
            source.gather(first, count, voxels);
            let at = |x: i32, y: i32, z: i32| ((x * count.y + y) * count.z + z) as usize;
            for (place, to) in to.iter_mut().enumerate() {
                let voxel = IVec3::from_array(Resolution::R8.coords(place).map(|n| n as i32));
                let value = match ratio.scale {
                    Scale::Same => voxels[at(voxel.x, voxel.y, voxel.z)],
                    Scale::Coarser => {
                        let IVec3 { x, y, z } = 2 * voxel;
                        let pair = |x, y| voxels[at(x, y, z)] + voxels[at(x, y, z + 1)];
                        let low = pair(x, y) + pair(x, y + 1);
                        let high = pair(x + 1, y) + pair(x + 1, y + 1);
                        0.125 * (low + high)
                    }
                    Scale::Finer => {
                        let fine = here.bucket.coord * EDGE + voxel + ratio.shift;
                        let own: IVec3 = (fine >> 1) - first;
                        let next = own + 2 * (fine & 1) - 1;
                        let along_z =
                            |x, y| 0.75 * voxels[at(x, y, own.z)] + 0.25 * voxels[at(x, y, next.z)];
                        let along_y = |x| 0.75 * along_z(x, own.y) + 0.25 * along_z(x, next.y);
                        0.75 * along_y(own.x) + 0.25 * along_y(next.x)
                    }
                };
                *to = value.clamp(-width, width);
            }
        })?;
        Ok(())
    }
}

/// The old voxels, own and sent.
struct Source<'a> {
    set: &'a LevelSet,
    column: &'a VoxelColumn<f32>,
    sent: Sent,
}

impl Source<'_> {
    /// Copies a box of voxels, z fastest.
    fn gather(&self, first: IVec3, count: IVec3, to: &mut Vec<f32>) {
        to.clear();
        to.resize(count.element_product() as usize, 0.0);
        let end = first + count;
        for coord in super::surface::box_of(first >> 3, (end - 1) >> 3) {
            let bucket = Bucket::at(0, coord);
            let corner = coord * EDGE;
            let (low, high) = (corner.max(first), (corner + EDGE).min(end));
            let chunk = self.chunk(bucket);
            let inside = chunk.is_none() && self.set.beyond.is_inside(bucket);
            let elsewhere = if inside { -self.set.width } else { self.set.width };
            let length = (high.z - low.z) as usize;
            for x in low.x..high.x {
                for y in low.y..high.y {
                    let at = ((x - first.x) * count.y + y - first.y) * count.z + low.z - first.z;
                    let row = &mut to[at as usize..at as usize + length];
                    match chunk {
                        None => row.fill(elsewhere),
                        Some(chunk) => {
                            let from = IVec3::new(x, y, low.z) - corner;
                            let [x, y, z] = from.to_array().map(|n| n as usize);
                            let from = Resolution::R8.index(x, y, z);
                            row.copy_from_slice(&chunk[from..from + length]);
                        }
                    }
                }
            }
        }
    }

    fn chunk(&self, bucket: Bucket) -> Option<&[f32]> {
        let topology = self.set.topology();
        match topology.slot(bucket) {
            Some(slot) if (slot as usize) < topology.local() => Some(self.column.chunk(slot)),
            _ => self.sent.chunk(bucket),
        }
    }
}

/// Voxels of other processes' Buckets.
#[derive(Default)]
struct Sent {
    /// Ascending.
    keys: Vec<BucketKey>,
    voxels: Vec<f32>,
}

impl Sent {
    fn chunk(&self, bucket: Bucket) -> Option<&[f32]> {
        if self.keys.is_empty() || !bucket.is_in_range() {
            return None;
        }
        let at = self.keys.binary_search(&bucket.key()).ok()?;
        Some(&self.voxels[at * VOXELS..(at + 1) * VOXELS])
    }
}

/// Sends each process the old Buckets that its new ones need. Everyone knows all Buckets, so nobody needs to ask.
fn fetch(
    result: &LevelSet,
    from: &LevelSet,
    column: &VoxelColumn<f32>,
    ratio: Ratio,
) -> Result<Sent> {
    let processes = result.domain.processes();
    if processes.count() == 1 {
        return Ok(Sent::default());
    }
    let mut wanted: Vec<Vec<BucketKey>> = vec![Vec::new(); processes.count()];
    for bucket in result.topology().all().buckets() {
        let owner = result.domain.owner(bucket);
        if owner == processes.rank() {
            continue;
        }
        let mine = |bucket: &Bucket| {
            let slot = from.topology().slot(*bucket);
            slot.is_some_and(|slot| (slot as usize) < from.topology().local())
        };
        wanted[owner].extend(ratio.buckets(bucket).filter(mine).map(Bucket::key));
    }
    let outgoing = wanted.iter_mut().enumerate().filter(|(_, keys)| !keys.is_empty());
    let outgoing = outgoing.map(|(process, keys)| {
        keys.sort_unstable();
        keys.dedup();
        let mut bytes = bytemuck::cast_slice(keys).to_vec();
        for key in keys.iter() {
            if let Some(slot) = from.topology().slot(key.bucket()) {
                bytes.extend_from_slice(bytemuck::cast_slice(column.chunk(slot)));
            }
        }
        Parcel { process, bytes }
    });
    let parcels = processes.exchange(outgoing.collect())?;

    let mut chunks: Vec<(BucketKey, Vec<f32>)> = Vec::new();
    for parcel in parcels {
        let each = size_of::<BucketKey>() + VOXELS * size_of::<f32>();
        if parcel.bytes.len() % each != 0 {
            let why = format!("{} bytes are no whole number of Buckets", parcel.bytes.len());
            return Err(CoreError::Communication { what: "resample", why }.into());
        }
        let (keys, voxels) =
            parcel.bytes.split_at(parcel.bytes.len() / each * size_of::<BucketKey>());
        let keys: Vec<BucketKey> = bytemuck::pod_collect_to_vec(keys);
        let voxels: Vec<f32> = bytemuck::pod_collect_to_vec(voxels);
        chunks.extend(keys.into_iter().zip(voxels.chunks_exact(VOXELS).map(<[f32]>::to_vec)));
    }
    chunks.sort_unstable_by_key(|(key, _)| *key);
    Ok(Sent {
        keys: chunks.iter().map(|(key, _)| *key).collect(),
        voxels: chunks.into_iter().flat_map(|(_, voxels)| voxels).collect(),
    })
}
