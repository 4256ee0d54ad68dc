//! One projection: the velocity of a fluid is made free of divergence by the gradient of a pressure.

use super::afloat::{Afloat, Hold};
use super::flux::{self, Jump};
use super::gradient::Gradient;
use super::layers::{bits, ones};
use super::{contact_line, mixture, non_stick};
use crate::field::coupling;
use undine_core::{Accessor, DiscreteVolume, GridDomain, Handle};
use undine_linsolve::Operator;
use undine_linsolve::pressure::{
    Coupled, InverseDensity, MOTIONS, Open, PressureInput, PressureSystem, Surface,
};
use undine_linsolve::report::{Report, Stop};
use undine_sim::Result;
use undine_sim::offers::FluidField;

/// How the pressure is solved for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// The relative residual to stop at.
    pub tolerance: f64,
    /// The smallest part of a cell that counts as the distance of a liquid cell's centre to the surface.
    pub smallest: f32,
    /// Whether liquid may leave walls: there the pressure pushes, but does not pull.
    pub non_stick: bool,
    /// Surface tension [N/m].
    pub tension: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { tolerance: 1e-4, smallest: 1e-3, non_stick: false, tension: 0.0 }
    }
}

/// A fluid to be projected, with scratch channels of cells.
#[derive(Debug, Clone, Copy)]
pub struct Fluid<'a> {
    /// Where its Buckets are.
    pub domain: &'a GridDomain,
    /// The store.
    pub volume: &'a DiscreteVolume,
    /// Its channels.
    pub field: &'a FluidField,
    /// What flows into cells [1/s]: scratch.
    pub inflow: Handle<f32>,
    /// The curvature of its surface [1/m], where tension matters.
    pub curvature: Option<Handle<f32>>,
}

/// What a cell may lose or gain of its volume in a step, at the most, for a solve to be good in any case, as a share of the
/// tolerance: by default it is what rounding of velocities in single precision does anyway.
const LEAST: f64 = 1e-3;

/// Iterations after which a solve is given up.
const MOST_ITERATIONS: usize = 300;

/// How a projection went.
#[derive(Debug)]
pub struct Projected {
    /// How the solve went.
    pub report: Report,
    /// How many cells have a pressure, on all processes.
    pub unknowns: usize,
    /// How fast walls press liquid together that has no way out, at the most [1/s]: what no pressure could take.
    pub squeezed: f64,
}

/// Makes the velocity of a fluid free of divergence over a step of `step` [s], with the bodies in it. Collective.
pub fn project(
    fluid: &Fluid<'_>,
    bodies: &mut [Afloat],
    settings: &Settings,
    step: f64,
) -> Result<Projected> {
    let Fluid { domain, volume, field, .. } = *fluid;
    let voxel = domain.frame().voxel_size(0);
    let Found { unknowns, density } = look(domain, volume, field)?;
    let inverse_density = density.map(f32::recip);
    let scale = step / (voxel * voxel);
    // What is inside of the fluid and acts on it.
    let mixed = match coupling(volume) {
        Some((of, mixed)) if mixture::is_any(domain, volume, &of)? => {
            mixture::mix(domain, volume, field, (&of, &mixed), step)?;
            mixture::clear(volume, &of)?;
            Some(mixed)
        }
        _ => None,
    };
    let flows = FluidField { velocity: mixed.map_or(field.velocity, |mixed| mixed.flux), ..*field };
    let system = PressureSystem::new(
        domain,
        &PressureInput {
            volume,
            liquid: field.cells,
            open: Open::Channel(field.walls.area),
            inverse_density: match (mixed, inverse_density) {
                (Some(mixed), _) => InverseDensity::Channel(mixed.inverse_density),
                (None, Some(constant)) => InverseDensity::Constant(constant),
                (None, None) => InverseDensity::OfCells(field.density),
            },
            surface: match field.distance {
                Some(distance) => Surface::Distance { distance, smallest: settings.smallest },
                None => Surface::Cells,
            },
            diagonal: None,
            scale,
        },
    )?;
    let hold = match bodies.is_empty() {
        true => None,
        false => Some(Hold::new(domain, volume, field, bodies)?),
    };
    let jump = fluid.curvature.filter(|_| settings.tension > 0.0).map(|curvature| Jump {
        curvature,
        tension: settings.tension as f32,
        inverse_density,
        by_face: mixed.map(|mixed| mixed.inverse_density),
        smallest: settings.smallest,
        scale: scale as f32,
    });

    // The right-hand side: what flows into each cell, and the pressure of the surface.
    if let Some(hold) = &hold {
        hold.weigh_in(domain, volume, field, bodies)?;
        hold.move_walls(volume, field, bodies)?;
    }
    flux::inflow(&Fluid { field: &flows, ..*fluid })?;
    if let Some(jump) = &jump {
        jump.add(fluid)?;
    }
    let b = system.read(volume, fluid.inflow)?;

    let mut p = system.read(volume, field.pressure)?;
    let stop = Stop {
        relative: settings.tolerance,
        absolute: LEAST * settings.tolerance / step,
        iterations: MOST_ITERATIONS,
        ..Stop::default()
    };
    let free = |body: &Afloat| body.inverse_mass != [[0.0; MOTIONS]; MOTIONS];
    let (report, squeezed, at_bounds) = if let Some(hold) = &hold
        && bodies.iter().any(free)
    {
        let coupled = Coupled::new(&system, hold.terms(&system, bodies, step))?;
        let squeezed = out_of_reach(&coupled, &b)?;
        let report = coupled.solve(&b, &mut p, &stop)?;
        for (body, gained) in bodies.iter_mut().zip(coupled.accelerations(&p)?) {
            body.speed_up(gained.map(|gained| step * gained));
        }
        hold.move_walls(volume, field, bodies)?;
        (report, squeezed, false)
    } else if settings.non_stick && !system.is_singular() {
        (non_stick::solve(fluid, &system, &b, &mut p, &stop)?, 0.0, true)
    } else {
        let squeezed = out_of_reach(&system, &b)?;
        (system.solve(&b, &mut p, &stop)?, squeezed, false)
    };

    volume.column_mut(field.pressure)?.fill(0.0);
    system.write(&p, domain, volume, field.pressure)?;
    let gradient = Gradient {
        step: (step / voxel) as f32,
        inverse_density,
        by_face: mixed.map(|mixed| mixed.of_fluid),
        smallest: settings.smallest,
        jump: jump.map(|jump| (jump.curvature, jump.tension)),
        non_stick: at_bounds,
    };
    gradient.subtract(domain, volume, field)?;
    contact_line::keep(domain, volume, field)?;
    Ok(Projected { report, unknowns, squeezed })
}

/// Takes the gradient of the pressure out of a projected velocity once more: what was taken from it before is there again, with the
/// other sign. Collective.
pub fn mirror(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    field: &FluidField,
    step: f64,
) -> Result<()> {
    let gradient = Gradient {
        step: (step / domain.frame().voxel_size(0)) as f32,
        inverse_density: look(domain, volume, field)?.density.map(f32::recip),
        by_face: None,
        smallest: Settings::default().smallest,
        jump: None,
        non_stick: false,
    };
    gradient.subtract(domain, volume, field)
}

/// The largest part of a right-hand side that no pressure can take [1/s]: liquid that is pressed together by its walls, and can go
/// nowhere. Collective.
fn out_of_reach(system: &dyn Operator, b: &[f64]) -> Result<f64> {
    if !system.is_singular() {
        return Ok(0.0);
    }
    let mut within = b.to_vec();
    system.project(&mut within)?;
    let most = b.iter().zip(&within).map(|(b, within)| (b - within).abs()).fold(0.0, f64::max);
    Ok(system.rows().max(most)?)
}

/// What a fluid is like.
struct Found {
    /// How many cells it fills, on all processes.
    unknowns: usize,
    /// Its density [kg/m³], where that is the same everywhere.
    density: Option<f32>,
}

/// Counts the cells of a fluid, and finds out whether its density is the same in all of them. Collective.
fn look(domain: &GridDomain, volume: &DiscreteVolume, field: &FluidField) -> Result<Found> {
    let kernel = (volume.own(field.cells.words), volume.own(field.density));
    let found =
        Accessor::new("look at densities", domain).over(volume.topology()).level(0).reduce(
            kernel,
            |_, (cells, density)| {
                let cells = bits(cells);
                let count: u32 = cells.iter().map(|word| word.count_ones()).sum();
                let (mut least, mut most) = (f32::INFINITY, f32::NEG_INFINITY);
                if cells == [u64::MAX; 8] {
                    for &density in density {
                        (least, most) = (least.min(density), most.max(density));
                    }
                } else {
                    for voxel in ones(&cells) {
                        (least, most) = (least.min(density[voxel]), most.max(density[voxel]));
                    }
                }
                [f64::from(count), f64::from(least), f64::from(most)]
            },
            |a, b| [a[0] + b[0], a[1].min(b[1]), a[2].max(b[2])],
        )?;
    let [count, least, most] = found.unwrap_or([0.0, f64::INFINITY, f64::NEG_INFINITY]);
    // Without a cell any number will do.
    let density = match least <= most {
        true => (least == most).then_some(least as f32),
        false => Some(1.0),
    };
    Ok(Found { unknowns: count as usize, density })
}
