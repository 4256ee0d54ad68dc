//! Animated values and kernels of the user's own come at the right moments.

use crate::toy::{self, PULL, balls, node};
use std::sync::{Arc, Mutex};
use undine_core::glam::Vec3;
use undine_schema::setup::Group;
use undine_schema::{Interpolation, Key, Keys, Value};
use undine_sim::timeline::Substeps;
use undine_sim::{Moment, SimError, Stage, Timeline, World};

fn keys(from: Value, to: Value) -> Keys {
    let keys = vec![Key { time: 0.0, value: from }, Key { time: 1.0, value: to }];
    Keys::new(keys, Interpolation::Linear).unwrap()
}

/// Steps of ¼ s; values are those at the end of a step, since that is the state that is solved for.
#[test]
fn keyed_values_reach_objects_and_forces_at_the_end_of_each_step() {
    let acceleration = keys(Value::Vector([0.0; 3]), Value::Vector([8.0, 0.0, 0.0]));
    let setup = Group::default()
        .set("glow", keys(Value::Number(1.0), Value::Number(5.0)))
        .with(Group::new("g").with(balls("b", "two")))
        .with(node(&PULL, "pull").set("acceleration", acceleration));
    let timeline = Timeline { fps: 2.0, substeps: Substeps::Fixed(2), ..Timeline::default() };
    let mut simulation = toy::simulation(&setup, timeline).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let list = seen.clone();
    let look = move |world: &mut World, _: &Moment| {
        let (glow, v) = (toy::numbers(world, "g/b", "glow")[0], toy::velocities(world, "g/b")[0].x);
        list.lock().unwrap().push((glow, v));
        Ok(())
    };
    simulation.add_kernel(Stage::EndSubstep, "look", look).unwrap();
    toy::run(&mut simulation, 3).unwrap();
    // v gains ¼ · (2, 4, 6, 8), and then ¼ · 8: the last key holds.
    let wanted = [(2.0, 0.5), (3.0, 1.5), (4.0, 3.0), (5.0, 5.0), (5.0, 7.0), (5.0, 9.0)];
    assert_eq!(*seen.lock().unwrap(), wanted);
}

#[test]
fn kernels_run_at_user_facing_stages_in_their_order() {
    let setup = Group::default().with(balls("b", "one"));
    let timeline = Timeline { substeps: Substeps::Fixed(2), ..Timeline::default() };
    let mut simulation = toy::simulation(&setup, timeline).unwrap();
    let log = Arc::new(Mutex::new(Vec::new()));
    for (stage, name) in [
        (Stage::EndFrame, "E"),
        (Stage::BeginFrame, "B"),
        (Stage::BeginSubstep, "b"),
        (Stage::BeginIteration, "n"),
        (Stage::EndSubstep, "e"),
        (Stage::BeginSubstep, "c"),
    ] {
        let log = log.clone();
        let note = move |_: &mut World, _: &Moment| {
            log.lock().unwrap().push(name);
            Ok(())
        };
        simulation.add_kernel(stage, name, note).unwrap();
    }
    toy::run(&mut simulation, 2).unwrap();
    assert_eq!(log.lock().unwrap().concat(), "BbcnebcneEBbcnebcneE");
}

#[test]
fn a_kernel_may_change_channels() {
    let setup = Group::default().with(balls("b", "two"));
    let mut simulation = toy::simulation(&setup, Timeline::default()).unwrap();
    let push = |world: &mut World, now: &Moment| {
        let (_, balls) = world.particles.iter().next().unwrap();
        let mut v = balls.column_mut(balls.handle::<Vec3>("v")?)?;
        for slot in 0..balls.topology().local() as u32 {
            v.chunk_mut(slot).fill(Vec3::X * now.frame as f32);
        }
        Ok(())
    };
    simulation.add_kernel(Stage::BeginSubstep, "push", push).unwrap();
    let before = simulation.world.particles.iter().next().unwrap().1.world_positions().unwrap();
    toy::run(&mut simulation, 1).unwrap();
    let after = simulation.world.particles.iter().next().unwrap().1.world_positions().unwrap();
    assert_eq!(toy::velocities(&simulation.world, "b")[0].x, 2.0);
    let moved = after[0].x - before[0].x;
    assert!((moved - 2.0 / 24.0).abs() < 1e-6, "{moved}");
}

#[test]
fn kernels_are_refused_at_other_stages() {
    let setup = Group::default().with(balls("b", "one"));
    let mut simulation = toy::simulation(&setup, Timeline::default()).unwrap();
    for (stage, ..) in Stage::TABLE {
        let added = simulation.add_kernel(*stage, "mine", |_, _| Ok(()));
        let may = stage.is_user_facing() && *stage != Stage::Ingest;
        assert_eq!(added.is_ok(), may, "{stage}");
        if let Err(error) = added {
            let wanted = format!("mine: Stage {stage} is not one at which kernels run");
            assert!(error.to_string().starts_with(&wanted), "{error}");
        }
    }
}

#[test]
fn what_goes_wrong_in_a_kernel_says_where() {
    let setup = Group::default().with(balls("b", "one"));
    let mut simulation = toy::simulation(&setup, Timeline::default()).unwrap();
    let fail = |_: &mut World, _: &Moment| Err(SimError::setup("x", "is wrong", "make it right"));
    simulation.add_kernel(Stage::EndSubstep, "fail", fail).unwrap();
    let error = toy::run(&mut simulation, 1).unwrap_err().to_string();
    let wanted =
        "kernel, \"fail\" at Stage EndSubstep, frame 2, substep 0: x: is wrong; make it right";
    assert_eq!(error, wanted);
}
