//! Which closed patches of a mesh lie inside of which others: a wall of a cavity looks the other way.

use crate::triangles::Triangles;
use rayon::prelude::*;
use undine_core::glam::{DVec2, DVec3, Vec3Swizzles};
use undine_core::mesh::Bounds;

/// How many closed patches lie around each patch, by the parity of crossings of a ray along +x from the middle of its
/// largest triangle. `patch` tells that of each triangle; patches that are not closed enclose nothing.
pub(super) fn depths(mesh: &Triangles, patch: &[u32], is_closed: &[bool]) -> Vec<usize> {
    let Some(bounds) = mesh.bounds() else { return vec![0; is_closed.len()] };
    let walls: Vec<u32> =
        (0..mesh.len() as u32).filter(|&t| is_closed[patch[t as usize] as usize]).collect();
    let bars = Bars::new(mesh, &walls, &bounds);

    let mut largest = vec![(0.0, DVec3::ZERO); is_closed.len()];
    for ([a, b, c], &patch) in mesh.iter().zip(patch) {
        let area = (b - a).cross(c - a).length();
        let largest = &mut largest[patch as usize];
        if area > largest.0 {
            *largest = (area, (a + b + c) / 3.0);
        }
    }
    let depth = |(number, &(_, point)): (usize, &(f64, DVec3))| {
        let mut crossed: Vec<u32> = bars
            .at(point)
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

/// Triangles by square bars along x: those that reach into each.
struct Bars {
    low: DVec2,
    side: DVec2,
    /// Bars along y, and along z.
    across: usize,
    offsets: Vec<usize>,
    triangles: Vec<u32>,
}

impl Bars {
    fn new(mesh: &Triangles, triangles: &[u32], bounds: &Bounds) -> Self {
        let (low, extent) =
            (bounds.min.yz(), bounds.size().yz().max(DVec2::splat(f64::MIN_POSITIVE)));
        let span = |t: u32, across: usize| {
            let corners = mesh.corners(t as usize).map(|corner| corner.yz());
            let (min, max) = (
                corners[0].min(corners[1]).min(corners[2]),
                corners[0].max(corners[1]).max(corners[2]),
            );
            [min, max].map(|place| bar_of(place, low, extent / across as f64, across))
        };
        let entries = |across: usize| {
            let count =
                |[low, high]: [[usize; 2]; 2]| (high[0] - low[0] + 1) * (high[1] - low[1] + 1);
            triangles.iter().map(|&t| count(span(t, across))).fold(0, usize::saturating_add)
        };
        // As many bars as triangles, or as those that reach into many of them leave room for.
        let mut across = (triangles.len() as f64).sqrt().clamp(1.0, 1024.0) as usize;
        while across > 1 && entries(across) > 8 * triangles.len() {
            across /= 2;
        }
        let mut all: Vec<(usize, u32)> = Vec::new();
        for &t in triangles {
            let [low, high] = span(t, across);
            let bars = (low[0]..=high[0]).flat_map(|y| (low[1]..=high[1]).map(move |z| (y, z)));
            all.extend(bars.map(|(y, z)| (y * across + z, t)));
        }
        all.sort_unstable();
        let bars = across * across;
        let offsets = (0..=bars).map(|bar| all.partition_point(|&(of, _)| of < bar)).collect();
        let triangles = all.into_iter().map(|(_, t)| t).collect();
        Self { low, side: extent / across as f64, across, offsets, triangles }
    }

    fn at(&self, place: DVec3) -> &[u32] {
        let [y, z] = bar_of(place.yz(), self.low, self.side, self.across);
        let bar = y * self.across + z;
        &self.triangles[self.offsets[bar]..self.offsets[bar + 1]]
    }
}

fn bar_of(place: DVec2, low: DVec2, side: DVec2, across: usize) -> [usize; 2] {
    ((place - low) / side).to_array().map(|number| (number as usize).min(across - 1))
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
