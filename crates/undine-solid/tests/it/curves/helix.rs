//! Localised helical buckling: a long rod that is pulled and twisted coils up in one place.
//!
//! Its tangent leaves the axis by an angle φ with cos φ = cos φ₀ + (1 − cos φ₀) tanh²(s/s*), cos φ₀ = M²/(2 EI T) − 1 and
//! s* = 2 EI/(M tan ½φ₀), and goes around it with dψ/ds = M/(EI (1 + cos φ)): Kirchhoff's rod as a spinning top.

use super::scene::{curves, elastic, rod, with_numbers};
use crate::scene::{Run, frames, vectors};
use std::f64::consts::PI;
use undine_core::glam::DVec3;

const RADIUS: f64 = 0.005;
const YOUNGS: f64 = 1e9;
const SHEAR: f64 = 0.4e9;
/// The angle [rad] by which the tangent leaves the axis in the middle.
const LARGEST: f64 = PI / 3.0;
/// How far the coil reaches from its middle: s* [m].
const REACH: f64 = 0.35;
/// Edges on one side of the middle, and how long each is [m].
const HALF: i32 = 70;
const EDGE: f64 = 5.0 * REACH / HALF as f64;

/// EI [N m²].
fn stiffness() -> f64 {
    YOUNGS * 0.25 * PI * RADIUS.powi(4)
}

/// M [N m].
fn moment() -> f64 {
    2.0 * stiffness() / (REACH * (0.5 * LARGEST).tan())
}

/// cos φ at an arc length from the middle [m].
fn cosine(s: f64) -> f64 {
    let middle = LARGEST.cos();
    middle + (1.0 - middle) * (s / REACH).tanh().powi(2)
}

/// Where the middle of an edge is along the rod [m].
fn along(edge: i32) -> f64 {
    (f64::from(edge) + 0.5) * EDGE
}

/// The rod as theory has it.
fn coil() -> Vec<DVec3> {
    let mut points = vec![DVec3::ZERO];
    let mut turned = 0.0;
    for edge in -HALF..HALF {
        // The turn is summed up in small parts, the tangent is that in the middle of the edge.
        let rate = |s: f64| moment() / (stiffness() * (1.0 + cosine(s)));
        let half = 0.5 * EDGE * rate(along(edge) - 0.25 * EDGE);
        let (sine, cosine) = ((1.0 - cosine(along(edge)).powi(2)).sqrt(), cosine(along(edge)));
        let around = turned + half;
        turned += half + 0.5 * EDGE * rate(along(edge) + 0.25 * EDGE);
        let tangent = DVec3::new(sine * around.cos(), sine * around.sin(), cosine);
        points.push(points[points.len() - 1] + EDGE * tangent);
    }
    points
}

/// The angles [rad] of the edges with the axis, once a rod whose ends are held is at rest, with this part of the twist.
fn angles(part: f64) -> Vec<f64> {
    let points = coil();
    // Ends that are too heavy to move or to turn.
    let count = points.len();
    let weight = |n: usize| if n < 2 || n + 2 >= count { 1e16 } else { 1e3 };
    let data = with_numbers(&curves(&[points]), "density", (0..count).map(weight).collect());
    let rod = rod().set("radius", RADIUS).set("youngs", YOUNGS).set("shear", SHEAR);
    let run = Run { substeps: 1, iterations: 8 };
    let mut simulation = run.with_frame(0.05).of(&elastic(rod), vec![("rod", data)]);
    frames(&mut simulation, 1);
    // It was straight, and untwisted: GJ is G/E times 2 EI.
    let twist = part * moment() / (2.0 * stiffness() * SHEAR / YOUNGS);
    for (_, elements) in simulation.world.elements.iter() {
        for (name, value) in [("rest-1", 0.0), ("rest-2", 0.0), ("rest", -twist * EDGE)] {
            if let Ok(handle) = elements.handle::<f64>(name) {
                elements.column_mut(handle).unwrap().fill(value);
            }
        }
    }
    frames(&mut simulation, 60);
    let places = vectors(&simulation, "rod", "position");
    places.windows(2).map(|edge| (edge[1] - edge[0]).angle_between(DVec3::Z)).collect()
}

/// By how much angles are off the theory, at the most [rad]. Nothing says where along the rod the coil is: it may have wandered.
fn off(angles: &[f64]) -> f64 {
    let edges = || (-HALF..HALF).zip(angles);
    let weight = |angle: f64| 1.0 - angle.cos();
    let sum: f64 = angles.iter().map(|&angle| weight(angle)).sum();
    let middle = edges().map(|(edge, &angle)| weight(angle) * along(edge)).sum::<f64>() / sum;
    let off = |(edge, &found): (i32, &f64)| (found - cosine(along(edge) - middle).acos()).abs();
    let worst = edges().map(off).fold(0.0, f64::max);
    let most = angles.iter().copied().fold(0.0, f64::max);
    println!("off by {worst:.4} rad around {middle:.4} m, at most {most:.4} rad");
    worst
}

#[test]
fn a_twisted_rod_coils_up_in_one_place() {
    let [right, slack] = [1.0, 0.85].map(|part| off(&angles(part)));
    assert!(right < 0.03 * LARGEST, "{right} rad off");
    // With another twist it is another coil.
    assert!(slack > 0.1 * LARGEST, "{slack} rad off");
}
