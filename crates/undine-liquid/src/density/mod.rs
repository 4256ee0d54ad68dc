//! Volume stays: a displacement of particles that evens out their density.
//!
//! Velocities free of divergence do not keep particles evenly spread: errors of each step add up, and a liquid slowly sinks into
//! itself. T. Kugelstadt, A. Longva, N. Thuerey and J. Bender, *Implicit Density Projection for Volume Conserving Liquids*
//! (2019), correct places as pressure corrects velocities: the displacement δ = −∇q with ∇·δ = ρ/ρ₀ − 1 brings the density ρ
//! of the particles back to ρ₀, through the same open faces and with the same free surface, where q = 0. Only places change, and
//! by a part of a voxel at the most: no energy comes of it.
//!
//! A density is what a cell holds by what it could hold (`excess`): solids take room, and at the surface, where a cell's
//! surroundings are part air, only what is too much counts.
//!
//! Where Objects inside of the liquid take the part α of its room, the density at rest is (1−α)ρ₀ and δ goes through 1−α of a face:
//! ∇·((1−α)δ) = ρ/ρ₀ − (1−α). Velocities keep that, as their flux (1−α)u_f + αu_s is free of divergence; here, too, only what errors
//! add up to is left to do.

mod excess;
mod gradient;

use undine_core::volume::{DiscreteVolume, MacHandle, VoxelShape};
use undine_core::{Accessor, ChannelSpec, GridDomain, Handle, ParticleSystem};
use undine_fluid::extend::extend_displacement;
use undine_linsolve::pressure::{InverseDensity, Open, PressureInput, PressureSystem, Surface};
use undine_linsolve::report::{Report, Stop};
use undine_sim::Result;
use undine_sim::offers::{Coupling, FluidField};

/// The relative residual that is good enough: what is left is evened out in the next step.
pub const TOLERANCE: f64 = 0.05;

/// No cell's density need be nearer to the one at rest than this, as a part of it.
const CLOSE: f64 = 1e-3;

/// Iterations after which a solve has to do.
const ITERATIONS: usize = 12;

/// The smallest part of a cell that counts as the distance of a liquid cell's centre to the surface.
const SMALLEST: f32 = 0.1;

/// How far beyond the liquid particles may be that are displaced [voxels].
const BEYOND: u32 = 2;

/// How a liquid was evened out.
#[derive(Debug)]
pub struct Evened {
    /// How the solve went.
    pub report: Report,
    /// How many cells there are, on all processes.
    pub unknowns: usize,
    /// The root of the mean square of what densities were off, relative to the one at rest, over all cells that count.
    pub uneven: f64,
}

/// Writes the displacement [m] to faces that evens out the density of particles, whose density at rest is `density` [kg/m³].
/// Collective.
pub fn even_out(
    domain: &GridDomain,
    particles: &ParticleSystem,
    volume: &DiscreteVolume,
    field: &FluidField,
    shift: MacHandle,
    density: f64,
) -> Result<Evened> {
    let voxel = domain.frame().voxel_size(0);
    let mut scratch = DiscreteVolume::on("density", domain, volume.topology().clone());
    let number = |name: &str| ChannelSpec::new(name, 0.0_f32);
    let held = scratch.add_channel(&number("held"), VoxelShape::CELLS)?;
    let excess = scratch.add_channel(&number("excess"), VoxelShape::CELLS)?;
    excess::hold(domain, particles, field, &scratch, held, density)?;
    if let Some(interior) = field.interior {
        excess::hold_interior(domain, volume, interior, &scratch, held)?;
    }
    let (unknowns, uneven) = excess::compare(domain, volume, field, &scratch, held, excess)?;

    let surface = match field.distance {
        Some(distance) => Surface::Distance { distance, smallest: SMALLEST },
        None => Surface::Cells,
    };
    let input = PressureInput {
        volume,
        liquid: field.cells,
        open: Open::Channel(field.walls.area),
        inverse_density: match Coupling::taken(volume) {
            Some(taken) => {
                // Until there is a displacement, its channel holds what it goes through.
                write_left(domain, volume, taken, shift)?;
                InverseDensity::Channel(shift)
            }
            None => InverseDensity::Constant(1.0),
        },
        surface,
        diagonal: None,
        scale: 1.0,
    };
    let system = PressureSystem::new(domain, &input)?;
    let b = system.read(&scratch, excess)?;
    let mut q = vec![0.0; b.len()];
    let stop =
        Stop { relative: TOLERANCE, absolute: CLOSE, iterations: ITERATIONS, patience: ITERATIONS };
    let report = system.solve(&b, &mut q, &stop)?;
    // What cells held is not needed any more.
    let potential = held;
    scratch.column_mut(potential)?.fill(0.0);
    system.write(&q, domain, &scratch, potential)?;

    gradient::displace(domain, volume, field, (&scratch, potential), shift, voxel as f32)?;
    extend_displacement(domain, volume, field, shift, BEYOND)?;
    Ok(Evened { report, unknowns, uneven })
}

/// Writes 1−α to faces, the mean of the cells beside each.
fn write_left(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    taken: Handle<f32>,
    left: MacHandle,
) -> Result<()> {
    let access = (volume.around(taken, 1), left.faces.map(|face| volume.write(face)));
    Accessor::new("find what is left of faces", domain).over(volume.topology()).run(
        access,
        |_, (taken, left)| {
            for (axis, left) in left.into_iter().enumerate() {
                let [x, y, z] = std::array::from_fn(|other| -i32::from(other == axis));
                let (own, beside) = (taken.chunk(), taken.neighbour(x, y, z));
                for (n, left) in left.iter_mut().enumerate() {
                    let alpha = 0.5 * (own[n] + gradient::lower(own, beside, axis, n));
                    *left = 1.0 - alpha.min(Coupling::FULLEST);
                }
            }
        },
    )?;
    Ok(())
}

/// The volume of a liquid [m³], by the distance to its surface: of cells that the surface cuts, the part below it, but for what Objects
/// inside of it take. Collective.
pub fn volume(domain: &GridDomain, volume: &DiscreteVolume, field: &FluidField) -> Result<f64> {
    let voxel = domain.frame().voxel_size(0);
    let access = (
        field.distance.map(|distance| volume.own(distance)),
        volume.own(field.cells.words),
        volume.own(field.walls.volume),
        Coupling::taken(volume).map(|taken| volume.own(taken)),
    );
    let per_voxel = 1.0 / voxel as f32;
    let cells = Accessor::new("measure the volume", domain).over(volume.topology()).reduce(
        access,
        |_, (distance, cells, open, taken)| {
            let open_part = |n: usize| if open[n] < 0.0 { 1.0 } else { open[n].min(1.0) };
            // Beside a wall, what takes room is spread into it, too, and the surface goes on there.
            let taken = |n: usize| taken.map_or(0.0, |taken| taken[n]);
            let room = |n: usize| f64::from(open_part(n) - taken(n));
            let liquid = |n: usize| match distance {
                Some(distance) => f64::from((0.5 - distance[n] * per_voxel).clamp(0.0, 1.0)),
                None => f64::from((cells[n >> 6] >> (n & 63) & 1) as u32),
            };
            (0..open.len()).map(|n| room(n) * liquid(n)).sum()
        },
        |a: f64, b| a + b,
    )?;
    Ok(cells.unwrap_or(0.0) * voxel.powi(3))
}
