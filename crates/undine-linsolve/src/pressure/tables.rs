//! Where the Buckets of each level lie in its arrays, and how levels hang together.
//!
//! All levels are one Topology of overlapping Buckets. A level's arrays begin with its local Buckets, along the curve; copies of
//! foreign ones follow. A place counts within its level.

use super::stencil::{NONE, SIDES};
use undine_core::domain::{MAX_LEVEL, Slot, direction};
use undine_core::{BucketSet, Result, Topology};

/// Cells of the coarsest level, at most: few enough to be factored at once.
pub const COARSEST: i64 = 64;

/// The places of one level.
#[derive(Debug, Default)]
pub struct Tables {
    /// Local Buckets.
    pub local: usize,
    /// With copies.
    pub stored: usize,
    /// By copy: the process that owns it.
    pub owners: Vec<u32>,
    /// By local place: the six neighbours.
    pub sides: Vec<[u32; SIDES]>,
    /// By local place: the place of the parent on the next level. Empty on the coarsest.
    pub parents: Vec<u32>,
    /// By local place: which of its parent's octants a Bucket is, z fastest.
    pub octants: Vec<u8>,
    /// By local place: the eight children on the level before. Empty on the finest.
    pub children: Vec<[u32; 8]>,
}

/// The Buckets of all levels above some of level 0, up to one with no more than [`COARSEST`] cells.
pub fn levels_above(finest: BucketSet) -> Result<BucketSet> {
    let mut low = undine_core::glam::IVec3::MAX;
    let mut high = undine_core::glam::IVec3::MIN;
    for bucket in finest.buckets() {
        low = low.min(bucket.coord);
        high = high.max(bucket.coord);
    }
    // In cells, which are a power of two to a Bucket, so that the first and the last of all cells tell it.
    let cells = |level: u8| -> i64 {
        let extent = ((high * 8 + 7) >> i32::from(level)) - ((low * 8) >> i32::from(level)) + 1;
        extent.to_array().into_iter().map(i64::from).product()
    };
    let mut all = finest;
    let mut level = 0;
    // At least one level above, so that the coarsest is never the system's own.
    while !all.is_empty() && level < MAX_LEVEL && (level == 0 || cells(level) > COARSEST) {
        all = all.union(&all.coarsen(level)?);
        level += 1;
    }
    Ok(all)
}

impl Tables {
    /// The tables of all levels of a Topology.
    pub fn new(topology: &Topology) -> Vec<Self> {
        let levels: Vec<u8> = topology.all().levels().collect();
        let owner = |slot: Slot| {
            let from = topology.receives().iter().find(|(_, slots)| slots.contains(&slot));
            from.map_or(0, |&(process, _)| process as u32)
        };
        let mut places = vec![NONE; topology.stored()];
        let mut tables: Vec<Self> = Vec::new();
        for &level in &levels {
            let slots = topology.level(level);
            let copies = topology.local() as Slot..topology.stored() as Slot;
            let copies = copies.filter(|&slot| topology.bucket(slot).level == level);
            let mut stored = 0;
            for slot in slots.clone().chain(copies.clone()) {
                places[slot as usize] = stored;
                stored += 1;
            }
            let (local, stored) = (slots.len(), stored as usize);
            let owners = copies.map(owner).collect();
            tables.push(Self { local, stored, owners, ..Self::default() });
        }
        let place = |slot: Slot| if slot == NONE { NONE } else { places[slot as usize] };
        for (level, table) in levels.into_iter().zip(&mut tables) {
            for slot in topology.level(level) {
                let around = topology.neighbours(slot);
                table.sides.push(TOWARDS.map(|towards| place(around[towards])));
                let parent = topology.coarser(slot, direction(0, 0, 0));
                if parent != NONE {
                    table.parents.push(place(parent));
                    let parity = topology.bucket(slot).parity();
                    table.octants.push((parity.x << 2 | parity.y << 1 | parity.z) as u8);
                }
                if level > 0
                    && let Some(finer) = topology.finer(slot)
                {
                    table.children.push(std::array::from_fn(|n| {
                        let (x, y, z) = (1 + (n >> 2), 1 + (n >> 1 & 1), 1 + (n & 1));
                        place(finer[x << 4 | y << 2 | z])
                    }));
                }
            }
        }
        tables
    }

    /// Bytes of the tables.
    pub fn bytes(&self) -> u64 {
        (size_of_val(&self.parents[..]) + self.octants.len() + size_of_val(&self.children[..]))
            as u64
    }
}

/// The neighbours below and above along x, y and z in a table of 27.
pub const TOWARDS: [usize; SIDES] = [
    direction(-1, 0, 0),
    direction(1, 0, 0),
    direction(0, -1, 0),
    direction(0, 1, 0),
    direction(0, 0, -1),
    direction(0, 0, 1),
];
