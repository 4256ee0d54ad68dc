//! Frequencies of a clamped rod.

use super::scene::{clamped, curves, elastic, rod};
use crate::scene::{Run, frames, vectors};
use std::f64::consts::{PI, TAU};
use undine_core::glam::{DMat3, DVec3};
use undine_sim::Simulation;

const EDGES: usize = 40;
const YOUNGS: f64 = 1e8;
const SHEAR: f64 = 4e7;

fn bar(flatness: f64) -> undine_schema::setup::Group {
    elastic(
        rod()
            .set("radius", 0.01)
            .set("flatness", flatness)
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

/// The angular frequency [rad/s] that steps of backward Euler belong to, by half a period of theirs: its factor per step is 1/(1 − iωΔt), of
/// the angle atan(ωΔt), so that it swings slower.
fn undelayed(half_period: f64, step: f64) -> f64 {
    (PI / half_period * step).tan() / step
}

/// f = (βL)²/(2πL²) √(EI/ρA), each begun in its mode with a small velocity.
///
/// Vertices with lumped masses and the curvature of three of them swing slower than the rod: f (1 − c/N²). Far from the ends c is (βL)²/12; a clamp
/// and a free end add to it. The numbers are those of the matrix of N = 40 edges, ωₕ² = eig(M⁻¹ Σ ggᵀ/l), with g the change of angle at a vertex
/// over those of three heights, and at the root the angle of the first edge over l = h/2; N = 20 and 30 give the same to 2 %. That, what the passages
/// through zero are found with, (ωΔt)² times the share of a step, and the stiffness along the rod, which takes part by the square of the slope, 1e-6,
/// leave 3e-4.
#[test]
fn a_clamped_rod_swings_at_its_frequencies() {
    for (beta, slower) in [(1.875_104_07, 0.846), (4.694_091_13, 4.281), (7.854_757_44, 9.002)] {
        let beta: f64 = beta;
        let wanted = beta * beta * (YOUNGS * 1e-4 / 4.0 / 1000.0).sqrt();
        let sigma = (beta.cosh() + beta.cos()) / (beta.sinh() + beta.sin());
        let mode = |x: f64| {
            let b = beta * x.max(0.0);
            b.cosh() - b.cos() - sigma * (b.sinh() - b.sin())
        };
        let data = curves(&[clamped(EDGES)]);
        let mut cloud = data.cloud().unwrap().into_owned();
        // With its mass: the last vertex has half of what the others have.
        let mut shape: Vec<f64> = cloud.positions.iter().map(|x| mode(x.x)).collect();
        let velocities = shape.iter().map(|share| DVec3::Y * 0.01 * share).collect();
        *shape.last_mut().unwrap() *= 0.5;
        cloud.vectors.insert("v".to_owned(), velocities);
        let data = data.with_cloud(cloud).unwrap();
        let frame = TAU / wanted / 200.0;
        let mut simulation = Run::default().with_frame(frame).of(&bar(1.0), vec![("rod", data)]);
        let half = half_period(
            || {
                frames(&mut simulation, 1);
                // The part of its mode: others, which swing on their own, are at right angles to it.
                let places = vectors(&simulation, "rod", "position");
                places.iter().zip(&shape).map(|(at, share)| at.y * share).sum()
            },
            frame,
        );
        let found = undelayed(half, frame) / wanted;
        let of_grid = 1.0 - slower / (EDGES * EDGES) as f64;
        println!(
            "βL = {beta:.3}: {found:.5} of the frequency of the rod, {of_grid:.5} of so many edges"
        );
        assert!((found / of_grid - 1.0).abs() < 3e-4, "βL = {beta}: {found}, wanted {of_grid}");
    }
}

/// How far the last edge is turned about itself.
fn turned(simulation: &Simulation, start: DMat3) -> f64 {
    let points = crate::scene::store(simulation, "rod");
    let frame = points.column(points.handle::<DMat3>("frame").unwrap()).unwrap()[EDGES];
    frame.y_axis.dot(start.z_axis).atan2(frame.y_axis.dot(start.y_axis))
}

/// f = (2n − 1)/(4L) √(GJ/ρI), each begun in its mode: (2n − 1)/(4L) √(G/ρ) of a round rod. An ellipse warps, J = πa³b³/(a² + b²), where I is
/// πab(a² + b²)/4: it twists slower by 2ab/(a² + b²).
///
/// Edges of the length h swing with ωₕ = 2c/h sin(½kh), c² = G/ρ, exactly: their middles lie at halves of h from the clamp, which is twice as stiff as
/// a joint of two edges, and from the free end.
#[test]
fn a_clamped_rod_twists_at_its_frequencies() {
    for (n, flatness) in [(1, 1.0), (2, 1.0), (1, 0.5), (1, 3.0)] {
        let wave = (2 * n - 1) as f64 * 0.5 * PI;
        let warps = 2.0 * flatness / (1.0 + flatness * flatness);
        let wanted = warps * wave * (SHEAR / 1000.0).sqrt();
        let frame = TAU / wanted / 200.0;
        let setup = bar(flatness);
        let mut simulation =
            Run::default().with_frame(frame).of(&setup, vec![("rod", curves(&[clamped(EDGES)]))]);
        let points = crate::scene::store(&simulation, "rod");
        let start = points.column(points.handle::<DMat3>("frame").unwrap()).unwrap()[0];
        {
            let mut spin = points.column_mut(points.handle::<f64>("spin").unwrap()).unwrap();
            for n in 0..EDGES {
                let x = (n as f64 + 0.5) / EDGES as f64;
                spin[n] = (wave * x).sin();
            }
        }
        let half = half_period(
            || {
                frames(&mut simulation, 1);
                turned(&simulation, start)
            },
            frame,
        );
        let found = undelayed(half, frame) / wanted;
        let angle = 0.5 * wave / EDGES as f64;
        let of_grid = angle.sin() / angle;
        println!(
            "mode {n}, flatness {flatness}: {found:.6} of the frequency of the rod, {of_grid:.6} of so many edges"
        );
        assert!((found / of_grid - 1.0).abs() < 5e-5, "mode {n}, {flatness}: {found}, {of_grid}");
    }
}
