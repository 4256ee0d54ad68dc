//! The same air, to the last bit: for any number of threads and after a pause.

use crate::scene::{Scene, adaptive, air, ball, data, frames, stamp};
use std::io::Cursor;
use undine_core::glam::DVec3;
use undine_fluid::confinement;
use undine_schema::setup::Behavior;
use undine_sim::Simulation;
use undine_sim::checkpoint::{Identity, State, load, save};
use undine_sim::registry::digests;

/// Smoke that rises against a ball.
fn plume() -> Simulation {
    Scene::default()
        .with_input("ember", ball(DVec3::ZERO, 0.15))
        .with_wall("ball", data(ball(DVec3::new(0.03, 0.45, 0.0), 0.15)))
        .with(air(0.05).set("reflection", true))
        .with(stamp("ember").set("temperature", 500.0))
        .with(Behavior::new(&confinement::DECLARATION))
        .within_walls()
        .under_pressure()
        .under_gravity()
        .simulation(adaptive(24.0, 2.0))
}

#[test]
fn any_number_of_threads_makes_the_same_air() {
    let state = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut simulation = plume();
            frames(&mut simulation, 6);
            digests(&simulation.world).unwrap()
        })
    };
    let one = state(1);
    for threads in [2, 5] {
        assert_eq!(state(threads), one, "{threads} threads");
    }
}

#[test]
fn air_that_pauses_goes_on_to_the_same_bytes() {
    let kept = |simulation: &Simulation| {
        let mut all = digests(&simulation.world).unwrap();
        all.iter_mut().for_each(|store| store.channels.retain(|channel| channel.checkpoint));
        all
    };
    let mut whole = plume();
    frames(&mut whole, 3);
    let identity = Identity { build: "test".into(), scene: "plume".into() };
    let state = State { frame: 4, time: 0.0, step: 0, values: Default::default() };
    let mut bytes = Vec::new();
    save(&identity, &state, &whole.world, &mut bytes).unwrap();
    let clock = whole.clock();
    frames(&mut whole, 3);

    let mut paused = plume();
    load(Some(&identity), &mut paused.world, &mut Cursor::new(&bytes)).unwrap();
    paused.set_clock(clock);
    frames(&mut paused, 3);
    assert_eq!(kept(&paused), kept(&whole));
}
