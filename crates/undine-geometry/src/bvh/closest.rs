//! The point of a mesh nearest to a place, for one place or for many.

use super::build::MOST_LEVELS;
use super::frame::{Frame, round_down, round_up};
use super::leaf::Leaf;
use super::node::{Child, Lanes, Node, Under, WIDTH, most};
use super::{Bvh, is_place};
use crate::triangle::{Feature, OnTriangle, closest_point};
use multiversion::multiversion;
use rayon::prelude::*;
use undine_core::glam::DVec3;

/// The point of a mesh nearest to a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Closest {
    /// The triangle that it lies on; the first, if it lies on several.
    pub triangle: u32,
    /// What of the triangle it lies on.
    pub feature: Feature,
    /// Where it is [m].
    pub point: DVec3,
    /// The weights of the triangle's corners, which sum to 1.
    pub weights: [f64; 3],
    /// The square of the distance to it [m²].
    pub distance_squared: f64,
}

/// So many points, neighbours along a curve, are asked about by one thread, each starting from the answer before.
const RUN: usize = 512;

impl Bvh {
    /// The point of the mesh nearest to `at` [m]; of points at the same distance, that on the first triangle.
    ///
    /// There is none if there are no triangles, or if `at` is not finite or passes
    /// [`LARGEST_COORDINATE`](super::LARGEST_COORDINATE).
    pub fn closest(&self, at: DVec3) -> Option<Closest> {
        self.closest_within(at, f64::INFINITY)
    }

    /// As [`closest`](Self::closest), if it is no further than `distance` [m].
    pub fn closest_within(&self, at: DVec3, distance: f64) -> Option<Closest> {
        let mut found = None;
        let each = |_, closest| found = closest;
        ask(self, &[(0, at)], distance, &mut Vec::with_capacity(MOST_STACKED), each);
        found
    }

    /// [`closest`](Self::closest) for each of `points` [m], in parallel, and several times faster than one by one.
    pub fn closest_all(&self, points: &[DVec3]) -> Vec<Option<Closest>> {
        self.closest_all_within(points, f64::INFINITY)
    }

    /// [`closest_within`](Self::closest_within) for each of `points` [m], in parallel.
    pub fn closest_all_within(&self, points: &[DVec3], distance: f64) -> Vec<Option<Closest>> {
        let order = along_a_curve(points);
        let runs = order.par_chunks(RUN);
        let answers: Vec<Vec<(u32, Option<Closest>)>> = runs
            .map_init(
                || Vec::with_capacity(MOST_STACKED),
                |stack, run| {
                    let mut answers = Vec::with_capacity(run.len());
                    let places: Vec<(u32, DVec3)> =
                        run.iter().map(|&(_, n)| (n, points[n as usize])).collect();
                    ask(self, &places, distance, stack, |n, closest| answers.push((n, closest)));
                    answers
                },
            )
            .collect();
        let mut all = vec![None; points.len()];
        for (n, closest) in answers.into_iter().flatten() {
            all[n as usize] = closest;
        }
        all
    }
}

/// The points' numbers, each behind its place along a Z-shaped curve through the box around all of them.
fn along_a_curve(points: &[DVec3]) -> Vec<(u32, u32)> {
    // Ten bits per axis: the cells of the curve are then smaller than the gaps between a million points.
    const CELLS: f64 = 1024.0;
    let places = || points.iter().copied().filter(|&at| is_place(at));
    let low = places().fold(DVec3::INFINITY, DVec3::min);
    let size = (places().fold(DVec3::NEG_INFINITY, DVec3::max) - low).max_element();
    let scale = if size > 0.0 { CELLS / size } else { 0.0 };
    let key = |at: &DVec3| {
        // Conversions saturate; what is no place goes anywhere.
        let [x, y, z] = ((*at - low) * scale).to_array().map(|c| spread((c as u32).min(1023)));
        x << 2 | y << 1 | z
    };
    let mut order: Vec<(u32, u32)> =
        points.par_iter().enumerate().map(|(n, at)| (key(at), n as u32)).collect();
    order.par_sort_unstable();
    order
}

/// Ten bits with two zeros in front of each.
fn spread(mut x: u32) -> u32 {
    x = (x | x << 16) & 0x0300_00ff;
    x = (x | x << 8) & 0x0300_f00f;
    x = (x | x << 4) & 0x030c_30c3;
    (x | x << 2) & 0x0924_9249
}

/// A node leaves at most seven of its children on the stack while the eighth is looked at.
const MOST_STACKED: usize = MOST_LEVELS * (WIDTH - 1) + 1;

/// What is still to be looked at, and the square of its distance in the tree's coordinates, rounded down.
type Stack = Vec<(f32, Child)>;

/// The nearest so far.
struct Best {
    found: Option<(u32, OnTriangle)>,
    /// The square of its distance [m²]; at first that of the largest distance.
    distance_squared: f64,
    /// Boxes whose squared distance is above this, in the tree's coordinates, hold nothing nearer.
    bound: f32,
    /// The distance in the tree's coordinates, rounded up.
    reach: f32,
}

impl Best {
    #[inline(always)]
    fn new(frame: &Frame, distance_squared: f64) -> Self {
        let mut best = Self { found: None, distance_squared, bound: 0.0, reach: 0.0 };
        best.tighten(frame);
        best
    }

    /// The bounds that follow from the distance, with room for the rounding of the tests against them.
    #[inline(always)]
    fn tighten(&mut self, frame: &Frame) {
        let local = self.distance_squared * (frame.scale * frame.scale);
        self.bound = round_up(local * (1.0 + 1e-6)) + f32::MIN_POSITIVE;
        self.reach = round_up(local.sqrt() * (1.0 + 1e-6)) + f32::MIN_POSITIVE;
    }

    /// Asks a triangle, in `f64`.
    #[inline(always)]
    fn offer(&mut self, bvh: &Bvh, triangle: u32, at: DVec3) {
        let on = closest_point(bvh.triangles.corners(triangle as usize), at);
        let distance_squared = on.point.distance_squared(at);
        let least = self.distance_squared;
        let first = self.found.is_none_or(|(found, _)| triangle < found);
        if distance_squared < least || (distance_squared == least && first) {
            self.found = Some((triangle, on));
            self.distance_squared = distance_squared;
            self.tighten(&bvh.frame);
        }
    }
}

/// Asks about places one after the other. The nearest triangle of the place before is asked first.
#[multiversion(targets("x86_64+avx2"))]
fn ask(
    bvh: &Bvh,
    places: &[(u32, DVec3)],
    distance: f64,
    stack: &mut Stack,
    mut answer: impl FnMut(u32, Option<Closest>),
) {
    let mut before = None;
    for &(n, at) in places {
        // A distance that is negative or NaN reaches nothing.
        if !is_place(at) || bvh.nodes.is_empty() || !(distance >= 0.0) {
            answer(n, None);
            continue;
        }
        let mut best = Best::new(&bvh.frame, distance * distance);
        if let Some(triangle) = before {
            best.offer(bvh, triangle, at);
        }
        descend(bvh, at, &mut best, stack);
        before = best.found.map(|(triangle, _)| triangle);
        answer(
            n,
            best.found.map(|(triangle, on)| Closest {
                triangle,
                feature: on.feature,
                point: on.point,
                weights: on.weights,
                distance_squared: best.distance_squared,
            }),
        );
    }
}

/// Walks the tree, nearest boxes first, for anything nearer than the best so far.
#[inline(always)]
fn descend(bvh: &Bvh, at: DVec3, best: &mut Best, stack: &mut Stack) {
    let local = bvh.frame.local(at);
    let low: [f32; 3] = local.to_array().map(round_down);
    let high: [f32; 3] = local.to_array().map(round_up);
    stack.clear();
    stack.push((0.0, Child::node(0)));
    while let Some((distance, child)) = stack.pop() {
        if distance > best.bound {
            continue;
        }
        match child.under() {
            Under::Node(node) => push_children(&bvh.nodes[node], low, high, best.bound, stack),
            Under::Leaf(leaf) => ask_leaf(bvh, &bvh.leaves[leaf], at, local, best),
            Under::Nothing => {}
        }
    }
}

/// Puts the children that may hold something nearer on the stack, the nearest last.
#[inline(always)]
fn push_children(node: &Node, low: [f32; 3], high: [f32; 3], bound: f32, stack: &mut Stack) {
    let distances = box_distances_squared(node, low, high);
    let start = stack.len();
    for (&distance, &child) in distances.iter().zip(&node.children) {
        // Not "at most": a distance that overflowed must not rule a child out.
        if !(distance > bound) && child != Child::NONE {
            let mut place = stack.len();
            stack.push((distance, child));
            while place > start && stack[place - 1].0 < distance {
                stack[place] = stack[place - 1];
                place -= 1;
            }
            stack[place] = (distance, child);
        }
    }
}

/// The squared distances of the eight boxes, each rounded by no more than a few 2⁻²⁴ of itself.
#[inline(always)]
fn box_distances_squared(node: &Node, low: [f32; 3], high: [f32; 3]) -> Lanes {
    let mut sum = [0.0; WIDTH];
    for axis in 0..3 {
        for lane in 0..WIDTH {
            let below = node.low[axis][lane] - high[axis];
            let above = low[axis] - node.high[axis][lane];
            let outside = most(most(below, above), 0.0);
            sum[lane] += outside * outside;
        }
    }
    sum
}

/// Asks the triangles of a leaf that `f32` cannot rule out, the one that seems nearest first.
#[inline(always)]
fn ask_leaf(bvh: &Bvh, leaf: &Leaf, at: DVec3, local: DVec3, best: &mut Best) {
    let (distances, error) = leaf.distances_squared(local);
    let limit = |best: &Best| (best.reach + error) * (best.reach + error);
    let len = leaf.len as usize;
    let mut nearest = 0;
    for lane in 1..len {
        if distances[lane] < distances[nearest] {
            nearest = lane;
        }
    }
    if distances[nearest] > limit(best) {
        return;
    }
    best.offer(bvh, leaf.triangles[nearest], at);
    for lane in 0..len {
        if lane != nearest && !(distances[lane] > limit(best)) {
            best.offer(bvh, leaf.triangles[lane], at);
        }
    }
}
