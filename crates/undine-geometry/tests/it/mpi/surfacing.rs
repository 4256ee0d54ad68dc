//! Surfaces of particles over processes: level sets and meshes are those of one.

use super::passes;
use crate::solids::Ball;
use crate::surfacing::sets::{all, check, domain, ellipsoids, filled, sheet, spheres};
use std::error::Error;
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_core::process::Processes;
use undine_core::{GridDomain, Partition};
use undine_geometry::levelset::Filter;
use undine_geometry::surfacing::Anisotropy;

#[test]
fn a_mesh_over_processes_has_no_seams() {
    passes("surfacing");
}

pub fn surfacing(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let spacing = 0.06;
    let mut points = filled(&Ball { centre: DVec3::ZERO, radius: 0.5 }, spacing, 0.25);
    points.extend(sheet(0.9, spacing, 0.2).iter().map(|at| *at + DVec3::new(0.0, 0.0, 0.6)));
    points.push(DVec3::new(0.9, -0.9, 0.0));
    let alone = domain(0.4 * spacing);
    let frame = *alone.frame();
    let around = alone.buckets_in_box(DVec3::splat(-1.1), DVec3::splat(1.1), 0)?;
    let weights: Vec<_> = around.keys().iter().map(|&key| (key, 1.0)).collect();
    let partition = Arc::new(Partition::balanced(frame, processes.count(), &weights));
    let shared = GridDomain::distributed("shared", frame, Arc::clone(processes), partition);
    for how in [spheres(), ellipsoids(Anisotropy::default())] {
        let particles = all(&points, 1.05 * spacing);
        let one = how.surface("one", &alone, &particles)?;
        let ours = how.surface("ours", &shared, &particles)?;
        let shares = processes.all_min_u64(ours.stamped().topology().local() as u64)?;
        assert!(shares > 20, "every process has a share: {shares}");
        let same = |one: undine_geometry::Triangles, ours: undine_geometry::Triangles| {
            if processes.rank() > 0 {
                assert_eq!(ours.len(), 0);
                return;
            }
            check(&ours);
            assert_eq!(one.positions(), ours.positions());
            assert_eq!(one.indices(), ours.indices());
        };
        same(one.mesh()?, ours.mesh()?);
        let [mut one, mut ours] = [one.into_level_set()?, ours.into_level_set()?];
        one.filter(Filter::Gaussian(1), 2, None)?;
        ours.filter(Filter::Gaussian(1), 2, None)?;
        same(one.mesh()?, ours.mesh()?);
    }
    Ok(())
}
