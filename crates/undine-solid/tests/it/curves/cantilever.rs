//! Cantilevers: a clamped rod under its own weight, and under a load at its tip, against the curves of the heavy elastica.

use super::scene::{at_rest, clamped, curves, elastic, gravity, rod, with_numbers};
use crate::scene::{frames, vectors};

const RADIUS: f64 = 1e-2;
const DENSITY: f64 = 1000.0;

/// Drop and reach of the tip of a horizontal rod of length 1 m, of so many edges, for Γ = ρSgL³/(EI).
fn heavy(gamma: f64, edges: usize) -> [f64; 2] {
    // I/S is ¼r².
    let youngs = 4.0 * DENSITY * 9.80665 / (gamma * RADIUS * RADIUS);
    let points = clamped(edges);
    let rod = rod()
        .set("radius", RADIUS)
        .set("density", DENSITY)
        .set("youngs", youngs)
        .set("roots", "clamped");
    let setup = elastic(rod).with(gravity());
    let mut simulation = at_rest(&setup, curves(&[points]));
    frames(&mut simulation, 20);
    let tip = *vectors(&simulation, "rod", "position").last().unwrap();
    [-tip.y, tip.x]
}

/// H/W of the planar cantilever under its own weight, from θ″ = −Γ(1 − s)cos θ.
#[test]
fn a_heavy_cantilever_hangs_as_the_elastica() {
    for (gamma, wanted) in [(0.1, 0.01250), (1.0, 0.12456), (10.0, 1.06680), (100.0, 5.88810)] {
        let [drop, reach] = heavy(gamma, 50);
        let found = drop / reach;
        assert!((found / wanted - 1.0).abs() < 0.02, "Γ = {gamma}: {found}, wanted {wanted}");
    }
}

/// Of second order in the length of edges.
#[test]
fn a_heavy_cantilever_converges() {
    let slope = |edges: usize| {
        let [drop, reach] = heavy(3.0, edges);
        drop / reach
    };
    let [coarse, middle, fine] = [6, 12, 24].map(slope);
    let order = ((middle - coarse) / (fine - middle)).abs().log2();
    assert!((1.7..2.4).contains(&order), "order {order} of {coarse}, {middle}, {fine}");
}

/// A dead load at the tip, α = PL²/(EI): the weight of a heavy last piece of a rod without any (Bisshopp & Drucker 1945).
#[test]
fn a_loaded_cantilever_bends_as_the_elastica() {
    for (alpha, drop, short) in [
        (0.5, 0.16214, 0.01592),
        (1.0, 0.30172, 0.05643),
        (4.0, 0.66996, 0.32894),
        (10.0, 0.81061, 0.555),
    ] {
        let edges = 50;
        let points = clamped(edges);
        // The mass of the last vertex is that of half an edge: all others weigh a millionth of it.
        let heavy: f64 = 1e6;
        let mut density = vec![1.0; points.len()];
        density[points.len() - 1] = heavy;
        // An edge has the mean density of its ends, and each end half of its mass.
        let area = std::f64::consts::PI * RADIUS * RADIUS;
        let load = 9.80665 * area * 0.5 * (1.0 + heavy) / edges as f64;
        let youngs = load / (alpha * 0.25 * area * RADIUS * RADIUS);
        let data = with_numbers(&curves(&[points]), "density", density);
        let rod = rod().set("radius", RADIUS).set("youngs", youngs).set("roots", "clamped");
        let mut simulation = at_rest(&elastic(rod).with(gravity()), data);
        frames(&mut simulation, 20);
        let places = vectors(&simulation, "rod", "position");
        let tip = places[places.len() - 1];
        let found = [-tip.y, 1.0 - tip.x];
        // Half of the load hangs one edge before the tip, so that the rod is as if it were half an edge shorter.
        assert!(
            (found[0] / drop - 1.0).abs() < 0.03,
            "α = {alpha}: δ = {}, wanted {drop}",
            found[0]
        );
        assert!(
            (found[1] / short - 1.0).abs() < 0.06,
            "α = {alpha}: Δ = {}, wanted {short}",
            found[1]
        );
    }
}
