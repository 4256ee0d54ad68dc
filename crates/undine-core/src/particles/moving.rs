//! Particles that change their Bucket: after they moved, when they are appended, and when Buckets
//! change their owner.
//!
//! All of them travel the same way: they leave their chunks, gaps are closed from the end, and they
//! join their new chunks in order of id. So the order within a Bucket depends on the particles alone,
//! not on threads, nor on which process they came from.

use super::batch::Batch;
use super::column::{Arrival, Arrivals, Departures, ErasedParticles, slack};
use super::shared::new_ids;
use super::store::ParticleSystem;
use crate::channel::{ErasedFlat, FlatColumn};
use crate::domain::{Bucket, BucketKey, BucketSet, GridDomain, NONE, Slot, SlotMap, direction};
use crate::error::{CoreError, Result};
use crate::migrate;
use crate::process::Parcel;
use glam::{IVec3, Vec3};
use rayon::prelude::*;
use std::ops::Range;

/// A particle that has left its Bucket.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// Its place in its chunk.
    place: u32,
    /// The slot that it goes to, or [`NONE`] if that Bucket does not exist yet.
    slot: Slot,
    /// The Bucket that it goes to.
    to: Bucket,
    /// The offset from the corner of that Bucket [m].
    offset: Vec3,
}

impl ParticleSystem {
    /// Puts every particle into the Bucket that its position lies in, making Buckets as needed, and
    /// dropping empty ones once they are more than a quarter. Collective.
    ///
    /// A position that is NaN, infinite or out of range is an error that names the particle; then
    /// nothing changes.
    pub fn rebucketize(&mut self, domain: &GridDomain) -> Result<()> {
        let owners = domain.check_owners(self.label(), &self.topology);
        let steps = domain.processes().all_agree(owners.and_then(|()| self.find_steps()))?;

        // Buckets that do not exist yet come first; slots change with them.
        let missing: Vec<BucketKey> = steps
            .iter()
            .flatten()
            .filter(|step| step.slot == NONE)
            .map(|step| step.to.key())
            .collect();
        let steps = self.make_buckets(domain, &BucketSet::from_keys(missing), steps)?;

        // Everyone who leaves takes its new offset along.
        let mut departures = vec![Departures::default(); self.topology.stored()];
        let mut positions = self.channels.write(self.position, "rebucketize")?;
        let leaving = departures.par_iter_mut().zip(&steps).zip(&mut positions.chunks);
        leaving.for_each(|((departures, steps), chunk)| {
            departures.leaving = steps.iter().map(|step| step.place).collect();
            for step in steps {
                chunk[step.place as usize] = step.offset;
            }
        });
        drop(positions);
        let goals = steps.par_iter().enumerate().flat_map_iter(|(source, steps)| {
            steps.iter().enumerate().map(move |(place, step)| Goal {
                to: step.to,
                slot: step.slot,
                arrival: Arrival { source: source as Slot, place: place as u32 },
            })
        });
        let goals: Vec<Goal> = goals.collect();
        let left: Vec<_> =
            self.channels.columns_mut().map(|(_, column)| column.depart(&departures)).collect();
        let arrived = self.travel(domain, &left, Vec::new(), goals);
        let arrived = arrived.and_then(|()| self.drop_empty_buckets(domain));
        // Also if some did not arrive: count who is here.
        self.account()?;
        arrived
    }

    /// Adds the particles of a batch, wherever they are; they get the next free ids, in order of rank
    /// and then of the batch. Collective: each process appends a batch of its own, be it empty. Returns the
    /// ids of this process's batch.
    pub fn append(&mut self, domain: &GridDomain, mut batch: Batch) -> Result<Range<u64>> {
        let wanted = self.agree_on_batch(domain, &mut batch)?;
        let (ids, next_id) = new_ids(&**domain.processes(), self.next_id, batch.len())?;
        self.number(&mut batch, ids.clone())?;
        self.add(domain, batch, &wanted, next_id)?;
        Ok(ids)
    }

    /// Adds the particles of a batch as [`Self::append`] does, with ids in the order of `keys`, one for each particle, over all
    /// processes: the ids that a single process would give, wherever the particles are. Keys must differ. Collective.
    pub fn append_in_order(
        &mut self,
        domain: &GridDomain,
        mut batch: Batch,
        keys: &[u64],
    ) -> Result<()> {
        let counted = match keys.len() == batch.len() {
            true => Ok(()),
            false => Err(CoreError::WrongLength {
                what: format!("the keys of new particles of {}", self.label()),
                found: keys.len(),
                wanted: batch.len(),
            }),
        };
        domain.processes().all_agree(counted)?;
        let wanted = self.agree_on_batch(domain, &mut batch)?;
        let mut all = domain.processes().all_gather_values(keys)?.concat();
        all.par_sort_unstable();
        let first = self.next_id;
        let id = |key: &u64| first + all.partition_point(|other| other < key) as u64;
        self.number(&mut batch, keys.iter().map(id))?;
        self.add(domain, batch, &wanted, first + all.len() as u64)
    }

    /// Adds the particles of a batch that every process has made alike: each keeps those in its own Buckets, and nothing travels.
    /// They get the next free ids, in the order of the batch. Collective. Returns the ids.
    pub fn append_same(&mut self, domain: &GridDomain, mut batch: Batch) -> Result<Range<u64>> {
        if domain.processes().count() == 1 {
            return self.append(domain, batch);
        }
        let wanted = self.agree_on_batch(domain, &mut batch)?;
        let lengths = domain.processes().all_gather_values(&[batch.len() as u64])?.concat();
        if let Some(&other) = lengths.iter().find(|&&other| other != batch.len() as u64) {
            return Err(CoreError::WrongLength {
                what: format!("a batch of {} that all processes make alike", self.label()),
                found: other as usize,
                wanted: batch.len(),
            });
        }
        let ids = self.next_id..self.next_id + batch.len() as u64;
        self.number(&mut batch, ids.clone())?;
        let rank = domain.processes().rank();
        let mine: Vec<u32> = (0..batch.len() as u32)
            .into_par_iter()
            .filter(|&place| domain.owner(batch.buckets[place as usize]) == rank)
            .collect();
        batch.keep(&mine);
        self.add(domain, batch, &wanted, ids.end)?;
        Ok(ids)
    }

    /// Checks everyone's batch before anything changes; the Buckets that this process's particles go to.
    fn agree_on_batch(&self, domain: &GridDomain, batch: &mut Batch) -> Result<BucketSet> {
        let owners = domain.check_owners(self.label(), &self.topology);
        domain.processes().all_agree(owners.and_then(|()| self.check_batch(batch)))
    }

    /// Gives the particles of a batch their ids.
    fn number(&self, batch: &mut Batch, ids: impl Iterator<Item = u64>) -> Result<()> {
        let id_column = self.channels.ordinal(self.id)?;
        if let Some(column) =
            batch.columns[id_column].as_any_mut().downcast_mut::<FlatColumn<u64>>()
        {
            column.iter_mut().zip(ids).for_each(|(id, next)| *id = next);
        }
        Ok(())
    }

    /// Adds a batch whose particles have their ids, making the Buckets that any process wants.
    fn add(
        &mut self,
        domain: &GridDomain,
        batch: Batch,
        wanted: &BucketSet,
        next_id: u64,
    ) -> Result<()> {
        self.make_buckets(domain, wanted, Vec::new())?;
        self.next_id = next_id;
        let outside = self.topology.stored() as Slot;
        let goal = |(place, &to): (usize, &Bucket)| Goal {
            to,
            slot: self.topology.slot(to).unwrap_or(NONE),
            arrival: Arrival { source: outside, place: place as u32 },
        };
        let goals: Vec<Goal> = batch.buckets.par_iter().enumerate().map(goal).collect();
        self.travel(domain, &[], batch.columns, goals)?;
        self.account()
    }

    /// Checks a batch before anything changes, and brings offsets that left their Bucket home. Returns
    /// the Buckets that the particles go to.
    fn check_batch(&self, batch: &mut Batch) -> Result<BucketSet> {
        let mut columns = batch.names.iter().zip(&batch.columns);
        let mut infos = self.channels.infos();
        let same_channels = batch.names.len() == self.channels.infos().count()
            && infos.all(|info| {
                columns.next().is_some_and(|(name, column)| {
                    info.name == *name && info.element == column.element_type()
                })
            });
        if batch.store != self.channels.id() || !same_channels {
            return Err(CoreError::BadValue {
                what: format!("a batch for {}", self.label()),
                found: match batch.store == self.channels.id() {
                    true => "older than a change of the channels".into(),
                    false => format!("made by {}", batch.label),
                },
                wanted: "made by this Particle System, with the channels that it has now",
            });
        }
        let size = self.topology.frame().bucket_size(0);
        let label = self.label();
        let mut buckets = std::mem::take(&mut batch.buckets);
        for (n, (bucket, offset)) in buckets.iter_mut().zip(batch.offsets_mut()).enumerate() {
            if let Some((to, inside)) =
                leave(*bucket, *offset, size, || format!("new particle {n} of {label}"))?
            {
                *bucket = to;
                *offset = inside;
            }
        }
        batch.buckets = buckets;
        let mut keys: Vec<_> = batch.buckets.par_iter().map(|bucket| bucket.key()).collect();
        keys.par_sort_unstable();
        let what = format!("{} new particles of {label}", batch.len());
        self.reservation.check(&what, self.growth(&keys)?)?;
        Ok(BucketSet::from_keys(keys))
    }

    /// The most bytes by which channels grow if particles come to these Buckets, sorted, one for each:
    /// the particles, the slack of the chunks that they join, and the chunks of new Buckets.
    fn growth(&self, coming: &[BucketKey]) -> Result<u64> {
        let ids = self.channels.read(self.id, "append")?;
        let (mut elements, mut chunks) = (0, 0);
        for group in coming.chunk_by(|a, b| a == b) {
            let slot = self.topology.slot(group[0].bucket());
            chunks += usize::from(slot.is_none());
            let there = slot.map_or(0, |slot| ids.chunk(slot).len());
            elements += group.len() + slack(there + group.len());
        }
        let channels = self.channels.infos().count();
        let chunks = chunks * channels * size_of::<Vec<u64>>();
        Ok((elements * self.particle_bytes() + chunks) as u64)
    }

    /// Bytes of one particle in all channels.
    pub(super) fn particle_bytes(&self) -> usize {
        self.channels.infos().map(|info| info.element.bytes()).sum()
    }

    /// Follows the owners of a Domain that was repartitioned: Buckets move with all their particles.
    /// Collective.
    pub fn migrate(&mut self, domain: &GridDomain) -> Result<()> {
        let old = self.topology.clone();
        let new = domain.subset(old.all())?;
        let columns: Vec<_> = self.channels.columns_mut().map(|(_, column)| column).collect();
        let count = columns.len();
        let outgoing =
            migrate::pack(domain, &old, count, |column, slot| columns[column].read_chunk(slot));
        let arrived = domain.processes().exchange(outgoing)?;
        self.relayout(&new);
        let mut columns: Vec<_> = self.channels.columns_mut().map(|(_, column)| column).collect();
        let unpacked = migrate::unpack(&arrived, &new, count, |column, slot, bytes| {
            columns[column].replace_chunk(slot, bytes);
        });
        self.account()?;
        unpacked
    }

    /// Who has left its Bucket, by local slot.
    fn find_steps(&self) -> Result<Vec<Vec<Step>>> {
        let positions = self.channels.read(self.position, "rebucketize")?;
        let ids = self.channels.read(self.id, "rebucketize")?;
        let size = self.topology.frame().bucket_size(0);
        let far_side = Vec3::splat(size as f32);
        let steps: Vec<Result<Vec<Step>>> = (0..self.topology.local() as Slot)
            .into_par_iter()
            .map(|slot| {
                let bucket = self.topology.bucket(slot);
                let neighbours = self.topology.neighbours(slot);
                let mut steps = Vec::new();
                for (place, &offset) in positions.chunk(slot).iter().enumerate() {
                    let inside = offset.cmpge(Vec3::ZERO) & offset.cmplt(far_side);
                    if inside.all() {
                        continue;
                    }
                    let who = || format!("particle {} of {}", ids.chunk(slot)[place], self.label());
                    if let Some((to, offset)) = leave(bucket, offset, size, who)? {
                        let by = to.coord - bucket.coord;
                        let slot = if by.abs().max_element() <= 1 {
                            neighbours[direction(by.x, by.y, by.z)]
                        } else {
                            self.topology.slot(to).unwrap_or(NONE)
                        };
                        steps.push(Step { place: place as u32, slot, to, offset });
                    }
                }
                Ok(steps)
            })
            .collect();
        // One after the other, so that of several bad particles always the same one is named.
        steps.into_iter().collect()
    }

    /// Makes the Buckets that any process wants in addition, and gives steps their new slots.
    fn make_buckets(
        &mut self,
        domain: &GridDomain,
        more: &BucketSet,
        mut steps: Vec<Vec<Step>>,
    ) -> Result<Vec<Vec<Step>>> {
        let topology = domain.extended(&self.topology, more)?;
        if topology.id() == self.topology.id() {
            steps.resize(topology.stored(), Vec::new());
            return Ok(steps);
        }
        let to_new = SlotMap::between(&self.topology, &topology);
        let mut moved = vec![Vec::new(); topology.stored()];
        for (old, mut steps) in steps.into_iter().enumerate() {
            for step in &mut steps {
                step.slot = match step.slot {
                    NONE => topology.slot(step.to).unwrap_or(NONE),
                    slot => to_new.get(slot),
                };
            }
            moved[to_new.get(old as Slot) as usize] = steps;
        }
        self.relayout(&topology);
        Ok(moved)
    }

    /// Takes everyone to its goal: within this process directly, to others in one parcel each.
    fn travel(
        &mut self,
        domain: &GridDomain,
        left: &[Box<dyn ErasedParticles>],
        mut outside: Vec<Box<dyn ErasedFlat>>,
        mut goals: Vec<Goal>,
    ) -> Result<()> {
        let stored = self.topology.stored();
        if outside.is_empty() {
            self.channels.each_column("rebucketize", |_, column| outside.push(column.flat(0)))?;
        }
        if domain.processes().count() > 1 {
            let rank = domain.processes().rank();
            let mut parcels: Vec<Vec<Goal>> = vec![Vec::new(); domain.processes().count()];
            goals.retain(|goal| {
                let owner = domain.owner(goal.to);
                if owner != rank {
                    parcels[owner].push(*goal);
                }
                owner == rank
            });
            let outgoing = pack_travellers(&parcels, left, &outside, stored);
            let arrived = domain.processes().exchange(outgoing)?;
            for parcel in arrived {
                self.unpack_travellers(&parcel.bytes, &mut outside, &mut goals)?;
            }
        }

        // Sort the goals by slot, keeping their order, and then each slot's by id.
        let id_column = self.channels.ordinal(self.id)?;
        let id_of = |arrival: Arrival| -> u64 {
            if (arrival.source as usize) < stored && !left.is_empty() {
                id_in_left(&*left[id_column], arrival)
            } else {
                id_in_flat(&*outside[id_column], arrival.place)
            }
        };
        let mut arrivals = sort_by_slot(stored, &goals);
        sort_each_by_id(&mut arrivals, id_of);

        let nothing: Vec<Box<dyn ErasedParticles>> =
            if left.is_empty() { self.empty_chunks()? } else { Vec::new() };
        let left = if left.is_empty() { &nothing[..] } else { left };
        for (((_, column), left), outside) in self.channels.columns_mut().zip(left).zip(&outside) {
            column.arrive(&**left, &**outside, &arrivals);
        }
        self.halo_counts = std::sync::OnceLock::new();
        Ok(())
    }

    /// What left, if nobody did.
    fn empty_chunks(&mut self) -> Result<Vec<Box<dyn ErasedParticles>>> {
        let nobody = vec![Departures::default(); self.topology.stored()];
        Ok(self.channels.columns_mut().map(|(_, column)| column.depart(&nobody)).collect())
    }

    fn unpack_travellers(
        &self,
        bytes: &[u8],
        outside: &mut [Box<dyn ErasedFlat>],
        goals: &mut Vec<Goal>,
    ) -> Result<()> {
        let broken = || CoreError::Communication {
            what: "particles on their way",
            why: "a parcel is shorter than it says".into(),
        };
        let (count, mut rest) = bytes.split_first_chunk::<8>().ok_or_else(broken)?;
        let count = u64::from_le_bytes(*count) as usize;
        let keys = rest.split_off(..count * 8).ok_or_else(broken)?;
        let first = outside[0].len();
        for (n, key) in bytemuck::pod_collect_to_vec::<u8, BucketKey>(keys).into_iter().enumerate()
        {
            let to = key.bucket();
            let slot = self.topology.slot(to).unwrap_or(NONE);
            let arrival =
                Arrival { source: self.topology.stored() as Slot, place: (first + n) as u32 };
            goals.push(Goal { to, slot, arrival });
        }
        for column in outside {
            let bytes = count * column.element_type().bytes();
            let values = rest.split_off(..bytes).ok_or_else(broken)?;
            column.resize(first + count);
            column.write_bytes(first, values)?;
        }
        Ok(())
    }

    /// Drops Buckets without particles when they are more than a quarter of all. Collective.
    fn drop_empty_buckets(&mut self, domain: &GridDomain) -> Result<()> {
        let full: Vec<BucketKey> = {
            let ids = self.channels.read(self.id, "rebucketize")?;
            let local = self.topology.buckets()[..self.topology.local()].iter().zip(&ids.chunks);
            local.filter(|(_, chunk)| !chunk.is_empty()).map(|(bucket, _)| bucket.key()).collect()
        };
        let total = domain.processes().all_sum_u64(full.len() as u64)?;
        if total * 4 < self.topology.all().len() as u64 * 3 {
            // Everybody is home already: if the smaller tables do not fit beside the old ones, the
            // empty Buckets just stay.
            if let Ok(topology) = domain.subset(&BucketSet::from_keys(full)) {
                self.relayout(&topology);
            }
        }
        Ok(())
    }
}

/// Where one particle goes.
#[derive(Debug, Clone, Copy)]
struct Goal {
    to: Bucket,
    slot: Slot,
    arrival: Arrival,
}

/// The Bucket that an offset from `bucket` lies in, and the offset from there, unless it is `bucket`
/// and the offset is right already.
fn leave(
    bucket: Bucket,
    offset: Vec3,
    size: f64,
    who: impl Fn() -> String,
) -> Result<Option<(Bucket, Vec3)>> {
    let inside = offset.cmpge(Vec3::ZERO) & offset.cmplt(Vec3::splat(size as f32));
    if inside.all() {
        return Ok(None);
    }
    if !offset.is_finite() {
        return Err(CoreError::NotFinite { what: who(), position: offset.as_dvec3() });
    }
    let mut coord = [0_i64; 3];
    let mut home = Vec3::ZERO;
    for axis in 0..3 {
        let (step, rest) = wrap(offset[axis], size);
        coord[axis] = i64::from(bucket.coord[axis]).saturating_add(step);
        home[axis] = rest;
    }
    let limit = i64::from(Bucket::limit(bucket.level));
    if coord.iter().any(|c| !(-limit..limit).contains(c)) {
        return Err(CoreError::OutOfRange { what: who(), coord, level: bucket.level, limit });
    }
    let coord = IVec3::from_array(coord.map(|c| c as i32));
    Ok(Some((Bucket::at(bucket.level, coord), home)))
}

/// How many Buckets a coordinate is away, and its offset in that Bucket: in `0 .. size`, after rounding.
///
/// In `f64`, because a Bucket's size as `f32` is off by a rounding, which many Buckets would add up.
fn wrap(offset: f32, size: f64) -> (i64, f32) {
    let step = (f64::from(offset) / size).floor();
    // The quotient may have been rounded to the wrong side of a border.
    let rest = (f64::from(offset) - step * size).max(0.0) as f32;
    if rest >= size as f32 { (step as i64 + 1, 0.0) } else { (step as i64, rest) }
}

/// Arrivals by slot, in the order of the goals.
fn sort_by_slot(stored: usize, goals: &[Goal]) -> Arrivals {
    let mut starts = vec![0_u32; stored + 1];
    for goal in goals {
        starts[goal.slot as usize + 1] += 1;
    }
    for slot in 0..stored {
        starts[slot + 1] += starts[slot];
    }
    let mut next = starts.clone();
    let mut arrivals = vec![Arrival { source: NONE, place: 0 }; goals.len()];
    for goal in goals {
        let at = &mut next[goal.slot as usize];
        arrivals[*at as usize] = goal.arrival;
        *at += 1;
    }
    Arrivals { starts, arrivals }
}

/// Sorts each slot's arrivals by id.
fn sort_each_by_id(arrivals: &mut Arrivals, id_of: impl Fn(Arrival) -> u64 + Sync) {
    let mut rest = &mut arrivals.arrivals[..];
    let mut parts = Vec::with_capacity(arrivals.starts.len());
    for pair in arrivals.starts.windows(2) {
        let (part, after) = rest.split_at_mut((pair[1] - pair[0]) as usize);
        parts.push(part);
        rest = after;
    }
    parts.into_par_iter().for_each(|part| part.sort_by_cached_key(|arrival| id_of(*arrival)));
}

fn id_in_left(column: &dyn ErasedParticles, arrival: Arrival) -> u64 {
    let column = column.as_any().downcast_ref::<super::column::ParticleColumn<u64>>();
    column.map_or(0, |column| column.chunks[arrival.source as usize][arrival.place as usize])
}

fn id_in_flat(column: &dyn ErasedFlat, place: u32) -> u64 {
    column.as_any().downcast_ref::<FlatColumn<u64>>().map_or(0, |column| column[place as usize])
}

/// For each process: how many travel there, their Buckets, and then channel by channel their values.
fn pack_travellers(
    parcels: &[Vec<Goal>],
    left: &[Box<dyn ErasedParticles>],
    outside: &[Box<dyn ErasedFlat>],
    stored: usize,
) -> Vec<Parcel> {
    let pack = |goals: &Vec<Goal>| {
        let mut bytes = (goals.len() as u64).to_le_bytes().to_vec();
        for goal in goals {
            bytes.extend_from_slice(bytemuck::bytes_of(&goal.to.key()));
        }
        for (column, outside) in outside.iter().enumerate() {
            for Goal { arrival, .. } in goals {
                let (chunk, place) = if (arrival.source as usize) < stored {
                    (left[column].read_chunk(arrival.source), arrival.place as usize)
                } else {
                    (outside.bytes(), arrival.place as usize)
                };
                let size = outside.element_type().bytes();
                bytes.extend_from_slice(&chunk[place * size..(place + 1) * size]);
            }
        }
        bytes
    };
    let full = parcels.iter().enumerate().filter(|(_, goals)| !goals.is_empty());
    full.map(|(process, goals)| Parcel { process, bytes: pack(goals) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn wrapping_lands_inside_and_keeps_the_place(offset in -1e4..1e4_f32, size in 0.01..3.0_f64) {
            let (step, rest) = wrap(offset, size);
            prop_assert!((0.0..size as f32).contains(&rest));
            let back = step as f64 * size + f64::from(rest);
            prop_assert!((back - f64::from(offset)).abs() <= 0.5 * f64::from(f32::EPSILON) * size);
        }
    }

    #[test]
    fn a_hair_below_zero_stays_in_its_bucket_at_zero() {
        assert_eq!(wrap(-1e-12, 0.8), (0, 0.0));
        assert_eq!(wrap(0.75, 0.75), (1, 0.0));
        assert_eq!(wrap(-0.75, 0.75), (-1, 0.0));
    }
}
