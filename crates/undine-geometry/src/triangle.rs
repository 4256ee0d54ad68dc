//! One triangle: its point nearest to a place (Ericson, *Real-Time Collision Detection*, 5.1.5), and the frame that follows it.

use undine_core::glam::{DMat3, DVec3};

/// The part of a triangle that a point lies on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Feature {
    /// The corner of this number.
    Corner(u8),
    /// The edge from the corner of this number to the next.
    Edge(u8),
    /// The inside.
    Face,
}

/// A point of a triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OnTriangle {
    /// Where it is [m].
    pub point: DVec3,
    /// The weights of the corners, which sum to 1.
    pub weights: [f64; 3],
    /// What it lies on.
    pub feature: Feature,
}

/// The point of a triangle nearest to `at`. A triangle without area is the segment or point that it covers.
pub fn closest_point([a, b, c]: [DVec3; 3], at: DVec3) -> OnTriangle {
    let (ab, ac) = (b - a, c - a);
    let normal = ab.cross(ac);
    let area = normal.length_squared();
    // Inside of the three slabs over the edges.
    if has_area([a, b, c]) {
        let ap = at - a;
        let v = ap.cross(ac).dot(normal) / area;
        let w = ab.cross(ap).dot(normal) / area;
        let u = 1.0 - v - w;
        if u > 0.0 && v > 0.0 && w > 0.0 {
            let point = a + v * ab + w * ac;
            return OnTriangle { point, weights: [u, v, w], feature: Feature::Face };
        }
    }
    // Otherwise it lies on an edge.
    let corners = [a, b, c];
    let mut best: Option<(f64, OnTriangle)> = None;
    for edge in 0..3 {
        let next = (edge + 1) % 3;
        let (from, along) = (corners[edge], corners[next] - corners[edge]);
        let length = along.length_squared();
        let t = if length > 0.0 { ((at - from).dot(along) / length).clamp(0.0, 1.0) } else { 0.0 };
        let (point, feature) = match t {
            0.0 => (from, Feature::Corner(edge as u8)),
            1.0 => (corners[next], Feature::Corner(next as u8)),
            _ => (from + t * along, Feature::Edge(edge as u8)),
        };
        let distance = point.distance_squared(at);
        if best.is_none_or(|(least, _)| distance < least) {
            let mut weights = [0.0; 3];
            weights[edge] = 1.0 - t;
            weights[next] += t;
            best = Some((distance, OnTriangle { point, weights, feature }));
        }
    }
    best.expect("a triangle has three edges").1
}

/// Whether it has an area that rounding leaves meaning to.
pub fn has_area([a, b, c]: [DVec3; 3]) -> bool {
    let (ab, ac) = (b - a, c - a);
    let scale = ab.length_squared().max(ac.length_squared());
    ab.cross(ac).length_squared() > scale * scale * 1e-24
}

/// The frame of a triangle: along its first edge, across it, and its normal. Without area, that of the world.
pub fn frame([a, b, c]: [DVec3; 3]) -> DMat3 {
    let (along, normal) = ((b - a).try_normalize(), (b - a).cross(c - a).try_normalize());
    match (along, normal) {
        (Some(along), Some(normal)) => DMat3::from_cols(along, normal.cross(along), normal),
        _ => DMat3::IDENTITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point() -> impl Strategy<Value = DVec3> {
        prop::array::uniform3(-2.0..2.0_f64).prop_map(DVec3::from_array)
    }

    proptest! {
        #[test]
        fn no_point_of_the_triangle_is_nearer(a in point(), b in point(), c in point(), at in point()) {
            for corners in [[a, b, c], [a, b, 0.5 * (a + b)], [a, a, b], [c, c, c]] {
                let found = closest_point(corners, at);
                let [u, v, w] = found.weights;
                prop_assert!((u + v + w - 1.0).abs() < 1e-12 && u.min(v).min(w) >= 0.0);
                let again = u * corners[0] + v * corners[1] + w * corners[2];
                prop_assert!(again.distance(found.point) < 1e-9);
                for i in 0..=24 {
                    for j in 0..=24 - i {
                        let (v, w) = (f64::from(i) / 24.0, f64::from(j) / 24.0);
                        let other = corners[0] * (1.0 - v - w) + corners[1] * v + corners[2] * w;
                        prop_assert!(at.distance(found.point) <= at.distance(other) + 1e-9);
                    }
                }
            }
        }
    }
}
