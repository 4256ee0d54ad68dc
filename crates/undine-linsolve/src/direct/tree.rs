//! The elimination tree of an ordered symmetric matrix and the entries of each column of its factor, both found in nearly
//! linear time (Liu 1986; Gilbert, Ng & Peyton 1994).

use super::ordering::Graph;

/// No parent: a root.
pub(super) const NONE: u32 = u32::MAX;

/// The elimination tree, in postorder: children come before their parents, and a subtree's columns are consecutive.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    /// The unknown of each column: the given order, with equal fill, in postorder.
    pub order: Vec<u32>,
    /// The column of each unknown.
    pub place: Vec<u32>,
    /// The parent of each column.
    pub parent: Vec<u32>,
    /// Entries of each column of the factor, the diagonal among them.
    pub counts: Vec<u32>,
}

impl Tree {
    /// The tree of a graph whose vertices are eliminated in a given order.
    pub fn new(graph: &Graph, order: &[u32]) -> Self {
        let place = inverse(order);
        let parent = parents(graph, order, &place);
        let counts = {
            let post = postorder(&parent, |_| 0);
            let (order, parent) = renumbered(order, &parent, &post);
            let counts = counts(graph, &order, &inverse(&order), &parent);
            let mut by_given = vec![0; counts.len()];
            for (&column, count) in post.iter().zip(counts) {
                by_given[column as usize] = count;
            }
            by_given
        };
        // The heaviest child last, next to its parent: it is the one worth merging with.
        let post = postorder(&parent, |column| counts[column]);
        let (order, parent) = renumbered(order, &parent, &post);
        let counts = post.iter().map(|&column| counts[column as usize]).collect();
        let place = inverse(&order);
        Self { order, place, parent, counts }
    }

    /// Multiplications of a factorisation.
    pub fn work(&self) -> f64 {
        self.counts.iter().map(|&count| 0.5 * f64::from(count) * f64::from(count)).sum()
    }

    /// Entries of the factor.
    pub fn entries(&self) -> u64 {
        self.counts.iter().map(|&count| u64::from(count)).sum()
    }
}

/// Where each number is in a list of all of them.
fn inverse(order: &[u32]) -> Vec<u32> {
    let mut place = vec![0; order.len()];
    for (n, &unknown) in order.iter().enumerate() {
        place[unknown as usize] = n as u32;
    }
    place
}

/// Order and parents after columns have been renumbered: `post` lists the old columns in the new order.
fn renumbered(order: &[u32], parent: &[u32], post: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let new = inverse(post);
    let order = post.iter().map(|&column| order[column as usize]).collect();
    let parent = post.iter().map(|&column| match parent[column as usize] {
        NONE => NONE,
        parent => new[parent as usize],
    });
    (order, parent.collect())
}

/// The parent of column j is the first row below the diagonal of the factor's column j.
fn parents(graph: &Graph, order: &[u32], place: &[u32]) -> Vec<u32> {
    let n = order.len();
    let mut parent = vec![NONE; n];
    let mut ancestor = vec![NONE; n];
    for column in 0..n as u32 {
        for &other in graph.neighbours(order[column as usize] as usize) {
            let mut row = place[other as usize];
            // Climb to the root of what is known so far, and leave a short cut behind.
            while row < column {
                let next = ancestor[row as usize];
                ancestor[row as usize] = column;
                if next == NONE {
                    parent[row as usize] = column;
                    break;
                }
                row = next;
            }
        }
    }
    parent
}

/// The columns, children before parents, and among children those with the larger key later.
fn postorder(parent: &[u32], key: impl Fn(usize) -> u32) -> Vec<u32> {
    let n = parent.len();
    let mut by_key: Vec<u32> = (0..n as u32).collect();
    by_key.sort_by_key(|&column| key(column as usize));
    // Lists of children, those with the smallest key in front.
    let (mut first, mut next) = (vec![NONE; n + 1], vec![NONE; n]);
    for &column in by_key.iter().rev() {
        let parent = match parent[column as usize] {
            NONE => n,
            parent => parent as usize,
        };
        next[column as usize] = std::mem::replace(&mut first[parent], column);
    }
    let mut post = Vec::with_capacity(n);
    let mut stack = Vec::new();
    let mut root = first[n];
    while root != NONE {
        stack.push(root);
        while let Some(&column) = stack.last() {
            match std::mem::replace(&mut first[column as usize], NONE) {
                NONE => {
                    post.push(column);
                    stack.pop();
                    let sibling = next[column as usize];
                    if !stack.is_empty() && sibling != NONE {
                        stack.push(sibling);
                    }
                }
                child => stack.push(child),
            }
        }
        root = next[root as usize];
    }
    post
}

/// Entries of each column of the factor, for columns in postorder. Row i of the factor is the subtree that column i's
/// neighbours span below it; every leaf of it adds a path, and paths share what lies above their meeting point.
fn counts(graph: &Graph, order: &[u32], place: &[u32], parent: &[u32]) -> Vec<u32> {
    let n = order.len();
    let mut delta = vec![0_i32; n];
    // The first column of each column's subtree.
    let mut first = vec![NONE; n];
    for column in 0..n {
        let mut above = column;
        delta[column] = i32::from(first[column] == NONE);
        while first[above] == NONE {
            first[above] = column as u32;
            match parent[above] {
                NONE => break,
                next => above = next as usize,
            }
        }
    }
    let mut last_first = vec![NONE; n];
    let mut last_leaf = vec![NONE; n];
    let mut ancestor: Vec<u32> = (0..n as u32).collect();
    for column in 0..n {
        if parent[column] != NONE {
            delta[parent[column] as usize] -= 1;
        }
        for &other in graph.neighbours(order[column] as usize) {
            let row = place[other as usize] as usize;
            // Only a column whose subtree holds no earlier one of this row is a leaf.
            if row <= column || (last_first[row] != NONE && first[column] <= last_first[row]) {
                continue;
            }
            last_first[row] = first[column];
            delta[column] += 1;
            let before = std::mem::replace(&mut last_leaf[row], column as u32);
            if before != NONE {
                let mut meeting = before;
                while meeting != ancestor[meeting as usize] {
                    meeting = ancestor[meeting as usize];
                }
                let mut below = before;
                while below != meeting {
                    below = std::mem::replace(&mut ancestor[below as usize], meeting);
                }
                delta[meeting as usize] -= 1;
            }
        }
        if parent[column] != NONE {
            ancestor[column] = parent[column];
        }
    }
    for column in 0..n {
        if parent[column] != NONE {
            delta[parent[column] as usize] += delta[column];
        }
    }
    delta.into_iter().map(|count| count as u32).collect()
}
