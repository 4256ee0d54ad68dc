//! Colliders and what they leave open of cells, over processes: the same bits as on one.

use super::passes;
use super::voxelize::shared;
use crate::solids::{cells, domain};
use std::error::Error;
use std::sync::Arc;
use undine_core::glam::{DQuat, DVec3};
use undine_core::process::Processes;
use undine_geometry::fractions::Fractions;
use undine_geometry::levelset::{Extent, LevelSet};
use undine_geometry::{Collider, Inside, MeshSolid, Motion, Pose, Solid, gallery, random};

#[test]
fn processes_do_not_change_a_bit_of_a_collider() {
    passes("collider");
}

pub fn collider(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let mut alone = domain(0.04);
    let mut shared = shared(processes, &alone)?;
    let around = alone.buckets_in_box(DVec3::splat(-0.7), DVec3::splat(0.9), 0)?;
    alone.set_buckets(&around)?;
    shared.set_buckets(&around)?;
    let mesh = MeshSolid::new(gallery::bunny(3), Inside::Normals)?;

    // Every process has the whole mesh, and cuts the cells of its own Buckets.
    let rotation = DQuat::from_rotation_y(0.4);
    let motion = Motion::still(Pose { rotation, translation: DVec3::splat(0.05) })?;
    let turned = Collider::mesh(mesh.clone()).with_motion(motion);
    let (one, there) = cells(&alone, &turned.during(0.0, 0.1)?)?;
    let (ours, here) = cells(&shared, &turned.during(0.0, 0.1)?)?;
    let all = |of: Fractions| of.area.faces.into_iter().chain([of.volume]);
    for (there, here) in all(there).zip(all(here)) {
        let (there, here) = (one.column(there)?, ours.column(here)?);
        for (slot, &bucket) in
            ours.topology().buckets()[..ours.topology().local()].iter().enumerate()
        {
            let wanted = one.topology().slot(bucket).ok_or("a Bucket of all")?;
            assert_eq!(here.chunk(slot as u32), there.chunk(wanted));
        }
    }

    // A level set is shared out: each process asks within its own Buckets, with fresh copies around them.
    let one = LevelSet::of_solid("bunny", &alone, &mesh, Extent::NARROW)?;
    let ours = LevelSet::of_solid("bunny", &shared, &mesh, Extent::NARROW)?;
    ours.volume().refresh(ours.domain(), ours.distance())?;
    let own: Vec<_> = ours.topology().buckets()[..ours.topology().local()].to_vec();
    let [one, ours] = [Collider::level_set(one, None)?, Collider::level_set(ours, None)?];
    let [one, ours] = [one.during(0.0, 0.1)?, ours.during(0.0, 0.1)?];
    for (n, &bucket) in own.iter().enumerate() {
        let place = |seed: u64| {
            let part = [0, 1, 2].map(|axis| random::unit(seed + axis, n as u64));
            alone.frame().corner(bucket) + DVec3::from_array(part) * alone.frame().bucket_size(0)
        };
        let (from, to) = (place(1), place(7));
        assert_eq!(ours.nearest(from), one.nearest(from));
        let [found, wanted] = [&ours, &one].map(|step| step.first_impact(0.0, from, to, 0.01));
        assert_eq!(found?, wanted?);
    }
    Ok(())
}
