//! The energy of strands: what backward Euler takes, and that it gives none.
//!
//! A step that is solved goes to the least of ½|v − vⁿ|² + V(x), so that Mv − Mvⁿ = −Δt ∇V(x) with x = xⁿ + Δt v. Multiplied by v,
//!
//! Eⁿ⁺¹ − Eⁿ = −½|v − vⁿ|² − (V(xⁿ) − V(x) − ∇V(x)·(xⁿ − x)),
//!
//! the last of which is not negative where V is convex between the two: gravity is linear, and an edge that is pulled is convex. With the acceleration
//! a and the stiffness K both are ½Δt²(aᵀMa + vᵀKv) to the first order: in a given time the loss is in proportion to the step.

use super::scene::{curves, elastic, gravity, rod, straight};
use crate::scene::{Run, frames, store};
use undine_core::glam::DVec3;
use undine_sim::Simulation;

/// A strand of half a metre that is held by its root, and let go where it stands out to the side; of steps so long [s].
fn let_go(step: f64) -> Simulation {
    let rod =
        rod().set("radius", 2e-3).set("density", 1000.0).set("youngs", 1e7).set("roots", "pinned");
    let data = curves(&[straight(DVec3::ZERO, DVec3::new(0.5, 0.0, 0.1), 16)]);
    let setup = elastic(rod).with(gravity());
    Run { substeps: 1, iterations: 40 }.with_frame(step).of(&setup, vec![("rod", data)])
}

/// The share of ½ m g L, what it has to lose, that goes in 0.4 s, while it swings down and past its lowest place.
fn lost(steps: usize) -> f64 {
    let mut simulation = let_go(0.4 / steps as f64);
    let scale = {
        let points = store(&simulation, "rod");
        let mass = points.column(points.handle::<f64>("mass").unwrap()).unwrap();
        0.5 * mass.iter().sum::<f64>() * 9.80665 * 0.51
    };
    frames(&mut simulation, 1);
    let begun = simulation.budget().unwrap().energy();
    let (mut before, mut elastic) = (begun, 0.0_f64);
    for n in 1..steps {
        frames(&mut simulation, 1);
        let budget = simulation.budget().unwrap();
        // What a Newton iteration leaves, 1e-13 m/s of some m/s, and rounding of what is stiff.
        assert!(
            budget.energy() - before < 1e-9 * scale,
            "step {n} of {steps}: {} J more of {scale} J",
            budget.energy() - before
        );
        before = budget.energy();
        elastic = elastic.max(budget.elastic_energy);
    }
    assert!(elastic > 1e-4 * scale, "{elastic} J of {scale} J are elastic");
    (begun - before) / scale
}

#[test]
fn a_strand_that_swings_never_gains_energy_and_loses_it_in_proportion_to_the_step() {
    let lost = [160, 320, 640, 1280].map(lost);
    println!("{lost:?} of its energy in steps of 2.5 ms and halves of that");
    let orders: Vec<f64> = lost.windows(2).map(|pair| (pair[0] / pair[1]).log2()).collect();
    // What is left of the second order halves with the step.
    assert!((orders[2] - 1.0).abs() < 0.05, "orders {orders:?} of {lost:?}");
    assert!((orders[2] - 1.0).abs() < 0.7 * (orders[1] - 1.0).abs(), "orders {orders:?}");
}

/// Stretched by ΔL a rod holds ½ EA/L ΔL²; bent to an arc of radius R it holds ½ EI L/R²; twisted by φ it holds ½ GJ φ²/L.
/// Of the length of N edges, (N − 1)/N lies between their middles, where they bend and twist.
#[test]
fn the_budget_has_the_elastic_energy_of_the_book() {
    const EDGES: usize = 40;
    let (radius, youngs, shear): (f64, f64, f64) = (0.01, 1e8, 4e7);
    let bar = rod().set("radius", radius).set("youngs", youngs).set("shear", shear);
    let energy = |deform: &dyn Fn(&Simulation)| {
        let data = curves(&[straight(DVec3::ZERO, DVec3::X, EDGES)]);
        // So short a step that nothing goes anywhere.
        let run = Run::default().with_frame(1e-9);
        let mut simulation = run.of(&elastic(bar.clone()), vec![("rod", data)]);
        frames(&mut simulation, 1);
        assert!(simulation.budget().unwrap().elastic_energy < 1e-20);
        deform(&simulation);
        simulation.budget().unwrap().elastic_energy
    };
    let area = std::f64::consts::PI * radius * radius;
    let bend = 0.25 * area * radius * radius;

    let stretched = energy(&|simulation| {
        let points = store(simulation, "rod");
        let mut places = points.column_mut(points.position()).unwrap();
        places.iter_mut().for_each(|x| *x *= 1.01);
    });
    let wanted = 0.5 * youngs * area * 1e-4;
    assert!((stretched / wanted - 1.0).abs() < 1e-9, "{stretched} J, wanted {wanted} J");

    // Rest curvatures and twists that it does not have do as well as a bend or twist that it was not born with.
    let set = |simulation: &Simulation, name: &str, value: f64| {
        for (_, elements) in simulation.world.elements.iter() {
            if let Ok(handle) = elements.handle::<f64>(name) {
                elements.column_mut(handle).unwrap().fill(value);
            }
        }
    };
    let joints = (EDGES - 1) as f64;
    let per_joint = 1.0 / EDGES as f64;
    let bent = energy(&|simulation| set(simulation, "rest-1", 0.8 * per_joint));
    let wanted = 0.5 * youngs * bend * 0.8 * 0.8 * joints * per_joint;
    assert!((bent / wanted - 1.0).abs() < 1e-9, "{bent} J, wanted {wanted} J");
    let twisted = energy(&|simulation| set(simulation, "rest", 0.8 * per_joint));
    let wanted = 0.5 * shear * 2.0 * bend * 0.8 * 0.8 * joints * per_joint;
    assert!((twisted / wanted - 1.0).abs() < 1e-9, "{twisted} J, wanted {wanted} J");
}
