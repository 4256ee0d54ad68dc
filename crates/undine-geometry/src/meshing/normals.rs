//! Normals at vertices, for shading.

use crate::triangles::Triangles;
use undine_core::glam::{DVec3, Vec3};

/// The mean normal of the triangles around each vertex, by their areas; of length 1, or zero where there are no triangles or they
/// cancel.
pub fn vertex_normals(mesh: &Triangles) -> Vec<Vec3> {
    let mut sums = vec![DVec3::ZERO; mesh.positions().len()];
    for corners in mesh.indices() {
        let [a, b, c] = corners.map(|vertex| mesh.positions()[vertex as usize]);
        let across = (b - a).cross(c - a);
        corners.iter().for_each(|vertex| sums[*vertex as usize] += across);
    }
    sums.iter().map(|sum| sum.normalize_or_zero().as_vec3()).collect()
}
