//! A leaf of the tree: eight triangles side by side, and their distances from a point in `f32`.
//!
//! The distance of a triangle is that of its plane if the foot of the perpendicular falls inside, and otherwise the
//! least of its three edges. Taken this way the error stays below a known multiple of the sizes at hand, for needles
//! too: the normal comes from `f64`, a foot wrongly put outside lies next to an edge, and one wrongly put inside makes
//! the distance smaller.

use super::frame::{Frame, round_down, round_up};
use super::node::{Cell, Lanes, WIDTH, least, most};
use crate::triangles::Triangles;
use undine_core::glam::{DMat3, DVec3, Vec3};

/// The error of a distance, relative to the sizes at hand: about 20 roundings of 2⁻²⁴, and as much again.
const ERROR: f32 = 4e-6;

/// Triangles thinner than this, relative to their length, are taken for their edges: their normal would be noise, and
/// their edges are nearer to all of them than [`ERROR`].
const NEEDLE: f64 = 1e-7;

/// The triangles of a leaf, in coordinates around their own middle, where `f32` has digits to spare.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub(super) struct Leaf {
    corner: [Lanes; 3],
    /// From the corner to the second corner.
    first: [Lanes; 3],
    /// From the corner to the third corner.
    second: [Lanes; 3],
    /// Of length 1; zero for needles and triangles without area.
    normal: [Lanes; 3],
    /// The numbers of the triangles.
    pub(super) triangles: [u32; WIDTH],
    /// The middle of the leaf in the tree's coordinates.
    middle: [f32; 3],
    /// No coordinate around the middle is larger.
    radius: f32,
    /// Whether one of them is a needle.
    pub(super) needles: bool,
    /// How many triangles there are; the lanes behind them repeat the first.
    pub(super) len: u32,
}

impl Leaf {
    /// A leaf of up to eight triangles, still to be fitted.
    pub(super) fn new(triangles: impl ExactSizeIterator<Item = u32>) -> Self {
        let len = triangles.len() as u32;
        let mut lanes = [0; WIDTH];
        for (lane, triangle) in lanes.iter_mut().zip(triangles) {
            *lane = triangle;
        }
        let first = lanes[0];
        lanes[len as usize..].fill(first);
        let zero = [[0.0; WIDTH]; 3];
        Self {
            corner: zero,
            first: zero,
            second: zero,
            normal: zero,
            triangles: lanes,
            middle: [0.0; 3],
            radius: 0.0,
            needles: false,
            len,
        }
    }

    /// The numbers of the triangles.
    pub(super) fn ids(&self) -> &[u32] {
        &self.triangles[..self.len as usize]
    }

    /// Takes the positions of its triangles, and gives the box around them and their normal as a [`facing`].
    pub(super) fn fit(&mut self, triangles: &Triangles, frame: &Frame) -> (Cell, DVec3) {
        let local = self
            .triangles
            .map(|triangle| triangles.corners(triangle as usize).map(|p| frame.local(p)));
        let (low, high) = local
            .iter()
            .flatten()
            .fold((local[0][0], local[0][0]), |(low, high), &p| (low.min(p), high.max(p)));
        let middle = (0.5 * (low + high)).as_vec3();
        self.middle = middle.to_array();
        self.radius = round_up((high - low).max_element());
        let mut sum = DVec3::ZERO;
        self.needles = false;
        for (lane, &[a, b, c]) in local.iter().enumerate() {
            let (first, second) = (b - a, c - a);
            let normal = first.cross(second);
            sum = facing(sum, normal);
            let length = first.length_squared().max(second.length_squared());
            let needle = normal.length() <= NEEDLE * length;
            let unit = if needle { DVec3::ZERO } else { normal.normalize() };
            self.needles |= needle;
            for axis in 0..3 {
                self.corner[axis][lane] = (a[axis] - f64::from(middle[axis])) as f32;
                self.first[axis][lane] = first[axis] as f32;
                self.second[axis][lane] = second[axis] as f32;
                self.normal[axis][lane] = unit[axis] as f32;
            }
        }
        let margin = frame.margin;
        let cell = Cell {
            low: std::array::from_fn(|axis| round_down(low[axis] - margin)),
            high: std::array::from_fn(|axis| round_up(high[axis] + margin)),
        };
        (cell, sum)
    }

    /// How far it reaches from `origin` along three `axes`, given as `turn` too.
    pub(super) fn extent(&self, axes: &[Vec3; 3], turn: &DMat3, origin: DVec3) -> (DVec3, DVec3) {
        let (mut low, mut high) = (DVec3::ZERO, DVec3::ZERO);
        for (side, axis) in axes.iter().enumerate() {
            let axis = axis.to_array();
            let (mut from, mut to) = ([0.0; WIDTH], [0.0; WIDTH]);
            for lane in 0..WIDTH {
                let along = |of: &[Lanes; 3]| dot(axis, [of[0][lane], of[1][lane], of[2][lane]]);
                let (first, second) = (along(&self.first), along(&self.second));
                let corner = along(&self.corner);
                from[lane] = corner + least(least(first, second), 0.0);
                to[lane] = corner + most(most(first, second), 0.0);
            }
            low[side] = f64::from(from.into_iter().reduce(least).unwrap_or_default());
            high[side] = f64::from(to.into_iter().reduce(most).unwrap_or_default());
        }
        let middle = turn * (Vec3::from_array(self.middle).as_dvec3() - origin);
        let error = DVec3::splat(f64::from(ERROR * self.radius));
        (middle + low - error, middle + high + error)
    }

    /// About the squared distances of the triangles from a point `at` in the tree's coordinates, and the error that
    /// the distances may have at most.
    #[inline(always)]
    pub(super) fn distances_squared(&self, at: DVec3) -> (Lanes, f32) {
        let at: [f32; 3] =
            std::array::from_fn(|axis| (at[axis] - f64::from(self.middle[axis])) as f32);
        let far = at.iter().fold(self.radius, |far, x| far + x.abs());
        let mut found = [0.0; WIDTH];
        for (lane, found) in found.iter_mut().enumerate() {
            *found = self.distance_squared(lane, at);
        }
        (found, ERROR * far)
    }

    #[inline(always)]
    fn distance_squared(&self, lane: usize, at: [f32; 3]) -> f32 {
        let pick = |of: &[Lanes; 3]| [of[0][lane], of[1][lane], of[2][lane]];
        let (first, second, normal) = (pick(&self.first), pick(&self.second), pick(&self.normal));
        let third = minus(second, first);
        // From the corners to the point.
        let a = minus(at, pick(&self.corner));
        let b = minus(a, first);
        // On which side of the edges it lies, as seen along the normal.
        let across = cross(normal, a);
        let inside = (dot(across, first) < 0.0)
            & (dot(across, second) > 0.0)
            & (dot(cross(normal, b), third) < 0.0);
        let height = dot(normal, a);
        let edges = least(least(to_edge(a, first), to_edge(a, second)), to_edge(b, third));
        if inside { height * height } else { edges }
    }
}

/// Adds to a sum of normals that of a further patch, which may look either way.
pub(super) fn facing(sum: DVec3, normal: DVec3) -> DVec3 {
    if sum.dot(normal) < 0.0 { sum - normal } else { sum + normal }
}

/// The squared distance from a point at `from` of an edge's start to the edge.
#[inline(always)]
fn to_edge(from: [f32; 3], along: [f32; 3]) -> f32 {
    let length = dot(along, along) + f32::MIN_POSITIVE;
    let t = dot(from, along) / length;
    let t = if t > 0.0 { t } else { 0.0 };
    let t = least(t, 1.0);
    let foot = [from[0] - t * along[0], from[1] - t * along[1], from[2] - t * along[2]];
    dot(foot, foot)
}

#[inline(always)]
fn minus(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
fn cross(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
