//! Where a law of drag does not hold, or drag does nothing.

use undine_sim::offers::Material;
use undine_sim::tree::BehaviorEntry;
use undine_sim::{ObjectId, Simulation, Values};

/// The diameter of the largest drops of water that hold together as they fall in air [m]: larger ones become bags and burst (Pruppacher and Klett
/// 1997, *Microphysics of Clouds and Precipitation*, §10.3.5).
const LARGEST_DROP: f64 = 8e-3;

/// Who falls by the law of drops and is too large for a drop: the paths of the Behavior and the Object, and the diameter of the largest [m].
pub fn too_large_drops(simulation: &Simulation) -> Vec<(&str, &str, f64)> {
    let mut found = Vec::new();
    for entry in drags(simulation, &["drag", "coupled-drag"]) {
        let time = simulation.timeline().time(simulation.clock().frame);
        if Values::new(&entry.scope, time).text("law").is_ok_and(|law| law == "drop") {
            let largest = |id: &ObjectId| Some((*id, 2.0 * largest_radius(simulation, *id)?));
            for (id, diameter) in entry.acts_on.iter().filter_map(largest) {
                if diameter > LARGEST_DROP * (1.0 + 1e-6) {
                    let object = simulation.world.object(id).path.as_str();
                    found.push((entry.path.as_str(), object, diameter));
                }
            }
        }
    }
    found
}

/// Whether a fluid has friction on what is in the scope of a Behavior with it, such as a body that it flows around.
pub fn has_friction(simulation: &Simulation, object: &str) -> bool {
    let tree = simulation.tree();
    let Some(body) = tree.behaviors.iter().find(|entry| entry.path == object) else { return false };
    let mut at_work = drags(simulation, &["viscosity"]);
    at_work.any(|entry| tree.within(body.group, entry.group))
}

/// Bodies that a fluid flows around, and on which `coupled-drag` acts all the same: the paths of the Behavior and the Object.
pub fn idle_coupled_drags(simulation: &Simulation) -> Vec<(&str, &str)> {
    let swims = |id: &ObjectId| simulation.world.object(*id).swims;
    let idle = |entry: &BehaviorEntry| -> Vec<ObjectId> {
        entry.acts_on.iter().copied().filter(swims).collect()
    };
    drags(simulation, &["coupled-drag"])
        .flat_map(|entry| idle(entry).into_iter().map(move |id| (entry.path.as_str(), id)))
        .map(|(path, id)| (path, simulation.world.object(id).path.as_str()))
        .collect()
}

fn drags<'s>(
    simulation: &'s Simulation,
    names: &'static [&'static str],
) -> impl Iterator<Item = &'s BehaviorEntry> {
    let at_work = simulation.tree().behaviors.iter().filter(|entry| entry.left_out.is_none());
    at_work.filter(|entry| names.contains(&entry.scope.declaration.name))
}

/// The largest radius [m] of the particles that an Object has, or will have by what it says; nothing of what has no round particles.
fn largest_radius(simulation: &Simulation, object: ObjectId) -> Option<f64> {
    let offers = &simulation.world.object(object).offers;
    let Some(Material::Spatial(on)) = offers.material else { return None };
    let particles = &simulation.world.particles[on.particles];
    let radii = particles.column(on.radius).ok()?;
    let slots = 0..particles.topology().local();
    let largest =
        slots.flat_map(|slot| radii.chunk(slot as u32).iter().copied()).fold(0.0_f32, f32::max);
    let path = &simulation.world.object(object).path;
    let entry = simulation.tree().behaviors.iter().find(|entry| entry.path == *path)?;
    let said = Values::new(&entry.scope, 0.0).number("radius").ok();
    Some(if largest > 0.0 { f64::from(largest) } else { said? })
}
