//! Which triangles are near: to a place, in a box, or those of two meshes to each other.

use super::frame::{Frame, round_down, round_up};
use super::node::{Child, Node, Under, WIDTH};
use super::{Bvh, is_place};
use crate::triangle::closest_point;
use multiversion::multiversion;
use rayon::prelude::*;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;

impl Bvh {
    /// The triangles whose own boxes meet `bounds` [m], touching included, in ascending order.
    pub fn in_box(&self, bounds: &Bounds) -> Vec<u32> {
        let mut found = Vec::new();
        each_in_box(self, bounds, |triangle| found.push(triangle));
        found.sort_unstable();
        found
    }

    /// The triangles no further than `radius` [m] from `at` [m], in ascending order.
    pub fn in_sphere(&self, at: DVec3, radius: f64) -> Vec<u32> {
        let reaches = radius >= 0.0;
        if !is_place(at) || !reaches {
            return Vec::new();
        }
        let mut found = Vec::new();
        // A little larger, as a point computed to be at the distance may lie a rounding outside of the box.
        let reach = radius + 1e-12 * (at.abs().max_element() + radius);
        let bounds = Bounds { min: at - reach, max: at + reach };
        each_in_box(self, &bounds, |triangle| {
            let point = closest_point(self.triangles.corners(triangle as usize), at).point;
            if point.distance_squared(at) <= radius * radius {
                found.push(triangle);
            }
        });
        found.sort_unstable();
        found
    }

    /// All pairs of a triangle and a triangle of `other` whose boxes come within `distance` [m] of each other along
    /// every axis, in ascending order. What may collide is among them.
    pub fn pairs(&self, other: &Bvh, distance: f64) -> Vec<[u32; 2]> {
        self.each_leaf(|triangle, found| {
            let bounds = grown(&box_of(self, triangle), distance);
            each_in_box(other, &bounds, |second| found.push([triangle, second]));
        })
    }

    /// All pairs of two triangles of the mesh, the lower number first, whose boxes come within `distance` [m] of each
    /// other along every axis, in ascending order; neighbours among them.
    pub fn pairs_within(&self, distance: f64) -> Vec<[u32; 2]> {
        self.each_leaf(|triangle, found| {
            let bounds = grown(&box_of(self, triangle), distance);
            each_in_box(self, &bounds, |second| {
                if triangle < second {
                    found.push([triangle, second]);
                }
            });
        })
    }

    /// Asks about all triangles in parallel, neighbours after each other, and sorts what is found.
    fn each_leaf(&self, ask: impl Fn(u32, &mut Vec<[u32; 2]>) + Sync) -> Vec<[u32; 2]> {
        let leaves: Vec<Vec<[u32; 2]>> = self
            .leaves
            .par_chunks(64)
            .map(|leaves| {
                let mut found = Vec::new();
                for &triangle in leaves.iter().flat_map(|leaf| leaf.ids()) {
                    ask(triangle, &mut found);
                }
                found
            })
            .collect();
        let mut pairs = leaves.concat();
        pairs.par_sort_unstable();
        pairs
    }
}

fn box_of(bvh: &Bvh, triangle: u32) -> Bounds {
    let [a, b, c] = bvh.triangles.corners(triangle as usize);
    Bounds { min: a.min(b).min(c), max: a.max(b).max(c) }
}

fn grown(bounds: &Bounds, by: f64) -> Bounds {
    Bounds { min: bounds.min - by, max: bounds.max + by }
}

fn meet(a: &Bounds, b: &Bounds) -> bool {
    a.min.cmple(b.max).all() && b.min.cmple(a.max).all()
}

/// Visits the triangles whose boxes meet `bounds`. Bounds that are NaN meet nothing.
#[multiversion(targets("x86_64+avx2"))]
fn each_in_box(bvh: &Bvh, bounds: &Bounds, mut visit: impl FnMut(u32)) {
    if bvh.nodes.is_empty() {
        return;
    }
    let (low, high) = local(&bvh.frame, bounds);
    let mut stack = vec![Child::node(0)];
    while let Some(child) = stack.pop() {
        match child.under() {
            Under::Node(node) => push_children(&bvh.nodes[node], low, high, &mut stack),
            Under::Leaf(leaf) => {
                for &triangle in bvh.leaves[leaf].ids() {
                    if meet(&box_of(bvh, triangle), bounds) {
                        visit(triangle);
                    }
                }
            }
            Under::Nothing => {}
        }
    }
}

/// The box in the tree's coordinates, rounded outwards.
fn local(frame: &Frame, bounds: &Bounds) -> ([f32; 3], [f32; 3]) {
    (
        frame.local(bounds.min).to_array().map(round_down),
        frame.local(bounds.max).to_array().map(round_up),
    )
}

#[inline(always)]
fn push_children(node: &Node, low: [f32; 3], high: [f32; 3], stack: &mut Vec<Child>) {
    let mut meets = [true; WIDTH];
    for axis in 0..3 {
        for (lane, meets) in meets.iter_mut().enumerate() {
            *meets &= (node.low[axis][lane] <= high[axis]) & (low[axis] <= node.high[axis][lane]);
        }
    }
    let children = node.children.iter().zip(meets);
    stack.extend(children.filter_map(|(&child, meets)| meets.then_some(child)));
}
