//! Nodes, the rows that belong together, and the vectors that a matrix nearly sends to zero.
//!
//! Aggregation joins whole nodes, so that the components of a vertex never part. A coarse node has one row for each vector of the
//! near-null space that its aggregate can tell apart.

use crate::error::{Result, SolveError};
use crate::matrix::Nodes;

/// How the local rows of a matrix group into nodes: consecutive rows each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grouping(Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Each(usize),
    /// Where every node's rows begin, and one end more.
    Starts(Vec<u32>),
}

impl Grouping {
    /// Every row is a node.
    pub fn single() -> Self {
        Self(Kind::Each(1))
    }

    /// Every `size` rows are a node.
    pub fn of(size: usize) -> Self {
        Self(Kind::Each(size))
    }

    /// Nodes that may have different sizes.
    pub fn nodes(nodes: &Nodes) -> Self {
        Self(Kind::Starts(nodes.starts().to_vec()))
    }

    /// Nodes of given sizes, in order; one without rows is an aggregate that no vector reaches.
    pub(super) fn sizes(sizes: impl IntoIterator<Item = usize>) -> Self {
        let mut end = 0;
        let ends = sizes.into_iter().map(|size| {
            end += size as u32;
            end
        });
        Self(Kind::Starts(std::iter::once(0).chain(ends).collect()))
    }

    /// Whether every row is a node.
    pub fn is_single(&self) -> bool {
        self.0 == Kind::Each(1)
    }

    /// How many nodes `rows` rows are.
    pub(super) fn count(&self, rows: usize) -> usize {
        match &self.0 {
            Kind::Each(size) => rows / size,
            Kind::Starts(starts) => starts.len() - 1,
        }
    }

    /// The rows of a node.
    #[inline]
    pub(super) fn range(&self, node: usize) -> std::ops::Range<usize> {
        match &self.0 {
            Kind::Each(size) => node * size..(node + 1) * size,
            Kind::Starts(starts) => starts[node] as usize..starts[node + 1] as usize,
        }
    }

    /// The node of every row.
    pub(super) fn of_rows(&self, rows: usize) -> Vec<u32> {
        let nodes = 0..self.count(rows);
        nodes.flat_map(|node| self.range(node).map(move |_| node as u32)).collect()
    }

    /// The largest node.
    pub(super) fn largest(&self) -> usize {
        match &self.0 {
            Kind::Each(size) => *size,
            Kind::Starts(starts) => {
                starts.windows(2).map(|pair| (pair[1] - pair[0]) as usize).max().unwrap_or(1)
            }
        }
    }

    /// Refuses nodes that do not cover the rows exactly.
    pub(super) fn check(&self, rows: usize) -> Result<()> {
        let covered = match &self.0 {
            Kind::Each(0) => 0,
            Kind::Each(size) => rows / size * size,
            Kind::Starts(starts) => starts[starts.len() - 1] as usize,
        };
        if covered == rows && self.largest() > 0 {
            return Ok(());
        }
        Err(SolveError::WrongLength {
            what: "the rows of all nodes together",
            found: covered,
            wanted: rows,
        })
    }
}

/// Vectors that the matrix nearly sends to zero.
#[derive(Debug, Clone, PartialEq)]
pub enum NearNullSpace {
    /// One vector for each component of a node: 1 there, 0 elsewhere.
    Constant,
    /// The caller's vectors, each with an entry for every local row.
    Vectors(Vec<Vec<f64>>),
}

impl NearNullSpace {
    /// Rigid motions of vertices with three or six unknowns: three shifts, and three turns about the vertices' mean.
    ///
    /// A vertex of six unknowns has a displacement and a small turn, each along x, y, z. `positions` are those of the vertices
    /// [m], which one process owns all of: several must agree on a centre, see [`Self::rigid_motions_about`].
    pub fn rigid_motions(positions: &[[f64; 3]], size: usize) -> Result<Self> {
        // About their mean, so that turns differ as much as they can from shifts.
        let count = positions.len().max(1) as f64;
        let mut mean = [0.0; 3];
        for position in positions {
            (0..3).for_each(|axis| mean[axis] += position[axis] / count);
        }
        Self::rigid_motions_about(mean, positions, size)
    }

    /// The same with turns about a centre [m] somewhere in the middle. `positions` are those of the vertices that this process
    /// owns [m]; the centre is the same on all of them, or their turns would not fit together.
    pub fn rigid_motions_about(
        centre: [f64; 3],
        positions: &[[f64; 3]],
        size: usize,
    ) -> Result<Self> {
        if size != 3 && size != 6 {
            return Err(SolveError::BadValue {
                what: "the unknowns of a vertex that moves rigidly".into(),
                found: size.to_string(),
                wanted: "3 or 6",
            });
        }
        let mut vectors = vec![Vec::new(); 6];
        for position in positions {
            let [x, y, z] = [0, 1, 2].map(|axis| position[axis] - centre[axis]);
            // A turn w moves the vertex by w × (position − centre).
            let turns = [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]];
            for (n, vector) in vectors.iter_mut().enumerate() {
                let along = |component: usize| match (component, n) {
                    (0..3, 3..) => turns[component][n - 3],
                    _ => f64::from(u8::from(component == n)),
                };
                vector.extend((0..size).map(along));
            }
        }
        Ok(Self::Vectors(vectors))
    }

    /// The vectors' number, and their entries row by row. Refuses vectors that are not finite or of a wrong length.
    pub(super) fn by_rows(&self, nodes: &Grouping, rows: usize) -> Result<(usize, Vec<f64>)> {
        match self {
            Self::Constant => {
                let count = nodes.largest();
                let mut entries = vec![0.0; rows * count];
                for node in 0..nodes.count(rows) {
                    for (component, row) in nodes.range(node).enumerate() {
                        entries[row * count + component] = 1.0;
                    }
                }
                Ok((count, entries))
            }
            Self::Vectors(vectors) => {
                let what = "a vector of the near-null space";
                let count = vectors.len();
                let mut entries = vec![0.0; rows * count];
                for (n, vector) in vectors.iter().enumerate() {
                    if vector.len() != rows {
                        return Err(SolveError::WrongLength {
                            what,
                            found: vector.len(),
                            wanted: rows,
                        });
                    }
                    for (row, &value) in vector.iter().enumerate() {
                        if !value.is_finite() {
                            return Err(SolveError::VectorNotFinite { what, row, value });
                        }
                        entries[row * count + n] = value;
                    }
                }
                if count == 0 {
                    return Err(SolveError::WrongLength {
                        what: "the near-null space",
                        found: 0,
                        wanted: 1,
                    });
                }
                Ok((count, entries))
            }
        }
    }
}
