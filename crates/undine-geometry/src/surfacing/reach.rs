//! How far particles reach, by Bucket: where voxels are needed, and whom a Bucket has to ask.

use super::bins::{Bins, EDGE};
use crate::error::{GeometryError, Result};
use crate::levelset::BYTES_PER_BUCKET;
use rayon::prelude::*;
use undine_core::glam::{IVec3, Vec3};
use undine_core::{Bucket, BucketSet, CoreError, GridDomain};

/// The boxes that the particles of each slot reach, in voxels from its corner.
pub(super) struct Reach {
    boxes: Vec<(Vec3, Vec3)>,
    rings: i32,
}

impl Reach {
    /// `of` gives the middle and half of the box of a particle.
    pub fn new(bins: &Bins, of: impl Fn(usize) -> (Vec3, Vec3) + Sync) -> Self {
        let slots = bins.topology.local() as u32;
        let none = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let boxes: Vec<(Vec3, Vec3)> = (0..slots)
            .into_par_iter()
            .map(|slot| {
                bins.of(slot).fold(none, |(low, high), n| {
                    let (at, half) = of(n);
                    (low.min(at - half), high.max(at + half))
                })
            })
            .collect();
        let beyond = boxes.iter().fold(0.0_f32, |most, (low, high)| {
            most.max((-low.min_element()).max(high.max_element() - EDGE))
        });
        Self { boxes, rings: super::bins::rings(beyond) }
    }

    /// Visits the slots whose particles may reach a Bucket, and where their corners lie from its own, in voxels.
    pub fn each_near(&self, bins: &Bins, bucket: Bucket, mut visit: impl FnMut(u32, Vec3)) {
        bins.each_around(bucket, self.rings, |slot, shift| {
            let (low, high) = self.boxes[slot as usize];
            let reaches = (low + shift).cmplt(Vec3::splat(EDGE)).all()
                && (high + shift).cmpgt(Vec3::ZERO).all();
            if reaches {
                visit(slot, shift);
            }
        });
    }

    /// The Buckets that particles reach and that are not buried.
    pub fn buckets(&self, bins: &Bins, buried: &[bool], domain: &GridDomain) -> Result<BucketSet> {
        let range = |slot: usize| {
            let (low, high) = self.boxes[slot];
            // Itself in any case, wherever its particles have been moved to.
            let (low, high) = ((low / EDGE).floor().as_ivec3(), (high / EDGE).floor().as_ivec3());
            (low.min(IVec3::ZERO), high.max(IVec3::ZERO))
        };
        let count = |slot: usize| {
            let (low, high) = range(slot);
            (high - low + 1).as_i64vec3().element_product().unsigned_abs()
        };
        let all: u64 = (0..self.boxes.len()).into_par_iter().map(count).sum();
        self.check(domain, all * 8)?;
        let keys: Vec<Vec<_>> = (0..self.boxes.len())
            .into_par_iter()
            .map(|slot| {
                let slot = slot as u32;
                let own = bins.topology.bucket(slot);
                let (low, high) = range(slot as usize);
                let mut keys = Vec::new();
                for x in low.x..=high.x {
                    for y in low.y..=high.y {
                        for z in low.z..=high.z {
                            let bucket = own.offset(IVec3::new(x, y, z));
                            let there = bins.topology.slot(bucket);
                            // A Bucket with particles of its own adds itself.
                            let is_wanted = match there {
                                Some(there) => there == slot && !buried[there as usize],
                                None => true,
                            };
                            if is_wanted {
                                keys.push(bucket.check("a Bucket of a surface").map(Bucket::key));
                            }
                        }
                    }
                }
                keys
            })
            .collect();
        let keys: Result<Vec<_>, CoreError> = keys.into_iter().flatten().collect();
        let wanted = BucketSet::from_keys(keys?);
        self.check(domain, wanted.len() as u64 * BYTES_PER_BUCKET)?;
        Ok(wanted)
    }

    /// Refuses what does not fit into memory, with the voxel that would.
    fn check(&self, domain: &GridDomain, bytes: u64) -> Result<()> {
        let Err(error) = domain.budget().check("the voxels of a surface", bytes) else {
            return Ok(());
        };
        let CoreError::OverBudget { wanted, free, .. } = error else { return Err(error.into()) };
        let voxel = domain.frame().voxel_size(0);
        // Voxels around a surface grow with the square of their number along an axis; a tenth to be sure.
        let enough = 1.1 * voxel * (wanted as f64 / free.max(1) as f64).sqrt();
        Err(GeometryError::VoxelsTooSmall { voxel, wanted, free, enough })
    }
}
