//! Forces on embedded particles of every shape, and nodes of every kind, against closed forms.

use undine_core::glam::{DMat3, DVec3};
use undine_sim::constraint::Placed;
use undine_sim::newton::rotation::{cross, exp};
use undine_sim::newton::{
    Embedded, ForceTerm, Inertia, Iterate, Kind, NewtonError, Pose, Shape, System, SystemSettings,
    Unknowns, Weights,
};

const DT: f64 = 0.05;

fn solve(unknowns: &Unknowns, inertia: &[Inertia<'_>], forces: &[ForceTerm<'_>]) -> Vec<f64> {
    try_solve(unknowns, inertia, forces).unwrap()
}

fn try_solve(
    unknowns: &Unknowns,
    inertia: &[Inertia<'_>],
    forces: &[ForceTerm<'_>],
) -> Result<Vec<f64>, NewtonError> {
    let mut system = System::new(unknowns.clone())?;
    system.connect(&[], forces)?;
    let at = Iterate { dt: DT, inertia, terms: &[], forces };
    let mut du = Vec::new();
    system.solve(&at, &SystemSettings::default(), &mut du)?;
    Ok(du)
}

/// A Force on the middle of two equal points, f − K·δx: both move by d with m/Δt² d = ½ (f − K d).
#[test]
fn a_force_on_a_weighted_particle_moves_its_points_together() {
    let mut unknowns = Unknowns::new();
    let span = unknowns.add("points", Kind::Points, 3);
    let mut weights = Weights::new();
    weights.add([(0, 0.5, DVec3::X), (2, 0.5, -DVec3::X)]);
    let shape = Shape::Weights(weights);
    let placed = [Placed::at(DVec3::Y)];
    let embedded = Embedded::new(&unknowns, span, &shape, &[], &placed).unwrap();
    let (m, f, k) = (0.4, DVec3::new(1.0, -2.0, 0.5), 30.0);
    let stiffness = [DMat3::from_diagonal(DVec3::splat(k))];
    for stiff in [None, Some(&stiffness[..])] {
        let force = ForceTerm { name: "push", embedded, force: &[f], stiffness: stiff };
        let inertia = [Inertia::Points { mass: &[m; 3], displacement: &[DVec3::ZERO; 3] }];
        let du = solve(&unknowns, &inertia, &[force]);
        let k = if stiff.is_some() { k } else { 0.0 };
        let wanted = f * 0.5 / (m / (DT * DT) + 0.5 * k);
        for point in [0, 2] {
            let found = DVec3::from_slice(&du[3 * point..]);
            assert!((found - wanted).length() < 1e-15, "{found} {wanted}");
        }
        assert_eq!(du[3..6], [0.0; 3]);
    }
}

/// A Force off the centre of a body: (M/Δt² + Tᵀ K T) δu = Tᵀ f with T = (1, −[r]×).
#[test]
fn a_force_off_the_centre_turns_a_body() {
    let mut unknowns = Unknowns::new();
    let span = unknowns.add("bodies", Kind::Bodies, 2);
    let rotation = exp(DVec3::new(0.4, -0.2, 0.9));
    let pose = |x: f64| Pose { centre: DVec3::new(x, 1.0, 0.0), rotation };
    let poses = [pose(0.0), pose(5.0)];
    let rest = Placed::at(DVec3::new(0.3, -0.1, 0.2));
    let shape = Shape::Rigid { body: vec![1, 1], rest: vec![rest, Placed::at(DVec3::ZERO)] };
    let mut placed = [Placed::at(DVec3::ZERO); 2];
    shape.place(&[], &poses, &mut placed).unwrap();
    let embedded = Embedded::new(&unknowns, span, &shape, &poses, &placed).unwrap();
    let body = DMat3::from_diagonal(DVec3::new(0.1, 0.2, 0.25));
    let tensor = rotation * body * rotation.transpose();
    let (m, f) = (2.0, DVec3::new(3.0, 1.0, -2.0));
    // Not symmetric: only its symmetric part, which is positive definite, may enter.
    let k = DMat3::from_diagonal(DVec3::new(40.0, 10.0, 20.0));
    let skewed = k + cross(DVec3::new(1.0, 2.0, 3.0));
    let stiffness = [skewed, DMat3::ZERO];
    let force =
        ForceTerm { name: "push", embedded, force: &[f, DVec3::ZERO], stiffness: Some(&stiffness) };
    let inertia = [Inertia::Bodies {
        mass: &[m; 2],
        displacement: &[DVec3::ZERO; 2],
        tensor: &[tensor; 2],
        turn: &[DVec3::ZERO; 2],
    }];
    let du = solve(&unknowns, &inertia, &[force]);
    assert_eq!(du[..6], [0.0; 6]);
    let (moved, turned) = (DVec3::from_slice(&du[6..9]), DVec3::from_slice(&du[9..12]));
    let lever = rotation * rest.x;
    let left = f - k * (moved + turned.cross(lever));
    assert!((moved * (m / (DT * DT)) - left).length() < 1e-12);
    assert!((tensor * turned / (DT * DT) - lever.cross(left)).length() < 1e-12);
    assert!(turned.length() > 1e-3);
}

/// A stiffness that would push instead of pull is left out of the matrix.
#[test]
fn a_force_that_grows_with_distance_is_taken_as_explicit() {
    let mut unknowns = Unknowns::new();
    let span = unknowns.add("points", Kind::Points, 1);
    let placed = [Placed::at(DVec3::ZERO)];
    let embedded = Embedded::new(&unknowns, span, &Shape::Identity, &[], &placed).unwrap();
    let stiffness = [DMat3::from_diagonal(DVec3::new(-1e9, 50.0, 0.0))];
    let force =
        ForceTerm { name: "push", embedded, force: &[DVec3::ONE], stiffness: Some(&stiffness) };
    let inertia = [Inertia::Points { mass: &[1.0], displacement: &[DVec3::ZERO] }];
    let du = solve(&unknowns, &inertia, &[force]);
    let inertia = 1.0 / (DT * DT);
    let wanted = [1.0 / inertia, 1.0 / (inertia + 50.0), 1.0 / inertia];
    assert!(du.iter().zip(wanted).all(|(du, wanted)| (du - wanted).abs() < 1e-12), "{du:?}");
}

/// Scalars between points and bodies, displaced and tied to nothing: everything goes back to its target.
#[test]
fn inertia_alone_takes_nodes_of_every_kind_to_their_targets() {
    let mut unknowns = Unknowns::new();
    unknowns.add("points", Kind::Points, 2);
    unknowns.add("twists", Kind::Scalars, 3);
    unknowns.add("nothing", Kind::Points, 0);
    unknowns.add("bodies", Kind::Bodies, 1);
    let turn = DVec3::new(0.3, -0.2, 0.1);
    let displaced = [DVec3::new(1.0, 2.0, 3.0), DVec3::X];
    let inertia = [
        Inertia::Points { mass: &[1.0, 2.0], displacement: &displaced },
        Inertia::Scalars { mass: &[0.1; 3], displacement: &[0.5, -0.25, 0.0], reach: 0.01 },
        Inertia::Points { mass: &[], displacement: &[] },
        Inertia::Bodies {
            mass: &[1.0],
            displacement: &[DVec3::Z],
            tensor: &[DMat3::from_diagonal(DVec3::new(0.1, 0.3, 0.2))],
            turn: &[turn],
        },
    ];
    let du = solve(&unknowns, &inertia, &[]);
    let wanted = [-1.0, -2.0, -3.0, -1.0, 0.0, 0.0, -0.5, 0.25, 0.0, 0.0, 0.0, -1.0];
    assert!(du.iter().zip(wanted).all(|(du, wanted)| (du - wanted).abs() < 1e-14), "{du:?}");
    // J·(−θ) = −θ: turning back about the same axis.
    assert!((DVec3::from_slice(&du[12..]) + turn).length() < 1e-14);
}

#[test]
fn a_force_that_is_no_number_is_named_and_so_is_one_on_a_strange_span() {
    let mut unknowns = Unknowns::new();
    let span = unknowns.add("points", Kind::Points, 2);
    let placed = [Placed::at(DVec3::ZERO); 2];
    let embedded = Embedded::new(&unknowns, span, &Shape::Identity, &[], &placed).unwrap();
    let force = [DVec3::ZERO, DVec3::new(0.0, f64::NAN, 0.0)];
    let term = ForceTerm { name: "wind", embedded, force: &force, stiffness: None };
    let inertia = [Inertia::Points { mass: &[1.0; 2], displacement: &[DVec3::ZERO; 2] }];
    let error = try_solve(&unknowns, &inertia, &[term]).unwrap_err();
    assert_eq!(error.to_string(), "the force on particle 1 of wind is NaN, but must be finite");

    let mut other = Unknowns::new();
    other.add("points", Kind::Points, 1);
    let inertia = [Inertia::Points { mass: &[1.0], displacement: &[DVec3::ZERO] }];
    let error = try_solve(&other, &inertia, &[term]).unwrap_err();
    assert!(matches!(error, NewtonError::NotConnected { .. }), "{error}");
    let shape = Shape::Rigid { body: vec![0; 2], rest: placed.to_vec() };
    assert!(Embedded::new(&unknowns, span, &shape, &[], &placed).is_err());
    assert!(Embedded::new(&unknowns, 7, &Shape::Identity, &[], &placed).is_err());
    let mut weights = Weights::new();
    weights.add([(2, 1.0, DVec3::ZERO)]);
    let shape = Shape::Weights(weights);
    let error = Embedded::new(&unknowns, span, &shape, &[], &placed[..1]);
    assert!(matches!(error, Err(NewtonError::OutOfRange { found: 2, wanted: 2, .. })));
}
