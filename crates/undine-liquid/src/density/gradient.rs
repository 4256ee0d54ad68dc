//! The displacement that a potential causes: δ = −∇q on every open face of a liquid cell, nothing elsewhere.

use super::SMALLEST;
use undine_core::volume::{DiscreteVolume, MacHandle};
use undine_core::{Accessor, GridDomain, Handle};
use undine_linsolve::pressure::{fraction, is_open};
use undine_sim::Result;
use undine_sim::offers::FluidField;

/// No displacement is longer than this along an axis [voxels].
const LONGEST: f32 = 0.3;

/// Writes the displacement [m] of a potential [voxels²].
pub fn displace(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    field: &FluidField,
    (scratch, potential): (&DiscreteVolume, Handle<f32>),
    shift: MacHandle,
    voxel: f32,
) -> Result<()> {
    let access = (
        volume.around(field.cells.words, 1),
        field.distance.map(|distance| volume.around(distance, 1)),
        field.walls.area.faces.map(|face| volume.own(face)),
        scratch.around(potential, 1),
        shift.faces.map(|face| volume.write(face)),
    );
    Accessor::new("displace", domain).over(volume.topology()).run(
        access,
        |_, (cells, distance, area, potential, shift)| {
            let towards = [(-1, 0, 0), (0, -1, 0), (0, 0, -1)];
            for (axis, shift) in shift.into_iter().enumerate() {
                let (x, y, z) = towards[axis];
                let beside = cells.neighbour(x, y, z);
                let below = lower_bits(cells.chunk(), beside, axis);
                let touched = |x: usize| cells.chunk()[x] | below[x];
                if (0..8).all(|x| touched(x) == 0) {
                    shift.fill(0.0);
                    continue;
                }
                let q = potential.chunk();
                let q_below = |n: usize| lower(q, potential.neighbour(x, y, z), axis, n);
                for (n, shift) in shift.iter_mut().enumerate() {
                    *shift = 0.0;
                    let is_on = |words: &[u64]| words[n >> 6] >> (n & 63) & 1 != 0;
                    let (above, below) = (is_on(cells.chunk()), is_on(&below));
                    if !(above || below) || !is_open(area[axis][n]) {
                        continue;
                    }
                    let theta = match (distance, above == below) {
                        (Some(distance), false) => {
                            let own = distance.chunk();
                            let phi = (own[n], lower(own, distance.neighbour(x, y, z), axis, n));
                            let (inside, outside) = if above { phi } else { (phi.1, phi.0) };
                            fraction(inside, outside, SMALLEST)
                        }
                        _ => 1.0,
                    };
                    *shift = voxel * ((q_below(n) - q[n]) / theta).clamp(-LONGEST, LONGEST);
                }
            }
        },
    )?;
    Ok(())
}

/// The value of the cell below a voxel along an axis.
#[inline(always)]
pub fn lower(own: &[f32], beside: &[f32], axis: usize, n: usize) -> f32 {
    let shift = [6, 3, 0][axis];
    if n >> shift & 7 == 0 { beside[n | 7 << shift] } else { own[n - (1 << shift)] }
}

/// The bits of the cells below along an axis.
fn lower_bits(own: &[u64], beside: &[u64], axis: usize) -> [u64; 8] {
    /// The first and the last voxels along z.
    const FIRST: u64 = 0x0101_0101_0101_0101;
    std::array::from_fn(|x| match axis {
        0 => {
            if x == 0 {
                beside[7]
            } else {
                own[x - 1]
            }
        }
        1 => own[x] << 8 | beside[x] >> 56,
        _ => own[x] << 1 & !FIRST | beside[x] >> 7 & FIRST,
    })
}
