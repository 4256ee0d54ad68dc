//! Where the surface is: the voxels at which the sign changes, and the Buckets that a band around them reaches.

use super::{BYTES_PER_BUCKET, LevelSet};
use crate::error::Result;
use undine_core::access::VoxelNeighbourhood;
use undine_core::domain::{VOXELS_PER_BUCKET, direction};
use undine_core::glam::IVec3;
use undine_core::{Accessor, Bucket, BucketSet};

/// Voxels along a Bucket.
const EDGE: i32 = VOXELS_PER_BUCKET as i32;

/// A box of voxels around a part of the surface in a Bucket, ends included, from the Bucket's first voxel.
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
            let inside = self.beyond.inside_around(here.slot);
            let (low, high) = Signs::around(&around, inside).crossing()?;
            Some(VoxelBox { bucket: here.bucket, low, high })
        })?;
        Ok(found.into_iter().flatten().collect())
    }

    /// The Buckets that a band of `width` [m] around the surface may reach. Collective.
    pub(super) fn around_surface(&self, width: f64) -> Result<BucketSet> {
        self.within_band(&self.crossings()?, width)
    }

    /// The Buckets that a band of `width` [m] may reach if the surface is in these boxes of voxels. Collective.
    pub(super) fn within_band(&self, voxels: &[VoxelBox], width: f64) -> Result<BucketSet> {
        // A voxel at which the sign changes is at most a voxel away from the surface.
        let reach = (width / self.voxel_size()).ceil() + 1.0;
        let around = (2.0 * (reach / f64::from(EDGE)).floor() + 1.0).powi(3);
        let needed = around.max(1.0) * voxels.len().min(1) as f64 * BYTES_PER_BUCKET as f64;
        let budget = self.domain.budget();
        let found = budget
            .check("the Buckets of a band", needed as u64)
            .and_then(|()| buckets_within(voxels, reach));
        Ok(self.domain.processes().all_agree(found)?)
    }

    /// Drops the Buckets that the band does not reach, also those whose voxels are near to a surface that is no more.
    /// One that fills a box keeps it. Collective.
    pub(super) fn drop_far(&mut self) -> Result<()> {
        if !self.fills_box {
            let near = self.around_surface(f64::from(self.width))?;
            self.cover(&near.intersection(self.topology().all()))?;
        }
        self.trim()
    }
}

/// The Buckets with a voxel that is within so many voxels of these, along each axis.
pub(super) fn buckets_within(voxels: &[VoxelBox], reach: f64) -> undine_core::Result<BucketSet> {
    // Whole Buckets, and the rest in voxels.
    let whole = (reach / f64::from(EDGE)).floor();
    let rest = (reach - whole * f64::from(EDGE)).ceil() as i32;
    let near = BucketSet::from_buckets(voxels.iter().flat_map(|voxels| {
        let (low, high) = ((voxels.low - rest) >> 3, (voxels.high + rest) >> 3);
        box_of(low, high).map(|step| voxels.bucket.offset(step))
    }))?;
    if whole > 0.0 { near.dilate(whole as u32) } else { Ok(near) }
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
    /// `inside` has a bit per neighbour that has no voxels but lies inside.
    fn around(around: &VoxelNeighbourhood<'_, f32>, inside: u32) -> Self {
        let own = around.chunk();
        let beyond = |x: i32, y: i32, z: i32| match inside >> direction(x, y, z) & 1 {
            0 => 0,
            _ => u16::MAX,
        };
        let mut rows = [0; 100];
        for (x, y) in (0..64).map(|n| (n >> 3, n & 7)) {
            let [below, above] = [(-1, 7), (1, 0)].map(|(z, end)| match around.exists(0, 0, z) {
                true => u16::from(around.neighbour(0, 0, z)[place(x, y) + end] < 0.0),
                false => beyond(0, 0, z) & 1,
            });
            rows[row_at(x, y)] = below | signs(own, x, y) | above << 9;
        }
        for n in 0..8 {
            let row = |x: i32, y: i32, from: [i32; 2]| match around.exists(x, y, 0) {
                true => signs(around.neighbour(x, y, 0), from[0], from[1]),
                false => beyond(x, y, 0),
            };
            rows[row_at(-1, n)] = row(-1, 0, [7, n]);
            rows[row_at(8, n)] = row(1, 0, [0, n]);
            rows[row_at(n, -1)] = row(0, -1, [n, 7]);
            rows[row_at(n, 8)] = row(0, 1, [n, 0]);
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
