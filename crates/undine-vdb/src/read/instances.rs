//! Grids that share the tree of another: a few bytes of a file each, but in memory as large as the tree.
//!
//! What all of them take together is counted and limited, or a small file of many would fill any memory.

use std::collections::BTreeMap;

use crate::error::{Result, VdbError};

/// So much may the instances of any file take [bytes],
const ALLOWANCE: u64 = 256 << 20;
/// and so much more for each byte of the file.
const ALLOWANCE_PER_BYTE: u64 = 64;

/// What the instances of a file have taken.
#[derive(Debug)]
pub(crate) struct Instances {
    /// What they may take together [bytes].
    pub(crate) most: u64,
    taken: u64,
    /// By grid, what it took: one that is read again replaces what was read before.
    by_grid: BTreeMap<usize, u64>,
    /// By grid with a tree of its own, what the whole tree takes, once that is known.
    by_tree: BTreeMap<usize, u64>,
}

impl Instances {
    /// None yet, of a file of this length [bytes].
    pub(crate) fn of_file(length: u64) -> Self {
        let most = length.saturating_mul(ALLOWANCE_PER_BYTE).saturating_add(ALLOWANCE);
        Self { most, taken: 0, by_grid: BTreeMap::new(), by_tree: BTreeMap::new() }
    }

    /// Notes how much memory the whole tree of a grid takes [bytes].
    pub(crate) fn learn(&mut self, tree: usize, bytes: u64) {
        self.by_tree.insert(tree, bytes);
    }

    /// How much memory the whole tree of a grid takes [bytes], if it has been read before.
    pub(crate) fn known(&self, tree: usize) -> Option<u64> {
        self.by_tree.get(&tree).copied()
    }

    /// Counts an instance of this name that takes so much memory [bytes]; `offset` is where the file has it.
    pub(crate) fn take(&mut self, grid: usize, name: &str, offset: u64, bytes: u64) -> Result<()> {
        let before = self.by_grid.get(&grid).copied().unwrap_or(0);
        let bytes = bytes.max(before);
        let taken = (self.taken - before).saturating_add(bytes);
        if taken > self.most {
            let (grid, most) = (name.to_owned(), self.most);
            return Err(VdbError::TooManyInstances { offset, grid, wanted: taken, most });
        }
        self.taken = taken;
        self.by_grid.insert(grid, bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_that_is_read_again_counts_once() {
        let mut instances = Instances::of_file(0);
        for _ in 0..10 {
            instances.take(3, "a", 0, ALLOWANCE / 2).unwrap();
        }
        instances.take(4, "b", 0, ALLOWANCE / 2).unwrap();
        let error = instances.take(5, "c", 77, 1).unwrap_err();
        assert!(matches!(error, VdbError::TooManyInstances { offset: 77, .. }), "{error}");
        assert!(error.to_string().contains("`c`"), "{error}");
        instances.most = u64::MAX;
        instances.take(5, "c", 77, u64::MAX).unwrap();
    }
}
