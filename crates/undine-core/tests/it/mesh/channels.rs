//! Channels on the elements of a mesh.

use super::shapes::{box_of_tetrahedra, icosphere, torus};
use glam::{DVec3, Vec2, Vec3};
use undine_core::channel::ErasedFlat;
use undine_core::mesh::{
    AnyMesh, Body, Connectivity, Curves, ElementClass, Polygons, Segments, Strands, Surface,
    Tetrahedra, Wireframe,
};
use undine_core::{ChannelSpec, CoreError, MemoryReport};

#[test]
fn every_class_has_as_many_values_as_elements() {
    let mut ring = torus(0.3, 8, 6);
    let uv = ChannelSpec::new("uv", Vec2::ZERO);
    for (class, count) in [
        (ElementClass::Vertex, 48),
        (ElementClass::Edge, 96),
        (ElementClass::Corner, 192),
        (ElementClass::Face, 48),
        (ElementClass::Whole, 1),
    ] {
        let handle = ring.add_channel(class, &uv).unwrap();
        assert_eq!(ring.channels(class).unwrap().read(handle, "test").unwrap().len(), count);
        assert_eq!(ring.count(class).unwrap(), count);
    }
    let mut body = box_of_tetrahedra(1, |_, p| p);
    for (class, count) in
        [(ElementClass::Edge, 19), (ElementClass::Face, 18), (ElementClass::Cell, 6)]
    {
        let handle = body.add_channel(class, &uv).unwrap();
        assert_eq!(body.values_mut(class, handle).unwrap().len(), count);
    }
}

#[test]
fn a_class_that_the_kind_lacks_is_refused_by_name() {
    let error = icosphere(0).add_channel(ElementClass::Cell, &ChannelSpec::new("mass", 1.0_f64));
    assert_eq!(
        error.unwrap_err().to_string(),
        "the class of elements asked of Surface `shape` is cell, but must be vertex, edge, corner, face or whole"
    );
}

#[test]
fn values_must_be_as_many_as_elements() {
    let spec = ChannelSpec::new("mass", 1.0_f64);
    let error =
        icosphere(0).add_channel_with(ElementClass::Face, &spec, vec![0.0; 19]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "channel `mass` of the faces of Surface `shape` has 19 values, but 20 are needed"
    );
}

#[test]
fn the_positions_are_a_channel_that_stays() {
    let mut sphere = icosphere(0);
    let position =
        sphere.channels(ElementClass::Vertex).unwrap().handle::<DVec3>("position").unwrap();
    assert_eq!(position, sphere.position());
    assert!(sphere.remove_channel(ElementClass::Vertex, "position").is_err());
    assert!(
        sphere.add_channel(ElementClass::Vertex, &ChannelSpec::new("position", 0_u32)).is_err()
    );
    assert_eq!(sphere.positions().unwrap().len(), 12);
}

#[test]
fn geometry_does_not_run_while_positions_are_written() {
    let sphere = icosphere(0);
    let vertices = sphere.channels(ElementClass::Vertex).unwrap();
    let claim = vertices.write(sphere.position(), "move").unwrap();
    let error = sphere.area().unwrap_err();
    assert!(matches!(error, CoreError::ChannelBusy { holder: "move", .. }), "{error}");
    drop(claim);
    sphere.area().unwrap();
}

#[test]
fn positions_of_another_mesh_do_not_slip_in() {
    let (small, large) = (icosphere(0), icosphere(1));
    {
        let class = ElementClass::Vertex;
        let mut a = small.channels(class).unwrap().write(small.position(), "swap").unwrap();
        let mut b = large.channels(class).unwrap().write(large.position(), "swap").unwrap();
        std::mem::swap(&mut *a, &mut *b);
    }
    assert!(matches!(small.area(), Err(CoreError::WrongLength { found: 42, wanted: 12, .. })));
}

#[test]
fn a_removed_channel_leaves_no_way_in() {
    let mut sphere = icosphere(0);
    let mass = sphere.add_channel(ElementClass::Face, &ChannelSpec::new("mass", 1.0_f64)).unwrap();
    assert!(sphere.channels(ElementClass::Vertex).unwrap().read(mass, "test").is_err());
    sphere.remove_channel(ElementClass::Face, "mass").unwrap();
    assert!(matches!(
        sphere.values_mut(ElementClass::Face, mass),
        Err(CoreError::StaleHandle { .. })
    ));
}

#[test]
fn any_mesh_can_be_saved_and_restored_without_knowing_types() {
    let mut source = icosphere(1);
    let spec = ChannelSpec::new("velocity", Vec3::ZERO).unit("m/s");
    let velocity = source.add_channel(ElementClass::Vertex, &spec).unwrap();
    source.values_mut(ElementClass::Vertex, velocity).unwrap()[5] = Vec3::X;

    let source: Box<AnyMesh> = Box::new(source);
    let mut copy = icosphere(1);
    copy.positions_mut().unwrap().fill(DVec3::ZERO);
    let kept = copy.add_channel(ElementClass::Vertex, &spec).unwrap();
    for &class in source.kind().classes() {
        let mut saved = Vec::new();
        source
            .channels(class)
            .unwrap()
            .each_column("save", |info, column| {
                saved.push((info.name.clone(), column.bytes().to_vec()))
            })
            .unwrap();
        for (name, bytes) in saved {
            copy.write_bytes(class, &name, 0, &bytes).unwrap();
        }
    }
    assert_eq!(**copy.positions().unwrap(), **source.positions().unwrap());
    assert_eq!(copy.values_mut(ElementClass::Vertex, kept).unwrap()[5], Vec3::X);
    let polygons = source.connectivity().as_any().downcast_ref::<Polygons>();
    assert_eq!(polygons.unwrap().corners(), copy.connectivity().corners());
    let unknown = copy.write_bytes(ElementClass::Vertex, "colour", 0, &[]).unwrap_err();
    assert!(unknown.to_string().contains("it has `position`, `velocity`"), "{unknown}");
}

#[test]
fn the_memory_report_counts_positions_corners_and_edges() {
    let triangles = icosphere(3).connectivity().as_triangles().unwrap().to_vec();
    let positions = icosphere(3).positions().unwrap().to_vec();
    let (vertices, corners) = (positions.len(), 3 * triangles.len());
    let sphere =
        Surface::new("sphere", positions, Polygons::triangles(triangles).unwrap()).unwrap();
    let memory = sphere.memory().unwrap();
    assert_eq!(memory, MemoryReport { raw: (24 * vertices + 4 * corners) as u64, overhead: 0 });
    // Edges: two ends and an offset each, an edge for each corner, and a corner for each use.
    let edges = sphere.connectivity().edges().len();
    assert_eq!(sphere.memory().unwrap().raw, memory.raw);
    assert_eq!(sphere.memory().unwrap().overhead as usize, 12 * edges + 4 + 8 * corners);
}

#[test]
fn a_mesh_becomes_another_of_its_kind_and_keeps_its_handles() {
    let spec = ChannelSpec::new("weight", 7.0_f64);
    let sphere = icosphere(1);
    let mut shape = icosphere(0);
    let weight = shape.add_channel(ElementClass::Edge, &spec).unwrap();
    let tables = || sphere.connectivity().tables().map(|table| table.into_owned());

    let mut short = tables();
    short[1].pop();
    assert!(matches!(shape.reset(42, short), Err(CoreError::BadValue { .. })));
    let error = shape.reset(41, tables()).unwrap_err();
    assert!(error.to_string().starts_with("Surface `shape` is not valid"), "{error}");
    assert_eq!((shape.vertex_count(), shape.connectivity().len()), (12, 20));

    shape.reset(42, tables()).unwrap();
    assert_eq!(shape.connectivity().corners(), sphere.connectivity().corners());
    assert_eq!(shape.values_mut(ElementClass::Edge, weight).unwrap(), [7.0; 120]);
    assert!(shape.positions().unwrap().iter().all(|&position| position == DVec3::ZERO));
}

#[test]
fn every_kind_comes_back_from_its_tables() {
    let corners = || vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z, DVec3::ONE];
    let strands = Strands::new(vec![0, 2, 5], vec![false, true]).unwrap();
    let polygons = Polygons::from_counts(&[3, 4], vec![0, 1, 2, 1, 2, 3, 4]).unwrap();
    let full: [Box<AnyMesh>; 4] = [
        Box::new(Curves::new("a", corners(), strands).unwrap()),
        Box::new(Wireframe::new("b", corners(), Segments::new(vec![[0, 1], [4, 2]])).unwrap()),
        Box::new(Surface::new("c", corners(), polygons).unwrap()),
        Box::new(Body::new("d", corners(), Tetrahedra::new(vec![[0, 1, 2, 3]])).unwrap()),
    ];
    let mut empty: [Box<AnyMesh>; 4] = [
        Box::new(Curves::new("a", Vec::new(), Strands::open(Vec::new()).unwrap()).unwrap()),
        Box::new(Wireframe::new("b", Vec::new(), Segments::new(Vec::new())).unwrap()),
        Box::new(Surface::new("c", Vec::new(), Polygons::triangles(Vec::new()).unwrap()).unwrap()),
        Box::new(Body::new("d", Vec::new(), Tetrahedra::new(Vec::new())).unwrap()),
    ];
    for (full, empty) in full.iter().zip(&mut empty) {
        let tables = || full.connectivity().tables().map(|table| table.into_owned());
        empty.reset(5, tables()).unwrap();
        assert_eq!(empty.connectivity().tables(), full.connectivity().tables());
        for &class in full.kind().classes() {
            assert_eq!(empty.count(class).unwrap(), full.count(class).unwrap());
        }
        // One vertex less, and one number too many.
        assert!(empty.reset(4, tables()).is_err() || full.name() == "d");
        let mut longer = tables();
        longer[1].push(0);
        assert!(empty.reset(5, longer).is_err());
        assert_eq!(empty.connectivity().tables(), full.connectivity().tables());
    }
}
