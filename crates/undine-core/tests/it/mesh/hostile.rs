//! Whatever comes in, the answer is a mesh or an error, never a panic.

use glam::DVec3;
use proptest::prelude::*;
use undine_core::mesh::{
    AnyMesh, Body, Curves, MeshKind, NormalWeight, Polygons, Segments, Strands, Surface,
    Tetrahedra, Wireframe,
};

const COORDINATES: [f64; 10] =
    [0.0, -0.0, 1.0, -2.5, 1e-308, 1e300, f64::MAX, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

fn any_positions() -> impl Strategy<Value = Vec<DVec3>> {
    let coordinate = || prop::sample::select(&COORDINATES[..]);
    let point = [coordinate(), coordinate(), coordinate()].prop_map(DVec3::from);
    prop::collection::vec(point, 0..12)
}

/// Mostly small, so that many are good.
fn any_index() -> impl Strategy<Value = u32> {
    prop_oneof![60 => 0..6_u32, 1 => any::<u32>()]
}

/// Asks everything that any mesh can be asked.
fn exercise(mesh: &AnyMesh) {
    let faults = mesh.faults(100).unwrap();
    assert_eq!(mesh.validate().is_ok(), faults.iter().all(|fault| fault.is_note()));
    for fault in faults {
        assert!(!fault.to_string().is_empty());
    }
    mesh.bounds().unwrap();
    mesh.length().unwrap();
    mesh.edge_lengths().unwrap();
    mesh.vertex_edges();
    assert!(mesh.components().count() <= mesh.vertex_count());
    for &class in mesh.kind().classes() {
        mesh.count(class).unwrap();
    }
    assert!(mesh.memory().unwrap().raw >= 24 * mesh.vertex_count() as u64);
}

fn exercise_surface(surface: &Surface) {
    exercise(surface);
    let triangles = surface.triangulate().unwrap().triangles().len();
    assert_eq!(
        triangles,
        surface.connectivity().corners().len() - 2 * surface.connectivity().len()
    );
    for weight in [NormalWeight::Area, NormalWeight::Angle] {
        assert_eq!(surface.vertex_normals(weight).unwrap().len(), surface.vertex_count());
    }
    surface.area().unwrap();
    assert_eq!(surface.volume().is_ok(), surface.check_closed().is_ok());
    surface.face_normals().unwrap();
    surface.face_faces();
    surface.edge_faces();
    surface.euler_characteristic();
}

proptest! {
    #[test]
    fn any_surface_is_a_surface_or_an_error(
        positions in any_positions(),
        counts in prop::collection::vec(prop_oneof![8 => 3..7_u32, 1 => any::<u32>()], 0..6),
        spare in any::<bool>(),
        corners in prop::collection::vec(any_index(), 40),
    ) {
        let wanted = counts.iter().map(|&count| count as usize).sum::<usize>();
        let taken = corners.into_iter().take(if spare { 40 } else { wanted }).collect();
        if let Ok(faces) = Polygons::from_counts(&counts, taken)
            && let Ok(surface) = Surface::new("any", positions, faces)
        {
            exercise_surface(&surface);
        }
    }

    #[test]
    fn any_body_is_a_body_or_an_error(
        positions in any_positions(),
        cells in prop::collection::vec([any_index(), any_index(), any_index(), any_index()], 0..12),
    ) {
        if let Ok(body) = Body::new("any", positions, Tetrahedra::new(cells)) {
            exercise(&body);
            body.volume().unwrap();
            body.cell_volumes().unwrap();
            body.vertex_cells();
            body.vertex_faces();
            body.edge_faces();
            body.cell_cells();
            exercise_surface(&body.boundary().unwrap().surface);
        }
    }

    #[test]
    fn any_wireframe_is_a_wireframe_or_an_error(
        positions in any_positions(), ends in prop::collection::vec([any_index(), any_index()], 0..12),
    ) {
        if let Ok(wireframe) = Wireframe::new("any", positions, Segments::new(ends)) {
            exercise(&wireframe);
        }
    }

    #[test]
    fn any_curves_are_curves_or_an_error(
        positions in any_positions(),
        steps in prop::collection::vec(prop_oneof![20 => 0..4_u32, 1 => any::<u32>()], 0..6),
        closed in prop::collection::vec(any::<bool>(), 6),
        from in prop_oneof![9 => Just(0), 1 => any::<u32>()],
        fit in any::<bool>(),
    ) {
        let mut offsets = vec![from];
        for step in steps {
            offsets.push(offsets[offsets.len() - 1].wrapping_add(step));
        }
        if fit {
            offsets.push(positions.len() as u32);
        }
        let closed = closed[..offsets.len().saturating_sub(1).min(6)].to_vec();
        if let Ok(strands) = Strands::new(offsets, closed)
            && let Ok(curves) = Curves::new("any", positions, strands)
        {
            exercise(&curves);
            prop_assert_eq!(curves.curve_lengths().unwrap().len(), curves.connectivity().len());
        }
    }
}

#[test]
fn no_offsets_are_no_curves() {
    let curves = Curves::new("none", vec![], Strands::open(vec![]).unwrap()).unwrap();
    assert!(curves.connectivity().is_empty());
    assert_eq!(curves.kind(), MeshKind::Curves);
    exercise(&curves);
}
