//! Small vertex separators of graphs: by coordinates, or by coarsening, cutting and refining (Karypis & Kumar 1998).

use super::graph::Graph;
use super::refine::{Parts, SEPARATOR};

/// Coarsening ends at this many vertices.
const COARSEST: usize = 120;

/// Coarsening ends when a level keeps more than this share of its vertices.
const STALLED: f64 = 0.92;

/// Cuts of the coarsest graph that are tried.
const TRIES: usize = 8;

/// Passes of refinement on coarse graphs, and on the one that was given.
const PASSES: usize = 6;

/// Cuts a connected graph in two by the median along the longest axis of its vertices' coordinates.
pub(super) fn by_coordinates(graph: &Graph, points: &[[f32; 3]]) -> Parts {
    let extent = |axis: usize| {
        let (low, high) =
            points.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), p| {
                (low.min(p[axis]), high.max(p[axis]))
            });
        high - low
    };
    let (x, y, z) = (extent(0), extent(1), extent(2));
    let axis = if x >= y && x >= z { 0 } else { usize::from(z > y) + 1 };
    let mut order: Vec<u32> = (0..graph.len() as u32).collect();
    let along = |vertex: u32| points[vertex as usize][axis];
    let middle = order.len() / 2;
    order.select_nth_unstable_by(middle, |&a, &b| along(a).total_cmp(&along(b)).then(a.cmp(&b)));
    // All points of the median's plane on one side make a flat cut, which on a grid is the thinnest.
    let median = points[order[middle] as usize][axis];
    let below = points.iter().filter(|point| point[axis] < median).count();
    let flat = below * 5 >= points.len() * 2;
    let mut side = vec![0; graph.len()];
    if flat {
        for (side, point) in side.iter_mut().zip(points) {
            *side = u8::from(point[axis] >= median);
        }
    } else {
        order[middle..].iter().for_each(|&vertex| side[vertex as usize] = 1);
    }
    let mut parts = Parts::from_sides(graph, side);
    parts.refine(graph, 2);
    parts
}

/// Cuts a connected graph in two.
pub(super) fn by_levels(graph: &Graph) -> Parts {
    let mut levels: Vec<Level> = Vec::new();
    loop {
        let (fine, edges) = match levels.last() {
            Some(level) => (&level.graph, Some(&level.edges[..])),
            None => (graph, None),
        };
        if fine.len() <= COARSEST {
            break;
        }
        let level = Level::coarser(fine, edges);
        if level.graph.len() as f64 > STALLED * fine.len() as f64 {
            break;
        }
        levels.push(level);
    }
    let mut parts = first_cut(levels.last().map_or(graph, |level| &level.graph));
    for n in (0..levels.len()).rev() {
        let fine = if n == 0 { graph } else { &levels[n - 1].graph };
        let side = levels[n].coarse_of.iter().map(|&coarse| parts.side[coarse as usize]).collect();
        parts = Parts::of(fine, side);
        parts.refine(fine, PASSES);
    }
    parts
}

/// The best of several cuts, each grown from another vertex until it has half of the unknowns.
fn first_cut(graph: &Graph) -> Parts {
    let half = graph.weight() / 2;
    let mut best: Option<Parts> = None;
    let mut seed = 0;
    for n in 0..TRIES {
        let order = breadth_first(graph, seed);
        let mut side = vec![1; graph.len()];
        let mut grown = 0;
        for &vertex in &order {
            if grown >= half {
                break;
            }
            side[vertex as usize] = 0;
            grown += u64::from(graph.weights[vertex as usize]);
        }
        let mut parts = Parts::from_sides(graph, side);
        parts.refine(graph, PASSES);
        if best.as_ref().is_none_or(|best| parts.cost() < best.cost()) {
            best = Some(parts);
        }
        // From the far end of this cut the first times, then from places all over.
        seed = match n {
            0 | 1 => order.last().map_or(0, |&vertex| vertex as usize),
            _ => graph.len() * (n - 1) / TRIES,
        };
    }
    best.unwrap_or_else(|| Parts::of(graph, vec![SEPARATOR; graph.len()]))
}

/// All vertices, those near the seed first.
fn breadth_first(graph: &Graph, seed: usize) -> Vec<u32> {
    let mut order = Vec::with_capacity(graph.len());
    let mut seen = vec![false; graph.len()];
    // A coarse graph may fall apart where the fine one's edges were all inside of its vertices.
    for start in std::iter::once(seed).chain(0..graph.len()) {
        if seen[start] {
            continue;
        }
        seen[start] = true;
        let mut next = order.len();
        order.push(start as u32);
        while next < order.len() {
            for &other in graph.neighbours(order[next] as usize) {
                if !seen[other as usize] {
                    seen[other as usize] = true;
                    order.push(other);
                }
            }
            next += 1;
        }
    }
    order
}

/// A graph of about half the vertices of a finer one.
struct Level {
    graph: Graph,
    /// How many edges of the given graph each edge stands for.
    edges: Vec<u32>,
    /// The coarse vertex of each fine one.
    coarse_of: Vec<u32>,
}

impl Level {
    /// Merges pairs of neighbours, those first that the heaviest edges join.
    fn coarser(fine: &Graph, edges: Option<&[u32]>) -> Self {
        let n = fine.len();
        let edge = |at: usize| edges.map_or(1, |edges| edges[at]);
        let range = |vertex: usize| fine.starts[vertex] as usize..fine.starts[vertex + 1] as usize;
        // Few neighbours first, so that no vertex is left alone; scattered among equals, so that pairs do not line up.
        let scatter = |vertex: u32| vertex.wrapping_mul(0x9e37_79b1).rotate_right(7);
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_unstable_by_key(|&vertex| {
            (range(vertex as usize).len().min(64), scatter(vertex), vertex)
        });
        // Vertices far above the average stay as they are: a star's centre would swallow the graph.
        let heavy = 3 * (fine.weight() / n as u64 + 1);
        let mut coarse_of = vec![u32::MAX; n];
        let mut leaders = Vec::with_capacity(n / 2 + 1);
        for &vertex in &order {
            let v = vertex as usize;
            if coarse_of[v] != u32::MAX {
                continue;
            }
            let weight = u64::from(fine.weights[v]);
            let partner = range(v)
                .filter(|&at| {
                    let other = fine.neighbours[at] as usize;
                    coarse_of[other] == u32::MAX && weight + u64::from(fine.weights[other]) <= heavy
                })
                .max_by_key(|&at| {
                    let other = fine.neighbours[at];
                    (edge(at), u32::MAX - fine.weights[other as usize], scatter(other))
                })
                .map(|at| fine.neighbours[at]);
            coarse_of[v] = leaders.len() as u32;
            if let Some(partner) = partner {
                coarse_of[partner as usize] = leaders.len() as u32;
            }
            leaders.push((vertex, partner));
        }

        let mut starts = Vec::with_capacity(leaders.len() + 1);
        starts.push(0);
        let mut neighbours: Vec<u32> = Vec::with_capacity(fine.neighbours.len());
        let mut joined: Vec<u32> = Vec::with_capacity(fine.neighbours.len());
        let mut weights = Vec::with_capacity(leaders.len());
        let mut place = vec![usize::MAX; leaders.len()];
        for (coarse, &(vertex, partner)) in leaders.iter().enumerate() {
            let first = neighbours.len();
            let mut weight = 0;
            for member in std::iter::once(vertex).chain(partner) {
                weight += fine.weights[member as usize];
                for at in range(member as usize) {
                    let other = coarse_of[fine.neighbours[at] as usize];
                    if other as usize == coarse {
                        continue;
                    }
                    let known = place[other as usize];
                    if known != usize::MAX && known >= first {
                        joined[known] += edge(at);
                    } else {
                        place[other as usize] = neighbours.len();
                        neighbours.push(other);
                        joined.push(edge(at));
                    }
                }
            }
            weights.push(weight);
            starts.push(neighbours.len() as u32);
        }
        Self { graph: Graph { starts, neighbours, weights }, edges: joined, coarse_of }
    }
}
