//! Direct solves: factor once, then substitute. Slower than iterating on large systems, but it does not fail to converge,
//! so it is what everything falls back to.
//!
//! Symmetric positive definite matrices are factored by our own front-by-front Cholesky on `faer`'s dense kernels, on all
//! threads with the same bits; indefinite and unsymmetric ones by `faer`'s sparse L·B·Lᵀ and L·U.

mod cholesky;
mod dense;
mod general;
mod multifrontal;
mod ordering;
mod solve;
mod substitute;
mod symbolic;
mod tree;

pub use ordering::Ordering;
pub(crate) use solve::fill_of_all;
pub use solve::solve_direct;

use crate::error::{Result, SolveError};
use crate::matrix::Csr;
use crate::operator::Preconditioner;
use crate::report::{Outcome, Report};
use crate::vector;
pub(crate) use cholesky::{Factored, Pattern};

use cholesky::Cholesky;
use general::{Ldlt, Lu};
use std::time::Instant;
use tree::Tree;

/// Mirrored entries may differ by this share and still count as symmetric.
const SYMMETRY: f64 = 1e-10;

/// A relative residual that counts as solved.
const SOLVED: f64 = 1e-10;

/// So does a residual of this share of |A|·|x| + |b|: more is not in the numbers.
const ROUNDING: f64 = 1e-14;

/// But no relative residual above this: a singular matrix answers an unreachable right-hand side with an `x` so long that any
/// residual is rounding to it.
const UNSOLVED: f64 = 1e-6;

/// Steps of refinement: a factor in double precision needs one or two, one in single precision some more.
const REFINEMENTS: usize = 2;
const REFINEMENTS_SINGLE: usize = 12;

/// What a matrix is split into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// L·Lᵀ, for symmetric positive definite ones.
    Cholesky,
    /// The same in single precision: half the memory and time; refinement makes up for the rounding unless the matrix is
    /// nearly singular.
    CholeskySingle,
    /// L·D·Lᵀ with pivots of one or two rows, for symmetric ones.
    Ldlt,
    /// L·U with partial pivoting, for all others.
    Lu,
}

impl Kind {
    /// What reports call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cholesky => "Cholesky",
            Self::CholeskySingle => "Cholesky in single precision",
            Self::Ldlt => "LDLᵀ",
            Self::Lu => "LU",
        }
    }
}

/// A factored matrix.
#[derive(Debug)]
pub struct Direct {
    kind: Kind,
    factor: Factor,
    /// A copy, for residuals.
    matrix: Csr<f64>,
    setup_seconds: f64,
    residual: Vec<f64>,
    correction: Vec<f64>,
}

#[derive(Debug)]
enum Factor {
    Double(Cholesky<f64>),
    Single(Cholesky<f32>),
    Ldlt(Ldlt),
    Lu(Lu),
}

impl Direct {
    /// Factors a square matrix. LU orders its columns in its own way.
    ///
    /// Refuses one that is not symmetric where that is promised, and names the row of a pivot that cannot be used.
    pub fn factor(matrix: &Csr<f64>, kind: Kind, ordering: &Ordering) -> Result<Self> {
        let started = Instant::now();
        let (rows, columns) = (matrix.rows(), matrix.columns());
        if rows != columns {
            return Err(SolveError::NotSquare { rows, columns });
        }
        if kind != Kind::Lu {
            matrix.check_symmetric(SYMMETRY)?;
        }
        let what = "the matrix";
        let factor = match kind {
            Kind::Cholesky => Factor::Double(Cholesky::new(matrix, ordering, what)?),
            Kind::CholeskySingle => Factor::Single(Cholesky::new(matrix, ordering, what)?),
            Kind::Ldlt => Factor::Ldlt(Ldlt::new(matrix, ordering, what)?),
            Kind::Lu => Factor::Lu(Lu::new(matrix, what)?),
        };
        Ok(Self {
            kind,
            factor,
            matrix: matrix.clone(),
            setup_seconds: started.elapsed().as_secs_f64(),
            residual: vec![0.0; rows],
            correction: vec![0.0; rows],
        })
    }

    /// Factors another matrix. If it has the pattern of the last one, order and structure are kept; the result is the same
    /// as that of [`Self::factor`] with the order kept. After an error the old factor is gone: factor or refactor again.
    pub fn refactor(&mut self, matrix: &Csr<f64>) -> Result<()> {
        let started = Instant::now();
        let same = self.matrix.starts() == matrix.starts()
            && self.matrix.indices() == matrix.indices()
            && self.matrix.columns() == matrix.columns();
        if !same {
            *self = Self::factor(matrix, self.kind, &Ordering::Automatic)?;
            return Ok(());
        }
        if self.kind != Kind::Lu {
            matrix.check_symmetric(SYMMETRY)?;
        }
        let what = "the matrix";
        match &mut self.factor {
            Factor::Double(factor) => factor.refactor(matrix, what)?,
            Factor::Single(factor) => factor.refactor(matrix, what)?,
            Factor::Ldlt(factor) => factor.refactor(matrix, what)?,
            Factor::Lu(factor) => factor.refactor(matrix, what)?,
        }
        self.matrix.values_mut().copy_from_slice(matrix.values());
        self.setup_seconds = started.elapsed().as_secs_f64();
        Ok(())
    }

    /// Solves A·x = b, refined until the true residual stops getting smaller. What was in `x` does not matter.
    pub fn solve(&mut self, b: &[f64], x: &mut [f64]) -> Result<Report> {
        let started = Instant::now();
        let wanted = self.matrix.rows();
        for (what, found) in [("the right-hand side", b.len()), ("the unknowns", x.len())] {
            if found != wanted {
                return Err(SolveError::WrongLength { what, found, wanted });
            }
        }
        if let Some(row) = b.iter().position(|value| !value.is_finite()) {
            let what = "the right-hand side";
            return Err(SolveError::VectorNotFinite { what, row, value: b[row] });
        }
        let b_norm = vector::square(b).sqrt();
        let relative = |norm: f64| if b_norm > 0.0 { norm / b_norm } else { norm };

        self.substitute(b, x);
        let mut norm = self.take_residual(b, x);
        let mut history = vec![relative(norm)];
        let steps = match self.kind {
            Kind::CholeskySingle => REFINEMENTS_SINGLE,
            _ => REFINEMENTS,
        };
        for _ in 0..steps {
            if norm == 0.0 || norm <= self.rounding(x, b_norm) {
                break;
            }
            let mut correction = std::mem::take(&mut self.correction);
            let residual = std::mem::take(&mut self.residual);
            self.substitute(&residual, &mut correction);
            self.residual = residual;
            vector::axpy(1.0, &correction, x);
            let refined = self.take_residual(b, x);
            history.push(relative(refined));
            let better = refined < norm;
            if !better {
                // Rounding is all that is left: go back.
                vector::axpy(-1.0, &correction, x);
                self.take_residual(b, x);
            }
            let enough = !better || refined > 0.5 * norm;
            norm = norm.min(refined);
            self.correction = correction;
            if enough {
                break;
            }
        }

        let outcome = if !norm.is_finite() {
            Outcome::NotFinite("the solution")
        } else if relative(norm) <= SOLVED
            || (relative(norm) <= UNSOLVED && norm <= 100.0 * self.rounding(x, b_norm))
        {
            Outcome::Converged
        } else {
            Outcome::Stagnated
        };
        Ok(Report {
            solver: format!("direct, {}", self.kind.name()),
            preconditioner: self.order_name().into(),
            outcome,
            iterations: history.len() - 1,
            residual: relative(norm),
            largest_residual: vector::largest(&self.residual),
            history,
            setup_seconds: self.setup_seconds,
            solve_seconds: started.elapsed().as_secs_f64(),
            bytes: self.bytes(),
            notes: Vec::new(),
        })
    }

    /// What the matrix was split into.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// What the order of elimination is called.
    pub fn order_name(&self) -> &'static str {
        match &self.factor {
            Factor::Double(factor) => factor.symbolic().order_name,
            Factor::Single(factor) => factor.symbolic().order_name,
            Factor::Ldlt(factor) => factor.order_name,
            Factor::Lu(_) => "column minimum degree",
        }
    }

    /// Of a Cholesky factor: the row whose pivot is the smallest share of its diagonal entry, and that share. Shares of 1e-14
    /// and below mean that the matrix is singular, but for rounding.
    pub fn weakest_pivot(&self) -> Option<(usize, f64)> {
        match &self.factor {
            Factor::Double(factor) => factor.weakest(&self.matrix),
            Factor::Single(factor) => factor.weakest(&self.matrix),
            Factor::Ldlt(_) | Factor::Lu(_) => None,
        }
    }

    /// Entries of a Cholesky factor that are stored, zeros of merged columns among them.
    pub fn entries(&self) -> Option<usize> {
        match &self.factor {
            Factor::Double(factor) => Some(factor.entries()),
            Factor::Single(factor) => Some(factor.entries()),
            Factor::Ldlt(_) | Factor::Lu(_) => None,
        }
    }

    /// x = (factor)⁻¹·b, without refinement.
    fn substitute(&mut self, b: &[f64], x: &mut [f64]) {
        match &mut self.factor {
            Factor::Double(factor) => return factor.solve(b, x),
            Factor::Single(factor) => {
                // Residuals are small; scaled, they keep clear of the smallest single-precision numbers.
                let scale = vector::largest(b);
                if scale > 0.0 {
                    vector::update(x, b, |_, b| b / scale);
                    let scaled = x.to_vec();
                    factor.solve(&scaled, x);
                    return x.iter_mut().for_each(|x| *x *= scale);
                }
                return factor.solve(b, x);
            }
            Factor::Ldlt(_) | Factor::Lu(_) => {}
        }
        x.copy_from_slice(b);
        match &self.factor {
            Factor::Ldlt(factor) => factor.solve(x),
            Factor::Lu(factor) => factor.solve(x),
            Factor::Double(_) | Factor::Single(_) => {}
        }
    }

    /// residual = b − A·x, and its norm.
    fn take_residual(&mut self, b: &[f64], x: &[f64]) -> f64 {
        self.residual.copy_from_slice(b);
        self.matrix.multiply_with(x, &mut self.residual, |b, ax| b - ax);
        vector::square(&self.residual).sqrt()
    }

    /// The norm of a residual that rounding alone can make.
    fn rounding(&self, x: &[f64], b_norm: f64) -> f64 {
        let largest = vector::largest(self.matrix.values());
        ROUNDING * (largest * vector::square(x).sqrt() + b_norm)
    }
}

impl Preconditioner for Direct {
    fn name(&self) -> String {
        format!("{}, {}", self.kind.name(), self.order_name())
    }

    fn apply(&mut self, r: &[f64], z: &mut [f64]) -> Result<()> {
        self.substitute(r, z);
        Ok(())
    }

    fn bytes(&self) -> u64 {
        let factor = match &self.factor {
            Factor::Double(factor) => factor.bytes(),
            Factor::Single(factor) => factor.bytes(),
            Factor::Ldlt(factor) => factor.bytes(),
            Factor::Lu(factor) => factor.bytes(),
        };
        factor + self.matrix.bytes() + 16 * self.residual.len() as u64
    }
}

/// The entries that the Cholesky factor of a matrix would have, and the multiplications to find it, in a given order.
pub fn fill(matrix: &Csr<f64>, ordering: &Ordering) -> Result<(u64, f64)> {
    let (order, _) = ordering.order(matrix)?;
    let tree = Tree::new(&ordering::Graph::of_matrix(matrix), &order);
    Ok((tree.entries(), tree.work()))
}
