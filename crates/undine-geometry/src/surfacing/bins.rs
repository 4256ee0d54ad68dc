//! Particles by Buckets of the level set's lattice, in an order that does not depend on the order in which they came.

use super::Particles;
use crate::error::{GeometryError, Result};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use undine_core::domain::{NONE, offset_towards};
use undine_core::glam::{IVec3, Vec3};
use undine_core::memory::zeros;
use undine_core::{Bucket, BucketKey, BucketSet, GridDomain, Topology};

/// Voxels along a Bucket.
pub(super) const EDGE: f32 = 8.0;

/// Particles sorted along the curve of Buckets, then by place. Lengths are in voxels, places from their Bucket's corner.
pub(super) struct Bins {
    /// The Buckets that have particles, as if this process were alone.
    pub topology: Arc<Topology>,
    /// The first particle of each slot, and how many there are.
    starts: Vec<u32>,
    pub x: Vec<f32>,
    pub y: Vec<f32>,
    pub z: Vec<f32>,
    pub radius: Vec<f32>,
    /// The number of each particle in the order in which they came.
    pub source: Vec<u32>,
    /// The largest radius of all.
    pub largest: f32,
}

struct Entry {
    key: BucketKey,
    /// Places are not negative, so that their bits are in order.
    at: [u32; 3],
    radius: u32,
    source: u32,
}

impl Bins {
    pub fn new(domain: &GridDomain, particles: &Particles<'_>) -> Result<Self> {
        let frame = *domain.frame();
        let count = particles.positions.len();
        let bytes = count as u64 * (size_of::<Entry>() as u64 + 20);
        domain.budget().check("the particles of a surface by Buckets", bytes)?;
        let per_voxel = 1.0 / frame.voxel_size(0);
        // Particles beside each other in a list mostly lie in one Bucket, whose key takes long to find.
        let located =
            |last: &mut Option<(Bucket, BucketKey)>, n: usize, what: &str| -> Result<Entry> {
                let (bucket, offset) = frame.locate(particles.positions[n], 0, what)?;
                let known = last.filter(|(before, _)| *before == bucket);
                let (_, key) = *last.insert(known.unwrap_or_else(|| (bucket, bucket.key())));
                let at = (offset * per_voxel as f32).clamp(Vec3::ZERO, Vec3::splat(EDGE));
                let radius = (particles.radius(n) * per_voxel) as f32;
                let at = at.to_array().map(f32::to_bits);
                Ok(Entry { key, at, radius: radius.to_bits(), source: n as u32 })
            };
        let found: Option<Vec<Entry>> = (0..count)
            .into_par_iter()
            .map_init(|| None, |last, n| located(last, n, "").ok())
            .collect();
        let Some(mut entries) = found else {
            let found = |n| located(&mut None, n, &format!("particle {n}"));
            let wrong = (0..count).find_map(|n| found(n).err());
            let never = GeometryError::Empty { what: "a particle", wanted: "it needs a place" };
            return Err(wrong.unwrap_or(never));
        };
        entries.par_sort_unstable_by(|a, b| {
            let order = |e: &Entry| (e.key, e.at, e.radius, e.source);
            order(a).cmp(&order(b))
        });

        let mut keys: Vec<BucketKey> = entries.par_iter().map(|entry| entry.key).collect();
        keys.dedup();
        let mut alone = domain.alone();
        alone.set_buckets(&BucketSet::from_keys(keys))?;
        let topology = alone.topology().clone();
        let mut starts: Vec<u32> = topology
            .all()
            .keys()
            .par_iter()
            .map(|key| entries.partition_point(|entry| entry.key < *key) as u32)
            .collect();
        starts.push(count as u32);
        let mut bins = Self {
            topology,
            starts,
            x: zeros(count),
            y: zeros(count),
            z: zeros(count),
            radius: zeros(count),
            source: zeros(count),
            largest: 0.0,
        };
        bins.take(&entries);
        bins.largest = bins.radius.par_iter().copied().reduce(|| 0.0, f32::max);
        Ok(bins)
    }

    /// Channel by channel what entries say, in one pass over them.
    fn take(&mut self, entries: &[Entry]) {
        let places = (self.x.par_iter_mut(), self.y.par_iter_mut(), self.z.par_iter_mut());
        let rest = (self.radius.par_iter_mut(), self.source.par_iter_mut(), entries.par_iter());
        (places.into_par_iter(), rest.into_par_iter()).into_par_iter().for_each(
            |((x, y, z), (radius, source, entry))| {
                [*x, *y, *z] = entry.at.map(f32::from_bits);
                *radius = f32::from_bits(entry.radius);
                *source = entry.source;
            },
        );
    }

    pub fn len(&self) -> usize {
        self.x.len()
    }

    pub fn place(&self, particle: usize) -> Vec3 {
        Vec3::new(self.x[particle], self.y[particle], self.z[particle])
    }

    /// The particles of a slot.
    pub fn of(&self, slot: u32) -> Range<usize> {
        self.starts[slot as usize] as usize..self.starts[slot as usize + 1] as usize
    }

    /// Visits the Buckets with particles within so many Buckets of one, itself included, always in the same order: the slot, and
    /// where its corner lies from the one's, in voxels.
    pub fn each_around(&self, bucket: Bucket, rings: i32, mut visit: impl FnMut(u32, Vec3)) {
        // A Bucket that has particles knows its neighbours.
        if rings == 1
            && let Some(own) = self.topology.slot(bucket)
        {
            for (direction, &slot) in self.topology.neighbours(own).iter().enumerate() {
                if slot != NONE {
                    visit(slot, EDGE * offset_towards(direction).as_vec3());
                }
            }
            return;
        }
        for x in -rings..=rings {
            for y in -rings..=rings {
                for z in -rings..=rings {
                    let step = IVec3::new(x, y, z);
                    let there = bucket.offset(step);
                    if !there.is_in_range() {
                        continue;
                    }
                    if let Some(slot) = self.topology.slot(there) {
                        visit(slot, EDGE * step.as_vec3());
                    }
                }
            }
        }
    }
}

/// How many Buckets away something lies at most that is within so many voxels of a Bucket.
pub(super) fn rings(voxels: f32) -> i32 {
    (voxels / EDGE).ceil().max(1.0) as i32
}
