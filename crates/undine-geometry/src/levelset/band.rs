//! Rebuilding the band as the surface moves: Buckets where it will be, none where it no longer is.

use super::{LevelSet, VOXELS};
use crate::error::Result;
use undine_core::access::{Here, Pad, Tile};
use undine_core::domain::VOXELS_PER_BUCKET;
use undine_core::glam::IVec3;
use undine_core::volume::{Resolution, VoxelShape};
use undine_core::{Accessor, Bucket, BucketSet};

/// How far the surface may move within a Bucket, in whole voxels: at most so far down and up each axis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Travel {
    /// Not above zero.
    pub low: IVec3,
    /// Not below zero.
    pub high: IVec3,
}

/// Bytes that a Bucket of a level set needs at least: two channels.
const BYTES_PER_BUCKET: u64 = 2 * VOXELS as u64 * 4;

impl LevelSet {
    /// Makes the whole band anew around the surface, which stays where it is: Buckets wherever the band reaches, and
    /// only there, with distances to the surface. Other channels keep their values in the Buckets that stay. Collective.
    pub fn rebuild(&mut self) -> Result<()> {
        self.cover_band(|_| Travel::default())?;
        self.redistance()?;
        self.trim()
    }

    /// Has the Buckets that the band reaches now, and those that it reaches when the surface has moved.
    pub(super) fn cover_band(&mut self, travel: impl Fn(Here<'_>) -> Travel + Sync) -> Result<()> {
        let band = (f64::from(self.width) / self.voxel_size()).ceil() as i32 + 1;
        let accessor = Accessor::new("find the surface", &self.domain).over(self.topology());
        let reached = accessor.map(self.volume.around(self.distance, 1), |here, around| {
            let mut tile = Tile::new(VoxelShape::CELLS.resolution, Pad::both(1), self.width);
            around.load(&mut tile);
            self.beyond.fill(here, &mut tile, -self.width);
            surface_in(&tile).map(|[low, high]| {
                let travel = travel(here);
                let edge = VOXELS_PER_BUCKET as i32;
                let start = here.bucket.coord * edge;
                let first: IVec3 = (start + low + travel.low - band) >> 3;
                let last: IVec3 = (start + high + travel.high + band) >> 3;
                [first, last]
            })
        })?;

        let boxes: Vec<[IVec3; 2]> = reached.into_iter().flatten().collect();
        let count = |&[first, last]: &[IVec3; 2]| {
            (last - first + 1).to_array().map(|n| n as u64).into_iter().fold(1, u64::saturating_mul)
        };
        // Boxes overlap: many times, if the band is wider than a Bucket.
        let per_box = boxes.iter().map(count).max().unwrap_or(0);
        let needed = per_box.max(boxes.len() as u64).saturating_mul(BYTES_PER_BUCKET);
        let allowed = self.domain.budget().check("the Buckets of a band", needed);
        self.domain.processes().all_agree(allowed)?;
        let mut wanted = BucketSet::new();
        for boxes in boxes.chunks(4096) {
            let buckets = boxes.iter().flat_map(|&[first, last]| buckets_between(first, last));
            wanted = wanted.union(&BucketSet::from_buckets(buckets)?);
        }
        self.cover(&wanted)
    }
}

/// The Buckets from one to another, both included.
fn buckets_between(first: IVec3, last: IVec3) -> impl Iterator<Item = Bucket> {
    (first.x..=last.x).flat_map(move |x| {
        (first.y..=last.y).flat_map(move |y| (first.z..=last.z).map(move |z| Bucket::new(x, y, z)))
    })
}

/// The box of a Bucket's voxels that have a neighbour on the other side of the surface.
fn surface_in(tile: &Tile<f32>) -> Option<[IVec3; 2]> {
    let values = tile.values();
    let steps = [tile.slab(), tile.row(), 1];
    let mut found: Option<[IVec3; 2]> = None;
    for place in 0..VOXELS {
        let [x, y, z] = Resolution::R8.coords(place).map(|n| n as i32);
        let at = tile.index(x, y, z);
        let inside = values[at] < 0.0;
        let crosses = steps.iter().fold(false, |crosses, &step| {
            crosses | ((values[at - step] < 0.0) != inside) | ((values[at + step] < 0.0) != inside)
        });
        if crosses {
            let voxel = IVec3::new(x, y, z);
            let [low, high] = found.unwrap_or([voxel; 2]);
            found = Some([low.min(voxel), high.max(voxel)]);
        }
    }
    found
}
