//! The forces of contacts, kept in channels from step to step: a solve begins with those of the contacts that were there before.

use super::find::{Found, Key};
use std::collections::BTreeMap;
use undine_core::glam::DVec3;
use undine_core::{ChannelSpec, Handle};
use undine_sim::elements::ElementSet;
use undine_sim::{Id, Ingest, Result, StoreId, World};

/// What contacts remember.
pub(super) struct Memory {
    store: Id<ElementSet>,
    objects: [Handle<u32>; 2],
    points: [Handle<u64>; 4],
    /// The force on the first of the two [N].
    force: Handle<DVec3>,
    /// Towards the first, of length 1.
    normal: Handle<DVec3>,
    known: BTreeMap<Key, DVec3>,
}

impl Memory {
    pub fn new(ingest: &mut Ingest<'_>) -> Result<Self> {
        let mut elements = ElementSet::new(ingest.path);
        let mut object =
            |n: usize| elements.add_channel(&ChannelSpec::new(format!("object-{n}"), 0_u32));
        let objects = [object(0)?, object(1)?];
        let mut point =
            |n: usize| elements.add_channel(&ChannelSpec::new(format!("point-{n}"), 0_u64));
        let points = [point(0)?, point(1)?, point(2)?, point(3)?];
        let force = elements.add_channel(&ChannelSpec::new("force", DVec3::ZERO).unit("N"))?;
        let normal = elements.add_channel(&ChannelSpec::new("normal", DVec3::ZERO))?;
        let store = ingest.world.elements.add(elements);
        Ok(Self { store, objects, points, force, normal, known: BTreeMap::new() })
    }

    pub fn store(&self) -> StoreId {
        self.store.into()
    }

    /// Reads what the step before has left.
    pub fn recall(&mut self, world: &World) -> Result<()> {
        let elements = &world.elements[self.store];
        let [one, other] = self.objects;
        let objects = [elements.column(one)?, elements.column(other)?];
        let [a, b, c, d] = self.points;
        let points =
            [elements.column(a)?, elements.column(b)?, elements.column(c)?, elements.column(d)?];
        let force = elements.column(self.force)?;
        let key = |n: usize| Key {
            objects: [objects[0][n], objects[1][n]],
            points: [points[0][n], points[1][n], points[2][n], points[3][n]],
        };
        self.known = (0..elements.len()).map(|n| (key(n), force[n])).collect();
        Ok(())
    }

    /// Gives contacts the forces that they had: in the round before, else in the step before.
    pub fn guess(&self, before: &[Found], found: &mut [Found]) {
        let acts = before.iter().filter(|found| found.contact.force != DVec3::ZERO);
        let known: BTreeMap<Key, DVec3> =
            acts.map(|found| (found.key, found.contact.force)).collect();
        let last = if before.is_empty() { &self.known } else { &known };
        for found in found {
            found.contact.force = last.get(&found.key).copied().unwrap_or(DVec3::ZERO);
        }
    }

    /// Stretches the spring of a contact along its surface by what the step before has left.
    pub fn stretch(&self, found: &mut Found) {
        let Found { contact, key, .. } = found;
        let left = self.known.get(key).copied().unwrap_or(DVec3::ZERO);
        contact.slip -= contact.compliance * left.reject_from_normalized(contact.normal);
    }

    /// Writes the forces that act.
    pub fn remember(&mut self, world: &mut World, found: &[Found]) -> Result<()> {
        let elements = &mut world.elements[self.store];
        let acts = |found: &&Found| found.contact.force != DVec3::ZERO;
        elements.resize(0);
        elements.resize(found.iter().filter(acts).count());
        for side in 0..2 {
            let mut column = elements.column_mut(self.objects[side])?;
            for (object, found) in column.iter_mut().zip(found.iter().filter(acts)) {
                *object = found.key.objects[side];
            }
        }
        for side in 0..4 {
            let mut column = elements.column_mut(self.points[side])?;
            for (point, found) in column.iter_mut().zip(found.iter().filter(acts)) {
                *point = found.key.points[side];
            }
        }
        let mut column = elements.column_mut(self.force)?;
        for (force, found) in column.iter_mut().zip(found.iter().filter(acts)) {
            *force = found.contact.force;
        }
        drop(column);
        let mut column = elements.column_mut(self.normal)?;
        for (normal, found) in column.iter_mut().zip(found.iter().filter(acts)) {
            *normal = found.contact.normal;
        }
        Ok(())
    }
}
