//! Level sets over processes: the bits of one.

use super::passes;
use crate::levelset_bits::{bits, distort};
use crate::solids::Ball;
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use undine_core::glam::{DVec3, IVec3, Vec3};
use undine_core::process::Processes;
use undine_core::volume::VoxelShape;
use undine_core::{Accessor, ChannelSpec, Frame, GridDomain, Partition};
use undine_geometry::levelset::{
    Advection, Carrier, Extent, Extrapolation, Known, LevelSet, Order,
};

#[test]
fn distances_over_processes_are_those_of_one() {
    passes("level set redistance");
}

#[test]
fn surfaces_are_carried_over_processes_as_on_one() {
    passes("level set advect");
}

#[test]
fn fields_are_extended_over_processes_as_on_one() {
    passes("level set extrapolate");
}

const VOXEL: f64 = 0.0625;
const BALL: Ball = Ball { centre: DVec3::new(0.02, -0.01, 0.03), radius: 1.0 };

type Outcome = Result<(), Box<dyn Error>>;

/// Does something to a ball alone and together, and compares the voxels that are here.
fn compare<R: PartialEq + std::fmt::Debug>(
    processes: &Arc<dyn Processes>,
    act: impl Fn(&mut LevelSet) -> Result<BTreeMap<[i32; 3], R>, Box<dyn Error>>,
) -> Outcome {
    let frame = Frame::new(DVec3::ZERO, VOXEL)?;
    let alone = GridDomain::new("alone", frame);
    let mut whole = LevelSet::of_solid("ball", &alone, &BALL, Extent::NARROW)?;

    // Cut so that each process has a share of the ball.
    let weights: Vec<_> = whole.topology().all().keys().iter().map(|key| (*key, 1.0)).collect();
    let partition = Arc::new(Partition::balanced(frame, processes.count(), &weights));
    let together = GridDomain::distributed("together", frame, processes.clone(), partition);
    let mut part = LevelSet::of_solid("ball", &together, &BALL, Extent::NARROW)?;
    assert!(part.topology().local() > 0 && part.topology().local() < whole.topology().local());

    let (wanted, found) = (act(&mut whole)?, act(&mut part)?);
    assert_eq!(part.topology().all(), whole.topology().all());
    assert!(!found.is_empty());
    for (voxel, found) in &found {
        assert_eq!(Some(found), wanted.get(voxel), "{voxel:?}");
    }
    let count = together.processes().all_sum_u64(found.len() as u64)?;
    assert_eq!(count, wanted.len() as u64);
    let sizes = [whole.size()?, part.size()?];
    assert!((sizes[0].volume - sizes[1].volume).abs() < 1e-12 * sizes[0].volume, "{sizes:?}");
    Ok(())
}

pub fn redistance(processes: &Arc<dyn Processes>) -> Outcome {
    compare(processes, |set| {
        distort(set, |at| ((at - BALL.centre).length() - BALL.radius) * (1.5 + 0.5 * at.x));
        set.rebuild()?;
        Ok(bits(set, IVec3::ZERO))
    })
}

pub fn advect(processes: &Arc<dyn Processes>) -> Outcome {
    let whirl =
        |at: DVec3, time: f64| DVec3::new(0.3 - at.y, at.x, 0.5 + at.x * at.y * (1.0 + time));
    compare(processes, |set| {
        let how = Advection { keep_volume: false, ..Advection::default() };
        set.advect(Carrier::Field(&whirl), 0.0, 0.5, &how)?;
        Ok(bits(set, IVec3::ZERO))
    })?;
    // A channel of its own, of which copies must be fresh.
    compare(processes, |set| {
        let spec = ChannelSpec::new("velocity", Vec3::X);
        let velocity = set.volume_mut().add_channel(&spec, VoxelShape::CELLS)?;
        let accessor = Accessor::new("blow", set.domain()).over(set.topology());
        accessor.run(set.volume().write(velocity), |here, velocity| {
            let speed = 1.0 + 0.1 * here.bucket.coord.y as f32;
            velocity.fill(Vec3::new(speed, 0.25, 0.0));
        })?;
        set.advect(Carrier::Cells(velocity), 0.0, 0.15, &Advection::default())?;
        Ok(bits(set, IVec3::ZERO))
    })
}

pub fn extrapolate(processes: &Arc<dyn Processes>) -> Outcome {
    compare(processes, |set| {
        let spec = ChannelSpec::new("heat", 0.0_f32);
        let heat = set.volume_mut().add_channel(&spec, VoxelShape::CELLS)?;
        let accessor = Accessor::new("heat", set.domain()).over(set.topology());
        accessor.run(set.volume().write(heat), |here, heat| {
            for (n, heat) in heat.iter_mut().enumerate() {
                let coord = here.bucket.coord;
                *heat = (coord.x * 8 + coord.y) as f32 + 0.3 * n as f32;
            }
        })?;
        let known = Known::Inside;
        let how = Extrapolation { distance: 2.5 * VOXEL, order: Order::Linear, known };
        set.extrapolate(heat, &how)?;
        let column = set.volume().column(heat)?;
        let mut values = BTreeMap::new();
        for slot in 0..set.topology().local() as u32 {
            let bucket = set.topology().bucket(slot).coord.to_array();
            for (n, value) in column.chunk(slot).iter().enumerate() {
                values.insert([bucket[0] * 512 + n as i32, bucket[1], bucket[2]], value.to_bits());
            }
        }
        Ok(values)
    })
}
