//! What cannot be a rod is refused, with what would be right.

use super::scene::{curves, elastic, gravity, rod, straight};
use crate::scene::Run;
use undine_core::glam::DVec3;
use undine_schema::setup::{Behavior, Group};
use undine_sim::input::Data;

fn refusal(rod: Behavior, data: Data) -> String {
    let setup: Group = elastic(rod).with(gravity());
    let run = Run::default().with_frame(1.0 / 24.0);
    let made = run.try_of(&setup, vec![("rod", data)]);
    match made {
        Err(why) => why.to_string(),
        Ok(mut simulation) => {
            simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap_err().to_string()
        }
    }
}

#[test]
fn edges_without_length_are_named() {
    let mut strand = straight(DVec3::ZERO, DVec3::X, 4);
    strand[3] = strand[2];
    let good = straight(DVec3::Y, DVec3::ONE, 4);
    let found = refusal(rod(), curves(&[good, strand]));
    assert!(found.contains("vertices 2 and 3 of curve 1"), "{found}");
    assert!(found.contains("take one of them out"), "{found}");
}

#[test]
fn a_curve_of_one_vertex_is_none() {
    let found = refusal(rod(), curves(&[vec![DVec3::ZERO]]));
    assert!(found.contains("curve 0 has 1 vertices"), "{found}");
}

#[test]
fn points_are_not_curves() {
    let found = refusal(rod(), Data::points(vec![DVec3::ZERO]));
    assert!(found.contains("this input is points"), "{found}");
}

#[test]
fn absurd_stiffness_is_told_with_what_to_change() {
    let data = curves(&[straight(DVec3::ZERO, DVec3::X * 0.1, 10)]);
    let found = refusal(rod().set("youngs", 1e24), data);
    assert!(found.contains("double precision") && found.contains("youngs"), "{found}");
}
