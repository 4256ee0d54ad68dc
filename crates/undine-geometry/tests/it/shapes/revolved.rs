//! Revolved profiles against a polygon looked at edge by edge, and against the primitives that they can be.

use super::{checked, nasty_places, place};
use undine_core::glam::{DVec2, DVec3};
use undine_geometry::random::unit;
use undine_geometry::{GeometryError, Shape, Solid};

/// The signed distance to a polygon by looking at all edges, those on the axis left out; the sign by crossings of a ray.
fn brute(points: &[DVec2], at: DVec3) -> f64 {
    let place = DVec2::new(at.x.hypot(at.y), at.z);
    let (mut least, mut inside) = (f64::MAX, false);
    for (i, &a) in points.iter().enumerate() {
        let b = points[(i + 1) % points.len()];
        if (a.y > place.y) != (b.y > place.y) {
            let crossing = a.x + (place.y - a.y) / (b.y - a.y) * (b.x - a.x);
            inside ^= place.x < crossing;
        }
        if a.x > 0.0 || b.x > 0.0 {
            let t = ((place - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
            least = least.min(place.distance(a.lerp(b, t)));
        }
    }
    if inside { -least } else { least }
}

fn star(case: u64) -> Vec<DVec2> {
    // A star about a point: simple, with spikes and dents, on the axis or off it.
    let count = 3 + case % 40;
    let centre = if case.is_multiple_of(2) { 1.2 } else { 0.0 };
    let along = if centre == 0.0 { std::f64::consts::PI } else { std::f64::consts::TAU };
    let ends = if centre == 0.0 { count - 1 } else { count };
    (0..count)
        .map(|i| {
            let angle = along * i as f64 / ends as f64 - std::f64::consts::FRAC_PI_2;
            let r = 0.15 + 0.8 * unit(case, i);
            let x = if centre == 0.0 && (i == 0 || i == ends) { 0.0 } else { r * angle.cos() };
            DVec2::new(centre + x, r * angle.sin())
        })
        .collect()
}

#[test]
fn revolved_stars_are_exact_whichever_way_they_turn() {
    for case in 0..300 {
        let mut points = star(case);
        if case.is_multiple_of(3) {
            points.reverse();
        }
        let shape = Shape::revolved(&points).unwrap();
        let mut places: Vec<DVec3> = (0..200).map(|i| place(case, i, 2.0)).collect();
        places.extend(points.iter().map(|point| DVec3::new(point.x, 0.0, point.y)));
        places.extend((0..20).map(|i| DVec3::Z * (0.1 * f64::from(i) - 1.0)));
        for at in places {
            let found = checked(&shape, at);
            let wanted = brute(&points, at);
            assert!(
                (found.distance - wanted).abs() < 1e-12,
                "{case}: {found:?} {wanted} at {at:?}"
            );
        }
    }
}

#[test]
fn profiles_of_primitives_answer_as_they_do() {
    let v = DVec2::new;
    let cases = [
        (
            Shape::revolved(&[v(0.0, -0.75), v(0.5, -0.75), v(0.5, 0.75), v(0.0, 0.75)]).unwrap(),
            Shape::cylinder(0.5, 1.5).unwrap(),
        ),
        (
            Shape::revolved(&[v(0.0, 0.75), v(0.0, -0.75), v(0.5, -0.75)]).unwrap(),
            Shape::cone(0.5, 1.5).unwrap(),
        ),
        (
            Shape::revolved(&[v(1.0, 0.5), v(0.0, 0.5), v(0.0, -0.5)]).unwrap(),
            Shape::truncated_cone(0.0, 1.0, 1.0).unwrap(),
        ),
    ];
    for (a, b) in cases {
        assert!(a.is_convex() && a.is_exact());
        for at in (0..2000).map(|i| place(3, i, 1.5)).chain(nasty_places()) {
            let (one, other) = (checked(&a, at), checked(&b, at));
            let rounding = 1e-12 * (1.0 + at.length());
            assert!((one.distance - other.distance).abs() < rounding, "{at:?} {one:?} {other:?}");
        }
    }
    let ring = Shape::revolved(&[v(0.5, 0.0), v(1.0, 0.0), v(1.0, 1.0)]).unwrap();
    let dish = Shape::revolved(&[v(0.0, 0.0), v(1.0, 0.0), v(1.0, 1.0), v(0.0, 0.5)]).unwrap();
    assert!(!ring.is_convex() && !dish.is_convex());
}

#[test]
fn a_fine_profile_answers_like_the_torus_that_it_approaches() {
    let points: Vec<DVec2> = (0..16_000)
        .map(|i| DVec2::new(1.0, 0.0) + DVec2::from_angle(f64::from(i) * 1e-4 * 3.926_990_8) * 0.25)
        .collect();
    let (fine, torus) = (Shape::revolved(&points).unwrap(), Shape::torus(1.0, 0.25).unwrap());
    for i in 0..5000 {
        let at = place(6, i, 1.5);
        assert!((checked(&fine, at).distance - torus.distance(at)).abs() < 1e-6);
    }
}

#[test]
fn lines_that_enclose_no_solid_are_refused() {
    let v = DVec2::new;
    let refused = |points: &[DVec2]| Shape::revolved(points).unwrap_err();
    assert!(matches!(refused(&[]), GeometryError::Empty { .. }));
    assert!(matches!(
        refused(&[v(1.0, 0.0), v(1.0, 0.0), v(2.0, 0.0)]),
        GeometryError::Empty { .. }
    ));
    assert!(matches!(
        refused(&[v(1.0, 0.0), v(2.0, 0.0), v(3.0, 0.0)]),
        GeometryError::Flat { .. }
    ));
    let negative = refused(&[v(1.0, 0.0), v(2.0, 0.0), v(-0.1, 3.0)]);
    assert!(negative.to_string().starts_with("the r of a profile is -0.1"), "{negative}");
    let nan = refused(&[v(1.0, 0.0), v(f64::NAN, 0.0), v(1.0, 3.0)]);
    assert!(matches!(nan, GeometryError::VertexNotFinite { vertex: 1, .. }));
    let bow = [v(0.0, 0.0), v(1.0, 1.0), v(1.0, 0.0), v(0.2, 1.3)];
    assert!(matches!(refused(&bow), GeometryError::MeetsItself { first: 0, second: 2, .. }));
    let spike = [v(0.5, 0.0), v(1.0, 0.0), v(1.0, 1.0), v(1.0, 0.5), v(0.5, 0.5)];
    assert!(matches!(refused(&spike), GeometryError::MeetsItself { .. }));
    let touching = [v(0.5, 0.0), v(1.0, 0.0), v(1.0, 1.0), v(0.75, 0.0), v(0.5, 1.0)];
    assert!(matches!(refused(&touching), GeometryError::MeetsItself { .. }));
    assert!(matches!(refused(&vec![v(1.0, 0.0); 20_000]), GeometryError::TooMany { .. }));
}
