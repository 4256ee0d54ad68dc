//! Normals at every point of a mesh, also on its edges and corners: those of the triangles around, weighted by their
//! angles there (Bærentzen & Aanæs 2005).

use crate::bvh::Closest;
use crate::triangle::Feature;
use crate::triangles::Triangles;
use rayon::prelude::*;
use undine_core::glam::DVec3;

/// The angle-weighted normals of a mesh, and where it is closed: where each edge has two triangles that agree on
/// their outside, and each corner one fan of them.
#[derive(Debug, Clone)]
pub struct Pseudonormals {
    /// For each triangle's edges, the triangle behind; or [`NONE`].
    neighbours: Vec<[u32; 3]>,
    /// For each vertex whether the triangles around it form one closed fan.
    closed: Vec<bool>,
    /// For each vertex the sum of normal times angle.
    vertices: Vec<DVec3>,
}

/// No triangle, or more than one.
const NONE: u32 = u32::MAX;

impl Pseudonormals {
    /// The normals of a mesh.
    pub fn new(mesh: &Triangles) -> Self {
        let neighbours = neighbours(mesh);
        let closed = closed_fans(mesh, &neighbours);
        let mut normals = Self { neighbours, closed, vertices: Vec::new() };
        normals.update(mesh);
        normals
    }

    /// The normals after the vertices of the mesh have moved.
    pub fn update(&mut self, mesh: &Triangles) {
        let weighted: Vec<[DVec3; 3]> = mesh
            .indices()
            .par_iter()
            .enumerate()
            .map(|(triangle, _)| {
                let corners = mesh.corners(triangle);
                let normal = face(corners);
                [0, 1, 2].map(|corner| normal * angle(corners, corner))
            })
            .collect();
        // In the order of the triangles, which keeps the bits.
        let mut vertices = vec![DVec3::ZERO; mesh.positions().len()];
        for (corners, weighted) in mesh.indices().iter().zip(weighted) {
            for (&vertex, normal) in corners.iter().zip(weighted) {
                vertices[vertex as usize] += normal;
            }
        }
        self.vertices = vertices;
    }

    /// The normal at a point of the mesh, of length 1. Where all normals cancel it is that of the triangle, and that
    /// of a triangle without area is some direction.
    pub fn at(&self, mesh: &Triangles, closest: &Closest) -> DVec3 {
        let triangle = closest.triangle as usize;
        let face = face(mesh.corners(triangle));
        self.sum(mesh, closest).try_normalize().or_else(|| face.try_normalize()).unwrap_or(DVec3::Z)
    }

    /// The normal at a point of the mesh if the mesh is closed there, so that it tells inside from outside.
    pub fn closed_at(&self, mesh: &Triangles, closest: &Closest) -> Option<DVec3> {
        let triangle = closest.triangle as usize;
        let closed = match closest.feature {
            Feature::Face => true,
            Feature::Edge(edge) => self.neighbours[triangle][usize::from(edge)] != NONE,
            Feature::Corner(corner) => {
                self.closed[mesh.indices()[triangle][usize::from(corner)] as usize]
            }
        };
        if closed { self.sum(mesh, closest).try_normalize() } else { None }
    }

    fn sum(&self, mesh: &Triangles, closest: &Closest) -> DVec3 {
        let triangle = closest.triangle as usize;
        let own = face(mesh.corners(triangle));
        match closest.feature {
            Feature::Face => own,
            Feature::Edge(edge) => match self.neighbours[triangle][usize::from(edge)] {
                NONE => own,
                // Both angles are π.
                behind => own + face(mesh.corners(behind as usize)),
            },
            Feature::Corner(corner) => {
                self.vertices[mesh.indices()[triangle][usize::from(corner)] as usize]
            }
        }
    }
}

/// The normal of a triangle, of length 1; zero without area.
fn face([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a).normalize_or_zero()
}

/// The angle of a triangle at a corner [rad].
fn angle(corners: [DVec3; 3], corner: usize) -> f64 {
    let along = corners[(corner + 1) % 3] - corners[corner];
    let other = corners[(corner + 2) % 3] - corners[corner];
    along.cross(other).length().atan2(along.dot(other))
}

/// For each triangle's edges the one triangle behind, if there is one and it runs along the edge the other way.
fn neighbours(mesh: &Triangles) -> Vec<[u32; 3]> {
    let mut edges: Vec<([u32; 2], u32, u8, bool)> = mesh
        .indices()
        .par_iter()
        .enumerate()
        .flat_map_iter(|(triangle, corners)| {
            (0..3_u8).map(move |edge| {
                let [from, to] = [corners[usize::from(edge)], corners[(usize::from(edge) + 1) % 3]];
                ([from.min(to), from.max(to)], triangle as u32, edge, from < to)
            })
        })
        .collect();
    edges.par_sort_unstable();
    let mut neighbours = vec![[NONE; 3]; mesh.len()];
    for around in edges.chunk_by(|a, b| a.0 == b.0) {
        if let &[(_, first, one, forwards), (_, second, two, backwards)] = around
            && forwards != backwards
        {
            neighbours[first as usize][usize::from(one)] = second;
            neighbours[second as usize][usize::from(two)] = first;
        }
    }
    neighbours
}

/// For each vertex whether one walk around it, from triangle to triangle, meets all of its triangles.
fn closed_fans(mesh: &Triangles, neighbours: &[[u32; 3]]) -> Vec<bool> {
    let vertices = mesh.positions().len();
    let (mut count, mut any) = (vec![0_u32; vertices], vec![NONE; vertices]);
    for (triangle, corners) in mesh.indices().iter().enumerate() {
        for &vertex in corners {
            count[vertex as usize] += 1;
            any[vertex as usize] = triangle as u32;
        }
    }
    let walk = |vertex: usize| {
        let (start, mut triangle) = (any[vertex], any[vertex]);
        for step in 1..=count[vertex] {
            let corners = mesh.indices()[triangle as usize];
            let Some(corner) = corners.iter().position(|&corner| corner as usize == vertex) else {
                return false;
            };
            // Over the edge that ends at the vertex to the triangle behind.
            triangle = neighbours[triangle as usize][(corner + 2) % 3];
            if triangle == NONE {
                return false;
            }
            if triangle == start {
                return step == count[vertex];
            }
        }
        false
    };
    (0..vertices).into_par_iter().map(walk).collect()
}
