//! What a cell feels of the particles around it: mass, mean place and mean square of the distance, by the quadratic B-spline.

use super::band::Band;
use undine_core::access::{Accessor, Pad, Tile};
use undine_core::glam::{Vec3, Vec4};
use undine_core::volume::{DiscreteVolume, VoxelShape};
use undine_core::{ChannelSpec, GridDomain, Handle, ParticleSystem};
use undine_sim::Result;
use undine_sim::offers::{Coupling, FluidField};

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

/// The part of space that balls fill where they are packed as densely as can be: whatever is inside of a liquid takes no more of it.
const PACKED: f32 = 0.74;

/// How much a particle of a cell counts: for all of the room that it is in, so that what is inside of the liquid with it leaves no hole.
/// Solids take the part `taken` of that.
#[inline(always)]
pub fn counts(taken: Option<&[f32]>, [x, y, z]: [i32; 3]) -> f32 {
    let cell = (x << 6 | y << 3 | z) as usize;
    taken.map_or(1.0, |taken| 1.0 / (1.0 - taken[cell].min(PACKED)))
}

/// Adds the particles of cells that give, and what these hold themselves.
pub fn gather(
    domain: &GridDomain,
    particles: &ParticleSystem,
    volume: &DiscreteVolume,
    field: &FluidField,
    band: &Band,
    near: &DiscreteVolume,
    moments: Moments,
) -> Result<()> {
    const PAD: usize = 1;
    let part = field.interior.map_or(0.0, |interior| interior.part as f32);
    let pad = Pad::both(PAD as u8);
    let per_voxel = 1.0 / domain.frame().voxel_size(0) as f32;
    let mass = field.particles.map(|carrier| particles.own(carrier.mass));
    Accessor::new("feel particles", domain).over(near.topology()).scatter(
        (
            (particles.own(particles.position()), mass),
            field.interior.map(|interior| volume.own(interior.parts)),
            (band.marks.own(band.giving), Coupling::taken(volume).map(|taken| volume.own(taken))),
        ),
        (near.accumulate(moments.first, pad), near.accumulate(moments.second, pad)),
        |_, ((position, mass), interior, (giving, taken)), (first, second)| {
            if giving.iter().all(|&word| word == 0) {
                return;
            }
            for (n, position) in position.iter().enumerate() {
                let place = *position * per_voxel;
                let [x, y, z] = cell_of(place);
                if giving[x as usize] >> (y << 3 | z) & 1 != 0 {
                    let weight = mass.map_or(1.0, |mass| mass[n]) * counts(taken, [x, y, z]);
                    add::<PAD, { window(PAD) }>(place, [x, y, z], weight, first, second);
                }
            }
            each_held(giving, interior, part, |place, cell, weight| {
                let weight = weight * counts(taken, cell);
                add::<PAD, { window(PAD) }>(place, cell, weight, first, second);
            });
        },
    )?;
    Ok(())
}

/// Calls `act` with the places [voxels], cells and masses of points that stand for what giving cells hold themselves: eight in
/// each, evenly spread.
#[inline(always)]
pub fn each_held(
    giving: &[u64],
    interior: Option<&[u32]>,
    part: f32,
    mut act: impl FnMut(Vec3, [i32; 3], f32),
) {
    for (n, &parts) in interior.into_iter().flatten().enumerate() {
        if parts == 0 || giving[n >> 6] >> (n & 63) & 1 == 0 {
            continue;
        }
        let cell = [(n >> 6) as i32, (n >> 3 & 7) as i32, (n & 7) as i32];
        for corner in 0..8 {
            let half = [corner >> 2, corner >> 1 & 1, corner & 1].map(|c| 0.25 + 0.5 * c as f32);
            let place = Vec3::from_array(cell.map(|c| c as f32)) + Vec3::from_array(half);
            act(place, cell, 0.125 * part * parts as f32);
        }
    }
}

/// The cell of a particle in a Bucket, by its place in voxels.
#[inline(always)]
pub fn cell_of(place: Vec3) -> [i32; 3] {
    place.to_array().map(|c| (c as i32).clamp(0, 7))
}

/// Elements from one row of a tile of 8³ cells to the next, by its padding on each side; see [`Tile`].
pub const fn row(pad: usize) -> usize {
    (8 + 2 * pad + 1).next_multiple_of(4)
}

/// Elements of such a tile from the first cell that feels a particle to the last, with one to spare. A slice of this length is
/// checked once, and then indexed without checks.
pub const fn window(pad: usize) -> usize {
    2 * row(pad) * (8 + 2 * pad) + 2 * row(pad) + 4
}

/// Adds a particle to the cells around its own, in tiles padded by `PAD`, where they reach so far.
#[inline(always)]
pub fn add<const PAD: usize, const WINDOW: usize>(
    place: Vec3,
    cell: [i32; 3],
    weight: f32,
    first: &mut Tile<Vec4>,
    second: &mut Tile<f32>,
) {
    let [i, j, k] = cell;
    // From the centres of the cell and of those below and above to the particle.
    let middle = place - Vec3::new(i as f32, j as f32, k as f32) - 0.5;
    let lanes = |way: f32| Vec4::new(way + 1.0, way, way - 1.0, 0.0);
    let weights = |way: f32| {
        Vec4::new(
            0.5 * (0.5 - way) * (0.5 - way),
            0.75 - way * way,
            0.5 * (0.5 + way) * (0.5 + way),
            0.0,
        )
    };
    let [x, y, z] = middle.to_array().map(lanes);
    let [wx, wy, wz] = middle.to_array().map(weights);
    let zz = z * z;

    let start = first.index(i - 1, j - 1, k - 1);
    let all = start..start + WINDOW;
    let first = first.values_mut().get_mut(all.clone()).and_then(|all| all.first_chunk_mut());
    let second = second.values_mut().get_mut(all).and_then(|all| all.first_chunk_mut());
    let (Some(first), Some(second)): (Option<&mut [Vec4; WINDOW]>, Option<&mut [f32; WINDOW]>) =
        (first, second)
    else {
        return;
    };
    for a in 0..3 {
        for b in 0..3 {
            let at = a * row(PAD) * (8 + 2 * PAD) + b * row(PAD);
            let w = wz * (weight * wx[a] * wy[b]);
            for c in 0..3 {
                first[at + c] += w[c] * Vec4::new(x[a], y[b], z[c], 1.0);
            }
            let square = x[a] * x[a] + y[b] * y[b];
            let row = &mut second[at..at + 4];
            (Vec4::from_slice(row) + w * (zz + square)).write_to_slice(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undine_core::volume::Resolution;

    fn fits<const PAD: usize>() {
        let tile = Tile::new(Resolution::R8, Pad::both(PAD as u8), 0.0_f32);
        assert_eq!(tile.row(), row(PAD));
        assert_eq!(tile.slab(), row(PAD) * (8 + 2 * PAD));
        let last = 8 + PAD as i32 - 3;
        assert!(tile.index(last, last, last) + window(PAD) <= tile.values().len());
    }

    #[test]
    fn strides_and_windows_are_those_of_a_tile() {
        fits::<1>();
        fits::<4>();
    }

    #[test]
    fn a_cell_feels_a_particle_where_it_is() {
        let place = Vec3::new(3.2, 0.1, 7.9);
        let mut first = Tile::new(Resolution::R8, Pad::both(1), Vec4::ZERO);
        let mut second = Tile::new(Resolution::R8, Pad::both(1), 0.0);
        add::<1, { window(1) }>(place, cell_of(place), 2.0, &mut first, &mut second);
        let mut mass = 0.0;
        for n in 0..1000 {
            let cell = [n / 100 - 1, n / 10 % 10 - 1, n % 10 - 1];
            let at = first.index(cell[0], cell[1], cell[2]);
            let (found, w) = (first.values()[at], first.values()[at].w);
            let way = place - Vec3::from_array(cell.map(|c| c as f32 + 0.5));
            assert!((found.truncate() - w * way).length() < 1e-6, "{cell:?}");
            assert!((second.values()[at] - w * way.length_squared()).abs() < 1e-6, "{cell:?}");
            mass += w;
        }
        assert!((mass - 2.0).abs() < 1e-6);
    }
}
