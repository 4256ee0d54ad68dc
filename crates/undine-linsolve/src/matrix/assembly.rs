//! Assembly: the sum of all elements as one matrix of blocks and one force.
//!
//! Which block gets what from whom is worked out once and kept while the elements touch the same nodes. Then every row
//! *gathers*, from its elements in their order: threads share nothing, and the sums have the same bits on any number of them.
//! Rows of foreign nodes are gathered here and sent to their owner, who adds its own elements first and then what arrives, in
//! order of rank.

use super::block::{NODES_PER_TASK, joined, split};
use super::elements::Structure;
use super::nodes::numbers;
use super::{BlockCsr, BlockMatrix, Elements, NodeRows};
use crate::error::{Result, SolveError};
use rayon::prelude::*;
use std::sync::Arc;
use undine_core::process::Parcel;

/// Whether an assembly could use the pattern that it had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// The elements touch the nodes that they touched before.
    Reused,
    /// There was no pattern yet, or it changed on some process.
    Rebuilt {
        /// The first change here: which list of elements, and which element of it.
        change: Option<(usize, usize)>,
    },
}

/// A matrix and a force that elements are assembled into, step after step.
#[derive(Debug)]
pub struct Assembly {
    /// The nodes that elements are about.
    given: NodeRows,
    plan: Option<Plan>,
}

/// Who adds what where.
#[derive(Debug)]
struct Plan {
    structures: Vec<Arc<Structure>>,
    /// The given nodes, and the foreign ones that others' elements tie to ours.
    nodes: NodeRows,
    gather: Gather,
    matrix: BlockMatrix,
    force: Vec<f64>,
    /// What foreign rows get from elements here, over the given nodes.
    outgoing: BlockCsr<f64>,
    /// The force on the rows of foreign nodes.
    outgoing_force: Vec<f64>,
    /// From each process: the places in the matrix and in the force that its values are added to.
    receives: Vec<Receive>,
}

#[derive(Debug)]
struct Receive {
    process: usize,
    matrix: Vec<u32>,
    force: Vec<u32>,
}

/// A node of an element.
#[derive(Debug, Clone, Copy, Default)]
struct Incidence {
    element: u32,
    list: u16,
    own: u16,
}

/// For every given node its incidences, in order of elements; for each of those, where the blocks of the element's nodes are
/// among the values of the node's row.
#[derive(Debug, Default)]
struct Gather {
    starts: Vec<u32>,
    incidences: Vec<Incidence>,
    slot_starts: Vec<u32>,
    slots: Vec<u32>,
}

impl Assembly {
    /// An assembly over nodes, without a pattern yet.
    pub fn new(nodes: NodeRows) -> Self {
        Self { given: nodes, plan: None }
    }

    /// Adds up all elements. Finds the pattern anew if they touch other nodes than the time before, and says so. Every
    /// node of this process has a block on the diagonal. Each element is handed in by one process alone. Collective.
    ///
    /// Refuses elements on other nodes than the assembly's, and values that are not finite.
    pub fn assemble(&mut self, lists: &[&Elements]) -> Result<Pattern> {
        let rows = Arc::clone(self.given.rows());
        rows.all_agree(self.check(lists))?;
        let change = self.plan.as_ref().and_then(|plan| plan.change(lists));
        let changed = self.plan.is_none() || change.is_some();
        let rebuild = rows.processes().any(changed)?;
        if rebuild {
            self.plan = Some(rows.all_agree(Plan::new(&self.given, lists))?);
        }
        if let Some(plan) = &mut self.plan {
            plan.fill(&self.given, lists)?;
        }
        Ok(if rebuild { Pattern::Rebuilt { change } } else { Pattern::Reused })
    }

    /// The matrix, if anything was assembled.
    pub fn matrix(&self) -> Option<&BlockMatrix> {
        self.plan.as_ref().map(|plan| &plan.matrix)
    }

    /// The force on every local row; empty if nothing was assembled.
    pub fn force(&self) -> &[f64] {
        self.plan.as_ref().map_or(&[], |plan| &plan.force)
    }

    /// The nodes of the matrix: with more copies of foreign ones than the assembly began with, if elements of other
    /// processes tie them to nodes here.
    pub fn nodes(&self) -> &NodeRows {
        self.plan.as_ref().map_or(&self.given, |plan| &plan.nodes)
    }

    fn check(&self, lists: &[&Elements]) -> Result<()> {
        if lists.len() > usize::from(u16::MAX) {
            return Err(SolveError::BadValue {
                what: "the number of lists of elements".into(),
                found: lists.len().to_string(),
                wanted: "65535 at most",
            });
        }
        for elements in lists {
            let (found, wanted) = (elements.sizes(), self.given.nodes());
            if !Arc::ptr_eq(found, wanted) && found != wanted {
                let (found, wanted) = (found.count(), wanted.count());
                let what = "the list of nodes of elements";
                return Err(SolveError::WrongLength { what, found, wanted });
            }
            elements.check_finite()?;
        }
        Ok(())
    }
}

impl Plan {
    /// Finds the pattern. Collective.
    fn new(given: &NodeRows, lists: &[&Elements]) -> Result<Self> {
        let mut gather = Gather::of(given.nodes().count(), lists);
        let columns = gather.columns(lists);
        let (own, foreign) = columns.split_at(given.local());

        // Owners learn which columns their rows get, and which nodes they need copies of for that.
        let arrived = given.rows().processes().exchange(announcements(given, foreign))?;
        let arrived: Vec<(usize, Vec<ForeignRow>)> =
            arrived.iter().map(|parcel| (parcel.process, foreign_rows(&parcel.bytes))).collect();
        let named = arrived.iter().flat_map(|(_, rows)| rows).flat_map(|row| &row.columns);
        let mut copies: Vec<u64> = named.copied().filter(|&n| given.find(n).is_none()).collect();
        copies.extend_from_slice(given.foreign());
        copies.sort_unstable();
        copies.dedup();
        let nodes = given.with_foreign(&copies)?;
        let find = |number: u64| -> u32 { nodes.find(number).map_or(u32::MAX, |node| node as u32) };

        // The rows here: the own elements' columns, those that others announced, and the diagonal.
        let mut rows: Vec<Vec<u32>> = own
            .par_iter()
            .enumerate()
            .map(|(node, columns)| {
                let columns = columns.iter().map(|&column| find(given.number(column as usize)));
                columns.chain([node as u32]).collect()
            })
            .collect();
        for row in arrived.iter().flat_map(|(_, rows)| rows) {
            rows[row.node].extend(row.columns.iter().map(|&number| find(number)));
        }
        rows.par_iter_mut().for_each(|columns| {
            columns.sort_unstable();
            columns.dedup();
        });
        let (starts, indices) = joined(&rows)?;
        let blocks = BlockCsr::zeros(Arc::clone(nodes.nodes()), starts, indices)?;

        // The rows of foreign nodes that elements here add to; rows of own nodes are empty in it.
        let empty = std::iter::repeat_n(&[][..], own.len());
        let columns: Vec<Vec<u32>> =
            empty.chain(foreign.iter().map(Vec::as_slice)).map(<[u32]>::to_vec).collect();
        let (starts, indices) = joined(&columns)?;
        let outgoing = BlockCsr::zeros(Arc::clone(given.nodes()), starts, indices)?;

        gather.find_slots(lists, |node, column| {
            if node < given.local() {
                slot(&blocks, node, find(given.number(column)))
            } else {
                slot(&outgoing, node, column as u32)
            }
        })?;
        let receives = arrived
            .into_iter()
            .map(|(process, rows)| Receive::new(process, &rows, &blocks, find))
            .collect();
        let force = vec![0.0; blocks.rows()];
        let outgoing_force = vec![0.0; outgoing.rows() - given.rows().local()];
        Ok(Self {
            structures: lists.iter().map(|list| Arc::clone(list.structure())).collect(),
            matrix: BlockMatrix::new(Arc::clone(nodes.rows()), blocks)?,
            nodes,
            gather,
            force,
            outgoing,
            outgoing_force,
            receives,
        })
    }

    /// The first list and element with other nodes than before.
    fn change(&self, lists: &[&Elements]) -> Option<(usize, usize)> {
        let common = self.structures.iter().zip(lists);
        let changes = common.map(|(before, now)| {
            let same = Arc::ptr_eq(before, now.structure());
            if same { None } else { before.first_difference(now.structure()) }
        });
        let found = changes.enumerate().find_map(|(list, element)| Some((list, element?)));
        let is_longer = self.structures.len() != lists.len();
        found.or(is_longer.then_some((self.structures.len().min(lists.len()), 0)))
    }

    /// New values on the pattern. Collective.
    fn fill(&mut self, given: &NodeRows, lists: &[&Elements]) -> Result<()> {
        let local = given.local();
        let blocks = self.matrix.blocks_mut();
        let row_starts = &given.nodes().starts()[..=local];
        let (values, value_starts) = blocks.values_and_starts();
        self.gather.add_up(lists, 0, row_starts, values, value_starts, &mut self.force);

        let row_starts = &given.nodes().starts()[local..];
        let (values, value_starts) = self.outgoing.values_and_starts();
        let force = &mut self.outgoing_force;
        self.gather.add_up(lists, local, row_starts, values, &value_starts[local..], force);

        let incoming: Vec<(usize, usize)> = self
            .receives
            .iter()
            .map(|receive| (receive.process, 8 * (receive.matrix.len() + receive.force.len())))
            .collect();
        let arrived = given.rows().processes().start(self.parcels(given), &incoming)?.finish()?;
        let (values, _) = self.matrix.blocks_mut().values_and_starts();
        for (receive, parcel) in self.receives.iter().zip(arrived) {
            let numbers = numbers(&parcel.bytes).into_iter().map(f64::from_bits);
            let mut numbers = numbers.fuse();
            for (&place, value) in receive.matrix.iter().zip(&mut numbers) {
                values[place as usize] += value;
            }
            for (&place, value) in receive.force.iter().zip(numbers) {
                self.force[place as usize] += value;
            }
        }
        Ok(())
    }

    /// What goes to the owners of foreign rows: the values of the announced blocks, then the forces.
    fn parcels(&self, given: &NodeRows) -> Vec<Parcel> {
        owners(given, |node| !self.outgoing.row_columns(node).is_empty())
            .map(|(process, nodes)| {
                let blocks = nodes.iter().flat_map(|&node| {
                    self.outgoing.values()[self.outgoing.value_range(node)].iter()
                });
                let rows = nodes.iter().flat_map(|&node| given.nodes().range(node));
                let force = rows.map(|row| &self.outgoing_force[row - given.rows().local()]);
                let values: Vec<f64> = blocks.chain(force).copied().collect();
                Parcel { process, bytes: bytemuck::cast_slice(&values).to_vec() }
            })
            .collect()
    }
}

impl Gather {
    /// The incidences of every node, by counting.
    fn of(nodes: usize, lists: &[&Elements]) -> Self {
        let mut starts = vec![0_u32; nodes + 1];
        let each = || {
            lists.iter().enumerate().flat_map(|(list, elements)| {
                let structure = elements.structure();
                (0..structure.count()).flat_map(move |element| {
                    structure.nodes(element).iter().enumerate().map(move |(own, &node)| {
                        let (element, list, own) = (element as u32, list as u16, own as u16);
                        (node as usize, Incidence { element, list, own })
                    })
                })
            })
        };
        each().for_each(|(node, _)| starts[node + 1] += 1);
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let mut incidences = vec![Incidence::default(); starts[nodes] as usize];
        for (node, incidence) in each() {
            incidences[next[node] as usize] = incidence;
            next[node] += 1;
        }
        Self { starts, incidences, ..Self::default() }
    }

    fn of_node(&self, node: usize) -> &[Incidence] {
        &self.incidences[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    /// The nodes that each node meets in an element, ascending; its own among them.
    fn columns(&self, lists: &[&Elements]) -> Vec<Vec<u32>> {
        let columns = |node: usize| {
            let met = self.of_node(node).iter().flat_map(|incidence| incidence.nodes(lists));
            let mut met: Vec<u32> = met.copied().collect();
            met.sort_unstable();
            met.dedup();
            met
        };
        (0..self.starts.len() - 1).into_par_iter().map(columns).collect()
    }

    /// Finds where every block goes: `slot(node, column)` in the node's row.
    fn find_slots(
        &mut self,
        lists: &[&Elements],
        slot: impl Fn(usize, usize) -> u32 + Sync,
    ) -> Result<()> {
        let slots = |node: usize| -> Vec<u32> {
            let met = self.of_node(node).iter().flat_map(|incidence| incidence.nodes(lists));
            met.map(|&column| slot(node, column as usize)).collect()
        };
        let slots: Vec<Vec<u32>> = (0..self.starts.len() - 1).into_par_iter().map(slots).collect();
        (self.slot_starts, self.slots) = joined(&slots)?;
        Ok(())
    }

    /// Adds up the rows of nodes from `first` on, whose rows, values and forces begin where the lists say.
    fn add_up(
        &self,
        lists: &[&Elements],
        first: usize,
        row_starts: &[u32],
        values: &mut [f64],
        value_starts: &[u32],
        force: &mut [f64],
    ) {
        let count = row_starts.len() - 1;
        let values = split(values, value_starts, NODES_PER_TASK);
        let forces = split(force, row_starts, NODES_PER_TASK);
        values.into_par_iter().zip(forces).enumerate().for_each(
            |(task, (mut values, mut force))| {
                values.fill(0.0);
                force.fill(0.0);
                let nodes = task * NODES_PER_TASK..((task + 1) * NODES_PER_TASK).min(count);
                for n in nodes {
                    let length = |starts: &[u32]| (starts[n + 1] - starts[n]) as usize;
                    let (row, other_rows) = values.split_at_mut(length(value_starts));
                    let (own_force, other_forces) = force.split_at_mut(length(row_starts));
                    let mut slots = &self.slots[self.slot_starts[first + n] as usize..];
                    for incidence in self.of_node(first + n) {
                        let (here, rest) = slots.split_at(incidence.nodes(lists).len());
                        let elements = lists[usize::from(incidence.list)];
                        let (element, own) =
                            (incidence.element as usize, usize::from(incidence.own));
                        elements.add_to(element, own, here, row, own_force);
                        slots = rest;
                    }
                    (values, force) = (other_rows, other_forces);
                }
            },
        );
    }
}

impl Incidence {
    /// The nodes of the element.
    fn nodes<'a>(&self, lists: &[&'a Elements]) -> &'a [u32] {
        lists[usize::from(self.list)].structure().nodes(self.element as usize)
    }
}

impl Receive {
    /// Places for what a process sends: the blocks of all its rows, then the forces.
    fn new(
        process: usize,
        rows: &[ForeignRow],
        blocks: &BlockCsr<f64>,
        find: impl Fn(u64) -> u32,
    ) -> Self {
        let nodes = blocks.nodes();
        let (mut matrix, mut force) = (Vec::new(), Vec::new());
        for row in rows {
            let first = blocks.value_range(row.node).start as u32;
            for &number in &row.columns {
                let column = find(number);
                let at = first + slot(blocks, row.node, column);
                let entries = nodes.size(row.node) * nodes.size(column as usize);
                matrix.extend(at..at + entries as u32);
            }
            force.extend(nodes.range(row.node).map(|row| row as u32));
        }
        Self { process, matrix, force }
    }
}

/// Where the block of a column begins among the values of a row.
fn slot(blocks: &BlockCsr<f64>, node: usize, column: u32) -> u32 {
    let nodes = blocks.nodes();
    let before = blocks.row_columns(node).iter().take_while(|&&other| other < column);
    (nodes.size(node) * before.map(|&other| nodes.size(other as usize)).sum::<usize>()) as u32
}

/// The columns that a process's elements add to a row here.
#[derive(Debug, PartialEq)]
struct ForeignRow {
    /// The row's node here.
    node: usize,
    /// The numbers among all nodes of the columns.
    columns: Vec<u64>,
}

/// Foreign nodes with something to send, by their owner.
fn owners<'a>(
    given: &'a NodeRows,
    has_some: impl Fn(usize) -> bool + 'a,
) -> impl Iterator<Item = (usize, Vec<usize>)> + 'a {
    let processes = given.rows().processes();
    (0..processes.count()).filter(|&process| process != processes.rank()).filter_map(
        move |process| {
            let nodes: Vec<usize> =
                given.owned_by(process).filter(|&node| has_some(node)).collect();
            (!nodes.is_empty()).then_some((process, nodes))
        },
    )
}

/// To each owner: of every row of its that elements here add to, its place there, how many columns, and their numbers.
fn announcements(given: &NodeRows, foreign: &[Vec<u32>]) -> Vec<Parcel> {
    let local = given.local();
    owners(given, |node| !foreign[node - local].is_empty())
        .map(|(process, nodes)| {
            let mut said = Vec::new();
            for node in nodes {
                let columns = &foreign[node - local];
                said.extend([given.place_at_owner(node), columns.len() as u64]);
                said.extend(columns.iter().map(|&column| given.number(column as usize)));
            }
            Parcel { process, bytes: bytemuck::cast_slice(&said).to_vec() }
        })
        .collect()
}

/// What [`announcements`] said.
fn foreign_rows(bytes: &[u8]) -> Vec<ForeignRow> {
    let numbers = numbers(bytes);
    let mut rest = &numbers[..];
    let mut rows = Vec::new();
    while let [node, count, behind @ ..] = rest {
        let (columns, behind) = behind.split_at((*count as usize).min(behind.len()));
        rows.push(ForeignRow { node: *node as usize, columns: columns.to_vec() });
        rest = behind;
    }
    rows
}
