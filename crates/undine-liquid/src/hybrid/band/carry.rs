//! What cells hold moves on with the flow: each cell's mass goes where its centre goes, and is shared out there to the eight cells
//! whose centres it comes to lie between.
//!
//! Whole parts are shared out, so that none is lost. What solids leave open of those cells weighs with how near they are; nothing
//! goes into a solid. In a flow without divergence full cells stay full but for the error of the step, and that is for the shift
//! that keeps volume to even out, which moves what cells hold as it moves particles.

use crate::advance::Flow;
use undine_core::access::{Accessor, Pad, Tile};
use undine_core::glam::Vec3;
use undine_core::volume::{DiscreteVolume, MacHandle, VoxelShape};
use undine_core::{ChannelSpec, GridDomain, Handle};
use undine_fluid::nearby::{AlongTheWay, MARGIN, Within};
use undine_sim::Result;
use undine_sim::offers::{FluidField, Interior};

/// How far beyond a Bucket its mass may come to lie: more than [`LONGEST`] by the reach of what is shared out.
const PAD: Pad = Pad::both(4);

/// The longest way at once [voxels]; longer ones are gone in pieces.
const LONGEST: f32 = 3.0;

/// Ways of more than so many pieces are cut short.
const PIECES: f32 = 16.0;

/// Moves what cells hold by a step [s]. Collective.
pub fn carry(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    field: &FluidField,
    interior: Interior,
    flow: Flow,
    step: f64,
) -> Result<()> {
    let mut scratch = DiscreteVolume::on("carried", domain, volume.topology().clone());
    let next = scratch.add_channel(&ChannelSpec::new("next", 0_u32), VoxelShape::CELLS)?;
    let fastest = super::fastest(domain, volume, field, interior)?;
    let per_voxel = 1.0 / domain.frame().voxel_size(0) as f32;
    let pieces = (step as f32 * fastest * per_voxel / LONGEST).ceil().clamp(1.0, PIECES);
    let carrying = Carrying { domain, volume, field, parts: interior.parts, flow };
    for piece in 0..pieces as u32 {
        if piece > 0 {
            scratch.column_mut(next)?.fill(0);
        }
        carrying.share_out(&scratch, next, step as f32 / pieces, 1.0 / pieces)?;
        Accessor::new("take what came", domain)
            .over(volume.topology())
            .run((scratch.own(next), volume.write(interior.parts)), |_, (next, parts)| {
                parts.copy_from_slice(next)
            })?;
    }
    Ok(())
}

/// What is carried, and by what.
struct Carrying<'a> {
    domain: &'a GridDomain,
    volume: &'a DiscreteVolume,
    field: &'a FluidField,
    parts: Handle<u32>,
    flow: Flow,
}

impl Carrying<'_> {
    /// Adds to `next` what comes to each cell in a time [s], with a part of the shift.
    fn share_out(
        &self,
        scratch: &DiscreteVolume,
        next: Handle<u32>,
        time: f32,
        part: f32,
    ) -> Result<()> {
        let volume = self.volume;
        let per_voxel = 1.0 / self.domain.frame().voxel_size(0) as f32;
        let around = |mac: MacHandle, reach| mac.faces.map(|face| volume.around(face, reach));
        let access = (
            volume.own(self.parts),
            (
                around(self.flow.velocity, MARGIN as u8),
                self.flow.known.map(|mask| volume.around(mask.words, MARGIN as u8)),
                self.flow.shift.map(|shift| around(shift, 1)),
            ),
            volume.around(self.field.walls.volume, PAD.low),
        );
        Accessor::new("carry the interior", self.domain).over(volume.topology()).scatter_with(
            access,
            scratch.accumulate(next, PAD),
            || {
                let room = Tile::new(VoxelShape::CELLS.resolution, PAD, 0.0_f32);
                (AlongTheWay::default(), Within::default(), room)
            },
            |(near, shifts, room), _, (parts, (velocity, known, shift), open), next| {
                if parts.iter().all(|&parts| parts == 0) {
                    return;
                }
                near.load_known(velocity, &known);
                let shifted = shift.is_some();
                if let Some(shift) = shift {
                    shifts.load(shift);
                }
                load_room(&open, room);
                let at = |place: Vec3, otherwise: Vec3| {
                    near.at(place).filter(|found| !found.is_nan()).unwrap_or(otherwise)
                };
                for (n, &parts) in parts.iter().enumerate().filter(|(_, parts)| **parts > 0) {
                    let cell = Vec3::new((n >> 6) as f32, (n >> 3 & 7) as f32, (n & 7) as f32);
                    let centre = cell + 0.5;
                    let most = Vec3::splat(LONGEST);
                    let own = at(centre, Vec3::ZERO);
                    let half_way = (0.5 * time * per_voxel * own).clamp(-most, most);
                    let way = time * at(centre + half_way, own);
                    let shift = if shifted { shifts.at(centre) } else { None };
                    let way = per_voxel * (way + part * shift.unwrap_or(Vec3::ZERO));
                    let way = way.clamp(-most, most);
                    share(parts, cell + way, cell, room, next);
                }
            },
        )?;
        Ok(())
    }
}

/// How much room cells have, as a part of their own; none where there are no Buckets.
fn load_room(open: &undine_core::access::VoxelNeighbourhood<'_, f32>, room: &mut Tile<f32>) {
    open.load(room);
    // What is not measured is open.
    room.values_mut().iter_mut().for_each(|open| *open = if *open < 0.0 { 1.0 } else { *open });
    let is_missing = |n: i32| !open.exists(n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1);
    if !(0..27).any(is_missing) {
        return;
    }
    let low = i32::from(PAD.low);
    for x in -low..8 + low {
        for y in -low..8 + low {
            for z in -low..8 + low {
                if !open.exists(x >> 3, y >> 3, z >> 3) {
                    let at = room.index(x, y, z);
                    room.values_mut()[at] = 0.0;
                }
            }
        }
    }
}

/// Shares out parts to the eight cells around a place [voxels, cells by their number]; those without room have none, and if none
/// has, all stay in the cell that they are from.
#[inline(always)]
fn share(parts: u32, place: Vec3, from: Vec3, room: &Tile<f32>, to: &mut Tile<u32>) {
    // From the tile's first cell, so that what is cut off is its floor.
    let place = place + f32::from(PAD.low);
    let [i, j, k] = place.to_array().map(|c| c as i32);
    let t = place - Vec3::new(i as f32, j as f32, k as f32);
    let (slab, row) = (to.slab(), to.row());
    let start = i as usize * slab + j as usize * row + k as usize;
    let at: [usize; 8] = std::array::from_fn(|corner| {
        start + (corner >> 2) * slab + (corner >> 1 & 1) * row + (corner & 1)
    });
    let [x, y, z] = t.to_array().map(|t| [1.0 - t, t]);
    let weights: [f64; 8] = std::array::from_fn(|corner| {
        let near = x[corner >> 2] * y[corner >> 1 & 1] * z[corner & 1];
        f64::from(near * room.values()[at[corner]])
    });
    let sum: f64 = weights.iter().sum();
    if sum.is_nan() || sum <= 0.0 {
        let own = to.index(from.x as i32, from.y as i32, from.z as i32);
        to.values_mut()[own] += parts;
        return;
    }
    let scale = f64::from(parts) / sum;
    let (mut rest, mut heaviest) = (parts, 0);
    for corner in 0..8 {
        let share = ((weights[corner] * scale) as u32).min(rest);
        rest -= share;
        to.values_mut()[at[corner]] += share;
        if weights[corner] > weights[heaviest] {
            heaviest = corner;
        }
    }
    to.values_mut()[at[heaviest]] += rest;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_is_lost_and_the_centre_of_mass_comes_to_the_place() {
        let mut room = Tile::new(VoxelShape::CELLS.resolution, PAD, 1.0_f32);
        for n in 0..1000_u64 {
            let mut to = Tile::new(VoxelShape::CELLS.resolution, PAD, 0_u32);
            let draw = |k: u64| undine_geometry::random::unit(n, k) as f32;
            let from = Vec3::new(draw(0), draw(1), draw(2)) * 7.9;
            let from = from.floor();
            let place = from + 6.0 * (Vec3::new(draw(3), draw(4), draw(5)) - 0.5);
            let parts = (draw(6) * Interior::FULL as f32) as u32;
            if n == 500 {
                room.values_mut().fill(0.0);
            }
            share(parts, place, from, &room, &mut to);
            assert_eq!(to.values().iter().sum::<u32>(), parts);
            let mut middle = Vec3::ZERO;
            for x in -4..12 {
                for y in -4..12 {
                    for z in -4..12 {
                        let held = to.values()[to.index(x, y, z)] as f32 / parts as f32;
                        middle += held * Vec3::new(x as f32, y as f32, z as f32);
                    }
                }
            }
            let wanted = if n < 500 { place } else { from };
            assert!(parts < 1000 || (middle - wanted).length() < 1e-2, "{middle} {wanted}");
        }
    }
}
