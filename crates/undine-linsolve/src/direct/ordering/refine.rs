//! Thinner vertex separators by local moves (Fiduccia & Mattheyses 1982, for vertices after Ashcraft & Liu 1998).

use super::graph::Graph;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Which part a vertex is in: either side, or the separator between them.
pub(super) const SEPARATOR: u8 = 2;

/// The heavier side may have at most this share of all unknowns.
const HEAVIEST: f64 = 0.6;

/// A pass is given up after so many moves without a better separator.
const PATIENCE: usize = 120;

/// Two sides and a separator: no edge leads from one side to the other.
#[derive(Debug, Clone)]
pub(super) struct Parts {
    pub side: Vec<u8>,
    /// Unknowns of side 0, side 1 and the separator.
    pub weights: [i64; 3],
}

impl Parts {
    /// Parts of two sides with nothing between them yet: the side with fewer unknowns on the common edges gives those away.
    pub fn from_sides(graph: &Graph, mut side: Vec<u8>) -> Self {
        let touches_other = |vertex: usize| {
            graph.neighbours(vertex).iter().any(|&other| side[other as usize] != side[vertex])
        };
        let edge: Vec<usize> = (0..graph.len()).filter(|&vertex| touches_other(vertex)).collect();
        let mut sums = [0_u64; 2];
        for &vertex in &edge {
            sums[side[vertex] as usize] += u64::from(graph.weights[vertex]);
        }
        let giving = u8::from(sums[1] < sums[0]);
        for vertex in edge {
            if side[vertex] == giving {
                side[vertex] = SEPARATOR;
            }
        }
        Self::of(graph, side)
    }

    /// Parts of a list that says where every vertex is.
    pub fn of(graph: &Graph, side: Vec<u8>) -> Self {
        let mut weights = [0; 3];
        for (&side, &weight) in side.iter().zip(&graph.weights) {
            weights[side as usize] += i64::from(weight);
        }
        Self { side, weights }
    }

    /// The smaller, the better: the separator first, then the balance.
    pub fn cost(&self) -> (i64, i64) {
        let [left, right, separator] = self.weights;
        let heaviest = (HEAVIEST * (left + right + separator) as f64) as i64;
        let excess = (left.max(right) - heaviest).max(0);
        // A lopsided cut may be thin and useless: what is too much on one side counts like separator.
        (separator + excess, (left - right).abs())
    }

    /// Moves vertices out of the separator while that makes it lighter, for at most so many passes.
    pub fn refine(&mut self, graph: &Graph, passes: usize) {
        let mut work = Refinement::new(graph.len());
        for _ in 0..passes {
            if !work.pass(graph, self) {
                break;
            }
        }
    }
}

/// Work space of refinement.
struct Refinement {
    /// Of each separator vertex: the unknowns that it touches on either side.
    touched: Vec<[i64; 2]>,
    locked: Vec<bool>,
    heaps: [BinaryHeap<(i64, Reverse<u32>)>; 2],
    /// Vertices that changed parts, and the part that they left.
    log: Vec<(u32, u8)>,
}

impl Refinement {
    fn new(vertices: usize) -> Self {
        Self {
            touched: vec![[0; 2]; vertices],
            locked: vec![false; vertices],
            heaps: Default::default(),
            log: Vec::new(),
        }
    }

    /// One pass: every vertex leaves the separator at most once; what came after the best state is undone. Says whether the
    /// parts are better than before.
    fn pass(&mut self, graph: &Graph, parts: &mut Parts) -> bool {
        self.heaps.iter_mut().for_each(BinaryHeap::clear);
        self.log.clear();
        self.locked.fill(false);
        for vertex in 0..graph.len() {
            if parts.side[vertex] == SEPARATOR {
                self.enter(graph, parts, vertex);
            }
        }
        let total: i64 = parts.weights.iter().sum();
        let heaviest = (HEAVIEST * total as f64) as i64;
        let first = parts.cost();
        let (mut best, mut best_length, mut since) = (first, 0, 0);
        while since < PATIENCE
            && let Some((vertex, to)) = self.next_move(graph, parts, heaviest)
        {
            self.leave(graph, parts, vertex, to);
            let cost = parts.cost();
            if cost < best {
                (best, best_length, since) = (cost, self.log.len(), 0);
            } else {
                since += 1;
            }
        }
        for (vertex, left) in self.log.drain(best_length..).rev() {
            let (vertex, weight) = (vertex as usize, i64::from(graph.weights[vertex as usize]));
            parts.weights[parts.side[vertex] as usize] -= weight;
            parts.weights[left as usize] += weight;
            parts.side[vertex] = left;
        }
        best < first
    }

    /// The best vertex to leave the separator, and the side that it goes to.
    fn next_move(&mut self, graph: &Graph, parts: &Parts, heaviest: i64) -> Option<(usize, usize)> {
        loop {
            // The top of either heap, once what is outdated has been removed.
            let mut tops = [None; 2];
            for (to, top) in tops.iter_mut().enumerate() {
                while let Some(&(gain, Reverse(vertex))) = self.heaps[to].peek() {
                    let v = vertex as usize;
                    let current = i64::from(graph.weights[v]) - self.touched[v][1 - to];
                    if parts.side[v] == SEPARATOR && !self.locked[v] && gain == current {
                        *top = Some((gain, v));
                        break;
                    }
                    self.heaps[to].pop();
                }
            }
            let lighter = usize::from(parts.weights[1] < parts.weights[0]);
            let to = match tops {
                [None, None] => return None,
                [Some(_), None] => 0,
                [None, Some(_)] => 1,
                [Some(a), Some(b)] if a.0 == b.0 => lighter,
                [Some(a), Some(b)] => usize::from(b.0 > a.0),
            };
            // A side that is full takes no more; try the other.
            let fits = |to: usize, v: usize| {
                to == lighter || parts.weights[to] + i64::from(graph.weights[v]) <= heaviest
            };
            for to in [to, 1 - to] {
                if let Some((_, vertex)) = tops[to] {
                    if fits(to, vertex) {
                        return Some((vertex, to));
                    }
                    self.heaps[to].pop();
                }
            }
        }
    }

    /// Moves a vertex from the separator to a side; its neighbours on the other side take its place.
    fn leave(&mut self, graph: &Graph, parts: &mut Parts, vertex: usize, to: usize) {
        self.locked[vertex] = true;
        self.change(graph, parts, vertex, to as u8);
        let weight = i64::from(graph.weights[vertex]);
        for &other in graph.neighbours(vertex) {
            let other = other as usize;
            if parts.side[other] == SEPARATOR {
                self.touched[other][to] += weight;
                self.offer(graph, other);
            }
        }
        let from = 1 - to;
        for &other in graph.neighbours(vertex) {
            let other = other as usize;
            if parts.side[other] as usize != from {
                continue;
            }
            self.change(graph, parts, other, SEPARATOR);
            let weight = i64::from(graph.weights[other]);
            for &third in graph.neighbours(other) {
                let third = third as usize;
                if parts.side[third] == SEPARATOR {
                    self.touched[third][from] -= weight;
                    self.offer(graph, third);
                }
            }
            self.enter(graph, parts, other);
        }
    }

    /// Takes note of a vertex that is now in the separator.
    fn enter(&mut self, graph: &Graph, parts: &Parts, vertex: usize) {
        let mut touched = [0; 2];
        for &other in graph.neighbours(vertex) {
            let side = parts.side[other as usize];
            if side != SEPARATOR {
                touched[side as usize] += i64::from(graph.weights[other as usize]);
            }
        }
        self.touched[vertex] = touched;
        self.offer(graph, vertex);
    }

    fn offer(&mut self, graph: &Graph, vertex: usize) {
        if self.locked[vertex] {
            return;
        }
        let weight = i64::from(graph.weights[vertex]);
        for to in 0..2 {
            self.heaps[to].push((weight - self.touched[vertex][1 - to], Reverse(vertex as u32)));
        }
    }

    fn change(&mut self, graph: &Graph, parts: &mut Parts, vertex: usize, to: u8) {
        let weight = i64::from(graph.weights[vertex]);
        self.log.push((vertex as u32, parts.side[vertex]));
        parts.weights[parts.side[vertex] as usize] -= weight;
        parts.weights[to as usize] += weight;
        parts.side[vertex] = to;
    }
}
