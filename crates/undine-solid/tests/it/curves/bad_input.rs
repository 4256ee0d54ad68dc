//! What cannot be a rod is refused, with what would be right.

use super::scene::{curves, elastic, gravity, rod, straight, with_numbers, with_vectors};
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
fn edges_without_length_at_rest_are_named() {
    let strand = straight(DVec3::ZERO, DVec3::X, 4);
    let mut rest = strand.clone();
    rest[3] = rest[2];
    let found = refusal(rod(), with_vectors(&curves(&[strand]), "rest", rest));
    assert!(found.contains("vertices 2 and 3 of curve 0 of the channel `rest`"), "{found}");
    assert!(found.contains("take the channel out"), "{found}");
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

#[test]
fn an_absurd_step_is_told_with_what_to_change() {
    let data = curves(&[straight(DVec3::ZERO, DVec3::X * 0.1, 10)]);
    let setup: Group = elastic(rod()).with(gravity());
    let mut simulation = Run::default().with_frame(1e6).of(&setup, vec![("rod", data)]);
    let found = simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap_err().to_string();
    assert!(found.contains("1000000 s") && found.contains("take shorter steps"), "{found}");
}

#[test]
fn vertices_that_are_no_places_are_named() {
    let mut strand = straight(DVec3::ZERO, DVec3::X, 4);
    strand[3].y = f64::NAN;
    let good = straight(DVec3::Y, DVec3::ONE, 4);
    let found = refusal(rod(), curves(&[good, strand]));
    assert!(found.contains("vertex 3 of curve 1") && found.contains("give it a place"), "{found}");
}

#[test]
fn strands_beyond_all_buckets_are_named() {
    let far = straight(DVec3::X * 1e9, DVec3::X * 1.1e9, 4);
    let good = straight(DVec3::Y, DVec3::ONE, 4);
    let found = refusal(rod(), curves(&[good, far]));
    assert!(found.contains("vertex 0 of curve 1 is at"), "{found}");
    assert!(found.contains("look at its unit"), "{found}");
}

#[test]
fn channels_are_held_to_the_same_bounds_as_parameters() {
    let data = curves(&[straight(DVec3::ZERO, DVec3::X, 4)]);
    for (channel, bad) in [("pscale", -1e-3), ("youngs", 0.0), ("density", f64::NAN)] {
        let mut values = vec![1000.0; 5];
        values[2] = bad;
        let found = refusal(rod(), with_numbers(&data, channel, values));
        assert!(found.contains(&format!("channel `{channel}`")), "{found}");
        assert!(found.contains("element 2") && found.contains("has to be"), "{found}");
    }
}
