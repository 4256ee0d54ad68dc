//! Where air is, and what is said of air that cannot be.

use crate::scene::{Look, Scene, air, ball, cuboid, data, fixed, frames, stamp};
use std::collections::BTreeSet;
use undine_actions::collider;
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_geometry::motion::Motion;
use undine_geometry::{Pose, Twist};
use undine_schema::setup::Behavior;
use undine_sim::Simulation;

#[test]
fn it_fills_what_its_input_touches_and_what_pads_it() {
    let solid = cuboid(DVec3::splat(0.05), DVec3::new(1.55, 0.75, 0.75));
    for (padding, count) in [(0_i64, 2), (1, 4 * 3 * 3)] {
        let air = air(0.1).set("input", "room").set("padding", padding);
        let mut simulation = Scene::default()
            .with_input("room", solid.clone())
            .with(air)
            .under_pressure()
            .simulation(fixed(24.0, 1));
        frames(&mut simulation, 1);
        let look = Look::at(&simulation);
        assert_eq!(look.volume.topology().all().len(), count);
    }
}

/// The places of Buckets along x.
fn along_x(simulation: &Simulation) -> BTreeSet<i32> {
    let look = Look::at(simulation);
    look.volume.topology().all().buckets().map(|bucket| bucket.coord.x).collect()
}

#[test]
fn it_comes_and_goes_with_what_it_is_around() {
    let mut ball = data(ball(DVec3::splat(0.4), 0.2));
    let twist = Twist { linear: 9.6 * DVec3::X, angular: DVec3::ZERO };
    ball.motion = Some(Motion::steady(Pose::IDENTITY, twist).unwrap());
    let mut simulation = Scene::default()
        .with_wall("ball", ball)
        .with(air(0.1).set("around", "ball"))
        .within_walls()
        .under_pressure()
        .simulation(fixed(24.0, 1));
    frames(&mut simulation, 1);
    let first = along_x(&simulation);
    assert!((3..=4).contains(&first.len()), "{first:?}");
    // By a Bucket in two frames.
    frames(&mut simulation, 6);
    assert_eq!(along_x(&simulation), first.iter().map(|x| x + 3).collect());
}

#[test]
fn what_it_is_around_may_be_disabled_where_it_has_a_place_of_its_own() {
    let off = |air: Behavior| {
        Scene::default()
            .with_input("room", ball(DVec3::splat(0.4), 0.2))
            .with(
                Behavior::new(&collider::DECLARATION).named("ball").set("input", "room").disabled(),
            )
            .with(air.set("around", "ball"))
            .under_pressure()
            .simulation(fixed(24.0, 1))
    };
    let mut simulation = off(air(0.1).set("input", "room"));
    frames(&mut simulation, 1);
    // Buckets begin at the middle of the ball.
    assert_eq!(along_x(&simulation), BTreeSet::from([-2, -1, 0, 1]));
    // Without one, it takes no part.
    assert_eq!(off(air(0.1)).world.volumes.iter().count(), 0);
}

#[test]
fn it_follows_smoke_and_forgets_where_none_is_left() {
    let mut simulation = Scene::default()
        .with_input("puff", ball(DVec3::splat(0.4), 0.2))
        .with(air(0.1).set("velocity", [4.8, 0.0, 0.0]))
        .with(stamp("puff").set("end", 1e-6))
        .under_pressure()
        .simulation(fixed(24.0, 1));
    frames(&mut simulation, 1);
    let begun = along_x(&simulation);
    frames(&mut simulation, 16);
    let look = Look::at(&simulation);
    let at = look.middle("density");
    println!("{begun:?} {:?} {at}", along_x(&simulation));
    // 17 frames of 0.2 m: all of it goes with the wind, and nothing disturbs it.
    assert!((at - DVec3::new(3.8, 0.4, 0.4)).length() < 0.02, "{at}");
    assert!(along_x(&simulation).is_disjoint(&begun));
}

#[test]
fn nothing_goes_beyond_the_limit() {
    let mut simulation = Scene::default()
        .with_input("puff", ball(DVec3::splat(0.4), 0.2))
        .with_input("limit", cuboid(DVec3::splat(0.01), DVec3::new(1.59, 0.79, 0.79)))
        .with(air(0.1).set("velocity", [4.8, 0.0, 0.0]).set("within", "limit"))
        .with(stamp("puff"))
        .under_pressure()
        .simulation(fixed(24.0, 1));
    frames(&mut simulation, 8);
    assert_eq!(along_x(&simulation), BTreeSet::from([0, 1]));
}

/// What is said of a scene that does not come about, or not past its first frame.
fn told(scene: Scene, memory: MemoryBudget) -> String {
    match scene.try_within(fixed(24.0, 1), memory) {
        Err(error) => error.to_string(),
        Ok(mut simulation) => {
            simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap_err().to_string()
        }
    }
}

#[track_caller]
fn says(scene: Scene, words: &[&str]) {
    let told = told(scene, MemoryBudget::new(200_000_000));
    for word in words {
        assert!(told.contains(word), "no `{word}` in: {told}");
    }
}

#[test]
fn voxels_beyond_memory_are_refused() {
    let room = cuboid(DVec3::ZERO, DVec3::splat(4.0));
    let scene = Scene::default().with_input("room", room).with(air(0.005).set("input", "room"));
    says(scene, &["budget"]);
}

#[test]
fn a_stamp_that_touches_nothing_is_told_of() {
    let grain = ball(DVec3::splat(0.1), 0.001);
    let scene = Scene::default().with_input("grain", grain).with(air(0.1)).with(stamp("grain"));
    says(scene, &["touches no cell of `air`", "voxels are 0.1 m wide"]);
}

#[test]
fn a_band_around_nothing_is_told_of() {
    let scene = Scene::default().with(air(0.1).set("around", "nobody"));
    says(scene, &["air.around", "there is nothing called `nobody`"]);
}

#[test]
fn air_without_end_is_told_of() {
    let out = ball(DVec3::ZERO, 1.0).inverted().unwrap();
    let scene = Scene::default().with_input("out", out.clone()).with(air(0.1).set("input", "out"));
    says(scene, &["it goes on without end"]);
    let scene = Scene::default().with_input("out", out).with(air(0.1)).with(stamp("out"));
    says(scene, &["it goes on without end"]);
}

#[test]
fn channels_that_cannot_be_are_told_of() {
    for (names, word) in [("dye density", "already"), ("dye dye", "twice"), ("?", "no name")] {
        says(Scene::default().with(air(0.1).set("channels", names)), &[word]);
    }
}
