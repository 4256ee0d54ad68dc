//! From what a cell feels of particles to its distance from the surface.
//!
//! At a depth −d below a plane surface the mean place of the particles felt is ψ(d) away from the cell's centre: the mean of
//! what the plane leaves of the kernel. ψ falls from 3/2 voxels, where the first particle comes into sight, to 0 deep inside,
//! and is 13/32 at the surface itself. Its inverse gives a distance that is exact for planes along an axis and nearly so for all
//! others. A lone particle is a drop of 13/32 of a voxel, and a thin sheet is as thick as it is for any number of particles.
//!
//! Half-way between two surfaces the mean place is the centre too, though nothing is near. There the mean square of the
//! distance is large: within a liquid, at its surface and in a sheet, no more than 1/4 comes from the direction across the
//! surface; a cell in a gap has more, and is outside. (B. Solenthaler and others, *A Unified Particle Model for Fluid-Solid
//! Interactions*, 2007, cure the same fault by how fast the mean place moves.)

use super::band::Band;
use super::moments::Moments;
use undine_core::access::Accessor;
use undine_core::volume::DiscreteVolume;
use undine_core::{GridDomain, Handle};
use undine_sim::Result;

/// What the two directions along a surface add to the mean square of the distance: twice the variance of the kernel.
const ALONG: f32 = 0.5;

/// How far particles are across the surface, as a root of the mean square, where a gap begins.
const GAP: f32 = 0.72;

/// How much faster the depth below a gap falls than the root: within a liquid it is as deep as distances are measured.
const STEEP: f32 = 5.0;

/// Measured distances are no deeper inside than this [voxels]: there the mean place says little more.
const DEEPEST: f32 = -1.2;

/// Writes the distance [m] of every measured cell.
pub fn measure(
    domain: &GridDomain,
    band: &Band,
    (near, moments): (&DiscreteVolume, Moments),
    (volume, distance): (&DiscreteVolume, Handle<f32>),
    reach: f32,
) -> Result<()> {
    let voxel = domain.frame().voxel_size(0) as f32;
    let access = (
        near.own(moments.first),
        near.own(moments.second),
        band.marks.own(band.measured),
        volume.write(distance),
    );
    Accessor::new("measure distances", domain).over(near.topology()).run(
        access,
        |_, (first, second, measured, distance)| {
            for (n, distance) in distance.iter_mut().enumerate() {
                if measured[n >> 6] >> (n & 63) & 1 == 0 {
                    continue;
                }
                let (sum, mass) = (first[n].truncate(), first[n].w);
                // Where nothing is felt, not even a number that is none, there is no liquid.
                *distance = match mass > 0.0 && sum.is_finite() {
                    true => (depth(sum.length() / mass, second[n] / mass) * voxel).min(reach),
                    false => reach,
                };
            }
        },
    )?;
    Ok(())
}

/// The distance from the surface [voxels], from how far the mean place is away, and the mean square of the distance.
#[inline(always)]
fn depth(mean: f32, square: f32) -> f32 {
    let gap = (square - ALONG).max(0.0).sqrt() - GAP;
    // Steeper inside, where it must not hide how deep a cell is.
    from_plane(mean).max(if gap > 0.0 { gap } else { STEEP * gap })
}

/// The inverse of ψ.
#[inline(always)]
fn from_plane(mean: f32) -> f32 {
    // Beyond half a voxel outside ψ is linear. Below, d is nearly linear in √ψ.
    let t = mean.sqrt();
    let [a, b, c, d] = [-1.360_23, 2.518_951, -1.083_761, 0.756_884];
    let bent = a + t * (b + t * (c + t * d));
    let straight = (mean - 0.375) / 0.75;
    if mean < 0.75 { bent.max(DEEPEST) } else { straight }
}
