//! The tree of paths.

use super::super::write::DEEPEST;
use super::Crate;
use crate::error::Result;

/// Stands for no path.
const NONE: u32 = u32::MAX;

/// What stands at an index.
#[derive(Clone, Copy)]
struct Node {
    parent: u32,
    token: u32,
    is_property: bool,
    depth: u32,
    /// Whether the tree has it; otherwise it is the empty path.
    is_there: bool,
}

/// All paths, by their index.
#[derive(Default)]
pub struct Paths {
    nodes: Vec<Node>,
    root: Option<u32>,
    parent: u32,
    /// What waits for its sibling: the parent of both, and where the sibling must be.
    waiting: Vec<(u32, u64)>,
    /// Where the next one must be, if it is a sibling.
    expected: Option<u64>,
    is_whole: bool,
}

/// A path as the file lists it.
pub struct Entry {
    /// Where it is: a byte, or a place in the list.
    pub place: u64,
    pub index: u32,
    pub token: u32,
    pub is_property: bool,
    /// Whether the next one is below it.
    pub has_child: bool,
    /// Where one with the same parent is.
    pub sibling: Option<u64>,
}

impl Paths {
    /// Of so many indices.
    pub fn new(count: usize) -> Self {
        let nothing =
            Node { parent: NONE, token: 0, is_property: false, depth: 0, is_there: false };
        Self { nodes: vec![nothing; count], parent: NONE, ..Self::default() }
    }

    /// Adds the next one, and says whether there are more to come; or what is wrong with it.
    pub fn add(&mut self, entry: Entry) -> Result<bool, &'static str> {
        if self.is_whole {
            return Err("more follow after its end");
        }
        if self.expected.take().is_some_and(|place| place != entry.place) {
            return Err("a sibling is not where it is said to be");
        }
        let depth = match self.nodes.get(self.parent as usize) {
            Some(parent) => parent.depth + 1,
            None => 0,
        };
        // A property, its target and an attribute of that can be below the deepest prim.
        if depth as usize > DEEPEST + 4 {
            return Err("it is too deep");
        }
        let parent = self.parent;
        let Some(node) = self.nodes.get_mut(entry.index as usize) else {
            return Err("a path has an index that is not there");
        };
        if node.is_there {
            return Err("two paths have the same index");
        }
        let (token, is_property) = (entry.token, entry.is_property);
        *node = Node { parent, token, is_property, depth, is_there: true };
        if parent == NONE {
            // All is below the first.
            if entry.sibling.is_some() {
                return Err("the root has siblings");
            }
            self.root = Some(entry.index);
        }
        match (entry.has_child, entry.sibling) {
            (true, Some(place)) => {
                self.waiting.push((parent, place));
                self.parent = entry.index;
            }
            (true, None) => self.parent = entry.index,
            (false, Some(place)) => self.expected = Some(place),
            (false, None) => match self.waiting.pop() {
                Some((parent, place)) => {
                    self.parent = parent;
                    self.expected = Some(place);
                }
                None => self.is_whole = true,
            },
        }
        Ok(!self.is_whole)
    }

    /// The index of `/`.
    pub fn root(&self) -> Option<u32> {
        self.root
    }

    /// The paths that have a parent: it, the token, whether it is a property, and the index.
    pub fn edges(&self) -> impl Iterator<Item = (u32, u32, bool, u32)> {
        let below = self.nodes.iter().enumerate().filter(|(_, node)| node.parent != NONE);
        below.map(|(index, node)| (node.parent, node.token, node.is_property, index as u32))
    }

    /// How many indices there are.
    pub fn count(&self) -> usize {
        self.nodes.len()
    }
}

impl Crate<'_> {
    /// A path as text: `/World/Splash.points`, or nothing for the empty path.
    pub fn path(&mut self, at: u64, index: u32) -> Result<String> {
        let nodes = &self.paths.nodes;
        let Some(&node) = nodes.get(index as usize) else {
            let wanted = format!("there are {} paths", nodes.len());
            return Err(self.error(at, format!("path {index}"), &wanted));
        };
        if !node.is_there {
            return Ok(String::new());
        }
        let mut parts = Vec::new();
        let mut next = node;
        while let Some(parent) = nodes.get(next.parent as usize) {
            parts.push((self.tokens[next.token as usize].as_str(), next.is_property));
            next = *parent;
        }
        let mut path = String::from("/");
        for (i, (name, is_property)) in parts.into_iter().rev().enumerate() {
            // The names of variants, targets and their attributes have their own signs.
            let has_sign = name.starts_with(['{', '[', '.']) || path.ends_with('}');
            if is_property {
                path.push('.');
            } else if i > 0 && !has_sign {
                path.push('/');
            }
            path += name;
        }
        self.make(at, path.len() + 32)?;
        Ok(path)
    }
}
