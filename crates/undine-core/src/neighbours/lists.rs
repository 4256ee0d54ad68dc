//! The neighbours of every particle, written down.

use super::neighbour::Neighbour;
use super::search::{BucketSearch, Neighbours};
use crate::domain::Slot;
use crate::error::{CoreError, Result};
use crate::memory::{MemoryReport, Reservation};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The neighbours of each particle of a system, as they were when the lists were written.
///
/// One block per Bucket, each in compressed rows; a neighbour takes four bytes.
#[derive(Debug)]
pub struct NeighbourLists {
    blocks: Vec<Block>,
    _reservation: Reservation,
}

/// The lists of one Bucket.
#[derive(Debug, Default)]
struct Block {
    /// By place.
    rows: Box<[Row]>,
    /// In the order in which particles were visited.
    entries: Box<[Neighbour]>,
}

/// Where the neighbours of one particle are among the entries of its block.
#[derive(Debug, Clone, Copy, Default)]
struct Row {
    start: u32,
    len: u32,
}

/// A first guess at how many neighbours a particle has.
const USUAL: usize = 32;

impl Neighbours<'_> {
    /// Writes the neighbours of every particle down. Collective.
    pub fn lists(&self) -> Result<NeighbourLists> {
        let blocks: Vec<OnceLock<Block>> =
            (0..self.particles.topology().local()).map(|_| OnceLock::new()).collect();
        let account = Mutex::new((self.domain.budget().reserve_nothing(), Ok(())));
        let lock = || account.lock().unwrap_or_else(PoisonError::into_inner);
        self.each_bucket((), |here, (), search| {
            if lock().1.is_err() {
                return;
            }
            let block = self.block(search);
            let (reservation, outcome) = &mut *lock();
            let kept = block.and_then(|block| {
                let bytes = reservation.bytes() + block.memory().total();
                reservation.resize(&self.lists_label(), bytes)?;
                Ok(blocks[here.slot as usize].set(block))
            });
            if let (Err(error), Ok(())) = (kept, &*outcome) {
                *outcome = Err(error);
            }
        })?;
        let (reservation, outcome) = account.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.domain.processes().all_agree(outcome)?;
        let blocks = blocks.into_iter().map(|block| block.into_inner().unwrap_or_default());
        Ok(NeighbourLists { blocks: blocks.collect(), _reservation: reservation })
    }

    /// The lists of one Bucket.
    ///
    /// They can grow far beyond the particles themselves, so that the budget is asked before they do.
    fn block(&self, mut search: BucketSearch<'_>) -> Result<Block> {
        let mut rows = vec![Row::default(); search.len()];
        let mut entries: Vec<Neighbour> = Vec::with_capacity(search.len() * USUAL);
        let mut room = Ok(());
        search.each(|place, near| {
            let wanted = entries.len() + near.len();
            if wanted > entries.capacity() && room.is_ok() {
                room = self.check_room(2 * wanted);
            }
            if room.is_ok() {
                rows[place] = Row { start: entries.len() as u32, len: near.len() as u32 };
                entries.extend(near.neighbours());
            }
        });
        room?;
        Ok(Block { rows: rows.into(), entries: entries.into() })
    }

    /// Refuses to let the lists of one Bucket grow to so many entries.
    fn check_room(&self, entries: usize) -> Result<()> {
        if u32::try_from(entries).is_err() {
            return Err(CoreError::BadIndex {
                what: format!("an entry of the {} in one Bucket", self.lists_label()),
                index: entries as u64,
                count: u64::from(u32::MAX),
            });
        }
        let bytes = (entries * size_of::<Neighbour>()) as u64;
        self.domain.budget().check(&self.lists_label(), bytes)
    }

    fn lists_label(&self) -> String {
        format!("neighbour lists of {}", self.particles.label())
    }
}

impl NeighbourLists {
    /// The neighbours of the particle at a place of a local Bucket.
    #[inline]
    pub fn of(&self, slot: Slot, place: usize) -> &[Neighbour] {
        let block = &self.blocks[slot as usize];
        let row = block.rows[place];
        &block.entries[row.start as usize..][..row.len as usize]
    }

    /// How many entries there are in all lists together.
    pub fn entries(&self) -> u64 {
        self.blocks.iter().map(|block| block.entries.len() as u64).sum()
    }

    /// Bytes of the entries, and of what tells them apart.
    pub fn memory(&self) -> MemoryReport {
        self.blocks.iter().fold(MemoryReport::default(), |mut sum, block| {
            sum += block.memory();
            sum
        })
    }
}

impl Block {
    fn memory(&self) -> MemoryReport {
        MemoryReport {
            raw: size_of_val(&self.entries[..]) as u64,
            overhead: (size_of_val(&self.rows[..]) + size_of::<Self>()) as u64,
        }
    }
}
