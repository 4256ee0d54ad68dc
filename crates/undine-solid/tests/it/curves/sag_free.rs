//! Hair that begins as it hangs.

use super::scene::{clamped, curves, elastic, gravity, rod};
use crate::scene::{Run, frames, vectors};
use undine_core::glam::DVec3;
use undine_schema::setup::{Behavior, Group};
use undine_sim::input::Data;
use undine_sim::report::{Observer, SolveRecord, SubstepReport};

/// Curly strands from a scalp, of 24 edges and about 20 cm.
fn groom() -> Vec<Vec<DVec3>> {
    let strand = |n: usize| {
        let turn = n as f64 * 0.7;
        let out = DVec3::new(turn.cos(), 0.3, turn.sin()).normalize();
        let side = out.any_orthonormal_vector();
        let place = |s: f64| {
            let curl = (25.0 * s + turn).sin() * side + (25.0 * s).cos() * out.cross(side);
            0.09 * out + 0.2 * s * (out - 1.5 * s * DVec3::Y) + 0.006 * s.min(0.2) / 0.2 * curl
        };
        (0..=24).map(|k| place(f64::from(k) / 24.0)).collect()
    };
    (0..12).map(strand).collect()
}

/// As thick as strands of a few hairs: ρSgL³/(EI) is 7. A single hair of that length would need a tight curl as its natural shape to stand
/// out so, and no balance of that is stable.
fn hair() -> Behavior {
    rod().set("radius", 120e-6)
}

/// How far any vertex is from where it began after two seconds, as a share of the strand's length.
fn moved(setup: &Group) -> f64 {
    let roots = groom().iter().map(|strand| strand[0]).collect();
    let inputs = vec![("rod", curves(&groom())), ("scalp", Data::points(roots))];
    let run = Run { substeps: 2, iterations: 2 };
    let mut simulation = run.of(setup, inputs);
    let start = vectors(&simulation, "rod", "position");
    let mut most = 0.0_f64;
    for _ in 0..48 {
        frames(&mut simulation, 1);
        let now = vectors(&simulation, "rod", "position");
        most = start.iter().zip(&now).map(|(a, b)| a.distance(*b)).fold(most, f64::max);
    }
    most / 0.2
}

#[test]
fn hair_that_begins_sag_free_stays_where_it_is() {
    let [sags, stays] = [false, true].map(|sag_free| {
        let hair = hair().set("roots", "clamped").set("sag-free", sag_free);
        moved(&elastic(hair).with(gravity()))
    });
    assert!(sags > 0.02, "it would sag by {sags} of its length");
    assert!(stays < 1e-3, "it moves by {stays} of its length");
}

/// Roots that are welded to a scalp carry the hair by what they give way: 10 µN by 1 nm, which is nothing; but a moment of 1 µN m by 1 mrad, if
/// the weld is of 1 mJ. In balance the weld is stretched by that much to begin with.
#[test]
fn hair_that_is_welded_to_a_scalp_begins_sag_free_too() {
    let [sags, stays] = [false, true].map(|sag_free| {
        let scalp = Behavior::new(&undine_actions::anchors::DECLARATION)
            .named("scalp")
            .set("input", "scalp");
        let weld = Behavior::new(&undine_actions::attachment::DECLARATION)
            .set("to", "scalp")
            .set("emission", "pair")
            .set("orientation-stiffness", [1e-3; 3]);
        moved(&elastic(hair().set("sag-free", sag_free)).with(scalp).with(weld).with(gravity()))
    });
    assert!(sags > 0.02, "it would sag by {sags} of its length");
    assert!(stays < 1e-3, "it moves by {stays} of its length");
}

/// How searches for a balance went.
#[derive(Default)]
struct Balances(Vec<SolveRecord>);

impl Observer for Balances {
    fn substep(&mut self, report: &SubstepReport) {
        let balances = report.solves.iter().filter(|solve| solve.system == "balance to begin with");
        self.0.extend(balances.cloned());
    }
}

/// What is found for a horizontal rod of 20 edges, for Γ = ρSgL³/(EI): how it went, how far natural angles are from those of the input at the
/// most, and how far vertices have gone after so many frames [m], by the root of the mean square.
fn balance(gamma: f64, sag_free: bool, count: usize) -> (Option<SolveRecord>, f64, f64) {
    let (radius, density): (f64, f64) = (0.01, 1000.0);
    let youngs = 4.0 * density * 9.80665 / (gamma * radius * radius);
    let rod = rod()
        .set("radius", radius)
        .set("density", density)
        .set("youngs", youngs)
        .set("roots", "clamped")
        .set("sag-free", sag_free);
    let setup = elastic(rod).with(gravity());
    let mut simulation =
        Run { substeps: 8, iterations: 4 }.of(&setup, vec![("rod", curves(&[clamped(20)]))]);
    let start = vectors(&simulation, "rod", "position");
    let mut seen = Balances::default();
    for _ in 0..count {
        simulation.advance_frame(&mut seen, |_, _| Ok(())).unwrap();
    }
    let mut most = 0.0_f64;
    for (_, elements) in simulation.world.elements.iter() {
        for name in ["rest-1", "rest-2"] {
            if let Ok(handle) = elements.handle::<f64>(name) {
                most = elements.column(handle).unwrap().iter().fold(most, |m, k| m.max(k.abs()));
            }
        }
    }
    let now = vectors(&simulation, "rod", "position");
    let squares = start.iter().zip(&now).map(|(a, b)| a.distance_squared(*b)).sum::<f64>();
    (seen.0.pop(), most, (squares / now.len() as f64).sqrt())
}

/// The moment at the clamp is ½ρSgL² = ½Γ EI/L: a natural curvature of ½Γ/L, over the half edge that bends there ¼Γ/N for N = 20 edges, and half of
/// Γ/N beyond. Natural angles between edges may go to 1 from those of the input: enough to Γ = 2N, less the little that nearer edges bear. Beyond
/// that the rod cannot be held as it is: it is told, bounds hold, and what is said to be out of balance is what falls.
#[test]
fn what_is_too_soft_to_be_sag_free_is_told_and_stays_within_bounds() {
    let (held, curved, moves) = balance(20.0, true, 12);
    let held = held.unwrap();
    assert!(held.converged && held.residual < 1e-6, "{held:?}");
    assert!(curved < 1.0 && moves < 1e-3, "natural angle {curved}, moves {moves} m");

    // In the first moment what is out of balance falls as freely as all of it would.
    let (told, curved, moves) = balance(200.0, true, 1);
    let told = told.unwrap();
    let (none, _, falls) = balance(200.0, false, 1);
    assert!(!told.converged && told.residual > 1e-3 && told.residual < 1.0, "{told:?}");
    assert!((1.0 - 1e-12..1.0 + 1e-12).contains(&curved), "natural angle {curved}");
    assert_eq!(none, None);
    let share = moves / falls;
    assert!((share / told.residual - 1.0).abs() < 0.03, "{share} of how it falls, {told:?}");
    assert!(share < 0.9, "{share} of how it falls");
}
