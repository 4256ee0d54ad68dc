//! A small tree of boxes over the parts of one shape: which part is nearest, without looking at all of them.
//!
//! Parts are halved at the median along the longest axis, so that the depth is logarithmic and a query needs no
//! memory but a short stack.

use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;

/// The boxes, children after parents.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BoxTree {
    nodes: Vec<Node>,
    /// The parts in the order of the leaves.
    parts: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Node {
    bounds: Bounds,
    /// The first part of a leaf, or the second child of a branch. The first child follows its parent.
    link: u32,
    /// How many parts a leaf has; 0 for a branch.
    count: u32,
}

const LEAF: usize = 4;

impl BoxTree {
    /// Over parts with these boxes; at least one, and fewer than 2³¹.
    pub(super) fn new(boxes: &[Bounds]) -> Self {
        let mut parts: Vec<u32> = (0..boxes.len() as u32).collect();
        let mut nodes = Vec::new();
        grow(&mut nodes, boxes, &mut parts, 0);
        Self { nodes, parts }
    }

    /// Visits parts, near ones first. `visit` gives a distance² beyond which no further part matters.
    #[inline]
    pub(super) fn near(&self, at: DVec3, mut visit: impl FnMut(usize) -> f64) {
        // The tree is halved at each level, so that it is never deeper than the bits of an index.
        let mut stack = [(0_u32, 0.0_f64); 40];
        let (mut height, mut limit) = (1, f64::INFINITY);
        stack[0] = (0, distance_squared(&self.nodes[0].bounds, at));
        while height > 0 {
            height -= 1;
            let (index, distance) = stack[height];
            if distance > limit {
                continue;
            }
            let node = &self.nodes[index as usize];
            if node.count > 0 {
                let first = node.link as usize;
                for &part in &self.parts[first..first + node.count as usize] {
                    limit = limit.min(visit(part as usize));
                }
                continue;
            }
            let children = [index + 1, node.link]
                .map(|child| (child, distance_squared(&self.nodes[child as usize].bounds, at)));
            let near = usize::from(children[1].1 < children[0].1);
            stack[height] = children[1 - near];
            stack[height + 1] = children[near];
            height += 2;
        }
    }
}

fn grow(nodes: &mut Vec<Node>, boxes: &[Bounds], parts: &mut [u32], first: usize) {
    let around = parts.iter().map(|&part| boxes[part as usize]).reduce(Bounds::union);
    let bounds = around.expect("a tree has parts");
    let index = nodes.len();
    if parts.len() <= LEAF {
        nodes.push(Node { bounds, link: first as u32, count: parts.len() as u32 });
        return;
    }
    nodes.push(Node { bounds, link: 0, count: 0 });
    let axis = bounds.size().max_position();
    let middle = parts.len() / 2;
    let centre = |part: u32| boxes[part as usize].centre()[axis];
    // Equal centres are told apart by number, so that the tree never depends on how the selection works.
    parts.select_nth_unstable_by(middle, |&i, &j| centre(i).total_cmp(&centre(j)).then(i.cmp(&j)));
    let (low, high) = parts.split_at_mut(middle);
    grow(nodes, boxes, low, first);
    nodes[index].link = nodes.len() as u32;
    grow(nodes, boxes, high, first + middle);
}

#[inline]
fn distance_squared(bounds: &Bounds, at: DVec3) -> f64 {
    (bounds.min - at).max(at - bounds.max).max(DVec3::ZERO).length_squared()
}
