//! Where walls are plain: thick and smooth enough that what ends outside of one has not been through it.
//!
//! Across a thin wall, and in the middle of a thick one, distances have a kink: the second difference along the axis nearest
//! to the normal is at least 1/√3 of a voxel at the cell nearest to it. Where no cell around a way has one, there is nothing
//! to get through, and the end of the way alone tells whether a wall is met. What lies between the distances of cells without
//! kinks is known from them to a part of a voxel.

use undine_core::access::{Pad, Tile, VoxelNeighbourhood};
use undine_core::glam::Vec3;

/// Second differences beyond this part of a voxel count as a kink: spheres of less than three voxels, edges, and sheets.
const KINK: f32 = 0.3;
/// Cells around a Bucket that are looked at, and how many that makes along an axis.
const AROUND: i32 = 2;
const WIDE: usize = 12;
/// What linear interpolation may be off where there are no kinks [voxels]: an eighth of the second differences along all axes.
const OFF: f32 = 3.0 * KINK / 8.0;

/// The cells in and around a Bucket where distances to walls have a kink.
pub struct Kinks {
    /// By x and y; bit z + 2 is that of cell z.
    rows: [u16; WIDE * WIDE],
    /// Whether there is one at all.
    any: bool,
    /// Distances [m].
    distance: Tile<f32>,
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
        let any = rows.iter().any(|bits| *bits != 0);
        Self { rows, any, distance: tile, per_voxel }
    }

    /// A lower bound of the distance [voxels] at the end of a way that kinks are off, by its offset from the Bucket's corner
    /// [m].
    #[inline]
    pub fn least_distance(&self, at: Vec3) -> f32 {
        let low = f32::from(self.distance.pad().low);
        let place = (at * self.per_voxel + (low - 0.5)).max(Vec3::ZERO);
        let [x, y, z] = place.to_array().map(|c| c as i32);
        let t = place - Vec3::new(x as f32, y as f32, z as f32);
        let (slab, row) = (self.distance.slab(), self.distance.row());
        let start = x as usize * slab + y as usize * row + z as usize;
        let Some(w) = self.distance.values().get(start..start + slab + row + 2) else {
            return f32::NEG_INFINITY;
        };
        let along_z = |at: usize| w[at] + t.z * (w[at + 1] - w[at]);
        let along_y = |at: usize| {
            let (low, high) = (along_z(at), along_z(at + row));
            low + t.y * (high - low)
        };
        let (low, high) = (along_y(0), along_y(slab));
        (low + t.x * (high - low)) * self.per_voxel - OFF
    }

    /// Whether no cell on a way, by offsets from the Bucket's corner [m], and none next to one has a kink.
    #[inline]
    pub fn are_off(&self, from: Vec3, to: Vec3) -> bool {
        let low = from.min(to) * self.per_voxel + (AROUND - 1) as f32;
        let high = from.max(to) * self.per_voxel + (AROUND + 1) as f32;
        let is_seen = low.cmpge(Vec3::ZERO).all() && high.cmplt(Vec3::splat(WIDE as f32)).all();
        if !is_seen || !(from - to).is_finite() {
            return false;
        }
        if !self.any {
            return true;
        }
        // What is not below zero is cut off to its floor.
        let [low, high] = [low, high].map(|place| place.as_ivec3());
        let mask = ((1_u32 << (high.z + 1)) - (1 << low.z)) as u16;
        (low.x..=high.x).all(|x| {
            (low.y..=high.y).all(|y| self.rows[x as usize * WIDE + y as usize] & mask == 0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undine_core::volume::Resolution;

    #[test]
    fn between_cells_without_kinks_distances_are_bounded_from_below_and_not_by_much() {
        // A ball of five voxels, seen from a Bucket beside it, with voxels of half a metre.
        let centre = Vec3::new(-6.0, 2.0, 3.0);
        let distance = |place: Vec3| (place - centre).length() - 5.0;
        let mut tile = Tile::new(Resolution::R8, Pad::both(3), 0.0);
        for n in 0..14_i32.pow(3) {
            let [x, y, z] = [n / 196, n / 14 % 14, n % 14].map(|c| c - 3);
            let at = tile.index(x, y, z);
            let middle = Vec3::new(x as f32, y as f32, z as f32) + 0.5;
            tile.values_mut()[at] = 0.5 * distance(middle);
        }
        let kinks = Kinks { rows: [0; WIDE * WIDE], any: false, distance: tile, per_voxel: 2.0 };
        for n in 0..1000_u32 {
            let draw = |k: u32| (n * 7919 + k * 104_729) % 1000;
            let place = Vec3::from_array([1, 2, 3].map(|k| draw(k * n) as f32 * 0.012 - 2.0));
            let (least, real) = (kinks.least_distance(0.5 * place), distance(place));
            assert!(least <= real && least > real - 2.0 * OFF, "{place}: {least} of {real}");
        }
    }
}
