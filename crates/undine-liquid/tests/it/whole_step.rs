//! Whole steps: liquid that flies, and dams that break.

use crate::scene::{
    GRAVITY, Scene, adaptive, cuboid, energy, fixed, hybrid, middle, positions, run, tank,
    velocities,
};
use undine_core::glam::DVec3;
use undine_geometry::Shape;

fn ball() -> Shape {
    Shape::sphere(0.2).unwrap()
}

#[test]
fn a_liquid_falls_as_everything_does() {
    let mut simulation = Scene::of(ball(), 0.05).under_gravity().simulation(fixed(24.0, 4));
    let start = middle(&simulation);
    run(&mut simulation, 6);
    let (time, step) = (0.25, 1.0 / 96.0);
    for velocity in velocities(&simulation) {
        let wanted = DVec3::new(0.0, -GRAVITY * time, 0.0);
        assert!((velocity - wanted).length() < 1e-5 * wanted.length(), "{velocity}");
    }
    let fallen = start.y - middle(&simulation).y;
    let wanted = 0.5 * GRAVITY * time * time;
    assert!((fallen - wanted).abs() <= 0.5 * GRAVITY * time * step * 1.01, "{fallen} {wanted}");
}

#[test]
fn a_thrown_liquid_flies_along_a_parabola() {
    let (thrown, time) = (DVec3::new(2.0, 1.0, -0.5), 0.25);
    for transfer in ["apic", "flip", "pic"] {
        let kind = hybrid(0.05).set("velocity", thrown.to_array()).set("transfer", transfer);
        let scene = Scene::of_kind(ball(), kind).under_gravity();
        let mut simulation = scene.simulation(fixed(24.0, 4));
        let start = middle(&simulation);
        run(&mut simulation, 6);
        let wanted = thrown - DVec3::Y * GRAVITY * time;
        let off = velocities(&simulation).iter().map(|v| v.distance(wanted)).fold(0.0, f64::max);
        assert!(off < 1e-5 * wanted.length(), "{transfer}: {off}");
        let flown = middle(&simulation) - start;
        let wanted = thrown * time - DVec3::Y * 0.5 * GRAVITY * time * time;
        let (off, most) = (flown - wanted, 0.5 * GRAVITY * time / 96.0);
        assert!(off.y.abs() <= 1.01 * most, "{transfer}: {off}");
        assert!(off.x.abs().max(off.z.abs()) < 0.01 * 0.05, "{transfer}: {off}");
    }
}

#[test]
fn a_dam_breaks_and_all_of_it_stays_in_the_tank() {
    let water = cuboid(DVec3::ZERO, DVec3::new(0.4, 0.6, 1.0));
    let scene = Scene::of(water, 1.0 / 16.0).with_wall("tank", tank(DVec3::ZERO, DVec3::ONE));
    let mut simulation = scene.under_gravity().simulation(adaptive(24.0, 2.0));
    let count = positions(&simulation).len();
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
