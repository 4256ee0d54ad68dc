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
        let [mut vertices, mut triangles] = [0_u64; 2];
        let mut bases = Vec::with_capacity(crossings.len());
        for found in &crossings {
            bases.push(vertices as u32);
            vertices += found.as_ref().map_or(0, |found| found.along.len() as u64);
            triangles += found.as_ref().map_or(0, |found| found.triangles as u64);
        }
        if vertices >= u64::from(u32::MAX) {
            let (what, most) =
                ("the vertices of a surface; take larger voxels", u64::from(u32::MAX));
            return Err(GeometryError::TooMany { what, found: vertices, most });
        }
        let mut positions: Vec<DVec3> = zeros(vertices as usize);
        let mut corners: Vec<[u32; 3]> = zeros(triangles as usize);
        let (topology, frame) = (self.topology(), *self.domain().frame());
        let at = |slot: usize| crossings.get(slot).and_then(Option::as_deref);
        let made = parts(&mut positions, &mut corners, &crossings).into_par_iter().map(|part| {
            let (slot, own) = (part.slot, part.own);
            let bucket = topology.bucket(slot as u32);
            own.place(frame.corner(bucket), self.voxel_size(), part.positions);
            let neighbours = topology.neighbours(slot as u32);
            let near = NEAR.map(|[x, y, z]| {
                let slot = neighbours[direction(x, y, z)] as usize;
                at(slot).map(|found| (bases[slot], found))
            });
            own.march(&near, part.corners)
        });
        let made: usize = made.sum();
        if made < corners.len() {
            corners.retain(|corners| *corners != NO_TRIANGLE);
        }
        Triangles::new(positions, corners)
    }

    /// The distances of a Bucket and of the next layer.
    fn load(&self, here: Here<'_>, around: &VoxelNeighbourhood<'_, f32>) -> Tile<f32> {
        let pad = Pad { low: 0, high: 1 };
        let mut tile = Tile::new(VoxelShape::CELLS.resolution, pad, self.width());
        around.load(&mut tile);
        self.beyond().fill(here, &mut tile, -self.width());
        tile
    }

    /// What crosses the surface, by local slot; `None` where nothing does.
    fn crossing_edges(&self) -> Result<Vec<Option<Box<Crossings>>>> {
        let accessor = Accessor::new("find crossings", self.domain()).over(self.topology());
        let access = self.volume().around(self.distance(), 1);
        Ok(accessor.map(access, |here, around| Crossings::of(&self.load(here, &around)))?)
    }
}

/// What stands where there is no triangle: a place that was never written.
const NO_TRIANGLE: [u32; 3] = [0; 3];

/// What is made of a Bucket: its vertices, and the triangles of its cubes.
struct Part<'a> {
    slot: usize,
    own: &'a Crossings,
    positions: &'a mut [DVec3],
    corners: &'a mut [[u32; 3]],
}

/// Where the vertices and triangles of each Bucket go: made where they stay, since most of the time would go to new pages.
fn parts<'a>(
    mut positions: &'a mut [DVec3],
    mut corners: &'a mut [[u32; 3]],
    crossings: &'a [Option<Box<Crossings>>],
) -> Vec<Part<'a>> {
    let some = |(slot, found): (usize, &'a Option<Box<Crossings>>)| Some((slot, found.as_deref()?));
    let part = |(slot, own): (usize, &'a Crossings)| {
        let (own_positions, rest) = std::mem::take(&mut positions).split_at_mut(own.along.len());
        positions = rest;
        let (own_corners, rest) = std::mem::take(&mut corners).split_at_mut(own.triangles);
        corners = rest;
        Part { slot, own, positions: own_positions, corners: own_corners }
    };
    crossings.iter().enumerate().filter_map(some).map(part).collect()
}

/// The Buckets that hold edges of a Bucket's cubes, itself first.
const NEAR: [[i32; 3]; 8] =
    [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]];

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

/// The crossing edges of a Bucket with a vertex on each, row after row, in each along x, then y, then z; and its cubes that cross.
struct Crossings {
    signs: Signs,
    /// A bit per voxel of a row, for edges along x, y and z.
    rows: [[u8; 3]; 64],
    /// Vertices before each row.
    before: [u16; 64],
    /// Where each vertex lies on its edge, from 0 to 1.
    along: Vec<f32>,
    /// How many triangles its cubes have.
    triangles: usize,
}

impl Crossings {
    /// None where no cube crosses: the edges of a Bucket are all of some of its cubes.
    fn of(tile: &Tile<f32>) -> Option<Box<Self>> {
        let signs = Signs::of(tile);
        let cases = Cases::get();
        let mut triangles = 0;
        signs.each_cube(|_, case| triangles += cases.of(case).len());
        if triangles == 0 {
            return None;
        }
        let mut rows = [[0; 3]; 64];
        let mut before = [0; 64];
        let mut count = 0;
        for (n, (row, before)) in rows.iter_mut().zip(&mut before).enumerate() {
            *row = signs.crossing(n >> 3, n & 7);
            *before = count;
            count += row.iter().map(|bits| bits.count_ones() as u16).sum::<u16>();
        }
        let mut found =
            Self { signs, rows, before, along: Vec::with_capacity(count.into()), triangles };
        let steps = [tile.slab(), tile.row(), 1];
        each_edge(&found.rows, |[x, y, z], axis| {
            let at = tile.index(x as i32, y as i32, z as i32);
            let [low, high] = [tile.values()[at], tile.values()[at + steps[axis]]];
            found.along.push((low / (low - high)).clamp(NEAREST, 1.0 - NEAREST));
        });
        Some(Box::new(found))
    }

    /// Puts its vertices where they are in the world: `corner` is that of the Bucket [m], `voxel` the width of a voxel [m].
    fn place(&self, corner: DVec3, voxel: f64, to: &mut [DVec3]) {
        let mut rest = to.iter_mut().zip(&self.along);
        each_edge(&self.rows, |voxel_at, axis| {
            let mut at = voxel_at.map(|n| n as f32 + 0.5);
            if let Some((to, along)) = rest.next() {
                at[axis] += along;
                *to = corner + voxel * DVec3::from_array(at.map(f64::from));
            }
        });
    }

    /// The triangles of its cubes, and how many they are. Their vertices are those of this Bucket and of those beside it ([`NEAR`]), with
    /// the number of the first vertex of each. Where a surface ends because a Bucket is missing, so do triangles.
    fn march(&self, near: &[Option<(u32, &Self)>; 8], to: &mut [[u32; 3]]) -> usize {
        let cases = Cases::get();
        let mut made = 0;
        self.signs.each_cube(|at, case| {
            let vertex = |number: u8| {
                let (axis, corner) = edge(number);
                let at: [usize; 3] = std::array::from_fn(|n| at[n] + corner[n]);
                let towards = at[0] >> 3 << 2 | at[1] >> 3 << 1 | at[2] >> 3;
                let (base, found) = near[towards]?;
                Some(base + found.number(at.map(|n| n & 7), axis))
            };
            for corners in cases.of(case) {
                if let [Some(a), Some(b), Some(c)] = corners.map(vertex) {
                    to[made] = [a, b, c];
                    made += 1;
                }
            }
        });
        made
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

/// Visits crossing edges in the order of their vertices: the lower voxel, and the axis.
#[inline]
fn each_edge(rows: &[[u8; 3]; 64], mut visit: impl FnMut([usize; 3], usize)) {
    for (n, row) in rows.iter().enumerate() {
        for (axis, &bits) in row.iter().enumerate() {
            let mut rest = bits;
            while rest != 0 {
                let z = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                visit([n >> 3, n & 7, z], axis);
            }
        }
    }
}
