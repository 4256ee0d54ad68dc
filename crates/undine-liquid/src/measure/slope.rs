//! The gradient of the pressure at particles: differences of cells across faces, between the faces around a particle.
//!
//! Only faces between two liquid cells tell it: walls have no pressure, and towards air it falls to that of the surface within a part of
//! a cell. What faces are known count by their weights in a trilinear interpolation, so that a pressure that is linear has
//! the same gradient up to every wall and surface. Where a sheet or a drop is one cell thick, the fall towards air is all
//! there is.

use undine_core::access::{Pad, Tile, VoxelNeighbourhood};
use undine_core::glam::{IVec3, Vec3};
use undine_core::volume::Resolution;
use undine_core::{Accessor, DiscreteVolume, GridDomain, Handle, ParticleSystem};
use undine_linsolve::pressure::{fraction, is_open};
use undine_sim::Result;
use undine_sim::offers::FluidField;

/// How far beyond a Bucket cells are looked at: a particle in its first half voxel is between faces of the cell before, and
/// their difference has the cell before that.
const MARGIN: u8 = 2;
/// Faces along an axis that particles of a Bucket are between: from -1 to 8.
const FACES: usize = 10;
/// How much a face towards air counts, beside one between liquid cells: only where there is no such.
const AIR: f32 = 1e-6;
/// The smallest part of a cell within which pressure falls to that of the surface.
const SMALLEST: f32 = 0.01;

/// Measures the gradient of the pressure [Pa/m] at all particles. Collective.
pub fn pressure_gradient(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    field: &FluidField,
    particles: &ParticleSystem,
    to: Handle<Vec3>,
) -> Result<()> {
    let per_voxel = (1.0 / domain.frame().voxel_size(0)) as f32;
    let around = |handle: Handle<f32>| volume.around(handle, MARGIN);
    let kernel = (
        (volume.around(field.cells.words, 1), around(field.pressure)),
        (field.distance.map(around), field.walls.area.faces.map(around)),
        (particles.own(particles.position()), particles.write(to)),
    );
    Accessor::new("measure the pressure gradient", domain).over(particles.topology()).run_with(
        kernel,
        Scratch::new,
        |scratch, _, ((cells, pressure), (distance, areas), (offset, gradient))| {
            pressure.load(&mut scratch.pressure);
            if let Some(distance) = distance {
                distance.load(&mut scratch.distance);
            }
            for (tile, area) in scratch.areas.iter_mut().zip(areas) {
                area.load(tile);
            }
            let is_liquid = |cell: IVec3| is_on(&cells, cell);
            for axis in 0..3 {
                scratch.difference(axis, is_liquid);
            }
            for (gradient, offset) in gradient.iter_mut().zip(offset) {
                *gradient = scratch.at(*offset * per_voxel) * per_voxel;
            }
        },
    )?;
    Ok(())
}

/// Whether a cell holds liquid, counted from the Bucket's corner, at most a Bucket away.
fn is_on(cells: &VoxelNeighbourhood<'_, u64>, cell: IVec3) -> bool {
    let (bucket, cell) = (cell.div_euclid(IVec3::splat(8)), cell.rem_euclid(IVec3::splat(8)));
    let word = cells.neighbour(bucket.x, bucket.y, bucket.z)[cell.x as usize];
    word >> (cell.y << 3 | cell.z) & 1 != 0
}

/// What a thread needs for a Bucket.
struct Scratch {
    pressure: Tile<f32>,
    /// Far away, where there is no channel of distances.
    distance: Tile<f32>,
    areas: [Tile<f32>; 3],
    /// By axis and face: how much it counts, and that times the difference across it.
    faces: [Vec<[f32; 2]>; 3],
}

impl Scratch {
    fn new() -> Self {
        let tile = || Tile::new(Resolution::R8, Pad::both(MARGIN), 0.0_f32);
        Self {
            pressure: tile(),
            distance: tile(),
            areas: [(); 3].map(|()| tile()),
            faces: [(); 3].map(|()| vec![[0.0; 2]; FACES * FACES * FACES]),
        }
    }

    /// The differences of pressure across the faces of an axis.
    fn difference(&mut self, axis: usize, is_liquid: impl Fn(IVec3) -> bool) {
        let Self { pressure, distance, areas, faces } = self;
        let at = |tile: &Tile<f32>, cell: IVec3| tile.values()[tile.index(cell.x, cell.y, cell.z)];
        for (n, face) in faces[axis].iter_mut().enumerate() {
            let here = [n / (FACES * FACES), n / FACES % FACES, n % FACES].map(|c| c as i32 - 1);
            let here = IVec3::from_array(here);
            let below = here - IVec3::AXES[axis];
            let [low, high] = [below, here].map(|cell| at(pressure, cell));
            let wet = [is_liquid(below), is_liquid(here)];
            let (counts, difference) = match wet {
                _ if !is_open(at(&areas[axis], here)) => (0.0, 0.0),
                [true, true] => (1.0, high - low),
                [false, false] => (0.0, 0.0),
                _ => {
                    let (inside, outside) = if wet[0] { (below, here) } else { (here, below) };
                    let (inside, outside) = (at(distance, inside), at(distance, outside));
                    let theta = fraction(inside, outside, SMALLEST);
                    (AIR, if wet[0] { -low } else { high } / theta)
                }
            };
            *face = [counts, counts * difference];
        }
    }

    /// The difference of pressure over a voxel at a place, in voxels from the Bucket's corner; zero where nothing is known.
    fn at(&self, place: Vec3) -> Vec3 {
        let component = |axis: usize| {
            // Faces lie at whole numbers along their own axis, and half-way between along the others. The first is -1.
            let mut from = place + Vec3::splat(0.5);
            from[axis] += 0.5;
            let first = from.floor().as_ivec3().clamp(IVec3::ZERO, IVec3::splat(FACES as i32 - 2));
            let f = from - first.as_vec3();
            let mut sum = [0.0; 2];
            for corner in 0..8 {
                let bits = IVec3::new(corner >> 2, corner >> 1 & 1, corner & 1);
                let share = |axis: usize| if bits[axis] == 1 { f[axis] } else { 1.0 - f[axis] };
                let weight = share(0) * share(1) * share(2);
                let node = (first + bits).as_usizevec3();
                let face = self.faces[axis][(node.x * FACES + node.y) * FACES + node.z];
                sum = [sum[0] + weight * face[0], sum[1] + weight * face[1]];
            }
            if sum[0] > 0.0 { sum[1] / sum[0] } else { 0.0 }
        };
        Vec3::new(component(0), component(1), component(2))
    }
}
