//! The meshes that the other tests stand on: closed, outwards, of the volume that they should have.

use std::f64::consts::PI;
use undine_core::glam::DVec3;
use undine_geometry::{Triangles, gallery};

/// The volume [m³] and Euler characteristic of a mesh that must be closed, manifold and turned outwards.
fn check(mesh: Triangles) -> (f64, i64) {
    let surface = mesh.into_surface("made").unwrap();
    surface.validate().unwrap();
    surface.check_closed().unwrap();
    (surface.volume().unwrap(), surface.euler_characteristic())
}

#[test]
fn made_meshes_are_closed_and_have_the_volume_that_they_should() {
    let (volume, euler) = check(gallery::cuboid(DVec3::new(0.5, 1.0, 1.5)));
    assert!((volume - 6.0).abs() < 1e-12 && euler == 2);

    let (volume, euler) = check(gallery::sphere(1.0, 5));
    assert!((volume / (4.0 / 3.0 * PI) - 1.0).abs() < 2e-3 && euler == 2, "{volume}");

    let (volume, euler) = check(gallery::torus(1.0, 0.25, 200, 60));
    assert!((volume / (2.0 * PI * PI * 0.0625) - 1.0).abs() < 3e-3 && euler == 0, "{volume}");

    let (volume, euler) = check(gallery::knot(0.06, 400, 24));
    assert!(volume > 0.03 && euler == 0, "{volume}");

    let (volume, euler) = check(gallery::hull(200).unwrap());
    assert!(volume > 3.0 && volume < 4.0 / 3.0 * PI && euler == 2, "{volume}");

    let (volume, euler) = check(gallery::bunny(5));
    assert!(volume > 0.1 && volume < 0.5 && euler == 2, "{volume}");
}

#[test]
fn a_sheet_is_open_and_has_its_area() {
    let surface = gallery::sheet([2.0, 3.0], [4, 5]).into_surface("sheet").unwrap();
    surface.validate().unwrap();
    assert!(surface.check_closed().is_err());
    assert!((surface.area().unwrap() - 6.0).abs() < 1e-12);
    assert!(surface.face_normals().unwrap().iter().all(|normal| normal.z > 0.999));
}
