//! Nested dissection (George 1973): cut the graph in two by a small separator, order both sides the same way, and the
//! separator last. Few fronts are then large, and both sides can be factored at the same time.

use super::bisect;
use super::graph::Graph;
use super::minimum_degree;
use super::refine::SEPARATOR;
use crate::error::Result;
use rayon::prelude::*;

/// Parts of at most this many vertices are not cut further, but ordered by minimum degree.
const LEAF: usize = 180;

/// Smaller parts are ordered on one thread.
const ALONE: usize = 1000;

/// Vertices with more neighbours than this share of all come last: every separator would have to hold them.
const DENSE: f64 = 0.2;

/// The vertices in order of elimination.
pub(super) fn order(graph: &Graph, points: Option<&[[f32; 3]]>) -> Result<Vec<u32>> {
    let n = graph.len();
    let mut order = vec![0; n];
    let dense = |vertex: usize| graph.neighbours(vertex).len() > 200 + (DENSE * n as f64) as usize;
    let (last, labels): (Vec<u32>, Vec<u32>) =
        (0..n as u32).partition(|&vertex| dense(vertex as usize));
    let (front, back) = order.split_at_mut(labels.len());
    back.copy_from_slice(&last);
    let part = if last.is_empty() {
        graph.clone()
    } else {
        graph.induced(&labels, &mut vec![u32::MAX; n])
    };
    let points =
        points.map(|points| labels.iter().map(|&vertex| points[vertex as usize]).collect());
    dissect(Part { graph: part, points, labels }, front)?;
    Ok(order)
}

/// A part of the graph that is being ordered.
struct Part {
    graph: Graph,
    points: Option<Vec<[f32; 3]>>,
    /// The vertices in the numbering of the whole graph.
    labels: Vec<u32>,
}

impl Part {
    /// The parts of lists of vertices.
    fn pick(&self, lists: Vec<Vec<u32>>) -> Vec<Self> {
        let mut place = vec![u32::MAX; self.graph.len()];
        let pick = |list: Vec<u32>| Self {
            graph: self.graph.induced(&list, &mut place),
            points: self
                .points
                .as_ref()
                .map(|points| list.iter().map(|&v| points[v as usize]).collect()),
            labels: list.iter().map(|&vertex| self.labels[vertex as usize]).collect(),
        };
        lists.into_iter().map(pick).collect()
    }
}

/// Orders a part into `out`.
fn dissect(part: Part, out: &mut [u32]) -> Result<()> {
    if part.graph.len() <= LEAF {
        return leaf(&part, out);
    }
    let components = components(&part.graph);
    if components.len() > 1 {
        return all(part.pick(components), out);
    }
    let cut = match &part.points {
        Some(points) => bisect::by_coordinates(&part.graph, points),
        None => bisect::by_distances(&part.graph),
    };
    let mut lists: [Vec<u32>; 3] = Default::default();
    for (vertex, &side) in cut.side.iter().enumerate() {
        lists[side as usize].push(vertex as u32);
    }
    let [left, right, separator] = lists;
    // A graph without a separator worth the name, as a clique, is better left to minimum degree.
    if left.is_empty() || right.is_empty() || separator.len() > part.graph.len() / 2 {
        return leaf(&part, out);
    }
    let (inner, outer) = out.split_at_mut(left.len() + right.len());
    debug_assert!(cut.side.iter().filter(|&&side| side == SEPARATOR).count() == outer.len());
    for (out, &vertex) in outer.iter_mut().zip(&separator) {
        *out = part.labels[vertex as usize];
    }
    let halves = part.pick(vec![left, right]);
    drop(part);
    all(halves, inner)
}

/// Orders parts one after another into `out`.
fn all(parts: Vec<Part>, mut out: &mut [u32]) -> Result<()> {
    let total = out.len();
    let mut tasks = Vec::with_capacity(parts.len());
    for part in parts {
        let (own, rest) = out.split_at_mut(part.labels.len());
        tasks.push((part, own));
        out = rest;
    }
    if total < ALONE {
        return tasks.into_iter().try_for_each(|(part, out)| dissect(part, out));
    }
    tasks.into_par_iter().try_for_each(|(part, out)| dissect(part, out))
}

fn leaf(part: &Part, out: &mut [u32]) -> Result<()> {
    for (out, vertex) in out.iter_mut().zip(minimum_degree(&part.graph)?) {
        *out = part.labels[vertex as usize];
    }
    Ok(())
}

/// The connected components, each with its vertices ascending, by their first vertex.
fn components(graph: &Graph) -> Vec<Vec<u32>> {
    let mut found = Vec::new();
    let mut seen = vec![false; graph.len()];
    for start in 0..graph.len() {
        if seen[start] {
            continue;
        }
        seen[start] = true;
        let mut list = vec![start as u32];
        let mut next = 0;
        while next < list.len() {
            for &other in graph.neighbours(list[next] as usize) {
                if !seen[other as usize] {
                    seen[other as usize] = true;
                    list.push(other);
                }
            }
            next += 1;
        }
        list.sort_unstable();
        found.push(list);
    }
    found
}
