//! The body-centred cubic lattice: nodes at the corners and centres of cubes, and equal tetrahedra between them.
//!
//! Each tetrahedron lies around the face between two cubes: its corners are the centres of both and the ends of
//! an edge of the face. Two edges are as long as a cube, the other four √3/2 of that, and all dihedral angles are
//! 60° or 90°. The lattice is kept in blocks of 8³ cubes, only where it is needed.

use crate::error::{GeometryError, Result};
use crate::solid::Solid;
use rayon::prelude::*;
use undine_core::MemoryBudget;
use undine_core::glam::{DVec3, IVec3};
use undine_core::mesh::Bounds;

/// Cubes along the side of a block.
const SIDE: usize = 8;

/// Nodes of a block: a corner and a centre for each of its cubes.
pub(super) const NODES: usize = 2 * SIDE * SIDE * SIDE;

/// Nodes of the cubes of a block and of the next ones.
const PADDED: usize = 2 * (SIDE + 1) * (SIDE + 1) * (SIDE + 1);

/// No node: one of a block that is not there.
pub(super) const NONE: u32 = u32::MAX;

/// Nodes are numbered with 31 bits, so that numbers above them are free for cut points.
const MOST_BLOCKS: usize = (1 << 31) / NODES;

/// Cubes along an axis, from the anchor in either direction.
const MOST_CUBES: f64 = (1_u32 << 30) as f64;

/// A lattice, where and how fine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spacing {
    /// A corner of a cube [m].
    pub anchor: DVec3,
    /// The side of a cube [m].
    pub cell: f64,
}

/// The part of a lattice that a solid needs.
#[derive(Debug)]
pub(super) struct Lattice {
    spacing: Spacing,
    /// Ascending.
    blocks: Vec<Block>,
    /// The blocks at the offsets 0 or 1 along each axis, x slowest.
    next: Vec<[u32; 8]>,
}

/// The coordinates of a block, in blocks.
type Block = [i32; 3];

/// An edge of the lattice, from the place that owns it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    /// The nodes at its ends, by places in a [`Tile`] relative to the cube.
    pub ends: [usize; 2],
    /// Whether it is one of the long ones.
    pub long: bool,
}

/// A tetrahedron of the lattice, from the cube that owns it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    /// The nodes at its corners, by places in a [`Tile`] relative to the cube.
    pub corners: [usize; 4],
    /// Bit 4 a + b: whether corner a has an even number of coordinates greater than those of b.
    even: u16,
}

impl Cell {
    /// Whether corner `a` has an even number of coordinates that are greater than those of corner `b`.
    #[inline]
    pub fn even(&self, a: u8, b: u8) -> bool {
        self.even >> (4 * a + b) & 1 == 1
    }
}

/// The fourteen edges that each cube owns.
pub(super) const EDGES: [Edge; 14] = edges();

/// The twelve tetrahedra that each cube owns: those around its upper faces. Long edges are 01 and 23.
pub(super) const CELLS: [Cell; 12] = cells();

/// The place in a tile of a node: a corner (0) or centre (1) of a cube.
const fn place(kind: usize, [x, y, z]: [usize; 3]) -> usize {
    ((kind * (SIDE + 1) + x) * (SIDE + 1) + y) * (SIDE + 1) + z
}

const fn edges() -> [Edge; 14] {
    let mut edges = [Edge { ends: [0, 0], long: true }; 14];
    let mut axis = 0;
    while axis < 3 {
        let mut next = [0; 3];
        next[axis] = 1;
        let mut kind = 0;
        while kind < 2 {
            edges[2 * axis + kind].ends = [place(kind, [0; 3]), place(kind, next)];
            kind += 1;
        }
        axis += 1;
    }
    let mut corner = 0;
    while corner < 8 {
        let to = [corner >> 2, corner >> 1 & 1, corner & 1];
        edges[6 + corner] = Edge { ends: [place(1, [0; 3]), place(0, to)], long: false };
        corner += 1;
    }
    edges
}

const fn cells() -> [Cell; 12] {
    let mut cells = [Cell { corners: [0; 4], even: 0 }; 12];
    let mut axis = 0;
    while axis < 3 {
        // The corners of the upper face along this axis, turning to the left as seen from above.
        let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
        let mut face = [[0; 3]; 4];
        let mut k = 0;
        while k < 4 {
            face[k][axis] = 1;
            face[k][b] = (k == 1 || k == 2) as usize;
            face[k][c] = (k >= 2) as usize;
            k += 1;
        }
        let mut upper = [0; 3];
        upper[axis] = 1;
        let mut k = 0;
        while k < 4 {
            let corners = [(1, [0; 3]), (1, upper), (0, face[k]), (0, face[(k + 1) % 4])];
            cells[4 * axis + k] = cell(corners);
            k += 1;
        }
        axis += 1;
    }
    cells
}

const fn cell(corners: [(usize, [usize; 3]); 4]) -> Cell {
    let mut cell = Cell { corners: [0; 4], even: 0 };
    let mut a = 0;
    while a < 4 {
        cell.corners[a] = place(corners[a].0, corners[a].1);
        let mut b = 0;
        while b < 4 {
            let mut greater = 0;
            let mut k = 0;
            while k < 3 {
                // Centres lie half a cube above the corners of the same number.
                let [p, q] =
                    [2 * corners[a].1[k] + corners[a].0, 2 * corners[b].1[k] + corners[b].0];
                greater += (p > q) as u16;
                k += 1;
            }
            cell.even |= (1 - greater % 2) << (4 * a + b);
            b += 1;
        }
        a += 1;
    }
    cell
}

/// The nodes of the cubes of a block and of the next ones, [`NONE`] where there is no block.
pub(super) struct Tile {
    nodes: Box<[u32; PADDED]>,
}

impl Tile {
    /// The node at a place relative to a cube.
    #[inline]
    pub fn node(&self, cube: usize, place: usize) -> u32 {
        self.nodes[cube + place]
    }

    /// The places of the block's own cubes.
    pub fn cubes() -> impl Iterator<Item = usize> {
        let side = || 0..SIDE;
        side().flat_map(move |x| side().flat_map(move |y| side().map(move |z| place(0, [x, y, z]))))
    }
}

impl Lattice {
    /// The blocks that have cubes within `reach` [m] of the inside of the solid.
    ///
    /// The solid's distances are trusted to the extent that nothing inside is nearer than they say.
    pub fn around(
        spacing: Spacing,
        solid: &dyn Solid,
        bounds: Bounds,
        reach: f64,
        budget: &MemoryBudget,
    ) -> Result<Self> {
        let size = SIDE as f64 * spacing.cell;
        let [low, high] = [bounds.min - reach, bounds.max + reach]
            .map(|corner| ((corner - spacing.anchor) / size).floor());
        // A maximum of what is not a number would pass over it.
        let finite = low.is_finite() && high.is_finite();
        let most = low.abs().max(high.abs()).max_element() * SIDE as f64;
        if !finite || most > MOST_CUBES {
            return Err(GeometryError::BadParameter {
                what: "the number of cubes of a lattice from its anchor along an axis",
                found: if finite { most } else { f64::NAN },
                wanted: "at most 2³⁰",
            });
        }
        let [low, high] = [low, high].map(DVec3::as_ivec3);

        // Begin with one cube of blocks around all, and divide it where the inside may be near.
        let extent = (high - low).max_element() as u32 + 1;
        let mut level = u32::BITS - (extent - 1).leading_zeros();
        let mut blocks = vec![[0; 3]];
        loop {
            let side = 1 << level;
            let radius = 0.5 * 3.0_f64.sqrt() * size * f64::from(side);
            let near = |block: &Block| {
                let corner = low + side * IVec3::from_array(*block);
                let centre = corner.as_dvec3() + 0.5 * f64::from(side);
                let distance = solid.distance(spacing.anchor + size * centre);
                // What is not a number is kept, and refused with the nodes.
                corner.cmple(high).all() && (distance <= radius + reach || distance.is_nan())
            };
            blocks = blocks.into_par_iter().filter(near).collect();
            check_blocks(blocks.len(), budget)?;
            if level == 0 {
                break;
            }
            level -= 1;
            blocks = blocks.into_par_iter().flat_map_iter(children).collect();
        }
        blocks
            .par_iter_mut()
            .for_each(|block| *block = (low + IVec3::from_array(*block)).to_array());
        blocks.par_sort_unstable();
        let next = blocks
            .par_iter()
            .map(|&[x, y, z]| {
                std::array::from_fn(|n| {
                    let at = [x + (n >> 2) as i32, y + (n >> 1 & 1) as i32, z + (n & 1) as i32];
                    blocks.binary_search(&at).map_or(NONE, |slot| slot as u32)
                })
            })
            .collect();
        Ok(Self { spacing, blocks, next })
    }

    /// How many nodes its blocks have.
    pub fn node_count(&self) -> usize {
        self.blocks.len() * NODES
    }

    /// How many blocks there are.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// Where a node is [m].
    #[inline]
    pub fn position(&self, node: u32) -> DVec3 {
        let (slot, place) = (node as usize / NODES, node as usize % NODES);
        let half = if place >= NODES / 2 { 0.5 } else { 0.0 };
        let [x, y, z] = [place >> 6 & 7, place >> 3 & 7, place & 7].map(|n| n as i32);
        let block = IVec3::from_array(self.blocks[slot]) * SIDE as i32 + IVec3::new(x, y, z);
        self.spacing.anchor + self.spacing.cell * (block.as_dvec3() + half)
    }

    /// Half of the diagonal of a block [m], and its centre [m].
    pub fn ball_around(&self, slot: usize) -> (f64, DVec3) {
        let size = SIDE as f64 * self.spacing.cell;
        let centre = IVec3::from_array(self.blocks[slot]).as_dvec3() + 0.5;
        (0.5 * 3.0_f64.sqrt() * size, self.spacing.anchor + size * centre)
    }

    /// The nodes in and next to a block.
    pub fn tile(&self, slot: usize) -> Tile {
        let mut nodes = Box::new([NONE; PADDED]);
        let next = &self.next[slot];
        for kind in 0..2 {
            for x in 0..=SIDE {
                for y in 0..=SIDE {
                    for z in 0..=SIDE {
                        let padded = place(kind, [x, y, z]);
                        let block = next[x / SIDE * 4 + y / SIDE * 2 + z / SIDE];
                        if block != NONE {
                            let [x, y, z] = [x, y, z].map(|n| n % SIDE);
                            let own = ((kind * SIDE + x) * SIDE + y) * SIDE + z;
                            let n = block as usize * NODES + own;
                            nodes[padded] = n as u32;
                        }
                    }
                }
            }
        }
        Tile { nodes }
    }
}

fn children([x, y, z]: Block) -> impl Iterator<Item = Block> {
    (0..8).map(move |n| [2 * x + (n >> 2), 2 * y + (n >> 1 & 1), 2 * z + (n & 1)])
}

/// Refuses blocks whose nodes cannot be numbered or do not fit into memory.
fn check_blocks(count: usize, budget: &MemoryBudget) -> Result<()> {
    if count > MOST_BLOCKS {
        let (found, most) = ((count * NODES) as u64, (MOST_BLOCKS * NODES) as u64);
        return Err(GeometryError::TooMany { what: "nodes of a lattice", found, most });
    }
    // A side and a number for each node, and the tables of the block.
    let bytes =
        count * (NODES * (1 + size_of::<u32>()) + size_of::<Block>() + size_of::<[u32; 8]>());
    Ok(budget.check("the nodes of a lattice of tetrahedra", bytes as u64)?)
}
