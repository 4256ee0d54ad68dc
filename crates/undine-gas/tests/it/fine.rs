//! Smoke on voxels of half the size of the cells that velocity and pressure have.

use crate::scene::{Look, Scene, air, ball, data, fixed, frames, stamp};
use undine_core::glam::DVec3;
use undine_fluid::inflow;
use undine_gas::dissipation;
use undine_schema::setup::Behavior;
use undine_sim::Simulation;

/// A ball of smoke in a wind that nothing disturbs.
fn blown(voxel: f64, fine: bool) -> Simulation {
    let wind = [1.0, 0.4, 0.2];
    Scene::default()
        .with_input("ball", ball(DVec3::ZERO, 0.15))
        .with(air(voxel).set("fine-smoke", fine).set("velocity", wind))
        .with(stamp("ball").set("end", 1e-6))
        .with(Behavior::new(&inflow::DECLARATION).set("velocity", wind))
        .under_pressure()
        .simulation(fixed(24.0, 2))
}

/// The mean error of smoke against the ball where the wind has taken it, as a share of all of it.
fn blurred(simulation: &Simulation, frames: f64) -> f64 {
    let look = Look::at_cargo(simulation);
    let voxel = look.domain.frame().voxel_size(0);
    let centre = DVec3::new(1.0, 0.4, 0.2) * frames / 24.0;
    let (mut off, mut all) = (0.0, 0.0);
    look.each("density", |at, found| {
        let wanted = (0.5 - (at.distance(centre) - 0.15) / voxel).clamp(0.0, 1.0);
        off += (found - wanted).abs();
        all += wanted;
    });
    off / all
}

/// With voxels of half the size what is carried stays as sharp as it would if all cells were as small, while these are not.
#[test]
fn fine_smoke_is_as_sharp_as_that_of_smaller_cells() {
    let [coarse, fine, all] = [(0.04, false), (0.04, true), (0.02, false)].map(|(voxel, fine)| {
        let mut simulation = blown(voxel, fine);
        frames(&mut simulation, 8);
        blurred(&simulation, 8.0)
    });
    assert!(fine < 0.65 * coarse, "{coarse} to {fine}");
    assert!((fine / all - 1.0).abs() < 0.02, "{fine}, and {all} with small cells");
}

/// A ball of warm, heavy smoke.
fn bubble(fine: bool) -> Scene {
    Scene::default()
        .with_input("ball", ball(DVec3::ZERO, 0.2))
        .with(air(0.04).set("fine-smoke", fine).set("smoke-weight", 0.1))
        .with(stamp("ball").set("temperature", 400.0).set("end", 1e-6))
        .under_pressure()
        .under_gravity()
}

/// It rises as one on cells does, and is as much.
#[test]
fn fine_smoke_rises_as_other_smoke_does() {
    let [plain, fine] = [false, true].map(|fine| {
        let mut simulation = bubble(fine).simulation(fixed(24.0, 1));
        frames(&mut simulation, 1);
        let begun = Look::at_cargo(&simulation).middle("density");
        let mass = Look::at_cargo(&simulation).total("density");
        frames(&mut simulation, 11);
        let look = Look::at_cargo(&simulation);
        assert!((look.total("density") / mass - 1.0).abs() < 0.1);
        let risen = look.middle("density") - begun;
        assert!(risen.x.abs() < 0.01 && risen.z.abs() < 0.01, "{risen}");
        [risen.y, mass]
    });
    assert!(plain[0] > 0.05, "{} m", plain[0]);
    assert!((fine[0] / plain[0] - 1.0).abs() < 0.1, "{} m, not {} m", fine[0], plain[0]);
    assert!((fine[1] / plain[1] - 1.0).abs() < 0.02, "{} m³, not {} m³", fine[1], plain[1]);
}

/// What cells weigh is what the voxels in them weigh: all of it together.
#[test]
fn cells_weigh_what_is_in_them() {
    let mut simulation = Scene::default()
        .with_input("ball", ball(DVec3::new(0.01, 0.02, 0.03), 0.2))
        .with(air(0.04).set("fine-smoke", true).set("smoke-weight", 0.3))
        .with(stamp("ball"))
        .under_pressure()
        .simulation(fixed(24.0, 1));
    frames(&mut simulation, 1);
    // Weights are those where the step began, which is with what is stamped.
    let weight = Look::at(&simulation).total("weight");
    let volume = 4.0 / 3.0 * std::f64::consts::PI * 0.2_f64.powi(3);
    assert!((weight / (0.3 * volume) - 1.0).abs() < 0.01, "{weight}");
}

/// Around a solid, and fading: nothing gets into the solid, and half of it goes in its time.
#[test]
fn fine_smoke_goes_around_solids_and_fades() {
    let wall = data(ball(DVec3::new(0.0, 0.5, 0.0), 0.15));
    let fades =
        Behavior::new(&dissipation::DECLARATION).set("channel", "density").set("half-life", 0.25);
    let mut simulation =
        bubble(true).with_wall("wall", wall).within_walls().with(fades).simulation(fixed(24.0, 1));
    simulation.audited(true);
    frames(&mut simulation, 1);
    let mass = Look::at_cargo(&simulation).total("density");
    simulation.audited(false);
    frames(&mut simulation, 12);
    let look = Look::at_cargo(&simulation);
    let left = look.total("density") / mass;
    assert!((left / 0.25 - 1.0).abs() < 0.15, "{left} of it is left after two half-lives");
    let (mut inside, mut all) = (0.0, 0.0);
    look.each("density", |at, value| {
        all += value;
        if at.distance(DVec3::new(0.0, 0.5, 0.0)) < 0.1 {
            inside += value;
        }
    });
    assert!(inside < 0.02 * all, "{inside} of {all}");
}

/// Bits do not depend on threads.
#[test]
fn fine_smoke_is_the_same_for_any_number_of_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut simulation = bubble(true).simulation(fixed(24.0, 2));
            frames(&mut simulation, 3);
            let mut found = Vec::new();
            Look::at_cargo(&simulation).each("density", |_, value| found.push(value.to_bits()));
            found
        })
    };
    assert!(run(1) == run(3));
}
