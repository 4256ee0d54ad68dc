//! The Buckets of a set as one process sees them: a slot for each Bucket it stores, neighbour tables,
//! and what must travel to keep copies fresh.
//!
//! Slots `0 .. local()` are the process's own Buckets, by level and then along the curve; behind them
//! come copies of the neighbouring Buckets that others own, by owner. Of remote Buckets only the keys
//! are known. A Topology never changes: stores that share one agree on every slot.

use super::bucket::{Bucket, BucketKey, MAX_LEVEL};
use super::frame::Frame;
use super::partition::Partition;
use super::set::BucketSet;
use crate::memory::MemoryReport;
use glam::IVec3;
use rayon::prelude::*;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The place of a Bucket in the stores of this process.
pub type Slot = u32;

/// No such Bucket.
pub const NONE: Slot = Slot::MAX;

/// The entry for an offset of −1, 0 or 1 per axis in a table of 27 neighbours; 13 is the Bucket itself.
pub const fn direction(x: i32, y: i32, z: i32) -> usize {
    ((x + 1) * 9 + (y + 1) * 3 + z + 1) as usize
}

/// The Buckets of a set as one process sees them.
#[derive(Debug)]
pub struct Topology {
    /// Unique in this program run.
    id: u64,
    frame: Frame,
    /// Every Bucket on any process.
    all: BucketSet,
    /// The Buckets that this process stores, by slot.
    buckets: Vec<Bucket>,
    local: usize,
    /// Where each level's local slots begin, and one end more.
    level_starts: Vec<Slot>,
    index: SlotIndex,
    neighbours: Vec<[Slot; 27]>,
    /// Per local slot, if there are several levels: the coarser Buckets around it.
    coarser: Vec<[Slot; 8]>,
    /// Per local slot above level 0: the finer Buckets in and around it.
    finer: Vec<[Slot; 64]>,
    sends: Vec<(usize, Vec<Slot>)>,
    receives: Vec<(usize, Range<Slot>)>,
    interior: Vec<Slot>,
    boundary: Vec<Slot>,
    colours: OnceLock<[Vec<Slot>; 8]>,
}

impl Topology {
    /// The view of process `rank` on `all` Buckets, owned as `partition` says.
    pub fn new(frame: Frame, all: BucketSet, partition: &Partition, rank: usize) -> Self {
        let mut buckets: Vec<Bucket> = all.keys().par_iter().map(|key| key.bucket()).collect();
        let distributed = partition.processes() > 1;
        if distributed {
            buckets.retain(|&bucket| partition.owner(&frame, bucket) == rank);
        }
        let local = buckets.len();
        let several_levels = all.levels().nth(1).is_some();

        // The halo: what others own, and a local Bucket has as a neighbour on its own or the next level.
        let mut sends: Vec<Vec<Slot>> = vec![Vec::new(); partition.processes()];
        let mut halo: Vec<(usize, BucketKey)> = Vec::new();
        if distributed {
            for (slot, &bucket) in buckets.iter().enumerate() {
                for near in vicinity(bucket, several_levels).filter(|&near| all.contains(near)) {
                    let owner = partition.owner(&frame, near);
                    if owner != rank {
                        halo.push((owner, near.key()));
                        if sends[owner].last() != Some(&(slot as Slot)) {
                            sends[owner].push(slot as Slot);
                        }
                    }
                }
            }
            halo.sort_unstable();
            halo.dedup();
        }
        let mut receives: Vec<(usize, Range<Slot>)> = Vec::new();
        for &(owner, key) in &halo {
            let slot = buckets.len() as Slot;
            match receives.last_mut().filter(|(last, _)| *last == owner) {
                Some((_, range)) => range.end = slot + 1,
                None => receives.push((owner, slot..slot + 1)),
            }
            buckets.push(key.bucket());
        }

        let index: SlotIndex = buckets
            .iter()
            .enumerate()
            .map(|(slot, &bucket)| (pack(bucket), slot as Slot))
            .collect();
        let find = |bucket: Bucket| find(&index, bucket).unwrap_or(NONE);
        let own = &buckets[..local];
        let neighbours: Vec<[Slot; 27]> = own
            .par_iter()
            .map(|bucket| std::array::from_fn(|n| find(bucket.offset(neighbour_offset(n)))))
            .collect();
        let level_starts: Vec<Slot> = (0..=MAX_LEVEL + 1)
            .map(|level| own.partition_point(|bucket| bucket.level < level) as Slot)
            .collect();
        let (mut coarser, mut finer) = (Vec::new(), Vec::new());
        if several_levels {
            coarser = own
                .par_iter()
                .map(|&bucket| {
                    std::array::from_fn(|n| coarser_bucket(bucket, n).map_or(NONE, find))
                })
                .collect();
            finer = own[level_starts[1] as usize..]
                .par_iter()
                .map(|&bucket| std::array::from_fn(|n| find(finer_bucket(bucket, n))))
                .collect();
        }

        let touches_halo = |slot: &Slot| {
            vicinity(own[*slot as usize], several_levels).any(|near| {
                let found = find(near);
                found != NONE && found as usize >= local
            })
        };
        let (boundary, interior) = if receives.is_empty() {
            (Vec::new(), Vec::new())
        } else {
            (0..local as Slot).into_par_iter().partition(touches_halo)
        };

        static NEXT: AtomicU64 = AtomicU64::new(1);
        let sends = sends.into_iter().enumerate().filter(|(_, slots)| !slots.is_empty()).collect();
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            frame,
            all,
            buckets,
            local,
            level_starts,
            index,
            neighbours,
            coarser,
            finer,
            sends,
            receives,
            interior,
            boundary,
            colours: OnceLock::new(),
        }
    }

    /// Identifies this Topology within the program run.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Where the Buckets lie in the world.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Every Bucket of the set, on any process: local, neighbouring and remote.
    pub fn all(&self) -> &BucketSet {
        &self.all
    }

    /// How many Buckets this process owns; their slots come first.
    pub fn local(&self) -> usize {
        self.local
    }

    /// How many Buckets this process stores: its own and its copies of neighbouring ones.
    pub fn stored(&self) -> usize {
        self.buckets.len()
    }

    /// The local slots of one level.
    pub fn level(&self, level: u8) -> Range<Slot> {
        let start = |level: u8| self.level_starts[usize::from(level.min(MAX_LEVEL + 1))];
        start(level)..start(level.saturating_add(1))
    }

    /// The Bucket in a slot.
    pub fn bucket(&self, slot: Slot) -> Bucket {
        self.buckets[slot as usize]
    }

    /// The stored Buckets, by slot.
    pub fn buckets(&self) -> &[Bucket] {
        &self.buckets
    }

    /// The slot of a Bucket, if this process stores it.
    pub fn slot(&self, bucket: Bucket) -> Option<Slot> {
        find(&self.index, bucket)
    }

    /// Slots of the 27 Buckets around a local one, itself included, by [`direction`]; [`NONE`] where
    /// there is none.
    #[inline]
    pub fn neighbours(&self, slot: Slot) -> &[Slot; 27] {
        &self.neighbours[slot as usize]
    }

    /// The Bucket of the next coarser level that contains the neighbour in `direction` (itself: its
    /// parent) of a local Bucket.
    pub fn coarser(&self, slot: Slot, direction: usize) -> Slot {
        let Some(table) = self.coarser.get(slot as usize) else { return NONE };
        let parity = self.buckets[slot as usize].parity();
        let step = neighbour_offset(direction);
        // Of a step along an axis, only the one towards the outside of the parent leaves the parent.
        let outside = |axis: usize| usize::from(step[axis] == 2 * parity[axis] - 1);
        table[outside(0) << 2 | outside(1) << 1 | outside(2)]
    }

    /// Slots of the 4×4×4 finer Buckets in and around a local one of level 1 or more, z fastest;
    /// its own children are those with coordinates 1 and 2.
    pub fn finer(&self, slot: Slot) -> Option<&[Slot; 64]> {
        self.finer.get((slot as usize).checked_sub(self.level_starts[1] as usize)?)
    }

    /// What to send: to each process, the local slots that it keeps copies of.
    pub fn sends(&self) -> &[(usize, Vec<Slot>)] {
        &self.sends
    }

    /// What to receive: from each process, the slots of our copies, in the order in which it sends.
    pub fn receives(&self) -> &[(usize, Range<Slot>)] {
        &self.receives
    }

    /// Local slots with no copy of a foreign Bucket around them; empty if there are no copies at all.
    pub fn interior(&self) -> &[Slot] {
        &self.interior
    }

    /// Local slots with a copy of a foreign Bucket around them.
    pub fn boundary(&self) -> &[Slot] {
        &self.boundary
    }

    /// Local slots in eight groups such that no two Buckets of a group (and level) are neighbours.
    pub fn colours(&self) -> &[Vec<Slot>; 8] {
        self.colours.get_or_init(|| {
            let mut colours: [Vec<Slot>; 8] = Default::default();
            for (slot, bucket) in self.buckets[..self.local].iter().enumerate() {
                let parity = bucket.parity();
                colours[(parity.x << 2 | parity.y << 1 | parity.z) as usize].push(slot as Slot);
            }
            colours
        })
    }

    /// What the tables cost.
    pub fn memory(&self) -> MemoryReport {
        let lists = self.sends.iter().map(|(_, slots)| slots.capacity()).sum::<usize>()
            + self.interior.capacity()
            + self.boundary.capacity()
            + self.colours.get().map_or(0, |groups| groups.iter().map(Vec::capacity).sum());
        let bytes = size_of_val(self.all.keys())
            + self.buckets.capacity() * size_of::<Bucket>()
            + self.index.capacity() * (size_of::<(u64, Slot)>() + 1)
            + size_of_val(&self.neighbours[..])
            + size_of_val(&self.coarser[..])
            + size_of_val(&self.finer[..])
            + lists * size_of::<Slot>();
        MemoryReport { raw: 0, overhead: bytes as u64 }
    }
}

/// The offset of an entry in a table of 27: the inverse of [`direction`].
pub(crate) fn neighbour_offset(direction: usize) -> IVec3 {
    let n = direction as i32;
    IVec3::new(n / 9, n / 3 % 3, n % 3) - 1
}

/// Entry `n` of the table of eight coarser Buckets: bit set, the one outside along that axis.
fn coarser_bucket(bucket: Bucket, n: usize) -> Option<Bucket> {
    if bucket.level == MAX_LEVEL {
        return None;
    }
    let outside = IVec3::new(n as i32 >> 2, n as i32 >> 1 & 1, n as i32 & 1);
    Some(bucket.parent().offset(outside * (2 * bucket.parity() - 1)))
}

/// Entry `n` of the table of 64 finer Buckets.
fn finer_bucket(bucket: Bucket, n: usize) -> Bucket {
    let n = n as i32;
    Bucket::at(bucket.level - 1, (bucket.coord << 1) + IVec3::new(n >> 4, n >> 2 & 3, n & 3) - 1)
}

/// All Buckets that any table of `bucket` may refer to.
fn vicinity(bucket: Bucket, several_levels: bool) -> impl Iterator<Item = Bucket> {
    let same = (0..27).map(move |n| bucket.offset(neighbour_offset(n)));
    let coarser =
        (0..if several_levels { 8 } else { 0 }).filter_map(move |n| coarser_bucket(bucket, n));
    let fine = if several_levels && bucket.level > 0 { 64 } else { 0 };
    let finer = (0..fine).map(move |n| finer_bucket(bucket, n));
    same.chain(coarser).chain(finer)
}

fn find(index: &SlotIndex, bucket: Bucket) -> Option<Slot> {
    // Beyond the index range, packed coordinates would wrap around.
    if bucket.is_in_range() { index.get(&pack(bucket)).copied() } else { None }
}

/// A Bucket within the index range as a number that is cheaper to make than its key.
fn pack(bucket: Bucket) -> u64 {
    let [x, y, z] = bucket.coord.to_array().map(|c| (c as u32 & 0xF_FFFF) as u64);
    u64::from(bucket.level) << 60 | x << 40 | y << 20 | z
}

type SlotIndex = HashMap<u64, Slot, BuildHasherDefault<PackedHasher>>;

/// Spreads packed coordinates by one multiplication: they are distinct and not chosen by an enemy.
#[derive(Debug, Default)]
struct PackedHasher(u64);

impl Hasher for PackedHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }
    fn write_u64(&mut self, value: u64) {
        let mixed = (self.0 ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ mixed >> 29;
    }
}

/// From the slots of one Topology to those of another on the same lattice.
#[derive(Debug, Clone)]
pub enum SlotMap {
    /// The two are the same.
    Identity,
    /// By slot of the first; [`NONE`] where the second has no such Bucket.
    Table(Vec<Slot>),
}

impl SlotMap {
    /// The map from the stored slots of `from` to those of `to`.
    pub fn between(from: &Topology, to: &Topology) -> Self {
        if from.id == to.id {
            return Self::Identity;
        }
        Self::Table(
            from.buckets.par_iter().map(|&bucket| to.slot(bucket).unwrap_or(NONE)).collect(),
        )
    }

    /// The slot in the second Topology.
    #[inline]
    pub fn get(&self, slot: Slot) -> Slot {
        match self {
            Self::Identity => slot,
            Self::Table(table) => table[slot as usize],
        }
    }
}
