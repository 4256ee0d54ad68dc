//! Factors of matrices that are not positive definite, by `faer`: L·B·Lᵀ of symmetric ones, with pivots of one or two rows
//! chosen inside of each group of columns (Bunch & Kaufman 1977), and L·U of any, with partial pivoting.
//!
//! They run on one thread, where their bits are always the same: they are the way out, not the way.

use super::ordering::{Graph, Ordering};
use super::tree::Tree;
use crate::error::{Result, SolveError};
use crate::matrix::Csr;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::perm::PermRef;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, IntranodeLbltRef, SymbolicCholesky, SymbolicCholeskyRaw,
    SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::linalg::lu::{LuRef, NumericLu, SymbolicLu, factorize_symbolic_lu};
use faer::sparse::linalg::{LuError, lu::LuSymbolicParams};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};

/// A pivot below this share of the largest entry of the matrix counts as zero.
const ZERO_PIVOT: f64 = 1e-15;

/// L·B·Lᵀ = P·A·Pᵀ, B with blocks of one or two rows.
#[derive(Debug)]
pub(super) struct Ldlt {
    symbolic: SymbolicCholesky<u32>,
    values: Vec<f64>,
    subdiagonal: Vec<f64>,
    /// The pivoting inside of groups, and its inverse.
    order: Vec<u32>,
    place: Vec<u32>,
    pub order_name: &'static str,
}

impl Ldlt {
    /// Factors a matrix that has been found symmetric.
    pub fn new(matrix: &Csr<f64>, ordering: &Ordering, what: &str) -> Result<Self> {
        let graph = Graph::of_matrix(matrix);
        let (order, order_name) = ordering.order_graph(&graph)?;
        let Tree { order, place, .. } = Tree::new(&graph, &order);
        let n = matrix.rows();
        let params = CholeskySymbolicParams {
            // Pivots can only be chosen inside of groups of columns.
            supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SUPERNODAL,
            ..Default::default()
        };
        let symbolic = factorize_symbolic_cholesky(
            pattern(matrix),
            Side::Lower,
            SymmetricOrdering::Custom(PermRef::new_checked(&order, &place, n)),
            params,
        )
        .map_err(|_| too_large(what))?;
        let mut factor = Self {
            values: vec![0.0; symbolic.len_val()],
            symbolic,
            subdiagonal: vec![0.0; n],
            order: vec![0; n],
            place: vec![0; n],
            order_name,
        };
        factor.refactor(matrix, what)?;
        Ok(factor)
    }

    /// Factors another matrix of the same pattern.
    pub fn refactor(&mut self, matrix: &Csr<f64>, what: &str) -> Result<()> {
        let scratch = self
            .symbolic
            .factorize_numeric_intranode_lblt_scratch::<f64>(Par::Seq, Default::default());
        let mut memory = MemBuffer::try_new(scratch).map_err(|_| too_large(what))?;
        self.symbolic.factorize_numeric_intranode_lblt(
            &mut self.values,
            &mut self.subdiagonal,
            &mut self.order,
            &mut self.place,
            SparseColMatRef::new(pattern(matrix), matrix.values()),
            Side::Lower,
            Par::Seq,
            MemStack::new(&mut memory),
            Default::default(),
        );
        let largest =
            matrix.values().iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        match self.zero_pivot(ZERO_PIVOT * largest) {
            None => Ok(()),
            Some((row, pivot)) => {
                Err(SolveError::BadPivot { what: what.into(), row, pivot, wanted: "not zero" })
            }
        }
    }

    /// x ← A⁻¹·x.
    pub fn solve(&self, x: &mut [f64]) {
        let n = x.len();
        let scratch = self.symbolic.solve_in_place_scratch::<f64>(1, Par::Seq);
        let mut memory = MemBuffer::new(scratch);
        let pivoting = PermRef::new_checked(&self.order, &self.place, n);
        IntranodeLbltRef::new(&self.symbolic, &self.values, &self.subdiagonal, pivoting)
            .solve_in_place_with_conj(
                Conj::No,
                MatMut::from_column_major_slice_mut(x, n, 1),
                Par::Seq,
                MemStack::new(&mut memory),
            );
    }

    /// The first pivot that is no larger than `limit`, with the row that it stands for.
    fn zero_pivot(&self, limit: f64) -> Option<(usize, f64)> {
        let SymbolicCholeskyRaw::Supernodal(groups) = self.symbolic.raw() else { return None };
        let (order, _) = self.symbolic.perm()?.arrays();
        for group in 0..groups.n_supernodes() {
            let (start, end) = (groups.supernode_begin()[group], groups.supernode_end()[group]);
            let (start, width) = (start as usize, (end - start) as usize);
            let below = groups.supernode(group).pattern().len();
            let values = groups.col_ptr_for_val()[group] as usize;
            let diagonal = |column: usize| self.values[values + column * (width + below + 1)];
            let mut column = 0;
            while column < width {
                let off = self.subdiagonal[start + column];
                // For a block of two rows, its smaller eigenvalue is at least |determinant| / norm.
                let (pivot, rows) = if off == 0.0 {
                    (diagonal(column), 1)
                } else {
                    let (a, b) = (diagonal(column), diagonal(column + 1));
                    ((a * b - off * off) / (a.abs() + b.abs() + 2.0 * off.abs()), 2)
                };
                if pivot.abs() <= limit || !pivot.is_finite() {
                    let row = order[self.order[start + column] as usize] as usize;
                    return Some((row, pivot));
                }
                column += rows;
            }
        }
        None
    }

    /// Bytes of values and lists, about.
    pub fn bytes(&self) -> u64 {
        8 * (self.values.len() + self.subdiagonal.len()) as u64 + 8 * self.order.len() as u64
    }
}

/// P·A·Q = L·U.
#[derive(Debug)]
pub(super) struct Lu {
    symbolic: SymbolicLu<u32>,
    numeric: NumericLu<u32, f64>,
    memory: u64,
}

impl Lu {
    /// Factors any square matrix.
    pub fn new(matrix: &Csr<f64>, what: &str) -> Result<Self> {
        let transposed = matrix.transpose();
        let symbolic = factorize_symbolic_lu(pattern(&transposed), LuSymbolicParams::default())
            .map_err(|_| too_large(what))?;
        let mut factor = Self { symbolic, numeric: NumericLu::new(), memory: 0 };
        factor.refactor_transposed(&transposed, what)?;
        Ok(factor)
    }

    /// Factors another matrix of the same pattern.
    pub fn refactor(&mut self, matrix: &Csr<f64>, what: &str) -> Result<()> {
        self.refactor_transposed(&matrix.transpose(), what)
    }

    /// The rows of the transposed matrix are the columns that `faer` wants.
    fn refactor_transposed(&mut self, transposed: &Csr<f64>, what: &str) -> Result<()> {
        let scratch =
            self.symbolic.factorize_numeric_lu_scratch::<f64>(Par::Seq, Default::default());
        self.memory = scratch.size_bytes() as u64;
        let mut memory = MemBuffer::try_new(scratch).map_err(|_| too_large(what))?;
        let factored = self.symbolic.factorize_numeric_lu(
            &mut self.numeric,
            SparseColMatRef::new(pattern(transposed), transposed.values()),
            Par::Seq,
            MemStack::new(&mut memory),
            Default::default(),
        );
        let zero = |row: usize| {
            Err(SolveError::BadPivot { what: what.into(), row, pivot: 0.0, wanted: "not zero" })
        };
        match factored {
            Ok(_) => {}
            Err(LuError::SymbolicSingular { index }) => {
                return zero(self.symbolic.col_perm().arrays().0[index] as usize);
            }
            Err(LuError::Generic(_)) => return Err(too_large(what)),
        }
        // `faer` divides by a zero pivot without a word. It shows in what comes out, most of all at the unknown that the
        // matrix says nothing about.
        let mut probe = vec![1.0; transposed.rows()];
        self.solve(&mut probe);
        match probe.iter().position(|value| !value.is_finite()) {
            Some(row) => zero(row),
            None => Ok(()),
        }
    }

    /// x ← A⁻¹·x.
    pub fn solve(&self, x: &mut [f64]) {
        let n = x.len();
        let mut memory = MemBuffer::new(self.symbolic.solve_in_place_scratch::<f64>(1, Par::Seq));
        LuRef::new_unchecked(&self.symbolic, &self.numeric).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(x, n, 1),
            Par::Seq,
            MemStack::new(&mut memory),
        );
    }

    /// Bytes of work space; `faer` does not tell those of the factor.
    pub fn bytes(&self) -> u64 {
        self.memory
    }
}

/// The rows of a matrix as columns of its transpose.
fn pattern(matrix: &Csr<f64>) -> SymbolicSparseColMatRef<'_, u32> {
    let n = matrix.rows();
    SymbolicSparseColMatRef::new_checked(n, n, matrix.starts(), None, matrix.indices())
}

fn too_large(what: &str) -> SolveError {
    SolveError::BadValue {
        what: format!("the factor of {what}"),
        found: "larger than memory or 2³² entries".into(),
        wanted: "small enough; solve it iteratively",
    }
}
