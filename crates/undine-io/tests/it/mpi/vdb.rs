//! One file from all processes, byte for byte that of a single one.

use super::passes;
use crate::vdb_volume::{cube, fill};
use std::{error::Error, sync::Arc};
use undine_core::glam::{DVec3, Vec3};
use undine_core::process::Processes;
use undine_core::volume::{DiscreteVolume, Resolution, VoxelShape};
use undine_core::{
    Bucket, BucketSet, ChannelSpec, Frame, GridDomain, ParticleSystem, Partition, Single,
};
use undine_io::gather::Order;
use undine_io::vdb::{
    Active, ChannelGrid, Levels, PointOptions, Sampling, VdbFile, Velocity, VolumeOptions,
};
use undine_io::{FileMetadata, Points, Values};
use undine_vdb::Class;

/// A Domain with these Buckets, cut evenly.
fn domain(
    processes: Arc<dyn Processes>,
    buckets: impl IntoIterator<Item = Bucket>,
) -> Result<GridDomain, Box<dyn Error>> {
    let frame = Frame::new(DVec3::new(5.0, 0.0, -1.0), 0.1)?;
    let even = Partition::even(frame, processes.count());
    let mut domain = GridDomain::distributed("gas", frame, processes, Arc::new(even));
    domain.set_buckets(&BucketSet::from_buckets(buckets)?)?;
    domain.repartition(Arc::new(domain.balance(|_| 1.0)?))?;
    Ok(domain)
}

/// Two levels: fine in one corner, coarse elsewhere, nothing in the middle of the coarse part.
fn graded() -> Vec<Bucket> {
    let coarse = cube(1, -2, 3)
        .filter(|bucket| bucket.coord.max_element() > 0 || bucket.coord.min_element() < -1);
    let fine = cube(1, -1, 1).flat_map(|coarse| coarse.children().collect::<Vec<_>>());
    coarse.chain(fine).collect()
}

/// A file of all sorts of channels.
fn volumes_file(processes: &Arc<dyn Processes>) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut file = VdbFile::new(processes.clone(), FileMetadata::default());
    let whole = VolumeOptions::default();

    let near = cube(0, -4, 4).filter(|bucket| {
        let centre = bucket.coord.as_dvec3() + 0.5;
        (centre.length() - 3.0).abs() < 1.4
    });
    let ball = domain(processes.clone(), near)?;
    let middle = ball.frame().origin();
    let mut volume = DiscreteVolume::new("ball", &ball);
    for resolution in [Resolution::R2, Resolution::R4, Resolution::R8, Resolution::R16] {
        let name = format!("surface {}", resolution.edge());
        let shape = VoxelShape::CELLS.with_resolution(resolution);
        let surface = volume.add_channel(&ChannelSpec::new(&name, 1.0_f32), shape)?;
        fill(&volume, surface, |at| (at.distance(middle) - 2.4) as f32);
        let channel = ChannelGrid { channel: &name, class: Class::LevelSet, active: Active::Band };
        let options = VolumeOptions { half_width: 1.5, ..whole.clone() };
        file.add_channel(&ball, &volume, &channel, &options)?;
    }

    let gas = domain(processes.clone(), graded())?;
    let mut volume = DiscreteVolume::new("gas", &gas);
    let density = volume.add_channel(&ChannelSpec::new("density", 0.0_f32), VoxelShape::CELLS)?;
    fill(&volume, density, |at| (at.x * 3.0).sin() as f32);
    let mac = volume.add_mac("velocity", "m/s", Resolution::R8)?;
    for (axis, face) in mac.faces.into_iter().enumerate() {
        fill(&volume, face, |at| (at[axis] * 2.0).cos() as f32);
    }
    let finest = Levels::Finest { sampling: Sampling::Linear, most_leaves: 1 << 20 };
    for levels in [Levels::Each, finest] {
        for velocity in [Velocity::Staggered, Velocity::Centred] {
            let options = VolumeOptions { levels, velocity, ..whole.clone() };
            for channel in ["density", "velocity"] {
                file.add_channel(&gas, &volume, &ChannelGrid::customary(channel), &options)?;
            }
        }
    }
    let mut bytes = Vec::new();
    file.write(&mut bytes)?;
    assert_eq!(bytes.is_empty(), processes.rank() != 0);
    Ok(bytes)
}

#[test]
fn the_file_of_volumes_is_the_same_on_any_number_of_processes() {
    passes("volumes");
}

pub fn volumes(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let found = volumes_file(processes)?;
    if processes.rank() == 0 {
        let alone: Arc<dyn Processes> = Arc::new(Single);
        assert!(found == volumes_file(&alone)?, "other bytes than those of one process");
    }
    Ok(())
}

/// Particles that each process has some of, as files of grids in both orders.
fn points_file(processes: &Arc<dyn Processes>) -> Result<Vec<u8>, Box<dyn Error>> {
    let domain = domain(processes.clone(), cube(0, -2, 2))?;
    let mut spray = ParticleSystem::new("spray", &domain)?;
    let velocity = spray.add_channel(&ChannelSpec::new("velocity", Vec3::ZERO))?;
    let count = if processes.rank() == 0 { 2000 } else { 0 };
    let places: Vec<DVec3> = (0..count)
        .map(|n| {
            DVec3::new(
                0.377 * f64::from(n) % 3.0,
                0.611 * f64::from(n) % 3.0,
                0.837 * f64::from(n) % 3.0,
            )
        })
        .map(|at| at + DVec3::new(3.5, -1.5, -2.5))
        .collect();
    let mut batch = spray.batch(&places)?;
    batch.set("velocity", &places.iter().map(|at| at.as_vec3()).collect::<Vec<_>>())?;
    spray.append(&domain, batch)?;

    let mut points = Points { positions: spray.world_positions()?, ..Points::default() };
    let slots = 0..spray.topology().local() as u32;
    let (ids, velocity) = (spray.column(spray.id())?, spray.column(velocity)?);
    let ids = slots.clone().flat_map(|slot| ids.chunk(slot).to_vec()).collect();
    let velocity = slots.flat_map(|slot| velocity.chunk(slot).to_vec()).collect();
    points.channels.insert("id".into(), Values::U64(ids));
    points.channels.insert("velocity".into(), Values::Vec3(velocity));
    let mut file = VdbFile::new(processes.clone(), FileMetadata::default());
    for (name, order) in [("spatial", Order::Buckets), ("by id", Order::Ids)] {
        file.add_points(name, &points, order, &PointOptions::default())?;
    }
    let mut bytes = Vec::new();
    file.write(&mut bytes)?;
    Ok(bytes)
}

#[test]
fn the_file_of_points_is_the_same_on_any_number_of_processes() {
    passes("points");
}

pub fn points(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let found = points_file(processes)?;
    if processes.rank() == 0 {
        let alone: Arc<dyn Processes> = Arc::new(Single);
        assert!(found == points_file(&alone)?, "other bytes than those of one process");
    }
    Ok(())
}

#[test]
fn what_one_process_refuses_all_do() {
    passes("refused");
}

/// Points that only the last process has are not finite; a file cannot be made by the first.
pub fn refused(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let mut points = Points::default();
    if processes.rank() + 1 == processes.count() {
        points.positions.push(DVec3::NAN);
    }
    let mut file = VdbFile::new(processes.clone(), FileMetadata::default());
    let error = file.add_points("p", &points, Order::Buckets, &PointOptions::default());
    assert!(error.unwrap_err().to_string().contains("positions must be finite"));
    let error = file.save("/no/such/folder/file.vdb".as_ref()).unwrap_err().to_string();
    assert!(error.contains("/no/such/folder"), "{error}");
    if processes.rank() != 0 {
        points.channels.insert("odd".into(), Values::F32(vec![0.0; points.positions.len()]));
    }
    if processes.count() > 1 {
        let error = file.add_points("p", &points, Order::Buckets, &PointOptions::default());
        let error = error.unwrap_err().to_string();
        assert!(error.contains("other channels"), "{error}");
    }
    Ok(())
}
