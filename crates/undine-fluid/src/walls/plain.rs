//! Where walls are plain: thick and smooth enough that what ends outside of one has not been through it.
//!
//! Across a thin wall, and in the middle of a thick one, distances have a kink: the second difference along the axis nearest
//! to the normal is at least 1/√3 of a voxel at the cell nearest to it. Where no cell around a way has one, there is nothing
//! to get through, and the end of the way alone tells whether a wall is met.

use undine_core::access::{Pad, VoxelNeighbourhood};
use undine_core::glam::Vec3;

/// Second differences beyond this part of a voxel count as a kink: spheres of less than three voxels, edges, and sheets.
const KINK: f32 = 0.3;
/// Cells around a Bucket that are looked at, and how many that makes along an axis.
const AROUND: i32 = 2;
const WIDE: usize = 12;

/// The cells in and around a Bucket where distances to walls have a kink.
pub struct Kinks {
    /// By x and y; bit z + 2 is that of cell z.
    rows: [u16; WIDE * WIDE],
    per_voxel: f32,
}

impl Kinks {
    /// From distances [m]; what is not known has a kink.
    pub fn new(distance: &VoxelNeighbourhood<'_, f32>, per_voxel: f32) -> Self {
        let mut tile = distance.tile(Pad::both(3));
        distance.load(&mut tile);
        let (values, row, slab) = (tile.values(), tile.row(), tile.slab());
        let limit = KINK / per_voxel;
        let mut rows = [0; WIDE * WIDE];
        for (n, bits) in rows.iter_mut().enumerate() {
            let (x, y) = ((n / WIDE) as i32 - AROUND, (n % WIDE) as i32 - AROUND);
            let first = tile.index(x, y, -AROUND);
            for z in 0..WIDE {
                let at = first + z;
                let twice = 2.0 * values[at];
                let bend = |step: usize| (values[at - step] + values[at + step] - twice).abs();
                let is_smooth = bend(1) <= limit && bend(row) <= limit && bend(slab) <= limit;
                *bits |= u16::from(!is_smooth) << z;
            }
        }
        Self { rows, per_voxel }
    }

    /// Whether no cell on a way, by offsets from the Bucket's corner [m], and none next to one has a kink.
    pub fn are_off(&self, from: Vec3, to: Vec3) -> bool {
        let low = (from.min(to) * self.per_voxel).floor().as_ivec3() - 1 + AROUND;
        let high = (from.max(to) * self.per_voxel).floor().as_ivec3() + 1 + AROUND;
        if !(from - to).is_finite() || low.min_element() < 0 || high.max_element() >= WIDE as i32 {
            return false;
        }
        let mask = ((1_u32 << (high.z + 1)) - (1 << low.z)) as u16;
        (low.x..=high.x).all(|x| {
            (low.y..=high.y).all(|y| self.rows[x as usize * WIDE + y as usize] & mask == 0)
        })
    }
}
