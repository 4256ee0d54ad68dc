//! The points of a store, with their channels, as a table.

use super::{FrameError, is_wanted};
use undine_core::channel::ChannelInfo;
use undine_core::element::ElementType;
use undine_core::glam::DQuat;
use undine_core::particles::TopologicalParticles;
use undine_core::{Element, ParticleSystem};
use undine_io::gather::{Order, by_numbers, gather};
use undine_io::particles::points_of_particles;
use undine_io::{Points, Values};
use undine_scene::Output;
use undine_sim::World;

/// The particles of all processes, Bucket after Bucket along the curve of their own lattice; on the first process. Collective.
pub(super) fn of_all_particles(
    world: &World,
    particles: &ParticleSystem,
    output: &Output,
) -> Result<Option<Points>, FrameError> {
    let mut own = points_of_particles(particles, |info| is_wanted(info, output))?;
    let processes = &**world.processes();
    if processes.count() == 1 {
        return Ok(Some(own));
    }
    let (topology, frame) = (particles.topology(), particles.topology().frame());
    if world.domain_with(frame).is_none_or(|domain| domain.partition().lattice() == frame) {
        return Ok(gather(processes, &own, Order::Buckets)?);
    }
    // Processes own pieces of another curve: what is along this one has to be said.
    let keys = topology.all().keys();
    let ids = particles.column(particles.id())?;
    let mut places = Vec::with_capacity(particles.len());
    for slot in 0..topology.local() as u32 {
        let key = topology.bucket(slot).key();
        let place = keys.partition_point(|other| *other < key) as u64;
        places.resize(places.len() + ids.chunk(slot).len(), place);
    }
    own.channels.insert(PLACE.to_owned(), Values::U64(places));
    let Some(all) = gather(processes, &own, Order::Buckets)? else { return Ok(None) };
    let mut all = by_numbers(all, PLACE)?;
    all.channels.remove(PLACE);
    Ok(Some(all))
}

/// Which Bucket a point is of, while it travels; no channel is called like this.
const PLACE: &str = "place along the curve";

pub(super) fn of_points(
    store: &TopologicalParticles,
    output: &Output,
) -> Result<Points, FrameError> {
    let mut points = Points {
        positions: store.column(store.position())?[..store.len()].to_vec(),
        ..Points::default()
    };
    let is_place = |info: &ChannelInfo| info.name == "position";
    let infos: Vec<ChannelInfo> = store.channels().infos().cloned().collect();
    for info in infos.iter().filter(|info| is_wanted(info, output) && !is_place(info)) {
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
                let turns = flat::<DQuat>(store, info)?;
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
