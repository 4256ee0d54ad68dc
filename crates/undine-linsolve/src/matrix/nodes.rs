//! Nodes: unknowns that belong together, such as a vertex's position and twist, as runs of consecutive rows.

use super::csr::check_count;
use crate::error::{Result, SolveError};
use crate::rows::Rows;
use std::ops::Range;
use std::sync::Arc;
use undine_core::process::Parcel;
use undine_core::{CoreError, Processes};

/// Which rows each node has: node after node, without gaps, of any sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nodes {
    /// Where each node's rows begin, and one end more.
    starts: Vec<u32>,
}

impl Nodes {
    /// Nodes of given sizes. Refuses one without rows.
    pub fn of_sizes(sizes: impl IntoIterator<Item = usize>) -> Result<Self> {
        let (mut starts, mut end) = (vec![0], 0_usize);
        for size in sizes {
            if size == 0 {
                return Err(SolveError::BadValue {
                    what: format!("the size of node {}", starts.len() - 1),
                    found: "0".into(),
                    wanted: "1 or more rows",
                });
            }
            end = end.saturating_add(size);
            check_count("the number of rows of all nodes", end)?;
            starts.push(end as u32);
        }
        Ok(Self { starts })
    }

    /// `count` nodes of the same size.
    pub fn uniform(count: usize, size: usize) -> Result<Self> {
        check_count("the number of nodes", count)?;
        Self::of_sizes(std::iter::repeat_n(size, count))
    }

    /// How many nodes there are.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many rows they have together.
    pub fn rows(&self) -> usize {
        self.starts[self.count()] as usize
    }

    /// Where each node's rows begin, and one end more.
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// The rows of a node.
    #[inline(always)]
    pub fn range(&self, node: usize) -> Range<usize> {
        self.starts[node] as usize..self.starts[node + 1] as usize
    }

    /// How many rows a node has.
    #[inline(always)]
    pub fn size(&self, node: usize) -> usize {
        self.range(node).len()
    }

    /// The size of all nodes, if they have the same.
    pub fn uniform_size(&self) -> Option<usize> {
        let size = self.starts.get(1).copied()?;
        self.starts.windows(2).all(|pair| pair[1] - pair[0] == size).then_some(size as usize)
    }

    /// The node of every row.
    pub fn of_rows(&self) -> Vec<u32> {
        let node = |node: usize| std::iter::repeat_n(node as u32, self.size(node));
        (0..self.count()).flat_map(node).collect()
    }

    /// Bytes of the list.
    pub fn bytes(&self) -> u64 {
        size_of_val(&self.starts[..]) as u64
    }
}

/// The nodes of a system as one process sees them: its own, then copies of foreign ones; and the rows of both.
#[derive(Debug, Clone)]
pub struct NodeRows {
    nodes: Arc<Nodes>,
    local: usize,
    /// Where every process's nodes begin in the numbering of all, and one end more.
    firsts: Vec<u64>,
    /// The copies' numbers among all nodes, ascending.
    foreign: Vec<u64>,
    rows: Arc<Rows>,
}

impl NodeRows {
    /// Nodes that are all on this process.
    pub fn single(nodes: Nodes) -> Self {
        let (local, rows) = (nodes.count(), Rows::single(nodes.rows()));
        let firsts = vec![0, local as u64];
        Self { nodes: Arc::new(nodes), local, firsts, foreign: Vec::new(), rows }
    }

    /// The nodes of this process, and copies of the `foreign` ones: numbers among all nodes, ascending. Process after
    /// process owns a run of that numbering. Collective.
    pub fn distributed(
        processes: Arc<dyn Processes>,
        local: &Nodes,
        foreign: &[u64],
    ) -> Result<Self> {
        let counts = [local.count() as u64, local.rows() as u64];
        let counts = processes.all_gather_values(&counts)?;
        let firsts = running(counts.iter().map(|counts| counts[0]));
        let row_firsts = running(counts.iter().map(|counts| counts[1]));
        let rank = processes.rank();
        processes.all_agree(check_foreign(foreign, &firsts, rank))?;

        // Each owner says where the rows of its nodes are.
        let mut asked = Vec::new();
        for owner in 0..processes.count() {
            let wanted = part_of(foreign, firsts[owner]..firsts[owner + 1]);
            if !wanted.is_empty() {
                let bytes = bytemuck::cast_slice(wanted).to_vec();
                asked.push(Parcel { process: owner, bytes });
            }
        }
        let answer = |parcel: Parcel| {
            let ranges = numbers(&parcel.bytes).into_iter().flat_map(|number| {
                let range = local.range((number - firsts[rank]) as usize);
                [row_firsts[rank] + range.start as u64, range.len() as u64]
            });
            let ranges: Vec<u64> = ranges.collect();
            Parcel { process: parcel.process, bytes: bytemuck::cast_slice(&ranges).to_vec() }
        };
        let answers = processes.exchange(asked)?.into_iter().map(answer).collect();
        let mut sizes = Vec::with_capacity(foreign.len());
        let mut foreign_rows = Vec::new();
        for parcel in processes.exchange(answers)? {
            for range in numbers(&parcel.bytes).chunks_exact(2) {
                sizes.push(range[1] as usize);
                foreign_rows.extend(range[0]..range[0] + range[1]);
            }
        }
        let own = (0..local.count()).map(|node| local.size(node));
        let stored = Nodes::of_sizes(own.chain(sizes));
        let rows = Rows::distributed(processes, local.rows(), &foreign_rows)?;
        let nodes = Arc::new(rows.all_agree(stored)?);
        Ok(Self { nodes, local: local.count(), firsts, foreign: foreign.to_vec(), rows })
    }

    /// All nodes here, copies of foreign ones last.
    pub fn nodes(&self) -> &Arc<Nodes> {
        &self.nodes
    }

    /// How many nodes this process owns.
    pub fn local(&self) -> usize {
        self.local
    }

    /// The numbers among all nodes of the copies.
    pub fn foreign(&self) -> &[u64] {
        &self.foreign
    }

    /// The rows of the nodes.
    pub fn rows(&self) -> &Arc<Rows> {
        &self.rows
    }

    /// The number among all nodes of one here.
    pub fn number(&self, node: usize) -> u64 {
        match node.checked_sub(self.local) {
            Some(copy) => self.foreign[copy],
            None => self.firsts[self.rows.processes().rank()] + node as u64,
        }
    }

    /// The node of a number among all, if it is here.
    pub fn find(&self, number: u64) -> Option<usize> {
        let rank = self.rows.processes().rank();
        if (self.firsts[rank]..self.firsts[rank + 1]).contains(&number) {
            return Some((number - self.firsts[rank]) as usize);
        }
        self.foreign.binary_search(&number).ok().map(|copy| self.local + copy)
    }

    /// Which of its owner's nodes one here is.
    pub fn place_at_owner(&self, node: usize) -> u64 {
        let number = self.number(node);
        number - self.firsts[self.firsts.partition_point(|&first| first <= number) - 1]
    }

    /// The nodes here that a process owns.
    pub fn owned_by(&self, process: usize) -> Range<usize> {
        if process == self.rows.processes().rank() {
            return 0..self.local;
        }
        let range = self.firsts[process]..self.firsts[process + 1];
        let low = self.foreign.partition_point(|&number| number < range.start);
        let high = self.foreign.partition_point(|&number| number < range.end);
        self.local + low..self.local + high
    }

    /// The same nodes, with copies of more foreign ones. Collective.
    pub fn with_foreign(&self, foreign: &[u64]) -> Result<Self> {
        if self.rows.is_single() {
            return Ok(self.clone());
        }
        let own = Nodes { starts: self.nodes.starts[..=self.local].to_vec() };
        Self::distributed(Arc::clone(self.rows.processes()), &own, foreign)
    }
}

/// Numbers in received bytes, which are not aligned for them.
pub(super) fn numbers(bytes: &[u8]) -> Vec<u64> {
    let mut numbers = vec![0_u64; bytes.len() / 8];
    bytemuck::cast_slice_mut(&mut numbers).copy_from_slice(&bytes[..8 * (bytes.len() / 8)]);
    numbers
}

/// 0, and the sums of the first, the first two, … counts.
fn running(counts: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut end = 0;
    let ends = counts.map(|count| {
        end += count;
        end
    });
    std::iter::once(0).chain(ends).collect()
}

/// Those of ascending numbers that are in a range.
fn part_of(numbers: &[u64], range: Range<u64>) -> &[u64] {
    let low = numbers.partition_point(|&number| number < range.start);
    let high = numbers.partition_point(|&number| number < range.end);
    &numbers[low..high]
}

/// That foreign nodes exist, are foreign, and ascend.
fn check_foreign(foreign: &[u64], firsts: &[u64], rank: usize) -> undine_core::Result<()> {
    let own = firsts[rank]..firsts[rank + 1];
    let total = firsts[firsts.len() - 1];
    let is_wrong = |n: usize| {
        let number = foreign[n];
        number >= total || own.contains(&number) || (n > 0 && foreign[n - 1] >= number)
    };
    match (0..foreign.len()).find(|&n| is_wrong(n)) {
        None => Ok(()),
        Some(n) => Err(CoreError::BadValue {
            what: "a foreign node".into(),
            found: format!("{} of {total}", foreign[n]),
            wanted: "ascending numbers of nodes that other processes own",
        }),
    }
}
