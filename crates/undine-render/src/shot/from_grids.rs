//! Volumes of what files and Discrete Volumes hold, borrowed.

use super::{Appearance, Chunk, Colouring, Volume};
use crate::error::{RenderError, Result};
use std::collections::BTreeMap;
use undine_core::glam::{DMat3, DVec3, IVec3, Vec3};
use undine_core::volume::{Centring, VoxelColumn};
use undine_core::{Frame, Topology};
use undine_vdb::{Class, Level, Transform, Tree};

/// No volume of a file is made of more cubes than this: a tile of 4096³ voxels alone would have 64 times as many.
const MOST_CUBES: usize = 1 << 21;

impl<'a> Volume<'a> {
    /// Of a grid of a file: level sets as surfaces, all else as smoke. Tiles are cubes of one value; of those of a level set only the
    /// outer ones, which are next to something, are made.
    pub fn of_tree(tree: &'a Tree<f32>, transform: &Transform, class: Class) -> Result<Self> {
        let is_level_set = class == Class::LevelSet;
        let rows = transform.rows.map(|[x, y, z, _]| DVec3::new(x, y, z));
        let edges = DMat3::from_cols(rows[0], rows[1], rows[2]);
        let mut chunks = Vec::new();
        let chunk = |place, density| Chunk { place, density, temperature: None, values: None };
        for (origin, values) in tree.leaves.origins.iter().zip(tree.leaves.values.chunks_exact(512))
        {
            chunks.push(chunk(IVec3::from_array(*origin) >> 3, values));
        }
        for tile in &tree.tiles {
            let is_dense = tile.active && tile.value > 0.0;
            if !(is_level_set || is_dense) {
                continue;
            }
            let side = tile.level.side() / 8;
            let shell = is_level_set && tile.level != Level::Leaf;
            let most = if shell { 6 * (side as usize).pow(2) } else { (side as usize).pow(3) };
            if chunks.len() + most > MOST_CUBES {
                return Err(RenderError::Asked {
                    what: "a tile of a volume".into(),
                    found: format!("of {}³ voxels", tile.level.side()),
                    wanted: format!("all of it has to fit into {MOST_CUBES} cubes of 8³ voxels"),
                });
            }
            let corner = IVec3::from_array(tile.origin) >> 3;
            let value = std::slice::from_ref(&tile.value);
            for x in 0..side {
                for y in 0..side {
                    let is_face = [x, y].iter().any(|&c| c == 0 || c == side - 1);
                    let step = if shell && !is_face { (side - 1).max(1) } else { 1 };
                    for z in (0..side).step_by(step as usize) {
                        chunks.push(chunk(corner + IVec3::new(x, y, z), value));
                    }
                }
            }
        }
        // Whole numbers are centres of voxels in a file.
        let corner = rows[3] - edges * DVec3::splat(0.5);
        let appearance = match is_level_set {
            true => Appearance::Surface {
                level: 0.0,
                colouring: Colouring::Plain(Vec3::new(0.18, 0.36, 0.55)),
            },
            false => Appearance::SMOKE,
        };
        let background = tree.background;
        Ok(Self { corner, edges, side: 8, chunks, background, extinction: 1.0, appearance })
    }

    /// The same with temperatures [K] of another grid on the same voxels; what is hot and not dense glows, too.
    pub fn with_temperature(mut self, tree: &'a Tree<f32>) -> Self {
        self.appearance = Appearance::FIRE;
        let mut hot: BTreeMap<[i32; 3], &'a [f32]> = BTreeMap::new();
        for (origin, values) in tree.leaves.origins.iter().zip(tree.leaves.values.chunks_exact(512))
        {
            hot.insert(origin.map(|c| c >> 3), values);
        }
        for tile in tree.tiles.iter().filter(|tile| tile.active && tile.level == Level::Leaf) {
            hot.insert(tile.origin.map(|c| c >> 3), std::slice::from_ref(&tile.value));
        }
        for chunk in &mut self.chunks {
            chunk.temperature = hot.remove(&chunk.place.to_array());
        }
        self.chunks.extend(hot.into_iter().map(|(place, values)| Chunk {
            place: IVec3::from_array(place),
            density: &[0.0],
            temperature: Some(values),
            values: None,
        }));
        self
    }

    /// Of the Buckets of a level of a Discrete Volume, one for each level that it has, as smoke; with temperatures [K] where they have as
    /// many voxels. Where two levels meet, each fades over half of its voxel, and together they hold what both hold.
    pub fn of_column(
        topology: &Topology,
        column: &'a VoxelColumn<f32>,
        temperature: Option<&'a VoxelColumn<f32>>,
        level: u8,
    ) -> Self {
        let frame: &Frame = topology.frame();
        let side = column.shape().resolution.edge();
        let voxel = frame.bucket_size(level) / side as f64;
        let temperature = temperature.filter(|hot| hot.shape() == column.shape());
        let chunks = topology
            .level(level)
            .map(|slot| Chunk {
                place: topology.bucket(slot).coord,
                density: column.chunk(slot),
                temperature: temperature.map(|hot| hot.chunk(slot)),
                values: None,
            })
            .collect();
        // Values that are not in the middle of their voxel are moved there.
        let centring: Centring = column.shape().centring;
        let moved = voxel * (centring.offset().as_dvec3() - 0.5);
        let volume = Self::smoke(frame.origin() + moved, voxel, chunks);
        let appearance = if temperature.is_some() { Appearance::FIRE } else { Appearance::SMOKE };
        Self { side, background: column.background(), appearance, ..volume }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undine_vdb::{LeafMask, Leaves, Tile};

    #[test]
    fn a_leaf_and_a_tile_of_a_file_are_cubes_where_the_file_has_them() -> Result<()> {
        let mut leaves = Leaves { origins: Vec::new(), masks: Vec::new(), values: Vec::new() };
        leaves.push([-8, 0, 8], LeafMask::default(), &[0.25; 512]);
        let tile = Tile { origin: [8, 8, 8], level: Level::Leaf, value: 2.0, active: true };
        let tree = Tree { background: 0.0, tiles: vec![tile], leaves };
        let transform = Transform::uniform(0.5, [1.0, 2.0, 3.0]);
        let volume = Volume::of_tree(&tree, &transform, Class::FogVolume)?;
        let places: Vec<_> = volume.chunks.iter().map(|chunk| chunk.place.to_array()).collect();
        assert_eq!(places, [[-1, 0, 1], [1, 1, 1]]);
        assert_eq!((volume.chunks[0].density.len(), volume.chunks[1].density), (512, &[2.0][..]));
        // The middle of the first voxel is where the file says.
        assert_eq!(volume.corner + 0.25, DVec3::new(1.0, 2.0, 3.0));
        volume.check()
    }
}
