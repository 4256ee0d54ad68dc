//! The tree of all paths, those of specs and those that are only pointed to.

use super::tables::Tables;
use super::unwritable;
use crate::error::Result;
use std::collections::HashMap;

/// A path in the tree. The root is the first.
struct Node {
    parent: u32,
    /// The word at its end.
    token: u32,
    is_property: bool,
    first_child: Option<u32>,
    last_child: Option<u32>,
    next_sibling: Option<u32>,
}

/// All paths, by their index in the file.
pub struct Paths {
    nodes: Vec<Node>,
    index_of: HashMap<(u32, u32, bool), u32>,
    empty: Option<u32>,
}

/// The three lists by which the tree is written, in the order of a walk that goes down first.
#[derive(Default)]
pub struct Tree {
    pub indices: Vec<i32>,
    /// Words; of a property with a minus sign.
    pub tokens: Vec<i32>,
    /// What follows: −2 nothing, −1 a child, 0 a sibling, and if both, how far away the sibling is.
    pub jumps: Vec<i32>,
}

impl Node {
    fn new(parent: u32, token: u32, is_property: bool) -> Self {
        let (first_child, last_child, next_sibling) = (None, None, None);
        Self { parent, token, is_property, first_child, last_child, next_sibling }
    }
}

impl Default for Paths {
    fn default() -> Self {
        Self { nodes: vec![Node::new(0, 0, false)], index_of: HashMap::new(), empty: None }
    }
}

impl Paths {
    /// The path `/`.
    pub fn root(&self) -> u32 {
        0
    }

    /// The path of a name below another path.
    pub fn below(&mut self, parent: u32, token: u32, is_property: bool) -> u32 {
        let index = self.nodes.len() as u32;
        let known = *self.index_of.entry((parent, token, is_property)).or_insert(index);
        if known != index {
            return known;
        }
        self.nodes.push(Node::new(parent, token, is_property));
        let before = self.nodes[parent as usize].last_child.replace(index);
        match before {
            Some(before) => self.nodes[before as usize].next_sibling = Some(index),
            None => self.nodes[parent as usize].first_child = Some(index),
        }
        index
    }

    /// The empty path: an index that is not in the tree.
    pub fn empty(&mut self) -> u32 {
        *self.empty.get_or_insert_with(|| {
            self.nodes.push(Node::new(0, 0, false));
            self.nodes.len() as u32 - 1
        })
    }

    /// How many indices there are.
    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    /// The lists of the tree.
    pub fn tree(&self) -> Tree {
        let mut tree = Tree::default();
        let mut place = vec![0; self.nodes.len()];
        let mut next = Some(0);
        while let Some(index) = next {
            let node = &self.nodes[index as usize];
            place[index as usize] = tree.indices.len();
            tree.indices.push(index as i32);
            let token = node.token as i32;
            tree.tokens.push(if node.is_property { -token } else { token });
            tree.jumps.push(match (node.first_child, node.next_sibling) {
                (None, None) => -2,
                (_, None) => -1,
                (_, Some(_)) => 0,
            });
            next = node.first_child.or(node.next_sibling);
            // At the end of a row the walk goes up until there is a sibling, and tells the one above how far that is.
            let mut above = index;
            while next.is_none() && above != 0 {
                above = self.nodes[above as usize].parent;
                next = self.nodes[above as usize].next_sibling;
                if next.is_some() {
                    let start = place[above as usize];
                    tree.jumps[start] = (tree.indices.len() - start) as i32;
                }
            }
        }
        tree
    }
}

impl<'a> Tables<'a> {
    /// The index of a path such as `/World/Splash.points`.
    pub fn path(&mut self, text: &'a str, what: &str) -> Result<u32> {
        let refuse = || {
            unwritable(
                format!("path `{text}` of `{what}`"),
                "it is no path of a prim or property".into(),
                "write for example /World/Splash or /World/Splash.points",
            )
        };
        let below = text.strip_prefix('/').ok_or_else(refuse)?;
        let mut path = self.paths.root();
        if below.is_empty() {
            return Ok(path);
        }
        let (prims, property) = match below.split_once('.') {
            Some((prims, property)) => (prims, Some(property)),
            None => (below, None),
        };
        for name in prims.split('/') {
            path = self.child(path, super::identifier(name, "prim").map_err(|_| refuse())?);
        }
        if let Some(name) = property {
            path = self.property(path, super::property(name).map_err(|_| refuse())?);
        }
        Ok(path)
    }

    /// The same, or the empty path for an empty text.
    pub fn path_or_none(&mut self, text: &'a str, what: &str) -> Result<u32> {
        if text.is_empty() {
            return Ok(self.paths.empty());
        }
        self.path(text, what)
    }
}
