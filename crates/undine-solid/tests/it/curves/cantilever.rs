//! Cantilevers: a clamped rod under its own weight, and under a load at its tip, against the curves of the heavy elastica.

use super::scene::{at_rest, clamped, curves, elastic, gravity, rod, with_numbers};
use crate::scene::{frames, vectors};
use undine_core::glam::DVec3;

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

/// A dead load at the tip, α = PL²/(EI): the weight of a short last edge, whose middle is the tip (Bisshopp & Drucker 1945).
///
/// 50 edges turn by up to √(2α)/50 each at the root, of which a twelfth of the square is missing: 7e-4 at the most. The rod itself weighs a
/// ten-thousandth of the load, and is α(r/2L)² longer under it, 2.5e-4. The table has five digits: 3e-4 of the least number in it.
#[test]
fn a_loaded_cantilever_bends_as_the_elastica() {
    for (alpha, drop, short) in [
        (0.5, 0.16214, 0.01592),
        (1.0, 0.30172, 0.05643),
        (4.0, 0.66996, 0.32894),
        (10.0, 0.81061, 0.555),
    ] {
        let edges = 50;
        let last = 0.1 / edges as f64;
        let mut points = clamped(edges);
        let tip = points.len() - 1;
        points[tip] -= DVec3::X * (0.5 * last);
        points.push(DVec3::X * (1.0 + 0.5 * last));
        // An edge has the mean density of its ends.
        let heavy = 1e7;
        let mut density = vec![1.0; points.len()];
        density[tip + 1] = heavy;
        let area = std::f64::consts::PI * RADIUS * RADIUS;
        let load = 9.80665 * area * 0.5 * (1.0 + heavy) * last;
        let youngs = load / (alpha * 0.25 * area * RADIUS * RADIUS);
        let data = with_numbers(&curves(&[points]), "density", density);
        let rod = rod().set("radius", RADIUS).set("youngs", youngs).set("roots", "clamped");
        let mut simulation = at_rest(&elastic(rod).with(gravity()), data);
        frames(&mut simulation, 20);
        let places = vectors(&simulation, "rod", "position");
        let middle = 0.5 * (places[tip] + places[tip + 1]);
        for (what, found, wanted) in [("δ", -middle.y, drop), ("Δ", 1.0 - middle.x, short)] {
            println!("α = {alpha}: {what} = {found:.5}, wanted {wanted}");
            assert!(
                (found / wanted - 1.0).abs() < 0.0015,
                "α = {alpha}: {what} = {found}, wanted {wanted}"
            );
        }
    }
}
