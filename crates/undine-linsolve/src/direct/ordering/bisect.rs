//! Small vertex separators of graphs: flat cuts through given coordinates, or through some that distances make.

use super::graph::Graph;
use super::refine::Parts;

/// Far-off vertices whose distances are looked at.
const LANDMARKS: usize = 8;

/// Those of them whose own levels are tried as cuts.
const LEVELS: usize = 4;

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
    best_median(graph, planes(points))
}

/// Cuts a connected graph in two where the distance from a far-off vertex has its median, or by a plane through coordinates
/// that are made of such distances (Harel & Koren 2002): what they spread along most.
pub(super) fn by_distances(graph: &Graph) -> Parts {
    let mut nearest = distances(graph, 0);
    let mut landmarks: Vec<Vec<f32>> = Vec::new();
    for n in 0..LANDMARKS {
        let far = (0..graph.len()).rev().max_by_key(|&vertex| nearest[vertex]).unwrap_or(0);
        let from = distances(graph, far);
        for (nearest, &from) in nearest.iter_mut().zip(&from) {
            // The first one only served to find a far end.
            *nearest = if n == 0 { from } else { (*nearest).min(from) };
        }
        landmarks.push(from.into_iter().map(|distance| distance as f32).collect());
    }
    let points = principal_axes(&landmarks);
    best_median(graph, landmarks.into_iter().take(LEVELS).chain(planes(&points)))
}

/// The coordinate of each point along each of the directions.
fn planes(points: &[[f32; 3]]) -> impl Iterator<Item = Vec<f32>> {
    DIRECTIONS.iter().map(|direction| {
        let along = |p: &[f32; 3]| p[0] * direction[0] + p[1] * direction[1] + p[2] * direction[2];
        points.iter().map(along).collect()
    })
}

/// The three directions along which lists of numbers spread the most: a point per entry of the lists.
fn principal_axes(lists: &[Vec<f32>]) -> Vec<[f32; 3]> {
    let count = lists[0].len();
    let means: Vec<f64> = lists
        .iter()
        .map(|list| list.iter().map(|&x| f64::from(x)).sum::<f64>() / count as f64)
        .collect();
    let covariance = |a: usize, b: usize| -> f64 {
        let terms = lists[a].iter().zip(&lists[b]);
        terms.map(|(&x, &y)| (f64::from(x) - means[a]) * (f64::from(y) - means[b])).sum()
    };
    let lower: [[f64; LANDMARKS]; LANDMARKS] = std::array::from_fn(|a| {
        std::array::from_fn(|b| if b <= a { covariance(a, b) } else { 0.0 })
    });
    let mut spread: [[f64; LANDMARKS]; LANDMARKS] =
        std::array::from_fn(|a| std::array::from_fn(|b| lower[a.max(b)][a.min(b)]));
    let mut points = vec![[0.0; 3]; count];
    for axis in 0..3 {
        // Power iteration, then what was found is taken out.
        let mut v: [f64; LANDMARKS] = std::array::from_fn(|n| 1.0 + 0.3 * ((n * n) % 7) as f64);
        let mut size = 0.0;
        for _ in 0..40 {
            let next: [f64; LANDMARKS] =
                std::array::from_fn(|a| spread[a].iter().zip(&v).map(|(s, v)| s * v).sum());
            size = next.iter().map(|x| x * x).sum::<f64>().sqrt();
            if size == 0.0 {
                break;
            }
            v = next.map(|x| x / size);
        }
        for (row, &a) in spread.iter_mut().zip(&v) {
            for (entry, &b) in row.iter_mut().zip(&v) {
                *entry -= size * a * b;
            }
        }
        for (list, (&mean, &v)) in lists.iter().zip(means.iter().zip(&v)) {
            for (point, &x) in points.iter_mut().zip(list) {
                point[axis] += ((f64::from(x) - mean) * v) as f32;
            }
        }
    }
    points
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
