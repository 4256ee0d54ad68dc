//! Many points at once, on all threads.

use super::Sampler;
use super::blend::Blend;
use super::kernel::Interpolation;
use super::mac::MacSampler;
use crate::channel::Handle;
use crate::error::{CoreError, Result};
use crate::volume::mac::MacHandle;
use crate::volume::store::DiscreteVolume;
use glam::{DVec3, Vec3};
use rayon::prelude::*;

/// Points in one piece of parallel work.
const PIECE: usize = 1024;

/// The values of a channel at world positions [m], in their order; the background where there is no Bucket.
///
/// The points need not be of the volume's own Domain. On several processes this reads what is stored here; for points
/// anywhere see [`foreign::sample`](crate::volume::foreign::sample).
pub fn sample_points<T: Blend>(
    volume: &DiscreteVolume,
    handle: Handle<T>,
    interpolation: Interpolation,
    points: &[DVec3],
    out: &mut [T],
) -> Result<()> {
    check_lengths(volume, points, out.len())?;
    let column = volume.column(handle)?;
    let sampler = Sampler::new(&column, volume.topology(), interpolation);
    each(points, out, |point| sampler.at_world(point));
    Ok(())
}

/// The velocities [m/s] at world positions [m], in their order; the background where there is no Bucket.
pub fn sample_velocities(
    volume: &DiscreteVolume,
    handle: MacHandle,
    interpolation: Interpolation,
    points: &[DVec3],
    out: &mut [Vec3],
) -> Result<()> {
    check_lengths(volume, points, out.len())?;
    let [x, y, z] = handle.faces.map(|face| volume.column(face));
    let (x, y, z) = (x?, y?, z?);
    let sampler = MacSampler::new([&x, &y, &z], volume.topology(), interpolation)?;
    each(points, out, |point| sampler.at_world(point));
    Ok(())
}

fn each<T: Send>(points: &[DVec3], out: &mut [T], value: impl Fn(DVec3) -> T + Sync) {
    points.par_chunks(PIECE).zip(out.par_chunks_mut(PIECE)).for_each(|(points, out)| {
        for (&point, out) in points.iter().zip(out) {
            *out = value(point);
        }
    });
}

fn check_lengths(volume: &DiscreteVolume, points: &[DVec3], out: usize) -> Result<()> {
    if points.len() != out {
        let what = format!("the list for samples of {}", volume.label());
        return Err(CoreError::WrongLength { what, found: out, wanted: points.len() });
    }
    check_finite(volume, "sample", points)
}

/// Refuses points that are not finite; the error names the first of them.
pub(crate) fn check_finite(volume: &DiscreteVolume, purpose: &str, points: &[DVec3]) -> Result<()> {
    match points.par_iter().position_first(|point| !point.is_finite()) {
        None => Ok(()),
        Some(n) => Err(CoreError::NotFinite {
            what: format!("point {n} of a {purpose} of {}", volume.label()),
            position: points[n],
        }),
    }
}
