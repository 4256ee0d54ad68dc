//! One projection: the velocity of a fluid is made free of divergence by the gradient of a pressure.

use super::flux;
use super::gradient::Gradient;
use super::layers::{bits, ones};
use undine_core::{Accessor, DiscreteVolume, GridDomain, Handle};
use undine_linsolve::pressure::{InverseDensity, Open, PressureInput, PressureSystem, Surface};
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
}

impl Default for Settings {
    fn default() -> Self {
        Self { tolerance: 1e-4, smallest: 1e-2 }
    }
}

/// What a cell may lose or gain of its volume in a step, at the most, for a solve to be good in any case: what rounding of
/// velocities in single precision does anyway.
const ROUNDING: f64 = 1e-7;

/// Iterations after which a solve is given up.
const MOST_ITERATIONS: usize = 200;

/// How a projection went.
#[derive(Debug)]
pub struct Projected {
    /// How the solve went.
    pub report: Report,
    /// How many cells have a pressure, on all processes.
    pub unknowns: usize,
}

/// Makes the velocity of a fluid free of divergence over a step of `step` [s]. `inflow` is a scratch channel of cells. Collective.
pub fn project(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    field: &FluidField,
    inflow: Handle<f32>,
    settings: &Settings,
    step: f64,
) -> Result<Projected> {
    let voxel = domain.frame().voxel_size(0);
    let Found { unknowns, constant } = look(domain, volume, field)?;
    let inverse_density = match constant {
        Some(density) => InverseDensity::Constant(1.0 / density),
        None => InverseDensity::OfCells(field.density),
    };
    let surface = match field.distance {
        Some(distance) => Surface::Distance { distance, smallest: settings.smallest },
        None => Surface::Cells,
    };
    let input = PressureInput {
        volume,
        liquid: field.cells,
        open: Open::Channel(field.walls.area),
        inverse_density,
        surface,
        diagonal: None,
        scale: step / (voxel * voxel),
    };
    let system = PressureSystem::new(domain, &input)?;

    flux::inflow(domain, volume, field, inflow)?;
    let b = system.read(volume, inflow)?;
    let mut p = system.read(volume, field.pressure)?;
    let stop = Stop {
        relative: settings.tolerance,
        absolute: ROUNDING / step,
        iterations: MOST_ITERATIONS,
        ..Stop::default()
    };
    let report = system.solve(&b, &mut p, &stop)?;

    volume.column_mut(field.pressure)?.fill(0.0);
    system.write(&p, domain, volume, field.pressure)?;
    let gradient = Gradient {
        step: (step / voxel) as f32,
        inverse_density: constant.map(|density| 1.0 / density),
        smallest: settings.smallest,
    };
    gradient.subtract(domain, volume, field)?;
    Ok(Projected { report, unknowns })
}

/// What a fluid is like.
struct Found {
    /// How many cells it fills, on all processes.
    unknowns: usize,
    /// Its density [kg/m³], where that is the same everywhere.
    constant: Option<f32>,
}

/// Counts the cells of a fluid, and finds out whether its density is the same in all of them. Collective.
fn look(domain: &GridDomain, volume: &DiscreteVolume, field: &FluidField) -> Result<Found> {
    let kernel = (volume.own(field.cells.words), volume.own(field.density));
    let found = Accessor::new("look at densities", domain).over(volume.topology()).level(0).reduce(
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
    let constant = (least == most).then_some(least as f32);
    Ok(Found { unknowns: count as usize, constant })
}
