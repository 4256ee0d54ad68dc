//! Sparse Cholesky factorisation, front by front (Duff & Reid 1983): each group of columns gathers its entries and its
//! children's updates into a dense block, eliminates its columns, and hands what is left on to its parent.
//!
//! Independent subtrees run at the same time, and large fronts by tiles. Which thread does what changes no sum, so that the
//! factor has the same bits on any number of threads.

use super::dense::{self, Pivot, Scalar};
use super::symbolic::{Group, Symbolic};
use rayon::prelude::*;

/// Subtrees with fewer multiplications are factored by one thread.
pub(super) const GRAIN: f64 = 2e6;

/// Children's updates are added on several threads to fronts of at least this many entries.
const PARALLEL_ADD: usize = 1 << 16;

/// Columns of a front that one task adds to.
const COLUMNS_PER_TASK: usize = 32;

/// What a group leaves for its parent: a square over its rows below, of which the lower triangle counts.
type Update<T> = Vec<T>;

/// Factors the matrix with these entries into `values`. An error names the column.
pub(super) fn factor<T: Scalar>(
    symbolic: &Symbolic,
    entries: &[f64],
    values: &mut [T],
) -> Result<(), Pivot> {
    debug_assert_eq!(values.len(), symbolic.values);
    let work = Factorisation { symbolic, entries };
    work.above(symbolic.groups.len(), 0, values).map(|_| ())
}

struct Factorisation<'a> {
    symbolic: &'a Symbolic,
    entries: &'a [f64],
}

/// A stretch of consecutive groups that are worked on in one go.
enum Stretch<'v, T> {
    /// A whole subtree, by its last group.
    Subtree { root: usize, values: &'v mut [T], update: Result<Update<T>, Pivot> },
    /// One group, after all stretches before it.
    Front { group: usize, values: &'v mut [T] },
}

impl Factorisation<'_> {
    /// Factors a subtree, of which `values` are the values, and returns its last group's update. The number behind the last
    /// group stands for the root above all roots, which has no front.
    fn subtree<T: Scalar>(&self, root: usize, values: &mut [T]) -> Result<Update<T>, Pivot> {
        let group = &self.symbolic.groups[root];
        if group.work >= GRAIN {
            return self.above(root, group.first as usize, values);
        }
        let mut updates: Vec<Update<T>> = Vec::new();
        let mut rest = values;
        for n in group.first as usize..=root {
            let (own, later) = rest.split_at_mut(self.symbolic.groups[n].len());
            rest = later;
            let first = updates.len() - self.symbolic.children(n).len();
            let update = self.front(n, own, &updates[first..])?;
            updates.truncate(first);
            updates.push(update);
        }
        Ok(updates.pop().unwrap_or_default())
    }

    /// Factors a large subtree: first, all at once, the subtrees that hang below the path from its root down to where large
    /// subtrees branch off; then the fronts of the path, one after another.
    fn above<T: Scalar>(
        &self,
        root: usize,
        first: usize,
        values: &mut [T],
    ) -> Result<Update<T>, Pivot> {
        let groups = &self.symbolic.groups;
        let cuts = self.symbolic.stretches(root, GRAIN);
        let mut stretches = Vec::with_capacity(cuts.len());
        let mut rest = values;
        let mut begin = first;
        for &(n, is_front) in &cuts {
            let length = groups[n].values + groups[n].len() - groups[begin].values;
            let (values, later) = rest.split_at_mut(length);
            rest = later;
            begin = n + 1;
            stretches.push(match is_front {
                true => Stretch::Front { group: n, values },
                false => Stretch::Subtree { root: n, values, update: Ok(Vec::new()) },
            });
        }

        stretches.par_iter_mut().for_each(|stretch| {
            if let Stretch::Subtree { root, values, update } = stretch {
                *update = self.subtree(*root, values);
            }
        });
        let mut updates: Vec<Update<T>> = Vec::new();
        for stretch in stretches {
            let update = match stretch {
                Stretch::Subtree { update, .. } => update?,
                Stretch::Front { group, values } => {
                    let first = updates.len() - self.symbolic.children(group).len();
                    let update = self.front(group, values, &updates[first..])?;
                    updates.truncate(first);
                    update
                }
            };
            updates.push(update);
        }
        Ok(updates.pop().unwrap_or_default())
    }

    /// Assembles and eliminates one front.
    fn front<T: Scalar>(
        &self,
        n: usize,
        values: &mut [T],
        updates: &[Update<T>],
    ) -> Result<Update<T>, Pivot> {
        let group = &self.symbolic.groups[n];
        let (width, below) = (group.width, group.below);
        values.fill(T::ZERO);
        for &(from, to) in self.symbolic.sources(n) {
            values[to as usize] = T::from_f64(self.entries[from as usize]);
        }
        let children: Vec<Child<T>> = (self.symbolic.children(n).iter())
            .zip(updates)
            .map(|(&child, update)| Child::new(self.symbolic, group, child as usize, update))
            .collect();
        add_children(values, width + below, 0, &children);
        dense::eliminate(values, width, below)
            .map_err(|pivot| Pivot { column: group.start + pivot.column, ..pivot })?;
        let mut update = vec![T::ZERO; below * below];
        dense::outer_product(values, width, below, &mut update);
        add_children(&mut update, below, width, &children);
        Ok(update)
    }
}

/// Where each row below a child is in its parent's front, among columns and rows below.
pub(super) fn places<'a>(
    symbolic: &'a Symbolic,
    parent: &'a Group,
    child: usize,
) -> impl Iterator<Item = usize> + 'a {
    let above = symbolic.rows_below(parent);
    let end = parent.start + parent.width;
    let mut at = 0;
    symbolic.rows_below(&symbolic.groups[child]).iter().map(move |&row| {
        if (row as usize) < end {
            return row as usize - parent.start;
        }
        while above[at] != row {
            at += 1;
        }
        parent.width + at
    })
}

/// A child's update, and where its rows are in its parent's front.
struct Child<'a, T> {
    update: &'a [T],
    /// The place of each of its rows among columns and rows below of the front.
    places: Vec<u32>,
    /// Runs of rows that are consecutive in both: where each begins, and one end more.
    runs: Vec<u32>,
}

impl<'a, T: Scalar> Child<'a, T> {
    fn new(symbolic: &Symbolic, parent: &Group, child: usize, update: &'a [T]) -> Self {
        let places: Vec<u32> = places(symbolic, parent, child).map(|place| place as u32).collect();
        let follows = |n: usize| n > 0 && places[n - 1] + 1 == places[n];
        let mut runs: Vec<u32> =
            (0..places.len()).filter(|&n| !follows(n)).map(|n| n as u32).collect();
        runs.push(places.len() as u32);
        Self { update, places, runs }
    }

    /// Adds its columns whose places are in `columns` to those columns of a block, whose row 0 is place `first_row`.
    fn add(
        &self,
        block: &mut [T],
        height: usize,
        columns: std::ops::Range<usize>,
        first_row: usize,
    ) {
        let count = self.places.len();
        let low = self.places.partition_point(|&place| (place as usize) < columns.start);
        let high = self.places.partition_point(|&place| (place as usize) < columns.end);
        let mut run = 0;
        for column in low..high {
            let from = &self.update[column * count..][..count];
            let to =
                &mut block[(self.places[column] as usize - columns.start) * height..][..height];
            while self.runs[run + 1] as usize <= column {
                run += 1;
            }
            for run in self.runs[run..].windows(2) {
                let (start, end) = ((run[0] as usize).max(column), run[1] as usize);
                let at = self.places[start] as usize - first_row;
                for (to, &from) in to[at..at + end - start].iter_mut().zip(&from[start..end]) {
                    *to += from;
                }
            }
        }
    }
}

/// Adds the children's updates to a block of columns of a front that begins at place `first`, both as row and as column if
/// that is not 0.
fn add_children<T: Scalar>(block: &mut [T], height: usize, first: usize, children: &[Child<T>]) {
    if children.is_empty() || height == 0 {
        return;
    }
    let add = |n: usize, block: &mut [T]| {
        let start = first + n * COLUMNS_PER_TASK;
        let columns = start..start + block.len() / height;
        for child in children {
            child.add(block, height, columns.clone(), first);
        }
    };
    let chunk = height * COLUMNS_PER_TASK;
    if block.len() < PARALLEL_ADD {
        block.chunks_mut(chunk).enumerate().for_each(|(n, block)| add(n, block));
    } else {
        block.par_chunks_mut(chunk).enumerate().for_each(|(n, block)| add(n, block));
    }
}
