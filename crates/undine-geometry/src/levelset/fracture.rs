//! Fracture: each connected inside as a level set of its own, or those that are large enough together.
//!
//! Distances stay as they are, bit for bit, but for Buckets that the band of what is taken away reaches: there the
//! surface that is left may be farther away than the distances say, and they are measured anew.

use super::LevelSet;
use super::components::{Components, OUTSIDE, voxel_at};
use super::surface::{VoxelBox, buckets_within};
use crate::error::{GeometryError, Result};
use undine_core::glam::IVec3;
use undine_core::{Accessor, BucketKey, BucketSet};

impl LevelSet {
    /// Each connected inside as a level set of its own, by number. Collective.
    ///
    /// Distances stay as they are, bit for bit, where no other component is near; otherwise they are measured anew.
    pub fn fracture(&self) -> Result<Vec<Self>> {
        let components = self.components()?;
        let buckets = match self.fills_box {
            true => vec![self.topology().all().clone(); components.count()],
            false => self.buckets_by_component(&components)?,
        };
        let mut parts = Vec::with_capacity(components.count());
        for (number, buckets) in buckets.iter().enumerate() {
            parts.push(self.part(&components, buckets, |label| label == number as u32)?);
        }
        Ok(parts)
    }

    /// The same without the components whose volume is less than `volume` [m³], and how many those are. Channels other
    /// than the distance are left behind. Collective.
    pub fn without_components_below(&self, volume: f64) -> Result<(Self, usize)> {
        if !(volume >= 0.0 && volume.is_finite()) {
            return Err(GeometryError::BadParameter {
                what: "the volume of the smallest component to keep [m³]",
                found: volume,
                wanted: "zero or positive, and finite",
            });
        }
        let components = self.components()?;
        let kept: Vec<bool> = components.volumes().iter().map(|&found| found >= volume).collect();
        let gone = kept.iter().filter(|kept| !**kept).count();
        let part = self.part(&components, self.topology().all(), |label| kept[label as usize])?;
        Ok((part, gone))
    }

    /// The level set of the components that are kept, in these Buckets.
    fn part(
        &self,
        components: &Components,
        buckets: &BucketSet,
        kept: impl Fn(u32) -> bool + Sync,
    ) -> Result<Self> {
        let mut part = Self::empty(self.volume.label(), &self.domain, f64::from(self.width))?;
        part.fills_box = self.fills_box;
        part.cover(buckets)?;
        let accessor = Accessor::new("take components out", &part.domain).over(part.topology());
        let (labels, label) = components.labels();
        let access =
            (self.volume.own(self.distance), labels.own(label), part.volume.write(part.distance));
        // What lies inside of another component lies outside of these; how far is not known.
        let others = accessor.map(access, |here, (from, labels, to)| {
            let (mut low, mut high) = (IVec3::MAX, IVec3::MIN);
            for (place, to) in to.iter_mut().enumerate() {
                let other = labels[place] != OUTSIDE && !kept(labels[place]);
                *to = if other { from[place].abs() } else { from[place] };
                if other {
                    let voxel = voxel_at(place);
                    (low, high) = (low.min(voxel), high.max(voxel));
                }
            }
            let any = low.x <= high.x;
            any.then_some(VoxelBox { bucket: here.bucket, low, high })
        })?;
        part.find_beyond()?;
        let others: Vec<VoxelBox> = others.into_iter().flatten().collect();
        let near_others = part.reached_from_anywhere(&others)?;
        if near_others.is_empty() {
            part.drop_far()?;
            return Ok(part);
        }
        part.renormalise()?;
        if !self.fills_box {
            part.restore_far(self, &near_others)?;
        }
        Ok(part)
    }

    /// The Buckets that a band reaches from these voxels and from those of all other processes.
    fn reached_from_anywhere(&self, voxels: &[VoxelBox]) -> Result<BucketSet> {
        // The surface lies up to a voxel beyond the last one inside.
        let reach = (self.reach() / self.voxel_size()).ceil() + 1.0;
        let near = self.domain.processes().all_agree(buckets_within(voxels, reach))?;
        let all = self.domain.processes().all_gather_values(near.keys())?.concat();
        Ok(BucketSet::from_keys(all))
    }

    /// How many Buckets away the band may reach.
    fn reach_in_buckets(&self) -> u32 {
        (self.reach() / self.domain.frame().bucket_size(0)).ceil() as u32
    }

    /// Takes the distances of another level set with the same surface, but for some Buckets.
    fn restore_far(&mut self, from: &Self, but: &BucketSet) -> Result<()> {
        let kept = from.topology().all().difference(but);
        let near = self.around_surface(f64::from(self.width))?.intersection(&kept);
        self.cover(&near.union(self.topology().all()))?;
        let accessor = Accessor::new("restore distances", &self.domain).over(self.topology());
        let access = (from.volume.own(from.distance), self.volume.write(self.distance));
        accessor.run(access, |here, (from, to)| {
            if kept.contains(here.bucket) {
                to.copy_from_slice(from);
            }
        })?;
        self.find_beyond()?;
        self.trim()
    }

    /// The Buckets of each component and those around them, as far as its band may reach. Of all processes together.
    fn buckets_by_component(&self, components: &Components) -> Result<Vec<BucketSet>> {
        let accessor = Accessor::new("find components", &self.domain).over(self.topology());
        let (labels, label) = components.labels();
        let found = accessor.map(labels.own(label), |here, labels| {
            let mut numbers: Vec<u32> =
                labels.iter().copied().filter(|&label| label != OUTSIDE).collect();
            numbers.sort_unstable();
            numbers.dedup();
            numbers.into_iter().map(|n| (n, here.bucket.key())).collect::<Vec<_>>()
        })?;
        let mut keys: Vec<Vec<BucketKey>> = vec![Vec::new(); components.count()];
        for (number, key) in found.into_iter().flatten() {
            keys[number as usize].push(key);
        }
        // As far as the band reaches, and again as far for others that may be nearer to a voxel of it.
        let reach = 2 * self.reach_in_buckets();
        let around = keys.into_iter().map(|keys| {
            let around = BucketSet::from_keys(keys).dilate(reach);
            around.map(|around| around.intersection(self.topology().all()))
        });
        let around: undine_core::Result<Vec<_>> = around.collect();
        Ok(self.domain.processes().all_agree(around)?)
    }
}
