//! Points on a mesh: by area, and as Poisson disks.

use super::Sampling;
use super::poisson::{self, Piece};
use crate::error::{GeometryError, Result, positive};
use crate::random;
use crate::triangles::{Triangles, check_scale};
use rayon::prelude::*;
use undine_core::glam::DVec3;

/// A point on a mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurfacePoint {
    /// Where it is [m].
    pub point: DVec3,
    /// The triangle on which it lies.
    pub triangle: u32,
    /// The weights of the triangle's corners, which sum to 1: values at the corners, so weighted, are the value here.
    pub weights: [f64; 3],
}

/// So many points on a mesh, evenly spread by area, independent of each other.
///
/// The n-th point depends on the seed, on n and on the mesh alone: a larger count begins with the same points.
pub fn sample_surface(
    mesh: &Triangles,
    count: usize,
    sampling: Sampling,
) -> Result<Vec<SurfacePoint>> {
    sampling.check(count as u64)?;
    let areas = areas(mesh)?;
    if count == 0 {
        return Ok(Vec::new());
    }
    let mut sum = 0.0;
    let mut ends: Vec<(f64, u32)> = Vec::with_capacity(areas.len());
    for (&area, triangle) in areas.iter().zip(0..).filter(|(area, _)| **area > 0.0) {
        sum += area;
        ends.push((sum, triangle));
    }
    if ends.is_empty() {
        let wanted = "points can only lie on triangles that have an area";
        return Err(GeometryError::Empty { what: "the mesh to sample", wanted });
    }
    let point = |n: usize| {
        let draw = |which| random::unit(sampling.seed, 3 * n as u64 + which);
        let place = ends.partition_point(|&(end, _)| end <= draw(0) * sum).min(ends.len() - 1);
        let triangle = ends[place].1;
        let weights = evenly_spread(draw(1), draw(2));
        SurfacePoint { point: at(mesh.corners(triangle as usize), weights), triangle, weights }
    };
    Ok((0..count).into_par_iter().with_min_len(1024).map(point).collect())
}

/// Points on a mesh, none nearer to another than `radius` [m] through space, with no room for one more.
///
/// No point of a triangle with an area is further than 1.01 `radius` from a sample. Without area there is none.
pub fn sample_surface_poisson(
    mesh: &Triangles,
    radius: f64,
    sampling: Sampling,
) -> Result<Vec<SurfacePoint>> {
    positive("the radius of Poisson disks", radius)?;
    let areas = areas(mesh)?;
    let Some(bounds) = mesh.bounds() else { return Ok(Vec::new()) };
    // Pieces are divided down to a small part of the radius, which must not drown in the rounding of places.
    let farthest = bounds.min.abs().max(bounds.max.abs()).max_element();
    if radius < 1e-12 * farthest {
        return Err(GeometryError::BadParameter {
            what: "the radius of Poisson disks",
            found: radius,
            wanted: "at least 1e-12 of the mesh's distance from the origin",
        });
    }
    // A flat surface without room for one more has at least a disk of this radius for each point. One that is folded
    // closer than the radius may do with fewer, so only what is clearly too much is refused before it is tried.
    let most_area = 8.0 * std::f64::consts::PI * radius * radius * (sampling.most as f64 + 1.0);
    let area: f64 = areas.iter().sum();
    if area > most_area {
        sampling.check((area / (std::f64::consts::PI * radius * radius)) as u64)?;
    }

    let whole = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let with_area = (0..).zip(&areas).filter(|(_, area)| **area > 0.0);
    let pieces = with_area.map(|(triangle, _)| Part { mesh, triangle, weights: whole }).collect();
    let points = poisson::fill(pieces, &bounds, radius, 1.0 / 256.0, sampling)?;
    Ok(points
        .into_iter()
        .map(|(point, (triangle, weights))| SurfacePoint { point, triangle, weights })
        .collect())
}

fn areas(mesh: &Triangles) -> Result<Vec<f64>> {
    check_scale(mesh.positions())?;
    Ok(mesh.iter().map(area).collect())
}

fn area([a, b, c]: [DVec3; 3]) -> f64 {
    0.5 * (b - a).cross(c - a).length()
}

fn at([a, b, c]: [DVec3; 3], [u, v, w]: [f64; 3]) -> DVec3 {
    u * a + v * b + w * c
}

/// Weights of a point evenly spread over a triangle (Osada, Funkhouser, Chazelle and Dobkin 2002, eq. 1).
fn evenly_spread(first: f64, second: f64) -> [f64; 3] {
    let root = first.sqrt();
    [1.0 - root, root * (1.0 - second), root * second]
}

/// A part of a triangle: a smaller one inside it, by the weights of its corners.
#[derive(Clone, Copy)]
struct Part<'a> {
    mesh: &'a Triangles,
    triangle: u32,
    weights: [[f64; 3]; 3],
}

impl Part<'_> {
    fn corners(&self) -> [DVec3; 3] {
        let corners = self.mesh.corners(self.triangle as usize);
        self.weights.map(|weights| at(corners, weights))
    }

    /// The point with these weights of the part's own corners.
    fn mixed(&self, [u, v, w]: [f64; 3]) -> Option<(DVec3, (u32, [f64; 3]))> {
        let [a, b, c] = self.weights;
        let weights = [0, 1, 2].map(|k| u * a[k] + v * b[k] + w * c[k]);
        let point = at(self.mesh.corners(self.triangle as usize), weights);
        Some((point, (self.triangle, weights)))
    }
}

impl Piece for Part<'_> {
    type Tag = (u32, [f64; 3]);

    fn measure(&self) -> f64 {
        area(self.corners())
    }

    fn point(&self, [first, second, _]: [f64; 3]) -> Option<(DVec3, Self::Tag)> {
        self.mixed(evenly_spread(first, second))
    }

    fn middle(&self) -> Option<(DVec3, Self::Tag)> {
        self.mixed([1.0 / 3.0; 3])
    }

    fn ball(&self) -> (DVec3, f64) {
        let corners = self.corners();
        let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
        let reach = corners.map(|corner| corner.distance_squared(middle));
        (middle, reach[0].max(reach[1]).max(reach[2]).sqrt())
    }

    fn is_covered_by(&self, point: DVec3, radius: f64) -> bool {
        // A ball is convex: it holds a triangle if it holds its corners.
        self.corners().iter().all(|corner| corner.distance_squared(point) < radius * radius)
    }

    /// Two halves across the longest side, so that slivers do not stay slivers.
    fn divide(&self, parts: &mut Vec<Self>) {
        let corners = self.corners();
        let length = |side: usize| corners[side].distance_squared(corners[(side + 1) % 3]);
        // Of sides of one length it is the first, which rounding does not decide.
        let is_longer = |side: usize, best: usize| length(side) > (1.0 + 1e-6) * length(best);
        let longest = (1..3).fold(0, |best, side| if is_longer(side, best) { side } else { best });
        let [a, b, c] = [0, 1, 2].map(|k| self.weights[(longest + k) % 3]);
        let half = [0, 1, 2].map(|k| 0.5 * (a[k] + b[k]));
        parts.push(Self { weights: [a, half, c], ..*self });
        parts.push(Self { weights: [half, b, c], ..*self });
    }
}
