//! Reading a grid anywhere in the world, whatever its transform: what cannot become a Discrete Volume is sampled.

use super::value::GridValue;
use crate::error::{IoError, Result};
use rayon::prelude::*;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use undine_core::glam::{DAffine3, DMat3, DVec3};
use undine_vdb::{Level, Transform, Tree, VOXELS, tree::voxel};

/// Reads a tree at voxels and at places in the world, by interpolation.
///
/// ```
/// use undine_core::glam::DVec3;
/// use undine_io::vdb::VolumeSampler;
/// use undine_vdb::{LeafMask, Transform, Tree};
/// # fn main() -> undine_io::Result<()> {
/// let mut tree = Tree::new(0.0_f32);
/// let values = std::array::from_fn(|voxel| (voxel >> 6) as f32); // x
/// tree.leaves.push([0, 0, 0], LeafMask::ALL, &values);
/// let transform = Transform::scaled([0.5, 1.0, 1.0], [0.0; 3]);
/// let sampler = VolumeSampler::new(&tree, &transform)?;
/// assert_eq!(sampler.at(DVec3::new(1.25, 3.0, 3.0)), 2.5);
/// # Ok(())
/// # }
/// ```
pub struct VolumeSampler<'a, V> {
    tree: &'a Tree<V>,
    leaves: Places,
    /// For each level of tiles that there are, coarsest last.
    tiles: Vec<(Level, Places)>,
    to_voxels: DAffine3,
}

/// Leaves or tiles by their least corner.
type Places = HashMap<[i32; 3], u32, BuildHasherDefault<CornerHasher>>;

/// Mixes the three numbers of a corner; nobody iterates over what is sorted by it.
#[derive(Debug, Clone, Copy, Default)]
struct CornerHasher(u64);

impl Hasher for CornerHasher {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        for bytes in bytes.chunks(4) {
            let mut word = [0; 4];
            word[..bytes.len()].copy_from_slice(bytes);
            self.write_u32(u32::from_le_bytes(word));
        }
    }

    fn write_u32(&mut self, word: u32) {
        self.0 = (self.0.rotate_left(23) ^ u64::from(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn write_i32(&mut self, word: i32) {
        self.write_u32(word as u32);
    }

    fn write_usize(&mut self, _length: usize) {}
}

impl<'a, V: GridValue> VolumeSampler<'a, V> {
    /// A reader of a tree that lies so in the world. Refuses a transform that flattens space.
    pub fn new(tree: &'a Tree<V>, transform: &Transform) -> Result<Self> {
        let [x, y, z, origin] = transform.rows.map(|[x, y, z, _]| DVec3::new(x, y, z));
        let to_world = DAffine3 { matrix3: DMat3::from_cols(x, y, z), translation: origin };
        let to_voxels = to_world.inverse();
        if !to_voxels.is_finite() || to_world.matrix3.determinant() == 0.0 {
            return Err(IoError::Unreadable {
                what: "a grid at places in the world".into(),
                found: format!("its transform {:?} has no inverse", transform.rows),
                wanted: "voxels must have a volume".into(),
            });
        }
        let corners = tree.leaves.origins.iter().zip(0..);
        let leaves = corners.map(|(&origin, leaf)| (origin, leaf)).collect();
        let of_level = |level: Level| {
            let tiles = tree.tiles.iter().zip(0..).filter(|(tile, _)| tile.level == level);
            (level, tiles.map(|(tile, index)| (tile.origin, index)).collect::<Places>())
        };
        let tiles = [Level::Leaf, Level::Lower, Level::Upper].map(of_level);
        let tiles = tiles.into_iter().filter(|(_, places)| !places.is_empty()).collect();
        Ok(Self { tree, leaves, tiles, to_voxels })
    }

    /// The value of a voxel.
    pub fn voxel(&self, coordinate: [i32; 3]) -> V {
        match self.leaf(coordinate) {
            Some(values) => values[voxel(coordinate)],
            None => self.elsewhere(coordinate),
        }
    }

    /// Whether a voxel is active.
    pub fn is_active(&self, coordinate: [i32; 3]) -> bool {
        match self.leaves.get(&coordinate.map(|c| c & !7)) {
            Some(&leaf) => self.tree.leaves.masks[leaf as usize].is_on(voxel(coordinate)),
            None => self.tile(coordinate).is_some_and(|tile| self.tree.tiles[tile].active),
        }
    }

    /// The value at a place in the world [m], linearly between voxels; the background far away, and where the place is not finite.
    pub fn at(&self, position: DVec3) -> V {
        self.between(self.to_voxels.transform_point3(position))
    }

    /// The values at many places in the world [m], on all threads.
    pub fn all(&self, positions: &[DVec3]) -> Vec<V> {
        positions.par_iter().with_min_len(1024).map(|&position| self.at(position)).collect()
    }

    /// Where a place in the world [m] is among the voxels, whose centres are at whole numbers.
    pub fn voxels_of(&self, position: DVec3) -> DVec3 {
        self.to_voxels.transform_point3(position)
    }

    fn between(&self, place: DVec3) -> V {
        // So that the next voxel is a number too; also false for NaN.
        let limit = f64::from(i32::MAX - 1);
        if !place.abs().cmplt(DVec3::splat(limit)).all() {
            return self.tree.background;
        }
        let low = place.floor();
        let [x, y, z] = low.as_ivec3().to_array();
        let t = (place - low).to_array();
        let corner = |n: i32| [x + (n >> 2), y + (n >> 1 & 1), z + (n & 1)];
        let one_leaf = [x, y, z].iter().all(|c| c & 7 != 7);
        let values: [V; 8] = match self.leaf([x, y, z]) {
            Some(leaf) if one_leaf => std::array::from_fn(|n| leaf[voxel(corner(n as i32))]),
            _ => std::array::from_fn(|n| self.voxel(corner(n as i32))),
        };
        let weights = std::array::from_fn(|n| {
            let along = |axis: usize, upper: bool| if upper { t[axis] } else { 1.0 - t[axis] };
            along(0, n & 4 != 0) * along(1, n & 2 != 0) * along(2, n & 1 != 0)
        });
        V::mean(&values, &weights)
    }

    fn leaf(&self, coordinate: [i32; 3]) -> Option<&[V; VOXELS]> {
        let leaf = *self.leaves.get(&coordinate.map(|c| c & !7))? as usize;
        self.tree.leaves.values[leaf * VOXELS..].first_chunk()
    }

    fn elsewhere(&self, coordinate: [i32; 3]) -> V {
        self.tile(coordinate).map_or(self.tree.background, |tile| self.tree.tiles[tile].value)
    }

    fn tile(&self, coordinate: [i32; 3]) -> Option<usize> {
        let of_level = |(level, places): &(Level, Places)| {
            places.get(&coordinate.map(|c| c & !(level.side() - 1))).map(|&tile| tile as usize)
        };
        self.tiles.iter().find_map(of_level)
    }
}

macro_rules! staggered {
    ($real:ty) => {
        impl VolumeSampler<'_, [$real; 3]> {
            /// The vector of a staggered grid at a place in the world [m]: each component between the faces that it lies on, half a
            /// voxel below the middle along its own axis.
            pub fn staggered_at(&self, position: DVec3) -> [$real; 3] {
                let place = self.voxels_of(position);
                let shifts = [DVec3::X, DVec3::Y, DVec3::Z];
                [0, 1, 2].map(|axis| self.between(place + 0.5 * shifts[axis])[axis])
            }
        }
    };
}
staggered!(f32);
staggered!(f64);

#[cfg(test)]
mod tests {
    use super::*;
    use undine_vdb::{LeafMask, Tile};

    fn tree() -> Tree<f32> {
        let mut tree = Tree::new(9.0);
        for origin in [[-8, 0, 0], [0, 0, 0]] {
            let values = std::array::from_fn(|voxel| (origin[0] + (voxel as i32 >> 6)) as f32);
            tree.leaves.push(origin, LeafMask::ALL, &values);
        }
        let tile = |origin, level, value| Tile { origin, level, value, active: true };
        tree.tiles.push(tile([8, 0, 0], Level::Leaf, 1.0));
        tree.tiles.push(tile([-128, 0, 128], Level::Lower, 2.0));
        tree.tiles.push(tile([-4096, 0, -4096], Level::Upper, 3.0));
        tree
    }

    #[test]
    fn a_voxel_is_in_a_leaf_a_tile_or_nowhere() {
        let tree = tree();
        let sampler = VolumeSampler::new(&tree, &Transform::default()).unwrap();
        assert_eq!(sampler.voxel([-3, 2, 7]), -3.0);
        assert_eq!(sampler.voxel([9, 2, 7]), 1.0);
        assert_eq!(sampler.voxel([-128, 0, 128]), 2.0);
        assert_eq!(sampler.voxel([-1, 4095, -1]), 3.0);
        assert_eq!(sampler.voxel([100, 0, 0]), 9.0);
        assert!(sampler.is_active([9, 2, 7]) && !sampler.is_active([100, 0, 0]));
    }

    #[test]
    fn between_voxels_it_is_linear_across_leaves_and_under_any_transform() {
        let tree = tree();
        let (sine, cosine) = 0.5_f64.sin_cos();
        let transform = Transform {
            rows: [
                [0.1 * cosine, 0.1 * sine, 0.0, 0.0],
                [-0.2 * sine, 0.2 * cosine, 0.0, 0.0],
                [0.0, 0.0, 0.3, 0.0],
                [5.0, 6.0, 7.0, 1.0],
            ],
        };
        let sampler = VolumeSampler::new(&tree, &transform).unwrap();
        for place in [[-0.5, 3.0, 3.0], [2.25, 6.9, 0.1], [-7.0, 0.0, 6.5]] {
            let world = DVec3::from_array(transform.world(place));
            assert!((f64::from(sampler.at(world)) - place[0]).abs() < 1e-6);
            assert_eq!(sampler.all(&[world])[0], sampler.at(world));
        }
        for odd in [DVec3::NAN, DVec3::INFINITY, DVec3::splat(1e300)] {
            assert_eq!(sampler.at(odd), 9.0);
        }
        let flat = Transform::scaled([1.0, 0.0, 1.0], [0.0; 3]);
        assert!(VolumeSampler::new(&tree, &flat).is_err());
    }
}
