//! A naive Particle System: a map from ids to values. Everything that the real one does is done here
//! in the plainest way, and compared.

use crate::fixtures::{Random, domain};
use glam::{DVec3, Vec3};
use std::collections::BTreeMap;
use undine_core::particles::Batch;
use undine_core::{Accessor, ChannelSpec, Combine, GridDomain, Handle, ParticleSystem, Result};

/// One particle of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// In the world [m].
    pub position: DVec3,
    pub mass: f32,
    pub count: i32,
    pub heat: f32,
    pub low: f32,
    pub high: f32,
    pub tag: u64,
    pub extra: Option<DVec3>,
}

/// The real system, its handles, and the model beside it.
pub struct Pair {
    pub domain: GridDomain,
    pub system: ParticleSystem,
    pub model: BTreeMap<u64, Row>,
    mass: Handle<f32>,
    count: Handle<i32>,
    heat: Handle<f32>,
    low: Handle<f32>,
    high: Handle<f32>,
    tag: Handle<u64>,
    extra: Option<Handle<DVec3>>,
    /// Whether particles may be outside of their Buckets.
    moved: bool,
    /// The largest offset [m] that arithmetic may have rounded.
    reach: f64,
    made: u64,
}

impl Pair {
    pub fn new() -> Self {
        let domain = domain();
        let mut system = ParticleSystem::new("spray", &domain).unwrap();
        let mut add = |name: &str, combine| {
            system.add_channel(&ChannelSpec::new(name, 0.0_f32).combine(combine)).unwrap()
        };
        let (mass, heat) = (add("mass", Combine::Sum), add("heat", Combine::Mean));
        let (low, high) = (add("low", Combine::Min), add("high", Combine::Max));
        let count =
            system.add_channel(&ChannelSpec::new("count", 0).combine(Combine::Sum)).unwrap();
        let tag = system.add_channel(&ChannelSpec::new("tag", 9_u64)).unwrap();
        Self {
            domain,
            system,
            model: BTreeMap::new(),
            mass,
            count,
            heat,
            low,
            high,
            tag,
            extra: None,
            moved: false,
            reach: 0.0,
            made: 0,
        }
    }

    pub fn append(&mut self, positions: &[DVec3], random: &mut Random) {
        let mut batch = self.system.batch(positions).unwrap();
        let rows: Vec<Row> = positions
            .iter()
            .map(|&position| Row {
                position,
                mass: 1.5 + random.signed(),
                count: random.below(100) as i32 - 50,
                heat: 300.0 * random.signed(),
                low: random.signed(),
                high: random.signed(),
                tag: random.next(),
                extra: self.extra.map(|_| EXTRA),
            })
            .collect();
        fn column<T>(rows: &[Row], value: impl Fn(&Row) -> T) -> Vec<T> {
            rows.iter().map(value).collect()
        }
        batch.set("mass", &column(&rows, |row| row.mass)).unwrap();
        batch.set("count", &column(&rows, |row| row.count)).unwrap();
        batch.set("heat", &column(&rows, |row| row.heat)).unwrap();
        batch.set("low", &column(&rows, |row| row.low)).unwrap();
        batch.set("high", &column(&rows, |row| row.high)).unwrap();
        batch.set("tag", &column(&rows, |row| row.tag)).unwrap();
        let ids = self.system.append(&self.domain, batch).unwrap();
        assert_eq!(ids, self.made..self.made + positions.len() as u64, "ids count on");
        self.made = ids.end;
        self.model.extend(ids.zip(rows));
    }

    /// Moves everyone by what `step` says for its id and offset.
    pub fn shift(&mut self, step: impl Fn(u64, Vec3, f32) -> Vec3) {
        let size = self.domain.frame().bucket_size(0) as f32;
        let topology = self.system.topology().clone();
        let ids = self.system.column(self.system.id()).unwrap();
        let mut positions = self.system.column_mut(self.system.position()).unwrap();
        for slot in 0..topology.local() as u32 {
            for (offset, id) in positions.chunk_mut(slot).iter_mut().zip(ids.chunk(slot)) {
                *offset = step(*id, *offset, size);
                self.reach = self.reach.max(f64::from(offset.abs().max_element()));
                let world = self.domain.frame().world(topology.bucket(slot), *offset);
                self.model.get_mut(id).unwrap().position = world;
            }
        }
        self.moved = true;
    }

    pub fn rebucketize(&mut self) {
        self.system.rebucketize(&self.domain).unwrap();
        (self.moved, self.reach) = (false, 0.0);
    }

    pub fn migrate(&mut self) {
        self.system.migrate(&self.domain).unwrap();
    }

    pub fn toggle_extra(&mut self) {
        match self.extra.take() {
            None => {
                let spec = ChannelSpec::new("extra", EXTRA).combine(Combine::Mean);
                self.extra = Some(self.system.add_channel(&spec).unwrap());
            }
            Some(stale) => {
                self.system.remove_channel("extra").unwrap();
                assert!(self.system.column(stale).is_err());
            }
        }
        let value = self.extra.map(|_| EXTRA);
        self.model.values_mut().for_each(|row| row.extra = value);
    }

    /// Deletes those whose id and `salt` say so.
    pub fn delete(&mut self, salt: u64) {
        let gone = |id: u64| Random::new(id ^ salt << 32).below(3) == 0;
        let places = self.places(|ids| {
            (0..ids.len() as u32).filter(|&place| gone(ids[place as usize])).collect()
        });
        let before = self.model.len();
        self.model.retain(|&id, _| !gone(id));
        assert_eq!(self.system.delete(&places).unwrap(), before - self.model.len());
    }

    pub fn delete_where(&mut self, at_least: f32) {
        let gone = |heat: &f32| *heat >= at_least;
        let before = self.model.len();
        self.model.retain(|_, row| !gone(&row.heat));
        let deleted = self.system.delete_where(&self.domain, self.heat, gone).unwrap();
        assert_eq!(deleted, before - self.model.len());
    }

    /// Merges the particles of each Bucket in groups of `size`, in an order that is not that of ids.
    pub fn merge(&mut self, size: usize) {
        let groups = self.places(|ids| -> Vec<Vec<u32>> {
            let places: Vec<u32> = (0..ids.len() as u32).rev().collect();
            places.chunks(size).map(<[u32]>::to_vec).collect()
        });
        let members = self.places(|ids| {
            let ids: Vec<u64> = ids.iter().rev().copied().collect();
            ids.chunks(size).map(<[u64]>::to_vec).collect::<Vec<_>>()
        });
        let before = self.model.len();
        let mut merged = BTreeMap::new();
        for mut group in members.into_iter().flatten() {
            group.sort_unstable();
            let rows: Vec<&Row> = group.iter().map(|id| &self.model[id]).collect();
            merged.insert(group[0], merge_rows(&rows));
        }
        self.model = merged;
        assert_eq!(self.system.merge(&groups).unwrap(), before - self.model.len());
    }

    /// Splits some particles in up to four parts; the new ones are put beside their parents.
    pub fn split(&mut self, salt: u64) {
        let parts_of = |id: u64| Random::new(id ^ salt << 40).below(5).saturating_sub(1) as u32;
        let parts = self.places(|ids| -> Vec<(u32, u32)> {
            let parts = ids.iter().enumerate().map(|(place, &id)| (place as u32, parts_of(id)));
            parts.filter(|part| part.1 > 0).collect()
        });
        let size = self.domain.frame().bucket_size(0) as f32;
        let mut parents = Vec::new();
        let made = self
            .system
            .split(&self.domain, &parts, |batch: &mut Batch| -> Result<()> {
                parents = batch.parents().to_vec();
                let step = size * 0.75;
                batch.offsets_mut().iter_mut().for_each(|offset| *offset += step);
                batch.values_mut::<u64>("tag")?.fill(7);
                Ok(())
            })
            .unwrap();
        assert_eq!(made, parents.len());
        let mut parts_so_far = BTreeMap::new();
        let whole = self.model.clone();
        for (n, parent) in parents.iter().enumerate() {
            let (row, parts) = (&whole[parent], parts_of(*parent) as i32);
            let part = parts_so_far.entry(*parent).or_insert(0);
            *part += 1;
            let share = |part: i32| {
                row.count.div_euclid(parts) + i32::from(part < row.count.rem_euclid(parts))
            };
            let mass = (f64::from(row.mass) / f64::from(parts)) as f32;
            let child = Row {
                position: row.position + f64::from(size * 0.75),
                mass,
                count: share(*part),
                tag: 7,
                ..row.clone()
            };
            self.model.insert(self.made + n as u64, child);
            let stays = self.model.get_mut(parent).unwrap();
            (stays.mass, stays.count) = (mass, share(0));
        }
        self.made += made as u64;
    }

    /// What `choose` says for the ids of each local Bucket.
    fn places<R: Send>(&self, choose: impl Fn(&[u64]) -> R + Sync) -> Vec<R> {
        Accessor::new("choose", &self.domain)
            .over(self.system.topology())
            .map(self.system.own(self.system.id()), |_, ids| choose(ids))
            .unwrap()
    }

    /// Compares the two, and takes over how the real one rounds positions.
    pub fn check(&mut self) {
        let Self { system, model, .. } = self;
        let frame = *self.domain.frame();
        let size = frame.bucket_size(0) as f32;
        let topology = system.topology().clone();
        assert_eq!(system.len(), model.len());
        let (ids, positions) =
            (system.column(system.id()).unwrap(), system.column(system.position()).unwrap());
        let (mass, count) = (system.column(self.mass).unwrap(), system.column(self.count).unwrap());
        let (heat, tag) = (system.column(self.heat).unwrap(), system.column(self.tag).unwrap());
        let (low, high) = (system.column(self.low).unwrap(), system.column(self.high).unwrap());
        let extra = self.extra.map(|extra| system.column(extra).unwrap());
        let mut seen = 0;
        for slot in 0..topology.local() as u32 {
            for (place, id) in ids.chunk(slot).iter().enumerate() {
                let offset = positions.chunk(slot)[place];
                let position = frame.world(topology.bucket(slot), offset);
                let row = model.get_mut(id).unwrap_or_else(|| panic!("id {id} should be gone"));
                let error = (position - row.position).abs().max_element();
                assert!(
                    error <= 1e-7 * self.reach.max(size.into()),
                    "{id} is {error} m from its place"
                );
                if !self.moved {
                    let inside = offset.cmpge(Vec3::ZERO) & offset.cmplt(Vec3::splat(size));
                    assert!(inside.all(), "{id} is at {offset} in a Bucket of {size}");
                }
                row.position = position;
                let found = Row {
                    position,
                    mass: mass.chunk(slot)[place],
                    count: count.chunk(slot)[place],
                    heat: heat.chunk(slot)[place],
                    low: low.chunk(slot)[place],
                    high: high.chunk(slot)[place],
                    tag: tag.chunk(slot)[place],
                    extra: extra.as_ref().map(|extra| extra.chunk(slot)[place]),
                };
                assert_eq!(found, *row, "particle {id}");
                seen += 1;
            }
        }
        assert_eq!(seen, model.len(), "every id is there once");
    }

    /// The sums that neither merging nor splitting changes.
    pub fn totals(&self) -> (f64, i64) {
        let rows = self.model.values();
        (rows.clone().map(|row| f64::from(row.mass)).sum(), rows.map(|row| row.count as i64).sum())
    }
}

const EXTRA: DVec3 = DVec3::new(1.0, -2.0, 0.5);

fn merge_rows(rows: &[&Row]) -> Row {
    let total: f64 = rows.iter().map(|row| f64::from(row.mass)).sum();
    let weighted = |value: &dyn Fn(&Row) -> f64| -> f64 {
        rows.iter().map(|row| f64::from(row.mass) * value(row)).sum::<f64>() / total
    };
    let axis = |n: usize| weighted(&|row: &Row| row.position[n]);
    Row {
        position: DVec3::new(axis(0), axis(1), axis(2)),
        mass: rows.iter().map(|row| row.mass).reduce(|a, b| a + b).unwrap(),
        count: rows.iter().map(|row| row.count).sum(),
        heat: weighted(&|row: &Row| f64::from(row.heat)) as f32,
        low: rows.iter().map(|row| row.low).fold(f32::INFINITY, f32::min),
        high: rows.iter().map(|row| row.high).fold(f32::NEG_INFINITY, f32::max),
        tag: rows[0].tag,
        extra: rows[0].extra,
    }
}
