//! Smoke that rises.

use crate::scene::{Look, Scene, air, ball, fixed, frames, stamp};
use undine_core::glam::DVec3;
use undine_sim::Simulation;

/// A ball of warm smoke that is there at the start and then left to itself.
fn bubble(substeps: u32) -> Simulation {
    Scene::default()
        .with_input("ball", ball(DVec3::ZERO, 0.2))
        .with(air(0.04))
        .with(stamp("ball").set("temperature", 350.0).set("end", 1e-6))
        .under_pressure()
        .under_gravity()
        .simulation(fixed(24.0, substeps))
}

#[test]
fn a_warm_bubble_rises() {
    let mut simulation = bubble(2);
    frames(&mut simulation, 1);
    let begun = Look::at(&simulation).middle("density");
    let mass = Look::at(&simulation).total("density");
    frames(&mut simulation, 11);
    let look = Look::at(&simulation);
    let risen = look.middle("density") - begun;
    println!(
        "risen {risen} mass {} -> {} buckets {}",
        mass,
        look.total("density"),
        look.volume.topology().all().len()
    );
    assert!(risen.y > 0.05 && risen.x.abs() < 0.01 && risen.z.abs() < 0.01, "{risen}");
    assert!((look.total("density") / mass - 1.0).abs() < 0.1);
}
