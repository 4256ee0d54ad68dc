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

/// Neighbours per vertex from which on a graph is not like a grid with edges along its axes.
const DENSE: usize = 10;

/// Far-off vertices whose distances are looked at.
const LANDMARKS: usize = 5;

/// Directions of planes that are tried: on grids those along diagonals often cut fewer unknowns for the size of the parts.
const DIRECTIONS: [[f32; 3]; 13] = [
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [1.0, 1.0, 0.0],
    [1.0, -1.0, 0.0],
    [1.0, 0.0, 1.0],
    [1.0, 0.0, -1.0],
    [0.0, 1.0, 1.0],
    [0.0, 1.0, -1.0],
    [1.0, 1.0, 1.0],
    [1.0, 1.0, -1.0],
    [1.0, -1.0, 1.0],
    [1.0, -1.0, -1.0],
];

/// Cuts a connected graph in two by a plane through the median of its vertices' coordinates.
pub(super) fn by_coordinates(graph: &Graph, points: &[[f32; 3]]) -> Parts {
    let along = DIRECTIONS.iter().map(|direction| -> Vec<f32> {
        let along = |p: &[f32; 3]| p[0] * direction[0] + p[1] * direction[1] + p[2] * direction[2];
        points.iter().map(along).collect()
    });
    best_median(graph, along)
}

/// Cuts a connected graph in two.
pub(super) fn by_graph(graph: &Graph) -> Parts {
    let quick = by_distances(graph);
    // Where diagonals are edges too, distances have corners and cuts along them are ragged.
    if graph.neighbours.len() < DENSE * graph.len() {
        return quick;
    }
    let thorough = by_levels(graph);
    if thorough.cost() < quick.cost() { thorough } else { quick }
}

/// Cuts a connected graph in two where the distance from a far-off vertex, or the difference between the distances from two
/// of them, has its median: what planes are to points.
fn by_distances(graph: &Graph) -> Parts {
    let mut nearest = distances(graph, 0);
    let mut landmarks: Vec<Vec<u32>> = Vec::new();
    for n in 0..LANDMARKS {
        let far = (0..graph.len()).rev().max_by_key(|&vertex| nearest[vertex]).unwrap_or(0);
        let from = distances(graph, far);
        for (nearest, &from) in nearest.iter_mut().zip(&from) {
            // The first one only served to find a far end.
            *nearest = if n == 0 { from } else { (*nearest).min(from) };
        }
        landmarks.push(from);
    }
    let one = (0..LANDMARKS).map(|n| (n, n));
    let two = (0..LANDMARKS).flat_map(|a| (0..a).map(move |b| (a, b)));
    let along = one.chain(two).map(|(a, b)| -> Vec<f32> {
        let (from_a, from_b) = (&landmarks[a], &landmarks[b]);
        if a == b {
            return from_a.iter().map(|&a| a as f32).collect();
        }
        from_a.iter().zip(from_b).map(|(&a, &b)| a as f32 - b as f32).collect()
    });
    best_median(graph, along)
}

/// The best cut by the median of any of several numbers per vertex.
fn best_median(graph: &Graph, along: impl Iterator<Item = Vec<f32>>) -> Parts {
    let cuts = along.map(|along| {
        let mut sorted = along.clone();
        let middle = sorted.len() / 2;
        let (_, &mut median, _) = sorted.select_nth_unstable_by(middle, f32::total_cmp);
        // All vertices of the median's level go to the same side, which makes a flat cut.
        Parts::from_sides(graph, along.iter().map(|&along| u8::from(along >= median)).collect())
    });
    let mut best = cuts.min_by_key(Parts::cost).unwrap_or_else(|| Parts::of(graph, Vec::new()));
    best.refine(graph, 3);
    best
}

/// The distance of every vertex of a connected graph from one of them.
fn distances(graph: &Graph, from: usize) -> Vec<u32> {
    let mut distances = vec![u32::MAX; graph.len()];
    let mut queue = Vec::with_capacity(graph.len());
    distances[from] = 0;
    queue.push(from as u32);
    let mut next = 0;
    while next < queue.len() {
        let vertex = queue[next] as usize;
        next += 1;
        for &other in graph.neighbours(vertex) {
            if distances[other as usize] == u32::MAX {
                distances[other as usize] = distances[vertex] + 1;
                queue.push(other);
            }
        }
    }
    distances
}

/// Cuts a connected graph in two by merging neighbours until it is small, cutting that, and refining on the way back.
fn by_levels(graph: &Graph) -> Parts {
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
