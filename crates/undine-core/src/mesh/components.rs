//! Connected components, by union of sets of vertices.

use crate::forest::Forest;

/// The parts of a mesh that no edge connects, numbered by their lowest vertices. A vertex without an
/// edge is a part of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Components {
    count: usize,
    of_vertex: Vec<u32>,
}

impl Components {
    pub(super) fn new(vertices: usize, edges: &[[u32; 2]]) -> Self {
        let mut joined = Forest::new(vertices);
        edges.iter().for_each(|&[a, b]| joined.join(a, b));
        // A root is the lowest of its part, so that it has its number before the others ask for it.
        let mut count = 0;
        let mut of_vertex = vec![0; vertices];
        for vertex in 0..vertices {
            let up = joined.root(vertex as u32) as usize;
            if up == vertex {
                of_vertex[vertex] = count;
                count += 1;
            } else {
                of_vertex[vertex] = of_vertex[up];
            }
        }
        Self { count: count as usize, of_vertex }
    }

    /// The number of parts.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The part of each vertex.
    pub fn of_vertex(&self) -> &[u32] {
        &self.of_vertex
    }
}
