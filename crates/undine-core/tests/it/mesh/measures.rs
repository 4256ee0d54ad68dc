//! Lengths, areas, volumes and normals against what geometry says.

use super::shapes::{box_of_squares, box_of_tetrahedra, icosphere, surface, torus};
use glam::{DMat3, DQuat, DVec3, EulerRot};
use proptest::prelude::*;
use std::f64::consts::{PI, TAU};
use undine_core::CoreError;
use undine_core::mesh::{Body, MeshFault, NormalWeight, Polygons, Surface, Tetrahedra};

/// |found − expected| ≤ tolerance · |expected|.
fn near(found: f64, expected: f64, tolerance: f64) -> bool {
    (found - expected).abs() <= tolerance * expected.abs()
}

fn moved(mut surface: Surface, place: impl Fn(DVec3) -> DVec3) -> Surface {
    for position in surface.positions_mut().unwrap() {
        *position = place(*position);
    }
    surface
}

#[test]
fn the_unit_box_has_its_measures() {
    let cube = box_of_squares(4);
    cube.validate().unwrap();
    assert!(near(cube.area().unwrap(), 6.0, 1e-14));
    assert!(near(cube.volume().unwrap(), 1.0, 1e-14));
    assert_eq!(cube.face_areas().unwrap().len(), 96);
    // 24 rows of edges along each axis lie on the sides: 4n edges of the box, and 6 · 2 · n(n − 1).
    assert_eq!(cube.edge_lengths().unwrap().len(), 12 * 4 + 6 * 2 * 4 * 3);
    let bounds = cube.bounds().unwrap().unwrap();
    assert_eq!((bounds.min, bounds.max), (DVec3::ZERO, DVec3::ONE));
}

/// Both measures of a polyhedron inscribed in a sphere approach those of the sphere as h².
#[test]
fn a_finer_sphere_is_closer_to_the_sphere_by_the_square() {
    let error = |level| {
        let sphere = icosphere(level);
        sphere.validate().unwrap();
        [4.0 * PI / 3.0 - sphere.volume().unwrap(), 4.0 * PI - sphere.area().unwrap()]
    };
    let (coarse, fine) = (error(3), error(4));
    for (coarse, fine) in coarse.into_iter().zip(fine) {
        assert!(fine > 0.0 && (3.8..4.2).contains(&(coarse / fine)), "{coarse} {fine}");
    }
}

/// Pappus: V = 2π² r², A = 4π² r for radii 1 and r; n × m quadrangles are off by about 2/n² + 2/m² · π².
#[test]
fn a_torus_obeys_pappus() {
    let ring = torus(0.25, 128, 64);
    ring.validate().unwrap();
    let tolerance = 2.0 * PI * PI * (1.0 / 128.0_f64.powi(2) + 1.0 / 64.0_f64.powi(2));
    assert!(near(ring.volume().unwrap(), 2.0 * PI * PI * 0.25 * 0.25, tolerance));
    assert!(near(ring.area().unwrap(), 4.0 * PI * PI * 0.25, tolerance));
}

#[test]
fn normals_of_a_sphere_point_away_from_its_centre() {
    let sphere = icosphere(3);
    let positions = sphere.positions().unwrap();
    for weight in [NormalWeight::Area, NormalWeight::Angle] {
        let normals = sphere.vertex_normals(weight).unwrap();
        let worst = normals.iter().zip(positions.iter()).map(|(n, p)| n.dot(*p));
        assert!(worst.fold(1.0, f64::min) > 0.9999);
    }
    assert!(sphere.face_normals().unwrap().iter().all(|n| (n.length() - 1.0).abs() < 1e-12));
}

/// The corner of a box looks along the diagonal, however its sides are cut into triangles.
#[test]
fn normals_weighted_by_angle_do_not_depend_on_the_cut() {
    let cube = box_of_squares(1);
    // Along either diagonal, so that a corner has one triangle on one side and two on another.
    let mut triangles = Vec::new();
    for (face, corners) in cube.connectivity().faces().enumerate() {
        let mut corners = corners.to_vec();
        corners.rotate_left(face / 2 % 2);
        let [a, b, c, d] = corners[..] else { panic!("not a square") };
        triangles.extend([[a, b, c], [a, c, d]]);
    }
    let positions = cube.positions().unwrap().to_vec();
    let cut = surface(positions.clone(), Polygons::triangles(triangles).unwrap());
    for cube in [&cube, &cut] {
        let normals = cube.vertex_normals(NormalWeight::Angle).unwrap();
        for (normal, position) in normals.iter().zip(&positions) {
            let diagonal = (*position - DVec3::splat(0.5)).normalize();
            assert!(normal.distance(diagonal) < 1e-12, "{normal} {diagonal}");
        }
    }
}

#[test]
fn the_volume_of_an_open_surface_is_refused_by_naming_an_edge() {
    let faces = Polygons::triangles(vec![[0, 1, 2]]).unwrap();
    let open = surface(vec![DVec3::ZERO, DVec3::X, DVec3::Y], faces);
    let error = open.volume().unwrap_err();
    let CoreError::Mesh { fault, .. } = &error else { panic!("{error}") };
    assert_eq!(*fault, MeshFault::OpenEdge { edge: [0, 1], faces: vec![0] });
    assert!(error.to_string().contains("Surface `shape`") && error.to_string().contains("0–1"));
}

#[test]
fn the_boundary_of_a_box_of_tetrahedra_is_the_box() {
    let body = box_of_tetrahedra(4, |_, p| p);
    body.validate().unwrap();
    assert!(near(body.volume().unwrap(), 1.0, 1e-13));
    assert!(body.cell_volumes().unwrap().iter().all(|&v| near(v, 1.0 / 384.0, 1e-12)));

    let boundary = body.boundary().unwrap();
    boundary.surface.validate().unwrap();
    boundary.surface.check_closed().unwrap();
    assert_eq!(boundary.surface.euler_characteristic(), 2);
    assert!(near(boundary.surface.area().unwrap(), 6.0, 1e-13));
    assert!(near(boundary.surface.volume().unwrap(), 1.0, 1e-13));
    assert_eq!(boundary.vertices.len(), 125 - 27);

    let (inner, outer) = (body.positions().unwrap(), boundary.surface.positions().unwrap());
    for (vertex, &original) in boundary.vertices.iter().enumerate() {
        assert_eq!(outer[vertex], inner[original as usize]);
    }
    let faces = body.connectivity().faces();
    assert!(boundary.faces.iter().all(|&face| faces.cells()[face as usize].len() == 1));
}

/// In a regular cut of a box some corners never lie opposite the boundary; here all four do.
#[test]
fn all_faces_of_a_tetrahedron_look_outwards() {
    let corners = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    let body = Body::new("one", corners, Tetrahedra::new(vec![[0, 1, 2, 3]])).unwrap();
    let surface = body.boundary().unwrap().surface;
    surface.validate().unwrap();
    assert!(near(surface.volume().unwrap(), 1.0 / 6.0, 1e-14));
    assert!(near(body.volume().unwrap(), 1.0 / 6.0, 1e-14));
    let centre = DVec3::splat(0.25);
    let positions = surface.positions().unwrap();
    let normals = surface.face_normals().unwrap();
    for (normal, face) in normals.iter().zip(surface.connectivity().faces()) {
        assert!(normal.dot(positions[face[0] as usize] - centre) > 0.0);
    }
}

fn any_vector(reach: f64) -> impl Strategy<Value = DVec3> {
    [-reach..reach, -reach..reach, -reach..reach].prop_map(DVec3::from)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A rigid motion changes no measure. Positions 10 km away keep 12 digits behind the point.
    #[test]
    fn measures_do_not_change_when_a_shape_is_moved(
        shift in any_vector(1e4), angles in any_vector(TAU), kind in 0..3_usize,
    ) {
        let shape = || [box_of_squares(3), icosphere(2), torus(0.4, 12, 9)].into_iter().nth(kind).unwrap();
        let turn = DQuat::from_euler(EulerRot::XYZ, angles.x, angles.y, angles.z);
        let (still, moved) = (shape(), moved(shape(), |p| turn * p + shift));
        prop_assert!(near(moved.volume().unwrap(), still.volume().unwrap(), 1e-9));
        prop_assert!(near(moved.area().unwrap(), still.area().unwrap(), 1e-9));
        prop_assert!(near(moved.length().unwrap(), still.length().unwrap(), 1e-9));
        prop_assert!(moved.validate().is_ok());
    }

    /// A linear map multiplies every volume by its determinant.
    #[test]
    fn a_linear_map_scales_volume_by_its_determinant(
        x in any_vector(2.0), y in any_vector(2.0), z in any_vector(2.0), n in 1..5_u32,
    ) {
        let map = DMat3::from_cols(x, y, z);
        let squashed = moved(box_of_squares(n), |p| map * p);
        prop_assert!((squashed.volume().unwrap() - map.determinant()).abs() < 1e-12);
    }

    /// Whatever its vertices do, a body and its boundary enclose the same volume (Gauss).
    #[test]
    fn a_body_has_the_volume_of_its_boundary(
        n in 1..4_u32, offsets in prop::collection::vec(any_vector(0.3), 64),
    ) {
        let body = box_of_tetrahedra(n, |vertex, p| p + offsets[vertex]);
        let boundary = body.boundary().unwrap().surface;
        prop_assert!((boundary.volume().unwrap() - body.volume().unwrap()).abs() < 1e-12);
    }

    /// Cutting polygons into triangles changes neither closedness nor what the shape is.
    #[test]
    fn triangles_of_a_closed_surface_are_closed(n in 3..9_u32, m in 3..9_u32, thickness in 0.1..0.6) {
        let ring = torus(thickness, n, m);
        let triangles = ring.triangulate().unwrap().triangles().to_vec();
        prop_assert_eq!(triangles.len(), 2 * ring.connectivity().len());
        let cut = surface(ring.positions().unwrap().to_vec(), Polygons::triangles(triangles).unwrap());
        prop_assert!(cut.check_closed().is_ok());
        prop_assert_eq!(cut.euler_characteristic(), 0);
    }
}
