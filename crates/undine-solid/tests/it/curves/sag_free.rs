//! Hair that begins as it hangs.

use super::scene::{curves, elastic, gravity, rod};
use crate::scene::{Run, frames, vectors};
use undine_core::glam::DVec3;

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

/// How far any vertex is from where it began after two seconds, as a share of the strand's length.
fn moved(sag_free: bool) -> f64 {
    // As thick as strands of a few hairs: ρSgL³/(EI) is 7. A single hair of that length would need a tight curl as its natural
    // shape to stand out so, and no balance of that is stable.
    let hair = rod().set("radius", 120e-6).set("roots", "clamped").set("sag-free", sag_free);
    let setup = elastic(hair).with(gravity());
    let run = Run { substeps: 2, iterations: 2 };
    let mut simulation = run.of(&setup, vec![("rod", curves(&groom()))]);
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
    let (sags, stays) = (moved(false), moved(true));
    assert!(sags > 0.02, "it would sag by {sags} of its length");
    assert!(stays < 1e-3, "it moves by {stays} of its length");
}
