//! Moving particles through the velocity of the grid, by methods of Runge and Kutta.
//!
//! A Bucket's faces are copied with a margin, so that nearly every particle finds what it meets on its way in one small array;
//! what goes farther asks the grid. The shift that keeps volume is a velocity, too, for the length of the step.

use crate::hybrid::Advection;
use undine_core::access::{Pad, Tile};
use undine_core::glam::Vec3;
use undine_core::volume::{Interpolation, MacHandle, MacSampler, Resolution};
use undine_core::{Accessor, DiscreteVolume, GridDomain, Handle, ParticleSystem};
use undine_sim::Result;

/// How far from its Bucket a particle may look without asking the grid, in voxels.
const MARGIN: usize = 4;
/// Voxels along a tile, and elements from row to row and from slab to slab; see [`Tile`].
const WIDTH: usize = 8 + 2 * MARGIN;
const ROW: usize = (WIDTH + 1).next_multiple_of(4);
const SLAB: usize = ROW * WIDTH;
/// Elements from the first of eight values around a place to the last.
const WINDOW: usize = SLAB + ROW + 2;

/// What particles move by.
#[derive(Debug, Clone, Copy)]
pub struct Flow {
    /// Velocity on faces [m/s].
    pub velocity: MacHandle,
    /// Displacement on faces in this step, besides the velocity's [m].
    pub shift: Option<MacHandle>,
}

/// Channels of particles that move.
#[derive(Debug, Clone, Copy)]
pub struct Moving {
    /// The velocity of the grid where the particle is [m/s], where it is known already; it is looked up otherwise.
    pub flow: Option<Handle<Vec3>>,
    /// Where the step began, from the corner of the Bucket [m]: is written.
    pub position_before: Handle<Vec3>,
    /// Time since birth [s]: grows.
    pub age: Handle<f32>,
}

/// Moves all particles by a step [s]. They may leave their Buckets. Collective.
pub fn advance(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    flow: Flow,
    particles: &ParticleSystem,
    moving: Moving,
    step: f64,
    how: Advection,
) -> Result<()> {
    for face in flow.velocity.faces {
        volume.refresh(domain, face)?;
    }
    let columns = flow.velocity.faces.map(|face| volume.column(face));
    let [x, y, z] = columns;
    let faces = [x?, y?, z?];
    let topology = volume.topology();
    let faces_of = [&*faces[0], &*faces[1], &*faces[2]];
    let grid = MacSampler::new(faces_of, topology, Interpolation::Linear)?;
    let voxel = domain.frame().voxel_size(0);
    let (step, per_voxel) = (step as f32, (1.0 / voxel) as f32);
    let around = |mac: MacHandle| mac.faces.map(|face| volume.around(face, MARGIN as u8));
    let kernel = (
        (around(flow.velocity), flow.shift.map(around)),
        moving.flow.map(|velocity| particles.own(velocity)),
        (particles.write(particles.position()), particles.write(moving.position_before)),
        particles.write(moving.age),
    );
    Accessor::new("move", domain).over(particles.topology()).run_with(
        kernel,
        || [(); 2].map(|()| [(); 3].map(|()| Tile::new(Resolution::R8, Pad::both(4), 0.0_f32))),
        |[tiles, shifts], here, ((velocity, shift), known, (position, before), age)| {
            before.copy_from_slice(position);
            age.iter_mut().for_each(|age| *age += step);
            for (tile, faces) in tiles.iter_mut().zip(velocity) {
                faces.load(tile);
            }
            for ((tile, shift), faces) in
                tiles.iter_mut().zip(shifts).zip(shift.into_iter().flatten())
            {
                faces.load(shift);
                for (velocity, shift) in tile.values_mut().iter_mut().zip(shift.values()) {
                    *velocity += shift / step;
                }
            }
            let tiles = tiles.each_ref().map(|tile| tile.values());
            let slot = topology.slot(here.bucket);
            let at = |place: Vec3| {
                near(tiles, place * per_voxel)
                    .unwrap_or_else(|| slot.map_or(Vec3::ZERO, |slot| grid.at(slot, place)))
            };
            for (n, x) in position.iter_mut().enumerate() {
                let k1 = known.map_or_else(|| at(*x), |known| known[n]);
                *x += step
                    * match how {
                        Advection::Rk2 => at(*x + 0.5 * step * k1),
                        Advection::Rk3 => {
                            let k2 = at(*x + 0.5 * step * k1);
                            let k3 = at(*x + 0.75 * step * k2);
                            (2.0 * k1 + 3.0 * k2 + 4.0 * k3) / 9.0
                        }
                    };
            }
        },
    )?;
    Ok(())
}

/// The velocity at a place, in voxels from the Bucket's corner; `None` where the tiles do not reach.
#[inline]
fn near(tiles: [&[f32]; 3], place: Vec3) -> Option<Vec3> {
    let component = |axis: usize| {
        // Faces lie at whole numbers along their own axis, and half-way between along the others.
        let mut from = place - Vec3::splat(0.5);
        from[axis] += 0.5;
        let from = from + Vec3::splat(MARGIN as f32);
        let first = from.floor();
        let last = Vec3::splat((WIDTH - 1) as f32);
        if !(first.cmpge(Vec3::ZERO) & first.cmplt(last)).all() {
            return None;
        }
        let f = from - first;
        let start = first.x as usize * SLAB + first.y as usize * ROW + first.z as usize;
        let w: &[f32; WINDOW] = tiles[axis].get(start..start + WINDOW)?.first_chunk()?;
        let along_z = |at: usize| w[at] + f.z * (w[at + 1] - w[at]);
        let along_y = |at: usize| {
            let (low, high) = (along_z(at), along_z(at + ROW));
            low + f.y * (high - low)
        };
        let (low, high) = (along_y(0), along_y(SLAB));
        Some(low + f.x * (high - low))
    };
    Some(Vec3::new(component(0)?, component(1)?, component(2)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_velocity_is_read_as_it_is_wherever_the_tile_reaches() {
        let tile = Tile::new(Resolution::R8, Pad::both(4), 0.0_f32);
        assert_eq!([tile.width(), tile.row(), tile.slab()], [WIDTH, ROW, SLAB]);
        let low = MARGIN as i32;
        let field = |place: Vec3, axis: usize| place.dot(Vec3::new(1.0, -2.0, 0.5)) + axis as f32;
        let tiles: [Tile<f32>; 3] = std::array::from_fn(|axis| {
            let mut tile = tile.clone();
            for n in 0..WIDTH.pow(3) as i32 {
                let width = WIDTH as i32;
                let [x, y, z] = [n / (width * width), n / width % width, n % width];
                let mut place = Vec3::new((x - low) as f32, (y - low) as f32, (z - low) as f32);
                place += Vec3::splat(0.5);
                place[axis] -= 0.5;
                let at = tile.index(x - low, y - low, z - low);
                tile.values_mut()[at] = field(place, axis);
            }
            tile
        });
        let tiles = tiles.each_ref().map(|tile| tile.values());
        for place in [Vec3::ZERO, Vec3::new(-3.2, 7.9, 11.4), Vec3::splat(4.0)] {
            let found = near(tiles, place).unwrap();
            for axis in 0..3 {
                assert!((found[axis] - field(place, axis)).abs() < 1e-4, "{place}");
            }
        }
        assert!(near(tiles, Vec3::new(-4.0, 0.0, 0.0)).is_none());
        assert!(near(tiles, Vec3::new(0.0, 11.6, 0.0)).is_none());
        assert!(near(tiles, Vec3::new(0.0, f32::NAN, 0.0)).is_none());
    }
}
