//! A light ball rises through water, with steps of which the scene says nothing.

use std::path::Path;
use undine::{catalogue, prepare};
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_scene::Scene;

const SCENE: &str = r#"
setup "rising" fps=24 frames=9
input "pool" {
    box size="1.2 1 1.2 m" centre="0 0.5 0 m"
    subtract with="ball"
}
input "tank" {
    box size="1.2 3 1.2 m" centre="0 1.5 0 m"
    invert
}
input "ball" {
    sphere radius="15 cm" centre="0 0.5 0 m"
}
hybrid "water" input="pool" voxel="5 cm"
rigid-body "ball" input="ball" density="100 kg/m3"
collider "tank" input="tank"
walls
pressure
collision
gravity
"#;

/// Under ρ_w V/2 of added mass it rises at 13.5 m/s² in the beginning, and no void under it, from where it
/// was, holds it back.
#[test]
fn a_light_ball_under_water_rises_from_frame_to_frame() {
    let scene = Scene::parse(Path::new("scene.kdl"), SCENE, &catalogue(), &[])
        .unwrap_or_else(|report| panic!("{}", report.render(100)));
    let mut simulation = prepare::simulation(&scene, MemoryBudget::unlimited())
        .unwrap_or_else(|why| panic!("{why}"));
    let mut speeds = Vec::new();
    for _ in 0..3 {
        simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap_or_else(|why| panic!("{why}"));
        let (_, ball) =
            simulation.world.points.iter().find(|(_, points)| points.label() == "ball").unwrap();
        let v = ball.column(ball.handle::<DVec3>("v").unwrap()).unwrap()[0];
        speeds.push(v.y);
    }
    println!("{speeds:?}");
    let wanted = 13.5 / 24.0;
    assert!((speeds[0] / wanted - 1.0).abs() < 0.15, "{speeds:?}");
    assert!((speeds[1] / (2.0 * wanted) - 1.0).abs() < 0.15, "{speeds:?}");
    assert!(speeds[2] > 1.2 * speeds[1], "{speeds:?}");
}
