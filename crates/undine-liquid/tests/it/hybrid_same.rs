//! The same liquid, to the last bit: for any number of threads and after a pause; and alike, however it is transferred.

use crate::scene::{
    Scene, adaptive, cuboid, energy, fixed, hybrid, in_the_full_tier, positions, rms_speed, run,
    tank,
};
use std::io::Cursor;
use undine_core::glam::DVec3;
use undine_schema::setup::Behavior;
use undine_sim::checkpoint::{Identity, State, load, save};
use undine_sim::registry::digests;
use undine_sim::{Simulation, Timeline};

const VOXEL: f64 = 1.0 / 16.0;

/// A dam that breaks over a step in the floor.
fn scene(kind: Behavior) -> Scene {
    let water = cuboid(DVec3::ZERO, DVec3::new(0.375, 0.625, 0.5));
    let step = cuboid(DVec3::new(0.59375, -0.125, -0.125), DVec3::new(0.71875, 0.125, 0.625));
    Scene::of_kind(water, kind)
        .with_wall("tank", tank(DVec3::ZERO, DVec3::new(1.0, 1.0, 0.5)))
        .with_wall("step", step)
        .under_gravity()
}

fn timeline() -> Timeline {
    adaptive(24.0, 2.0)
}

fn dam() -> Simulation {
    scene(hybrid(VOXEL)).simulation(timeline())
}

#[test]
fn any_number_of_threads_makes_the_same_liquid() {
    let state = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut simulation = dam();
            run(&mut simulation, 8);
            digests(&simulation.world).unwrap()
        })
    };
    let one = state(1);
    assert_eq!(state(3), one, "3 threads");
    in_the_full_tier(|| {
        for threads in [2, 7] {
            assert_eq!(state(threads), one, "{threads} threads");
        }
    });
}

#[test]
fn a_liquid_that_pauses_goes_on_to_the_same_bytes() {
    let kept = |simulation: &Simulation| {
        let mut all = digests(&simulation.world).unwrap();
        all.iter_mut().for_each(|store| store.channels.retain(|channel| channel.checkpoint));
        all
    };
    let mut whole = dam();
    run(&mut whole, 4);
    let identity = Identity { build: "test".into(), scene: "dam".into() };
    let state = State { frame: 5, time: 0.0, step: 0, values: Default::default() };
    let mut bytes = Vec::new();
    save(&identity, &state, &whole.world, &mut bytes).unwrap();
    let clock = whole.clock();
    run(&mut whole, 4);

    let mut paused = dam();
    load(Some(&identity), &mut paused.world, &mut Cursor::new(&bytes)).unwrap();
    paused.set_clock(clock);
    run(&mut paused, 4);
    assert_eq!(kept(&paused), kept(&whole));
}

#[test]
fn every_way_of_transfer_breaks_the_dam_and_comes_to_rest() {
    let breaks = |(transfer, kernel, advection): (&'static str, &'static str, &'static str)| {
        let kind = hybrid(VOXEL)
            .set("transfer", transfer)
            .set("kernel", kernel)
            .set("advection", advection);
        let mut simulation = scene(kind).simulation(fixed(24.0, 3));
        let (start, mass) = (energy(&simulation), simulation.budget().unwrap().mass);
        let mut fastest = 0.0_f64;
        for _ in 0..24 {
            run(&mut simulation, 1);
            fastest = fastest.max(rms_speed(&simulation));
            assert!(energy(&simulation) < 1.005 * start, "{transfer} {kernel}");
        }
        assert!((simulation.budget().unwrap().mass / mass - 1.0).abs() < 1e-5);
        println!(
            "{transfer} {kernel} {advection}: {fastest:.3} m/s at most, {:.3} at 1 s",
            rms_speed(&simulation)
        );
        assert!(fastest > 0.5 && fastest < 3.0, "{transfer} {kernel}: {fastest}");
        let out = |at: &DVec3| at.cmplt(DVec3::splat(-1e-4)).any() || at.x > 1.0001;
        assert_eq!(positions(&simulation).iter().filter(|at| out(at)).count(), 0);
    };
    // What `apic`, quadratic, does is held to more in tests of its own.
    [("apic", "linear", "rk3"), ("flip", "quadratic", "rk2")].into_iter().for_each(breaks);
    in_the_full_tier(|| {
        [("flip", "linear", "rk2"), ("pic", "quadratic", "rk2"), ("pic", "linear", "rk3")]
            .into_iter()
            .for_each(breaks);
    });
}
