//! What a factorisation will look like, before any number is known: groups of columns with the same entries below them, and
//! which of them update which. It is the same for all matrices of one pattern.

use super::ordering::Graph;
use super::tree::{NONE, Tree};
use crate::matrix::Csr;
use rayon::prelude::*;

/// Two groups become one if the result has at most so many columns, and at most that share of its entries are zeros.
/// Larger dense blocks are faster, by more than the zeros cost.
const MERGE: [(usize, f64); 4] = [(8, 1.0), (24, 0.6), (64, 0.15), (usize::MAX, 0.05)];

/// A column group: a run of columns, and the rows below them where the factor has entries.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    /// The first column.
    pub start: usize,
    /// How many columns there are.
    pub width: usize,
    /// Where the rows below begin in [`Symbolic::rows`].
    pub rows: usize,
    /// How many rows below there are.
    pub below: usize,
    /// Where its values begin: `width` columns of `width + below` entries.
    pub values: usize,
    /// The first group of its subtree; it is the last.
    pub first: u32,
    /// Multiplications in the subtree.
    pub work: f64,
}

impl Group {
    /// Entries that the group stores.
    pub fn len(&self) -> usize {
        self.width * (self.width + self.below)
    }
}

/// The pattern of a factor.
#[derive(Debug, Clone)]
pub(super) struct Symbolic {
    /// The unknown of each column.
    pub order: Vec<u32>,
    /// In postorder.
    pub groups: Vec<Group>,
    /// The rows below each group, ascending, group after group.
    pub rows: Vec<u32>,
    /// The children of each group, ascending; those of the root above all roots last.
    pub children: Vec<u32>,
    pub children_starts: Vec<u32>,
    /// Entries of the matrix to put into the factor: where from, and where to within the group.
    pub sources: Vec<(u32, u32)>,
    pub sources_starts: Vec<u32>,
    /// Values to store.
    pub values: usize,
    /// What the order is called.
    pub order_name: &'static str,
}

impl Symbolic {
    /// The pattern of the factor of a matrix with symmetric pattern, or of the symmetric part that its rows hold.
    pub fn new(matrix: &Csr<f64>, graph: &Graph, order: &[u32], order_name: &'static str) -> Self {
        let tree = Tree::new(graph, order);
        let mut groups = column_groups(&tree);
        let (rows, children, children_starts) = row_lists(graph, &tree, &mut groups);
        let values = groups.last().map_or(0, |group| group.values + group.len());
        let (sources, sources_starts) = sources(matrix, &tree, &groups, &rows);
        Self {
            order: tree.order,
            groups,
            rows,
            children,
            children_starts,
            sources,
            sources_starts,
            values,
            order_name,
        }
    }

    /// The rows below a group.
    pub fn rows_below(&self, group: &Group) -> &[u32] {
        &self.rows[group.rows..group.rows + group.below]
    }

    /// The children of a group, or the roots for the number behind the last group.
    pub fn children(&self, group: usize) -> &[u32] {
        let range = self.children_starts[group] as usize..self.children_starts[group + 1] as usize;
        &self.children[range]
    }

    /// How to work on a subtree with several threads: the path from its root down to where large subtrees branch off, group
    /// by group, and the subtrees that hang below it. Each by its last group, ascending, with whether it is of the path.
    ///
    /// All the subtrees are independent; the groups of the path follow one another. The number behind the last group
    /// stands for the root above all roots.
    pub fn stretches(&self, root: usize, large: f64) -> Vec<(usize, bool)> {
        let mut stretches = Vec::new();
        let mut next = Some(root);
        while let Some(n) = next {
            let children = || self.children(n).iter().map(|&child| child as usize);
            let mut large = children().filter(|&child| self.groups[child].work >= large);
            next = large.next().filter(|_| large.next().is_none());
            let hanging = children().filter(|&child| Some(child) != next);
            stretches.extend(hanging.map(|child| (child, false)));
            if n < self.groups.len() {
                stretches.push((n, true));
            }
        }
        stretches.sort_unstable();
        stretches
    }

    /// The entries of the matrix that go into a group.
    pub fn sources(&self, group: usize) -> &[(u32, u32)] {
        let range = self.sources_starts[group] as usize..self.sources_starts[group + 1] as usize;
        &self.sources[range]
    }

    /// Multiplications of a factorisation.
    pub fn work(&self) -> f64 {
        self.children(self.groups.len()).iter().map(|&root| self.groups[root as usize].work).sum()
    }

    /// Bytes of all lists.
    pub fn bytes(&self) -> u64 {
        (size_of_val(&self.order[..])
            + size_of_val(&self.groups[..])
            + size_of_val(&self.rows[..])
            + size_of_val(&self.children[..])
            + size_of_val(&self.children_starts[..])
            + size_of_val(&self.sources[..])
            + size_of_val(&self.sources_starts[..])) as u64
    }
}

/// Runs of columns that share their rows, merged further where few zeros come in. Rows, values, parents and work are not
/// known yet.
fn column_groups(tree: &Tree) -> Vec<Group> {
    /// A group on the stack, with the zeros that it stores.
    struct Run {
        start: usize,
        width: usize,
        below: usize,
        zeros: f64,
    }
    let entries = |width: usize, below: usize| {
        0.5 * width as f64 * (width as f64 + 1.0) + width as f64 * below as f64
    };
    let n = tree.order.len();
    let mut runs: Vec<Run> = Vec::new();
    let mut column = 0;
    while column < n {
        let mut end = column + 1;
        while end < n
            && tree.parent[end - 1] as usize == end
            && tree.counts[end - 1] == tree.counts[end] + 1
        {
            end += 1;
        }
        let below = tree.counts[end - 1] as usize - 1;
        let mut run = Run { start: column, width: end - column, below, zeros: 0.0 };
        // Swallow the last child as long as that pays.
        while let Some(child) = runs.last() {
            let parent = tree.parent[run.start - 1];
            if parent == NONE || parent as usize >= end {
                break;
            }
            let width = child.width + run.width;
            let added = child.width as f64 * (run.width + run.below - child.below) as f64;
            let zeros = child.zeros + run.zeros + added;
            let share = zeros / entries(width, run.below);
            if !MERGE.iter().any(|&(most, zeros)| width <= most && share <= zeros) {
                break;
            }
            run = Run { start: child.start, width, below: run.below, zeros };
            runs.pop();
        }
        runs.push(run);
        column = end;
    }
    let group = |run: Run| Group {
        start: run.start,
        width: run.width,
        rows: 0,
        below: run.below,
        values: 0,
        first: 0,
        work: 0.0,
    };
    runs.into_iter().map(group).collect()
}

/// The rows below every group: those of its own entries and of its children. Completes the groups.
fn row_lists(graph: &Graph, tree: &Tree, groups: &mut [Group]) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
    let count = groups.len();
    let mut group_of = vec![0_u32; tree.order.len()];
    for (n, group) in groups.iter().enumerate() {
        group_of[group.start..group.start + group.width].fill(n as u32);
    }
    let mut rows: Vec<u32> = Vec::with_capacity(groups.iter().map(|group| group.below).sum());
    let mut seen = vec![NONE; tree.order.len()];
    let mut values = 0;
    // Lists of children, the last one in front.
    let (mut last_child, mut before) = (vec![NONE; count + 1], vec![NONE; count]);
    for n in 0..count {
        let Group { start, width, below, .. } = groups[n];
        let first_row = rows.len();
        let end = start + width;
        let mut add = |rows: &mut Vec<u32>, row: u32| {
            if row as usize >= end && seen[row as usize] != n as u32 {
                seen[row as usize] = n as u32;
                rows.push(row);
            }
        };
        for column in start..end {
            for &other in graph.neighbours(tree.order[column] as usize) {
                add(&mut rows, tree.place[other as usize]);
            }
        }
        let mut work = 0.0;
        let mut first = n as u32;
        let mut child = last_child[n];
        while child != NONE {
            let Group { rows: at, below, work: its, first: its_first, .. } = groups[child as usize];
            for n in at..at + below {
                let row = rows[n];
                add(&mut rows, row);
            }
            work += its;
            first = first.min(its_first);
            child = before[child as usize];
        }
        rows[first_row..].sort_unstable();
        debug_assert_eq!(rows.len() - first_row, below, "columns were counted right");
        let parent = rows.get(first_row).map_or(NONE, |&row| group_of[row as usize]);
        let slot = if parent == NONE { count } else { parent as usize };
        before[n] = std::mem::replace(&mut last_child[slot], n as u32);
        let (w, b) = (width as f64, below as f64);
        work += w * w * w / 6.0 + 0.5 * w * w * b + 0.5 * w * b * b + 0.5 * b * b;
        groups[n] = Group { rows: first_row, values, first, work, ..groups[n] };
        values += width * (width + below);
    }
    let mut children = Vec::with_capacity(count);
    let mut starts = vec![0];
    for &last in &last_child {
        let first = children.len();
        let mut child = last;
        while child != NONE {
            children.push(child);
            child = before[child as usize];
        }
        children[first..].reverse();
        starts.push(children.len() as u32);
    }
    (rows, children, starts)
}

/// Where the entries of the matrix go.
fn sources(
    matrix: &Csr<f64>,
    tree: &Tree,
    groups: &[Group],
    rows: &[u32],
) -> (Vec<(u32, u32)>, Vec<u32>) {
    let lists: Vec<Vec<(u32, u32)>> = groups
        .par_iter()
        .map(|group| {
            let (end, height) = (group.start + group.width, group.width + group.below);
            let below = &rows[group.rows..group.rows + group.below];
            let mut list = Vec::new();
            for column in group.start..end {
                let unknown = tree.order[column] as usize;
                for at in matrix.range(unknown) {
                    let row = tree.place[matrix.indices()[at] as usize];
                    if (row as usize) < column {
                        continue;
                    }
                    let local = if (row as usize) < end {
                        row as usize - group.start
                    } else {
                        group.width + below.partition_point(|&other| other < row)
                    };
                    let place = (column - group.start) * height + local;
                    list.push((at as u32, place as u32));
                }
            }
            list
        })
        .collect();
    let mut starts = Vec::with_capacity(groups.len() + 1);
    let mut end = 0;
    starts.push(0);
    for list in &lists {
        end += list.len() as u32;
        starts.push(end);
    }
    (lists.concat(), starts)
}
