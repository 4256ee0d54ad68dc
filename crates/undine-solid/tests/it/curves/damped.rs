//! Damping of rods by the framework: Rayleigh's on each Constraint, and Dahl's friction, which keeps a bend.

use super::scene::{bending, clamped, curves, gravity, rod, stretching, twisting};
use crate::scene::{Run, frames, vectors};
use undine_schema::setup::{Behavior, Group};

fn swing(bend: Behavior, frames_of: usize) -> Vec<f64> {
    let rod =
        rod().set("radius", 0.01).set("density", 1000.0).set("youngs", 1e8).set("roots", "clamped");
    let setup =
        Group::default().with(rod).with(stretching()).with(bend).with(twisting()).with(gravity());
    let mut simulation = Run { substeps: 8, iterations: 2 }
        .with_frame(1.0 / 24.0)
        .of(&setup, vec![("rod", curves(&[clamped(12)]))]);
    let mut tips = Vec::new();
    for _ in 0..frames_of {
        frames(&mut simulation, 1);
        tips.push(vectors(&simulation, "rod", "position").last().unwrap().y);
    }
    tips
}

fn spread(tips: &[f64]) -> f64 {
    let most = tips.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most - tips.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The rod swings at 5.6 rad/s: with τ = 0.3 s its damping is 0.83 of the critical one.
#[test]
fn rayleigh_damping_brings_a_swing_to_rest() {
    let (free, damped) = (swing(bending(), 48), swing(bending().set("damping-time", 0.3), 48));
    assert!(spread(&free[24..]) > 0.1, "{}", spread(&free[24..]));
    assert!(spread(&damped[24..]) < 0.02, "{}", spread(&damped[24..]));
}

/// Friction stops a swing before it is where it would be without.
#[test]
fn dahl_friction_keeps_a_bend() {
    let rest = *swing(bending().set("damping-time", 0.2), 72).last().unwrap();
    let friction = bending().set("friction-limit", 0.2).set("friction-length", 0.01);
    let tips = swing(friction.set("damping-time", 0.2), 72);
    let last = tips[tips.len() - 1];
    assert!(spread(&tips[48..]) < 0.02, "{}", spread(&tips[48..]));
    assert!((last - rest).abs() > 0.02, "{last} as without friction, {rest}");
}
