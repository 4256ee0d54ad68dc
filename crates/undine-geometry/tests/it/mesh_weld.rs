//! Welding: a soup of triangles becomes the mesh that it was cut from.

use proptest::prelude::*;
use undine_core::glam::DVec3;
use undine_geometry::{Triangles, gallery, meshing, random};

/// Every triangle with corners of its own.
pub fn soup(mesh: &Triangles) -> Triangles {
    let positions = mesh.iter().flatten().collect();
    let triangles = (0..mesh.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    Triangles::new(positions, triangles).unwrap()
}

/// The meshes that the project makes, closed.
pub fn closed_gallery() -> Vec<Triangles> {
    vec![
        gallery::cuboid(DVec3::new(0.5, 1.0, 1.5)),
        gallery::sphere(1.0, 3),
        gallery::torus(1.0, 0.25, 40, 16),
        gallery::knot(0.06, 120, 12),
        gallery::bunny(3),
    ]
}

#[test]
fn the_soup_of_each_mesh_becomes_the_closed_mesh_again() {
    for (number, mesh) in (0..).zip(closed_gallery()) {
        let (positions, triangles) = soup(&mesh).into_parts();
        let place = |n: usize| 1e-9 * (random::unit(number, n as u64) - 0.5);
        let shaken = positions.iter().enumerate();
        let shaken = shaken.map(|(n, &p)| p + DVec3::new(place(n), place(n + 1), place(n + 2)));
        let shaken = Triangles::new(shaken.collect(), triangles).unwrap();
        for (soup, tolerance) in [(soup(&mesh), 0.0), (soup(&mesh), 1e-6), (shaken, 1e-6)] {
            let welded = meshing::weld(&soup, tolerance).unwrap();
            assert_eq!(welded.mesh.positions().len(), mesh.positions().len());
            assert_eq!(welded.mesh.len(), mesh.len());
            let carried = welded.vertices.carry(soup.positions(), |p, w| p * w).unwrap();
            assert_eq!(carried, welded.mesh.positions());
            let surface = welded.mesh.into_surface("welded").unwrap();
            surface.validate().unwrap();
            surface.check_closed().unwrap();
        }
    }
}

#[test]
fn duplicates_and_collapsed_triangles_go_and_back_to_back_ones_stay() {
    let positions = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::X * 1e-9, DVec3::Z];
    let triangles = vec![[0, 3, 1], [0, 1, 2], [1, 2, 3], [2, 1, 0], [0, 0, 1]];
    let welded = meshing::weld(&Triangles::new(positions, triangles).unwrap(), 1e-6).unwrap();
    assert_eq!(welded.mesh.indices(), [[0, 1, 2], [2, 1, 0]]);
    assert_eq!(welded.triangles, [Some(1), Some(3)]);
    assert_eq!(welded.mesh.positions().len(), 3);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let mesh = gallery::cuboid(DVec3::ONE);
    for tolerance in [-1.0, f64::NAN, f64::INFINITY, 1e-300] {
        let error = meshing::weld(&mesh, tolerance).unwrap_err().to_string();
        assert!(error.contains("tolerance"), "{error}");
    }
    let huge = Triangles::new(vec![DVec3::splat(1e200); 3], vec![[0, 1, 2]]).unwrap();
    assert!(meshing::weld(&huge, 1.0).unwrap_err().to_string().contains("1e60"));
    let empty = Triangles::new(vec![], vec![]).unwrap();
    assert!(meshing::weld(&empty, 1.0).unwrap().mesh.is_empty());
}

/// Any triangles over a few vertices, which are often at the same place.
pub fn any_soup() -> impl Strategy<Value = Triangles> {
    let vertex = prop::array::uniform3(-2..3_i32)
        .prop_map(|p| DVec3::from_array(p.map(|coordinate| 0.5 * f64::from(coordinate))));
    let vertices = prop::collection::vec(vertex, 3..24);
    (vertices, prop::collection::vec(prop::array::uniform3(any::<prop::sample::Index>()), 0..40))
        .prop_map(|(positions, triangles)| {
            let corner = |index: prop::sample::Index| index.index(positions.len()) as u32;
            let triangles = triangles.into_iter().map(|corners| corners.map(corner)).collect();
            Triangles::new(positions, triangles).unwrap()
        })
}

proptest! {
    #[test]
    fn no_vertex_moves_further_than_the_tolerance(mesh in any_soup(), tolerance in 0.0..1.5_f64) {
        let welded = meshing::weld(&mesh, tolerance).unwrap();
        let kept = welded.mesh.positions();
        for (n, &a) in kept.iter().enumerate() {
            prop_assert!(kept[..n].iter().all(|b| b.distance(a) > tolerance * (1.0 - 1e-12)));
        }
        for (corners, source) in welded.mesh.iter().zip(&welded.triangles) {
            let before = mesh.corners(source.unwrap() as usize);
            let near = |k: usize| corners[k].distance(before[k]) <= tolerance * (1.0 + 1e-12);
            prop_assert!((0..3).all(near));
        }
    }
}
