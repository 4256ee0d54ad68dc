//! Fewer and more particles: deleting, merging, splitting.
//!
//! Who is concerned is told by local slot, as [`Accessor::map`](crate::Accessor::map) returns it from
//! a kernel that chooses. On several processes all make these calls alike, with empty lists where there is
//! nothing to do: the copies that others keep are stale afterwards, and everyone must know it.

use super::batch::Batch;
use super::column::Departures;
use super::store::ParticleSystem;
use crate::access::Accessor;
use crate::channel::{Combine, Handle};
use crate::domain::{GridDomain, Slot, SlotMap};
use crate::element::Element;
use crate::error::{CoreError, Result};
use glam::DVec3;
use std::sync::OnceLock;

impl ParticleSystem {
    /// Deletes particles: for each local slot, their places in the Bucket, ascending. Gaps are closed
    /// from the end of the Bucket. Returns how many were deleted. Call it on all processes alike.
    pub fn delete(&mut self, places: &[Vec<u32>]) -> Result<usize> {
        self.check_places("particles to delete", places, |places| places.to_vec())?;
        let ascending = |places: &Vec<u32>| places.is_sorted_by(|a, b| a < b);
        if !places.iter().all(ascending) {
            return Err(CoreError::BadValue {
                what: format!("the places of particles to delete from {}", self.label()),
                found: "not ascending".into(),
                wanted: "ascending, each place once",
            });
        }
        let mut departures: Vec<_> =
            places.iter().map(|places| Departures { leaving: places.clone() }).collect();
        departures.resize(self.topology.stored(), Departures::default());
        for (_, column) in self.channels.columns_mut() {
            column.depart(&departures);
            column.trim();
        }
        self.halo_counts = OnceLock::new();
        self.account()?;
        Ok(places.iter().map(Vec::len).sum())
    }

    /// Deletes the particles whose value in a channel fulfils `gone`, and returns how many of this
    /// process's they were. Call it on all processes alike.
    pub fn delete_where<T: Element>(
        &mut self,
        domain: &GridDomain,
        channel: Handle<T>,
        gone: impl Fn(&T) -> bool + Sync,
    ) -> Result<usize> {
        let places = Accessor::new("delete", domain).over(&self.topology).map(
            self.own(channel),
            |_, values| -> Vec<u32> {
                (0..values.len() as u32).filter(|&place| gone(&values[place as usize])).collect()
            },
        )?;
        self.delete(&places)
    }

    /// Merges particles of one Bucket into one: for each local slot, groups of places. The particle
    /// with the smallest id stays, and each channel combines as its description says; means are
    /// weighted by the channel `mass`, if there is one of `f32`. Returns how many particles went. Call it on
    /// all processes alike.
    pub fn merge(&mut self, groups: &[Vec<Vec<u32>>]) -> Result<usize> {
        self.check_places("particles to merge", groups, |groups| groups.concat())?;
        let mut groups = groups.to_vec();
        {
            let ids = self.channels.read(self.id, "merge")?;
            for (slot, groups) in groups.iter_mut().enumerate() {
                let ids = ids.chunk(slot as Slot);
                groups.iter_mut().for_each(|group| group.sort_by_key(|&place| ids[place as usize]));
            }
        }
        let mut gone: Vec<Vec<u32>> = groups
            .iter()
            .map(|groups| groups.iter().flat_map(|group| group.iter().skip(1)).copied().collect())
            .collect();
        let mut members: Vec<Vec<u32>> =
            groups.iter().map(|groups| groups.iter().flatten().copied().collect()).collect();
        for members in members.iter_mut().chain(&mut gone) {
            members.sort_unstable();
        }
        if members.iter().any(|members| members.windows(2).any(|pair| pair[0] == pair[1])) {
            return Err(CoreError::BadValue {
                what: format!("a particle of {} to be merged", self.label()),
                found: "in two groups".into(),
                wanted: "in at most one",
            });
        }
        let masses: Option<Vec<Vec<f64>>> = match self.handle::<f32>("mass") {
            Err(_) => None,
            Ok(mass) => {
                let mass = self.channels.read(mass, "merge")?;
                let as_f64 = |chunk: &Vec<f32>| chunk.iter().map(|&mass| f64::from(mass)).collect();
                Some(mass.chunks.iter().map(as_f64).collect())
            }
        };
        for (info, column) in self.channels.columns_mut() {
            column.combine(info.combine, &groups, masses.as_deref());
        }
        self.delete(&gone)
    }

    /// Splits particles: for each local slot, places and into how many parts. The parts are copies, but
    /// for channels that combine by sum, which are shared out equally. `hook` gives the new ones
    /// (all but the first part) their own values, above all positions. Collective. Returns how many
    /// particles this process made.
    pub fn split(
        &mut self,
        domain: &GridDomain,
        parts: &[Vec<(u32, u32)>],
        hook: impl FnOnce(&mut Batch) -> Result<()>,
    ) -> Result<usize> {
        let made = self.split_off(parts).and_then(|mut batch| {
            hook(&mut batch)?;
            Ok(batch)
        });
        let batch = domain.processes().all_agree(made)?;
        let (count, old) = (batch.len(), self.topology.clone());
        self.append(domain, batch)?;

        // What was split has its old place still, because the new ones came behind it; its slot is
        // another if they needed new Buckets.
        let to_new = SlotMap::between(&old, &self.topology);
        let mut divided = vec![Vec::new(); self.topology.stored()];
        for (slot, parts) in parts.iter().enumerate() {
            divided[to_new.get(slot as Slot) as usize] = parts.clone();
        }
        for (info, column) in self.channels.columns_mut() {
            if info.combine == Combine::Sum {
                column.divide(&divided);
            }
        }
        Ok(count)
    }

    /// The new parts of particles that are split, as a batch.
    fn split_off(&self, parts: &[Vec<(u32, u32)>]) -> Result<Batch> {
        self.check_places("particles to split", parts, |parts| {
            parts.iter().map(|part| part.0).collect()
        })?;
        if parts.iter().flatten().any(|&(_, n)| n == 0) {
            return Err(CoreError::BadValue {
                what: format!("the parts into which a particle of {} is split", self.label()),
                found: "0".into(),
                wanted: "at least 1; delete it to have none",
            });
        }
        let twice = |parts: &Vec<(u32, u32)>| {
            let mut places: Vec<u32> = parts.iter().map(|part| part.0).collect();
            places.sort_unstable();
            places.windows(2).any(|pair| pair[0] == pair[1])
        };
        if parts.iter().any(twice) {
            return Err(CoreError::BadValue {
                what: format!("a particle of {} to be split", self.label()),
                found: "named twice".into(),
                wanted: "named once, with the number of its parts",
            });
        }
        let made: u64 = parts.iter().flatten().map(|&(_, n)| u64::from(n) - 1).sum();
        let what = format!("{made} new particles of {}", self.label());
        self.reservation.check(&what, made.saturating_mul(self.particle_bytes() as u64))?;
        let mut copies: Vec<(Slot, u32)> = Vec::new();
        for (slot, parts) in parts.iter().enumerate() {
            for &(place, n) in parts {
                copies.extend((1..n).map(|_| (slot as Slot, place)));
            }
        }
        let mut batch = self.empty_batch(0)?;
        batch.columns.clear();
        self.channels
            .each_column("split", |_, column| batch.columns.push(column.extract(&copies)))?;
        for (info, column) in self.channels.infos().zip(&mut batch.columns) {
            if info.combine == Combine::Sum {
                let shares =
                    parts.iter().flatten().flat_map(|&(_, n)| (1..n).map(move |part| (n, part)));
                column.divide(&shares.collect::<Vec<_>>());
            }
        }
        batch.buckets = copies.iter().map(|&(slot, _)| self.topology.bucket(slot)).collect();
        let ids = self.channels.read(self.id, "split")?;
        batch.parents =
            copies.iter().map(|&(slot, place)| ids.chunk(slot)[place as usize]).collect();
        Ok(batch)
    }

    /// Copies of particles of this system, by slot and place, as new ones of another system. Channels of the same name and type
    /// go along, bit for bit; the others begin at their defaults, and so do those that belong in no checkpoint.
    /// [`Batch::parents`] are the ids that they have here.
    ///
    /// Delete them here once the batch is appended there, and they have moved.
    pub fn batch_for(&self, to: &Self, particles: &[(Slot, u32)]) -> Result<Batch> {
        let mut by_slot = vec![Vec::new(); self.topology.local()];
        for &(slot, place) in particles {
            match by_slot.get_mut(slot as usize) {
                Some(places) => places.push(place),
                None => {
                    return Err(CoreError::BadIndex {
                        what: format!("the slot of a particle to copy from {}", self.label()),
                        index: u64::from(slot),
                        count: self.topology.local() as u64,
                    });
                }
            }
        }
        self.check_places("particles to copy", &by_slot, |places| places.clone())?;
        let (offsets, ids) =
            (self.column(self.position)?, self.channels.read(self.id, "batch for another")?);
        let at = |&(slot, place): &(Slot, u32)| {
            let (bucket, offset) =
                (self.topology.bucket(slot), offsets.chunk(slot)[place as usize]);
            (bucket, offset)
        };
        let frame = self.topology.frame();
        let world: Vec<DVec3> =
            particles.iter().map(at).map(|(bucket, offset)| frame.world(bucket, offset)).collect();
        let mut batch = to.batch(&world)?;
        // In the same frame, an offset is the same to the last bit.
        if to.topology.frame() == frame {
            let buckets = batch.buckets.clone();
            for ((offset, found), particle) in
                batch.offsets_mut().iter_mut().zip(buckets).zip(particles)
            {
                let (bucket, exact) = at(particle);
                if bucket == found {
                    *offset = exact;
                }
            }
        }
        batch.parents =
            particles.iter().map(|&(slot, place)| ids.chunk(slot)[place as usize]).collect();
        self.channels.each_column("batch for another", |info, column| {
            let travels = info.checkpoint && info.name != Self::POSITION && info.name != Self::ID;
            let Some(there) = batch.names.iter().position(|name| *name == info.name) else {
                return;
            };
            if travels && batch.columns[there].element_type() == info.element {
                batch.columns[there] = column.extract(particles);
            }
        })?;
        Ok(batch)
    }

    /// Refuses lists by slot that name slots or places that do not exist.
    fn check_places<L>(
        &self,
        what: &str,
        lists: &[L],
        places: impl Fn(&L) -> Vec<u32>,
    ) -> Result<()> {
        if lists.len() > self.topology.local() {
            return Err(CoreError::WrongLength {
                what: format!("{what} of {}, by local slot,", self.label()),
                found: lists.len(),
                wanted: self.topology.local(),
            });
        }
        let ids = self.channels.read(self.id, "population")?;
        for (slot, list) in lists.iter().enumerate() {
            let count = ids.chunk(slot as Slot).len() as u64;
            if let Some(place) = places(list).into_iter().find(|&place| u64::from(place) >= count) {
                return Err(CoreError::BadIndex {
                    what: format!("the place of {what} of {} in slot {slot}", self.label()),
                    index: u64::from(place),
                    count,
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::ChannelSpec;
    use crate::domain::Frame;
    use glam::Vec3;

    #[test]
    fn what_goes_to_another_system_keeps_its_values_to_the_last_bit() {
        let domain = GridDomain::new("sea", Frame::new(DVec3::splat(0.3), 0.1).unwrap());
        let other = GridDomain::new("air", Frame::new(DVec3::ZERO, 0.7).unwrap());
        let mut sea = ParticleSystem::new("sea", &domain).unwrap();
        sea.add_channel(&ChannelSpec::new("v", Vec3::ZERO)).unwrap();
        sea.add_channel(&ChannelSpec::new("salt", 0.0_f32)).unwrap();
        let places: Vec<DVec3> = (0..50).map(|n| DVec3::splat(0.37 * f64::from(n))).collect();
        let mut batch = sea.batch(&places).unwrap();
        let speeds: Vec<Vec3> = (0..50).map(|n| Vec3::splat(1.0 / (n as f32 + 3.0))).collect();
        batch.set("v", &speeds).unwrap();
        sea.append(&domain, batch).unwrap();
        for domain_of_spray in [&domain, &other] {
            let mut spray = ParticleSystem::new("spray", domain_of_spray).unwrap();
            let v = spray.add_channel(&ChannelSpec::new("v", Vec3::ZERO)).unwrap();
            spray.add_channel(&ChannelSpec::new("salt", 7_u32)).unwrap();
            let all: Vec<(Slot, u32)> = (0..sea.topology().local() as Slot)
                .flat_map(|slot| {
                    let ids = sea.column(sea.id()).unwrap();
                    (0..ids.chunk(slot).len() as u32)
                        .map(move |place| (slot, place))
                        .collect::<Vec<_>>()
                })
                .collect();
            let mut batch = sea.batch_for(&spray, &all).unwrap();
            assert_eq!(batch.values_mut::<u32>("salt").unwrap(), [7; 50], "of another type");
            let parents = batch.parents().to_vec();
            let copied: Vec<Vec3> = batch.values_mut::<Vec3>("v").unwrap().to_vec();
            for (parent, copy) in parents.iter().zip(&copied) {
                assert_eq!(*copy, speeds[*parent as usize]);
            }
            spray.append(domain_of_spray, batch).unwrap();
            assert_eq!((spray.len(), sea.len()), (50, 50));
            let mut found = spray.world_positions().unwrap();
            found.sort_by(|a, b| a.x.total_cmp(&b.x));
            for (found, wanted) in found.iter().zip(&places) {
                assert!(found.distance(*wanted) < 1e-6);
            }
            if domain_of_spray.frame() == domain.frame() {
                assert_eq!(spray.world_positions().unwrap(), sea.world_positions().unwrap());
            }
            assert!(spray.column(v).is_ok());
        }
        let none = ParticleSystem::new("none", &domain).unwrap();
        assert!(sea.batch_for(&none, &[(0, 1000)]).is_err());
        assert!(sea.batch_for(&none, &[(1000, 0)]).is_err());
    }
}
