//! Moving particles through the velocity of the grid, by methods of Runge and Kutta.
//!
//! A Bucket's faces are copied with a margin, so that nearly every particle finds what it meets on its way in one small array;
//! what goes farther asks the Buckets next to it. Where nobody knows a velocity, a particle goes on with its own: so it flies
//! freely, however long the step, and however far the liquid's velocity was extended. The shift that keeps volume is that of where
//! a particle begins: densities go with the flow, so that it would be another particle's anywhere on the way.

use crate::hybrid::Advection;
use undine_core::glam::Vec3;
use undine_core::volume::{MacHandle, MaskHandle};
use undine_core::{Accessor, DiscreteVolume, GridDomain, Handle, ParticleSystem};
use undine_fluid::nearby::{AlongTheWay, Within, farther};
use undine_sim::Result;

/// What particles move by.
#[derive(Debug, Clone, Copy)]
pub struct Flow {
    /// Velocity on faces [m/s].
    pub velocity: MacHandle,
    /// The faces whose velocity means something, by axis.
    pub known: [MaskHandle; 3],
    /// Displacement on faces in this step, besides the velocity's [m].
    pub shift: Option<MacHandle>,
}

/// Channels of particles that move.
#[derive(Debug, Clone, Copy)]
pub struct Moving {
    /// Its velocity [m/s].
    pub velocity: Handle<Vec3>,
    /// Whether that is the velocity of the grid where the particle is, which is looked up otherwise.
    pub is_of_grid: bool,
    /// Where the step began, from the corner of the Bucket [m]: is written.
    pub position_before: Handle<Vec3>,
    /// Time since birth [s]: grows.
    pub age: Handle<f32>,
}

/// How far a stencil reaches that is a Bucket wide [voxels].
const BUCKET: u8 = 8;

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
    for mask in flow.known {
        volume.refresh(domain, mask.words)?;
    }
    let voxel = domain.frame().voxel_size(0);
    let (step, per_voxel) = (step as f32, (1.0 / voxel) as f32);
    let around = |mac: MacHandle, reach| mac.faces.map(|face| volume.around(face, reach));
    let kernel = (
        (
            around(flow.velocity, BUCKET),
            flow.known.map(|mask| volume.around(mask.words, BUCKET)),
            flow.shift.map(|shift| around(shift, 1)),
        ),
        particles.own(moving.velocity),
        (particles.write(particles.position()), particles.write(moving.position_before)),
        particles.write(moving.age),
    );
    Accessor::new("move", domain).over(particles.topology()).run_with(
        kernel,
        || (AlongTheWay::default(), Within::default()),
        |(near, shifts), _, ((velocity, known, shift), own, (position, before), age)| {
            before.copy_from_slice(position);
            age.iter_mut().for_each(|age| *age += step);
            near.load_known(velocity, &known);
            let shifted = shift.is_some();
            if let Some(shift) = shift {
                shifts.load(shift);
            }
            // The velocity at a place, or another one where it is not known.
            let at = |place: Vec3, otherwise: Vec3| {
                let place = place * per_voxel;
                let found = near.at(place).or_else(|| farther(&velocity, &known, place));
                found.filter(|found| !found.is_nan()).unwrap_or(otherwise)
            };
            for (x, own) in position.iter_mut().zip(own) {
                let k1 = if moving.is_of_grid { *own } else { at(*x, *own) };
                let shift = if shifted { shifts.at(*x * per_voxel) } else { None };
                *x += shift.unwrap_or(Vec3::ZERO)
                    + step
                        * match how {
                            Advection::Rk2 => at(*x + 0.5 * step * k1, k1),
                            Advection::Rk3 => {
                                let k2 = at(*x + 0.5 * step * k1, k1);
                                let k3 = at(*x + 0.75 * step * k2, k2);
                                (2.0 * k1 + 3.0 * k2 + 4.0 * k3) / 9.0
                            }
                        };
            }
        },
    )?;
    Ok(())
}
