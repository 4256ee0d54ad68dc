//! Rods that begin in another shape than that which they are at rest in.

use super::scene::{
    at_rest, curves, elastic, gravity, rod, straight, with_axes, with_numbers, with_vectors,
};
use crate::scene::{Run, frames, vectors};
use std::f64::consts::{PI, TAU};
use std::sync::Arc;
use undine_core::glam::{DQuat, DVec3};
use undine_core::mesh::{Curves, Strands};
use undine_schema::setup::Behavior;
use undine_sim::input::{Data, Geometry};

const EDGES: usize = 24;
const EDGE: f64 = 1.0 / 24.0;
const RADIUS: f64 = 0.01;
const DENSITY: f64 = 1000.0;

/// So stiff that it swings with 5 rad/s and more: what is left of that after a step of 1 s is a fifth, and 1e-14 after 20.
fn bar() -> Behavior {
    rod().set("radius", RADIUS).set("density", DENSITY).set("youngs", 1e8).set("roots", "clamped")
}

/// Where vertices are at last.
fn relaxed(bar: Behavior, data: Data) -> Vec<DVec3> {
    let mut simulation = at_rest(&elastic(bar), data);
    frames(&mut simulation, 20);
    vectors(&simulation, "rod", "position")
}

/// Edges of the same length, each in its direction, from the origin on.
fn chain(direction: impl Fn(f64) -> DVec3) -> Vec<DVec3> {
    let mut points = vec![DVec3::ZERO];
    for n in 0..EDGES {
        points.push(points[n] + EDGE * direction(n as f64));
    }
    points
}

/// An arc of 30 cm, whose edges are chords: with nothing to hold it but the clamp, a rod that began straight lies on it to rounding.
#[test]
fn a_straight_rod_that_is_an_arc_at_rest_becomes_that_arc() {
    let radius = 0.3;
    let turn = 2.0 * (0.5 * EDGE / radius).asin();
    let arc = chain(|n| DVec3::new((turn * n).cos(), (turn * n).sin(), 0.0));
    let line = curves(&[straight(DVec3::ZERO, DVec3::X, EDGES)]);
    let found = relaxed(bar(), with_vectors(&line, "rest", arc.clone()));
    let off = found.iter().zip(&arc).map(|(x, y)| x.distance(*y)).fold(0.0, f64::max);
    assert!(off < 1e-9, "{off} m from the arc");
}

/// A flat rod that is twisted, and at rest in a helix somewhere else with longer edges: all vertices are as far from each
/// other at last as there. What it weighs follows from its lengths at rest.
#[test]
fn a_rod_takes_on_its_shape_at_rest_wherever_that_is() {
    let helix = chain(|n| DVec3::new(0.5, (0.4 * n).cos(), (0.4 * n).sin()).normalize());
    let turn = DQuat::from_scaled_axis(DVec3::new(0.3, -0.5, 0.2));
    let helix: Vec<DVec3> = helix.into_iter().map(|x| turn * x + DVec3::splat(2.0)).collect();
    let line: Vec<DVec3> = (0..=EDGES).map(|n| DVec3::X * EDGE * 0.9 * n as f64).collect();
    let axis = |n: usize| DQuat::from_rotation_x(0.1 * n as f64) * DVec3::Z;
    let data = with_axes(&curves(&[line]), (0..=EDGES).map(axis).collect());
    let data = with_vectors(&data, "rest", helix.clone());
    let bar = bar().set("flatness", 0.5);
    let simulation = at_rest(&elastic(bar.clone()), data.clone());
    let mass = simulation.budget().unwrap().mass;
    let wanted = 0.5 * PI * RADIUS * RADIUS * DENSITY;
    assert!((mass / wanted - 1.0).abs() < 1e-12, "{mass} kg of {wanted} kg");
    let found = relaxed(bar, data);
    for a in 0..=EDGES {
        for b in 0..a {
            let (is, was) = (found[a].distance(found[b]), helix[a].distance(helix[b]));
            assert!((is - was).abs() < 1e-9, "{a} and {b}: {is} m, {was} m at rest");
        }
    }
}

/// Hair that bends and swings.
#[test]
fn a_shape_at_rest_that_is_the_first_one_changes_nothing() {
    let start: Vec<DVec3> =
        chain(|n| DVec3::new(1.0, (0.3 * n).sin(), 0.2 * (0.7 * n).cos()).normalize());
    let plain =
        with_numbers(&curves(std::slice::from_ref(&start)), "pscale", vec![0.005; EDGES + 1]);
    let with_rest = with_vectors(&plain, "rest", start);
    let setup = elastic(bar().set("youngs", 1e7)).with(gravity());
    let [without, with] = [plain, with_rest].map(|data| {
        let run = Run { substeps: 4, iterations: 2 };
        let mut simulation = run.of(&setup, vec![("rod", data)]);
        frames(&mut simulation, 6);
        let bits = |x: &DVec3| x.to_array().map(f64::to_bits);
        vectors(&simulation, "rod", "position").iter().map(bits).collect::<Vec<_>>()
    });
    assert!(with == without, "the same bytes");
}

/// Nor does one that is the first one but for rounding change more than that.
#[test]
fn a_shape_at_rest_that_is_moved_as_a_whole_changes_nothing_but_rounding() {
    let start: Vec<DVec3> =
        chain(|n| DVec3::new(1.0, (0.3 * n).sin(), 0.2 * (0.7 * n).cos()).normalize());
    let plain = curves(std::slice::from_ref(&start));
    // About an axis across the first edge, which is then carried there without turning about itself.
    let turn = DQuat::from_axis_angle(DVec3::new(0.2, 0.7, -1.0).normalize(), 2.0);
    let away = start.iter().map(|x| turn * *x + DVec3::new(1.0, 2.0, 3.0)).collect();
    let with_rest = with_vectors(&plain, "rest", away);
    let setup = elastic(bar()).with(gravity());
    let [without, with] = [plain, with_rest].map(|data| {
        let mut simulation = at_rest(&setup, data);
        frames(&mut simulation, 20);
        vectors(&simulation, "rod", "position")
    });
    let off = with.iter().zip(&without).map(|(x, y)| x.distance(*y)).fold(0.0, f64::max);
    assert!(off < 1e-10, "{off} m");
}

/// A flat ring that begins as a circle, with nothing to hold it, becomes the saddle that it is at rest: all vertices are as far from each other as there, also where it
/// closes. There the twist at rest is not that of the circle, but what the shape leaves of a turn when it has gone around.
#[test]
fn a_closed_rod_takes_on_its_shape_at_rest() {
    let around = |n: usize| TAU * n as f64 / EDGES as f64;
    let place = |n: usize, height: f64| {
        let angle = around(n);
        0.2 * DVec3::new(angle.cos(), height * (2.0 * angle + 0.3).sin(), 0.8 * angle.sin())
    };
    let [circle, saddle] =
        [0.0, 0.5].map(|height| -> Vec<DVec3> { (0..EDGES).map(|n| place(n, height)).collect() });
    let strands = Strands::new(vec![0, EDGES as u32], vec![true]).unwrap();
    let ring = Curves::new("ring", circle, strands).unwrap();
    let data = Data::new(Geometry::Curves(Arc::new(ring)));
    let data = with_vectors(&data, "rest", saddle.clone());
    let found = relaxed(bar().set("flatness", 0.5).set("roots", "free"), data);
    for a in 0..EDGES {
        for b in 0..a {
            let (is, was) = (found[a].distance(found[b]), saddle[a].distance(saddle[b]));
            assert!((is - was).abs() < 1e-9, "{a} and {b}: {is} m, {was} m at rest");
        }
    }
}
