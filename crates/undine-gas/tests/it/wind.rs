//! Wind through air, and what fades in it.

use crate::scene::{Look, Scene, air, ball, cuboid, data, fixed, frames, stamp};
use undine_core::glam::DVec3;
use undine_fluid::inflow;
use undine_gas::dissipation;
use undine_schema::setup::Behavior;
use undine_sim::Simulation;

const WIND: [f64; 3] = [2.0, 0.5, 0.0];

/// A box of air in a wind.
fn windy() -> Scene {
    Scene::default()
        .with_input("room", cuboid(DVec3::splat(0.05), DVec3::new(1.55, 0.75, 0.75)))
        .with(air(0.05).set("input", "room").set("padding", 0_i64).set("velocity", WIND))
        .with(Behavior::new(&inflow::DECLARATION).set("velocity", WIND))
        .under_pressure()
}

/// The largest difference from the wind of a face [m/s], and the mean velocity along x.
fn off(simulation: &Simulation) -> (f64, f64) {
    let look = Look::at(simulation);
    let (mut most, mut sum, mut count) = (0.0_f64, 0.0, 0.0);
    for (axis, face) in look.field.velocity.faces.into_iter().enumerate() {
        let column = look.volume.column(face).unwrap();
        for slot in 0..look.volume.topology().local() as u32 {
            for u in column.chunk(slot) {
                most = most.max((f64::from(*u) - WIND[axis]).abs());
                if axis == 0 {
                    sum += f64::from(*u);
                    count += 1.0;
                }
            }
        }
    }
    (most, sum / count)
}

#[test]
fn a_wind_that_nothing_disturbs_blows_on() {
    let mut simulation = windy().simulation(fixed(24.0, 2));
    frames(&mut simulation, 6);
    assert!(off(&simulation).0 < 1e-5, "{:?}", off(&simulation));
}

#[test]
fn wind_is_given_where_it_enters_and_goes_around_what_is_in_its_way() {
    let wall = data(ball(DVec3::new(0.8, 0.4, 0.4), 0.15));
    let mut simulation = windy().with_wall("ball", wall).within_walls().simulation(fixed(24.0, 2));
    frames(&mut simulation, 8);
    let (most, mean) = off(&simulation);
    println!("off by {most} m/s at the most, {mean} m/s on the mean");
    // Slower before the ball and faster beside it, and as much as came goes.
    assert!(most > 0.3 && most < 3.0, "{most}");
    assert!((mean - WIND[0]).abs() < 0.1 * WIND[0], "{mean}");
}

/// Air at rest with smoke in it, half of which goes in a time, has 2^(−t/T) of it left whatever the steps.
#[test]
fn half_of_it_goes_in_its_half_life() {
    for substeps in [1, 3] {
        let fades = Behavior::new(&dissipation::DECLARATION)
            .set("channel", "density")
            .set("half-life", 0.25);
        let mut simulation = Scene::default()
            .with_input("ball", ball(DVec3::ZERO, 0.2))
            .with(air(0.05).set("threshold", 1e-5))
            .with(stamp("ball").set("end", 1e-9))
            .with(fades)
            .simulation(fixed(24.0, substeps));
        frames(&mut simulation, 1);
        let begun = Look::at(&simulation).total("density");
        frames(&mut simulation, 12);
        let left = Look::at(&simulation).total("density") / begun;
        assert!((left - 0.25).abs() < 1e-4, "{left}");
    }
}
