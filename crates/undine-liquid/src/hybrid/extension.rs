//! What a liquid knows of velocities beyond its faces once pressure has acted: as far as this step's ways go, within a Bucket.

use super::declaration::Transfer;
use super::{Channels, Hybrid};
use undine_core::volume::MacHandle;
use undine_core::{Accessor, DiscreteVolume, GridDomain};
use undine_fluid::extend::extend_change;
use undine_fluid::second_order::{Brought, bend};
use undine_sim::offers::FluidField;
use undine_sim::{Moment, Result, World};

/// How many voxels beyond those that particles meet velocities are extended, whatever the step: the reach of a kernel.
const REACH: f64 = 3.0;

/// Nothing is extended farther [voxels], as a liquid has no more than a Bucket around it. What goes farther flies on by itself; and as
/// cells cannot fly, particles take what they hold.
const FARTHEST: f64 = 8.0;

impl Hybrid {
    /// Extends the velocity, and says where it is known. Collective.
    pub(super) fn extend(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let Channels { carried, field, face_mass, known, .. } = self.channels;
        let domain = &world.domains[world.object(self.id).domain];
        let volume = &world.volumes[field.volume];
        // That of now, as forces and pressure may have made all of it.
        let fastest = fastest(domain, volume, field.velocity, face_mass)?;
        let way = now.step * fastest / self.settings.voxel;
        // The middle of the way is the farthest that is looked at.
        let voxels = (REACH + (0.5 * way).ceil()).min(FARTHEST) as u32;
        let brought = Brought { velocity: field.velocity_before, mass: face_mass };
        extend_change(domain, volume, &field, brought, voxels, Some(known))?;
        if let Transfer::Flip(_) = self.settings.transfer {
            // What a particle takes is the change, so that both have to go on alike.
            let before = FluidField { velocity: field.velocity_before, ..field };
            extend_change(domain, volume, &before, brought, voxels, None)?;
        }
        bend(domain, volume, &field, brought, known, now.step)?;
        match self.exchange(now) {
            Some(exchange) if way > FARTHEST => {
                exchange.release(domain, volume, &mut world.particles[carried.particles])
            }
            _ => Ok(()),
        }
    }
}

/// The largest component of a velocity on faces that have mass [m/s]. Collective.
fn fastest(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    velocity: MacHandle,
    mass: MacHandle,
) -> Result<f64> {
    let of = |mac: MacHandle| mac.faces.map(|face| volume.own(face));
    let fastest = Accessor::new("speed", domain).over(volume.topology()).reduce(
        (of(velocity), of(mass)),
        |_, (velocity, mass)| {
            let faces = velocity.iter().zip(&mass).flat_map(|(v, mass)| v.iter().zip(*mass));
            faces.fold(0.0_f32, |most, (v, m)| most.max(if *m > 0.0 { v.abs() } else { 0.0 }))
        },
        f32::max,
    )?;
    Ok(f64::from(fastest.unwrap_or(0.0)))
}
