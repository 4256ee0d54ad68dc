//! Decimation: few triangles, the same shape, the same topology.

use crate::mesh_weld::any_soup;
use proptest::prelude::*;
use undine_core::glam::DVec3;
use undine_geometry::meshing::{Decimated, Decimation, decimate};
use undine_geometry::sampling::{Sampling, sample_surface};
use undine_geometry::{Bvh, Triangles, gallery};

fn to_count(triangles: usize) -> Decimation {
    Decimation { triangles, error: f64::INFINITY, hold_boundary: false }
}

/// The largest distance of points spread over one mesh to the other [m].
fn one_sided(from: &Triangles, to: &Triangles, count: usize) -> f64 {
    let points = sample_surface(from, count, Sampling::default()).unwrap();
    let tree = Bvh::new(to.clone()).unwrap();
    let distance = |at: DVec3| tree.closest(at).unwrap().distance_squared.sqrt();
    points.iter().map(|sample| distance(sample.point)).fold(0.0, f64::max)
}

#[test]
fn a_knot_of_eighty_thousand_triangles_keeps_its_shape_with_a_twentieth_of_them() {
    let knot = gallery::knot(0.06, 1000, 40);
    assert_eq!(knot.len(), 80_000);
    let Decimated { remeshed, error } = decimate(&knot, to_count(4000)).unwrap();
    assert_eq!(remeshed.mesh.len(), 4000);

    // Closed, manifold, of the same topology and nearly the same volume.
    let surface = remeshed.mesh.clone().into_surface("few").unwrap();
    surface.validate().unwrap();
    surface.check_closed().unwrap();
    assert_eq!(surface.euler_characteristic(), 0);
    let volume = knot.clone().into_surface("many").unwrap().volume().unwrap();
    assert!((surface.volume().unwrap() / volume - 1.0).abs() < 0.01);

    // The triangles have sides of about a = 0.026 m; on a tube of radius r = 0.06 m they miss up to
    // a²/(6 r) = 0.002 m of its shape.
    let distance =
        one_sided(&remeshed.mesh, &knot, 20_000).max(one_sided(&knot, &remeshed.mesh, 20_000));
    assert!(distance < 0.003, "{distance}");
    assert!(error > 0.0 && error < 0.003, "{error}");

    // Vertices are near what they are made of.
    let carried = remeshed.vertices.carry(knot.positions(), |p, w| p * w).unwrap();
    let apart = carried.iter().zip(remeshed.mesh.positions()).map(|(a, b)| a.distance(*b));
    assert!(apart.fold(0.0, f64::max) < 0.03);
    for vertex in 0..remeshed.vertices.len() {
        let sum: f64 = remeshed.vertices.of(vertex).iter().map(|(_, weight)| weight).sum();
        assert!((sum - 1.0).abs() < 1e-12);
    }
}

#[test]
fn flat_faces_cost_nothing_and_the_error_limit_ends_it() {
    // Each face of the box in 2 · 16² triangles.
    let fine = undine_geometry::meshing::subdivide(
        &gallery::cuboid(DVec3::new(1.0, 0.7, 0.4)),
        undine_geometry::meshing::Subdivision {
            scheme: undine_geometry::meshing::SubdivisionScheme::Midpoint,
            levels: 4,
            ..Default::default()
        },
    );
    let fine = fine.unwrap().mesh;
    let limit = Decimation { triangles: 0, error: 1e-6, hold_boundary: false };
    for far in [DVec3::ZERO, DVec3::splat(1e4)] {
        let moved = Triangles::new(
            fine.positions().iter().map(|&p| p + far).collect(),
            fine.indices().to_vec(),
        );
        let result = decimate(&moved.unwrap(), limit).unwrap();
        assert_eq!(result.remeshed.mesh.len(), 12);
        assert!(result.error <= 1e-6);
        let surface = result.remeshed.mesh.into_surface("box").unwrap();
        surface.check_closed().unwrap();
        assert!((surface.volume().unwrap() / (8.0 * 0.28) - 1.0).abs() < 1e-5);
    }

    let sphere = gallery::sphere(1.0, 5);
    let mut before = usize::MAX;
    for error in [1e-4, 1e-3, 1e-2] {
        let result =
            decimate(&sphere, Decimation { triangles: 0, error, hold_boundary: false }).unwrap();
        assert!(result.error <= error && result.remeshed.mesh.len() < before);
        before = result.remeshed.mesh.len();
        assert!(one_sided(&result.remeshed.mesh, &sphere, 5000) < 8.0 * error);
    }
}

#[test]
fn boundaries_are_kept() {
    let sheet = gallery::sheet([2.0, 1.0], [40, 20]);
    let result = decimate(&sheet, to_count(2)).unwrap();
    assert_eq!(result.remeshed.mesh.len(), 2);
    let surface = result.remeshed.mesh.into_surface("sheet").unwrap();
    assert!((surface.area().unwrap() - 2.0).abs() < 1e-6);

    let held = decimate(&sheet, Decimation { hold_boundary: true, ..to_count(0) }).unwrap();
    let rim = |p: &&DVec3| p.x.abs() == 1.0 || p.y.abs() == 0.5;
    let on_rim = |mesh: &Triangles| mesh.positions().iter().filter(rim).count();
    assert_eq!(on_rim(&held.remeshed.mesh), 120);
    let surface = held.remeshed.mesh.into_surface("sheet").unwrap();
    surface.validate().unwrap();
    assert!((surface.area().unwrap() - 2.0).abs() < 1e-9);
    assert!(surface.face_normals().unwrap().iter().all(|normal| normal.z > 0.999));
}

#[test]
fn nothing_smaller_than_a_tetrahedron_is_left_of_what_is_closed() {
    for mesh in [gallery::sphere(1.0, 2), gallery::bunny(2)] {
        let few = decimate(&mesh, to_count(0)).unwrap().remeshed.mesh;
        assert!(few.len() >= 4 && few.len() <= 40, "{}", few.len());
        let surface = few.into_surface("few").unwrap();
        surface.check_closed().unwrap();
        assert_eq!(surface.euler_characteristic(), 2);
    }
    let empty = Triangles::new(vec![], vec![]).unwrap();
    assert!(decimate(&empty, to_count(10)).unwrap().remeshed.mesh.is_empty());
    let bad = Decimation { error: f64::NAN, ..to_count(10) };
    assert!(decimate(&gallery::sphere(1.0, 1), bad).is_err());
}

proptest! {
    /// Edges that were closed stay closed, and no soup grows.
    #[test]
    fn any_soup_can_be_decimated(mesh in any_soup(), target in 0..30_usize) {
        let result = decimate(&mesh, to_count(target)).unwrap();
        prop_assert!(result.remeshed.mesh.len() <= mesh.len());
        prop_assert!(result.error.is_finite());
        let is_closed = |mesh: &Triangles| mesh.clone().into_surface("m").unwrap().check_closed().is_ok();
        prop_assert!(!is_closed(&mesh) || is_closed(&result.remeshed.mesh));
    }

    /// Star-shaped blobs of any roughness stay closed manifolds of one part.
    #[test]
    fn any_blob_stays_a_closed_manifold(seed in 0..1000_u64, target in 0..300_usize) {
        let blob = gallery::blob(2, |d| {
            0.5 + 0.4 * undine_geometry::random::unit(seed, (d.x * 1e6) as i64 as u64 ^ (d.y * 1e6) as i64 as u64)
        });
        let result = decimate(&blob, to_count(target)).unwrap();
        let surface = result.remeshed.mesh.into_surface("blob").unwrap();
        prop_assert!(surface.check_closed().is_ok());
        prop_assert_eq!(surface.euler_characteristic(), 2);
        prop_assert!(surface.connectivity().edges().uses().rows().all(|uses| uses.len() == 2));
    }
}
