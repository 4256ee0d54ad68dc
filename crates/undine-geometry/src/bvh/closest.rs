//! The point of a mesh nearest to a place, for one place or for many.

use super::build::MOST_LEVELS;
use super::frame::Frame;
use super::leaf::Leaf;
use super::node::{Child, Lanes, Under, WIDTH, least};
use super::turned::Turned;
use super::{Bvh, is_place};
use crate::triangle::{Feature, OnTriangle, closest_point};
use multiversion::multiversion;
use rayon::prelude::*;
use undine_core::glam::{DVec3, Vec3};

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
    /// [`LARGEST_COORDINATE`](crate::triangles::LARGEST_COORDINATE).
    pub fn closest(&self, at: DVec3) -> Option<Closest> {
        self.closest_within(at, f64::INFINITY)
    }

    /// As [`closest`](Self::closest), if it is no further than `distance` [m].
    pub fn closest_within(&self, at: DVec3, distance: f64) -> Option<Closest> {
        let mut found = None;
        let each = |_, closest| found = closest;
        ask(self, &[(0, at)], distance, &mut Walk::new(), each);
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
            .map_init(Walk::new, |walk, run| {
                let mut answers = Vec::with_capacity(run.len());
                let places: Vec<(u32, DVec3)> =
                    run.iter().map(|&(_, n)| (n, points[n as usize])).collect();
                ask(self, &places, distance, walk, |n, closest| answers.push((n, closest)));
                answers
            })
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

/// What a walk remembers, kept from one walk to the next for its memory.
struct Walk {
    /// What is still to be looked at, and the square of its distance in the tree's coordinates.
    stack: Vec<(f32, Child)>,
    candidates: Vec<Candidate>,
    /// Nothing further than this, in the tree's coordinates, is nearest.
    reach: f32,
    /// The error of the distances of boxes.
    error: f32,
    /// Boxes whose squared distance is above this hold nothing within reach.
    bound: f32,
}

impl Walk {
    fn new() -> Self {
        let stack = Vec::with_capacity(MOST_STACKED);
        Self { stack, candidates: Vec::new(), reach: 0.0, error: 0.0, bound: 0.0 }
    }

    #[inline(always)]
    fn tighten(&mut self, reach: f32) {
        self.reach = reach;
        self.bound = (reach + self.error) * (reach + self.error);
    }
}

/// A triangle that may be nearest.
struct Candidate {
    triangle: u32,
    /// About the square of its distance in the tree's coordinates.
    distance_squared: f32,
    /// The error of its distance.
    error: f32,
}

impl Candidate {
    #[inline(always)]
    fn is_within(&self, reach: f32) -> bool {
        let beyond = self.distance_squared > (reach + self.error) * (reach + self.error);
        !beyond
    }
}

/// The nearest of the triangles that were asked in `f64`.
struct Best {
    found: Option<(u32, OnTriangle)>,
    /// The square of its distance [m²]; at first that of the largest distance.
    distance_squared: f64,
}

impl Best {
    #[inline(always)]
    fn offer(&mut self, bvh: &Bvh, triangle: u32, at: DVec3) {
        let on = closest_point(bvh.triangles.corners(triangle as usize), at);
        let distance_squared = on.point.distance_squared(at);
        let least = self.distance_squared;
        let first = self.found.is_none_or(|(found, _)| triangle < found);
        if distance_squared < least || (distance_squared == least && first) {
            self.found = Some((triangle, on));
            self.distance_squared = distance_squared;
        }
    }

    /// Its distance in the tree's coordinates, rounded up.
    #[inline(always)]
    fn reach(&self, frame: &Frame) -> f32 {
        (self.distance_squared.sqrt() * frame.scale * (1.0 + 1e-6)) as f32 + f32::MIN_POSITIVE
    }
}

/// Asks about places one after the other. The nearest triangle of the place before is asked first.
#[multiversion(targets("x86_64+avx2"))]
fn ask(
    bvh: &Bvh,
    places: &[(u32, DVec3)],
    distance: f64,
    walk: &mut Walk,
    mut answer: impl FnMut(u32, Option<Closest>),
) {
    let mut before = None;
    for &(n, at) in places {
        // A distance that is negative or NaN reaches nothing.
        let reaches = distance >= 0.0;
        if !is_place(at) || bvh.nodes.is_empty() || !reaches {
            answer(n, None);
            continue;
        }
        let mut best = Best { found: None, distance_squared: distance * distance };
        if let Some(triangle) = before {
            best.offer(bvh, triangle, at);
        }
        descend(bvh, at, &mut best, walk);
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
fn descend(bvh: &Bvh, at: DVec3, best: &mut Best, walk: &mut Walk) {
    let local = bvh.frame.local(at);
    walk.candidates.clear();
    walk.error = Turned::error(local.as_vec3());
    walk.tighten(best.reach(&bvh.frame));
    walk.stack.push((0.0, Child::node(0)));
    while let Some((distance, mut next)) = walk.stack.pop() {
        if distance > walk.bound {
            continue;
        }
        // Straight down to the nearest leaf, leaving the other children behind.
        loop {
            match next.under() {
                Under::Node(node) => next = nearest_child(&bvh.turned[node], local.as_vec3(), walk),
                Under::Leaf(leaf) => break ask_leaf(bvh, &bvh.leaves[leaf], at, local, best, walk),
                Under::Nothing => break,
            }
        }
    }
    for candidate in &walk.candidates {
        // The one that the search began with was asked already.
        let known = best.found.is_some_and(|(found, _)| found == candidate.triangle);
        if !known && candidate.is_within(walk.reach) {
            best.offer(bvh, candidate.triangle, at);
        }
    }
}

/// The child to go on with; others that may hold something nearer go on the stack.
#[inline(always)]
fn nearest_child(turned: &Turned, at: Vec3, walk: &mut Walk) -> Child {
    let distances = turned.distances_squared(at);
    let mut nearest = (f32::INFINITY, Child::NONE);
    for lane in within(&distances, walk.bound) {
        let mut other = (distances[lane], turned.children[lane]);
        if other.0 < nearest.0 {
            std::mem::swap(&mut other, &mut nearest);
        }
        if other.1 != Child::NONE {
            walk.stack.push(other);
        }
    }
    nearest.1
}

/// Makes candidates of the triangles of a leaf that are within reach.
#[inline(always)]
fn ask_leaf(bvh: &Bvh, leaf: &Leaf, at: DVec3, local: DVec3, best: &mut Best, walk: &mut Walk) {
    let (distances, error) = leaf.distances_squared(local);
    let limit = (walk.reach + error) * (walk.reach + error);
    let mut within_reach = within(&distances, limit).filter(|&lane| lane < leaf.len as usize);
    if leaf.needles {
        // The closest point of a needle is not where `f32` says.
        for lane in within_reach {
            best.offer(bvh, leaf.triangles[lane], at);
        }
        walk.tighten(least(walk.reach, best.reach(&bvh.frame)));
        return;
    }
    let Some(first) = within_reach.next() else { return };
    let nearest = distances.into_iter().fold(distances[first], least);
    walk.tighten(least(walk.reach, nearest.sqrt() * (1.0 + 1e-6) + error));
    for lane in std::iter::once(first).chain(within_reach) {
        let triangle = leaf.triangles[lane];
        let candidate = Candidate { triangle, distance_squared: distances[lane], error };
        if candidate.is_within(walk.reach) {
            walk.candidates.push(candidate);
        }
    }
}

/// The lanes that are not above `limit`.
#[inline(always)]
fn within(lanes: &Lanes, limit: f32) -> impl Iterator<Item = usize> + use<> {
    let mut bits = [0_u32; WIDTH];
    for lane in 0..WIDTH {
        // Not "at most": a distance that overflowed must not rule anything out.
        bits[lane] = if lanes[lane] > limit { 0 } else { 1 << lane };
    }
    let [a, b, c, d, e, f, g, h] = bits;
    let mut set = ((a | e) | (c | g)) | ((b | f) | (d | h));
    std::iter::from_fn(move || {
        let lane = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}
