//! Mass properties of shapes against textbooks and against sums over voxels.

use super::{place, some_pose};
use std::f64::consts::PI;
use undine_core::glam::{DMat3, DVec2, DVec3};
use undine_geometry::{MassProperties, Pose, Shape, Solid};

fn near(found: &MassProperties, wanted: &MassProperties, tolerance: f64) {
    let size = wanted.volume.cbrt();
    let scale = wanted.inertia.to_cols_array().iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let right = (found.volume - wanted.volume).abs() <= tolerance * wanted.volume
        && found.centre.distance(wanted.centre) <= tolerance * size
        && found.inertia.abs_diff_eq(wanted.inertia, tolerance * scale);
    assert!(right, "found {found:?}, wanted {wanted:?}");
}

fn known(volume: f64, centre: f64, moments: [f64; 3]) -> MassProperties {
    let inertia = DMat3::from_diagonal(DVec3::from_array(moments) * volume);
    MassProperties { volume, centre: DVec3::Z * centre, inertia }
}

#[test]
fn primitives_have_the_inertia_of_the_textbook() {
    let of = |shape: Shape| shape.mass_properties().unwrap();
    let (r, h): (f64, f64) = (0.4, 1.7);
    let sides = DVec3::new(0.5, 0.7, 1.1);
    let [a, b, c] = (sides * sides / 3.0).to_array();
    near(
        &of(Shape::cuboid(sides).unwrap()),
        &known(8.0 * 0.385, 0.0, [b + c, a + c, a + b]),
        1e-13,
    );
    let ball = 0.4 * r * r;
    near(&of(Shape::sphere(r).unwrap()), &known(4.0 / 3.0 * PI * r.powi(3), 0.0, [ball; 3]), 1e-13);
    let across = (3.0 * r * r + h * h) / 12.0;
    let cylinder = known(PI * r * r * h, 0.0, [across, across, r * r / 2.0]);
    near(&of(Shape::cylinder(r, h).unwrap()), &cylinder, 1e-13);
    // A cone's centre stands a quarter of its height above the base.
    let across = 0.15 * r * r + 0.0375 * h * h;
    let cone = known(PI * r * r * h / 3.0, -0.25 * h, [across, across, 0.3 * r * r]);
    near(&of(Shape::cone(r, h).unwrap()), &cone, 1e-13);
    let (major, minor) = (1.3, 0.4);
    let across = (4.0 * major * major + 5.0 * minor * minor) / 8.0;
    let axial = major * major + 0.75 * minor * minor;
    let torus = known(2.0 * PI * PI * major * minor * minor, 0.0, [across, across, axial]);
    near(&of(Shape::torus(major, minor).unwrap()), &torus, 1e-13);
    // A capsule: a cylinder and two half balls, whose centres stand 3/8 of the radius beyond its ends.
    let (tube, half) = (cylinder, 2.0 / 3.0 * PI * r.powi(3));
    let across = 83.0 / 320.0 * r * r;
    let cap = |z: f64| known(half, z, [across, across, ball]);
    let end = 0.5 * h + 0.375 * r;
    let capsule = MassProperties::sum([tube, cap(end), cap(-end)]);
    near(&of(Shape::capsule(r, h).unwrap()), &capsule, 1e-13);
}

#[test]
fn the_volume_of_what_is_grown_is_that_of_steiner() {
    // V + S r + M r² + 4/3 π r³ with the area S and the integral M of the mean curvature.
    let (r, radius, height) = (0.3, 0.7, 1.1);
    let ball = 4.0 / 3.0 * PI * r * r * r;
    let area = 2.0 * PI * radius * (radius + height);
    let curvature = PI * height + PI * PI * radius;
    let wanted = PI * radius * radius * height + area * r + curvature * r * r + ball;
    let found =
        Shape::cylinder(radius, height).unwrap().grown(r).unwrap().mass_properties().unwrap();
    assert!((found.volume / wanted - 1.0).abs() < 1e-13 && found.centre.length() < 1e-14);
    let [a, b, c] = [0.4, 0.5, 0.9];
    let (area, curvature) = (8.0 * (a * b + b * c + c * a), 2.0 * PI * (a + b + c));
    let wanted = 8.0 * a * b * c + area * r + curvature * r * r + ball;
    let found =
        Shape::cuboid(DVec3::new(a, b, c)).unwrap().grown(r).unwrap().mass_properties().unwrap();
    assert!((found.volume / wanted - 1.0).abs() < 1e-13);
}

/// The sum over voxels whose middle is inside.
fn voxels(shape: &Shape) -> MassProperties {
    let bounds = shape.bounds().unwrap();
    let n = 72;
    let size = bounds.size() / f64::from(n);
    let cell = size.element_product();
    let own = size * size / 12.0;
    let (mut volume, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
    for i in 0..n * n * n {
        let index = DVec3::new(f64::from(i % n), f64::from(i / n % n), f64::from(i / n / n));
        let arm = size * (index + 0.5);
        if shape.distance(bounds.min + arm) < 0.0 {
            volume += cell;
            first += arm * cell;
            second += DMat3::from_cols(arm * arm.x, arm * arm.y, arm * arm.z) * cell
                + DMat3::from_diagonal(own * cell);
        }
    }
    MassProperties::of_moments(bounds.min, volume, first, second)
}

#[test]
fn the_mass_properties_are_those_of_the_voxels_inside() {
    let pose = some_pose();
    let star = [(0.3, 0.0), (1.0, 0.0), (0.6, 0.4), (1.1, 1.0), (0.5, 0.6), (0.0, 1.0), (0.0, 0.5)];
    let cloud: Vec<DVec3> = (0..25).map(|i| place(2, i, 1.0)).collect();
    let cuboid = || Shape::cuboid(DVec3::new(0.5, 0.7, 0.4)).unwrap();
    let apart = Shape::sphere(0.3).unwrap().moved(&Pose::at(DVec3::X)).unwrap();
    for shape in [
        cuboid().moved(&pose).unwrap(),
        cuboid().grown(0.3).unwrap(),
        cuboid().rounded(0.2).unwrap().moved(&pose).unwrap(),
        cuboid().hollow(0.2).unwrap(),
        Shape::cylinder(0.5, 0.8).unwrap().rounded(0.2).unwrap().moved(&pose).unwrap(),
        Shape::truncated_cone(0.3, 0.9, 1.2).unwrap().grown(0.3).unwrap(),
        Shape::cone(0.8, 1.0).unwrap().rounded(0.2).unwrap(),
        Shape::truncated_cone(0.3, 0.9, 1.2).unwrap().scaled(2.0).unwrap(),
        Shape::cone(0.8, 1.0).unwrap().hollow(0.15).unwrap().moved(&pose).unwrap(),
        Shape::capsule(0.4, 0.9).unwrap(),
        Shape::torus(0.8, 0.3).unwrap().hollow(0.2).unwrap(),
        Shape::hull(&cloud).unwrap(),
        Shape::hull(&cloud).unwrap().hollow(0.2).unwrap(),
        Shape::revolved(&star.map(|(r, z)| DVec2::new(r, z))).unwrap(),
        Shape::union(vec![cuboid(), apart], 0.0).unwrap(),
    ] {
        let found = shape.mass_properties().unwrap_or_else(|| panic!("{shape:?} has none"));
        near(&found, &voxels(&shape), 0.015);
    }
}

#[test]
fn what_has_no_closed_form_has_none() {
    let cuboid = || Shape::cuboid(DVec3::ONE).unwrap();
    let ball = || Shape::sphere(1.2).unwrap();
    for shape in [
        Shape::half_space(DVec3::Z, 0.0).unwrap(),
        cuboid().minus(ball(), 0.0).unwrap(),
        Shape::union(vec![cuboid(), ball()], 0.0).unwrap(),
        cuboid().inverted().unwrap(),
        Shape::torus(1.0, 0.9).unwrap().grown(0.2).unwrap(),
    ] {
        assert!(shape.mass_properties().is_none(), "{shape:?}");
    }
}
