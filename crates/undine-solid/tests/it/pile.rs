//! A pile of balls in a box: hard contacts with friction, many at once.

use crate::contact::{collider, collision, shape};
use crate::scene::{Run, body, frames, number, vectors};
use undine_core::glam::DVec3;
use undine_geometry::Shape;
use undine_geometry::random::unit;
use undine_schema::setup::{Behavior, Group};
use undine_sim::Simulation;
use undine_sim::input::Data;

/// Radius of balls and half the width of the box [m].
const RADIUS: f64 = 0.05;
const HALF: f64 = 0.145;

/// Three layers of balls above each other, each a little off its place.
fn places() -> Vec<DVec3> {
    let off = |n: u64, k: u64| 0.01 * (unit(n, k) - 0.5);
    let place = |n: u64| {
        let [x, y, z] = [n % 2, n / 4, n / 2 % 2].map(|c| c as f64);
        // Every other layer stands between the balls below.
        let shift = if n / 4 % 2 == 1 { 0.03 } else { -0.02 };
        let at = DVec3::new(0.11 * x - 0.055 + shift, 0.08 + 0.11 * y, 0.11 * z - 0.055 + shift);
        at + DVec3::new(off(n, 0), off(n, 1), off(n, 2))
    };
    (0..12).map(place).collect()
}

fn box_of_balls() -> Simulation {
    let mut setup = Group::default().with(body("balls").set("shape", "ball").set("density", 700.0));
    let mut inputs = vec![
        ("balls", Data::points(places())),
        ("ball", shape(Shape::sphere(RADIUS).unwrap())),
        ("floor", shape(Shape::half_space(DVec3::Y, 0.0).unwrap())),
    ];
    setup = setup.with(collider("floor"));
    for (name, inwards) in
        [("left", DVec3::X), ("right", -DVec3::X), ("back", DVec3::Z), ("front", -DVec3::Z)]
    {
        setup = setup.with(collider(name));
        inputs.push((name, shape(Shape::half_space(inwards, -HALF).unwrap())));
    }
    let gravity = Behavior::new(&undine_actions::gravity::DECLARATION);
    let setup = setup.with(collision().set("friction", 0.4)).with(gravity);
    Run { substeps: 4, ..Run::default() }.of(&setup, inputs)
}

/// They fall onto each other and come to rest. On the way energy only ever falls, and no ball is ever inside of another, of the floor
/// or of a wall, but for what surfaces of boundary particles leave of balls and one step's curvature.
#[test]
fn balls_in_a_box_come_to_rest_on_each_other() {
    let mut simulation = box_of_balls();
    let energy = |simulation: &Simulation| {
        let budget = simulation.budget().unwrap();
        budget.kinetic_energy + budget.potential_energy
    };
    let whole = energy(&simulation);
    let weight = 9.80665 * number(&simulation, "balls", "mass");
    let mut last = whole;
    for frame in 0..48 {
        frames(&mut simulation, 1);
        let now = energy(&simulation);
        assert!(now <= last + 1e-3 * weight * RADIUS, "{last} J to {now} J in frame {frame}");
        last = now;
        let centres = vectors(&simulation, "balls", "position");
        for (n, at) in centres.iter().enumerate() {
            let inside = HALF - at.x.abs().max(at.z.abs());
            let low = at.y.min(inside) / RADIUS;
            assert!(low > 0.98, "ball {n} is {low} radii from floor or wall in frame {frame}");
            for (o, other) in centres[..n].iter().enumerate() {
                let apart = at.distance(*other) / RADIUS;
                assert!(apart > 1.96, "balls {n} and {o} are {apart} radii apart in frame {frame}");
            }
        }
    }
    let fastest = vectors(&simulation, "balls", "v").iter().map(|v| v.length()).fold(0.0, f64::max);
    assert!(fastest < 5e-3, "at rest, but for {fastest} m/s");
    // They lie on each other: more than a layer of nine does not fit on the floor.
    let centres = vectors(&simulation, "balls", "position");
    let highest = centres.iter().map(|at| at.y).fold(0.0, f64::max);
    assert!(highest > 2.0 * RADIUS, "{highest} m");
    assert!(last < 0.8 * whole, "{last} J of {whole} J");
}
