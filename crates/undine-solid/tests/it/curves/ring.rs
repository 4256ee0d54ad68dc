//! Michell's ring: a straight rod bent into a ring and joined with a twist leaves its plane when the twist is too much.

use super::scene::{elastic, rod};
use crate::scene::{Run, frames, vectors};
use std::f64::consts::TAU;
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_core::mesh::{Curves, Strands};
use undine_sim::input::{Data, Geometry};

/// By how much a ring of radius 1 m that is joined with a twist [rad] has left its plane after a while.
fn leaves_plane(twist: f64, ratio: f64) -> f64 {
    const COUNT: usize = 60;
    let place = |n: usize| {
        let angle = TAU * n as f64 / COUNT as f64;
        // Hardly out of its plane, in the first mode that gives way.
        DVec3::new(angle.cos(), 1e-4 * (2.0 * angle).cos(), angle.sin())
    };
    let strands = Strands::new(vec![0, COUNT as u32], vec![true]).unwrap();
    let ring = Curves::new("ring", (0..COUNT).map(place).collect(), strands).unwrap();
    let data = Data::new(Geometry::Curves(Arc::new(ring)));
    let youngs = 1e8;
    // EI/GJ of a round rod is E/(2G).
    let rod = rod()
        .set("radius", 0.02)
        .set("density", 1000.0)
        .set("youngs", youngs)
        .set("shear", 0.5 * youngs / ratio);
    let run = Run { substeps: 1, iterations: 20 };
    let mut simulation = run.with_frame(0.05).of(&elastic(rod), vec![("rod", data)]);
    frames(&mut simulation, 1);
    // It was straight, and untwisted: none of what it is bent and twisted by is its own.
    for (_, elements) in simulation.world.elements.iter() {
        for (name, value) in [("rest-1", 0.0), ("rest-2", 0.0), ("rest", -twist / COUNT as f64)] {
            if let Ok(handle) = elements.handle::<f64>(name) {
                elements.column_mut(handle).unwrap().fill(value);
            }
        }
    }
    frames(&mut simulation, 100);
    let places = vectors(&simulation, "rod", "position");
    let middle = places.iter().map(|x| x.y).sum::<f64>() / COUNT as f64;
    places.iter().map(|x| (x.y - middle).abs()).fold(0.0, f64::max)
}

/// Michell and Zajac: unstable beyond 2π√3 EI/GJ.
#[test]
fn a_ring_leaves_its_plane_when_michell_says() {
    let ratio = 1.3;
    let limit = TAU * 3_f64.sqrt() * ratio;
    let (flat, writhes) = (leaves_plane(0.95 * limit, ratio), leaves_plane(1.05 * limit, ratio));
    assert!(flat < 1e-3, "stays flat, but for {flat} m");
    assert!(writhes > 0.05, "writhes, but by {writhes} m only");
}
