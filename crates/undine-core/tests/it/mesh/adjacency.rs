//! Tables of what touches what, against searches through everything.

use super::shapes::{box_of_tetrahedra, icosphere, surface, torus};
use glam::DVec3;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use undine_core::mesh::{Body, Csr, ElementClass, Polygons, Surface, Tetrahedra};

const VERTICES: u32 = 12;

/// Positions play no part in adjacency.
fn anywhere() -> Vec<DVec3> {
    (0..VERTICES).map(|v| DVec3::new(f64::from(v), f64::from(v * v), f64::from(v % 3))).collect()
}

fn rows(table: &Csr) -> Vec<Vec<u32>> {
    table.rows().map(<[u32]>::to_vec).collect()
}

/// For each vertex the elements that have it.
fn having<const N: usize>(elements: &[impl AsRef<[u32]>], wanted: [u32; N]) -> Vec<u32> {
    let has = |element: &[u32]| wanted.iter().all(|vertex| element.contains(vertex));
    (0..).zip(elements).filter(|(_, e)| has(e.as_ref())).map(|(number, _)| number).collect()
}

fn sorted_pair(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

/// The edges of each face, in the order of its corners.
fn sides(face: &[u32]) -> Vec<[u32; 2]> {
    (0..face.len()).map(|i| sorted_pair(face[i], face[(i + 1) % face.len()])).collect()
}

/// The number of parts, by walking from every vertex not yet reached.
fn parts(edges: &BTreeSet<[u32; 2]>) -> Vec<u32> {
    let mut part = vec![u32::MAX; VERTICES as usize];
    let mut count = 0;
    for start in 0..VERTICES {
        if part[start as usize] != u32::MAX {
            continue;
        }
        let mut todo = vec![start];
        while let Some(vertex) = todo.pop() {
            part[vertex as usize] = count;
            for &[a, b] in edges {
                for (from, to) in [(a, b), (b, a)] {
                    if from == vertex && part[to as usize] == u32::MAX {
                        todo.push(to);
                    }
                }
            }
        }
        count += 1;
    }
    part
}

/// Faces of 3 to 6 different vertices, of few vertices, so that much is shared.
fn any_faces() -> impl Strategy<Value = Vec<Vec<u32>>> {
    let face = (3..7_usize).prop_flat_map(|corners| {
        prop::sample::subsequence((0..VERTICES).collect::<Vec<_>>(), corners).prop_shuffle()
    });
    prop::collection::vec(face, 0..20)
}

fn any_cells() -> impl Strategy<Value = Vec<[u32; 4]>> {
    let cell = prop::sample::subsequence((0..VERTICES).collect::<Vec<_>>(), 4).prop_shuffle();
    prop::collection::vec(cell.prop_map(|cell| [cell[0], cell[1], cell[2], cell[3]]), 0..20)
}

proptest! {
    #[test]
    fn tables_of_a_surface_agree_with_a_search(faces in any_faces()) {
        let surface = surface(anywhere(), Polygons::from_faces(&faces).unwrap());

        let edges: BTreeSet<_> = faces.iter().flat_map(|face| sides(face)).collect();
        let table = surface.connectivity().edges();
        prop_assert_eq!(table.ends(), edges.iter().copied().collect::<Vec<_>>());
        let all_sides: Vec<_> = faces.iter().flat_map(|face| sides(face)).collect();
        for (corner, side) in all_sides.iter().enumerate() {
            prop_assert_eq!(table.ends()[table.of_use()[corner] as usize], *side);
        }

        let by_vertex: Vec<_> = (0..VERTICES).map(|v| having(&faces, [v])).collect();
        prop_assert_eq!(rows(&surface.vertex_faces()), by_vertex);
        let ends: Vec<_> = edges.iter().copied().collect();
        let by_vertex: Vec<_> = (0..VERTICES).map(|v| having(&ends, [v])).collect();
        prop_assert_eq!(rows(&surface.vertex_edges()), by_vertex);

        let mut by_edge: BTreeMap<_, Vec<u32>> = BTreeMap::new();
        for (number, face) in (0..).zip(&faces) {
            for side in sides(face) {
                by_edge.entry(side).or_default().push(number);
            }
        }
        prop_assert_eq!(rows(&surface.edge_faces()), by_edge.values().cloned().collect::<Vec<_>>());

        let neighbours: Vec<Vec<u32>> = (0..).zip(&faces).map(|(number, face)| {
            let next = |side: [u32; 2]| {
                let around = &by_edge[&side];
                let place = around.iter().position(|&other| other == number).unwrap();
                around[(place + 1) % around.len()]
            };
            sides(face).into_iter().map(next).filter(|&other| other != number).collect()
        }).collect();
        prop_assert_eq!(rows(&surface.face_faces()), neighbours);

        let components = surface.components();
        let expected = parts(&edges);
        prop_assert_eq!(components.count() as u32, expected.iter().max().map_or(0, |last| last + 1));
        prop_assert_eq!(components.of_vertex(), expected);
    }

    #[test]
    fn tables_of_a_body_agree_with_a_search(cells in any_cells()) {
        let body = Body::new("any", anywhere(), Tetrahedra::new(cells.clone())).unwrap();
        let by_vertex: Vec<_> = (0..VERTICES).map(|v| having(&cells, [v])).collect();
        prop_assert_eq!(rows(&body.vertex_cells()), by_vertex);

        let mut edges = BTreeSet::new();
        let mut triangles = BTreeSet::new();
        for mut cell in cells.iter().copied() {
            cell.sort_unstable();
            let [a, b, c, d] = cell;
            edges.extend([[a, b], [a, c], [a, d], [b, c], [b, d], [c, d]]);
            triangles.extend([[a, b, c], [a, b, d], [a, c, d], [b, c, d]]);
        }
        let ends: Vec<_> = edges.iter().copied().collect();
        prop_assert_eq!(body.connectivity().edges().ends(), &ends[..]);
        prop_assert_eq!(body.count(ElementClass::Edge).unwrap(), ends.len());

        let faces = body.connectivity().faces();
        let mut sorted = faces.corners().to_vec();
        sorted.iter_mut().for_each(|face| face.sort_unstable());
        prop_assert_eq!(&sorted, &triangles.into_iter().collect::<Vec<_>>());
        prop_assert_eq!(body.count(ElementClass::Face).unwrap(), sorted.len());
        let by_face: Vec<_> = sorted.iter().map(|&face| having(&cells, face)).collect();
        prop_assert_eq!(rows(faces.cells()), by_face);
        let by_vertex: Vec<_> = (0..VERTICES).map(|v| having(&sorted, [v])).collect();
        prop_assert_eq!(rows(&body.vertex_faces()), by_vertex);
        let by_edge: Vec<_> = ends.iter().map(|&edge| having(&sorted, edge)).collect();
        prop_assert_eq!(rows(&body.edge_faces()), by_edge);
        for (cell, opposite) in cells.iter().zip(faces.of_cell()) {
            for corner in 0..4 {
                let face = faces.corners()[opposite[corner] as usize];
                prop_assert!(!face.contains(&cell[corner]));
                prop_assert!(face.iter().all(|vertex| cell.contains(vertex)));
            }
        }
        let components = body.components();
        prop_assert_eq!(components.of_vertex(), parts(&edges));
    }
}

#[test]
fn cells_know_their_neighbours_across_faces() {
    let body = box_of_tetrahedra(3, |_, p| p);
    let cells = body.connectivity().cells();
    for (cell, row) in body.cell_cells().rows().enumerate() {
        let shared = |other: &[u32; 4]| other.iter().filter(|v| cells[cell].contains(v)).count();
        let mut expected: Vec<_> = (0..)
            .zip(cells)
            .filter(|(_, other)| shared(other) == 3)
            .map(|(number, _): (u32, _)| number)
            .collect();
        let mut row = row.to_vec();
        row.sort_unstable();
        expected.sort_unstable();
        assert_eq!(row, expected);
    }
}

#[test]
fn a_sphere_and_a_torus_have_their_euler_characteristics() {
    assert_eq!(icosphere(2).euler_characteristic(), 2);
    assert_eq!(torus(0.3, 9, 7).euler_characteristic(), 0);
}

#[test]
fn two_spheres_are_two_components() {
    let one = icosphere(1);
    let count = one.vertex_count() as u32;
    let positions = one.positions().unwrap().to_vec();
    let far = positions.iter().map(|p| *p + DVec3::X * 5.0);
    let triangles = one.connectivity().as_triangles().unwrap();
    let second = triangles.iter().map(|t| t.map(|v| v + count));
    let faces = triangles.iter().copied().chain(second).collect();
    let both = surface(
        positions.iter().copied().chain(far).collect(),
        Polygons::triangles(faces).unwrap(),
    );
    let components = both.components();
    assert_eq!(components.count(), 2);
    assert!(components.of_vertex()[..count as usize].iter().all(|&part| part == 0));
    assert!(components.of_vertex()[count as usize..].iter().all(|&part| part == 1));
    assert_eq!(both.euler_characteristic(), 4);
}

#[test]
fn every_edge_of_a_closed_surface_has_two_faces() {
    let check = |surface: &Surface| assert!(surface.edge_faces().rows().all(|row| row.len() == 2));
    check(&icosphere(2));
    check(&torus(0.3, 9, 7));
}
