//! The velocity around a Bucket, in small arrays: what nearly everything that follows the flow finds on its way.

use undine_core::access::{Pad, Tile, VoxelNeighbourhood};
use undine_core::glam::Vec3;
use undine_core::volume::Resolution;

/// How far beyond its Bucket it reaches, in voxels.
pub const MARGIN: usize = 4;
/// Voxels along a tile, and elements from row to row and from slab to slab; see [`Tile`].
const WIDTH: usize = 8 + 2 * MARGIN;
const ROW: usize = (WIDTH + 1).next_multiple_of(4);
const SLAB: usize = ROW * WIDTH;
/// Elements from the first of eight values around a place to the last.
const WINDOW: usize = SLAB + ROW + 2;

/// Copies of the faces of a Bucket and around it, by axis. Places are in voxels from the Bucket's corner.
pub struct Nearby([Tile<f32>; 3]);

impl Default for Nearby {
    fn default() -> Self {
        Self([(); 3].map(|()| Tile::new(Resolution::R8, Pad::both(MARGIN as u8), 0.0)))
    }
}

impl Nearby {
    /// Takes over the faces of another Bucket, which are declared with a stencil of [`MARGIN`].
    pub fn load(&mut self, faces: [VoxelNeighbourhood<'_, f32>; 3]) {
        self.0.iter_mut().zip(faces).for_each(|(tile, faces)| faces.load(tile));
    }

    /// The velocity at a place, by linear interpolation; `None` where the arrays do not reach.
    #[inline]
    pub fn at(&self, place: Vec3) -> Option<Vec3> {
        let component = |axis| self.component(axis, place);
        Some(Vec3::new(component(0)?, component(1)?, component(2)?))
    }

    /// One component of it.
    #[inline]
    pub fn component(&self, axis: usize, place: Vec3) -> Option<f32> {
        let (w, f) = self.window(axis, place)?;
        let along_z = |at: usize| w[at] + f.z * (w[at + 1] - w[at]);
        let along_y = |at: usize| {
            let (low, high) = (along_z(at), along_z(at + ROW));
            low + f.y * (high - low)
        };
        let (low, high) = (along_y(0), along_y(SLAB));
        Some(low + f.x * (high - low))
    }

    /// The least and the largest of the eight values that a component is interpolated from.
    #[inline]
    pub fn bounds(&self, axis: usize, place: Vec3) -> Option<[f32; 2]> {
        let (w, _) = self.window(axis, place)?;
        let corners = [0, 1, ROW, ROW + 1, SLAB, SLAB + 1, SLAB + ROW, SLAB + ROW + 1];
        let fold = |pick: fn(f32, f32) -> f32| corners.iter().fold(w[0], |a, &at| pick(a, w[at]));
        Some([fold(f32::min), fold(f32::max)])
    }

    /// The eight values around a place, from the first on, and how far it lies between them.
    #[inline]
    fn window(&self, axis: usize, place: Vec3) -> Option<(&[f32; WINDOW], Vec3)> {
        // Faces lie at whole numbers along their own axis, and half-way between along the others.
        let mut from = place - Vec3::splat(0.5);
        from[axis] += 0.5;
        let from = from + Vec3::splat(MARGIN as f32);
        let last = Vec3::splat((WIDTH - 1) as f32);
        if !(from.cmpge(Vec3::ZERO) & from.cmplt(last)).all() {
            return None;
        }
        // What is not below zero is cut off to its floor, which takes a call where a processor may be an old one.
        let [x, y, z] = from.to_array().map(|c| c as i32);
        let first = Vec3::new(x as f32, y as f32, z as f32);
        let start = x as usize * SLAB + y as usize * ROW + z as usize;
        let window = self.0[axis].values().get(start..start + WINDOW)?.first_chunk()?;
        Some((window, from - first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_velocity_is_read_as_it_is_wherever_the_arrays_reach() {
        let tile = Tile::new(Resolution::R8, Pad::both(MARGIN as u8), 0.0_f32);
        assert_eq!([tile.width(), tile.row(), tile.slab()], [WIDTH, ROW, SLAB]);
        let low = MARGIN as i32;
        let field = |place: Vec3, axis: usize| place.dot(Vec3::new(1.0, -2.0, 0.5)) + axis as f32;
        let near = Nearby(std::array::from_fn(|axis| {
            let mut tile = tile.clone();
            for n in 0..WIDTH.pow(3) as i32 {
                let width = WIDTH as i32;
                let [x, y, z] = [n / (width * width), n / width % width, n % width];
                let mut place = Vec3::new((x - low) as f32, (y - low) as f32, (z - low) as f32);
                place += Vec3::splat(0.5);
                place[axis] -= 0.5;
                let at = tile.index(x - low, y - low, z - low);
                tile.values_mut()[at] = field(place, axis);
            }
            tile
        }));
        for place in [Vec3::ZERO, Vec3::new(-3.2, 7.9, 10.9), Vec3::splat(4.0)] {
            let found = near.at(place).unwrap();
            for axis in 0..3 {
                assert!((found[axis] - field(place, axis)).abs() < 1e-4, "{place}");
                let [least, most] = near.bounds(axis, place).unwrap();
                assert!(least <= found[axis] && found[axis] <= most && most - least < 3.6);
            }
        }
        assert!(near.at(Vec3::new(-4.0, 0.0, 0.0)).is_none());
        assert!(near.at(Vec3::new(0.0, 11.6, 0.0)).is_none());
        assert!(near.at(Vec3::new(0.0, f32::NAN, 0.0)).is_none());
    }
}
