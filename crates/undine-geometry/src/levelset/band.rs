//! Rebuilding the band as the surface moves: Buckets where it will be, none where it no longer is.

use super::LevelSet;
use crate::error::Result;
use undine_core::glam::IVec3;

/// How far the surface may move within a Bucket, in whole voxels: at most so far down and up each axis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Travel {
    /// Not above zero.
    pub low: IVec3,
    /// Not below zero.
    pub high: IVec3,
}

impl LevelSet {
    /// Makes the whole band anew around the surface, which stays where it is: Buckets wherever the band reaches, and
    /// only there, with distances to the surface. Other channels keep their values in the Buckets that stay. Collective.
    ///
    /// One that fills a box keeps it.
    pub fn rebuild(&mut self) -> Result<()> {
        self.renormalise()
    }

    /// Makes a band of distances around the zero set of what the voxels hold. Collective.
    pub(super) fn renormalise(&mut self) -> Result<()> {
        self.cover_band(|_| Travel::default())?;
        self.redistance()?;
        self.trim()
    }

    /// Has the Buckets that the band reaches now, and those that it reaches when the surface has moved, which is known by
    /// local slot. Collective.
    pub(super) fn cover_band(&mut self, travel: impl Fn(u32) -> Travel) -> Result<()> {
        let mut crossings = self.crossings()?;
        for crossing in &mut crossings {
            let slot = self.topology().slot(crossing.bucket);
            let Travel { low, high } = slot.map_or(Travel::default(), &travel);
            crossing.low += low;
            crossing.high += high;
        }
        let mut wanted = self.within_band(&crossings, self.reach())?;
        if self.fills_box {
            wanted = wanted.union(self.topology().all());
        }
        self.cover(&wanted)
    }
}
