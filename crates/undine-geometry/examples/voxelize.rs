//! Times a mesh of a million triangles becoming a narrow band 256 voxels across, step by step.

use std::time::Instant;
use undine_core::glam::DVec3;
use undine_core::{Frame, GridDomain};
use undine_geometry::levelset::Extent;
use undine_geometry::voxelize::Inside;
use undine_geometry::{LevelSet, gallery};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mesh = gallery::torus(0.35, 0.15, 1000, 500);
    let domain = GridDomain::new("space", Frame::new(DVec3::ZERO, 1.0 / 256.0)?);
    for _ in 0..5 {
        let start = Instant::now();
        let set = LevelSet::of_mesh("torus", &domain, &mesh, Extent::NARROW, Inside::default())?;
        println!("{:.3} s, {} Buckets", start.elapsed().as_secs_f64(), set.topology().local());
    }
    Ok(())
}
