//! In which order to eliminate the unknowns, so that little fills in: nested dissection of our own, by coordinates where
//! there are any, or approximate minimum degree (Amestoy, Davis & Duff 1996) of `faer`.

mod bisect;
mod dissect;
mod graph;
mod refine;

use super::tree::Tree;
use crate::error::{Result, SolveError};
use crate::matrix::Csr;
use crate::real::Real;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::amd;
pub(super) use graph::Graph;

/// Below this many vertices the automatic choice is minimum degree, without a look at others.
const SMALL: usize = 400;

/// Nested dissection that makes more work than this per unknown [multiplications] needs no comparison.
const VOLUME: f64 = 5e4;

/// How the unknowns are ordered before a factorisation.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Ordering {
    /// The one of minimum degree and nested dissection with the least work, counted before anything is factored.
    #[default]
    Automatic,
    /// As they come.
    Natural,
    /// Approximate minimum degree: best for what is nearly a tree or a band, and for small systems.
    MinimumDegree,
    /// Nested dissection of the graph alone: best for volumes and surfaces.
    Dissection,
    /// Nested dissection with planes, given a point per unknown. Only the points' relative places matter.
    Geometric(Vec<[f32; 3]>),
    /// Somebody else's: the unknowns in order of elimination, each once.
    Given(Vec<u32>),
}

impl Ordering {
    /// The unknowns of a square matrix in order of elimination, and what the order is called.
    pub fn order<T: Real>(&self, matrix: &Csr<T>) -> Result<(Vec<u32>, &'static str)> {
        if matrix.rows() != matrix.columns() {
            let (rows, columns) = (matrix.rows(), matrix.columns());
            return Err(SolveError::NotSquare { rows, columns });
        }
        self.order_graph(&Graph::of_matrix(matrix))
    }

    pub(super) fn order_graph(&self, graph: &Graph) -> Result<(Vec<u32>, &'static str)> {
        let n = graph.len();
        match self {
            Self::Natural => Ok(((0..n as u32).collect(), "natural order")),
            Self::Given(order) => {
                check_order(order, n)?;
                Ok((order.clone(), "given order"))
            }
            Self::Geometric(points) => {
                check_points(points, n)?;
                let (compressed, group) = graph.compressed();
                let mut centres = vec![[0.0; 3]; compressed.len()];
                // Members of a group meet in the same equations, so that any one of their places will do.
                for (vertex, &group) in group.iter().enumerate() {
                    centres[group as usize] = points[vertex];
                }
                let order = dissect::order(&compressed, Some(&centres))?;
                Ok((expand(&order, &group), "geometric nested dissection"))
            }
            Self::MinimumDegree => {
                let (compressed, group) = graph.compressed();
                Ok((expand(&minimum_degree(&compressed)?, &group), "minimum degree"))
            }
            Self::Dissection => {
                let (compressed, group) = graph.compressed();
                Ok((expand(&dissect::order(&compressed, None)?, &group), "nested dissection"))
            }
            Self::Automatic => automatic(graph),
        }
    }
}

/// Minimum degree or nested dissection, whichever makes less work.
fn automatic(graph: &Graph) -> Result<(Vec<u32>, &'static str)> {
    let (compressed, group) = graph.compressed();
    let degree = || minimum_degree(&compressed).map(|order| expand(&order, &group));
    if compressed.len() <= SMALL {
        return Ok((degree()?, "minimum degree"));
    }
    let work = |order: &[u32]| Tree::new(graph, order).work();
    let dissection = expand(&dissect::order(&compressed, None)?, &group);
    let by_dissection = work(&dissection);
    // Volumes fill in so much that minimum degree has no chance.
    if by_dissection > VOLUME * graph.len() as f64 {
        return Ok((dissection, "nested dissection"));
    }
    let degree = degree()?;
    // The trees of nested dissection are broad, which is worth a little more work on several threads.
    match work(&degree) < 0.9 * by_dissection {
        true => Ok((degree, "minimum degree")),
        false => Ok((dissection, "nested dissection")),
    }
}

/// Approximate minimum degree of a graph: its vertices in order of elimination.
fn minimum_degree(graph: &Graph) -> Result<Vec<u32>> {
    let n = graph.len();
    if n <= 2 {
        return Ok((0..n as u32).collect());
    }
    let pattern =
        SymbolicSparseColMatRef::new_unsorted_checked(n, n, &graph.starts, None, &graph.neighbours);
    let (mut order, mut place) = (vec![0; n], vec![0; n]);
    let entries = graph.neighbours.len();
    let failed = || SolveError::BadValue {
        what: "the memory for an ordering".into(),
        found: format!("too little for {n} unknowns with {entries} couplings"),
        wanted: "enough for a few numbers per coupling",
    };
    let mut memory = MemBuffer::try_new(amd::order_maybe_unsorted_scratch::<u32>(n, entries))
        .map_err(|_| failed())?;
    let stack = MemStack::new(&mut memory);
    amd::order_maybe_unsorted(&mut order, &mut place, pattern, amd::Control::default(), stack)
        .map_err(|_| failed())?;
    Ok(order)
}

/// The members of groups, group after group.
fn expand(groups: &[u32], group: &[u32]) -> Vec<u32> {
    let mut starts = vec![0_u32; groups.len() + 1];
    for &group in group {
        starts[group as usize + 1] += 1;
    }
    for n in 0..groups.len() {
        starts[n + 1] += starts[n];
    }
    let mut next = starts.clone();
    let mut members = vec![0; group.len()];
    for (member, &group) in group.iter().enumerate() {
        members[next[group as usize] as usize] = member as u32;
        next[group as usize] += 1;
    }
    let range =
        |group: &u32| starts[*group as usize] as usize..starts[*group as usize + 1] as usize;
    groups.iter().flat_map(|group| &members[range(group)]).copied().collect()
}

fn check_order(order: &[u32], n: usize) -> Result<()> {
    if order.len() != n {
        let (what, found) = ("the given order of elimination", order.len());
        return Err(SolveError::WrongLength { what, found, wanted: n });
    }
    let mut seen = vec![false; n];
    for &unknown in order {
        match seen.get_mut(unknown as usize) {
            Some(seen) if !*seen => *seen = true,
            _ => {
                return Err(SolveError::BadValue {
                    what: "an unknown in the given order of elimination".into(),
                    found: unknown.to_string(),
                    wanted: "each of the system's unknowns once",
                });
            }
        }
    }
    Ok(())
}

fn check_points(points: &[[f32; 3]], n: usize) -> Result<()> {
    if points.len() != n {
        let (what, found) = ("the list of points of the unknowns", points.len());
        return Err(SolveError::WrongLength { what, found, wanted: n });
    }
    match points.iter().position(|point| point.iter().any(|x| !x.is_finite())) {
        None => Ok(()),
        Some(row) => Err(SolveError::BadValue {
            what: format!("the point of unknown {row}"),
            found: format!("{:?}", points[row]),
            wanted: "finite",
        }),
    }
}
