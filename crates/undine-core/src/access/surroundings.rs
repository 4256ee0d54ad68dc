//! Which Buckets of a store lie around each Bucket that a kernel visits.
//!
//! The store may have other Buckets than are visited: a grid is padded by Buckets without particles,
//! but the particles next to them count.

use super::claims::slots_of;
use crate::domain::{NONE, Slot, SlotMap, Topology, offset_towards};
use crate::error::{CoreError, Result};
use rayon::prelude::*;

/// A visited slot, and the slots of a store around it.
type Around = (Slot, [Slot; 27]);

/// The Buckets of a store around those that are visited.
pub(super) struct Surroundings<'c> {
    slots: SlotMap,
    store: &'c Topology,
    /// For visited Buckets that the store does not have itself, ascending: what it has around them.
    lacking: Vec<Around>,
}

impl<'c> Surroundings<'c> {
    /// The Buckets of `store`, which messages call `label`, around those of `over`.
    pub fn new(
        task: &'static str,
        over: &Topology,
        store: &'c Topology,
        label: &str,
    ) -> Result<Self> {
        let slots = slots_of(task, over, store, label, false)?;
        let lacking = match &slots {
            SlotMap::Identity => Vec::new(),
            SlotMap::Table(table) => {
                let found: Vec<Result<Option<Around>>> = (0..over.local() as Slot)
                    .into_par_iter()
                    .filter(|&slot| table[slot as usize] as usize >= store.local())
                    .map(|slot| {
                        let around = look_around(task, over, slot, store, label)?;
                        Ok(around.iter().any(|&at| at != NONE).then_some((slot, around)))
                    })
                    .collect();
                found.into_iter().filter_map(Result::transpose).collect::<Result<_>>()?
            }
        };
        Ok(Self { slots, store, lacking })
    }

    /// The slots in the store of the 27 Buckets around the one visited, by [`direction`](crate::domain::direction).
    #[inline]
    pub fn of(&self, slot: Slot) -> &[Slot; 27] {
        const NOWHERE: &[Slot; 27] = &[NONE; 27];
        let at = self.slots.get(slot);
        if (at as usize) < self.store.local() {
            return self.store.neighbours(at);
        }
        let found = self.lacking.binary_search_by_key(&slot, |entry| entry.0);
        found.map_or(NOWHERE, |n| &self.lacking[n].1)
    }
}

/// What the store has around a Bucket that it does not have. Refuses if something of it is remote.
fn look_around(
    task: &'static str,
    over: &Topology,
    slot: Slot,
    store: &Topology,
    label: &str,
) -> Result<[Slot; 27]> {
    let bucket = over.bucket(slot);
    let mut around = [NONE; 27];
    for (direction, found) in around.iter_mut().enumerate() {
        let near = bucket.offset(offset_towards(direction));
        *found = store.slot(near).unwrap_or(NONE);
        if *found == NONE && store.local() < store.all().len() && store.all().contains(near) {
            return Err(CoreError::BadAccess {
                task,
                why: format!(
                    "it reads {label} around {bucket:?}, but {label} has {near:?} on another process and no copy here; let it cover {bucket:?} too"
                ),
            });
        }
    }
    Ok(around)
}
