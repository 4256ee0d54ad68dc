//! Convex shapes: of a convex solid with the support function h, the signed distance is the greatest of n · x − h(n) over
//! all directions n, inside and outside. The normal found must reach it, and no other direction may exceed it.

use super::{checked, direction, nasty_places, place, some_pose};
use undine_core::glam::DVec3;
use undine_geometry::{Shape, Solid};

type Support = Box<dyn Fn(DVec3) -> f64>;

fn flat(n: DVec3) -> f64 {
    n.x.hypot(n.y)
}

/// How far a truncated cone reaches in a direction.
fn cone_support(bottom: f64, top: f64, height: f64) -> Support {
    Box::new(move |n| {
        let low = bottom * flat(n) - 0.5 * height * n.z;
        low.max(top * flat(n) + 0.5 * height * n.z)
    })
}

fn hull_points(count: u64) -> Vec<DVec3> {
    (0..count).map(|i| place(91, i, 0.8)).collect()
}

fn hull_support(points: Vec<DVec3>) -> Support {
    Box::new(move |n| points.iter().fold(f64::MIN, |most, point| most.max(point.dot(n))))
}

fn zoo() -> Vec<(Shape, Support)> {
    let half = DVec3::new(0.5, 0.75, 1.0);
    let cuboid = || Shape::cuboid(half).unwrap();
    let cuboid_support = move |n: DVec3| n.abs().dot(half);
    let mut zoo: Vec<(Shape, Support)> = vec![
        (cuboid(), Box::new(cuboid_support)),
        (Shape::sphere(0.75).unwrap(), Box::new(|_| 0.75)),
        (Shape::cylinder(0.5, 1.5).unwrap(), cone_support(0.5, 0.5, 1.5)),
        (Shape::cylinder(1e-3, 1.5).unwrap(), cone_support(1e-3, 1e-3, 1.5)),
        (Shape::cylinder(1.5, 1e-3).unwrap(), cone_support(1.5, 1.5, 1e-3)),
        (Shape::capsule(0.25, 1.5).unwrap(), Box::new(|n| 0.25 + 0.75 * n.z.abs())),
        (Shape::capsule(0.25, 0.0).unwrap(), Box::new(|_| 0.25)),
        (Shape::cone(0.5, 1.5).unwrap(), cone_support(0.5, 0.0, 1.5)),
        (Shape::cone(1.5, 0.2).unwrap(), cone_support(1.5, 0.0, 0.2)),
        (Shape::truncated_cone(0.0, 1.0, 1.0).unwrap(), cone_support(0.0, 1.0, 1.0)),
        (Shape::truncated_cone(0.25, 0.75, 1.5).unwrap(), cone_support(0.25, 0.75, 1.5)),
        (Shape::hull(&hull_points(5)).unwrap(), hull_support(hull_points(5))),
        (Shape::hull(&hull_points(300)).unwrap(), hull_support(hull_points(300))),
        (cuboid().grown(0.25).unwrap(), Box::new(move |n| cuboid_support(n) + 0.25)),
        (
            Shape::cone(0.5, 1.5).unwrap().grown(0.25).unwrap().grown(0.25).unwrap(),
            Box::new(|n| cone_support(0.5, 0.0, 1.5)(n) + 0.5),
        ),
        (
            Shape::hull(&hull_points(40)).unwrap().grown(0.2).unwrap(),
            Box::new(|n| hull_support(hull_points(40))(n) + 0.2),
        ),
        (cuboid().rounded(0.2).unwrap(), Box::new(move |n| n.abs().dot(half - 0.2) + 0.2)),
        (
            Shape::cylinder(0.5, 1.5).unwrap().rounded(0.2).unwrap(),
            Box::new(|n| cone_support(0.3, 0.3, 1.1)(n) + 0.2),
        ),
        (Shape::sphere(0.75).unwrap().rounded(0.5).unwrap(), Box::new(|_| 0.75)),
    ];
    // A cone's inside, 0.1 deep, is a smaller cone with the same slope: from the inscribed circle of its section, of radius ρ, all
    // lengths shrink by 1 − 0.1 / ρ about its middle, which stands ρ above the base.
    let (radius, height) = (0.5_f64, 1.5_f64);
    let rho = radius * height / (radius + radius.hypot(height));
    let shrink = 1.0 - 0.1 / rho;
    let middle = rho - 0.5 * height;
    zoo.push((
        Shape::cone(radius, height).unwrap().rounded(0.1).unwrap(),
        Box::new(move |n| {
            let low = radius * flat(n) + (-0.5 * height - middle) * n.z;
            let apex = (0.5 * height - middle) * n.z;
            low.max(apex) * shrink + middle * n.z + 0.1
        }),
    ));
    // All of them, turned, moved and scaled.
    let pose = some_pose();
    let moved = zoo.into_iter().flat_map(|(shape, support)| {
        let support = std::rc::Rc::new(support);
        let (plain, turned) = (support.clone(), support);
        let copy = shape.clone().scaled(0.7).unwrap().moved(&pose).unwrap();
        let other: Support =
            Box::new(move |n| 0.7 * turned(pose.rotation.inverse() * n) + n.dot(pose.translation));
        [(shape, Box::new(move |n| plain(n)) as Support), (copy, other)]
    });
    moved.collect()
}

#[test]
fn the_distance_to_convex_shapes_is_exact_inside_and_outside() {
    let directions: Vec<DVec3> = (0..200).map(|i| direction(5, i)).collect();
    for (number, (shape, support)) in zoo().iter().enumerate() {
        assert!(shape.is_exact() && shape.is_convex(), "{shape:?}");
        let reaches: Vec<f64> = directions.iter().map(|&n| support(n)).collect();
        let random = (0..1500).map(|i| place(100 + number as u64, i, 2.0));
        for at in random.chain(nasty_places()) {
            let found = checked(shape, at);
            let rounding = 1e-11 * (1.0 + at.length());
            let reached = found.normal.dot(at) - support(found.normal);
            assert!(
                (reached - found.distance).abs() < rounding,
                "{shape:?} {at:?} {found:?} {reached}"
            );
            for (n, reach) in directions.iter().zip(&reaches) {
                assert!(
                    n.dot(at) - reach <= found.distance + rounding,
                    "{shape:?} {at:?} {found:?}"
                );
            }
        }
    }
}

#[test]
fn bounds_are_tight_however_a_shape_is_turned() {
    for (shape, support) in zoo() {
        let bounds = shape.bounds().unwrap();
        for (axis, (min, max)) in [DVec3::X, DVec3::Y, DVec3::Z]
            .into_iter()
            .zip(bounds.min.to_array().into_iter().zip(bounds.max.to_array()))
        {
            assert!((max - support(axis)).abs() < 1e-12, "{shape:?}");
            assert!((min + support(-axis)).abs() < 1e-12, "{shape:?}");
        }
    }
    let torus = Shape::torus(1.0, 0.25).unwrap().moved(&some_pose()).unwrap();
    let ring = Shape::torus(1.0, 0.25).unwrap();
    let up = some_pose().rotation.inverse() * DVec3::Z;
    let wanted = flat(up) + 0.25 + some_pose().translation.z;
    assert!((torus.bounds().unwrap().max.z - wanted).abs() < 1e-12);
    assert_eq!(ring.bounds().unwrap().max, DVec3::new(1.25, 1.25, 0.25));
}

#[test]
fn a_half_space_is_exact_and_unbounded() {
    let shape = Shape::half_space(DVec3::new(0.0, 3.0, 4.0), 0.5).unwrap();
    assert!(shape.bounds().is_none() && shape.is_exact());
    for i in 0..1000 {
        let at = place(1, i, 5.0);
        let found = checked(&shape, at);
        assert!((found.distance - (0.6 * at.y + 0.8 * at.z - 0.5)).abs() < 1e-14);
        let other = checked(&shape.clone().inverted().unwrap(), at);
        assert!((found.distance + other.distance).abs() < 1e-14);
    }
}

#[test]
fn tiny_and_huge_shapes_answer_as_those_of_ordinary_size() {
    for (shape, _) in zoo() {
        for factor in [1e-25, 1e-9, 1e9, 1e25] {
            let other = shape.clone().scaled(factor).unwrap();
            for i in 0..100 {
                let at = place(77, i, 2.0);
                let (a, b) = (checked(&shape, at), other.nearest(at * factor));
                assert!((b.distance / factor - a.distance).abs() < 1e-12, "{shape:?} {at:?}");
            }
        }
    }
    for size in [1e-25, 1e25] {
        let points: Vec<DVec3> = hull_points(50).iter().map(|&point| point * size).collect();
        for shape in [
            Shape::cuboid(DVec3::splat(size)).unwrap(),
            Shape::cone(size, size).unwrap(),
            Shape::torus(2.0 * size, size).unwrap(),
            Shape::hull(&points).unwrap(),
        ] {
            for i in 0..200 {
                let found = shape.nearest(place(78, i, 2.0 * size));
                let residual = shape.distance(found.point).abs();
                assert!(residual < 1e-12 * size && (found.normal.length() - 1.0).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn the_gradient_of_an_exact_distance_is_its_normal() {
    let torus = Shape::torus(1.0, 0.25).unwrap();
    for shape in zoo().into_iter().map(|(shape, _)| shape).chain([torus]) {
        let (mut kinks, h) = (0, 1e-6);
        for i in 0..1000 {
            let at = place(33, i, 2.0);
            let slope = |axis: DVec3| {
                (shape.distance(at + axis * h) - shape.distance(at - axis * h)) / (2.0 * h)
            };
            let gradient = DVec3::new(slope(DVec3::X), slope(DVec3::Y), slope(DVec3::Z));
            let smooth = gradient.distance(shape.nearest(at).normal) < 1e-4;
            kinks += usize::from(!smooth);
        }
        assert!(kinks <= 2, "{kinks} kinks of {shape:?}");
    }
}

#[test]
fn a_torus_is_exact_against_a_dense_sample_of_its_surface() {
    let (major, minor, around) = (1.0, 0.25, 400);
    let shape = Shape::torus(major, minor).unwrap();
    let grown = Shape::torus(major, 0.1).unwrap().grown(0.15).unwrap();
    let mut surface = Vec::new();
    for i in 0..around {
        for j in 0..around / 4 {
            let a = std::f64::consts::TAU * f64::from(i) / f64::from(around);
            let b = std::f64::consts::TAU * f64::from(j) / f64::from(around / 4);
            let r = major + minor * b.cos();
            surface.push(DVec3::new(r * a.cos(), r * a.sin(), minor * b.sin()));
        }
    }
    for i in 0..400 {
        let at = place(8, i, 1.5);
        let found = checked(&shape, at);
        let brute = surface.iter().fold(f64::MAX, |least, point| least.min(point.distance(at)));
        assert!(brute >= found.distance.abs() - 1e-12 && brute <= found.distance.abs() + 0.013);
        let inside = (flat(at) - major).powi(2) + at.z * at.z < minor * minor;
        assert_eq!(inside, found.distance < 0.0);
        assert!((grown.distance(at) - found.distance).abs() < 1e-12);
    }
    for at in nasty_places() {
        checked(&shape, at);
        checked(&Shape::torus(0.5, 0.5).unwrap(), at);
    }
}

#[test]
fn places_that_are_not_finite_never_panic() {
    let nan = [DVec3::NAN, DVec3::INFINITY, DVec3::new(0.0, f64::NAN, 1.0), DVec3::splat(1e300)];
    for (shape, _) in zoo() {
        let hollow = shape.clone().hollow(0.0003).unwrap();
        for at in nan {
            for shape in [&shape, &hollow] {
                let _ = (shape.nearest(at), shape.distance(at), shape.onto_surface(at, 1e-6));
            }
        }
    }
}
