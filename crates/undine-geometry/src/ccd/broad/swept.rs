//! The boxes that moving primitives sweep, and the candidate pairs of meshes.

use super::search::{overlapping, overlapping_self};
use crate::ccd::{Gap, MovingVertices};
use crate::error::{GeometryError, Result, positive};
use rayon::prelude::*;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;
use undine_core::{Frame, MemoryBudget};

/// The boxes that primitives of `N` vertices sweep (points, edges, triangles), wider by half of the gap on every side: two
/// that come within the gap of each other overlap.
pub fn swept_boxes<const N: usize>(
    motion: MovingVertices<'_>,
    primitives: &[[u32; N]],
    gap: Gap,
) -> Result<Vec<Bounds>> {
    motion.check_indices("primitive", primitives)?;
    let swept = |primitive: &[u32; N]| {
        let mut bounds = sweep(motion, primitive[0]);
        for &vertex in &primitive[1..] {
            bounds = bounds.union(sweep(motion, vertex));
        }
        widen(bounds, 0.5 * gap.reach())
    };
    Ok(primitives.par_iter().map(swept).collect())
}

/// The boxes that spheres around all vertices sweep, with these radii [m]; wider by half of the gap.
pub fn swept_sphere_boxes(
    motion: MovingVertices<'_>,
    radii: &[f64],
    gap: Gap,
) -> Result<Vec<Bounds>> {
    let (found, wanted) = (radii.len(), motion.start().len());
    if found != wanted {
        return Err(GeometryError::WrongLength { what: "the radii", found, wanted });
    }
    for &radius in radii.iter().filter(|&&radius| radius != 0.0) {
        positive("the radius of a sphere", radius)?;
    }
    let swept = |(vertex, radius): (usize, &f64)| {
        widen(sweep(motion, vertex as u32), radius + 0.5 * gap.reach())
    };
    Ok(radii.par_iter().enumerate().map(swept).collect())
}

/// Points and triangles whose swept boxes overlap and that have no vertex in common, as pairs for
/// [`point_triangle_all`](crate::ccd::point_triangle_all).
pub fn point_triangle_candidates(
    frame: Frame,
    motion: MovingVertices<'_>,
    points: &[u32],
    triangles: &[[u32; 3]],
    gap: Gap,
    budget: &MemoryBudget,
) -> Result<Vec<[u32; 4]>> {
    let singles: Vec<[u32; 1]> = points.iter().map(|&point| [point]).collect();
    let first = swept_boxes(motion, &singles, gap)?;
    let second = swept_boxes(motion, triangles, gap)?;
    overlapping(frame, &first, &second, budget, |point, triangle| {
        let (point, [a, b, c]) = (points[point as usize], triangles[triangle as usize]);
        (point != a && point != b && point != c).then_some([point, a, b, c])
    })
}

/// Edges of one set whose swept boxes overlap and that have no vertex in common, as pairs for
/// [`edge_edge_all`](crate::ccd::edge_edge_all).
pub fn edge_edge_candidates(
    frame: Frame,
    motion: MovingVertices<'_>,
    edges: &[[u32; 2]],
    gap: Gap,
    budget: &MemoryBudget,
) -> Result<Vec<[u32; 4]>> {
    let boxes = swept_boxes(motion, edges, gap)?;
    overlapping_self(frame, &boxes, budget, |a, b| apart(edges[a as usize], edges[b as usize]))
}

/// An edge of `first` and one of `second` whose swept boxes overlap and that have no vertex in common.
pub fn edge_edge_between(
    frame: Frame,
    motion: MovingVertices<'_>,
    first: &[[u32; 2]],
    second: &[[u32; 2]],
    gap: Gap,
    budget: &MemoryBudget,
) -> Result<Vec<[u32; 4]>> {
    let boxes = [swept_boxes(motion, first, gap)?, swept_boxes(motion, second, gap)?];
    overlapping(frame, &boxes[0], &boxes[1], budget, |a, b| {
        apart(first[a as usize], second[b as usize])
    })
}

fn apart([a, b]: [u32; 2], [c, d]: [u32; 2]) -> Option<[u32; 4]> {
    (a != c && a != d && b != c && b != d).then_some([a, b, c, d])
}

fn sweep(motion: MovingVertices<'_>, vertex: u32) -> Bounds {
    let (a, b) = (motion.start()[vertex as usize], motion.end()[vertex as usize]);
    Bounds { min: a.min(b), max: a.max(b) }
}

/// A box, wider on all sides by at least `by`, whatever rounding does.
fn widen(bounds: Bounds, by: f64) -> Bounds {
    let farthest = bounds.min.abs().max(bounds.max.abs()).max_element() + by;
    let by = DVec3::splat(by + 4.0 * f64::EPSILON * farthest);
    Bounds { min: bounds.min - by, max: bounds.max + by }
}
