//! Parameters that make no shape are refused by name.

use undine_core::glam::{DQuat, DVec3};
use undine_geometry::{GeometryError, Pose, Result, Shape};

#[test]
fn lengths_that_are_none_are_refused() {
    let cuboid = || Shape::cuboid(DVec3::ONE).unwrap();
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e-40, 1e40] {
        let all: Vec<Result<Shape>> = vec![
            Shape::cuboid(DVec3::new(1.0, bad, 1.0)),
            Shape::sphere(bad),
            Shape::cylinder(bad, 1.0),
            Shape::cylinder(1.0, bad),
            Shape::capsule(bad, 1.0),
            Shape::cone(bad, 1.0),
            Shape::cone(1.0, bad),
            Shape::torus(bad, 1.0),
            Shape::torus(1.0, bad),
            cuboid().grown(bad),
            cuboid().rounded(bad),
            cuboid().hollow(bad),
            cuboid().scaled(bad),
        ];
        for (number, shape) in all.into_iter().enumerate() {
            let error = shape.expect_err("a bad length");
            assert!(matches!(error, GeometryError::BadParameter { .. }), "{number}: {error}");
        }
        if bad != 0.0 {
            assert!(
                Shape::capsule(1.0, bad).is_err() && Shape::truncated_cone(1.0, bad, 1.0).is_err()
            );
            assert!(Shape::union(vec![cuboid()], bad).is_err());
        }
        if !bad.is_finite() {
            let pose = Pose::at(DVec3::new(0.0, bad, 0.0));
            assert!(cuboid().moved(&pose).is_err() && Shape::half_space(DVec3::Z, bad).is_err());
        }
    }
    let error = Shape::sphere(-1.0).unwrap_err().to_string();
    assert_eq!(error, "the radius of a sphere is -1, but must be between 1e-30 and 1e30");
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let cuboid = || Shape::cuboid(DVec3::ONE).unwrap();
    let ball = || Shape::sphere(1.2).unwrap();
    assert!(Shape::torus(1.0, 1.5).is_err());
    assert!(Shape::truncated_cone(0.0, 0.0, 1.0).is_err());
    assert!(
        Shape::half_space(DVec3::ZERO, 0.0).is_err() && Shape::half_space(DVec3::NAN, 0.0).is_err()
    );
    assert!(matches!(Shape::union(vec![], 0.0).unwrap_err(), GeometryError::Empty { .. }));
    let unturned = Pose { rotation: DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0), ..Pose::IDENTITY };
    assert!(cuboid().moved(&unturned).is_err());
    assert!(cuboid().rounded(1.0).is_err() && cuboid().hollow(2.0).is_err());
    assert!(Shape::cone(0.5, 1.5).unwrap().rounded(0.37).is_err());
    let bitten = cuboid().minus(ball(), 0.0).unwrap();
    assert!(matches!(bitten.rounded(0.1).unwrap_err(), GeometryError::NotPossible { .. }));
}

#[test]
fn a_tree_too_deep_is_refused_before_the_stack_ends() {
    let mut shape = Shape::sphere(1.0).unwrap();
    let error = loop {
        match Shape::union(vec![shape, Shape::sphere(0.5).unwrap()], 0.1) {
            Ok(deeper) => shape = deeper,
            Err(error) => break error,
        }
    };
    assert!(error.to_string().contains("at most 128"), "{error}");
    // Moves and scales of one kind become one, and cost no depth.
    let mut shape = Shape::sphere(1.0).unwrap();
    for _ in 0..1000 {
        shape = shape.moved(&Pose::at(DVec3::X)).unwrap();
    }
}
