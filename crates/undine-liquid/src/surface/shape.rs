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
//!
//! Places alone do not tell how much there is: a layer that has sunk into itself would look as thin as it is, feel no pressure, and
//! sink further. So a cell is no farther outside than its mass says: as deep as a plane that leaves as much of the kernel, with some
//! slack, so that chance does not move the surface.

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

/// By how much a cell may lie farther outside than its mass says [voxels].
const SLACK: f32 = 0.25;

/// Writes the distance [m] of every measured cell; a full cell holds `full` [kg].
pub fn measure(
    domain: &GridDomain,
    band: &Band,
    (near, moments): (&DiscreteVolume, Moments),
    (volume, distance): (&DiscreteVolume, Handle<f32>),
    reach: f32,
    full: f32,
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
                    true => {
                        let placed = depth(sum.length() / mass, second[n] / mass);
                        (placed.min(by_mass(mass / full) + SLACK) * voxel).min(reach)
                    }
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

/// How deep a plane lies that leaves this part of the kernel [voxels]: the inverse of ∫ of the quadratic B-spline.
#[inline(always)]
fn by_mass(part: f32) -> f32 {
    // Symmetric about one half. The last sixth is the cube of what is left of the kernel's half width; the middle part
    // ¾ d − d³/3 is inverted by two steps of Newton's method.
    let more = (part - 0.5).abs().min(0.5);
    let d = if more > 1.0 / 3.0 {
        1.5 - (6.0 * (0.5 - more)).cbrt()
    } else {
        let step = |d: f32| d - (0.75 * d - d * d * d / 3.0 - more) / (0.75 - d * d);
        step(step(more / 0.75))
    };
    if part > 0.5 { -d } else { d }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_by_mass_is_that_of_the_plane_that_leaves_as_much_of_the_kernel() {
        // The part of the quadratic B-spline below d, by its pieces.
        let below = |d: f64| match d {
            d if d < -0.5 => (1.5 + d).max(0.0).powi(3) / 6.0,
            d if d <= 0.5 => 0.5 + 0.75 * d - d.powi(3) / 3.0,
            d => 1.0 - (1.5 - d).max(0.0).powi(3) / 6.0,
        };
        for n in -29..30 {
            let d = f64::from(n) / 20.0;
            let found = by_mass(below(-d) as f32);
            assert!((f64::from(found) - d).abs() < 0.01, "{found} for {d}");
        }
        assert_eq!(by_mass(700.0), -1.5);
    }
}
