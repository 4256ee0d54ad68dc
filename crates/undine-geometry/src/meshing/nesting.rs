//! Which closed patches of a mesh lie inside of which others: a wall of a cavity looks the other way.

use crate::triangles::Triangles;
use rayon::prelude::*;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;

/// How many closed patches lie around each patch, by the parity of crossings of a ray along +x from the middle of its
/// largest triangle. `patch` tells that of each triangle; patches that are not closed enclose nothing.
pub(super) fn depths(mesh: &Triangles, patch: &[u32], is_closed: &[bool]) -> Vec<usize> {
    let Some(bounds) = mesh.bounds() else { return vec![0; is_closed.len()] };
    let walls: Vec<u32> =
        (0..mesh.len() as u32).filter(|&t| is_closed[patch[t as usize] as usize]).collect();
    let rows = Rows::new(mesh, &walls, &bounds);

    let mut largest = vec![(0.0, DVec3::ZERO); is_closed.len()];
    for ([a, b, c], &patch) in mesh.iter().zip(patch) {
        let area = (b - a).cross(c - a).length();
        let largest = &mut largest[patch as usize];
        if area > largest.0 {
            *largest = (area, (a + b + c) / 3.0);
        }
    }
    let depth = |(number, &(_, point)): (usize, &(f64, DVec3))| {
        let mut crossed: Vec<u32> = rows
            .at(point.z)
            .iter()
            .filter(|&&t| patch[t as usize] as usize != number)
            .filter(|&&t| is_crossed(mesh.corners(t as usize), point))
            .map(|&t| patch[t as usize])
            .collect();
        crossed.sort_unstable();
        crossed.chunk_by(|a, b| a == b).filter(|same| same.len() % 2 == 1).count()
    };
    largest.par_iter().enumerate().map(depth).collect()
}

/// Triangles by layers along z: those that reach into each.
struct Rows {
    low: f64,
    height: f64,
    offsets: Vec<usize>,
    triangles: Vec<u32>,
}

impl Rows {
    fn new(mesh: &Triangles, triangles: &[u32], bounds: &Bounds) -> Self {
        let low = bounds.min.z;
        let extent = bounds.size().z.max(f64::MIN_POSITIVE);
        let span = |t: u32, rows: usize| {
            let [a, b, c] = mesh.corners(t as usize).map(|corner| corner.z);
            let row = |z: f64| row_of(z, low, extent / rows as f64, rows);
            row(a.min(b).min(c))..=row(a.max(b).max(c))
        };
        // As many rows as triangles that reach through many of them leave room for.
        let mut rows = 4096;
        let entries = |rows| triangles.iter().map(|&t| span(t, rows).count()).sum::<usize>();
        while rows > 1 && entries(rows) > 4 * triangles.len() {
            rows /= 2;
        }
        let mut all: Vec<(usize, u32)> =
            triangles.iter().flat_map(|&t| span(t, rows).map(move |row| (row, t))).collect();
        all.sort_unstable();
        let offsets = (0..=rows).map(|row| all.partition_point(|&(of, _)| of < row)).collect();
        let triangles = all.into_iter().map(|(_, t)| t).collect();
        Self { low, height: extent / rows as f64, offsets, triangles }
    }

    fn at(&self, z: f64) -> &[u32] {
        let row = row_of(z, self.low, self.height, self.offsets.len() - 1);
        &self.triangles[self.offsets[row]..self.offsets[row + 1]]
    }
}

fn row_of(z: f64, low: f64, height: f64, rows: usize) -> usize {
    (((z - low) / height) as usize).min(rows - 1)
}

/// Whether the ray from a point along +x crosses a triangle. Along an edge the answer of one neighbour is always that
/// of the other, so that a closed surface is never crossed once too often.
fn is_crossed(corners: [DVec3; 3], from: DVec3) -> bool {
    let is_beyond = |a: DVec3, b: DVec3| {
        if (a.z > from.z) == (b.z > from.z) {
            return false;
        }
        let (low, high) = if a.z > from.z { (b, a) } else { (a, b) };
        from.y < low.y + (from.z - low.z) / (high.z - low.z) * (high.y - low.y)
    };
    let [a, b, c] = corners;
    if !(is_beyond(a, b) ^ is_beyond(b, c) ^ is_beyond(c, a)) {
        return false;
    }
    let normal = (b - a).cross(c - a);
    let way = a - from;
    // x where the plane of the triangle is met: n·(from + x e_x − a) = 0.
    normal.x != 0.0 && normal.dot(way) / normal.x > 0.0
}
