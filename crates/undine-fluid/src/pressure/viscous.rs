//! What viscosity tells of the pressure: the rotational form of the incremental pressure correction (L. Timmermans, P. Minev & F. van
//! de Vosse, *An approximate projection scheme for incompressible flow using spectral elements*, 1996), and the first pressure of all.
//!
//! Where viscosity is strong, walls and bodies hold what forces would have accelerated, and the pressure that follows is far too
//! small: honey at rest would need hundreds of steps until its pressure bears it, while what is in it sinks. But the velocity then
//! has a divergence, by which the pressure is off: −μ∇·u is added to it when it acts next. With stresses 2με that is half of what
//! would do for flows without a boundary, and brings the error of all others down as fast (Uzawa's iteration, which converges below 4/3 μ
//! in three dimensions).

use super::afloat::{Afloat, Hold};
use super::project::{Fluid, Settings, project};
use super::{flux, mixture};
use crate::field::coupling;
use undine_core::domain::Slot;
use undine_core::volume::MacHandle;
use undine_core::{Accessor, DiscreteVolume, Handle};
use undine_sim::Result;

/// Cells that are no deeper than this are left out [voxels]: there the divergence is that of the surface, which moves from particle
/// to particle, and pressure is small.
const DEEP: f32 = 1.0;

/// The viscosity of a fluid [Pa s]: the same everywhere, or that of cells, negative where only the first is known.
#[derive(Debug, Clone, Copy)]
pub struct Viscous {
    /// Where cells know none.
    pub everywhere: f64,
    /// Of cells.
    pub by_cell: Option<Handle<f32>>,
}

/// Sets a channel of cells [Pa] to −μ∇·u of a fluid that viscosity has just acted on, with the bodies in it. Collective.
pub fn find(
    fluid: &Fluid<'_>,
    bodies: &mut [Afloat],
    viscous: Viscous,
    to: Handle<f32>,
) -> Result<()> {
    let Fluid { domain, volume, field, inflow, .. } = *fluid;
    let walls = Kept::of(volume, field.walls.velocity)?;
    if !bodies.is_empty() {
        Hold::new(domain, volume, field, bodies)?.move_walls(volume, field, bodies)?;
    }
    flux::inflow(fluid)?;
    walls.put_back(volume)?;
    let kernel = (
        volume.own(field.cells.words),
        volume.own(inflow),
        viscous.by_cell.map(|cells| volume.own(cells)),
        field.distance.map(|distance| volume.own(distance)),
        volume.write(to),
    );
    let everywhere = viscous.everywhere as f32;
    let deep = -DEEP * domain.frame().voxel_size(0) as f32;
    Accessor::new("find viscous pressures", domain).over(volume.topology()).level(0).run(
        kernel,
        |_, (cells, inflow, by_cell, distance, to)| {
            for (n, to) in to.iter_mut().enumerate() {
                let is_liquid = cells[n >> 6] >> (n & 63) & 1 != 0
                    && distance.is_none_or(|distance| distance[n] < deep);
                let known = by_cell.map(|cells| cells[n]).filter(|viscosity| *viscosity >= 0.0);
                *to = if is_liquid { known.unwrap_or(everywhere) * inflow[n] } else { 0.0 };
            }
        },
    )?;
    Ok(())
}

/// Adds to the pressure of cells what viscosity told of it in the step before. Collective.
pub fn add(fluid: &Fluid<'_>, from: Handle<f32>) -> Result<()> {
    let Fluid { domain, volume, field, .. } = *fluid;
    let kernel = (volume.own(from), volume.write(field.pressure));
    Accessor::new("add viscous pressures", domain).over(volume.topology()).level(0).run(
        kernel,
        |_, (from, pressure)| {
            pressure.iter_mut().zip(from).for_each(|(pressure, from)| *pressure += from);
        },
    )?;
    Ok(())
}

/// The pressure of a fluid that had no step before: that which it would have without viscosity. Collective.
pub fn first(fluid: &Fluid<'_>, bodies: &[Afloat], step: f64) -> Result<()> {
    let Fluid { domain, volume, field, .. } = *fluid;
    // Solids that are mixed into it act once, when pressure is solved for.
    if let Some((of, _)) = coupling(volume)
        && mixture::is_any(domain, volume, &of)?
    {
        return Ok(());
    }
    let velocity = Kept::of(volume, field.velocity)?;
    let walls = Kept::of(volume, field.walls.velocity)?;
    project(fluid, &mut bodies.to_vec(), &Settings::default(), step)?;
    velocity.put_back(volume)?;
    walls.put_back(volume)
}

/// The values of faces of own Buckets, to be put back.
struct Kept {
    handle: MacHandle,
    faces: [Vec<f32>; 3],
}

impl Kept {
    fn of(volume: &DiscreteVolume, handle: MacHandle) -> Result<Self> {
        let [x, y, z] = handle.faces.map(|face| volume.column(face));
        let own = 0..volume.topology().local() as Slot;
        let faces = [x?, y?, z?]
            .map(|column| own.clone().flat_map(|slot| column.chunk(slot)).copied().collect());
        Ok(Self { handle, faces })
    }

    fn put_back(self, volume: &DiscreteVolume) -> Result<()> {
        for (face, kept) in self.handle.faces.into_iter().zip(self.faces) {
            let mut column = volume.column_mut(face)?;
            for (slot, kept) in (0..).zip(kept.chunks_exact(column.chunk_len())) {
                column.chunk_mut(slot).copy_from_slice(kept);
            }
        }
        Ok(())
    }
}
