//! Thin hair that a wind takes hold of, in long steps of one Newton iteration.

use super::scene::{bending, curves, gravity, rod, straight, stretching, twisting};
use crate::scene::{Run, frames, vectors};
use undine_core::glam::DVec3;
use undine_schema::setup::{Behavior, Group};

/// Hair of 80 µm and 25 cm in 30 edges stands out from a head in all directions. A wind of 5 m/s accelerates it with 14 g: in a step of 1/48 s by
/// six centimetres, many times the length of an edge. It is blown about, but keeps its length: EA is 80 N, and drag on all of a hair
/// is 1 mN, so that nothing but what is left of a step stretches it: edges that turn by φ in its last iteration are longer by 1/cos φ, and
/// the last one is that in which cos φ is above 0.99 everywhere.
#[test]
fn thin_hair_in_the_wind_keeps_its_length() {
    let (edges, length) = (30_usize, 0.25);
    let strand = |n: usize| {
        let (up, turn) = (1.0 - 0.09 * n as f64, 2.4 * n as f64);
        let out = (1.0 - up * up).sqrt();
        let way = DVec3::new(out * turn.cos(), up, out * turn.sin());
        straight(0.09 * way, (0.09 + length) * way, edges)
    };
    let hair: Vec<Vec<DVec3>> = (1..20).map(strand).collect();
    let wind = Behavior::new(&undine_actions::drag::DECLARATION).set("wind", [5.0, 0.0, 0.0]);
    let setup = Group::default()
        .with(rod().set("radius", 80e-6).set("roots", "clamped").set("sag-free", true))
        .with(stretching())
        .with(bending().set("damping-time", 0.005))
        .with(twisting().set("damping-time", 0.005))
        .with(gravity())
        .with(wind);
    let mut simulation =
        Run { substeps: 2, iterations: 1 }.of(&setup, vec![("rod", curves(&hair))]);
    let (mut stretch, mut moved) = (0.0_f64, 0.0_f64);
    let start = vectors(&simulation, "rod", "position");
    for _ in 0..48 {
        frames(&mut simulation, 1);
        let now = vectors(&simulation, "rod", "position");
        for strand in now.chunks(edges + 1) {
            for pair in strand.windows(2) {
                let share = pair[0].distance(pair[1]) / (length / edges as f64) - 1.0;
                stretch = stretch.max(share.abs());
            }
        }
        moved = now.iter().zip(&start).map(|(a, b)| a.distance(*b)).fold(moved, f64::max);
    }
    assert!(moved > 0.1, "the wind blows it by {moved} m");
    assert!(
        stretch < 1.0 / 0.99 - 1.0 + 1e-4,
        "edges are longer or shorter by {stretch} of themselves"
    );
}
