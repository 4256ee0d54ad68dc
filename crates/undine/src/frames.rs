//! What a frame's files hold: every Object's stores as points with the customary names of channels.

use std::io::Write;
use undine_core::channel::ChannelInfo;
use undine_core::element::ElementType;
use undine_core::glam::{DVec3, Vec3};
use undine_core::particles::{ParticleColumn, TopologicalParticles};
use undine_core::{Element, ParticleSystem};
use undine_io::ply::{self, Precision};
use undine_io::{Points, Values};
use undine_sim::{StoreId, World};

/// Why a frame's file could not be written.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// In a store.
    #[error(transparent)]
    Core(#[from] undine_core::CoreError),
    /// In the file.
    #[error(transparent)]
    Io(#[from] undine_io::IoError),
    /// In the cache.
    #[error(transparent)]
    Cache(#[from] crate::cache::CacheError),
}

/// The points of a store, with all channels that are kept, or those of these names.
pub fn points(
    world: &World,
    store: StoreId,
    channels: &[String],
) -> Result<Option<Points>, FrameError> {
    Ok(match store {
        StoreId::Particles(id) => Some(of_particles(&world.particles[id], channels)?),
        StoreId::Points(id) => Some(of_points(&world.points[id], channels)?),
        StoreId::Volume(_) | StoreId::Elements(_) => None,
    })
}

/// Writes points, positions to their last digit: a scene may be far from the origin.
pub fn write(points: &Points, mut out: &mut dyn Write) -> Result<(), FrameError> {
    Ok(ply::write(&mut out, points, None, Precision::Double)?)
}

fn wanted(info: &ChannelInfo, channels: &[String]) -> bool {
    let named = channels.is_empty() || channels.contains(&info.name);
    info.checkpoint && !info.internal && info.name != "position" && named
}

fn of_particles(particles: &ParticleSystem, channels: &[String]) -> Result<Points, FrameError> {
    let slots = particles.topology().local() as u32;
    let mut points = Points { positions: particles.world_positions()?, ..Points::default() };
    particles.channels().each_column("write a frame", |info, column| {
        if let (true, Some(values)) =
            (wanted(info, channels), of_chunks(info.element, column.as_any(), slots))
        {
            points.channels.insert(info.name.clone(), values);
        }
    })?;
    Ok(points)
}

fn of_chunks(element: ElementType, column: &dyn std::any::Any, slots: u32) -> Option<Values> {
    fn all<T: Element>(column: &dyn std::any::Any, slots: u32) -> Option<Vec<T>> {
        let column = column.downcast_ref::<ParticleColumn<T>>()?;
        Some((0..slots).flat_map(|slot| column.chunk(slot).iter().copied()).collect())
    }
    Some(match element {
        ElementType::F32 => Values::F32(all::<f32>(column, slots)?),
        ElementType::F64 => Values::F64(all::<f64>(column, slots)?),
        ElementType::I32 => Values::I32(all::<i32>(column, slots)?),
        ElementType::U32 => Values::U32(all::<u32>(column, slots)?),
        ElementType::U64 => Values::U64(all::<u64>(column, slots)?),
        ElementType::Vec3 => Values::Vec3(all::<Vec3>(column, slots)?),
        ElementType::DVec3 => Values::DVec3(all::<DVec3>(column, slots)?),
        _ => return None,
    })
}

fn of_points(store: &TopologicalParticles, channels: &[String]) -> Result<Points, FrameError> {
    let mut points = Points {
        positions: store.column(store.position())?[..store.len()].to_vec(),
        ..Points::default()
    };
    let infos: Vec<ChannelInfo> = store.channels().infos().cloned().collect();
    for info in infos.iter().filter(|info| wanted(info, channels)) {
        let values = match info.element {
            ElementType::F32 => Values::F32(flat(store, info)?),
            ElementType::F64 => Values::F64(flat(store, info)?),
            ElementType::I32 => Values::I32(flat(store, info)?),
            ElementType::U32 => Values::U32(flat(store, info)?),
            ElementType::U64 => Values::U64(flat(store, info)?),
            ElementType::Vec3 => Values::Vec3(flat(store, info)?),
            ElementType::DVec3 => Values::DVec3(flat(store, info)?),
            // As Houdini's `orient`: x, y, z and w.
            ElementType::DQuat => {
                let turns = flat::<undine_core::glam::DQuat>(store, info)?;
                let axes = turns.iter().map(|turn| turn.xyz()).collect();
                points.channels.insert(
                    format!("{}-w", info.name),
                    Values::F64(turns.iter().map(|turn| turn.w).collect()),
                );
                Values::DVec3(axes)
            }
            _ => continue,
        };
        points.channels.insert(info.name.clone(), values);
    }
    Ok(points)
}

fn flat<T: Element>(
    store: &TopologicalParticles,
    info: &ChannelInfo,
) -> Result<Vec<T>, FrameError> {
    Ok(store.column(store.handle::<T>(&info.name)?)?[..store.len()].to_vec())
}
