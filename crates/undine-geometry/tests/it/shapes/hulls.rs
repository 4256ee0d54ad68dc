//! Convex hulls of points that make hulls hard: duplicate, coplanar, collinear, nearly so, tiny, huge and far away.

use super::{checked, direction, place};
use undine_core::glam::{DQuat, DVec3};
use undine_geometry::random::{bits, unit};
use undine_geometry::shape::hull_triangles;
use undine_geometry::{GeometryError, Shape, Solid};

/// Checks the hull of points: closed, of genus 0, convex, and with all points inside. Gives the number of its triangles.
fn check(points: &[DVec3]) -> usize {
    let mesh = hull_triangles(points).unwrap();
    let extent = mesh.bounds().unwrap().size().max_element();
    let tolerance = 1e-10 * extent;
    let shape = Shape::hull(points).unwrap();
    for (i, &point) in points.iter().enumerate() {
        assert!(shape.distance(point) <= tolerance);
        let reach = |n: DVec3| points.iter().fold(f64::MIN, |most, p| most.max(n.dot(*p - point)));
        if i < 20 {
            let at = point + direction(17, i as u64) * extent * 0.3;
            let found = checked(&shape, at);
            let reached = found.normal.dot(at - point) - reach(found.normal);
            assert!(
                (reached - found.distance).abs() < 10.0 * tolerance,
                "{found:?} {reached} {extent}"
            );
        }
    }
    let triangles = mesh.len();
    let surface = mesh.into_surface("hull").unwrap();
    surface.check_closed().unwrap();
    assert_eq!(surface.euler_characteristic(), 2);
    triangles
}

fn lattice(n: i32) -> Vec<DVec3> {
    let axis = || (0..=n).map(|k| f64::from(k) / f64::from(n));
    axis()
        .flat_map(|x| axis().flat_map(move |y| axis().map(move |z| DVec3::new(x, y, z))))
        .collect()
}

#[test]
fn a_lattice_of_points_is_a_box_however_it_is_turned() {
    assert_eq!(check(&lattice(6)), 12);
    for i in 0..20 {
        let turn = DQuat::from_axis_angle(direction(1, i), 3.0 * unit(2, i));
        let turned: Vec<DVec3> =
            lattice(5).iter().map(|&point| turn * point + place(3, i, 5.0)).collect();
        // Points on the edges may be corners where rounding moved them outwards.
        let triangles = check(&turned);
        assert!((12..=100).contains(&triangles), "{triangles} turned by {turn}");
    }
}

#[test]
fn hulls_of_few_points_on_a_small_lattice_are_right() {
    // Many are flat, and all are full of duplicates and of points in line and in plane.
    let mut solid = 0;
    for case in 0..4000 {
        let count = 4 + bits(7, case) % 20;
        let side = 2 + bits(8, case) % 3;
        let points: Vec<DVec3> = (0..count)
            .map(|i| {
                let [x, y, z] = [0, 1, 2].map(|k| (bits(case, 3 * i + k) % side) as f64);
                DVec3::new(x, y, z)
            })
            .collect();
        match Shape::hull(&points) {
            Ok(_) => {
                check(&points);
                solid += 1;
            }
            Err(error) => {
                assert!(matches!(error, GeometryError::Flat { .. }), "{error}");
                let from = points[0];
                let volume =
                    |a: DVec3, b: DVec3, c: DVec3| (a - from).dot((b - from).cross(c - from));
                let some = points.iter().any(|&a| {
                    points.iter().any(|&b| points.iter().any(|&c| volume(a, b, c) != 0.0))
                });
                assert!(!some, "the points span a volume");
            }
        }
    }
    assert!(solid > 2000, "{solid}");
}

#[test]
fn points_that_are_coplanar_but_for_noise_make_a_hull() {
    for case in 0..300 {
        let noise = 10_f64.powf(-17.0 + 14.0 * unit(4, case));
        let turn = DQuat::from_axis_angle(direction(5, case), 3.0);
        let points: Vec<DVec3> = lattice(3)
            .iter()
            .enumerate()
            .map(|(i, &point)| turn * point + place(case, i as u64, noise))
            .collect();
        check(&points);
    }
}

#[test]
fn needles_plates_spheres_and_far_clouds_make_hulls() {
    for case in 0..200 {
        let stretch = DVec3::from_array([0, 1, 2].map(|k| 10_f64.powf(-6.0 * unit(case, k))));
        let points: Vec<DVec3> = (0..60).map(|i| place(case, 10 + i, 1.0) * stretch).collect();
        check(&points);
    }
    let sphere: Vec<DVec3> = (0..1500).map(|i| direction(9, i)).collect();
    assert_eq!(check(&sphere), 2 * 1500 - 4);
    let far: Vec<DVec3> =
        (0..100).map(|i| place(10, i, 1.0) + DVec3::new(1e5, -1e5, 0.0)).collect();
    check(&far);
    let ring = |i: u32, z: f64| {
        let angle = std::f64::consts::TAU * f64::from(i) / 200.0;
        DVec3::new(angle.cos(), angle.sin(), z)
    };
    let prism: Vec<DVec3> = (0..200).flat_map(|i| [ring(i, -0.5), ring(i, 0.5)]).collect();
    assert_eq!(check(&prism), 2 * 400 - 4);
}

#[test]
fn a_large_hull_answers_like_the_sphere_that_it_approaches() {
    let points: Vec<DVec3> = (0..20_000).map(|i| direction(30, i)).collect();
    let shape = Shape::hull(&points).unwrap();
    for i in 0..3000 {
        let at = place(31, i, 1.5);
        let found = checked(&shape, at);
        assert!((found.distance - (at.length() - 1.0)).abs() < 2e-3, "{at:?} {found:?}");
    }
}

#[test]
fn points_without_volume_are_refused() {
    let name = |points: &[DVec3]| Shape::hull(points).unwrap_err();
    assert!(matches!(name(&[]), GeometryError::Empty { .. }));
    assert!(matches!(name(&[DVec3::ONE; 9]), GeometryError::Flat { .. }));
    let line: Vec<DVec3> = (0..9).map(|i| DVec3::new(0.1, 0.3, 0.7) * f64::from(i)).collect();
    assert!(matches!(name(&line), GeometryError::Flat { .. }));
    let plane: Vec<DVec3> =
        (0..99).map(|i| DQuat::from_rotation_x(0.3) * place(1, i, 1.0).with_z(0.0)).collect();
    let error = name(&plane).to_string();
    assert!(error.contains("must span a volume"), "{error}");
    let bad = [DVec3::ZERO, DVec3::X, DVec3::NAN, DVec3::Y];
    assert!(matches!(name(&bad), GeometryError::VertexNotFinite { vertex: 2, .. }));
    let huge = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::splat(f64::MAX), DVec3::splat(f64::MIN)];
    assert!(matches!(name(&huge), GeometryError::BadParameter { .. }));
}
