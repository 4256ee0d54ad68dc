//! Frequencies of a clamped rod.

use super::scene::{clamped, curves, elastic, rod};
use crate::scene::{Run, frames, vectors};
use std::f64::consts::{PI, TAU};
use undine_core::glam::{DMat3, DVec3};
use undine_sim::Simulation;

const EDGES: usize = 40;
const YOUNGS: f64 = 1e8;
const SHEAR: f64 = 4e7;

fn bar() -> undine_schema::setup::Group {
    elastic(
        rod()
            .set("radius", 0.01)
            .set("density", 1000.0)
            .set("youngs", YOUNGS)
            .set("shear", SHEAR)
            .set("roots", "clamped"),
    )
}

/// Half a period: the time between two passages through zero, from frames of a swing.
fn half_period(mut swing: impl FnMut() -> f64, frame: f64) -> f64 {
    let mut passages = Vec::new();
    let mut before = 0.0;
    for n in 1..1000 {
        let now = swing();
        if n > 1 && now * before < 0.0 {
            passages.push((f64::from(n) - now / (now - before)) * frame);
        }
        before = now;
        if passages.len() == 2 {
            return passages[1] - passages[0];
        }
    }
    panic!("it does not swing");
}

/// f = (βL)²/(2πL²) √(EI/ρA) with βL = 1.87510; begun in its mode, with a small velocity.
#[test]
fn a_clamped_rod_swings_at_its_frequency() {
    let beta: f64 = 1.875_104_07;
    let wanted = beta * beta / TAU * (YOUNGS * 1e-4 / 4.0 / 1000.0).sqrt();
    let sigma = (beta.cosh() + beta.cos()) / (beta.sinh() + beta.sin());
    let mode = |x: f64| {
        let b = beta * x.max(0.0);
        b.cosh() - b.cos() - sigma * (b.sinh() - b.sin())
    };
    let data = curves(&[clamped(EDGES)]);
    let mut cloud = data.cloud().unwrap().into_owned();
    let velocities = cloud.positions.iter().map(|x| DVec3::Y * 0.01 * mode(x.x)).collect();
    cloud.vectors.insert("v".to_owned(), velocities);
    let data = data.with_cloud(cloud).unwrap();
    let frame = 1.0 / wanted / 200.0;
    let mut simulation = Run::default().with_frame(frame).of(&bar(), vec![("rod", data)]);
    let found = half_period(
        || {
            frames(&mut simulation, 1);
            vectors(&simulation, "rod", "position").last().unwrap().y
        },
        frame,
    );
    // Backward Euler swings slower by about (ωΔt)²/3, a third of a thousandth here.
    let found = 0.5 / found;
    assert!((found / wanted - 1.0).abs() < 3e-3, "{found} Hz, wanted {wanted} Hz");
}

/// How far the last edge is turned about itself.
fn turned(simulation: &Simulation, start: DMat3) -> f64 {
    let points = crate::scene::store(simulation, "rod");
    let frame = points.column(points.handle::<DMat3>("frame").unwrap()).unwrap()[EDGES];
    frame.y_axis.dot(start.z_axis).atan2(frame.y_axis.dot(start.y_axis))
}

/// f = 1/(4L) √(GJ/ρI) = 1/(4L) √(G/ρ) of a round rod, begun in its mode.
#[test]
fn a_clamped_rod_twists_at_its_frequency() {
    let wanted = 0.25 * (SHEAR / 1000.0).sqrt();
    let frame = 1.0 / wanted / 200.0;
    let setup = bar();
    let mut simulation =
        Run::default().with_frame(frame).of(&setup, vec![("rod", curves(&[clamped(EDGES)]))]);
    let points = crate::scene::store(&simulation, "rod");
    let start = points.column(points.handle::<DMat3>("frame").unwrap()).unwrap()[0];
    {
        let mut spin = points.column_mut(points.handle::<f64>("spin").unwrap()).unwrap();
        for n in 0..EDGES {
            let x = (n as f64 + 0.5) / EDGES as f64;
            spin[n + 1] = (0.5 * PI * x).sin();
        }
    }
    let found = half_period(
        || {
            frames(&mut simulation, 1);
            turned(&simulation, start)
        },
        frame,
    );
    let found = 0.5 / found;
    assert!((found / wanted - 1.0).abs() < 3e-3, "{found} Hz, wanted {wanted} Hz");
}
