//! Rebalance: Buckets change their owner with all they hold, and nothing else changes.

use super::crowd::Crowd;
use super::passes;
use super::scene::{alone, assert_same, distributed, frame, hash, random, sparse, voxels};
use std::{error::Error, sync::Arc};
use undine_core::{
    Accessor, Bucket, ChannelSpec, CoreError, DiscreteVolume, Frame, GridDomain, Handle, Partition,
    Single,
    glam::{DVec3, Mat3},
    process::Processes,
    volume::{Resolution, VoxelShape},
};

#[test]
fn buckets_change_their_owner_with_all_they_hold() {
    passes("rebalance");
}

/// Most of the work is in one corner.
fn weight(round: u64, bucket: Bucket) -> f64 {
    let number: u64 = bytemuck::cast(bucket.key());
    let heavy = match round % 3 {
        0 => bucket.coord.max_element() < 0,
        1 => bucket.coord.min_element() >= 0,
        _ => bucket.coord.x >= 1,
    };
    random(round, number) + if heavy { 20.0 } else { 0.1 }
}

/// A volume with channels of several types and resolutions, filled by kernels.
fn volume(domain: &GridDomain) -> Result<(DiscreteVolume, Handle<f32>), CoreError> {
    let mut volume = DiscreteVolume::new("field", domain);
    let heat = volume.add_channel(&ChannelSpec::new("heat", 0.0_f32), VoxelShape::CELLS)?;
    let small = VoxelShape::NODES.with_resolution(Resolution::R4);
    let frames = volume.add_channel(&ChannelSpec::new("frames", Mat3::IDENTITY), small)?;
    let tiny = VoxelShape::CELLS.with_resolution(Resolution::R2);
    let tags = volume.add_channel(&ChannelSpec::new("tags", 0_u64), tiny)?;
    let access = (volume.write(heat), volume.write(frames), volume.write(tags));
    Accessor::new("fill", domain).run(access, |here, (heat, frames, tags)| {
        let number: u64 = bytemuck::cast(here.bucket.key());
        let some = |n: usize| random(number, n as u64) as f32;
        heat.iter_mut().enumerate().for_each(|(n, heat)| *heat = some(n));
        frames
            .iter_mut()
            .enumerate()
            .for_each(|(n, frame)| *frame = Mat3::from_rotation_x(some(n)));
        tags.iter_mut().enumerate().for_each(|(n, tag)| *tag = hash(number, n as u64));
    })?;
    Ok((volume, heat))
}

pub fn rebalance(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let (mut domain, mut reference) = (distributed(processes), alone());
    let all = sparse(4, 40, 4, 1);
    domain.set_buckets(&all)?;
    reference.set_buckets(&all)?;
    let ((mut field, heat), (model, model_heat)) = (volume(&domain)?, volume(&reference)?);
    let (mut crowd, mut wanted) = (Crowd::new(&domain)?, Crowd::new(&reference)?);
    crowd.append(&domain, 2, 2000, 2.5)?;
    wanted.append(&reference, 2, 2000, 2.5)?;

    for round in 0..6 {
        let (voxels_before, crowd_before) =
            (voxels(&**processes, &field)?, crowd.contents(&domain)?);
        let old = domain.topology().clone();
        let partition = Arc::new(domain.balance(|bucket| weight(round, bucket))?);
        assert_eq!(*partition, reference_partition(processes.count(), round, &reference));
        domain.repartition(partition)?;

        // Everybody has as much to do, as nearly as whole Buckets allow.
        let share = |owner: usize| -> f64 {
            let mine = all.buckets().filter(|&bucket| domain.owner(bucket) == owner);
            mine.map(|bucket| weight(round, bucket)).sum()
        };
        let total: f64 = (0..processes.count()).map(share).sum();
        let largest = all.buckets().map(|bucket| weight(round, bucket)).fold(0.0, f64::max);
        let off = share(processes.rank()) - total / processes.count() as f64;
        assert!(off.abs() <= largest, "off by {off}, more than a Bucket ({largest})");
        assert_eq!(domain.topology().all(), old.all());

        // A store that has not moved yet is refused, and says what would be right.
        let moved = old.buckets()[..old.local()]
            .iter()
            .any(|&bucket| domain.owner(bucket) != processes.rank());
        let moved = processes.any(moved)?;
        assert_eq!(moved, processes.count() > 1);
        if moved {
            let read = Accessor::new("read", &domain).run(field.own(heat), |_, _| {});
            let write = Accessor::new("write", &domain).run(field.write(heat), |_, _| {});
            let follow = field.follow(domain.topology());
            for outcome in [read, write, follow] {
                let told = |error: &CoreError| error.to_string().contains("migrate first");
                assert!(outcome.as_ref().err().is_none_or(told), "{outcome:?}");
                assert!(processes.any(outcome.is_err())?);
            }
            let error = crowd.system.rebucketize(&domain).unwrap_err();
            assert!(error.to_string().contains("migrate first"), "{error}");
            let batch = crowd.system.batch(&[])?;
            let error = crowd.system.append(&domain, batch).unwrap_err();
            assert!(error.to_string().contains("migrate first"), "{error}");
        }
        field.migrate(&domain)?;
        crowd.system.migrate(&domain)?;
        assert_same(&voxels(&**processes, &field)?, &voxels_before, "after the volume migrated");
        assert_same(&crowd.contents(&domain)?, &crowd_before, "after the particles migrated");
        let home = |bucket: &Bucket| domain.owner(*bucket) == processes.rank();
        for topology in [field.topology(), crowd.system.topology()] {
            assert!(topology.buckets()[..topology.local()].iter().all(home));
        }

        // Halo and migration go on as if nothing had happened.
        smooth(&domain, &field, heat)?;
        smooth(&reference, &model, model_heat)?;
        crowd.step(&domain, round)?;
        wanted.step(&reference, round)?;
        crowd.system.rebucketize(&domain)?;
        wanted.system.rebucketize(&reference)?;
        assert_same(&voxels(&**processes, &field)?, &voxels(&Single, &model)?, "after smoothing");
        assert_same(&crowd.contents(&domain)?, &wanted.contents(&reference)?, "after a step");
    }
    wrong_partition(processes, &mut domain)?;
    two_domains(processes)
}

/// The same balance, computed by one process alone.
fn reference_partition(count: usize, round: u64, reference: &GridDomain) -> Partition {
    let weights: Vec<_> = reference
        .topology()
        .all()
        .buckets()
        .map(|bucket| (bucket.key(), weight(round, bucket)))
        .collect();
    Partition::balanced(frame(), count, &weights)
}

/// Replaces each value by one that depends on its neighbours.
fn smooth(domain: &GridDomain, field: &DiscreteVolume, heat: Handle<f32>) -> Result<(), CoreError> {
    let over = Accessor::new("smooth", domain).over(field.topology());
    let smoothed = over.map(field.around(heat, 1), |_, heat| -> Vec<f32> {
        let at = |n: i32, d: i32| heat.at((n >> 6) + d, (n >> 3 & 7) - d, (n & 7) + d);
        (0..512).map(|n| 0.5 * at(n, 0) + 0.3 * at(n, 1) + 0.2 * at(n, -1)).collect()
    })?;
    over.run(field.write(heat), |here, heat| heat.copy_from_slice(&smoothed[here.slot as usize]))
}

fn wrong_partition(
    processes: &Arc<dyn Processes>,
    domain: &mut GridDomain,
) -> Result<(), Box<dyn Error>> {
    let before = domain.topology().id();
    let foreign = Arc::new(Partition::even(frame(), processes.count() + 1));
    let error = domain.repartition(foreign).unwrap_err();
    assert!(matches!(error, CoreError::WrongLength { .. }), "{error}");
    assert_eq!(domain.topology().id(), before);
    Ok(())
}

/// Two Domains with different voxels, cut by one Partition, before and after a rebalance.
fn two_domains(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let coarse_frame = Frame::new(DVec3::new(-0.1, 0.05, 0.2), 0.27)?;
    let mut partition = Arc::new(Partition::even(frame(), processes.count()));
    let make = |label: &str, frame| {
        GridDomain::distributed(label, frame, processes.clone(), partition.clone())
    };
    let (mut fine, mut coarse) = (make("fine", frame()), make("coarse", coarse_frame));
    let all = sparse(8, 50, 4, 1);
    fine.set_buckets(&all)?;
    coarse.set_buckets(&sparse(9, 70, 2, 1))?;
    let mut reference = GridDomain::new("reference", coarse_frame);
    reference.set_buckets(coarse.topology().all())?;
    let ((mut field, heat), (model, model_heat)) = (volume(&coarse)?, volume(&reference)?);
    let (mut crowd, mut wanted) = (Crowd::new(&coarse)?, Crowd::new(&reference)?);
    crowd.append(&coarse, 6, 500, 3.0)?;
    wanted.append(&reference, 6, 500, 3.0)?;
    for round in 0..3 {
        // Whoever owns a place of one Domain owns, up to a Bucket at the border, that of the other.
        for bucket in coarse.topology().all().buckets() {
            let (same, _) = frame().locate(coarse_frame.centre(bucket), 0, "a centre")?;
            assert_eq!(coarse.owner(bucket), fine.owner(same));
        }
        smooth(&coarse, &field, heat)?;
        smooth(&reference, &model, model_heat)?;
        crowd.step(&coarse, round)?;
        wanted.step(&reference, round)?;
        crowd.system.rebucketize(&coarse)?;
        wanted.system.rebucketize(&reference)?;
        assert_same(&voxels(&**processes, &field)?, &voxels(&Single, &model)?, "on the coarse one");
        assert_same(&crowd.contents(&coarse)?, &wanted.contents(&reference)?, "on the coarse one");

        partition = Arc::new(fine.balance(|bucket| weight(round, bucket))?);
        fine.repartition(partition.clone())?;
        coarse.repartition(partition.clone())?;
        field.migrate(&coarse)?;
        crowd.system.migrate(&coarse)?;
    }
    // A kernel over one Domain cannot reach into the other.
    let reach = Accessor::new("reach", &fine).run(field.own(heat), |_, _| {});
    assert!(matches!(reach, Err(CoreError::BadAccess { .. })), "{reach:?}");
    Ok(())
}
