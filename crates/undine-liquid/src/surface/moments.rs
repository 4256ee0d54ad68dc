//! What a cell feels of the particles around it: mass, mean place and mean square of the distance, by the quadratic B-spline.

use super::band::Band;
use undine_core::access::{Accessor, Pad, Tile};
use undine_core::glam::{Vec3, Vec4};
use undine_core::volume::{DiscreteVolume, VoxelShape};
use undine_core::{ChannelSpec, GridDomain, Handle, ParticleSystem};
use undine_sim::Result;
use undine_sim::offers::FluidField;

/// The channels of sums over particles p, with weights w = mass · kernel, lengths in voxels.
#[derive(Debug, Clone, Copy)]
pub struct Moments {
    /// Σ w (x_p − x), and Σ w in the last lane.
    pub first: Handle<Vec4>,
    /// Σ w |x_p − x|².
    pub second: Handle<f32>,
}

/// Adds the channels, all zero.
pub fn add_channels(near: &mut DiscreteVolume) -> Result<Moments> {
    Ok(Moments {
        first: near.add_channel(&ChannelSpec::new("first", Vec4::ZERO), VoxelShape::CELLS)?,
        second: near.add_channel(&ChannelSpec::new("second", 0.0_f32), VoxelShape::CELLS)?,
    })
}

/// Adds the particles of cells that give.
pub fn gather(
    domain: &GridDomain,
    particles: &ParticleSystem,
    field: &FluidField,
    band: &Band,
    near: &DiscreteVolume,
    moments: Moments,
) -> Result<()> {
    const PAD: Pad = Pad::both(1);
    let per_voxel = 1.0 / domain.frame().voxel_size(0) as f32;
    let mass = field.particles.map(|carrier| particles.own(carrier.mass));
    Accessor::new("feel particles", domain).over(near.topology()).scatter(
        (particles.own(particles.position()), mass, band.marks.own(band.giving)),
        (near.accumulate(moments.first, PAD), near.accumulate(moments.second, PAD)),
        |_, (position, mass, giving), (first, second)| {
            if giving.iter().all(|&word| word == 0) {
                return;
            }
            for (n, position) in position.iter().enumerate() {
                let place = *position * per_voxel;
                let [x, y, z] = cell_of(place);
                if giving[x as usize] >> (y << 3 | z) & 1 != 0 {
                    let weight = mass.map_or(1.0, |mass| mass[n]);
                    add(place, [x, y, z], weight, first, second);
                }
            }
        },
    )?;
    Ok(())
}

/// The cell of a particle in a Bucket, by its place in voxels.
#[inline(always)]
pub fn cell_of(place: Vec3) -> [i32; 3] {
    place.to_array().map(|c| (c as i32).clamp(0, 7))
}

/// Adds a particle to the cells around its own.
#[inline(always)]
pub fn add(
    place: Vec3,
    cell: [i32; 3],
    weight: f32,
    first: &mut Tile<Vec4>,
    second: &mut Tile<f32>,
) {
    let [i, j, k] = cell;
    // From the particle to the centres of its cell and of those below and above.
    let middle = Vec3::new(i as f32, j as f32, k as f32) + 0.5 - place;
    let ways = middle.to_array().map(|way| [way - 1.0, way, way + 1.0]);
    let weights = middle
        .to_array()
        .map(|way| [0.5 * (0.5 + way).powi(2), 0.75 - way * way, 0.5 * (0.5 - way).powi(2)]);
    let (slab, row) = (first.slab(), first.row());
    let start = first.index(i - 1, j - 1, k - 1);
    let (first, second) = (first.values_mut(), second.values_mut());
    for x in 0..3 {
        for y in 0..3 {
            let at = start + x * slab + y * row;
            let across = weight * weights[0][x] * weights[1][y];
            let (Some(first), Some(second)) =
                (first[at..].first_chunk_mut::<3>(), second[at..].first_chunk_mut::<3>())
            else {
                return;
            };
            let square = ways[0][x] * ways[0][x] + ways[1][y] * ways[1][y];
            for z in 0..3 {
                let w = across * weights[2][z];
                let way = ways[2][z];
                first[z] += w * Vec4::new(-ways[0][x], -ways[1][y], -way, 1.0);
                second[z] += w * (square + way * way);
            }
        }
    }
}
