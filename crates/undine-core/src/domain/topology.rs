//! The Buckets of a set as one process sees them: a slot for each Bucket it stores, neighbour tables,
//! and what must travel to keep copies fresh.
//!
//! Slots `0 .. local()` are the process's own Buckets, by level and then along the curve; behind them
//! come copies of the neighbouring Buckets that others own, by owner. Of remote Buckets only the keys
//! are known. A Topology never changes: stores that share one agree on every slot.

use super::bucket::{Bucket, MAX_LEVEL};
use super::frame::Frame;
use super::halo::{Halo, Owners};
use super::index::KeyIndex;
use super::partition::Partition;
use super::set::BucketSet;
use crate::memory::MemoryReport;
use glam::IVec3;
use rayon::prelude::*;
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

/// The offset of an entry in a table of 27 neighbours: the inverse of [`direction`].
pub const fn offset_towards(direction: usize) -> IVec3 {
    let n = direction as i32;
    IVec3::new(n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1)
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
    index: KeyIndex,
    /// From places in `all` to slots; empty if they are the same.
    slots: Vec<Slot>,
    neighbours: Vec<[Slot; 27]>,
    /// Per local slot, if there are several levels: the coarser Buckets around it.
    coarser: Vec<[Slot; 8]>,
    /// Per local slot above level 0: the finer Buckets in and around it.
    finer: Vec<[Slot; 64]>,
    sends: Vec<(usize, Vec<Slot>)>,
    receives: Vec<(usize, Range<Slot>)>,
    interior: Vec<Slot>,
    boundary: Vec<Slot>,
    visits: OnceLock<Vec<Slot>>,
    colours: OnceLock<[Vec<Slot>; 8]>,
}

impl Topology {
    /// The view of process `rank` on `all` Buckets, owned as `partition` says.
    pub fn new(frame: Frame, all: BucketSet, partition: &Partition, rank: usize) -> Self {
        let (index, every) = KeyIndex::new(all.keys());
        let several_levels = all.levels().nth(1).is_some();

        // Tables by place in `all`, for the local Buckets; slots come later.
        let owners = Owners::new(&frame, all.keys(), partition, rank);
        let own: Vec<Bucket> = owners.local(&every);
        let local = own.len();
        let mut neighbours: Vec<[Slot; 27]> = own
            .par_iter()
            .map(|bucket| index.find_cube::<3, 27>(bucket.offset(IVec3::splat(-1))))
            .collect();
        let level_starts: Vec<Slot> = (0..=MAX_LEVEL + 1)
            .map(|level| own.partition_point(|bucket| bucket.level < level) as Slot)
            .collect();
        let (mut coarser, mut finer): (Vec<[Slot; 8]>, Vec<[Slot; 64]>) = Default::default();
        if several_levels {
            coarser = own
                .par_iter()
                .map(|&bucket| {
                    let Some(low) = lowest_coarser(bucket) else { return [NONE; 8] };
                    index.find_cube::<2, 8>(low)
                })
                .collect();
            finer = own[level_starts[1] as usize..]
                .par_iter()
                .map(|&bucket| index.find_cube::<4, 64>(lowest_finer(bucket)))
                .collect();
        }

        let mut buckets = own;
        let mut halo = Halo::default();
        let mut slots = Vec::new();
        if !owners.is_empty() {
            let finer_from = level_starts[1] as usize;
            let around = |slot: usize| {
                let coarser = coarser.get(slot).into_iter().flatten();
                let finer = slot.checked_sub(finer_from).and_then(|n| finer.get(n));
                neighbours[slot].iter().chain(coarser).chain(finer.into_iter().flatten()).copied()
            };
            halo = Halo::new(local, rank, partition.processes(), &owners, around);
            buckets.extend(halo.copies.iter().map(|&place| every[place as usize]));
            slots = owners.slots(&halo.copies);
            let to_slot = |entry: &mut Slot| {
                if *entry != NONE {
                    *entry = slots[*entry as usize];
                }
            };
            neighbours.par_iter_mut().for_each(|table| table.iter_mut().for_each(to_slot));
            coarser.par_iter_mut().for_each(|table| table.iter_mut().for_each(to_slot));
            finer.par_iter_mut().for_each(|table| table.iter_mut().for_each(to_slot));
        }

        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            frame,
            all,
            buckets,
            local,
            level_starts,
            index,
            slots,
            neighbours,
            coarser,
            finer,
            sends: halo.sends,
            receives: halo.receives,
            interior: halo.interior,
            boundary: halo.boundary,
            visits: OnceLock::new(),
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
        let place = self.index.find(bucket);
        let slot =
            if self.slots.is_empty() || place == NONE { place } else { self.slots[place as usize] };
        (slot != NONE).then_some(slot)
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
        // The table holds, along each axis, the parent and the one that the Bucket lies beside.
        let entry: IVec3 = (offset_towards(direction) + 2 - parity) >> 1;
        table[(entry.x << 2 | entry.y << 1 | entry.z) as usize]
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

    /// The local slots in the order in which kernels visit them and volumes lay them out: level after
    /// level, columns along z in strips four Buckets wide along y.
    ///
    /// A row of voxels lies along z, so that the face towards a neighbour along z touches all of its
    /// cache lines: in a column, that neighbour is visited next or was just before. The strip keeps
    /// those along x and y in cache too.
    pub fn visits(&self) -> &[Slot] {
        self.visits.get_or_init(|| {
            let mut visits: Vec<Slot> = (0..self.local as Slot).collect();
            visits.par_sort_by_key(|&slot| {
                let Bucket { level, coord } = self.buckets[slot as usize];
                (level, coord.y >> 2, coord.x, coord.y, coord.z)
            });
            visits
        })
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
            + self.visits.get().map_or(0, Vec::capacity)
            + self.colours.get().map_or(0, |groups| groups.iter().map(Vec::capacity).sum());
        let bytes = size_of_val(self.all.keys())
            + self.buckets.capacity() * size_of::<Bucket>()
            + self.index.bytes()
            + size_of_val(&self.slots[..])
            + size_of_val(&self.neighbours[..])
            + size_of_val(&self.coarser[..])
            + size_of_val(&self.finer[..])
            + lists * size_of::<Slot>();
        MemoryReport { raw: 0, overhead: bytes as u64 }
    }
}

/// The first of the eight coarser Buckets that contain a Bucket's neighbours.
pub(super) fn lowest_coarser(bucket: Bucket) -> Option<Bucket> {
    (bucket.level < MAX_LEVEL).then(|| Bucket::at(bucket.level + 1, (bucket.coord - 1) >> 1))
}

/// The first of the 64 finer Buckets in and around a Bucket.
fn lowest_finer(bucket: Bucket) -> Bucket {
    Bucket::at(bucket.level - 1, (bucket.coord << 1) - 1)
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
