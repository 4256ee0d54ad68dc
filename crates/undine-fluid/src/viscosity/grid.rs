//! The Buckets of a level that have equations, which of them lie around which, and vectors over their faces.

use super::piece::{FACES, TILE, Tile, VOXELS};
use std::collections::BTreeMap;
use undine_core::domain::offset_towards;
use undine_core::glam::IVec3;
use undine_linsolve::Real;

/// No Bucket.
pub const NONE: u32 = u32::MAX;

/// Buckets with equations. Vectors have an entry for every face of each.
#[derive(Debug, Clone, Default)]
pub struct Grid {
    /// Where they are, in Buckets of their level.
    pub coords: Vec<IVec3>,
    /// By place: the places of the 27 around it.
    pub around: Vec<[u32; 27]>,
}

impl Grid {
    /// Of Buckets that are all different.
    pub fn new(coords: Vec<IVec3>) -> Self {
        let mut grid = Self { coords, around: Vec::new() };
        let places = grid.places();
        let find = |coord: IVec3| places.get(&coord.to_array()).copied().unwrap_or(NONE);
        let table = |coord: &IVec3| std::array::from_fn(|n| find(*coord + offset_towards(n)));
        grid.around = grid.coords.iter().map(table).collect();
        grid
    }

    /// Where each Bucket is in vectors.
    pub fn places(&self) -> BTreeMap<[i32; 3], u32> {
        self.coords.iter().zip(0..).map(|(coord, place)| (coord.to_array(), place)).collect()
    }

    /// How many Buckets there are.
    pub fn len(&self) -> usize {
        self.coords.len()
    }
}

/// Copies the faces of a Bucket and of those around it into tiles. Where there is no Bucket, zero. The stencil of the system does
/// not reach the corners; they are left out unless asked for.
#[inline]
pub fn load<T: Real>(around: &[u32; 27], x: &[T], tiles: &mut [Tile<T>; 3], corners: bool) {
    for (towards, &place) in around.iter().enumerate() {
        let offset = offset_towards(towards);
        if offset.abs().element_sum() == 3 && !corners {
            continue;
        }
        let chunk = (place != NONE).then(|| &x[place as usize * FACES..][..FACES]);
        for (axis, tile) in tiles.iter_mut().enumerate() {
            match chunk {
                Some(chunk) => put(offset, &chunk[axis * VOXELS..][..VOXELS], tile),
                None => put_zero(offset, tile),
            }
        }
    }
}

/// Along an axis: where a part of a tile begins, where it is taken from, and how long it is.
#[inline(always)]
fn part(offset: i32) -> (usize, usize, usize) {
    match offset {
        -1 => (0, 7, 1),
        0 => (1, 0, 8),
        _ => (9, 0, 1),
    }
}

#[inline(always)]
fn put<T: Real>(offset: IVec3, chunk: &[T], tile: &mut Tile<T>) {
    let [x, y, z] = offset.to_array().map(part);
    for i in 0..x.2 {
        for j in 0..y.2 {
            let to = (x.0 + i) * 100 + (y.0 + j) * 10 + z.0;
            let from = (x.1 + i) * 64 + (y.1 + j) * 8 + z.1;
            match z.2 {
                8 => tile[to..to + 8].copy_from_slice(&chunk[from..from + 8]),
                _ => tile[to] = chunk[from],
            }
        }
    }
}

#[inline(always)]
fn put_zero<T: Real>(offset: IVec3, tile: &mut Tile<T>) {
    let [x, y, z] = offset.to_array().map(part);
    for i in 0..x.2 {
        for j in 0..y.2 {
            let to = (x.0 + i) * 100 + (y.0 + j) * 10 + z.0;
            tile[to..to + z.2].fill(T::ZERO);
        }
    }
}

/// Tiles to load into.
pub fn tiles<T: Real>() -> Box<[Tile<T>; 3]> {
    Box::new([[T::ZERO; TILE]; 3])
}
