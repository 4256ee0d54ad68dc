//! What damping takes from each Constraint of curves when it is driven to and fro: Dahl's loop, and Rayleigh's.
//!
//! Strands are so heavy that nothing changes where they go: C runs between ±a at a steady rate, and the force of the Constraint is what the
//! velocity changes by, F Ċ = −Σ mΔv·v/Δt. Without damping the same force is elastic and takes nothing in a turn, so it is taken off.

use super::scene::{bending, curves, rod, straight, stretching, twisting, with_axes};
use crate::scene::{Run, frames, store};
use std::f64::consts::PI;
use undine_core::glam::DVec3;
use undine_schema::setup::{Behavior, Group};
use undine_sim::Simulation;
use undine_sim::input::Data;

const RADIUS: f64 = 0.01;
const LENGTH: f64 = 0.1;
const YOUNGS: f64 = 1e4;
const SHEAR: f64 = 4e3;
/// A vertex weighs 10⁶ kg: 1 N moves it by a ten-millionth of what it goes in a step.
const DENSITY: f64 = 6e10;
const STEP: f64 = 1e-3;
/// Steps from the middle to the end.
const QUARTER: usize = 100;

/// A way to drive a Constraint.
struct Driven {
    name: &'static str,
    constraint: Behavior,
    edges: usize,
    /// How far C goes.
    most: f64,
    /// S of its row.
    stiffness: f64,
    /// The parameters of Dahl friction of its row.
    friction: [&'static str; 2],
    /// Dahl's limit, and its length as a share of how far C goes.
    limit: f64,
    length: f64,
    /// Where vertices are for a C; nothing where the last edge turns about itself by C instead.
    places: Option<fn(f64) -> Vec<DVec3>>,
}

/// Dahl friction of rows that are alike, and of those of an attachment that turn.
const FRICTION: [&str; 2] = ["friction-limit", "friction-length"];
const TURNING_FRICTION: [&str; 2] = ["turning-friction-limit", "turning-friction-length"];

fn by(constraint: Behavior, multipliers: bool) -> Behavior {
    constraint.set("solved-by", if multipliers { "multipliers" } else { "stiffness" })
}

fn attachment() -> Behavior {
    Behavior::new(&undine_actions::attachment::DECLARATION)
        .set("to", "wall")
        .set("emission", "pair")
        .set("normal-stiffness", 300.0)
        .set("tangent-stiffness", 200.0)
}

/// The edge turns about its first vertex, whose place is held, and so is the direction of the edge. The row of the direction across is the sine of
/// the angle, and its rate is steady; that of the direction along is off by half the square of it, so that it moves with up to a hundredth of the rate.
fn turning(multipliers: bool) -> Driven {
    Driven {
        name: "attachment turning",
        constraint: by(attachment().set("orientation-stiffness", [0.05, 0.0, 0.0]), multipliers),
        edges: 1,
        most: 0.01,
        stiffness: 0.05,
        friction: TURNING_FRICTION,
        limit: 1e-3,
        length: 0.4,
        places: Some(|c| vec![DVec3::ZERO, LENGTH * DVec3::new((1.0 - c * c).sqrt(), c, 0.0)]),
    }
}

fn all() -> Vec<Driven> {
    let area = PI * RADIUS * RADIUS;
    let mut all = Vec::new();
    for multipliers in [false, true] {
        all.push(Driven {
            name: "stretching",
            constraint: by(stretching(), multipliers),
            edges: 1,
            most: 1e-3,
            stiffness: YOUNGS * area / LENGTH,
            friction: FRICTION,
            limit: 1.0,
            length: 0.5,
            places: Some(|c| vec![DVec3::ZERO, DVec3::X * (LENGTH + c)]),
        });
        all.push(Driven {
            name: "bending",
            constraint: by(bending(), multipliers),
            edges: 2,
            most: 0.05,
            stiffness: YOUNGS * 0.25 * area * RADIUS * RADIUS / LENGTH,
            friction: FRICTION,
            limit: 1e-3,
            length: 0.4,
            // The curvature of edges that meet at φ is 2 tan(φ/2).
            places: Some(|c| {
                let angle = 2.0 * (0.5 * c).atan();
                let bent = DVec3::new(angle.cos(), angle.sin(), 0.0);
                vec![DVec3::ZERO, DVec3::X * LENGTH, LENGTH * (DVec3::X + bent)]
            }),
        });
        all.push(Driven {
            name: "twisting",
            constraint: by(twisting(), multipliers),
            edges: 2,
            most: 0.05,
            stiffness: SHEAR * 0.5 * area * RADIUS * RADIUS / LENGTH,
            friction: FRICTION,
            limit: 1e-3,
            length: 0.3,
            places: None,
        });
        all.push(Driven {
            name: "attachment along",
            constraint: by(attachment().set("flexibility", 1.0), multipliers),
            edges: 1,
            most: 1e-3,
            stiffness: 300.0,
            friction: FRICTION,
            limit: 1.0,
            length: 0.5,
            places: Some(|c| straight(DVec3::X * c, DVec3::X * (LENGTH + c), 1)),
        });
        all.push(Driven {
            name: "attachment across",
            constraint: by(attachment(), multipliers),
            edges: 1,
            most: 1e-3,
            stiffness: 200.0,
            friction: FRICTION,
            limit: 1.0,
            length: 0.5,
            places: Some(|c| straight(DVec3::Y * c, DVec3::new(LENGTH, c, 0.0), 1)),
        });
        all.push(turning(multipliers));
    }
    all
}

/// C after so many steps, as a share of how far it goes: up, down, up …
fn path(step: usize) -> f64 {
    let phase = (step % (4 * QUARTER)) as f64 / QUARTER as f64;
    if phase <= 1.0 {
        phase
    } else if phase <= 3.0 {
        2.0 - phase
    } else {
        phase - 4.0
    }
}

/// The forces at the end of the steps of four turns.
fn forces(driven: &Driven, damping: &[(&str, f64)]) -> Vec<f64> {
    let constraint = damping
        .iter()
        .fold(driven.constraint.clone(), |constraint, (name, value)| constraint.set(name, *value));
    let rod = rod()
        .set("radius", RADIUS)
        .set("density", DENSITY)
        .set("youngs", YOUNGS)
        .set("shear", SHEAR);
    let walls = Behavior::new(&undine_actions::anchors::DECLARATION).named("wall");
    let setup = Group::default().with(rod).with(walls.set("input", "wall")).with(constraint);
    let points = straight(DVec3::ZERO, DVec3::X * LENGTH * driven.edges as f64, driven.edges);
    let axes = vec![DVec3::Y; points.len()];
    let inputs = vec![
        ("rod", with_axes(&curves(&[points]), axes)),
        ("wall", Data::points(vec![DVec3::X * -LENGTH])),
    ];
    let mut simulation = Run::default().with_frame(STEP).of(&setup, inputs);
    let turn = |n: usize| {
        let [from, to] = [n, n + 1].map(|n| driven.most * path(n));
        pushed(&mut simulation, driven, from, to)
    };
    (0..16 * QUARTER).map(turn).collect()
}

/// Drives a Constraint by a step; the force that it answers with.
fn pushed(simulation: &mut Simulation, driven: &Driven, from: f64, to: f64) -> f64 {
    let rate = (to - from) / STEP;
    let power = match driven.places {
        Some(places) => {
            let (before, after) = (places(from), places(to));
            let set: Vec<DVec3> = before.iter().zip(&after).map(|(x, y)| (y - x) / STEP).collect();
            let points = store(simulation, "rod");
            let velocity = points.handle::<DVec3>("v").unwrap();
            points.column_mut(points.position()).unwrap().copy_from_slice(&before);
            points.column_mut(velocity).unwrap().copy_from_slice(&set);
            frames(simulation, 1);
            let points = store(simulation, "rod");
            let found = points.column(velocity).unwrap();
            let mass = points.column(points.handle::<f64>("mass").unwrap()).unwrap();
            let vertex = |n: usize| mass[n] * (found[n] - set[n]).dot(set[n]);
            (0..set.len()).map(vertex).sum::<f64>()
        }
        None => {
            let points = store(simulation, "rod");
            let spin = points.handle::<f64>("spin").unwrap();
            points.column_mut(spin).unwrap().copy_from_slice(&[0.0, rate, 0.0]);
            frames(simulation, 1);
            let points = store(simulation, "rod");
            let moment = points.column(points.handle::<f64>("moment").unwrap()).unwrap();
            moment[1] * (points.column(spin).unwrap()[1] - rate) * rate
        }
    };
    -power / STEP / rate
}

/// What friction takes in the last turn, from an end to that end [J].
fn taken_by_friction(driven: &Driven, friction: &[(&str, f64)]) -> f64 {
    let (with, without) = (forces(driven, friction), forces(driven, &[]));
    let friction: Vec<f64> = with.iter().zip(&without).map(|(f, g)| f - g).collect();
    let taken = |n: usize| {
        let change = driven.most * (path(n + 2) - path(n + 1));
        0.5 * (friction[n] + friction[n + 1]) * change
    };
    (11 * QUARTER..15 * QUARTER).map(taken).sum()
}

/// In a turn between ±a Dahl's friction takes 4aF_c − 4ℓF_c tanh(a/ℓ). From rest it comes to that by e^(−4a/ℓ) per turn: to 10⁻¹⁰ after three.
///
/// The sum of trapezoids over steps ΔC of what bends as e^(−C/ℓ) is off by (ΔC/ℓ)²/12 of its part, 4ℓF_c tanh(a/ℓ): 9e-5 at the most here. Forces
/// move vertices by 1e-7 of their way, and a chord's direction in place of the arc's end counts by ½Δφ a, 1e-5. The row along an edge that turns goes
/// to and fro by a²/4 about its middle, twice a turn, so little beside ℓ that its loops are narrow: 2(a²/4)³ of a³, 1e-6.
#[test]
fn friction_of_every_constraint_takes_the_loop_of_dahl() {
    for driven in all() {
        let length = driven.length * driven.most;
        let [limits, lengths] = driven.friction;
        let taken = taken_by_friction(&driven, &[(limits, driven.limit), (lengths, length)]);
        let curved = 4.0 * length * driven.limit * (driven.most / length).tanh();
        let wanted = 4.0 * driven.most * driven.limit - curved;
        println!("{}: {taken:.6e} J, wanted {wanted:.6e} J", driven.name);
        assert!((taken - wanted).abs() < 2e-4 * wanted, "{}: {taken}, {wanted}", driven.name);
    }
}

/// A force of friction is one on places: what turns about a place that is held loses nothing to it. Vertices move by 1e-7 of their way.
#[test]
fn friction_of_an_attachment_that_is_a_force_leaves_turns_alone() {
    for multipliers in [false, true] {
        let driven = turning(multipliers);
        let taken = taken_by_friction(&driven, &[("friction-limit", 1.0)]);
        let elastic = driven.stiffness * driven.most * driven.most;
        println!("{taken:.6e} J of {elastic:.6e} J");
        assert!(taken.abs() < 1e-6 * elastic, "{taken} J of {elastic} J");
    }
}

/// With a relaxation time τ the force is S(C + τĊ): at a steady rate a turn takes 4a · SτĊ. Where an edge turns, the row along it has c²/(1 − c²) of
/// the square of that rate besides: a²/3 in the mean, 3e-5.
#[test]
fn damping_of_every_constraint_takes_what_rayleigh_says() {
    let time = 0.02;
    for driven in all() {
        let with = forces(&driven, &[("damping-time", time)]);
        let without = forces(&driven, &[]);
        let rate = driven.most / (QUARTER as f64 * STEP);
        let taken: f64 = (11 * QUARTER..15 * QUARTER)
            .map(|n| (with[n] - without[n]) * driven.most * (path(n + 1) - path(n)))
            .sum();
        let wanted = 4.0 * driven.most * driven.stiffness * time * rate;
        println!("{}: {taken:.6e} J, wanted {wanted:.6e} J", driven.name);
        assert!((taken - wanted).abs() < 1e-4 * wanted, "{}: {taken}, {wanted}", driven.name);
    }
}
