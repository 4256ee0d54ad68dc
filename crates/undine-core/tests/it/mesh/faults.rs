//! Every fault, provoked, with its message.

use super::shapes::{box_of_tetrahedra, icosphere};
use glam::DVec3;
use undine_core::CoreError;
use undine_core::mesh::{
    Body, Curves, MeshFault, Polygons, Segments, Strands, Surface, Tetrahedra, Wireframe,
};

fn square() -> Vec<DVec3> {
    vec![DVec3::ZERO, DVec3::X, DVec3::X + DVec3::Y, DVec3::Y]
}

fn surface(positions: Vec<DVec3>, faces: &[&[u32]]) -> Surface {
    Surface::new("gate", positions, Polygons::from_faces(faces).unwrap()).unwrap()
}

/// The messages of the first faults.
fn messages(faults: Vec<MeshFault>) -> Vec<String> {
    faults.iter().map(ToString::to_string).collect()
}

#[test]
fn a_dangling_index_is_refused_by_name() {
    let faces = Polygons::triangles(vec![[0, 1, 2], [1, 2, 9]]).unwrap();
    let error = Surface::new("gate", square(), faces).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Surface `gate` is not valid: face 1, corner 2 refers to vertex 9, but there are only 4"
    );
    let error = Body::new("b", square(), Tetrahedra::new(vec![[0, 4, 2, 3]])).unwrap_err();
    assert!(
        error.to_string().contains("cell 0, corner 1 refers to vertex 4, but there are only 4")
    );
    let error = Wireframe::new("w", square(), Segments::new(vec![[u32::MAX, 0]])).unwrap_err();
    assert!(error.to_string().contains("edge 0, corner 0 refers to vertex 4294967295"));
}

#[test]
fn a_polygon_of_two_corners_is_refused() {
    let error = Polygons::from_counts(&[3, 2], vec![0, 1, 2, 0, 1]).unwrap_err();
    assert!(
        error.to_string().ends_with("face 1 has too few vertices: 2 instead of at least 3"),
        "{error}"
    );
}

#[test]
fn counts_must_add_up_to_the_corners() {
    let error = Polygons::from_counts(&[3, u32::MAX], vec![0, 1, 2]).unwrap_err();
    assert!(
        error.to_string().ends_with(
            "the faces have 4294967298 corners by their counts, but 3 indices are there"
        ),
        "{error}"
    );
}

#[test]
fn a_vertex_that_is_not_finite_is_found() {
    let mut mesh = surface(square(), &[&[0, 1, 2, 3]]);
    mesh.positions_mut().unwrap()[2].y = f64::NAN;
    mesh.positions_mut().unwrap()[3].x = f64::NEG_INFINITY;
    assert_eq!(
        messages(mesh.faults(10).unwrap()),
        [
            "vertex 2 is at [1, NaN, 0], which is not finite",
            "vertex 3 is at [-inf, 1, 0], which is not finite"
        ]
    );
}

#[test]
fn a_repeated_vertex_is_found_in_small_and_large_faces() {
    let mesh = surface(square(), &[&[0, 1, 2], &[0, 2, 3, 2]]);
    assert_eq!(
        messages(mesh.faults(1).unwrap()),
        ["face 1 is degenerate: its corners 1 and 3 are both vertex 2"]
    );
    let circle: Vec<_> =
        (0..12).map(|i| DVec3::new(f64::from(i).cos(), f64::from(i).sin(), 0.0)).collect();
    let mut corners: Vec<u32> = (0..12).collect();
    corners[10] = 3;
    let fault = surface(circle, &[&corners]).faults(1).unwrap().remove(0);
    assert!(
        matches!(fault, MeshFault::RepeatedVertex { vertex: 3, corners: [3, 10], .. }),
        "{fault}"
    );
}

#[test]
fn elements_without_extent_are_found_at_any_scale() {
    for scale in [1e-9, 1.0, 1e150] {
        let line = vec![DVec3::ZERO, DVec3::X * scale, DVec3::X * (2.0 * scale)];
        let fault = surface(line, &[&[0, 1, 2]]).faults(1).unwrap().remove(0);
        assert!(
            matches!(fault, MeshFault::NoExtent { measure: "area", value: 0.0, .. }),
            "{fault}"
        );

        let flat = square().into_iter().map(|p| p * scale).collect();
        let body = Body::new("flat", flat, Tetrahedra::new(vec![[0, 1, 2, 3]])).unwrap();
        let fault = body.faults(1).unwrap().remove(0);
        assert!(matches!(fault, MeshFault::NoExtent { measure: "volume", .. }), "{fault}");

        let sound: Vec<_> = square().into_iter().map(|p| p * scale).collect();
        surface(sound, &[&[0, 1, 2, 3]]).validate().unwrap();
    }
    let point = vec![DVec3::ONE; 3];
    assert_eq!(
        messages(surface(point.clone(), &[&[0, 1, 2]]).faults(1).unwrap()),
        ["face 0 is degenerate: its area is 0e0, nothing against its size of 0 m"]
    );
    let wire = Wireframe::new("w", point, Segments::new(vec![[0, 1], [2, 2]])).unwrap();
    assert_eq!(
        messages(wire.faults(9).unwrap()),
        [
            "edge 0 is degenerate: its length is 0e0, nothing against its size of 1 m",
            "edge 1 is degenerate: its corners 0 and 1 are both vertex 2"
        ]
    );
}

#[test]
fn slivers_are_sound_until_rounding_takes_over() {
    let corners = |height: f64| {
        vec![DVec3::ZERO, DVec3::X, DVec3::new(0.5, 1.0, 0.0), DVec3::new(0.5, height, height)]
    };
    for (height, sound) in [(1e-3, true), (1e-9, true), (1e-14, false)] {
        let triangle = surface(corners(height), &[&[0, 1, 3]]);
        assert_eq!(triangle.validate().is_ok(), sound, "triangle of height {height}");
        let cell = Tetrahedra::new(vec![[0, 1, 2, 3]]);
        let cell = Body::new("sliver", corners(height), cell).unwrap();
        assert_eq!(cell.validate().is_ok(), sound, "tetrahedron of height {height}");
    }
}

#[test]
fn an_inverted_cell_is_found() {
    let corners = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    let body = Body::new("b", corners, Tetrahedra::new(vec![[0, 1, 3, 2]])).unwrap();
    let messages = messages(body.faults(2).unwrap());
    assert_eq!(messages.len(), 1);
    assert!(messages[0].starts_with("cell 0 is inverted: its volume is -1.66"), "{}", messages[0]);
}

#[test]
fn a_triangle_of_three_cells_is_found() {
    let corners = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z, DVec3::ONE, DVec3::NEG_Z];
    let cells = vec![[0, 1, 2, 3], [0, 1, 2, 4], [0, 2, 1, 5]];
    let body = Body::new("b", corners, Tetrahedra::new(cells)).unwrap();
    assert_eq!(
        messages(body.faults(9).unwrap()),
        ["the triangle 0–2–1 is not manifold: it has cells 0, 1 and 2"]
    );
}

#[test]
fn an_edge_of_three_faces_is_found() {
    let corners = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z, DVec3::NEG_Y];
    let mesh = surface(corners, &[&[0, 1, 2], &[1, 0, 3], &[1, 0, 4]]);
    assert_eq!(
        messages(mesh.faults(9).unwrap()),
        ["the edge 0–1 is not manifold: it has faces 0, 1 and 2"]
    );
    let CoreError::Mesh { mesh, fault } = mesh.validate().unwrap_err() else { panic!() };
    assert_eq!(mesh, "Surface `gate`");
    assert_eq!(fault, MeshFault::NonManifoldEdge { edge: [0, 1], faces: vec![0, 1, 2] });
}

#[test]
fn a_face_that_is_turned_over_is_found() {
    let mesh = surface(square(), &[&[0, 1, 2], &[3, 2, 0]]);
    assert_eq!(
        messages(mesh.faults(9).unwrap()),
        [
            "face 0 and face 1 are oriented differently: both run along their edge from vertex 2 to 0"
        ]
    );
}

#[test]
fn curves_that_are_too_short_are_found() {
    let strands = Strands::new(vec![0, 1, 1, 3, 4], vec![false, false, true, false]).unwrap();
    let curves = Curves::new("hair", square(), strands).unwrap();
    assert_eq!(
        messages(curves.faults(9).unwrap()),
        [
            "curve 0 has too few vertices: 1 instead of at least 2",
            "curve 1 has too few vertices: 0 instead of at least 2",
            "curve 2 has too few vertices: 2 instead of at least 3",
            "curve 3 has too few vertices: 1 instead of at least 2",
        ]
    );
}

#[test]
fn vertices_that_nothing_uses_are_a_note_and_no_fault() {
    let mesh = surface(square(), &[&[0, 3, 2]]);
    mesh.validate().unwrap();
    let faults = mesh.faults(9).unwrap();
    assert_eq!(messages(faults.clone()), ["vertex 1 belongs to no element"]);
    assert!(faults[0].is_note());
    let mesh = surface([square(), square()].concat(), &[&[0, 3, 2]]);
    assert_eq!(
        messages(mesh.faults(9).unwrap()),
        ["5 vertices belong to no element, the first is vertex 1"]
    );
}

#[test]
fn the_list_of_faults_stops_at_its_limit() {
    let mut sphere = icosphere(3);
    sphere.positions_mut().unwrap().fill(DVec3::NAN);
    assert_eq!(sphere.faults(7).unwrap().len(), 7);
    assert!(sphere.faults(0).unwrap().is_empty());
}

#[test]
fn sound_meshes_have_no_faults() {
    assert_eq!(icosphere(2).faults(9).unwrap(), []);
    assert_eq!(box_of_tetrahedra(3, |_, p| p + DVec3::splat(1e4)).faults(9).unwrap(), []);
}
