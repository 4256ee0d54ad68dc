//! Islands: all that elements tie together and a contact touches, factored each by itself, so that contacts know exactly how it
//! gives way.
//!
//! An island is a connected part of the saddle matrix ( A Bᵀ ; B 0 ). Its unknowns are put in the order of Cuthill and McKee, each multiplier of a
//! hard row right behind the last unknown that the row holds, and it is factored as L·D·Lᵀ within its envelope (George & Liu 1981,
//! *Computer solution of large sparse positive definite systems*, §4.3, §6.2). Strands of hair have narrow envelopes: factors and solves are
//! linear in their length.

use super::apart::{Apart, Factored};
use super::touch::Block;
use rayon::prelude::*;
use undine_linsolve::Csr;

/// A pivot of a multiplier smaller than this share of what it was made of says that its row is said already.
const SAID_ALREADY: f64 = 1e-11;

/// Rows as they come are in a good order if their envelope has no more entries a row than this.
const NARROW: usize = 16;

/// Right-hand sides that are solved side by side.
const LANES: usize = 4;

/// Rows of such that are kept at once: 16 MiB. Strands of hair take a hundredth of that.
const KEPT: usize = 1 << 19;

/// A connected part of a system, factored.
#[derive(Debug, Default)]
pub(super) struct Island {
    /// The rows of the system in the order of elimination; those of multipliers come behind all unknowns.
    order: Vec<u32>,
    /// The first column of each row's envelope, and where the row begins in `entries`.
    first: Vec<u32>,
    starts: Vec<usize>,
    /// L below its diagonal of ones, row after row.
    entries: Vec<f64>,
    /// 1/D; 0 for rows that are said already.
    pivots: Vec<f64>,
    /// The touched rows, in rising order, and the place of each in the order of elimination.
    touched: Vec<(u32, u32)>,
    /// How touched rows follow from forces on them.
    pub block: Block,
}

/// The islands of a system that contacts have touched so far.
#[derive(Debug, Default)]
pub(super) struct Islands {
    /// The island of each row of the saddle matrix that is in one.
    of: Vec<u32>,
    /// Islands, in the order in which they were touched.
    pub list: Vec<Island>,
    /// Where several processes solve together: the pieces that contacts have touched on any of them, in that order, and which island each is,
    /// if it is one of this process.
    pub met: Vec<(u32, Option<u32>)>,
    /// Those that were forgotten, whose memory is used again.
    spare: Vec<Island>,
}

impl Islands {
    /// Forgets all of them, but not their memory: a groom has thousands, and they are made anew in every step.
    pub fn forget(&mut self) {
        self.of.clear();
        self.met.clear();
        self.spare.append(&mut self.list);
    }

    /// Takes in the rows that contacts touch, in rising order: `a` is the matrix of the system, and `b` its hard rows; `names` are what
    /// blocks call rows, in rising order too.
    pub fn touch(&mut self, (a, b): (&Csr<f64>, &Csr<f64>), names: &[u32], rows: &[u32]) {
        let saddle = Saddle { a, b, transposed: b.transpose() };
        self.of.resize(a.rows() + b.rows(), u32::MAX);
        let mut parts: Vec<Vec<u32>> = Vec::new();
        for &row in rows {
            if self.of[row as usize] == u32::MAX {
                let number = (self.list.len() + parts.len()) as u32;
                parts.push(saddle.part_of(row, number, &mut self.of));
            }
        }
        // Parts have no row in common, and are found in a fixed order.
        self.list.par_extend(parts.into_par_iter().map(|part| Island::factor(&saddle, part)));
        self.touch_rows(names, rows);
    }

    /// The same where Objects are islands that were factored each by itself.
    pub fn touch_apart(&mut self, apart: &Apart, names: &[u32], rows: &[u32]) {
        self.of.resize(apart.rows(), u32::MAX);
        let mut factors = Vec::new();
        for &row in rows {
            if self.of[row as usize] == u32::MAX {
                let factored = apart.factor_of(row);
                self.of[factored.rows()].fill((self.list.len() + factors.len()) as u32);
                factors.push(factored);
            }
        }
        let mut memory = self.spare.split_off(self.spare.len().saturating_sub(factors.len()));
        memory.resize_with(factors.len(), Island::default);
        let factored = |(factored, memory): (&Factored<'_>, Island)| memory.factored(factored);
        self.list.par_extend(factors.par_iter().zip(memory).map(factored));
        self.touch_rows(names, rows);
    }

    fn touch_rows(&mut self, names: &[u32], rows: &[u32]) {
        let mut touched: Vec<Vec<u32>> = vec![Vec::new(); self.list.len()];
        rows.iter().for_each(|&row| touched[self.of[row as usize] as usize].push(row));
        self.list.par_iter_mut().zip(touched).for_each(|(island, rows)| island.touch(names, &rows));
    }

    /// The island of a row that was touched.
    pub fn of(&self, row: usize) -> u32 {
        self.of[row]
    }
}

/// The saddle matrix ( A Bᵀ ; B 0 ).
struct Saddle<'m> {
    a: &'m Csr<f64>,
    b: &'m Csr<f64>,
    transposed: Csr<f64>,
}

impl Saddle<'_> {
    fn is_unknown(&self, row: u32) -> bool {
        (row as usize) < self.a.rows()
    }

    /// The entries of a row on unknowns.
    fn row(&self, row: u32) -> (&[u32], &[f64]) {
        match self.is_unknown(row) {
            true => self.a.row(row as usize),
            false => self.b.row(row as usize - self.a.rows()),
        }
    }

    /// The neighbours of a row.
    fn neighbours(&self, row: u32) -> impl Iterator<Item = u32> + '_ {
        let n = self.a.rows() as u32;
        let held: &[u32] =
            if self.is_unknown(row) { self.transposed.row(row as usize).0 } else { &[] };
        self.row(row).0.iter().copied().chain(held.iter().map(move |row| n + row))
    }

    /// All rows that hang together with one, as a search in breadth meets them; `of` gets the number of their island.
    fn part_of(&self, from: u32, number: u32, of: &mut [u32]) -> Vec<u32> {
        let mut list = vec![from];
        of[from as usize] = number;
        let mut next = 0;
        while next < list.len() {
            for other in self.neighbours(list[next]) {
                if of[other as usize] == u32::MAX {
                    of[other as usize] = number;
                    list.push(other);
                }
            }
            next += 1;
        }
        list
    }

    /// The rows of a part as they come, if they follow each other in a narrow band without multipliers.
    fn as_they_come(&self, part: &[u32]) -> Option<Vec<u32>> {
        let (low, high) =
            part.iter().fold((u32::MAX, 0), |(low, high), &row| (low.min(row), high.max(row)));
        if (high - low) as usize + 1 != part.len() || !self.is_unknown(high) {
            return None;
        }
        let back = |row: u32| {
            (row - self.row(row).0.first().map_or(row, |&first| first.min(row))) as usize
        };
        let held = |row: u32| !self.transposed.row(row as usize).0.is_empty();
        let rows = low..=high;
        let envelope: usize = rows.clone().map(back).sum();
        (envelope <= NARROW * part.len() && !rows.clone().any(held)).then(|| rows.collect())
    }

    /// The order of elimination of a part: of Cuthill and McKee, begun at an end, multipliers behind the last of their unknowns.
    fn arranged(&self, part: &[u32]) -> Vec<u32> {
        let mut sorted = part.to_vec();
        sorted.sort_unstable();
        let local = |row: u32| sorted.partition_point(|&other| other < row);
        // What a search meets last is at an end; from there, the levels of a second search are narrow.
        let end = part.iter().rev().copied().find(|&row| self.is_unknown(row)).unwrap_or(part[0]);
        let mut place = vec![u32::MAX; part.len()];
        let mut met = vec![false; part.len()];
        met[local(end)] = true;
        let (mut order, mut next) = (vec![end], 0);
        let mut unknowns = 0;
        while next < order.len() {
            if self.is_unknown(order[next]) {
                place[local(order[next])] = unknowns;
                unknowns += 1;
            }
            for other in self.neighbours(order[next]) {
                let met = &mut met[local(other)];
                if !std::mem::replace(met, true) {
                    order.push(other);
                }
            }
            next += 1;
        }
        let key = |row: u32| {
            let place = |row: u32| place[local(row)];
            match self.is_unknown(row) {
                true => (place(row), 0_u8, row),
                false => {
                    let last = self.row(row).0.iter().map(|&column| place(column)).max();
                    (last.unwrap_or(0), 1_u8, row)
                }
            }
        };
        order.sort_by_cached_key(|&row| key(row));
        order
    }
}

impl Island {
    fn factor(saddle: &Saddle<'_>, part: Vec<u32>) -> Self {
        let as_they_come = saddle.as_they_come(&part);
        let from = as_they_come.as_ref().map(|order| order[0]);
        let order = as_they_come.unwrap_or_else(|| saddle.arranged(&part));
        let mut places: Vec<(u32, u32)> = match from {
            Some(_) => Vec::new(),
            None => order.iter().copied().zip(0..).collect(),
        };
        places.sort_unstable();
        let place = |row: u32| match from {
            Some(from) => (row - from) as usize,
            None => places
                .binary_search_by_key(&row, |entry| entry.0)
                .map_or(0, |at| places[at].1 as usize),
        };
        // The lower part of the matrix in its envelope. Entries of a multiplier stand in its own row, since its unknowns come before.
        let (mut first, mut starts) = (Vec::new(), Vec::new());
        let mut entries: Vec<f64> = Vec::with_capacity(NARROW * order.len());
        let mut diagonal = vec![0.0; order.len()];
        let mut below = Vec::new();
        for (at, &row) in order.iter().enumerate() {
            let (columns, values) = saddle.row(row);
            below.clear();
            below.extend(columns.iter().map(|&column| place(column)));
            let begin = below.iter().copied().filter(|&column| column < at).min().unwrap_or(at);
            first.push(begin as u32);
            starts.push(entries.len());
            entries.resize(entries.len() + at - begin, 0.0);
            let start = starts[at];
            for (&column, value) in below.iter().zip(values) {
                if column < at {
                    entries[start + column - begin] += value;
                } else if column == at {
                    diagonal[at] += value;
                }
            }
        }
        let mut island = Self {
            order,
            first,
            starts,
            entries,
            pivots: Vec::new(),
            touched: Vec::new(),
            block: Block::default(),
        };
        island.eliminate(&diagonal, saddle.a.rows());
        island
    }

    /// Of an Object that was factored as L·Lᵀ: with D the squares of L's diagonal, and L divided by it column by column. Only the memory of
    /// the island that there was is used.
    fn factored(self, factored: &Factored<'_>) -> Self {
        let Self { mut order, mut first, mut starts, mut entries, mut touched, block, .. } = self;
        let mut diagonal = self.pivots;
        let (rows, width) = (factored.rows(), factored.width());
        let count = rows.len();
        order.clear();
        order.extend(rows.map(|row| row as u32));
        first.clear();
        starts.clear();
        entries.clear();
        entries.reserve(width * count);
        diagonal.clear();
        touched.clear();
        for row in 0..count {
            let begin = row.saturating_sub(width);
            first.push(begin as u32);
            starts.push(entries.len());
            let mut values = factored.row(row).skip(width - (row - begin));
            entries.extend(diagonal[begin..].iter().zip(&mut values).map(|(d, value)| d * value));
            diagonal.extend(values);
        }
        diagonal.iter_mut().for_each(|inverse| *inverse *= *inverse);
        Self { order, first, starts, entries, pivots: diagonal, touched, block }
    }

    /// Takes in rows that contacts touch.
    fn touch(&mut self, names: &[u32], rows: &[u32]) {
        let known = |row: u32| self.touched.binary_search_by_key(&row, |entry| entry.0).is_ok();
        let mut more: Vec<u32> = rows.iter().copied().filter(|&row| !known(row)).collect();
        if more.is_empty() {
            return;
        }
        more.sort_unstable();
        let wanted = |row: &u32| more.binary_search(row).is_ok();
        let places = self.order.iter().copied().zip(0..).filter(|(row, _)| wanted(row));
        let places: Vec<(u32, u32)> = places.collect();
        self.touched.extend(places);
        self.touched.sort_unstable();
        let memory = std::mem::take(&mut self.block);
        self.block = self.touched_block(names, KEPT, memory);
    }

    /// L·D·Lᵀ, row by row.
    fn eliminate(&mut self, diagonal: &[f64], n: usize) {
        self.pivots = vec![0.0; self.order.len()];
        for i in 0..self.order.len() {
            let begin = self.first[i] as usize;
            let (before, from) = self.entries.split_at_mut(self.starts[i]);
            let row = &mut from[..i - begin];
            // Row by row of L·D first, then divided by D.
            for j in begin..i {
                let other = self.first[j] as usize;
                let both = begin.max(other);
                let own = &row[both - begin..j - begin];
                let their = &before[self.starts[j] + both - other..self.starts[j] + j - other];
                row[j - begin] -= dot(own, their);
            }
            let (mut sum, mut made_of) = (diagonal[i], diagonal[i].abs());
            for (k, value) in row.iter_mut().enumerate() {
                let scaled = *value * self.pivots[begin + k];
                sum -= *value * scaled;
                made_of += (*value * scaled).abs();
                *value = scaled;
            }
            let is_multiplier = self.order[i] as usize >= n;
            let nothing = is_multiplier && sum.abs() <= SAID_ALREADY * made_of;
            self.pivots[i] = if nothing || sum == 0.0 { 0.0 } else { 1.0 / sum };
        }
    }

    /// Solves for all rows, in the order of elimination.
    fn solve(&self, x: &mut [f64]) {
        let from = x.iter().position(|&x| x != 0.0).unwrap_or(x.len());
        for i in from..x.len() {
            let begin = (self.first[i] as usize).max(from);
            if begin < i {
                let row = &self.entries[self.starts[i] + begin - self.first[i] as usize..];
                x[i] -= dot(&row[..i - begin], &x[begin..i]);
            }
        }
        x[from..].iter_mut().zip(&self.pivots[from..]).for_each(|(x, pivot)| *x *= pivot);
        for i in (0..x.len()).rev() {
            let begin = self.first[i] as usize;
            let value = x[i];
            let row = &self.entries[self.starts[i]..self.starts[i] + i - begin];
            x[begin..i].iter_mut().zip(row).for_each(|(x, l)| *x -= l * value);
        }
    }

    /// L⁻¹ of the unit vectors of some touched rows, beside each other; returns the first row where one of them is not zero.
    fn descend(&self, columns: &[(u32, u32)], x: &mut [[f64; LANES]]) -> usize {
        x.fill([0.0; LANES]);
        for (lane, &(_, at)) in columns.iter().enumerate() {
            x[at as usize][lane] = 1.0;
        }
        let from = columns.iter().map(|column| column.1 as usize).min().unwrap_or(x.len());
        for i in from..x.len() {
            let begin = (self.first[i] as usize).max(from);
            if begin < i {
                let row = &self.entries[self.starts[i] + begin - self.first[i] as usize..];
                let (before, own) = x.split_at_mut(i);
                let mut sum = own[0];
                for (l, x) in row[..i - begin].iter().zip(&before[begin..]) {
                    (0..LANES).for_each(|lane| sum[lane] -= l * x[lane]);
                }
                own[0] = sum;
            }
        }
        from
    }

    /// How touched rows follow from forces on them: with y = L⁻¹ e of each, the entries are yᵢᵀ D⁻¹ yⱼ, which needs no way back through L and
    /// is symmetric to the bit, since rows are read as columns. Of y, at most `kept` rows of lanes are kept at once, or those of one batch; what
    /// is beyond them is found again for each portion.
    fn touched_block(&self, names: &[u32], kept: usize, memory: Block) -> Block {
        let (width, count) = (self.touched.len(), self.order.len());
        let batches: Vec<&[(u32, u32)]> = self.touched.chunks(LANES).collect();
        let portion = (kept / count.max(1)).clamp(1, batches.len().max(1));
        let mut near = vec![[0.0; LANES]; portion * count];
        let mut begins = vec![0; portion];
        let mut far = Vec::new();
        let Block { mut rows, mut inverse } = memory;
        rows.clear();
        rows.extend(self.touched.iter().map(|entry| names[entry.0 as usize]));
        inverse.clear();
        inverse.resize(width * width, 0.0);
        for first in (0..batches.len()).step_by(portion) {
            let end = (first + portion).min(batches.len());
            for (n, columns) in batches[first..end].iter().enumerate() {
                begins[n] = self.descend(columns, &mut near[n * count..(n + 1) * count]);
            }
            for (one, columns) in batches.iter().enumerate().skip(first) {
                let (begin, a) = match one < end {
                    true => (begins[one - first], &near[(one - first) * count..]),
                    false => {
                        far.resize(count, [0.0; LANES]);
                        (self.descend(columns, &mut far), &far[..])
                    }
                };
                for other in first..end.min(one + 1) {
                    let from = begin.max(begins[other - first]);
                    let b = &near[(other - first) * count..];
                    let both = a[from..count].iter().zip(&b[from..count]);
                    let sums = weighed(both.zip(&self.pivots[from..]));
                    for (i, sums) in (LANES * one..width).zip(&sums) {
                        for (j, sum) in (LANES * other..width.min(LANES * (other + 1))).zip(sums) {
                            if j <= i {
                                (inverse[width * i + j], inverse[width * j + i]) = (*sum, *sum);
                            }
                        }
                    }
                }
            }
        }
        Block { rows, inverse }
    }

    /// What forces on the touched rows, in the order of the block, make of all rows: those of unknowns, and behind them those of
    /// multipliers.
    pub fn follow(&self, force: &[f64]) -> Vec<(u32, f64)> {
        let mut x = vec![0.0; self.order.len()];
        for (&(_, at), force) in self.touched.iter().zip(force) {
            x[at as usize] = *force;
        }
        self.solve(&mut x);
        self.order.iter().copied().zip(x).collect()
    }
}

/// Sums of products of lanes, each weighed: Σ aᵢ w bⱼ.
#[inline]
fn weighed<'a>(
    rows: impl Iterator<Item = ((&'a [f64; LANES], &'a [f64; LANES]), &'a f64)>,
) -> [[f64; LANES]; LANES] {
    let mut sums = [[0.0; LANES]; LANES];
    for ((a, b), weight) in rows {
        for (sums, a) in sums.iter_mut().zip(a) {
            let scaled = a * weight;
            (0..LANES).for_each(|lane| sums[lane] += scaled * b[lane]);
        }
    }
    sums
}

#[inline]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a * b)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two chains with branches and a hard row in one of them, against dense elimination.
    #[test]
    fn blocks_are_those_of_the_whole_inverse() {
        let n = 14;
        let tie = |i: usize, j: usize| -> f64 {
            let near = i.abs_diff(j);
            let same = (i < 7) == (j < 7);
            match (near, same) {
                (0, _) => 3.0 + 0.1 * i as f64,
                (1, true) => -1.0,
                (3, true) => -0.3,
                _ => 0.0,
            }
        };
        let a = Csr::from_rows(n, n, |row, out| {
            out.extend((0..n).map(|c| (c as u32, tie(row, c))).filter(|entry| entry.1 != 0.0));
        })
        .unwrap();
        let b = Csr::from_rows(2, n, |row, out| {
            // The second says the same as the first.
            out.extend([(1_u32, 1.0), (4, -0.5)].map(|(c, v)| (c, v * (1.0 + row as f64))));
        })
        .unwrap();
        // Taken in one after another or at once, rows come to the same.
        let mut found = Islands::default();
        let names: Vec<u32> = (0..n as u32).collect();
        found.touch((&a, &b), &names, &[2, 5, 9]);
        found.touch((&a, &b), &names, &[0, 2, 7, 8, 10, 11, 12, 13]);
        let rows: Vec<Vec<u32>> =
            found.list.iter().map(|island| island.block.rows.clone()).collect();
        assert_eq!(rows, [vec![0, 2, 5], (7..14).collect()]);
        // However little of it is kept at once.
        for island in &found.list {
            assert_eq!(island.touched_block(&names, 0, Block::default()), island.block);
        }

        // The whole saddle matrix with the first hard row alone, dense.
        let width = n + 1;
        let held = |i: usize| [(1, 1.0), (4, -0.5)].into_iter().find(|entry| entry.0 == i);
        let entry = |i: usize, j: usize| match (i < n, j < n) {
            (true, true) => tie(i, j),
            (false, false) => 0.0,
            _ => held(i.min(j)).map_or(0.0, |entry| entry.1),
        };
        let whole: Vec<f64> = (0..width * width).map(|k| entry(k / width, k % width)).collect();
        for island in &found.list {
            let block = &island.block;
            for (column, &row) in block.rows.iter().enumerate() {
                let mut rhs = vec![0.0; width];
                rhs[row as usize] = 1.0;
                let wanted = gauss(whole.clone(), rhs);
                for (k, &other) in block.rows.iter().enumerate() {
                    let found = block.inverse[block.rows.len() * column + k];
                    assert!((found - wanted[other as usize]).abs() < 1e-12, "{row} {other}");
                }
                let mut unit = vec![0.0; block.rows.len()];
                unit[column] = 1.0;
                for (row, value) in island.follow(&unit) {
                    if (row as usize) < n {
                        assert!((value - wanted[row as usize]).abs() < 1e-12);
                    }
                }
            }
        }
    }

    fn gauss(mut a: Vec<f64>, mut b: Vec<f64>) -> Vec<f64> {
        let n = b.len();
        for i in 0..n {
            let size = |row: usize| a[n * row + i].abs();
            let pivot = (i..n).max_by(|&p, &q| size(p).total_cmp(&size(q))).unwrap();
            (0..n).for_each(|j| a.swap(n * i + j, n * pivot + j));
            b.swap(i, pivot);
            for k in i + 1..n {
                let factor = a[n * k + i] / a[n * i + i];
                (i..n).for_each(|j| a[n * k + j] -= factor * a[n * i + j]);
                b[k] -= factor * b[i];
            }
        }
        for i in (0..n).rev() {
            let sum = (i + 1..n).fold(b[i], |sum, j| sum - a[n * i + j] * b[j]);
            b[i] = sum / a[n * i + i];
        }
        b
    }
}
