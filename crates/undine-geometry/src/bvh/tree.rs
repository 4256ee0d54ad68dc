//! The shape of the tree, for what others of the crate sum over it.

use super::Bvh;
use super::node::Under;

/// A node or a leaf of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Branch {
    /// By its number; the root is 0, and children come behind their parents.
    Node(usize),
    /// By its number.
    Leaf(usize),
}

/// A look at the shape of a tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tree<'a>(&'a Bvh);

impl Bvh {
    pub(crate) fn tree(&self) -> Tree<'_> {
        Tree(self)
    }
}

impl<'a> Tree<'a> {
    /// How many nodes there are.
    pub(crate) fn nodes(self) -> usize {
        self.0.nodes.len()
    }

    /// How many leaves there are.
    pub(crate) fn leaves(self) -> usize {
        self.0.leaves.len()
    }

    /// The children of a node.
    pub(crate) fn children(self, node: usize) -> impl Iterator<Item = Branch> + 'a {
        self.0.nodes[node].children.iter().filter_map(|child| match child.under() {
            Under::Node(node) => Some(Branch::Node(node)),
            Under::Leaf(leaf) => Some(Branch::Leaf(leaf)),
            Under::Nothing => None,
        })
    }

    /// The triangles of a leaf.
    pub(crate) fn triangles(self, leaf: usize) -> &'a [u32] {
        self.0.leaves[leaf].ids()
    }
}
