//! Particle Systems to and from tables of points.

use crate::error::Result;
use crate::table::{Points, Values};
use std::any::Any;
use undine_core::channel::ChannelInfo;
use undine_core::element::ElementType;
use undine_core::particles::{Batch, ParticleColumn};
use undine_core::{Element, ParticleSystem};

/// The particles that this process owns, Bucket after Bucket along the curve, with those of their channels that are wanted and
/// that a table has a type for. Positions are in the world [m].
pub fn points_of_particles(
    particles: &ParticleSystem,
    wanted: impl Fn(&ChannelInfo) -> bool,
) -> Result<Points> {
    let slots = particles.topology().local() as u32;
    let mut points = Points { positions: particles.world_positions()?, ..Points::default() };
    particles.channels().each_column("points of particles", |info, column| {
        // Where they are has been said.
        if info.name == "position" || !wanted(info) {
            return;
        }
        if let Some(values) = values(info.element, column.as_any(), slots) {
            points.channels.insert(info.name.clone(), values);
        }
    })?;
    Ok(points)
}

fn values(element: ElementType, column: &dyn Any, slots: u32) -> Option<Values> {
    fn all<T: Element>(column: &dyn Any, slots: u32) -> Option<Vec<T>> {
        let column = column.downcast_ref::<ParticleColumn<T>>()?;
        Some((0..slots).flat_map(|slot| column.chunk(slot).iter().copied()).collect())
    }
    Some(match element {
        ElementType::F32 => Values::F32(all(column, slots)?),
        ElementType::F64 => Values::F64(all(column, slots)?),
        ElementType::I32 => Values::I32(all(column, slots)?),
        ElementType::U32 => Values::U32(all(column, slots)?),
        ElementType::U64 => Values::U64(all(column, slots)?),
        ElementType::Vec3 => Values::Vec3(all(column, slots)?),
        ElementType::DVec3 => Values::DVec3(all(column, slots)?),
        _ => return None,
    })
}

/// New particles from a table, to be appended: channels that the Particle System has under the same name are taken over, as far as
/// their types can become each other; ids are given anew.
pub fn batch_of_points(particles: &ParticleSystem, points: &Points) -> Result<Batch> {
    let mut batch = particles.batch(&points.positions)?;
    for info in particles.channels().infos() {
        let Some(values) = points.channels.get(&info.name) else { continue };
        if ["position", "id"].contains(&info.name.as_str()) {
            continue;
        }
        let name = &info.name;
        match (info.element, values.numbers(), values.vectors()) {
            (ElementType::F32, Some(numbers), _) => {
                batch.set(name, &numbers.iter().map(|&n| n as f32).collect::<Vec<_>>())?;
            }
            (ElementType::F64, Some(numbers), _) => batch.set(name, &numbers)?,
            (ElementType::I32, Some(numbers), _) => {
                batch.set(name, &numbers.iter().map(|&n| n as i32).collect::<Vec<_>>())?;
            }
            (ElementType::U32, Some(numbers), _) => {
                batch.set(name, &numbers.iter().map(|&n| n as u32).collect::<Vec<_>>())?;
            }
            (ElementType::U64, _, _) => {
                if let Some(ids) = values.ids() {
                    batch.set(name, &ids)?;
                }
            }
            (ElementType::Vec3, _, Some(vectors)) => {
                batch.set(name, &vectors.iter().map(|v| v.as_vec3()).collect::<Vec<_>>())?;
            }
            (ElementType::DVec3, _, Some(vectors)) => batch.set(name, &vectors)?,
            _ => {}
        }
    }
    Ok(batch)
}
