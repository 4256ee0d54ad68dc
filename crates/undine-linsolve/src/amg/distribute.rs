//! Levels over several processes. Aggregates stay within a process; what the next level needs from others travels here.
//!
//! 1. Copies of foreign rows get their rows of the tentative prolongation, and later of the smoothed one.
//! 2. Each process makes its part of Pᵀ·A·P, and sends rows that others own to them.
//! 3. Small levels are gathered: rows go to the first of several neighbouring processes. As processes own runs of the numbering, runs
//!    merge, and every row keeps its number.
//!
//! On one process nothing of this happens.

use super::grouping::Grouping;
use super::level::System;
use super::settings::Settings;
use super::sparse::{Sparse, from_rows, transpose};
use crate::error::Result;
use crate::matrix::Csr;
use crate::rows::{Rows, unpack};
use std::sync::Arc;
use undine_core::process::Parcel;

/// Coarse rows as a process sees them while the level is being made: its own, then others' that it has met.
#[derive(Debug, Clone)]
pub(super) struct Numbering {
    /// The numbers of its own.
    own: std::ops::Range<u64>,
    /// The numbers of others, ascending.
    foreign: Vec<u64>,
}

impl Numbering {
    /// `local` coarse rows here. Collective.
    pub fn new(rows: &Rows, local: usize) -> Result<Self> {
        let counts = rows.processes().all_gather_values(&[local as u64])?.concat();
        let first = counts[..rows.processes().rank()].iter().sum();
        Ok(Self { own: first..first + local as u64, foreign: Vec::new() })
    }

    /// How many places there are.
    pub fn len(&self) -> usize {
        (self.own.end - self.own.start) as usize + self.foreign.len()
    }

    fn number(&self, place: u32) -> u64 {
        let local = (self.own.end - self.own.start) as usize;
        match (place as usize).checked_sub(local) {
            None => self.own.start + u64::from(place),
            Some(copy) => self.foreign[copy],
        }
    }

    /// The place of a number that is known to have one.
    fn place(&self, number: u64) -> u32 {
        if self.own.contains(&number) {
            return (number - self.own.start) as u32;
        }
        let local = (self.own.end - self.own.start) as usize;
        (local + self.foreign.partition_point(|&foreign| foreign < number)) as u32
    }

    /// The same with more numbers of others.
    fn with(&self, numbers: impl Iterator<Item = u64>) -> Self {
        let mut foreign = self.foreign.clone();
        foreign.extend(numbers.filter(|number| !self.own.contains(number)));
        foreign.sort_unstable();
        foreign.dedup();
        Self { own: self.own.clone(), foreign }
    }
}

/// A matrix over the local rows with rows for copies of foreign ones added, and its columns' numbering with theirs. Collective.
pub(super) fn with_foreign_rows(
    rows: &Rows,
    matrix: &Sparse,
    numbering: &Numbering,
) -> Result<(Sparse, Numbering)> {
    let columns = |row: usize| matrix.row(row).0.iter().map(|&place| numbering.number(place));
    let numbers = rows.fetch_lists(|row| columns(row).collect::<Vec<u64>>())?;
    let values = rows.fetch_lists(|row| matrix.row(row).1.to_vec())?;
    let wider = numbering.with(numbers.iter().flatten().copied());
    let local = matrix.rows();
    let extended = from_rows(rows.stored(), wider.len(), Vec::new, |sorted, row, into| {
        if row < local {
            // Own places stay, and foreign ones keep their order.
            let (columns, values) = matrix.row(row);
            for (&column, &value) in columns.iter().zip(values) {
                into.push(wider.place(numbering.number(column)), value);
            }
            return;
        }
        sorted.clear();
        let places = numbers[row - local].iter().map(|&number| wider.place(number));
        sorted.extend(places.zip(values[row - local].iter().copied()));
        sorted.sort_unstable_by_key(|&(place, _)| place);
        sorted.iter().for_each(|&(place, value)| into.push(place, value));
    });
    Ok((extended, wider))
}

/// The first rows of a matrix.
pub(super) fn first_rows(matrix: &Sparse, count: usize) -> Sparse {
    from_rows(
        count,
        matrix.columns(),
        || (),
        |(), row, into| {
            let (columns, values) = matrix.row(row);
            columns.iter().zip(values).for_each(|(&column, &value)| into.push(column, value));
        },
    )
}

/// What each process made of the next level, before rows go to their owners.
pub(super) struct Made {
    pub numbering: Numbering,
    /// Local rows × the numbering.
    pub prolong: Sparse,
    /// This process's part of Pᵀ·A·P: the numbering × the numbering.
    pub part: Sparse,
    pub nodes: Grouping,
    pub count: usize,
    pub vectors: Vec<f64>,
}

/// Brings the parts of the next level to their owners: its system, P and Pᵀ. Collective.
pub(super) fn settle(
    rows: &Rows,
    made: Made,
    settings: &Settings,
) -> Result<(System, Sparse, Sparse)> {
    let processes = rows.processes();
    let Made { numbering, prolong, part, nodes, count, vectors } = made;
    let local = (numbering.own.end - numbering.own.start) as usize;
    let counts = processes.all_gather_values(&[local as u64])?.concat();
    let total: u64 = counts.iter().sum();
    let leaders = leaders(processes.count(), total, settings);
    let rank = processes.rank();
    // The process that made a row, and the one that will own it.
    let ends: Vec<u64> = counts
        .iter()
        .scan(0, |end, count| {
            *end += count;
            Some(*end)
        })
        .collect();
    let owner = |number: u64| leaders[ends.partition_point(|&end| end <= number)];

    // Rows that others own go to them, entry by entry.
    let mut own: Vec<Entry> = Vec::new();
    let mut away: Vec<Vec<Entry>> = vec![Vec::new(); processes.count()];
    for place in 0..part.rows() {
        let row = numbering.number(place as u32);
        let owner = owner(row);
        let list = if owner == rank { &mut own } else { &mut away[owner] };
        let (columns, values) = part.row(place);
        list.extend(columns.iter().zip(values).map(|(&column, &value)| {
            let column = numbering.number(column);
            Entry { row, column, value: f64::from(value) }
        }));
    }
    for parcel in processes.exchange(parcels(away))? {
        own.extend(unpack::<Entry>(&parcel.bytes));
    }

    // The coarse rows with copies of all that this process will read.
    let first = own_start(&leaders, &counts, rank);
    let owned: u64 = (0..counts.len()).filter(|&p| leaders[p] == rank).map(|p| counts[p]).sum();
    let settled = Numbering { own: first..first + owned, foreign: Vec::new() };
    let read = prolong.indices().iter().map(|&place| numbering.number(place));
    let settled = settled.with(read.chain(own.iter().map(|entry| entry.column)));
    let coarse_rows = Rows::distributed(Arc::clone(processes), owned as usize, &settled.foreign)?;
    let entries = own.iter().map(|entry| {
        let row = (entry.row - first) as usize;
        (row, settled.place(entry.column) as usize, entry.value)
    });
    // Sums in the order given: this process's part first, then the others' by rank.
    let sum = Csr::<f64>::from_triplets(owned as usize, settled.len(), entries);
    let matrix: Sparse = rows.all_agree(sum)?.convert();
    let prolong = from_rows(prolong.rows(), settled.len(), Vec::new, |sorted, row, into| {
        let (columns, values) = prolong.row(row);
        sorted.clear();
        let places = columns.iter().map(|&place| settled.place(numbering.number(place)));
        sorted.extend(places.zip(values.iter().copied()));
        sorted.sort_unstable_by_key(|&(place, _)| place);
        sorted.iter().for_each(|&(place, value)| into.push(place, value));
    });
    let restrict = transpose(&prolong);

    let (nodes, vectors) = gather_nodes(rows, &leaders, local, nodes, vectors)?;
    Ok((System { rows: coarse_rows, matrix, nodes, count, vectors }, prolong, restrict))
}

/// An entry under way.
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Entry {
    row: u64,
    column: u64,
    value: f64,
}

fn parcels<T: bytemuck::Pod>(lists: Vec<Vec<T>>) -> Vec<Parcel> {
    let parcel = |(process, list): (usize, Vec<T>)| {
        let bytes = bytemuck::cast_slice(&list).to_vec();
        (!list.is_empty()).then_some(Parcel { process, bytes })
    };
    lists.into_iter().enumerate().filter_map(parcel).collect()
}

/// For each process the one that gets its rows: as many as still have enough each, spread evenly.
fn leaders(processes: usize, total: u64, settings: &Settings) -> Vec<usize> {
    let active = if total <= settings.coarse_rows as u64 {
        1
    } else {
        (total / settings.rows_per_process.max(1) as u64).clamp(1, processes as u64) as usize
    };
    let group = |process: usize| process * active / processes;
    (0..processes)
        .map(|process| {
            (0..=process).find(|&first| group(first) == group(process)).unwrap_or(process)
        })
        .collect()
}

/// Where the rows begin that a process will own.
fn own_start(leaders: &[usize], counts: &[u64], rank: usize) -> u64 {
    // Groups are runs of processes, and a leader is its group's first.
    (0..counts.len()).filter(|&p| leaders[p] < rank || p < rank).map(|p| counts[p]).sum()
}

/// Nodes and near-null vectors of rows that move to a leader. Collective.
fn gather_nodes(
    rows: &Rows,
    leaders: &[usize],
    local: usize,
    nodes: Grouping,
    vectors: Vec<f64>,
) -> Result<(Grouping, Vec<f64>)> {
    let processes = rows.processes();
    let rank = processes.rank();
    if nodes.is_single() && vectors.len() == local {
        // One vector, all ones, wherever a row is.
        let owned = leaders.iter().filter(|&&leader| leader == rank).count();
        let counts = processes.all_gather_values(&[local as u64])?.concat();
        let total: u64 = (0..counts.len()).filter(|&p| leaders[p] == rank).map(|p| counts[p]).sum();
        return Ok((nodes, vec![1.0; if owned == 0 { 0 } else { total as usize }]));
    }
    let mut sizes = vec![Vec::new(); processes.count()];
    let mut entries = vec![Vec::new(); processes.count()];
    let own = (0..nodes.count(local)).map(|node| nodes.range(node).len() as u32);
    sizes[leaders[rank]] = own.collect::<Vec<u32>>();
    entries[leaders[rank]] = vectors;
    // Parcels arrive sorted by rank, which is the order of rows.
    let sizes = processes.exchange(parcels(sizes))?;
    let entries = processes.exchange(parcels(entries))?;
    let sizes = sizes.iter().flat_map(|parcel| unpack::<u32>(&parcel.bytes));
    let vectors = entries.iter().flat_map(|parcel| unpack::<f64>(&parcel.bytes)).collect();
    Ok((Grouping::sizes(sizes.map(|size| size as usize)), vectors))
}

/// The node of every stored row, copies of foreign nodes counted on behind the local ones, and each row's component. Collective.
pub(super) fn stored_nodes(rows: &Rows, nodes: &Grouping) -> Result<(Vec<u32>, Vec<u32>)> {
    let local = rows.local();
    let mut node_of = nodes.of_rows(local);
    let mut component: Vec<u32> = node_of
        .iter()
        .enumerate()
        .map(|(row, &node)| (row - nodes.range(node as usize).start) as u32)
        .collect();
    if rows.is_single() {
        return Ok((node_of, component));
    }
    component.resize(rows.stored(), 0);
    rows.refresh(&mut component)?;
    let count = nodes.count(local);
    let first = Numbering::new(rows, count)?.own.start;
    let mut numbers: Vec<u64> = node_of.iter().map(|&node| first + u64::from(node)).collect();
    numbers.resize(rows.stored(), 0);
    rows.refresh(&mut numbers)?;
    let mut foreign = numbers[local..].to_vec();
    foreign.sort_unstable();
    foreign.dedup();
    let place = |number: &u64| count + foreign.partition_point(|foreign| foreign < number);
    node_of.extend(numbers[local..].iter().map(|number| place(number) as u32));
    Ok((node_of, component))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_levels_are_gathered_on_the_first_of_neighbouring_processes() {
        let settings = Settings { rows_per_process: 100, coarse_rows: 50, ..Settings::default() };
        assert_eq!(leaders(4, 1000, &settings), [0, 1, 2, 3]);
        assert_eq!(leaders(4, 250, &settings), [0, 0, 2, 2]);
        assert_eq!(leaders(5, 250, &settings), [0, 0, 0, 3, 3]);
        assert_eq!(leaders(4, 90, &settings), [0; 4]);
        assert_eq!(leaders(4, 50, &settings), [0; 4]);
        let counts = [10, 20, 30, 40];
        let starts: Vec<u64> = (0..4).map(|p| own_start(&[0, 0, 2, 2], &counts, p)).collect();
        assert_eq!(starts, [0, 30, 30, 100]);
    }
}
