//! Compressed rows: for each element a short list of others, all lists in one array.

use std::ops::Index;

/// A table of rows of different lengths: row `i` lists what element `i` touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Csr {
    /// One more than there are rows; row `i` is `items[offsets[i]..offsets[i + 1]]`.
    offsets: Vec<u32>,
    items: Vec<u32>,
}

impl Csr {
    /// The table in which row `to` lists every `from` that `pairs` connects to it.
    ///
    /// `pairs` runs twice and must yield ascending `from`; so rows are ascending, and a pair that is
    /// repeated is listed once.
    pub(super) fn invert<I>(rows: usize, pairs: impl Fn() -> I) -> Self
    where
        I: Iterator<Item = (u32, u32)>,
    {
        const NONE: u32 = u32::MAX;
        let mut last = vec![NONE; rows];
        let mut offsets = vec![0_u32; rows + 1];
        for (from, to) in pairs() {
            if std::mem::replace(&mut last[to as usize], from) != from {
                offsets[to as usize + 1] += 1;
            }
        }
        for row in 0..rows {
            offsets[row + 1] += offsets[row];
        }
        let mut items = vec![0; offsets[rows] as usize];
        let mut next = offsets.clone();
        last.fill(NONE);
        for (from, to) in pairs() {
            if std::mem::replace(&mut last[to as usize], from) != from {
                let slot = &mut next[to as usize];
                items[*slot as usize] = from;
                *slot += 1;
            }
        }
        Self { offsets, items }
    }

    /// The table with these rows, each filled by `row`.
    pub(super) fn from_rows(rows: usize, mut row: impl FnMut(usize, &mut Vec<u32>)) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        let mut items = Vec::new();
        offsets.push(0);
        for index in 0..rows {
            row(index, &mut items);
            offsets.push(items.len() as u32);
        }
        items.shrink_to_fit();
        Self { offsets, items }
    }

    /// The table whose row `i` is `items[offsets[i]..offsets[i + 1]]`.
    pub(super) fn from_parts(offsets: Vec<u32>, items: Vec<u32>) -> Self {
        debug_assert_eq!(offsets.last().map(|&end| end as usize), Some(items.len()));
        Self { offsets, items }
    }

    /// The table with other entries in the same places.
    pub(super) fn map_items(mut self, f: impl Fn(u32) -> u32) -> Self {
        for item in &mut self.items {
            *item = f(*item);
        }
        self
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All rows, one after the other.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.offsets.windows(2).map(|ends| &self.items[ends[0] as usize..ends[1] as usize])
    }

    /// All entries of all rows.
    pub fn items(&self) -> &[u32] {
        &self.items
    }

    /// Bytes that are allocated.
    pub fn allocated_bytes(&self) -> usize {
        (self.offsets.capacity() + self.items.capacity()) * size_of::<u32>()
    }
}

impl Index<usize> for Csr {
    type Output = [u32];
    #[inline]
    fn index(&self, row: usize) -> &[u32] {
        &self.items[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverting_lists_each_pair_once_in_order() {
        let pairs = [(0, 2), (0, 0), (1, 2), (1, 2), (4, 0)];
        let table = Csr::invert(4, || pairs.into_iter());
        let rows: Vec<_> = table.rows().collect();
        assert_eq!(rows, [&[0, 4][..], &[], &[0, 1], &[]]);
        assert_eq!(&table[2], [0, 1]);
    }

    #[test]
    fn a_table_without_rows_is_empty() {
        let table = Csr::invert(0, std::iter::empty);
        assert!(table.is_empty());
        assert_eq!(table.rows().len(), 0);
    }
}
