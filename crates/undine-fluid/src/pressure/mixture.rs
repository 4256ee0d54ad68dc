//! Objects inside of a fluid, as its pressure sees them: a mixture at each face (`pressure/drag.rs` of `undine-linsolve` has the
//! equations).
//!
//! Drag and pressure act on both at once; eliminating both velocities leaves a flux, and how it answers to a pressure gradient. The
//! velocity of the fluid becomes what drag alone would make of it, and the gradient then acts on it with a coefficient of its
//! own.

use super::layers::{bits, chunk, is_on, lower, lower_bits, step};
use crate::field::Mixed;
use undine_core::{Accessor, DiscreteVolume, GridDomain};
use undine_linsolve::pressure::{FaceCoupling, inverse_of_mean};
use undine_sim::Result;
use undine_sim::offers::{Coupling, FluidField};

/// The largest density of a solid [kg/m³]: as good as one that cannot move.
const HEAVIEST: f64 = 1e9;

/// Whether anything acts on a fluid. Collective.
pub fn is_any(domain: &GridDomain, volume: &DiscreteVolume, of: &Coupling) -> Result<bool> {
    let any = Accessor::new("look for solids in a fluid", domain).over(volume.topology()).reduce(
        of.mass.faces.map(|face| volume.own(face)),
        |_, faces| u8::from(faces.into_iter().flatten().any(|&mass| mass > 0.0)),
        u8::max,
    )?;
    Ok(any.unwrap_or(0) > 0)
}

/// Mixes solids and fluid at every face that touches a cell of the fluid, for a step [s]: writes the flux and both coefficients, and
/// lets drag act on the fluid's velocity. Faults are those of sums that cannot be.
pub fn mix(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    field: &FluidField,
    (of, into): (&Coupling, &Mixed),
    step_length: f64,
) -> Result<()> {
    let own = |mac: undine_core::volume::MacHandle| mac.faces.map(|face| volume.own(face));
    let access = (
        (volume.around(field.cells.words, 1), volume.around(field.density, 1)),
        [of.share, of.mass, of.momentum, of.drag].map(own),
        field.velocity.faces.map(|face| volume.write(face)),
        [into.flux, into.inverse_density, into.of_fluid]
            .map(|mac| mac.faces.map(|face| volume.write(face))),
    );
    let faults = Accessor::new("mix solids and fluid", domain).over(volume.topology()).map(
        access,
        |_, ((cells, density), [share, mass, momentum, drag], velocity, into)| {
            let here = bits(cells.chunk());
            let [flux, inverse, of_fluid] = into;
            let mut fault = None;
            let all = velocity.into_iter().zip(flux).zip(inverse).zip(of_fluid).enumerate();
            for (axis, (((velocity, flux), inverse), of_fluid)) in all {
                let (x, y, z) = step(axis, -1);
                let below = lower_bits(axis, &here, &bits(cells.neighbour(x, y, z)));
                let rho = chunk(density.chunk());
                let rho_below = lower(axis, &rho, density.neighbour(x, y, z));
                for n in 0..velocity.len() {
                    let wet = [is_on(&below, n), is_on(&here, n)];
                    let densities = [wet[0].then_some(rho_below[n]), wet[1].then_some(rho[n])];
                    let plain = inverse_of_mean(densities);
                    flux[n] = velocity[n];
                    (inverse[n], of_fluid[n]) = (plain, plain);
                    if wet == [false; 2] {
                        (inverse[n], of_fluid[n]) = (0.0, 0.0);
                        continue;
                    }
                    let mass = f64::from(mass[axis][n]);
                    if mass <= 0.0 {
                        continue;
                    }
                    // What has no volume has a little, so that its mass is at some density.
                    let share = f64::from(share[axis][n].min(Coupling::FULLEST));
                    let alpha = share.max(mass / HEAVIEST);
                    let face = FaceCoupling {
                        alpha,
                        fluid_density: 1.0 / f64::from(plain),
                        solid_density: (mass / alpha).min(HEAVIEST),
                        drag: drag[axis][n].into(),
                        time_step: step_length,
                    };
                    match face.eliminate() {
                        Ok(answer) => {
                            let u_f = f64::from(velocity[n]);
                            let u_s = f64::from(momentum[axis][n]) / mass;
                            let [fluid, solid] =
                                [answer.fluid, answer.solid].map(|of| of.before(u_f, u_s));
                            velocity[n] = fluid as f32;
                            flux[n] = ((1.0 - alpha) * fluid + alpha * solid) as f32;
                            inverse[n] = answer.inverse_density as f32;
                            of_fluid[n] = answer.fluid.inverse_density as f32;
                        }
                        Err(error) => fault = Some(error),
                    }
                }
            }
            fault
        },
    )?;
    match faults.into_iter().flatten().next() {
        Some(fault) => Err(fault.into()),
        None => Ok(()),
    }
}

/// Clears what acted on a fluid, when a solve has taken it.
pub fn clear(volume: &DiscreteVolume, of: &Coupling) -> Result<()> {
    for mac in [of.share, of.mass, of.momentum, of.drag] {
        for face in mac.faces {
            volume.column_mut(face)?.fill(0.0);
        }
    }
    Ok(())
}
