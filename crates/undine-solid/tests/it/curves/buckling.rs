//! When rods give way: columns under their own weight, and blades that turn over sideways.

use super::scene::{at_rest, clamped, curves, elastic, gravity, rod, with_axes};
use crate::scene::{frames, vectors};
use undine_core::glam::{DMat3, DVec3};

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

/// How far the tip of a blade on edge goes sideways with a thousandth of its weight, for wL³/√(EI GJ).
fn swerve(load: f64) -> f64 {
    let (tall, flat, density): (f64, f64, f64) = (0.02, 0.05, 1000.0);
    let thin = flat * tall;
    // Of an ellipse EI is E πab³/4 about the weak axis, and GJ is G πa³b³/(a² + b²); the weight per length is ρπab g.
    let ratio: f64 = 0.4;
    let stiffness_by_youngs = (0.25 * ratio * (tall * thin).powi(3) * tall * thin.powi(3)
        / (tall * tall + thin * thin))
        .sqrt();
    let youngs = density * tall * thin * GRAVITY / (load * stiffness_by_youngs);
    let rod = rod()
        .set("radius", tall)
        .set("flatness", flat)
        .set("density", density)
        .set("youngs", youngs)
        .set("shear", ratio * youngs)
        .set("roots", "clamped");
    let points = clamped(40);
    let axes = vec![DVec3::Y; points.len()];
    let pull = gravity().set("acceleration", [0.0, -GRAVITY, 1e-4 * GRAVITY]);
    let mut simulation = at_rest(&elastic(rod).with(pull), with_axes(&curves(&[points]), axes));
    frames(&mut simulation, 30);
    vectors(&simulation, "rod", "position").last().unwrap().z.abs()
}

/// Lateral buckling under its own weight: wL³/√(EI·GJ) = 12.8538.
#[test]
fn a_blade_turns_over_when_it_must() {
    let (holds, turns) = (swerve(0.95 * 12.8538), swerve(1.06 * 12.8538));
    assert!(holds < 0.03, "holds, but swerves by {holds} m");
    assert!(turns > 0.1, "turns over, but swerves by {turns} m only");
}
