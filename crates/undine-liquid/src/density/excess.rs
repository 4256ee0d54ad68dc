//! How much more than it should a cell holds.

use undine_core::access::{Accessor, Pad, Tile};
use undine_core::glam::Vec3;
use undine_core::volume::{DiscreteVolume, VoxelShape};
use undine_core::{GridDomain, Handle, ParticleSystem};
use undine_sim::Result;
use undine_sim::offers::{Coupling, FluidField, Interior};

/// A particle gives to the eight cells whose centres it lies between.
const PAD: Pad = Pad::both(1);
/// Elements from row to row and from slab to slab of a tile so padded, and from the first of eight cells to the last; see
/// [`Tile`].
const ROW: usize = 12;
const SLAB: usize = 10 * ROW;
const WINDOW: usize = SLAB + ROW + 2;

/// Adds to each cell what particles bring, as a part of what it would hold at the density at rest, by the tent function.
pub fn hold(
    domain: &GridDomain,
    particles: &ParticleSystem,
    field: &FluidField,
    scratch: &DiscreteVolume,
    held: Handle<f32>,
    density: f64,
) -> Result<()> {
    let voxel = domain.frame().voxel_size(0);
    let per_voxel = 1.0 / voxel as f32;
    let per_mass = (1.0 / (density * voxel.powi(3))) as f32;
    let mass = field.particles.map(|carrier| particles.own(carrier.mass));
    Accessor::new("weigh cells", domain).over(particles.topology()).scatter(
        (particles.own(particles.position()), mass),
        scratch.accumulate(held, PAD),
        |_, (position, mass), tile| match mass {
            Some(mass) => {
                let weights = mass.iter().map(|mass| mass * per_mass);
                position.iter().zip(weights).for_each(|(at, w)| add(*at * per_voxel, w, tile));
            }
            None => position.iter().for_each(|at| add(*at * per_voxel, 0.125, tile)),
        },
    )?;
    Ok(())
}

/// Adds what cells hold themselves, spread over those around them by the same function.
pub fn hold_interior(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    interior: Interior,
    scratch: &DiscreteVolume,
    held: Handle<f32>,
) -> Result<()> {
    let tile = || Tile::new(VoxelShape::CELLS.resolution, PAD, 0_u32);
    Accessor::new("weigh what cells hold", domain).over(volume.topology()).run_with(
        (volume.around(interior.parts, 1), scratch.write(held)),
        tile,
        |tile, _, (parts, held)| {
            parts.load(tile);
            if tile.values().iter().all(|&parts| parts == 0) {
                return;
            }
            let (slab, row) = (tile.slab(), tile.row());
            for (n, held) in held.iter_mut().enumerate() {
                let at = (n >> 6) * slab + (n >> 3 & 7) * row + (n & 7);
                let mut sum = 0.0;
                for (i, wx) in TENT.iter().enumerate() {
                    for (j, wy) in TENT.iter().enumerate() {
                        let cells = &tile.values()[at + i * slab + j * row..][..3];
                        let cells = [cells[0], cells[1], cells[2]].map(|parts| parts as f32);
                        sum += wx
                            * wy
                            * (TENT[0] * cells[0] + TENT[1] * cells[1] + TENT[2] * cells[2]);
                    }
                }
                *held += sum / Interior::FULL as f32;
            }
        },
    )?;
    Ok(())
}

/// Adds a particle at a place [voxels] to the cells around it.
#[inline(always)]
fn add(place: Vec3, weight: f32, tile: &mut Tile<f32>) {
    // Cells are numbered from the one before the Bucket, so that no number is below zero.
    let place = (place + 0.5).clamp(Vec3::ZERO, Vec3::splat(8.999));
    let [i, j, k] = place.to_array().map(|c| c as usize);
    let t = place - Vec3::new(i as f32, j as f32, k as f32);
    let start = i * SLAB + j * ROW + k;
    let Some(w) = tile.values_mut().get_mut(start..).and_then(|w| w.first_chunk_mut::<WINDOW>())
    else {
        return;
    };
    let low = weight * (1.0 - t.x);
    let high = weight * t.x;
    let rows = [
        (0, low * (1.0 - t.y)),
        (ROW, low * t.y),
        (SLAB, high * (1.0 - t.y)),
        (SLAB + ROW, high * t.y),
    ];
    for (at, weight) in rows {
        w[at] += weight * (1.0 - t.z);
        w[at + 1] += weight * t.z;
    }
}

/// The mean of the tent function over a cell and those next to it, along an axis.
const TENT: [f32; 3] = [0.125, 0.75, 0.125];

/// A cell with less room than this around it, as a part of its own, says nothing.
const LEAST_ROOM: f32 = 0.2;

/// Deviations count up to this, as a part of the density at rest.
const MOST: f32 = 0.5;

/// A surface no further than this from a thin wall is the wall [voxels].
const SAME: f32 = 0.3;

/// Where there is more room by this than one side of a wall has, there is some behind it.
const THIN: f32 = 0.05;

/// Near the surface, what is too much by no more than this is chance.
const CHANCE: f32 = 0.05;

/// Writes by how much the density of every liquid cell is too large, as a part of the one at rest, times its room. What Objects inside of
/// the liquid take of a cell is no room: 1−α of the density at rest is left. Returns the number of cells, and the root of the mean
/// square of what they are off.
pub fn compare(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    field: &FluidField,
    scratch: &DiscreteVolume,
    held: Handle<f32>,
    excess: Handle<f32>,
) -> Result<(usize, f64)> {
    let per_voxel = 1.0 / domain.frame().voxel_size(0) as f32;
    let access = (
        volume.own(field.cells.words),
        field.distance.map(|distance| volume.own(distance)),
        (volume.around(field.walls.volume, 1), volume.own(field.walls.distance)),
        (scratch.own(held), Coupling::taken(volume).map(|taken| volume.own(taken))),
        scratch.write(excess),
    );
    let tile = || Tile::new(VoxelShape::CELLS.resolution, PAD, 0.0);
    let sums = Accessor::new("compare densities", domain).over(volume.topology()).map(
        access,
        |_, (cells, distance, (open, wall), (held, taken), excess)| {
            let tile = &mut tile();
            let count: u32 = cells.iter().map(|word| word.count_ones()).sum();
            if count == 0 {
                return [0.0; 2];
            }
            open.load(tile);
            let walled = tile.values().iter().fold(false, |any, &open| any | is_cut(open));
            if walled {
                // What is not measured is open.
                let values = tile.values_mut().iter_mut();
                values.for_each(|open| *open = if is_cut(*open) { *open } else { 1.0 });
            }
            let mut squares = 0.0;
            for (n, excess) in excess.iter_mut().enumerate() {
                if cells[n >> 6] >> (n & 63) & 1 == 0 {
                    continue;
                }
                let Room { own, around, is_thin } = match walled {
                    true => room(tile, n, wall[n] * per_voxel),
                    false => Room { own: 1.0, around: 1.0, is_thin: false },
                };
                if around < LEAST_ROOM {
                    continue;
                }
                let found = held[n] / around;
                // Both are spread over the same surroundings.
                let left = match taken {
                    Some(taken) => 1.0 - (taken[n] / around).min(Coupling::FULLEST),
                    None => 1.0,
                };
                let off = match distance.map(|distance| distance[n] * per_voxel) {
                    // A thin wall is where the liquid ends, but its room ends there, too.
                    Some(distance)
                        if is_thin
                            && distance > -1.0
                            && (wall[n] * per_voxel + distance).abs() < SAME =>
                    {
                        (found - left * (1.0 + CHANCE)).max(0.0)
                    }
                    // The cell of a lone drop may have its centre in the air.
                    Some(distance) if distance > -1.0 => {
                        (found - left * (below_surface(distance.min(0.0)) + CHANCE)).max(0.0)
                    }
                    _ => found - left,
                };
                let off = off.clamp(-MOST, MOST);
                *excess = own * off;
                squares += f64::from(off * off);
            }
            [f64::from(count), squares]
        },
    )?;
    let own = sums.iter().fold([0.0; 2], |a, b| [a[0] + b[0], a[1] + b[1]]);
    let all = domain.processes().all_gather_values(&own)?.concat();
    let [cells, squares] =
        all.chunks(2).fold([0.0; 2], |a: [f64; 2], b| [a[0] + b[0], a[1] + b[1]]);
    Ok((cells as usize, (squares / cells.max(1.0)).sqrt()))
}

/// Whether solids take room in a cell.
#[inline(always)]
fn is_cut(open: f32) -> bool {
    (0.0..1.0).contains(&open)
}

/// What a cell this far from a plane surface holds [voxels, negative inside]: the part of the tent below it.
#[inline(always)]
fn below_surface(distance: f32) -> f32 {
    let beyond = 1.0 - distance.abs().min(1.0);
    let less = 0.5 * beyond * beyond;
    if distance > 0.0 { less } else { 1.0 - less }
}

/// What solids leave of a cell.
struct Room {
    /// How much of it is open.
    own: f32,
    /// How much is of what its particles may be spread over.
    around: f32,
    /// Whether there is room again behind the wall.
    is_thin: bool,
}

/// How much room a cell has.
///
/// Beside one wall the distance from it [voxels] tells the latter well. Where several meet, each cell counts by the tent over it,
/// as if what is open of it were all over it.
#[inline(always)]
fn room(tile: &Tile<f32>, n: usize, wall: f32) -> Room {
    let [x, y, z] = [n >> 6, n >> 3 & 7, n & 7];
    let at = x * tile.slab() + y * tile.row() + z;
    let mut cells = 0.0;
    for (i, wx) in TENT.iter().enumerate() {
        for (j, wy) in TENT.iter().enumerate() {
            let row = &tile.values()[at + i * tile.slab() + j * tile.row()..][..3];
            cells += wx * wy * (TENT[0] * row[0] + TENT[1] * row[1] + TENT[2] * row[2]);
        }
    }
    let plane = below_surface(-wall);
    let around = if cells > 0.85 * plane { plane } else { cells };
    let own = tile.values()[at + tile.slab() + tile.row() + 1];
    Room { own, around, is_thin: cells > plane + THIN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_are_those_of_a_tile_and_a_particle_is_shared_out_whole() {
        let mut tile = Tile::new(VoxelShape::CELLS.resolution, PAD, 0.0_f32);
        assert_eq!([tile.row(), tile.slab()], [ROW, SLAB]);
        add(Vec3::new(7.9, 0.0, 3.25), 2.0, &mut tile);
        let held = |x, y, z| tile.values()[tile.index(x, y, z)];
        assert!((tile.values().iter().sum::<f32>() - 2.0).abs() < 1e-6);
        assert!((held(8, -1, 2) - 2.0 * 0.4 * 0.5 * 0.25).abs() < 1e-6);
        assert!((held(7, 0, 3) - 2.0 * 0.6 * 0.5 * 0.75).abs() < 1e-6);
    }
}
