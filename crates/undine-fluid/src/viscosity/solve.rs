//! One step of viscosity on a velocity: the system, its solution, and back to the faces.

use super::coupled::Coupled;
use super::grips::Pull;
use super::multigrid::Multigrid;
use super::piece::{FACES, HELD, Piece, VOXELS};
use super::samples::{Bodies, Samples};
use super::system::{Diagonal, System, all_faces};
use super::touched::Touched;
use crate::pressure::Afloat;
use rayon::prelude::*;
use undine_core::domain::{GridDomain, NONE};
use undine_core::glam::DVec3;
use undine_core::{Accessor, DiscreteVolume, Handle};
use undine_linsolve::krylov::cg;
use undine_linsolve::pressure::MOTIONS;
use undine_linsolve::{Operator, Preconditioner, Report, Stop};
use undine_sim::offers::FluidField;
use undine_sim::{Result, SimError};

/// What viscosity is like.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Dynamic viscosity [Pa s].
    pub viscosity: f64,
    /// The same by cell [Pa s], negative where it is not known.
    pub by_cell: Option<Handle<f32>>,
    /// Whether walls hold what touches them.
    pub sticks: bool,
    /// The residual to reach, relative to the momentum.
    pub tolerance: f64,
}

/// How a solve went.
#[derive(Debug, Clone)]
pub struct Solved {
    /// In words and numbers.
    pub report: Report,
    /// How many faces were solved for, on all processes.
    pub unknowns: usize,
}

/// Numbers above this do not fit into the equations, which are in single precision.
const LARGEST: f64 = 1e25;

/// With bodies in it, a solve goes on until it gets no more than this of the momentum wrong: what it leaves is momentum from
/// nothing, which bodies keep.
const EXCHANGED: f64 = 2e-7;

/// From this Δt μ / (ρ Δx²) on multigrid is faster than many more of simple iterations.
const STRONG: f64 = 1.5;

/// Lets viscosity act on the velocity of a fluid for a time `step` [s]. `None` if there is nothing to do. Collective.
pub fn diffuse(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    fluid: &FluidField,
    settings: &Settings,
    step: f64,
) -> Result<Option<Solved>> {
    diffuse_around(domain, volume, fluid, settings, (&Touched::default(), &mut []), step)
}

/// The same with rigid bodies in it, and the faces beside them: they are as viscous as what they touch, and find their velocities
/// with the fluid. Collective.
pub fn diffuse_around(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    fluid: &FluidField,
    settings: &Settings,
    (touched, bodies): (&Touched, &mut [Afloat]),
    step: f64,
) -> Result<Option<Solved>> {
    let voxel = domain.frame().voxel_size(0);
    let scale = step / (voxel * voxel);
    if settings.viscosity == 0.0 && settings.by_cell.is_none() {
        return Ok(None);
    }
    if !(scale * settings.viscosity <= LARGEST && settings.viscosity >= 0.0) {
        return Err(SimError::setup(
            "viscosity",
            format!(
                "{} Pa s over steps of {step:.3e} s and voxels of {voxel} m is beyond what can be solved",
                settings.viscosity
            ),
            "a viscosity is about 0.001 for water, 10 for honey, and 1e6 Pa s for hot glass",
        ));
    }
    let free = |body: &Afloat| body.inverse_mass != [[0.0; MOTIONS]; MOTIONS];
    let centres: Vec<Option<DVec3>> =
        bodies.iter().map(|body| free(body).then_some(body.centre)).collect();
    let origin = domain.frame().origin();
    let samples = Samples {
        volume,
        fluid,
        voxel,
        scale,
        viscosity: settings.viscosity,
        by_cell: settings.by_cell,
        sticks: settings.sticks,
        bodies: (!centres.is_empty()).then_some(Bodies { touched, centres: &centres, origin }),
    };
    let (system, pulls) = System::new(domain, volume.topology(), samples.equations(domain)?)?;
    let unknowns = domain.processes().all_sum_f64(system.unknowns as f64)? as usize;
    if unknowns == 0 {
        return Ok(None);
    }
    // The velocity so far is the first guess: what is not sheared stays as it is, exactly.
    let mut x = velocity(volume, fluid, &system)?;
    let mut b = right_hand_side(&system, &x, &pulls);
    let coupled = match bodies.is_empty() {
        true => None,
        false => Coupled::new(&system, &pulls, bodies, voxel.powi(3))?,
    };
    if let Some(coupled) = &coupled {
        coupled.eliminate(&mut b)?;
    }
    let strength = system.strength()?;
    let mut preconditioner: Box<dyn Preconditioner> = match strength > STRONG {
        true => Box::new(Multigrid::new(&system, strength)),
        false => Box::new(Diagonal::new(&system)),
    };
    let tolerance = match &coupled {
        Some(_) => settings.tolerance.min(EXCHANGED),
        None => settings.tolerance,
    };
    let stop = Stop::relative(tolerance);
    let operator: &dyn Operator = match &coupled {
        Some(coupled) => coupled,
        None => &system,
    };
    let report = cg(operator, &mut *preconditioner, &b, &mut x, &stop)?;
    put_back(domain, volume, fluid, &system, &x)?;
    if let Some(coupled) = &coupled {
        for (body, [x, y, z, a, b, c]) in coupled.motions(&x)? {
            let twist = &mut bodies[body].twist;
            (twist.linear, twist.angular) = (DVec3::new(x, y, z), DVec3::new(a, b, c));
        }
        move_held(volume, fluid, &system, &pulls, bodies)?;
    }
    Ok(Some(Solved { report, unknowns }))
}

/// The velocity of all unknowns [m/s].
fn velocity(volume: &DiscreteVolume, fluid: &FluidField, system: &System) -> Result<Vec<f64>> {
    let [x, y, z] = fluid.velocity.faces.map(|face| volume.column(face));
    let columns = [x?, y?, z?];
    let columns = columns.each_ref().map(|column| &**column);
    let mut velocity = vec![0.0; system.slots.len() * FACES];
    let places = velocity.par_chunks_exact_mut(FACES).zip(&system.slots).zip(&system.pieces);
    places.for_each(|((velocity, &slot), piece)| {
        for (axis, velocity) in velocity.chunks_exact_mut(VOXELS).enumerate() {
            let faces = columns[axis].chunk(slot);
            for (voxel, velocity) in velocity.iter_mut().enumerate() {
                let is_unknown = piece.mass(axis, voxel) > 0.0;
                *velocity = if is_unknown { f64::from(faces[voxel]) } else { 0.0 };
            }
        }
    });
    Ok(velocity)
}

/// The momentum of each face, and what walls add to it.
fn right_hand_side(system: &System, x: &[f64], pulls: &[Pull]) -> Vec<f64> {
    let mut b = vec![0.0; x.len()];
    let places = b.par_chunks_exact_mut(FACES).zip(x.par_chunks_exact(FACES));
    places.zip(&system.pieces).zip(pulls).for_each(|(((b, x), piece), pull)| {
        for (n, (axis, voxel)) in all_faces().enumerate() {
            let mass = f64::from(piece.mass(axis, voxel));
            if mass > 0.0 {
                b[n] = mass * x[n] + pull.faces.as_ref().map_or(0.0, |pull| pull[n]);
            }
        }
    });
    b
}

/// Writes the solution to the faces. What a wall holds moves with it.
fn put_back(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    fluid: &FluidField,
    system: &System,
    x: &[f64],
) -> Result<()> {
    let mut places = vec![NONE; volume.topology().local()];
    for (&slot, place) in system.slots.iter().zip(0..) {
        places[slot as usize] = place;
    }
    let kernel = (
        fluid.velocity.faces.map(|face| volume.write(face)),
        fluid.walls.velocity.faces.map(|face| volume.own(face)),
    );
    let accessor = Accessor::new("solve for viscosity", domain).over(volume.topology());
    accessor.run(kernel, |here, (faces, walls)| {
        let place = places[here.slot as usize];
        if place == NONE {
            return;
        }
        let x = &x[place as usize * FACES..][..FACES];
        let piece: &Piece = &system.pieces[place as usize];
        for (axis, (faces, walls)) in faces.into_iter().zip(walls).enumerate() {
            for voxel in 0..VOXELS {
                match piece.mass(axis, voxel) {
                    mass if mass > 0.0 => faces[voxel] = x[axis * VOXELS + voxel] as f32,
                    HELD => faces[voxel] = walls[voxel],
                    _ => {}
                }
            }
        }
    })?;
    Ok(())
}

/// What a body holds moves with it.
fn move_held(
    volume: &DiscreteVolume,
    fluid: &FluidField,
    system: &System,
    pulls: &[Pull],
    bodies: &[Afloat],
) -> Result<()> {
    let [x, y, z] = fluid.velocity.faces.map(|face| volume.column_mut(face));
    let mut faces = [x?, y?, z?];
    for (pull, &slot) in pulls.iter().zip(&system.slots) {
        for (face, body, j) in pull.grips.iter().flat_map(|grips| &grips.held) {
            let (axis, voxel) = (*face as usize / VOXELS, *face as usize % VOXELS);
            let twist = bodies[*body as usize].twist;
            let moves = twist.linear.to_array().into_iter().chain(twist.angular.to_array());
            let value: f64 = j.iter().zip(moves).map(|(j, v)| j * v).sum();
            faces[axis].chunk_mut(slot)[voxel] = value as f32;
        }
    }
    Ok(())
}
