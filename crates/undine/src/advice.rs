//! What a scene most likely lacks: nothing of it is an error, and all of it is worth a word before hours are spent.
//!
//! A liquid without `pressure` falls into itself, and without `walls` through every collider. Whoever means that reads a
//! warning; whoever does not is spared a run.

use undine_core::glam::DVec3;
use undine_scene::{Diagnostic, Report, Scene};
use undine_sim::input::Geometry;
use undine_sim::offers::Looks;
use undine_sim::tree::BehaviorEntry;
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
        let mut comes = ["source", "emit", "transition"].into_iter().flat_map(called);
        if let Some(carried) = fluid.particles
            && simulation.world.particles[carried.particles].topology().all().is_empty()
            && !comes.any(|entry| entry.acts_on.contains(&id) || names_target(entry))
        {
            let what = format!("there is no liquid in `{path}`, and none will come");
            warn(path, what, "give it an `input`, or add a `source` to its Group");
        }
    }
    for (_, collider) in colliders.iter().filter(|_| is_liquid) {
        let Some(Looks::Input(name)) = &collider.offers.looks else { continue };
        if let Some([a, b]) = hole(simulation, &collider.path, name) {
            let what = format!(
                "the surface of `{}` has a hole, so that it is a guess what is inside: its edge from {a:.4} to {b:.4} m has a face on \
                 one side only",
                collider.path
            );
            warn(&collider.path, what, "close it, or make a sheet of it by a `thickness`");
        }
    }
    report
}

/// Whether it says what it acts on, beside what is in its scope.
fn names_target(entry: &BehaviorEntry) -> bool {
    entry.targets().next().is_some()
}

/// An edge [m] of the hole in the surface that a collider is made of, where it has one and is no sheet.
fn hole(simulation: &Simulation, path: &str, input: &str) -> Option<[DVec3; 2]> {
    let entry = simulation.tree().behaviors.iter().find(|entry| entry.path == path)?;
    let time = simulation.timeline().time(simulation.clock().frame);
    let thickness = undine_sim::Values::new(&entry.scope, time).number("thickness");
    if thickness.is_ok_and(|thickness| thickness > 0.0) {
        return None;
    }
    let data = simulation.inputs().data(input, time).ok()?;
    let Geometry::Surface(surface) = &data.geometry else { return None };
    undine_liquid::seed::hole(surface).ok()?
}
