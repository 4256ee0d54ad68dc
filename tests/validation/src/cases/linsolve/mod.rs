//! Cases of `undine-linsolve`: iterations that do not grow with the size, and the same bytes on many threads.

mod growth;
mod same_bytes;

use crate::page::Case;
use undine_core::glam::DVec3;
use undine_core::volume::Resolution;
use undine_core::{DiscreteVolume, Frame, GridDomain};
use undine_linsolve::gallery::{liquid_mask, noise};
use undine_linsolve::pressure::{PressureInput, PressureSystem, voxel};
use undine_linsolve::{Operator, Report, Stop};

/// The cases, in the order in which they run.
pub const CASES: &[Case] =
    &[growth::PRESSURE, growth::MULTIGRID, growth::ELASTICITY, same_bytes::SAME_BYTES];

/// Solves the pressure of a half-full box of n³ cells by multigrid on Buckets, and returns it with the report.
fn pressure(n: usize) -> Result<(Vec<f64>, Report), Box<dyn std::error::Error>> {
    let mut domain = GridDomain::new("box", Frame::new(DVec3::ZERO, 1.0)?);
    let end = DVec3::splat(n as f64 - 0.5);
    domain.set_buckets(&domain.buckets_in_box(DVec3::ZERO, end, 0)?)?;
    let mut volume = DiscreteVolume::new("box", &domain);
    let liquid = volume.add_mask("liquid", Resolution::R8)?;
    let mask = liquid_mask(n);
    let mut words = volume.column_mut(liquid.words)?;
    for slot in volume.topology().level(0) {
        let corner = volume.topology().bucket(slot).coord * 8;
        for voxel in 0..512_usize {
            let [x, y, z] = corner.to_array().map(|low| low as usize);
            let cell = ((x + (voxel >> 6)) * n + y + (voxel >> 3 & 7)) * n + z + (voxel & 7);
            if mask[cell] {
                words.chunk_mut(slot)[voxel >> 6] |= 1 << (voxel & 63);
            }
        }
    }
    drop(words);
    let system = PressureSystem::new(&domain, &PressureInput::from_mask(&volume, liquid))?;
    let value = |entry: usize| {
        let bucket = system.topology().bucket((entry / 512) as u32);
        let seed = bucket.coord.x as u64 + 1000 * bucket.coord.y as u64;
        noise(seed + 1_000_000 * bucket.coord.z as u64, voxel(entry % 512) as u64)
    };
    let b: Vec<f64> = (0..system.rows().local())
        .map(|entry| if system.has_equation(entry) { value(entry) } else { 0.0 })
        .collect();
    let mut x = vec![0.0; b.len()];
    let report = system.solve(&b, &mut x, &Stop::default())?;
    Ok((x, report))
}
