//! Where the surface is: the voxels at which the sign changes, and the Buckets that a band around them reaches.

use super::LevelSet;
use crate::error::Result;
use undine_core::access::VoxelNeighbourhood;
use undine_core::domain::VOXELS_PER_BUCKET;
use undine_core::glam::IVec3;
use undine_core::{Accessor, Bucket, BucketSet};

/// Voxels along a Bucket.
const EDGE: i32 = VOXELS_PER_BUCKET as i32;

/// A box of voxels in a Bucket, ends included, from the Bucket's first voxel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct VoxelBox {
    pub bucket: Bucket,
    pub low: IVec3,
    pub high: IVec3,
}

impl LevelSet {
    /// The voxels at which the sign changes, in each local Bucket that has such, along the curve. Collective.
    pub(super) fn crossings(&self) -> Result<Vec<VoxelBox>> {
        let accessor = Accessor::new("find the surface", &self.domain).over(self.topology());
        let found = accessor.map(self.volume.around(self.distance, 1), |here, around| {
            let (low, high) = Signs::around(&around).crossing()?;
            Some(VoxelBox { bucket: here.bucket, low, high })
        })?;
        Ok(found.into_iter().flatten().collect())
    }

    /// The Buckets that a band of `width` [m] around the surface may reach. Collective.
    pub(super) fn around_surface(&self, width: f64) -> Result<BucketSet> {
        // A voxel at which the sign changes is at most a voxel away from the surface.
        let reach = (width / self.voxel_size()).ceil() + 1.0;
        let found = buckets_within(&self.crossings()?, reach);
        Ok(self.domain.processes().all_agree(found)?)
    }

    /// Drops the Buckets that the band does not reach, also those whose voxels are near to a surface that is no more.
    /// Collective.
    pub(super) fn drop_far(&mut self) -> Result<()> {
        let near = self.around_surface(f64::from(self.width))?;
        self.cover(&near.intersection(self.topology().all()))?;
        self.trim()
    }
}

/// The Buckets with a voxel that is within so many voxels of these, along each axis; some more if it is many.
pub(super) fn buckets_within(voxels: &[VoxelBox], reach: f64) -> undine_core::Result<BucketSet> {
    if reach <= f64::from(EDGE) {
        let reach = reach as i32;
        return BucketSet::from_buckets(voxels.iter().flat_map(|voxels| {
            let (low, high) = ((voxels.low - reach) >> 3, (voxels.high + reach) >> 3);
            box_of(low, high).map(|step| voxels.bucket.offset(step))
        }));
    }
    let keys = voxels.iter().map(|voxels| voxels.bucket.key()).collect();
    BucketSet::from_keys(keys).dilate((reach / f64::from(EDGE)).ceil() as u32)
}

/// All places of a box, ends included.
pub(super) fn box_of(low: IVec3, high: IVec3) -> impl Iterator<Item = IVec3> {
    (low.x..=high.x).flat_map(move |x| {
        (low.y..=high.y).flat_map(move |y| (low.z..=high.z).map(move |z| IVec3::new(x, y, z)))
    })
}

/// The signs of a Bucket's voxels and of those beyond its six faces: a row of bits along z for each x and y, set inside.
struct Signs {
    rows: [u16; 100],
}

/// The bits of the Bucket's own voxels.
const OWN: u16 = 0b01_1111_1110;

/// Where a row stands, by x and y from −1 to 8.
const fn row_at(x: i32, y: i32) -> usize {
    (10 * (x + 1) + y + 1) as usize
}

impl Signs {
    /// Where there is no Bucket, the voxels are taken to be like those that face it.
    fn around(around: &VoxelNeighbourhood<'_, f32>) -> Self {
        let own = around.chunk();
        let mut rows = [0; 100];
        for (x, y) in (0..64).map(|n| (n >> 3, n & 7)) {
            let below = if around.exists(0, 0, -1) { around.neighbour(0, 0, -1) } else { own };
            let above = if around.exists(0, 0, 1) { around.neighbour(0, 0, 1) } else { own };
            let [below, above] = [(below, -1, 7), (above, 1, 0)].map(|(chunk, z, end)| {
                // The voxel that faces a Bucket that does not exist is at the other end.
                let end = if around.exists(0, 0, z) { end } else { 7 - end };
                u16::from(chunk[place(x, y) + end] < 0.0)
            });
            rows[row_at(x, y)] = below | signs(own, x, y) | above << 9;
        }
        for n in 0..8 {
            let beyond = |x: i32, y: i32, from: [i32; 2], own: u16| match around.exists(x, y, 0) {
                true => signs(around.neighbour(x, y, 0), from[0], from[1]),
                false => own,
            };
            rows[row_at(-1, n)] = beyond(-1, 0, [7, n], rows[row_at(0, n)]);
            rows[row_at(8, n)] = beyond(1, 0, [0, n], rows[row_at(7, n)]);
            rows[row_at(n, -1)] = beyond(0, -1, [n, 7], rows[row_at(n, 0)]);
            rows[row_at(n, 8)] = beyond(0, 1, [n, 0], rows[row_at(n, 7)]);
        }
        Self { rows }
    }

    /// The box of the voxels that have a neighbour across a face with another sign.
    fn crossing(&self) -> Option<(IVec3, IVec3)> {
        let (mut low, mut high) = (IVec3::MAX, IVec3::MIN);
        let mut along_z = 0;
        for (x, y) in (0..64).map(|n| (n >> 3, n & 7)) {
            let row = |x: i32, y: i32| self.rows[row_at(x, y)];
            let own = row(x, y);
            let across = [row(x - 1, y), row(x + 1, y), row(x, y - 1), row(x, y + 1)];
            let along = (own ^ own << 1) | (own ^ own >> 1);
            let changes = across.iter().fold(along, |bits, other| bits | (own ^ other)) & OWN;
            if changes != 0 {
                along_z |= changes;
                let place = IVec3::new(x, y, 0);
                (low, high) = (low.min(place), high.max(place));
            }
        }
        if along_z == 0 {
            return None;
        }
        low.z = along_z.trailing_zeros() as i32 - 1;
        high.z = 14 - along_z.leading_zeros() as i32;
        Some((low, high))
    }
}

/// Where a row of voxels begins in a chunk.
fn place(x: i32, y: i32) -> usize {
    (x << 6 | y << 3) as usize
}

/// The signs of a row, from bit 1 on.
fn signs(chunk: &[f32], x: i32, y: i32) -> u16 {
    let row = &chunk[place(x, y)..place(x, y) + 8];
    row.iter().rev().fold(0, |bits, value| bits << 1 | u16::from(*value < 0.0)) << 1
}
