//! Liquid at rest: in a box, on a slope, around an obstacle.

use crate::scene::{GRAVITY, Scene, cuboid, fixed, liquid_cells, rms_speed, run, tank};
use undine_core::glam::{DQuat, DVec3};
use undine_geometry::{Pose, Shape};
use undine_schema::setup::Behavior;
use undine_sim::Simulation;

const DENSITY: f64 = 998.2;
/// How deep the water is [m].
const DEPTH: f64 = 0.5;

/// Simulates a second and another one, and holds the speed against √(gh): RMS after each.
fn speeds(simulation: &mut Simulation) -> [f64; 2] {
    let scale = (GRAVITY * DEPTH).sqrt();
    [(); 2].map(|()| {
        run(simulation, 24);
        rms_speed(simulation) / scale
    })
}

fn assert_calm(speeds: [f64; 2], what: &str) {
    assert_calmer_than(0.005, speeds, what);
}

fn assert_calmer_than(limit: f64, [one, two]: [f64; 2], what: &str) {
    println!(
        "{what}: RMS speed {:.4} % of √(gh) after 1 s, {:.4} % after 2 s",
        100.0 * one,
        100.0 * two
    );
    assert!(one < limit, "{what}: {one} of √(gh) after a second");
    assert!(two < limit, "{what}: {two} of √(gh) after another");
}

fn level() -> Scene {
    let water = cuboid(DVec3::ZERO, DVec3::new(1.0, DEPTH, 1.0));
    Scene::of(water, 1.0 / 16.0).with_wall("tank", tank(DVec3::ZERO, DVec3::ONE))
}

#[test]
fn water_in_a_tank_stays_at_rest_under_its_pressure() {
    let mut simulation = level().under_gravity().simulation(fixed(24.0, 2));
    assert_calm(speeds(&mut simulation), "level");
    let mut most: f64 = 0.0;
    for (at, _, pressure) in liquid_cells(&simulation) {
        let wanted = DENSITY * GRAVITY * (DEPTH - at.y);
        most = most.max((pressure - wanted).abs());
    }
    let scale = DENSITY * GRAVITY * DEPTH;
    println!("level: pressure off by {:.3} % of ρgh at most", 100.0 * most / scale);
    assert!(most < 0.02 * scale, "{most} Pa of {scale} Pa");
}

#[test]
fn water_around_an_obstacle_stays_at_rest() {
    for (what, at) in [("a ball under water", 0.22), ("a ball that looks out of it", 0.42)] {
        let pose = Pose { translation: DVec3::new(0.45, at, 0.52), ..Pose::IDENTITY };
        let ball = Shape::sphere(0.18).unwrap().moved(&pose).unwrap();
        let water = cuboid(DVec3::ZERO, DVec3::new(1.0, DEPTH, 1.0));
        let water = water.minus(ball.clone(), 0.0).unwrap();
        let scene = Scene::of(water, 1.0 / 16.0)
            .with_wall("tank", tank(DVec3::ZERO, DVec3::ONE))
            .with_wall("ball", ball);
        let mut simulation = scene.under_gravity().simulation(fixed(24.0, 2));
        assert_calm(speeds(&mut simulation), what);
    }
}

/// A tank that leans by 20°, and so cuts every cell that it meets.
#[test]
fn water_in_a_leaning_tank_stays_at_rest() {
    let turned = Pose {
        rotation: DQuat::from_rotation_z(20_f64.to_radians()),
        translation: DVec3::new(0.4, 0.1, 0.0),
    };
    let inside = cuboid(DVec3::new(0.0, 0.0, 0.0), DVec3::new(1.0, 2.0, 0.5));
    let below = Shape::half_space(DVec3::Y, 0.6).unwrap();
    let inside = inside.moved(&turned).unwrap();
    let water = Shape::intersection(vec![inside.clone(), below], 0.0).unwrap();
    let scene = Scene::of(water, 1.0 / 16.0).with_wall("tank", inside.inverted().unwrap());
    let mut simulation = scene.under_gravity().simulation(fixed(24.0, 2));
    // How calm it is depends on how cells are cut: from 0.5 to 1.5 %, as the tank is moved by parts of a voxel.
    assert_calmer_than(0.01, speeds(&mut simulation), "leaning tank");
}

/// The same the other way round: gravity leans, and the surface with it, over walls along the grid.
#[test]
fn water_under_leaning_gravity_stays_at_rest() {
    let down = DVec3::new(0.3, -1.0, 0.1).normalize();
    let below = Shape::half_space(-down, -down.dot(DVec3::new(0.5, DEPTH, 0.5))).unwrap();
    let whole = cuboid(DVec3::ZERO, DVec3::ONE);
    let water = Shape::intersection(vec![whole, below], 0.0).unwrap();
    let scene = Scene::of(water, 1.0 / 16.0).with_wall("tank", tank(DVec3::ZERO, DVec3::ONE));
    let gravity = Behavior::new(&undine_actions::gravity::DECLARATION)
        .set("acceleration", (GRAVITY * down).to_array());
    let mut simulation = scene.weightless(0.0).with(gravity).simulation(fixed(24.0, 2));
    assert_calm(speeds(&mut simulation), "leaning gravity");
}
