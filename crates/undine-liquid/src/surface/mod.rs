//! Where the surface of a liquid lies, found from its particles: signed distances at cell centres, and which cells are liquid.
//!
//! Around each cell centre x the particles are summed up with a kernel as wide as three voxels (the quadratic B-spline): their
//! mass, their mean place x̄ and the mean square of their distance. How far x̄ is from x tells how far x is from the surface
//! (Y. Zhu and R. Bridson, *Animating Sand as a Fluid*, 2005, §4), whatever the number of particles; see `shape` for the law and
//! for what keeps two surfaces that face each other apart. Solids are taken to go on with the liquid beside them: particles
//! near a wall have mirror images behind it, and so have distances, so that the surface meets walls as it comes and the wall
//! itself is no surface. In the end the field is made a distance again, in a band around its zero set.
//!
//! What cells hold themselves, where no particles carry it, counts as if particles did. Particles among hair or grains count for the room
//! that these take with them: where the liquid is thinner because of them, it has no holes.
//!
//! Only cells near an empty one are looked at: the inside of a liquid costs a glance at each Bucket.

mod band;
mod gaps;
mod moments;
mod shape;
mod shown;
mod walls;

pub use gaps::keep_velocity;
pub use shown::shown;

use band::Band;
use undine_core::access::{Accessor, Pad, Tile, VoxelNeighbourhood};
use undine_core::volume::{DiscreteVolume, VoxelShape};
use undine_core::{ChannelSpec, GridDomain, Handle, ParticleSystem};
use undine_fluid::field::SURFACE_REACH;
use undine_geometry::levelset::{Beyond, DistanceChannels, redistance};
use undine_sim::Result;
use undine_sim::offers::FluidField;

/// How far a distance is moved to the mean of its neighbours', as a part of the way.
const SMOOTHING: f32 = 0.75;

/// Writes the distance to the surface of the liquid [m], within ± [`SURFACE_REACH`] voxels, and the mask of liquid cells: those
/// whose centre is inside and that solids leave open, and cells of lone particles. Does nothing for a fluid without a
/// surface. Collective.
pub fn find(
    domain: &GridDomain,
    particles: &ParticleSystem,
    volume: &DiscreteVolume,
    field: &FluidField,
) -> Result<()> {
    let Some(distance) = field.distance else { return Ok(()) };
    let reach = SURFACE_REACH * domain.frame().voxel_size(0) as f32;

    let band = Band::find(domain, particles, volume, field, (distance, reach))?;
    let mut near = DiscreteVolume::on("surface", domain, band.topology.clone());
    let moments = moments::add_channels(&mut near)?;
    moments::gather(domain, particles, volume, field, &band, &near, moments)?;
    walls::gather_images(domain, particles, volume, field, &band, &near, moments)?;
    let full = full_cell(domain, volume, field)?;
    shape::measure(domain, &band, (&near, moments), (volume, distance), reach, full)?;

    let channels = add_distances(&mut near, reach)?;
    walls::go_on_inside(domain, volume, field, distance, (&near, channels.distance))?;
    let beyond = Beyond::find(domain, &near, channels.distance)?;
    redistance(domain, &mut near, channels, f64::from(reach), &beyond)?;
    take(domain, &band, (&near, channels.distance), (volume, distance), reach)?;
    mark_cells(domain, volume, field, distance)?;
    gaps::wet(domain, volume, field)
}

/// What a cell holds at rest [kg]; without masses, as many particles as cells begin with.
fn full_cell(domain: &GridDomain, volume: &DiscreteVolume, field: &FluidField) -> Result<f32> {
    let density = volume.column(field.density)?.background();
    let voxel = domain.frame().voxel_size(0) as f32;
    Ok(field.particles.map_or(8.0, |_| density * voxel * voxel * voxel))
}

/// Adds a channel of distances, and one for a pass to write.
fn add_distances(near: &mut DiscreteVolume, reach: f32) -> Result<DistanceChannels> {
    let spec = |name: &str| ChannelSpec::new(name, reach).unit("m");
    Ok(DistanceChannels {
        distance: near.add_channel(&spec("distance"), VoxelShape::CELLS)?,
        next: near.add_channel(&spec("next"), VoxelShape::CELLS)?,
    })
}

/// Brings distances of the band to where they are wanted, with the noise of single particles smoothed.
fn take(
    domain: &GridDomain,
    band: &Band,
    (near, from): (&DiscreteVolume, Handle<f32>),
    (volume, to): (&DiscreteVolume, Handle<f32>),
    reach: f32,
) -> Result<()> {
    let per_voxel = 1.0 / domain.frame().voxel_size(0) as f32;
    let access = (near.around(from, 1), band.marks.own(band.around_surface), volume.write(to));
    Accessor::new("write distances", domain).over(near.topology()).run_with(
        access,
        || Tile::new(VoxelShape::CELLS.resolution, Pad::both(1), 0.0),
        |tile, _, (from, around_surface, to)| {
            from.load(tile);
            for (n, to) in to.iter_mut().enumerate() {
                // Where the band ends inside of the liquid, its far end would look like a surface.
                let counts = around_surface[n >> 6] >> (n & 63) & 1 != 0;
                *to = if counts { smoothed(tile, n, per_voxel) } else { reach.copysign(*to) };
            }
        },
    )?;
    Ok(())
}

/// A distance, moved half-way to the mean of its neighbours'.
///
/// That leaves planes where they are, and moves a sphere of r voxels by 1/(3r). In the middle of a sheet or a drop, where distances
/// have no slope, it would fill or empty them: there it stays.
#[inline(always)]
fn smoothed(tile: &Tile<f32>, n: usize, per_voxel: f32) -> f32 {
    let values = tile.values();
    let at = tile.index((n >> 6) as i32, (n >> 3 & 7) as i32, (n & 7) as i32);
    let (mut sum, mut slope) = (0.0, 0.0);
    for step in [tile.slab(), tile.row(), 1] {
        let (low, high) = (values[at - step], values[at + step]);
        sum += low + high;
        slope += (0.5 * per_voxel * (high - low)).powi(2);
    }
    let share = SMOOTHING * (2.0 * slope - 1.0).clamp(0.0, 1.0);
    values[at] + share * (sum / 6.0 - values[at])
}

/// Turns the mask of cells with particles into that of liquid cells.
///
/// A cell just outside of a surface may hold particles: it stays air, or the surface would be moved to its centre. One without
/// any liquid beside it would have no velocity of its own: a lone particle's cell is liquid, under no pressure.
fn mark_cells(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    field: &FluidField,
    distance: Handle<f32>,
) -> Result<()> {
    let access = (
        volume.around(distance, 1),
        volume.own(field.walls.volume),
        volume.write(field.cells.words),
    );
    Accessor::new("mark liquid cells", domain).over(volume.topology()).run(
        access,
        |_, (distance, open, cells)| {
            let own = distance.chunk();
            for (x, cells) in cells.iter_mut().enumerate() {
                let (mut inside, mut is_open) = (0_u64, 0_u64);
                for n in 0..64 {
                    inside |= u64::from(own[x << 6 | n] < 0.0) << n;
                    is_open |= u64::from(open[x << 6 | n] != 0.0) << n;
                }
                let lone = lone_cells(&distance, x as i32, *cells & !inside);
                *cells = (inside | lone) & is_open;
            }
        },
    )?;
    Ok(())
}

/// Those of some cells of a Bucket, all at one x, that have no liquid beside them.
fn lone_cells(distance: &VoxelNeighbourhood<'_, f32>, x: i32, cells: u64) -> u64 {
    let (mut rest, mut lone) = (cells, 0);
    while rest != 0 {
        let n = rest.trailing_zeros() as i32;
        rest &= rest - 1;
        let [y, z] = [n >> 3, n & 7];
        let beside = [
            distance.at(x - 1, y, z),
            distance.at(x + 1, y, z),
            distance.at(x, y - 1, z),
            distance.at(x, y + 1, z),
            distance.at(x, y, z - 1),
            distance.at(x, y, z + 1),
        ];
        lone |= u64::from(beside.iter().all(|distance| *distance >= 0.0)) << n;
    }
    lone
}
