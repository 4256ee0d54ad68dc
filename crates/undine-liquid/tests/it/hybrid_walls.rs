//! Walls in whole steps: thin ones do not leak, moving ones push, and nothing gets stuck or out.

use crate::scene::{GRAVITY, Scene, adaptive, cuboid, energy, fixed, positions, run, tank};
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_geometry::motion::Motion;
use undine_geometry::{Pose, Shape, Twist};
use undine_sim::input::{Data, Geometry};

const VOXEL: f64 = 1.0 / 16.0;

#[test]
fn a_wall_thinner_than_a_voxel_keeps_two_halves_apart() {
    // One half is full, the other empty, and a sheet of a hundredth of a voxel stands between, anywhere in a cell.
    for place in [0.5, 0.513, 0.531] {
        let water = cuboid(DVec3::ZERO, DVec3::new(place, 0.6, 0.5));
        let half = 0.005 * VOXEL;
        let sheet =
            cuboid(DVec3::new(place - half, -0.2, -0.2), DVec3::new(place + half, 1.2, 0.7));
        let scene = Scene::of(water, VOXEL)
            .with_wall("tank", tank(DVec3::ZERO, DVec3::new(1.0, 1.0, 0.5)))
            .with_wall("sheet", sheet);
        let mut simulation = scene.under_gravity().simulation(fixed(24.0, 2));
        let start = energy(&simulation);
        let mut gained = f64::MIN;
        for _ in 0..36 {
            run(&mut simulation, 1);
            gained = gained.max(energy(&simulation) / start - 1.0);
        }
        let places = positions(&simulation);
        let leaked = places.iter().filter(|at| at.x > place).count();
        assert_eq!(leaked, 0, "of {} at {place}", places.len());
        // Nor did it fall as if the wall were further away.
        let high = places.iter().map(|at| at.y).fold(0.0, f64::max);
        println!(
            "thin wall at {place}: none of {} leaked; {high:.3} m high of 0.6 m; energy {:+.3} % at most",
            places.len(),
            100.0 * gained
        );
        assert!(high > 0.5, "{high}");
        assert!(gained < 0.005, "{gained}");
    }
}

#[test]
fn liquid_on_both_sides_of_a_thin_wall_does_not_feel_the_other() {
    // To the left it is twice as deep as to the right: without a wall it would rush across.
    let left = cuboid(DVec3::ZERO, DVec3::new(0.5, 0.6, 0.5));
    let right = cuboid(DVec3::new(0.5, 0.0, 0.0), DVec3::new(1.0, 0.3, 0.5));
    let water = Shape::union(vec![left, right], 0.0).unwrap();
    let sheet = cuboid(DVec3::new(0.515, -0.2, -0.2), DVec3::new(0.517, 1.2, 0.7));
    let scene = Scene::of(water, VOXEL)
        .with_wall("tank", tank(DVec3::ZERO, DVec3::new(1.0, 1.0, 0.5)))
        .with_wall("sheet", sheet);
    let mut simulation = scene.under_gravity().simulation(fixed(24.0, 2));
    let count = |simulation: &_| positions(simulation).iter().filter(|at| at.x < 0.516).count();
    let start = count(&simulation);
    run(&mut simulation, 36);
    assert_eq!(count(&simulation), start);
    let speed = crate::scene::rms_speed(&simulation) / (GRAVITY * 0.6).sqrt();
    println!("two levels at a thin wall: RMS speed {:.3} % of √(gh)", 100.0 * speed);
    assert!(speed < 0.01, "{speed}");
}

#[test]
fn a_paddle_pushes_the_liquid_and_none_gets_into_it() {
    let water = cuboid(DVec3::ZERO, DVec3::new(1.0, 0.4, 0.5));
    let paddle = Shape::cuboid(DVec3::new(0.06, 0.35, 0.3)).unwrap();
    // A turn in two seconds, about the middle.
    let twist = Twist { linear: DVec3::ZERO, angular: DVec3::new(0.0, 0.0, 3.0) };
    let pose = Pose { translation: DVec3::new(0.5, 0.45, 0.25), ..Pose::IDENTITY };
    let motion = Motion::steady(pose, twist).unwrap();
    let data = Data {
        motion: Some(motion.clone()),
        ..Data::new(Geometry::Shape(Arc::new(paddle.clone())))
    };
    let scene = Scene::of(water, VOXEL)
        .with_wall("tank", tank(DVec3::ZERO, DVec3::new(1.0, 1.0, 0.5)))
        .with_wall_of("paddle", data);
    let mut simulation = scene.under_gravity().simulation(adaptive(24.0, 1.0));
    // The paddle begins in the water; what it takes the place of is not there.
    run(&mut simulation, 1);
    let mass = simulation.budget().unwrap().mass;
    for _ in 0..35 {
        run(&mut simulation, 1);
        let pose = motion.pose(simulation.timeline().time(simulation.clock().frame));
        let deepest = positions(&simulation)
            .into_iter()
            .map(|at| {
                assert!(at.cmpge(DVec3::splat(-1e-4)).all() && at.x < 1.0001 && at.z < 0.5001);
                let local = pose.rotation.inverse() * (at - pose.translation);
                (DVec3::new(0.06, 0.35, 0.3) - local.abs()).min_element()
            })
            .fold(f64::MIN, f64::max);
        assert!(deepest < 0.25 * VOXEL, "{} voxels inside of the paddle", deepest / VOXEL);
    }
    let stirred = simulation.budget().unwrap();
    assert!((stirred.mass / mass - 1.0).abs() < 1e-5);
    println!("paddle: {:.2} J stirred in", stirred.kinetic_energy);
    assert!(stirred.kinetic_energy > 0.5);
}
