//! What begins inside of a collider: most likely the collider was to be a tank around it.

use undine_core::Accessor;
use undine_core::glam::Vec3;
use undine_geometry::Solid;
use undine_sim::tree::BehaviorEntry;
use undine_sim::world::ObjectEntry;
use undine_sim::{ObjectId, Simulation};

/// More than this share of an Object inside of a collider is a mistake.
const MOST: f64 = 0.5;

/// No more particles than about these are looked at.
const LOOKED_AT: usize = 10_000;

/// An Object that begins inside of a collider.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inside<'s> {
    /// Its path.
    pub object: &'s str,
    /// The path of the collider.
    pub collider: &'s str,
    /// Which share of its particles is inside.
    pub share: f64,
}

/// Liquids and particles of which most begin inside of a collider that they are to be kept out of.
pub fn begin_inside(simulation: &Simulation) -> Vec<Inside<'_>> {
    let world = &simulation.world;
    let objects = || world.objects.iter().enumerate().map(|(n, object)| (ObjectId(n), object));
    let mut found = Vec::new();
    for (collider, of) in objects().filter(|(_, object)| object.offers.collider.is_some()) {
        for (_, object) in objects().filter(|(id, _)| is_kept_out(simulation, *id, collider)) {
            let share = share_inside(simulation, object, of).filter(|share| *share > MOST);
            found.extend(share.map(|share| Inside {
                object: &object.path,
                collider: &of.path,
                share,
            }));
        }
    }
    found
}

/// Whether `walls` or `collision` keep an Object out of a collider.
fn is_kept_out(simulation: &Simulation, object: ObjectId, collider: ObjectId) -> bool {
    let keeps = |entry: &BehaviorEntry| {
        let acts_on = &entry.acts_on;
        matches!(entry.scope.declaration.name, "walls" | "collision")
            && entry.left_out.is_none()
            && acts_on.contains(&object)
            && (acts_on.contains(&collider) || entry.targets().next().is_some())
    };
    simulation.tree().behaviors.iter().any(keeps)
}

/// The share of the particles of an Object that begin inside of a collider; nothing where either has nothing to ask, or cannot be asked now.
fn share_inside(simulation: &Simulation, object: &ObjectEntry, of: &ObjectEntry) -> Option<f64> {
    let world = &simulation.world;
    let time = simulation.timeline().time(simulation.clock().frame);
    let collider = world.colliders[of.offers.collider?].as_ref()?;
    let solid = collider.during(time, time).ok()?;
    let particles = &world.particles[object.offers.particles()?];
    let domain = &world.domains[object.domain];
    let every = particles.len() / LOOKED_AT + 1;
    let counts = Accessor::new("begins inside", domain).over(particles.topology()).map(
        particles.own(particles.position()),
        |here, offsets: &[Vec3]| {
            let corner = domain.frame().corner(here.bucket);
            let looked_at = offsets.iter().step_by(every);
            let inside =
                looked_at.clone().filter(|offset| solid.distance(corner + offset.as_dvec3()) < 0.0);
            [inside.count(), looked_at.count()]
        },
    );
    let counts = counts.ok()?;
    let [inside, all] = counts.iter().fold([0, 0], |sum, found| [0, 1].map(|k| sum[k] + found[k]));
    (all > 0).then(|| inside as f64 / all as f64)
}
