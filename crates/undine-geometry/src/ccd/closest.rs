//! The point of a set of differences that is nearest to the origin, with the directions in which it may be
//! separated from the origin.

use crate::triangle::{self, Feature};
use undine_core::glam::DVec3;

/// The nearest point of a hull of `K` differences.
#[derive(Debug, Clone, Copy)]
pub(super) struct Closest<const K: usize> {
    /// The point itself [m].
    pub point: DVec3,
    /// The weights of the differences in it, which sum to 1.
    pub weights: [f64; K],
    /// The direction across the face it lies on, of any length; zero where it lies on none.
    pub across: DVec3,
    /// The direction of the edge it lies on, of any length; zero where it lies on none.
    pub along: DVec3,
}

/// A point against the three corners of a triangle.
pub(super) fn point_triangle(r: &[DVec3; 3]) -> Closest<3> {
    let found = triangle::closest_point(*r, DVec3::ZERO);
    let along = match found.feature {
        Feature::Edge(edge) => r[(usize::from(edge) + 1) % 3] - r[usize::from(edge)],
        Feature::Corner(_) | Feature::Face => DVec3::ZERO,
    };
    let across = (r[1] - r[0]).cross(r[2] - r[0]);
    Closest { point: found.point, weights: found.weights, across, along }
}

/// Two edges; differences are numbered 2 · end of the first + end of the second.
pub(super) fn edge_edge(r: &[DVec3; 4]) -> Closest<4> {
    // The set is the parallelogram r0 + s u - t v, with the first edge u and the second v.
    let (u, v) = (r[2] - r[0], r[0] - r[1]);
    let across = u.cross(v);
    let (uu, uv, vv) = (u.length_squared(), u.dot(v), v.length_squared());
    let (ur, vr) = (u.dot(r[0]), v.dot(r[0]));
    let mut best = (f64::INFINITY, [0.0, 0.0], DVec3::ZERO, DVec3::ZERO);
    let mut offer = |s: f64, t: f64, along: DVec3| {
        let point = mix(r, s, t);
        let distance = point.length_squared();
        if distance < best.0 {
            best = (distance, [s, t], point, along);
        }
    };
    // The inside, unless the edges are parallel as far as rounding can tell.
    let area = across.length_squared();
    if area > uu * vv * 1e-24 {
        let (s, t) = ((uv * vr - vv * ur) / area, (uu * vr - uv * ur) / area);
        if s > 0.0 && s < 1.0 && t > 0.0 && t < 1.0 {
            offer(s, t, DVec3::ZERO);
        }
    }
    // The four sides, each an end of one edge against the other edge.
    let part =
        |top: f64, bottom: f64| if bottom > 0.0 { (top / bottom).clamp(0.0, 1.0) } else { 0.0 };
    let on_side = |x: f64, side: DVec3| if x > 0.0 && x < 1.0 { side } else { DVec3::ZERO };
    for end in [0.0, 1.0] {
        let t = part(vr + end * uv, vv);
        offer(end, t, on_side(t, v));
        let s = part(end * uv - ur, uu);
        offer(s, end, on_side(s, u));
    }
    let (_, [s, t], point, along) = best;
    let weights = [(1.0 - s) * (1.0 - t), (1.0 - s) * t, s * (1.0 - t), s * t];
    Closest { point, weights, across, along }
}

/// The ends of a segment against the corners of a triangle; differences are numbered 3 · end + corner.
pub(super) fn segment_triangle(r: &[DVec3; 6]) -> Closest<6> {
    let mut best: Option<Closest<6>> = None;
    let mut offer = |found: Closest<6>| {
        if best.is_none_or(|best| found.point.length_squared() < best.point.length_squared()) {
            best = Some(found);
        }
    };
    // Each end against the triangle.
    for end in 0..2 {
        let found = point_triangle(&[r[3 * end], r[3 * end + 1], r[3 * end + 2]]);
        let mut weights = [0.0; 6];
        weights[3 * end..3 * end + 3].copy_from_slice(&found.weights);
        offer(Closest { point: found.point, weights, across: found.across, along: found.along });
    }
    // The segment against each edge.
    for edge in 0..3 {
        let numbers = [edge, (edge + 1) % 3, 3 + edge, 3 + (edge + 1) % 3];
        let found = edge_edge(&numbers.map(|number| r[number]));
        let mut weights = [0.0; 6];
        for (number, weight) in numbers.into_iter().zip(found.weights) {
            weights[number] = weight;
        }
        offer(Closest { point: found.point, weights, across: found.across, along: found.along });
    }
    // The segment through the triangle: its ends lie on both sides, and the crossing inside.
    let normal = (r[1] - r[0]).cross(r[2] - r[0]);
    let (before, after) = (normal.dot(r[0]), normal.dot(r[3]));
    if before * after < 0.0 {
        let s = before / (before - after);
        let corners = [0, 1, 2].map(|corner| r[corner].lerp(r[3 + corner], s));
        let found = point_triangle(&corners);
        let [a, b, c] = found.weights;
        let weights = [(1.0 - s) * a, (1.0 - s) * b, (1.0 - s) * c, s * a, s * b, s * c];
        offer(Closest { point: found.point, weights, across: normal, along: found.along });
    }
    best.expect("five pairs of features were offered")
}

/// The difference at `s` along the first edge and `t` along the second.
fn mix(r: &[DVec3; 4], s: f64, t: f64) -> DVec3 {
    let first = r[0] * (1.0 - t) + r[1] * t;
    let second = r[2] * (1.0 - t) + r[3] * t;
    first * (1.0 - s) + second * s
}
