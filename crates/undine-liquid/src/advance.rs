//! Moving particles through the velocity of the grid, by methods of Runge and Kutta.
//!
//! A Bucket's faces are copied with a margin, so that nearly every particle finds what it meets on its way in one small array;
//! what goes farther asks the grid. The shift that keeps volume is that of where a particle begins: densities go with the flow, so
//! that it would be another particle's anywhere on the way.

use crate::hybrid::Advection;
use undine_core::glam::Vec3;
use undine_core::volume::{Interpolation, MacHandle, MacSampler};
use undine_core::{Accessor, DiscreteVolume, GridDomain, Handle, ParticleSystem};
use undine_fluid::nearby::{AlongTheWay, MARGIN, Within};
use undine_sim::Result;

/// What particles move by.
#[derive(Debug, Clone, Copy)]
pub struct Flow {
    /// Velocity on faces [m/s].
    pub velocity: MacHandle,
    /// Displacement on faces in this step, besides the velocity's [m].
    pub shift: Option<MacHandle>,
}

/// Channels of particles that move.
#[derive(Debug, Clone, Copy)]
pub struct Moving {
    /// The velocity of the grid where the particle is [m/s], where it is known already; it is looked up otherwise.
    pub flow: Option<Handle<Vec3>>,
    /// Where the step began, from the corner of the Bucket [m]: is written.
    pub position_before: Handle<Vec3>,
    /// Time since birth [s]: grows.
    pub age: Handle<f32>,
}

/// Moves all particles by a step [s]. They may leave their Buckets. Collective.
pub fn advance(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    flow: Flow,
    particles: &ParticleSystem,
    moving: Moving,
    step: f64,
    how: Advection,
) -> Result<()> {
    for face in flow.velocity.faces {
        volume.refresh(domain, face)?;
    }
    let columns = flow.velocity.faces.map(|face| volume.column(face));
    let [x, y, z] = columns;
    let faces = [x?, y?, z?];
    let topology = volume.topology();
    let faces_of = [&*faces[0], &*faces[1], &*faces[2]];
    let grid = MacSampler::new(faces_of, topology, Interpolation::Linear)?;
    let voxel = domain.frame().voxel_size(0);
    let (step, per_voxel) = (step as f32, (1.0 / voxel) as f32);
    let around = |mac: MacHandle, reach| mac.faces.map(|face| volume.around(face, reach));
    let kernel = (
        (around(flow.velocity, MARGIN as u8), flow.shift.map(|shift| around(shift, 1))),
        moving.flow.map(|velocity| particles.own(velocity)),
        (particles.write(particles.position()), particles.write(moving.position_before)),
        particles.write(moving.age),
    );
    Accessor::new("move", domain).over(particles.topology()).run_with(
        kernel,
        || (AlongTheWay::default(), Within::default()),
        |(near, shifts), here, ((velocity, shift), known, (position, before), age)| {
            before.copy_from_slice(position);
            age.iter_mut().for_each(|age| *age += step);
            near.load(velocity);
            let shifted = shift.is_some();
            if let Some(shift) = shift {
                shifts.load(shift);
            }
            let slot = topology.slot(here.bucket);
            let at = |place: Vec3| {
                near.at(place * per_voxel)
                    .unwrap_or_else(|| slot.map_or(Vec3::ZERO, |slot| grid.at(slot, place)))
            };
            for (n, x) in position.iter_mut().enumerate() {
                let k1 = known.map_or_else(|| at(*x), |known| known[n]);
                let shift = if shifted { shifts.at(*x * per_voxel) } else { None };
                *x += shift.unwrap_or(Vec3::ZERO)
                    + step
                        * match how {
                            Advection::Rk2 => at(*x + 0.5 * step * k1),
                            Advection::Rk3 => {
                                let k2 = at(*x + 0.5 * step * k1);
                                let k3 = at(*x + 0.75 * step * k2);
                                (2.0 * k1 + 3.0 * k2 + 4.0 * k3) / 9.0
                            }
                        };
            }
        },
    )?;
    Ok(())
}
