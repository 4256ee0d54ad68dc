//! The surface of a solid as a closed mesh: Ju, Losasso, Schaefer & Warren 2002, *Dual contouring of Hermite data*.
//!
//! On a grid of cells, each edge whose ends lie on different sides crosses the surface somewhere, and the solid knows the
//! normal there. Each cell with such edges gets one vertex, where the planes of its crossings meet best; each such edge gets a
//! quad through the vertices of the four cells around it. So edges and corners of booleans stay sharp, and the mesh is
//! closed whatever the solid is.
//!
//! Cells come in blocks of 8³; a block is looked at only if its middle is near enough to the surface, or if the surface leads
//! into it from another one.

use crate::error::{GeometryError, Result, positive};
use crate::solid::{Nearest, Solid};
use crate::triangles::Triangles;
use rayon::prelude::*;
use undine_core::glam::{DMat3, DVec3, IVec3};
use undine_core::mesh::Bounds;

/// Cells along the side of a block.
const BLOCK: i32 = 8;
/// Corners along the side of a block.
const CORNERS: i32 = BLOCK + 1;
/// Most blocks along an axis.
const MOST_BLOCKS: i32 = 128;
/// Most blocks in all.
const MOST_BLOCKS_OF_ALL: u64 = 1 << 19;
/// Between voxels, a distance changes faster than one moves by this factor at most.
const STEEPNESS: f64 = 1.732_050_807_568_877_2;
/// Draws a vertex to the mean of its crossings, where their planes leave it free; as a part of a plane's own weight.
const PULL: f64 = 0.01;

const NONE: u32 = u32::MAX;

/// The surface of a solid within a box, on cells of a size [m]. Where the solid reaches beyond the box, it is cut off there. The
/// same for any number of threads; without a surface there are no triangles.
pub fn contour(solid: &dyn Solid, within: &Bounds, cell: f64) -> Result<Triangles> {
    positive("the size of a cell", cell)?;
    let size = within.size();
    if !(size.is_finite() && size.min_element() >= 0.0 && within.min.is_finite()) {
        return Err(GeometryError::BadBox { number: 0, min: within.min, max: within.max });
    }
    let grid = Grid::new(within, cell)?;
    let clipped = Clipped {
        solid,
        within: Bounds { min: within.min - 0.5 * cell, max: within.max + 0.5 * cell },
    };
    let blocks = near_surface(&grid, &clipped);
    let cells: Vec<Cells> =
        blocks.list.par_iter().map(|block| block.cells(&grid, &clipped)).collect();

    let mut positions = Vec::new();
    let mut first = Vec::with_capacity(cells.len());
    for block in &cells {
        first.push(positions.len() as u32);
        positions.extend_from_slice(&block.vertices);
        if positions.len() >= NONE as usize {
            let (found, most) = (positions.len() as u64, u64::from(NONE));
            return Err(GeometryError::TooMany { what: "the vertices of a contour", found, most });
        }
    }
    let vertex = |cell: IVec3| {
        let block = blocks.of.get(grid.number(cell.div_euclid(IVec3::splat(BLOCK)))?).copied()?;
        let local =
            cells.get(block as usize)?.number[cell_number(cell.rem_euclid(IVec3::splat(BLOCK)))];
        (local != NONE).then(|| first[block as usize] + local)
    };
    let triangles: Vec<Vec<[u32; 3]>> = blocks
        .list
        .par_iter()
        .map(|block| {
            let mut made = Vec::new();
            block.each_crossing(|corner, axis, inside_first| {
                let (u, v) = (AXES[(axis + 1) % 3], AXES[(axis + 2) % 3]);
                let around = [corner - u - v, corner - v, corner, corner - u].map(vertex);
                let [Some(a), Some(b), Some(c), Some(d)] = around else { return };
                let [a, b, c, d] = if inside_first { [a, b, c, d] } else { [d, c, b, a] };
                let length =
                    |a: u32, b: u32| positions[a as usize].distance_squared(positions[b as usize]);
                // The shorter way across folds less.
                match length(a, c) <= length(b, d) {
                    true => made.extend([[a, b, c], [a, c, d]]),
                    false => made.extend([[b, c, d], [b, d, a]]),
                }
            });
            made
        })
        .collect();
    Triangles::new(positions, triangles.concat())
}

const AXES: [IVec3; 3] = [IVec3::X, IVec3::Y, IVec3::Z];

/// Where corners of cells are.
struct Grid {
    origin: DVec3,
    cell: f64,
    /// Blocks along each axis.
    blocks: IVec3,
}

impl Grid {
    /// Over a box, and a cell further on every side, so that what lies at its ends is outside.
    fn new(within: &Bounds, cell: f64) -> Result<Self> {
        let wanted = (within.size() / cell).ceil() + 2.0;
        let blocks = (wanted / f64::from(BLOCK)).ceil().max(DVec3::ONE);
        let most = f64::from(MOST_BLOCKS);
        let all = blocks.element_product();
        if !(blocks.max_element() <= most && all <= MOST_BLOCKS_OF_ALL as f64) {
            return Err(GeometryError::TooMany {
                what: "the blocks of a contour; take larger cells",
                found: all as u64,
                most: MOST_BLOCKS_OF_ALL,
            });
        }
        Ok(Self { origin: within.min - cell, cell, blocks: blocks.as_ivec3() })
    }

    fn place(&self, corner: IVec3) -> DVec3 {
        self.origin + self.cell * corner.as_dvec3()
    }

    /// The number of a block; none beyond the grid.
    fn number(&self, block: IVec3) -> Option<usize> {
        let is_there = block.cmpge(IVec3::ZERO).all() && block.cmplt(self.blocks).all();
        is_there.then(|| {
            let [x, y, z] = block.to_array().map(|n| n as usize);
            let [_, height, depth] = self.blocks.to_array().map(|n| n as usize);
            (x * height + y) * depth + z
        })
    }

    fn all(&self) -> Vec<IVec3> {
        let [width, height, depth] = self.blocks.to_array();
        let columns = (0..width).flat_map(|x| (0..height).map(move |y| (x, y)));
        columns.flat_map(|(x, y)| (0..depth).map(move |z| IVec3::new(x, y, z))).collect()
    }
}

/// A solid as far as it lies in a box.
struct Clipped<'a> {
    solid: &'a dyn Solid,
    within: Bounds,
}

impl Clipped<'_> {
    /// The nearest side of the box: its axis and direction, and how far outside of it a place is [m].
    fn side(&self, at: DVec3) -> (DVec3, f64) {
        let (low, high) = (self.within.min - at, at - self.within.max);
        let (a, b) = (low.max_position(), high.max_position());
        match low[a] > high[b] {
            true => (-AXES[a].as_dvec3(), low[a]),
            false => (AXES[b].as_dvec3(), high[b]),
        }
    }

    fn distance(&self, at: DVec3) -> f64 {
        let distance = self.solid.distance(at);
        // What is no number is nowhere inside.
        if distance.is_nan() { f64::INFINITY } else { distance.max(self.side(at).1) }
    }

    fn normal(&self, at: DVec3) -> DVec3 {
        let Nearest { normal, distance, .. } = self.solid.nearest(at);
        let (out, beyond) = self.side(at);
        if beyond > distance { out } else { normal }
    }
}

/// Distances at the corners of a block's cells.
struct Block {
    /// Its first corner.
    corner: IVec3,
    distances: Vec<f64>,
}

/// The vertices of a block's cells.
struct Cells {
    /// The vertex of each cell, [`NONE`] if it has none.
    number: Vec<u32>,
    vertices: Vec<DVec3>,
}

/// The blocks that the surface passes through.
struct Blocks {
    list: Vec<Block>,
    /// The place of each block of the grid in the list, beyond its end if it is not there.
    of: Vec<u32>,
}

/// Finds the blocks that may hold a part of the surface, and those that the surface leads into from them. Only those that do
/// hold one are kept.
fn near_surface(grid: &Grid, solid: &Clipped<'_>) -> Blocks {
    let all = grid.all();
    let half = 0.5 * f64::from(BLOCK) * grid.cell;
    let far = STEEPNESS * (half * 3.0_f64.sqrt());
    let is_near = |block: &&IVec3| solid.distance(grid.place(**block * BLOCK) + half).abs() <= far;
    let mut wanted: Vec<IVec3> = all.par_iter().filter(is_near).copied().collect();
    let mut of = vec![NONE; all.len()];
    let mut is_seen = vec![false; all.len()];
    let mut list: Vec<Block> = Vec::new();
    while !wanted.is_empty() {
        let found: Vec<Option<Block>> =
            wanted.par_iter().map(|block| Block::with_surface(grid, solid, *block)).collect();
        let mut further = Vec::new();
        for (place, block) in wanted.iter().zip(found) {
            let Some(number) = grid.number(*place) else { continue };
            is_seen[number] = true;
            if let Some(block) = block {
                of[number] = list.len() as u32;
                further.extend(block.leads_to());
                list.push(block);
            }
        }
        further.retain(|block| grid.number(*block).is_some_and(|number| !is_seen[number]));
        further.sort_unstable_by_key(IVec3::to_array);
        further.dedup();
        wanted = further;
    }
    Blocks { list, of }
}

impl Block {
    /// `None` if the surface does not pass through it.
    fn with_surface(grid: &Grid, solid: &Clipped<'_>, block: IVec3) -> Option<Self> {
        let corner = block * BLOCK;
        let distances: Vec<f64> =
            corners(CORNERS).map(|at| solid.distance(grid.place(corner + at))).collect();
        let first = distances[0] < 0.0;
        let is_passed = distances.iter().any(|distance| (*distance < 0.0) != first);
        is_passed.then_some(Self { corner, distances })
    }

    fn distance(&self, at: IVec3) -> f64 {
        let [x, y, z] = at.to_array().map(|n| n as usize);
        self.distances[(x * CORNERS as usize + y) * CORNERS as usize + z]
    }

    fn is_inside(&self, at: IVec3) -> bool {
        self.distance(at) < 0.0
    }

    /// The blocks beside it into which the surface goes on.
    fn leads_to(&self) -> Vec<IVec3> {
        let block = self.corner / BLOCK;
        let mut found = Vec::new();
        for axis in 0..3 {
            for (end, step) in [(0, -1), (BLOCK, 1)] {
                let mut sides =
                    corners(CORNERS).filter(|at| at[axis] == end).map(|at| self.is_inside(at));
                let first = sides.next();
                if sides.any(|side| Some(side) != first) {
                    found.push(block + step * AXES[axis]);
                }
            }
        }
        found
    }

    /// Visits the edges that cross the surface and begin in this block: the first corner, the axis, and whether it begins inside.
    fn each_crossing(&self, mut visit: impl FnMut(IVec3, usize, bool)) {
        for at in corners(BLOCK) {
            let begins = self.is_inside(at);
            for (axis, step) in AXES.iter().enumerate() {
                if self.is_inside(at + *step) != begins {
                    visit(self.corner + at, axis, begins);
                }
            }
        }
    }

    /// A vertex for each cell that the surface passes through.
    fn cells(&self, grid: &Grid, solid: &Clipped<'_>) -> Cells {
        let mut number = vec![NONE; (BLOCK * BLOCK * BLOCK) as usize];
        let mut vertices = Vec::new();
        for at in corners(BLOCK) {
            let first = self.is_inside(at);
            if corners(2).all(|step| self.is_inside(at + step) == first) {
                continue;
            }
            number[cell_number(at)] = vertices.len() as u32;
            vertices.push(self.vertex(at, grid, solid));
        }
        Cells { number, vertices }
    }

    /// Where the planes of a cell's crossings meet best: the least Σ (n · (x − p))² + w |x − mean|², within the cell.
    fn vertex(&self, at: IVec3, grid: &Grid, solid: &Clipped<'_>) -> DVec3 {
        let low = grid.place(self.corner + at);
        let mut crossings = [(DVec3::ZERO, DVec3::ZERO); 12];
        let mut count = 0;
        for (axis, step) in AXES.iter().enumerate() {
            let (u, v) = (AXES[(axis + 1) % 3], AXES[(axis + 2) % 3]);
            for begin in [at, at + u, at + v, at + u + v] {
                let ends = [begin, begin + *step];
                let distances = ends.map(|end| self.distance(end));
                if (distances[0] < 0.0) == (distances[1] < 0.0) {
                    continue;
                }
                let [from, to] = ends.map(|end| grid.place(self.corner + end));
                let place = crossing(solid, from, to, distances);
                crossings[count] = (place - low, solid.normal(place));
                count += 1;
            }
        }
        let crossings = &crossings[..count];
        let mean = crossings.iter().map(|(place, _)| *place).sum::<DVec3>() / count.max(1) as f64;
        let weight = PULL * count as f64;
        let (mut matrix, mut side) = (DMat3::from_diagonal(DVec3::splat(weight)), DVec3::ZERO);
        for (place, normal) in crossings.iter().filter(|(_, normal)| normal.is_finite()) {
            matrix += DMat3::from_cols(*normal * normal.x, *normal * normal.y, *normal * normal.z);
            side += *normal * normal.dot(*place - mean);
        }
        let met = mean + matrix.inverse() * side;
        let met = if met.is_finite() { met } else { mean };
        low + met.clamp(DVec3::ZERO, DVec3::splat(grid.cell))
    }
}

/// Where an edge crosses the surface, by false position with the weights of the Illinois method.
fn crossing(solid: &Clipped<'_>, from: DVec3, to: DVec3, distances: [f64; 2]) -> DVec3 {
    const STEPS: usize = 6;
    const NEAR: f64 = 1e-6;
    let near = NEAR * from.distance(to);
    let (mut ends, mut heights) = ([0.0, 1.0], distances);
    let mut part = 0.5;
    for _ in 0..STEPS {
        part = (ends[0] * heights[1] - ends[1] * heights[0]) / (heights[1] - heights[0]);
        if !(part >= ends[0] && part <= ends[1]) {
            part = 0.5 * (ends[0] + ends[1]);
        }
        let height = solid.distance(from.lerp(to, part));
        if height.abs() <= near {
            break;
        }
        let side = usize::from((height < 0.0) != (heights[0] < 0.0));
        (ends[side], heights[side]) = (part, height);
        heights[1 - side] *= 0.5;
    }
    from.lerp(to, part)
}

fn cell_number(cell: IVec3) -> usize {
    let [x, y, z] = cell.to_array().map(|n| n as usize);
    (x * BLOCK as usize + y) * BLOCK as usize + z
}

/// All corners of a cube with so many along a side, z fastest.
fn corners(side: i32) -> impl Iterator<Item = IVec3> {
    (0..side * side * side).map(move |n| IVec3::new(n / (side * side), n / side % side, n % side))
}
