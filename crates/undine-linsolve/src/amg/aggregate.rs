//! Aggregation: every node joins one aggregate, a node of the next level (Vaněk, Mandel, Brezina 1996, Algorithm 5.1).
//!
//! 1. A node whose strong neighbours are all free becomes the root of an aggregate, and takes them.
//! 2. Every node left over joins the neighbouring aggregate that it is coupled to most.
//! 3. What then is left forms aggregates of its own.
//!
//! Step 1 depends on the order of nodes. To run on all threads with the same result on any number of them, it works on
//! fixed blocks of nodes first, and then, in order, on the nodes that reach across.

use super::sparse::Sparse;
use rayon::prelude::*;

/// Nodes of a block. Large, because aggregates do not grow across blocks in the parallel part.
const BLOCK: usize = 1 << 16;

/// The aggregate of a node that is in none: it has no strong neighbour, and a smoother takes care of it.
pub(super) const NONE: u32 = u32::MAX;

/// Which aggregate each node is in, and how many there are.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Aggregates {
    pub of_node: Vec<u32>,
    pub count: usize,
}

/// Groups the nodes of a graph of strong couplings; columns beyond its rows are nodes of other processes, which never join.
///
/// Nodes without any strong neighbour are left out, or become aggregates of their own if `keep_alone`.
pub(super) fn aggregate(graph: &Sparse, keep_alone: bool) -> Aggregates {
    let nodes = graph.rows();
    let mut of_node = vec![NONE; nodes];

    // Roots inside of blocks; each block counts its aggregates from 0.
    let grown: Vec<(u32, Vec<u32>)> = of_node
        .par_chunks_mut(BLOCK)
        .enumerate()
        .map(|(block, of_node)| {
            let first = block * BLOCK;
            let mut count = 0;
            let mut across = Vec::new();
            for here in 0..of_node.len() {
                if of_node[here] != NONE {
                    continue;
                }
                match root(graph, first + here, first, of_node, nodes) {
                    Root::Free => {
                        take(graph, first + here, first, of_node, count);
                        count += 1;
                    }
                    Root::ReachesAcross => across.push((first + here) as u32),
                    Root::Blocked => {}
                }
            }
            (count, across)
        })
        .collect();
    let mut count = 0;
    let offsets: Vec<u32> = grown
        .iter()
        .map(|(grown, _)| {
            count += grown;
            count - grown
        })
        .collect();
    of_node.par_chunks_mut(BLOCK).zip(offsets).for_each(|(of_node, offset)| {
        of_node.iter_mut().filter(|aggregate| **aggregate != NONE).for_each(|own| *own += offset);
    });

    // Roots whose neighbours lie in several blocks.
    for node in grown.iter().flat_map(|(_, across)| across).map(|&node| node as usize) {
        if of_node[node] == NONE && root(graph, node, 0, &of_node, nodes) == Root::Free {
            take(graph, node, 0, &mut of_node, count);
            count += 1;
        }
    }

    join(graph, &mut of_node);

    // Leftovers of leftovers, and nodes that are alone.
    for node in 0..nodes {
        if of_node[node] != NONE {
            continue;
        }
        let mut alone = true;
        for other in neighbours(graph, node, nodes) {
            if of_node[other] == NONE {
                of_node[other] = count;
                alone = false;
            }
        }
        if !alone || keep_alone || neighbours(graph, node, nodes).next().is_some() {
            of_node[node] = count;
            count += 1;
        }
    }
    Aggregates { of_node, count: count as usize }
}

/// Whether a free node may become a root.
#[derive(PartialEq)]
enum Root {
    Free,
    /// A neighbour is taken already, or there is none.
    Blocked,
    /// A neighbour is outside of the block.
    ReachesAcross,
}

fn root(graph: &Sparse, node: usize, first: usize, of_node: &[u32], nodes: usize) -> Root {
    let mut any = false;
    let mut across = false;
    for other in neighbours(graph, node, nodes) {
        any = true;
        match of_node.get(other.wrapping_sub(first)) {
            Some(&NONE) => {}
            Some(_) => return Root::Blocked,
            None => across = true,
        }
    }
    if across {
        Root::ReachesAcross
    } else if any {
        Root::Free
    } else {
        Root::Blocked
    }
}

/// Makes an aggregate of a root and its neighbours.
fn take(graph: &Sparse, root: usize, first: usize, of_node: &mut [u32], aggregate: u32) {
    of_node[root - first] = aggregate;
    for other in neighbours(graph, root, usize::MAX) {
        if let Some(own) = of_node.get_mut(other.wrapping_sub(first)) {
            *own = aggregate;
        }
    }
}

/// Lets nodes that are left over join an aggregate beside them: the one with the largest sum of couplings.
fn join(graph: &Sparse, of_node: &mut Vec<u32>) {
    let before = std::mem::take(of_node);
    *of_node = (0..before.len())
        .into_par_iter()
        .with_min_len(1024)
        .map_init(Vec::<(u32, f32)>::new, |sums, node| {
            if before[node] != NONE {
                return before[node];
            }
            sums.clear();
            let (columns, values) = graph.row(node);
            for (&other, &value) in columns.iter().zip(values) {
                let Some(&aggregate) = before.get(other as usize) else { continue };
                if aggregate == NONE {
                    continue;
                }
                match sums.iter_mut().find(|sum| sum.0 == aggregate) {
                    Some(sum) => sum.1 += value.abs(),
                    None => sums.push((aggregate, value.abs())),
                }
            }
            // The first of equals, which is the first in the order of columns.
            let best =
                sums.iter().fold((NONE, 0.0), |best, &sum| if sum.1 > best.1 { sum } else { best });
            best.0
        })
        .collect();
}

/// The other nodes of this process that a node is coupled to.
fn neighbours(graph: &Sparse, node: usize, nodes: usize) -> impl Iterator<Item = usize> {
    let (columns, _) = graph.row(node);
    columns
        .iter()
        .map(|&column| column as usize)
        .filter(move |&column| column != node && column < nodes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gallery::laplacian;

    #[test]
    fn every_node_joins_one_aggregate_of_nodes_that_hang_together() {
        // More nodes than a block has, so that aggregates across blocks occur.
        let graph: Sparse = laplacian([42; 3]).unwrap().convert();
        assert!(graph.rows() > BLOCK);
        let Aggregates { of_node, count } = aggregate(&graph, false);
        let mut sizes = vec![0; count];
        of_node.iter().for_each(|&aggregate| sizes[aggregate as usize] += 1);
        assert!(sizes.iter().all(|&size| size >= 2), "nobody is alone");
        let mean = graph.rows() as f64 / count as f64;
        assert!((7.0..14.0).contains(&mean), "{mean} nodes each");
        for node in 0..graph.rows() {
            let beside = neighbours(&graph, node, graph.rows());
            let mut same = beside.filter(|&other| of_node[other] == of_node[node]);
            assert!(same.next().is_some(), "node {node} has a neighbour in its aggregate");
        }
    }

    #[test]
    fn nodes_without_neighbours_are_left_out_or_stay_alone() {
        let graph = Sparse::from_triplets(3, 3, (0..3).map(|n| (n, n, 1.0))).unwrap();
        assert_eq!(aggregate(&graph, false), Aggregates { of_node: vec![NONE; 3], count: 0 });
        assert_eq!(aggregate(&graph, true), Aggregates { of_node: vec![0, 1, 2], count: 3 });
    }
}
