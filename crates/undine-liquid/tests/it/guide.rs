//! Guiding liquids: into a shape, along given velocities, and not beyond a mask.

use crate::scene::{Scene, cuboid, fixed, positions, run, velocities};
use std::sync::Arc;
use undine_core::glam::{DVec3, Vec3};
use undine_core::volume::VoxelShape;
use undine_core::{ChannelSpec, Frame, GridDomain};
use undine_geometry::levelset::{Extent, LevelSet};
use undine_geometry::{Shape, Solid};
use undine_schema::setup::Behavior;
use undine_sim::input::{Data, Geometry};

fn guide() -> Behavior {
    Behavior::new(&undine_actions::guide::DECLARATION)
}

/// A ball of liquid without weight.
fn drop() -> Scene {
    let pressure = Behavior::new(&undine_fluid::pressure::DECLARATION);
    Scene::of(Shape::sphere(0.2).unwrap(), 0.05).with(pressure)
}

/// A large ball that streams as a whole.
fn stream(velocity: Vec3) -> Data {
    let frame = Frame::new(DVec3::ZERO, 0.1).unwrap();
    let domain = GridDomain::new("stream", frame);
    let ball = Shape::sphere(1.0).unwrap();
    let mut set = LevelSet::of_solid("stream", &domain, &ball, Extent::Full(2.0)).unwrap();
    let spec = ChannelSpec::new("v", velocity);
    set.volume_mut().add_channel(&spec, VoxelShape::CELLS).unwrap();
    Data::new(Geometry::LevelSet(Arc::new(set)))
}

/// From rest, velocity follows the one that is given as w (1 − (1 + kΔt)⁻ⁿ), which is w (1 − e^(−kt)) for short steps.
#[test]
fn a_drop_follows_a_stream_at_the_rate_of_its_strength() {
    let wanted = DVec3::new(0.3, -0.1, 0.2);
    let scene = drop().with_data("stream", stream(wanted.as_vec3()));
    let scene = scene.with(guide().set("flow", "stream").set("strength", 5.0));
    let mut simulation = scene.simulation(fixed(24.0, 4));
    run(&mut simulation, 6);
    let share = 1.0 - (1.0 + 5.0 / 96.0_f64).powi(-24);
    assert!((share - (1.0 - (-5.0 * 0.25_f64).exp())).abs() < 0.02);
    for velocity in velocities(&simulation) {
        assert!((velocity - share * wanted).length() < 1e-4, "{velocity}");
    }
}

#[test]
fn a_drop_without_weight_is_drawn_into_a_shape() {
    let centre = DVec3::new(0.6, 0.1, 0.0);
    let ball = Shape::sphere(0.3).unwrap();
    let pose = undine_geometry::Pose { translation: centre, ..undine_geometry::Pose::IDENTITY };
    let ball = ball.moved(&pose).unwrap();
    let scene = drop().with_input("goal", ball.clone());
    let scene = scene.with(guide().set("input", "goal").set("time", 0.2).set("strength", 20.0));
    let mut simulation = scene.simulation(fixed(24.0, 4));
    let inside = |simulation: &_| {
        let places = positions(simulation);
        places.iter().filter(|at| ball.distance(**at) < 0.05).count() as f64 / places.len() as f64
    };
    assert!(inside(&simulation) < 0.1);
    run(&mut simulation, 48);
    assert!(inside(&simulation) > 0.95, "{}", inside(&simulation));
}

#[test]
fn outside_of_the_mask_and_without_strength_nothing_happens() {
    let base = || drop().with_data("stream", stream(Vec3::X));
    let far = cuboid(DVec3::splat(5.0), DVec3::splat(6.0));
    let bytes = |scene: Scene| {
        let mut simulation = scene.simulation(fixed(24.0, 2));
        run(&mut simulation, 2);
        let (places, velocities) = (positions(&simulation), velocities(&simulation));
        let numbers = places.into_iter().chain(velocities).flat_map(|vector| vector.to_array());
        numbers.map(f64::to_bits).collect::<Vec<u64>>()
    };
    let plain = bytes(base());
    let masked = guide().set("flow", "stream").set("mask", "far");
    assert!(plain == bytes(base().with_input("far", far).with(masked)));
    assert!(plain == bytes(base().with(guide().set("flow", "stream").set("strength", 0.0))));
    assert!(plain != bytes(base().with(guide().set("flow", "stream"))));
}
