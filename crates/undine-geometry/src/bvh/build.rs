//! The shape of the tree: top down, by the surface-area heuristic on bins (Wald, *On fast construction of SAH-based
//! bounding volume hierarchies*, 2007).
//!
//! A node begins as one range of triangles and cuts the range with the largest box in two until it has eight, so that
//! no binary tree is ever made. Ranges are cut in place; which thread cuts one does not matter to the result.

use super::frame::{Frame, round_down, round_up};
use super::leaf::Leaf;
use super::node::{Cell, Child, Node, WIDTH};
use crate::triangles::Triangles;
use rayon::prelude::*;
use std::ops::Range;

const BINS: usize = 16;
/// Ranges of up to so many triangles are sorted instead of binned, which fills leaves better.
const SORTED: usize = 64;
/// Ranges from so many triangles on are binned, and their parts built, by several threads.
const PARALLEL: usize = 4096;
/// From this level on ranges are halved by number, so that no mesh makes a deep tree: below it there are at most 11
/// more levels, as 8¹¹ is more than there are triangles.
const HALVED: usize = 20;
/// No tree has more levels.
pub(super) const MOST_LEVELS: usize = HALVED + 11;

/// Nodes without boxes and leaves without positions.
pub(super) struct Topology {
    pub(super) nodes: Vec<Node>,
    pub(super) levels: Vec<Range<usize>>,
    pub(super) spans: Vec<Range<usize>>,
    pub(super) leaves: Vec<Leaf>,
}

/// Decides which triangles share leaves, and which of those share nodes.
pub(super) fn topology(triangles: &Triangles, frame: &Frame) -> Topology {
    let mut boxes: Vec<Boxed> =
        (0..triangles.len()).into_par_iter().map(|n| Boxed::of(triangles, frame, n)).collect();
    let root = if boxes.is_empty() { None } else { Some(branches(&mut boxes, 0)) };
    flatten(root, &boxes)
}

/// A triangle as the heuristic sees it.
#[derive(Debug, Clone, Copy)]
struct Boxed {
    cell: Cell,
    triangle: u32,
}

impl Boxed {
    fn of(triangles: &Triangles, frame: &Frame, triangle: usize) -> Self {
        let [a, b, c] = triangles.corners(triangle).map(|p| frame.local(p));
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        let cell =
            Cell { low: low.to_array().map(round_down), high: high.to_array().map(round_up) };
        Self { cell, triangle: triangle as u32 }
    }

    /// Twice the middle of its box.
    #[inline(always)]
    fn middle(&self, axis: usize) -> f32 {
        self.cell.low[axis] + self.cell.high[axis]
    }
}

/// A part of the tree, before it has a place.
enum Part {
    Leaf(Range<usize>),
    Node(Vec<Part>),
}

impl Part {
    /// The same part of a longer list, in which its triangles begin `by` later.
    fn shifted(self, by: usize) -> Self {
        match self {
            Self::Leaf(range) => Self::Leaf(range.start + by..range.end + by),
            Self::Node(parts) => {
                Self::Node(parts.into_iter().map(|part| part.shifted(by)).collect())
            }
        }
    }
}

/// The children of a node over all of `boxes`, which are reordered.
fn branches(boxes: &mut [Boxed], level: usize) -> Vec<Part> {
    // Cut the range with the largest box, among those that are too long for a leaf, until there are eight.
    let mut ranges = vec![(around(boxes), 0..boxes.len())];
    while ranges.len() < WIDTH {
        let longer = ranges.iter().enumerate().filter(|(_, (_, range))| range.len() > WIDTH);
        // Of equally large ones the first.
        let largest =
            longer.rev().max_by(|(_, (a, _)), (_, (b, _))| a.half_area().total_cmp(&b.half_area()));
        let Some((index, (_, range))) = largest else { break };
        let range = range.clone();
        let part = &mut boxes[range.clone()];
        let left = if level < HALVED { cut(part) } else { part.len() / 2 };
        let (left, right) = part.split_at(left);
        let middle = range.start + left.len();
        let halves = [(around(left), range.start..middle), (around(right), middle..range.end)];
        ranges.splice(index..=index, halves);
    }
    // Build what is too long for a leaf, side by side.
    let mut rest = boxes;
    let mut slices = Vec::with_capacity(ranges.len());
    for (_, range) in ranges {
        let (slice, behind) = rest.split_at_mut(range.len());
        slices.push((slice, range.start));
        rest = behind;
    }
    let build = |(slice, start): (&mut [Boxed], usize)| {
        if slice.len() <= WIDTH {
            return Part::Leaf(start..start + slice.len());
        }
        Part::Node(branches(slice, level + 1)).shifted(start)
    };
    let total: usize = slices.iter().map(|(slice, _)| slice.len()).sum();
    if total >= PARALLEL {
        slices.into_par_iter().map(build).collect()
    } else {
        slices.into_iter().map(build).collect()
    }
}

fn around(boxes: &[Boxed]) -> Cell {
    let union = |cell: Cell, boxed: &Boxed| cell.union(&boxed.cell);
    // Minima and maxima come out the same in any order.
    boxes
        .par_chunks(4 * PARALLEL)
        .map(|chunk| chunk.iter().fold(Cell::NONE, union))
        .reduce(|| Cell::NONE, |a, b| a.union(&b))
}

/// Reorders a range of more than eight and says where to cut it; neither half is empty.
fn cut(boxes: &mut [Boxed]) -> usize {
    let found = if boxes.len() <= SORTED { cut_sorted(boxes) } else { cut_binned(boxes) };
    // All middles are the same: any half is as good as any other.
    found.unwrap_or(boxes.len() / 2)
}

/// The cost of asking a range: its surface, which the chance to be asked grows with, times its leaves.
#[inline(always)]
fn cost(cell: &Cell, len: usize) -> f32 {
    cell.half_area() * len.div_ceil(WIDTH) as f32
}

/// The best of all cuts of the range sorted along each axis.
fn cut_sorted(boxes: &mut [Boxed]) -> Option<usize> {
    let len = boxes.len();
    let mut best: Option<(f32, usize, usize)> = None;
    for axis in 0..3 {
        sort(boxes, axis);
        let mut behind = [Cell::NONE; SORTED + 1];
        for n in (1..len).rev() {
            behind[n] = behind[n + 1].union(&boxes[n].cell);
        }
        let mut before = Cell::NONE;
        for n in 1..len {
            before = before.union(&boxes[n - 1].cell);
            let found = cost(&before, n) + cost(&behind[n], len - n);
            if best.is_none_or(|(least, ..)| found < least) {
                best = Some((found, axis, n));
            }
        }
    }
    let (_, axis, at) = best?;
    sort(boxes, axis);
    Some(at)
}

fn sort(boxes: &mut [Boxed], axis: usize) {
    boxes.sort_unstable_by(|a, b| {
        a.middle(axis).total_cmp(&b.middle(axis)).then(a.triangle.cmp(&b.triangle))
    });
}

#[derive(Clone, Copy)]
struct Bin {
    cell: Cell,
    len: usize,
}

type Bins = [[Bin; BINS]; 3];

/// The best cut between two bins along some axis; none if all middles are the same.
fn cut_binned(boxes: &mut [Boxed]) -> Option<usize> {
    let middles = middles(boxes);
    // From twice a middle to its bin. Where the middles have no extent all go into the first bin.
    let scale: [f32; 3] = std::array::from_fn(|axis| {
        let extent = middles.high[axis] - middles.low[axis];
        if extent > 0.0 { BINS as f32 * 0.9999 / extent } else { 0.0 }
    });
    let bin = |boxed: &Boxed, axis: usize| {
        // A quotient that is not finite, of an extent that hardly is one, saturates to a bin that exists.
        (((boxed.middle(axis) - middles.low[axis]) * scale[axis]) as usize).min(BINS - 1)
    };
    let bins = fill(boxes, bin);
    let mut best: Option<(f32, usize, usize)> = None;
    for (axis, bins) in bins.iter().enumerate() {
        let mut behind = [Bin { cell: Cell::NONE, len: 0 }; BINS + 1];
        for n in (1..BINS).rev() {
            let cell = behind[n + 1].cell.union(&bins[n].cell);
            behind[n] = Bin { cell, len: behind[n + 1].len + bins[n].len };
        }
        let mut before = Bin { cell: Cell::NONE, len: 0 };
        for n in 1..BINS {
            before.cell = before.cell.union(&bins[n - 1].cell);
            before.len += bins[n - 1].len;
            if before.len == 0 || behind[n].len == 0 {
                continue;
            }
            let found = cost(&before.cell, before.len) + cost(&behind[n].cell, behind[n].len);
            if best.is_none_or(|(least, ..)| found < least) {
                best = Some((found, axis, n));
            }
        }
    }
    let (_, axis, at) = best?;
    Some(partition(boxes, |boxed| bin(boxed, axis) < at))
}

/// The box around twice the middles.
fn middles(boxes: &[Boxed]) -> Cell {
    let union = |cell: Cell, boxed: &Boxed| {
        let middle = std::array::from_fn(|axis| boxed.middle(axis));
        cell.union(&Cell { low: middle, high: middle })
    };
    boxes
        .par_chunks(4 * PARALLEL)
        .map(|chunk| chunk.iter().fold(Cell::NONE, union))
        .reduce(|| Cell::NONE, |a, b| a.union(&b))
}

fn fill(boxes: &[Boxed], bin: impl Fn(&Boxed, usize) -> usize + Sync) -> Bins {
    let empty = [[Bin { cell: Cell::NONE, len: 0 }; BINS]; 3];
    boxes
        .par_chunks(4 * PARALLEL)
        .map(|chunk| {
            let mut bins = empty;
            for boxed in chunk {
                for (axis, bins) in bins.iter_mut().enumerate() {
                    let into = &mut bins[bin(boxed, axis)];
                    into.cell = into.cell.union(&boxed.cell);
                    into.len += 1;
                }
            }
            bins
        })
        .reduce(
            || empty,
            |mut a, b| {
                for (a, b) in a.as_flattened_mut().iter_mut().zip(b.as_flattened()) {
                    *a = Bin { cell: a.cell.union(&b.cell), len: a.len + b.len };
                }
                a
            },
        )
}

/// Moves what is `left` to the front, and says how much that is.
fn partition(boxes: &mut [Boxed], left: impl Fn(&Boxed) -> bool) -> usize {
    let (mut from, mut to) = (0, boxes.len());
    loop {
        while from < to && left(&boxes[from]) {
            from += 1;
        }
        while from < to && !left(&boxes[to - 1]) {
            to -= 1;
        }
        if from == to {
            return from;
        }
        boxes.swap(from, to - 1);
    }
}

/// Gives every part its place: nodes level after level, so that a level can be fitted at once, and leaves from the
/// first branch to the last, so that those under a node are neighbours.
fn flatten(root: Option<Vec<Part>>, boxes: &[Boxed]) -> Topology {
    let mut leaves = Vec::new();
    let (mut nodes, mut levels, mut spans) = (Vec::new(), Vec::new(), Vec::new());
    let mut level: Vec<Numbered> =
        root.into_iter().map(|parts| number(parts, boxes, &mut leaves)).collect();
    while !level.is_empty() {
        let start = nodes.len();
        let below = start + level.len();
        let mut next = Vec::new();
        for numbered in level {
            let mut node = Node::EMPTY;
            for (child, part) in node.children.iter_mut().zip(numbered.children) {
                *child = match part {
                    Ok(leaf) => Child::leaf(leaf),
                    Err(part) => {
                        next.push(part);
                        Child::node(below + next.len() - 1)
                    }
                };
            }
            nodes.push(node);
            spans.push(numbered.span);
        }
        levels.push(start..nodes.len());
        level = next;
    }
    Topology { nodes, levels, spans, leaves }
}

/// A node whose leaves have numbers.
struct Numbered {
    /// Leaves, or nodes.
    children: Vec<Result<usize, Numbered>>,
    /// All leaves under it.
    span: Range<usize>,
}

fn number(parts: Vec<Part>, boxes: &[Boxed], leaves: &mut Vec<Leaf>) -> Numbered {
    let start = leaves.len();
    let mut children = Vec::with_capacity(parts.len());
    for part in parts {
        children.push(match part {
            Part::Leaf(range) => {
                leaves.push(Leaf::new(boxes[range].iter().map(|boxed| boxed.triangle)));
                Ok(leaves.len() - 1)
            }
            Part::Node(parts) => Err(number(parts, boxes, leaves)),
        });
    }
    Numbered { children, span: start..leaves.len() }
}
