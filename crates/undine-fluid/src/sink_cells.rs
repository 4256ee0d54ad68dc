//! What cells of a liquid hold themselves goes into sinks, too: of cells whose centres are inside.

use undine_core::glam::DVec3;
use undine_core::{Accessor, Bucket, DiscreteVolume, GridDomain};
use undine_geometry::Solid;
use undine_sim::Result;
use undine_sim::offers::Interior;

/// The mass of what this process's cells inside of a solid hold [kg].
pub fn held(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    interior: Interior,
    solid: &dyn Solid,
) -> Result<f64> {
    let sums = Accessor::new("weigh what goes", domain).over(volume.topology()).map(
        volume.own(interior.parts),
        |here, parts| -> u64 {
            let inside = inside(domain, here.bucket, parts, solid);
            inside.map(|n| u64::from(parts[n])).sum()
        },
    )?;
    Ok(sums.into_iter().sum::<u64>() as f64 * interior.part)
}

/// Takes a share of what they hold away.
pub fn drain(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    interior: Interior,
    solid: &dyn Solid,
    share: f64,
) -> Result<()> {
    Accessor::new("drain cells", domain).over(volume.topology()).run(
        volume.write(interior.parts),
        |here, parts| {
            let cells: Vec<usize> = inside(domain, here.bucket, parts, solid).collect();
            for n in cells {
                let gone = (f64::from(parts[n]) * share).round() as u32;
                parts[n] -= gone.min(parts[n]);
            }
        },
    )?;
    Ok(())
}

/// The cells of a Bucket that hold something and have their centre inside.
fn inside<'a>(
    domain: &'a GridDomain,
    bucket: Bucket,
    parts: &'a [u32],
    solid: &'a dyn Solid,
) -> impl Iterator<Item = usize> + 'a {
    let frame = domain.frame();
    let corner = frame.corner(bucket);
    let half = 0.5 * frame.bucket_size(0);
    let is_near = || solid.distance(corner + half) < 3.0_f64.sqrt() * half;
    let near = parts.iter().any(|&parts| parts > 0) && is_near();
    (0..if near { parts.len() } else { 0 }).filter(move |&n| {
        let cell = DVec3::new((n >> 6) as f64, (n >> 3 & 7) as f64, (n & 7) as f64);
        parts[n] > 0 && solid.distance(corner + frame.voxel_size(0) * (cell + 0.5)) < 0.0
    })
}
