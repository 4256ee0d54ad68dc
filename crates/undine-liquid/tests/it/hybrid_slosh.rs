//! Standing waves in a closed tank: how fast they swing, that they die down, and that no volume is lost.

use crate::scene::{
    GRAVITY, Scene, cuboid, energy, fixed, in_the_full_tier, is_full_tier, masses, positions, run,
    stir, tank, volume,
};
use std::f64::consts::PI;
use undine_core::glam::DVec3;
use undine_geometry::Shape;
use undine_sim::Simulation;

const LENGTH: f64 = 1.0;
const DEPTH: f64 = 0.5;

/// A thin tank, its surface tilted so that it is `high` above its mean at one end.
fn sloshing(across: u32, high: f64) -> Scene {
    let voxel = LENGTH / f64::from(across);
    let corner = DVec3::new(LENGTH, 1.0, 4.0 * voxel);
    let normal = DVec3::new(high / (0.5 * LENGTH), 1.0, 0.0).normalize();
    let below = Shape::half_space(normal, normal.dot(DVec3::new(0.5 * LENGTH, DEPTH, 0.0)));
    let whole = cuboid(DVec3::ZERO, corner);
    let water = Shape::intersection(vec![whole, below.unwrap()], 0.0).unwrap();
    Scene::of(water, voxel).with_wall("tank", tank(DVec3::ZERO, corner)).under_gravity()
}

/// How much of the first mode there is: the mean height at which the surface goes along with cos(πx/L) [m].
fn first_mode(simulation: &Simulation) -> f64 {
    let (mut mode, mut all) = (0.0, 0.0);
    for (at, mass) in positions(simulation).iter().zip(masses(simulation)) {
        mode += mass * (PI * at.x / LENGTH).cos();
        all += mass;
    }
    2.0 * DEPTH * mode / all
}

/// The times at which a sequence crosses zero, by straight lines.
fn zeros(values: &[f64], step: f64) -> Vec<f64> {
    let pairs = values.windows(2).enumerate().filter(|(_, pair)| pair[0] * pair[1] < 0.0);
    pairs.map(|(n, pair)| step * (n as f64 + pair[0] / (pair[0] - pair[1]))).collect()
}

#[test]
fn sloshing_has_the_frequency_of_its_dispersion_relation_and_decays() {
    let wave = PI / LENGTH;
    let wanted = (GRAVITY * wave * (wave * DEPTH).tanh()).sqrt() / (2.0 * PI);
    let frequency = |across: u32, fps: f64| {
        let mut simulation = sloshing(across, 0.04).simulation(fixed(fps, 1));
        let (start, mut most) = (energy(&simulation), 0.0_f64);
        let mut modes = vec![first_mode(&simulation)];
        for _ in 0..(3.7 * fps) as usize {
            run(&mut simulation, 1);
            modes.push(first_mode(&simulation));
            most = most.max(energy(&simulation) / start - 1.0);
        }
        assert!(most < 0.005, "energy grows by {most}");
        let zeros = zeros(&modes, 1.0 / fps);
        let period = 2.0 * (zeros[zeros.len() - 1] - zeros[0]) / (zeros.len() - 1) as f64;
        let per_period = (period * fps) as usize;
        let swing = |from: usize| {
            modes[from..from + per_period].iter().fold(0.0_f64, |most, a| most.max(a.abs()))
        };
        let (first, last) = (swing(0), swing(modes.len() - 1 - per_period));
        println!(
            "sloshing, {across} across: {:.4} Hz, wanted {wanted:.4}; amplitude {first:.4} m to {last:.4} m; energy +{:.4} %",
            1.0 / period,
            100.0 * most
        );
        assert!(last < first, "{first} to {last}");
        assert!(last > 0.4 * first, "{first} to {last} is syrup");
        1.0 / period / wanted - 1.0
    };
    in_the_full_tier(|| {
        let fine = frequency(32, 48.0);
        assert!(fine.abs() < 0.02, "{fine}");
    });
    let coarse = frequency(16, 48.0);
    assert!(coarse.abs() < 0.03, "{coarse}");
}

#[test]
fn a_closed_tank_keeps_its_volume() {
    let seconds = if is_full_tier() { 10 } else { 4 };
    let mut simulation = sloshing(16, 0.15).simulation(fixed(24.0, 2));
    let mass = simulation.budget().unwrap().mass;
    run(&mut simulation, 1);
    let start = volume(&simulation);
    let mut most = 0.0_f64;
    for second in 1..=seconds {
        run(&mut simulation, 24);
        // It is stirred again each second, or would come to rest.
        stir_more(&mut simulation, f64::from(second));
        run(&mut simulation, 1);
        most = most.max((volume(&simulation) / start - 1.0).abs());
    }
    let drift = (simulation.budget().unwrap().mass / mass - 1.0).abs();
    let room = 0.5 * 4.0 / 16.0;
    println!(
        "closed tank: volume {start:.5} of {room:.5} m³ seeded, off by {:.3} % at most in {seconds} s; mass by {drift:.1e}",
        100.0 * most
    );
    assert!(most < 0.01, "{most}");
    assert!(drift < 1e-6, "{drift}");
}

/// Lets the liquid swing again, one way and the other.
fn stir_more(simulation: &mut Simulation, second: f64) {
    let speed = 0.6 * if second % 2.0 == 0.0 { 1.0 } else { -1.0 };
    stir(simulation, |at| {
        let [x, y] = [PI * at.x, PI * at.y];
        speed * DVec3::new(x.sin() * y.cosh(), -x.cos() * y.sinh(), 0.0) / (0.5 * PI).cosh()
    });
}
