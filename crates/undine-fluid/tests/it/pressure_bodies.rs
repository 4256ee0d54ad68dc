//! Rigid bodies in the pressure solve: fluid and body find their velocities together.

use crate::basin::Basin;
use std::f64::consts::PI;
use undine_core::glam::DVec3;
use undine_fluid::pressure::{Afloat, Settings, covered};
use undine_geometry::{Collider, Motion, Pose, Shape, Twist};
use undine_linsolve::pressure::{MOTIONS, RigidTerm};

/// Gravity [m/s²].
const G: f64 = 9.81;
/// A step [s].
const STEP: f64 = 0.01;
const EXACT: Settings =
    Settings { tolerance: 1e-9, smallest: 1e-4, non_stick: false, tension: 0.0 };

/// A body of a shape at a place, with a mass [kg] and one moment of inertia about all axes [kg m²].
fn body(basin: &Basin, shape: &Shape, at: DVec3, mass: f64, moment: f64) -> Afloat {
    let motion = Motion::still(Pose::at(at)).unwrap();
    let collider = Collider::solid(shape.clone()).with_motion(motion);
    let step = collider.during(0.0, STEP).unwrap();
    let inertia = [[moment, 0.0, 0.0], [0.0, moment, 0.0], [0.0, 0.0, moment]];
    Afloat {
        centre: at,
        twist: Twist::default(),
        inverse_mass: RigidTerm::free(mass, inertia).unwrap(),
        coverage: covered(&basin.domain, basin.volume(), &step),
    }
}

/// The distance to a shape at a place.
fn away(shape: &Shape, centre: DVec3) -> impl Fn(DVec3) -> f64 {
    use undine_geometry::Solid;
    let shape = shape.clone();
    move |at| shape.distance(at - centre)
}

/// A sphere of radius a in the middle of a full round tank of radius b: liquid of ½(b³ + 2a³)/(b³ − a³) times its volume goes
/// along (Lamb, *Hydrodynamics*, §93), so that it starts with g(ρ_f − ρ_s)/(ρ_s + that·ρ_f).
#[test]
fn a_sphere_released_at_rest_starts_as_its_added_mass_says() {
    let (voxel, a, b) = (0.05, 0.25, 1.05);
    let centre = DVec3::splat(1.2) + DVec3::new(0.011, 0.017, -0.013);
    let basin = Basin::new(voxel, [0; 3], [6; 3]);
    let sphere = Shape::sphere(a).unwrap();
    basin.wall(|at| (b - (at - centre).length()).min((at - centre).length() - a), |_| DVec3::ZERO);
    basin.pour(|_| -1.0);
    for ratio in [0.05, 0.5, 0.9, 3.0] {
        basin.fill_mac(basin.field.velocity, |axis, _| if axis == 1 { -G * STEP } else { 0.0 });
        let mass = 4.0 / 3.0 * PI * a.powi(3) * 1000.0 * ratio;
        let mut bodies = [body(&basin, &sphere, centre, mass, 0.4 * mass * a * a)];
        bodies[0].twist.linear = DVec3::new(0.0, -G * STEP, 0.0);
        let projected = basin.project_with(&mut bodies, &EXACT, STEP);
        assert!(projected.report.converged(), "{}", projected.report);
        let found = bodies[0].twist.linear / STEP;
        let added = 0.5 * (b.powi(3) + 2.0 * a.powi(3)) / (b.powi(3) - a.powi(3));
        let wanted = G * (1.0 - ratio) / (ratio + added);
        let endless = G * (1.0 - ratio) / (ratio + 0.5);
        println!("{ratio}: {found} m/s2, {wanted} in this tank, {endless} without walls");
        // Five cells to a radius: facets make the ball smaller by a hundredth.
        let facets = 0.01 * G;
        assert!((found.y - wanted).abs() < 0.02 * wanted.abs() + facets, "{found}, {wanted}");
        assert!((found.y - endless).abs() < 0.05 * endless.abs() + facets, "{found}, {endless}");
        assert!(found.x.abs().max(found.z.abs()) < 0.01 * G);
        assert!(bodies[0].twist.angular.length() < 1e-3 * G);
        assert!(basin.largest_divergence() < 1e-3);
    }
}

/// In a blob of liquid that nothing holds, what the body loses the liquid gains.
#[test]
fn momentum_is_only_exchanged() {
    let voxel = 0.05;
    let centre = DVec3::new(0.81, 0.79, 0.8);
    let basin = Basin::new(voxel, [0; 3], [4; 3]);
    let shape = Shape::cuboid(DVec3::new(0.21, 0.13, 0.17)).unwrap();
    basin.wall(away(&shape, centre), |_| DVec3::ZERO);
    basin.pour(|at| (at - DVec3::splat(0.8)).length() - 0.6);
    let mass = 30.0;
    let mut bodies = [body(&basin, &shape, centre, mass, 0.4)];
    bodies[0].twist =
        Twist { linear: DVec3::new(0.5, -0.2, 0.1), angular: DVec3::new(1.0, 2.0, -1.0) };
    let before = mass * bodies[0].twist.linear;
    basin.project_with(&mut bodies, &EXACT, STEP);
    let after = mass * bodies[0].twist.linear;
    // The mass of a face is what lies between the centres beside it: less than a voxel where the surface is nearer.
    let wet: std::collections::BTreeSet<[i32; 3]> = basin.wet().into_iter().collect();
    let phi = |at: [i32; 3]| f64::from(basin.value(basin.field.distance.unwrap(), at));
    let mut liquid = DVec3::ZERO;
    let mut seen = std::collections::BTreeSet::new();
    for (axis, face, area, u) in basin.faces() {
        if !seen.insert((axis, face)) {
            continue;
        }
        let mut below = face;
        below[axis] -= 1;
        let part = match (wet.contains(&below), wet.contains(&face)) {
            (true, true) => 1.0,
            (true, false) => (phi(below) / (phi(below) - phi(face))).max(1e-4),
            _ => (phi(face) / (phi(face) - phi(below))).max(1e-4),
        };
        liquid[axis] += 1000.0 * area * part * voxel.powi(3) * u;
    }
    println!("{before} became {after} and {liquid}");
    assert!((before - after).length() > 0.2 * before.length());
    assert!((before - after - liquid).length() < 1e-4 * before.length());
}

/// A body with the density of the liquid, and one that moves as the liquid does, change nothing.
#[test]
fn a_body_that_moves_as_the_liquid_does_changes_nothing() {
    let basin = Basin::new(0.05, [0; 3], [4; 3]);
    let centre = DVec3::new(0.81, 0.79, 0.8);
    let shape = Shape::cuboid(DVec3::new(0.21, 0.13, 0.17)).unwrap();
    basin.wall(away(&shape, centre), |_| DVec3::ZERO);
    basin.pour(|at| (at - DVec3::splat(0.8)).length() - 0.6);
    let turn = Twist { linear: DVec3::new(0.5, -0.2, 0.1), angular: DVec3::new(0.4, 0.3, -0.2) };
    for velocity in [basin.field.velocity, basin.field.velocity_before] {
        basin.fill_mac(velocity, |axis, at| turn.at(at - centre)[axis]);
    }
    let mut bodies = [body(&basin, &shape, centre, 30.0, 0.4)];
    bodies[0].twist = turn;
    let projected = basin.project_with(&mut bodies, &EXACT, STEP);
    assert!(projected.report.converged(), "{}", projected.report);
    // Liquid that turns as one pulls at its surface and at the body with ρω × (ω × r) over a step: nothing to first order, since the
    // pressure is that of the start of the motion.
    let gained = bodies[0].twist.linear - turn.linear;
    assert!(gained.length() < 1e-4, "{gained}");
    assert!((bodies[0].twist.angular - turn.angular).length() < 1e-3);
}

/// A box that floats with the part of its density below the surface stays where it is; deeper it rises, higher it sinks.
#[test]
fn a_box_floats_as_deep_as_its_density_says() {
    let (voxel, ratio) = (0.0625, 0.6);
    let half = DVec3::new(0.4, 0.3, 0.35);
    let shape = Shape::cuboid(half).unwrap();
    let mass = 8.0 * half.x * half.y * half.z * 1000.0 * ratio;
    let mut forces = Vec::new();
    for deeper in [-0.13, -0.08, -0.0437, 0.0, 0.0437, 0.08, 0.13] {
        let basin = Basin::new(voxel, [0; 3], [4; 3]);
        // The part that is below the surface at 1.03 m is `ratio` of its height, and `deeper` more.
        let centre = DVec3::new(1.013, 1.03 + half.y - 2.0 * half.y * ratio - deeper, 0.987);
        let tank = |at: DVec3| (at - 0.125).min_element().min(1.875 - at.x).min(1.875 - at.z);
        let outside = away(&shape, centre);
        basin.wall(|at| tank(at).min(outside(at)), |_| DVec3::ZERO);
        basin.pour(|at| at.y - 1.03);
        basin.fill_mac(basin.field.velocity, |axis, _| if axis == 1 { -G * STEP } else { 0.0 });
        let mut bodies = [body(&basin, &shape, centre, mass, 10.0)];
        bodies[0].twist.linear.y = -G * STEP;
        basin.project_with(&mut bodies, &EXACT, STEP);
        let found = bodies[0].twist.linear.y / STEP;
        println!("{deeper} m deeper: {found} m/s2");
        forces.push(found);
    }
    assert!(forces[0] < -0.5 && forces[6] > 0.5);
    assert!(forces[3].abs() < 0.01 * G, "{forces:?}");
    assert!(forces.windows(2).all(|pair| pair[0] < pair[1]), "{forces:?}");
}

#[test]
fn what_nothing_can_push_is_a_wall_that_moves() {
    let basin = Basin::new(0.05, [0; 3], [4; 3]);
    let centre = DVec3::splat(0.8);
    let shape = Shape::sphere(0.25).unwrap();
    basin.wall(away(&shape, centre), |_| DVec3::ZERO);
    basin.pour(|at| (at - DVec3::splat(0.8)).length() - 0.6);
    let mut bodies = [body(&basin, &shape, centre, 1.0, 1.0)];
    bodies[0].inverse_mass = [[0.0; MOTIONS]; MOTIONS];
    bodies[0].twist.linear = DVec3::X;
    basin.project_with(&mut bodies, &EXACT, STEP);
    assert_eq!(bodies[0].twist.linear, DVec3::X);
    // In front of it the liquid goes along, at its side it goes back.
    assert!(basin.face(basin.field.velocity, 0, [22, 16, 16]) > 0.4);
    assert!(basin.face(basin.field.velocity, 0, [16, 22, 16]) < -0.05);
    assert!(basin.largest_divergence() < 1e-3);
}
