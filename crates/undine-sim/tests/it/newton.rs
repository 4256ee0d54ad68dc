//! The Newton loop on points and bodies.

use crate::springs::{Distance, Spring};
use undine_core::glam::DVec3;
use undine_sim::constraint::Placed;
use undine_sim::newton::system::Iterate;
use undine_sim::newton::unknowns::Kind;
use undine_sim::newton::{
    ConstraintTerm, Damping, Embedded, Inertia, Mode, Shape, System, SystemSettings, Unknowns,
};

/// A stretched spring between two points: one step of linearly implicit Euler along it has the closed form
/// δu = −C k/(k + ½·m/Δt²)/2 each, if both points start on their targets.
#[test]
fn a_spring_between_points_takes_the_step_of_implicit_euler() {
    let (m, k, dt) = (2.0, 50.0, 0.1);
    let mut unknowns = Unknowns::new();
    let span = unknowns.add("points", Kind::Points, 2);
    let mut system = System::new(unknowns.clone()).unwrap();
    let placed = [Placed::at(DVec3::ZERO), Placed::at(DVec3::new(1.5, 0.0, 0.0))];
    let embedded = Embedded::new(&unknowns, span, &Shape::Identity, &[], &placed).unwrap();
    let spring = [Spring { length: 1.0, stiffness: k }];
    let term = ConstraintTerm {
        name: "spring",
        constraint: &Distance,
        elements: &spring,
        stencil: &[[0, 1]],
        embedded: [embedded; 2],
        mode: Mode::Stiffness,
        damping: Damping::NONE,
        multipliers: &[],
    };
    system.connect(&[&term], &[]).unwrap();
    let (mass, displacement) = ([m; 2], [DVec3::ZERO; 2]);
    let inertia = [Inertia::Points { mass: &mass, displacement: &displacement }];
    let at = Iterate { dt, inertia: &inertia, terms: &[&term], forces: &[] };
    let mut du = Vec::new();
    let solved = system.solve(&at, &SystemSettings::default(), &mut du).unwrap();
    let wanted = 0.5 * k / (m / (dt * dt) + 2.0 * k);
    assert!((du[0] - wanted).abs() < 1e-15 && (du[3] + wanted).abs() < 1e-15, "{du:?}");
    assert!(du[1..3].iter().chain(&du[4..]).all(|&u| u == 0.0));
    assert!(solved.linearised.slope < 0.0);
}
