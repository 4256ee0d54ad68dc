//! The graph of a matrix: which unknowns meet in an equation, with indistinguishable ones merged.

use crate::matrix::Csr;
use crate::real::Real;

/// An undirected graph without loops. Vertices may stand for several unknowns.
#[derive(Debug, Clone, Default)]
pub(in crate::direct) struct Graph {
    /// Where each vertex's neighbours begin, and one end more.
    pub starts: Vec<u32>,
    pub neighbours: Vec<u32>,
    /// How many unknowns each vertex stands for.
    pub weights: Vec<u32>,
}

impl Graph {
    /// The graph of A + Aᵀ.
    pub fn of_matrix<T: Real>(matrix: &Csr<T>) -> Self {
        let n = matrix.rows();
        let transposed = matrix.transpose();
        let symmetric =
            transposed.starts() == matrix.starts() && transposed.indices() == matrix.indices();
        let mut starts = Vec::with_capacity(n + 1);
        let mut neighbours = Vec::with_capacity(matrix.entries());
        let mut list = Vec::new();
        starts.push(0);
        for row in 0..n {
            let mut columns = matrix.row(row).0;
            if !symmetric {
                list.clear();
                list.extend(columns.iter().chain(transposed.row(row).0));
                list.sort_unstable();
                list.dedup();
                columns = &list;
            }
            neighbours.extend(columns.iter().filter(|&&column| column as usize != row));
            starts.push(neighbours.len() as u32);
        }
        Self { starts, neighbours, weights: vec![1; n] }
    }

    /// How many vertices there are.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// The neighbours of a vertex.
    #[inline(always)]
    pub fn neighbours(&self, vertex: usize) -> &[u32] {
        &self.neighbours[self.starts[vertex] as usize..self.starts[vertex + 1] as usize]
    }

    /// Merges vertices that have the same neighbours and each other, as the three displacements of a mesh vertex: the graph
    /// of the groups, and the group of each vertex. Groups are numbered by their first member.
    pub fn compressed(&self) -> (Self, Vec<u32>) {
        let n = self.len();
        // Members of a group have the same closed neighbourhood, so the same sum of hashes over it.
        let hash =
            |vertex: usize| (vertex as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
        let sums: Vec<u64> = (0..n)
            .map(|vertex| {
                let around = self.neighbours(vertex).iter();
                around.fold(hash(vertex), |sum, &other| sum.wrapping_add(hash(other as usize)))
            })
            .collect();
        let mut group = vec![u32::MAX; n];
        let mut leaders: Vec<u32> = Vec::new();
        let mut weights: Vec<u32> = Vec::new();
        for vertex in 0..n {
            // A group's members are neighbours, so that only those need a look.
            let same = self.neighbours(vertex).iter().map(|&other| other as usize).find(|&other| {
                other < vertex && sums[other] == sums[vertex] && self.same_closed(other, vertex)
            });
            group[vertex] = match same {
                Some(other) => {
                    weights[group[other] as usize] += self.weights[vertex];
                    group[other]
                }
                None => {
                    leaders.push(vertex as u32);
                    weights.push(self.weights[vertex]);
                    leaders.len() as u32 - 1
                }
            };
        }
        if leaders.len() == n {
            return (self.clone(), group);
        }
        let mut starts = vec![0];
        let mut neighbours = Vec::new();
        let mut seen = vec![u32::MAX; leaders.len()];
        for (own, &leader) in leaders.iter().enumerate() {
            for &other in self.neighbours(leader as usize) {
                let other = group[other as usize];
                if other as usize != own && seen[other as usize] != own as u32 {
                    seen[other as usize] = own as u32;
                    neighbours.push(other);
                }
            }
            starts.push(neighbours.len() as u32);
        }
        (Self { starts, neighbours, weights }, group)
    }

    /// The graph between the vertices of a list, in the list's numbering. `place` is work space of one entry per vertex,
    /// all `u32::MAX`, and is left so.
    pub fn induced(&self, list: &[u32], place: &mut [u32]) -> Self {
        for (n, &vertex) in list.iter().enumerate() {
            place[vertex as usize] = n as u32;
        }
        let mut starts = Vec::with_capacity(list.len() + 1);
        let mut neighbours = Vec::with_capacity(
            list.iter().map(|&vertex| self.neighbours(vertex as usize).len()).sum(),
        );
        starts.push(0);
        for &vertex in list {
            let around =
                self.neighbours(vertex as usize).iter().map(|&other| place[other as usize]);
            neighbours.extend(around.filter(|&other| other != u32::MAX));
            starts.push(neighbours.len() as u32);
        }
        for &vertex in list {
            place[vertex as usize] = u32::MAX;
        }
        let weights = list.iter().map(|&vertex| self.weights[vertex as usize]).collect();
        Self { starts, neighbours, weights }
    }

    /// Whether two neighbours have all other neighbours in common. Lists ascend, as those of a matrix do.
    fn same_closed(&self, a: usize, b: usize) -> bool {
        let (of_a, of_b) = (self.neighbours(a), self.neighbours(b));
        of_a.len() == of_b.len()
            && of_a
                .iter()
                .filter(|&&other| other as usize != b)
                .eq(of_b.iter().filter(|&&other| other as usize != a))
    }
}
