//! Where a run will take place, judged by its first state: the box that all of its pictures show.
//!
//! Pictures are drawn while nobody knows yet what comes, and a camera that follows it would jump from one to the next. So what flies is
//! followed along its parabola, as if nothing stopped it; what is in a tank stays there; smoke has room to rise, and hair to sway.
//! What goes further leaves the picture: stray drops do not make all else small.

use super::contents::{Contents, Role};
use super::frame;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;
use undine_geometry::Solid;
use undine_scene::Scene;
use undine_schema::Value;
use undine_schema::setup::{Group, Node};
use undine_sim::Simulation;
use undine_sim::input::Geometry;

/// So many times the size of the first state, and no further, what flies away is followed.
const FAR: f64 = 8.0;

/// So many times its size there is room above what smoke comes from.
const RISES: f64 = 1.5;

/// Such a part of its size hair may sway to each side.
const SWAYS: f64 = 0.15;

/// So long in the picture it is followed [s]: not to the last frame, since a run may grow, and its pictures stay.
const LASTS: f64 = 2.0;

/// Along so many places of its way something that flies is looked at.
const PLACES: u32 = 16;

/// The box that all pictures of a run show; nothing, where nobody knows.
pub fn expected(scene: &Scene, simulation: &Simulation, contents: &Contents<'_>) -> Option<Bounds> {
    let colliders = contents.collider_bounds();
    let first = contents.subject_bounds().or_else(|| of_inputs(scene, simulation));
    let Some(mut bounds) = first else { return frame::shown(colliders, contents) };
    let size = bounds.size().max_element();
    let up = frame::upwards(contents.up);
    let is_kept = |room: &Bounds| {
        let slack = 0.05 * room.size();
        let across = DVec3::ONE - up;
        (bounds.min * across).cmpge((room.min - slack) * across).all()
            && (bounds.max * across).cmple((room.max + slack) * across).all()
            // What begins above a slope is not in it.
            && bounds.min.dot(up) <= room.max.dot(up)
    };
    let is_kept = colliders.as_ref().is_some_and(is_kept);
    if !is_kept {
        let reach = DVec3::splat(FAR * size.max(1e-3));
        let (low, high) = (bounds.min - reach, bounds.max + reach);
        let mut way = flown(scene, simulation, contents, up);
        if let (Some(way), Some(floor)) = (&mut way, floor(contents, up)) {
            let below = (floor - way.min.dot(up)).max(0.0);
            way.min += below * up;
            way.max = way.max.max(way.min);
        }
        if let Some(way) = way {
            let way = Bounds { min: way.min.clamp(low, high), max: way.max.clamp(low, high) };
            bounds = bounds.union(way);
        }
    }
    if has_smoke(simulation) {
        let top = bounds.max + RISES * size * up;
        bounds = bounds.union(Bounds { min: top, max: top });
    }
    if !contents.curves.is_empty() {
        let sways = DVec3::splat(SWAYS * size);
        bounds = Bounds { min: bounds.min - sways, max: bounds.max + sways };
    }
    frame::shown(Some(bounds), contents)
}

/// The box around all inputs that end somewhere: where what is not there yet will come from.
fn of_inputs(scene: &Scene, simulation: &Simulation) -> Option<Bounds> {
    let time = simulation.timeline().time(scene.settings.first);
    let of = |name: &str| {
        let data = simulation.inputs().data(name, time).ok()?;
        let bounds = match &data.geometry {
            Geometry::Shape(shape) => shape.bounds().filter(|bounds| bounds.size().is_finite()),
            Geometry::Points(cloud) => Bounds::around(cloud.positions.iter().copied()),
            _ => None,
        }?;
        let pose = data.pose(time);
        Bounds::around(bounds.corners().into_iter().map(|corner| pose.to_world(corner)))
    };
    scene.inputs.iter().filter_map(|input| of(&input.name)).reduce(Bounds::union)
}

/// The box around the ways of all points and bodies for a while, were there nothing in them but gravity.
fn flown(
    scene: &Scene,
    simulation: &Simulation,
    contents: &Contents<'_>,
    up: DVec3,
) -> Option<Bounds> {
    let timeline = simulation.timeline();
    let duration = LASTS * timeline.time_scale;
    let pull = gravity(&scene.root, up);
    let along = |bounds: Bounds, [low, high]: [DVec3; 2]| {
        let at = |n: u32| {
            let time = duration * f64::from(n) / f64::from(PLACES);
            let fallen = 0.5 * time * time * pull;
            Bounds { min: bounds.min + time * low + fallen, max: bounds.max + time * high + fallen }
        };
        (0..=PLACES).map(at).reduce(Bounds::union)
    };
    let clouds = contents.clouds.iter().flat_map(|cloud| &cloud.chunks).filter_map(|chunk| {
        let velocities = chunk.velocities?;
        let all = (0..velocities.len()).map(|n| velocities.at(n).as_dvec3());
        let span = Bounds::around(all.filter(|velocity| velocity.is_finite()))?;
        along(chunk.positions.bounds()?, [span.min, span.max])
    });
    let bodies = contents.solids.iter().filter(|solid| matches!(solid.role, Role::Body(_)));
    let bodies = bodies.filter_map(|solid| {
        let velocity = solid.turning.map_or(DVec3::ZERO, |turning| turning.velocity);
        along(solid.bounds()?, [velocity; 2])
    });
    clouds.chain(bodies).reduce(Bounds::union)
}

/// How high the lowest of what something could fall onto is [m]; nothing, if there is nothing.
fn floor(contents: &Contents<'_>, up: DVec3) -> Option<f64> {
    let planes = contents.planes.iter().filter(|plane| plane.normal.as_dvec3().dot(up) > 0.5);
    let planes = planes.map(|plane| plane.point.dot(up));
    let colliders = contents.collider_bounds().map(|bounds| bounds.min.dot(up));
    planes.chain(colliders).reduce(f64::min)
}

/// What gravity pulls by, of all there is in a scene [m/s²].
fn gravity(group: &Group, up: DVec3) -> DVec3 {
    let of = |node: &Node| match node {
        Node::Group(group) => gravity(group, up),
        Node::Behavior(behavior)
            if behavior.declaration.name == "gravity" && !behavior.disabled =>
        {
            match behavior.settings.get("acceleration").map(|set| set.at(0.0)) {
                Some(Value::Vector(pull)) => DVec3::from_array(pull),
                _ => -9.81 * up,
            }
        }
        Node::Behavior(_) => DVec3::ZERO,
    };
    match group.disabled {
        true => DVec3::ZERO,
        false => group.children.iter().map(of).sum(),
    }
}

/// Whether there is, or will be, smoke to see.
fn has_smoke(simulation: &Simulation) -> bool {
    simulation.world.volumes.iter().any(|(_, volume)| {
        volume.channels().infos().any(|info| info.name == "density" && !info.internal)
    })
}
