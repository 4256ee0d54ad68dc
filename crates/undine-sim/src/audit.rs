//! An audit of Tasks: which channels each of them really changes, held against what it declares to write and to add to.
//!
//! Hashing all state before and after every Task is slow, so that it is for tests ([`Simulation::audited`]). The schedule's
//! promise that no two Tasks of a Stage are in each other's way is worth as much as what Tasks declare. What a Task reads
//! leaves no trace, and is not found.
//!
//! [`Simulation::audited`]: crate::Simulation::audited

use crate::error::{Result, SimError};
use crate::registry::{Store, StoreDigest};
use crate::task::{Task, Use};
use crate::world::{ChannelKey, StoreId, World};

/// All state, as it was before a Task.
pub struct Audit {
    stores: Vec<(StoreId, StoreDigest)>,
}

impl Audit {
    /// Takes down what every channel holds.
    pub fn take(world: &World) -> Result<Self> {
        let particles = world.particles.iter().map(|(id, one)| (id.into(), Store::Particles(one)));
        let points = world.points.iter().map(|(id, one)| (id.into(), Store::Topological(one)));
        let volumes = world.volumes.iter().map(|(id, one)| (id.into(), Store::Volume(one)));
        let elements = world
            .elements
            .iter()
            .map(|(id, one)| (id.into(), Store::Flat(one.channels(), one.len())));
        let all = particles.chain(points).chain(volumes).chain(elements);
        let stores = all.map(|(id, store)| Ok((id, store.digest()?))).collect::<Result<_>>()?;
        Ok(Self { stores })
    }

    /// Fails if anything has changed since that a Task does not declare; names the first such channel.
    pub fn check(&self, world: &World, owner: &str, task: &Task) -> Result<()> {
        let changes = |(key, how): &(ChannelKey, Use)| (*how != Use::Read).then(|| key.clone());
        let declared: Vec<ChannelKey> = task.access.iter().filter_map(changes).collect();
        let found = self.changed_since(world)?;
        let Some(key) = found.iter().find(|key| !declared.iter().any(|one| one.covers(key))) else {
            return Ok(());
        };
        let (owner, channel) = (owner.to_owned(), key.name(world));
        Err(SimError::Trespass { owner, task: task.name, channel })
    }

    /// The channels that are not what they were. Where elements came or went, that is all of a store.
    pub fn changed_since(&self, world: &World) -> Result<Vec<ChannelKey>> {
        let now = Self::take(world)?;
        let mut changed = Vec::new();
        for (id, after) in &now.stores {
            let before =
                self.stores.iter().find(|(other, _)| other == id).map(|(_, before)| before);
            let Some(before) = before.filter(|before| before.structure == after.structure) else {
                changed.push(id.everything());
                continue;
            };
            let names = before.channels.iter().chain(&after.channels).map(|channel| &channel.name);
            let digest = |of: &StoreDigest, name: &String| {
                of.channels
                    .iter()
                    .find(|channel| channel.name == *name)
                    .map(|channel| channel.digest)
            };
            changed.extend(
                names
                    .filter(|name| digest(before, name) != digest(after, name))
                    .map(|name| id.channel(name.clone())),
            );
        }
        changed.sort();
        changed.dedup();
        Ok(changed)
    }
}
