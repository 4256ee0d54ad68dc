//! Level sets of meshes over processes: the same bits as on one.

use super::passes;
use crate::solids::domain;
use std::error::Error;
use std::sync::Arc;
use undine_core::domain::Partition;
use undine_core::glam::{DVec3, Vec3};
use undine_core::process::Processes;
use undine_core::{Element, GridDomain, Handle, MemoryBudget};
use undine_geometry::Inside;
use undine_geometry::levelset::{Extent, LevelSet};
use undine_geometry::voxelize::Deforming;
use undine_geometry::{Triangles, gallery};

#[test]
fn processes_do_not_change_a_bit_of_a_mesh() {
    passes("voxelize");
}

pub fn voxelize(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let alone = domain(0.03);
    let shared = shared(processes, &alone)?;
    let mesh = gallery::bunny(4);
    for (extent, inside) in [
        (Extent::NARROW, Inside::default()),
        (Extent::Full(2.0), Inside::default()),
        (Extent::NARROW, Inside::Thickness(0.05)),
    ] {
        let one = LevelSet::of_mesh("bunny", &alone, &mesh, extent, inside)?;
        let ours = LevelSet::of_mesh("bunny", &shared, &mesh, extent, inside)?;
        assert!(same(&one, &ours, one.distance(), ours.distance()));
        assert_eq!(one.beyond().inside_count(), ours.beyond().inside_count());
    }

    let next = mesh.positions().iter().map(|p| *p * 1.1 + DVec3::new(0.1, 0.0, 0.2)).collect();
    let moving = Deforming::new(mesh, next, 0.1)?;
    let (one, velocity) =
        moving.level_set("one", &alone, 0.04, Extent::NARROW, Inside::default())?;
    let (ours, other) =
        moving.level_set("ours", &shared, 0.04, Extent::NARROW, Inside::default())?;
    assert!(same::<Vec3>(&one, &ours, velocity, other));
    let between = [between(&moving, &alone)?, between(&moving, &shared)?];
    assert!(same(&between[0], &between[1], between[0].distance(), between[1].distance()));

    // A budget that is short on one process alone refuses all of them.
    let limit = if processes.rank() == 1 { 1000 } else { u64::MAX };
    let tight = shared.with_budget(MemoryBudget::new(limit));
    let ball = gallery::sphere(0.5, 3);
    let refused = LevelSet::of_mesh("ball", &tight, &ball, Extent::NARROW, Inside::default());
    assert!(refused.unwrap_err().to_string().contains("1.0 kB"));
    Ok(())
}

/// The same Domain, cut over processes where the bunny lies.
pub fn shared(
    processes: &Arc<dyn Processes>,
    alone: &GridDomain,
) -> Result<GridDomain, Box<dyn Error>> {
    let frame = *alone.frame();
    let around = alone.buckets_in_box(DVec3::splat(-0.7), DVec3::splat(0.9), 0)?;
    let weights: Vec<_> = around.keys().iter().map(|&key| (key, 1.0)).collect();
    let partition = Partition::balanced(frame, processes.count(), &weights);
    Ok(GridDomain::distributed("space", frame, processes.clone(), Arc::new(partition)))
}

fn between(moving: &Deforming, domain: &GridDomain) -> Result<LevelSet, Box<dyn Error>> {
    let of = |mesh: &Triangles| {
        LevelSet::of_mesh("frame", domain, mesh, Extent::NARROW, Inside::default())
    };
    let frames = [of(&moving.at(0.0)?)?, of(&moving.at(0.1)?)?];
    let velocity = moving.shape_velocity(domain)?;
    Ok(velocity.read(|velocity| {
        LevelSet::between("between", [&frames[0], &frames[1]], 0.1, velocity, 0.03)
    })??)
}

/// Whether a channel here has the bits of that on one process, and the Buckets are the same on all together.
fn same<T: Element>(one: &LevelSet, ours: &LevelSet, a: Handle<T>, b: Handle<T>) -> bool {
    let (a, b) = (one.volume().column(a).unwrap(), ours.volume().column(b).unwrap());
    let topology = ours.topology();
    let equal = (0..topology.local() as u32).all(|slot| {
        let there = one.topology().slot(topology.bucket(slot)).expect("a Bucket of both");
        bytemuck::cast_slice::<T, u8>(a.chunk(there))
            == bytemuck::cast_slice::<T, u8>(b.chunk(slot))
    });
    assert!(topology.local() > 0, "every process has a part");
    equal && one.topology().all() == topology.all()
}
