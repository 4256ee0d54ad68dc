//! The surface of a liquid as others see it: where its particles are now, and closed by walls.
//!
//! What a step uses is of the step's beginning, and goes on into walls, which are no surface for the pressure. Whoever makes a mesh
//! of a frame wants neither.

use std::sync::Arc;
use undine_core::access::Accessor;
use undine_core::volume::{DiscreteVolume, Resolution, VoxelShape};
use undine_core::{ChannelSpec, GridDomain, ParticleSystem, Topology};
use undine_fluid::field::SURFACE_REACH;
use undine_sim::Result;
use undine_sim::offers::{Coupling, FluidField, Interior, Walls};

/// Finds the surface of a liquid anew, on Buckets that hold all of it, with walls cut out as far as they are known: a volume whose
/// `surface` is the distance to it [m], within ± [`SURFACE_REACH`] voxels. Nothing for a fluid without a surface. Collective.
pub fn shown(
    domain: &GridDomain,
    particles: &ParticleSystem,
    volume: &DiscreteVolume,
    field: &FluidField,
    buckets: Arc<Topology>,
) -> Result<Option<DiscreteVolume>> {
    if field.distance.is_none() {
        return Ok(None);
    }
    let voxel = domain.frame().voxel_size(0) as f32;
    let mut seen = DiscreteVolume::on("surface that is seen", domain, buckets);
    let own = add_channels(&mut seen, volume, field, voxel)?;
    let taken = match Coupling::taken(volume) {
        Some(from) => Some((from, Coupling::add_taken(&mut seen)?)),
        None => None,
    };
    let copied = (
        (volume.own(field.walls.volume), seen.write(own.walls.volume)),
        (volume.own(field.walls.distance), seen.write(own.walls.distance)),
        (
            field.walls.area.faces.map(|face| volume.own(face)),
            own.walls.area.faces.map(|face| seen.write(face)),
        ),
        field
            .interior
            .zip(own.interior)
            .map(|(from, to)| (volume.own(from.parts), seen.write(to.parts))),
        taken.map(|(from, to)| (volume.own(from), seen.write(to))),
    );
    Accessor::new("copy walls", domain).over(seen.topology()).run(
        copied,
        |_, (open, wall, area, interior, taken)| {
            open.1.copy_from_slice(open.0);
            wall.1.copy_from_slice(wall.0);
            area.1.into_iter().zip(area.0).for_each(|(to, from)| to.copy_from_slice(from));
            if let Some((from, to)) = interior {
                to.copy_from_slice(from);
            }
            if let Some((from, to)) = taken {
                to.copy_from_slice(from);
            }
        },
    )?;
    super::find(domain, particles, &seen, &own)?;
    if let Some(distance) = own.distance {
        Accessor::new("end at walls", domain).over(seen.topology()).run(
            (seen.own(own.walls.distance), seen.write(distance)),
            |_, (wall, distance)| {
                for (distance, wall) in distance.iter_mut().zip(wall) {
                    *distance = distance.max((-wall).min(SURFACE_REACH * voxel));
                }
            },
        )?;
    }
    Ok(Some(seen))
}

/// Adds the channels that finding a surface uses, and no others.
fn add_channels(
    seen: &mut DiscreteVolume,
    volume: &DiscreteVolume,
    field: &FluidField,
    voxel: f32,
) -> Result<FluidField> {
    let cells = VoxelShape::CELLS;
    let number = |name: &'static str, default: f32| ChannelSpec::new(name, default);
    let density = volume.column(field.density)?.background();
    let interior = match field.interior {
        Some(interior) => {
            let parts = seen.add_channel(&ChannelSpec::new("parts", 0_u32).internal(), cells)?;
            Some(Interior { parts, ..interior })
        }
        None => None,
    };
    let walls = Walls {
        area: seen.add_mac_channel(&number("open", 1.0).internal(), Resolution::R8)?,
        volume: seen.add_channel(&number("open-volume", -1.0).internal(), cells)?,
        distance: seen
            .add_channel(&number("wall-distance", Walls::FAR * voxel).internal(), cells)?,
        ..field.walls
    };
    let mask = ChannelSpec::new("cells", 0).internal();
    Ok(FluidField {
        distance: Some(
            seen.add_channel(&number("surface", SURFACE_REACH * voxel).unit("m"), cells)?,
        ),
        cells: seen.add_mask_channel(&mask, Resolution::R8)?,
        density: seen.add_channel(&number("mass-density", density).internal(), cells)?,
        walls,
        interior,
        ..*field
    })
}
