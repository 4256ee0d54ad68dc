//! Which Bucket a position lies in, and where.

use crate::domain::{Bucket, MAX_LEVEL, Slot, Topology};
use glam::{DVec3, IVec3, Vec3};

/// Finds the stored Bucket that contains a position.
#[derive(Clone)]
pub(crate) struct Locator<'a> {
    pub topology: &'a Topology,
    /// The levels to look on, finest first.
    levels: Vec<u8>,
    /// The width of a Bucket by level [m].
    sizes: [f32; MAX_LEVEL as usize + 1],
}

impl<'a> Locator<'a> {
    /// Looks on all levels.
    pub fn new(topology: &'a Topology) -> Self {
        let frame = topology.frame();
        Self {
            topology,
            levels: topology.all().levels().collect(),
            sizes: std::array::from_fn(|level| frame.bucket_size(level as u8) as f32),
        }
    }

    /// Looks on one level only.
    pub fn only(mut self, level: u8) -> Self {
        self.levels = vec![level.min(MAX_LEVEL)];
        self
    }

    /// The finest Bucket for which `exists` that contains a position [m], and the offset [m] from its corner.
    pub fn find<S>(
        &self,
        position: DVec3,
        exists: impl Fn(Bucket) -> Option<S>,
    ) -> Option<(S, Vec3)> {
        self.levels.iter().find_map(|&level| {
            let (bucket, offset) = self.topology.frame().locate(position, level, "").ok()?;
            Some((exists(bucket)?, offset))
        })
    }

    /// The finest stored Bucket that contains a position [m], and the offset [m] from its corner.
    pub fn world(&self, position: DVec3) -> Option<(Slot, Vec3)> {
        self.find(position, |bucket| self.topology.slot(bucket))
    }

    /// The Bucket that contains an offset [m] from the corner of the Bucket in a slot, and the offset from its own.
    ///
    /// Within that Bucket, it is that one. Outside, a Bucket of the same level comes first, then a coarser, then a
    /// finer one. A NaN lies everywhere.
    #[inline]
    pub fn local(&self, slot: Slot, offset: Vec3) -> Option<(Slot, Vec3)> {
        let bucket = self.topology.bucket(slot);
        let size = self.sizes[usize::from(bucket.level)];
        if offset.cmplt(Vec3::ZERO).any() || offset.cmpge(Vec3::splat(size)).any() {
            self.around(bucket, offset)
        } else {
            Some((slot, offset))
        }
    }

    #[cold]
    fn around(&self, bucket: Bucket, offset: Vec3) -> Option<(Slot, Vec3)> {
        let size = self.size(bucket);
        let steps = (offset / size).floor();
        // Farther than any Bucket; beyond this, adding to a coordinate could overflow.
        if steps.abs().max_element() > (1 << 21) as f32 {
            return None;
        }
        let offset = offset - steps * size;
        let bucket = bucket.offset(steps.as_ivec3());
        if !bucket.is_in_range() {
            return None;
        }
        let slot = |bucket: Bucket| {
            self.topology.slot(bucket).filter(|_| self.levels.contains(&bucket.level))
        };
        if let Some(slot) = slot(bucket) {
            return Some((slot, offset));
        }
        let (mut coarse, mut from_coarse) = (bucket, offset);
        while coarse.level < MAX_LEVEL {
            from_coarse += coarse.parity().as_vec3() * self.size(coarse);
            coarse = coarse.parent();
            if let Some(slot) = slot(coarse) {
                return Some((slot, from_coarse));
            }
        }
        let (mut fine, mut from_fine) = (bucket, offset);
        while fine.level > 0 {
            let half = 0.5 * self.size(fine);
            let upper = from_fine.cmpge(Vec3::splat(half));
            let upper = IVec3::new(upper.x.into(), upper.y.into(), upper.z.into());
            from_fine -= upper.as_vec3() * half;
            fine = Bucket::at(fine.level - 1, (fine.coord << 1) + upper);
            if let Some(slot) = slot(fine) {
                return Some((slot, from_fine));
            }
        }
        None
    }

    fn size(&self, bucket: Bucket) -> f32 {
        self.sizes[usize::from(bucket.level)]
    }
}
