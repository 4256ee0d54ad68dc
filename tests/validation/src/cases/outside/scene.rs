//! Scenes as users write them, run in memory, and looks at them.

use std::path::Path;
use undine::{catalogue, prepare};
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_scene::Scene;
use undine_sim::offers::Material;
use undine_sim::{Result, Simulation};

/// The simulation of a scene, at its beginning.
///
/// # Panics
///
/// Panics with the message that a user would see if the scene is refused.
pub fn simulation(text: &str) -> Simulation {
    let scene = Scene::parse(Path::new("scene.kdl"), text, &catalogue(), &[]);
    let scene = scene.unwrap_or_else(|report| panic!("{}", report.render(100)));
    prepare::simulation(&scene, MemoryBudget::unlimited()).unwrap_or_else(|why| panic!("{why}"))
}

/// Goes on for some frames.
///
/// # Errors
///
/// As [`Simulation::advance_frame`].
pub fn advance(simulation: &mut Simulation, frames: u32) -> Result<()> {
    for _ in 0..frames {
        simulation.advance_frame(&mut (), |_, _| Ok(()))?;
    }
    Ok(())
}

/// The first element of a channel of vectors in the first store of each Object of topological particles, such as rigid bodies, in the
/// order of the scene.
pub fn of_bodies(simulation: &Simulation, channel: &str) -> Vec<DVec3> {
    let world = &simulation.world;
    let stores = world.objects.iter().filter_map(|object| match object.offers.material {
        Some(Material::Topological(on)) => Some(&world.points[on.points]),
        _ => None,
    });
    stores
        .filter_map(|points| {
            let column = points.column(points.handle::<DVec3>(channel).ok()?).ok()?;
            column.first().copied()
        })
        .collect()
}
