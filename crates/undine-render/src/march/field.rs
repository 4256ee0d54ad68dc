//! The values of a sparse volume between the middles of its voxels.
//!
//! Space is divided into *blocks*, which are the cubes of voxels moved by half a voxel: within a block, linear interpolation needs its
//! own cube and those above it only, and eight numbers of cubes in each block take the place of any search.

use super::tree::Tree;
use crate::error::{RenderError, Result};
use crate::shot::{Chunk, Volume};
use rayon::prelude::*;
use undine_core::glam::{DMat3, DVec3, I64Vec3, Vec3};

/// No cube.
const NONE: u32 = u32::MAX;

/// What is denser counts as this dense.
const MOST: f32 = 1e9;

/// The middles of 8 cubes' voxels.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    /// Where it is [blocks].
    pub place: I64Vec3,
    /// The cubes at its place and above; z is the lowest bit, and x the highest.
    chunks: [u32; 8],
    /// The least and the greatest value in it that is a number.
    pub range: [f32; 2],
    /// The hottest of it [K].
    pub hottest: f32,
}

/// A sparse volume, ready to be asked.
pub(crate) struct Field<'a> {
    pub volume: &'a Volume<'a>,
    pub tree: Tree,
    pub blocks: Vec<Block>,
    /// The binary logarithm of the side of a cube.
    log: u32,
    /// From metres to voxels.
    pub to_voxels: DMat3,
}

/// A channel of a cube.
trait Channel<'a>: Fn(&Chunk<'a>) -> &'a [f32] {}

impl<'a, F: Fn(&Chunk<'a>) -> &'a [f32]> Channel<'a> for F {}

/// How dense.
#[inline(always)]
fn density<'a>(chunk: &Chunk<'a>) -> &'a [f32] {
    chunk.density
}

/// How hot; 0 where nothing is known.
#[inline(always)]
fn temperature<'a>(chunk: &Chunk<'a>) -> &'a [f32] {
    chunk.temperature.unwrap_or(&[0.0])
}

impl<'a> Field<'a> {
    /// Of a volume, once it is checked.
    pub fn new(volume: &'a Volume<'a>) -> Result<Self> {
        volume.check()?;
        if volume.chunks.len() >= NONE as usize / 8 {
            let count = volume.chunks.len() as u64;
            return Err(RenderError::TooMany { count, most: u64::from(NONE) / 8 });
        }
        let corner = |n: usize| I64Vec3::new(n as i64 >> 2 & 1, n as i64 >> 1 & 1, n as i64 & 1);
        let below = volume.chunks.iter().flat_map(|chunk| {
            let place = chunk.place.as_i64vec3();
            (0..8).map(move |n| place - corner(n))
        });
        let (tree, places) = Tree::new(below.collect());
        let empty =
            |&place: &I64Vec3| Block { place, chunks: [NONE; 8], range: [0.0; 2], hottest: 0.0 };
        let mut blocks: Vec<Block> = places.iter().map(empty).collect();
        for (number, chunk) in volume.chunks.iter().enumerate() {
            for n in 0..8 {
                let place = chunk.place.as_i64vec3() - corner(n);
                if let super::tree::Found::Block(block) = tree.find(place) {
                    blocks[block].chunks[n] = number as u32;
                }
            }
        }
        let log = volume.side.trailing_zeros();
        let to_voxels = volume.edges.inverse();
        let mut field = Self { volume, tree, blocks: Vec::new(), log, to_voxels };
        let is_hot = volume.chunks.iter().any(|chunk| chunk.temperature.is_some());
        blocks.par_iter_mut().for_each(|block| {
            block.range = field.range(block, density, volume.background);
            if is_hot {
                block.hottest = field.range(block, temperature, 0.0)[1];
            }
        });
        field.blocks = blocks;
        Ok(field)
    }

    /// The number of voxels along the side of a block.
    #[inline(always)]
    pub fn side(&self) -> usize {
        1 << self.log
    }

    /// A place in the world from an eye [m], in voxels from the middle of the first.
    pub fn in_voxels(&self, place: Vec3, eye: DVec3) -> DVec3 {
        self.to_voxels * (eye - self.volume.corner + place.as_dvec3()) - 0.5
    }

    /// A direction [m] in voxels.
    pub fn along(&self, direction: Vec3) -> DVec3 {
        self.to_voxels * direction.as_dvec3()
    }

    /// The least and the greatest value of a channel in a block.
    fn range(&self, block: &Block, channel: impl Channel<'a>, outside: f32) -> [f32; 2] {
        let side = self.side();
        let [mut low, mut high] = [f32::INFINITY, f32::NEG_INFINITY];
        let mut add = |value: f32| {
            if !value.is_nan() {
                low = low.min(value);
                high = high.max(value);
            }
        };
        for (n, &chunk) in block.chunks.iter().enumerate() {
            if chunk == NONE {
                add(outside);
                continue;
            }
            let values = channel(&self.volume.chunks[chunk as usize]);
            if let [value] = values {
                add(*value);
                continue;
            }
            // Of a cube above only its first layer counts.
            let until = |bit: usize| if n & bit == 0 { side } else { 1 };
            for x in 0..until(4) {
                for y in 0..until(2) {
                    let row = (x << self.log | y) << self.log;
                    values[row..row + until(1)].iter().copied().for_each(&mut add);
                }
            }
        }
        if low > high { [0.0; 2] } else { [low, high] }
    }

    /// A channel at a place in a block [voxels from its corner], 0 to its side; `outside` is what it is where there is no cube.
    #[inline(always)]
    fn at(&self, block: &Block, place: Vec3, channel: impl Channel<'a>, outside: f32) -> f32 {
        match self.log {
            1 => self.at_of_side::<1>(block, place, channel, outside),
            2 => self.at_of_side::<2>(block, place, channel, outside),
            3 => self.at_of_side::<3>(block, place, channel, outside),
            _ => self.at_of_side::<4>(block, place, channel, outside),
        }
    }

    #[inline(always)]
    fn at_of_side<const LOG: usize>(
        &self,
        block: &Block,
        place: Vec3,
        channel: impl Channel<'a>,
        outside: f32,
    ) -> f32 {
        let side = 1 << LOG;
        let last = side - 1;
        let [x, y, z] = place.to_array().map(|c| (c as i32).clamp(0, last) as usize);
        let part = place - Vec3::new(x as f32, y as f32, z as f32);
        let base = (x << LOG | y) << LOG | z;
        let last = last as usize;
        if x < last && y < last && z < last {
            if block.chunks[0] == NONE {
                return outside;
            }
            let values = channel(&self.volume.chunks[block.chunks[0] as usize]);
            let Some(near) = values.get(base..base + (1 << (2 * LOG)) + (1 << LOG) + 2) else {
                return values[0];
            };
            return trilinear(std::array::from_fn(|n| near[corner::<LOG>(n)]), part);
        }
        // At a border each of the eight voxels may be of another cube.
        let values = std::array::from_fn(|n| {
            let step = [n >> 2, n >> 1 & 1, n & 1];
            let [x, y, z] = [x + step[0], y + step[1], z + step[2]];
            let above = x >> LOG << 2 | y >> LOG << 1 | z >> LOG;
            let chunk = block.chunks[above];
            if chunk == NONE {
                return outside;
            }
            let values = channel(&self.volume.chunks[chunk as usize]);
            let [x, y, z] = [x & last, y & last, z & last];
            values.get((x << LOG | y) << LOG | z).copied().unwrap_or(values[0])
        });
        trilinear(values, part)
    }

    /// The density at a place in a block, as it is.
    pub fn level(&self, block: &Block, place: Vec3) -> f32 {
        self.at(block, place, density, self.volume.background)
    }

    /// How dense it is at a place in a block: never negative, and nothing where it is no number.
    #[inline(always)]
    pub fn density(&self, block: &Block, place: Vec3) -> f32 {
        let found = self.at(block, place, density, self.volume.background);
        if found > 0.0 { found.min(MOST) } else { 0.0 }
    }

    /// How hot it is at a place in a block [K].
    #[inline(always)]
    pub fn temperature(&self, block: &Block, place: Vec3) -> f32 {
        let found = self.at(block, place, temperature, 0.0);
        if found > 0.0 { found.min(MOST) } else { 0.0 }
    }

    /// What colours a place in a block: that of the voxel it is in; none where there is none.
    pub fn value(&self, block: &Block, place: Vec3) -> Option<f32> {
        let [x, y, z] = (place + 0.5).to_array().map(|c| (c as usize).min(self.side()));
        let above = x >> self.log << 2 | y >> self.log << 1 | z >> self.log;
        let chunk = self.volume.chunks.get(block.chunks[above] as usize)?;
        let [x, y, z] = [x, y, z].map(|c| c & (self.side() - 1));
        let voxel = (x << self.log | y) << self.log | z;
        chunk.values.map(|values| values.at(if values.len() == 1 { 0 } else { voxel }))
    }

    /// How steeply the density rises at a place in a block, along each axis [1/voxel].
    pub fn gradient(&self, block: &Block, place: Vec3) -> Vec3 {
        let most = self.side() as f32;
        Vec3::from_array(std::array::from_fn(|axis| {
            let (mut low, mut high) = (place, place);
            low[axis] = (low[axis] - 0.5).max(0.0);
            high[axis] = (high[axis] + 0.5).min(most);
            (self.level(block, high) - self.level(block, low)) / (high[axis] - low[axis]).max(1e-6)
        }))
    }

    /// How much memory it takes beyond the volume [bytes].
    pub fn memory(&self) -> usize {
        self.tree.memory() + size_of_val(self.blocks.as_slice())
    }
}

/// Where the n-th of eight neighbours is, from the first.
#[inline(always)]
const fn corner<const LOG: usize>(n: usize) -> usize {
    (n >> 2) << (2 * LOG) | (n >> 1 & 1) << LOG | n & 1
}

/// Between eight values, z fastest.
#[inline(always)]
fn trilinear(v: [f32; 8], part: Vec3) -> f32 {
    let mix = |a: f32, b: f32, t: f32| a + t * (b - a);
    let low = mix(mix(v[0], v[1], part.z), mix(v[2], v[3], part.z), part.y);
    let high = mix(mix(v[4], v[5], part.z), mix(v[6], v[7], part.z), part.y);
    mix(low, high, part.x)
}
