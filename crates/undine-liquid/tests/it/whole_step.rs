//! Whole steps: falling, resting, breaking dams.

use crate::scene::{GRAVITY, Scene, adaptive, cuboid, fixed, positions, run, tank, velocities};
use undine_core::glam::DVec3;

fn unit_tank() -> undine_geometry::Shape {
    tank(DVec3::ZERO, DVec3::splat(1.0))
}

#[test]
fn a_liquid_falls_as_everything_does() {
    let ball = undine_geometry::Shape::sphere(0.2).unwrap();
    let mut simulation = Scene::of(ball, 0.05).under_gravity().simulation(fixed(24.0, 4));
    let start = positions(&simulation).iter().sum::<DVec3>();
    let count = positions(&simulation).len() as f64;
    run(&mut simulation, 6);
    let (time, step) = (0.25, 1.0 / 96.0);
    for velocity in velocities(&simulation) {
        let wanted = DVec3::new(0.0, -GRAVITY * time, 0.0);
        assert!((velocity - wanted).length() < 1e-5 * wanted.length(), "{velocity}");
    }
    let fallen = (start - positions(&simulation).iter().sum::<DVec3>()).y / count;
    let wanted = 0.5 * GRAVITY * time * time;
    assert!((fallen - wanted).abs() <= 0.5 * GRAVITY * time * step * 1.01, "{fallen} {wanted}");
}

#[test]
fn water_in_a_tank_stays_at_rest() {
    let water = cuboid(DVec3::ZERO, DVec3::new(1.0, 0.5, 1.0));
    let scene = Scene::of(water, 1.0 / 16.0).with_wall("tank", unit_tank());
    let mut simulation = scene.under_gravity().simulation(fixed(24.0, 2));
    let rms = |simulation: &_| {
        let all = velocities(simulation);
        (all.iter().map(|v| v.length_squared()).sum::<f64>() / all.len() as f64).sqrt()
    };
    run(&mut simulation, 24);
    let (after_one, scale) = (rms(&simulation), (GRAVITY * 0.5).sqrt());
    assert!(after_one < 0.005 * scale, "{} of √(gh)", after_one / scale);
    run(&mut simulation, 24);
    assert!(rms(&simulation) < 1.2 * after_one + 1e-4 * scale, "{}", rms(&simulation) / scale);
}

#[test]
fn a_dam_breaks_and_all_of_it_stays_in_the_tank() {
    let water = cuboid(DVec3::ZERO, DVec3::new(0.4, 0.6, 1.0));
    let scene = Scene::of(water, 1.0 / 16.0).with_wall("tank", unit_tank());
    let mut simulation = scene.under_gravity().simulation(adaptive(24.0, 2.0));
    let count = positions(&simulation).len();
    let energy = |simulation: &undine_sim::Simulation| {
        let budget = simulation.budget().unwrap();
        budget.kinetic_energy + budget.potential_energy
    };
    let (start, mass) = (energy(&simulation), simulation.budget().unwrap().mass);
    for _ in 0..24 {
        run(&mut simulation, 1);
        assert!(energy(&simulation) < 1.005 * start);
    }
    assert!((simulation.budget().unwrap().mass / mass - 1.0).abs() < 1e-5);
    assert!(positions(&simulation).len() as f64 > 0.9 * count as f64);
    for place in positions(&simulation) {
        assert!(place.cmpge(DVec3::splat(-1e-4)).all() && place.cmple(DVec3::splat(1.0001)).all());
    }
    let front = positions(&simulation).iter().filter(|place| place.x > 0.9).count();
    assert!(front > count / 50, "{front} of {count} have come to the other side");
}
