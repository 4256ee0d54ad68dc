//! How fast colliders and bodies go through a fluid: the length of steps goes by them as it does by the fluid itself.
//!
//! Only what may be where the fluid is counts. The speed of something rigid is convex in the place, so that it is largest at a corner
//! of the box that the thing and the fluid share.

use crate::error::Result;
use crate::input::{Data, Geometry, Inputs};
use crate::offers::{Looks, Offers, SolidBodies};
use crate::timeline::Courant;
use crate::world::{ObjectEntry, World};
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;
use undine_geometry::{Motion, Solid, Triangles};

/// Where a fluid is, and with which voxels.
struct Place {
    bounds: Bounds,
    /// [m]
    voxel: f64,
}

/// The longest step from a time on [s] in which no collider and no body crosses more voxels of a fluid than it may, if the next such
/// time is as late as the second one; and the path of what asks for it.
pub(crate) fn longest_step(
    world: &World,
    inputs: &dyn Inputs,
    courant: &Courant,
    times: [f64; 2],
) -> Result<(f64, String)> {
    let mut longest = (f64::INFINITY, String::new());
    let fluids = world.objects.iter().filter_map(|entry| place(world, entry)).collect::<Vec<_>>();
    for entry in &world.objects {
        for fluid in &fluids {
            let step = match &entry.offers {
                Offers { collider: Some(_), looks: Some(Looks::Input(name)), .. } => {
                    let speed = speed_of_input(inputs, name, &fluid.bounds, times)?;
                    Courant { acceleration: 0.0, ..*courant }.longest_step(speed, fluid.voxel)
                }
                Offers { solids: Some(solids), .. } => {
                    let speed = speed_of_bodies(world, solids, &fluid.bounds)?;
                    let pulled = if solids.kinematic { 0.0 } else { courant.acceleration };
                    let own = Courant { acceleration: pulled, ..*courant };
                    // None of them is where the fluid is.
                    speed.map_or(f64::INFINITY, |speed| own.longest_step(speed, fluid.voxel))
                }
                _ => continue,
            };
            if step < longest.0 {
                longest = (step, entry.path.clone());
            }
        }
    }
    Ok(longest)
}

/// Where the fluid of an Object is, if it is one and there is some.
fn place(world: &World, entry: &ObjectEntry) -> Option<Place> {
    let field = entry.offers.fluid?;
    let frame = world.domains[entry.domain].frame();
    let particles = field.particles.map(|carried| world.particles[carried.particles].topology());
    let buckets = particles.unwrap_or(world.volumes[field.volume].topology()).all();
    let corners = buckets.buckets().flat_map(|bucket| {
        let corner = frame.corner(bucket);
        [corner, corner + frame.bucket_size(bucket.level)]
    });
    Some(Place { bounds: Bounds::around(corners)?, voxel: frame.voxel_size(0) })
}

/// How often the motion of a step is looked at.
const LOOKS: u32 = 8;

/// The largest speed of what is in an input [m/s], within a box, between two times [s].
fn speed_of_input(
    inputs: &dyn Inputs,
    name: &str,
    within: &Bounds,
    times: [f64; 2],
) -> Result<f64> {
    let changes = inputs.changes(name);
    let now = inputs.data(name, times[0])?;
    let still = now.motion.as_ref().is_none_or(Motion::is_still);
    if now.is_empty() || (still && !changes) {
        return Ok(0.0);
    }
    let (local, deforming) = match &now.geometry {
        Geometry::Shape(shape) => (shape.bounds(), 0.0),
        Geometry::Surface(surface) => {
            let start = Triangles::of_surface(surface)?;
            let later = if changes { Some(inputs.data(name, times[1])?) } else { None };
            let way = later.map_or(Ok(0.0), |later| longest_way(&start, &later))?;
            let speed = if times[1] > times[0] { way / (times[1] - times[0]) } else { 0.0 };
            (start.bounds(), speed)
        }
        _ => (None, 0.0),
    };
    let local = local.filter(|local| local.size().is_finite());
    let fastest = match &now.motion {
        Some(motion) => fastest(motion, local, within, times),
        None => 0.0,
    };
    Ok(fastest + deforming)
}

/// How far a vertex is from where it was [m], at most, beside the motion of the whole; nothing where they are not the same vertices.
fn longest_way(start: &Triangles, later: &Data) -> Result<f64> {
    let Geometry::Surface(surface) = &later.geometry else { return Ok(0.0) };
    let end = Triangles::of_surface(surface)?;
    if start.indices() != end.indices() {
        return Ok(0.0);
    }
    let ways = start.positions().iter().zip(end.positions()).map(|(a, b)| a.distance(*b));
    Ok(ways.fold(0.0, f64::max))
}

/// The largest speed [m/s] of something within a box, which holds `local` in its own coordinates, or has no end.
fn fastest(motion: &Motion, local: Option<Bounds>, within: &Bounds, times: [f64; 2]) -> f64 {
    let [start, end] = times;
    let even = (0..=LOOKS).map(|n| start + (end - start) * f64::from(n) / f64::from(LOOKS));
    let mut most = 0.0_f64;
    for time in even.chain(motion.turns(start, end)) {
        let pose = motion.pose(time);
        let around = |local: Bounds| Bounds::around(local.corners().map(|at| pose.to_world(at)));
        let held = match local.and_then(around) {
            Some(world) => shared(&world, within),
            None => Some(*within),
        };
        let Some(held) = held else { continue };
        for twist in [motion.twist(time), motion.twist_before(time)] {
            let speed = |at: DVec3| twist.at(at - pose.translation).length();
            most = held.corners().into_iter().map(speed).fold(most, f64::max);
        }
    }
    most
}

/// What two boxes share.
fn shared(one: &Bounds, other: &Bounds) -> Option<Bounds> {
    let shared = Bounds { min: one.min.max(other.min), max: one.max.min(other.max) };
    shared.min.cmple(shared.max).all().then_some(shared)
}

/// The largest speed of bodies of an Object that may be within a box [m/s], if any may be.
fn speed_of_bodies(world: &World, solids: &SolidBodies, within: &Bounds) -> Result<Option<f64>> {
    let points = &world.points[solids.bodies.centres.points];
    let (centre, velocity) =
        (points.column(points.position())?, points.column(solids.bodies.centres.velocity)?);
    let (turn, inertia) =
        (points.column(solids.bodies.orientation)?, points.column(solids.bodies.inertia)?);
    let (momentum, pivot) = (points.column(solids.momentum)?, points.column(solids.pivot)?);
    let mut most = None;
    for n in 0..points.len() {
        let form = &solids.forms[n % solids.forms.len()];
        // A ball around the centre holds the body, however it is turned.
        let far = form.bounds().map_or(0.0, |bounds| {
            bounds.corners().into_iter().map(|at| at.distance(pivot[n])).fold(0.0, f64::max)
        });
        let ball = Bounds { min: centre[n] - far, max: centre[n] + far };
        if shared(&ball, within).is_none() {
            continue;
        }
        let spin = (turn[n].inverse() * momentum[n]) / inertia[n];
        let speed = velocity[n].length() + far * spin.length();
        most = Some(most.unwrap_or(0.0_f64).max(speed));
    }
    Ok(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use undine_geometry::{Pose, Twist};

    fn cube(middle: DVec3, half: f64) -> Bounds {
        Bounds { min: middle - half, max: middle + half }
    }

    #[test]
    fn what_turns_is_as_fast_as_its_farthest_corner_in_the_fluid() {
        let turning = Twist { linear: DVec3::X, angular: DVec3::new(0.0, 0.0, 3.0) };
        let motion = Motion::steady(Pose::IDENTITY, turning).unwrap();
        let blade = Bounds { min: DVec3::new(-2.0, -0.1, -0.1), max: DVec3::new(2.0, 0.1, 0.1) };
        let all = fastest(&motion, Some(blade), &cube(DVec3::ZERO, 9.0), [0.0, 0.0]);
        let wanted = (DVec3::X + 3.0 * DVec3::Z.cross(DVec3::new(2.0, -0.1, 0.0))).length();
        assert!((all - wanted).abs() < 1e-9, "{all} m/s");
        let near = fastest(&motion, Some(blade), &cube(DVec3::ZERO, 0.1), [0.0, 0.0]);
        assert!(near < 1.5, "{near} m/s");
        assert_eq!(fastest(&motion, Some(blade), &cube(DVec3::splat(9.0), 1.0), [0.0, 0.0]), 0.0);
        let endless = fastest(&motion, None, &cube(DVec3::ZERO, 1.0), [0.0, 0.0]);
        assert!((endless - DVec3::new(4.0, 3.0, 0.0).length()).abs() < 1e-9, "{endless} m/s");
    }
}
