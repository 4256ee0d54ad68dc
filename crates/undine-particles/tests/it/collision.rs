//! Particles against colliders.

use crate::scene::{
    Inputs, cloud, gravity, input, particles, positions, run, simulation, store, timeline,
    velocities,
};
use std::sync::Arc;
use undine_core::glam::{DQuat, DVec3};
use undine_core::mesh::{Polygons, Surface};
use undine_geometry::motion::Motion;
use undine_geometry::pose::{Pose, Twist};
use undine_geometry::shape::Shape;
use undine_schema::setup::{Behavior, Group};
use undine_sim::Simulation;
use undine_sim::input::{Data, Geometry};

const G: f64 = 9.80665;

pub fn shape(shape: Shape) -> Data {
    Data { geometry: Geometry::Shape(Arc::new(shape)), ..Data::default() }
}

fn floor() -> Data {
    shape(Shape::half_space(DVec3::Y, 0.0).unwrap())
}

fn moved(data: Data, motion: Motion) -> Data {
    Data { motion: Some(motion), ..data }
}

fn collider() -> Behavior {
    Behavior::new(&undine_actions::collider::DECLARATION).set("input", "wall")
}

fn collision() -> Behavior {
    Behavior::new(&undine_actions::collision::DECLARATION)
}

fn inputs(points: Data, wall: Data) -> Inputs {
    let mut inputs = input("cloud", points);
    inputs.insert("wall".to_owned(), Arc::new(wall));
    inputs
}

fn ball(at: DVec3) -> Data {
    Data::points(vec![at])
}

fn scene(particles: Behavior, collision: Behavior, collider: Behavior) -> Group {
    Group::default().with(particles).with(collider).with(gravity()).with(collision)
}

fn position(simulation: &Simulation) -> DVec3 {
    positions(store(simulation, 0))[0]
}

fn velocity(simulation: &Simulation) -> DVec3 {
    velocities(store(simulation, 0))[0]
}

/// A ball falls 1 m and rises to e² of it, and so on: after the n-th bounce to e^2n.
#[test]
fn a_ball_bounces_to_the_square_of_its_restitution() {
    let radius = 1e-3;
    for e in [0.5, 0.8, 1.0] {
        let setup = scene(
            particles().set("radius", radius),
            collision().set("restitution", e).set("friction", 0.0),
            collider(),
        );
        for substeps in [1, 7] {
            let points = ball(DVec3::new(0.0, 1.0 + radius, 0.0));
            let mut simulation = simulation(&setup, inputs(points, floor()), timeline(substeps));
            // The height it would reach from where it is, after each bounce.
            let mut tops = vec![1.0];
            let mut falling = true;
            for _ in 0..60 {
                run(&mut simulation, 1);
                let (x, v) = (position(&simulation), velocity(&simulation));
                if falling && v.y > 0.0 {
                    tops.push(x.y - radius + v.y * v.y / (2.0 * G));
                }
                falling = v.y <= 0.0;
                assert!(x.y > 0.9 * radius, "{x}");
            }
            for (n, top) in tops.iter().enumerate().take(4) {
                let wanted = f64::powi(e, 2 * n as i32);
                assert!((top - wanted).abs() < 2e-4, "{e}, bounce {n}: {top}, wanted {wanted}");
            }
            assert!(tops.len() >= 3);
        }
    }
}

/// What is left of a bounce in the end is rest.
#[test]
fn a_bouncing_ball_comes_to_rest_on_the_floor() {
    for radius in [1e-5, 1e-3, 0.1] {
        let setup = scene(
            particles().set("radius", radius),
            collision().set("restitution", 0.5),
            collider(),
        );
        let points = ball(DVec3::new(0.2, 0.3 + radius, 0.0));
        let mut simulation = simulation(&setup, inputs(points, floor()), timeline(1));
        run(&mut simulation, 72);
        for _ in 0..48 {
            run(&mut simulation, 1);
            let (x, v) = (position(&simulation), velocity(&simulation));
            assert!(v.length() < 1e-6, "{radius}: {v}");
            let above = x.y / radius - 1.0;
            assert!((-0.3..0.05).contains(&above), "{radius}: {above}");
        }
        assert!((position(&simulation).x - 0.2).abs() < 1e-6);
    }
}

/// v²/(2μg), whatever the step.
#[test]
fn a_sliding_ball_stops_where_coulomb_says() {
    for (speed, friction) in [(2.0, 0.3), (1.0, 0.1), (4.0, 0.8)] {
        for substeps in [1, 4] {
            let setup = scene(
                particles().set("radius", 1e-3).set("velocity", [speed, 0.0, 0.0]),
                collision(),
                collider().set("friction", friction),
            );
            let points = ball(DVec3::new(0.0, 1.03e-3, 0.0));
            let mut simulation = simulation(&setup, inputs(points, floor()), timeline(substeps));
            run(&mut simulation, 48);
            let wanted = speed * speed / (2.0 * friction * G);
            let found = position(&simulation).x;
            assert!((found / wanted - 1.0).abs() < 0.01, "{found} m, wanted {wanted}");
            assert!(velocity(&simulation).length() < 1e-6);
        }
    }
}

/// On a slope of angle φ a ball sticks if tan φ < μ, and else slides down with g (sin φ − μ cos φ).
#[test]
fn a_ball_on_a_slope_sticks_or_slides_as_coulomb_says() {
    let angle: f64 = 0.5;
    let normal = DVec3::new(angle.sin(), angle.cos(), 0.0);
    let slope = || shape(Shape::half_space(normal, 0.0).unwrap());
    for friction in [0.7, 0.3, 0.0] {
        let setup = scene(particles(), collision().set("friction", friction), collider());
        let points = ball(1.03e-3 * normal);
        let mut simulation = simulation(&setup, inputs(points, slope()), timeline(1));
        run(&mut simulation, 24);
        let down = DVec3::new(angle.cos(), -angle.sin(), 0.0);
        let wanted = 0.5 * G * (angle.sin() - friction * angle.cos()).max(0.0);
        let found = position(&simulation).dot(down);
        assert!((found - wanted).abs() < 2e-3, "μ = {friction}: {found} m, wanted {wanted}");
        let speed = velocity(&simulation).dot(down);
        assert!((speed - 2.0 * wanted).abs() < 2e-3, "μ = {friction}: {speed} m/s");
    }
}

#[test]
fn a_ball_rides_on_a_platform_that_moves() {
    for velocity_of_platform in [DVec3::X, DVec3::Y, DVec3::new(1.0, -1.0, 0.5)] {
        let twist = Twist { linear: velocity_of_platform, angular: DVec3::ZERO };
        let platform = shape(Shape::cuboid(DVec3::new(1.0, 0.1, 1.0)).unwrap());
        let motion = Motion::steady(Pose::at(DVec3::new(0.0, -0.1, 0.0)), twist).unwrap();
        let setup = scene(
            particles().set("velocity", velocity_of_platform.to_array()),
            collision().set("restitution", 0.3),
            collider().set("friction", 0.5),
        );
        let points = ball(DVec3::new(0.0, 1.03e-3, 0.0));
        let mut simulation =
            simulation(&setup, inputs(points, moved(platform, motion)), timeline(1));
        run(&mut simulation, 48);
        let (x, v) = (position(&simulation), velocity(&simulation));
        let wanted = 2.0 * velocity_of_platform + DVec3::new(0.0, 1e-3, 0.0);
        assert!(x.distance(wanted) < 2e-4, "{x}, wanted {wanted}");
        assert!(v.distance(velocity_of_platform) < 1e-5, "{v}");
    }
}

/// A wall that comes at a ball at rest gives it (1 + e) times its speed.
#[test]
fn a_wall_that_moves_pushes_what_rests() {
    for e in [0.0, 0.5, 1.0] {
        let twist = Twist { linear: 3.0 * DVec3::X, angular: DVec3::ZERO };
        let motion = Motion::steady(Pose::at(DVec3::new(-1.5, 0.0, 0.0)), twist).unwrap();
        let wall = moved(shape(Shape::cuboid(DVec3::new(0.5, 1.0, 1.0)).unwrap()), motion);
        let setup = Group::default()
            .with(particles())
            .with(collider())
            .with(collision().set("restitution", e));
        let mut simulation = simulation(&setup, inputs(ball(DVec3::ZERO), wall), timeline(1));
        run(&mut simulation, 24);
        let v = velocity(&simulation);
        assert!(v.distance((1.0 + e) * 3.0 * DVec3::X) < 1e-4, "{e}: {v}");
        assert!(position(&simulation).x > 2.0);
    }
}

/// What sticks to a turntable goes round with it.
#[test]
fn a_ball_goes_round_on_a_turntable_that_holds_it() {
    let spin = 1.5;
    let twist = Twist { linear: DVec3::ZERO, angular: spin * DVec3::Y };
    let table = shape(Shape::cylinder(1.0, 0.2).unwrap());
    // Cylinders stand along z.
    let upright = DQuat::from_rotation_x(-std::f64::consts::FRAC_PI_2);
    let pose = Pose { rotation: upright, translation: DVec3::new(0.0, -0.1, 0.0) };
    let motion = Motion::steady(pose, twist).unwrap();
    let setup = scene(
        particles().set("velocity", [0.0, 0.0, -0.5 * spin]),
        collision(),
        collider().set("friction", 2.0),
    );
    let points = ball(DVec3::new(0.5, 1.03e-3, 0.0));
    let mut simulation = simulation(&setup, inputs(points, moved(table, motion)), timeline(1));
    run(&mut simulation, 48);
    let turned = DQuat::from_rotation_y(2.0 * spin);
    let (x, v) = (position(&simulation), velocity(&simulation));
    let arm = turned * DVec3::new(0.5, 0.0, 0.0);
    assert!(x.distance(arm + 1e-3 * DVec3::Y) < 5e-3, "{x}, wanted {arm}");
    assert!(v.distance(spin * DVec3::Y.cross(arm)) < 1e-2, "{v}");
}

fn sheet(size: f64) -> Data {
    let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    let corners = corners.map(|[x, z]| size * DVec3::new(x, 0.0, z)).to_vec();
    let faces = Polygons::triangles(vec![[0, 2, 1], [0, 3, 2]]).unwrap();
    let surface = Surface::new("sheet", corners, faces).unwrap();
    Data { geometry: Geometry::Surface(Arc::new(surface)), ..Data::default() }
}

/// Not at a thousand metres per frame, and not from below.
#[test]
fn nothing_gets_through_a_thin_sheet_however_fast_it_is() {
    for thickness in [0.0, 1e-3] {
        let count = 200;
        let points: Vec<DVec3> = (0..count)
            .map(|n| {
                let unit = |k: u64| undine_geometry::random::unit(3, 3 * n + k) - 0.5;
                let side = if n % 2 == 0 { 1.0 } else { -1.0 };
                DVec3::new(unit(0), side * (0.01 + 0.5 * (unit(1) + 0.5)), unit(2))
            })
            .collect();
        let mut cloud = cloud(points.clone(), &[]);
        let Geometry::Points(points_of) = &mut cloud.geometry else { unreachable!() };
        let towards = |n: usize| DVec3::new(0.0, -points[n].y.signum() * 24e3, 30.0 * points[n].x);
        points_of.vectors.insert("v".to_owned(), (0..points.len()).map(towards).collect());
        let setup = Group::default()
            .with(particles().set("radius", 1e-4))
            .with(collider().set("thickness", thickness))
            .with(collision().set("friction", 0.0));
        let mut simulation = simulation(&setup, inputs(cloud, sheet(300.0)), timeline(1));
        for _ in 0..3 {
            run(&mut simulation, 1);
            for (before, now) in points.iter().zip(positions(store(&simulation, 0))) {
                assert!(before.y * now.y > 0.0 && now.y.abs() < 0.6, "{before} went to {now}");
            }
        }
    }
}

/// Without gravity, static walls give nothing: kinetic energy never grows, and without friction and with full bounces it stays.
#[test]
fn static_walls_give_no_energy() {
    let room = || {
        let outside = Shape::cuboid(DVec3::splat(1.0)).unwrap().inverted().unwrap();
        let pillar = Shape::sphere(0.4).unwrap();
        shape(Shape::union(vec![outside, pillar], 0.0).unwrap())
    };
    let points: Vec<DVec3> = (0..300)
        .map(|n| {
            let unit = |k: u64| undine_geometry::random::unit(5, 3 * n + k) - 0.5;
            DVec3::new(unit(0), unit(1), unit(2))
        })
        .map(|x| x.normalize() * (0.5 + 0.4 * x.length()))
        .collect();
    for (e, friction) in [(1.0, 0.0), (0.6, 0.0), (0.6, 0.4), (0.0, 1.0)] {
        let mut data = cloud(points.clone(), &[]);
        let Geometry::Points(cloud) = &mut data.geometry else { unreachable!() };
        let velocity = |x: &DVec3| 5.0 * DVec3::new(x.z, -x.x, x.y);
        cloud.vectors.insert("v".to_owned(), points.iter().map(velocity).collect());
        let setup = Group::default()
            .with(particles())
            .with(collider())
            .with(collision().set("restitution", e).set("friction", friction));
        let mut simulation = simulation(&setup, inputs(data, room()), timeline(1));
        let begun = simulation.budget().unwrap();
        let mut before = begun.kinetic_energy;
        for _ in 0..24 {
            run(&mut simulation, 1);
            let now = simulation.budget().unwrap();
            assert!(now.kinetic_energy <= before * (1.0 + 1e-6), "{e}, {friction}");
            assert_eq!(now.mass, begun.mass);
            before = now.kinetic_energy;
        }
        if e == 1.0 {
            assert!((before / begun.kinetic_energy - 1.0).abs() < 1e-4, "{before}");
        } else {
            assert!(before < 0.9 * begun.kinetic_energy);
        }
        for x in positions(store(&simulation, 0)) {
            assert!(x.abs().max_element() < 1.0 && x.length() > 0.4, "{x}");
        }
    }
}

/// A frictionless floor takes momentum across itself alone.
#[test]
fn a_floor_without_friction_keeps_momentum_along_it() {
    let setup = scene(
        particles().set("velocity", [1.5, -2.0, 0.5]),
        collision().set("friction", 0.0).set("restitution", 0.4),
        collider(),
    );
    let points = (0..50).map(|n| DVec3::new(0.1 * f64::from(n), 0.01 * f64::from(n + 1), 0.0));
    let points = Data::points(points.collect());
    let mut simulation = simulation(&setup, inputs(points, floor()), timeline(2));
    let begun = simulation.budget().unwrap();
    run(&mut simulation, 48);
    let now = simulation.budget().unwrap();
    let lost = (now.momentum - begun.momentum) / begun.momentum.length();
    assert!(lost.x.abs() < 1e-6 && lost.z.abs() < 1e-6, "{lost}");
    assert!(now.momentum.y.abs() < 0.1 * begun.momentum.length());
}

/// Pressed into a corner of three walls, a ball stays, and does not gather speed.
#[test]
fn a_ball_in_a_corner_gathers_no_speed() {
    let corner = Shape::cuboid(DVec3::splat(1.0)).unwrap().inverted().unwrap();
    let setup = Group::default()
        .with(particles().set("velocity", [2.0, 1.0, 3.0]))
        .with(collider())
        .with(gravity().set("acceleration", [5.0, -9.0, 7.0]))
        .with(collision());
    let mut simulation =
        simulation(&setup, inputs(ball(DVec3::new(0.5, -0.5, 0.5)), shape(corner)), timeline(1));
    run(&mut simulation, 72);
    let (x, v) = (position(&simulation), velocity(&simulation));
    assert!(v.length() < 1e-3, "{v}");
    assert!(x.distance(DVec3::new(1.0, -1.0, 1.0)) < 5e-3 && x.abs().max_element() < 1.0, "{x}");
}

/// The same bytes, whoever computes.
#[test]
fn collisions_are_the_same_for_any_number_of_threads() {
    let result = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let points = (0..2000).map(|n| {
                let unit = |k: u64| undine_geometry::random::unit(8, 3 * n + k);
                4.0 * DVec3::new(unit(0), unit(1), unit(2))
            });
            let wall =
                shape(Shape::sphere(1.5).unwrap().moved(&Pose::at(DVec3::splat(2.0))).unwrap());
            let setup = scene(particles(), collision().set("restitution", 0.3), collider());
            let points = Data::points(points.collect());
            let mut simulation = simulation(&setup, inputs(points, wall), timeline(2));
            run(&mut simulation, 8);
            (positions(store(&simulation, 0)), velocities(store(&simulation, 0)))
        })
    };
    let (one, two) = (result(1), result(2));
    assert!(one == two);
}
