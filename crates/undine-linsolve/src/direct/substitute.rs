//! Forward and backward substitution with a factor made of fronts. As in the factorisation, independent subtrees run at the
//! same time and every sum has its fixed order.

use super::dense::Scalar;
use super::multifrontal::{GRAIN, places};
use super::symbolic::Symbolic;
use rayon::prelude::*;

/// Entries below which a front's substitution stays on one thread.
const ALONE: usize = 1 << 17;

/// Rows, or columns, of one task of a large front.
const CHUNK: usize = 256;

/// x ← (L·Lᵀ)⁻¹·x, for `x` in the order of elimination.
pub(super) fn solve<T: Scalar>(symbolic: &Symbolic, values: &[T], x: &mut [T]) {
    let factor = Factor { symbolic, values };
    let root = symbolic.groups.len();
    factor.forward_above(root, 0, x);
    factor.backward_above(root, 0, x, Vec::new());
}

struct Factor<'a, T> {
    symbolic: &'a Symbolic,
    values: &'a [T],
}

impl<T: Scalar> Factor<'_, T> {
    /// L·y = x for the columns of a subtree; returns what the rows below lose.
    fn forward(&self, root: usize, x: &mut [T]) -> Vec<T> {
        let group = &self.symbolic.groups[root];
        if group.work >= GRAIN {
            return self.forward_above(root, group.first as usize, x);
        }
        let mut losses: Vec<Vec<T>> = Vec::new();
        let mut rest = x;
        for n in group.first as usize..=root {
            let (own, later) = rest.split_at_mut(self.symbolic.groups[n].width);
            rest = later;
            let first = losses.len() - self.symbolic.children(n).len();
            let loss = self.forward_front(n, own, &losses[first..]);
            losses.truncate(first);
            losses.push(loss);
        }
        losses.pop().unwrap_or_default()
    }

    fn forward_above(&self, root: usize, first: usize, x: &mut [T]) -> Vec<T> {
        let cuts = self.symbolic.stretches(root, GRAIN);
        let mut pieces = self.pieces(&cuts, first, x);
        let subtrees: Vec<Vec<T>> = pieces
            .par_iter_mut()
            .map(|(n, is_front, x)| if *is_front { Vec::new() } else { self.forward(*n, x) })
            .collect();
        let mut losses: Vec<Vec<T>> = Vec::new();
        for ((n, is_front, x), loss) in pieces.into_iter().zip(subtrees) {
            if !is_front {
                losses.push(loss);
                continue;
            }
            let first = losses.len() - self.symbolic.children(n).len();
            let loss = self.forward_front(n, x, &losses[first..]);
            losses.truncate(first);
            losses.push(loss);
        }
        losses.pop().unwrap_or_default()
    }

    fn forward_front(&self, n: usize, x: &mut [T], children: &[Vec<T>]) -> Vec<T> {
        let group = &self.symbolic.groups[n];
        let (width, height) = (group.width, group.width + group.below);
        let values = &self.values[group.values..group.values + group.len()];
        let mut loss = vec![T::ZERO; group.below];
        for (&child, lost) in self.symbolic.children(n).iter().zip(children) {
            for (place, &lost) in places(self.symbolic, group, child as usize).zip(lost) {
                match place.checked_sub(width) {
                    None => x[place] -= lost,
                    Some(row) => loss[row] += lost,
                }
            }
        }
        for column in 0..width {
            let l = &values[column * height + column..][..width - column];
            let value = x[column] / l[0];
            x[column] = value;
            for (x, &l) in x[column + 1..].iter_mut().zip(&l[1..]) {
                *x -= l * value;
            }
        }
        let x = &*x;
        let rows = |n: usize, loss: &mut [T]| {
            let first = width + n * CHUNK;
            for (column, &x) in x.iter().enumerate() {
                let l = &values[column * height + first..][..loss.len()];
                for (loss, &l) in loss.iter_mut().zip(l) {
                    *loss += l * x;
                }
            }
        };
        if group.len() < ALONE {
            loss.chunks_mut(CHUNK).enumerate().for_each(|(n, loss)| rows(n, loss));
        } else {
            loss.par_chunks_mut(CHUNK).enumerate().for_each(|(n, loss)| rows(n, loss));
        }
        loss
    }

    /// Lᵀ·y = x for the columns of a subtree, given the solution at the rows below.
    fn backward(&self, root: usize, x: &mut [T], below: Vec<T>) {
        let group = &self.symbolic.groups[root];
        if group.work >= GRAIN {
            return self.backward_above(root, group.first as usize, x, below);
        }
        let mut known: Vec<Vec<T>> = vec![below];
        let mut rest = x;
        for n in (group.first as usize..=root).rev() {
            let at = rest.len() - self.symbolic.groups[n].width;
            let (earlier, own) = rest.split_at_mut(at);
            rest = earlier;
            let below = known.pop().unwrap_or_default();
            known.extend(self.backward_front(n, own, &below));
        }
    }

    fn backward_above(&self, root: usize, first: usize, x: &mut [T], below: Vec<T>) {
        let cuts = self.symbolic.stretches(root, GRAIN);
        let mut known: Vec<Vec<T>> = match root < self.symbolic.groups.len() {
            true => vec![below],
            false => vec![Vec::new(); self.symbolic.children(root).len()],
        };
        let mut tasks = Vec::new();
        for (n, is_front, x) in self.pieces(&cuts, first, x).into_iter().rev() {
            let below = known.pop().unwrap_or_default();
            if is_front {
                known.extend(self.backward_front(n, x, &below));
            } else {
                tasks.push((n, x, below));
            }
        }
        tasks.into_par_iter().for_each(|(n, x, below)| self.backward(n, x, below));
    }

    /// Solves for a front's columns; returns the solution at the rows below each child.
    fn backward_front<'s>(
        &'s self,
        n: usize,
        x: &'s mut [T],
        below: &'s [T],
    ) -> impl Iterator<Item = Vec<T>> + 's {
        let group = &self.symbolic.groups[n];
        let (width, height) = (group.width, group.width + group.below);
        let values = &self.values[group.values..group.values + group.len()];
        let columns = |n: usize, x: &mut [T]| {
            for (column, x) in (n * CHUNK..).zip(x) {
                *x -= dot(&values[column * height + width..][..below.len()], below);
            }
        };
        if group.len() < ALONE {
            columns(0, x);
        } else {
            x.par_chunks_mut(CHUNK).enumerate().for_each(|(n, x)| columns(n, x));
        }
        for column in (0..width).rev() {
            let l = &values[column * height + column..][..width - column];
            let sum = dot(&l[1..], &x[column + 1..]);
            x[column] = (x[column] - sum) / l[0];
        }
        let x = &*x;
        self.symbolic.children(n).iter().map(move |&child| {
            places(self.symbolic, group, child as usize)
                .map(|place| if place < width { x[place] } else { below[place - width] })
                .collect()
        })
    }

    /// The unknowns of each stretch.
    fn pieces<'x>(
        &self,
        cuts: &[(usize, bool)],
        first: usize,
        x: &'x mut [T],
    ) -> Vec<(usize, bool, &'x mut [T])> {
        let groups = &self.symbolic.groups;
        let mut begin = first;
        let mut rest = x;
        let mut pieces = Vec::with_capacity(cuts.len());
        for &(n, is_front) in cuts {
            let length = groups[n].start + groups[n].width - groups[begin].start;
            let (piece, later) = rest.split_at_mut(length);
            pieces.push((n, is_front, piece));
            (rest, begin) = (later, n + 1);
        }
        pieces
    }
}

/// x·y in eight fixed lanes.
#[inline]
fn dot<T: Scalar>(x: &[T], y: &[T]) -> T {
    let mut sums = [T::ZERO; 8];
    let whole = x.len() - x.len() % 8;
    for (x, y) in x[..whole].chunks_exact(8).zip(y[..whole].chunks_exact(8)) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    for (lane, (&x, &y)) in x[whole..].iter().zip(&y[whole..]).enumerate() {
        sums[lane] += x * y;
    }
    ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]))
}
