//! Unique edges of polygons and tetrahedra.

use super::csr::Csr;
use rayon::prelude::*;

/// The edges of a mesh, each once, and the places that use them.
///
/// Edges are numbered by their lower, then by their higher vertex. A *use* is a corner of a Surface
/// (with the next corner of its face), or one of the six sides of a tetrahedron of a Body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeTable {
    ends: Vec<[u32; 2]>,
    of_use: Vec<u32>,
    uses: Csr,
}

impl EdgeTable {
    /// The table for uses `0..count` that run between the vertices that `ends` tells.
    pub(super) fn new(count: usize, ends: impl Fn(usize) -> [u32; 2] + Sync + Send) -> Self {
        let groups = Groups::new(count, |index| {
            let [a, b] = ends(index);
            [a.min(b), a.max(b)]
        });
        Self { ends: groups.keys, of_use: groups.of_item, uses: groups.items }
    }

    /// The number of edges.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no edge.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The vertices of each edge, the lower first.
    pub fn ends(&self) -> &[[u32; 2]] {
        &self.ends
    }

    /// The edge of each use.
    pub fn of_use(&self) -> &[u32] {
        &self.of_use
    }

    /// The uses of each edge, ascending.
    pub fn uses(&self) -> &Csr {
        &self.uses
    }

    /// Bytes that are allocated.
    pub fn allocated_bytes(&self) -> usize {
        self.ends.capacity() * size_of::<[u32; 2]>()
            + self.of_use.capacity() * size_of::<u32>()
            + self.uses.allocated_bytes()
    }
}

/// Items that have the same key, brought together: keys ascending, items of a key ascending.
pub(super) struct Groups<const N: usize> {
    pub keys: Vec<[u32; N]>,
    pub of_item: Vec<u32>,
    pub items: Csr,
}

impl<const N: usize> Groups<N> {
    pub fn new(count: usize, key: impl Fn(usize) -> [u32; N] + Sync + Send) -> Self {
        // The item takes part in the comparison, so an unstable sort has one possible outcome.
        let mut sorted = super::measure::map(count, |item| (key(item), item as u32));
        sorted.par_sort_unstable();

        let groups = sorted.chunk_by(|a, b| a.0 == b.0).count();
        let mut keys = Vec::with_capacity(groups);
        let mut offsets = Vec::with_capacity(groups + 1);
        let mut of_item = vec![0; count];
        offsets.push(0);
        for group in sorted.chunk_by(|a, b| a.0 == b.0) {
            for &(_, item) in group {
                of_item[item as usize] = keys.len() as u32;
            }
            keys.push(group[0].0);
            offsets.push(offsets.last().map_or(0, |&end: &u32| end + group.len() as u32));
        }
        // By reference: consuming the vector would keep its larger allocation.
        let items = sorted.iter().map(|&(_, item)| item).collect();
        Self { keys, of_item, items: Csr::from_parts(offsets, items) }
    }
}
