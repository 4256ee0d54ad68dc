//! What a transfer refuses before it changes anything.

use crate::access::Accessor;
use crate::domain::GridDomain;
use crate::error::{CoreError, Result};
use crate::particles::ParticleSystem;
use crate::volume::{Axis, Centring, DiscreteVolume, MacHandle, Resolution};
use glam::Vec3;

/// Checks that a transfer can run, and agrees on it with the other processes: every particle lies in
/// its Bucket, the volume has that Bucket, and the channels are those of one MAC grid. Returns the
/// grid's resolution.
pub(super) fn check<const N: usize>(
    task: &'static str,
    domain: &GridDomain,
    particles: &ParticleSystem,
    volume: &DiscreteVolume,
    channels: [MacHandle; N],
) -> Result<Resolution> {
    let found = mac_resolution(task, volume, channels).and_then(|resolution| {
        covered(task, particles, volume)?;
        inside(task, domain, particles)?;
        Ok(resolution)
    });
    domain.processes().all_agree(found)
}

/// The resolution that all components of the channels share.
pub(super) fn mac_resolution<const N: usize>(
    task: &'static str,
    volume: &DiscreteVolume,
    channels: [MacHandle; N],
) -> Result<Resolution> {
    let mut shared = None;
    for (axis, handle) in channels.iter().flat_map(|mac| Axis::ALL.into_iter().zip(mac.faces)) {
        let shape = volume.channels().read(handle, task)?.shape();
        let resolution = *shared.get_or_insert(shape.resolution);
        if shape.centring != Centring::Face(axis) || shape.resolution != resolution {
            return Err(CoreError::BadValue {
                what: format!("the shape of a MAC channel of {} along {axis:?}", volume.label()),
                found: format!("{shape:?}"),
                wanted: "on the faces across its axis, all channels at the same resolution",
            });
        }
    }
    match shared {
        Some(resolution) if resolution != Resolution::R2 => Ok(resolution),
        _ => Err(CoreError::BadValue {
            what: format!("the resolution of a MAC channel of {}", volume.label()),
            found: "2".into(),
            wanted: "4, 8 or 16: a kernel reaches further than a Bucket of 2",
        }),
    }
}

/// Refuses a volume that lacks a Bucket of the particles.
fn covered(task: &'static str, particles: &ParticleSystem, volume: &DiscreteVolume) -> Result<()> {
    let (of_particles, of_volume) = (particles.topology(), volume.topology());
    if of_particles.id() == of_volume.id() {
        return Ok(());
    }
    let own = 0..of_volume.local() as u32;
    let missing = of_particles.buckets()[..of_particles.local()]
        .iter()
        .find(|&&bucket| !of_volume.slot(bucket).is_some_and(|slot| own.contains(&slot)));
    match missing {
        None => Ok(()),
        Some(bucket) => Err(CoreError::BadAccess {
            task,
            why: format!(
                "{} has particles in {bucket:?}, which {} does not have; let it follow the particles' Buckets, padded by one",
                particles.label(),
                volume.label()
            ),
        }),
    }
}

/// Refuses a particle that is not in its Bucket.
fn inside(task: &'static str, domain: &GridDomain, particles: &ParticleSystem) -> Result<()> {
    let size = particles.topology().frame().bucket_size(0) as f32;
    let outside =
        |offset: &Vec3| !(offset.cmpge(Vec3::ZERO) & offset.cmplt(Vec3::splat(size))).all();
    let found = Accessor::new(task, domain).over(particles.topology()).map(
        (particles.own(particles.position()), particles.own(particles.id())),
        |here, (offsets, ids)| {
            // Without a branch for each particle: hardly ever is one outside.
            let any = offsets.iter().fold(false, |any, offset| any | outside(offset));
            let place = if any { offsets.iter().position(outside) } else { None };
            place.map(|place| (here.bucket, ids[place], offsets[place]))
        },
    )?;
    match found.into_iter().flatten().next() {
        None => Ok(()),
        Some((bucket, id, offset)) => Err(CoreError::BadValue {
            what: format!("the position of particle {id} of {} in {bucket:?}", particles.label()),
            found: format!("{offset}"),
            wanted: "within its Bucket; rebucketize first",
        }),
    }
}
