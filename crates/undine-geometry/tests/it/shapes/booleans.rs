//! Booleans, shells and blends: exact where they say so, a lower bound elsewhere, and never with the wrong sign.

use super::{checked, direction, nasty_places, place, some_pose};
use undine_core::glam::DVec3;
use undine_geometry::{Nearest, Pose, Shape, Solid};

/// Points of the surface of a shape, by its sign alone.
fn surface(shape: &Shape, count: u64) -> Vec<DVec3> {
    (0..count)
        .filter_map(|i| {
            // A ray from a random place in a random direction, until it crosses the surface; then halved.
            let (from, along) = (place(11, i, 1.6), direction(12, i));
            let inside = |t: f64| shape.distance(from + along * t) < 0.0;
            let crossing =
                (0..40).map(|k| f64::from(k) * 0.05).find(|&t| inside(t) != inside(t + 0.05))?;
            let (mut low, mut high) = (crossing, crossing + 0.05);
            for _ in 0..45 {
                let middle = 0.5 * (low + high);
                if inside(middle) == inside(low) { low = middle } else { high = middle }
            }
            Some(from + along * low)
        })
        .collect()
}

fn cuboid() -> Shape {
    Shape::cuboid(DVec3::new(0.5, 0.75, 1.0)).unwrap()
}

fn ball() -> Shape {
    Shape::sphere(0.6).unwrap().moved(&Pose::at(DVec3::new(0.5, 0.2, 0.3))).unwrap()
}

fn drill() -> Shape {
    Shape::cylinder(0.3, 3.0).unwrap().moved(&some_pose()).unwrap()
}

/// The shapes under test, and whether a place is inside of each by logic alone.
type Logic = fn(bool, bool, bool) -> bool;

fn sharp() -> Vec<(Shape, Logic)> {
    let (a, b, c) = (cuboid(), ball(), drill());
    vec![
        (Shape::union(vec![a.clone(), b.clone(), c.clone()], 0.0).unwrap(), |a, b, c| a || b || c),
        (Shape::intersection(vec![a.clone(), b.clone()], 0.0).unwrap(), |a, b, _| a && b),
        (a.clone().minus(b.clone(), 0.0).unwrap(), |a, b, _| a && !b),
        (a.clone().minus(b.clone(), 0.0).unwrap().minus(c.clone(), 0.0).unwrap(), |a, b, c| {
            a && !b && !c
        }),
        (
            Shape::union(vec![b.minus(c.clone(), 0.0).unwrap(), c], 0.0)
                .unwrap()
                .inverted()
                .unwrap(),
            |_, b, c| !(b || c),
        ),
    ]
}

#[test]
fn booleans_have_the_sign_of_their_logic() {
    let parts = [cuboid(), ball(), drill()];
    for (shape, logic) in sharp() {
        for at in (0..5000).map(|i| place(21, i, 1.6)).chain(nasty_places()) {
            let inside = parts.each_ref().map(|part| part.distance(at) < 0.0);
            let near = parts.iter().any(|part| part.distance(at).abs() < 1e-9);
            let found = checked(&shape, at);
            assert!(near || (found.distance < 0.0) == logic(inside[0], inside[1], inside[2]));
        }
    }
}

/// No point of the surface is nearer than the distance says; where it is exact, one is about as near.
fn check_bound(shape: &Shape, places: u64) {
    let surface = surface(shape, 8_000);
    assert!(surface.len() > 300, "{} of {shape:?}", surface.len());
    let exact = shape.exactness();
    for i in 0..places {
        let at = place(22, i, 1.3);
        let found = checked(shape, at);
        let distance = found.distance;
        let brute =
            surface.iter().fold(f64::MAX, |least, p| least.min(p.distance_squared(at))).sqrt();
        assert!(distance.abs() <= brute + 1e-9, "{distance} {brute} at {at:?} of {shape:?}");
        if if distance < 0.0 { exact.inside } else { exact.outside } {
            // The point found lies on the surface: no true distance is greater.
            assert!(shape.distance(found.point).abs() < 1e-11, "{found:?} at {at:?} of {shape:?}");
            assert!(brute <= distance.abs() + 0.25, "{distance} {brute} at {at:?} of {shape:?}");
        }
    }
}

#[test]
fn booleans_never_claim_more_than_the_true_distance_and_are_exact_where_they_say() {
    for (shape, _) in sharp() {
        check_bound(&shape, 500);
    }
    let exact = |shape: &Shape| (shape.exactness().outside, shape.exactness().inside);
    let sharp: Vec<_> = sharp().iter().map(|(shape, _)| exact(shape)).collect();
    assert_eq!(sharp[..4], [(true, false), (false, true), (false, true), (false, true)]);
    let far = ball().moved(&Pose::at(DVec3::X * 9.0)).unwrap();
    assert!(Shape::union(vec![cuboid(), far], 0.0).unwrap().is_exact());
}

#[test]
fn shells_are_exact_where_their_inner_surface_has_a_closed_form() {
    let cone = Shape::cone(0.9, 1.5).unwrap();
    let hull: Vec<DVec3> = (0..30).map(|i| place(4, i, 1.0)).collect();
    for shape in [
        cuboid(),
        cone.clone(),
        Shape::hull(&hull).unwrap(),
        Shape::torus(0.8, 0.4).unwrap(),
        Shape::capsule(0.5, 1.0).unwrap().moved(&some_pose()).unwrap(),
        cuboid().rounded(0.2).unwrap(),
        Shape::cylinder(0.5, 1.0).unwrap().scaled(1.5).unwrap(),
    ] {
        let hollow = shape.clone().hollow(0.1).unwrap();
        assert!(hollow.is_exact(), "{hollow:?}");
        check_bound(&hollow, 200);
        for i in 0..1000 {
            let at = place(41, i, 1.2);
            let (solid, shell) = (shape.distance(at), hollow.distance(at));
            let rounding = solid.abs() < 1e-9 || (solid + 0.1).abs() < 1e-9;
            assert!(rounding || (shell < 0.0) == (solid < 0.0 && solid > -0.1), "{shape:?} {at:?}");
        }
    }
    // Of a boolean, the inner surface is that of the distance.
    let bitten = cone.minus(ball(), 0.0).unwrap().hollow(0.05).unwrap();
    assert!(!bitten.is_exact());
    check_bound(&bitten, 200);
    // Shells of shells, and what is left when a wall is all there is.
    assert!(cuboid().hollow(0.5).is_err() && cuboid().hollow(0.1).unwrap().hollow(0.01).is_ok());
}

#[test]
fn blends_change_no_faster_than_one_moves_and_stay_within_a_quarter_of_their_width() {
    let (a, b) = (cuboid(), ball());
    for width in [0.01, 0.3, 2.0] {
        let pair = vec![a.clone(), b.clone()];
        let union = Shape::union(pair.clone(), width).unwrap();
        let intersection = Shape::intersection(pair, width).unwrap();
        let minus = a.clone().minus(b.clone(), width).unwrap();
        let many = vec![a.clone(), b.clone(), drill(), Shape::sphere(0.4).unwrap()];
        let many = Shape::union(many, width).unwrap();
        for shape in [&union, &intersection, &minus, &many] {
            assert!(!shape.exactness().outside && !shape.exactness().inside);
            for i in 0..4000 {
                let (x, step) = (place(51, i, 1.6), place(52, i, 10_f64.powi(-(i as i32 % 7))));
                let change = (shape.distance(x + step) - shape.distance(x)).abs();
                assert!(change <= step.length() * (1.0 + 1e-9) + 1e-13);
                checked(shape, x);
            }
        }
        for i in 0..4000 {
            let at = place(53, i, 1.6);
            let (da, db) = (a.distance(at), b.distance(at));
            let near = |found: f64, sharp: f64| (found - sharp).abs() <= 0.25 * width + 1e-12;
            let far = (da - db).abs() >= width;
            let found = union.distance(at);
            assert!(
                found <= da.min(db) && near(found, da.min(db)) && (!far || found == da.min(db))
            );
            let found = intersection.distance(at);
            assert!(found >= da.max(db) && near(found, da.max(db)));
            let found = minus.distance(at);
            assert!(found >= da.max(-db) && near(found, da.max(-db)));
        }
    }
    let blended = Shape::union(vec![a.clone(), b.clone()], 0.3).unwrap();
    check_bound(&blended, 200);
}

#[test]
fn every_shape_changes_no_faster_than_one_moves() {
    let mut shapes: Vec<Shape> = sharp().into_iter().map(|(shape, _)| shape).collect();
    let bitten = || cuboid().minus(ball(), 0.0).unwrap();
    shapes.extend([
        bitten().grown(0.2).unwrap(),
        bitten().hollow(0.1).unwrap(),
        Shape::torus(0.5, 0.4).unwrap().grown(0.3).unwrap(),
        bitten().scaled(0.3).unwrap().moved(&some_pose()).unwrap().inverted().unwrap(),
        bitten().inverted().unwrap().inverted().unwrap(),
    ]);
    for shape in shapes {
        for i in 0..3000 {
            let (x, step) = (place(61, i, 1.6), place(62, i, 10_f64.powi(-(i as i32 % 7))));
            let change = (shape.distance(x + step) - shape.distance(x)).abs();
            assert!(change <= step.length() * (1.0 + 1e-9) + 1e-13, "{shape:?}");
            checked(&shape, x);
        }
    }
}

#[test]
fn the_bounds_of_a_grown_wedge_reach_as_far_as_its_lower_bound_of_a_distance() {
    // Two slanted half spaces and a box meet at a sharp edge: the grown wedge reaches far beyond it.
    let wedge = Shape::intersection(
        vec![
            Shape::half_space(DVec3::new(0.1, 1.0, 0.0), 0.0).unwrap(),
            Shape::half_space(DVec3::new(0.1, -1.0, 0.0), 0.0).unwrap(),
            Shape::cuboid(DVec3::splat(2.0)).unwrap(),
        ],
        0.0,
    );
    let grown = wedge.unwrap().grown(0.1).unwrap();
    for i in 0..5000 {
        checked(&grown, place(70, i, 2.5));
    }
}

#[test]
fn steps_of_a_lower_bound_lead_onto_the_surface() {
    let bitten = cuboid().minus(ball(), 0.0).unwrap();
    let blended = Shape::union(vec![cuboid(), ball()], 0.3).unwrap();
    for shape in [cuboid(), bitten, blended] {
        for i in 0..1000 {
            let at = place(71, i, 1.5);
            let found = shape.onto_surface(at, 1e-7).unwrap();
            assert!(shape.distance(found.point).abs() <= 1e-7);
            assert!((found.point.distance(at) - found.distance.abs()).abs() < 1e-12);
            let Nearest { distance, .. } = shape.nearest(at);
            assert!(found.distance.abs() >= distance.abs() - 2e-7);
        }
    }
    let far = ball().moved(&Pose::at(DVec3::X * 9.0)).unwrap();
    let nothing = Shape::intersection(vec![cuboid(), far], 0.0).unwrap();
    assert!(nothing.onto_surface(DVec3::ZERO, 1e-7).is_none() && nothing.bounds().is_some());
}
