//! What rods keep: momentum, energy that does not grow, bits for any number of threads, and bytes after a resume.

use super::scene::{curves, elastic, gravity, rod, straight};
use crate::same_bytes;
use crate::scene::{Run, frames};
use undine_core::glam::DVec3;
use undine_sim::Simulation;

/// Curly strands that fly and turn.
fn strands(count: usize) -> Vec<Vec<DVec3>> {
    let strand = |n: usize| {
        let x = n as f64 * 0.05;
        let wave = |s: f64| DVec3::new(x, -0.2 * s, 0.02 * (9.0 * s + x).sin());
        (0..=20).map(|k| wave(f64::from(k) / 20.0)).collect()
    };
    (0..count).map(strand).collect()
}

fn flying(substeps: u32) -> Simulation {
    let rod = rod().set("radius", 1e-3).set("youngs", 1e7).set("velocity", [0.5, 0.2, -0.3]);
    let mut strands = strands(2);
    strands.push(straight(DVec3::new(1.0, 0.0, 0.0), DVec3::new(1.0, 0.3, 0.1), 12));
    let run = Run { substeps, iterations: 12 };
    let simulation = run.of(&elastic(rod), vec![("rod", curves(&strands))]);
    let points = crate::scene::store(&simulation, "rod");
    {
        let position = points.column(points.position()).unwrap();
        let mut velocity = points.column_mut(points.handle::<DVec3>("v").unwrap()).unwrap();
        for (v, x) in velocity.iter_mut().zip(position.iter()) {
            *v += DVec3::new(0.0, 0.0, 3.0).cross(*x) + DVec3::Z * (30.0 * x.y).sin() * 0.3;
        }
    }
    simulation
}

/// Linear momentum to rounding; angular momentum to first order in the step; energy never grows.
#[test]
fn free_rods_keep_their_momentum() {
    let lost = |substeps| {
        let mut simulation = flying(substeps);
        let before = simulation.budget().unwrap();
        for _ in 0..6 {
            frames(&mut simulation, 1);
            let energy = simulation.budget().unwrap().kinetic_energy;
            assert!(energy <= 1.0001 * before.kinetic_energy, "{energy} J");
        }
        let after = simulation.budget().unwrap();
        let off = after.momentum.distance(before.momentum) / before.momentum.length();
        assert!(off < 1e-9, "{off}");
        let turn = after.angular_momentum.distance(before.angular_momentum);
        turn / before.angular_momentum.length()
    };
    let (coarse, fine) = (lost(4), lost(32));
    assert!(fine < 0.02 && fine < 0.4 * coarse, "{coarse} to {fine}");
}

fn hair() -> Simulation {
    let rod = rod().set("roots", "clamped").set("velocity", [0.3, 0.0, 0.0]);
    let setup = elastic(rod).with(gravity()).set("damping-time", 0.01);
    Run { substeps: 2, iterations: 2 }.of(&setup, vec![("rod", curves(&strands(60)))])
}

#[test]
fn bytes_depend_neither_on_threads_nor_on_a_resume() {
    same_bytes::check(2, hair);
}
