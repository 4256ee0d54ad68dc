//! Boxes around what they hold, from the leaves up; building and refitting end with it.

use super::Bvh;
use super::node::{Cell, Node, Under};
use rayon::prelude::*;

impl Bvh {
    /// Takes the positions of the triangles into the leaves, and fits all boxes.
    pub(super) fn fit(&mut self) {
        let (triangles, frame) = (&self.triangles, &self.frame);
        let leaves: Vec<Cell> =
            self.leaves.par_iter_mut().map(|leaf| leaf.fit(triangles, frame)).collect();
        // The nodes of a level only need those of the levels below.
        for level in self.levels.iter().rev() {
            let (above, below) = self.nodes.split_at_mut(level.end);
            let fit = |node: &mut Node| {
                for slot in 0..node.children.len() {
                    let cell = match node.children[slot].under() {
                        Under::Nothing => continue,
                        Under::Leaf(leaf) => leaves[leaf],
                        Under::Node(child) => below[child - level.end].around(),
                    };
                    node.set_cell(slot, &cell);
                }
            };
            above[level.clone()].par_iter_mut().with_min_len(256).for_each(fit);
        }
    }
}
