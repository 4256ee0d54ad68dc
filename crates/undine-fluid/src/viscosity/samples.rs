//! From the channels of a fluid to the equations of each Bucket (Batty & Bridson 2008, §3–4).
//!
//! Strains count as far as there is liquid: a cube around each sample, cut by the surface. So the surface carries no traction.
//! A strain that would need the velocity of a face in the air is left out. What sticks to a wall has the wall's velocity
//! at the wall, a part θ of the way from the last face in the liquid to the first one in the solid: the strain between them is
//! that over θ of the way, in θ of the cube. That is exact for a flow that grows linearly from the wall, wherever that lies.
//!
//! A wall on which liquid slips bears no traction either: there the liquid ends, as at a surface.
//!
//! The velocity of a rigid body is as unknown as that of the liquid: where one is the wall, strains say how much of it they have.

mod strains;

use super::grips::Pull;
use super::piece::{HELD, Piece, TILE, VOXELS, Varied, in_tile, tile_place};
use super::touched::{NOBODY, Nearest, Touched, owner};
use undine_core::access::{Accessor, Pad, Tile, VoxelNeighbourhood};
use undine_core::domain::GridDomain;
use undine_core::glam::{DVec3, IVec3};
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
    /// The rigid bodies in it that can be pushed, should walls be among them.
    pub bodies: Option<Bodies<'a>>,
}

/// Rigid bodies, as equations need them.
#[derive(Clone, Copy)]
pub struct Bodies<'a> {
    /// The faces beside them.
    pub touched: &'a Touched,
    /// By body, its centre of mass [m]; `None` for what nothing can push.
    pub centres: &'a [Option<DVec3>],
    /// The origin of the lattice [m].
    pub origin: DVec3,
}

/// By axis and voxel of a Bucket, the mass that particles have brought to faces [kg], and the velocity [m/s].
type Brought<'a> = [[&'a [f32]; 3]; 2];

/// The equations of a Bucket, and what walls add to them.
pub type Equations = (Piece, Pull);

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
            self.bodies.and(fluid.face_mass).map(|mass| {
                [mass, fluid.velocity].map(|mac| mac.faces.map(|face| volume.own(face)))
            }),
        );
        let accessor = Accessor::new("measure viscosity", domain).over(volume.topology());
        let equations = accessor.map(
            kernel,
            |here, ((distance, cells, wall), (density, by_cell), walls, brought)| {
                let mut place = Place::new(self, here.bucket.coord);
                match distance {
                    Some(distance) => distance.load(&mut place.surface),
                    None => load_mask(&cells, self.voxel as f32, &mut place.surface),
                }
                let half = 0.5 * self.voxel as f32;
                if least(&place.surface) > half {
                    return (Piece::Empty, Pull::default());
                }
                wall.load(&mut place.wall);
                density.load(&mut place.density);
                if let Some(by_cell) = by_cell {
                    by_cell.load(&mut place.by_cell);
                }
                let deep = is_below(&place.surface, -half) && least(&place.wall) >= half;
                if deep && let Some(piece) = place.uniform() {
                    return (piece, Pull::default());
                }
                let (area, velocity) = walls;
                for axis in 0..3 {
                    area[axis].load(&mut place.area[axis]);
                    velocity[axis].load(&mut place.velocity[axis]);
                }
                place.varied(brought.as_ref())
            },
        )?;
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
    /// The body that is the wall there, or [`NOBODY`].
    body: u32,
}

/// What is around a Bucket.
struct Place<'a> {
    samples: &'a Samples<'a>,
    /// Of which Bucket it is.
    bucket: IVec3,
    nearest: Option<Nearest>,
    surface: Tile<f32>,
    wall: Tile<f32>,
    density: Tile<f32>,
    by_cell: Tile<f32>,
    area: [Tile<f32>; 3],
    velocity: [Tile<f32>; 3],
}

impl<'a> Place<'a> {
    fn new(samples: &'a Samples<'a>, bucket: IVec3) -> Self {
        let tile = |pad: u8| Tile::new(Resolution::R8, Pad::both(pad), 0.0_f32);
        Self {
            samples,
            bucket,
            nearest: None,
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

    /// Of a voxel [m³].
    fn volume(&self) -> f32 {
        self.samples.voxel.powi(3) as f32
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
    fn varied(&mut self, brought: Option<&Brought<'_>>) -> Equations {
        self.treat_walls();
        if self.samples.sticks {
            self.nearest = self.samples.bodies.and_then(|all| all.touched.around(self.bucket));
        }
        let faces: [Vec<Face>; 3] = std::array::from_fn(|axis| self.faces(axis));
        let mut piece = Varied::empty();
        for (axis, faces) in faces.iter().enumerate() {
            for voxel in 0..VOXELS {
                let face = faces[tile_place(voxel)];
                piece.mass[axis][voxel] = match face.state {
                    State::Air => 0.0,
                    State::Wall => HELD,
                    State::Liquid => {
                        let brought = brought.filter(|_| face.body != NOBODY);
                        let mass = brought.map(|[mass, _]| mass[axis][voxel] / self.volume());
                        let known = mass.filter(|mass| *mass > 0.0);
                        known.unwrap_or_else(|| self.mass(axis, voxel, face.body))
                    }
                };
            }
        }
        if !piece.has_unknowns() {
            return (Piece::Empty, Pull::default());
        }
        let mut pull = Pull::default();
        for axis in 0..3 {
            self.add_cells(axis, &faces, &mut piece, &mut pull);
        }
        for edge in 0..3 {
            self.add_edges(edge, &faces, &mut piece, &mut pull);
        }
        if self.nearest.is_some() {
            self.add_held(&faces, brought, &mut pull);
        }
        (Piece::Varied(Box::new(piece)), pull)
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
            let nearest = self.nearest.as_ref().map(|all| all[axis][in_tile(x, y, z)]);
            let body = nearest.map_or(NOBODY, |nearest| owner(nearest, wall, voxel));
            let is_free = |body: u32| {
                let centre = self.samples.bodies.and_then(|all| all.centres[body as usize]);
                centre.is_some()
            };
            let body = if body != NOBODY && is_free(body) { body } else { NOBODY };
            Face { state, wall, velocity: self.velocity[axis].values()[at], body }
        };
        let mut faces = Vec::with_capacity(TILE);
        each([-1; 3], [8; 3], |at| faces.push(face(at)));
        faces
    }

    /// The mass of the liquid in the cube around a face, over that of a voxel [kg/m³].
    fn mass(&self, axis: usize, voxel: usize, body: u32) -> f32 {
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
        let wall = mean(&self.wall) / self.samples.voxel as f32;
        let open = match self.samples.sticks {
            true if body != NOBODY => beside_body(wall),
            true => (0.5 + wall).clamp(0.5, 1.0),
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
}

/// The part of a face's cube, and of those of held faces behind it, that is liquid between it and the surface of a body, by its
/// distance to that [voxels].
///
/// Along an axis that meets the surface at a right angle the first face stands for all from the surface to half a voxel behind it,
/// ½ + d. With no more than one voxel for it, an eighth of a voxel of liquid would be missing around a body on average: nothing
/// where a wall stands still, but an eighth of what a ball of five voxels has itself in inertia. What rises to 1 + 1/√8 and falls
/// again holds all of it.
fn beside_body(distance: f32) -> f32 {
    let peak = 0.5 + 0.125_f32.sqrt();
    let part = if distance <= peak { 0.5 + distance } else { 0.5 + 2.0 * peak - distance };
    if distance < 0.5 { part } else { part.max(1.0) }
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
