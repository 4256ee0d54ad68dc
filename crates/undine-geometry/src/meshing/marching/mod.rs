//! The surface of a level set as a closed mesh, by marching cubes over its Buckets: Lorensen & Cline 1987, with a table that is
//! traced so that cubes agree on their faces (`cases`).
//!
//! A vertex lies on each edge between two voxel centres of different sides, and belongs to the Bucket of the lower one. Every vertex
//! is on one loop of each of the four cubes around its edge, so that the mesh is closed and a manifold, whatever the distances are.
//! Vertices are numbered along the curve of Buckets: the same level set gives the same mesh, bit for bit, on any number of threads.

mod cases;

use crate::error::{GeometryError, Result};
use crate::levelset::LevelSet;
use crate::triangles::Triangles;
use bytemuck::Pod;
use cases::{Cases, edge};
use rayon::prelude::*;
use undine_core::Accessor;
use undine_core::access::{Here, Pad, Tile, VoxelNeighbourhood};
use undine_core::domain::direction;
use undine_core::glam::DVec3;
use undine_core::memory::zeros;
use undine_core::volume::VoxelShape;

/// Vertices stay this part of a voxel away from voxel centres, so that no triangle shrinks to nothing.
const NEAREST: f32 = 1e-3;

impl LevelSet {
    /// Its surface as a closed manifold mesh, whose triangles are seen from outside when their corners turn to the left. Without a
    /// surface there are no triangles.
    ///
    /// Collective. Of several processes, the first has all of it, and the others none.
    pub fn mesh(&self) -> Result<Triangles> {
        if self.domain().processes().count() > 1 {
            return match self.gathered()? {
                Some(whole) => whole.mesh(),
                None => Triangles::new(Vec::new(), Vec::new()),
            };
        }
        let crossings = self.crossing_edges()?;
        let mut bases = Vec::with_capacity(crossings.len());
        let mut count = 0_u64;
        for found in &crossings {
            bases.push(count as u32);
            count += found.as_ref().map_or(0, |found| found.vertices.len() as u64);
        }
        if count >= u64::from(u32::MAX) {
            let (what, most) =
                ("the vertices of a surface; take larger voxels", u64::from(u32::MAX));
            return Err(GeometryError::TooMany { what, found: count, most });
        }

        let cases = Cases::get();
        let accessor = Accessor::new("march cubes", self.domain()).over(self.topology());
        let triangles =
            accessor.map(self.volume().around(self.distance(), 1), |here, around| {
                // Without a crossing of its own edges, the cubes of a Bucket may still cross at their far sides.
                let neighbours = here.topology.neighbours(here.slot);
                let far = FAR.iter().map(|&[x, y, z]| neighbours[direction(x, y, z)]);
                let crosses = |slot: u32| crossings.get(slot as usize).is_some_and(Option::is_some);
                if !crosses(here.slot) && !far.into_iter().any(crosses) {
                    return Vec::new();
                }
                let own = crossings[here.slot as usize].as_ref();
                let signs =
                    own.map_or_else(|| Signs::of(&self.load(here, &around)), |own| own.signs);
                let vertex = |at: [usize; 3], axis: usize| {
                    let towards = at.map(|n| (n >> 3) as i32);
                    let slot = neighbours[direction(towards[0], towards[1], towards[2])] as usize;
                    let found = crossings.get(slot)?.as_ref()?;
                    Some(bases[slot] + found.number(at.map(|n| n & 7), axis))
                };
                let mut made = Vec::new();
                signs.each_cube(|at, case| {
                    for corners in cases.of(case) {
                        let corners = corners.map(|number| {
                            let (axis, corner) = edge(number);
                            vertex(std::array::from_fn(|n| at[n] + corner[n]), axis)
                        });
                        if let [Some(a), Some(b), Some(c)] = corners {
                            made.push([a, b, c]);
                        }
                    }
                });
                made
            })?;
        let positions: Vec<&[DVec3]> =
            crossings.iter().flatten().map(|found| &found.vertices[..]).collect();
        let triangles: Vec<&[[u32; 3]]> = triangles.iter().map(Vec::as_slice).collect();
        Triangles::new(joined(&positions), joined(&triangles))
    }

    /// The distances of a Bucket and of the next layer.
    fn load(&self, here: Here<'_>, around: &VoxelNeighbourhood<'_, f32>) -> Tile<f32> {
        let pad = Pad { low: 0, high: 1 };
        let mut tile = Tile::new(VoxelShape::CELLS.resolution, pad, self.width());
        around.load(&mut tile);
        self.beyond().fill(here, &mut tile, -self.width());
        tile
    }

    /// The edges that cross the surface, by local slot; `None` where there are none.
    fn crossing_edges(&self) -> Result<Vec<Option<Box<Crossings>>>> {
        let accessor = Accessor::new("find crossings", self.domain()).over(self.topology());
        let frame = *self.domain().frame();
        let voxel = self.voxel_size();
        let access = self.volume().around(self.distance(), 1);
        Ok(accessor.map(access, |here: Here<'_>, around| {
            let tile = self.load(here, &around);
            let corner = frame.corner(here.bucket);
            Crossings::of(&tile, |at: [f32; 3]| {
                corner + voxel * DVec3::from_array(at.map(f64::from))
            })
        })?)
    }
}

/// Parts one after the other, copied on all threads: most of the time goes to new pages.
fn joined<T: Pod + Send + Sync>(parts: &[&[T]]) -> Vec<T> {
    let mut whole: Vec<T> = zeros(parts.iter().map(|part| part.len()).sum());
    let mut rest = &mut whole[..];
    let mut places = Vec::with_capacity(parts.len());
    for part in parts {
        let (place, after) = rest.split_at_mut(part.len());
        places.push(place);
        rest = after;
    }
    places.into_par_iter().zip(parts).for_each(|(place, part)| place.copy_from_slice(part));
    whole
}

/// The Buckets that hold edges of a Bucket's cubes, besides itself.
const FAR: [[i32; 3]; 7] =
    [[0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]];

/// The voxels of a Bucket and of the next layer that lie inside, a bit each along z.
#[derive(Clone, Copy)]
struct Signs {
    rows: [[u16; 9]; 9],
}

impl Signs {
    fn of(tile: &Tile<f32>) -> Self {
        let mut rows = [[0; 9]; 9];
        for (x, rows) in rows.iter_mut().enumerate() {
            for (y, row) in rows.iter_mut().enumerate() {
                let at = tile.index(x as i32, y as i32, 0);
                let values = &tile.values()[at..at + 9];
                *row = values.iter().rev().fold(0, |bits, v| bits << 1 | u16::from(*v < 0.0));
            }
        }
        Self { rows }
    }

    /// The edges of a row that cross: along x, y and z.
    fn crossing(&self, x: usize, y: usize) -> [u8; 3] {
        let own = self.rows[x][y];
        [own ^ self.rows[x + 1][y], own ^ self.rows[x][y + 1], own ^ own >> 1]
            .map(|bits| bits as u8)
    }

    /// Visits the cubes that the surface passes through, by their lowest voxel and their case.
    fn each_cube(&self, mut visit: impl FnMut([usize; 3], u8)) {
        for x in 0..8 {
            for y in 0..8 {
                let rows = [
                    self.rows[x][y],
                    self.rows[x][y + 1],
                    self.rows[x + 1][y],
                    self.rows[x + 1][y + 1],
                ];
                let any = rows.iter().fold(0, |bits, row| bits | row | row >> 1);
                let all = rows.iter().fold(u16::MAX, |bits, row| bits & row & row >> 1);
                let mut rest = any & !all & 0xFF;
                while rest != 0 {
                    let z = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    let case = rows.iter().enumerate().fold(0, |case, (n, row)| {
                        case | (row >> z & 1) << (2 * n) | (row >> (z + 1) & 1) << (2 * n + 1)
                    });
                    visit([x, y, z], case as u8);
                }
            }
        }
    }
}

/// The crossing edges of a Bucket and the vertices on them: row after row, in each along x, then y, then z.
struct Crossings {
    signs: Signs,
    /// A bit per voxel of a row, for edges along x, y and z.
    rows: [[u8; 3]; 64],
    /// Vertices before each row.
    before: [u16; 64],
    vertices: Vec<DVec3>,
}

impl Crossings {
    /// `place` gives the world position of a place in voxels from the Bucket's corner.
    fn of(tile: &Tile<f32>, place: impl Fn([f32; 3]) -> DVec3) -> Option<Box<Self>> {
        let signs = Signs::of(tile);
        let mut rows = [[0; 3]; 64];
        let mut before = [0; 64];
        let mut count = 0;
        for (n, (row, before)) in rows.iter_mut().zip(&mut before).enumerate() {
            *row = signs.crossing(n >> 3, n & 7);
            *before = count;
            count += row.iter().map(|bits| bits.count_ones() as u16).sum::<u16>();
        }
        if count == 0 {
            return None;
        }
        let mut vertices = Vec::with_capacity(usize::from(count));
        let steps = [tile.slab(), tile.row(), 1];
        for (n, row) in rows.iter().enumerate() {
            let first = tile.index((n >> 3) as i32, (n & 7) as i32, 0);
            for (axis, &bits) in row.iter().enumerate() {
                for z in (0..8).filter(|z| bits >> z & 1 != 0) {
                    let at = first + z;
                    let [low, high] = [tile.values()[at], tile.values()[at + steps[axis]]];
                    let along = (low / (low - high)).clamp(NEAREST, 1.0 - NEAREST);
                    let mut voxel = [n >> 3, n & 7, z].map(|n| n as f32 + 0.5);
                    voxel[axis] += along;
                    vertices.push(place(voxel));
                }
            }
        }
        Some(Box::new(Self { signs, rows, before, vertices }))
    }

    /// The number of the vertex on an edge, by its lower voxel.
    #[inline]
    fn number(&self, at: [usize; 3], axis: usize) -> u32 {
        let place = at[0] << 3 | at[1];
        let row = &self.rows[place];
        let earlier: u32 = row[..axis].iter().map(|bits| bits.count_ones()).sum();
        let below = (row[axis] & ((1 << at[2]) - 1)).count_ones();
        u32::from(self.before[place]) + earlier + below
    }
}
