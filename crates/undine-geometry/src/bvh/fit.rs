//! Boxes around what they hold, from the leaves up; building and refitting end with it.

use super::Bvh;
use super::leaf::facing;
use super::node::{Cell, Node, Under};
use super::turned::Turned;
use rayon::prelude::*;
use undine_core::glam::DVec3;

impl Bvh {
    /// Takes the positions of the triangles into the leaves, and fits all boxes.
    pub(super) fn fit(&mut self) {
        let (triangles, frame) = (&self.triangles, &self.frame);
        let leaves: Vec<(Cell, DVec3)> =
            self.leaves.par_iter_mut().map(|leaf| leaf.fit(triangles, frame)).collect();

        // Boxes along the axes and normals: the nodes of a level only need those of the levels below.
        let mut normals = vec![DVec3::ZERO; self.nodes.len()];
        for level in self.levels.iter().rev() {
            let (above, below) = self.nodes.split_at_mut(level.end);
            let (normals_above, normals_below) = normals.split_at_mut(level.end);
            let fit = |(node, normal): (&mut Node, &mut DVec3)| {
                for slot in 0..node.children.len() {
                    let (cell, child) = match node.children[slot].under() {
                        Under::Nothing => continue,
                        Under::Leaf(leaf) => leaves[leaf],
                        Under::Node(child) => {
                            let child = child - level.end;
                            (below[child].around(), normals_below[child])
                        }
                    };
                    node.set_cell(slot, &cell);
                    *normal = facing(*normal, child);
                }
            };
            let nodes = above[level.clone()].par_iter_mut().with_min_len(256);
            nodes.zip(&mut normals_above[level.clone()]).for_each(fit);
        }

        // Turned boxes, from all leaves under each.
        let fit = |(turned, node): (&mut Turned, &Node)| {
            turned.children = node.children;
            for (slot, child) in node.children.iter().enumerate() {
                let (span, normal) = match child.under() {
                    Under::Nothing => continue,
                    Under::Leaf(leaf) => (leaf..leaf + 1, leaves[leaf].1),
                    Under::Node(child) => (self.spans[child].clone(), normals[child]),
                };
                turned.fit(slot, &self.leaves[span], &node.cell(slot), normal, frame);
            }
        };
        self.turned.par_iter_mut().zip(&self.nodes).for_each(fit);
    }
}
