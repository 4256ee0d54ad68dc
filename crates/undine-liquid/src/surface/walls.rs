//! Solids go on with the liquid beside them: mirror images of particles and of distances behind walls.

use super::band::Band;
use super::moments::{Moments, add, cell_of, counts, each_held, window};
use undine_core::access::{Accessor, Pad, Tile, VoxelNeighbourhood};
use undine_core::glam::Vec3;
use undine_core::volume::{DiscreteVolume, VoxelShape};
use undine_core::{BucketSet, GridDomain, Handle, ParticleSystem};
use undine_fluid::field::SURFACE_REACH;
use undine_linsolve::pressure::is_open;
use undine_sim::Result;
use undine_sim::offers::{Coupling, FluidField};

/// How far from a wall particles have images [voxels]: as far as a cell outside of the wall feels.
const IMAGES: f32 = 1.5;

/// How far images, and the cells around them, may lie beyond a Bucket.
const PAD: usize = 4;

/// How far beyond a Bucket the distance from walls is read, to tell it at an image.
const WALL_PAD: u8 = 5;

/// Adds mirror images of particles behind walls.
pub fn gather_images(
    domain: &GridDomain,
    particles: &ParticleSystem,
    volume: &DiscreteVolume,
    field: &FluidField,
    band: &Band,
    near: &DiscreteVolume,
    moments: Moments,
) -> Result<()> {
    let voxel = domain.frame().voxel_size(0) as f32;
    let walled = Accessor::new("find walls at the surface", domain).over(near.topology()).map(
        (volume.own(field.walls.distance), band.marks.own(band.mirrored)),
        |here, (wall, giving)| {
            // A particle may be nearer to a wall than the centre of its cell.
            let reach = (IMAGES + 0.9) * voxel;
            let any =
                (0..wall.len()).any(|n| wall[n] < reach && giving[n >> 6] >> (n & 63) & 1 != 0);
            any.then(|| here.bucket.key())
        },
    )?;
    let walled = BucketSet::from_keys(walled.into_iter().flatten().collect());
    let walled = domain.subset(&walled)?;
    if walled.all().is_empty() {
        return Ok(());
    }

    let pad = Pad::both(PAD as u8);
    let part = field.interior.map_or(0.0, |interior| interior.part as f32);
    let mass = field.particles.map(|carrier| particles.own(carrier.mass));
    Accessor::new("feel images behind walls", domain).over(&walled).scatter_with(
        (
            (particles.own(particles.position()), mass),
            field.interior.map(|interior| volume.own(interior.parts)),
            (band.marks.own(band.mirrored), Coupling::taken(volume).map(|taken| volume.own(taken))),
            volume.around(field.walls.distance, WALL_PAD),
        ),
        (near.accumulate(moments.first, pad), near.accumulate(moments.second, pad)),
        || Tile::new(VoxelShape::CELLS.resolution, Pad::both(WALL_PAD), 0.0),
        |tile, _, ((position, mass), interior, (giving, taken), wall), (first, second)| {
            wall.load(tile);
            let mut mirror = |place: Vec3, weight: f32| {
                let (wall, normal) = sample(tile, place);
                let wall = wall / voxel;
                if wall.is_nan() || wall >= IMAGES {
                    return;
                }
                let Some(normal) = normal.try_normalize() else { return };
                let image = place - 2.0 * wall.max(0.0) * normal;
                let cell = image.to_array().map(|c| (c + 8.0) as i32 - 8);
                let inside = cell.iter().all(|c| (-3..11).contains(c));
                // Behind a thin wall there is no room for images.
                if inside && wall > 0.0 && sample(tile, image).0 < 0.0 {
                    add::<PAD, { window(PAD) }>(image, cell, weight, first, second);
                }
            };
            for (n, position) in position.iter().enumerate() {
                let place = *position / voxel;
                let [x, y, z] = cell_of(place);
                if giving[x as usize] >> (y << 3 | z) & 1 != 0 {
                    let weight = mass.map_or(1.0, |mass| mass[n]);
                    mirror(place, weight * counts(taken, [x, y, z]));
                }
            }
            each_held(giving, interior, part, |place, cell, weight| {
                mirror(place, weight * counts(taken, cell));
            });
        },
    )?;
    Ok(())
}

/// Copies distances to the band, with those of cells in solids mirrored from outside.
pub fn go_on_inside(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    field: &FluidField,
    distance: Handle<f32>,
    (near, to): (&DiscreteVolume, Handle<f32>),
) -> Result<()> {
    let voxel = domain.frame().voxel_size(0) as f32;
    let tile = |pad: u8| Tile::new(VoxelShape::CELLS.resolution, Pad::both(pad), 0.0);
    Accessor::new("go on inside of solids", domain).over(near.topology()).run_with(
        (
            (volume.around(distance, 8), volume.around(field.walls.distance, 1)),
            field.walls.area.faces.map(|face| volume.around(face, 1)),
            near.write(to),
        ),
        || (tile(8), tile(1)),
        |(around, walls), _, ((distance, wall), area, to)| {
            to.copy_from_slice(distance.chunk());
            let depth = |wall: f32| wall < 0.0 && wall > -SURFACE_REACH * voxel;
            if !wall.chunk().iter().any(|&wall| depth(wall)) {
                return;
            }
            distance.load(around);
            wall.load(walls);
            for (n, (to, &wall)) in to.iter_mut().zip(wall.chunk()).enumerate() {
                if !depth(wall) {
                    continue;
                }
                let centre = Vec3::new((n >> 6) as f32, (n >> 3 & 7) as f32, (n & 7) as f32) + 0.5;
                if let Some(normal) = way_out(walls, &area, n).try_normalize() {
                    *to = sample(around, centre - 2.0 * wall / voxel * normal).0;
                }
            }
        },
    )?;
    Ok(())
}

/// The gradient of the distance in a cell of a wall: along each axis to where it has an open face, or else by the steeper rise. In a wall
/// hardly thicker than a voxel, a mean of both sides would lead to the farther one.
#[inline(always)]
fn way_out(walls: &Tile<f32>, area: &[VoxelNeighbourhood<'_, f32>; 3], n: usize) -> Vec3 {
    let values = walls.values();
    let cell = [n >> 6, n >> 3 & 7, n & 7].map(|c| c as i32);
    let at = walls.index(cell[0], cell[1], cell[2]);
    let rise = |axis: usize, step: usize| {
        let mut above = cell;
        above[axis] += 1;
        let open = [cell, above].map(|[x, y, z]| is_open(area[axis].at(x, y, z)));
        let rises = [values[at - step] - values[at], values[at + step] - values[at]];
        let counts = |side: usize| open[side] || !open[1 - side];
        let [low, high] = [0, 1].map(|side| if counts(side) { rises[side].max(0.0) } else { 0.0 });
        if low > high { -low } else { high }
    };
    Vec3::new(rise(0, walls.slab()), rise(1, walls.row()), rise(2, 1))
}

/// The value and the gradient [per voxel] at a place [voxels from the Bucket's corner], by trilinear interpolation of cells.
#[inline(always)]
fn sample(tile: &Tile<f32>, place: Vec3) -> (f32, Vec3) {
    // From the tile's first cell, so that what is cut off is its floor.
    let low = f32::from(tile.pad().low);
    let place = (place + (low - 0.5)).clamp(Vec3::ZERO, Vec3::splat(6.999 + 2.0 * low));
    let [x, y, z] = place.to_array().map(|c| c as i32);
    let t = place - Vec3::new(x as f32, y as f32, z as f32);
    let (slab, row) = (tile.slab(), tile.row());
    let at = x as usize * slab + y as usize * row + z as usize;
    let value = |x: usize, y: usize, z: usize| tile.values()[at + x * slab + y * row + z];
    let mix = |a: f32, b: f32, t: f32| a + t * (b - a);
    let along_z = |x, y| mix(value(x, y, 0), value(x, y, 1), t.z);
    let slope_z = |x, y| value(x, y, 1) - value(x, y, 0);
    let [[a, b], [c, d]] = [[along_z(0, 0), along_z(0, 1)], [along_z(1, 0), along_z(1, 1)]];
    let gradient = Vec3::new(
        mix(c, d, t.y) - mix(a, b, t.y),
        mix(b - a, d - c, t.x),
        mix(mix(slope_z(0, 0), slope_z(0, 1), t.y), mix(slope_z(1, 0), slope_z(1, 1), t.y), t.x),
    );
    (mix(mix(a, b, t.y), mix(c, d, t.y), t.x), gradient)
}
