//! Which rows belong to which Object.

use crate::error::{Result, SolveError};
use std::ops::Range;

/// The blocks of a system: each a list of rows, no row twice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Blocks {
    /// Where each block's rows begin in `rows`, and one end more.
    starts: Vec<u32>,
    rows: Vec<u32>,
}

impl Blocks {
    /// Blocks of consecutive rows.
    pub fn ranges(ranges: &[Range<usize>]) -> Self {
        Self::lists(ranges.iter().map(|range| range.start as u32..range.end as u32))
    }

    /// Blocks of any rows.
    pub fn lists<L: IntoIterator<Item = u32>>(lists: impl IntoIterator<Item = L>) -> Self {
        let (mut starts, mut rows) = (vec![0], Vec::new());
        for list in lists {
            rows.extend(list);
            starts.push(rows.len() as u32);
        }
        Self { starts, rows }
    }

    /// How many blocks there are.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows of a block.
    pub fn rows(&self, block: usize) -> &[u32] {
        &self.rows[self.range(block)]
    }

    /// Where a block's rows are when all blocks are put one after another.
    pub(super) fn range(&self, block: usize) -> Range<usize> {
        self.starts[block] as usize..self.starts[block + 1] as usize
    }

    /// All rows, block after block.
    pub(super) fn all(&self) -> &[u32] {
        &self.rows
    }

    /// The blocks over `count` rows: empty ones left out, and each row that is in none as a block of its own. Refuses rows
    /// that do not exist or come twice.
    pub(super) fn completed(&self, count: usize) -> Result<Self> {
        let mut seen = vec![false; count];
        for block in 0..self.len() {
            for &row in self.rows(block) {
                let bad = |wanted| SolveError::BadValue {
                    what: format!("a row of block {block}"),
                    found: row.to_string(),
                    wanted,
                };
                match seen.get_mut(row as usize) {
                    None => return Err(bad("one of the system's rows")),
                    Some(true) => return Err(bad("in one block only, and once")),
                    Some(seen) => *seen = true,
                }
            }
        }
        let given = (0..self.len()).map(|block| self.rows(block)).filter(|rows| !rows.is_empty());
        let alone: Vec<[u32; 1]> =
            (0..count as u32).filter(|&row| !seen[row as usize]).map(|row| [row]).collect();
        let alone = alone.iter().map(|row| &row[..]);
        Ok(Self::lists(given.chain(alone).map(|rows| rows.iter().copied())))
    }

    /// Bytes of the lists.
    pub(super) fn bytes(&self) -> u64 {
        4 * (self.starts.len() + self.rows.len()) as u64
    }
}
