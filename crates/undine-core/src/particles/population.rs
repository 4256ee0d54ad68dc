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
