//! A solid of revolution: a closed line in the half plane (r, z), r ≥ 0, turned about the z axis.
//!
//! Turning a point of the surface into the half plane of the place asked about only brings it nearer, so the nearest point
//! lies in that half plane, and the distance is that to a polygon. Which side is told by the normals of what is
//! nearest (Bærentzen and Aanæs 2005). Edges on the axis are no surface.

use super::frustum::{OnSection, on_segment};
use super::primitives::radial;
use super::tree::BoxTree;
use super::{LONGEST, SHORTEST};
use crate::error::{GeometryError, Result};
use crate::solid::Nearest;
use undine_core::glam::{DVec2, DVec3};
use undine_core::mesh::Bounds;

const WHAT: &str = "the profile of a revolved shape";

/// The most points of a profile: each pair of edges is tested once.
const MOST: usize = 16_384;

/// A closed polygon about the axis.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Profile {
    /// In turn to the left, so that the inside lies to the left of each edge.
    points: Vec<DVec2>,
    edges: Vec<Edge>,
    tree: BoxTree,
    size: f64,
}

/// An edge off the axis.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Edge {
    ends: [DVec2; 2],
    normal: DVec2,
    /// The sum of the normals that meet at either end; those at the axis meet their own mirror image.
    corners: [DVec2; 2],
}

impl Profile {
    pub(super) fn new(points: &[DVec2]) -> Result<Self> {
        let mut points = checked(points)?;
        let area = twice_area(&points);
        let size = points.iter().fold(0.0_f64, |most, point| most.max(point.distance(points[0])));
        if area.abs() <= 1e-14 * size * size {
            let thickness = area.abs() / size.max(SHORTEST);
            return Err(GeometryError::Flat { what: WHAT, thickness, extent: size });
        }
        check_simple(&points)?;
        if area < 0.0 {
            points.reverse();
        }
        let edges = edges(&points);
        let boxes: Vec<Bounds> = edges
            .iter()
            .map(|edge| Bounds::around(edge.ends.map(|end| end.extend(0.0))).expect("two ends"))
            .collect();
        // Rounding follows the distance from the axis as well.
        let size = points.iter().fold(size, |most, point| most.max(point.x));
        Ok(Self { tree: BoxTree::new(&boxes), points, edges, size })
    }

    /// How far it reaches in a direction of length 1 [m], which has these parts across and along the axis.
    pub(super) fn reach(&self, across: f64, along: f64) -> f64 {
        let direction = DVec2::new(across, along);
        self.points.iter().fold(f64::NEG_INFINITY, |most, point| most.max(point.dot(direction)))
    }

    /// Whether the solid is convex: it reaches the axis, and no edge looks towards it or turns to the right.
    pub(super) fn is_convex(&self) -> bool {
        let count = self.points.len();
        let turns_left = (0..count).all(|i| {
            let [a, b, c] = [0, 1, 2].map(|k| self.points[(i + k) % count]);
            (b - a).perp_dot(c - b) >= 0.0
        });
        turns_left && self.edges.len() < count && self.edges.iter().all(|edge| edge.normal.x >= 0.0)
    }

    pub(super) fn nearest(&self, at: DVec3) -> Nearest {
        let (outwards, r) = radial(at);
        let place = DVec2::new(r, at.z);
        let mut least = f64::INFINITY;
        let mut best = (0, self.edges[0].ends[0], false);
        self.tree.near(place.extend(0.0), |part| {
            let [a, b] = self.edges[part].ends;
            let (point, between) = on_segment(a, b, place);
            let distance = point.distance_squared(place);
            if distance < least {
                (least, best) = (distance, (part, point, between));
            }
            least
        });
        let (part, point, straight) = best;
        let edge = &self.edges[part];
        let corner = usize::from(point == edge.ends[1]);
        let towards = if straight { edge.normal } else { edge.corners[corner] };
        let inside = towards.dot(place - point) < 0.0;
        OnSection { point, normal: edge.normal, straight }.lift(place, outwards, inside, self.size)
    }

    /// In turn to the left, so that the inside lies to the left of each edge.
    pub(super) fn points(&self) -> &[DVec2] {
        &self.points
    }
}

/// The points without repetitions, if they may be a profile.
fn checked(points: &[DVec2]) -> Result<Vec<DVec2>> {
    if points.len() > MOST {
        return Err(GeometryError::TooMany {
            what: WHAT,
            found: points.len() as u64,
            most: MOST as u64,
        });
    }
    for (vertex, point) in points.iter().enumerate() {
        if !point.is_finite() {
            return Err(GeometryError::VertexNotFinite { vertex, position: point.extend(0.0) });
        }
        if point.x < 0.0 {
            let wanted = "0 or more: the distance of each point from the axis";
            return Err(GeometryError::BadParameter {
                what: "the r of a profile",
                found: point.x,
                wanted,
            });
        }
        let reach = point.abs().max_element();
        if reach > LONGEST {
            let wanted = "at most 1e30 m";
            return Err(GeometryError::BadParameter {
                what: "the extent of a profile",
                found: reach,
                wanted,
            });
        }
    }
    // Minus zero is no other place than zero.
    let mut kept: Vec<DVec2> = points.iter().map(|&point| point + DVec2::ZERO).collect();
    kept.dedup();
    while kept.len() > 1 && kept.first() == kept.last() {
        kept.pop();
    }
    if kept.len() < 3 {
        return Err(GeometryError::Empty { what: WHAT, wanted: "it needs three different points" });
    }
    Ok(kept)
}

fn twice_area(points: &[DVec2]) -> f64 {
    let shift = points[0];
    (1..points.len() - 1).map(|i| (points[i] - shift).perp_dot(points[i + 1] - shift)).sum()
}

/// Refuses a polygon whose edges meet other than in turn.
fn check_simple(points: &[DVec2]) -> Result<()> {
    let count = points.len();
    let edge = |i: usize| [points[i], points[(i + 1) % count]];
    let low = |i: usize| edge(i)[0].y.min(edge(i)[1].y);
    let high = |i: usize| edge(i)[0].y.max(edge(i)[1].y);
    // From the lowest upwards, an edge is compared with those that begin before it ends.
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&i, &j| low(i).total_cmp(&low(j)).then(i.cmp(&j)));
    for (n, &i) in order.iter().enumerate() {
        for &j in order[n + 1..].iter().take_while(|&&j| low(j) <= high(i)) {
            let (first, second) = (i.min(j), i.max(j));
            let neighbours = second - first == 1 || (first == 0 && second == count - 1);
            let meet = if neighbours {
                let (before, after) =
                    if second - first == 1 { (first, second) } else { (second, first) };
                folds(edge(before), edge(after))
            } else {
                touch(edge(first), edge(second))
            };
            if meet {
                return Err(GeometryError::MeetsItself { what: WHAT, first, second });
            }
        }
    }
    Ok(())
}

/// Whether the second of two edges in turn runs back over the first.
fn folds([a, b]: [DVec2; 2], [_, c]: [DVec2; 2]) -> bool {
    let (one, two) = (b - a, c - b);
    one.perp_dot(two).abs() <= 1e-15 * one.length() * two.length() && one.dot(two) < 0.0
}

/// Whether two segments have a point in common.
fn touch([a, b]: [DVec2; 2], [c, d]: [DVec2; 2]) -> bool {
    let side = |p: DVec2, q: DVec2, x: DVec2| (q - p).perp_dot(x - p);
    let (c_side, d_side) = (side(a, b, c), side(a, b, d));
    let (a_side, b_side) = (side(c, d, a), side(c, d, b));
    let apart = |one: f64, two: f64| (one > 0.0 && two > 0.0) || (one < 0.0 && two < 0.0);
    let overlap = a.min(b).cmple(c.max(d)).all() && c.min(d).cmple(a.max(b)).all();
    overlap && !apart(c_side, d_side) && !apart(a_side, b_side)
}

/// The edges off the axis, with the normals that tell inside from outside.
fn edges(points: &[DVec2]) -> Vec<Edge> {
    let count = points.len();
    let ends = |i: usize| [points[i % count], points[(i + 1) % count]];
    let on_axis = |[a, b]: [DVec2; 2]| a.x == 0.0 && b.x == 0.0;
    let normal = |[a, b]: [DVec2; 2]| {
        // By the longer side first: squares of tiny lengths are nothing.
        let along = (b - a) / (b - a).abs().max_element();
        DVec2::new(along.y, -along.x).normalize()
    };
    let corner = |edge: usize, other: usize| {
        let own = normal(ends(edge));
        let next =
            if on_axis(ends(other)) { own * DVec2::new(-1.0, 1.0) } else { normal(ends(other)) };
        own + next
    };
    (0..count)
        .filter(|&i| !on_axis(ends(i)))
        .map(|i| Edge {
            ends: ends(i),
            normal: normal(ends(i)),
            corners: [corner(i, i + count - 1), corner(i, i + 1)],
        })
        .collect()
}
