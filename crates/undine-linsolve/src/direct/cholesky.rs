//! Cholesky factors of symmetric positive definite matrices, in double or single precision.

use super::dense::Scalar;
use super::ordering::{Graph, Ordering};
use super::symbolic::Symbolic;
use super::{multifrontal, substitute};
use crate::error::{Result, SolveError};
use crate::matrix::Csr;
use std::sync::Arc;

/// A pivot below this share of its diagonal entry is what rounding leaves of zero.
const ROUNDING: f64 = 1e-14;

/// L·Lᵀ = P·A·Pᵀ.
#[derive(Debug, Clone)]
pub(super) struct Cholesky<T> {
    symbolic: Arc<Symbolic>,
    values: Vec<T>,
    /// The vector that is being solved for, in the order of elimination.
    work: Vec<T>,
}

impl<T: Scalar> Cholesky<T> {
    /// Factors a matrix that has been found symmetric.
    pub fn new(matrix: &Csr<f64>, ordering: &Ordering, what: &str) -> Result<Self> {
        let graph = Graph::of_matrix(matrix);
        let (order, name) = ordering.order_graph(&graph)?;
        Self::with_symbolic(Arc::new(Symbolic::new(matrix, &graph, &order, name)), matrix, what)
    }

    /// Factors a matrix whose pattern has been worked out already.
    pub fn with_symbolic(symbolic: Arc<Symbolic>, matrix: &Csr<f64>, what: &str) -> Result<Self> {
        let values = vec![T::ZERO; symbolic.values];
        let work = vec![T::ZERO; symbolic.order.len()];
        let mut factor = Self { symbolic, values, work };
        factor.refactor(matrix, what)?;
        Ok(factor)
    }

    /// Factors another matrix of the same pattern.
    pub fn refactor(&mut self, matrix: &Csr<f64>, what: &str) -> Result<()> {
        multifrontal::factor(&self.symbolic, matrix.values(), &mut self.values).map_err(|pivot| {
            SolveError::BadPivot {
                what: what.into(),
                row: self.symbolic.order[pivot.column] as usize,
                pivot: pivot.value,
                wanted: "positive",
            }
        })
    }

    /// x = A⁻¹·b.
    pub fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        for (work, &unknown) in self.work.iter_mut().zip(&self.symbolic.order) {
            *work = T::from_f64(b[unknown as usize]);
        }
        substitute::solve(&self.symbolic, &self.values, &mut self.work);
        for (&work, &unknown) in self.work.iter().zip(&self.symbolic.order) {
            x[unknown as usize] = work.to_f64();
        }
    }

    /// The row whose pivot is the smallest share of its diagonal entry, and that share: how close the matrix is to singular.
    pub fn weakest(&self, matrix: &Csr<f64>) -> Option<(usize, f64)> {
        let symbolic = &*self.symbolic;
        let mut weakest: Option<(usize, f64)> = None;
        for group in &symbolic.groups {
            for column in 0..group.width {
                let l =
                    self.values[group.values + column * (group.width + group.below + 1)].to_f64();
                let row = symbolic.order[group.start + column] as usize;
                let share = l * l / matrix.get(row, row);
                if weakest.is_none_or(|(_, least)| share < least) {
                    weakest = Some((row, share));
                }
            }
        }
        weakest
    }

    pub fn symbolic(&self) -> &Arc<Symbolic> {
        &self.symbolic
    }

    /// Entries of the factor that are stored.
    pub fn entries(&self) -> usize {
        self.values.len()
    }

    /// Bytes of values and lists.
    pub fn bytes(&self) -> u64 {
        self.symbolic.bytes() + (size_of_val(&self.values[..]) + size_of_val(&self.work[..])) as u64
    }
}

/// The pattern of a factor, to share between matrices that have the same one.
#[derive(Debug, Clone)]
pub(crate) struct Pattern(Arc<Symbolic>);

impl Pattern {
    /// Works out the pattern of a symmetric matrix's factor.
    pub fn new(matrix: &Csr<f64>) -> Result<Self> {
        let graph = Graph::of_matrix(matrix);
        let (order, name) = Ordering::Automatic.order_graph(&graph)?;
        Ok(Self(Arc::new(Symbolic::new(matrix, &graph, &order, name))))
    }

    /// Multiplications of a factorisation.
    pub fn work(&self) -> f64 {
        self.0.work()
    }
}

/// The factor of one of those matrices.
#[derive(Debug, Clone)]
pub(crate) struct Factored(Cholesky<f64>);

impl Factored {
    /// Factors a matrix that has the pattern.
    pub fn new(pattern: &Pattern, matrix: &Csr<f64>) -> Result<Self> {
        let factor = Cholesky::with_symbolic(pattern.0.clone(), matrix, "a block")?;
        let factored = Self(factor);
        factored.check(matrix)?;
        Ok(factored)
    }

    /// Factors another one.
    pub fn refactor(&mut self, matrix: &Csr<f64>) -> Result<()> {
        self.0.refactor(matrix, "a block")?;
        self.check(matrix)
    }

    /// Refuses a pivot that is positive by rounding alone.
    fn check(&self, matrix: &Csr<f64>) -> Result<()> {
        match self.0.weakest(matrix) {
            Some((row, share)) if share <= ROUNDING => Err(SolveError::BadPivot {
                what: "a block".into(),
                row,
                pivot: share * matrix.get(row, row),
                wanted: "positive",
            }),
            _ => Ok(()),
        }
    }

    /// x = A⁻¹·b.
    pub fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        self.0.solve(b, x);
    }

    /// Bytes of the values.
    pub fn bytes(&self) -> u64 {
        8 * self.0.entries() as u64
    }
}
