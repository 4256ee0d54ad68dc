//! Connected components, by union of sets of vertices.

/// The parts of a mesh that no edge connects, numbered by their lowest vertices. A vertex without an
/// edge is a part of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Components {
    count: usize,
    of_vertex: Vec<u32>,
}

impl Components {
    pub(super) fn new(vertices: usize, edges: &[[u32; 2]]) -> Self {
        // Each set is a tree whose root is its lowest vertex.
        let mut parent: Vec<u32> = (0..vertices as u32).collect();
        for &[a, b] in edges {
            let (a, b) = (root(&mut parent, a), root(&mut parent, b));
            parent[a.max(b) as usize] = a.min(b);
        }
        // A parent lies below its children, so it has its number before they ask for it.
        let mut count = 0;
        let mut of_vertex = vec![0; vertices];
        for vertex in 0..vertices {
            let up = parent[vertex] as usize;
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

/// The root of the tree of `vertex`; halves the path on its way, which keeps trees flat.
fn root(parent: &mut [u32], mut vertex: u32) -> u32 {
    while parent[vertex as usize] != vertex {
        let up = parent[vertex as usize];
        parent[vertex as usize] = parent[up as usize];
        vertex = parent[vertex as usize];
    }
    vertex
}
