//! When rods give way: columns under their own weight, and blades that turn over sideways.

use super::scene::{at_rest, clamped, curves, elastic, gravity, rod, with_axes, with_numbers};
use crate::scene::{frames, vectors};
use undine_core::glam::{DMat3, DVec3};
use undine_sim::input::Data;

const GRAVITY: f64 = 9.80665;

/// How far the tip of an upright column goes sideways with a thousandth of its weight, for Γ = ρSgL³/(EI).
fn lean(gamma: f64) -> f64 {
    let (radius, density): (f64, f64) = (0.01, 1000.0);
    let youngs = 4.0 * density * GRAVITY / (gamma * radius * radius);
    let rod = rod()
        .set("radius", radius)
        .set("density", density)
        .set("youngs", youngs)
        .set("roots", "clamped");
    let upright = DMat3::from_cols(DVec3::Y, -DVec3::X, DVec3::Z);
    let points = clamped(40).into_iter().map(|x| upright * x).collect();
    let pull = gravity().set("acceleration", [1e-4 * GRAVITY, -GRAVITY, 0.0]);
    let mut simulation = at_rest(&elastic(rod).with(pull), curves(&[points]));
    frames(&mut simulation, 30);
    vectors(&simulation, "rod", "position").last().unwrap().x.abs()
}

/// Greenhill: a column topples from ρSgL³/(EI) = 7.83735 on.
#[test]
fn an_upright_column_topples_when_greenhill_says() {
    let (stands, topples) = (lean(0.96 * 7.83735), lean(1.04 * 7.83735));
    assert!(stands < 0.02, "stands, but leans by {stands} m");
    assert!(topples > 0.2, "topples, but leans by {topples} m only");
}

/// The radii of a blade, and the mass per length and π of one of density 1.
const TALL: f64 = 0.02;
const FLAT: f64 = 0.05;
const SECTION: f64 = TALL * TALL * FLAT;

/// √(EI·GJ)/π for a Young's modulus of 1: of an ellipse EI is E πab³/4 about the weak axis, and GJ is G πa³b³/(a² + b²).
fn stiffness(shear_by_youngs: f64) -> f64 {
    let thin = FLAT * TALL;
    let square = 0.25 * shear_by_youngs * (TALL * thin).powi(3) * TALL * thin.powi(3);
    (square / (TALL * TALL + thin * thin)).sqrt()
}

/// How far the tip of a blade on edge goes sideways with a ten thousandth of its weight.
fn sideways(youngs: f64, shear_by_youngs: f64, data: &Data) -> f64 {
    let rod = rod()
        .set("radius", TALL)
        .set("flatness", FLAT)
        .set("density", 1000.0)
        .set("youngs", youngs)
        .set("shear", shear_by_youngs * youngs)
        .set("roots", "clamped");
    let axes = vec![DVec3::Y; data.cloud().unwrap().positions.len()];
    let pull = gravity().set("acceleration", [0.0, -GRAVITY, 1e-4 * GRAVITY]);
    let mut simulation = at_rest(&elastic(rod).with(pull), with_axes(data, axes));
    frames(&mut simulation, 30);
    vectors(&simulation, "rod", "position").last().unwrap().z.abs()
}

/// The same for wL³/√(EI GJ).
fn swerve(load: f64) -> f64 {
    let youngs = 1000.0 * SECTION * GRAVITY / (load * stiffness(0.4));
    sideways(youngs, 0.4, &curves(&[clamped(40)]))
}

/// The same with a weight P at the tip, for PL²/√(EI GJ): a last edge of a tenth of the others that weighs ten times as much as all the blade. That
/// counts by the ratio of both limits, and the two ends of the last edge by the squares of their distances.
fn swerve_at_tip(load: f64, shear_by_youngs: f64) -> f64 {
    let edges = 40;
    let short = 0.1 / f64::from(edges);
    let mut points = clamped(edges as usize);
    points.push(DVec3::X * (1.0 + short));
    let mut density = vec![1.0; points.len()];
    let last = points.len() - 1;
    // An edge has the mean density of its ends.
    density[last] = 1e4;
    let tip = 0.5 * (1.0 + density[last]) * short;
    let weight = (tip * (1.0 + short) + 4.0126 / 12.8538) * SECTION * GRAVITY;
    let youngs = weight / (load * stiffness(shear_by_youngs));
    let data = with_numbers(&curves(&[points]), "density", density);
    sideways(youngs, shear_by_youngs, &data)
}

/// Lateral buckling under its own weight: wL³/√(EI·GJ) = 12.8538.
#[test]
fn a_blade_turns_over_when_it_must() {
    let (holds, turns) = (swerve(0.95 * 12.8538), swerve(1.06 * 12.8538));
    assert!(holds < 0.03, "holds, but swerves by {holds} m");
    assert!(turns > 0.1, "turns over, but swerves by {turns} m only");
}

/// Lateral buckling under a load at the tip: PL²/√(EI·GJ) = 4.0126, whatever the two stiffnesses are.
///
/// 40 edges miss it by some 1/N² of it, a thousandth; that the other axis is 400 times as stiff, and not infinitely, by as much. Below it, a
/// sideways load of s = 1e-4 of the other leads to s·PL³/(3EI) ≈ 2e-4 m, which grows by 1/(1 − (P/P₀)²): 25 times at 0.98. Above it, the blade turns
/// over by an angle that grows as the root of P/P₀ − 1.
#[test]
fn a_blade_with_a_load_at_its_tip_turns_over_when_it_must() {
    for shear_by_youngs in [0.4, 0.1] {
        let [holds, turns] =
            [0.98, 1.02].map(|share| swerve_at_tip(share * 4.0126, shear_by_youngs));
        println!("G/E = {shear_by_youngs}: {holds} m below, {turns} m above");
        assert!(holds < 0.01, "holds, but swerves by {holds} m");
        assert!(turns > 0.05, "turns over, but swerves by {turns} m only");
    }
}
