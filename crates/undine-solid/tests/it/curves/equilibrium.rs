//! How the balance of a strand follows its rest parameters, against strands that have come to rest with others.

use super::scene::{at_rest, clamped, curves, elastic, gravity, rod};
use crate::scene::{frames, vectors};
use undine_core::glam::DVec3;
use undine_sim::Simulation;

/// A flat rod that bends out of the plane in which it hangs, so that it twists as well; at rest.
fn cantilever() -> Simulation {
    let bent = |x: DVec3| x + DVec3::new(0.0, 0.1 * x.x * x.x, 0.3 * x.x * x.x);
    let points: Vec<DVec3> = clamped(8).into_iter().map(bent).collect();
    // ρSgL³/(EI) is about 5 against the flat side.
    let flat = rod()
        .set("radius", 2e-2)
        .set("flatness", 0.5)
        .set("density", 1000.0)
        .set("youngs", 1e8)
        .set("roots", "clamped");
    let mut simulation = at_rest(&elastic(flat).with(gravity()), curves(&[points]));
    frames(&mut simulation, 20);
    simulation
}

/// Numbers in −1 … 1, the same in every run.
fn noise(n: usize) -> f64 {
    undine_geometry::random::unit(n as u64, 3) * 2.0 - 1.0
}

/// A change of all rest parameters: of angles by up to 1, of lengths by up to themselves.
fn change(simulation: &mut Simulation) -> Vec<f64> {
    let parameters = simulation.rest_parameters().unwrap();
    let scaled = |(n, p): (usize, &undine_sim::rest::RestParameter)| {
        noise(n) * if p.of.contains("stretching") { p.value } else { 1.0 }
    };
    parameters.iter().enumerate().map(scaled).collect()
}

fn values(simulation: &mut Simulation) -> Vec<f64> {
    simulation.rest_parameters().unwrap().iter().map(|parameter| parameter.value).collect()
}

/// Where vertices come to rest with these parameters.
fn settled(simulation: &mut Simulation, parameters: &[f64]) -> Vec<DVec3> {
    simulation.set_rest_parameters(parameters).unwrap();
    frames(simulation, 12);
    vectors(simulation, "rod", "position")
}

#[test]
fn a_balance_moves_as_its_jacobian_says() {
    let mut simulation = cantilever();
    let start = values(&mut simulation);
    let v = change(&mut simulation);
    let mut rest = simulation.equilibrium().unwrap();
    assert!(rest.imbalance < 1e-9, "{}", rest.imbalance);
    assert_eq!(rest.equilibrium.parameters(), start.len());
    let du = rest.equilibrium.forward(&v).unwrap();
    let places = rest.equilibrium.places("rod").unwrap();
    let mut at = |share: f64| {
        let p: Vec<f64> = start.iter().zip(&v).map(|(p, v)| p + share * v).collect();
        settled(&mut simulation, &p)
    };
    let h = 1e-3;
    let [a, b, c, d] = [-2.0, -1.0, 1.0, 2.0].map(|n| at(n * h));
    let mut largest = 0.0_f64;
    let mut off = 0.0_f64;
    for (n, &row) in places.iter().enumerate() {
        let found = DVec3::from_slice(&du[row..row + 3]);
        let wanted = (a[n] - d[n] + 8.0 * (c[n] - b[n])) / (12.0 * h);
        largest = largest.max(wanted.length());
        off = off.max(found.distance(wanted));
    }
    assert!(largest > 0.1, "{largest}");
    assert!(off < 1e-6 * largest, "{off} of {largest}");
}

/// w·(J v) = (Jᵀw)·v.
#[test]
fn products_from_both_sides_agree() {
    let mut simulation = cantilever();
    let v = change(&mut simulation);
    let mut equilibrium = simulation.equilibrium().unwrap().equilibrium;
    let w: Vec<f64> = (0..equilibrium.unknowns().rows()).map(|n| noise(1000 + n)).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a * b);
    let forward = dot(&equilibrium.forward(&v).unwrap(), &w);
    let backward = dot(&equilibrium.backward(&w).unwrap(), &v);
    assert!((forward / backward - 1.0).abs() < 1e-9, "{forward} {backward}");
}

/// Natural curvatures are found such that the strand hangs as it is drawn: Gauss-Newton, each step by conjugate gradients on
/// products with J and Jᵀ.
#[test]
fn a_strand_is_made_to_hang_as_it_is_drawn() {
    let mut simulation = cantilever();
    let start = values(&mut simulation);
    let parameters = simulation.rest_parameters().unwrap();
    let bends = |n: usize| if parameters[n].of.contains("bending") { 1.0 } else { 0.0 };
    let drawn: Vec<f64> =
        start.iter().enumerate().map(|(n, p)| p + 0.15 * bends(n) * noise(n)).collect();
    let target = settled(&mut simulation, &drawn);
    let mut p = start;
    let mut now = settled(&mut simulation, &p);
    let far = |now: &[DVec3]| {
        now.iter().zip(&target).map(|(x, wanted)| x.distance(*wanted)).fold(0.0, f64::max)
    };
    let began = far(&now);
    assert!(began > 0.1, "{began}");
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a * b);
    for _ in 0..6 {
        let mut equilibrium = simulation.equilibrium().unwrap().equilibrium;
        let places = equilibrium.places("rod").unwrap();
        // What is to be moved, and how much of a motion of unknowns that is: turns are not asked for.
        let mut left = vec![0.0; equilibrium.unknowns().rows()];
        let mut asked = left.clone();
        for (n, &row) in places.iter().enumerate() {
            left[row..row + 3].copy_from_slice(&(target[n] - now[n]).to_array());
            asked[row..row + 3].fill(1.0);
        }
        let masked = |mut values: Vec<f64>, by: &dyn Fn(usize) -> f64| {
            values.iter_mut().enumerate().for_each(|(n, value)| *value *= by(n));
            values
        };
        // CGLS (Björck 1996, *Numerical methods for least squares problems*, §7.4).
        let mut step = vec![0.0; p.len()];
        let mut r = left;
        let mut s = masked(equilibrium.backward(&r).unwrap(), &bends);
        let mut d = s.clone();
        let mut size = dot(&s, &s);
        for _ in 0..30 {
            let moved = masked(equilibrium.forward(&d).unwrap(), &|n| asked[n]);
            let alpha = size / dot(&moved, &moved);
            step.iter_mut().zip(&d).for_each(|(x, d)| *x += alpha * d);
            r.iter_mut().zip(&moved).for_each(|(r, moved)| *r -= alpha * moved);
            s = masked(equilibrium.backward(&r).unwrap(), &bends);
            let next = dot(&s, &s);
            d.iter_mut().zip(&s).for_each(|(d, s)| *d = s + next / size * *d);
            size = next;
            if size < 1e-24 {
                break;
            }
        }
        p.iter_mut().zip(&step).for_each(|(p, step)| *p += step);
        now = settled(&mut simulation, &p);
        if far(&now) < 1e-5 * began {
            break;
        }
    }
    let ended = far(&now);
    assert!(ended < 1e-4 * began, "from {began} m to {ended} m");
}

#[test]
fn what_has_no_balance_to_speak_of_is_told() {
    let setup = elastic(rod().set("radius", 1e-2).set("youngs", 1e8));
    let mut simulation = at_rest(&setup, curves(&[clamped(4)]));
    let found = simulation.equilibrium().unwrap_err().to_string();
    assert!(found.contains("simulate a frame first"), "{found}");
    frames(&mut simulation, 1);
    let found = simulation.equilibrium().unwrap_err().to_string();
    assert!(found.contains("rod is in no stable balance"), "{found}");
    assert!(found.contains("hold it"), "{found}");
    let found = simulation.set_rest_parameters(&[1.0]).unwrap_err().to_string();
    assert!(found.contains("1 rest parameters are to be set"), "{found}");
}
