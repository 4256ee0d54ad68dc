//! Scenes as users write them, run in memory, and looks at them.

use crate::verdict::Verdict;
use std::path::Path;
use undine::{catalogue, prepare};
use undine_core::Element;
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_scene::Scene;
use undine_sim::offers::Material;
use undine_sim::report::{Observer, SubstepReport};
use undine_sim::{Result, Simulation};

/// The Earth's acceleration, where a scene says no other [m/s²].
pub const GRAVITY: f64 = 9.80665;

/// What a text says.
///
/// # Panics
///
/// Panics with the message that a user would see if the scene is refused.
pub fn parsed(text: &str) -> Scene {
    let scene = Scene::parse(Path::new("scene.kdl"), text, &catalogue(), &[]);
    scene.unwrap_or_else(|report| panic!("{}", report.render(100)))
}

/// The simulation of a scene, at its beginning.
///
/// # Panics
///
/// As [`parsed`].
pub fn simulation(text: &str) -> Simulation {
    prepared(&parsed(text))
}

/// The same of a scene that is kept.
///
/// # Panics
///
/// As [`parsed`].
pub fn prepared(scene: &Scene) -> Simulation {
    prepare::simulation(scene, MemoryBudget::unlimited()).unwrap_or_else(|why| panic!("{why}"))
}

/// Goes on for some frames.
///
/// # Errors
///
/// As [`Simulation::advance_frame`].
pub fn advance(simulation: &mut Simulation, frames: u32) -> Result<()> {
    (0..frames).try_for_each(|_| simulation.advance_frame(&mut (), |_, _| Ok(())))
}

/// The steps of a run, as they went.
#[derive(Debug, Default)]
pub struct Steps(pub Vec<SubstepReport>);

impl Observer for Steps {
    fn substep(&mut self, report: &SubstepReport) {
        self.0.push(report.clone());
    }
}

/// Goes on for a frame, and says how its steps went.
///
/// # Errors
///
/// As [`Simulation::advance_frame`].
pub fn steps_of_frame(simulation: &mut Simulation) -> Result<Vec<SubstepReport>> {
    let mut steps = Steps::default();
    simulation.advance_frame(&mut steps, |_, _| Ok(()))?;
    Ok(steps.0)
}

/// A channel of every Object whose points are in the order of a mesh, such as rigid bodies and curves, one behind the other in the
/// order of the scene.
pub fn of_points<T: Element>(simulation: &Simulation, channel: &str) -> Result<Vec<T>> {
    let world = &simulation.world;
    let mut all = Vec::new();
    for object in world.objects.iter() {
        let Some(Material::Topological(on)) = object.offers.material else { continue };
        let points = &world.points[on.points];
        all.extend_from_slice(&points.column(points.handle(channel)?)?);
    }
    Ok(all)
}

/// A channel of all particles that are in spatial order, such as those of liquids.
pub fn of_particles<T: Element>(simulation: &Simulation, channel: &str) -> Result<Vec<T>> {
    let mut all = Vec::new();
    for (_, particles) in simulation.world.particles.iter() {
        let column = particles.column(particles.handle(channel)?)?;
        let slots = 0..particles.topology().local() as u32;
        slots.for_each(|slot| all.extend_from_slice(column.chunk(slot)));
    }
    Ok(all)
}

/// Where the centre of mass of all particles and bodies is [m].
pub fn centre_of_mass(simulation: &Simulation) -> Result<DVec3> {
    let (mut mass, mut moment) = (0.0, DVec3::ZERO);
    let bodies: Vec<f64> = of_points(simulation, "mass")?;
    let liquid = of_particles::<f32>(simulation, "mass")?;
    let masses = bodies.into_iter().chain(liquid.into_iter().map(f64::from));
    let mut places: Vec<DVec3> = of_points(simulation, "position")?;
    for (_, particles) in simulation.world.particles.iter() {
        places.extend(particles.world_positions()?);
    }
    for (at, kilograms) in places.into_iter().zip(masses) {
        moment += kilograms * at;
        mass += kilograms;
    }
    Ok(moment / mass)
}

/// Adds the errors of a case at several resolutions, from coarse to fine, each of which should be smaller than the one before. Where
/// the error passes through zero on the way, the last one may only be half of the first.
pub fn with_falling(verdict: Verdict, name: &str, errors: &[f64]) -> Verdict {
    let falls = errors.windows(2).all(|pair| pair[1] < pair[0]);
    let is_less = 2.0 * errors[errors.len() - 1] <= errors[0];
    let errors: Vec<String> = errors.iter().map(|error| format!("{error:.4}")).collect();
    if is_less && !falls {
        let why = "the last is at most half of the first: the error changes its sign in between";
        return verdict.falls_short(name, errors.join(", "), "falling", why);
    }
    verdict.figure(name, errors.join(", "), "falling", falls)
}
