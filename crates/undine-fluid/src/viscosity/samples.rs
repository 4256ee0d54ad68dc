//! From the channels of a fluid to the equations of each Bucket (Batty & Bridson 2008, §3–4).
//!
//! Strains count as far as there is liquid: a cube around each sample, cut by the surface. So the surface carries no traction.
//! A strain that would need the velocity of a face in the air is left out. What sticks to a wall has the wall's velocity
//! at the wall, a part θ of the way from the last face in the liquid to the first one in the solid: the strain between them is
//! that over θ of the way, in θ of the cube. That is exact for a flow that grows linearly from the wall, wherever that lies.
//!
//! A wall on which liquid slips bears no traction either: there the liquid ends, as at a surface.

use super::piece::{HELD, Piece, STEP, TILE, VOXELS, Varied, across, in_tile, tile_place};
use undine_core::access::{Accessor, Pad, Tile, VoxelNeighbourhood};
use undine_core::domain::GridDomain;
use undine_core::volume::Resolution;
use undine_core::{DiscreteVolume, Handle};
use undine_sim::Result;
use undine_sim::offers::FluidField;

/// The smallest θ, and how near to a wall a face has to be to be held by it, in voxels.
const NEAR: f32 = 0.01;
/// An open area below this is none: what is left of a face by rounding.
const CLOSED: f32 = 1e-9;
/// Less than this part of a face's cube is no liquid.
const NOTHING: f32 = 1e-4;
/// How far around a Bucket its surface is read.
const REACH: u8 = 3;

/// What equations are made of.
#[derive(Clone, Copy)]
pub struct Samples<'a> {
    /// Where the channels are.
    pub volume: &'a DiscreteVolume,
    /// Which they are.
    pub fluid: &'a FluidField,
    /// The size of a voxel [m].
    pub voxel: f64,
    /// Δt/Δx² [s/m²].
    pub scale: f64,
    /// Dynamic viscosity [Pa s].
    pub viscosity: f64,
    /// The same by cell, negative where it is not known.
    pub by_cell: Option<Handle<f32>>,
    /// Whether walls hold what touches them.
    pub sticks: bool,
}

/// The equations of a Bucket, and what moving walls add to their right-hand sides, by face.
pub type Equations = (Piece, Option<Vec<f64>>);

impl Samples<'_> {
    /// The equations of every Bucket of the volume. Collective.
    pub fn equations(&self, domain: &GridDomain) -> Result<Vec<Equations>> {
        let (volume, fluid) = (self.volume, self.fluid);
        let kernel = (
            (
                fluid.distance.map(|distance| volume.around(distance, REACH)),
                volume.around(fluid.cells.words, REACH),
                volume.around(fluid.walls.distance, REACH),
            ),
            (volume.around(fluid.density, 1), self.by_cell.map(|cells| volume.around(cells, 1))),
            (
                fluid.walls.area.faces.map(|face| volume.around(face, 1)),
                fluid.walls.velocity.faces.map(|face| volume.around(face, 1)),
            ),
        );
        let accessor = Accessor::new("measure viscosity", domain).over(volume.topology());
        let equations =
            accessor.map(kernel, |_, ((distance, cells, wall), (density, by_cell), walls)| {
                let mut place = Place::new(self);
                match distance {
                    Some(distance) => distance.load(&mut place.surface),
                    None => load_mask(&cells, self.voxel as f32, &mut place.surface),
                }
                let half = 0.5 * self.voxel as f32;
                if least(&place.surface) > half {
                    return (Piece::Empty, None);
                }
                wall.load(&mut place.wall);
                density.load(&mut place.density);
                if let Some(by_cell) = by_cell {
                    by_cell.load(&mut place.by_cell);
                }
                let deep = is_below(&place.surface, -half) && least(&place.wall) >= half;
                if deep && let Some(piece) = place.uniform() {
                    return (piece, None);
                }
                let (area, velocity) = walls;
                for axis in 0..3 {
                    area[axis].load(&mut place.area[axis]);
                    velocity[axis].load(&mut place.velocity[axis]);
                }
                place.varied()
            })?;
        Ok(equations)
    }
}

/// What a face is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Air,
    Liquid,
    Wall,
}

/// A face, as strains see it.
#[derive(Debug, Clone, Copy)]
struct Face {
    state: State,
    /// Its distance to the wall [m].
    wall: f32,
    /// The velocity of the wall there [m/s].
    velocity: f32,
}

/// The part of a strain that two faces make: e = s (upper − lower) + known.
struct Difference {
    s: f64,
    known: f64,
    /// How much of the way between them is outside of walls.
    open: f64,
    has_unknown: bool,
}

/// What is around a Bucket.
struct Place<'a> {
    samples: &'a Samples<'a>,
    surface: Tile<f32>,
    wall: Tile<f32>,
    density: Tile<f32>,
    by_cell: Tile<f32>,
    area: [Tile<f32>; 3],
    velocity: [Tile<f32>; 3],
}

impl<'a> Place<'a> {
    fn new(samples: &'a Samples<'a>) -> Self {
        let tile = |pad: u8| Tile::new(Resolution::R8, Pad::both(pad), 0.0_f32);
        Self {
            samples,
            surface: tile(REACH),
            wall: tile(REACH),
            density: tile(1),
            by_cell: tile(1),
            area: std::array::from_fn(|_| tile(1)),
            velocity: std::array::from_fn(|_| tile(1)),
        }
    }

    /// Deep in liquid: the same everywhere, if density and viscosity are.
    fn uniform(&self) -> Option<Piece> {
        let density = constant(&self.density)?;
        let viscosity = match self.samples.by_cell {
            Some(_) => f64::from(constant(&self.by_cell).filter(|viscosity| *viscosity >= 0.0)?),
            None => self.samples.viscosity,
        };
        Some(Piece::Uniform { mass: density, k: (self.samples.scale * viscosity) as f32 })
    }

    /// The part of a sample's cube that is liquid, by the distance to the surface at its middle [m].
    fn liquid(&self, distance: f32) -> f32 {
        (0.5 - distance / self.samples.voxel as f32).clamp(0.0, 1.0)
    }

    /// Makes the liquid end at walls where it slips, and go on into them where it sticks.
    fn treat_walls(&mut self) {
        let open = |wall: f32| wall >= 0.0;
        if least(&self.wall) >= 0.5 * self.samples.voxel as f32 {
            return;
        }
        if !self.samples.sticks {
            let pairs = self.surface.values_mut().iter_mut().zip(self.wall.values());
            pairs.for_each(|(surface, wall)| *surface = surface.max(-wall));
            return;
        }
        // The surface meets a wall at a right angle: a cell in a wall has the mean of the open cells around it.
        let before = self.surface.clone();
        each([-2; 3], [8; 3], |[x, y, z]| {
            if open(self.wall.values()[self.wall.index(x, y, z)]) {
                return;
            }
            let (mut sum, mut count) = (0.0, 0.0);
            each([-1; 3], [1; 3], |[i, j, k]| {
                let at = before.index(x + i, y + j, z + k);
                if open(self.wall.values()[at]) {
                    sum += before.values()[at];
                    count += 1.0;
                }
            });
            if count > 0.0 {
                let at = self.surface.index(x, y, z);
                self.surface.values_mut()[at] = sum / count;
            }
        });
    }

    /// The general case.
    fn varied(&mut self) -> Equations {
        self.treat_walls();
        let faces: [Vec<Face>; 3] = std::array::from_fn(|axis| self.faces(axis));
        let mut piece = Varied::empty();
        for (axis, faces) in faces.iter().enumerate() {
            for voxel in 0..VOXELS {
                piece.mass[axis][voxel] = match faces[tile_place(voxel)].state {
                    State::Air => 0.0,
                    State::Wall => HELD,
                    State::Liquid => self.mass(axis, voxel),
                };
            }
        }
        if !piece.has_unknowns() {
            return (Piece::Empty, None);
        }
        let mut pull = Pull { faces: None };
        for axis in 0..3 {
            self.add_cells(axis, &faces, &mut piece, &mut pull);
        }
        for edge in 0..3 {
            self.add_edges(edge, &faces, &mut piece, &mut pull);
        }
        (Piece::Varied(Box::new(piece)), pull.faces)
    }

    /// The faces of an axis, over a tile.
    fn faces(&self, axis: usize) -> Vec<Face> {
        let voxel = self.samples.voxel as f32;
        let step = unit(axis);
        let face = |[x, y, z]: [i32; 3]| {
            let mean = |tile: &Tile<f32>| {
                let below = tile.values()[tile.index(x - step[0], y - step[1], z - step[2])];
                0.5 * (tile.values()[tile.index(x, y, z)] + below)
            };
            let at = self.area[axis].index(x, y, z);
            let wall = mean(&self.wall);
            let held = wall <= NEAR * voxel || self.area[axis].values()[at] <= CLOSED;
            let state = match self.liquid(mean(&self.surface)) {
                _ if self.samples.sticks && held => State::Wall,
                liquid if liquid > NOTHING => State::Liquid,
                _ => State::Air,
            };
            Face { state, wall, velocity: self.velocity[axis].values()[at] }
        };
        let mut faces = Vec::with_capacity(TILE);
        each([-1; 3], [8; 3], |at| faces.push(face(at)));
        faces
    }

    /// The mass of the liquid in the cube around a face, over that of a voxel [kg/m³].
    fn mass(&self, axis: usize, voxel: usize) -> f32 {
        let above = [(voxel >> 6) as i32, (voxel >> 3 & 7) as i32, (voxel & 7) as i32];
        let below: [i32; 3] = std::array::from_fn(|n| above[n] - unit(axis)[n]);
        let at = |tile: &Tile<f32>, [x, y, z]: [i32; 3]| tile.values()[tile.index(x, y, z)];
        // Cells without liquid have no density of their own.
        let weight = |cell| match at(&self.wall, cell) < 0.0 {
            true => NOTHING,
            false => self.liquid(at(&self.surface, cell)).max(NOTHING),
        };
        let (w0, w1) = (weight(below), weight(above));
        let (d0, d1) = (at(&self.density, below), at(&self.density, above));
        let density = if d0 == d1 { d0 } else { (w0 * d0 + w1 * d1) / (w0 + w1) };
        let mean = |tile: &Tile<f32>| 0.5 * (at(tile, below) + at(tile, above));
        let open = match self.samples.sticks {
            true => (0.5 + mean(&self.wall) / self.samples.voxel as f32).clamp(0.5, 1.0),
            false => 1.0,
        };
        density * open * self.liquid(mean(&self.surface))
    }

    /// Δt μ / Δx² at a sample between these cells: the harmonic mean of those that know a viscosity, because stress, and not strain,
    /// is the same on both sides of where two liquids meet.
    fn stiffness<const N: usize>(&self, cells: [[i32; 3]; N]) -> f64 {
        let samples = self.samples;
        if samples.by_cell.is_none() {
            return samples.scale * samples.viscosity;
        }
        let value = |[x, y, z]: [i32; 3]| self.by_cell.values()[self.by_cell.index(x, y, z)];
        let values = cells.map(value);
        let known = || values.iter().filter(|value| **value >= 0.0);
        let first = known().next().copied();
        samples.scale
            * match first {
                None => samples.viscosity,
                Some(first) if known().all(|value| *value == first) => f64::from(first),
                Some(_) if known().any(|value| *value == 0.0) => 0.0,
                Some(_) => {
                    known().count() as f64
                        / known().map(|value| 1.0 / f64::from(*value)).sum::<f64>()
                }
            }
    }

    fn difference(&self, upper: Face, lower: Face) -> Difference {
        use State::{Liquid, Wall};
        let velocity = [upper, lower].map(|face| f64::from(face.velocity));
        let plain = |known: f64, has_unknown| Difference { s: 1.0, known, open: 1.0, has_unknown };
        let (inside, outside, sign) = match (upper.state, lower.state) {
            (Liquid, Wall) => (upper, lower, 1.0),
            (Wall, Liquid) => (lower, upper, -1.0),
            (Wall, Wall) => return plain(velocity[0] - velocity[1], false),
            _ => return plain(0.0, true),
        };
        let way = f64::from(inside.wall) - f64::from(outside.wall.min(0.0));
        let part = f64::from(inside.wall) / way;
        let open = if part.is_finite() { part.clamp(f64::from(NEAR), 1.0) } else { 1.0 };
        // (u − w) / θ, w being the wall's velocity where it is crossed, between those at the two faces.
        let (near, far) = (f64::from(inside.velocity), f64::from(outside.velocity));
        let known = sign * (near - far - near / open);
        Difference { s: 1.0 / open, known, open, has_unknown: true }
    }

    fn add_cells(&self, axis: usize, faces: &[Vec<Face>; 3], piece: &mut Varied, pull: &mut Pull) {
        let mut low = [0; 3];
        low[axis] = -1;
        each(low, [7; 3], |cell| {
            let at = in_tile(cell[0], cell[1], cell[2]);
            let (lower, upper) = (faces[axis][at], faces[axis][at + STEP[axis]]);
            if [lower, upper].iter().any(|face| face.state == State::Air) {
                return;
            }
            let difference = self.difference(upper, lower);
            // Inside of a wall the samples weigh nothing yet, but coarser ones there will: they tie the liquid to the wall.
            let surface = self.surface.values()[self.surface.index(cell[0], cell[1], cell[2])];
            let part = if difference.has_unknown { f64::from(self.liquid(surface)) } else { 1.0 };
            let k = 2.0 * self.stiffness([cell]) * part * difference.open;
            piece.cell[axis][at] = (k * difference.s * difference.s) as f32;
            pull.add(axis, at, at + STEP[axis], k * difference.s * difference.known);
        });
    }

    fn add_edges(&self, edge: usize, faces: &[Vec<Face>; 3], piece: &mut Varied, pull: &mut Pull) {
        let (a, b) = across(edge);
        let (ua, ub) = (unit(a), unit(b));
        let mut high = [8; 3];
        high[edge] = 7;
        each([0; 3], high, |cell| {
            let at = in_tile(cell[0], cell[1], cell[2]);
            let four = [faces[a][at], faces[a][at - STEP[b]], faces[b][at], faces[b][at - STEP[a]]];
            if four.iter().any(|face| face.state == State::Air) {
                return;
            }
            let left = std::array::from_fn(|n| cell[n] - ua[n]);
            let below = std::array::from_fn(|n| cell[n] - ub[n]);
            let diagonal = std::array::from_fn(|n| cell[n] - ua[n] - ub[n]);
            let cells: [[i32; 3]; 4] = [cell, left, below, diagonal];
            let value = |[x, y, z]: [i32; 3]| self.surface.values()[self.surface.index(x, y, z)];
            let surface = 0.25 * cells.iter().map(|cell| value(*cell)).sum::<f32>();
            let (stiffness, part) = (self.stiffness(cells), f64::from(self.liquid(surface)));

            // A wall thinner than a voxel lies between two faces: it holds each of them, and neither feels the other.
            let states = four.map(|face| face.state == State::Wall);
            let apart = match states {
                [false, false, true, true] => Some((a, at - STEP[b], [four[1], four[0]])),
                [true, true, false, false] => Some((b, at - STEP[a], [four[3], four[2]])),
                _ => None,
            };
            if let Some((axis, lower, pair)) = apart {
                for (place, face) in [lower, at].into_iter().zip(pair) {
                    let Some(voxel) = voxel_of(place) else { continue };
                    let way = f64::from(face.wall / self.samples.voxel as f32);
                    let tie = stiffness * part / way.clamp(f64::from(NEAR), 0.5);
                    piece.tie[axis][voxel] += tie as f32;
                    pull.add_to(axis, voxel, tie * f64::from(face.velocity));
                }
                return;
            }

            let [x, y] = [self.difference(four[0], four[1]), self.difference(four[2], four[3])];
            let part = if x.has_unknown || y.has_unknown { part } else { 1.0 };
            let k = stiffness * part * x.open * y.open;
            let terms = [k * x.s * x.s, k * x.s * y.s, k * y.s * y.s];
            for (tile, term) in piece.edge[edge].terms.iter_mut().zip(terms) {
                tile[at] = term as f32;
            }
            let known = x.known + y.known;
            pull.add(a, at - STEP[b], at, k * x.s * known);
            pull.add(b, at - STEP[a], at, k * y.s * known);
        });
    }
}

/// What moving walls add to right-hand sides, once there is something.
struct Pull {
    faces: Option<Vec<f64>>,
}

impl Pull {
    /// A strain with a known part k s e pulls its upper face down, and its lower one up.
    fn add(&mut self, axis: usize, lower: usize, upper: usize, force: f64) {
        for (at, force) in [(upper, -force), (lower, force)] {
            if let Some(voxel) = voxel_of(at) {
                self.add_to(axis, voxel, force);
            }
        }
    }

    fn add_to(&mut self, axis: usize, voxel: usize, force: f64) {
        if force != 0.0 {
            let faces = self.faces.get_or_insert_with(|| vec![0.0; 3 * VOXELS]);
            faces[axis * VOXELS + voxel] += force;
        }
    }
}

/// The voxel of the Bucket at a place of a tile, if it is one.
fn voxel_of(at: usize) -> Option<usize> {
    let cell = [at / 100, at / 10 % 10, at % 10];
    let voxel = || (cell[0] - 1) << 6 | (cell[1] - 1) << 3 | (cell[2] - 1);
    cell.iter().all(|c| (1..9).contains(c)).then(voxel)
}

/// One voxel along an axis.
fn unit(axis: usize) -> [i32; 3] {
    std::array::from_fn(|n| i32::from(n == axis))
}

/// Visits the voxels from `low` to `high`, both among them, in the order of a tile.
#[inline(always)]
fn each(low: [i32; 3], high: [i32; 3], mut visit: impl FnMut([i32; 3])) {
    for x in low[0]..=high[0] {
        for y in low[1]..=high[1] {
            for z in low[2]..=high[2] {
                visit([x, y, z]);
            }
        }
    }
}

/// The smallest of the numbers that a tile was filled with.
fn least(tile: &Tile<f32>) -> f32 {
    rows(tile).flatten().fold(f32::INFINITY, |least, value| least.min(*value))
}

/// Whether all are at most a limit.
fn is_below(tile: &Tile<f32>, limit: f32) -> bool {
    rows(tile).flatten().all(|value| *value <= limit)
}

/// The one number of a tile, if it has no other.
fn constant(tile: &Tile<f32>) -> Option<f32> {
    let first = *tile.values().first()?;
    rows(tile).flatten().all(|value| *value == first).then_some(first)
}

/// What of a tile's rows was filled.
fn rows(tile: &Tile<f32>) -> impl Iterator<Item = &[f32]> {
    tile.values().chunks_exact(tile.row()).map(|row| &row[..tile.width()])
}

/// A surface that runs half-way between cells with fluid and those without.
fn load_mask(cells: &VoxelNeighbourhood<'_, u64>, voxel: f32, surface: &mut Tile<f32>) {
    let reach = i32::from(REACH);
    each([-reach; 3], [7 + reach; 3], |[x, y, z]| {
        let words = cells.neighbour(x >> 3, y >> 3, z >> 3);
        let is_fluid = words[(x & 7) as usize] >> ((y & 7) << 3 | (z & 7)) & 1 != 0;
        let at = surface.index(x, y, z);
        surface.values_mut()[at] = if is_fluid { -voxel } else { voxel };
    });
}
