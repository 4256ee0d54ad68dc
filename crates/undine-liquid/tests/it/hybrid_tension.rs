//! Surface tension in whole steps: the pressure in a drop, its stillness, and how it swings.

use crate::scene::{Scene, fixed, liquid_cells, masses, middle, positions, rms_speed, run};
use std::f64::consts::TAU;
use undine_core::glam::DVec3;
use undine_geometry::Shape;
use undine_sim::Simulation;

const DENSITY: f64 = 998.2;
/// Of water against air [N/m].
const TENSION: f64 = 0.0728;
/// The radius of the drop [m].
const RADIUS: f64 = 1e-3;
/// How many voxels its radius has.
const FINE: f64 = 8.0;

/// The period of its second mode (Lamb): ω² = 8σ/(ρR³) [s].
fn period() -> f64 {
    TAU / (8.0 * TENSION / (DENSITY * RADIUS.powi(3))).sqrt()
}

#[test]
fn a_drop_has_the_pressure_of_laplace_and_is_nearly_still() {
    let drop = Shape::sphere(RADIUS).unwrap();
    let scene = Scene::of(drop, RADIUS / FINE).weightless(TENSION);
    let mut simulation = scene.simulation(fixed(40.0 / period(), 1));
    let mut speeds = Vec::new();
    for _ in 0..3 {
        run(&mut simulation, 40);
        speeds.push(rms_speed(&simulation));
    }
    let deep: Vec<f64> = liquid_cells(&simulation)
        .iter()
        .filter(|(at, ..)| at.length() < 0.6 * RADIUS)
        .map(|(.., pressure)| *pressure)
        .collect();
    let mean = deep.iter().sum::<f64>() / deep.len() as f64;
    let wanted = 2.0 * TENSION / RADIUS;
    let capillary = (TENSION / (DENSITY * RADIUS)).sqrt();
    let parts = speeds.iter().map(|speed| speed / capillary).collect::<Vec<_>>();
    println!(
        "Laplace: {mean:.2} Pa, wanted {wanted:.2}; RMS speed over √(σ/ρR) after 1, 2, 3 periods {parts:.5?}"
    );
    assert!((mean / wanted - 1.0).abs() < 0.05, "{mean} Pa, not {wanted}");
    assert!(parts.iter().all(|part| *part < 0.02) && parts[2] < 1.25 * parts[0], "{parts:?}");
}

/// How much longer than wide it is: the part of its second moments that goes along with the second mode.
fn longer(simulation: &Simulation) -> f64 {
    let middle = middle(simulation);
    let (mut mode, mut all) = (0.0, 0.0);
    for (at, mass) in positions(simulation).into_iter().zip(masses(simulation)) {
        let square = (at - middle) * (at - middle);
        mode += mass * (square.z - 0.5 * (square.x + square.y));
        all += mass * square.dot(DVec3::ONE);
    }
    mode / all
}

#[test]
fn a_drop_swings_with_the_frequency_of_lamb() {
    // A ball stretched by a tenth, by joining balls along an axis.
    let stretched = 0.1 * RADIUS;
    let drop = Shape::capsule(0.97 * RADIUS, stretched).unwrap();
    let scene = Scene::of(drop, RADIUS / FINE).weightless(TENSION);
    let volume =
        TAU / 1.5 * (0.97 * RADIUS).powi(3) + 0.5 * TAU * (0.97 * RADIUS).powi(2) * stretched;
    let radius = (volume / (TAU / 1.5)).cbrt();
    let period = period() * (radius / RADIUS).powf(1.5);
    let per_period = 120.0;
    let mut simulation = scene.simulation(fixed(per_period / period, 1));
    let mut modes = vec![longer(&simulation)];
    for _ in 0..(1.7 * per_period) as usize {
        run(&mut simulation, 1);
        modes.push(longer(&simulation));
    }
    let zeros: Vec<f64> = modes
        .windows(2)
        .enumerate()
        .filter(|(_, pair)| pair[0] * pair[1] < 0.0)
        .map(|(n, pair)| (n as f64 + pair[0] / (pair[0] - pair[1])) / per_period)
        .collect();
    let found = 2.0 * (zeros[zeros.len() - 1] - zeros[0]) / (zeros.len() - 1) as f64;
    let swing = |from: usize| {
        modes[from..from + 60].iter().fold(0.0_f64, |most, mode| most.max(mode.abs()))
    };
    println!(
        "Lamb: period {found:.4} of the one wanted; zeros {zeros:.3?}; swing {:.4} to {:.4}",
        swing(0),
        swing(modes.len() - 61)
    );
    assert!((found - 1.0).abs() < 0.035, "{found}");
    assert!(swing(modes.len() - 61) < 1.02 * swing(0));
}
