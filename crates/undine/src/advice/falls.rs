//! What falls through everything, since no `collision` is there to stop it, or none that has anything to stop it with.

use undine_schema::Kind;
use undine_sim::offers::{Material, Offers};
use undine_sim::tree::BehaviorEntry;
use undine_sim::world::ObjectEntry;
use undine_sim::{ObjectId, Simulation};

/// What stops an Object, or ends it, or takes it elsewhere, before it has fallen far.
const KEPT_BY: [&str; 3] = ["collision", "kill", "transition"];

/// The `collision`s that are left out although there is something in their scope that could collide.
pub fn idle_collisions(simulation: &Simulation) -> Vec<&str> {
    let tree = simulation.tree();
    let offers = |id: ObjectId| &simulation.world.object(id).offers;
    let is_idle = |entry: &&BehaviorEntry| {
        let scope = tree.objects_in(entry.group);
        entry.scope.declaration.name == "collision"
            && entry.left_out.is_some()
            && scope.iter().any(|&id| moves(offers(id)))
            && !scope.iter().any(|&id| offers(id).collider.is_some())
            && entry.targets().next().is_none()
    };
    // What is disabled is meant to do nothing.
    let is_disabled = |entry: &BehaviorEntry| {
        entry.left_out.as_ref().is_some_and(|why| why.ends_with("disabled"))
    };
    let idle = tree.behaviors.iter().filter(is_idle).filter(|entry| !is_disabled(entry));
    idle.map(|entry| entry.path.as_str()).collect()
}

/// Objects that gravity pulls at, and that nothing holds or stops, where there is a collider: the paths of both. There is one line for each
/// Object.
pub fn through(simulation: &Simulation) -> Vec<(&str, &str)> {
    let world = &simulation.world;
    let is_there = |object: &&ObjectEntry| {
        let collider = object.offers.collider;
        collider.is_some_and(|collider| world.colliders[collider].is_some())
    };
    let Some(collider) = world.objects.iter().find(is_there) else { return Vec::new() };
    let at_work = || simulation.tree().behaviors.iter().filter(|entry| entry.left_out.is_none());
    let called = |name: &str, id: ObjectId| {
        let is_it = |entry: &BehaviorEntry| {
            entry.scope.declaration.name == name && entry.acts_on.contains(&id)
        };
        at_work().any(is_it)
    };
    // What a Constraint ties to something may hang there.
    let is_tied = |id: ObjectId| {
        let ties = |entry: &BehaviorEntry| {
            entry.scope.declaration.kind == Kind::Constraint && entry.acts_on.contains(&id)
        };
        at_work().any(ties)
    };
    let falls = |id: &ObjectId| {
        called("gravity", *id) && !is_tied(*id) && !KEPT_BY.iter().any(|name| called(name, *id))
    };
    let objects = world.objects.iter().enumerate();
    objects
        .filter(|(_, object)| moves(&object.offers))
        .filter(|(n, _)| falls(&ObjectId(*n)))
        .map(|(_, object)| (object.path.as_str(), collider.path.as_str()))
        .collect()
}

/// Whether it is free to move and could collide: particles that are no liquid, and rigid bodies that the scene does not move.
fn moves(offers: &Offers) -> bool {
    let is_body = offers.solids.as_ref().is_some_and(|solids| !solids.kinematic);
    let is_particles = matches!(offers.material, Some(Material::Spatial(_)));
    is_body || (is_particles && offers.fluid.is_none())
}
