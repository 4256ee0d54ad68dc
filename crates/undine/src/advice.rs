//! What a scene most likely lacks: nothing of it is an error, and all of it is worth a word before hours are spent.
//!
//! A liquid without `pressure` falls into itself, and without `walls` through every collider. Whoever means that reads a
//! warning; whoever does not is spared a run.

mod colliders;
mod drag;
mod falls;
mod inside;

use undine_scene::{Diagnostic, Report, Scene};
use undine_sim::offers::Looks;
use undine_sim::tree::BehaviorEntry;
use undine_sim::world::ObjectEntry;
use undine_sim::{ObjectId, Simulation};

/// Warnings about a scene that can run.
pub fn advice(scene: &Scene, simulation: &Simulation) -> Report {
    let objects = simulation.world.objects.iter().enumerate();
    let objects = objects.map(|(n, object)| (ObjectId(n), object));
    let called = |name: &'static str| {
        let behaviors = simulation.tree().behaviors.iter();
        behaviors
            .filter(move |entry| entry.left_out.is_none() && entry.scope.declaration.name == name)
    };
    let acting = |name: &'static str, on: ObjectId| -> Vec<&BehaviorEntry> {
        called(name).filter(|entry| entry.acts_on.contains(&on)).collect()
    };
    let colliders: Vec<_> =
        objects.clone().filter(|(_, object)| object.offers.collider.is_some()).collect();
    let mut report = Report::default();
    let mut warn = |path: &str, what: String, help: &str| {
        report.add(Diagnostic::warning(scene.place(path), what).help(help));
    };
    let mut is_liquid = false;
    for (id, object) in objects {
        let Some(fluid) = object.offers.fluid else { continue };
        is_liquid = true;
        let path = object.path.as_str();
        if acting("pressure", id).is_empty() {
            let what = format!("nothing keeps the volume of `{path}`: it will fall into itself");
            warn(path, what, "add `pressure` to its Group, or to one around it");
        }
        let walls = acting("walls", id);
        let is_wall = |collider: &ObjectId| {
            let reached =
                |walls: &&BehaviorEntry| walls.acts_on.contains(collider) || names_target(walls);
            walls.iter().any(reached)
        };
        if let Some((_, collider)) = colliders.first()
            && !colliders.iter().any(|(collider, _)| is_wall(collider))
        {
            let collider = &collider.path;
            let what =
                format!("`{path}` will go through collider `{collider}`, which is no wall of it");
            let help = match walls.is_empty() {
                true => "add `walls` to a Group that holds both",
                false => {
                    "move `walls` to a Group that holds both, or name the collider by `against`"
                }
            };
            warn(path, what, help);
        }
        // Bodies that the scene moves hold it as well.
        let is_kept = !colliders.is_empty() || simulation.world.objects.iter().any(is_moved);
        if fluid.particles.is_some() && !is_kept && !acting("gravity", id).is_empty() {
            let what = format!("`{path}` has no floor: it will fall for ever");
            warn(path, what, "add a `collider` that holds it, and `walls`; or take `gravity` away");
        }
        let mut comes = ["source", "emit", "transition"].into_iter().flat_map(called);
        if let Some(carried) = fluid.particles
            && simulation.world.particles[carried.particles].topology().all().is_empty()
            && !comes.any(|entry| entry.acts_on.contains(&id) || names_target(entry))
        {
            let what = format!("there is no liquid in `{path}`, and none will come");
            warn(path, what, "give it an `input`, or add a `source` to its Group");
        }
    }
    for (_, collider) in &colliders {
        let Some(Looks::Input(name)) = &collider.offers.looks else { continue };
        let path = &collider.path;
        if let Some((what, help)) = colliders::oddity(simulation, path, name, is_liquid) {
            warn(path, what, help);
        }
    }
    for inside in inside::begin_inside(simulation) {
        let inside::Inside { object, collider, share } = inside;
        let what = format!(
            "{:.0} % of `{object}` begins inside of collider `{collider}`, which is solid there",
            (100.0 * share).floor()
        );
        let help =
            "did you mean `invert`, which makes a tank of its input? If not, move one of them";
        warn(collider, what, help);
    }
    for path in falls::idle_collisions(simulation) {
        let what = format!("`{path}` does nothing: there is nothing in its scope to collide with");
        let help = "move it to a Group that holds the `collider` too, or name that by `against`; or add one";
        warn(path, what, help);
    }
    for (object, collider) in falls::through(simulation) {
        let what =
            format!("`{object}` will fall through collider `{collider}`: no `collision` stops it");
        let help = "add `collision` to a Group that holds both; or take `gravity` away from it";
        warn(object, what, help);
    }
    for (path, object, diameter) in drag::too_large_drops(simulation) {
        let what = format!(
            "`{object}` has drops of {:.1} mm, and those of more than 8 mm break as they fall: `{path}` has no law for them",
            1e3 * diameter
        );
        warn(path, what, "make them smaller, or give what is hard the law \"standard\"");
    }
    for (path, object) in drag::idle_coupled_drags(simulation) {
        let what = format!(
            "`{path}` does nothing to `{object}`: the fluid flows around it, so that there is none in its middle, where drag would be"
        );
        let help = match drag::has_friction(simulation, object) {
            true => {
                "`viscosity` gives it friction already: move it to a Group that the body is not in"
            }
            false => "add `viscosity` for friction, or move it to a Group that the body is not in",
        };
        warn(path, what, help);
    }
    report
}

/// Whether the scene moves it, so that it may hold something.
fn is_moved(object: &ObjectEntry) -> bool {
    object.offers.solids.as_ref().is_some_and(|solids| solids.kinematic)
}

/// Whether it says what it acts on, beside what is in its scope.
fn names_target(entry: &BehaviorEntry) -> bool {
    entry.targets().next().is_some()
}
